/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* A file that is read is not written to, and each file that is written gets one thing. */
#ifndef CLI_FILES_APART_H
#define CLI_FILES_APART_H

#include "cli/options.h"

/**
 * files_apart() - before any file is opened: does each option name a file of its own?
 * @o: all options of a command
 * @d: gets the two that share one
 *
 * Return: 0 or -EINVAL.
 */
int files_apart(const struct options *o, struct diag *d);

#endif
