/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Metrics of quantities that have a peak. */
#ifndef TABLES_METRIC_PEAKS_H
#define TABLES_METRIC_PEAKS_H

#include <stdbool.h>

#include "model.h"

#define METRIC_PEAK_IDS 2

/**
 * struct metric_peak_row - metrics of one family of PMUs, in both directions
 * @read, @write: ids of metrics in GB/s, see metrics.h. For a link, received bytes are reads; for a
 *	device's link, bytes sent to it, as the device sees memory
 * @together: where they are counted together: ids of all metrics of both, NULL behind the last one,
 *	and @read and @write are NULL
 * @of: the quantity
 * @upper_bound: they include bytes that go elsewhere
 * @cpus_only: they include bytes of CPUs only
 * @each: each PMU has a peak of its own; otherwise all of a socket have one
 */
struct metric_peak_row {
	const char *read;
	const char *write;
	const char *together[METRIC_PEAK_IDS];
	enum peak_of of;
	bool upper_bound;
	bool cpus_only;
	bool each;
};

extern const struct metric_peak_row metric_peak_rows[];
extern const size_t nr_metric_peak_rows;

#endif
