/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Report our state to the service manager by the protocol of sd_notify(3): a datagram to the socket
 * in NOTIFY_SOCKET. We do not use libsystemd: it has no static library, and the protocol is stable
 * and documented for this use.
 */
#ifndef PLATFORM_SYS_NOTIFY_H
#define PLATFORM_SYS_NOTIFY_H

#include <stdint.h>

/**
 * struct notify - see above
 * @fd: connected socket, -1 without a service manager
 * @watchdog_ns: send "WATCHDOG=1" at least this often, with some time to spare; UINT64_MAX: no
 *	watchdog
 */
struct notify {
	int fd;
	uint64_t watchdog_ns;
};

/**
 * notify_open() - look for a service manager in the environment
 * @ret: close with notify_close()
 *
 * Without one, or with one that cannot be reached, messages are dropped: this never fails.
 */
void notify_open(struct notify *ret);
void notify_close(struct notify *n);

/** notify_send() - "READY=1" and the like, one per line; dropped without a listener */
void notify_send(const struct notify *n, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));

#endif
