/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* A file of rows for a machine without built-in rows: share/t410trace.platform-1.schema.json */
#ifndef PLATFORM_PMU_PLATFORM_FILE_H
#define PLATFORM_PMU_PLATFORM_FILE_H

#include "platform/pmu/pmu.h"
#include "tables/own_rows.h"

#define PLATFORM_FILE_SCHEMA "t410trace.platform/1"

/** platform_file_try() - does such a file make sense? As platform_file_use(), without using it */
int platform_file_try(const char *path, struct diag *d);

/**
 * platform_file_use() - read such a file and use its rows from now on
 * @path: its name
 * @d: on failure: the error, its line, and what would fit
 *
 * Call it before PMUs are looked for.
 *
 * Return: 0, also when this file is in use already; -EINVAL for a file that makes no sense, -E2BIG
 * for one that is too large, -EBUSY when another is in use, -ENOMEM, or the error of reading it.
 */
int platform_file_use(const char *path, struct diag *d);

/**
 * platform_file_check() - does the machine have the PMUs and events of the file in use?
 * @fs: sysfs
 * @list: the PMUs found with its rows
 * @d: on failure: the missing thing, its line in the file, and what exists
 *
 * Return: 0, also when no file is in use; -ENODEV for another CPU or a PMU that is not there,
 * -ENOENT for terms that sysfs does not know, -EINVAL for bytes that would be counted twice, or
 * another error of pmu_encode().
 */
int platform_file_check(const struct sysfs *fs, const struct pmu_list *list, struct diag *d);

/** platform_file_drop() - use the built-in rows again; no list of PMUs may be in use */
void platform_file_drop(void);

#endif
