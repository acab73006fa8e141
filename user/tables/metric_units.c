// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "tables/metric_units.h"

#include <string.h>

#include "base/array.h"

/* clang-format off */
const struct metric_unit metric_units[] = {
	{ "GB/s", NULL, { "bandwidth" }, 3, false, true },
	{ "B/s", NULL, { NULL }, 3, false, true },
	{ "requests/cycle", "req/cyc", { "request", "rate" }, 3, false, false },
	{ "instructions/cycle", "ins/cyc", { NULL }, 3, false, false },
	{ "ns", NULL, { "ns" }, 1, false, false },
	{ "cycles", NULL, { "cycles" }, 1, false, false },
	{ "GHz", NULL, { NULL }, 3, false, false },
	{ "ratio", NULL, { NULL }, 3, false, false },
	{ "percent", "%", { NULL }, 1, true, false },
	{ "MPKI", NULL, { NULL }, 3, false, false },
	{ "FLOP/s", NULL, { NULL }, 3, false, true },
	{ "requests", NULL, { NULL }, 3, false, true },
	{ "B", NULL, { NULL }, 1, false, false },
	{ "W", NULL, { NULL }, 3, false, true },
};
/* clang-format on */
const size_t nr_metric_units = ARRAY_SIZE(metric_units);

const struct metric_unit *metric_unit_find(const char *name)
{
	for (size_t i = 0; i < nr_metric_units; i++)
		if (!strcmp(metric_units[i].name, name))
			return &metric_units[i];
	return NULL;
}
