// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include <errno.h>

#include "filter_sim.h"

static void intensities_are_found(void **state)
{
	static const double intensity[] = { 0.2, 2, 6 };

	(void)state;
	for (size_t n = 2; n <= 3; n++) {
		struct sim *s = sim_new(FILTER_CPU_TIME, 60, n);

		blocks(s, intensity, 3);
		for (size_t i = 0; i < n; i++)
			is_about(found(s, i), truth_of(s, i), 0.02 + (i ? 0 : 0.15));
		sim_free(s);
	}
}

/* Counts are nearly right as they are; a difference of some ten percent is found all the same. */
static void counts_are_corrected(void **state)
{
	static const double intensity[] = { 55, 64, 80 };
	struct sim *s = sim_new(FILTER_TRAFFIC, 60, 3);

	(void)state;
	blocks(s, intensity, 3);
	for (size_t i = 0; i < 3; i++)
		is_about(found(s, i), truth_of(s, i), 0.02);
	sim_free(s);
}

/* The truth lies within the bounds about as often as they promise. */
static void errors_are_as_large_as_told(void **state)
{
	size_t rounds = draw_times(60, 4), inside = 0, all = 0;
	struct draw own = { 99 };

	(void)state;
	for (size_t r = 0; r < rounds; r++) {
		double intensity[5];
		struct sim *s = sim_new(FILTER_CPU_TIME, 50, 5);

		for (size_t i = 0; i < 5; i++)
			intensity[i] = exp(0.8 * draw_normal(&own));
		s->noise = 0.03;
		d = (struct draw){ draw_u64(&own) | 1 };
		for (int b = 0; b < 4; b++) {
			blocks(s, intensity, 1);
			for (size_t i = 0; i < 5; i++, all++)
				inside += fabs(found(s, i) - truth_of(s, i)) <= 1.96 * sd_of(s, i);
		}
		sim_free(s);
	}
	if (inside < all * 0.9)
		fail_msg("%zu of %zu", inside, all);
}

/*
 * One workload moves most of the bytes, and its count is too small: so the mean intensity is too
 * large for all others. They are shown too much, all of them; their bars know of it.
 */
static void the_mean_is_doubted(void **state)
{
	double intensity[13] = { 84 };
	struct sim *s = sim_new(FILTER_TRAFFIC, 100, 13);
	double sum = 0, truth = 0, variance = 0;
	size_t inside = 0;

	(void)state;
	for (size_t i = 1; i < s->n; i++)
		intensity[i] = 56;
	s->noise = 0.03;
	random_activity(s, 0.97);
	for (size_t t = 0; t < s->t; t++)
		matrix_row(&s->x, t)[0] *= 200;
	make_bytes(s, intensity);
	assert_int_equal(run(s), 0);
	check_output(s);
	for (size_t i = 1; i < s->n; i++) {
		sum += found(s, i);
		truth += truth_of(s, i);
		inside += fabs(found(s, i) - truth_of(s, i)) <= 1.96 * sd_of(s, i);
		for (size_t j = 1; j < s->n; j++)
			variance += matrix_row(&s->out->covariance, i)[j];
	}
	assert_true(sum > 1.1 * truth);
	assert_int_equal(inside, s->n - 1);
	/* They are off together, so it does not cancel in their sum. */
	if (sum - truth > 1.96 * sqrt(variance))
		fail_msg("%.3g too much, +- %.3g", sum - truth, 1.96 * sqrt(variance));
	sim_free(s);
}

static void only_those_in_step_are_alike(void **state)
{
	static const double intensity[] = { 1, 4, 2, 3 };
	struct sim *s = sim_new(FILTER_CPU_TIME, 60, 4);

	(void)state;
	for (int b = 0; b < 3; b++) {
		random_activity(s, 0.6);
		for (size_t t = 0; t < s->t; t++)
			matrix_row(&s->x, t)[2] = 0.5f * matrix_row(&s->x, t)[0];
		make_bytes(s, intensity);
		assert_int_equal(run(s), 0);
		check_output(s);
		for (size_t i = 0; i < 4; i++)
			for (size_t j = 0; j < 4; j++)
				assert_int_equal(matrix_row(&s->out->alike, i)[j],
						 (i == 0 && j == 2) || (i == 2 && j == 0));
		/* both together are known all the same */
		is_about(found(s, 0) + found(s, 2), truth_of(s, 0) + truth_of(s, 2), 0.03);
	}
	/* what was learned while they were not in step stays known */
	blocks(s, intensity, 2);
	random_activity(s, 0.6);
	for (size_t t = 0; t < s->t; t++)
		matrix_row(&s->x, t)[2] = matrix_row(&s->x, t)[0];
	make_bytes(s, intensity);
	assert_int_equal(run(s), 0);
	assert_true(matrix_row(&s->out->alike, 0)[2] == 0);
	is_about(found(s, 0), truth_of(s, 0), 0.1);
	sim_free(s);
}

