/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* "stat" for counts of another tool (--counts) instead of the machine's PMUs. */
#ifndef CLI_COUNTS_STAT_H
#define CLI_COUNTS_STAT_H

#include "cli/options.h"

/** counts_stat() - show the totals of a file of counts; returns the exit status */
int counts_stat(const struct options *o);

#endif
