/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Known tasks and cgroups: a new segment of a rotated recording must repeat them, because the
 * segments that had them first may be removed.
 */
#ifndef TRACE_LIVING_H
#define TRACE_LIVING_H

#include "trace.h"

struct living;

/** living_new() - an empty table; 0 or -ENOMEM; free with living_free() */
int living_new(struct living **ret);
void living_free(struct living *l);

/** living_learn() - take note of an event; 0 or -ENOMEM */
int living_learn(struct living *l, const struct trace_event *e);

/**
 * living_announce() - hand all that is known to a sink
 * @l: the table
 * @sink: gets the events
 * @after: called with @arg after each event
 * @arg: anything
 *
 * Return: 0 or the first error of either.
 */
int living_announce(struct living *l, const struct trace_sink *sink, int (*after)(void *arg),
		    void *arg);

/** living_comm() - last known name of a task, or NULL */
const char *living_comm(struct living *l, uint32_t pid, uint64_t start_ns);

/** living_path() - last known path of a cgroup, or NULL */
const char *living_path(struct living *l, uint64_t cgroup_id);

#endif
