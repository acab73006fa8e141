/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Accounts on disk: an SQLite file that one writer keeps and any number of readers look at.
 * What is committed survives the death of the writer and of the machine.
 *
 * Readers need no right to write, neither to the file nor to its folder, whether there is a writer
 * or not. Its files are for their owner and a group, see private_files.h. Errors have their remedy in the diag: -ENOSPC, -EROFS, -EACCES, -EBUSY (locked),
 * -EUCLEAN (damaged), and others of the disk.
 */
#ifndef DAEMON_STORE_H
#define DAEMON_STORE_H

#include "account.h"
#include "base/diag.h"
#include "daemon/serve_config.h"

#define STORE_DEFAULT_FOLDER "/var/lib/t410trace"
#define STORE_DEFAULT_FILE   STORE_DEFAULT_FOLDER "/accounts.db"

struct store;

/**
 * struct store_damaged - accounts that could not be read since the store was opened
 * @nr: how many
 * @key: of the last one, as far as it can be read
 */
struct store_damaged {
	uint64_t nr;
	char key[sizeof(((struct account_job *)NULL)->key)];
};

/**
 * store_open() - open the accounts
 * @file: where they are
 * @write: for the writer: made when it is not there, brought to this version, and locked against a
 *	second writer (-EBUSY)
 * @d: gets the problem: no file (nobody keeps accounts here?), a later version, damage, rights
 * @ret: close with store_close()
 *
 * A damaged file is kept aside under another name by the writer, who begins a new one and says so
 * in @d with a return of 0. Otherwise @d is empty after a return of 0.
 *
 * A reader sees one state from here to store_close(), whatever is written meanwhile: the counters
 * of store_read_node() are those that store_each_job() refers to. For the next state it opens the
 * store again. As long as it is open, the writer cannot reuse space of the log: close it soon.
 *
 * Return: 0, -ENOENT for no file, -ENODATA (readers) for one without accounts yet, -EBUSY,
 * -EPROTONOSUPPORT for a later version, -EINVAL for something that is no store, or another negative
 * errno.
 */
int store_open(const char *file, bool write, struct diag *d, struct store **ret);
void store_close(struct store *s);

/** store_kept() - is there a writer at this moment? 0 or 1; -EACCES: only its owner may know */
int store_kept(const struct store *s);

/* One interval is one transaction. */

/**
 * store_begin() - begin to write an interval
 *
 * Return: 0, -ESTALE when the file, its log or the log's index was removed, renamed or replaced, or another
 * negative errno.
 */
int store_begin(struct store *s, struct diag *d);

/**
 * store_restore() - after -ESTALE: write all that the store has to a new file of its name
 * @s: the store, which goes on with that file
 * @d: the problem; after a return of 0, what was done
 *
 * Its folder is made if it is gone. A file that has the name meanwhile is kept aside under another one.
 *
 * Return: 0, or a negative errno: then nothing has changed, and it may be called again.
 */
int store_restore(struct store *s, struct diag *d);

/** store_node() - the machine's totals and the host */
int store_node(struct store *s, const struct host_info *host, const struct accounts_node *n,
	       struct diag *d);

/**
 * store_job() - a job that is new or has changed
 *
 * Its counters must be in what store_node() was given before (-EINVAL).
 */
int store_job(struct store *s, const struct account_job *j, struct diag *d);

/**
 * store_commit() - make it last
 *
 * Return: 0; -ENOSPC and others: nothing of the interval is in the store, which stays as it was
 * before store_begin(); the caller keeps it and tries again. After -ENOSPC the next store_begin() gives
 * back what the log has taken, so that it is worth to try at once.
 */
int store_commit(struct store *s, struct diag *d);

/** store_rollback() - never mind; after an error of store_node() or store_job() */
void store_rollback(struct store *s);

/**
 * store_reported() - the closing report of a job was written; its own transaction
 *
 * Survives the death of the writer, but perhaps not that of the machine: it costs no waiting for the
 * disk, and a report that is written a second time is the same.
 */
int store_reported(struct store *s, const char *key, struct diag *d);

/**
 * struct store_pruned - jobs that were forgotten
 * @reported: whose closing report was written, or that are damaged
 * @unreported: who will have none: a loss
 */
struct store_pruned {
	uint64_t reported;
	uint64_t unreported;
};

/**
 * struct store_bounds - jobs to be forgotten; running ones never are
 * @before_ns: those that ended before (CLOCK_REALTIME) and whose closing report was written
 * @unreported_before_ns: those that ended before and whose report was not
 * @max_jobs: and the oldest beyond this many that are over; 0 = no bound
 */
struct store_bounds {
	uint64_t before_ns;
	uint64_t unreported_before_ns;
	uint64_t max_jobs;
};

/**
 * store_prune() - forget old jobs
 * @s: the store
 * @b: which
 * @d: gets the problem
 * @ret: how many were forgotten, also with an error: at most STORE_PRUNE_MAX, so that a call is never
 *	long. More may be left when it is as many
 *
 * Users' own jobs (account_key_owner()) have half of max_jobs at most when there are too many; of these the user
 * with the most gives. So nobody takes the place of the machine's jobs, or of another user's. Of whom it is,
 * the oldest are forgotten, those whose report was written before any other.
 */
#define STORE_PRUNE_MAX 1000
int store_prune(struct store *s, const struct store_bounds *b, struct diag *d,
		struct store_pruned *ret);

/**
 * store_redate() - for store_prune(), jobs that ended by a wrong clock began and ended later
 * @s: the store
 * @from_ns, @to_ns: what the clock showed while it was wrong (CLOCK_REALTIME)
 * @end_ns: when they ended instead, if that is later. Their accounts say what they said
 * @d: gets the problem
 *
 * Return: 0 or a negative errno.
 */
