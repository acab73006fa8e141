/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The account of a job as text: the closing report (t410trace.job/1), a table for people, a
 * compact record for a scheduler's database, and the list of jobs (t410trace.jobs/1).
 */
#ifndef REPORT_JOB_JOB_REPORT_H
#define REPORT_JOB_JOB_REPORT_H

#include <stdbool.h>
#include <stdio.h>

#include "account.h"
#include "report/table/table.h"

/* A compact record begins with this; the number is that of its format. */
#define JOB_COMPACT_PREFIX "t4j1l:"

struct job_nodes;

/**
 * struct job_context - context for reading an account
 * @host: the machine
 * @node: has the counters that accounts refer to
 * @history: intervals of the account to show, as from store_each_span(); NULL: not requested
 * @kept: the same for evaluation only; NULL: none
 * @nodes: it is merged of closing reports of these; NULL: it is of one machine
 */
struct job_context {
	const struct host_info *host;
	const struct accounts_node *node;
	const struct account_list *history;
	const struct account_list *kept;
	const struct job_nodes *nodes;
};

/** job_json_write() - the account as one line of JSON; 0 or a negative errno */
int job_json_write(FILE *out, const struct job_context *c, const struct account_job *j);

/**
 * job_history_whole() - are all intervals of an account present?
 * @j: the account
 * @history: its intervals
 * @ret: they add up to it, to the unit: none was dropped
 *
 * Return: 0 or -ENOMEM.
 */
int job_history_whole(const struct account_job *j, const struct account_list *history, bool *ret);

/**
 * job_csv_write() - its intervals as comma-separated values, in the columns of report/csv
 *
 * @c->history or @c->nodes must be there; without an interval there are only names of columns, and
 * GPUs of the account as a whole. Of several nodes it is the account, and each node's sums. Times
 * are CLOCK_REALTIME. 0 or a negative errno.
 */
int job_csv_write(FILE *out, const struct job_context *c, const struct account_job *j);

/** job_table_write() - the account for people; 0 or a negative errno */
int job_table_write(FILE *out, const struct job_context *c, const struct account_job *j,
		    const struct table_options *o);

/**
 * job_compact() - the account as one line without blanks: prefix, then base32 of gzip of JSON
 * @c, @j: the account
 * @ret: the text, terminated; to be freed
 *
 * Letters are small, and may come back in any case: there are databases that change it (sacctmgr of
 * Slurm 22.05 does).
 *
 * Return: 0 or a negative errno.
 */
int job_compact(const struct job_context *c, const struct account_job *j, char **ret);

/**
 * job_compact_missing() - such a line for a job of which no node has a report
 * @scheduler, @id: the job
 * @nodes: which nodes these are, and reports that were refused
 * @ret: the text, terminated; to be freed
 *
 * Return: 0 or a negative errno.
 */
int job_compact_missing(enum scheduler scheduler, const char *id, const struct job_nodes *nodes,
			char **ret);

/**
 * job_compact_decode() - the JSON in a compact record
 * @text: the record; untrusted
 * @ret: JSON, terminated; to be freed. At most 1 MiB
 *
 * Return: 0, -EINVAL for what is none or is damaged, -EPROTONOSUPPORT for a later version, -ENOTSUP
 * for base64 of an early commit, -ENOMEM.
 */
int job_compact_decode(const char *text, char **ret);

/** jobs_json_write() - a list of jobs, one line of JSON; 0 or a negative errno */
int jobs_json_write(FILE *out, const struct job_context *c, const struct account_job *jobs,
		    size_t nr);

/** jobs_table_write() - a list of jobs for people, a line each; 0 or a negative errno */
int jobs_table_write(FILE *out, const struct job_context *c, const struct account_job *jobs,
		     size_t nr, const struct table_options *o);

#endif
