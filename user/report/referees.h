/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What the kernel's monitoring (resctrl) says of rows, beside what the report says. Never mixed. */
#ifndef REPORT_REFEREES_H
#define REPORT_REFEREES_H

#include <jansson.h>
#include <stdio.h>

#include "model.h"

/** referees_array() - JSON of all groups; @err as in put.h */
json_t *referees_array(const struct report *r, int *err);

/**
 * referees_write() - a line for each group that belongs to a row, and what to know of them
 * @out: where to
 * @r: the report
 * @width: columns of a line
 * @all: also groups that belong to no row
 *
 * Nothing is written where there is no monitoring. Return: 0 or -ENOMEM.
 */
int referees_write(FILE *out, const struct report *r, size_t width, bool all);

#endif
