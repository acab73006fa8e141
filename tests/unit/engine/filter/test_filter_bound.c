// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Activity that may be no more than so many bytes. */
#include "filter_sim.h"

#define NR     4
#define BLOCKS 8

static double off_by(const struct sim *s)
{
	double sum = 0;

	for (size_t i = 0; i < s->n; i++)
		sum += fabs(found(s, i) - truth_of(s, i));
	return sum;
}

/*
 * Three workloads give a cache lines several times, which leave it when the first one pushes them
 * out: their bytes move with its activity, and it moves no more than its own count says.
 */
static void pushed_out(struct sim *s, const double *intensity)
{
	random_activity(s, 1);
	for (size_t t = 0; t < s->t; t++)
		for (size_t i = 1; i < s->n; i++)
			matrix_row(&s->x, t)[i] *= 0.1F;
	make_bytes(s, intensity);
	for (size_t i = 1; i < s->n; i++) {
		double all = truth_of(s, i), pushing = 0;

		for (size_t t = 0; t < s->t; t++)
			pushing += matrix_row(&s->x, t)[0];
		for (size_t t = 0; t < s->t; t++) {
			double moved = all * matrix_row(&s->x, t)[0] / pushing;

			s->bytes[t] += moved - s->truth[t][i];
			s->truth[t][i] = moved;
		}
	}
}

/* Bytes in the wrong place, of all that the three have. */
static double error_of(double most)
{
	static const double intensity[NR] = { 64, 8, 10, 12 };
	struct sim *s = sim_new(FILTER_TRAFFIC, 20, NR);
	double off = 0, all = 0;

	s->noise = 0.05;
	s->bound = most;
	for (int b = 0; b < BLOCKS; b++) {
		pushed_out(s, intensity);
		assert_int_equal(run(s), 0);
		check_output(s);
		if (b < BLOCKS / 2)
			continue;
		off += off_by(s);
		for (size_t i = 1; i < s->n; i++)
			all += truth_of(s, i);
	}
	sim_free(s);
	return off / all;
}

/* The first one is not given what it pushed out. */
static void who_pushes_out_has_not_written(void **state)
{
	double without = error_of(0), with = error_of(64);

	(void)state;
	if (without < 0.5 || with > 0.6 * without)
		fail_msg("error %.3f, %.3f without a bound", with, without);
}

/* Where an event is off both ways, an upper bound is not believed, and changes nothing. */
static void an_event_that_is_off_has_no_most(void **state)
{
	static const double intensity[NR] = { 78, 52, 70, 60 };
	struct sim *s[2] = { sim_new(FILTER_TRAFFIC, 100, NR), sim_new(FILTER_TRAFFIC, 100, NR) };

	(void)state;
	s[1]->bound = 64;
	s[0]->noise = s[1]->noise = 0.02;
	for (int b = 0; b < BLOCKS; b++) {
		double by[NR];

		for (int k = 0; k < 2; k++) {
			d = (struct draw){ 7 + b };
			random_activity(s[k], 0.7);
			make_bytes(s[k], intensity);
			assert_int_equal(run(s[k]), 0);
			for (size_t i = 0; i < NR; i++) {
				assert_true(k == 0 || by[i] == found(s[k], i));
				by[i] = found(s[k], i);
			}
		}
	}
	sim_free(s[0]);
	sim_free(s[1]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(who_pushes_out_has_not_written),
		cmocka_unit_test(an_event_that_is_off_has_no_most),
	};

	return cmocka_run_group_tests_name("filter, most", tests, NULL, NULL);
}
