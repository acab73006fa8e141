/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Identity: tasks by (pid, start time), cgroups by id, jobs by the id of their own
 * cgroup, and workloads, the pairs of task and cgroup that CPU time is booked on. Pure bookkeeping; the records
 * come from the kernel through the caller.
 *
 * A "task" is a process, or a thread when the ledger is kept by thread.
 */
#ifndef ENGINE_IDENTITY_IDENTITY_H
#define ENGINE_IDENTITY_IDENTITY_H

#include "trace.h"

#define HASH_NONFATAL_OOM 1
#include <uthash.h>

/* Workloads with a fixed meaning. */
#define WORKLOAD_IDLE 0u /* the idle task */
#define WORKLOAD_LOST 1u /* CPU time whose task could not be noted */

struct task_key {
	uint64_t start_ns;
	uint32_t pid;
	uint32_t zero; /* part of the hashed bytes */
};

/**
 * struct task - a process or thread
 * @key: identity
 * @tgid: its process
 * @cgroup_id: cgroup it was last known in
 * @comm: last known name
 * @comm_known: @comm is from the kernel
 * @comm_hash: of @comm, once that is known
 * @kernel: a kernel thread
 * @followed: the user asked for it, or for one of its ancestors
 * @exited: its end was seen
 * @unlisted: the list of tasks does not have it, see identity_await()
 * @announced: an event named it; otherwise it was only seen on a CPU
 * @seen: set while a list of all living tasks is read again
 * @idle_closes: intervals closed since it was last active
 */
struct task {
	struct task_key key;
	uint32_t tgid;
	uint64_t cgroup_id;
	char comm[MODEL_COMM_LEN];
	bool comm_known;
	uint64_t comm_hash;
	bool kernel;
	bool followed;
	bool exited;
	bool unlisted;
	bool announced;
	bool seen;
	uint32_t idle_closes;
	UT_hash_handle hh;
};

/**
 * struct job - the owner of cgroups, see job.h
 * @who: its names; @who.step is not used. @who.cgroup_id is its key: the id of its own cgroup. When
 *	that became known too late it is the id of its first known cgroup, and stays so
 *	once an interval with it was closed
 * @array: its name as a task of a Slurm array, "12_3"; "" if it is none
 * @path: of its own cgroup; owned
 * @own: id of its own cgroup, 0 = not known yet
 * @gone: its own cgroup was removed or, if that was never known, all of its cgroups
 * @reported_gone: an interval was closed since
 * @reported: an interval was closed since it became known
 * @chosen: asked for as a job: with all its cgroups
 * @selected: at least a part of it was asked for
 * @listed: in the hash of living jobs, by path
 * @nr_cgroups: that refer to it; @nr_living: of these, not removed
 * @changes: of @who
 */
struct job {
	struct row_job who;
	char array[JOB_ARRAY_LEN];
	char *path;
	uint64_t own;
	bool gone;
	bool reported_gone;
	bool reported;
	bool chosen;
	bool selected;
	bool listed;
	size_t nr_cgroups;
	size_t nr_living;
	uint64_t changes;
	UT_hash_handle hh;
	UT_hash_handle hh_path;
};

/**
 * struct cgroup_name - a cgroup of the v2 hierarchy, or of a v1 hierarchy with job controllers
 * @id: kernfs id, with the number of a v1 hierarchy above TRACE_HIERARCHY_SHIFT
 * @path: from the hierarchy's root, "/" for the root itself, with the controller before it in a
 *	v1 hierarchy; owned
 * @job: it belongs to, NULL for none. The job lives as long
 * @step: of @job, "" for none
 * @step_length: of the part of @path that is the step's own cgroup, or the job's
 * @selected: asked for by the user, itself or one of its ancestors, or its job
 * @gone: removed; the name is kept for reports
 * @made: it was made during the run; @made_ns: when, 0: not known
 * @reported_gone: an interval was closed since
 * @listed: it is what identity_cgroup_by_path() finds
 * @shown: its job in rows, NULL when not asked for yet; @shown_at: after so many changes of it
 * @idle_closes: intervals closed since a task of it was last active
 */
struct cgroup_name {
	uint64_t id;
	char *path;
	struct job *job;
	char step[JOB_STEP_LEN];
	size_t step_length;
	bool selected;
	bool made;
	uint64_t made_ns;
	bool gone;
	bool reported_gone;
	bool listed;
	struct row_job *shown;
	uint64_t shown_at;
	uint32_t idle_closes;
	UT_hash_handle hh;
	UT_hash_handle hh_path;
};

