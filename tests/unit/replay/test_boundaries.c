// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Windows that come in any order are held until their interval is over. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <errno.h>
#include <unistd.h>

#include "replay/boundaries.h"

#define MANY 400000u
#define MS   1000000ull

static uint32_t cpu_socket[] = { 0 };
static uint32_t socket_ids[] = { 0 };
static struct counter counters[] = { { .name = "a", .source = SOURCE_CPU } };
static struct group groups[] = { { 0, 0, 1 } };
static const struct trace_header header = {
	.layout = { cpu_socket, 1, socket_ids, 1, counters, 1, groups, 1 },
	.marked = true,
};

/* Its reading says which it is. */
static int add(struct boundaries *b, uint64_t i)
{
	const struct reading reading = { .value = i };
	const struct trace_event e = { .type = TRACE_WINDOW,
				       .window = { 0, i * MS, (i + 1) * MS, &reading } };

	return boundaries_add(b, &e);
}

static uint64_t forwards(uint64_t i)
{
	return i;
}

/* As a trace that was turned around: each comes before all that are there. */
static uint64_t backwards(uint64_t i)
{
	return MANY - 1 - i;
}

static uint64_t from_the_middle(uint64_t i)
{
	return i % 2 ? MANY / 2 - 1 - i / 2 : MANY / 2 + i / 2;
}

/* Blocks of a thousand, each turned around */
static uint64_t in_blocks(uint64_t i)
{
	return i / 1000 * 1000 + 999 - i % 1000;
}

static void check_order(uint64_t (*nth)(uint64_t i))
{
	uint64_t ends_ns = 0, at = 0;
	struct trace_mark mark = { .ends_ns = &ends_ns };
	struct trace_event e;
	struct boundaries *b;

	assert_int_equal(boundaries_new(&header, UINT64_MAX / 2, &b), 0);
	assert_int_equal(boundaries_add_mark(b, &mark), 0);
	assert_true(boundaries_next(b, false, &mark));
	for (uint64_t i = 0; i < MANY; i++)
		assert_int_equal(add(b, nth(i)), 0);
	assert_int_equal(add(b, nth(7)), -EINVAL);
	ends_ns = MANY * MS;
	mark = (struct trace_mark){ .ends_ns = &ends_ns, .time_ns = ends_ns };
	assert_int_equal(boundaries_add_mark(b, &mark), 0);
	assert_true(boundaries_next(b, true, &mark));
	for (; boundaries_event(b, &mark, &e); at++) {
		assert_int_equal(e.type, TRACE_WINDOW);
		assert_int_equal(e.window.start_ns, at * MS);
		assert_int_equal(e.window.readings[0].value, at);
	}
	assert_int_equal(at, MANY);
	boundaries_free(b);
}

/* The alarm is for time that grows with the square of their number: minutes. */
static void test_orders(void **state)
{
	(void)state;
	alarm(60);
	check_order(forwards);
	check_order(backwards);
	check_order(from_the_middle);
	check_order(in_blocks);
	alarm(0);
}

/* An inner mark of the trace tells how far it is complete; what is made of it ends intervals. */
static void test_inner_mark(void **state)
{
	uint64_t ends_ns = 0;
	struct trace_mark mark = { .first = true, .ends_ns = &ends_ns };
	struct boundaries *b;

	(void)state;
	assert_int_equal(boundaries_new(&header, 100 * MS, &b), 0);
	assert_int_equal(boundaries_add_mark(b, &mark), 0);
	assert_true(boundaries_next(b, false, &mark));
	ends_ns = 250 * MS;
	mark = (struct trace_mark){ .inner = true, .ends_ns = &ends_ns, .time_ns = ends_ns };
	assert_int_equal(boundaries_add_mark(b, &mark), 0);
	for (int i = 1; i <= 2; i++) {
		assert_true(boundaries_next(b, false, &mark));
		assert_false(mark.inner);
		assert_int_equal(mark.time_ns, i * 100 * MS);
	}
	assert_false(boundaries_next(b, false, &mark));
	boundaries_free(b);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_orders),
		cmocka_unit_test(test_inner_mark),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
