// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "engine/identity.h"
#include "engine/timeline.h"

/* Two sockets with two CPUs each; socket 0 has a group of a CPU and a device counter. */
static const uint32_t cpu_socket[] = { 0, 0, 1, 1, LAYOUT_NO_SOCKET };
static const uint32_t socket_ids[] = { 0, 1 };
static const struct counter counters[] = {
	{ .name = "rd", .source = SOURCE_CPU },
	{ .name = "dev", .source = SOURCE_DEVICE },
	{ .name = "other group", .source = SOURCE_CPU, .group = 1 },
};
static const struct group groups[] = { { 0, 0, 2 }, { 0, 2, 1 } };
static const struct layout layout = {
	.cpu_socket = cpu_socket,
	.nr_cpus = 5,
	.socket_ids = socket_ids,
	.nr_sockets = 2,
	.counters = counters,
	.nr_counters = 3,
	.groups = groups,
	.nr_groups = 2,
};

#define NR_WORKLOADS 40

struct seen {
	uint64_t on_cpu[2][NR_WORKLOADS];
	uint64_t bytes[3]; /* as handed out */
	uint64_t given[3][NR_WORKLOADS];
	uint64_t idle[3];
	unsigned int windows[2];
	int fail;
};

static int on_cpu(void *arg, uint32_t socket, uint32_t workload, uint64_t ns)
{
	struct seen *s = arg;

	s->on_cpu[socket][workload] += ns;
	return s->fail;
}

static int on_window(void *arg, uint32_t group, uint64_t duration_ns, const struct reading *r)
{
	struct seen *s = arg;

	assert_true(duration_ns > 0);
	assert_non_null(r);
	s->windows[group]++;
	return 0;
}

static int on_bytes(void *arg, uint32_t counter, uint64_t bytes, const struct claim *claims,
		    const struct estimate *e, size_t nr)
{
	struct seen *s = arg;
	uint64_t sum = 0;

	s->bytes[counter] += bytes;
	if (!nr)
		s->idle[counter] += bytes;
	for (size_t i = 0; i < nr; i++) {
		assert_true(e[i].low <= e[i].value && e[i].value <= e[i].high);
		s->given[counter][claims[i].workload] += e[i].value;
		sum += e[i].value;
	}
	if (nr)
		assert_true(sum == bytes);
	return 0;
}

static struct timeline_sink sink_of(struct seen *s)
{
	return (struct timeline_sink){ on_cpu, on_window, on_bytes, s };
}

static int setup(void **state)
{
	struct timeline *t;

	if (timeline_new(&layout, &t))
		return -1;
	*state = t;
	return 0;
}

static int teardown(void **state)
{
	timeline_free(*state);
	return 0;
}

static void window(struct timeline *t, uint32_t group, uint64_t start, uint64_t end, uint64_t value)
{
	struct reading r[2] = { { value, end - start, end - start },
				{ value / 2, end - start, end - start } };

	assert_int_equal(timeline_window(t, group, start, end, r), 0);
}

static uint64_t close_at(struct timeline *t, uint64_t end, struct seen *s)
{
	struct timeline_sink sink = sink_of(s);
	const uint64_t ends[] = { end, end };
	uint64_t late = 0;

	assert_int_equal(timeline_close(t, ends, &sink, &late), 0);
	return late;
}

static void a_window_is_split_by_cpu_time(void **state)
{
	struct timeline *t = *state;
	struct seen s = { 0 };

	assert_int_equal(timeline_slice(t, 5, 0, 100, 200, 75), 0);
	assert_int_equal(timeline_slice(t, 6, 1, 100, 200, 25), 0);
	assert_int_equal(timeline_slice(t, 7, 2, 100, 200, 100), 0); /* the other socket */
	assert_int_equal(timeline_slice(t, WORKLOAD_IDLE, 1, 100, 200, 75), 0);
	window(t, 0, 100, 200, 1000);
	assert_int_equal(close_at(t, 200, &s), 0);
	assert_int_equal(s.given[0][5], 750);
	assert_int_equal(s.given[0][6], 250);
	assert_int_equal(s.given[0][7], 0);
	assert_int_equal(s.on_cpu[1][7], 100);
	assert_int_equal(s.on_cpu[0][WORKLOAD_IDLE], 75);
	/* a device counter is never split among tasks */
	assert_int_equal(s.idle[1], 500);
}

