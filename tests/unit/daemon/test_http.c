// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* The HTTP server, with real sockets on the loopback interface and clients that mean no good. */
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <poll.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <cmocka.h>

#include "daemon/http.h"
#include "daemon/http_socket.h"
#include "random.h"
#include "skip.h"
#include "tree.h"

#define LARGE (5u << 20)
#define MANY  40 /* more clients than there are places */

static size_t nr_pages;
static char last_path[64];
static char last_accept[128];
static int last_fd;

static int page(void *arg, const struct http_request *q, struct http_page *ret)
{
	assert_ptr_equal(arg, &nr_pages);
	nr_pages++;
	snprintf(last_path, sizeof(last_path), "%s", q->path);
	snprintf(last_accept, sizeof(last_accept), "%s", q->accept);
	last_fd = q->fd;
	if (strcmp(q->path, "/broken") == 0)
		return -EIO;
	ret->status = strcmp(q->path, "/ill") == 0 ? 503 : 200;
	ret->type = "text/x-test";
	if (strcmp(q->path, "/large") == 0) {
		ret->size = LARGE;
		ret->body = malloc(LARGE);
		assert_non_null(ret->body);
		for (size_t i = 0; i < LARGE; i++)
			ret->body[i] = 'a' + i % 23;
		return 0;
	}
	if (strcmp(q->path, "/") != 0 && strcmp(q->path, "/ill") != 0)
		return -ENOENT;
	ret->body = strdup("hello\n");
	ret->size = 6;
	return 0;
}

static struct http *open_at(const char *address)
{
	struct diag d = { 0 };
	struct http *h = NULL;

	if (http_open(address, page, &nr_pages, &d, &h))
		fail_msg("%s", d.what);
	return h;
}

/* A client that never blocks. */
static int client(const struct http *h)
{
	struct sockaddr_in a = { .sin_family = AF_INET,
				 .sin_port = htons(http_port(h)),
				 .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);

	assert_true(fd >= 0);
	if (connect(fd, (struct sockaddr *)&a, sizeof(a)))
		assert_int_equal(errno, EINPROGRESS);
	return fd;
}

/* What the caller's loop does: it runs the server when there is something, and not at other times. */
static void turn(struct http *h)
{
	struct pollfd p = { .fd = http_fd(h), .events = POLLIN };
	int ms = http_timeout_ms(h);

	if (poll(&p, 1, ms < 0 || ms > 20 ? 20 : ms) > 0 || !http_timeout_ms(h))
		http_run(h);
}

static void say(struct http *h, int fd, const char *text, size_t size)
{
	ssize_t r;

	while (size) {
		r = send(fd, text, size, MSG_NOSIGNAL);
		if (r > 0) {
			text += r;
			size -= r;
		} else if (r < 0 && errno != EAGAIN && errno != EINPROGRESS && errno != ENOTCONN) {
			return; /* the server has had enough */
		}
		turn(h);
	}
}

/* Reads at most @chunk at a time until the server closes; the text is terminated. */
static char *hear(struct http *h, int fd, size_t chunk, size_t *ret_size)
{
	size_t size = 0, room = 2 * LARGE;
	char *text = malloc(room + 1);
	ssize_t r;

	assert_non_null(text);
	for (;;) {
		turn(h);
		r = read(fd, text + size, chunk < room - size ? chunk : room - size);
		if (r > 0)
			size += r;
		else if (r == 0 || errno != EAGAIN)
			break;
	}
	text[size] = '\0';
	if (ret_size)
		*ret_size = size;
	return text;
}

static char *ask(struct http *h, const char *request)
{
	int fd = client(h);
	char *answer;

	say(h, fd, request, strlen(request));
	answer = hear(h, fd, 65536, NULL);
	close(fd);
	return answer;
}

static void expect(struct http *h, const char *request, const char *begin, const char *part)
{
	char *answer = ask(h, request);

	if (strncmp(answer, begin, strlen(begin)) != 0 || !strstr(answer, part))
		fail_msg("%s: \"%s\" and \"%s\" expected, not: %s", request, begin, part, answer);
	free(answer);
}

