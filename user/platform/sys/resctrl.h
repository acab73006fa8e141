/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The kernel's monitoring of caches and memory (resctrl), as the administrator has set it up. It is
 * read only: t410trace never makes or changes a group.
 */
#ifndef PLATFORM_SYS_RESCTRL_H
#define PLATFORM_SYS_RESCTRL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "resctrl_group.h"

#define RESCTRL_ROOT	   "/sys/fs/resctrl"
/* Reading a file interrupts a CPU of its domain: groups beyond this number are left out. */
#define RESCTRL_MAX_GROUPS 256

/**
 * struct resctrl_domain - a cache or memory at which a group is counted
 * @name: of its directory, "mon_L3_00" or "mon_L3_00/mon_sub_L3_01"
 * @state: RESCTRL_VALID, RESCTRL_UNAVAILABLE, RESCTRL_UNASSIGNED or RESCTRL_UNREADABLE
 * @bytes: since the group began, if valid
 */
struct resctrl_domain {
	char name[64];
	enum resctrl_state state;
	uint64_t bytes;
};

/**
 * struct resctrl_group - a group
 * @path: below the mount: "" for the default group, "web", "web/mon_groups/a", "mon_groups/b"
 * @control: it is no part of another group; its count includes the groups below it
 * @read_ns: when it was read (CLOCK_MONOTONIC)
 * @broken: it went back once, see resctrl_follow()
 * @domains, @nr: owned
 */
struct resctrl_group {
	char path[RESCTRL_GROUP_LEN];
	bool control;
	uint64_t read_ns;
	bool broken;
	struct resctrl_domain *domains;
	size_t nr, cap;
};

/**
 * struct resctrl_reading - all groups at one time
 * @groups, @nr: the default one first; owned
 * @cut: more than RESCTRL_MAX_GROUPS exist
 */
struct resctrl_reading {
	struct resctrl_group *groups;
	size_t nr, cap;
	bool cut;
};

/** resctrl_is_there() - is anything monitored? Reads no counter, so it interrupts no CPU */
bool resctrl_is_there(const char *root);

/**
 * resctrl_read() - read all groups
 * @root: where resctrl is mounted
 * @ret: release with resctrl_free(); empty after an error
 *
 * mbm_total_bytes of each domain. A kernel may have domains of several kinds: memory (mon_MB_*,
 * mon_NODE_*) is preferred to caches (mon_L3_*), which count other bytes at another place; both are
 * never mixed. The nodes of a cache (mon_sub_L3_*) are used where the cache has no sum.
 *
 * Return: 0, also when a group vanishes meanwhile; -ENOENT when there is no monitoring; -ENOMEM or
 * the error of reading the root.
 */
int resctrl_read(const char *root, struct resctrl_reading *ret);
void resctrl_free(struct resctrl_reading *r);

/** resctrl_find() - a group by its path, NULL when it is not there */
const struct resctrl_group *resctrl_find(const struct resctrl_reading *r, const char *path);

/**
 * resctrl_since() - what a group counted between two readings
 * @from: the earlier reading of the group, NULL: it was not there
 * @to: the later one
 * @ret: gets @group, @state, @bytes, @ns, @domains and @missing
 *
 * A domain without a number in one reading is missing; if all are missing there is no number.
 */
void resctrl_since(const struct resctrl_group *from, const struct resctrl_group *to,
		   struct report_resctrl *ret);

/**
 * resctrl_domain_since() - what a group counted in one of its domains
 * @from: the earlier reading of the group
 * @to: a domain of the later one
 * @ret: gets the bytes, if valid
 *
 * Return: RESCTRL_VALID, or why there is no number.
 */
enum resctrl_state resctrl_domain_since(const struct resctrl_group *from,
					const struct resctrl_domain *to, uint64_t *ret);

/**
 * resctrl_domain_cache() - the L3 cache of a domain
 *
 * Return: its number, that of cache/index<n>/id in sysfs; -1 when the domain is no cache. Nodes of a
 * cache, mon_sub_L3_*, are in that cache.
 */
int resctrl_domain_cache(const struct resctrl_domain *d);

/** resctrl_follow() - note in @to which groups have gone back since @from, or before it */
void resctrl_follow(const struct resctrl_reading *from, struct resctrl_reading *to);

/**
 * resctrl_tasks() - find the cgroup of a group's tasks
 * @root: where resctrl is mounted
 * @group: path of the group
 * @proc: where proc is mounted
 * @ret_cgroup: gets the deepest cgroup of the v2 tree that has all of them; "" when it has no tasks
 *	or only the root has them all
 * @size: its size
 *
 * Return: the number of tasks found, at most 65536.
 */
uint32_t resctrl_tasks(const char *root, const char *group, const char *proc, char *ret_cgroup,
		       size_t size);

#endif
