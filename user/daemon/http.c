// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * libmicrohttpd does HTTP; what is here keeps clients from costing much. It limits how many there are
 * and how long they may be silent. How long a connection may last in all, and how much text those that
 * read slowly may keep in memory, is up to us.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <limits.h>
#include <microhttpd.h>
#include <netinet/in.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/array.h"
#include "base/cleanup.h"
#include "base/clock.h"
#include "base/text.h"
#include "daemon/http.h"
#include "daemon/http_hosts.h"

#define MAX_CONNECTIONS 32
#define MAX_REQUEST	16384	      /* bytes of a request's headers, with libmicrohttpd's own */
#define MAX_HELD	(16ull << 20) /* bytes of pages; beyond it new requests are turned away */
#define SEND_BUFFER	(256 << 10)   /* of the kernel for a client; else it would take megabytes */
#define SILENCE_S	10	      /* a client that does nothing */
#define LIFE_NS		(30 * NS_PER_S) /* of a connection, whatever its client does */
#define CROWDED_NS	(2 * NS_PER_S)	/* the same, when there is no room for others */
#define BACKLOG		64

/* A connection; @fd is -1 in a free place, and in one that was told to end. */
struct client {
	bool used;
	int fd;
	uint64_t since_ns;
};

struct http {
	struct MHD_Daemon *daemon;
	int (*page)(void *arg, const struct http_request *q, struct http_page *ret);
	void *arg;
	unsigned int port;
	bool loopback; /* it listens on an address that only this machine reaches */
	char hosts[HTTP_HOSTS_LEN];
	uint64_t held;
	struct client clients[MAX_CONNECTIONS];
	size_t nr_clients;
	bool left; /* one has, in the last http_run() */
};

/* A page's body, until it was sent or its client is gone. */
struct held_page {
	struct http *http;
	char *body;
	size_t size;
};

static void held_free(void *arg)
{
	struct held_page *h = arg;

	h->http->held -= h->size;
	free(h->body);
	free(h);
}

static enum MHD_Result answer(struct MHD_Connection *c, unsigned int status, const char *type,
			      struct MHD_Response *response)
{
	enum MHD_Result ok = MHD_NO;

	if (!response)
		return MHD_NO; /* no memory: the connection is closed */
	if (MHD_add_response_header(response, "Content-Type", type) == MHD_YES &&
	    MHD_add_response_header(response, "Connection", "close") == MHD_YES &&
	    (status != MHD_HTTP_METHOD_NOT_ALLOWED ||
	     MHD_add_response_header(response, "Allow", "GET, HEAD") == MHD_YES))
		ok = MHD_queue_response(c, status, response);
	MHD_destroy_response(response);
	return ok;
}

static enum MHD_Result answer_text(struct MHD_Connection *c, unsigned int status, const char *text)
{
	return answer(c, status, "text/plain; charset=utf-8",
		      MHD_create_response_from_buffer(strlen(text), (void *)text,
						      MHD_RESPMEM_PERSISTENT));
}

static enum MHD_Result answer_page(struct http *h, struct MHD_Connection *c,
				   const struct http_page *p)
{
	struct held_page *held = malloc(sizeof(*held));
	struct MHD_Response *response;

	if (!held) {
		free(p->body);
		return MHD_NO;
	}
	*held = (struct held_page){ .http = h, .body = p->body, .size = p->size };
	h->held += held->size;
	response = MHD_create_response_from_buffer_with_free_callback_cls(p->size, p->body,
									  held_free, held);
	if (!response)
		held_free(held);
	return answer(c, p->status, p->type, response);
}

static const char misdirected[] = "this machine is not known by the name that was asked for: ask "
				  "by its address, or add the name\n"
				  "to \"hosts\" in serve.conf (t410trace serve --hosts NAME)\n";

static enum MHD_Result on_request(void *arg, struct MHD_Connection *c, const char *url,
				  const char *method, const char *version, const char *upload,
				  size_t *upload_size, void **request)
{
	struct http *h = arg;
	struct http_request q = { .path = url };
	struct http_page p = { 0 };
	const char *host = MHD_lookup_connection_value(c, MHD_HEADER_KIND, "Host");
	int r;

	(void)version;
	(void)upload;
	(void)upload_size;
	(void)request;
	if (host && !http_hosts_has(host, h->loopback, h->hosts))
		return answer_text(c, MHD_HTTP_MISDIRECTED_REQUEST, misdirected);
	if (strcmp(method, "GET") != 0 && strcmp(method, "HEAD") != 0)
		return answer_text(c, MHD_HTTP_METHOD_NOT_ALLOWED, "only GET and HEAD\n");
	if (h->held >= MAX_HELD)
		return answer_text(c, MHD_HTTP_SERVICE_UNAVAILABLE,
				   "too many clients that read slowly\n");
	q.accept = MHD_lookup_connection_value(c, MHD_HEADER_KIND, "Accept");
	if (!q.accept)
		q.accept = "";
	r = h->page(h->arg, &q, &p);
	if (r == -ENOENT)
		return answer_text(c, MHD_HTTP_NOT_FOUND, "no such page\n");
	if (r)
		return answer_text(c, MHD_HTTP_INTERNAL_SERVER_ERROR,
				   "the page could not be made\n");
	return answer_page(h, c, &p);
}

