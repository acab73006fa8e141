/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Bytes, or nanojoules, per count: by sysfs, by the table, and whether the two agree. */
#ifndef PLATFORM_PMU_PMU_SCALE_H
#define PLATFORM_PMU_PMU_SCALE_H

#include "platform/pmu/pmu.h"
#include "tables/counter_rows.h"

/**
 * pmu_row_bytes() - bytes per count of a row
 * @row: the row; its own number counts, if it has one
 * @event: the event in sysfs, or NULL
 *
 * Return: the bytes, 0 when neither knows them.
 */
struct bytes_ratio pmu_row_bytes(const struct counter_row *row, const struct pmu_event *event);

/**
 * pmu_scale_differs() - does sysfs contradict the table?
 * @pmu: the PMU
 * @ret_row: the first row that sysfs contradicts
 *
 * Return: the row's event; NULL when they agree, as far as sysfs says anything.
 */
const struct pmu_event *pmu_scale_differs(const struct pmu *pmu,
					  const struct counter_row **ret_row);

/** pmu_row_event() - the row's event in sysfs, NULL when there is none */
const struct pmu_event *pmu_row_event(const struct pmu *pmu, const struct counter_row *row);

/** pmu_row_scale() - the scale in sysfs in the row's unit, 0 when it has none */
double pmu_row_scale(const struct counter_row *row, const struct pmu_event *event);

/** pmu_row_unit() - "bytes", "nanojoules" */
const char *pmu_row_unit(const struct counter_row *row);

/** pmu_row_differs() - does sysfs contradict this row? */
bool pmu_row_differs(const struct pmu *pmu, const struct counter_row *row);

/**
 * pmu_row_config() - how a row's event is encoded
 * @pmu: of the row's family
 * @row: its own terms count where sysfs has no such event
 * @d: on failure: the event or field that the PMU lacks
 * @ret: the encoded event
 *
 * Return: 0 or an error of pmu_encode().
 */
int pmu_row_config(const struct pmu *pmu, const struct counter_row *row, struct diag *d,
		   struct pmu_config *ret);

#endif
