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

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_jump_is_its_own),
	};

	return cmocka_run_group_tests_name("filter, jumps", tests, NULL, NULL);
}
