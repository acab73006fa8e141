/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What the kernel's monitoring groups (resctrl) counted, beside the rows of reports by cgroup and
 * job. Nothing of it is ever in a row or a counter.
 */
#ifndef ENGINE_SESSION_RESCTRL_GROUPS_H
#define ENGINE_SESSION_RESCTRL_GROUPS_H

#include "trace.h"

struct resctrl_groups;

/**
 * resctrl_groups_new() - 0 or -ENOMEM. @sums: resctrl_groups_report() of all intervals will be
 * asked for
 */
int resctrl_groups_new(bool sums, struct resctrl_groups **ret);
void resctrl_groups_free(struct resctrl_groups *r);

/** resctrl_groups_add() - a group's count for the interval that ends next; 0, -EINVAL or -ENOMEM */
int resctrl_groups_add(struct resctrl_groups *r, const struct trace_resctrl *t);

/** resctrl_groups_close() - an interval ends: the next one begins with none; 0 or -ENOMEM */
int resctrl_groups_close(struct resctrl_groups *r);

/**
 * resctrl_groups_report() - add the counts of groups to a report of cgroups or jobs
 * @r: the groups
 * @all: of all intervals, otherwise of the last one that was closed
 * @ret: has its rows
 *
 * A group belongs to the deepest row whose cgroup has all of the group's tasks, and only if they are
 * all tasks below that cgroup, or the group's own deepest cgroup is that of the row. A group without
 * tasks belongs to the row whose cgroup or job is called like the group.
 *
 * Of all intervals, bytes and time are those of the intervals in which the group had a number. A
 * group that went back once is not trusted for all of them. Where its tasks moved to another
 * cgroup, it is there once for each; when they have ended it stays where it was.
 *
 * Return: 0 or -ENOMEM.
 */
int resctrl_groups_report(const struct resctrl_groups *r, bool all, struct report *ret);

#endif
