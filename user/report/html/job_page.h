/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The account of a job as a page, with its intervals over time, or with its nodes. */
#ifndef REPORT_HTML_JOB_PAGE_H
#define REPORT_HTML_JOB_PAGE_H

#include <stdio.h>

#include "report/job/job_report.h"

/* Points of its plots: beyond these, neighbours are added up */
#define JOB_PAGE_POINTS 1500
/* Intervals in its table, the latest ones; or nodes, the largest ones */
#define JOB_PAGE_ROWS	1000

/**
 * job_page_write() - write the page
 * @out: where to; flushed
 * @c: with @c->history, which may be empty, or @c->nodes
 * @j: the account
 *
 * Return: 0, -ENOMEM with nothing written, or the negative errno of a failed write.
 */
int job_page_write(FILE *out, const struct job_context *c, const struct account_job *j);

#endif
