/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Ends of intervals of a given length in a trace: marks made from its windows, slices, and its own
 * marks if it has some. Windows and samples are held back until the interval they end in is closed,
 * so they may come out of order. Windows of devices, which are as long as their turns, do not
 * affect the ends.
 */
#ifndef REPLAY_BOUNDARIES_H
#define REPLAY_BOUNDARIES_H

#include "trace.h"

struct boundaries;

/**
 * boundaries_new() - prepare
 * @header: must outlive @ret. Marks of the trace tell up to where it is complete
 * @interval_ns: length of an interval
 * @ret: free with boundaries_free()
 *
 * Return: 0 or -ENOMEM.
 */
int boundaries_new(const struct trace_header *header, uint64_t interval_ns,
		   struct boundaries **ret);
void boundaries_free(struct boundaries *b);

/**
 * boundaries_add() - add an event that is no mark
 *
 * Slices and I/O must have been checked. Windows and samples are kept until they are due, and
 * irrelevant types are ignored.
 *
 * Return: 0, -EINVAL when times, group or probe make no sense, -ENOMEM.
 */
int boundaries_add(struct boundaries *b, const struct trace_event *e);

/** boundaries_add_mark() - add a mark of the trace; 0, or -EINVAL when it goes back */
int boundaries_add_mark(struct boundaries *b, const struct trace_mark *m);

/** boundaries_add_end() - a trace without marks ends here, unless it has later events */
void boundaries_add_end(struct boundaries *b, uint64_t end_ns);

/** boundaries_due() - may boundaries_next() or boundaries_inner() return a mark? */
bool boundaries_due(const struct boundaries *b);

/** boundaries_left() - intervals between the last one closed and the newest event */
uint64_t boundaries_left(const struct boundaries *b);

/**
 * boundaries_next() - the next mark
 * @b: the boundaries
 * @end: the trace has ended: also the last interval, which may be shorter
 * @ret: valid until the next call
 *
 * Return: false when there is none yet, or no more.
 */
bool boundaries_next(struct boundaries *b, bool end, struct trace_mark *ret);

/**
 * boundaries_inner() - an inner mark (see struct trace_mark) in a long interval
 * @b: the boundaries; boundaries_next() has just returned false
 * @ret: valid until the next call
 *
 * There is one after every 200 complete windows of a group, so that long intervals need not be kept
 * as a whole; shorter ones have none.
 *
 * Return: false when there is none yet.
 */
bool boundaries_inner(struct boundaries *b, struct trace_mark *ret);

/**
 * boundaries_event() - a window that ends not later than a mark, or a sample that starts before it
 * @b: the boundaries
 * @m: the mark of the last boundaries_next() or boundaries_inner()
 * @ret: valid until the next call; all windows come before all samples
 *
 * Return: false when there is no more.
 */
bool boundaries_event(struct boundaries *b, const struct trace_mark *m, struct trace_event *ret);

#endif
