/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * From the path of a cgroup to the job it belongs to. What is known of schedulers and
 * container engines is in the rows of job_rules.c.
 */
#ifndef TABLES_JOB_RULES_H
#define TABLES_JOB_RULES_H

#include "job.h"

/**
 * job_resolve() - the job a cgroup belongs to
 * @path: from the root of its hierarchy, with a leading slash; of a v1 hierarchy with the
 *	controller before it, "freezer:/slurm/uid_0/job_3"
 * @ret: what was found
 *
 * Every user is believed, see job_resolve_for().
 *
 * Return: false when no rule fits: the cgroup is outside of all jobs (SCHEDULER_NONE).
 */
bool job_resolve(const char *path, struct job_path *ret);

/**
 * job_resolve_for() - the same, but not all users may say what their jobs are
 * @users: those who may; NULL: everybody. The machine's user 0 always may
 *
 * All of the part of another one (user@UID.service) is one job, that unit.
 */
bool job_resolve_for(const char *path, const struct job_users *users, struct job_path *ret);

/**
 * struct job_variables - what the tasks of a job may say of it, each NULL when there is none
 * @id: variable with the job's number
 * @array, @task: with the number of the array that it is a task of, and its own there
 * @name: with the name of the job or pod
 * @user: with the user who submitted it
 * @proof: variable that must be there, too, or the environment is not that of a task
 * @hostname: @name is the host's name that the tasks see: nothing new when it is that of this
 *	machine, or the beginning of a container's id
 * @keeper: cgroup in a step where no user gets, but the scheduler's own process is
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

/** job_variables() - what tells more of a scheduler's jobs than the paths do; never NULL */
const struct job_variables *job_variables(enum scheduler s);

#endif
