// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <math.h>
#include <string.h>

#include "base/array.h"
#include "engine/stat/stat_book.h"
#include "random.h"
#include "trace.h"

#define MS 1000000ull

/*
 * Two PMUs. Of the first: 0 requests, 1 outstanding, 2 cycles, 3 bytes. Of the second,
 * which is that of the cores: 4 instructions, 5 cycles.
 */
struct world {
	struct stat_pmu pmus[2];
	struct stat_counter counters[6];
	struct stat_metric metrics[7];
	struct stat_layout layout;
	struct stat_cost costs[2];
	struct stat_book *book;
};

static void assert_near(double value, double expected, double tolerance)
{
	assert_true(fabs(value - expected) <= tolerance);
}

enum { LATENCY, BANDWIDTH, PER_PORT, IPC, PER_SECOND, FLOPS, PER_BYTE };

static void set_metric(struct stat_metric *m, const char *formula, uint32_t pmu, uint32_t nr,
		       const uint32_t *inputs)
{
	*m = (struct stat_metric){ .id = "x", .title = "x", .unit = "x", .formula = formula };
	strcpy(m->name, formula);
	m->pmu = pmu;
	m->nr_inputs = nr;
	memcpy(m->input, inputs, nr * sizeof(*inputs));
}

static void world_layout(struct world *w)
{
	*w = (struct world){ 0 };
	strcpy(w->pmus[0].family, "ucf");
	strcpy(w->pmus[1].family, "core");
	w->pmus[1].cores = true;
	w->counters[4].pmu = 1;
	w->counters[5].pmu = 1;
	set_metric(&w->metrics[LATENCY], "(outs / req) / (cycles / duration_ns)", 0, 4,
		   (uint32_t[]){ 1, 0, 2, STAT_DURATION_NS });
	set_metric(&w->metrics[BANDWIDTH], "bytes / duration_ns", 0, 2,
		   (uint32_t[]){ 3, STAT_DURATION_NS });
	set_metric(&w->metrics[PER_PORT], "req / ports", 0, 2, (uint32_t[]){ 0, STAT_CONSTANT });
	w->metrics[PER_PORT].constant[1] = 4;
	set_metric(&w->metrics[IPC], "instructions / cycles", 1, 2, (uint32_t[]){ 4, 5 });
	set_metric(&w->metrics[PER_SECOND], "req / duration_s", 0, 2,
		   (uint32_t[]){ 0, STAT_DURATION_S });
	set_metric(&w->metrics[FLOPS], "instructions / duration_s", 1, 2,
		   (uint32_t[]){ 4, STAT_DURATION_S });
	set_metric(&w->metrics[PER_BYTE], "bytes / req", 0, 2, (uint32_t[]){ 3, 0 });
	w->layout = (struct stat_layout){
		.pmus = w->pmus,
		.nr_pmus = ARRAY_SIZE(w->pmus),
		.counters = w->counters,
		.nr_counters = ARRAY_SIZE(w->counters),
		.metrics = w->metrics,
		.nr_metrics = ARRAY_SIZE(w->metrics),
	};
}

static void world_make(struct world *w)
{
	struct diag d = { 0 };

	world_layout(w);
	assert_int_equal(stat_book_new(&w->layout, 0, &d, &w->book), 0);
}

static int book(struct world *w, uint32_t pmu, size_t nr, const uint32_t *counters,
		const struct reading *readings)
{
	const struct stat_segment s = {
		.pmu = pmu,
		.start_ns = 0,
		.end_ns = 1000 * MS,
		.nr = nr,
		.counters = counters,
		.readings = readings,
	};

	return stat_book_segment(w->book, &s);
}

static struct stat_report *interval(struct world *w)
{
	struct stat_report *r = NULL;

	assert_int_equal(stat_book_interval(w->book, 1000 * MS, w->costs, &r), 0);
	return r;
}

static struct stat_report *summary(struct world *w)
{
	struct stat_report *r = NULL;

	assert_int_equal(stat_book_summary(w->book, 2000 * MS, w->costs, &r), 0);
	return r;
}

