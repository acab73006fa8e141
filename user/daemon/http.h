/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* A small HTTP server (libmicrohttpd) that shares its caller's thread and poll loop. */
#ifndef DAEMON_HTTP_H
#define DAEMON_HTTP_H

#include <stdbool.h>
#include <stddef.h>

#include "base/diag.h"

#define HTTP_DEFAULT_ADDRESS "127.0.0.1:9410"
#define HTTP_HOSTS_LEN	     1024
#define HTTP_MAX_LISTENERS   8
#define HTTP_ADDRESS_LEN     128

/**
 * struct http_request - what a client asks for
 * @path: "/metrics", without query
 * @accept: kinds of text that it takes, as its header says; "" for none said
 * @fd: its connection, if it is of a unix socket: http_socket_user(); -1: of TCP
 */
struct http_request {
	const char *path;
	const char *accept;
	int fd;
};

/**
 * struct http_page - an answer
 * @status: 200, 503, ...
 * @type: content type; not owned
 * @body, @size: owned by the server from now on, freed with free()
 */
struct http_page {
	int status;
	const char *type;
	char *body;
	size_t size;
};

struct http;

/**
 * http_open() - listen
 * @addresses: see http_listen()
 * @page: makes a page; -ENOENT: 404, other errors: 500. @ret is all zero when it is called, and
 *	what it points to is not used after an error
 * @arg: handed to @page
 * @d: gets the problem
 * @ret: close with http_close()
 *
 * GET and HEAD only; others get 405. A connection is for one request. Connections are bounded in
 * number, in time and in what they hold in memory, so that a client that hangs costs next to nothing
 * and does not keep others out for long.
 *
 * Return: 0 or a negative errno.
 */
int http_open(const char *addresses,
	      int (*page)(void *arg, const struct http_request *q, struct http_page *ret),
	      void *arg, struct diag *d, struct http **ret);

/**
 * http_listen() - listen on these addresses from now on
 * @h: the server
 * @addresses: separated by commas, blanks or newlines; "" for none. Number and port,
 *	"127.0.0.1:9410", "[::1]:9410", port 0 = any free one; or the path of a unix socket
 * @d: gets the problem
 *
 * Addresses that are open already stay as they are, and so do those of http_take().
 *
 * Return: 0, or a negative errno with the addresses of before.
 */
int http_listen(struct http *h, const char *addresses, struct diag *d);

/** http_take() - also serve on a socket of the service manager; 0 with @fd taken, or -errno */
int http_take(struct http *h, int fd, struct diag *d);

/** http_check_addresses() - 0 for a list as above without an address twice; else -EINVAL */
int http_check_addresses(const char *addresses, struct diag *d);

/** http_next_address() - take the next address from a list; false when there is none */
bool http_next_address(const char **list, char ret[HTTP_ADDRESS_LEN]);

/** http_describe() - the addresses for people, "no pages" for none */
void http_describe(const struct http *h, char *ret, size_t size);

/** http_is_open() - does it listen where other machines may reach it? */
bool http_is_open(const struct http *h);

/**
 * http_hosts() - further names of this machine
 * @h: the server
 * @names: separated by commas, shorter than HTTP_HOSTS_LEN
 *
 * A request for another name (its Host header) gets 421. Always right are addresses, localhost and
 * names that end so; and if the server listens on more than a loopback address, the host name of the
 * machine, alone and in the search domains of its resolver. Names do not matter at a unix socket.
 */
void http_hosts(struct http *h, const char *names);

/** http_close() - stop listening, drop all connections; NULL is fine */
void http_close(struct http *h);

/** http_fd() - readable when http_run() has something to do; for poll() */
int http_fd(const struct http *h);

/** http_timeout_ms() - http_run() must be called after this long even so; -1 = never */
int http_timeout_ms(struct http *h);

/** http_run() - serve what waits; never blocks */
void http_run(struct http *h);

/** http_port() - the port of its first TCP address, 0 for none */
unsigned int http_port(const struct http *h);

#endif
