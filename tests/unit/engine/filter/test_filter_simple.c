// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Whether intensities differ, or are the same for everybody. */
#include "filter_sim.h"

#define NR     12
#define BLOCKS 12

/* Bytes in proportion to activity. */
static double in_proportion(const struct sim *s, size_t i)
{
	double sum = 0;

	for (size_t t = 0; t < s->t; t++) {
		double all = 0;

		for (size_t j = 0; j < s->n; j++)
			all += matrix_row(&s->x, t)[j];
		if (all > 0)
			sum += s->bytes[t] * matrix_row(&s->x, t)[i] / all;
	}
	return sum;
}

static double error_of(const struct sim *s, double (*by)(const struct sim *s, size_t i))
{
	double sum = 0, all = 0;

	for (size_t i = 0; i < s->n; i++) {
		sum += fabs(by(s, i) - truth_of(s, i));
		all += truth_of(s, i);
	}
	return sum / all;
}

/*
 * Where all are alike, the result comes near to dividing by activity: an intensity for each has an
 * error ten times as large.
 */
static void the_same_is_noticed(void **state)
{
	static const double intensity[NR] = { 64, 64, 64, 64, 64, 64, 64, 64, 64, 64, 64, 64 };
	struct sim *s = sim_new(FILTER_TRAFFIC, 100, NR);
	double ours = 0, simple = 0;

	(void)state;
	s->noise = 0.02;
	for (int b = 0; b < BLOCKS; b++) {
		blocks(s, intensity, 1);
		if (b < BLOCKS / 2)
			continue;
		ours += error_of(s, found) / BLOCKS;
		simple += error_of(s, in_proportion) / BLOCKS;
	}
	assert_true(s->out->mix < 0.3);
	if (ours > 4 * simple)
		fail_msg("%.4f, in proportion %.4f", ours, simple);
	sim_free(s);
}

/* Where they are not, nothing is taken from those that are intense; nor is CPU time believed. */
static void differences_are_believed(void **state)
{
	static const double by_weight[NR] = { 50, 80, 64, 40, 75, 55, 64, 90, 48, 84, 60, 70 };
	static const double by_time[NR] = { 1, 9, 2, 4, 1, 3, 2, 6, 1, 1, 7, 3 };

	(void)state;
	for (int kind = 0; kind < 2; kind++) {
		struct sim *s = sim_new(kind ? FILTER_TRAFFIC : FILTER_CPU_TIME, 100, NR);

		s->noise = 0.02;
		blocks(s, kind ? by_weight : by_time, 4);
		assert_true(s->out->mix > 0.9);
		assert_true(error_of(s, found) < 0.3 * error_of(s, in_proportion));
		sim_free(s);
	}
}

/* What the two models disagree about is in the errors, as far as both may be right. */
static void doubt_is_in_the_errors(void **state)
{
	static const double intensity[NR] = { 63, 65, 64, 64, 64, 63, 65, 64, 64, 64, 63, 65 };
	struct sim *s = sim_new(FILTER_TRAFFIC, 100, NR);
	size_t seen = 0;

	(void)state;
	s->noise = 0.02;
	for (int b = 0; b < BLOCKS; b++) {
		double part;

		blocks(s, intensity, 1);
		part = s->out->mix;
		if (part < 0.05 || part > 0.95)
			continue;
		seen++;
		for (size_t i = 0; i < NR; i++) {
			double mixed = 0, simple = in_proportion(s, i);

			for (size_t t = 0; t < s->t; t++) {
				double all = s->out->background[t];

				for (size_t j = 0; j < NR; j++)
					all += matrix_row(&s->out->expected, t)[j];
				mixed += matrix_row(&s->out->expected, t)[i] / all * s->bytes[t];
			}
			/* @mixed is off from @simple by @mix of what both differ by */
			assert_true(sd_of(s, i) * 1.001 >=
				    sqrt((1 - part) / part) * fabs(mixed - simple));
		}
	}
	assert_true(seen >= 3);
	sim_free(s);
}

/* The first one moves nearly all, as much as its count says but for a slow swing; bytes follow. */
static void beside_a_large_one(struct sim *s, const double *intensity, int block)
{
	random_activity(s, 0.7);
	for (size_t t = 0; t < s->t; t++)
		matrix_row(&s->x, t)[3] *= 0.01F;
	make_bytes(s, intensity);
	for (size_t t = 0; t < s->t; t++) {
		double more = 0.06 * sin((block * s->t + t) / 15.0) * s->truth[t][0];

		s->truth[t][0] += more;
		s->bytes[t] += more;
	}
}

/*
 * Who moves a hundredth of what another one moves is not judged by what that one does: its weight
 * is right to one percent, and what does not fit the large one is many times that.
 */
static void the_small_one_keeps_its_weight(void **state)
{
	static const double intensity[] = { 64, 45, 85, 64 };
	struct sim *s = sim_new(FILTER_TRAFFIC, 50, 4);
	double off = 0, moved = 0;

	(void)state;
	s->noise = 0.005;
	for (int b = 0; b < BLOCKS; b++) {
		beside_a_large_one(s, intensity, b);
		assert_int_equal(run(s), 0);
		check_output(s);
		off += fabs(found(s, 3) - truth_of(s, 3));
		moved += truth_of(s, 3);
		/* the difference of others is seen all the same */
		assert_true(s->out->mix > 0.9);
	}
	if (off > 0.05 * moved)
		fail_msg("off by %.3f", off / moved);
	sim_free(s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_same_is_noticed),
		cmocka_unit_test(differences_are_believed),
		cmocka_unit_test(doubt_is_in_the_errors),
		cmocka_unit_test(the_small_one_keeps_its_weight),
	};

	return cmocka_run_group_tests_name("filter, same", tests, NULL, NULL);
}
