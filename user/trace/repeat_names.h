/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Known tasks and cgroups: a new segment of a rotated recording must repeat them, because the
 * segments that had them first may be removed.
 */
#ifndef TRACE_REPEAT_NAMES_H
#define TRACE_REPEAT_NAMES_H

#include "trace.h"

struct repeat_names;

/** repeat_names_new() - an empty table; 0 or -ENOMEM; free with repeat_names_free() */
int repeat_names_new(struct repeat_names **ret);
void repeat_names_free(struct repeat_names *l);

/** repeat_names_learn() - take note of an event; 0 or -ENOMEM */
int repeat_names_learn(struct repeat_names *l, const struct trace_event *e);

/**
 * repeat_names_announce() - hand all that is known to a sink
 * @l: the table
 * @sink: gets the events
 * @after: called with @arg after each event
 * @arg: anything
 *
 * Return: 0 or the first error of either.
 */
int repeat_names_announce(struct repeat_names *l, const struct trace_sink *sink,
			  int (*after)(void *arg), void *arg);

/** repeat_names_comm() - last known name of a task, or NULL */
const char *repeat_names_comm(struct repeat_names *l, uint32_t pid, uint64_t start_ns);

/** repeat_names_path() - last known path of a cgroup, or NULL */
const char *repeat_names_path(struct repeat_names *l, uint64_t cgroup_id);

#endif
