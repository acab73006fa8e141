/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What the daemon is told. */
#ifndef DAEMON_SERVE_CONFIG_H
#define DAEMON_SERVE_CONFIG_H

#include <limits.h>
#include <stdbool.h>
#include <stdint.h>

#include "model.h"
#include "platform/sys/cgroup1.h"

#define SERVE_TEXT_LEN 512

/**
 * struct serve_config - see the rows in cli/serve_config.c; texts are "" for none
 * @schedulers: bit by enum scheduler
 * @device_parts: of serve_config_live()
 */
struct serve_config {
	uint64_t interval_ns;
	uint64_t window_ns;
	char listen[128];
	char spool[PATH_MAX];
	uint64_t spool_max_files;
	char state[PATH_MAX];
	uint64_t keep_days;
	uint64_t max_jobs;
	uint64_t top;
	uint64_t schedulers;
	struct job_users user_jobs;
	char cgroup_v1[CGROUP1_NAME_LEN];
	char devices[SERVE_TEXT_LEN];
	char pci_map[PATH_MAX];
	bool by_destination;
	enum method method;
	char weights[SERVE_TEXT_LEN];
	double read_budget;
	bool counters;
	char device_parts[SERVE_TEXT_LEN];
};

#endif
