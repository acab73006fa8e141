// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include <errno.h>

#include "split_world.h"

static struct draw d = { 410 };

static uint64_t some_bytes(void)
{
	static const uint64_t extreme[] = { 0, 1, 2, (1ull << 53) + 1, 1ull << 63, UINT64_MAX };

	if (draw_below(&d, 6) == 0)
		return extreme[draw_below(&d, sizeof(extreme) / sizeof(extreme[0]))];
	return draw_u64(&d) >> (24 + draw_below(&d, 36));
}

/* Weights of an activity: none, some, all of the time; zero counts are common. */
static void some_weights(struct activity *a)
{
	uint64_t kind = draw_below(&d, 12);

	a->weights_ns = kind == 0 ? 0 : kind == 1 ? a->on_cpu_ns / 2 : a->on_cpu_ns;
	if (!a->weights_ns)
		return;
	for (int k = 0; k < TRACE_MAX_WEIGHTS; k++)
		a->weights[k] = draw_below(&d, 3) ? draw_below(&d, 1000000) : 0;
}

static void random_block(struct world *w)
{
	size_t windows = 1 + draw_below(&d, 7), workloads = 1 + draw_below(&d, 8);

	for (size_t k = 0; k < windows; k++) {
		uint64_t length = 1 + draw_below(&d, 60 * MS);

		add_window(w, length, 0);
		w->now += draw_below(&d, 5) ? 0 : draw_below(&d, 100 * MS);
		for (int c = 0; c < NR_COUNTERS; c++) {
			struct reading *r = &w->readings[k][c];

			r->value = some_bytes();
			if (draw_below(&d, 8) == 0)
				r->running_ns = draw_below(&d, length + 1);
		}
		for (uint32_t i = 0; i < workloads; i++)
			if (draw_below(&d, 3))
				some_weights(
					ran(w, 1 + i,
					    1 + draw_below(&d, draw_below(&d, 4) ? length : 5)));
	}
}

/* Whatever comes, whichever method: world_split() checks every byte. */
static void random_blocks_are_conserved(void **state)
{
	size_t blocks = draw_times(400, 20);

	(void)state;
	for (uint32_t method = 0; method < NR_METHODS; method++) {
		for (uint32_t nr_weights = 0; nr_weights <= TRACE_MAX_WEIGHTS; nr_weights++) {
			struct world *w = world_new(method, nr_weights);

			for (size_t i = 0; i < blocks; i++) {
				for (uint32_t k = 1; k < 9; k++)
					w->rows[k] = draw_below(&d, 6) ? draw_below(&d, 6)
								       : SPLIT_NO_ROW;
				random_block(w);
				world_split(w);
				if (draw_below(&d, 10) == 0)
					splitter_forget(w->splitter, 1 + draw_below(&d, 8));
			}
			world_free(w);
		}
	}
}

static void alone_in_a_window_owns_all_of_it(void **state)
{
	(void)state;
	for (uint32_t method = 0; method < NR_METHODS; method++) {
		struct world *w = world_new(method, 1);

		for (int i = 0; i < 20; i++) {
			add_window(w, 10 * MS, 1000 + i);
			ran(w, 7, 3 * MS)->weights_ns = 3 * MS; /* and counted nothing */
			add_window(w, 10 * MS, 10);
			ran(w, 7, 10 * MS);
			ran(w, 8, 10 * MS);
		}
		world_split(w);
		assert_true(w->seen[READS][7].given >= 20 * 1000 + 190);
		assert_true(w->seen[READS][8].given <= 200);
		if (method != METHOD_STATE_SPACE) {
			assert_int_equal(w->seen[READS][7].low, 20190);
			assert_int_equal(w->seen[READS][7].high, 20390);
		}
		world_free(w);
	}
}

