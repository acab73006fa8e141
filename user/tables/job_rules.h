/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * From the path of a cgroup to the job it belongs to. The rows of job_rules.c describe schedulers
 * and container engines.
 */
#ifndef TABLES_JOB_RULES_H
#define TABLES_JOB_RULES_H

#include "job.h"

/**
 * job_resolve() - the job a cgroup belongs to
 * @path: from the root of its hierarchy, with a leading slash; of a v1 hierarchy with the
 *	controller before it, "freezer:/slurm/uid_0/job_3"
 * @ret: the job
 *
 * Every user's layout is trusted, see job_resolve_for().
 *
 * Return: false when no rule fits: the cgroup is outside of all jobs (SCHEDULER_NONE).
 */
bool job_resolve(const char *path, struct job_path *ret);

/**
 * job_resolve_for() - the same, but only some users may define their own jobs
 * @users: those who may; NULL: everybody. The machine's user 0 always may
 *
 * Everything of another user (user@UID.service) is one job, that unit.
 */
bool job_resolve_for(const char *path, const struct job_users *users, struct job_path *ret);

/**
 * struct job_variables - variables of a job's tasks that describe it, NULL for none
 * @id: variable with the job's number
 * @array, @task: with the numbers of its array, and of its task there
 * @name: with the name of the job or pod
 * @user: with the user who submitted it
 * @proof: variable that must exist, too, in the environment of a task
 * @hostname: @name is the tasks' hostname: ignored when it is that of this machine, or the
 *	beginning of a container's id
 * @keeper: cgroup in a step with the scheduler's own process, which users cannot enter
 * @title: command line of that process, up to the job's number
 */
struct job_variables {
	const char *id;
	const char *array;
	const char *task;
	const char *name;
	const char *user;
	const char *proof;
	bool hostname;
	const char *keeper;
	const char *title;
};

/** job_variables() - variables that tell more of a scheduler's jobs than the paths; never NULL */
const struct job_variables *job_variables(enum scheduler s);

#endif