/* All the time: counts are exact, metrics are the formulas. */
static void test_whole(void **state)
{
	struct stat_report *r;
	struct world w;

	(void)state;
	world_make(&w);
	/* 3 requests of 200 cycles of 2 GHz */
	assert_int_equal(book(&w, 0, 4, (uint32_t[]){ 0, 1, 2, 3 },
			      (struct reading[]){ { 3, 1000 * MS, 1000 * MS },
						  { 600, 1000 * MS, 1000 * MS },
						  { 2000 * MS, 1000 * MS, 1000 * MS },
						  { UINT64_MAX, 1000 * MS, 1000 * MS } }),
			 0);
	r = interval(&w);
	assert_int_equal(r->counts[0].value, 3);
	assert_true(r->counts[3].value == UINT64_MAX);
	assert_int_equal(r->counts[0].enabled_ns, 1000 * MS);
	assert_int_equal(r->counts[0].running_ns, 1000 * MS);
	assert_near(r->values[LATENCY].value, 100, 1e-9);
	assert_int_equal(r->values[LATENCY].covered_ns, 1000 * MS);
	assert_int_equal(r->values[LATENCY].enabled_ns, 1000 * MS);
	assert_near(r->values[PER_PORT].value, 0.75, 1e-12);
	assert_near(r->values[PER_SECOND].value, 3, 1e-12);
	assert_int_equal(r->counts[4].absence, STAT_NOT_READ);
	assert_int_equal(r->values[IPC].absence, STAT_NOT_READ);
	assert_int_equal(r->end_ns, 1000 * MS);
	assert_false(r->summary);
	stat_report_free(r);
	stat_report_free(NULL);
	/* The next interval begins with nothing. */
	r = interval(&w);
	assert_int_equal(r->counts[0].absence, STAT_NOT_READ);
	assert_int_equal(r->counts[0].enabled_ns, 0);
	assert_int_equal(r->start_ns, 1000 * MS);
	stat_report_free(r);
	r = summary(&w);
	assert_int_equal(r->counts[0].value, 3);
	assert_true(r->summary);
	assert_int_equal(r->start_ns, 0);
	stat_report_free(r);
	stat_book_free(w.book);
	stat_book_free(NULL);
}

/* Two turns of unequal length: what had a turn is scaled, and metrics say what they cover. */
static void test_turns(void **state)
{
	struct stat_report *r;
	struct world w;

	(void)state;
	world_make(&w);
	/* Base: bytes. Turn 1: requests, outstanding, cycles; turn 2: nothing else. */
	for (int i = 0; i < 2; i++) {
		assert_int_equal(book(&w, 0, 4, (uint32_t[]){ 3, 0, 1, 2 },
				      (struct reading[]){ { 500, 100 * MS, 100 * MS },
							  { 10, 100 * MS, 100 * MS },
							  { 2000, 100 * MS, 100 * MS },
							  { 100 * MS, 100 * MS, 100 * MS } }),
				 0);
		assert_int_equal(book(&w, 0, 1, (uint32_t[]){ 3 },
				      (struct reading[]){ { 7, 300 * MS, 300 * MS } }),
				 0);
	}
	r = interval(&w);
	assert_int_equal(r->counts[3].value, 1014);
	assert_int_equal(r->counts[3].enabled_ns, 800 * MS);
	assert_int_equal(r->counts[3].running_ns, 800 * MS);
	assert_int_equal(r->counts[0].counted, 20);
	assert_int_equal(r->counts[0].value, 80);
	assert_int_equal(r->counts[0].enabled_ns, 800 * MS);
	assert_int_equal(r->counts[0].running_ns, 200 * MS);
	assert_near(r->values[LATENCY].value, 200, 1e-9);
	assert_int_equal(r->values[LATENCY].covered_ns, 200 * MS);
	assert_int_equal(r->values[LATENCY].enabled_ns, 800 * MS);
	assert_near(r->values[BANDWIDTH].value, 1014 / 800e6, 1e-15);
	assert_int_equal(r->values[BANDWIDTH].covered_ns, 800 * MS);
	stat_report_free(r);
	stat_book_free(w.book);
}