/* Windows without anybody, blocks without anybody, blocks without windows. */
static void nobody_ran(void **state)
{
	(void)state;
	for (uint32_t method = 0; method < NR_METHODS; method++) {
		struct world *w = world_new(method, 0);

		world_split(w);
		assert_int_equal(w->calls, 0);
		add_window(w, MS, 500);
		add_window(w, MS, 600);
		world_split(w);
		assert_int_equal(w->calls, 2 + 2 * NR_COUNTERS);
		add_window(w, MS, 500);
		add_window(w, MS, 600);
		ran(w, 5, MS);
		world_split(w);
		assert_int_equal(w->seen[READS][5].given, 600);
		assert_int_equal(w->seen[DEVICE][5].bounds, 0);
		world_free(w);
	}
}

/* In proportion: a row owns what it was alone in, and at most what it ran in. */
static void proportional_methods_give_hard_bounds(void **state)
{
	struct world *w = world_new(METHOD_CPU_TIME, 0);

	(void)state;
	w->rows[2] = 20;
	w->rows[3] = 20;
	w->rows[4] = SPLIT_NO_ROW;
	add_window(w, MS, 100);
	ran(w, 1, 1000);
	ran(w, 2, 3000);
	add_window(w, MS, 1000); /* two workloads, one row */
	ran(w, 2, 500);
	ran(w, 3, 500);
	add_window(w, MS, 10000); /* with somebody who is no row */
	ran(w, 3, 100);
	ran(w, 4, 300);
	add_window(w, MS, 100000);
	ran(w, 4, 300);
	world_split(w);
	assert_int_equal(w->seen[READS][1].given, 25);
	assert_int_equal(w->seen[READS][1].low, 0);
	assert_int_equal(w->seen[READS][1].high, 100);
	assert_int_equal(w->seen[READS][20].given, 75 + 1000 + 2500);
	assert_int_equal(w->seen[READS][20].low, 1000);
	assert_int_equal(w->seen[READS][20].high, 11100);
	assert_true(w->seen[READS][20].separable);
	world_free(w);
}

/* Numbers of windows that a double cannot hold: bounds still hold the value. */
static void large_numbers_are_bounded_too(void **state)
{
	const uint64_t large[] = { (1ull << 53) + 1, (1ull << 63) + 1, UINT64_MAX - 1 };

	(void)state;
	for (uint32_t method = 0; method < NR_METHODS; method++)
		for (size_t i = 0; i < 3; i++) {
			struct world *w = world_new(method, 0);

			add_window(w, MS, large[i]);
			ran(w, 3, 1000);
			add_window(w, MS, 1);
			ran(w, 3, 1);
			ran(w, 4, 1000);
			world_split(w);
			assert_true(w->seen[READS][3].given >= large[i]);
			assert_true(w->seen[READS][3].low > large[i] / 2);
			world_free(w);
		}
}

/* Counts say nothing of a window in which all were zero: CPU time decides. */
static void counts_of_zero(enum method method, uint64_t unit)
{
	struct world *w = world_new(method, 1);

	for (int i = 0; i < 6; i++) {
		add_window(w, 4 * unit, 4000);
		for (uint32_t k = 1; k <= 3; k++) {
			struct activity *a = ran(w, k, unit * k);

			a->weights_ns = a->on_cpu_ns;
			a->weights[0] = i % 2 ? k * 100 : 0;
		}
	}
	world_split(w);
	if (method == METHOD_WEIGHTS)
		assert_int_equal(w->seen[READS][3].given, 6 * 2000);
	world_free(w);
}

static void counts_of_zero_say_nothing(void **state)
{
	(void)state;
	for (uint32_t method = 0; method < NR_METHODS; method++) {
		counts_of_zero(method, 5 * MS);
		counts_of_zero(method, 200 * MS);
	}
}

static void on_off(struct world *w, size_t windows, const double *intensity, size_t nr)
{
	for (size_t k = 0; k < windows; k++) {
		uint64_t on[8];
		double bytes = 0;

		add_window(w, 10 * MS, 0);
		for (uint32_t i = 0; i < nr; i++) {
			on[i] = draw_below(&d, 2) * (1 + draw_below(&d, 10 * MS));
			bytes += intensity[i] * on[i];
			if (on[i])
				ran(w, 1 + i, on[i]);
		}
		for (int c = 0; c < NR_COUNTERS; c++)
			w->readings[k][c].value = bytes;
	}
}

