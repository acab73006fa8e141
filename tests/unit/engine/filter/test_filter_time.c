// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Traffic that is not counted when the work is done. */
#include "filter_sim.h"

/* What comes in the next window: its share, and whose it is. */
static void lag_is_found(void **state)
{
	static const double intensity[] = { 1, 2, 3 };

	(void)state;
	for (int with = 0; with <= 1; with++) {
		struct sim *s = sim_new(FILTER_CPU_TIME, 60, 3);
		double carried = 0, before = 0;

		s->lag[0] = with * 0.2;
		s->noise = 0.01;
		blocks(s, intensity, 12);
		for (size_t t = 1; t < s->t; t++)
			for (size_t i = 0; i < 3; i++) {
				carried += matrix_row(&s->out->carried, t)[i];
				before += s->truth[t - 1][i];
			}
		/* at most: with what is not sure about it */
		if (with)
			assert_true(carried > 0.18 * before && carried < 0.32 * before);
		else
			assert_true(carried > 0.01 * before && carried < 0.1 * before);
		if (with)
			for (size_t i = 0; i < 3; i++)
				is_about(found(s, i), truth_of(s, i), 0.15);
		sim_free(s);
	}
}

/* Traffic that comes one and a half windows later is right within the first block. */
static void a_long_lag_is_found_at_once(void **state)
{
	static const double intensity[] = { 1, 1.3, 0.8, 1.1 };

	(void)state;
	for (enum filter_kind kind = FILTER_CPU_TIME; kind <= FILTER_TRAFFIC; kind++) {
		struct sim *s = sim_new(kind, 100, 4);

		s->lag[0] = 0.57;
		s->lag[1] = 0.07;
		s->noise = 0.02;
		for (int b = 0; b < 3; b++) {
			blocks(s, intensity, 1);
			for (size_t i = 0; i < 4; i++)
				is_about(found(s, i), truth_of(s, i), 0.08);
		}
		sim_free(s);
	}
}

/*
 * All work in the same windows for as long, each at some moment of its own, and their traffic is
 * spread over a window behind that. So the later it was, the more of it is in the next window.
 */
static void work_at_moments(struct sim *s, const double *intensity)
{
	for (size_t t = 0; t < s->t; t++) {
		double x = draw_unit(&d) < 0.5 ? WINDOW_NS * (0.2 + 0.8 * draw_unit(&d)) : 0;

		s->bytes[t] = 0;
		for (size_t i = 0; i < s->n; i++) {
			double place = 0.9 * (draw_unit(&d) - 0.5), bytes = intensity[i] * x;

			matrix_row(&s->x, t)[i] = x;
			if (s->within.rows)
				matrix_row(&s->within, t)[i] = x * place;
			s->truth[t][i] = bytes;
			s->bytes[t] += bytes * (0.5 - place) + s->last[0][i];
			s->last[0][i] = bytes * (0.5 + place);
		}
		s->bytes[t] *= 1 + s->noise * draw_normal(&d);
	}
}

/* Where in the windows they work is all that tells them apart. */
static void moments_within_windows_tell(void **state)
{
	static const double intensity[] = { 1, 4, 1 };

	(void)state;
	for (int told = 0; told <= 1; told++) {
		struct sim *s = sim_new(FILTER_CPU_TIME, 100, 3);
		double off = 0, all = 0;

		s->noise = 0.01;
		if (told)
			assert_int_equal(matrix_shape(&s->within, s->t, s->n), 0);
		for (int b = 0; b < 5; b++) {
			work_at_moments(s, intensity);
			assert_int_equal(run(s), 0);
			check_output(s);
		}
		for (size_t i = 0; i < 3; i++) {
			off += fabs(found(s, i) - truth_of(s, i));
			all += truth_of(s, i);
			assert_true(told == !matrix_row(&s->out->alike, 0)[i] || i == 0);
		}
		assert_true(told ? off < 0.1 * all : off > 0.5 * all);
		sim_free(s);
	}
}

/* Bytes that are counted in a window beside their own; none are lost. */
static void move_bytes(struct sim *s, double part)
{
	double last = 0;

	for (size_t t = 0; t < s->t; t++) {
		double next = t + 1 < s->t ? part * s->bytes[t] * draw_normal(&d) : 0;

		next = fmin(next, 0.9 * (s->bytes[t] + last));
		s->bytes[t] += last - next;
		last = next;
	}
}

/*
 * Slices that are longer than windows do not say in which of them what happened. Windows differ by
 * much then, their sums do not, and equal intensities must not be learned to be others.
 */
static void activity_that_is_early_or_late_teaches_nothing(void **state)
{
	static const double intensity[] = { 1, 1, 1, 1, 1, 1 };
	struct sim *s = sim_new(FILTER_TRAFFIC, 100, 6);
	double off = 0, all = 0;

	(void)state;
	s->noise = 0.005;
	for (int b = 0; b < 10; b++) {
		random_activity(s, 0.4);
		make_bytes(s, intensity);
		move_bytes(s, 0.4);
		assert_int_equal(run(s), 0);
		check_output(s);
		/* The first ones teach how much it is. */
		for (size_t i = 0; i < 6 && b >= 3; i++) {
			off += fabs(found(s, i) - truth_of(s, i));
			all += truth_of(s, i);
		}
	}
	assert_true(off < 0.1 * all);
	sim_free(s);
}

/* A workload that stopped at the end of a block: its late bytes are in the next one. */
static void lag_reaches_into_the_next_block(void **state)
{
	static const double intensity[] = { 1, 5 };
	struct sim *s = sim_new(FILTER_CPU_TIME, 60, 2);

	(void)state;
	s->lag[0] = 0.2;
	blocks(s, intensity, 8);
	random_activity(s, 0.5);
	matrix_row(&s->x, s->t - 1)[1] = WINDOW_NS;
	make_bytes(s, intensity);
	assert_int_equal(run(s), 0);
	s->n = 1; /* the other one is gone */
	s->t = 2;
	assert_int_equal(matrix_shape(&s->x, s->t, 1), 0);
	random_activity(s, 1);
	make_bytes(s, intensity);
	s->bytes[0] += s->lag[0] * 5 * WINDOW_NS;
	assert_int_equal(run(s), 0);
	check_output(s);
	assert_true(s->out->carried_in[0] > 0.5 * s->lag[0] * 5 * WINDOW_NS);
	is_about(found(s, 0), truth_of(s, 0), 0.012);
	sim_free(s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(lag_is_found),
		cmocka_unit_test(a_long_lag_is_found_at_once),
		cmocka_unit_test(moments_within_windows_tell),
		cmocka_unit_test(activity_that_is_early_or_late_teaches_nothing),
		cmocka_unit_test(lag_reaches_into_the_next_block),
	};

	return cmocka_run_group_tests_name("filter, time", tests, NULL, NULL);
}
