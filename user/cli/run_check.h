/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Checks of conflicting options, shared by several commands. */
#ifndef CLI_RUN_CHECK_H
#define CLI_RUN_CHECK_H

#include "cli/options.h"

/**
 * run_check_measuring() - can these options be measured?
 * @r: the options
 * @interval_ns: of reports
 * @settings: messages name settings, not options
 * @d: gets the problem
 *
 * Return: 0 or -EINVAL.
 */
int run_check_measuring(const struct run_options *r, uint64_t interval_ns, bool settings,
			struct diag *d);

/** run_check_selection() - is there one kind of selection only? 0 or -EINVAL */
int run_check_selection(const struct run_options *r, struct diag *d);

/** run_check_live() - both, for a live run; unset options get their defaults. 0 or -EINVAL */
int run_check_live(struct run_options *r, struct diag *d);

/** run_check_counts() - do options of --counts make sense together? 0 or -EINVAL */
int run_check_counts(const struct counts_joining *c, struct diag *d);

/** run_take_recording() - an argument that is the recording; see struct command */
int run_take_recording(struct options *o, const char *text, struct diag *d);

#endif
