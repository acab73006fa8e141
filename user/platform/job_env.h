/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What the environment of a job's tasks says: its number, its name, its user. */
#ifndef PLATFORM_JOB_ENV_H
#define PLATFORM_JOB_ENV_H

#include "job.h"

/**
 * struct job_env - what was found; "" for what was not
 * @id, @name, @user: made harmless (printable, cut to the room)
 */
struct job_env {
	char id[JOB_ID_LEN];
	char name[JOB_NAME_LEN];
	char user[JOB_NAME_LEN];
};

/**
 * job_env_parse() - take variables of a scheduler out of an environment block
 * @s: whose variables
 * @block: NUL-terminated strings one after the other, as in /proc/PID/environ; hostile
 * @size: length in bytes
 * @ret: what was found
 *
 * Return: true when anything was.
 */
bool job_env_parse(enum scheduler s, const char *block, size_t size, struct job_env *ret);

/**
 * job_env_read() - ask the tasks below a cgroup
 * @s: who made the cgroup
 * @folder: of the job's cgroup in cgroupfs
 * @ret: what was found
 *
 * Looks at a bounded number of tasks, those of steps first. Needs CAP_SYS_PTRACE for tasks of other users.
 *
 * Return: 0, -ESRCH when no task was there yet, -ENODATA when none had the variables, -EACCES when
 * none may be read, another negative errno.
 */
int job_env_read(enum scheduler s, const char *folder, struct job_env *ret);

#endif
