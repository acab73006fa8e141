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
/* Details give way for this many, which is in sight at once. */
#define TABLE_GOOD_ROWS	    12
#define TABLE_PIPE_ROWS	    20

/**
 * struct table_options - appearance of a table
 * @width: columns of a line; 0 is TABLE_DEFAULT_WIDTH, and less than
 *	TABLE_MIN_WIDTH counts as that
 * @top: number of rows to show, the largest first; 0 shows all. The rest is added up in a row with
 *	their number. For cgroups it counts leaf rows; the cgroups they are in are shown as well
 * @height: lines of the terminal that it must fit in, 0: any length. Without @top, then rows
 *	without bytes and with next to no CPU time are left out, except jobs, then the smallest rows
 *	as far as needed, but TABLE_LEAST_ROWS are shown. The rest is one line with its sums. Without
 *	@verbose, sources of sockets, reasons and legends are left out for TABLE_GOOD_ROWS rows
 * @most: without @top and @height, the same with this many rows; 0: all
 * @by_destination: instead of reads and writes, a column for each destination that is
 *	counted, with all; with @verbose also a line for each direction. Less than 80
 *	columns count as 80 then
 * @quiet: only rows, unattributed bytes, one line per socket, and problems of the numbers
 * @verbose: also both ends of the interval of each row, all inseparable rows, the method, losses
 *	that are zero, and the tracer's own cost
 * @cut_short: the interval is much shorter than others of the run
 * @settled: without @verbose, what notes_constant() stands for is left out
 */
struct table_options {
	size_t width;
	size_t height;
	size_t top;
	size_t most;
	bool quiet;
	bool verbose;
	bool by_destination;
	bool settled;
	bool cut_short;
};

/**
 * table_write() - write a report as a table
 * @out: where to; flushed
 * @r: the report, of at most 64 sockets
 * @o: its appearance
 *
 * No line is wider than the requested width. Untrusted names of processes and cgroups are made
 * harmless. An empty line comes before every report but the first (sequence 0). Where windows were
 * split by state-space estimate, a column has the error of each row's bytes; other methods give
 * only certain bounds, which @verbose shows.
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
 * @o: its appearance. @top is the number of rows, 0 for NEIGHBOURS_TOP, or with @verbose all, and
 *	fewer as far as needed for @height: first those that rose, then lines that are no row, then
 *	victims and the rest by bytes. @verbose also shows the certainty of a change, and probes
 *	without a result
 *
 * Return: 0, -ENOMEM with nothing written, or the negative errno of a failed write.
 */
int neighbours_table_write(FILE *out, const struct neighbours_report *r,
			   const struct table_options *o);

#endif
