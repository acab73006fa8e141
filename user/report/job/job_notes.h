/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Notes on an account's numbers that a reader must know, in sentences. */
#ifndef REPORT_JOB_JOB_NOTES_H
#define REPORT_JOB_JOB_NOTES_H

#include <stdio.h>

#include "report/job/job_report.h"

/** job_notes_write() - gaps of the account, and the certainty of the rest; 0 or -ENOMEM */
int job_notes_write(FILE *out, const struct job_context *c, const struct account_job *j,
		    size_t width, const struct table_options *o);

#endif
