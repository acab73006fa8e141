/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* t410trace job --merge: one account of the closing reports of several nodes. */
#ifndef CLI_JOB_MERGE_H
#define CLI_JOB_MERGE_H

#include "cli/options.h"

/** job_merge_is_report() - is an argument the path of reports, not a job? */
bool job_merge_is_report(const char *text);

/** job_merge_check() - do the options go with --merge? 0 or -EINVAL */
int job_merge_check(const struct options *o, struct diag *d);

/** job_merge_command() - merge and write; the exit status */
int job_merge_command(const struct options *o);

#endif
