/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* A small HTTP server (libmicrohttpd) that shares its caller's thread and poll loop. */
#ifndef PLATFORM_HTTP_H
#define PLATFORM_HTTP_H

#include <stddef.h>

#include "base/diag.h"

#define HTTP_DEFAULT_ADDRESS "127.0.0.1:9410"

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
 * @address: "127.0.0.1:9410", "[::1]:9410"; port 0 = any free one
 * @page: makes the page of a path ("/metrics", without query); -ENOENT: 404, other errors: 500
 * @arg: handed to @page
 * @d: gets the problem
 * @ret: close with http_close()
 *
 * GET and HEAD only; others get 405. Connections are bounded in number and time, so that a client
 * that hangs costs nothing.
 *
 * Return: 0 or a negative errno.
 */
int http_open(const char *address, int (*page)(void *arg, const char *path, struct http_page *ret),
	      void *arg, struct diag *d, struct http **ret);
void http_close(struct http *h);

/** http_fd() - readable when http_run() has something to do; for poll() */
int http_fd(const struct http *h);

/** http_timeout_ms() - http_run() must be called after this long even so; -1 = never */
int http_timeout_ms(struct http *h);

/** http_run() - serve what waits; never blocks */
void http_run(struct http *h);

/** http_port() - the port it listens on */
unsigned int http_port(const struct http *h);

#endif
