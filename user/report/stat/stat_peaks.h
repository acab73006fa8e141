/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The used parts of peaks by a report's metrics. */
#ifndef REPORT_STAT_STAT_PEAKS_H
#define REPORT_STAT_STAT_PEAKS_H

#include <jansson.h>

#include "report/peaks.h"
#include "stat.h"

/**
 * stat_peaks_use() - the uses of peaks in a report, in turn
 * @r: the report
 * @at: position: 0 for the first one, then as it was left
 * @ret: the use
 *
 * A use belongs to a socket and one family of PMUs: all their metrics of both directions added up,
 * without filtered ones. If each PMU is a separate link it belongs to one PMU.
 *
 * Return: the family, NULL behind the last one.
 */
const char *stat_peaks_use(const struct stat_report *r, size_t *at, struct peak_use *ret);

/** stat_peaks_array() - JSON of all uses; @err as in put.h */
json_t *stat_peaks_array(const struct stat_report *r, int *err);

/** stat_peaks_write() - a line for each use, and the source of the peak; 0 or -ENOMEM */
int stat_peaks_write(FILE *out, const struct stat_report *r, size_t width);

#endif
