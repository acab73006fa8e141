/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Reads what the kernel's monitoring (resctrl) says of the rows of a live run's reports. */
#ifndef LIVE_REFEREE_H
#define LIVE_REFEREE_H

#include "model.h"
#include "platform/sys/resctrl.h"

/**
 * struct live_referee - readings of the groups
 * @root: where resctrl is mounted, NULL: nothing is read
 * @proc, @cgroups: where proc and the v2 tree of cgroups are mounted; "" for none
 * @first, @last: when the run began, and at the last report; none before that
 */
struct live_referee {
	const char *root;
	const char *proc;
	const char *cgroups;
	struct resctrl_reading first;
	struct resctrl_reading last;
};

/** live_referee_begin() - the first reading; without monitoring there is none, now and later */
int live_referee_begin(struct live_referee *l);

/**
 * live_referee_report() - add what the groups counted to a report of cgroups or jobs
 * @l: the readings; a new one is made for an interval
 * @r: the report
 *
 * A group belongs to the deepest row whose cgroup has all of the group's tasks, and only if they are
 * all tasks below that cgroup, or the group's own deepest cgroup is that of the row. A group without
 * tasks belongs to the row whose cgroup or job is called like the group.
 *
 * Return: 0 or -ENOMEM.
 */
int live_referee_report(struct live_referee *l, struct report *r);
void live_referee_free(struct live_referee *l);

#endif
