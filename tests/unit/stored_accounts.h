/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Accounts for tests: a machine and its jobs, the same numbers each time. */
#ifndef TEST_STORED_ACCOUNTS_H
#define TEST_STORED_ACCOUNTS_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "account.h"

#define SAMPLE_START_NS 1763740800000000000ull /* 2025-11-21T16:00:00Z */
#define SAMPLE_S	1000000000ull

/** sample_host() - a T410 */
static inline struct host_info sample_host(void)
{
	return (struct host_info){
		.name = "n1", .kernel = "7.2.13", .platform = "t410", .sockets = 2
	};
}

/* What the fourth counter counts. */
static enum direction sample_fourth = DIRECTION_WRITE;

static enum unit sample_unit = UNIT_BYTES;

/* Reads and writes of each socket, the second one's by whoever it was, then of devices. */
static inline struct account_counter sample_counter(size_t i)
{
	struct account_counter c = {
		.socket = i / 2 % 2,
		.direction = i == 3  ? sample_fourth
			     : i % 2 ? DIRECTION_WRITE
				     : DIRECTION_READ,
		.source = i < 2	  ? SOURCE_CPU
			  : i < 4 ? SOURCE_ANY
				  : SOURCE_DEVICE,
		.unit = i == 3 ? sample_unit : UNIT_BYTES,
		.whole = i != 3 || sample_unit == UNIT_BYTES,
	};

	if (i < 4) {
		snprintf(c.name, sizeof(c.name), "ucf%u/mem_bytes_%s%s", c.socket,
			 i % 2 ? "wr" : "rd", i < 2 ? "/src_loc_cpu=1" : "");
	} else {
		snprintf(c.bdf, sizeof(c.bdf), "0002:%02zx:00.0", (0x80 + i / 2) & 0xff);
		snprintf(c.name, sizeof(c.name), "pcie%u.rc1/%s/%s", c.socket, i % 2 ? "wr" : "rd",
			 c.bdf);
	}
	return c;
}

static inline struct account_node_total sample_node_total(size_t counter, uint64_t scale)
{
	return (struct account_node_total){
		.counter = counter,
		.value = scale * (1000 + 210 * counter),
		.attributed = scale * (990 + 200 * counter),
		.unattributed = { [REASON_IDLE] = scale * 10,
				  [REASON_LOST] = scale * 10 * counter },
		.enabled_ns = 60 * SAMPLE_S,
		.running_ns = counter % 3 ? 60 * SAMPLE_S : 30 * SAMPLE_S,
		.missing = counter % 3 ? 0 : 1,
	};
}

static inline void sample_losses(struct quality *q, struct self_cost *self)
{
	*q = (struct quality){ .method = METHOD_STATE_SPACE,
			       .weights = "cpu-time",
			       .windows = 6000,
			       .merged_windows = 2,
			       .late_slices = 1 };
	*self = (struct self_cost){ .cpu_ns = 1234567, .switches = 99999, .switch_ns = 8888888 };
}

/**
 * sample_node() - the machine's totals after a minute
 * @n: gets them; release it with accounts_node_release()
 * @nr_counters: from 4 on: two for each of two sockets, then two for each device
 */
static inline void sample_node(struct accounts_node *n, size_t nr_counters)
{
	*n = (struct accounts_node){
		.counters = calloc(nr_counters, sizeof(*n->counters)),
		.nr_counters = nr_counters,
		.totals = calloc(nr_counters, sizeof(*n->totals)),
		.nr_totals = nr_counters,
		.since_ns = SAMPLE_START_NS,
		.until_ns = SAMPLE_START_NS + 60 * SAMPLE_S,
		.intervals = 60,
		.covered_ns = 60 * SAMPLE_S,
		.jobs_started = 3,
		.jobs_ended = 1,
		.jobs_dropped = 4,
		.late_rows = 5,
	};
	for (size_t i = 0; i < nr_counters; i++) {
		n->counters[i] = sample_counter(i);
		n->totals[i] = sample_node_total(i, 100000000);
	}
	sample_losses(&n->quality, &n->self);
}

