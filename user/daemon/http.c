// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * libmicrohttpd does HTTP; what is here keeps clients from costing much. It limits how many there are
 * and how long they may be silent. How long a connection may last in all, and how much text those that
 * read slowly may keep in memory, is up to us.
 */
#include <errno.h>
#include <limits.h>
#include <microhttpd.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/array.h"
#include "base/cleanup.h"
#include "base/clock.h"
#include "base/text.h"
#include "daemon/http.h"
#include "daemon/http_hosts.h"
#include "daemon/http_socket.h"

#define MAX_CONNECTIONS 32
#define MAX_REQUEST	16384		/* bytes of a request's headers, with libmicrohttpd's own */
#define MAX_HELD	(16ull << 20)	/* bytes of pages; beyond it new requests are turned away */
#define SILENCE_S	10		/* a client that does nothing */
#define LIFE_NS		(30 * NS_PER_S) /* of a connection, whatever its client does */
#define CROWDED_NS	(2 * NS_PER_S)	/* the same, when there is no room for others */
#define SILENT_NS	(NS_PER_S / 100) /* the same, of a client that has not asked for a page yet */
/* A user at a unix socket has this many places: others find one, however often that user connects. */
#define MAX_OF_USER	(MAX_CONNECTIONS / 2)

/**
 * struct client - a connection
 * @asked: its request is complete
 * @fd: -1 in a free place, and in one that was told to end
 * @uid: its user, at a unix socket
 */
struct client {
	bool used;
	bool asked;
	int fd;
	uid_t uid;
	uint64_t since_ns;
};

/**
 * struct listener - an address, with connections of its own: a crowd at one does not fill the other
 * @address: as it was given, "" for a socket of the service manager
 * @left: a client has, in the last http_run()
 */
struct listener {
	struct http *http;
	struct MHD_Daemon *daemon;
	struct http_socket socket;
	char address[HTTP_ADDRESS_LEN];
	struct client clients[MAX_CONNECTIONS];
	size_t nr_clients;
	bool left;
};

struct http {
	int (*page)(void *arg, const struct http_request *q, struct http_page *ret);
	void *arg;
	int epoll;
	char hosts[HTTP_HOSTS_LEN];
	uint64_t held;
	struct listener *listeners[HTTP_MAX_LISTENERS];
	size_t nr;
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

/* An answer of libmicrohttpd about a connection is there until it is asked the next time. */
static struct client *client_of(struct MHD_Connection *c)
{
	const union MHD_ConnectionInfo *info =
		MHD_get_connection_info(c, MHD_CONNECTION_INFO_SOCKET_CONTEXT);

