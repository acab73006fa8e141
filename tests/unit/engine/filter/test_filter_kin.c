// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Programs that are started again and again: what is known of a run is known of the next one. */
#include <math.h>
#include <string.h>

#include "engine/filter/filter_state.h"
#include "filter_sim.h"

enum {
	STEADY,
	ALSO_STEADY,
	HEAVY_ONE,
	LIGHT_ONE,
	NR,
};

static const double usual[NR] = { 2, 6, 8, 1 };

static void shape(struct sim *s, size_t n)
{
	s->n = n;
	assert_int_equal(matrix_shape(&s->x, s->t, n), 0);
}

/* A machine that has seen a run of each program; @kin: whether their names are known. */
static struct sim *seen_once(enum filter_kind kind, bool kin)
{
	struct sim *s = sim_new(kind, 60, NR);

	s->noise = 0.01;
	for (size_t i = HEAVY_ONE; i < NR; i++)
		s->kin[i] = kin ? i : 0;
	blocks(s, usual, 4);
	return s;
}

/* Both programs are started again, and go on in step: nothing of the block tells them apart. */
static void restart(struct sim *s, const double *intensity)
{
	for (size_t i = HEAVY_ONE; i < NR; i++)
		s->workloads[i] += 1000;
	random_activity(s, 0.5);
	for (size_t t = 0; t < s->t; t++)
		matrix_row(&s->x, t)[LIGHT_ONE] = matrix_row(&s->x, t)[HEAVY_ONE];
	make_bytes(s, intensity);
	assert_int_equal(run(s), 0);
	check_output(s);
}

static void is_known_again(const struct sim *s)
{
	is_about(found(s, HEAVY_ONE), truth_of(s, HEAVY_ONE), 0.1);
	is_about(found(s, LIGHT_ONE), truth_of(s, LIGHT_ONE), 0.5);
	assert_true(matrix_row(&s->out->alike, HEAVY_ONE)[LIGHT_ONE] == 0);
}

static void is_unknown(const struct sim *s)
{
	is_about(found(s, HEAVY_ONE), found(s, LIGHT_ONE), 0.1);
	assert_true(matrix_row(&s->out->alike, HEAVY_ONE)[LIGHT_ONE] == 1);
}

static void a_program_is_known_again(void **state)
{
	(void)state;
	for (int kin = 0; kin <= 1; kin++) {
		struct sim *s = seen_once(FILTER_CPU_TIME, kin);

		restart(s, usual);
		(kin ? is_known_again : is_unknown)(s);
		sim_free(s);
	}
}

/* What is known of it stays for a minute, also when its number has long been another one's. */
static void it_is_known_for_a_minute(void **state)
{
	(void)state;
	for (int late = 0; late <= 1; late++) {
		struct sim *s = seen_once(FILTER_CPU_TIME, true);

		shape(s, HEAVY_ONE);
		for (int b = 0; b < (late ? 120 : 20); b++) {
			if (b == 2 || b == 8) /* quiet; left the state */
				filter_forget(s->filter,
					      s->workloads[b == 2 ? HEAVY_ONE : LIGHT_ONE]);
			blocks(s, usual, 1);
		}
		shape(s, NR);
		restart(s, usual);
		(late ? is_unknown : is_known_again)(s);
		sim_free(s);
	}
}

/* Of programs that have ended one level is kept for each, however many runs there were. */
static void few_levels_are_kept(void **state)
{
	struct sim *s = seen_once(FILTER_CPU_TIME, true);

	(void)state;
	for (int b = 0; b < 40; b++) {
		for (size_t i = HEAVY_ONE; i < NR; i++) {
			s->workloads[i] = 1000 * i + b;
			/* Some leave the state before their number is free, and some behind it. */
			if (b >= 8)
				filter_forget(s->filter, s->workloads[i] - (b % 2 ? 1 : 8));
		}
		blocks(s, usual, 1);
	}
	shape(s, HEAVY_ONE);
	for (int b = 0; b < 10; b++)
		blocks(s, usual, 1);
	for (uint32_t number = s->workloads[ALSO_STEADY] + 1; number < 1000 * NR; number++)
		filter_forget(s->filter, number);
	assert_true(s->filter->nr_parked == 2);
	sim_free(s);
}

/*
 * This run moves a third or three times, a tenth or ten times of what the last one did. Where
 * nothing tells whose the bytes are, the bars say so; after that it is known for itself.
 */
static void a_run_may_differ(void **state)
{
	static const double times[] = { 0.1, 0.3, 3, 10 };
	int outside = 0, bars = 0;

	(void)state;
	for (int k = 0; k < 40; k++) {
		const double now[NR] = { 2, 6, times[k % 4] * 8, 1 };
		struct sim *s = seen_once(FILTER_CPU_TIME, true);

		d = (struct draw){ 77 + k };
		for (int b = 0; b < 4; b++) {
			if (b)
				blocks(s, now, 1);
			else
				restart(s, now);
			for (size_t i = 0; i < NR; i++, bars++)
				outside += fabs(found(s, i) - truth_of(s, i)) > 1.96 * sd_of(s, i);
			if (b)
				is_about(found(s, HEAVY_ONE), truth_of(s, HEAVY_ONE), 0.05);
		}
		sim_free(s);
	}
	if (outside > bars / 20)
		fail_msg("%d of %d bars do not hold", outside, bars);
}

