/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What the table says of devices. */
#ifndef REPORT_DEVICES_TABLE_H
#define REPORT_DEVICES_TABLE_H

#include "report/table/cells.h"

/**
 * devices_put_moved() - a line with what devices moved for a row, where there are no columns
 * @t: the table
 * @bytes: by direction
 * @indent: blanks in front
 *
 * Nothing is written for a row without such bytes.
 */
void devices_put_moved(const struct table *t, const uint64_t bytes[2], int indent);

/**
 * devices_put_row() - a line for each device and direction in which a row has a part
 * @t: the table
 * @row: the row
 * @indent: blanks in front
 *
 * Return: 0 or -ENOMEM.
 */
int devices_put_row(const struct table *t, const struct report_row *row, int indent);

/**
 * devices_write() - the block of devices: what each moved, and how well that is known
 * @t: the table
 *
 * Return: 0 or -ENOMEM.
 */
int devices_write(struct table *t);

/**
 * devices_notes() - what a reader must know of these numbers, in sentences
 * @t: the table
 *
 * Return: 0 or -ENOMEM.
 */
int devices_notes(const struct table *t);

#endif