static void expect_works(struct http *h)
{
	expect(h, "GET / HTTP/1.1\r\nHost: [::1]\r\n\r\n", "HTTP/1.1 200", "\r\n\r\nhello\n");
}

/* Until those who keep pages in memory have been missed, which may take a moment */
static void expect_works_again(struct http *h)
{
	bool works = false;

	for (int i = 0; i < 3000 && !works; i++) {
		char *answer = ask(h, "GET / HTTP/1.1\r\nHost: [::1]\r\n\r\n");

		works = strncmp(answer, "HTTP/1.1 503", 12) != 0;
		free(answer);
		poll(NULL, 0, works ? 0 : 10);
	}
	expect_works(h);
}

static void test_pages(void **state)
{
	struct http *h = open_at("127.0.0.1:0");
	char *answer;

	(void)state;
	assert_true(http_port(h) > 0);
	expect_works(h);
	expect(h, "GET / HTTP/1.1\r\nHost: [::1]\r\n\r\n", "HTTP/1.1 200",
	       "Content-Type: text/x-test\r\n");
	expect(h, "GET / HTTP/1.1\r\nHost: [::1]\r\n\r\n", "HTTP/1.1 200", "Content-Length: 6\r\n");
	expect(h, "GET / HTTP/1.0\r\n\r\n", "HTTP/1.", "hello\n");
	assert_string_equal(last_accept, "");
	expect(h, "GET /?a=b HTTP/1.1\r\nHost: [::1]\r\nAccept: a/b;q=0.5, c/d\r\n\r\n",
	       "HTTP/1.1 200", "hello\n");
	assert_string_equal(last_path, "/");
	assert_string_equal(last_accept, "a/b;q=0.5, c/d");
	expect(h, "GET /ill HTTP/1.1\r\nHost: [::1]\r\n\r\n", "HTTP/1.1 503", "hello\n");
	expect(h, "GET /none HTTP/1.1\r\nHost: [::1]\r\n\r\n", "HTTP/1.1 404", "no such page\n");
	expect(h, "GET /broken HTTP/1.1\r\nHost: [::1]\r\n\r\n", "HTTP/1.1 500", "\r\n\r\n");
	answer = ask(h, "HEAD / HTTP/1.1\r\nHost: [::1]\r\n\r\n");
	assert_non_null(strstr(answer, "Content-Length: 6\r\n"));
	assert_string_equal(strstr(answer, "\r\n\r\n"), "\r\n\r\n");
	free(answer);
	http_close(h);
}

static void test_methods(void **state)
{
	static const char *const methods[] = { "POST", "PUT", "DELETE", "OPTIONS", "TRACE", "get" };
	struct http *h = open_at("127.0.0.1:0");
	size_t before = nr_pages, i;
	char text[128];

	(void)state;
	for (i = 0; i < sizeof(methods) / sizeof(methods[0]); i++) {
		snprintf(text, sizeof(text),
			 "%s / HTTP/1.1\r\nHost: [::1]\r\nContent-Length: 3\r\n\r\nabc",
			 methods[i]);
		expect(h, text, "HTTP/1.1 405", "Allow: GET, HEAD\r\n");
	}
	assert_int_equal(nr_pages, before);
	expect_works(h);
	http_close(h);
}

static void expect_host(struct http *h, const char *host, unsigned int status)
{
	char request[512], begin[32];

	snprintf(request, sizeof(request), "GET / HTTP/1.1\r\nHost: %s\r\n\r\n", host);
	snprintf(begin, sizeof(begin), "HTTP/1.1 %u", status);
	expect(h, request, begin, status == 200 ? "\r\n\r\nhello\n" : "hosts");
}

