/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What the daemon is told besides what its live run is asked for, which is in run_options.h. */
#ifndef DAEMON_SERVE_CONFIG_H
#define DAEMON_SERVE_CONFIG_H

#include <limits.h>
#include <stdbool.h>
#include <stdint.h>

#include "job.h"

/* Steps of a history, from fine to coarse */
#define HISTORY_MAX_STEPS 4

/**
 * struct history_config - intervals of jobs that are kept
 * @nr: steps, 0: none are kept
 * @step_ns: how long intervals are, each a multiple of the one before
 * @keep_ns: for so long; what is older becomes intervals of the next step, or is dropped
 */
struct history_config {
	uint64_t nr;
	struct {
		uint64_t step_ns;
		uint64_t keep_ns;
	} steps[HISTORY_MAX_STEPS];
};

#define NO_READERS UINT64_MAX

/**
 * struct serve_config - see the settings in cli/shared_options.c
 * @schedulers: bit by enum scheduler
 * @names: names of jobs and users are also shown over TCP
 * @readers: group whose members see all jobs at unix sockets, NO_READERS: none
 */
struct serve_config {
	uint64_t interval_ns;
	char listen[512];
	bool names;
	uint64_t readers;
	char hosts[1024];
	char spool[PATH_MAX];
	uint64_t spool_max_files;
	uint64_t spool_max_bytes;
	char state[PATH_MAX];
	uint64_t keep_ns;
	uint64_t max_jobs;
	uint64_t top;
	uint64_t schedulers;
	struct job_users user_jobs;
	struct history_config history;
};

#endif
