/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Reports as comma-separated values, for spreadsheets and data frames: a line for each number.
 * docs/EXPORT.md has the columns.
 */
#ifndef REPORT_CSV_CSV_H
#define REPORT_CSV_CSV_H

#include <stdio.h>

#include "model.h"

/**
 * csv_write() - write the lines of a report
 * @out: where to; flushed
 * @r: the report; before the one with sequence 0 there is a line with the names of the columns
 *
 * Return: 0, -ENOMEM with nothing written, or the negative errno of a failed write.
 */
int csv_write(FILE *out, const struct report *r);

#endif
