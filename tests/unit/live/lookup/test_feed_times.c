// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* How long events seem to have counted, and what is made of it. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include "base/array.h"
#include "feed_world.h"

/* Parts of a sum are read one after the other, so their windows are not equally long. */
static void a_sum_counted_as_much_as_its_worst_part(void **state)
{
	/* count, enabled, running: all counted, and in the second window one half of its time */
	const struct ledger_value readings[][3] = {
		{ { 0, 100, 100 }, { 0, 105, 105 }, { 0, 110, 110 } },
		{ { 10, 200, 200 }, { 20, 207, 207 }, { 30, 209, 209 } },
		{ { 20, 300, 300 }, { 30, 307, 257 }, { 40, 312, 312 } },
	};
	struct counted_event parts[3] = { events[0], events[0], events[0] };
	struct ledger_window r = { .nr = 3 };
	struct report *rep;
	struct world w;

	(void)state;
	setup_events(&w, parts);
	for (uint64_t at = 0; at < 3; at++) {
		r.h.time_ns = readings[at][0].enabled_ns;
		for (int i = 0; i < 3; i++)
			r.readings[i].value = readings[at][i];
		w.sink.window(w.sink.arg, &r);
		rep = close_at(&w, r.h.time_ns); /* 60 counted, then 30 in half of the time */
		assert_int_equal(rep->counters[0].value, at ? 60 : 0);
		assert_int_equal(rep->counters[0].enabled_ns, at * rep->counters[0].running_ns);
		report_free(rep);
	}
	teardown(&w);
}

/* Another CPU has taken over: three seconds on in a window of ten milliseconds, nothing invented. */
static void a_clock_that_jumps_scales_nothing(void **state)
{
	static const struct {
		uint64_t enabled_ms, running_ms, seen_enabled_ms, seen_running_ms;
	} rows[] = {
		{ 3000, 10, 10, 10 },
		{ 3000, 2500, 10, 10 },
		{ 3000, 4, 10, 4 },
		/* a little more is what reading later comes to */
		{ 14, 7, 14, 7 },
	};
	struct report *r;
	struct world w;

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct ledger_window reading = { .h = { .time_ns = 20000000 }, .nr = 3 };

		setup(&w);
		window(&w, 10000000, 0, 0, 0, NULL);
		for (int e = 0; e < 3; e++)
			reading.readings[e].value = (struct ledger_value){
				1000,
				10000000 + rows[i].enabled_ms * 1000000,
				10000000 + rows[i].running_ms * 1000000,
			};
		w.sink.window(w.sink.arg, &reading);
		r = close_at(&w, 20000000);
		assert_int_equal(r->counters[0].value,
				 1000 * rows[i].seen_enabled_ms / rows[i].seen_running_ms);
		assert_int_equal(r->counters[0].enabled_ns, rows[i].seen_enabled_ms * 1000000);
		assert_int_equal(r->counters[0].running_ns, rows[i].seen_running_ms * 1000000);
		report_free(r);
		teardown(&w);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_sum_counted_as_much_as_its_worst_part),
		cmocka_unit_test(a_clock_that_jumps_scales_nothing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