/* What CPU time cannot say: the second is ten times as intense as the first. */
static void intensities_are_found(void **state)
{
	const double intensity[] = { 1, 10 };
	struct world *w = world_new(METHOD_STATE_SPACE, 0);

	(void)state;
	for (int i = 0; i < 3; i++) {
		double part;

		on_off(w, 60, intensity, 2);
		world_split(w);
		part = (double)w->seen[READS][2].given /
		       (w->seen[READS][1].given + w->seen[READS][2].given);
		assert_true(part > 0.8 && part < 0.97);
		assert_true(w->seen[READS][2].separable);
		assert_true(w->seen[READS][2].low > w->seen[READS][1].high);
	}
	world_free(w);
}

/* Nobody is given nothing, but who moves nothing has a bar that begins there. */
static void bars_of_nothing_begin_at_nothing(void **state)
{
	const double intensity[] = { 0, 10, 4 };
	struct world *w = world_new(METHOD_STATE_SPACE, 0);
	unsigned __int128 given = 0, below = 0;

	(void)state;
	for (int i = 0; i < 20; i++) {
		on_off(w, 60, intensity, 3);
		world_split(w);
		given += w->seen[READS][1].given;
		assert_int_equal(w->seen[READS][1].low, 0);
		below += w->seen[READS][1].below;
		assert_true(w->seen[READS][2].low > 0);
		assert_true(w->seen[READS][3].low > 0);
	}
	assert_true(given > 0);
	/* and would begin below it, so that a sum of many does not begin above */
	assert_true(below > given / 10);
	world_free(w);
}

/* Two in step, the third not. */
static void in_step(struct world *w)
{
	for (int k = 0; k < 60; k++) {
		uint64_t on = 1 + draw_below(&d, 9 * MS), other = 1 + draw_below(&d, 9 * MS);

		add_window(w, 10 * MS, on * 3 + other);
		ran(w, 1, on);
		ran(w, 2, on);
		ran(w, 3, other);
	}
}

static void rows_in_step_name_each_other(void **state)
{
	struct world *w = world_new(METHOD_STATE_SPACE, 0);

	(void)state;
	for (int i = 0; i < 2; i++) {
		in_step(w);
		world_split(w);
		for (int r = 1; r <= 2; r++) {
			const struct seen_row *s = &w->seen[READS][r];

			assert_false(s->separable);
			assert_int_equal(s->nr_inseparable, 1);
			assert_int_equal(s->inseparable[0], 3 - r);
		}
		assert_true(w->seen[READS][3].separable);
		/* nothing tells them apart: half each, to the unit */
		assert_true(w->seen[READS][1].given - w->seen[READS][2].given + 60 <= 120);
	}
	world_free(w);
	/* in one row it does not matter who of them it was */
	w = world_new(METHOD_STATE_SPACE, 0);
	w->rows[2] = 1;
	in_step(w);
	world_split(w);
	assert_true(w->seen[READS][1].separable);
	assert_int_equal(w->seen[READS][1].nr_inseparable, 0);
	world_free(w);
	/* nobody is told to be like somebody who is no row, but it is not separable */
	w = world_new(METHOD_STATE_SPACE, 0);
	w->rows[2] = SPLIT_NO_ROW;
	in_step(w);
	world_split(w);
	assert_false(w->seen[READS][1].separable);
	assert_int_equal(w->seen[READS][1].nr_inseparable, 0);
	world_free(w);
}

