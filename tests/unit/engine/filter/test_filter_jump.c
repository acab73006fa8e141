// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Intensities that are not what they were. */
#include "filter_sim.h"

#define NR 8

/*
 * One of some that have been known for seconds does ten times as much all at once. Its bytes are
 * not given to others, and these stay nearly as certain as they were.
 */
static void a_jump_is_its_own(void **state)
{
	double intensity[NR] = { 1, 2, 3, 1, 2, 3, 1, 2 };
	struct sim *s = sim_new(FILTER_CPU_TIME, 100, NR);
	double sure[NR];

	(void)state;
	s->noise = 0.02;
	blocks(s, intensity, 8);
	for (size_t i = 0; i < NR; i++)
		sure[i] = sd_of(s, i);
	intensity[0] = 10;
	blocks(s, intensity, 1);
	is_about(found(s, 0), truth_of(s, 0), 0.03);
	for (size_t i = 1; i < NR; i++) {
		is_about(found(s, i), truth_of(s, i), 0.05);
		assert_true(sd_of(s, i) < 2 * sure[i]);
	}
	sim_free(s);
}

/*
 * The same in the middle of a block. Before that it is what it was: its bytes in the two halves
 * differ as they should, and the block after it begins with what is known by then.
 */
static void a_jump_within_a_block_begins_there(void **state)
{
	double intensity[NR] = { 1, 2, 3, 1, 2, 3, 1, 2 };
	struct sim *s = sim_new(FILTER_CPU_TIME, 100, NR);
	double before = 0, behind = 0, true_before = 0, true_behind = 0;

	(void)state;
	s->noise = 0.02;
	blocks(s, intensity, 8);
	random_activity(s, 0.5);
	make_bytes(s, intensity);
	for (size_t t = 60; t < s->t; t++) {
		s->bytes[t] += 9 * s->truth[t][0];
		s->truth[t][0] *= 10;
	}
	assert_int_equal(run(s), 0);
	check_output(s);
	for (size_t t = 0; t < s->t; t++) {
		double is = matrix_row(&s->out->expected, t)[0];

		*(t < 60 ? &before : &behind) += is;
		*(t < 60 ? &true_before : &true_behind) += s->truth[t][0];
	}
	is_about(before, true_before, 0.1);
	is_about(behind, true_behind, 0.02);
	for (size_t i = 0; i < NR; i++)
		if (fabs(found(s, i) - truth_of(s, i)) > 3 * sd_of(s, i))
			fail_msg("%zu: %.4g +- %.2g instead of %.4g", i, found(s, i), sd_of(s, i),
				 truth_of(s, i));
	intensity[0] = 10;
	blocks(s, intensity, 1);
	for (size_t i = 0; i < NR; i++)
		is_about(found(s, i), truth_of(s, i), 0.05);
	sim_free(s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_jump_is_its_own),
		cmocka_unit_test(a_jump_within_a_block_begins_there),
	};

	return cmocka_run_group_tests_name("filter, jumps", tests, NULL, NULL);
}
