/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Accounts as OpenMetrics text, for Prometheus and the like. The number of series is bounded by
 * the options, whatever runs.
 */
#ifndef REPORT_OPENMETRICS_OPENMETRICS_H
#define REPORT_OPENMETRICS_OPENMETRICS_H

#include <stdio.h>

#include "account.h"

struct openmetrics;

/**
 * struct openmetrics_options - bounds
 * @top: jobs with series of their own; what others do is added up as "other". At most
 *	OPENMETRICS_MAX_TOP count
 * @keep: intervals that a job which has ended keeps its series, so that the last scrape sees its end
 */
struct openmetrics_options {
	size_t top;
	uint32_t keep;
};
#define OPENMETRICS_MAX_TOP 1000

/** openmetrics_new() - no series yet; 0 or -ENOMEM; free with openmetrics_free() */
int openmetrics_new(const struct openmetrics_options *o, struct openmetrics **ret);
void openmetrics_free(struct openmetrics *m);

/** openmetrics_limits() - other bounds from the next interval on */
void openmetrics_limits(struct openmetrics *m, const struct openmetrics_options *o);

/**
 * openmetrics_interval() - an interval was added to the accounts
 * @m: the series
 * @r: its report by job
 *
 * A job gets series when it is among the @top largest of an interval, and keeps them until it has
 * ended or a job more than twice as large needs the place. What is in no job is "none". Series begin
 * at 0 and count from then on; "other" has what all without series did, and the interval with which
 * series began. So each only ever grows, and what they grow by adds up to the machine's, to the byte.
 * At most twice @top jobs have series, with those that have ended.
 *
 * Return: 0 or -ENOMEM; then the interval is in the series of the machine only.
 */
int openmetrics_interval(struct openmetrics *m, const struct report *r);

/**
 * struct openmetrics_state - what is shown besides the series of jobs
 * @host: the machine
 * @node: its totals
 * @jobs_running: jobs with accounts
 * @unreported: closing reports that could not be written yet
 * @reports_written, @reports_removed, @reports_unwritten: closing reports since the start that were written;
 *	that had to make room in the spool; that never were, as their job had to be forgotten
 * @store_errors, @spool_errors: so far
 * @clock_wrong: nothing is forgotten for its age
 * @interval_ns: last interval's length
 * @setting_ns: how long it is unless jobs end before
 * @cost_ns: what closing the last interval took
 */
struct openmetrics_state {
	const struct host_info *host;
	const struct accounts_node *node;
	uint64_t jobs_running;
	uint64_t unreported;
	uint64_t reports_written;
	uint64_t reports_removed;
	uint64_t reports_unwritten;
	uint64_t store_errors;
	uint64_t spool_errors;
	bool clock_wrong;
	uint64_t interval_ns;
	uint64_t setting_ns;
	uint64_t cost_ns;
};

/* Two ways to write the same: what all of Prometheus's relatives read, and its successor. */
enum exposition {
	EXPOSITION_TEXT,	/* Prometheus text format 0.0.4 */
	EXPOSITION_OPENMETRICS, /* OpenMetrics 1.0 */
};

/**
 * openmetrics_negotiate() - what a client wants
 * @accept: its header Accept, "" for none; hostile
 *
 * Return: OpenMetrics 1.0 when it takes that no less than plain text, else plain text.
 */
enum exposition openmetrics_negotiate(const char *accept);

/** openmetrics_type() - content type */
const char *openmetrics_type(enum exposition e);

/** openmetrics_write() - everything; 0 or a negative errno */
int openmetrics_write(FILE *out, const struct openmetrics *m, const struct openmetrics_state *s,
		      enum exposition e);

#endif
