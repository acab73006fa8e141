/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Merging the closing reports of nodes into accounts of jobs. Only sums are kept of a report. */
#ifndef REPORT_JOB_JOB_MERGE_H
#define REPORT_JOB_JOB_MERGE_H

#include "report/job/job_nodes.h"
#include "report/job/job_read.h"
#include "report/job/job_report.h"

/*
 * Accounts of different runs of a job are further apart in time than this: schedulers hold a
 * requeued job back for longer, and clocks of nodes differ by less.
 */
#define JOB_MERGE_APART_NS 60000000000ull

struct job_merge;

/** job_merge_new() - nothing yet; NULL without memory */
struct job_merge *job_merge_new(void);
void job_merge_free(struct job_merge *m);

/**
 * job_merge_add() - add a report
 * @m: the merge
 * @r: taken, also with an error
 * @folder: not 0: all reports with this number are of one run, whatever their times are
 *
 * Return: 0; -EEXIST when the same report was there already, -EINVAL when there was another one of
 * the same account; -ENOMEM with @m unusable.
 */
int job_merge_add(struct job_merge *m, struct job_reading *r, unsigned int folder);

/** job_merge_refuse() - note a report that is not in the account; 0 or -ENOMEM */
int job_merge_refuse(struct job_merge *m, const char *report, const char *reason, const char *text);

/** job_merge_twice() - note a report that was there already; 0 or -ENOMEM */
int job_merge_twice(struct job_merge *m, const char *report);

/**
 * job_merge_finish() - all reports are there
 * @m: the merge
 * @expected: names of the nodes that the job had; NULL: not known. A name with a domain is the
 *	same as the one without
 *
 * Return: 0 or -ENOMEM.
 */
int job_merge_finish(struct job_merge *m, const struct text_list *expected);

/** job_merge_runs() - number of runs of all jobs; each job's are together, the last one first */
size_t job_merge_runs(const struct job_merge *m);

/**
 * job_merge_run() - the account of a run
 * @m: the merge, finished
 * @i: which one
 * @ret: context for its writers
 *
 * Return: the account.
 */
const struct account_job *job_merge_run(const struct job_merge *m, size_t i,
					struct job_context *ret);

/** job_merge_refused() - reports that are not in any of them */
const struct job_refused *job_merge_refused(const struct job_merge *m, size_t *ret_nr);

#endif
