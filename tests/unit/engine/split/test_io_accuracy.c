// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * How right the bytes of devices are, on invented requests; "test_io_accuracy table" prints the
 * table of docs/ACCURACY.md, "test_io_accuracy scores" what tests/accuracy/sensitivity.py reads.
 */
#include "io_world.h"

#include <math.h>
#include <stdio.h>

#define SECONDS	     10
#define SEEDS	     30
#define TESTED_SEEDS 3

/**
 * struct scenario - a device and who uses it
 * @tenants: number; each asks for other amounts, in other sizes, for reads and writes
 * @on_ms, @off_ms: mean lengths of their bursts; 0: no bursts
 * @window_ms: length of a turn or window; @turn_of: one of so many is the device's
 * @lag_ms, @jitter_ms: data move so long before they are noted, and up to so much longer
 * @background: part of the device's bytes that nobody asked for; @bursts: of a fifth of the time
 * @overhead: how much more than its requests a tenant's data are, about
 * @error: of rows, at most, as the median of seeds; @held: of bars, at least
 */
struct scenario {
	const char *name;
	size_t tenants;
	double on_ms, off_ms;
	uint64_t window_ms;
	unsigned int turn_of;
	double lag_ms, jitter_ms, background;
	bool bursts;
	double overhead, error, held;
};

static const struct scenario scenarios[] = {
	{ "turns", 8, 30, 100, 50, 4, 0, 2, 0.1, false, 0.02, 0.05, 0.93 },
	{ "turns-lag", 8, 30, 100, 50, 4, 3, 0, 0.1, false, 0.02, 0.05, 0.93 },
	{ "short-turns", 8, 30, 100, 20, 4, 3, 0, 0.1, false, 0.02, 0.05, 0.93 },
	{ "always", 8, 30, 100, 10, 1, 0, 2, 0.1, false, 0.02, 0.05, 0.93 },
	{ "always-lag", 8, 30, 100, 10, 1, 3, 0, 0.1, false, 0.02, 0.022, 0.93 },
	{ "very-early", 8, 30, 100, 50, 4, 6, 6, 0.1, false, 0.02, 0.10, 0.70 },
	{ "long", 8, 30, 100, 1000, 1, 3, 0, 0.1, false, 0.02, 0.05, 0.93 },
	{ "steady", 8, 0, 0, 50, 4, 0, 2, 0.1, false, 0.02, 0.05, 0.93 },
	{ "many", 60, 30, 100, 50, 4, 0, 2, 0.1, false, 0.02, 0.05, 0.93 },
	{ "clean", 8, 30, 100, 50, 4, 0, 2, 0, false, 0.02, 0.05, 0.93 },
	{ "half", 8, 30, 100, 50, 4, 0, 2, 0.5, false, 0.02, 0.06, 0.93 },
	{ "bursts", 8, 30, 100, 50, 4, 0, 2, 0.5, true, 0.02, 0.06, 0.93 },
	{ "drowned", 8, 30, 100, 50, 4, 0, 2, 0.9, true, 0.02, 0.06, 0.93 },
	{ "small-packets", 8, 30, 100, 50, 4, 0, 2, 0.1, false, 0.15, 0.08, 0.90 },
};

struct result {
	double error, held, width, background, background_truth, all;
};

static struct io_sim *sim_of(const struct scenario *c, enum method method, uint64_t seed)
{
	struct io_sim *s = io_sim_new(method, seed);
	double total = 0;

	s->nr = c->tenants;
	s->window_ns = c->window_ms * MS;
	s->turn_of = c->turn_of;
	s->lag_ms = c->lag_ms;
	s->lag_jitter_ms = c->jitter_ms;
	for (size_t i = 0; i < s->nr; i++) {
		double mbps = 50 * exp(draw_normal(&s->d));

		s->tenants[i] =
			(struct io_tenant){ .mbps = mbps,
					    .on_ms = c->on_ms * (0.5 + draw_unit(&s->d)),
					    .off_ms = c->off_ms * (0.5 + draw_unit(&s->d)),
					    .size = 4096 << draw_below(&s->d, 6),
					    .write = draw_unit(&s->d),
					    .theta = 1 + c->overhead * fabs(draw_normal(&s->d)) };
		total += mbps * (c->off_ms > 0 ? c->on_ms / (c->on_ms + c->off_ms) : 1);
	}
	s->background_mbps = total / 2 * c->background / (1 - c->background);
	s->background_change = 0.5;
	s->background_bursts = c->bursts;
	return s;
}

static struct result run(const struct scenario *c, enum method method, uint64_t seed)
{
	struct io_sim *s = sim_of(c, method, seed);
	struct result r = { 0 };

