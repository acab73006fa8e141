// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Writes by lines that left an L2, or by those that were read: the smaller number. */
#include "split_world.h"

#define BLOCKS 6
enum { STREAM = 1, OTHER };

/* Lines that a workload made leave its L2, read, and wrote to memory in a window. */
struct lines {
	uint64_t left, read, written;
};

static void did(struct world *w, uint32_t workload, const struct lines *lines)
{
	struct activity *a = ran(w, workload, 10 * MS);

	a->weights_ns = 10 * MS;
	a->weights[0] = lines->read;
	a->weights[1] = lines->left;
}

/* The same lines are stored to again and again, and stay in the next cache. */
static struct lines in_cache(struct draw *r)
{
	uint64_t read = 2000 + draw_below(r, 8000);

	return (struct lines){ 20000 + draw_below(r, 40000), read, read };
}

/* Whole lines are written; nobody has to read them. */
static struct lines unread(struct draw *r)
{
	uint64_t left = 20000 + draw_below(r, 40000);

	return (struct lines){ left, draw_below(r, 100), left };
}

/* Part of its own bytes that the other one is given of writes, beside one that reads what it writes. */
static double given_to(struct lines (*make)(struct draw *r), struct quality *q)
{
	struct world *w = world_new(METHOD_STATE_SPACE, 2);
	struct draw r = { 11 };
	double given = 0, written = 0;

	strcpy(w->header.weights[0], "l3d_cache_refill");
	strcpy(w->header.weights[1], "l2d_cache_wb");
	for (int b = 0; b < BLOCKS; b++) {
		for (int k = 0; k < 50; k++) {
			uint64_t x = 20000 + draw_below(&r, 40000);
			struct lines stream = { x, x, x }, other = make(&r);
			double noise = 1 + 0.01 * draw_normal(&r);

			add_window(w, 10 * MS, 64 * noise * (x + other.written));
			did(w, STREAM, &stream);
			did(w, OTHER, &other);
			written += 64.0 * other.written;
		}
		world_split(w);
		given += w->seen[WRITES][OTHER].given;
	}
	splitter_quality(w->splitter, true, q);
	world_free(w);
	return given / written;
}

static void what_was_not_read_is_hardly_written(void **state)
{
	struct quality q;
	double part = given_to(in_cache, &q);

	(void)state;
	if (fabs(part - 1) > 0.03)
		fail_msg("%.3f of its bytes", part);
	assert_string_equal(q.weights, "l3d_cache_refill,l2d_cache_wb");
}

static void lines_that_nobody_reads_are_written_all_the_same(void **state)
{
	struct quality q;
	double part = given_to(unread, &q);

	(void)state;
	if (fabs(part - 1) > 0.03)
		fail_msg("%.3f of its bytes", part);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_was_not_read_is_hardly_written),
		cmocka_unit_test(lines_that_nobody_reads_are_written_all_the_same),
	};

	return cmocka_run_group_tests_name("split_writes", tests, NULL, NULL);
}
