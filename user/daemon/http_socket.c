// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "daemon/http_socket.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/text.h"

#define SEND_BUFFER (256 << 10) /* of the kernel for a client; else it would take megabytes */
#define BACKLOG	    SOMAXCONN	/* the kernel may have less */

union address {
	struct sockaddr any;
	struct sockaddr_in v4;
	struct sockaddr_in6 v6;
	struct sockaddr_un local;
	struct sockaddr_storage room;
};

/* "127.0.0.1:9410", "[::1]:9410" or "/run/t410trace.sock" */
static int parse_address(const char *text, union address *ret, socklen_t *ret_size)
{
	const char *colon = strrchr(text, ':');
	char host[INET6_ADDRSTRLEN + 2];
	uint64_t port;
	size_t length;

	memset(ret, 0, sizeof(*ret));
	if (text[0] == '/') {
		ret->local.sun_family = AF_UNIX;
		*ret_size = sizeof(ret->local);
		if (strlen(text) >= sizeof(ret->local.sun_path))
			return -EINVAL;
		str_copy(ret->local.sun_path, sizeof(ret->local.sun_path), text);
		return 0;
	}
	if (!colon || colon == text || (size_t)(colon - text) >= sizeof(host) ||
	    parse_u64(colon + 1, &port) || port > UINT16_MAX)
		return -EINVAL;
	length = colon - text;
	memcpy(host, text, length);
	host[length] = '\0';
	if (host[0] == '[' && host[length - 1] == ']') {
		host[length - 1] = '\0';
		ret->v6.sin6_family = AF_INET6;
		ret->v6.sin6_port = htons(port);
		*ret_size = sizeof(ret->v6);
		return inet_pton(AF_INET6, host + 1, &ret->v6.sin6_addr) == 1 ? 0 : -EINVAL;
	}
	ret->v4.sin_family = AF_INET;
	ret->v4.sin_port = htons(port);
	*ret_size = sizeof(ret->v4);
	return inet_pton(AF_INET, host, &ret->v4.sin_addr) == 1 ? 0 : -EINVAL;
}

int http_socket_check(const char *address, struct diag *d)
{
	union address a;
	socklen_t size;

	if (!parse_address(address, &a, &size))
		return 0;
	diag_fail(d, -EINVAL, "\"%s\" is not an address and a port, nor the path of a socket",
		  address);
	return diag_advise(d, -EINVAL,
			   "as in 127.0.0.1:9410, 0.0.0.0:9410, [::1]:9410 or /run/t410trace.sock "
			   "(107 bytes at most), with commas between; empty for no pages");
}

static unsigned int port_of(const union address *a)
{
	if (a->any.sa_family == AF_UNIX)
		return 0;
	return ntohs(a->any.sa_family == AF_INET6 ? a->v6.sin6_port : a->v4.sin_port);
}

static bool is_any(const union address *a)
{
	return a->any.sa_family == AF_INET6 ? IN6_IS_ADDR_UNSPECIFIED(&a->v6.sin6_addr)
					    : a->v4.sin_addr.s_addr == htonl(INADDR_ANY);
}

int http_socket_compare(const char *a, const char *b, struct diag *d)
{
	union address x, y;
	socklen_t size_x, size_y;
	bool same;

	if (parse_address(a, &x, &size_x) || parse_address(b, &y, &size_y))
		return 0;
	same = !memcmp(&x, &y, sizeof(x));
	if (x.any.sa_family == y.any.sa_family && x.any.sa_family != AF_UNIX)
		same = port_of(&x) && port_of(&x) == port_of(&y) &&
		       (same || is_any(&x) || is_any(&y));
	if (!same)
		return 0;
	if (!strcmp(a, b))
		diag_fail(d, -EINVAL, "%s is there twice", a);
	else
		diag_fail(d, -EINVAL, "%s and %s are the same, or one contains the other", a, b);
	return diag_advise(d, -EINVAL, "give only one of them");
}

static int advise_path(struct diag *d, int err)
{
	if (err == -EADDRINUSE)
		return diag_advise(d, err,
				   "another program listens there, or a file has this name; end "
				   "or remove it, or choose another path");
	if (err == -EROFS)
		return diag_advise(d, err,
				   "add its folder to ReadWritePaths= of the unit (systemctl edit "
				   "t410trace), or use t410trace.socket");
	if (err == -ENOENT)
		return diag_advise(d, err, "make its folder");
	if (err == -EACCES || err == -EPERM)
		return diag_advise(d, err, "the daemon's user must own its folder");
	return err;
}

