// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Two clocks that are read one after the other, on a machine that stands still meanwhile. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "base/clock.h"

#define READING_NS 30 /* of a clock takes so long */
#define AHEAD_NS   (7 * NS_PER_S)

static uint64_t now_ns;
static unsigned int readings;
static unsigned int still_at; /* before this reading */
static uint64_t still_ns;

int __wrap_clock_gettime(clockid_t clock, struct timespec *ret);
int __wrap_clock_gettime(clockid_t clock, struct timespec *ret)
{
	uint64_t ns;

	now_ns += READING_NS;
	if (++readings == still_at)
		now_ns += still_ns;
	ns = now_ns + (clock == CLOCK_REALTIME ? AHEAD_NS : 0);
	*ret = (struct timespec){ ns / NS_PER_S, ns % NS_PER_S };
	return 0;
}

static int64_t ahead(unsigned int at, uint64_t ns)
{
	now_ns = 1000 * NS_PER_S;
	readings = 0;
	still_at = at;
	still_ns = ns;
	return clock_ahead_ns(CLOCK_REALTIME);
}

static void test_ahead(void **state)
{
	(void)state;
	assert_in_range(ahead(0, 0), AHEAD_NS, AHEAD_NS + 10 * READING_NS);
	assert_int_equal(readings, 3);
}

static void test_stands_still(void **state)
{
	(void)state;
	for (unsigned int at = 1; at < 5; at++)
		for (uint64_t ns = 200000; ns < 5 * NS_PER_S; ns *= 3)
			assert_in_range(ahead(at, ns), AHEAD_NS, AHEAD_NS + 10 * READING_NS);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_ahead),
		cmocka_unit_test(test_stands_still),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
