// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "tables/metrics.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/array.h"
#include "base/text.h"
#include "tables/own_rows.h"

const struct metric_row *metric_row_at(size_t i)
{
	const struct {
		const struct metric_row *rows;
		size_t nr;
	} tables[] = {
		{ metric_rows_t410, nr_metric_rows_t410 },
		{ metric_rows_grace, nr_metric_rows_grace },
		{ metric_rows_controllers, nr_metric_rows_controllers },
		{ metric_rows_core, nr_metric_rows_core },
	};

	for (size_t t = 0; t < ARRAY_SIZE(tables); t++) {
		if (i < tables[t].nr)
			return &tables[t].rows[i];
		i -= tables[t].nr;
	}
	return own_metric_at(i);
}

bool metric_is_constant(const char *name)
{
	return !strcmp(name, "duration_ns") || !strcmp(name, "duration_s") ||
	       !strcmp(name, "ports");
}

int metric_text(const char *text, int32_t socket, int32_t other, char *ret, size_t size)
{
	char copy[512] = "";
	int err = 0;

	while (*text && !err) {
		if (!strncmp(text, "<s>", 3) || !strncmp(text, "<o>", 3)) {
			err = str_append(copy, sizeof(copy), "%d", text[1] == 's' ? socket : other);
			text += 3;
		} else {
			err = str_append(copy, sizeof(copy), "%c", *text++);
		}
	}
	if (err || strlen(copy) >= size)
		return -ENAMETOOLONG;
	memcpy(ret, copy, strlen(copy) + 1);
	return 0;
}

bool metric_has_other(const struct metric_row *row)
{
	return strstr(row->id, "<o>");
}

const struct core_event_row *core_event_find(enum pmu_platform platform, const char *name)
{
	for (size_t i = 0; i < nr_core_event_rows; i++) {
		const struct core_event_row *row = &core_event_rows[i];

		if (!pmu_platform_fits(row->platform, platform))
			continue;
		if (!strcmp(row->name, name))
			return row;
	}
	return NULL;
}