/* Counters that never count together make no metric, however much each of them counted. */
static void test_apart(void **state)
{
	struct stat_report *r;
	struct world w;

	(void)state;
	world_make(&w);
	assert_int_equal(book(&w, 0, 2, (uint32_t[]){ 0, 2 },
			      (struct reading[]){ { 1, MS, MS }, { 1, MS, MS } }),
			 0);
	assert_int_equal(book(&w, 0, 1, (uint32_t[]){ 1 }, (struct reading[]){ { 1, MS, MS } }), 0);
	r = interval(&w);
	assert_int_equal(r->counts[0].absence, STAT_PRESENT);
	assert_int_equal(r->values[LATENCY].absence, STAT_APART);
	assert_int_equal(r->values[LATENCY].covered_ns, 0);
	assert_int_equal(r->values[LATENCY].enabled_ns, 2 * MS);
	stat_report_free(r);
	stat_book_free(w.book);
}

/* Others have the hardware for a part of a segment, or for all of it. */
static void test_others(void **state)
{
	struct stat_report *r;
	struct world w;

	(void)state;
	world_make(&w);
	assert_int_equal(book(&w, 0, 4, (uint32_t[]){ 0, 1, 2, 3 },
			      (struct reading[]){ { 5, 10 * MS, 5 * MS },
						  { 1000, 10 * MS, 5 * MS },
						  { 10 * MS, 10 * MS, 10 * MS },
						  { 77, 10 * MS, 0 } }),
			 0);
	r = interval(&w);
	assert_int_equal(r->counts[0].value, 10);
	assert_int_equal(r->counts[3].absence, STAT_NOT_RUNNING);
	/* Without running time there is no value, whatever is in its place. */
	assert_int_equal(r->counts[3].counted, 0);
	assert_near(r->values[LATENCY].value, 200, 1e-9);
	assert_int_equal(r->values[LATENCY].covered_ns, 5 * MS);
	assert_int_equal(r->values[BANDWIDTH].absence, STAT_NOT_RUNNING);
	stat_report_free(r);
	stat_book_free(w.book);
}

static void test_refused_and_undefined(void **state)
{
	struct stat_report *r;
	struct world w;

	(void)state;
	world_make(&w);
	stat_book_refuse(w.book, 3);
	stat_book_refuse(w.book, 99);
	assert_int_equal(book(&w, 0, 3, (uint32_t[]){ 0, 1, 2 },
			      (struct reading[]){ { 0, MS, MS }, { 0, MS, MS }, { MS, MS, MS } }),
			 0);
	r = interval(&w);
	assert_int_equal(r->counts[3].absence, STAT_REFUSED);
	assert_int_equal(r->values[BANDWIDTH].absence, STAT_REFUSED);
	assert_int_equal(r->counts[0].absence, STAT_PRESENT);
	assert_int_equal(r->counts[0].value, 0);
	assert_int_equal(r->values[LATENCY].absence, STAT_ZERO);
	assert_int_equal(r->values[PER_PORT].absence, STAT_PRESENT);
	stat_report_free(r);
	stat_book_free(w.book);
}

/* No latency of 0.0 ns beside requests, and none of next to none. */
static void test_few_requests(void **state)
{
	static const struct {
		uint64_t requests, outstanding;
		enum stat_absence absence;
	} cases[] = {
		{ 0, 0, STAT_ZERO },
		{ 1, 500, STAT_FEW },
		{ STAT_LEAST_REQUESTS - 1, 50000, STAT_FEW },
		{ STAT_LEAST_REQUESTS, 50000, STAT_PRESENT },
		{ 1000000, 0, STAT_FEW },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct stat_report *r;
		struct world w;

		world_make(&w);
		w.metrics[LATENCY].unit = "ns";
		strcpy(w.counters[0].unit, "requests");
		strcpy(w.counters[1].unit, "outstanding");
		assert_int_equal(book(&w, 0, 3, (uint32_t[]){ 0, 1, 2 },
				      (struct reading[]){ { cases[i].requests, MS, MS },
							  { cases[i].outstanding, MS, MS },
							  { MS, MS, MS } }),
				 0);
		r = interval(&w);
		assert_int_equal(r->values[LATENCY].absence, cases[i].absence);
		assert_int_equal(r->values[PER_SECOND].absence, STAT_PRESENT);
		stat_report_free(r);
		stat_book_free(w.book);
	}
}

