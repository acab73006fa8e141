/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* A job's number, name and user from the environment of its tasks. */
#ifndef PLATFORM_SYS_JOB_ENV_H
#define PLATFORM_SYS_JOB_ENV_H

#include "job.h"

/**
 * struct job_env - the findings; "" for missing ones
 * @array: as the task of an array, "12_3"
 * @id, @name, @user: made harmless (printable, cut to fit)
 * @uid: the kernel's user of the task that told @user, 0: root or unknown. No environment can claim it
 */
struct job_env {
	char id[JOB_ID_LEN];
	char array[JOB_ARRAY_LEN];
	char name[JOB_NAME_LEN];
	char user[JOB_NAME_LEN];
	uint32_t uid;
};

/**
 * job_env_parse() - take variables of a scheduler out of an environment block
 * @s: whose variables
 * @block: NUL-terminated strings one after the other, as in /proc/PID/environ; untrusted. A last
 *	string without NUL was cut, and is ignored
 * @size: length in bytes
 * @ret: the findings
 *
 * An @id that cannot be a job's number is ignored, as is a name that only repeats the host or
 * container.
 *
 * Return: true when anything was found.
 */
bool job_env_parse(enum scheduler s, const char *block, size_t size, struct job_env *ret);

/**
 * job_env_read() - ask the tasks below a cgroup
 * @s: who made the cgroup
 * @folder: of the job's cgroup in cgroupfs
 * @host: name of this machine: a task with the host's network has it for its own, and it is no name
 * @ret: the findings
 *
 * Looks at a bounded number of tasks, those of steps first. Needs CAP_SYS_PTRACE for tasks of other
 * users. A program controls its own environment, so names are hints, and the id may only replace a
 * provisional one; if the scheduler's own process tells the id, tasks with another id are ignored.
 *
 * Return: 0, -EAGAIN when only the scheduler's own process gave the id, and no task with a name was
 * found (ask again; @ret has the id), -ESRCH when there was no task yet, -ENODATA when no task had
 * the variables, -EACCES when no task may be read, another negative errno.
 */
int job_env_read(enum scheduler s, const char *folder, const char *host, struct job_env *ret);

#endif
