/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Telling the service manager how we are, by the protocol of sd_notify(3): a datagram to the
 * socket in NOTIFY_SOCKET. Some lines of our own: libsystemd has no static library, and the
 * protocol is stable and documented for this use.
 */
#ifndef PLATFORM_SYS_NOTIFY_H
#define PLATFORM_SYS_NOTIFY_H

#include <stdint.h>

/**
 * struct notify - see above
 * @fd: connected socket, -1 when nobody wants to know
 * @watchdog_ns: "WATCHDOG=1" must be said at least this often, with some time to spare;
 *	UINT64_MAX: nobody waits for it
 */
struct notify {
	int fd;
	uint64_t watchdog_ns;
};

/**
 * notify_open() - look for a service manager in the environment
 * @ret: close with notify_close()
 *
 * Whoever started us without one, or one that cannot be reached, gets no messages: this never fails.
 */
void notify_open(struct notify *ret);
void notify_close(struct notify *n);

/** notify_send() - "READY=1" and the like, lines apart by newlines; lost when nobody listens */
void notify_send(const struct notify *n, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));

#endif