/* A process that slept has counted nothing; an uncore PMU that was never on has no value. */
static void test_no_time(void **state)
{
	struct stat_report *r;
	struct world w;

	(void)state;
	world_make(&w);
	assert_int_equal(book(&w, 1, 2, (uint32_t[]){ 4, 5 }, (struct reading[2]){ 0 }), 0);
	assert_int_equal(book(&w, 0, 1, (uint32_t[]){ 3 }, (struct reading[1]){ 0 }), 0);
	r = interval(&w);
	assert_int_equal(r->counts[4].absence, STAT_PRESENT);
	assert_int_equal(r->counts[4].value, 0);
	assert_int_equal(r->values[IPC].absence, STAT_ZERO);
	assert_int_equal(r->counts[3].absence, STAT_NOT_READ);
	assert_int_equal(r->values[BANDWIDTH].absence, STAT_NOT_RUNNING);
	stat_report_free(r);
	stat_book_free(w.book);
}

/* Times of the cores are sums over threads: rates are over the time on the clock. */
static void test_rates_of_cores(void **state)
{
	struct stat_report *r;
	struct world w;

	(void)state;
	world_make(&w);
	/* 8 threads in a second; cycles had the counters for half of the time */
	assert_int_equal(book(&w, 1, 2, (uint32_t[]){ 4, 5 },
			      (struct reading[]){ { 800, 8000 * MS, 8000 * MS },
						  { 1000, 8000 * MS, 4000 * MS } }),
			 0);
	r = interval(&w);
	assert_near(r->values[FLOPS].value, 800, 1e-9);
	assert_near(r->values[IPC].value, 0.4, 1e-12);
	assert_int_equal(r->values[FLOPS].covered_ns, 8000 * MS);
	stat_report_free(r);
	/* A second in which the process slept belongs to the rate of the run, and not to the IPC. */
	assert_int_equal(book(&w, 1, 2, (uint32_t[]){ 4, 5 }, (struct reading[2]){ 0 }), 0);
	r = interval(&w);
	assert_int_equal(r->values[FLOPS].absence, STAT_PRESENT);
	assert_near(r->values[FLOPS].value, 0, 1e-12);
	assert_int_equal(r->values[IPC].absence, STAT_ZERO);
	stat_report_free(r);
	r = summary(&w);
	assert_near(r->values[FLOPS].value, 400, 1e-9);
	assert_near(r->values[IPC].value, 0.4, 1e-12);
	stat_report_free(r);
	stat_book_free(w.book);
}

/* Nonsense is not booked, not even a part of it. */
static void test_nonsense(void **state)
{
	static const struct reading one[2] = { { 1, MS, MS }, { 1, MS, MS } };
	struct stat_segment s = { .pmu = 0, .start_ns = 2, .end_ns = 1 };
	struct stat_report *r;
	struct world w;

	(void)state;
	world_make(&w);
	assert_int_equal(stat_book_segment(w.book, &s), -EINVAL);
	assert_int_equal(book(&w, 2, 1, (uint32_t[]){ 0 }, one), -EINVAL);
	assert_int_equal(book(&w, 0, 2, (uint32_t[]){ 0, 4 }, one), -EINVAL);
	assert_int_equal(book(&w, 0, 2, (uint32_t[]){ 0, 0 }, one), -EINVAL);
	assert_int_equal(book(&w, 0, 2, (uint32_t[]){ 0, 6 }, one), -EINVAL);
	assert_int_equal(book(&w, 0, 2, (uint32_t[]){ 0, UINT32_MAX }, one), -EINVAL);
	r = summary(&w);
	for (size_t i = 0; i < w.layout.nr_counters; i++) {
		assert_int_equal(r->counts[i].absence, STAT_NOT_READ);
		assert_int_equal(r->counts[i].enabled_ns, 0);
	}
	stat_report_free(r);
	/* None of it stayed in the way of a good one. */
	assert_int_equal(book(&w, 0, 2, (uint32_t[]){ 0, 1 }, one), 0);
	stat_book_free(w.book);
}

static void refuse_layout(struct world *w)
{
	struct stat_book *untouched = (struct stat_book *)&untouched, *b = untouched;
	struct diag d = { 0 };

	assert_int_equal(stat_book_new(&w->layout, 0, &d, &b), -EINVAL);
	assert_true(b == untouched);
	assert_string_not_equal(d.what, "");
}