static void on_connection(void *arg, struct MHD_Connection *c, void **place,
			  enum MHD_ConnectionNotificationCode what)
{
	const union MHD_ConnectionInfo *info;
	struct http *h = arg;
	struct client *client = *place;
	size_t i;

	if (what == MHD_CONNECTION_NOTIFY_CLOSED) {
		if (client) {
			client->used = false;
			h->nr_clients--;
		}
		h->left = true;
		return;
	}
	info = MHD_get_connection_info(c, MHD_CONNECTION_INFO_CONNECTION_FD);
	for (i = 0; info && i < ARRAY_SIZE(h->clients); i++) {
		client = &h->clients[i];
		if (client->used)
			continue;
		*client = (struct client){ true, info->connect_fd, monotonic_ns() };
		h->nr_clients++;
		*place = client;
		break;
	}
}

/* The time left to a client; 0 = none, INT64_MAX = it was told to end. */
static int64_t client_left(const struct http *h, const struct client *c, uint64_t now)
{
	uint64_t life = h->nr_clients >= MAX_CONNECTIONS ? CROWDED_NS : LIFE_NS;

	if (c->fd < 0)
		return INT64_MAX;
	return now - c->since_ns >= life ? 0 : (int64_t)(c->since_ns + life - now);
}

/* libmicrohttpd cannot be told to close a connection; but it does so when the client has closed it. */
static void end_overdue(struct http *h)
{
	uint64_t now = monotonic_ns();
	struct client *c;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(h->clients); i++) {
		c = &h->clients[i];
		if (!c->used || client_left(h, c, now) > 0)
			continue;
		shutdown(c->fd, SHUT_RDWR);
		c->fd = -1;
	}
}

/* "127.0.0.1:9410" or "[::1]:9410" */
static int parse_address(const char *text, struct sockaddr_storage *ret, socklen_t *ret_size)
{
	struct sockaddr_in *v4 = (struct sockaddr_in *)ret;
	struct sockaddr_in6 *v6 = (struct sockaddr_in6 *)ret;
	const char *colon = strrchr(text, ':');
	char host[INET6_ADDRSTRLEN + 2];
	uint64_t port;
	size_t length;

	memset(ret, 0, sizeof(*ret));
	if (!colon || colon == text || (size_t)(colon - text) >= sizeof(host) ||
	    parse_u64(colon + 1, &port) || port > UINT16_MAX)
		return -EINVAL;
	length = colon - text;
	memcpy(host, text, length);
	host[length] = '\0';
	if (host[0] == '[' && host[length - 1] == ']') {
		host[length - 1] = '\0';
		v6->sin6_family = AF_INET6;
		v6->sin6_port = htons(port);
		*ret_size = sizeof(*v6);
		return inet_pton(AF_INET6, host + 1, &v6->sin6_addr) == 1 ? 0 : -EINVAL;
	}
	v4->sin_family = AF_INET;
	v4->sin_port = htons(port);
	*ret_size = sizeof(*v4);
	return inet_pton(AF_INET, host, &v4->sin_addr) == 1 ? 0 : -EINVAL;
}

static int fail_address(struct diag *d, int err, const char *address)
{
	diag_fail(d, err, "cannot listen on %s: %s", address, strerror(-err));
	if (err == -EADDRINUSE)
		diag_help(d, "another program listens there (\"ss -ltnp\" shows which); end it, or "
			     "choose another address");
	else if (err == -EADDRNOTAVAIL)
		diag_help(d,
			  "no interface of this machine has it; \"ip address\" shows those it has");
	else if (err == -EACCES)
		diag_help(d, "ports below 1024 need CAP_NET_BIND_SERVICE; choose another one");
	else if (err == -EAFNOSUPPORT)
		diag_help(d, "IPv6 is off on this machine; use an IPv4 address");
	return err;
}

static bool is_loopback(const struct sockaddr_storage *a)
{
	if (a->ss_family == AF_INET6)
		return IN6_IS_ADDR_LOOPBACK(&((const struct sockaddr_in6 *)a)->sin6_addr);
	return ntohl(((const struct sockaddr_in *)a)->sin_addr.s_addr) >> 24 == IN_LOOPBACKNET;
}

