/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The user's own rows: for a machine without built-in rows, and metrics for any machine. */
#ifndef TABLES_OWN_ROWS_H
#define TABLES_OWN_ROWS_H

#include "tables/counter_rows.h"
#include "tables/metrics.h"

/**
 * struct own_rows - a platform, the families of its PMUs and their counters
 * @platform: of PMU_PLATFORM_OWN
 * @families: their kinds are PMU_OWN and those that follow
 * @rows: the counters; none: the built-in ones stay in use
 * @metrics: metrics beside the built-in ones, of PMU_PLATFORM_OWN. Rows with the same id are one
 *	metric of several families, of which a machine has one
 */
struct own_rows {
	const struct pmu_platform_row *platform;
	const struct pmu_family *families;
	size_t nr_families;
	const struct counter_row *rows;
	size_t nr_rows;
	const struct metric_row *metrics;
	size_t nr_metrics;
};

/**
 * own_rows_use() - use these rows
 * @own: must stay; NULL for none
 *
 * Its families are tried before the built-in ones. Reports count its rows alone: built-in rows
 * might count the same bytes.
 */
void own_rows_use(const struct own_rows *own);

/** own_rows() - the rows in use, NULL when there are no counters among them */
const struct own_rows *own_rows(void);

/** own_metric_at() - the metrics in use; NULL behind the last */
const struct metric_row *own_metric_at(size_t i);

#endif