	for (int i = 0; i < SECONDS; i++)
		io_second(s);
	r.error = io_error(s);
	r.width = io_width(s);
	r.held = s->asked ? (double)s->held / s->asked : 0;
	r.background = (double)s->background[0] + s->background[1];
	r.background_truth = s->background_truth[0] + s->background_truth[1];
	r.all = r.background;
	for (size_t i = 0; i < s->nr; i++)
		r.all += s->rows[i].all_given[0] + s->rows[i].all_given[1];
	io_sim_free(s);
	return r;
}

static int by_value(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return x < y ? -1 : x > y;
}

/* Medians of seeds, apart from @held, which is the mean. */
static struct result examine(const struct scenario *c, enum method method, size_t first, size_t nr)
{
	double v[4][SEEDS];
	struct result sum = { 0 };

	for (size_t i = 0; i < nr; i++) {
		struct result r = run(c, method, first + i);

		v[0][i] = r.error;
		v[1][i] = r.width;
		v[2][i] = r.background / r.all;
		v[3][i] = r.background_truth / r.all;
		sum.held += r.held / nr;
	}
	for (int k = 0; k < 4; k++)
		qsort(v[k], nr, sizeof(**v), by_value);
	sum.error = v[0][nr / 2];
	sum.width = v[1][nr / 2];
	sum.background = v[2][nr / 2];
	sum.background_truth = v[3][nr / 2];
	return sum;
}

static void table(void)
{
	printf("| scenario | error | as requests say | bars hold | width | background | true |\n");
	printf("|---|---|---|---|---|---|---|\n");
	for (size_t i = 0; i < sizeof(scenarios) / sizeof(scenarios[0]); i++) {
		const struct scenario *c = &scenarios[i];
		struct result r = examine(c, METHOD_STATE_SPACE, 201, SEEDS);
		struct result plain = examine(c, METHOD_CPU_TIME, 201, SEEDS);

		printf("| %s | %.3f | %.3f | %.3f | %.2f | %.3f | %.3f |\n", c->name, r.error,
		       plain.error, r.held, r.width, r.background, r.background_truth);
	}
}

/* The seeds and limits of the test. Columns: name, error, its limit, held, its limit, width. */
static void scores(void)
{
	for (size_t i = 0; i < sizeof(scenarios) / sizeof(scenarios[0]); i++) {
		const struct scenario *c = &scenarios[i];
		struct result r = examine(c, METHOD_STATE_SPACE, 101, TESTED_SEEDS);

		printf("%s %.6f %g %.6f %g %.6f\n", c->name, r.error, c->error, r.held, c->held,
		       r.width);
	}
}

static void rows_are_right_and_bars_hold(void **state)
{
	size_t nr = draw_times(sizeof(scenarios) / sizeof(scenarios[0]), 5);

	(void)state;
	for (size_t i = 0; i < nr; i++) {
		const struct scenario *c = &scenarios[i];
		struct result r = examine(c, METHOD_STATE_SPACE, 101, TESTED_SEEDS);

		if (!isfinite(r.error) || r.error > c->error)
			fail_msg("%s: error %g", c->name, r.error);
		if (r.held < c->held)
			fail_msg("%s: %g of the bars hold", c->name, r.held);
		assert_true(r.width < 1);
	}
}

/* Two workloads, a reader and a writer of which the truth is known; 3 ms of lag, 10% of nobody. */
static void two_workloads_within_five_percent(void **state)
{
	(void)state;
	for (unsigned int turn_of = 1; turn_of <= 4; turn_of += 3) {
		struct io_sim *s = io_sim_new(METHOD_STATE_SPACE, 5);

		s->nr = 2;
		s->tenants[0] = (struct io_tenant){ .mbps = 400,
						    .on_ms = 80,
						    .off_ms = 40,
						    .size = 131072,
						    .write = 0.9,
						    .theta = 1.02 };
		s->tenants[1] = (struct io_tenant){
			.mbps = 100, .size = 16384, .write = 0.2, .theta = 1.02
		};
		s->background_mbps = 20;
		s->background_change = 0.3;
		s->lag_ms = 3;
		s->window_ns = 50 * MS;
		s->turn_of = turn_of;
		for (int i = 0; i < SECONDS; i++)
			io_second(s);
		for (int k = 0; k < 2; k++) {
			for (int c = 0; c < 2; c++) {
				const struct io_row *r = &s->rows[k];

				assert_true(fabs(r->all_given[c] / r->all_truth[c] - 1) < 0.05);
				assert_true(r->all_low[c] <= r->all_truth[c] &&
					    r->all_truth[c] <= r->all_high[c]);
			}
			assert_true(fabs(s->background[k] / s->background_truth[k] - 1) < 0.25);
		}
		io_sim_free(s);
	}
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(rows_are_right_and_bars_hold),
		cmocka_unit_test(two_workloads_within_five_percent),
	};

	if (argc > 1 && !strcmp(argv[1], "table")) {
		table();
		return 0;
	}
	if (argc > 1 && !strcmp(argv[1], "scores")) {
		scores();
		return 0;
	}
	return cmocka_run_group_tests(tests, NULL, NULL);
}
