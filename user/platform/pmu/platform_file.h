/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* A file with rows for a machine that no built-in row knows: share/t410trace.platform-1.schema.json */
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
 * @d: on failure says what is wrong, at which line, and what would fit
 *
 * To be called before anybody looks for PMUs.
 *
 * Return: 0, also when this file is in use already; -EINVAL for a file that makes no sense, -E2BIG
 * for one that is too large, -EBUSY when there is another one, -ENOMEM, or the error of reading it.
 */
int platform_file_use(const char *path, struct diag *d);

/**
 * platform_file_check() - does a machine have what the file in use speaks of?
 * @fs: sysfs
 * @list: the PMUs found with its rows
 * @d: on failure says what is not there, at which line of the file, and what is
 *
 * Return: 0, also when no file is in use; -ENODEV for another CPU or a PMU that is not there,
 * -ENOENT for terms that sysfs does not know, -EINVAL for bytes that would be counted twice, or
 * another error of pmu_encode().
 */
int platform_file_check(const struct sysfs *fs, const struct pmu_list *list, struct diag *d);

/** platform_file_drop() - use the built-in rows again; nobody may have PMUs any more */
void platform_file_drop(void);

#endif