static void a_background_is_found(void **state)
{
	static const double intensity[] = { 1, 2, 3 };

	(void)state;
	for (int with = 0; with <= 1; with++) {
		struct sim *s = sim_new(FILTER_CPU_TIME, 60, 3);

		s->background = with * 0.3 * WINDOW_NS * 6;
		s->noise = 0.01;
		for (int b = 0; b < 8; b++)
			blocks(s, intensity, 1);
		if (with)
			is_about(background(s), s->background * s->t, 0.15);
		else
			assert_true(background(s) < 0.02 * WINDOW_NS * 6 * s->t);
		sim_free(s);
	}
}

static void nothing_to_learn_from(void **state)
{
	static const double intensity[] = { 0.2, 2 };
	struct sim *s = sim_new(FILTER_CPU_TIME, 60, 2);
	const struct filter_output *before;

	(void)state;
	memset(s->bytes, 0, sizeof(s->bytes));
	random_activity(s, 0.5);
	before = s->out;
	assert_int_equal(run(s), -ENODATA); /* at the very beginning */
	assert_ptr_equal(s->out, before);
	blocks(s, intensity, 2);
	memset(s->bytes, 0, sizeof(s->bytes));
	assert_int_equal(run(s), -ENODATA);
	matrix_shape(&s->x, s->t, s->n);
	for (size_t t = 0; t < s->t; t++)
		s->bytes[t] = 1000;
	assert_int_equal(run(s), -ENODATA); /* nobody did anything */
	blocks(s, intensity, 1);
	is_about(found(s, 1), truth_of(s, 1), 0.02);
	/* and what is not a number */
	s->bytes[3] = NAN;
	assert_int_equal(run(s), -ENODATA);
	s->bytes[3] = INFINITY;
	assert_int_equal(run(s), -ENODATA);
	blocks(s, intensity, 2);
	is_about(found(s, 1), truth_of(s, 1), 0.02);
	s->t = 0;
	assert_int_equal(run(s), -EINVAL);
	s->t = FILTER_MAX_WINDOWS + 1;
	assert_int_equal(run(s), -EINVAL);
	s->t = 1;
	s->n = 0;
	assert_int_equal(run(s), -EINVAL);
	s->n = FILTER_MAX_WORKLOADS + 1;
	assert_int_equal(run(s), -EINVAL);
	sim_free(s);
}

/* Sizes and scales that no machine has: the answer may be poor, but is made of numbers. */
static void extremes(enum filter_kind kind, size_t t, size_t n, double bytes, double activity)
{
	static const double none[FILTER_MAX_WORKLOADS];
	struct sim *s = sim_new(kind, t, n);
	double sum = 0;

	for (int b = 0; b < 3; b++) {
		int err;

		random_activity(s, 0.3);
		make_bytes(s, none);
		for (size_t k = 0; k < t; k++) {
			s->bytes[k] = draw_below(&d, 3) ? bytes * draw_unit(&d) : 0;
			s->ratio[k] = draw_below(&d, 3) ? 1 : 1e-6;
			matrix_row(&s->x, k)[0] = 0; /* one that did nothing */
			for (size_t i = 0; i < n; i++)
				matrix_row(&s->x, k)[i] *= activity / WINDOW_NS;
		}
		err = run(s);
		if (err)
			assert_int_equal(err, -ENODATA);
		else
			check_output(s);
	}
	/* and afterwards it works as ever */
	memset(s->last, 0, sizeof(s->last));
	for (size_t k = 0; k < t; k++) {
		s->ratio[k] = 1;
		s->bytes[k] = 0;
		for (size_t i = 0; i < n; i++) {
			matrix_row(&s->x, k)[i] = WINDOW_NS * (1 + draw_unit(&d));
			s->bytes[k] += matrix_row(&s->x, k)[i];
		}
		sum += s->bytes[k];
	}
	for (int b = 0; b < 4; b++)
		if (!run(s))
			check_output(s);
	assert_int_equal(run(s), 0);
	check_output(s);
	for (size_t i = 0; i < n; i++)
		sum -= found(s, i);
	assert_true(isfinite(sum));
	sim_free(s);
}