/* A block of pairs that go on in step, one pair after the other. */
static void pairs_in_step(struct sim *s, size_t pairs)
{
	static const double intensity[] = { 4, 4, 4, 4 };

	shape(s, 2 * pairs);
	for (size_t t = 0; t < s->t; t++) {
		float *x = matrix_row(&s->x, t);

		for (size_t i = 0; i < s->n; i++)
			x[i] = 0;
		for (size_t i = 0; i < 2; i++)
			x[2 * (t * pairs / s->t) + i] = (t % 5 + 1) * WINDOW_NS / 5;
	}
	make_bytes(s, intensity);
	assert_int_equal(run(s), 0);
	check_output(s);
}

/*
 * A program's level is hardly known, because another one has always gone on in step with it. Now
 * two runs of it follow each other, each in step with one that is new as well. If one of them moves
 * less than it seems to, so does the other.
 */
static void errors_of_kin_go_together(void **state)
{
	(void)state;
	for (int kin = 0; kin <= 1; kin++) {
		struct sim *s = sim_new(FILTER_CPU_TIME, 100, 4);
		double both;

		s->noise = 0.01;
		s->kin[0] = s->kin[2] = kin;
		for (int b = 0; b < 3; b++)
			pairs_in_step(s, 1);
		for (size_t i = 0; i < 4; i++)
			s->workloads[i] += 1000;
		pairs_in_step(s, 2);
		both = matrix_row(&s->out->covariance, 0)[2] / (sd_of(s, 0) * sd_of(s, 2));
		/* Runs differ: nor is it nearly 1. */
		if (kin ? both < 0.3 || both > 0.55 : both > 0.1)
			fail_msg("%d: a correlation of %.2f", kin, both);
		sim_free(s);
	}
}

/* What the block says of all must be the same, to the bit. */
static void is_the_same(const struct sim *a, const struct sim *b)
{
	for (size_t i = 0; i < a->n; i++) {
		assert_true(found(a, i) == found(b, i));
		assert_true(sd_of(a, i) == sd_of(b, i));
	}
}

/*
 * A third workload has a program's name, and goes on beside that: a parent that waits has the name
 * of its child. It is not said to be like it before it has ended.
 */
static void who_goes_on_has_no_kin(void **state)
{
	(void)state;
	for (int ended = 0; ended <= 1; ended++) {
		struct sim *s[2];

		for (int kin = 0; kin <= 1; kin++) {
			s[kin] = seen_once(FILTER_CPU_TIME, kin);
			shape(s[kin], NR + 1);
			s[kin]->kin[NR] = s[kin]->kin[HEAVY_ONE];
			s[kin]->ended[HEAVY_ONE] = ended;
			random_activity(s[kin], 0.5);
			make_bytes(s[kin], (double[]){ 2, 6, 8, 1, 1 });
			assert_int_equal(run(s[kin]), 0);
		}
		if (ended)
			assert_true(found(s[0], NR) != found(s[1], NR));
		else
			is_the_same(s[0], s[1]);
		sim_free(s[0]);
		sim_free(s[1]);
	}
}

/* An event that follows the traffic has nearly the same intensity for everybody as it is. */
static void with_weights_nothing_changes(void **state)
{
	(void)state;
	for (int kind = FILTER_TRAFFIC; kind <= FILTER_MINIMUM; kind++) {
		struct sim *s[2];

		for (int kin = 0; kin <= 1; kin++) {
			s[kin] = seen_once(kind, kin);
			restart(s[kin], usual);
		}
		is_the_same(s[0], s[1]);
		sim_free(s[0]);
		sim_free(s[1]);
	}
}

/* Nothing has a covariance with what is alone; return: how many levels or phases of workloads are. */
static int alone(const struct filter_state *p, int which)
{
	int nr = 0;

	for (size_t i = 0; i < p->nr; i++) {
		const float *row = matrix_row(&p->p, 2 * i + which);

		if (!p->entries[i].alone[which])
			continue;
		nr++;
		for (size_t j = 0; j < 2 * p->nr; j++) {
			assert_true(row[j] == 0 || j == 2 * i + which);
			assert_true(matrix_row(&p->p, j)[2 * i + which] == row[j]);
		}
	}
	return nr;
}

/*
 * Programs that are started again have a level of their own, unless kin of theirs is known, or the
 * mean that all new ones are expected to have; phases always.
 */
static void new_ones_are_alone(void **state)
{
	(void)state;
	for (int kind = FILTER_CPU_TIME; kind <= FILTER_TRAFFIC; kind++)
		for (int kin = 0; kin <= 1; kin++) {
			struct sim *s = seen_once(kind, kin);
			const struct filter_state *now = &s->filter->state;
			struct filter_input in;

			assert_int_equal(alone(now, 0) + alone(now, 1), 0);
			for (size_t i = HEAVY_ONE; i < NR; i++)
				s->workloads[i] += 1000;
			in = input_of(s);
			assert_int_equal(filter_state_update(s->filter, &in), 0);
			assert_int_equal(alone(now, 0), kin || kind == FILTER_TRAFFIC ? 0 : 2);
			assert_int_equal(alone(now, 1), 2);
			sim_free(s);
		}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_program_is_known_again),
		cmocka_unit_test(it_is_known_for_a_minute),
		cmocka_unit_test(few_levels_are_kept),
		cmocka_unit_test(a_run_may_differ),
		cmocka_unit_test(errors_of_kin_go_together),
		cmocka_unit_test(who_goes_on_has_no_kin),
		cmocka_unit_test(with_weights_nothing_changes),
		cmocka_unit_test(new_ones_are_alone),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
