// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "base/clock.h"
#include "live/run/mark_time.h"

#define READER_NS 77

/*
 * A clock; boundary i takes @takes_ns[i] to set, those behind the last as long as that. Socket 0
 * has a reader, socket 1 has none.
 */
static struct {
	uint64_t now_ns;
	const uint64_t *takes_ns;
	int nr;
	int sets;
	uint64_t boundary_ns[2];
} world;

int __wrap_clock_gettime(clockid_t clock, struct timespec *ret);
int __wrap_clock_gettime(clockid_t clock, struct timespec *ret)
{
	assert_int_equal(clock, CLOCK_MONOTONIC);
	world.now_ns++;
	*ret = (struct timespec){ world.now_ns / NS_PER_S, world.now_ns % NS_PER_S };
	return 0;
}

void __wrap_ledger_mark(struct ledger *l, uint32_t socket, uint64_t now);
void __wrap_ledger_mark(struct ledger *l, uint32_t socket, uint64_t now)
{
	(void)l;
	assert_true(socket < 2);
	world.now_ns += world.takes_ns[world.sets < world.nr ? world.sets : world.nr - 1];
	world.boundary_ns[socket] = now;
	world.sets++;
}

/* Returns how long before its end the last boundary is. */
static uint64_t mark(const uint64_t *takes_ns, int nr)
{
	struct counter_reader reader = { .index = 0, .nr = 1 };
	const struct counters counters = { .readers = &reader, .nr_readers = 1 };
	uint64_t time_ns;

	world.now_ns = 1000000;
	world.takes_ns = takes_ns;
	world.nr = nr;
	world.sets = 0;
	world.boundary_ns[0] = READER_NS;
	time_ns = mark_time(NULL, &counters, 2);
	assert_int_equal(time_ns, world.boundary_ns[1]);
	assert_int_equal(world.boundary_ns[0], READER_NS);
	return world.now_ns - time_ns;
}

static void test_at_once(void **state)
{
	(void)state;
	assert_in_range(mark((const uint64_t[]){ 500 }, 1), 500, 600);
	assert_int_equal(world.sets, 1);
}

/* Somebody had our CPU for 3 ms, twice: the boundary that counts was set at once. */
static void test_preempted(void **state)
{
	(void)state;
	assert_in_range(mark((const uint64_t[]){ 3000000, 3000000, 500 }, 3), 500, 600);
	assert_int_equal(world.sets, 3);
}

/* A machine that is always so slow is not waited for. */
static void test_always_slow(void **state)
{
	(void)state;
	mark((const uint64_t[]){ 3000000 }, 1);
	assert_in_range(world.sets, 2, 20);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_at_once),
		cmocka_unit_test(test_preempted),
		cmocka_unit_test(test_always_slow),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
