/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Reports by job, built by hand, for tests of accounts. */
#ifndef TESTS_ACCOUNT_WORLD_H
#define TESTS_ACCOUNT_WORLD_H

#include <inttypes.h>
#include <stdio.h>
#include <malloc.h>
#include <stdlib.h>
#include <string.h>

#include "account.h"

#define WORLD_COUNTERS 12
#define WORLD_SECOND   1000000000ULL
#define WORLD_TIME     (1795190400ULL * WORLD_SECOND)
#define WORLD_BOOT     "0b0c4b1e-6a0a-4d2f-9c0e-1f2e3d4c5b6a"

static const struct host_info world_host = {
	.name = "n1",
	.kernel = "7.2.13",
	.platform = "t410",
	.sockets = 2,
	.tick = "auto",
	.peaks = { .items = { { PEAK_CMEM, PEAK_FIRMWARE, 0, 500000000000 },
			      { PEAK_CMEM, PEAK_FIRMWARE, 1, 500000000000 },
			      { PEAK_REMOTE, PEAK_GIVEN, PEAK_EVERY_SOCKET, 300000000000 } },
		   .nr = 3 },
};

/* Two sockets: CPUs' reads and writes of memory, of the GPU, of the other socket, devices' reads. */
#define WORLD_SOCKET(s)                                                                \
	{ .name = "ucf" #s "/mem_bytes_rd/src_loc_cpu=1,dst_loc_cmem=1",               \
	  .socket = s,                                                                 \
	  .destination = DESTINATION_CMEM },                                           \
		{ .name = "ucf" #s "/mem_bytes_wr/src_loc_cpu=1,dst_loc_cmem=1",       \
		  .socket = s,                                                         \
		  .direction = DIRECTION_WRITE,                                        \
		  .destination = DESTINATION_CMEM },                                   \
		{ .name = "ucf" #s "/mem_bytes_rd/src_loc_cpu=1,dst_loc_gmem=1",       \
		  .socket = s,                                                         \
		  .destination = DESTINATION_GMEM },                                   \
		{ .name = "ucf" #s "/mem_bytes_rd/src_loc_cpu=1,dst_rem=1",            \
		  .socket = s,                                                         \
		  .destination = DESTINATION_REMOTE },                                 \
		{ .name = "ucf" #s "/mem_bytes_rd/src_loc_noncpu=1",                   \
		  .socket = s,                                                         \
		  .source = SOURCE_DEVICE },                                           \
	{                                                                              \
		.name = "pcie" #s "/rd/nvme" #s, .socket = s, .source = SOURCE_DEVICE, \
		.device = s + 1                                                        \
	}

static const struct counter world_counters[WORLD_COUNTERS] = { WORLD_SOCKET(0), WORLD_SOCKET(1) };

static const struct device world_devices[2] = {
	{ .bdf = "0002:81:00.0", .name = "nvme0n1", .kind = DEVICE_NVME, .socket = 0 },
	{ .bdf = "0012:81:00.0", .name = "nvme1n1", .kind = DEVICE_NVME, .socket = 1 },
};

static inline void *world_must(void *p)
{
	assert_non_null(p);
	return p;
}

/* A report by job with all counters, valid, without bytes; @number: seconds since the begin. */
static inline struct report *world_report(uint64_t number)
{
	struct report *r = world_must(calloc(1, sizeof(*r)));

	r->host = &world_host;
	r->by = ROW_JOB;
	r->sequence = number;
	r->start_ns = (5 + number) * WORLD_SECOND;
	r->end_ns = r->start_ns + WORLD_SECOND;
	r->start_time_ns = WORLD_TIME + number * WORLD_SECOND;
	r->counters = world_must(calloc(WORLD_COUNTERS, sizeof(*r->counters)));
	r->nr_counters = WORLD_COUNTERS;
	for (size_t i = 0; i < WORLD_COUNTERS; i++)
		r->counters[i] = (struct report_counter){ .counter = &world_counters[i],
							  .valid = true,
							  .enabled_ns = WORLD_SECOND,
							  .running_ns = WORLD_SECOND,
							  .covered_ns = WORLD_SECOND };
	r->devices = world_must(calloc(2, sizeof(*r->devices)));
	r->nr_devices = 2;
	for (size_t i = 0; i < 2; i++) {
		r->devices[i].device = &world_devices[i];
		r->devices[i].read.io_valid = r->devices[i].write.io_valid = true;
	}
	r->sockets = world_must(calloc(2, sizeof(*r->sockets)));
	r->nr_sockets = 2;
	r->sockets[1].id = 1;
	r->quality.method = METHOD_STATE_SPACE;
	snprintf(r->quality.weights, sizeof(r->quality.weights), "l3d_cache_refill");
	r->quality.windows = r->quality.weight_windows = 100;
	r->quality.tasks_ns = 4 * WORLD_SECOND;
	r->quality.spread_ns = WORLD_SECOND / 20;
	r->self.cpu_ns = 4000000;
	r->self.switches = 10000;
	return r;
}

