// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "cli/time_arg.h"

#include <errno.h>
#include <stdbool.h>
#include <string.h>
#include <time.h>

#include "base/array.h"
#include "base/clock.h"
#include "base/text.h"
#include "base/units.h"

#define MAX_S 1e10 /* beyond the year 2200: still exact in a double and in 64 bits of ns */

static int seconds_of(double s, uint64_t *ret_ns)
{
	if (!(s >= 0 && s <= MAX_S))
		return -EINVAL;
	/* whole and broken seconds apart, to keep the former exact */
	*ret_ns = (uint64_t)s * NS_PER_S + (uint64_t)((s - (uint64_t)s) * 1e9);
	return 0;
}

static int parse_ago(const char *text, uint64_t now_ns, uint64_t *ret_ns)
{
	uint64_t ago;

	/* a blank is between a date and a time */
	if (strchr(text, ' ') || parse_time(text, NULL, &ago) || ago > now_ns)
		return -EINVAL;
	*ret_ns = now_ns - ago;
	return 0;
}

/* The text in one of the forms, all of it; @utc: with a Z behind it. */
static bool matches(const char *text, const char *form, struct tm *tm, bool *utc)
{
	const char *rest = strptime(text, form, tm);

	*utc = rest && !strcmp(rest, "Z");
	return rest && (*utc || !*rest);
}

static int parse_calendar(const char *text, uint64_t now_ns, uint64_t *ret_ns)
{
	static const char *const forms[] = {
		"%Y-%m-%dT%H:%M:%S", "%Y-%m-%d %H:%M:%S", "%Y-%m-%dT%H:%M", "%Y-%m-%d %H:%M",
		"%Y-%m-%d",	     "%H:%M:%S",	  "%H:%M"
	};
	time_t now = now_ns / NS_PER_S;

	for (size_t i = 0; i < ARRAY_SIZE(forms); i++) {
		struct tm today, tm = { 0 };
		time_t t;
		bool utc;

		if (!matches(text, forms[i], &tm, &utc))
			continue;
		if (forms[i][1] == 'H') {
			if (utc)
				gmtime_r(&now, &today);
			else
				localtime_r(&now, &today);
			tm.tm_year = today.tm_year;
			tm.tm_mon = today.tm_mon;
			tm.tm_mday = today.tm_mday;
		}
		tm.tm_isdst = -1;
		t = utc ? timegm(&tm) : mktime(&tm);
		return seconds_of(t, ret_ns);
	}
	return -EINVAL;
}

int time_arg_parse(const char *text, uint64_t now_ns, uint64_t *ret_ns)
{
	double seconds;

	if (text[0] == '@')
		return parse_double(text + 1, &seconds) ? -EINVAL : seconds_of(seconds, ret_ns);
	if (!parse_ago(text, now_ns, ret_ns))
		return 0;
	return parse_calendar(text, now_ns, ret_ns);
}