/* A page of the web that lets its own name point to this machine must not read ours. */
static void test_hosts(void **state)
{
	static const char *const right[] = {
		"localhost", "localhost:9410", "LocalHost.", "a.localhost:1",
		"127.0.0.1", "10.1.2.3:80",    "[::1]:9410", "[2001:db8::1]",
	};
	static const char *const wrong[] = { "evil.example",
					     "evil.example:9410",
					     "localhost.evil.example",
					     "notlocalhost",
					     "127.0.0.1.evil.example",
					     "[evil.example]",
					     "localhost:x",
					     "localhost@evil.example",
					     "node7.example.org.evil.example",
					     "node7.example",
					     "[::1]x" };
	struct http *h = open_at("127.0.0.1:0");
	size_t before, i;

	(void)state;
	for (i = 0; i < sizeof(right) / sizeof(right[0]); i++)
		expect_host(h, right[i], 200);
	http_hosts(h, "node7, node7.example.org,t410.");
	before = nr_pages;
	for (i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++)
		expect_host(h, wrong[i], 421);
	assert_int_equal(nr_pages, before);
	expect_host(h, "node7:9410", 200);
	expect_host(h, "NODE7.example.org.", 200);
	/* one that is right does not make up for another */
	expect_host(h, "t410\r\nHost: localhost", 200);
	expect_host(h, "t410\r\nhost: evil.example", 421);
	http_hosts(h, "");
	expect_host(h, "t410", 421);
	/* an old client names none; of others it is a mistake, or an attempt to hide it */
	expect(h, "GET / HTTP/1.0\r\n\r\n", "HTTP/1.", "hello\n");
	before = nr_pages;
	expect(h, "GET / HTTP/1.1\r\n\r\n", "HTTP/1.1 400", "");
	expect(h, "GET / HTTP/1.1\r\nHost : evil.example\r\n\r\n", "HTTP/1.1 400", "");
	expect(h, "GET / HTTP/1.1\r\nHost: evil\r\n .example\r\n\r\n", "HTTP/1.1 400", "");
	assert_int_equal(nr_pages, before);
	http_close(h);
}

/* The machine's own name is right where others reach it. */
static void test_own_name(void **state)
{
	struct http *h = open_at("127.0.0.1:0"), *wide = open_at("0.0.0.0:0");
	char own[256], other[300];

	(void)state;
	assert_int_equal(gethostname(own, sizeof(own)), 0);
	if (strcmp(own, "localhost") != 0)
		expect_host(h, own, 421);
	expect_host(wide, own, 200);
	snprintf(other, sizeof(other), "%.*s:9410", (int)strcspn(own, "."), own);
	expect_host(wide, other, 200);
	expect_host(wide, "192.0.2.7:9410", 200);
	expect_host(wide, "evil.example", 421);
	snprintf(other, sizeof(other), "%s.evil.example", own);
	expect_host(wide, other, 421);
	snprintf(other, sizeof(other), "%sx", own);
	expect_host(wide, other, 421);
	http_close(h);
	http_close(wide);
}

/* A path that is longer than all room for a request, and one that just fits. */
static void test_long_paths(void **state)
{
	struct http *h = open_at("127.0.0.1:0");
	size_t before = nr_pages, size = 100000;
	char *text = malloc(size + 100);

	(void)state;
	assert_non_null(text);
	memcpy(text, "GET /", 5);
	memset(text + 5, 'a', size);
	strcpy(text + 5 + size, " HTTP/1.1\r\nHost: localhost\r\n\r\n");
	free(ask(h, text));
	assert_int_equal(nr_pages, before);
	strcpy(text + 5 + 4000, " HTTP/1.1\r\nHost: localhost\r\n\r\n");
	expect(h, text, "HTTP/1.1 404", "no such page\n");
	free(text);
	expect_works(h);
	http_close(h);
}

static void test_addresses(void **state)
{
	static const char *const wrong[] = { "9410",	     "127.0.0.1",   ":9410",
					     "[::1]",	     "::1:9410",    "127.0.0.1:65536",
					     "[]:1",	     "localhost:1", "127.0.0.1:x",
					     "127.0.0.1:-1", "[:80",	    "[127.0.0.1]:1",
					     "1.2.3:4" };
	struct http *h, *second = NULL;
	struct diag d;
	char address[32];
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
		assert_int_equal(http_open(wrong[i], page, &nr_pages, &d, &second), -EINVAL);
		assert_non_null(strstr(d.what, wrong[i]));
		assert_non_null(strstr(d.help, "[::1]:9410"));
	}
	h = open_at("127.0.0.1:0");
	snprintf(address, sizeof(address), "127.0.0.1:%u", http_port(h));
	assert_int_equal(http_open(address, page, &nr_pages, &d, &second), -EADDRINUSE);
	assert_non_null(strstr(d.what, address));
	assert_non_null(strstr(d.help, "another"));
	/* an address for documents, which no machine has */
	assert_int_equal(http_open("192.0.2.1:0", page, &nr_pages, &d, &second), -EADDRNOTAVAIL);
	assert_non_null(strstr(d.what, "192.0.2.1:0"));
	assert_null(second);
	expect_works(h);
	http_close(h);
	/* at once again, with connections of before not yet forgotten by the kernel */
	h = open_at(address);
	expect_works(h);
	http_close(h);
	http_close(NULL);
}

