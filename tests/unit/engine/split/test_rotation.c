// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>
#include <math.h>
#include <stdio.h>

#include "engine/split/rotation.h"
#include "random.h"

static void window(struct rotation *r, uint64_t enabled, uint64_t running, uint64_t read)
{
	const uint64_t bytes[2] = { read, 2 * read };

	rotation_window(r, enabled, running, bytes);
}

static void no_doubt_when_it_counted_all_the_time(void **state)
{
	struct rotation r = { 0 };

	(void)state;
	assert_true(rotation_doubt(&r, ROTATION_BOTH) == 0);
	window(&r, 0, 0, 0); /* could not be read */
	assert_false(r.any);
	for (int i = 0; i < 10; i++)
		window(&r, 10, 10, 1000 * i);
	rotation_end(&r);
	assert_int_equal(r.turns, 1);
	assert_int_equal(r.samples, 1);
	assert_true(rotation_doubt(&r, 0) == 0);
}

/* Turns of two windows each; the hand-made formulas are those of any book on sampling. */
static void doubt_is_that_of_drawing_turns(void **state)
{
	const uint64_t seen[] = { 100, 140, 90 };
	struct rotation r = { 0 };
	double mean = 110, var = 0, expected;

	(void)state;
	for (int i = 0; i < 3; i++) {
		window(&r, 10, 10, seen[i] / 2);
		window(&r, 10, 10, seen[i] / 2);
		for (int k = 0; k < 6; k++)
			window(&r, 10, 0, 0);
		var += (seen[i] - mean) * (seen[i] - mean) / 2;
	}
	rotation_end(&r);
	assert_int_equal(r.turns, 3);
	assert_int_equal(r.samples, 3);
	assert_int_equal(r.enabled_ns, 240);
	assert_int_equal(r.running_ns, 60);
	/* 3 of 12 turns: N^2 (1 - n / N) s^2 / n */
	expected = 4.303 * sqrt(144 * 0.75 * var / 3);
	assert_true(fabs(rotation_doubt(&r, 0) - expected) < 1e-6 * expected);
	assert_true(fabs(rotation_doubt(&r, 1) - 2 * expected) < 1e-6 * expected);
	assert_true(fabs(rotation_doubt(&r, ROTATION_BOTH) - 3 * expected) < 1e-6 * expected);
}

/* One turn says nothing of others, however even it was. */
static void one_turn_may_be_the_only_lump(void **state)
{
	struct rotation r = { 0 };

	(void)state;
	window(&r, 10, 10, 50);
	window(&r, 10, 10, 50);
	window(&r, 10, 0, 0);
	window(&r, 10, 0, 0);
	rotation_end(&r);
	assert_true(fabs(rotation_doubt(&r, 0) - 1.96 * sqrt(2) * 100) < 1e-9);
}

/* Putting events on takes time that is called running time: always on the same side. */
static void begins_of_turns_are_in_doubt(void **state)
{
	struct rotation r = { 0 }, always = { 0 };

	(void)state;
	for (int i = 0; i < 10; i++) {
		window(&r, 50000000, 50000000, 1000000);
		window(&r, 150000000, 0, 0);
		window(&always, 50000000, 50000000, 1000000);
	}
	rotation_end(&r);
	rotation_end(&always);
	/* 0.3 ms of 50 ms, of what the scaled sum is */
	assert_true(fabs(rotation_edges(&r, 0) - 40000000 * 0.006) < 1);
	assert_true(rotation_edges(&always, 0) == 0);
	r = (struct rotation){ 0 };
	for (int i = 0; i < 10; i++) {
		window(&r, 1000, 1000, 10000);
		window(&r, 1000, 0, 0);
	}
	rotation_end(&r);
	assert_true(fabs(rotation_edges(&r, 0) - 200000 * 0.01) < 1);
}

/* Counters that went on lose what passes while turns of others end and begin. */
static void turns_stop_what_is_beside_them(void **state)
{
	struct rotation always = { 0 };

	(void)state;
	assert_true(rotation_stopped(&always, 3, 1000000) == 0);
	for (int i = 0; i < 10; i++)
		window(&always, 100000000, 100000000, 1000000);
	rotation_end(&always);
	/* 0.3 ms twice for each of ten, of a second; no longer than there was between them */
	assert_true(fabs(rotation_stopped(&always, 10, 500000000) - 0.006) < 1e-9);
	assert_true(fabs(rotation_stopped(&always, 10, 2000000) - 0.002) < 1e-9);
	assert_true(rotation_stopped(&always, 0, 500000000) == 0);
}

