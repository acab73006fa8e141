/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Inside of the identity, shared by its files only: see identity.h. */
#ifndef ENGINE_IDENTITY_INTERNAL_H
#define ENGINE_IDENTITY_INTERNAL_H

#include "engine/identity/identity.h"

/* Intervals after which an ended task, or an unused workload, is forgotten. */
#define KEEP_ENDED  2
#define KEEP_UNUSED 16

/* A job asked for. @seen: there was one */
struct wanted_job {
	struct job_wanted who;
	bool seen;
};

/* A process to follow of which no task is known yet. @seen: since then there was one */
struct awaited {
	uint32_t tgid;
	bool seen;
};

/**
 * struct identity - see identity.h
 * @cgroups: by id
 * @paths: of @cgroups, the latest one for each path
 * @jobs: by key, also ended ones
 * @living: of @jobs, those whose cgroup was not removed, by its path
 * @making, @made_ns: see identity_making()
 * @users: see identity_believe()
 * @nr_begun, @nr_ended: see identity_jobs_begun(), and jobs whose end was seen
 * @selected: cgroup paths asked for
 * @wanted: jobs asked for
 * @awaited: see identity_await()
 */
/*
 * Each slice asks for a workload and its cgroup. These places are asked before the hashes: by the low
 * bits of the number, the latest task there, or NULL.
 */
#define NEAR_WORKLOADS 16384
#define NEAR_CGROUPS   1024

struct identity {
	struct task *tasks;
	struct cgroup_name *cgroups;
	struct cgroup_name *paths;
	struct job *jobs;
	struct job *living;
	bool making;
	uint64_t made_ns;
	const struct job_users *users;
	uint64_t nr_begun[NR_SCHEDULERS];
	uint64_t nr_ended[NR_SCHEDULERS];
	struct workload *workloads; /* hash */
	struct workload *near[NEAR_WORKLOADS];
	struct cgroup_name *near_cgroups[NEAR_CGROUPS];
	struct workload **by_id; /* NULL where a number is free */
	size_t nr_ids, cap_ids;
	uint32_t *free_ids;
	size_t nr_free, cap_free;
	char **selected;
	size_t nr_selected, cap_selected;
	struct wanted_job *wanted;
	size_t nr_wanted, cap_wanted;
	struct awaited *awaited;
	size_t nr_awaited, cap_awaited;
	void (*on_forget)(void *arg, uint32_t workload);
	void *forget_arg;
};

/** identity_cgroups_closed() - an interval was closed: forget removed cgroups, and their jobs */
void identity_cgroups_closed(struct identity *id);

/** identity_cgroups_free() - release cgroups, jobs and selections */
void identity_cgroups_free(struct identity *id);

/** identity_job_enter() - find, or begin, the job of a cgroup whose path is new; 0 or -ENOMEM */
int identity_job_enter(struct identity *id, struct cgroup_name *c);

/** identity_job_hide() - undo identity_job_show() */
void identity_job_hide(struct cgroup_name *c);

/** identity_job_leave() - the cgroup does not refer to its job any more */
void identity_job_leave(struct identity *id, struct cgroup_name *c);

/** identity_job_cgroup_gone() - a living cgroup was removed */
void identity_job_cgroup_gone(struct identity *id, struct cgroup_name *c);

/** identity_jobs_closed() - the end of jobs was reported; see identity_closed() */
void identity_jobs_closed(struct identity *id);

/** identity_jobs_free() - release all jobs; cgroups are not looked at */
void identity_jobs_free(struct identity *id);

#endif