static void test_ipv6(void **state)
{
	struct sockaddr_in6 a = { .sin6_family = AF_INET6, .sin6_addr = IN6ADDR_LOOPBACK_INIT };
	struct http *h = NULL;
	struct diag d;
	char *answer;
	int fd, r = http_open("[::1]:0", page, &nr_pages, &d, &h);

	(void)state;
	if (r) { /* a machine without IPv6: then it must be told */
		assert_true(r == -EADDRNOTAVAIL || r == -EAFNOSUPPORT);
		assert_non_null(strstr(d.what, "[::1]:0"));
		return;
	}
	a.sin6_port = htons(http_port(h));
	fd = socket(AF_INET6, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
	connect(fd, (struct sockaddr *)&a, sizeof(a));
	say(h, fd, "GET / HTTP/1.1\r\nHost: [::1]\r\n\r\n", 31);
	answer = hear(h, fd, 65536, NULL);
	assert_non_null(strstr(answer, "hello\n"));
	free(answer);
	close(fd);
	http_close(h);
}

/* Whatever comes, the server goes on, and never makes a page for it. */
static void test_junk(void **state)
{
	struct draw random = { 4711 };
	struct http *h = open_at("127.0.0.1:0");
	size_t i, k, size, before = nr_pages;
	char *text = malloc(1 << 20), *answer;
	int fd;

	(void)state;
	assert_non_null(text);
	for (i = 0; i < 200; i++) {
		size = draw_below(&random, 3000);
		for (k = 0; k < size; k++)
			text[k] = draw_u64(&random);
		fd = client(h);
		say(h, fd, text, size);
		close(fd);
		turn(h);
	}
	/* a header of 1 MiB; a line without end; a hundred thousand small headers */
	memset(text, 'x', 1 << 20);
	memcpy(text, "GET / HTTP/1.1\r\nHost: ", 22);
	fd = client(h);
	say(h, fd, text, 1 << 20);
	answer = hear(h, fd, 65536, NULL);
	assert_null(strstr(answer, "hello"));
	free(answer);
	close(fd);
	memset(text, 'x', 1 << 20);
	fd = client(h);
	say(h, fd, text, 1 << 20);
	close(fd);
	for (size = 0; size + 8 < 1 << 20; size += 6)
		memcpy(text + size, "a: b\r\n", 6);
	memcpy(text, "GET / HTTP/1.1\r\n", 16);
	fd = client(h);
	say(h, fd, text, size);
	close(fd);
	free(text);
	assert_int_equal(nr_pages, before);
	expect_works(h);
	http_close(h);
}

static void expect_large(const char *answer, size_t size)
{
	const char *body = strstr(answer, "\r\n\r\n");

	assert_non_null(body);
	body += 4;
	assert_int_equal(size - (body - answer), LARGE);
	for (size_t i = 0; i < LARGE; i++)
		if (body[i] != (char)('a' + i % 23))
			fail_msg("byte %zu is another one", i);
}

static int ask_slowly(struct http *h)
{
	int fd = client(h), room = 32768;

	setsockopt(fd, SOL_SOCKET, SO_RCVBUF, &room, sizeof(room));
	say(h, fd, "GET /large HTTP/1.1\r\nHost: [::1]\r\n\r\n", 36);
	turn(h);
	return fd;
}

/* A large page that is read in small pieces; meanwhile others are served. */
static void test_slow_reader(void **state)
{
	struct http *h = open_at("127.0.0.1:0");
	size_t size;
	char *answer;
	int fd = client(h);

	(void)state;
	say(h, fd, "GET /large HTTP/1.1\r\nHost: [::1]\r\n\r\n", 36);
	turn(h);
	expect_works(h);
	answer = hear(h, fd, 32768, &size);
	expect_large(answer, size);
	free(answer);
	close(fd);
	/* gone in the middle of a page */
	fd = ask_slowly(h);
	close(fd);
	turn(h);
	expect_works(h);
	http_close(h);
}

/* Pages that nobody reads are kept in memory: not many, and not when their clients are gone. */
static void test_held_pages(void **state)
{
	struct http *h = open_at("127.0.0.1:0");
	int fds[16];
	size_t i, before = nr_pages;

	(void)state;
	for (i = 0; i < 16; i++)
		fds[i] = ask_slowly(h);
	assert_true(nr_pages - before >= 3 && nr_pages - before <= 4);
	expect(h, "GET / HTTP/1.1\r\nHost: [::1]\r\n\r\n", "HTTP/1.1 503", "slowly");
	for (i = 0; i < 16; i++)
		close(fds[i]);
	expect_works_again(h);
	/* closed with pages under way */
	fds[0] = ask_slowly(h);
	http_close(h);
	close(fds[0]);
}

static size_t open_files(void)
{
	size_t nr = 0;

	for (int fd = 0; fd < 4096; fd++)
		nr += fcntl(fd, F_GETFD) >= 0;
	return nr;
}

/* A thousand clients that connect, and some that say half a sentence, and then nothing. */
static void test_silent_clients(void **state)
{
	struct http *h = open_at("127.0.0.1:0");
	size_t i, before = open_files(), most = 0, nr;
	static int fds[1000];

	(void)state;
	for (i = 0; i < 1000; i++) {
		fds[i] = client(h);
		if (i % 3 == 0)
			(void)!send(fds[i], "GET / HT", 8, MSG_NOSIGNAL);
		http_run(h);
		nr = open_files() - before - (i + 1);
		most = nr > most ? nr : most;
	}
	assert_true(most >= 16 && most <= 32);
	for (i = 0; i < 1000; i++)
		close(fds[i]);
	expect_works(h);
	/* half a sentence and an end may be noticed with the silence only */
	assert_true(open_files() - before <= 32);
	http_close(h);
	assert_true(open_files() < before);
}

/* When silent clients fill all places, they have to go, and the one behind them gets its page. */
static void test_room_is_made(void **state)
{
	struct http *h = open_at("127.0.0.1:0");
	int fds[MANY];
	size_t i;

	(void)state;
	for (i = 0; i < MANY; i++)
		fds[i] = client(h);
	/* the kernel may take its time to connect them */
	for (i = 0; i < 3000 && (http_timeout_ms(h) < 0 || http_timeout_ms(h) > 10); i++)
		turn(h);
	/* so soon that a crowd that comes again and again keeps nobody waiting for long */
	assert_in_range(http_timeout_ms(h), 0, 10);
	expect_works(h);
	for (i = 0; i < MANY; i++)
		close(fds[i]);
	http_close(h);
}

/* All that fill the places leave at once: those behind them get their pages, and nobody has to come. */
static void test_room_is_left(void **state)
{
	struct http *h = open_at("127.0.0.1:0");
	int fds[MANY], late;
	char *answer;

	(void)state;
	for (size_t i = 0; i < MANY; i++) {
		fds[i] = client(h);
		turn(h);
	}
	late = client(h);
	assert_true(send(late, "GET / HTTP/1.0\r\n\r\n", 18, MSG_NOSIGNAL) > 0);
	for (size_t i = 0; i < MANY; i++)
		close(fds[i]);
	answer = hear(h, late, 65536, NULL);
	assert_memory_equal(answer, "HTTP/1.", 7);
	free(answer);
	close(late);
	http_close(h);
}

static int local_client(const char *path)
{
	struct sockaddr_un a = { .sun_family = AF_UNIX };
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);

	snprintf(a.sun_path, sizeof(a.sun_path), "%s", path);
	assert_true(fd >= 0);
	if (connect(fd, (struct sockaddr *)&a, sizeof(a))) {
		close(fd);
		return -1;
	}
	return fd;
}

