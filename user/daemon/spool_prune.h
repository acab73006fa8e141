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

/**
 * spool_make_room() - remove the oldest reports, so many that one and a hundredth of the bound fit
 * @s: a spool with a bound, full
 *
 * Return: 0, also when there was nothing that could be removed; -ENOMEM, or an error of the folder.
 */
int spool_make_room(struct spool *s);

#endif