static void hostile_numbers(void **state)
{
	static const double scales[] = { 1, 64, 1e9, 1e18, 1.8e19 };
	static const double activities[] = { 1, WINDOW_NS, 1e13, 1e18 };

	(void)state;
	for (int kind = 0; kind < NR_FILTER_KINDS; kind++)
		for (size_t i = 0; i < sizeof(scales) / sizeof(scales[0]); i++)
			for (size_t k = 0; k < sizeof(activities) / sizeof(activities[0]); k++) {
				extremes(kind, 20, 5, scales[i], activities[k]);
				extremes(kind, 1, 1, scales[i], activities[k]);
				extremes(kind, 1, 9, scales[i], activities[k]);
				extremes(kind, 30, 1, scales[i], activities[k]);
			}
	extremes(FILTER_CPU_TIME, draw_times(FILTER_MAX_WINDOWS, 20),
		 draw_times(FILTER_MAX_WORKLOADS, 30), 1e9, WINDOW_NS);
}

/* Who comes back within a minute is known; who comes in place of another is not. */
static void workloads_come_and_go(void **state)
{
	static const double intensity[] = { 3, 8, 2 };
	struct sim *s = sim_new(FILTER_CPU_TIME, 60, 3);

	(void)state;
	s->noise = 0.01;
	blocks(s, intensity, 4);
	s->n = 1;
	assert_int_equal(matrix_shape(&s->x, s->t, 1), 0);
	blocks(s, intensity, 5); /* 3 s: both are parked */
	s->n = 3;
	s->t = 2; /* too little to learn it again */
	assert_int_equal(matrix_shape(&s->x, s->t, 3), 0);
	for (size_t i = 0; i < 3; i++)
		matrix_row(&s->x, 0)[i] = matrix_row(&s->x, 1)[i] = WINDOW_NS;
	make_bytes(s, intensity);
	assert_int_equal(run(s), 0);
	check_output(s);
	is_about(found(s, 1), truth_of(s, 1), 0.25);
	assert_true(matrix_row(&s->out->alike, 1)[2] == 0);
	/* the numbers are others' now: of those that are quiet, and of those that are not */
	filter_forget(s->filter, s->workloads[1]);
	filter_forget(s->filter, s->workloads[2]);
	filter_forget(s->filter, 4711);
	assert_int_equal(run(s), 0);
	check_output(s);
	assert_true(matrix_row(&s->out->alike, 1)[2] == 1);
	is_about(found(s, 1), found(s, 2), 0.02);
	sim_free(s);
}

/* Two come back at once: only what was known of them before can tell them apart. */
static void forgotten_while_parked(void **state)
{
	static const double intensity[] = { 1, 8, 3 };
	double found_again[2];

	(void)state;
	for (int forget = 0; forget <= 1; forget++) {
		struct sim *s = sim_new(FILTER_CPU_TIME, 60, 3);

		blocks(s, intensity, 4);
		s->n = 1;
		assert_int_equal(matrix_shape(&s->x, s->t, 1), 0);
		blocks(s, intensity, 5);
		for (int i = 1; forget && i <= 2; i++)
			filter_forget(s->filter, s->workloads[i]);
		s->n = 3;
		s->t = 1;
		assert_int_equal(matrix_shape(&s->x, 1, 3), 0);
		for (int i = 0; i < 3; i++)
			matrix_row(&s->x, 0)[i] = WINDOW_NS;
		make_bytes(s, intensity);
		assert_int_equal(run(s), 0);
		found_again[forget] = sd_of(s, 1) / found(s, 1);
		sim_free(s);
	}
	assert_true(found_again[1] > 1.5 * found_again[0]);
}

