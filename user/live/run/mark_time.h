/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The time of a mark, as a boundary that CPUs can see soon after it. */
#ifndef LIVE_RUN_MARK_TIME_H
#define LIVE_RUN_MARK_TIME_H

#include "live/lookup/live_readers.h"

/**
 * mark_time() - read the clock and set the boundary of sockets without a reader
 * @l: the ledger
 * @c: the readers: a socket that has one has the end of a window for its boundary
 * @nr_sockets: number of sockets
 *
 * A CPU that switches before it can see the boundary has slots on both sides of it, whose parts can
 * only be estimated. If somebody took our CPU after the clock was read there are many of these: the
 * time is read again, and the earlier boundary is one more cut.
 *
 * Return: the time of the last boundary.
 */
uint64_t mark_time(struct ledger *l, const struct counters *c, uint32_t nr_sockets);

#endif
