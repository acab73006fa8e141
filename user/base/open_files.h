/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The soft limit of open files: each perf event is one. */
#ifndef BASE_OPEN_FILES_H
#define BASE_OPEN_FILES_H

#include <stddef.h>
#include <stdint.h>

/**
 * open_files_allow() - raise the limit
 * @nr: descriptors that will be open beside those that are
 *
 * Return: the limit as it was, for open_files_restore(); 0 when it stays.
 */
uint64_t open_files_allow(size_t nr);

/** open_files_restore() - undo open_files_allow(); nothing happens for 0 */
void open_files_restore(uint64_t soft);

/** open_files_in_child() - to be called before exec: the limit as it was before any was raised */
void open_files_in_child(void);

#endif
