// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Local times around the hours that come twice or never. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <cmocka.h>

#include "base/array.h"
#include "base/clock.h"
#include "base/local_time.h"
#include "cli/values.h"

#define CET   "CET-1CEST,M3.5.0,M10.5.0/3"
#define CHILE "<-04>4<-03>,M9.1.6/24,M4.1.6/24"

static void zone(const char *name)
{
	setenv("TZ", name, 1);
	tzset();
}

static void test_since(void **state)
{
	static const struct {
		const char *zone, *text, *same; /* what is meant, in UTC */
	} rows[] = {
		{ CET, "2026-10-25T01:59:59", "2026-10-24T23:59:59Z" },
		{ CET, "2026-10-25T02:00:00", "2026-10-25T00:00:00Z" }, /* twice */
		{ CET, "2026-10-25 02:30", "2026-10-25T00:30:00Z" },
		{ CET, "2026-10-25T02:59:59", "2026-10-25T00:59:59Z" },
		{ CET, "2026-10-25T03:00", "2026-10-25T02:00:00Z" },
		{ CET, "2026-03-29T01:59:59", "2026-03-29T00:59:59Z" },
		{ CET, "2026-03-29T02:30", "2026-03-29T00:30:00Z" }, /* never */
		{ CET, "2026-03-29T03:00", "2026-03-29T01:00:00Z" },
		{ CET, "2026-01-15T12:00", "2026-01-15T11:00:00Z" },
		{ CET, "2026-07-15T12:00", "2026-07-15T10:00:00Z" },
		{ CET, "2026-10-25T02:30Z", "2026-10-25T02:30:00Z" },
		{ CHILE, "2026-09-06", "2026-09-06T03:00:00Z" }, /* no midnight */
		{ "UTC", "2026-10-25T02:30", "2026-10-25T02:30:00Z" },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		uint64_t got, expected;

		zone(rows[i].zone);
		assert_int_equal(value_since(NULL, rows[i].text, &got, NULL), 0);
		assert_int_equal(value_since(NULL, rows[i].same, &expected, NULL), 0);
		if (got != expected)
			fail_msg("%s is %.0f s late", rows[i].text,
				 ((double)got - (double)expected) / NS_PER_S);
	}
}

/* What JSON prints can be given back. */
static void test_printed(void **state)
{
	uint64_t ns;

	(void)state;
	assert_int_equal(value_since(NULL, "2026-11-20T16:00:00.250Z", &ns, NULL), 0);
	assert_int_equal(ns, 1795190400250000000);
	assert_int_equal(value_since(NULL, "@1795190400.25", &ns, NULL), 0);
	assert_int_equal(ns, 1795190400250000000);
	assert_int_not_equal(value_since(NULL, "2026-11-20T16:00:00.Z", &ns, NULL), 0);
	assert_int_not_equal(value_since(NULL, "2026-11-20T16:00:00.5e3Z", &ns, NULL), 0);
	assert_int_not_equal(value_since(NULL, "2026-11-20T16:00.5", &ns, NULL), 0);
}

/* Each hour of two years is itself, but the second one of two is reached only behind the first. */
static void test_each_hour(void **state)
{
	const time_t begin = 1767225600; /* 2026-01-01 */
	unsigned int twice = 0;

	(void)state;
	zone(CET);
	for (time_t t = begin; t < begin + 2 * 365 * 86400; t += 1800) {
		struct tm tm;

		localtime_r(&t, &tm);
		assert_int_equal(local_time(&tm, t), t);
		twice += local_time(&tm, 0) != t;
	}
	assert_int_equal(twice, 4);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_since),
		cmocka_unit_test(test_printed),
		cmocka_unit_test(test_each_hour),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