/* Each window in which the kernel took the counters away is a look of its own. */
static void shared_windows_are_samples(void **state)
{
	struct rotation r = { 0 };

	(void)state;
	for (int i = 0; i < 50; i++)
		window(&r, 10, 5, 100);
	rotation_end(&r);
	assert_int_equal(r.turns, 1);
	assert_int_equal(r.samples, 50);
	assert_true(rotation_doubt(&r, 0) < 1e-3);
}

static void a_turn_goes_on_in_the_next_interval(void **state)
{
	struct rotation total = { 0 }, part = { 0 }, idle = { 0 };

	(void)state;
	for (int i = 0; i < 3; i++) {
		part = (struct rotation){ 0 };
		window(&part, 10, 10, 7);
		rotation_end(&part);
		rotation_add(&total, &part);
		rotation_add(&total, &(struct rotation){ 0 }); /* an interval without a reading */
	}
	assert_int_equal(total.turns, 1);
	window(&idle, 10, 0, 0);
	rotation_end(&idle);
	rotation_add(&total, &idle);
	rotation_add(&total, &part);
	assert_int_equal(total.turns, 2);
	assert_int_equal(total.running_ns, 40);
	assert_int_equal(total.enabled_ns, 50);
}

/* A device in one window of 1 ms: @kind 0 is even, 1 is noisy, 2 comes in bursts. */
static uint64_t traffic(struct draw *d, int kind, int *burst)
{
	if (kind == 0)
		return 100000;
	if (kind == 1)
		return fmax(100000 + 50000 * draw_normal(d), 0);
	if (*burst)
		--*burst;
	else if (draw_below(d, 20) == 0)
		*burst = draw_below(d, 30);
	return *burst ? 400000 : 1000;
}

/* How many of 100 intervals of a second hold the truth, with 4 devices in turns of 20 ms. */
static void intervals_hold_the_truth(void **state)
{
	static const char *const names[] = { "even", "noisy", "in bursts" };
	static const size_t least[] = { 100, 94, 90 };
	size_t runs = draw_times(1000, 100);

	(void)state;
	for (int kind = 0; kind < 3; kind++) {
		struct draw d = { 77 + kind };
		double width = 0;
		size_t hits = 0;

		for (size_t run = 0; run < runs; run++) {
			struct rotation r = { 0 };
			double truth = 0, value, doubt;
			uint64_t seen = 0;
			int burst = 0, mine = draw_below(&d, 4);

			for (int ms = 0; ms < 1000; ms++) {
				uint64_t b = traffic(&d, kind, &burst);
				bool turn = ms / 20 % 4 == mine;

				truth += b;
				seen += turn ? b : 0;
				window(&r, 1000000, turn ? 1000000 : 0, turn ? b : 0);
			}
			rotation_end(&r);
			value = (double)seen * r.enabled_ns / r.running_ns;
			doubt = rotation_doubt(&r, 0);
			hits += fabs(value - truth) <= doubt + 1;
			width += doubt / truth;
		}
		print_message("# %s: %.1f%% of %zu intervals hold the truth, half width %.1f%%\n",
			      names[kind], 100.0 * hits / runs, runs, 100 * width / runs);
		assert_true(100 * hits >= least[kind] * runs);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(no_doubt_when_it_counted_all_the_time),
		cmocka_unit_test(doubt_is_that_of_drawing_turns),
		cmocka_unit_test(one_turn_may_be_the_only_lump),
		cmocka_unit_test(begins_of_turns_are_in_doubt),
		cmocka_unit_test(turns_stop_what_is_beside_them),
		cmocka_unit_test(shared_windows_are_samples),
		cmocka_unit_test(a_turn_goes_on_in_the_next_interval),
		cmocka_unit_test(intervals_hold_the_truth),
	};

	return cmocka_run_group_tests_name("rotation", tests, NULL, NULL);
}
