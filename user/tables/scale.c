// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "tables/scale.h"

#include <stddef.h>
#include <string.h>

#include "base/array.h"
#include "base/text.h"

/* Files have some ten digits: smaller differences are rounding. */
#define DIGITS 1e-6

double scale_exact(const char *scale, const char *unit)
{
	static const struct {
		const char *name;
		double bytes;
	} units[] = {
		{ "B", 1 },	    { "Bytes", 1 },	{ "bytes", 1 },
		{ "KiB", 1 << 10 }, { "MiB", 1 << 20 }, { "GiB", 1 << 30 },
	};
	double number = 0;

	if (parse_double(scale, &number) || number < 0)
		return 0;
	for (size_t i = 0; i < ARRAY_SIZE(units); i++)
		if (!strcmp(unit, units[i].name))
			return number * units[i].bytes;
	return 0;
}

double scale_nanojoules(const char *scale, const char *unit)
{
	double number = 0;

	if (strcmp(unit, "Joules") || parse_double(scale, &number) || number < 0)
		return 0;
	return number * 1e9;
}

bool scale_same(double a, double b)
{
	return a - b <= b * DIGITS && b - a <= b * DIGITS;
}

uint32_t scale_bytes(const char *scale, const char *unit)
{
	double bytes = scale_exact(scale, unit);

	if (!(bytes >= 0.5 && bytes < UINT32_MAX) || !scale_same(bytes, (uint32_t)(bytes + 0.5)))
		return 0;
	return (uint32_t)(bytes + 0.5);
}