/* Our own socket, because libmicrohttpd does not tell what went wrong. */
static int open_socket(struct http *h, const char *address, struct diag *d, int *ret_fd)
{
	struct sockaddr_storage a;
	cleanup_close int fd = -1;
	socklen_t size;
	int one = 1, send_buffer = SEND_BUFFER;

	if (parse_address(address, &a, &size)) {
		diag_fail(d, -EINVAL, "\"%s\" is not an address to listen on", address);
		return diag_advise(
			d, -EINVAL,
			"give a number and a port, as in 127.0.0.1:9410, 0.0.0.0:9410 or "
			"[::1]:9410");
	}
	fd = socket(a.ss_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	/* Connections of an earlier run that the kernel has not forgotten yet do not matter. What is set
	   here goes for each connection. */
	if (fd < 0 || setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof(one)) ||
	    setsockopt(fd, SOL_SOCKET, SO_SNDBUF, &send_buffer, sizeof(send_buffer)) ||
	    (a.ss_family == AF_INET6 &&
	     setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &one, sizeof(one))) ||
	    bind(fd, (struct sockaddr *)&a, size) || listen(fd, BACKLOG))
		return fail_address(d, -errno, address);
	size = sizeof(a);
	if (getsockname(fd, (struct sockaddr *)&a, &size))
		return fail_address(d, -errno, address);
	h->port = ntohs(a.ss_family == AF_INET6 ? ((struct sockaddr_in6 *)&a)->sin6_port
						: ((struct sockaddr_in *)&a)->sin_port);
	h->loopback = is_loopback(&a);
	*ret_fd = take_fd(&fd);
	return 0;
}

int http_open(const char *address,
	      int (*page)(void *arg, const struct http_request *q, struct http_page *ret),
	      void *arg, struct diag *d, struct http **ret)
{
	cleanup_free struct http *h = calloc(1, sizeof(*h));
	cleanup_close int fd = -1;
	int r;

	if (!h)
		return diag_no_memory(d);
	h->page = page;
	h->arg = arg;
	r = open_socket(h, address, d, &fd);
	if (r)
		return r;
	h->daemon = MHD_start_daemon(MHD_USE_EPOLL, h->port, NULL, NULL, on_request, h,
				     MHD_OPTION_LISTEN_SOCKET, fd, MHD_OPTION_CONNECTION_LIMIT,
				     (unsigned int)MAX_CONNECTIONS, MHD_OPTION_CONNECTION_TIMEOUT,
				     (unsigned int)SILENCE_S, MHD_OPTION_CONNECTION_MEMORY_LIMIT,
				     (size_t)MAX_REQUEST, MHD_OPTION_NOTIFY_CONNECTION,
				     on_connection, h, MHD_OPTION_END);
	if (!h->daemon)
		return diag_fail(d, -ENOMEM, "cannot serve on %s: libmicrohttpd does not start",
				 address);
	take_fd(&fd); /* libmicrohttpd closes it */
	*ret = take_ptr(h);
	return 0;
}

void http_hosts(struct http *h, const char *names)
{
	str_copy(h->hosts, sizeof(h->hosts), names);
}

void http_close(struct http *h)
{
	if (!h)
		return;
	MHD_stop_daemon(h->daemon);
	free(h);
}

int http_fd(const struct http *h)
{
	const union MHD_DaemonInfo *info = MHD_get_daemon_info(h->daemon, MHD_DAEMON_INFO_EPOLL_FD);

	return info ? info->epoll_fd : -1;
}

int http_timeout_ms(struct http *h)
{
	uint64_t now = monotonic_ns();
	int64_t least = INT64_MAX, left;
	MHD_UNSIGNED_LONG_LONG ms;
	size_t i;

	/* Where there was no room, libmicrohttpd listens again in its next run, and tells nobody so. */
	if (h->left)
		return 0;
	if (MHD_get_timeout(h->daemon, &ms) == MHD_YES && ms < INT_MAX)
		least = (int64_t)ms * 1000000;
	for (i = 0; i < ARRAY_SIZE(h->clients); i++) {
		left = h->clients[i].used ? client_left(h, &h->clients[i], now) : INT64_MAX;
		if (left < least)
			least = left;
	}
	/* rounded up, so that what is due then is due */
	return least == INT64_MAX ? -1 : (int)((least + 999999) / 1000000);
}

void http_run(struct http *h)
{
	h->left = false;
	end_overdue(h);
	MHD_run(h->daemon);
}

unsigned int http_port(const struct http *h)
{
	return h->port;
}