static void expect_local(struct http *h, const char *path)
{
	static const char request[] = "GET / HTTP/1.1\r\nHost: any.example\r\n\r\n";
	int fd = local_client(path);
	char *answer;

	assert_true(fd >= 0);
	say(h, fd, request, sizeof(request) - 1);
	answer = hear(h, fd, 65536, NULL);
	assert_non_null(strstr(answer, "\r\n\r\nhello\n"));
	assert_true(last_fd >= 0);
	free(answer);
	close(fd);
}

/* A user who fills a unix socket leaves places to others, who get their pages at once. */
static void test_room_of_user(void **state)
{
	struct tree tree;
	char path[PATH_MAX];
	int fds[MANY];
	struct http *h;
	size_t before;

	(void)state;
	if (geteuid()) {
		skip_because("not root");
		return;
	}
	tree_make(&tree);
	assert_int_equal(chmod(tree.root, 0755), 0);
	tree_path(&tree, "socket", path);
	h = open_at(path);
	before = open_files();
	assert_int_equal(seteuid(4711), 0);
	for (size_t i = 0; i < MANY; i++) {
		fds[i] = local_client(path);
		assert_true(fds[i] >= 0);
		turn(h);
	}
	assert_int_equal(seteuid(0), 0);
	for (size_t i = 0; i < MANY; i++)
		turn(h);
	assert_int_equal(open_files() - before, MANY + 16);
	expect_local(h, path);
	assert_int_equal(open_files() - before, MANY + 16);
	for (size_t i = 0; i < MANY; i++)
		close(fds[i]);
	http_close(h);
	tree_remove(&tree);
}

