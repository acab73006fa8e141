/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* t410trace list --explain: one PMU, and the rows of the tables for it. */
#ifndef CLI_LIST_EXPLAIN_H
#define CLI_LIST_EXPLAIN_H

#include "platform/pmu/pmu.h"

/**
 * list_explain() - everything about one PMU and the rows for it
 * @fs: sysfs
 * @list: all PMUs that a row knows
 * @name: its name in sysfs
 * @d: filled on failure
 * @ret_lines: lines are added; those that begin with blanks belong to the one before
 *
 * Return: 0, -ENOENT when sysfs has no such PMU, -ENOMEM.
 */
int list_explain(const struct sysfs *fs, const struct pmu_list *list, const char *name,
		 struct diag *d, struct text_list *ret_lines);

#endif
