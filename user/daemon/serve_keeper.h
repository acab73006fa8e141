/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The daemon's data path behind a live run: an interval's report goes into the accounts, the
 * accounts into the store, the reports of jobs that are over into the spool. A part that fails
 * loses nothing: what it should have taken stays where it was and comes again.
 */
#ifndef DAEMON_SERVE_KEEPER_H
#define DAEMON_SERVE_KEEPER_H

#include <stdbool.h>

#include "account.h"
#include "base/diag.h"
#include "daemon/serve_clock.h"
#include "daemon/serve_config.h"
#include "engine/accounts/accounts.h"
#include "daemon/spans.h"
#include "daemon/spool.h"
#include "daemon/store.h"
#include "report/openmetrics/openmetrics.h"

/**
 * struct serve_trouble - how a part that may fail and come back is doing
 * @name: of the part, for people
 * @now: it failed when it was last tried
 * @why: and this was the reason
 * @errors: how often it has failed so far
 * @since_ns: when it began to (CLOCK_MONOTONIC)
 */
struct serve_trouble {
	const char *name;
	bool now;
	char why[512];
	uint64_t errors;
	uint64_t since_ns;
};

/* Intervals of which a job that has ended may still be in the metrics. */
#define SERVE_MAX_SHOWN 512

/**
 * struct serve_keeper - see above
 * @accounts, @metrics, @store, @spool: its parts; owned
 * @base: totals of the machine as the last run left them in the store; owned
 * @spans: the history of jobs; owned
 * @length_ns, @full_ns: how long its finest intervals are, 0: none are kept; and how long at least:
 *	those that they are made of are never just as long as they should be
 * @thin_ns: when what is old is looked for next
 * @host: the machine
 * @last: report of the last interval, NULL before the first; owned
 * @store_trouble, @spool_trouble: of the store and the spool
 * @report_trouble: of single reports, whose names are taken in the spool
 * @held: of these, so many were left for later since they were last tried
 * @counters_trouble: of the counters, see serve_keeper_counters()
 * @clock, @clock_trouble: can it be believed? While it cannot, nothing is dropped for its age
 * @dropped: jobs that were forgotten unsaved, as far as the log has their number
 * @dropping: the log says that it goes on
 * @unreported: jobs in the store that are over and have no closing report yet
 * @damaged: accounts in the store that turned out to be damaged, as far as the log has their number
 * @reported: closing reports written since the start
 * @removed: of reports in the spool, those that had to make room for others, since the start
 * @removed_told, @tell_ns: how many of these the log has, and when it says more at the soonest
 * @unwritten: jobs that were forgotten before their closing report was written, since the start
 * @failed_ns: when a report first could not be written since none waited, 0: all could (CLOCK_MONOTONIC)
 * @turn: whose report was written last
 * @saved: jobs that were over since old ones were looked for
 * @intervals: closed since the start
 * @changes: grows with everything that pages show
 * @closed_ns: when the last one was (CLOCK_MONOTONIC)
 * @closings: when the last ones were, in turn
 * @cost_ns, @cost_cpu_ns: what closing it took, waiting for the disk included; CPU time of that
 * @prune_ns: when old jobs are looked for next
 * @retry: the spool failed before, and is to be tried again once
 * @verbose: say when jobs end
 */
struct serve_keeper {
	struct accounts *accounts;
	struct accounts_node base;
	struct openmetrics *metrics;
	struct store *store;
	struct spool spool;
	struct spans spans;
	uint64_t length_ns;
	uint64_t full_ns;
	uint64_t thin_ns;
	struct host_info host;
	struct report *last;
	struct serve_trouble store_trouble;
	struct serve_trouble spool_trouble;
	struct serve_trouble report_trouble;
	uint64_t held;
	struct serve_trouble counters_trouble;
	struct serve_clock clock;
	struct serve_trouble clock_trouble;
	uint64_t dropped;
	bool dropping;
	uint64_t unreported;
	uint64_t damaged;
	uint64_t reported;
	uint64_t removed;
	uint64_t removed_told;
	uint64_t tell_ns;
	uint64_t unwritten;
	uint64_t failed_ns;
	uint32_t turn;
	uint64_t saved;
	uint64_t intervals;
	uint64_t changes;
	uint64_t closed_ns;
	uint64_t closings[SERVE_MAX_SHOWN];
	uint64_t cost_ns;
	uint64_t cost_cpu_ns;
	uint64_t prune_ns;
	bool retry;
	bool verbose;
};
#define SERVE_KEEPER_INIT                                                         \
	((struct serve_keeper){ .spool = { .folder = -1 },                        \
				.store_trouble = { .name = "accounts" },          \
				.spool_trouble = { .name = "closing reports" },   \
				.report_trouble = { .name = "a closing report" }, \
				.counters_trouble = { .name = "counters" },       \
				.clock_trouble = { .name = "the clock" } })

/**
 * serve_keeper_open() - open store and spool, and go on where the last run ended
 * @k: SERVE_KEEPER_INIT
 * @c: settings
 * @d: gets the problem
 *
 * Release with serve_keeper_close(), also after an error.
 *
 * Return: 0 or a negative errno.
 */
int serve_keeper_open(struct serve_keeper *k, const struct serve_config *c, struct diag *d);
void serve_keeper_close(struct serve_keeper *k);

/**
 * serve_keeper_change() - other settings from now on
 * @k: the keeper
 * @to: settings, of which those that need no restart count
 * @spool: the folder of @to, owned by the keeper from now on; NULL: the same as before
 */
void serve_keeper_change(struct serve_keeper *k, const struct serve_config *to,
			 const struct spool *spool);

/**
 * serve_keeper_counters() - how the counters are doing
 * @why: what is wrong with them, NULL: nothing is
 *
 * The first call that says otherwise than the one before is a line in the log.
 */
void serve_keeper_counters(struct serve_keeper *k, const char *why);

/**
 * serve_keeper_interval() - take an interval
 * @k: the keeper
 * @c: settings
 * @r: its report by job; owned by the keeper from now on, also with an error
 * @d: gets the problem
 *
 * What the store does not take now is tried again with the next interval.
 *
 * Return: 0; a negative errno when there is no going on.
 */
int serve_keeper_interval(struct serve_keeper *k, const struct serve_config *c, struct report *r,
			  struct diag *d);

/** serve_keeper_spool() - what is wrong with the spool, or else with single reports in it */
const struct serve_trouble *serve_keeper_spool(const struct serve_keeper *k);

/**
 * serve_keeper_reports() - write closing reports that wait, the oldest first
 * @k: the keeper
 * @until_ns: stop after the one that ends behind this time (CLOCK_MONOTONIC)
 *
 * Those of the machine's jobs come before those of users' own (account_key_owner()), which take turns.
 *
 * Return: true when more could be written at once.
 */
bool serve_keeper_reports(struct serve_keeper *k, uint64_t until_ns);

#endif