static void test_bad_layouts(void **state)
{
	struct world w;

	(void)state;
	world_layout(&w);
	w.metrics[0].nr_inputs--;
	refuse_layout(&w);
	world_layout(&w);
	w.metrics[0].formula = "1 +";
	refuse_layout(&w);
	world_layout(&w);
	w.metrics[IPC].input[0] = 0; /* of another PMU */
	refuse_layout(&w);
	world_layout(&w);
	w.metrics[IPC].input[0] = 6;
	refuse_layout(&w);
	world_layout(&w);
	w.metrics[0].pmu = 2;
	refuse_layout(&w);
	world_layout(&w);
	w.counters[0].pmu = 2;
	refuse_layout(&w);
	world_layout(&w);
	w.metrics[BANDWIDTH].input[0] = STAT_CONSTANT; /* no counter at all */
	refuse_layout(&w);
}

static void test_costs(void **state)
{
	struct stat_report *r;
	struct world w;

	(void)state;
	world_make(&w);
	w.costs[1] = (struct stat_cost){ 10, 1000, 1, 2, 3, 7, 4 };
	stat_report_free(interval(&w));
	w.costs[1] = (struct stat_cost){ 15, 1600, 1, 4, 9, 9, 4 };
	r = interval(&w);
	assert_int_equal(r->costs[1].readings, 5);
	assert_int_equal(r->costs[1].read_ns, 600);
	assert_int_equal(r->costs[1].failed, 0);
	assert_int_equal(r->costs[1].deferred, 2);
	assert_int_equal(r->costs[1].turns, 6);
	assert_int_equal(r->costs[1].turns_deferred, 2);
	assert_int_equal(r->costs[1].sets, 4);
	stat_report_free(r);
	r = summary(&w);
	assert_int_equal(r->costs[1].readings, 15);
	stat_report_free(r);
	stat_book_free(w.book);
}

/* Scaling beyond 64 bits is held at the largest number, and never wraps. */
static void test_large(void **state)
{
	struct stat_report *r;
	struct world w;

	(void)state;
	world_make(&w);
	assert_int_equal(book(&w, 0, 2, (uint32_t[]){ 0, 3 },
			      (struct reading[]){ { UINT64_MAX / 2, 4, 2 },
						  { UINT64_MAX / 2, UINT64_MAX, 1 } }),
			 0);
	r = interval(&w);
	assert_true(r->counts[0].value == UINT64_MAX - 1);
	assert_true(r->counts[3].value == UINT64_MAX);
	stat_report_free(r);
	assert_int_equal(book(&w, 0, 1, (uint32_t[]){ 3 },
			      (struct reading[]){ { UINT64_MAX, UINT64_MAX, UINT64_MAX } }),
			 0);
	r = summary(&w);
	assert_true(r->counts[3].counted == UINT64_MAX);
	assert_true(r->counts[3].enabled_ns == UINT64_MAX);
	stat_report_free(r);
	stat_book_free(w.book);
}

/* What random segments must come to, added up in the plainest way. */
struct expected {
	uint64_t counted[4], running[4], enabled[4];
};

static void random_segment(struct world *w, struct draw *draw, struct expected *e)
{
	uint64_t time = 1 + draw_below(draw, 1000000);
	struct reading readings[4];
	uint32_t counters[4];
	size_t nr = 0;

	for (uint32_t c = 0; c < 4; c++) {
		uint64_t running;

		if (draw_below(draw, 3) == 0 && (nr || c < 3))
			continue;
		running = draw_below(draw, 4) ? time : draw_below(draw, time);
		readings[nr] = (struct reading){ draw_below(draw, 1 << 20), time, running };
		if (running)
			e->counted[c] += readings[nr].value;
		e->running[c] += running;
		counters[nr++] = c;
	}
	for (uint32_t c = 0; c < 4; c++)
		e->enabled[c] += time;
	assert_int_equal(book(w, 0, nr, counters, readings), 0);
}

