/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * CPU time, windows and requests that reach beyond a mark. Ledgers are flushed after the time of a
 * mark, so some slices and requests that come before it are of the interval behind it, and so is a
 * window whose end comes meanwhile. A segment that begins at the mark must repeat them.
 */
#ifndef TRACE_REPEAT_SPANS_H
#define TRACE_REPEAT_SPANS_H

#include "trace.h"

struct repeat_spans;

/**
 * repeat_spans_new() - nothing so far
 * @layout: CPUs, groups and their sockets; copied
 * @ret: free with repeat_spans_free()
 *
 * Return: 0 or -ENOMEM.
 */
int repeat_spans_new(const struct layout *layout, struct repeat_spans **ret);
void repeat_spans_free(struct repeat_spans *o);

/** repeat_spans_learn() - take note of an event, if it is of use here */
void repeat_spans_learn(struct repeat_spans *o, const struct trace_event *e);

/**
 * repeat_spans_announce() - hand all that reaches beyond the last mark to a sink
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
int repeat_spans_announce(const struct repeat_spans *o, const struct trace_sink *sink,
			  int (*after)(void *arg), void *arg);

#endif