static void expect_tcp(struct http *h)
{
	expect_works(h);
	assert_int_equal(last_fd, -1);
}

/* Several addresses, and others from now on; a page at a unix socket comes with its connection. */
static void test_several(void **state)
{
	char one[PATH_MAX], two[PATH_MAX], list[3 * PATH_MAX];
	struct tree tree;
	struct http *h;
	struct stat st;
	struct diag d = { 0 };
	unsigned int port;

	(void)state;
	tree_make(&tree);
	tree_path(&tree, "one", one);
	tree_path(&tree, "two", two);
	snprintf(list, sizeof(list), "%s, 127.0.0.1:0", one);
	h = open_at(list);
	port = http_port(h);
	expect_local(h, one);
	expect_tcp(h);
	assert_false(http_is_open(h));
	assert_int_equal(stat(one, &st), 0);
	assert_int_equal(st.st_mode & 0777, 0666);
	http_describe(h, list, sizeof(list));
	assert_non_null(strstr(list, one));
	assert_non_null(strstr(list, "http://127.0.0.1:"));
	/* the address that stays is not closed meanwhile */
	snprintf(list, sizeof(list), "127.0.0.1:0\n%s", two);
	assert_int_equal(http_listen(h, list, &d), 0);
	assert_int_equal(http_port(h), port);
	assert_int_equal(access(one, F_OK), -1);
	expect_local(h, two);
	expect_tcp(h);
	/* all or nothing */
	snprintf(list, sizeof(list), "%s,192.0.2.1:0", one);
	assert_int_equal(http_listen(h, list, &d), -EADDRNOTAVAIL);
	assert_int_equal(access(one, F_OK), -1);
	expect_local(h, two);
	expect_tcp(h);
	/* the same port in other words */
	snprintf(list, sizeof(list), "127.0.0.1:%u", port);
	assert_int_equal(http_listen(h, list, &d), 0);
	assert_int_equal(http_port(h), port);
	snprintf(list, sizeof(list), "0.0.0.0:%u", port);
	assert_int_equal(http_listen(h, list, &d), 0);
	assert_true(http_is_open(h));
	expect_tcp(h);
	assert_int_equal(http_listen(h, "", &d), 0);
	http_describe(h, list, sizeof(list));
	assert_string_equal(list, "no pages");
	assert_int_equal(http_port(h), 0);
	http_close(h);
	tree_remove(&tree);
}

