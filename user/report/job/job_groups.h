/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Counts of the kernel's monitoring groups (resctrl) for a job, beside its account. Never mixed. */
#ifndef REPORT_JOB_JOB_GROUPS_H
#define REPORT_JOB_JOB_GROUPS_H

#include <stdio.h>

#include "report/job/job_report.h"

/** job_groups_write() - a line for each group, and notes; 0 or -ENOMEM */
int job_groups_write(FILE *out, const struct job_context *c, const struct account_job *j,
		     size_t width);

#endif
