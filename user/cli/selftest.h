/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* t410trace check --selftest: are this machine's counts right? */
#ifndef CLI_SELFTEST_H
#define CLI_SELFTEST_H

#include "cli/options.h"

/** selftest_command() - run it and print the result; returns the exit status */
int selftest_command(const struct options *o);

#endif
