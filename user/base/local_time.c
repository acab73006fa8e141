// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "base/local_time.h"

#include <stdbool.h>

#define DAY_S 86400

/* The moment that has these fields with the offset that holds at @near; is it one of that offset? */
static bool with_offset_at(time_t near, time_t as_utc, time_t *ret)
{
	struct tm then = { 0 }, there = { 0 };

	localtime_r(&near, &then);
	*ret = as_utc - then.tm_gmtoff;
	localtime_r(ret, &there);
	return there.tm_gmtoff == then.tm_gmtoff;
}

time_t local_time(const struct tm *tm, time_t after)
{
	struct tm fields = *tm;
	time_t as_utc = timegm(&fields), a, b, first, second;
	bool is_a = with_offset_at(as_utc - DAY_S, as_utc, &a);
	bool is_b = with_offset_at(as_utc + DAY_S, as_utc, &b);

	first = a < b ? a : b;
	second = a < b ? b : a;
	if (is_a != is_b)
		return is_a ? a : b;
	return is_a && first < after ? second : first;
}