/* A weighed window: reads as 1 to 3, writes as 3 to 1. */
static void weighed(struct world *w, uint64_t covered)
{
	for (int k = 0; k < 4; k++) {
		add_window(w, 10 * MS, 4000);
		for (uint32_t i = 0; i < 2; i++) {
			struct activity *a = ran(w, 1 + i, 10 * MS);

			a->weights_ns = covered;
			a->weights[0] = covered ? 100 + 200 * i : 0;
			a->weights[1] = covered ? 300 - 200 * i : 0;
		}
	}
}

static void weights_decide_where_they_cover(void **state)
{
	struct world *w = world_new(METHOD_WEIGHTS, 2);
	uint64_t estimated, simple;
	struct quality q;

	(void)state;
	weighed(w, 10 * MS);
	world_split(w);
	assert_int_equal(w->seen[READS][2].given, 4 * 3000);
	assert_int_equal(w->seen[WRITES][2].given, 4 * 1000);
	assert_int_equal(w->seen[ANY][2].given, 4 * 3000);
	splitter_models(w->splitter, true, &estimated, &simple);
	assert_true(!estimated && !simple); /* nothing is estimated */
	splitter_quality(w->splitter, false, &q);
	assert_int_equal(q.method, METHOD_WEIGHTS);
	assert_string_equal(q.weights, "refill,writeback");
	assert_int_equal(q.weight_windows, 4);
	assert_int_equal(q.fallback_windows, 0);
	weighed(w, 5 * MS); /* too little of the time */
	world_split(w);
	assert_int_equal(w->seen[READS][2].given, 4 * 2000);
	weighed(w, 0);
	world_split(w);
	assert_int_equal(w->seen[WRITES][2].given, 4 * 2000);
	splitter_quality(w->splitter, false, &q);
	assert_string_equal(q.weights, "cpu-time");
	assert_int_equal(q.weight_windows, 0);
	assert_int_equal(q.fallback_windows, 8);
	splitter_quality(w->splitter, false, &q);
	assert_int_equal(q.fallback_windows, 0);
	splitter_quality(w->splitter, true, &q);
	assert_int_equal(q.weight_windows, 4);
	assert_int_equal(q.fallback_windows, 8);
	assert_string_equal(q.weights, "refill,writeback");
	world_free(w);
}

/* The first one moves all that its counts say; others' lines are counted when it pushes them out. */
static uint64_t pushing_block(struct world *w, struct draw *r)
{
	uint64_t lines = 0;

	for (int k = 0; k < 20; k++) {
		uint64_t x = 20000 + draw_below(r, 80000);

		lines += x;
		add_window(w, 10 * MS, 67 * x * (1 + 0.05 * draw_normal(r)));
		for (uint32_t i = 0; i < 4; i++) {
			struct activity *a = ran(w, 1 + i, 10 * MS);

			a->weights_ns = 10 * MS;
			a->weights[0] = a->weights[1] = i ? 2000 + draw_below(r, 8000) : x;
		}
	}
	return 64 * lines;
}

/* Bytes of the first one beyond its lines: of writes, and of reads. */
static void pushed_out(const char *event, double *writes, double *reads)
{
	struct world *w = world_new(METHOD_STATE_SPACE, 2);
	struct draw r = { 7 };

	strcpy(w->header.weights[0], "l3d_cache_refill");
	strcpy(w->header.weights[1], event);
	*writes = *reads = 0;
	for (int k = 0; k < 8; k++) {
		uint64_t most = pushing_block(w, &r);

		world_split(w);
		*writes += (double)w->seen[WRITES][1].given - most;
		*reads += (double)w->seen[READS][1].given - most;
	}
	world_free(w);
}

/* Of writes, what left an L2 bounds what is given; stores that pass the caches do not. */
static void no_more_is_written_than_left_a_cache(void **state)
{
	double bound, reads, unbound, others;

	(void)state;
	pushed_out("l2d_cache_wb", &bound, &reads);
	pushed_out("store_stream", &unbound, &others);
	assert_true(reads == others && unbound == others && unbound > 0);
	if (bound > 0.6 * unbound)
		fail_msg("%.0f bytes too many, %.0f without a bound", bound, unbound);
}

