/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Contract between the layers: counts of the kernel's own monitoring of caches and memory (resctrl)
 * for a workload, beside our own numbers. Plain data. The two are never mixed.
 */
#ifndef T410TRACE_REFEREE_H
#define T410TRACE_REFEREE_H

#include <stdbool.h>
#include <stdint.h>

#define REFEREE_GROUP_LEN 256
#define REFEREE_KEY_LEN	  112 /* as MODEL_KEY_LEN */
#define REFEREE_PATH_LEN  4096

/* State of the number. */
enum referee_state {
	REFEREE_VALID,
	REFEREE_UNAVAILABLE, /* the kernel says "Unavailable" */
	REFEREE_UNASSIGNED,  /* no hardware counter is assigned to the group (AMD's ABMC) */
	REFEREE_BACKWARD,    /* it went back, or grew more than possible: a wrap, or a new group */
	REFEREE_NEW,	     /* it did not exist, or had no value, at the begin of the interval */
	REFEREE_UNREADABLE,  /* the file does not exist, or has no number */
	NR_REFEREE_STATES,
};

/* How the owner of a group is known. */
enum referee_match {
	REFEREE_BY_NONE,  /* unknown */
	REFEREE_BY_TASKS, /* all tasks of the group are in the row's cgroup */
	REFEREE_BY_NAME,  /* its name is that of the row's cgroup or job, and it has no tasks */
	NR_REFEREE_MATCHES,
};

/**
 * struct report_referee - a monitoring group over an interval
 * @row: key of the row that it belongs to, "" with REFEREE_BY_NONE
 * @group: its path below the mount of resctrl
 * @match: how @row is known
 * @tasks: tasks in the group, threads each; of REFEREE_BY_TASKS
 * @of_tasks: tasks in the row's cgroup; 0 = unknown. More than @tasks: the group has a part of it
 * @state: of its number
 * @bytes: counted in @ns; only valid with REFEREE_VALID
 * @ns: time between its two readings
 * @domains: caches or memories at which it is counted
 * @missing: of these, those without a number in this interval: @bytes lacks them; of a summary, the
 *	most of any interval
 * @intervals: of a summary, those in which the group existed
 * @without: of these, those in which it had no number: @bytes and @ns lack them
 */
struct report_referee {
	char row[REFEREE_KEY_LEN];
	char group[REFEREE_GROUP_LEN];
	enum referee_match match;
	uint32_t tasks;
	uint32_t of_tasks;
	enum referee_state state;
	uint64_t bytes;
	uint64_t ns;
	uint32_t domains;
	uint32_t missing;
	uint32_t intervals;
	uint32_t without;
};

/** referee_state_name() - "counted", "unavailable", "unassigned", "backward", "new", "unreadable" */
const char *referee_state_name(enum referee_state s);

/** referee_state_find() - the state of that name; NR_REFEREE_STATES for none */
enum referee_state referee_state_find(const char *name);

/** referee_match_name() - "none", "tasks", "name" */
const char *referee_match_name(enum referee_match m);

#endif
