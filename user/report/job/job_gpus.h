/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* GPUs that a job held, in the texts about its account. */
#ifndef REPORT_JOB_JOB_GPUS_H
#define REPORT_JOB_JOB_GPUS_H

#include <jansson.h>

#include "report/job/job_report.h"

/** job_gpus_write() - a table of them, if there are any; 0 or a negative errno */
int job_gpus_write(FILE *out, const struct job_context *c, const struct account_job *j,
		   size_t width);

/** job_gpus_notes() - what is to be said of them: those that were held but idle; 0 or a negative errno */
int job_gpus_notes(FILE *out, const struct account_job *j, size_t width);

/** job_gpus_json() - them as an array; see put.h for @err */
json_t *job_gpus_json(const struct job_context *c, const struct account_job *j, int *err);

#endif
