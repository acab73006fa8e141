/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Contract between the layers: counts of the kernel's own monitoring of caches and memory (resctrl)
 * for a workload, beside our own numbers. Plain data. The two are never mixed.
 */
#ifndef T410TRACE_RESCTRL_GROUP_H
#define T410TRACE_RESCTRL_GROUP_H

#include <stdbool.h>
#include <stdint.h>

#define RESCTRL_GROUP_LEN 256
#define RESCTRL_KEY_LEN	  112 /* as MODEL_KEY_LEN */
#define RESCTRL_PATH_LEN  4096

/* State of the number. */
enum resctrl_state {
	RESCTRL_VALID,
	RESCTRL_UNAVAILABLE, /* the kernel says "Unavailable" */
	RESCTRL_UNASSIGNED,  /* no hardware counter is assigned to the group (AMD's ABMC) */
	RESCTRL_BACKWARD,    /* it went back, or grew more than possible: a wrap, or a new group */
	RESCTRL_NEW,	     /* it did not exist, or had no value, at the begin of the interval */
	RESCTRL_UNREADABLE,  /* the file does not exist, or has no number */
	NR_RESCTRL_STATES,
};

/* How the owner of a group is known. */
enum resctrl_match {
	RESCTRL_BY_NONE,  /* unknown */
	RESCTRL_BY_TASKS, /* all tasks of the group are in the row's cgroup */
	RESCTRL_BY_NAME,  /* its name is that of the row's cgroup or job, and it has no tasks */
	NR_RESCTRL_MATCHES,
};

/**
 * struct report_resctrl - a monitoring group over an interval
 * @row: key of the row that it belongs to, "" with RESCTRL_BY_NONE
 * @group: its path below the mount of resctrl
 * @match: how @row is known
 * @tasks: tasks in the group, threads each; of RESCTRL_BY_TASKS
 * @of_tasks: tasks in the row's cgroup; 0 = unknown. More than @tasks: the group has a part of it
 * @state: of its number
 * @bytes: counted in @ns; only valid with RESCTRL_VALID
 * @ns: time between its two readings
 * @domains: caches or memories at which it is counted
 * @missing: of these, those without a number in this interval: @bytes lacks them; of a summary, the
 *	most of any interval
 * @intervals: of a summary, those in which the group existed
 * @without: of these, those in which it had no number: @bytes and @ns lack them
 */
struct report_resctrl {
	char row[RESCTRL_KEY_LEN];
	char group[RESCTRL_GROUP_LEN];
	enum resctrl_match match;
	uint32_t tasks;
	uint32_t of_tasks;
	enum resctrl_state state;
	uint64_t bytes;
	uint64_t ns;
	uint32_t domains;
	uint32_t missing;
	uint32_t intervals;
	uint32_t without;
};

/**
 * resctrl_state_name() - "counted", "unavailable", "unassigned", "backward", "new", "unreadable"
 */
const char *resctrl_state_name(enum resctrl_state s);

/** resctrl_state_find() - the state of that name; NR_RESCTRL_STATES for none */
enum resctrl_state resctrl_state_find(const char *name);

/** resctrl_match_name() - "none", "tasks", "name" */
const char *resctrl_match_name(enum resctrl_match m);

#endif
