/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What parts of peaks the metrics of a report come to. */
#ifndef REPORT_STAT_STAT_PEAKS_H
#define REPORT_STAT_STAT_PEAKS_H

#include <jansson.h>

#include "report/peaks.h"
#include "stat.h"

/**
 * stat_peaks_use() - the uses of peaks in a report, in turn
 * @r: the report
 * @at: where to look on: 0 for the first one, then as it was left
 * @ret: the use
 *
 * A use is a socket's and one family of PMUs': all their metrics of both directions added up,
 * without those that a filter narrows. Where each PMU is a link by itself it is of one PMU.
 *
 * Return: the family, NULL behind the last one.
 */
const char *stat_peaks_use(const struct stat_report *r, size_t *at, struct peak_use *ret);

/** stat_peaks_array() - JSON of all uses; @err as in put.h */
json_t *stat_peaks_array(const struct stat_report *r, int *err);

/** stat_peaks_write() - a line for each use, and who says the peak; 0 or -ENOMEM */
int stat_peaks_write(FILE *out, const struct stat_report *r, size_t width);

#endif
