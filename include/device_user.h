/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Contract between the layers: the users of a device, and the owner of its bytes. Plain data. */
#ifndef T410TRACE_DEVICE_USER_H
#define T410TRACE_DEVICE_USER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "job.h"

#define DEVICE_COMM_LEN	    16	/* as MODEL_COMM_LEN */
#define DEVICE_KEY_LEN	    112 /* as MODEL_KEY_LEN */
#define DEVICE_NO_INSTANCE  UINT32_MAX
#define DEVICE_MAX_BLOCKERS 8
#define DEVICE_MAX_USERS    1024

/* How the owner of a device's bytes is looked for. */
enum owner_rule {
	OWNER_NONE,	/* nothing told of its users */
	OWNER_NODES,	/* all processes that have its nodes open are in one cgroup */
	OWNER_CONTEXTS, /* all processes with a context are in one job, else in one cgroup */
	NR_OWNER_RULES,
};

/* The result for all of the interval. */
enum ownership {
	OWNERSHIP_UNKNOWN, /* looks were missing, or its users are unknown */
	OWNERSHIP_FREE,	   /* no user */
	OWNERSHIP_ONE,
	OWNERSHIP_SHARED, /* several at once, or one after another */
	NR_OWNERSHIPS,
};

/**
 * struct device_user - a user of a device: a job, or a cgroup without a job, or an unknown process
 * @pid, @start_ns: one of its processes; @pid 0: only the cgroup is known
 * @comm: name of that process, "" = unknown
 * @processes: number of its processes that used the device
 * @cgroup: path of that process's cgroup, owned; NULL = unknown
 * @job: owned; NULL for none
 * @key: key of the row that has all its processes, "" for none
 * @instance: of a device that is split (MIG), DEVICE_NO_INSTANCE for all of it
 * @held_ns: time in which looks saw a process of it
 * @busy_ns: time that the device worked for it, of all engines together
 * @copy_ns: part of it on copy engines, see device_users.copies
 * @share: @busy_ns by device_users.told_ns; above 1 where several engines worked at once
 * @error, @low, @high: of @share when it was sampled: standard error, and 95% interval. 0 and
 *	@share itself when it was measured
 *
 * Busy times and shares are valid where device_users.told_ns is not 0.
 */
struct device_user {
	uint32_t pid;
	uint64_t start_ns;
	char comm[DEVICE_COMM_LEN];
	uint32_t processes;
	char *cgroup;
	struct row_job *job;
	char key[DEVICE_KEY_LEN];
	uint32_t instance;
	uint64_t held_ns;
	uint64_t busy_ns;
	uint64_t copy_ns;
	double share;
	double error;
	double low;
	double high;
};

/**
 * struct device_users - the users of a device over the interval
 * @rule: how its owner was looked for. OWNER_NONE in recordings that do not tell
 * @found: the result
 * @undivided: OWNERSHIP_ONE has several rows, and nothing tells how to divide the bytes among them:
 *	they are unattributed
 * @gone: OWNERSHIP_ONE was gone by the last look of an interval: it has the bytes of windows up to
 *	that look, the rest is unattributed
 * @users, @nr: with OWNER_CONTEXTS: all, the longest busy first; owned. At most DEVICE_MAX_USERS,
 *	@nr_all is their number. With OWNERSHIP_ONE they are one owner, on several instances
 * @blockers, @nr_blockers: with OWNERSHIP_SHARED those that prevent a single owner; owned. At
 *	most DEVICE_MAX_BLOCKERS; @nr_blockers_all is their number. Without times
 * @told_ns: time that activity is known of; 0: busy times are unknown
 * @samples: number of samples behind busy times, 0: they were measured
 * @copies: times on copy engines are known
 */
struct device_users {
	enum owner_rule rule;
	enum ownership found;
	bool undivided;
	bool gone;
	struct device_user *users;
	size_t nr;
	size_t nr_all;
	struct device_user *blockers;
	size_t nr_blockers;
	size_t nr_blockers_all;
	uint64_t told_ns;
	uint64_t samples;
	bool copies;
};

/** device_users_release() - free the memory, not the structure */
void device_users_release(struct device_users *u);

/* Names as they appear in reports. */
const char *owner_rule_name(enum owner_rule r); /* "none", "nodes", "contexts" */
const char *ownership_name(enum ownership o);	/* "unknown", "free", "one", "shared" */

#endif
