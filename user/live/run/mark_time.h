/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The time of a mark, as a boundary that CPUs can see soon after it. */
#ifndef LIVE_RUN_MARK_TIME_H
#define LIVE_RUN_MARK_TIME_H

#include <stdint.h>

/** struct mark_time - a clock, and the boundary of a time; tests have their own */
struct mark_time {
	uint64_t (*now)(void);
	void (*set)(void *arg, uint64_t time_ns);
	void *arg;
};

/**
 * mark_time() - read the clock and set the boundary
 *
 * A CPU that switches before it can see the boundary has slots on both sides of it, whose parts can
 * only be estimated. If somebody took our CPU after the clock was read there are many of these: the
 * time is read again, and the earlier boundary is one more cut.
 *
 * Return: the time of the last boundary.
 */
uint64_t mark_time(const struct mark_time *m);

#endif
