/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* PMUs that no row counts, but that users must know about. */
#ifndef TABLES_ASIDE_ROWS_H
#define TABLES_ASIDE_ROWS_H

#include <stddef.h>

/**
 * struct aside_row - PMUs of one kind
 * @pattern: sysfs name, as in struct pmu_family
 * @what: text for users, behind the name
 * @source: source of the row
 */
struct aside_row {
	const char *pattern;
	const char *what;
	const char *source;
};

extern const struct aside_row aside_rows[];
extern const size_t nr_aside_rows;

#endif