struct workload_key {
	uint64_t start_ns;
	uint64_t cgroup_id;
	uint32_t pid;
	uint32_t zero; /* part of the hashed bytes */
};

/**
 * struct workload - a task in a cgroup
 * @key: identity
 * @task: not owned, lives as long as the workload
 * @id: index, see identity_workload()
 * @kept: it was active since the last interval was closed
 * @idle_closes: intervals closed since CPU time was last booked on it
 */
struct workload {
	struct workload_key key;
	struct task *task;
	uint32_t id;
	bool kept;
	uint32_t idle_closes;
	UT_hash_handle hh;
};

struct identity;

/** identity_new() - Return: 0 or -ENOMEM; free with identity_free() */
int identity_new(struct identity **ret);
void identity_free(struct identity *id);

/**
 * identity_task() - a task exists, was started or renamed
 * @id: where
 * @news: the event; a child of a followed process is followed
 * @ret: the task, owned by @id; may be NULL
 *
 * A task that had ended lives again.
 *
 * Return: 0 or -ENOMEM.
 */
int identity_task(struct identity *id, const struct trace_task *news, struct task **ret);

/** identity_exit() - a task has ended; it stays known until its time is reported */
void identity_exit(struct identity *id, uint32_t pid, uint64_t start_ns);

/** identity_start_of() - start time of the living task of a number, 0 when there is none */
uint64_t identity_start_of(const struct identity *id, uint32_t pid);

/**
 * identity_near() - the task of a number whose start is known by a coarse clock
 * @id: where
 * @pid: its number
 * @start_ns: about when it began
 * @within_ns: how far off that may be
 *
 * Return: the task, which may have ended; NULL when none is known.
 */
struct task *identity_near(const struct identity *id, uint32_t pid, uint64_t start_ns,
			   uint64_t within_ns);

/**
 * identity_follow() - follow a process and the children it starts from now on
 * @id: where
 * @tgid: process
 *
 * Return: number of living tasks of it (0: there is none).
 */
size_t identity_follow(struct identity *id, uint32_t tgid);

/**
 * identity_await() - follow a living process that the list of tasks does not have
 *
 * Its tasks are known when they first run. Until an event reports its end it counts as alive.
 *
 * Return: 0 or -ENOMEM.
 */
int identity_await(struct identity *id, uint32_t tgid);

/** identity_followed_alive() - number of followed tasks that have not ended */
size_t identity_followed_alive(const struct identity *id);

/**
 * identity_cgroup() - a cgroup's name is known
 * @id: where
 * @cgroup_id: its id
 * @path: see struct cgroup_name; copied
 *
 * Its job is found through the path of the job's own cgroup, among jobs that live; there, another
 * cgroup than before is another job.
 *
 * Return: 0 or -ENOMEM.
 */
int identity_cgroup(struct identity *id, uint64_t cgroup_id, const char *path);

/** identity_believe() - users whose own jobs are believed, see job_resolve_for(); before the first cgroup */
void identity_believe(struct identity *id, const struct job_users *users);

/**
 * identity_making() - are cgroups that identity_cgroup() does not know being made just now?
 * @id: the identity
 * @making: false at first
 * @made_ns: when, 0: not known
 */
void identity_making(struct identity *id, bool making, uint64_t made_ns);

/** identity_cgroup_gone() - a cgroup was removed; its name and job are kept while in use */
void identity_cgroup_gone(struct identity *id, uint64_t cgroup_id);

/** identity_cgroup_find() - a known cgroup, or NULL */
struct cgroup_name *identity_cgroup_find(const struct identity *id, uint64_t cgroup_id);

/** identity_has_selection() - was a cgroup or a job asked for? */
bool identity_has_selection(const struct identity *id);

/**
 * identity_each_followed() - call @fn for every followed task that has not ended
 *
 * Return: 0, or the first nonzero result of @fn.
 */
int identity_each_followed(const struct identity *id, int (*fn)(void *arg, const struct task *t),
			   void *arg);

/**
 * identity_each_unnamed() - call @fn for every task that runs without a known name
 *
 * Return: 0, or the first nonzero result of @fn.
 */
int identity_each_unnamed(struct identity *id, int (*fn)(void *arg, struct task *t), void *arg);

/**
 * identity_each_cgroup() - call @fn for every known cgroup, removed ones included
 *
 * Return: 0, or the first nonzero result of @fn.
 */
int identity_each_cgroup(const struct identity *id,
			 int (*fn)(void *arg, const struct cgroup_name *c), void *arg);

