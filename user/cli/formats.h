/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Writers for each kind of report, by format. */
#ifndef CLI_FORMATS_H
#define CLI_FORMATS_H

#include <stdio.h>

#include "base/diag.h"
#include "cli/output.h"
#include "neighbourhood.h"
#include "report/job/job_report.h"
#include "run_options.h"
#include "stat.h"

/**
 * struct report_writers - a format
 * @report, @neighbours, @stat, @job, @jobs: write a report to a stream; 0 or a
 *	negative errno. Formats for programs do not look at how a table is to look
 */
struct report_writers {
	int (*report)(FILE *out, const struct report *r, const struct table_options *o);
	int (*neighbours)(FILE *out, const struct neighbours_report *r,
			  const struct table_options *o);
	int (*stat)(FILE *out, const struct stat_report *r, const struct table_options *o);
	int (*job)(FILE *out, const struct job_context *c, const struct account_job *j,
		   const struct table_options *o);
	int (*jobs)(FILE *out, const struct job_context *c, const struct account_job *jobs,
		    size_t nr, const struct table_options *o);
};

extern const struct report_writers report_writers[NR_OUTPUT_FORMATS];

/**
 * formats_stat() - write a report of "stat"
 * @out: where to
 * @o: the format; its file is named if writing fails
 * @r: the report
 * @d: gets the problem
 *
 * Return: 0 or a negative errno.
 */
int formats_stat(const struct output *out, const struct output_options *o,
		 const struct stat_report *r, struct diag *d);

#endif