static void check_sums(const struct stat_report *r, const struct expected *e)
{
	for (uint32_t c = 0; c < 4; c++) {
		const struct stat_count *count = &r->counts[c];

		assert_true(count->running_ns <= count->enabled_ns);
		assert_int_equal(count->running_ns, e->running[c]);
		assert_int_equal(count->enabled_ns, e->enabled[c]);
		assert_int_equal(count->counted, e->counted[c]);
		assert_int_equal(count->absence == STAT_PRESENT, e->running[c] > 0);
		if (!e->running[c])
			continue;
		if (e->running[c] == e->enabled[c])
			assert_int_equal(count->value, e->counted[c]);
		else
			assert_true(fabs((double)count->value - (double)e->counted[c] *
									(double)e->enabled[c] /
									(double)e->running[c]) < 1);
	}
	for (size_t i = 0; i < r->layout->nr_metrics; i++) {
		assert_true(r->values[i].covered_ns <= r->values[i].enabled_ns);
		if (r->values[i].absence == STAT_PRESENT)
			assert_true(isfinite(r->values[i].value) && r->values[i].value >= 0);
	}
}

static void test_random(void **state)
{
	size_t rounds = draw_times(300, 10);
	struct draw draw = { 20261121 };

	(void)state;
	for (size_t round = 0; round < rounds; round++) {
		struct expected run = { 0 };
		struct stat_report *r;
		struct world w;

		world_make(&w);
		for (size_t i = draw_below(&draw, 5); i; i--) {
			struct expected now = { 0 };

			for (size_t n = draw_below(&draw, 12); n; n--)
				random_segment(&w, &draw, &now);
			r = interval(&w);
			check_sums(r, &now);
			stat_report_free(r);
			for (uint32_t c = 0; c < 4; c++) {
				run.counted[c] += now.counted[c];
				run.running[c] += now.running[c];
				run.enabled[c] += now.enabled[c];
			}
		}
		r = summary(&w);
		check_sums(r, &run);
		stat_report_free(r);
		stat_book_free(w.book);
	}
}

/* Whatever turns do, a metric of constant traffic is what the traffic is. */
static void test_constant_traffic(void **state)
{
	size_t rounds = draw_times(200, 10);
	struct draw draw = { 4711 };

	(void)state;
	for (size_t round = 0; round < rounds; round++) {
		struct stat_report *r;
		struct world w;

		world_make(&w);
		for (int turn = 0; turn < 6; turn++) {
			uint64_t t = (1 + draw_below(&draw, 100)) * 1000;
			const struct reading readings[4] = {
				{ t / 10, t, t }, { t * 30, t, t }, { t * 2, t, t }, { t * 5, t, t }
			};
			/* bytes always, the rest every other turn */
			const uint32_t counters[4] = { 0, 1, 2, 3 };

			if (turn % 2)
				assert_int_equal(book(&w, 0, 4, counters, readings), 0);
			else
				assert_int_equal(book(&w, 0, 1, counters + 3, readings + 3), 0);
		}
		r = summary(&w);
		assert_near(r->values[LATENCY].value, 150, 1e-9);
		assert_near(r->values[BANDWIDTH].value, 5, 1e-12);
		assert_true(r->values[LATENCY].covered_ns < r->values[LATENCY].enabled_ns);
		stat_report_free(r);
		stat_book_free(w.book);
	}
}

/* Of turns that say the same, nothing is in doubt but their begins; one turn alone may be any. */
static void bars_follow_from_turns(void **state)
{
	const uint32_t nr[] = { 3 };
	double width[3];

	(void)state;
	for (int kind = 0; kind < 3; kind++) {
		int turns = kind == 2 ? 1 : 20;
		struct stat_report *r;
		struct world w;

		world_make(&w);
		for (int i = 0; i < turns; i++) {
			const struct reading turn = { kind == 1 ? 600 + 800 * (i % 3 == 1) : 1000,
						      50 * MS, 50 * MS };
			const struct reading other = { 1, 50 * MS, 50 * MS };

			assert_int_equal(book(&w, 0, 1, nr, &turn), 0);
			assert_int_equal(book(&w, 0, 1, (uint32_t[]){ 0 }, &other), 0);
		}
		r = interval(&w);
		assert_true(r->counts[3].low >= r->counts[3].counted);
		assert_true(r->counts[3].low <= r->counts[3].value);
		assert_true(r->counts[3].high > r->counts[3].value);
		width[kind] = (double)(r->counts[3].high - r->counts[3].low) / r->counts[3].value;
		assert_near((r->values[BANDWIDTH].high - r->values[BANDWIDTH].low) /
				    r->values[BANDWIDTH].value,
			    width[kind], 0.002);
		stat_report_free(r);
		stat_book_free(w.book);
	}
	/* 0.3 ms of 50; two thirds with 600 and a third with 1400; 30% of the half not seen */
	assert_near(width[0], 0.006, 0.001);
	assert_in_range(width[1] * 1000, 100, 500);
	assert_near(width[2], 0.3 + 0.006, 0.001);
}

