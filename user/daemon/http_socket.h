/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Inside of the HTTP server: sockets to listen on, and the users behind their connections. */
#ifndef DAEMON_HTTP_SOCKET_H
#define DAEMON_HTTP_SOCKET_H

#include <stdbool.h>
#include <sys/socket.h>
#include <sys/types.h>
#include <sys/un.h>

#include "base/diag.h"

/**
 * struct http_socket - a socket that listens
 * @fd: the socket, -1 for none
 * @local: a unix socket: the kernel knows the user of each connection
 * @loopback: only this machine reaches it
 * @port: of TCP
 * @path: of a unix socket that http_socket_open() made, "" for any other one
 * @device, @inode: of this file
 */
struct http_socket {
	int fd;
	bool local;
	bool loopback;
	unsigned int port;
	char path[sizeof(((struct sockaddr_un *)NULL)->sun_path)];
	dev_t device;
	ino_t inode;
};

/** http_socket_check() - is it an address for http_socket_open()? 0, or -EINVAL with the remedy */
int http_socket_check(const char *address, struct diag *d);

/**
 * http_socket_compare() - can there be sockets at both addresses?
 * @a, @b: addresses
 * @d: gets the remedy
 *
 * Return: 0; -EINVAL if one is the other, or contains it as 0.0.0.0:9410 does 127.0.0.1:9410.
 */
int http_socket_compare(const char *a, const char *b, struct diag *d);

/**
 * http_socket_open() - listen
 * @address: number and port, "127.0.0.1:9410", "[::1]:9410"; or the path of a unix socket, to which
 *	every user may connect. A socket there without a listener is replaced
 * @d: gets the problem
 * @ret: the socket; release with http_socket_remove(), and close @ret->fd
 *
 * Return: 0 or a negative errno.
 */
int http_socket_open(const char *address, struct http_socket *ret, struct diag *d);

/**
 * http_socket_take() - use a socket that the service manager listens on
 * @fd: the socket; it stays the caller's after an error
 * @d: gets the problem
 * @ret: the socket
 *
 * Return: 0, or -EINVAL for what is no listening stream socket.
 */
int http_socket_take(int fd, struct http_socket *ret, struct diag *d);

/** http_socket_remove() - remove the file of a unix socket, unless another one has its place */
void http_socket_remove(const struct http_socket *s);

/**
 * http_socket_user() - whose connection is it?
 * @fd: connection of a unix socket
 * @ret: uid at the time of its connect()
 *
 * Return: 0 or a negative errno.
 */
int http_socket_user(int fd, uid_t *ret);

/** http_socket_in_group() - was its user in this group then? Supplementary groups count. */
bool http_socket_in_group(int fd, gid_t group);

#endif