static int fail_address(struct diag *d, int err, const char *address)
{
	diag_fail(d, err, "cannot listen on %s: %s", address, strerror(-err));
	if (address[0] == '/')
		return advise_path(d, err);
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

static bool is_loopback(const union address *a)
{
	if (a->any.sa_family == AF_INET6)
		return IN6_IS_ADDR_LOOPBACK(&a->v6.sin6_addr);
	return a->any.sa_family == AF_UNIX || ntohl(a->v4.sin_addr.s_addr) >> 24 == IN_LOOPBACKNET;
}

/* A run that was killed leaves its socket, to which nothing connects any more. */
static void remove_stale(const union address *a, socklen_t size)
{
	cleanup_close int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	struct stat st;

	if (fd >= 0 && !lstat(a->local.sun_path, &st) && S_ISSOCK(st.st_mode) &&
	    connect(fd, &a->any, size) && errno == ECONNREFUSED)
		unlink(a->local.sun_path);
}

/* Which users see what is not a matter of who may connect. */
static int open_path(const char *path, struct http_socket *ret)
{
	struct stat st;

	if (chmod(path, 0666) || lstat(path, &st))
		return -errno;
	str_copy(ret->path, sizeof(ret->path), path);
	ret->device = st.st_dev;
	ret->inode = st.st_ino;
	return 0;
}

/* Our own socket, because libmicrohttpd does not tell what went wrong. */
int http_socket_open(const char *address, struct http_socket *ret, struct diag *d)
{
	cleanup_close int fd = -1;
	int one = 1, send_buffer = SEND_BUFFER, err = 0;
	union address a;
	socklen_t size;

	*ret = (struct http_socket){ .fd = -1 };
	if (parse_address(address, &a, &size))
		return http_socket_check(address, d);
	ret->local = a.any.sa_family == AF_UNIX;
	if (ret->local)
		remove_stale(&a, size);
	fd = socket(a.any.sa_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	/* Connections of an earlier run that the kernel has not forgotten yet do not matter. What is set
	   here goes for each connection. */
	if (fd < 0 || setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof(one)) ||
	    setsockopt(fd, SOL_SOCKET, SO_SNDBUF, &send_buffer, sizeof(send_buffer)) ||
	    (a.any.sa_family == AF_INET6 &&
	     setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &one, sizeof(one))) ||
	    bind(fd, &a.any, size))
		return fail_address(d, -errno, address);
	if (ret->local)
		err = open_path(address, ret);
	size = sizeof(a);
	if (!err && (listen(fd, BACKLOG) || getsockname(fd, &a.any, &size)))
		err = -errno;
	if (err) {
		http_socket_remove(ret);
		return fail_address(d, err, address);
	}
	ret->port = port_of(&a);
	ret->loopback = is_loopback(&a);
	ret->fd = take_fd(&fd);
	return 0;
}

int http_socket_take(int fd, struct http_socket *ret, struct diag *d)
{
	int listens = 0, type = 0;
	socklen_t size = sizeof(listens);
	union address a;

	*ret = (struct http_socket){ .fd = -1 };
	if (!getsockopt(fd, SOL_SOCKET, SO_ACCEPTCONN, &listens, &size) && listens) {
		size = sizeof(type);
		getsockopt(fd, SOL_SOCKET, SO_TYPE, &type, &size);
	}
	size = sizeof(a);
	if (type != SOCK_STREAM || getsockname(fd, &a.any, &size) ||
	    (a.any.sa_family != AF_UNIX && a.any.sa_family != AF_INET &&
	     a.any.sa_family != AF_INET6)) {
		diag_fail(d, -EINVAL,
			  "the service manager handed over what is no stream socket "
			  "that listens");
		return diag_advise(d, -EINVAL,
				   "t410trace.socket takes ListenStream= and no other, "
				   "with Accept=no");
	}
	*ret = (struct http_socket){ .fd = fd,
				     .local = a.any.sa_family == AF_UNIX,
				     .loopback = is_loopback(&a),
				     .port = port_of(&a) };
	return 0;
}

void http_socket_remove(const struct http_socket *s)
{
	struct stat st;

	if (s->path[0] && !lstat(s->path, &st) && st.st_dev == s->device && st.st_ino == s->inode)
		unlink(s->path);
}

int http_socket_user(int fd, uid_t *ret)
{
	struct ucred user;
	socklen_t size = sizeof(user);

	if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &user, &size))
		return -errno;
	*ret = user.uid;
	return 0;
}

bool http_socket_in_group(int fd, gid_t group)
{
	cleanup_free gid_t *groups = NULL;
	struct ucred user;
	socklen_t size = sizeof(user);

	if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &user, &size))
		return false;
	if (user.gid == group)
		return true;
	/* with too little room the kernel says how much there must be */
	size = 0;
	if (!getsockopt(fd, SOL_SOCKET, SO_PEERGROUPS, NULL, &size) || errno != ERANGE)
		return false;
	groups = malloc(size);
	if (!groups || getsockopt(fd, SOL_SOCKET, SO_PEERGROUPS, groups, &size))
		return false;
	for (size_t i = 0; i < size / sizeof(*groups); i++)
		if (groups[i] == group)
			return true;
	return false;
}
