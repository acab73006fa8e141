/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Reports of the same interval, made by several methods, side by side. */
#ifndef REPORT_COMPARE_H
#define REPORT_COMPARE_H

#include <stdio.h>

#include "report/table/table.h"

/**
 * compare_table_write() - write a table with a column of bytes a method
 * @out: where to; flushed
 * @reports: of the same interval, rows and counters; leaf rows are matched by key
 * @methods: which method was asked for each
 * @nr: number of reports, at most NR_METHODS
 * @o: how it is to look; @verbose: also a line for reads and one for writes of each row
 *
 * The difference is that of the last method from the first; the interval is the last
 * method's, as the sum of those of the row's counters.
 *
 * Return: 0, -ENOMEM with nothing written, or the negative errno of a failed write.
 */
int compare_table_write(FILE *out, struct report *const *reports, const enum method *methods,
			size_t nr, const struct table_options *o);

/**
 * compare_json_write() - write one line of JSON, t410trace.compare/1
 * @out, @reports, @methods, @nr: see compare_table_write()
 *
 * Return: 0, -ENOMEM or -ERANGE with nothing written, or the negative errno of a
 * failed write.
 */
int compare_json_write(FILE *out, struct report *const *reports, const enum method *methods,
		       size_t nr);

#endif