/* Core events say what a task moved, not what energy it took: that goes by CPU time. */
static void energy_goes_by_cpu_time(void **state)
{
	struct world *w;

	(void)state;
	world_counters[ANY].unit = UNIT_NANOJOULES;
	w = world_new(METHOD_WEIGHTS, 2);
	weighed(w, 10 * MS);
	world_split(w);
	assert_int_equal(w->seen[READS][2].given, 4 * 3000);
	assert_int_equal(w->seen[ANY][1].given, 4 * 2000);
	assert_int_equal(w->seen[ANY][2].given, 4 * 2000);
	world_free(w);
	world_counters[ANY].unit = UNIT_BYTES;
}

static void one_weight_is_for_both_and_cpu_time_is_not_asked(void **state)
{
	struct world *w = world_new(METHOD_WEIGHTS, 1);
	struct quality q;

	(void)state;
	weighed(w, 10 * MS);
	world_split(w);
	assert_int_equal(w->seen[WRITES][2].given, 4 * 3000);
	splitter_quality(w->splitter, true, &q);
	assert_string_equal(q.weights, "refill");
	world_free(w);
	w = world_new(METHOD_CPU_TIME, 2);
	weighed(w, 10 * MS);
	world_split(w);
	assert_int_equal(w->seen[READS][2].given, 4 * 2000);
	splitter_quality(w->splitter, true, &q);
	assert_string_equal(q.weights, "cpu-time");
	assert_int_equal(q.weight_windows, 0);
	assert_int_equal(q.fallback_windows, 0);
	world_free(w);
}

/* CPU time in which counts were missing is taken to be like the rest. */
static void gaps_of_weights_are_filled(void **state)
{
	struct world *w = world_new(METHOD_WEIGHTS, 1);
	struct activity *a;

	(void)state;
	add_window(w, 10 * MS, 3000);
	a = ran(w, 1, 10 * MS);
	a->weights_ns = 10 * MS;
	a->weights[0] = 100;
	a = ran(w, 2, 10 * MS);
	a->weights_ns = 9 * MS;
	a->weights[0] = 180; /* 200 in all of its time */
	world_split(w);
	assert_int_equal(w->seen[READS][1].given, 1000);
	assert_int_equal(w->seen[READS][2].given, 2000);
	world_free(w);
}

static void many_workloads_are_pooled(void **state)
{
	struct world *w = world_new(METHOD_STATE_SPACE, 0);
	size_t windows = draw_times(40, 10);
	struct quality q;

	(void)state;
	for (int i = 0; i < 2; i++) {
		unsigned __int128 sum = 0;
		size_t pooled = 0, others = 0;
		uint64_t all = 0;

		for (size_t k = 0; k < windows; k++) {
			uint64_t bytes = draw_below(&d, 1u << 30);

			add_window(w, 10 * MS, bytes);
			all += bytes;
			for (uint32_t n = 1; n <= 500; n++)
				if (draw_below(&d, 2) || !k) /* each at least once */
					ran(w, n, 1 + draw_below(&d, 10 * MS));
		}
		world_split(w);
		for (uint32_t n = 0; n < MAX_WORKLOADS; n++)
			sum += w->seen[READS][n].given;
		assert_true(sum + w->background[READS] == all);
		splitter_quality(w->splitter, false, &q);
		assert_int_equal(q.pooled_workloads, 500 - 255);
		/* Rows say whether it is them, with all of their bytes. */
		for (uint32_t n = 1; n <= 500; n++) {
			pooled += w->seen[READS][n].pooled &&
				  w->seen[READS][n].pooled == w->seen[READS][n].given;
			others += !w->seen[READS][n].pooled;
		}
		assert_int_equal(pooled, 500 - 255);
		assert_int_equal(others, 255);
	}
	splitter_quality(w->splitter, true, &q);
	assert_int_equal(q.pooled_workloads, 500 - 255);
	world_free(w);
}