static inline void sample_part(struct account_part *p, const char *step, size_t nr_counters,
			       uint64_t scale)
{
	snprintf(p->step, sizeof(p->step), "%s", step);
	p->on_cpu_ns = scale * 100;
	p->totals = calloc(nr_counters, sizeof(*p->totals));
	p->nr_totals = nr_counters;
	for (size_t i = 0; i < nr_counters; i++) {
		uint64_t value = scale * (990 + 200 * i);

		p->totals[i] = (struct account_total){ .counter = i,
						       .value = value,
						       .low = value - value / 10,
						       .high = value + value / 10,
						       .inseparable = i % 2 ? 0 : value / 100 };
	}
	p->nr_io = 1;
	p->io = calloc(1, sizeof(*p->io));
	p->io[0] = (struct account_io){ .bdf = "0002:82:00.0",
					.name = "nvme0n1",
					.read_bytes = scale * 7,
					.write_bytes = scale * 3 };
}

/**
 * sample_job() - a Slurm job with steps
 * @j: gets it; release it with account_job_release()
 * @number: of the job, and what makes it differ from others
 * @nr_counters: all of them have bytes
 * @nr_steps: "batch", "0", "1" and so on
 *
 * It began @number seconds after SAMPLE_START_NS and is running.
 */
static inline void sample_job(struct account_job *j, uint32_t number, size_t nr_counters,
			      size_t nr_steps)
{
	uint64_t scale = 1000000 + 1000ull * number;
	char path[64], step[24];

	*j = (struct account_job){ .state = ACCOUNT_RUNNING,
				   .intervals = 60,
				   .covered_ns = 60 * SAMPLE_S };
	j->job.scheduler = SCHEDULER_SLURM;
	snprintf(j->job.id, sizeof(j->job.id), "%u", number);
	snprintf(j->job.name, sizeof(j->job.name), "solver%u", number % 7);
	snprintf(j->job.user, sizeof(j->job.user), "%s", number % 2 ? "alice" : "bob");
	snprintf(j->boot, sizeof(j->boot), "5f1cbd1a-9c3a-4c92-b0f1-3d0a4a8f7e11");
	snprintf(path, sizeof(path), "/system.slice/slurmstepd.scope/job_%u", number);
	j->path = strdup(path);
	j->job.cgroup_id = 1000 + number;
	j->whole.start_ns = SAMPLE_START_NS + number * SAMPLE_S;
	j->whole.end_ns = j->whole.start_ns + 60 * SAMPLE_S;
	snprintf(j->key, sizeof(j->key), "slurm-%u-%u-%llu", number, 1000 + number,
		 (unsigned long long)(j->whole.start_ns / SAMPLE_S));
	sample_part(&j->whole, "", nr_counters, scale);
	j->steps = calloc(nr_steps + 1, sizeof(*j->steps));
	j->nr_steps = nr_steps;
	for (size_t i = 0; i < nr_steps; i++) {
		snprintf(step, sizeof(step), "%zu", i - 1);
		sample_part(&j->steps[i], i ? step : "batch", nr_counters, scale / (nr_steps + 1));
		j->steps[i].start_ns = j->whole.start_ns + i * SAMPLE_S;
		j->steps[i].end_ns = j->whole.end_ns;
	}
	j->node = calloc(nr_counters + 1, sizeof(*j->node));
	j->nr_node = nr_counters;
	for (size_t i = 0; i < nr_counters; i++)
		j->node[i] = sample_node_total(i, 2 * scale);
	sample_losses(&j->quality, &j->self);
}

/** sample_end() - it ended after all */
static inline void sample_end(struct account_job *j, enum account_state state)
{
	j->state = state;
	j->whole.ended = true;
	for (size_t i = 0; i < j->nr_steps; i++)
		j->steps[i].ended = true;
}

#endif
