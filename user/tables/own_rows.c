// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "tables/own_rows.h"

/* Set once, before PMUs are looked for. */
static const struct own_rows *in_use;

void own_rows_use(const struct own_rows *own)
{
	in_use = own;
}

const struct own_rows *own_rows(void)
{
	return in_use && in_use->nr_rows ? in_use : NULL;
}

const struct metric_row *own_metric_at(size_t i)
{
	return in_use && i < in_use->nr_metrics ? &in_use->metrics[i] : NULL;
}

const struct counter_row *counter_row_at(size_t i)
{
	if (own_rows())
		return i < in_use->nr_rows ? &in_use->rows[i] : NULL;
	return i < nr_counter_rows ? &counter_rows[i] : NULL;
}

static bool rows_have(enum pmu_kind kind, unsigned int set, bool energy)
{
	const struct counter_row *row;

	for (size_t i = 0; (row = counter_row_at(i)); i++)
		if (row->kind == kind && row->sets & set && (energy || row->unit == UNIT_BYTES))
			return true;
	return false;
}

bool counter_rows_have(enum pmu_kind kind, unsigned int set)
{
	return rows_have(kind, set, false);
}

bool counter_rows_any(enum pmu_kind kind, unsigned int set)
{
	return rows_have(kind, set, true);
}