/* As many as the filter takes, one more, one less; with and without one that does nearly nothing. */
static void as_many_as_can_be_estimated(void **state)
{
	static const size_t pooled[2][3] = { { 0, 1, 2 }, { 1, 2, 3 } };
	struct quality q;

	(void)state;
	for (uint32_t small = 0; small <= 1; small++)
		for (uint32_t more = 0; more < 3; more++) {
			struct world *w = world_new(METHOD_STATE_SPACE, 0);

			for (int k = 0; k < 3; k++) {
				add_window(w, 10 * MS, 123456789);
				for (uint32_t n = 1; n <= 255 + more; n++)
					ran(w, n, 1 + draw_below(&d, 10 * MS));
				if (small)
					ran(w, 300, 1);
			}
			world_split(w);
			splitter_quality(w->splitter, true, &q);
			assert_int_equal(q.pooled_workloads, pooled[small][more]);
			world_free(w);
		}
}

/* A counter without data in a window owes nothing there. */
static void counters_take_turns(void **state)
{
	for (uint32_t method = 0; method < NR_METHODS; method++) {
		struct world *w = world_new(method, 0);

		(void)state;
		for (int k = 0; k < 10; k++) {
			add_window(w, 10 * MS, 100);
			w->readings[k][k % 2].running_ns = 0;
			w->readings[k][1 - k % 2].running_ns = 5 * MS;
			w->readings[k][ANY].running_ns = 0;
			ran(w, 1 + k % 2, 10 * MS);
			ran(w, 3, k % 2 ? 1 * MS : 2 * MS);
		}
		world_split(w);
		assert_int_equal(w->seen[READS][1].given, 0);
		assert_int_equal(w->seen[READS][1].high, 0);
		assert_int_equal(w->seen[WRITES][2].high, 0);
		assert_true(w->seen[READS][2].given + w->seen[READS][3].given +
				    w->background[READS] ==
			    500);
		assert_int_equal(w->next[ANY], 0); /* never */
		assert_int_equal(w->seen[ANY][3].high, 0);
		world_free(w);
	}
}

static void sure(struct world *w, uint64_t *low, uint64_t *high)
{
	w->now = 0;
	for (int k = 0; k < 10; k++) {
		add_window(w, 10 * MS, 1000);
		ran(w, 1 + k % 2, 10 * MS);
	}
	world_split(w);
	*low = w->seen[READS][1].low;
	*high = w->seen[READS][1].high;
}

/* Who is missing may have run anywhere. */
static void lost_slices_make_bounds_wider(void **state)
{
	static const struct trace_lost elsewhere[] = {
		{ "windows", 0, 0, 100 * MS, 5 }, /* something else */
		{ "slices", 1, 0, 100 * MS, 5 },  /* the other socket */
		{ "slices", 0, 100 * MS, 200 * MS, 5 },
		{ "slices", 0, 0, 100 * MS, 0 },
	};
	struct trace_lost lost = { "slices", 0, 50 * MS, 60 * MS, 2 };
	uint64_t low, high, before = 5000;

	(void)state;
	for (uint32_t method = 0; method < NR_METHODS; method++) {
		struct world *w = world_new(method, 0);

		for (int i = 0; i < 4; i++)
			splitter_lost(w->splitter, &elsewhere[i]);
		if (method != METHOD_STATE_SPACE) {
			sure(w, &low, &high);
			assert_int_equal(low, 5000);
			assert_int_equal(high, 5000);
		}
		splitter_lost(w->splitter, &lost);
		sure(w, &low, &high);
		assert_true(low < 5000 && high > 5000);
		before = low;
		for (int i = 0; i < 200; i++)
			splitter_lost(w->splitter, &lost); /* more than are kept in mind */
		sure(w, &low, &high);
		assert_true(low < before);
		assert_int_equal(low, 0);
		assert_int_equal(high, 10000);
		world_free(w);
	}
}

