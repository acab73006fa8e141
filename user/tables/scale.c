// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "tables/scale.h"

#include <stddef.h>
#include <string.h>

#include "base/array.h"
#include "base/text.h"

/* Files have some ten digits: what differs by less is the same number. */
#define DIGITS 1e-6

uint32_t scale_bytes(const char *scale, const char *unit)
{
	static const struct {
		const char *name;
		double bytes;
	} units[] = {
		{ "B", 1 },	    { "Bytes", 1 },	{ "bytes", 1 },
		{ "KiB", 1 << 10 }, { "MiB", 1 << 20 }, { "GiB", 1 << 30 },
	};
	double bytes = 0, rest;

	if (parse_double(scale, &bytes))
		return 0;
	for (size_t i = 0; i < ARRAY_SIZE(units); i++) {
		if (strcmp(unit, units[i].name))
			continue;
		bytes *= units[i].bytes;
		if (!(bytes >= 0.5 && bytes < UINT32_MAX))
			return 0;
		rest = bytes - (uint32_t)(bytes + 0.5);
		return rest < bytes * DIGITS && -rest < bytes * DIGITS ? (uint32_t)(bytes + 0.5)
								       : 0;
	}
	return 0;
}
