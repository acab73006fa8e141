// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "base/units.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/array.h"
#include "base/text.h"

#define MAX_VALUE 9e18 /* what 64 bits hold */

struct unit {
	const char *name;
	uint64_t factor;
};

/* Smallest first; of two names for one, the first is printed. */
static const struct unit times[] = {
	{ "us", 1000 },		 { "ms", 1000000 },    { "s", 1000000000 },
	{ "min", 60000000000 },	 { "m", 60000000000 }, { "h", 3600000000000 },
	{ "d", 86400000000000 },
};

static const struct unit sizes[] = {
	{ "", 1 },	     { "K", 1ull << 10 }, { "M", 1ull << 20 },
	{ "G", 1ull << 30 }, { "T", 1ull << 40 },
};

static const struct unit rates[] = {
	{ "kB/s", 1000 },	   { "MB/s", 1000000 },	    { "GB/s", 1000000000 },
	{ "TB/s", 1000000000000 }, { "KiB/s", 1ull << 10 }, { "MiB/s", 1ull << 20 },
	{ "GiB/s", 1ull << 30 },   { "TiB/s", 1ull << 40 },
};

/* No sign, no exponent: "1e3" is as likely a slip as a thousand. */
static int parse_number(const char *text, size_t length, double *ret)
{
	char number[32];

	if (!length || length >= sizeof(number))
		return -EINVAL;
	memcpy(number, text, length);
	number[length] = '\0';
	return parse_double(number, ret) ? -EINVAL : 0;
}

static int parse(const char *text, const char *bare, const struct unit *units, size_t nr,
		 uint64_t *ret)
{
	size_t length = strspn(text, "0123456789.");
	const char *name = text + length;
	double value;
	int err = parse_number(text, length, &value);

	name = *name || !bare ? name + strspn(name, " ") : bare;
	for (size_t i = 0; !err && i < nr; i++) {
		if (strcmp(name, units[i].name) != 0)
			continue;
		value *= (double)units[i].factor;
		if (value > MAX_VALUE)
			return -EINVAL;
		*ret = (uint64_t)(value + 0.5);
		return 0;
	}
	return -EINVAL;
}

int parse_time(const char *text, const char *bare, uint64_t *ret_ns)
{
	return parse(text, bare, times, ARRAY_SIZE(times), ret_ns);
}

int parse_size(const char *text, uint64_t *ret_bytes)
{
	return parse(text, "", sizes, ARRAY_SIZE(sizes), ret_bytes);
}

int parse_rate(const char *text, uint64_t *ret_bytes)
{
	return parse(text, NULL, rates, ARRAY_SIZE(rates), ret_bytes);
}

int parse_percent(const char *text, double *ret)
{
	size_t length = strspn(text, "0123456789.");

	if (strcmp(text + length, "") != 0 && strcmp(text + length, "%") != 0)
		return -EINVAL;
	return parse_number(text, length, ret);
}

static void print(uint64_t value, const struct unit *units, size_t nr, char *ret)
{
	size_t best = 0;

	for (size_t i = 0; i < nr; i++)
		if (units[i].factor > units[best].factor && value % units[i].factor == 0)
			best = i;
	snprintf(ret, UNITS_TEXT_LEN, "%" PRIu64 "%s", value / units[best].factor,
		 value ? units[best].name : "");
}

void time_text(uint64_t ns, char ret[UNITS_TEXT_LEN])
{
	print(ns, times, ARRAY_SIZE(times), ret);
}

void size_text(uint64_t bytes, char ret[UNITS_TEXT_LEN])
{
	print(bytes, sizes, ARRAY_SIZE(sizes), ret);
}