	return info ? info->socket_context : NULL;
}

static int fd_of(struct MHD_Connection *c)
{
	const union MHD_ConnectionInfo *info =
		MHD_get_connection_info(c, MHD_CONNECTION_INFO_CONNECTION_FD);

	return info ? info->connect_fd : -1;
}

/* Names under which a listener was asked: were all so far right? */
struct asked_host {
	const struct listener *l;
	bool right;
};

static enum MHD_Result on_header(void *arg, enum MHD_ValueKind kind, const char *key,
				 const char *value)
{
	struct asked_host *a = arg;

	(void)kind;
	if (!strcasecmp(key, "Host") &&
	    !http_hosts_has(value ? value : "", a->l->socket.loopback, a->l->http->hosts))
		a->right = false;
	return MHD_YES;
}

/* Of several names, each: who is between a page of the web and us may have gone by any. */
static bool is_for_us(const struct listener *l, struct MHD_Connection *c)
{
	struct asked_host a = { l, true };

	MHD_get_connection_values(c, MHD_HEADER_KIND, on_header, &a);
	return a.right;
}

static enum MHD_Result on_request(void *arg, struct MHD_Connection *c, const char *url,
				  const char *method, const char *version, const char *upload,
				  size_t *upload_size, void **request)
{
	const struct listener *l = arg;
	struct http *h = l->http;
	struct http_request q = { .path = url, .fd = -1 };
	struct http_page p = { 0 };
	struct client *client = client_of(c);
	int r, fd = fd_of(c);

	(void)version;
	(void)upload;
	(void)upload_size;
	(void)request;
	if (fd < 0)
		return MHD_NO;
	if (client)
		client->asked = true;
	if (l->socket.local)
		q.fd = fd;
	/* no page of the web reaches a unix socket */
	else if (!is_for_us(l, c))
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

static int listener_fd(const struct listener *l)
{
	const union MHD_DaemonInfo *info = MHD_get_daemon_info(l->daemon, MHD_DAEMON_INFO_EPOLL_FD);

	return info ? info->epoll_fd : -1;
}

/* libmicrohttpd cannot be told to close a connection; but it does so when the client has closed it. */
static void end_client(struct client *c)
{
	shutdown(c->fd, SHUT_RDWR);
	c->fd = -1;
}

static void begin_client(struct listener *l, struct client *c, int fd)
{
	size_t nr = 0;

	*c = (struct client){ .used = true, .fd = fd, .since_ns = monotonic_ns() };
	l->nr_clients++;
	if (!l->socket.local || http_socket_user(fd, &c->uid) || !c->uid)
		return;
	for (size_t i = 0; i < ARRAY_SIZE(l->clients); i++)
		nr += l->clients[i].used && l->clients[i].uid == c->uid;
	if (nr > MAX_OF_USER)
		end_client(c);
}

static void on_connection(void *arg, struct MHD_Connection *c, void **place,
			  enum MHD_ConnectionNotificationCode what)
{
	struct listener *l = arg;
	struct client *client = *place;
	int fd;

	if (what == MHD_CONNECTION_NOTIFY_CLOSED) {
		if (client) {
			client->used = false;
			l->nr_clients--;
		}
		l->left = true;
		return;
	}
	fd = fd_of(c);
	for (size_t i = 0; fd >= 0 && i < ARRAY_SIZE(l->clients); i++) {
		if (l->clients[i].used)
			continue;
		*place = &l->clients[i];
		begin_client(l, *place, fd);
		break;
	}
}

/* The time left to a client; 0 = none, INT64_MAX = it was told to end. */
static int64_t client_left(const struct listener *l, const struct client *c, uint64_t now)
{
	uint64_t life = l->nr_clients < MAX_CONNECTIONS ? LIFE_NS
			: c->asked			? CROWDED_NS
							: SILENT_NS;

	if (c->fd < 0)
		return INT64_MAX;
	return now - c->since_ns >= life ? 0 : (int64_t)(c->since_ns + life - now);
}

static void end_overdue(struct listener *l)
{
	uint64_t now = monotonic_ns();
	struct client *c;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(l->clients); i++) {
		c = &l->clients[i];
		if (c->used && !client_left(l, c, now))
			end_client(c);
	}
}

static struct MHD_Daemon *start(struct listener *l)
{
	return MHD_start_daemon(MHD_USE_EPOLL, l->socket.port, NULL, NULL, on_request, l,
				MHD_OPTION_LISTEN_SOCKET, l->socket.fd, MHD_OPTION_CONNECTION_LIMIT,
				(unsigned int)MAX_CONNECTIONS, MHD_OPTION_CONNECTION_TIMEOUT,
				(unsigned int)SILENCE_S, MHD_OPTION_CONNECTION_MEMORY_LIMIT,
				(size_t)MAX_REQUEST, MHD_OPTION_NOTIFY_CONNECTION, on_connection, l,
				MHD_OPTION_STRICT_FOR_CLIENT, 1, MHD_OPTION_END);
}

/*
 * Closes the socket, too; a daemon that did not start leaves it to us. The file goes first: until the
 * socket is closed no other file has its number.
 */
static void listener_free(struct listener *l)
{
	http_socket_remove(&l->socket);
	if (l->daemon)
		MHD_stop_daemon(l->daemon);
	else if (l->socket.fd >= 0)
		close(l->socket.fd);
	free(l);
}

/* Serve on a socket, which is ours from now on. */
static int add_listener(struct http *h, const char *address, const struct http_socket *s,
			struct diag *d)
{
	struct listener *l = h->nr < HTTP_MAX_LISTENERS ? calloc(1, sizeof(*l)) : NULL;
	struct epoll_event e = { .events = EPOLLIN };

