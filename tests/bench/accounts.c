// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * What it costs to keep accounts: an interval of so many jobs with three steps each is added, given
 * to the store, and one job is written as a closing report. Reports are made beforehand.
 */
#include <inttypes.h>
#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "engine/accounts/accounts.h"
#include "report/job/job_report.h"

#define INTERVALS 50
#define STEPS	  3
#define SECOND	  1000000000ULL
#define GOAL_MS	  5.0

/* @busy: of so many jobs, all have rows and each of these has bytes */
static const struct {
	size_t jobs;
	size_t busy;
	uint32_t counters;
} sizes[] = { { 1000, 100, 32 }, { 1000, 1000, 32 }, { 10000, 1000, 32 }, { 10000, 10000, 32 } };

static const struct host_info host = { .name = "bench", .platform = "t410", .sockets = 2 };

static void *must(void *p)
{
	if (!p) {
		fputs("accounts: out of memory\n", stderr);
		exit(1);
	}
	return p;
}

static double now_ms(void)
{
	struct timespec t;

	/* Of this process: others may be at work, too. */
	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return (double)t.tv_sec * 1e3 + (double)t.tv_nsec / 1e6;
}

static void add_row(struct report *r, size_t job, size_t step, bool busy)
{
	struct report_row *row = &r->rows[r->nr_rows++];

	row->kind = ROW_JOB;
	row->leaf = step != 0;
	row->job = must(calloc(1, sizeof(*row->job)));
	row->job->scheduler = SCHEDULER_SLURM;
	row->job->cgroup_id = 1000 + job;
	snprintf(row->job->id, sizeof(row->job->id), "%zu", job);
	if (step)
		snprintf(row->job->step, sizeof(row->job->step), "%zu", step);
	row->shares = must(calloc(r->nr_counters, sizeof(*row->shares)));
	row->nr_shares = r->nr_counters;
	row->on_cpu_ns = busy;
	for (uint32_t i = 0; i < r->nr_counters; i++)
		row->shares[i] =
			(struct share){ i, busy * (1000 + i), busy * 900, busy * 2000, true };
}

static struct report *make_report(const struct counter *counters, uint32_t nr, size_t jobs,
				  size_t busy)
{
	struct report *r = must(calloc(1, sizeof(*r)));

	r->host = &host;
	r->by = ROW_JOB;
	r->counters = must(calloc(nr, sizeof(*r->counters)));
	r->nr_counters = nr;
	for (uint32_t i = 0; i < nr; i++)
		r->counters[i] = (struct report_counter){ .counter = &counters[i],
							  .valid = true,
							  .value = busy * STEPS * (1000 + i),
							  .attributed = busy * STEPS * (1000 + i),
							  .enabled_ns = SECOND,
							  .running_ns = SECOND };
	r->rows = must(calloc(jobs * (STEPS + 1), sizeof(*r->rows)));
	for (size_t k = 0; k < jobs * (STEPS + 1); k++)
		add_row(r, k / (STEPS + 1), k % (STEPS + 1), k / (STEPS + 1) < busy);
	return r;
}

static int give(void *arg, const struct account_job *j)
{
	*(uint64_t *)arg += j->nr_node;
	return 0;
}

static int write_one(void *arg, const struct account_job *j)
{
	struct job_context c = { .host = &host, .node = arg };
	FILE *f = must(fopen("/dev/null", "w"));
	int err = job_json_write(f, &c, j);

	fclose(f);
	return err ? err : 1;
}

struct cost {
	double add;
	double give;
	double report;
	double mib;
};

static struct cost measure(const struct counter *counters, size_t jobs, size_t busy, uint32_t nr)
{
	struct accounts_options o = { .boot = "bench", .schedulers = 1U << SCHEDULER_SLURM };
	struct report *r = make_report(counters, nr, jobs, busy);
	size_t before = mallinfo2().uordblks + mallinfo2().hblkhd;
	struct accounts *a = NULL;
	struct cost cost = { 0 };
	uint64_t given = 0;

	if (accounts_new(&o, &a))
		must(NULL);
	for (uint64_t i = 0; i <= INTERVALS; i++) {
		double start = now_ms(), added;

		r->start_ns = i * SECOND;
		r->end_ns = r->start_ns + SECOND;
		r->start_time_ns = r->start_ns + 1;
		if (accounts_interval(a, r))
			must(NULL);
		added = now_ms();
		accounts_each_changed(a, give, &given);
		accounts_saved(a);
		/* All jobs begin with the first one. */
		if (!i)
			continue;
		cost.add += (added - start) / INTERVALS;
		cost.give += (now_ms() - added) / INTERVALS;
	}
	cost.mib = (double)(mallinfo2().uordblks + mallinfo2().hblkhd - before) / 1048576;
	cost.report = now_ms();
	accounts_each(a, write_one, (void *)(uintptr_t)accounts_node(a));
	cost.report = now_ms() - cost.report;
	accounts_free(a);
	report_free(r);
	return cost;
}

int main(void)
{
	struct counter *counters = must(calloc(64, sizeof(*counters)));

	for (uint32_t i = 0; i < 64; i++)
		snprintf(counters[i].name, sizeof(counters[i].name),
			 "ucf%u/mem_bytes_rd/src_loc_cpu=1,dst=%u", i % 2, i);
	puts("accounts: jobs of three steps, ms an interval; goal: 5 ms to add 1,000 live jobs");
	puts("   jobs   busy counters     add   give  report ms    MiB");
	for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		struct cost c = measure(counters, sizes[i].jobs, sizes[i].busy, sizes[i].counters);

		printf("%7zu %6zu %8" PRIu32 " %7.2f %6.2f %10.2f %6.1f%s\n", sizes[i].jobs,
		       sizes[i].busy, sizes[i].counters, c.add, c.give, c.report, c.mib,
		       sizes[i].jobs == 1000 && c.add > GOAL_MS ? "  above the goal" : "");
	}
	free(counters);
	return 0;
}