/* What CPUs read of the other socket is the energy of theirs instead: counters 3 and 9. */
static inline void world_with_energy(struct report *r)
{
	static struct counter told[WORLD_COUNTERS];

	memcpy(told, world_counters, sizeof(told));
	for (uint32_t s = 0; s < 2; s++) {
		struct counter *c = &told[s * 6 + 3];

		*c = (struct counter){ .socket = s,
				       .source = SOURCE_ANY,
				       .direction = DIRECTION_READWRITE,
				       .unit = UNIT_NANOJOULES };
		snprintf(c->name, sizeof(c->name), "power%u/energy-pkg", s);
	}
	for (size_t i = 0; i < WORLD_COUNTERS; i++)
		r->counters[i].counter = &told[i];
}

/**
 * world_row() - add a row
 * @r: the report
 * @scheduler, @id, @cgroup_id: the job; id NULL: what is in no job
 * @step: "" for the job, "own" for what is in no step of it
 * @leaf: see struct report_row
 */
static inline struct report_row *world_row(struct report *r, enum scheduler scheduler,
					   const char *id, uint64_t cgroup_id, const char *step,
					   bool leaf)
{
	bool own = !strcmp(step, "own");
	struct report_row *row;

	/* By halves: with the sanitizers each call copies all rows. */
	if (malloc_usable_size(r->rows) < (r->nr_rows + 1) * sizeof(*r->rows))
		r->rows =
			world_must(reallocarray(r->rows, r->nr_rows * 3 / 2 + 1, sizeof(*r->rows)));
	row = &r->rows[r->nr_rows++];
	*row = (struct report_row){ .kind = ROW_JOB, .leaf = leaf, .separable = true };
	row->job = world_must(calloc(1, sizeof(*row->job)));
	row->shares = world_must(calloc(r->nr_counters + 1, sizeof(*row->shares)));
	if (!id) {
		snprintf(row->key, sizeof(row->key), "job:none");
		return row;
	}
	row->job->scheduler = scheduler;
	row->job->cgroup_id = row->cgroup_id = cgroup_id;
	snprintf(row->job->id, sizeof(row->job->id), "%s", id);
	snprintf(row->key, sizeof(row->key), "job:%" PRIu64 "%s%s", cgroup_id, step[0] ? ":" : "",
		 step);
	if (step[0])
		snprintf(row->parent, sizeof(row->parent), "job:%" PRIu64, cgroup_id);
	if (!own)
		snprintf(row->job->step, sizeof(row->job->step), "%s", step);
	assert_true(asprintf(&row->cgroup, "/slurm/job_%s%s%s", id, step[0] && !own ? "/step_" : "",
			     own ? "" : step) > 0);
	return row;
}

/* A share of a row; bounds are an eighth of the value away. The counter's sums follow. */
static inline void world_share(struct report *r, struct report_row *row, uint32_t counter,
			       uint64_t bytes)
{
	uint64_t doubt = bytes / 8;

	row->shares[row->nr_shares++] =
		(struct share){ counter, bytes, bytes - doubt,
				bytes > UINT64_MAX - doubt ? bytes : bytes + doubt, true };
	if (!row->leaf)
		return;
	r->counters[counter].attributed += bytes;
	r->counters[counter].value += bytes;
}

static inline void world_rest(struct report *r, uint32_t counter, enum reason reason,
			      uint64_t bytes)
{
	r->counters[counter].unattributed[reason] += bytes;
	r->counters[counter].value += bytes;
}

static inline void world_io(struct report_row *row, uint32_t device, uint64_t read, uint64_t write)
{
	row->devices =
		world_must(reallocarray(row->devices, row->nr_devices + 1, sizeof(*row->devices)));
	row->devices[row->nr_devices++] = (struct row_device){ .device = device,
							       .io_read_bytes = read,
							       .io_write_bytes = write };
}

static inline void *world_copy(const void *items, size_t nr, size_t size)
{
	void *copy = world_must(calloc(nr + 1, size));

	if (nr)
		memcpy(copy, items, nr * size);
	return copy;
}

/* A copy of an account, to be released with account_job_release() */
static inline struct account_job world_copy_job(const struct account_job *j)
{
	struct account_job copy;

	assert_int_equal(account_job_copy(j, &copy), 0);
	return copy;
}

static inline struct accounts_node world_copy_node(const struct accounts_node *n)
{
	struct accounts_node copy = *n;

	copy.counters = world_copy(n->counters, n->nr_counters, sizeof(*n->counters));
	copy.totals = world_copy(n->totals, n->nr_totals, sizeof(*n->totals));
	return copy;
}

#endif
