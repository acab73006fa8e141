// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Workloads that are new beside one that is known: short commands beside a steady program. */
#include <math.h>

#include "filter_sim.h"

#define NEW 8

/* The first one works in every window; the others are new in each block, and run for some windows. */
static void short_ones_run(struct sim *s, int block, size_t windows)
{
	for (size_t i = 1; i < s->n; i++)
		s->workloads[i] = 1000 + block * NEW + i;
	for (size_t t = 0; t < s->t; t++) {
		matrix_row(&s->x, t)[0] = WINDOW_NS * (0.2 + 0.8 * draw_unit(&d));
		for (size_t i = 1; i < s->n; i++) {
			size_t begin = i * s->t / (NEW + 1);
			bool runs = t >= begin && t < begin + windows;

			matrix_row(&s->x, t)[i] =
				runs ? WINDOW_NS * (0.3 + 0.5 * draw_unit(&d)) : 0;
		}
	}
}

static double sum_of_new(const struct sim *s, double (*of)(const struct sim *, size_t))
{
	double sum = 0;

	for (size_t i = 1; i < s->n; i++)
		sum += of(s, i);
	return sum;
}

static double activity_of(const struct sim *s, size_t i)
{
	double sum = 0;

	for (size_t t = 0; t < s->t; t++)
		sum += matrix_row(&s->x, t)[i];
	return sum;
}

/*
 * Bytes that are missing in the first windows of a command are its own, not the steady program's.
 * Nobody is given nothing: a tenth of the mean intensity is as good as that.
 */
static void who_starts_is_not_taken_for_the_mean(void **state)
{
	static const double intensity[NEW + 1] = { 1 };
	struct sim *s = sim_new(FILTER_CPU_TIME, 100, NEW + 1);

	(void)state;
	s->noise = 0.01;
	for (int b = 0; b < 8; b++) {
		double sum, most;

		short_ones_run(s, b, 1);
		make_bytes(s, intensity);
		assert_int_equal(run(s), 0);
		check_output(s);
		sum = sum_of_new(s, found);
		most = 0.1 * sum_of_new(s, activity_of);
		if (b > 1 && sum > most)
			fail_msg("block %d: short ones have %.3g, at most %.3g", b, sum, most);
		if (b > 1 && fabs(found(s, 0) - truth_of(s, 0)) > 1.96 * sd_of(s, 0))
			fail_msg("block %d: %.4g +- %.2g instead of %.4g", b, found(s, 0),
				 1.96 * sd_of(s, 0), truth_of(s, 0));
	}
	sim_free(s);
}

enum {
	STEADY,
	SERVER,
	THREAD,
};

/* In the block in which the server is there, it starts with window 60 and runs for 37. */
static void server_starts(struct sim *s, bool there)
{
	s->n = there ? 3 : 1;
	assert_int_equal(matrix_shape(&s->x, s->t, s->n), 0);
	for (size_t t = 0; t < s->t; t++) {
		bool starts = t == 60 || t == 61, runs = t >= 60 && t < 97;
		float *x = matrix_row(&s->x, t);

		x[STEADY] = 0.1 * WINDOW_NS * draw_unit(&d);
		s->bytes[t] = s->truth[t][STEADY] = 0.2 * x[STEADY];
		if (!there)
			continue;
		x[SERVER] = runs ? 0.8 * WINDOW_NS : 0;
		x[THREAD] = starts ? 0.01 * WINDOW_NS : 0;
		s->truth[t][SERVER] = starts ? 0.3 * WINDOW_NS : 1e-3 * x[SERVER];
		s->bytes[t] += s->truth[t][SERVER];
	}
}

/*
 * Nearly all that a server moves is in two windows of its start. A kernel thread that works for it
 * runs a little in just these two. That it moves more in its time than anybody has been seen to
 * move is not the likeliest explanation.
 */
static void who_runs_beside_a_start_is_not_taken_for_it(void **state)
{
	struct sim *s = sim_new(FILTER_CPU_TIME, 100, 3);
	double all;

	(void)state;
	for (int b = 0; b < 6; b++) {
		server_starts(s, b == 5);
		assert_int_equal(run(s), 0);
		check_output(s);
	}
	all = truth_of(s, SERVER);
	if (found(s, THREAD) > 0.1 * all || found(s, THREAD) > 1.96 * sd_of(s, THREAD))
		fail_msg("the thread has %.3g +- %.2g, the server moved %.3g", found(s, THREAD),
			 1.96 * sd_of(s, THREAD), all);
	if (fabs(found(s, SERVER) - all) > 1.96 * sd_of(s, SERVER))
		fail_msg("the server has %.3g +- %.2g instead of %.3g", found(s, SERVER),
			 1.96 * sd_of(s, SERVER), all);
	sim_free(s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(who_starts_is_not_taken_for_the_mean),
		cmocka_unit_test(who_runs_beside_a_start_is_not_taken_for_it),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
