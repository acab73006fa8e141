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
 * Return: false when no rule fits: the cgroup is outside of all jobs (SCHEDULER_NONE).
 */
bool job_resolve(const char *path, struct job_path *ret);

/**
 * struct job_variables - what the environment of a task of a job may say
 * @id: the job's number, NULL when no rule names a variable
 * @name: name of the job or pod
 * @user: user who submitted it
 * @proof: variable that must be there, too, or the environment is not that of a task; NULL for none
 */
struct job_variables {
	const char *id;
	const char *name;
	const char *user;
	const char *proof;
};

/** job_variables() - names of the environment variables that tell more of a scheduler's jobs */
const struct job_variables *job_variables(enum scheduler s);

#endif
