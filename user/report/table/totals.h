/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Lines of the table below its rows: what belongs to no row, and the sockets. */
#ifndef REPORT_TOTALS_H
#define REPORT_TOTALS_H

#include "report/table/cells.h"

/**
 * totals_reason() - write the bytes that belong to no row for a reason
 * @t: the table
 * @reason: the reason; without bytes or CPU time worth a line there is none
 *
 * Return: 0 or -ENOMEM.
 */
int totals_reason(struct table *t, enum reason reason);

/**
 * totals_owned() - write the bytes that devices moved for rows
 * @t: the table
 *
 * Sockets count them, and the numbers of rows are without them: this line makes the sums
 * right. Without such bytes there is none.
 *
 * Return: 0 or -ENOMEM.
 */
int totals_owned(const struct table *t);

/**
 * totals_socket() - write what a socket moved, in all and by source
 * @t: the table
 * @socket: index into row_tree.sockets
 *
 * Return: 0 or -ENOMEM.
 */
int totals_socket(const struct table *t, size_t socket);

#endif
