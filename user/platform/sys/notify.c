// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "platform/sys/notify.h"

#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/text.h"

#define MAX_MESSAGE 512

/* Half of the manager's timeout: one late turn does no harm. */
static uint64_t watchdog_of_env(void)
{
	const char *usec = getenv("WATCHDOG_USEC"), *pid = getenv("WATCHDOG_PID");
	uint64_t value;

	if (!usec || parse_u64(usec, &value) || !value || value > UINT64_MAX / 1000)
		return UINT64_MAX;
	if (pid && *pid) {
		uint64_t wanted;

		if (parse_u64(pid, &wanted) || wanted != (uint64_t)getpid())
			return UINT64_MAX;
	}
	return value * 1000 / 2;
}

/* A path, or "@" and a name in the abstract space. */
static int connect_to(const char *name)
{
	struct sockaddr_un a = { .sun_family = AF_UNIX };
	size_t length = strlen(name);
	int fd;

	if ((name[0] != '/' && name[0] != '@') || length < 2 || length >= sizeof(a.sun_path))
		return -1;
	memcpy(a.sun_path, name, length);
	if (name[0] == '@')
		a.sun_path[0] = '\0';
	fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (fd >= 0 &&
	    connect(fd, (struct sockaddr *)&a, offsetof(struct sockaddr_un, sun_path) + length)) {
		close(fd);
		fd = -1;
	}
	return fd;
}

void notify_open(struct notify *ret)
{
	const char *name = getenv("NOTIFY_SOCKET");

	*ret = (struct notify){ .fd = name ? connect_to(name) : -1, .watchdog_ns = UINT64_MAX };
	if (ret->fd >= 0)
		ret->watchdog_ns = watchdog_of_env();
}

void notify_close(struct notify *n)
{
	if (n->fd >= 0)
		close(n->fd);
	n->fd = -1;
}

void notify_send(const struct notify *n, const char *fmt, ...)
{
	char text[MAX_MESSAGE];
	va_list args;
	int length;

	if (n->fd < 0)
		return;
	va_start(args, fmt);
	length = vsnprintf(text, sizeof(text), fmt, args);
	va_end(args);
	if (length > 0 && (size_t)length < sizeof(text))
		send(n->fd, text, length, MSG_NOSIGNAL);
}
