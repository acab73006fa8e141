/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Jobs: the job of a cgroup as known to its maker, a batch scheduler, a container engine or the
 * service manager. Plain data.
 *
 * A job is identified by its own cgroup: the same number on another cgroup (requeued jobs, reused
 * names, restarted numbering) is another job.
 */
#ifndef T410TRACE_JOB_H
#define T410TRACE_JOB_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Maker of the cgroup. The order is that of the names, not of precedence. */
enum scheduler {
	SCHEDULER_NONE, /* unknown: tasks outside of all jobs */
	SCHEDULER_SLURM,
	SCHEDULER_FLUX,
	SCHEDULER_KUBERNETES,
	SCHEDULER_DOCKER,
	SCHEDULER_PODMAN,
	SCHEDULER_CONTAINER, /* an engine that the path does not tell */
	SCHEDULER_LXC,
	SCHEDULER_LIBVIRT,
	SCHEDULER_SYSTEMD,
	NR_SCHEDULERS,
};

/* Bits of all whose workloads are jobs: not of systemd, as every machine has its units. */
#define SCHEDULERS_OF_JOBS \
	((1u << NR_SCHEDULERS) - 1 - (1u << SCHEDULER_NONE) - (1u << SCHEDULER_SYSTEMD))

#define JOB_ID_LEN	  128
#define JOB_STEP_LEN	  80
#define JOB_NAME_LEN	  128

/* Owner of cgroups in the part of an unknown user. */
#define JOB_OWNER_UNKNOWN UINT32_MAX
#define JOB_MAX_USERS	  16

/**
 * struct job_users - users who may define their own jobs
 * @all: all users
 * @nr, @uids: only these users
 */
struct job_users {
	bool all;
	uint32_t nr;
	uint32_t uids[JOB_MAX_USERS];
};

/**
 * struct job_path - the job in a cgroup's path
 * @scheduler: its maker, the most specific one (a container of a pod is the pod's)
 * @id: as its users know it: Slurm's job number, a pod's uid (with hyphens), a container's id, the
 *	name of a unit or virtual machine (unescaped), a Flux job id
 * @step: part of the job: a Slurm step ("0", "batch", "extern", "interactive"), a container of a
 *	pod; "" for the job itself or where there are none
 * @length: length of the part of the path that is the job's own cgroup
 * @step_length: of the part that is the step's own cgroup; @length without a step
 * @provisional: @id is a stand-in (Slurm's SLUID): the environment of a task has the number
 * @owner: uid of the user whose part of the tree it is in, where users make cgroups of any name;
 *	JOB_OWNER_UNKNOWN; 0: the machine's
 */
struct job_path {
	enum scheduler scheduler;
	char id[JOB_ID_LEN];
	char step[JOB_STEP_LEN];
	size_t length;
	size_t step_length;
	bool provisional;
	uint32_t owner;
};

/**
 * struct row_job - the job a row of a report belongs to
 * @scheduler, @id, @step: see struct job_path; @step "" in rows of the job as a whole
 * @name, @user: as the scheduler knows them, "" when unknown
 * @cgroup_id: of the job's own cgroup, which tells jobs of the same id apart; 0 for SCHEDULER_NONE
 * @provisional: @id is a stand-in
 * @made: its cgroup was made during the run: nothing came before
 * @begin_ns: and when, CLOCK_MONOTONIC; 0: not known. Of a step: of its own cgroup
 * @owner: see struct job_path
 * @uid: the kernel's user of the task that told @user, 0: not known, or root. In live runs only
 * @shared: number of further references, see row_job_share(); 0 in a copy
 */
struct row_job {
	enum scheduler scheduler;
	char id[JOB_ID_LEN];
	char step[JOB_STEP_LEN];
	char name[JOB_NAME_LEN];
	char user[JOB_NAME_LEN];
	uint64_t cgroup_id;
	bool provisional;
	bool made;
	uint64_t begin_ns;
	uint32_t owner;
	uint32_t uid;
	uint32_t shared;
};

/** row_job_share() - take a reference to @j, which must not change from now on; returns it */
struct row_job *row_job_share(struct row_job *j);

/** row_job_release() - drop a reference; the last one frees it. NULL is fine */
void row_job_release(struct row_job *j);

/** scheduler_name() - "none" or its name */
const char *scheduler_name(enum scheduler s);

/** scheduler_find() - the reverse; NR_SCHEDULERS for no such name */
enum scheduler scheduler_find(const char *name);

#define SCHEDULER_NAMES_LEN 128

/** scheduler_names() - "slurm, flux, ... libvirt LAST systemd", for messages */
void scheduler_names(char ret[SCHEDULER_NAMES_LEN], const char *last);

/**
 * job_text_parse() - a job as users name it
 * @text: "slurm:12", or "12" of any scheduler
 * @ret: the scheduler, SCHEDULER_NONE for any
 * @ret_id: the id; part of @text
 *
 * Return: false when there is no such scheduler, or no id.
 */
bool job_text_parse(const char *text, enum scheduler *ret, const char **ret_id);

/**
 * struct job_wanted - a job named by the user
 * @scheduler: its maker, SCHEDULER_NONE for any
 * @id: as in struct job_path; "12_3" for a task of a Slurm array, see job_array_fits(); of a
 *	container or pod also its beginning, see job_id_fits()
 * @step: the requested step, "" for all
 * @flux: the same number as Flux' id, where @id may be either; "" otherwise
 */
struct job_wanted {
	enum scheduler scheduler;
	char id[JOB_ID_LEN];
	char step[JOB_STEP_LEN];
	char flux[16];
};

/**
 * job_wanted_parse() - parse a job in any spelling that schedulers and engines print
 * @text: see job_text_parse()
 * @ret: the job; always set
 *
 * Return: NULL, or the error if no job can have this id: "must be ..."
 */
const char *job_wanted_parse(const char *text, struct job_wanted *ret);

#define JOB_ARRAY_LEN 24

/** job_array_fits() - is @array, "12_3" or "", the requested task, or one of array "12"? */
bool job_array_fits(const char *array, const char *wanted);

/* Container and pod ids have at least this many characters; this many identify one. */
#define JOB_LONG_ID  32
#define JOB_SHORT_ID 12

/** job_id_shown() - bytes of an id that tables show: the usual twelve of container ids */
size_t job_id_shown(const char *id);

/**
 * job_id_fits() - is it the requested job?
 * @id: its id
 * @wanted: the whole id; for containers and pods the first twelve characters or more are enough
 */
bool job_id_fits(const char *id, const char *wanted);

#endif
