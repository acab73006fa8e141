/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Counts of the kernel's monitoring (resctrl) for rows, beside the report's own. Never mixed. */
#ifndef REPORT_RESCTRL_REPORT_H
#define REPORT_RESCTRL_REPORT_H

#include <jansson.h>
#include <stdio.h>

#include "model.h"

/** resctrl_groups_row() - the row that a group belongs to, NULL for none */
const struct report_row *resctrl_groups_row(const struct report *r, const struct report_resctrl *f);

/** resctrl_groups_own_bytes() - bytes of CPUs for a row; false where no counter has a value */
bool resctrl_groups_own_bytes(const struct report *r, const struct report_row *row, uint64_t *ret);

/**
 * resctrl_groups_put_match() - "by its 3 tasks", "by its tasks, 3 of the row's 12", "by its name,
 * ..."
 */
void resctrl_groups_put_match(FILE *f, const struct report_resctrl *r);

/** resctrl_groups_why_not() - why a group has no number, for people */
const char *resctrl_groups_why_not(enum resctrl_state s);

/** resctrl_groups_explain() - a sentence on the source of these numbers; 0 or -ENOMEM */
int resctrl_groups_explain(FILE *out, size_t width);

/** resctrl_groups_array() - JSON of all groups; @err as in put.h */
json_t *resctrl_groups_array(const struct report *r, int *err);

/**
 * resctrl_groups_write() - a line for each group that belongs to a row, and notes
 * @out: where to
 * @r: the report
 * @width: columns of a line
 * @all: also groups that belong to no row
 *
 * Writes nothing without monitoring. Return: 0 or -ENOMEM.
 */
int resctrl_groups_write(FILE *out, const struct report *r, size_t width, bool all);

#endif