static void nobody_ran(void **state)
{
	struct timeline *t = *state;
	struct seen s = { 0 };

	assert_int_equal(timeline_slice(t, WORKLOAD_IDLE, 0, 0, 100, 100), 0);
	window(t, 0, 0, 100, 42);
	close_at(t, 100, &s);
	assert_int_equal(s.idle[0], 42);
}

static void a_long_run_is_split_exactly(void **state)
{
	struct timeline *t = *state;
	struct seen s = { 0 };

	/* runs from 5 to 37 without a break; the other one only in the second window */
	assert_int_equal(timeline_slice(t, 5, 0, 5, 37, 32), 0);
	assert_int_equal(timeline_slice(t, 6, 1, 10, 20, 10), 0);
	window(t, 0, 0, 10, 100);
	window(t, 0, 10, 20, 100);
	window(t, 0, 20, 30, 100);
	window(t, 0, 30, 40, 100);
	close_at(t, 40, &s);
	assert_int_equal(s.given[0][5], 350);
	assert_int_equal(s.given[0][6], 50);
	assert_int_equal(s.on_cpu[0][5], 32);
}

static void a_slice_across_the_end_is_cut(void **state)
{
	struct timeline *t = *state;
	struct seen first = { 0 }, second = { 0 };

	/* half of the time on the CPU: 7 ns of 14; nothing may get lost by rounding */
	assert_int_equal(timeline_slice(t, 5, 0, 3, 17, 7), 0);
	window(t, 0, 0, 10, 100);
	close_at(t, 10, &first);
	window(t, 0, 10, 20, 100);
	close_at(t, 20, &second);
	assert_int_equal(first.on_cpu[0][5], 3);
	assert_int_equal(second.on_cpu[0][5], 4);
	assert_int_equal(first.given[0][5], 100);
	assert_int_equal(second.given[0][5], 100);
}

static void windows_beyond_the_end_stay(void **state)
{
	struct timeline *t = *state;
	struct seen first = { 0 }, second = { 0 };

	assert_int_equal(timeline_slice(t, 5, 0, 0, 20, 20), 0);
	window(t, 0, 0, 10, 100);
	window(t, 0, 10, 20, 300);
	close_at(t, 10, &first);
	assert_int_equal(first.bytes[0], 100);
	close_at(t, 20, &second);
	assert_int_equal(second.bytes[0], 300);
	assert_int_equal(second.given[0][5], 300);
}

/* A group that could not be read for a while: its window reaches back over the interval's end. */
static void a_late_window_finds_its_slices(void **state)
{
	struct timeline *t = *state;
	struct seen first = { 0 }, second = { 0 };

	assert_int_equal(timeline_slice(t, 5, 0, 0, 10, 10), 0);
	window(t, 1, 0, 5, 50);
	close_at(t, 10, &first);
	assert_int_equal(first.given[2][5], 50);
	assert_int_equal(timeline_slice(t, 6, 0, 10, 20, 10), 0);
	window(t, 1, 5, 20, 150);
	close_at(t, 20, &second);
	assert_int_equal(second.given[2][5], 50);
	assert_int_equal(second.given[2][6], 100);
	/* but its CPU time was reported already */
	assert_int_equal(second.on_cpu[0][5], 0);
}

static void late_slices_are_counted_and_kept(void **state)
{
	struct timeline *t = *state;
	struct seen s = { 0 };

	assert_int_equal(close_at(t, 100, &s), 0);
	assert_int_equal(timeline_slice(t, 5, 0, 50, 60, 10), 0);
	assert_int_equal(close_at(t, 200, &s), 1);
	assert_int_equal(s.on_cpu[0][5], 10);
}

static void what_never_ran_has_no_data(void **state)
{
	struct timeline *t = *state;
	struct reading half[2] = { { 100, 10, 5 }, { 7, 10, 0 } };
	struct seen s = { 0 };

	assert_int_equal(timeline_slice(t, 5, 0, 0, 10, 10), 0);
	assert_int_equal(timeline_window(t, 0, 0, 10, half), 0);
	close_at(t, 10, &s);
	assert_int_equal(s.given[0][5], 100); /* as counted; scaling is the book's */
	/* never got to count: no data, not zero and not seven */
	assert_int_equal(s.bytes[1], 0);
	assert_int_equal(s.idle[1], 0);
}

