/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Reports as tables for people: one, several side by side, and neighbours. */
#ifndef REPORT_TABLE_TABLE_H
#define REPORT_TABLE_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "model.h"
#include "neighbourhood.h"

#define TABLE_MIN_WIDTH	    60
#define TABLE_DEFAULT_WIDTH 80
#define TABLE_LEAST_ROWS    5

/**
 * struct table_options - how a table is to look
 * @width: columns of a line; 0 is TABLE_DEFAULT_WIDTH, and less than
 *	TABLE_MIN_WIDTH counts as that
 * @top: how many rows to show, the largest first; 0 shows all. The rest are
 *	added up in a row that says how many they are. For cgroups it is the
 *	number of leaf rows; the cgroups they are in are shown as well.
 * @height: lines of the terminal that it is to fit in, 0: it may have any length. Without @top, then
 *	rows that moved nothing and used next to no CPU are left out, except jobs, and the smallest
 *	others as far as needed, but TABLE_LEAST_ROWS are shown. The rest is one line with its sums
 * @by_destination: instead of reads and writes, a column for each destination that is
 *	counted, with all; with @verbose also a line for each direction. Less than 80
 *	columns count as 80 then
 * @quiet: only rows, unattributed bytes, one line per socket, and what is
 *	wrong with the numbers
 * @verbose: also both ends of the interval of each row, all rows that cannot be
 *	told apart, losses that are zero, and what the tracer itself cost
 */
struct table_options {
	size_t width;
	size_t height;
	size_t top;
	bool quiet;
	bool verbose;
	bool by_destination;
};

/**
 * table_write() - write a report as a table
 * @out: where to; flushed
 * @r: the report, of at most 64 sockets
 * @o: how it is to look
 *
 * No line is wider than the width asked for. Names that processes and cgroups
 * gave themselves are made harmless. An empty line comes before every report
 * but the first (sequence 0). Where windows were split by state-space estimate,
 * a column says how far each row's bytes may be off; bounds of other methods
 * are only what is certain, and left to @verbose.
 *
 * Return: 0, -ENOMEM with nothing written, -E2BIG for too many sockets, or the
 * negative errno of a failed write.
 */
int table_write(FILE *out, const struct report *r, const struct table_options *o);

/* Rows shown unless another number is asked for. */
#define NEIGHBOURS_TOP 20

/**
 * neighbours_table_write() - write neighbours as a table for each probe
 * @out: where to; flushed
 * @r: the neighbours
 * @o: how it is to look. @top is the number of rows, 0 for NEIGHBOURS_TOP, or with
 *	@verbose all, and fewer as far as needed for @height: those that rose come first, then what is no row, then victims and
 *	others by what they moved. @verbose also says how sure a change is, and about
 *	probes that nothing can be said of
 *
 * Return: 0, -ENOMEM with nothing written, or the negative errno of a failed write.
 */
int neighbours_table_write(FILE *out, const struct neighbours_report *r,
			   const struct table_options *o);

#endif
