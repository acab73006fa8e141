// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "gpu/readers.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/clock.h"

/* One that takes nothing for so long has hung. */
#define STUCK_NS (30 * NS_PER_S)

static int address_of(const char *path, struct sockaddr_un *ret)
{
	*ret = (struct sockaddr_un){ .sun_family = AF_UNIX };
	if (!path[0] || strlen(path) >= sizeof(ret->sun_path))
		return -ENAMETOOLONG;
	strcpy(ret->sun_path, path);
	return 0;
}

/* A service manager waits for this before it starts those that read. */
static void tell_ready(void)
{
	const char *path = getenv("NOTIFY_SOCKET");
	struct sockaddr_un address;
	int fd;

	if (!path || address_of(path, &address))
		return;
	if (path[0] == '@')
		address.sun_path[0] = '\0';
	fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	if (fd < 0)
		return;
	sendto(fd, "READY=1", strlen("READY=1"), MSG_NOSIGNAL, (struct sockaddr *)&address,
	       (socklen_t)(offsetof(struct sockaddr_un, sun_path) + strlen(path)));
	close(fd);
}

/* Whoever listens there answers; a socket that a dead program left does not. */
static int remove_old(int fd, const struct sockaddr_un *address)
{
	struct stat st;

	if (!connect(fd, (const struct sockaddr *)address, sizeof(*address)) || errno == EAGAIN)
		return -EADDRINUSE;
	if (errno != ECONNREFUSED)
		return 0;
	if (lstat(address->sun_path, &st) || !S_ISSOCK(st.st_mode))
		return -EEXIST;
	return unlink(address->sun_path) ? -errno : 0;
}

int readers_open(struct readers *r, const char *path)
{
	struct sockaddr_un address;
	int err = address_of(path, &address);
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);

	if (!err && fd < 0)
		err = -errno;
	if (!err)
		err = remove_old(fd, &address);
	if (!err &&
	    (bind(fd, (struct sockaddr *)&address, sizeof(address)) || listen(fd, READERS_MAX)))
		err = -errno;
	if (err) {
		if (fd >= 0)
			close(fd);
		return err;
	}
	r->listens = fd;
	tell_ready();
	return 0;
}

/* Returns false when it is gone. */
static bool push(struct reader *one, uint64_t now_ns)
{
	ssize_t n;

	while (one->sent < one->size) {
		n = send(one->fd, one->text + one->sent, one->size - one->sent,
			 MSG_NOSIGNAL | MSG_DONTWAIT);
		if (n < 0 && errno == EAGAIN)
			return now_ns < one->stuck_ns + STUCK_NS;
		if (n < 0)
			return false;
		one->sent += n;
		one->stuck_ns = now_ns;
	}
	free(one->text);
	*one = (struct reader){ .fd = one->fd };
	return true;
}

static bool give(struct reader *one, const char *text, size_t size, uint64_t now_ns)
{
	one->text = malloc(size);
	if (!one->text)
		return false;
	memcpy(one->text, text, size);
	one->size = size;
	one->stuck_ns = now_ns;
	return push(one, now_ns);
}

static void drop(struct readers *r, size_t i)
{
	close(r->items[i].fd);
	free(r->items[i].text);
	r->items[i] = r->items[--r->nr];
}

void readers_send(struct readers *r, const char *text, size_t size, uint64_t now_ns)
{
	for (size_t i = r->nr; i-- > 0;)
		if (!r->items[i].size && !give(&r->items[i], text, size, now_ns))
			drop(r, i);
}

size_t readers_poll(const struct readers *r, struct pollfd *ret)
{
	size_t nr = 0;

	if (r->nr < READERS_MAX)
		ret[nr++] = (struct pollfd){ .fd = r->listens, .events = POLLIN };
	for (size_t i = 0; i < r->nr; i++)
		ret[nr++] = (struct pollfd){ .fd = r->items[i].fd,
					     .events = POLLIN | (r->items[i].size ? POLLOUT : 0) };
	return nr;
}

/* They have nothing to say: what they send is dropped, and its end is theirs. */
static bool is_gone(int fd)
{
	char text[256];
	ssize_t n = recv(fd, text, sizeof(text), MSG_DONTWAIT);

	return !n || (n < 0 && errno != EAGAIN);
}

void readers_step(struct readers *r, uint64_t now_ns)
{
	int fd;

	for (size_t i = r->nr; i-- > 0;)
		if (is_gone(r->items[i].fd) || !push(&r->items[i], now_ns))
			drop(r, i);
	while (r->nr < READERS_MAX) {
		fd = accept4(r->listens, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
		if (fd < 0)
			return;
		r->items[r->nr++] = (struct reader){ .fd = fd };
		if (!give(&r->items[r->nr - 1], r->header, strlen(r->header), now_ns))
			drop(r, r->nr - 1);
	}
}
