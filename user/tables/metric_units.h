/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Units of metrics. */
#ifndef TABLES_METRIC_UNITS_H
#define TABLES_METRIC_UNITS_H

#include <stdbool.h>
#include <stddef.h>

/**
 * struct metric_unit - a unit
 * @name: as in struct metric_row
 * @heading: shorter, for columns; NULL: the name
 * @words: words in the names of metrics that a heading need not repeat beside the unit
 * @decimals: digits behind the point
 * @adds: those of several places have a sum: amounts and rates, not latencies and ratios
 * @of_peak: a part of the peak of all ports: one port has none, unless the formula has "ports"
 */
struct metric_unit {
	const char *name;
	const char *heading;
	const char *words[2];
	int decimals;
	bool of_peak;
	bool adds;
};

extern const struct metric_unit metric_units[];
extern const size_t nr_metric_units;

/** metric_unit_find() - the row of a unit, NULL when there is none */
const struct metric_unit *metric_unit_find(const char *name);

#endif
