/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Rows that the data cannot tell apart, in sentences. */
#ifndef REPORT_TANGLED_H
#define REPORT_TANGLED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "report/rows.h"

/**
 * tangled_write() - say which of the rows shown cannot be told from which others
 * @out: where to
 * @r: the report
 * @tree: its rows
 * @width: columns of a line
 * @all: name all groups of rows, and all of a group; otherwise the largest, and
 *	how many more there are
 *
 * Rows are called by name where they are in the report, and by key where they
 * are not. Nothing is written when every row shown is separable.
 *
 * Return: 0 or -ENOMEM. Errors of the stream are left to the caller.
 */
int tangled_write(FILE *out, const struct report *r, const struct row_tree *tree, size_t width,
		  bool all);

#endif
