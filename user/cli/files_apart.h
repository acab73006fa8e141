/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* An input file is never written to, and each output file gets one kind of output. */
#ifndef CLI_FILES_APART_H
#define CLI_FILES_APART_H

#include "cli/options.h"

/**
 * files_apart() - check, before any file is opened, that each option names a different file
 * @o: all options of a command
 * @d: gets the two options with the same file
 *
 * Return: 0 or -EINVAL.
 */
int files_apart(const struct options *o, struct diag *d);

#endif
