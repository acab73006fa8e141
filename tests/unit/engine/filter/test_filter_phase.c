// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Programs that go on as they did, and now and then do something else at once. */
#include <string.h>

#include "filter_sim.h"

#define NR	20
#define BLOCKS	10
#define CHANGES 40  /* of all workloads in a block */
#define TURN	0.4 /* how likely a workload goes to sleep, or wakes, from window to window */

struct sums {
	double off, all;
	int held, nr;
};

static void on_and_off(struct sim *s)
{
	for (size_t i = 0; i < NR; i++) {
		bool on = draw_unit(&d) < 0.5;

		for (size_t t = 0; t < s->t; t++) {
			on ^= draw_unit(&d) < TURN;
			matrix_row(&s->x, t)[i] = on ? WINDOW_NS * (0.5 + 0.5 * draw_unit(&d)) : 0;
		}
	}
}

/*
 * A block in which some change at once, each in a window of its own. @intensity: at the start of the
 * block, and afterwards at its end; @usual: what they change around.
 */
static void change(struct sim *s, const double *usual, double *intensity)
{
	double later[NR];
	size_t from[NR];

	for (size_t i = 0; i < NR; i++) {
		from[i] = s->t;
		later[i] = intensity[i];
	}
	for (int k = 0; k < CHANGES; k++) {
		size_t i = draw_unit(&d) * NR;

		from[i] = draw_unit(&d) * s->t;
		later[i] = usual[i] * exp(0.5 * draw_normal(&d));
	}
	on_and_off(s);
	make_bytes(s, intensity);
	for (size_t i = 0; i < NR; i++)
		for (size_t t = from[i]; t < s->t; t++) {
			double more = (later[i] - intensity[i]) * matrix_row(&s->x, t)[i];

			s->truth[t][i] += more;
			s->bytes[t] += more;
		}
	memcpy(intensity, later, sizeof(later));
}

static void one_machine(uint64_t seed, struct sums *sums)
{
	struct sim *s = sim_new(FILTER_CPU_TIME, 100, NR);
	double usual[NR], intensity[NR];

	d = (struct draw){ seed };
	s->noise = 0.003;
	for (size_t i = 0; i < NR; i++)
		usual[i] = intensity[i] = exp(1.2 * draw_normal(&d));
	for (int b = 0; b < BLOCKS; b++) {
		change(s, usual, intensity);
		assert_int_equal(run(s), 0);
		check_output(s);
		for (size_t i = 0; i < NR; i++) {
			double off = fabs(found(s, i) - truth_of(s, i));

			sums->off += off;
			sums->all += truth_of(s, i);
			sums->held += off <= 2 * sd_of(s, i);
			sums->nr++;
		}
	}
	sim_free(s);
}

/*
 * Changes are taken for those of the workloads that changed: the error is 0.048. If all that phases
 * change by had one variance, it would be 0.053. Bars hold.
 */
static void changes_at_once_are_their_own(void **state)
{
	struct sums sums = { 0 };

	(void)state;
	for (uint64_t seed = 1; seed <= 10; seed++)
		one_machine(seed, &sums);
	if (!(sums.off < 0.050 * sums.all))
		fail_msg("off by %.4f of all bytes", sums.off / sums.all);
	if (sums.held < 0.93 * sums.nr)
		fail_msg("%d of %d bars hold", sums.held, sums.nr);
}

/* Windows of 20 s: nothing is left of a phase in the next one, and nothing breaks. */
static void long_windows_are_no_trouble(void **state)
{
	const double intensity[NR] = { 1, 2, 3, 4, 1, 2, 3, 4, 1, 2, 3, 4, 1, 2, 3, 4, 1, 2, 3, 4 };
	struct sim *s = sim_new(FILTER_CPU_TIME, 100, NR);

	(void)state;
	s->noise = 0.02;
	for (size_t t = 0; t < s->t; t++) {
		s->length[t] = 20;
		s->middle[t] = (t + 0.5) * s->length[t];
	}
	for (int b = 0; b < 3; b++) {
		struct filter_input in;

		on_and_off(s);
		make_bytes(s, intensity);
		in = input_of(s);
		in.block_s = s->t * s->length[0];
		assert_int_equal(filter_block(s->filter, &in, &s->out), 0);
		check_output(s);
	}
	for (size_t i = 0; i < NR; i++)
		is_about(found(s, i), truth_of(s, i), 0.2);
	sim_free(s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(changes_at_once_are_their_own),
		cmocka_unit_test(long_windows_are_no_trouble),
	};

	return cmocka_run_group_tests_name("filter, phases", tests, NULL, NULL);
}