/* A turn of @other beside bytes, cycles and requests, then the time until the next one. */
static void book_beside(struct world *w, uint32_t other, uint64_t gap_ns)
{
	const struct reading counted = { 1000000, 50 * MS, 50 * MS };
	const struct reading gap = { 1000, gap_ns, gap_ns };
	struct stat_segment s = { .end_ns = 50 * MS,
				  .nr = 4,
				  .counters = (uint32_t[]){ 0, 2, 3, other },
				  .readings = (struct reading[]){ counted, counted, counted,
								  counted } };

	assert_int_equal(stat_book_segment(w->book, &s), 0);
	s.end_ns = gap_ns;
	s.nr = 3;
	s.readings = (struct reading[]){ gap, gap, gap };
	assert_int_equal(stat_book_segment(w->book, &s), 0);
}

/*
 * Events that count all the time lose what passes while turns beside them end and begin: twice
 * 0.3 ms for each, and no more than there was between them. Ratios of such events lose nothing.
 */
static void turns_stop_the_base(void **state)
{
	static const struct {
		uint64_t gap_ns;
		double part; /* of five turns */
	} cases[] = {
		{ 5 * MS, 5 * 0.6 / (5 * 55) },
		{ MS / 10, 5 * 0.1 / (5 * 50.1) },
	};

	(void)state;
	for (size_t k = 0; k < ARRAY_SIZE(cases); k++) {
		struct stat_report *r;
		struct world w;
		double high;

		world_make(&w);
		for (int i = 0; i < 5; i++)
			book_beside(&w, 1, cases[k].gap_ns);
		for (int whole = 0; whole < 2; whole++) {
			r = whole ? summary(&w) : interval(&w);
			high = (double)r->counts[3].value * (1 + cases[k].part);
			assert_int_equal(r->counts[3].running_ns, r->counts[3].enabled_ns);
			assert_int_equal(r->counts[3].value, 5 * 1001000);
			assert_int_equal(r->counts[3].low, r->counts[3].value);
			assert_near((double)r->counts[3].high, high, 2);
			assert_near(r->values[BANDWIDTH].high,
				    r->values[BANDWIDTH].value * (1 + cases[k].part), 1e-9);
			assert_true(r->values[BANDWIDTH].low == r->values[BANDWIDTH].value);
			assert_true(r->values[PER_BYTE].low == r->values[PER_BYTE].value);
			assert_true(r->values[PER_BYTE].high == r->values[PER_BYTE].value);
			stat_report_free(r);
		}
		/* The next interval has no turns. */
		assert_int_equal(book(&w, 0, 3, (uint32_t[]){ 0, 2, 3 },
				      (struct reading[]){ { 9, 50 * MS, 50 * MS },
							  { 9, 50 * MS, 50 * MS },
							  { 9, 50 * MS, 50 * MS } }),
				 0);
		r = interval(&w);
		assert_int_equal(r->counts[3].high, 9);
		stat_report_free(r);
		stat_book_free(w.book);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_whole),
		cmocka_unit_test(test_turns),
		cmocka_unit_test(test_apart),
		cmocka_unit_test(test_others),
		cmocka_unit_test(test_refused_and_undefined),
		cmocka_unit_test(test_few_requests),
		cmocka_unit_test(test_no_time),
		cmocka_unit_test(test_rates_of_cores),
		cmocka_unit_test(test_nonsense),
		cmocka_unit_test(test_bad_layouts),
		cmocka_unit_test(test_costs),
		cmocka_unit_test(test_large),
		cmocka_unit_test(test_random),
		cmocka_unit_test(test_constant_traffic),
		cmocka_unit_test(bars_follow_from_turns),
		cmocka_unit_test(turns_stop_the_base),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