/* New numbers in every block, thousands of them: places to park end, and nothing else. */
static void many_come_once(void **state)
{
	struct sim *s = sim_new(FILTER_CPU_TIME, 4, 50);
	size_t nr = draw_times(150, 10);
	double intensity[50];

	(void)state;
	for (size_t i = 0; i < 50; i++)
		intensity[i] = 1 + i % 3;
	for (size_t b = 0; b < nr; b++) {
		for (size_t i = 0; i < 50; i++)
			s->workloads[i] = 100 + 50 * b + i;
		blocks(s, intensity, 1);
	}
	sim_free(s);
}

static void the_same_gives_the_same(void **state)
{
	static const double intensity[] = { 1, 8, 2, 0.1, 3 };
	struct sim *a = sim_new(FILTER_CPU_TIME, 60, 5), *b = sim_new(FILTER_CPU_TIME, 60, 5);

	(void)state;
	a->noise = b->noise = 0.05;
	for (int i = 0; i < 4; i++) {
		struct draw from = { 31 + i };

		d = from;
		blocks(a, intensity, 1);
		d = from;
		blocks(b, intensity, 1);
		assert_memory_equal(a->out->expected.v, b->out->expected.v,
				    a->out->expected.rows * a->out->expected.ld * sizeof(float));
		assert_memory_equal(a->out->covariance.v, b->out->covariance.v,
				    a->out->covariance.rows * a->out->covariance.ld *
					    sizeof(float));
		assert_memory_equal(a->out->background, b->out->background, 60 * sizeof(double));
		assert_true(a->out->noise == b->out->noise);
	}
	sim_free(a);
	sim_free(b);
}

/* Who works in the same room in between, on more or on less, leaves nothing behind. */
static void a_shared_room_changes_nothing(void **state)
{
	static const double intensity[] = { 1, 8, 2, 0.1, 3, 5, 7 };
	struct sim *alone = sim_new(FILTER_CPU_TIME, 60, 5), *a = sim_new(FILTER_CPU_TIME, 60, 5);
	struct sim *guest = sim_new(FILTER_TRAFFIC, 90, 7);
	const struct filter_output *x, *y;

	(void)state;
	filter_free(guest->filter);
	assert_int_equal(filter_new(FILTER_TRAFFIC, a->workspace, &guest->filter), 0);
	for (int i = 0; i < 4; i++) {
		struct draw from = { 71 + i };

		d = from;
		blocks(alone, intensity, 1);
		guest->t = i % 2 ? 20 : 90;
		blocks(guest, intensity, 1);
		d = from;
		blocks(a, intensity, 1);
		x = alone->out;
		y = a->out;
		assert_memory_equal(x->expected.v, y->expected.v,
				    x->expected.rows * x->expected.ld * sizeof(float));
		assert_memory_equal(x->carried.v, y->carried.v,
				    x->carried.rows * x->carried.ld * sizeof(float));
		assert_memory_equal(x->covariance.v, y->covariance.v,
				    x->covariance.rows * x->covariance.ld * sizeof(float));
		assert_memory_equal(x->alike.v, y->alike.v,
				    x->alike.rows * x->alike.ld * sizeof(float));
		assert_memory_equal(x->background, y->background, 60 * sizeof(double));
		assert_true(x->noise == y->noise && x->carried_in[0] == y->carried_in[0]);
	}
	sim_free(guest);
	sim_free(alone);
	sim_free(a);
}

/* Doing different things is different, however little is known of either. */
static void strangers_are_not_alike(void **state)
{
	static const float busy[][3] = { { 1, 0.5, 0.9 }, { 0.5, 1, 0.8 } };
	struct sim *s = sim_new(FILTER_CPU_TIME, 2, 3);

	(void)state;
	for (size_t t = 0; t < 2; t++) {
		s->bytes[t] = 3 * WINDOW_NS;
		for (size_t i = 0; i < 3; i++)
			matrix_row(&s->x, t)[i] = WINDOW_NS * busy[t][i];
	}
	assert_int_equal(run(s), 0);
	check_output(s);
	for (size_t i = 0; i < 3; i++)
		for (size_t j = 0; j < 3; j++)
			assert_true(matrix_row(&s->out->alike, i)[j] == 0);
	sim_free(s);
}

