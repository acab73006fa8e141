/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* t410trace top FILE: a recording on a terminal, also while it is being written. */
#ifndef CLI_TOP_FILE_H
#define CLI_TOP_FILE_H

#include "cli/options.h"
#include "neighbourhood.h"
#include "report/top/view.h"

/** top_file() - show it until the user quits; returns the exit status */
int top_file(struct options *o, struct view *v);

/** top_neighbours() - neighbours so far, for the page of latencies; 0 or -ENOMEM */
int top_neighbours(struct view *v, const struct neighbours_report *r);

#endif
