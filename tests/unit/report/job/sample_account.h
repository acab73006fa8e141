/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* A job's account as the keeper makes it, for tests of what is written of it. */
#ifndef TESTS_SAMPLE_ACCOUNT_H
#define TESTS_SAMPLE_ACCOUNT_H

#include "account_world.h"
#include "engine/accounts/accounts.h"
#include "random.h"

/* One row of the sample: reads and writes grow and shrink like those of a program. */
static inline void sample_account_row(struct report *r, struct draw *d, const char *id,
				      uint64_t cgroup, const char *step, uint64_t bytes,
				      bool tangled)
{
	struct report_row *row =
		world_row(r, id ? SCHEDULER_SLURM : SCHEDULER_NONE, id, cgroup, step, true);

	row->on_cpu_ns = bytes / 4 + draw_below(d, 1000000);
	if (id) {
		snprintf(row->job->name, sizeof(row->job->name), "lbm");
		snprintf(row->job->user, sizeof(row->job->user), "ann");
	}
	for (uint32_t i = 0; i < WORLD_COUNTERS && bytes; i++) {
		static const unsigned int part[6] = { 100, 40, 12, 7, 0, 3 };

		if (!part[i % 6] || (i / 6 && cgroup == 881 && !strcmp(step, "batch")))
			continue;
		world_share(r, row, i, bytes * part[i % 6] / 100 + draw_below(d, bytes / 9 + 1));
		if (tangled) {
			row->shares[row->nr_shares - 1].separable = false;
			row->shares[row->nr_shares - 1].low /= 2;
		}
	}
	if (bytes)
		world_io(row, 0, bytes / 50, bytes / 20);
}

/* An interval: job 12 with three steps, job 13 without, and what is in no job. */
static inline struct report *sample_account_report(struct draw *d, uint64_t number)
{
	struct report *r = world_report(number);
	bool tangled = number % 16 == 3;

	sample_account_row(r, d, "12", 881, "0", 9876543210, tangled);
	sample_account_row(r, d, "12", 881, "extern", 0, false);
	sample_account_row(r, d, "12", 881, "batch", 1234567, false);
	sample_account_row(r, d, "12", 881, "own", 4321, false);
	sample_account_row(r, d, "13", 902, "", 3456789012, tangled);
	sample_account_row(r, d, NULL, 0, "", 123456789, false);
	for (uint32_t i = 0; i < WORLD_COUNTERS; i++) {
		world_rest(r, i, REASON_BACKGROUND, 1000000 + draw_below(d, 100000));
		if (i % 6 == 4)
			world_rest(r, i, REASON_DEVICE, 400000000 + draw_below(d, 100000000));
		else
			world_rest(r, i, REASON_IDLE, draw_below(d, 5000000));
	}
	return r;
}

/**
 * sample_accounts() - a keeper after two minutes
 * @trouble: the keeper began late, was killed in between, and its counters took turns
 *
 * Job 12 has ended then, job 13 runs. To be freed with accounts_free().
 */
static inline struct accounts *sample_accounts(bool trouble)
{
	struct accounts_options o = { .boot = WORLD_BOOT, .schedulers = 1U << SCHEDULER_SLURM };
	struct draw d = { 410 };
	struct accounts *a = NULL;

	assert_int_equal(accounts_new(&o, &a), 0);
	for (uint64_t i = trouble; i <= 120; i++) {
		struct report *r;

		if (trouble && i > 50 && i < 58)
			continue;
		r = i ? sample_account_report(&d, i) : world_report(0);
		if (trouble) {
			r->counters[3].running_ns = WORLD_SECOND / 3;
			r->counters[9].valid = i % 8 != 0;
			r->counters[9].running_ns *= r->counters[9].valid;
			r->quality.late_slices = i % 5 == 0;
		}
		for (size_t k = 0; k < r->nr_rows && i == 120; k++)
			r->rows[k].exited = r->rows[k].job->cgroup_id == 881;
		/* A counter without a value has no shares either. */
		for (size_t k = 0; k < r->nr_rows && !r->counters[9].valid; k++)
			for (size_t s = 0; s < r->rows[k].nr_shares; s++)
				if (r->rows[k].shares[s].counter == 9)
					r->rows[k].shares[s] = (struct share){ 9, 0, 0, 0, true };
		assert_int_equal(accounts_interval(a, r), 0);
		report_free(r);
	}
	return a;
}

#endif
