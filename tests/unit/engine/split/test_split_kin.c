// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Who is the same program again is known by names. */
#include "engine/split/split_tee.h"
#include "split_world.h"

#define BLOCKS 4
#define LENGTH (10 * MS)

enum {
	STEADY = WORKLOAD_LOST + 1,
	HEAVY_ONE,
	LIGHT_ONE,
	HEAVY_AGAIN,
	LIGHT_AGAIN,
};

static const uint64_t intensity[] = { 0, 0, 1, 8, 2, 8, 2 };
static const char *const names[] = { "", "", "steady", "heavy", "light", "heavy", "light" };

/* One more window in which @nr workloads worked for some time each. */
static void worked(struct world *w, struct draw *r, const uint32_t *who, size_t nr, bool in_step)
{
	uint64_t ns[5], bytes = 0;

	for (size_t i = 0; i < nr; i++) {
		ns[i] = in_step && i > 1 ? ns[1] : LENGTH / 10 + draw_below(r, LENGTH / 2);
		bytes += ns[i] * intensity[who[i]];
	}
	add_window(w, LENGTH, bytes);
	for (size_t i = 0; i < nr; i++)
		ran(w, who[i], ns[i]);
}

/* How many times as much as the light one the heavy one is given when both are started again. */
static double heavy_by_light(struct identity *id)
{
	static const uint32_t first[] = { STEADY, HEAVY_ONE, LIGHT_ONE };
	static const uint32_t again[] = { STEADY, HEAVY_AGAIN, LIGHT_AGAIN };
	struct world *w = world_new(METHOD_STATE_SPACE, 0);
	struct draw r = { 7 };
	double ret;

	w->id = id;
	for (int b = 0; b < BLOCKS; b++) {
		for (int k = 0; k < 50; k++)
			worked(w, &r, first, 3, false);
		world_split(w);
	}
	for (int k = 0; k < 50; k++)
		worked(w, &r, again, 3, true);
	world_split(w);
	ret = (double)w->seen[READS][HEAVY_AGAIN].given / w->seen[READS][LIGHT_AGAIN].given;
	assert_true(w->seen[WRITES][HEAVY_AGAIN].given == w->seen[READS][HEAVY_AGAIN].given);
	world_free(w);
	return ret;
}

static struct identity *programs(void)
{
	struct identity *id;

	assert_int_equal(identity_new(&id), 0);
	for (uint32_t i = STEADY; i <= LIGHT_AGAIN; i++) {
		const struct trace_task t = {
			.pid = i, .tgid = i, .start_ns = i, .comm = names[i]
		};
		uint32_t number;

		assert_int_equal(identity_task(id, &t, NULL), 0);
		assert_int_equal(identity_workload(id, i, i, i, 1, &number), 0);
		assert_int_equal(number, i);
	}
	return id;
}

static void programs_are_known_again(void **state)
{
	(void)state;
	for (int threads = 1; threads <= 2; threads++) {
		struct identity *id;
		double times;

		world_two_threads = threads == 2;
		id = programs();
		times = heavy_by_light(id);
		identity_free(id);
		if (times < 3 || times > 5)
			fail_msg("%.2f times as much", times);
		times = heavy_by_light(NULL);
		if (times < 0.9 || times > 1.1)
			fail_msg("%.2f times as much without names", times);
	}
	world_two_threads = false;
}

/* Several sinks: names are those of the first one. */
static void names_are_those_of_the_first_sink(void **state)
{
	struct split_tee tee = { .nr = 1 };

	(void)state;
	assert_null(split_tee_sink(&tee).id);
	tee.sinks[0].id = programs();
	assert_ptr_equal(split_tee_sink(&tee).id, tee.sinks[0].id);
	identity_free((struct identity *)tee.sinks[0].id);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(programs_are_known_again),
		cmocka_unit_test(names_are_those_of_the_first_sink),
	};

	return cmocka_run_group_tests_name("split kin", tests, NULL, NULL);
}
