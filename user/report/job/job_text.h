/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Pieces of text that the tables of jobs have in common. */
#ifndef REPORT_JOB_TEXT_H
#define REPORT_JOB_TEXT_H

#include <stddef.h>
#include <stdio.h>

#include "account.h"
#include "report/format.h"
#include "report/table/table.h"

/** job_text_width() - columns of a line */
size_t job_text_width(const struct table_options *o);

/** job_text_title() - "slurm job 12 (lbm) of ann on n1: ended"; to be freed. 0 or -ENOMEM */
int job_text_title(const struct host_info *host, const struct account_job *j, char **ret);

#endif