	if (!l) {
		http_socket_remove(s);
		close(s->fd);
		return h->nr < HTTP_MAX_LISTENERS
			       ? diag_no_memory(d)
			       : diag_fail(d, -E2BIG,
					   "there are more than %d addresses to listen on",
					   HTTP_MAX_LISTENERS);
	}
	l->http = h;
	l->socket = *s;
	str_copy(l->address, sizeof(l->address), address);
	l->daemon = start(l);
	if (!l->daemon || epoll_ctl(h->epoll, EPOLL_CTL_ADD, listener_fd(l), &e)) {
		listener_free(l);
		return diag_fail(d, -ENOMEM, "cannot serve on %s: libmicrohttpd does not start",
				 address);
	}
	h->listeners[h->nr++] = l;
	return 0;
}

static bool is_among(const char *address, const char *addresses)
{
	char one[HTTP_ADDRESS_LEN];

	while (http_next_address(&addresses, one))
		if (!strcmp(one, address))
			return true;
	return false;
}

static bool listens_on(const struct http *h, const char *address)
{
	for (size_t i = 0; i < h->nr; i++)
		if (!strcmp(h->listeners[i]->address, address))
			return true;
	return false;
}

/* End those from @from on that are not in the list. Sockets of the service manager stay. */
static void end_listeners(struct http *h, size_t from, const char *addresses)
{
	size_t nr = from;

	for (size_t i = from; i < h->nr; i++) {
		struct listener *l = h->listeners[i];

		if (!l->address[0] || is_among(l->address, addresses))
			h->listeners[nr++] = l;
		else
			listener_free(l);
	}
	h->nr = nr;
}

/* Open those that are not open; after an error none of them is. */
static int begin_listeners(struct http *h, const char *addresses, struct diag *d)
{
	char one[HTTP_ADDRESS_LEN];
	struct http_socket s;
	size_t before = h->nr;
	int err = 0;

	while (!err && http_next_address(&addresses, one)) {
		if (listens_on(h, one))
			continue;
		err = http_socket_open(one, &s, d);
		if (!err)
			err = add_listener(h, one, &s, d);
	}
	if (err)
		end_listeners(h, before, "");
	return err;
}

bool http_next_address(const char **list, char ret[HTTP_ADDRESS_LEN])
{
	size_t length;

	*list += strspn(*list, ", \t\n");
	length = strcspn(*list, ", \t\n");
	snprintf(ret, HTTP_ADDRESS_LEN, "%.*s", (int)length, *list);
	*list += length;
	return length;
}

int http_check_addresses(const char *addresses, struct diag *d)
{
	char one[HTTP_ADDRESS_LEN], other[HTTP_ADDRESS_LEN];
	size_t nr = 0;
	int err = 0;

	while (!err && http_next_address(&addresses, one)) {
		const char *rest = addresses;

		err = http_socket_check(one, d);
		while (!err && http_next_address(&rest, other))
			err = http_socket_compare(one, other, d);
		if (!err && ++nr > HTTP_MAX_LISTENERS)
			err = diag_fail(d, -EINVAL, "more than %d addresses", HTTP_MAX_LISTENERS);
	}
	return err;
}

/* The new addresses first. If one is an old one in other words, the old ones must close first. */
int http_listen(struct http *h, const char *addresses, struct diag *d)
{
	char before[HTTP_MAX_LISTENERS * HTTP_ADDRESS_LEN] = "";
	struct diag again = { 0 };
	int err = begin_listeners(h, addresses, d);

	if (err == -EADDRINUSE && h->nr) {
		for (size_t i = 0; i < h->nr; i++)
			str_append(before, sizeof(before), "%s ", h->listeners[i]->address);
		end_listeners(h, 0, addresses);
		err = begin_listeners(h, addresses, d);
		if (err)
			begin_listeners(h, before, &again);
	}
	if (!err)
		end_listeners(h, 0, addresses);
	return err;
}

int http_take(struct http *h, int fd, struct diag *d)
{
	struct http_socket s;
	int err = http_socket_take(fd, &s, d);

	return err ? err : add_listener(h, "", &s, d);
}

int http_open(const char *addresses,
	      int (*page)(void *arg, const struct http_request *q, struct http_page *ret),
	      void *arg, struct diag *d, struct http **ret)
{
	struct http *h = calloc(1, sizeof(*h));
	int err;

	if (!h)
		return diag_no_memory(d);
	h->page = page;
	h->arg = arg;
	h->epoll = epoll_create1(EPOLL_CLOEXEC);
	err = h->epoll < 0 ? diag_fail(d, -errno, "cannot serve pages: %s", strerror(errno))
			   : http_listen(h, addresses, d);
	if (err) {
		http_close(h);
		return err;
	}
	*ret = h;
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
	for (size_t i = 0; i < h->nr; i++)
		listener_free(h->listeners[i]);
	if (h->epoll >= 0)
		close(h->epoll);
	free(h);
}

int http_fd(const struct http *h)
{
	return h->epoll;
}

static int64_t listener_timeout_ns(struct listener *l)
{
	uint64_t now = monotonic_ns();
	int64_t least = INT64_MAX, left;
	MHD_UNSIGNED_LONG_LONG ms;

	/* Where there was no room, libmicrohttpd listens again in its next run, and tells nobody so. */
	if (l->left)
		return 0;
	if (MHD_get_timeout(l->daemon, &ms) == MHD_YES && ms < INT_MAX)
		least = (int64_t)ms * 1000000;
	for (size_t i = 0; i < ARRAY_SIZE(l->clients); i++) {
		left = l->clients[i].used ? client_left(l, &l->clients[i], now) : INT64_MAX;
		if (left < least)
			least = left;
	}
	return least;
}

int http_timeout_ms(struct http *h)
{
	int64_t least = INT64_MAX, left;

	for (size_t i = 0; i < h->nr; i++) {
		left = listener_timeout_ns(h->listeners[i]);
		if (left < least)
			least = left;
	}
	/* rounded up, so that what is due then is due */
	return least == INT64_MAX ? -1 : (int)((least + 999999) / 1000000);
}

void http_run(struct http *h)
{
	for (size_t i = 0; i < h->nr; i++) {
		struct listener *l = h->listeners[i];

		l->left = false;
		MHD_run(l->daemon);
		/* what had come from them was read first */
		end_overdue(l);
	}
}

unsigned int http_port(const struct http *h)
{
	for (size_t i = 0; i < h->nr; i++)
		if (h->listeners[i]->socket.port)
			return h->listeners[i]->socket.port;
	return 0;
}

static void describe(const struct listener *l, char *ret, size_t size)
{
	struct sockaddr_un a = { 0 };
	socklen_t length = sizeof(a) - 1;
	const char *colon = strrchr(l->address, ':');

	if (l->socket.local && !getsockname(l->socket.fd, (struct sockaddr *)&a, &length))
		snprintf(ret, size, "%s", a.sun_path[0] ? a.sun_path : "a unix socket");
	else if (l->address[0] && colon)
		snprintf(ret, size, "http://%.*s:%u/", (int)(colon - l->address), l->address,
			 l->socket.port);
	else
		snprintf(ret, size, "port %u of the service manager", l->socket.port);
}

void http_describe(const struct http *h, char *ret, size_t size)
{
	char one[HTTP_ADDRESS_LEN + 32];

	str_copy(ret, size, h->nr ? "" : "no pages");
	for (size_t i = 0; i < h->nr; i++) {
		describe(h->listeners[i], one, sizeof(one));
		str_append(ret, size, "%s%s", i ? ", " : "", one);
	}
}

bool http_is_open(const struct http *h)
{
	for (size_t i = 0; i < h->nr; i++)
		if (!h->listeners[i]->socket.loopback)
			return true;
	return false;
}
