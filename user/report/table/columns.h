/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The columns of the table. */
#ifndef REPORT_TABLE_COLUMNS_H
#define REPORT_TABLE_COLUMNS_H

#include "report/table/cells.h"

/** columns_lay_out() - choose columns and their widths; 0 or -ENOMEM */
int columns_lay_out(struct table *t);

/** columns_depth() - how many rows a row is below */
size_t columns_depth(const struct row_node *node);

/** columns_indent() - blanks in front of a name so deep, which may not leave its column */
size_t columns_indent(const struct table *t, size_t depth);

/** columns_before_name() - columns in front of a row's name, or of a line about it */
size_t columns_before_name(const struct table *t, const struct row_node *node);

#endif