/* A socket that nobody serves any more gives way; one that is served, or a file, does not. */
static void test_socket_files(void **state)
{
	struct http *h, *second = NULL;
	struct http_socket s;
	struct diag d = { 0 };
	char path[PATH_MAX];
	struct tree tree;

	(void)state;
	tree_make(&tree);
	tree_path(&tree, "socket", path);
	assert_int_equal(http_socket_open(path, &s, &d), 0);
	/* it keeps the number of its file from being used again */
	assert_int_equal(shutdown(s.fd, SHUT_RDWR), 0);
	h = open_at(path);
	/* its file is another one's now */
	http_socket_remove(&s);
	close(s.fd);
	expect_local(h, path);
	assert_int_equal(http_open(path, page, &nr_pages, &d, &second), -EADDRINUSE);
	assert_non_null(strstr(d.what, path));
	assert_non_null(strstr(d.help, "another path"));
	expect_local(h, path);
	http_close(h);
	assert_int_equal(access(path, F_OK), -1);
	tree_put(&tree, "socket", "a file");
	assert_int_equal(http_open(path, page, &nr_pages, &d, &second), -EADDRINUSE);
	snprintf(path, sizeof(path), "%s/none/socket", tree.root);
	assert_int_equal(http_open(path, page, &nr_pages, &d, &second), -ENOENT);
	assert_non_null(strstr(d.help, "folder"));
	tree_remove(&tree);
}

/* Sockets of the service manager are served as they are, whatever the addresses are. */
static void test_taken(void **state)
{
	struct http *h = open_at("");
	struct diag d = { 0 };
	struct http_socket s;
	char path[PATH_MAX];
	struct tree tree;
	int pair[2];

	(void)state;
	tree_make(&tree);
	tree_path(&tree, "socket", path);
	assert_int_equal(http_socket_open(path, &s, &d), 0);
	assert_int_equal(http_take(h, s.fd, &d), 0);
	expect_local(h, path);
	assert_int_equal(http_listen(h, "127.0.0.1:0", &d), 0);
	expect_tcp(h);
	assert_int_equal(http_listen(h, "", &d), 0);
	expect_local(h, path);
	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, pair), 0);
	assert_int_equal(http_take(h, pair[0], &d), -EINVAL);
	assert_non_null(strstr(d.help, "ListenStream="));
	close(pair[0]);
	close(pair[1]);
	http_close(h);
	/* the service manager's file is its own business */
	assert_int_equal(access(path, F_OK), 0);
	tree_remove(&tree);
}

/* The kernel says whose a connection is. */
static void test_users(void **state)
{
	gid_t groups[NGROUPS_MAX];
	int fds[2], nr = getgroups(NGROUPS_MAX, groups);
	uid_t uid;

	(void)state;
	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, fds), 0);
	assert_int_equal(http_socket_user(fds[0], &uid), 0);
	assert_int_equal(uid, geteuid());
	assert_true(http_socket_in_group(fds[0], getegid()));
	for (int i = 0; i < nr; i++)
		assert_true(http_socket_in_group(fds[0], groups[i]));
	assert_false(http_socket_in_group(fds[0], 4711));
	close(fds[0]);
	close(fds[1]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_pages),	       cmocka_unit_test(test_methods),
		cmocka_unit_test(test_hosts),	       cmocka_unit_test(test_own_name),
		cmocka_unit_test(test_long_paths),     cmocka_unit_test(test_addresses),
		cmocka_unit_test(test_ipv6),	       cmocka_unit_test(test_junk),
		cmocka_unit_test(test_slow_reader),    cmocka_unit_test(test_held_pages),
		cmocka_unit_test(test_silent_clients), cmocka_unit_test(test_room_is_made),
		cmocka_unit_test(test_room_is_left),   cmocka_unit_test(test_several),
		cmocka_unit_test(test_socket_files),   cmocka_unit_test(test_taken),
		cmocka_unit_test(test_users),	       cmocka_unit_test(test_room_of_user),
	};
	struct rlimit files;

	getrlimit(RLIMIT_NOFILE, &files);
	files.rlim_cur = files.rlim_max < 4096 ? files.rlim_max : 4096;
	setrlimit(RLIMIT_NOFILE, &files);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