/* The counter's own noise is learned, up and down. */
static void noise_is_learned(void **state)
{
	static const double intensity[] = { 1, 2, 3 };

	(void)state;
	for (int loud = 0; loud <= 1; loud++) {
		struct sim *s = sim_new(FILTER_CPU_TIME, 60, 3);

		s->noise = loud ? 0.15 : 0.004;
		blocks(s, intensity, 25);
		if (loud)
			assert_true(s->out->noise > 0.1 && s->out->noise < 0.3);
		else
			assert_true(s->out->noise < 0.02);
		sim_free(s);
	}
}

/* Ran, and moved nothing: the others' bytes stay theirs. */
static void some_move_nothing(void **state)
{
	static const double intensity[] = { 0, 4, 2, 0 };
	struct sim *s = sim_new(FILTER_CPU_TIME, 60, 4);

	(void)state;
	s->noise = 0.02;
	for (int b = 0; b < 4; b++) {
		blocks(s, intensity, 1);
		assert_true(found(s, 0) + found(s, 3) < 0.05 * truth_of(s, 1));
		if (b)
			is_about(found(s, 1), truth_of(s, 1), 0.05);
	}
	sim_free(s);
}

/* Little data, much noise: what nobody can have given back is not given to the others twice. */
static void expected_bytes_add_up(void **state)
{
	static const double intensity[] = { 0, 0, 0, 3, 3, 3 };
	const size_t rounds = 60;
	double mean = 0, square = 0;
	struct draw own = { 99 };

	(void)state;
	for (size_t r = 0; r < rounds; r++) {
		struct sim *s = sim_new(FILTER_CPU_TIME, 12, 6);
		double bytes = 0, off;

		s->noise = 0.1;
		d = (struct draw){ draw_u64(&own) | 1 };
		blocks(s, intensity, 1);
		off = background(s);
		for (size_t i = 0; i < 6; i++)
			off += found(s, i);
		for (size_t t = 0; t < s->t; t++)
			bytes += s->bytes[t];
		off = off / bytes - 1;
		mean += off / rounds;
		square += off * off / rounds;
		sim_free(s);
	}
	/* Three of six have nothing, which is not below 0, and all have just started. */
	assert_true(fabs(mean) < 0.05);
	assert_true(square < 0.06 * 0.06);
}

/* One window with ten times the bytes, which nobody's activity explains. */
static void an_outlier_stays_alone(void **state)
{
	static const double intensity[] = { 1, 2, 3 };
	struct sim *s = sim_new(FILTER_CPU_TIME, 60, 3);

	(void)state;
	s->noise = 0.01;
	blocks(s, intensity, 3);
	random_activity(s, 0.5);
	make_bytes(s, intensity);
	for (size_t i = 0; i < 3; i++)
		matrix_row(&s->x, 30)[i] = s->truth[30][i] = 0;
	matrix_row(&s->x, 30)[0] = WINDOW_NS;
	s->truth[30][0] = WINDOW_NS;
	s->bytes[30] = 30 * WINDOW_NS;
	assert_int_equal(run(s), 0);
	check_output(s);
	for (size_t i = 0; i < 3; i++)
		is_about(found(s, i), truth_of(s, i), 0.02);
	blocks(s, intensity, 1);
	for (size_t i = 0; i < 3; i++)
		is_about(found(s, i), truth_of(s, i), 0.02);
	sim_free(s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(intensities_are_found),
		cmocka_unit_test(counts_are_corrected),
		cmocka_unit_test(errors_are_as_large_as_told),
		cmocka_unit_test(the_mean_is_doubted),
		cmocka_unit_test(only_those_in_step_are_alike),
		cmocka_unit_test(a_background_is_found),
		cmocka_unit_test(nothing_to_learn_from),
		cmocka_unit_test(hostile_numbers),
		cmocka_unit_test(workloads_come_and_go),
		cmocka_unit_test(forgotten_while_parked),
		cmocka_unit_test(many_come_once),
		cmocka_unit_test(the_same_gives_the_same),
		cmocka_unit_test(a_shared_room_changes_nothing),
		cmocka_unit_test(strangers_are_not_alike),
		cmocka_unit_test(noise_is_learned),
		cmocka_unit_test(some_move_nothing),
		cmocka_unit_test(expected_bytes_add_up),
		cmocka_unit_test(an_outlier_stays_alone),
	};

	return cmocka_run_group_tests_name("filter", tests, NULL, NULL);
}
