// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Readings that cannot be true: what went back, and times that jump. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include "base/array.h"
#include "meter_world.h"
#include "platform/pmu/gain.h"

static void test_two_readings(void **state)
{
	static const struct {
		struct reading last, now;
		uint64_t window_ns;
		int err;
		struct reading gain;
	} rows[] = {
		{ { 10, 100, 100 }, { 30, 300, 250 }, 200, 0, { 20, 200, 150 } },
		{ { 10, 100, 100 }, { 10, 300, 100 }, 200, 0, { 0, 200, 0 } },
		{ { 10, 100, 100 }, { 9, 300, 300 }, 200, GAIN_BACK, { 0 } },
		{ { 10, 100, 100 }, { 30, 99, 300 }, 200, GAIN_BACK, { 0 } },
		{ { 10, 100, 100 }, { 30, 300, 99 }, 200, GAIN_BACK, { 0 } },
		{ { 0, 0, 0 }, { 1ull << 63, 1, 1 }, 200, GAIN_BACK, { 0 } },
		{ { 0, 0, 0 }, { 9, 300 * MS, 300 * MS }, MS, 0, { 9, MS, MS } },
		{ { 0, 0, 0 }, { 9, 300 * MS, 4 }, MS, 0, { 9, MS, 4 } },
		{ { 0, 0, 0 }, { 9, 4, 300 * MS }, MS, 0, { 9, MS, MS } },
		{ { 0, 0, 0 }, { 9, 6 * MS, 5 * MS }, MS, 0, { 9, 6 * MS, 5 * MS } },
		{ { 0, 0, 0 }, { 9, 300 * MS, 4 }, UINT64_MAX, 0, { 9, 300 * MS, 4 } },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct reading gain = { 0 };

		assert_int_equal(
			gain_between(&rows[i].last, &rows[i].now, rows[i].window_ns, &gain),
			rows[i].err);
		assert_memory_equal(&gain, &rows[i].gain, sizeof(gain));
	}
}

static struct fake_event *event_of(const struct want *want)
{
	return &fake.events[open_event(want) - fake.events];
}

/* One interval of 100 ms: its segments are the last of those that were seen. */
static void interval(struct meter *m)
{
	fake_pass(100 * MS);
	assert_int_equal(meter_read(m, true, &sink, NULL), 0);
}

/*
 * A value that was less for a moment, a total, or times because the clock of another CPU is behind:
 * no number then, and all of it in the next one.
 */
static void test_goes_back(void **state)
{
	const struct reading held[] = {
		{ .value = 150 * MS * fake_rate(0) },
		{ .enabled_ns = 150 * MS },
		{ .running_ns = 150 * MS },
	};

	(void)state;
	add(ucf, 0, 0, 0);
	for (size_t i = 0; i < ARRAY_SIZE(held); i++) {
		struct meter *m = open_meter(0.005);
		struct fake_event *e;

		nr_seen = 0;
		interval(m);
		interval(m);
		assert_int_equal(nr_seen, 2);
		e = event_of(&wants[0]);
		e->value -= held[i].value;
		e->enabled_ns -= held[i].enabled_ns;
		e->running_ns -= held[i].running_ns;
		interval(m);
		assert_int_equal(nr_seen, 2);
		assert_int_equal(cost_of(m, 0).failed, 1);
		e->value += held[i].value;
		e->enabled_ns += held[i].enabled_ns;
		e->running_ns += held[i].running_ns;
		interval(m);
		assert_int_equal(nr_seen, 3);
		assert_int_equal(seen[2].start_ns, seen[1].end_ns);
		check_segments();
		meter_close(m);
	}
}

/* A total that stays less: the events are opened again, and the time in between is missing. */
static void test_value_stays_back(void **state)
{
	uint64_t end, missing = 0;
	struct meter *m;

	(void)state;
	add(ucf, 0, 0, 0);
	m = open_meter(0.005);
	for (int i = 0; i < 4; i++)
		interval(m);
	event_of(&wants[0])->value = 0;
	for (int i = 0; i < 3; i++)
		interval(m);
	assert_int_equal(cost_of(m, 0).failed, 2);
	assert_int_equal(nr_seen, 6);
	end = seen[3].end_ns;
	for (size_t i = 4; i < nr_seen; i++) {
		assert_int_equal(seen[i].start_ns, end);
		end = seen[i].end_ns;
		missing += seen[i].nr ? 0 : seen[i].end_ns - seen[i].start_ns;
	}
	assert_true(missing >= 200 * MS && missing < 201 * MS);
	check_segments();
	meter_close(m);
}

/* Another CPU took the event over, whose clock of events is far ahead: what was counted is true. */
static void test_times_jump(void **state)
{
	struct meter *m;

	(void)state;
	add(ucf, 0, 0, 0);
	m = open_meter(0.005);
	interval(m);
	event_of(&wants[0])->enabled_ns += 3600 * NS_PER_S;
	event_of(&wants[0])->running_ns += 3600 * NS_PER_S;
	interval(m);
	assert_int_equal(nr_seen, 2);
	assert_true(seen[1].readings[0].value >= 100 * MS * fake_rate(0));
	assert_true(seen[1].readings[0].enabled_ns >= 100 * MS);
	assert_true(seen[1].readings[0].enabled_ns < 101 * MS);
	assert_int_equal(seen[1].readings[0].running_ns, seen[1].readings[0].enabled_ns);
	interval(m);
	assert_true(seen[2].readings[0].enabled_ns < 101 * MS);
	meter_close(m);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_two_readings),
		TEST(test_goes_back),
		TEST(test_value_stays_back),
		TEST(test_times_jump),
	};

	return cmocka_run_group_tests(tests, find_all, drop_all);
}