int store_redate(struct store *s, uint64_t from_ns, uint64_t to_ns, uint64_t end_ns,
		 struct diag *d);

/**
 * store_waiting() - whose closing reports wait to be written
 * @s: the store
 * @after: the first owner above this number; -1 for the first of all, which is the machine
 * @ret: see account_key_owner()
 * @d: gets the problem
 *
 * Return: 0, -ENOENT for nobody's, or another negative errno.
 */
int store_waiting(struct store *s, int64_t after, uint32_t *ret, struct diag *d);

/**
 * store_hold() - leave the closing report of a job for later
 *
 * store_waiting() and the query @unreported do not find the job until store_release(), so that others
 * have their turn. It is not written to the file.
 *
 * Return: 0 or a negative errno.
 */
int store_hold(struct store *s, const char *key, struct diag *d);

/** store_release() - forget all that store_hold() was given; 0 or a negative errno */
int store_release(struct store *s, struct diag *d);

/*
 * Spans: the history of jobs, see docs/JOBS.md. A span is a piece of the machine's totals; each job
 * has its part in it. They are written in the transactions of the accounts, so that all spans of a
 * job add up to its account at any time.
 */

/**
 * struct store_span - a span
 * @number: of the first one that is in it; later ones have higher numbers
 * @start_ns, @end_ns: CLOCK_REALTIME
 * @length_ns: its step
 * @piece: what the machine's totals had in it
 */
struct store_span {
	uint64_t number;
	uint64_t start_ns;
	uint64_t end_ns;
	uint64_t length_ns;
	const struct accounts_node *piece;
};

/** store_next_span() - a number that is higher than all; 0 or a negative errno */
int store_next_span(struct store *s, uint64_t *ret, struct diag *d);

/** store_span() - a span that is new or goes on; in an interval, behind store_node() */
int store_span(struct store *s, const struct store_span *span, struct diag *d);

/**
 * struct store_job_span - a job in a span
 * @span: the span
 * @key: of the job
 * @piece: what its account had in it; NULL: the job is over, and was so before the span
 * @over: it ended in the span
 */
struct store_job_span {
	const struct store_span *span;
	const char *key;
	const struct account_job *piece;
	bool over;
};

/** store_job_span() - the same of a job, behind store_span() */
int store_job_span(struct store *s, const struct store_job_span *j, struct diag *d);

/**
 * store_thin() - join or drop spans that are old enough
 * @s: the store
 * @c: what is to be kept
 * @now_ns: CLOCK_REALTIME
 * @d: gets the problem
 * @ret_more: there is more to do. A call does as much as is one span then
 *
 * Spans of the same stretch of the next step become one: what they and their jobs had is added up,
 * ends of intervals too. What was not seen between two spans (a gap) stays between two. Its own
 * transaction, without waiting for the disk: what is lost is done again.
 *
 * Return: 0 or a negative errno.
 */
int store_thin(struct store *s, const struct history_config *c, uint64_t now_ns, struct diag *d,
	       bool *ret_more);

/* Reading */

/**
 * store_each_span() - the history of a job, the oldest interval first
 * @s: the store
 * @key: of the job
 * @fn: gets each interval, valid during the call; a nonzero result ends it
 * @arg: handed to @fn
 * @d: gets the problem
 *
 * An interval is an account of its own: whole, intervals, covered_ns and gap_ns (time before it that
 * nobody looked) of the job. node, quality and self are those of the machine in the span, which
 * is longer than the job's part where the job began or ended in it. Its times are in whole.
 *
 * A damaged one is left out, as one that was dropped: only the sum of all tells.
 *
 * Return: 0, the first nonzero result of @fn, or a negative errno.
 */
int store_each_span(struct store *s, const char *key,
		    int (*fn)(void *arg, const struct account_job *interval), void *arg,
		    struct diag *d);

/**
 * store_read_node() - the machine's totals and the host
 *
 * Return: 0, -ENODATA when there is no interval yet, another negative errno.
 */
int store_read_node(struct store *s, struct host_info *ret_host, struct accounts_node *ret,
		    struct diag *d);

/**
 * struct store_query - which jobs
 * @states: bit by enum account_state, 0 = all
 * @scheduler: SCHEDULER_NONE = all
 * @id: number of the job, or its key; NULL = all. Jobs whose long id only begins so are handed
 *	out, too: job_id_fits() knows which of them are meant
 * @user: NULL = all
 * @since_ns: ended after this, or running
 * @unreported: only those that are over and have no closing report yet
 * @by_owner, @owner: only those of this owner, see account_key_owner()
 * @newest: at most this many, the last begun first; 0 = all, the first begun first
 */
struct store_query {
	unsigned int states;
	enum scheduler scheduler;
	const char *id;
	const char *user;
	uint64_t since_ns;
	bool unreported;
	bool by_owner;
	uint32_t owner;
	size_t newest;
};

/**
 * store_each_job() - read jobs
 * @s: the store
 * @q: which
 * @fn: gets each, valid during the call; a nonzero result ends it
 * @arg: handed to @fn
 * @d: gets the problem
 *
 * A damaged account is left out and counted, see store_damaged(). The writer puts it aside: it stays in
 * the file with the state "damaged", as reported, and nobody reads it again.
 *
 * Return: 0, the first nonzero result of @fn, or a negative errno.
 */
int store_each_job(struct store *s, const struct store_query *q,
		   int (*fn)(void *arg, const struct account_job *j), void *arg, struct diag *d);

/** store_damaged() - accounts that store_each_job() left out so far; valid until store_close() */
const struct store_damaged *store_damaged(const struct store *s);

#endif
