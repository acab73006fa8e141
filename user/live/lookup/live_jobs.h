/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Names of jobs in a live run: when a job's cgroup appears, its tasks are asked for names that the
 * path lacks. The first tasks often come a little later than the cgroup, so each job is asked
 * again, with growing pauses.
 */
#ifndef LIVE_LOOKUP_LIVE_JOBS_H
#define LIVE_LOOKUP_LIVE_JOBS_H

#include "live/lookup/live_cgroups.h"
#include "platform/sys/job_env.h"
#include "trace.h"

/**
 * struct live_jobs_source - source of names
 * @read: as job_env_read()
 * @now: as monotonic_ns()
 */
struct live_jobs_source {
	int (*read)(enum scheduler s, const char *folder, const char *host, struct job_env *ret);
	uint64_t (*now)(void);
};

struct live_jobs;

/**
 * live_jobs_new() - start without waiting jobs
 * @cgroups: the trees; must outlive @ret
 * @users: users whose own jobs are trusted, see job_resolve_for(); must outlive @ret
 * @host: name of this machine, which is no name of a job; must outlive @ret
 * @source: copied; NULL for this machine
 * @ret: free with live_jobs_free()
 *
 * Return: 0 or -ENOMEM.
 */
int live_jobs_new(const struct live_cgroups *cgroups, const struct job_users *users,
		  const char *host, const struct live_jobs_source *source, struct live_jobs **ret);
void live_jobs_free(struct live_jobs *j);

/** live_jobs_sink() - a sink that notes cgroups only */
struct trace_sink live_jobs_sink(struct live_jobs *j);

/**
 * live_jobs_first() - ask one job that was not asked yet, ahead of time
 * @j: the jobs
 * @out: gets its names
 * @ret_asked: whether there was one
 *
 * Return: 0 or the error of @out.
 */
int live_jobs_first(struct live_jobs *j, const struct trace_sink *out, bool *ret_asked);

/** live_jobs_next_ns() - when live_jobs_step() has something to do; UINT64_MAX for never */
uint64_t live_jobs_next_ns(const struct live_jobs *j);

/**
 * live_jobs_step() - ask the jobs that are due
 * @j: the jobs
 * @out: gets their names
 *
 * Takes some milliseconds at most; the rest waits for the next call.
 *
 * Return: 0 or the error of @out.
 */
int live_jobs_step(struct live_jobs *j, const struct trace_sink *out);

#endif