static void the_past_is_forgotten_at_the_start(void **state)
{
	struct timeline *t = *state;
	const uint64_t starts[] = { 50, 50 };
	struct seen s = { 0 };

	assert_int_equal(timeline_slice(t, 5, 0, 0, 40, 40), 0);
	assert_int_equal(timeline_slice(t, 6, 0, 40, 60, 20), 0);
	window(t, 0, 0, 50, 1000);
	window(t, 0, 50, 60, 10);
	assert_int_equal(timeline_begin(t, starts), 0);
	assert_int_equal(close_at(t, 60, &s), 0);
	assert_int_equal(s.on_cpu[0][5], 0);
	assert_int_equal(s.on_cpu[0][6], 10);
	assert_int_equal(s.bytes[0], 10);
	assert_int_equal(s.given[0][6], 10);
}

static void impossible_input_is_refused(void **state)
{
	struct timeline *t = *state;
	struct reading r[2] = { { 1, 1, 1 }, { 1, 1, 1 } };

	assert_int_equal(timeline_slice(t, 5, 99, 0, 10, 5), -EINVAL);
	assert_int_equal(timeline_slice(t, 5, 0, 10, 0, 0), -EINVAL);
	assert_int_equal(timeline_slice(t, 5, 0, 0, 10, 11), -EINVAL);
	assert_int_equal(timeline_slice(t, 5, 4, 0, 10, 10), 0); /* of no socket */
	assert_int_equal(timeline_window(t, 9, 0, 10, r), -EINVAL);
	assert_int_equal(timeline_window(t, 0, 10, 10, r), -EINVAL);
	assert_int_equal(timeline_window(t, 0, 10, 20, r), 0);
	assert_int_equal(timeline_window(t, 0, 15, 30, r), -EINVAL);
}

static void errors_of_the_sink_come_back(void **state)
{
	struct timeline *t = *state;
	struct seen s = { .fail = -ENOMEM };
	struct timeline_sink sink = sink_of(&s);
	const uint64_t ends[] = { 10, 10 };
	uint64_t late;

	assert_int_equal(timeline_slice(t, 5, 0, 0, 10, 10), 0);
	assert_int_equal(timeline_close(t, ends, &sink, &late), -ENOMEM);
}

/* Anything goes: not a nanosecond of CPU time and not a byte may get lost. */
static void random_input_is_conserved(void **state)
{
	struct timeline *t = *state;
	struct seen s = { 0 };
	uint64_t bytes = 0, ns = 0, got = 0, got_ns = 0;

	srandom(7);
	for (uint64_t interval = 0; interval < 50; interval++) {
		uint64_t base = interval * 1000;

		for (int i = 0; i < 60; i++) {
			uint64_t start = base + random() % 1000, length = 1 + random() % 700;
			uint64_t on = random() % (length + 1);

			assert_int_equal(timeline_slice(t, random() % NR_WORKLOADS, random() % 2,
							start, start + length, on),
					 0);
			ns += on;
		}
		for (int w = 0; w < 10; w++) {
			uint64_t value = random();

			window(t, 0, base + w * 100, base + (w + 1) * 100, value);
			bytes += value;
		}
		close_at(t, base + 1000, &s);
	}
	close_at(t, 1000000, &s);
	for (int w = 0; w < NR_WORKLOADS; w++) {
		got += s.given[0][w];
		got_ns += s.on_cpu[0][w];
	}
	assert_true(s.bytes[0] == bytes);
	assert_true(got + s.idle[0] == bytes);
	assert_true(got_ns == ns);
	assert_int_equal(s.windows[0], 500);
}

#define TEST(fn) cmocka_unit_test_setup_teardown(fn, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(a_window_is_split_by_cpu_time),	  TEST(nobody_ran),
		TEST(a_long_run_is_split_exactly),	  TEST(a_slice_across_the_end_is_cut),
		TEST(windows_beyond_the_end_stay),	  TEST(a_late_window_finds_its_slices),
		TEST(late_slices_are_counted_and_kept),	  TEST(what_never_ran_has_no_data),
		TEST(the_past_is_forgotten_at_the_start), TEST(impossible_input_is_refused),
		TEST(errors_of_the_sink_come_back),	  TEST(random_input_is_conserved),
	};

	return cmocka_run_group_tests_name("timeline", tests, NULL, NULL);
}