/* Whichever call fails: its error comes back, no further call is made, the next block is fine. */
static void errors_of_the_sink_come_back(void **state)
{
	(void)state;
	for (uint32_t method = 0; method < NR_METHODS; method++) {
		struct world *w = world_new(method, 1);
		unsigned int all = 1;

		for (unsigned int fail = 1; fail <= all; fail++) {
			weighed(w, 10 * MS);
			world_split(w);
			all = w->calls;
			w->fail = fail;
			weighed(w, 10 * MS);
			assert_int_equal(world_try(w), -EPIPE);
			assert_int_equal(w->calls, fail);
			w->fail = 0;
		}
		assert_true(all > 20);
		world_free(w);
	}
}

static uint64_t hash_of_a_run(enum method method)
{
	const double intensity[] = { 1, 3, 0.2, 40, 5 };
	struct world *w = world_new(method, 2);
	uint64_t hash;

	d = (struct draw){ 77 };
	for (size_t i = 0; i < draw_times(20, 3); i++) {
		on_off(w, 30, intensity, 5);
		world_split(w);
		random_block(w);
		world_split(w);
	}
	hash = w->hash;
	world_free(w);
	return hash;
}

static void the_same_gives_the_same(void **state)
{
	(void)state;
	for (uint32_t method = 0; method < NR_METHODS; method++)
		assert_true(hash_of_a_run(method) == hash_of_a_run(method));
	assert_true(hash_of_a_run(METHOD_STATE_SPACE) != hash_of_a_run(METHOD_CPU_TIME));
}

/* Bytes and bounds, in the same order: three counters of tasks, of which the second is split aside. */
static void two_threads_give_the_same(void **state)
{
	(void)state;
	for (uint32_t method = 0; method < NR_METHODS; method++) {
		uint64_t hash;

		world_two_threads = false;
		hash = hash_of_a_run(method);
		world_two_threads = true;
		assert_true(hash == hash_of_a_run(method));
		world_two_threads = false;
	}
}

static int with_two_threads(void **state)
{
	(void)state;
	world_two_threads = true;
	return 0;
}

static int with_one_thread(void **state)
{
	(void)state;
	world_two_threads = false;
	return 0;
}

/* As above, beside a second thread */
#define BESIDE(test) cmocka_unit_test_setup_teardown(test, with_two_threads, with_one_thread)

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(random_blocks_are_conserved),
		cmocka_unit_test(alone_in_a_window_owns_all_of_it),
		cmocka_unit_test(nobody_ran),
		cmocka_unit_test(proportional_methods_give_hard_bounds),
		cmocka_unit_test(large_numbers_are_bounded_too),
		cmocka_unit_test(counts_of_zero_say_nothing),
		cmocka_unit_test(intensities_are_found),
		cmocka_unit_test(bars_of_nothing_begin_at_nothing),
		cmocka_unit_test(rows_in_step_name_each_other),
		cmocka_unit_test(weights_decide_where_they_cover),
		cmocka_unit_test(energy_goes_by_cpu_time),
		cmocka_unit_test(one_weight_is_for_both_and_cpu_time_is_not_asked),
		cmocka_unit_test(gaps_of_weights_are_filled),
		cmocka_unit_test(many_workloads_are_pooled),
		cmocka_unit_test(as_many_as_can_be_estimated),
		cmocka_unit_test(counters_take_turns),
		cmocka_unit_test(lost_slices_make_bounds_wider),
		cmocka_unit_test(errors_of_the_sink_come_back),
		cmocka_unit_test(the_same_gives_the_same),
		cmocka_unit_test(two_threads_give_the_same),
		BESIDE(random_blocks_are_conserved),
		BESIDE(rows_in_step_name_each_other),
		BESIDE(weights_decide_where_they_cover),
		BESIDE(no_more_is_written_than_left_a_cache),
		BESIDE(energy_goes_by_cpu_time),
		BESIDE(many_workloads_are_pooled),
		BESIDE(errors_of_the_sink_come_back),
	};

	return cmocka_run_group_tests_name("split", tests, NULL, NULL);
}
