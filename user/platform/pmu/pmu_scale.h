/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Bytes per count: what sysfs says, what the table says, and whether they agree. */
#ifndef PLATFORM_PMU_SCALE_H
#define PLATFORM_PMU_SCALE_H

#include "platform/pmu/pmu.h"
#include "tables/counter_rows.h"

/**
 * pmu_row_bytes() - bytes per count of a row
 * @row: the row; its own number counts, if it has one
 * @event: the event in sysfs, or NULL
 *
 * Return: the bytes, 0 when neither knows them.
 */
uint32_t pmu_row_bytes(const struct counter_row *row, const struct pmu_event *event);

/**
 * pmu_scale_differs() - does sysfs contradict the table?
 * @pmu: the PMU
 * @ret_row: the first row that sysfs contradicts
 *
 * Return: the row's event; NULL when they agree, as far as sysfs says anything.
 */
const struct pmu_event *pmu_scale_differs(const struct pmu *pmu,
					  const struct counter_row **ret_row);

#endif
