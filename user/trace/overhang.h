/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * CPU time, windows and requests that reach beyond a mark. Ledgers are flushed after the time of a
 * mark, so some slices and requests that come before it are of the interval behind it, and so is a
 * window whose end comes meanwhile. A segment that begins at the mark must repeat them.
 */
#ifndef TRACE_OVERHANG_H
#define TRACE_OVERHANG_H

#include "trace.h"

struct overhang;

/**
 * overhang_new() - nothing so far
 * @layout: CPUs, groups and their sockets; copied
 * @ret: free with overhang_free()
 *
 * Return: 0 or -ENOMEM.
 */
int overhang_new(const struct layout *layout, struct overhang **ret);
void overhang_free(struct overhang *o);

/** overhang_learn() - take note of an event, if it is of use here */
void overhang_learn(struct overhang *o, const struct trace_event *e);

/**
 * overhang_announce() - hand all that reaches beyond the last mark to a sink
 * @o: has learned all events up to the mark
 * @sink: gets them, whole: they may begin before the mark
 * @after: called with @arg after each of them
 * @arg: anything
 *
 * Of each CPU, the last 64 slices before the mark are known: twice what a ledger holds. Of each
 * group of counters, the last four windows: a flush is shorter than one. Of requests, the last
 * 1,024.
 *
 * Return: 0 or the first error of either.
 */
int overhang_announce(const struct overhang *o, const struct trace_sink *sink,
		      int (*after)(void *arg), void *arg);

#endif
