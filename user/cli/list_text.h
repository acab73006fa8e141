/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* "t410trace list" for people: PMUs that share events and filters, with the meaning of each. */
#ifndef CLI_LIST_TEXT_H
#define CLI_LIST_TEXT_H

#include "base/text_list.h"
#include "platform/pmu/pmu.h"
#include "tables/metrics.h"

/**
 * list_text() - print PMUs, their events and filters
 * @list: the PMUs
 * @one: name of a PMU or of a family: only that, its events as perf takes them; NULL: all
 * @notes: sentences for the end; not with @one
 *
 * PMUs and events whose names differ in one number only, and that are equal otherwise, share a line.
 *
 * Return: 0 or -ENOMEM.
 */
int list_text(const struct pmu_list *list, const char *one, const struct text_list *notes);

/** list_is_of() - is it a PMU of this name, or of a family of it? */
bool list_is_of(const struct pmu *pmu, const char *name);

/** list_next_metric() - the next of the user's metrics for PMUs here; NULL behind the last */
const struct metric_row *list_next_metric(const struct pmu_list *list, size_t *at);

#endif
