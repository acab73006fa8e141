/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What a reader of an account must know of its numbers, in sentences. */
#ifndef REPORT_JOB_JOB_NOTES_H
#define REPORT_JOB_JOB_NOTES_H

#include <stdio.h>

#include "report/job/job_report.h"

/** job_notes_write() - what is not in the account, and how sure the rest is; 0 or -ENOMEM */
int job_notes_write(FILE *out, const struct job_context *c, const struct account_job *j,
		    size_t width, const struct table_options *o);

#endif
