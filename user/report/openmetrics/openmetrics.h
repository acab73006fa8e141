/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Accounts as OpenMetrics text, for Prometheus and the like. The options bound the number of series
 * for any workload.
 */
#ifndef REPORT_OPENMETRICS_OPENMETRICS_H
#define REPORT_OPENMETRICS_OPENMETRICS_H

#include <stdio.h>

#include "account.h"

struct openmetrics;

/**
 * struct openmetrics_options - bounds
 * @top: jobs with series of their own; the rest is added up as "other". At most OPENMETRICS_MAX_TOP
 * @keep: intervals for which an ended job keeps its series, so that the last scrape sees its end
 */
struct openmetrics_options {
	size_t top;
	uint32_t keep;
};
#define OPENMETRICS_MAX_TOP 1000

/** openmetrics_new() - start without series; 0 or -ENOMEM; free with openmetrics_free() */
int openmetrics_new(const struct openmetrics_options *o, struct openmetrics **ret);
void openmetrics_free(struct openmetrics *m);

/** openmetrics_limits() - set bounds from the next interval on */
void openmetrics_limits(struct openmetrics *m, const struct openmetrics_options *o);

/**
 * openmetrics_interval() - add an interval of the accounts
 * @m: the series
 * @r: its report by job
 *
 * A job gets series when it is among the @top largest of an interval, and keeps them until it has
 * ended or a job more than twice as large needs the place. Tasks in no job are "none". Series begin
 * at 0 and count from then on; "other" has all jobs without series, and the interval with which a
 * series began. So each only ever grows, and the increments add up to the machine's, to the byte.
 * At most twice @top jobs have series, with those that have ended.
 *
 * Return: 0 or -ENOMEM; then the interval is in the series of the machine only.
 */
int openmetrics_interval(struct openmetrics *m, const struct report *r);

/* Parts of the daemon that may fail and come back */
enum health_part {
	HEALTH_INTERVALS, /* one was closed in time */
	HEALTH_STORE,
	HEALTH_SPOOL,
	HEALTH_COUNTERS,
	HEALTH_CLOCK,
	NR_HEALTH_PARTS,
};

/** health_part_name() - "intervals", "store", ...: also in /healthz */
const char *health_part_name(enum health_part p);

/**
 * struct openmetrics_state - the output besides the series of jobs
 * @host: the machine
 * @node: its totals
 * @names: with names of jobs and their users
 * @jobs_running: jobs with accounts
 * @unreported: closing reports not yet written
 * @reports_written, @reports_removed, @reports_unwritten: closing reports since the start: written;
 *	removed from the spool to make room; never written because their job had to be forgotten
 * @store_errors, @spool_errors: so far
 * @clock_wrong: no data expires by age
 * @unhealthy: bits of enum health_part that are in trouble
 * @start_ns: when it was started, CLOCK_REALTIME
 * @reload_failed: settings were wrong when they were read again last
 * @restart_needed: changed settings wait for a restart
 * @interval_ns: last interval's length
 * @setting_ns: its configured length, unless jobs end before
 * @cost_ns: time that closing the last interval took
 */
struct openmetrics_state {
	const struct host_info *host;
	const struct accounts_node *node;
	bool names;
	uint64_t jobs_running;
	uint64_t unreported;
	uint64_t reports_written;
	uint64_t reports_removed;
	uint64_t reports_unwritten;
	uint64_t store_errors;
	uint64_t spool_errors;
	bool clock_wrong;
	uint32_t unhealthy;
	uint64_t start_ns;
	bool reload_failed;
	bool restart_needed;
	uint64_t interval_ns;
	uint64_t setting_ns;
	uint64_t cost_ns;
};

/* Two text formats: one that all of Prometheus's relatives read, and its successor. */
enum exposition {
	EXPOSITION_TEXT,	/* Prometheus text format 0.0.4 */
	EXPOSITION_OPENMETRICS, /* OpenMetrics 1.0 */
};

/**
 * openmetrics_negotiate() - choose a client's format
 * @accept: its header Accept, "" for none; untrusted
 *
 * Return: OpenMetrics 1.0 when its weight is at least that of plain text, else plain text.
 */
enum exposition openmetrics_negotiate(const char *accept);

/** openmetrics_type() - content type */
const char *openmetrics_type(enum exposition e);

/** openmetrics_write() - write everything; 0 or a negative errno */
int openmetrics_write(FILE *out, const struct openmetrics *m, const struct openmetrics_state *s,
		      enum exposition e);

#endif
