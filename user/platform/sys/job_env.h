/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What the environment of a job's tasks says: its number, its name, its user. */
#ifndef PLATFORM_SYS_JOB_ENV_H
#define PLATFORM_SYS_JOB_ENV_H

#include "job.h"

/**
 * struct job_env - what was found; "" for what was not
 * @array: as the task of an array, "12_3"
 * @id, @name, @user: made harmless (printable, cut to the room)
 */
struct job_env {
	char id[JOB_ID_LEN];
	char array[JOB_ARRAY_LEN];
	char name[JOB_NAME_LEN];
	char user[JOB_NAME_LEN];
};

/**
 * job_env_parse() - take variables of a scheduler out of an environment block
 * @s: whose variables
 * @block: NUL-terminated strings one after the other, as in /proc/PID/environ; hostile. What does
 *	not end with NUL was cut, and is not looked at
 * @size: length in bytes
 * @ret: what was found
 *
 * An @id that cannot be a job's number is not taken, nor a name that only says which machine or
 * container this is.
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
 * Looks at a bounded number of tasks, those of steps first. Needs CAP_SYS_PTRACE for tasks of
 * other users. A program may say in its environment what it likes. So names are hints, and the id is
 * to be used for a provisional one only; where the scheduler's own process tells the id, tasks that
 * say another one are not believed at all.
 *
 * Return: 0, -EAGAIN when only the scheduler's own process told the id, and no task was there that
 * knows a name (ask again; @ret has the id), -ESRCH when no task was there yet, -ENODATA when none
 * had the variables, -EACCES when none may be read, another negative errno.
 */
int job_env_read(enum scheduler s, const char *folder, struct job_env *ret);

#endif
