/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Inside of the spool: which files are reports, and which of them are removed. See spool.h. */
#ifndef DAEMON_SPOOL_PRUNE_H
#define DAEMON_SPOOL_PRUNE_H

#include <stdbool.h>

#include "daemon/spool.h"

/** spool_is_name() - may a report be called so? */
bool spool_is_name(const char *name);

/** spool_narrow() - take the reports in @folder from others than owner and group; 0 or a negative errno */
int spool_narrow(int folder);

/** spool_is_full() - is there no room for so many files and bytes more? */
bool spool_is_full(const struct spool *s, size_t files, uint64_t bytes);

/**
 * spool_make_room() - remove the oldest reports until these and a hundredth of the bound fit
 * @s: a spool with a bound, full
 * @files, @bytes: as for spool_is_full()
 *
 * Reports that somebody picks up meanwhile make room, too, but do not count as removed.
 *
 * Return: 0, also when there was nothing that could be removed; -ENOMEM, or an error of the folder.
 */
int spool_make_room(struct spool *s, size_t files, uint64_t bytes);

#endif
