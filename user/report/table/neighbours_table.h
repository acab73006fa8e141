/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Neighbours as a table for people. */
#ifndef REPORT_NEIGHBOURS_TABLE_H
#define REPORT_NEIGHBOURS_TABLE_H

#include "neighbourhood.h"
#include "report/table/table.h"

/* Rows shown unless another number is asked for. */
#define NEIGHBOURS_TOP 20

/**
 * neighbours_table_write() - write neighbours as a table for each probe
 * @out: where to; flushed
 * @r: the neighbours
 * @o: how it is to look. @top is the number of rows, 0 for NEIGHBOURS_TOP, or with
 *	@verbose all: those that rose come first, then what is no row, then victims and
 *	others by what they moved. @verbose also says how sure a change is, and about
 *	probes that nothing can be said of
 *
 * Return: 0, -ENOMEM with nothing written, or the negative errno of a failed write.
 */
int neighbours_table_write(FILE *out, const struct neighbours_report *r,
			   const struct table_options *o);

#endif
