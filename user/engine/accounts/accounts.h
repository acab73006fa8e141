/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The keeper of accounts: takes reports by job, interval by interval, and adds up. Pure: no
 * clock, no files. What survives a restart goes out and comes in through include/account.h.
 *
 * A job begins when its cgroup was made, or with its first row, and ends with the interval whose
 * row says so. It is in all intervals between, with or without rows; the machine's counters in its
 * account are over just these, and of an interval within which it began they are its own part.
 * Where an interval does not begin at the end of the last one, the time between is a gap: jobs
 * with a row go on, the rest ended unseen and are stale. The first interval after accounts_new() or
 * accounts_restore() is such a one. This rests on reports that have a row for every job that is
 * there when a session begins, idle or not.
 *
 * A job that is new in such an interval may have been there before: late_start, unless the making of its
 * cgroup was seen.
 */
#ifndef ENGINE_ACCOUNTS_ACCOUNTS_H
#define ENGINE_ACCOUNTS_ACCOUNTS_H

#include "account.h"

/*
 * Jobs that are over and kept because they were not saved; the oldest beyond are dropped, counted,
 * users' own (account_key_owner()) before all others.
 * Those that are over with the last interval come on top: they are always given once.
 */
#define ACCOUNTS_MAX_OVER  4096
/* Intervals after which a job that does nothing counts as changed nevertheless. */
#define ACCOUNTS_IDLE_SAVE 16

struct accounts;

/**
 * struct accounts_options - what is kept
 * @boot: identity of this boot
 * @schedulers: bit by enum scheduler: whose jobs have accounts. Others are in the machine's totals only
 */
struct accounts_options {
	char boot[ACCOUNT_BOOT_LEN];
	uint32_t schedulers;
};

/** accounts_new() - empty accounts; 0 or -ENOMEM; free with accounts_free() */
int accounts_new(const struct accounts_options *o, struct accounts **ret);
void accounts_free(struct accounts *a);

/**
 * accounts_restore() - continue where another run ended
 * @a: before the first interval
 * @node: totals of the machine; copied
 * @jobs, @nr_jobs: jobs that were running then; copied. Their counters are indexes into @node->counters
 * @now_ns: CLOCK_REALTIME
 *
 * A gap in the machine's accounts lasts from @node->until_ns to the first interval, one of a job
 * from its end_ns on.
 *
 * Jobs of this boot that turn out to be still there (same cgroup) go on, with a gap. All others
 * become stale with the first interval: accounts_interval() says them to be over.
 *
 * Return: 0, -EINVAL for what makes no sense, -ENOMEM.
 */
int accounts_restore(struct accounts *a, const struct accounts_node *node,
		     const struct account_job *jobs, size_t nr_jobs, uint64_t now_ns);

/**
 * accounts_interval() - add an interval
 * @a: accounts
 * @r: a report by job (ROW_JOB) of all workloads; not a summary
 *
 * All or nothing: with an error nothing was added. Sums of counters never wrap; other numbers stay at
 * UINT64_MAX.
 * Rows of a job whose account is closed are in the machine's totals only, and counted there.
 *
 * Return: 0, -EINVAL for another kind of report, -ENOMEM.
 */
int accounts_interval(struct accounts *a, const struct report *r);

/**
 * accounts_each_changed() - jobs that changed since the last accounts_saved(), for the store
 * @a: accounts
 * @fn: gets each, valid during the call; a nonzero result ends it. It must not change the accounts
 * @arg: handed to @fn
 *
 * A running job with neither CPU time nor bytes in the interval only counts as changed every
 * ACCOUNTS_IDLE_SAVE intervals: what a restart would not know of it is then a gap.
 *
 * Return: 0, or the first nonzero result of @fn.
 */
int accounts_each_changed(struct accounts *a, int (*fn)(void *arg, const struct account_job *j),
			  void *arg);

/** accounts_each() - all jobs that are running, or over and not forgotten yet */
int accounts_each(struct accounts *a, int (*fn)(void *arg, const struct account_job *j), void *arg);

/** accounts_saved() - what accounts_each_changed() gave is stored: jobs that are over are forgotten */
void accounts_saved(struct accounts *a);

/** accounts_node() - totals of the machine; valid until the next call that changes something */
const struct accounts_node *accounts_node(const struct accounts *a);

/** accounts_nr() - jobs in memory */
size_t accounts_nr(const struct accounts *a);

/** accounts_nr_running() - of these, jobs that are not over */
size_t accounts_nr_running(const struct accounts *a);

#endif