/** identity_each_job() - the same for jobs */
int identity_each_job(const struct identity *id, int (*fn)(void *arg, const struct job *j),
		      void *arg);

/** identity_job() - the job of a key (struct job: who.cgroup_id), or NULL */
struct job *identity_job(const struct identity *id, uint64_t key);

/**
 * identity_jobs_begun() - jobs whose begin was seen so far; @schedulers: a bit for each
 *
 * One with a provisional id counts when it gets its own: keys of accounts have it then.
 */
uint64_t identity_jobs_begun(const struct identity *id, uint32_t schedulers);

/** identity_jobs_ended() - jobs whose end was seen so far; @schedulers: a bit for each */
uint64_t identity_jobs_ended(const struct identity *id, uint32_t schedulers);

/**
 * identity_job_show() - the job of a cgroup as rows have it
 * @c: is in one
 * @ret: shared by all rows of the cgroup; give it back with row_job_release()
 *
 * Return: 0 or -ENOMEM.
 */
int identity_job_show(struct cgroup_name *c, struct row_job **ret);

/** identity_job_ended() - its end belongs to the interval that is not closed yet */
bool identity_job_ended(const struct job *j);

/** identity_job_news() - more is known of a job; nothing happens when its cgroup is not known */
void identity_job_news(struct identity *id, const struct trace_job_news *news);

/** identity_cgroup_by_path() - the cgroup that last had this path, or NULL */
struct cgroup_name *identity_cgroup_by_path(const struct identity *id, const char *path);

/**
 * identity_select() - ask for a cgroup and everything below it
 * @id: where
 * @path: as in struct cgroup_name; also covers cgroups made later
 *
 * Return: 0 or -ENOMEM.
 */
int identity_select(struct identity *id, const char *path);

/**
 * identity_select_jobs() - ask for jobs, also those that begin later
 * @id: where
 * @texts, @nr: see job_wanted_parse(); one that no job can have matches nothing
 *
 * Return: 0 or -ENOMEM.
 */
int identity_select_jobs(struct identity *id, char *const *texts, size_t nr);

/** identity_job_seen() - was there a job as asked for by text number @nr of that (from 0)? */
bool identity_job_seen(const struct identity *id, size_t nr);

/**
 * identity_workload() - the workload of a task in a cgroup, made when new
 * @id: where
 * @pid, @tgid, @start_ns: the task; made with an unknown name when it is new
 * @cgroup_id: cgroup
 * @ret: its number; numbers are small, dense, and used again after a workload
 *	has been forgotten
 *
 * Return: 0 or -ENOMEM.
 */
int identity_workload(struct identity *id, uint32_t pid, uint32_t tgid, uint64_t start_ns,
		      uint64_t cgroup_id, uint32_t *ret);

/** identity_get() - the workload of a number; NULL for the fixed ones */
const struct workload *identity_get(const struct identity *id, uint32_t workload);

/**
 * identity_kin() - a number that workloads of the same name in the same cgroup have in common
 * @id: where
 * @workload: its number
 * @ret_ended: gets whether its task has ended
 *
 * Return: 0 when its name is not known.
 */
uint64_t identity_kin(const struct identity *id, uint32_t workload, bool *ret_ended);

/** identity_active() - CPU time was booked on the workload: keep it */
void identity_active(struct identity *id, uint32_t workload);

/** identity_keep() - the workload made requests, perhaps without running: keep it */
void identity_keep(struct identity *id, uint32_t workload);

/**
 * identity_closed() - an interval was closed: forget ended tasks and removed cgroups
 * @id: where
 *
 * Ended tasks are forgotten two intervals after their last CPU time, so that
 * slices that are still on their way find them; unused workloads and removed
 * cgroups after some more. Jobs go with the last cgroup that refers to them, and tasks that
 * no event named, once they do not run any more.
 */
void identity_closed(struct identity *id);

/**
 * identity_forget() - the part of identity_closed() that is about tasks, in the middle of an interval
 *
 * Only for callers that do not name tasks in the interval's report.
 */
void identity_forget(struct identity *id);

/** identity_on_forget() - @fn is called when the number of a workload becomes free */
void identity_on_forget(struct identity *id, void (*fn)(void *arg, uint32_t workload), void *arg);

/** identity_resync() - begin to read the list of all living tasks again */
void identity_resync(struct identity *id);

/** identity_resync_end() - tasks that were not in the list have ended */
void identity_resync_end(struct identity *id);

#endif
