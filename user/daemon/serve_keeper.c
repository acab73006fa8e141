// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "daemon/serve_keeper.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/text.h"
#include "daemon/serve_log.h"
#include "report/job/job_report.h"

#define BOOT_ID	    "/proc/sys/kernel/random/boot_id"
#define PRUNE_NS    (600 * NS_PER_S)
/* Forgetting old jobs takes no longer at a time. */
#define PRUNING_NS  (NS_PER_S / 5)
/* The same of joining intervals of the history, but what is begun is ended. */
#define THINNING_NS (NS_PER_S / 50)
/* Reports that could not be written for so long are not waited for: their jobs are forgotten as others. */
#define GIVE_UP_NS  (24 * 3600 * NS_PER_S)
/* The log says again that reports make room. */
#define TELL_NS	    (3600 * NS_PER_S)
/* Closing reports that are read from the store in one go. */
#define BATCH	    32
/* A job that has ended is still in the metrics so long: Prometheus asks once a minute at least. */
#define SHOWN_NS    (90 * NS_PER_S)
#define SHOWN_MIN   3

/* --- parts that fail and come back: one line each way */

static void troubled(struct serve_trouble *t, const struct diag *d)
{
	t->errors++;
	str_copy(t->why, sizeof(t->why), d->what);
	if (t->now)
		return;
	t->now = true;
	t->since_ns = monotonic_ns();
	serve_log(LOG_WARNING, "%s cannot be written: %s%s%s; kept, and tried again", t->name,
		  d->what, d->help[0] ? "; " : "", d->help);
}

static void works(struct serve_trouble *t)
{
	if (!t->now)
		return;
	t->now = false;
	t->why[0] = '\0';
	serve_log(LOG_NOTICE, "%s can be written again, after %.1f s", t->name,
		  (monotonic_ns() - t->since_ns) / 1e9);
}

/* The same of what is looked at and not written; @why: what is wrong with it, or NULL. */
static void looked_at(struct serve_trouble *t, const char *why, const char *again)
{
	if (why)
		str_copy(t->why, sizeof(t->why), why);
	if (t->now == !!why)
		return;
	t->now = why;
	if (why) {
		t->errors++;
		t->since_ns = monotonic_ns();
		serve_log(LOG_WARNING, "%s: %s", t->name, why);
	} else {
		serve_log(LOG_NOTICE, "%s %s again, after %.1f s", t->name, again,
			  (monotonic_ns() - t->since_ns) / 1e9);
	}
}

void serve_keeper_counters(struct serve_keeper *k, const char *why)
{
	looked_at(&k->counters_trouble, why, "can be read");
}

/* --- start */

static int count_job(void *arg, const struct account_job *j)
{
	(void)j;
	++*(uint64_t *)arg;
	return 0;
}

static int restore_jobs(struct serve_keeper *k, const struct accounts_node *node, struct diag *d)
{
	const struct store_query running = { .states = 1u << ACCOUNT_RUNNING };
	struct account_list r = { 0 };
	int err = store_each_job(k->store, &running, account_list_add, &r, d);

	if (!err) {
		err = accounts_restore(k->accounts, node, r.jobs, r.nr, clock_ns(CLOCK_REALTIME));
		if (err)
			diag_error(d, err, "the accounts of the last run make no sense");
	}
	if (!err && r.nr)
		serve_log(LOG_INFO, "%zu job%s running when accounts were last kept, %.1f s ago",
			  r.nr, r.nr == 1 ? " was" : "s were",
			  ((double)clock_ns(CLOCK_REALTIME) - (double)node->until_ns) / 1e9);
	account_list_release(&r);
	return err;
}

/* What cannot be read costs itself and nothing else; returns how many that are since the last call. */
static uint64_t tell_damaged(struct serve_keeper *k)
{
	const struct store_damaged *damaged = store_damaged(k->store);
	uint64_t nr = damaged->nr - k->damaged;

	if (!nr)
		return 0;
	serve_log(LOG_ERR,
		  "%" PRIu64 " account%s damaged and will have no closing report, %s%s: kept aside "
		  "in the file, as jobs with state = 'damaged'",
		  nr, nr == 1 ? " is" : "s are", nr == 1 ? "" : "the last one is ", damaged->key);
	k->damaged = damaged->nr;
	k->changes++;
	return nr;
}

/* Go on where the last run ended, however it did; @ret_until_ns: when that was, 0: there was none. */
static int restore(struct serve_keeper *k, uint64_t *ret_until_ns, struct diag *d)
{
	const struct store_query unreported = { .unreported = true };
	struct accounts_node node = { 0 };
	int err = store_read_node(k->store, &k->host, &node, d);

	*ret_until_ns = node.until_ns;
	k->base = node;
	if (err == -ENODATA)
		return 0;
	if (!err)
		err = restore_jobs(k, &node, d);
	k->dropped = accounts_node(k->accounts)->jobs_dropped;
	if (!err)
		err = store_each_job(k->store, &unreported, count_job, &k->unreported, d);
	tell_damaged(k);
	if (!err && k->unreported)
		serve_log(LOG_INFO, "%" PRIu64 " closing report%s of earlier jobs to be written",
			  k->unreported, k->unreported == 1 ? "" : "s");
	return err;
}

/* A time as a number of intervals, which ends of jobs make shorter: how many were in it so far. */
static struct openmetrics_options metrics_options(const struct serve_keeper *k,
						  const struct serve_config *c)
{
	struct openmetrics_options o = { .top = c->top };
	uint64_t now = monotonic_ns();

	while (o.keep < SERVE_MAX_SHOWN && o.keep < k->intervals &&
	       now - k->closings[(k->intervals - 1 - o.keep) % SERVE_MAX_SHOWN] < SHOWN_NS)
		o.keep++;
	if (o.keep < SHOWN_MIN)
		o.keep = SHOWN_MIN;
	return o;
}

int serve_keeper_open(struct serve_keeper *k, const struct serve_config *c, struct diag *d)
{
	struct accounts_options o = { .schedulers = c->schedulers };
	struct openmetrics_options m = metrics_options(k, c);
	uint64_t until_ns;
	int err = read_line_at(AT_FDCWD, BOOT_ID, o.boot, sizeof(o.boot));

	if (err)
		return diag_fail(d, err, "cannot read %s: %s", BOOT_ID, strerror(-err));
	d->what[0] = '\0';
	err = store_open(c->state, true, d, &k->store);
	if (err)
		return err;
	/* It was damaged, and is kept aside. */
	if (d->what[0])
		serve_log_diag(LOG_WARNING, "", d);
	err = spool_open(c->spool, c->spool_max_files, c->spool_max_bytes, d, &k->spool);
	if (err)
		return err;
	if (accounts_new(&o, &k->accounts) || openmetrics_new(&m, &k->metrics))
		return diag_no_memory(d);
	err = restore(k, &until_ns, d);
	serve_clock_open(&k->clock, c->state, o.boot, until_ns);
	return err;
}

void serve_keeper_close(struct serve_keeper *k)
{
	report_free(k->last);
	openmetrics_free(k->metrics);
	accounts_free(k->accounts);
	accounts_node_release(&k->base);
	spans_end(&k->spans);
	if (k->spool.folder >= 0)
		spool_close(&k->spool);
	if (k->store)
		store_close(k->store);
	*k = SERVE_KEEPER_INIT;
}

void serve_keeper_change(struct serve_keeper *k, const struct serve_config *to,
			 const struct spool *spool)
{
	struct openmetrics_options m = metrics_options(k, to);

	if (spool) {
		spool_close(&k->spool);
		k->spool = *spool;
	}
	k->spool.max_files = to->spool_max_files;
	k->spool.max_bytes = to->spool_max_bytes;
	openmetrics_limits(k->metrics, &m);
	k->prune_ns = 0;
	k->thin_ns = 0;
	k->retry = true;
}

/* --- each interval */

struct saving {
	struct serve_keeper *k;
	struct diag *d;
	uint64_t over; /* jobs that want a closing report now */
};

static int save_job(void *arg, const struct account_job *j)
{
	struct saving *s = arg;
	int err = store_job(s->k->store, j, s->d);

	if (!err && s->k->spans.on)
		err = spans_put_job(&s->k->spans, s->k->store, j, s->d);
	if (!err && j->state != ACCOUNT_RUNNING && !j->reported)
		s->over++;
	return err;
}

static int save_rest(void *arg, const struct account_job *j)
{
	struct saving *s = arg;

	return spans_put_rest(&s->k->spans, s->k->store, j, s->d);
}

static bool span_ends(const struct serve_keeper *k)
{
	return spans_full(&k->spans, accounts_node(k->accounts), k->full_ns);
}

static int save_all(struct saving *s)
{
	struct serve_keeper *k = s->k;
	int err = store_begin(k->store, s->d);

	if (err)
		return err;
	s->over = 0;
	/* The counters that accounts of jobs refer to come first. */
	err = store_node(k->store, &k->host, accounts_node(k->accounts), s->d);
	if (!err && k->spans.on)
		err = spans_put(&k->spans, k->store, accounts_node(k->accounts), k->length_ns,
				s->d);
	if (!err)
		err = accounts_each_changed(k->accounts, save_job, s);
	if (!err && span_ends(k))
		err = accounts_each(k->accounts, save_rest, s);
	if (!err)
		return store_commit(k->store, s->d);
	store_rollback(k->store);
	return err;
}

/* Before an interval: the history begins with it, or ended with the last one. */
static void begin_history(struct serve_keeper *k, const struct serve_config *c)
{
	struct diag d = { 0 };
	uint64_t number, length_ns = c->history.nr ? c->history.steps[0].step_ns : 0;
	int err;

	k->length_ns = length_ns;
	k->full_ns = length_ns -
		     (c->interval_ns / 2 < length_ns / 10 ? c->interval_ns / 2 : length_ns / 10);
	if (!k->length_ns && k->spans.on)
		spans_end(&k->spans);
	if (!k->length_ns || k->spans.on)
		return;
	err = store_next_span(k->store, &number, &d);
	if (err)
		troubled(&k->store_trouble, &d);
	else if (spans_begin(&k->spans, k->accounts, number))
		serve_log(LOG_WARNING, "out of memory: the history lacks an interval");
}

/* All that was written is in the store. Without memory the span goes on: it becomes longer. */
static void end_span(struct serve_keeper *k)
{
	if (span_ends(k) && spans_begin(&k->spans, k->accounts, k->spans.number + 1))
		serve_log(LOG_WARNING, "out of memory: an interval of the history is longer");
}

/* Somebody took the file away. What is still open becomes a file of its name. */
static int restore_store(struct serve_keeper *k, struct diag *d)
{
	struct diag lost = *d;
	int err = store_restore(k->store, d);

	if (err) {
		diag_fail(&lost, err, "%s, and cannot be rewritten: %.300s", lost.what, d->what);
		str_copy(d->what, sizeof(d->what), lost.what);
		return err;
	}
	troubled(&k->store_trouble, &lost);
	serve_log_diag(LOG_WARNING, "", d);
	return 0;
}

/* All that changed, or nothing: then it is still in the accounts. */
static void save(struct serve_keeper *k)
{
	struct diag d = { 0 };
	struct saving s = { k, &d, 0 };
	int err = save_all(&s);

	if (err == -ESTALE)
		err = restore_store(k, &d) ?: save_all(&s);
	/* On a small disk it may be the store's own log that takes the space: see store_commit(). */
	if (err == -ENOSPC)
		err = save_all(&s);
	if (err) {
		troubled(&k->store_trouble, &d);
		return;
	}
	accounts_saved(k->accounts);
	end_span(k);
	k->unreported += s.over;
	k->saved += s.over;
	works(&k->store_trouble);
}

/* What waited for too long is not kept: said once when it begins, and how much it was at the end. */
static void tell_dropped(struct serve_keeper *k)
{
	uint64_t dropped = accounts_node(k->accounts)->jobs_dropped;

	if (dropped == k->dropped)
		return;
	if (!k->dropping)
		serve_log(LOG_WARNING,
			  "too many jobs are over and cannot be saved: the oldest of them are "
			  "forgotten without a closing report");
	k->dropping = k->store_trouble.now;
	if (k->dropping)
		return;
	serve_log(LOG_WARNING, "%" PRIu64 " jobs were forgotten before they could be saved",
		  dropped - k->dropped);
	k->dropped = dropped;
}

/* Forgetting a job whose report was not written yet is a loss. */
static void note_unwritten(struct serve_keeper *k, uint64_t nr)
{
	if (!nr)
		return;
	k->unwritten += nr;
	k->unreported -= nr < k->unreported ? nr : k->unreported;
	serve_log(LOG_WARNING,
		  "%" PRIu64
		  " job%s forgotten before the closing report could be written: too many "
		  "wait (max-jobs), or they are old (keep-days) and none could be written for a "
		  "day",
		  nr, nr == 1 ? " was" : "s were");
}

/* Now and then, and when many jobs have come to their end since. */
static bool prune_due(const struct serve_keeper *k)
{
	return !k->store_trouble.now &&
	       (monotonic_ns() >= k->prune_ns || k->saved >= STORE_PRUNE_MAX);
}

/* For ages: 0, so that nothing is old, when the clock cannot be believed. */
static uint64_t now_ns(const struct serve_keeper *k)
{
	return k->clock.wrong ? 0 : accounts_node(k->accounts)->until_ns;
}

/*
 * After a long stop all reports that wait are old, and none was tried. They are given up for their age
 * only when writing has failed for long, since this start. A report that fails stands for those behind it.
 */
static struct store_bounds bounds(const struct serve_keeper *k, const struct serve_config *c)
{
	uint64_t now = now_ns(k), keep = c->keep_ns;
	struct store_bounds b = { .before_ns = keep && keep < now ? now - keep : 0,
				  .max_jobs = c->max_jobs };

	if (k->failed_ns && monotonic_ns() - k->failed_ns >= GIVE_UP_NS)
		b.unreported_before_ns = b.before_ns;
	return b;
}

static void prune(struct serve_keeper *k, const struct serve_config *c)
{
	const struct store_bounds b = bounds(k, c);
	struct store_pruned all = { 0 }, some;
	uint64_t begin = monotonic_ns();
	struct diag d = { 0 };
	int err;

	if (!prune_due(k))
		return;
	do {
		err = store_prune(k->store, &b, &d, &some);
		all.reported += some.reported;
		all.unreported += some.unreported;
	} while (!err && some.reported + some.unreported == STORE_PRUNE_MAX &&
		 monotonic_ns() - begin < PRUNING_NS);
	if (err)
		troubled(&k->store_trouble, &d);
	/* As many as one call takes: there may be more. */
	k->prune_ns = monotonic_ns();
	if (some.reported + some.unreported < STORE_PRUNE_MAX)
		k->prune_ns += PRUNE_NS;
	k->saved = 0;
	if (all.reported)
		serve_log(LOG_INFO, "%" PRIu64 " old job%s forgotten", all.reported,
			  all.reported == 1 ? "" : "s");
	note_unwritten(k, all.unreported);
}

/* As prune(): at most so long at a time, and again with the next interval if there is more. */
static void thin(struct serve_keeper *k, const struct serve_config *c)
{
	uint64_t begin = monotonic_ns();
	struct diag d = { 0 };
	bool more = true;
	int err = 0;

	if (k->store_trouble.now || begin < k->thin_ns)
		return;
	while (!err && more && monotonic_ns() - begin < THINNING_NS)
		err = store_thin(k->store, &c->history, now_ns(k), &d, &more);
	if (err)
		troubled(&k->store_trouble, &d);
	k->thin_ns = more || c->history.nr ? 0 : monotonic_ns() + PRUNE_NS;
}

/* Jobs that ended by a clock that was behind are not as old as they look. */
static void redate(struct serve_keeper *k, uint64_t now_ns)
{
	struct diag d = { 0 };

	if (!k->clock.first_ns)
		return;
	if (store_redate(k->store, k->clock.first_ns, k->clock.last_ns, now_ns, &d))
		troubled(&k->store_trouble, &d);
	else
		k->clock.first_ns = k->clock.last_ns = 0;
}

/* Before the interval is stored: its end is what the clock is compared with after a restart. */
static void check_clock(struct serve_keeper *k, const struct serve_config *c)
{
	uint64_t asleep_ns = clock_ahead_ns(CLOCK_BOOTTIME);
	const struct history_config *h = &c->history;
	uint64_t keep_ns = c->keep_ns;
	char why[sizeof(k->clock_trouble.why)];
	bool right;

	if (h->nr && (!keep_ns || h->steps[h->nr - 1].keep_ns < keep_ns))
		keep_ns = h->steps[h->nr - 1].keep_ns;
	right = serve_clock_check(&k->clock, accounts_node(k->accounts)->until_ns,
				  k->last->end_ns + asleep_ns, keep_ns, why, sizeof(why));
	looked_at(&k->clock_trouble, right ? NULL : why, "is believed");
	if (right)
		redate(k, accounts_node(k->accounts)->until_ns);
}

int serve_keeper_interval(struct serve_keeper *k, const struct serve_config *c, struct report *r,
			  struct diag *d)
{
	struct openmetrics_options m = metrics_options(k, c);
	int err;

	begin_history(k, c);
	err = accounts_interval(k->accounts, r);
	if (err) {
		report_free(r);
		return diag_error(d, err, "cannot add an interval to the accounts");
	}
	openmetrics_limits(k->metrics, &m);
	if (openmetrics_interval(k->metrics, r))
		serve_log(LOG_WARNING, "out of memory: the metrics of jobs lack an interval");
	k->host = *r->host;
	report_free(k->last);
	k->last = r;
	k->closed_ns = monotonic_ns();
	k->closings[k->intervals++ % SERVE_MAX_SHOWN] = k->closed_ns;
	k->changes++;
	check_clock(k, c);
	save(k);
	tell_dropped(k);
	prune(k, c);
	thin(k, c);
	k->retry = true;
	return 0;
}

/* --- closing reports */

struct closing {
	char key[sizeof(((struct account_job *)NULL)->key)];
	char *text;
	size_t size;
};

struct batch {
	const struct job_context *context;
	struct closing items[BATCH];
	size_t nr;
};

/* What is read from the store is valid during the call only: the text is what stays. */
static int batch_job(void *arg, const struct account_job *j)
{
	struct batch *b = arg;
	struct closing *c = &b->items[b->nr];
	FILE *out = open_memstream(&c->text, &c->size);
	int err = out ? job_json_write(out, b->context, j) : -errno;

	if (out && fclose(out) && !err)
		err = -errno;
	if (err) {
		free(c->text);
		c->text = NULL;
		return err;
	}
	str_copy(c->key, sizeof(c->key), j->key);
	return ++b->nr == BATCH ? 1 : 0;
}

/* Once when it begins, and once an hour while it goes on: whoever makes jobs must not fill the log. */
static void tell_removed(struct serve_keeper *k)
{
	uint64_t now = monotonic_ns();

	if (k->removed == k->removed_told || now < k->tell_ns)
		return;
	serve_log(LOG_WARNING,
		  "the spool is full (spool-max-files, spool-max-size): %" PRIu64
		  " closing report%s that nobody has "
		  "picked up made room for others; t410trace job shows their accounts",
		  k->removed - k->removed_told, k->removed - k->removed_told == 1 ? "" : "s");
	k->removed_told = k->removed;
	k->tell_ns = now + TELL_NS;
}

const struct serve_trouble *serve_keeper_spool(const struct serve_keeper *k)
{
	return k->spool_trouble.now || !k->report_trouble.now ? &k->spool_trouble
							      : &k->report_trouble;
}

/* Its name is taken in the spool: the others are written, and it is tried again with the next interval. */
static int hold_report(struct serve_keeper *k, const char *key, struct diag *d)
{
	struct diag held = { 0 };

	k->held++;
	k->report_trouble.errors = k->spool_trouble.errors++;
	if (k->held > 1)
		str_append(d->what, sizeof(d->what), ", and %" PRIu64 " more", k->held - 1);
	troubled(&k->report_trouble, d);
	if (!store_hold(k->store, key, &held))
		return 0;
	troubled(&k->store_trouble, &held);
	return -EIO;
}

/* Those that were left for later have another turn; what is left then still fails. */
static bool release_reports(struct serve_keeper *k)
{
	struct diag d = { 0 };

	k->held = 0;
	if (!store_release(k->store, &d))
		return true;
	troubled(&k->store_trouble, &d);
	return false;
}

static int write_report(struct serve_keeper *k, const struct closing *c)
{
	char name[ACCOUNT_FILE_LEN];
	uint64_t removed = k->spool.removed;
	struct diag d = { 0 };
	int err = 0;

	account_file_name(c->key, NULL, name);
	if (k->spool.path[0])
		err = spool_write(&k->spool, name, c->text, c->size, &d);
	k->removed += k->spool.removed - removed;
	tell_removed(k);
	if (err)
		k->failed_ns = k->failed_ns ? k->failed_ns : monotonic_ns();
	if (err == -EEXIST)
		return hold_report(k, c->key, &d);
	if (err) {
		troubled(&k->spool_trouble, &d);
		return err;
	}
	works(&k->spool_trouble);
	/* Failing here, the same file is written once more. */
	err = store_reported(k->store, c->key, &d);
	if (err) {
		troubled(&k->store_trouble, &d);
		return err;
	}
	if (k->unreported)
		k->unreported--;
	if (!k->unreported)
		k->failed_ns = 0;
	k->reported += k->spool.path[0] != '\0';
	k->changes++;
	if (k->verbose)
		serve_log(LOG_INFO, "job %s has ended: %s", c->key, name);
	return 0;
}

/* Whose report is next: the machine's, or that of the user after the last one; -ENOENT: nobody's. */
static int next_owner(struct serve_keeper *k, uint32_t *ret, struct diag *d)
{
	int err = store_waiting(k->store, -1, ret, d);

	if (err || !*ret)
		return err;
	err = store_waiting(k->store, k->turn, ret, d);
	if (err == -ENOENT)
		err = store_waiting(k->store, 0, ret, d);
	if (!err)
		k->turn = *ret;
	return err;
}

/* Returns true when there may be more. */
static bool write_batch(struct serve_keeper *k, uint64_t until_ns)
{
	const struct job_context context = { .host = &k->host, .node = accounts_node(k->accounts) };
	struct store_query q = { .unreported = true, .by_owner = true };
	struct batch b = { .context = &context };
	struct diag d = { 0 };
	uint64_t damaged = 0;
	int err = next_owner(k, &q.owner, &d);

	if (err == -ENOENT) {
		k->unreported = k->held;
		if (!k->held) {
			k->failed_ns = 0;
			works(&k->report_trouble);
		}
		return false;
	}
	if (!err) {
		err = store_each_job(k->store, &q, batch_job, &b, &d);
		damaged = tell_damaged(k);
		k->unreported -= damaged < k->unreported ? damaged : k->unreported;
	}
	if (err < 0) {
		if (!d.what[0])
			diag_error(&d, err, "cannot make a closing report");
		troubled(&k->store_trouble, &d);
	}
	for (size_t i = 0; i < b.nr && err >= 0; i++) {
		err = write_report(k, &b.items[i]);
		if (monotonic_ns() >= until_ns)
			break;
	}
	for (size_t i = 0; i < b.nr; i++)
		free(b.items[i].text);
	return err >= 0 && (b.nr || damaged);
}

bool serve_keeper_reports(struct serve_keeper *k, uint64_t until_ns)
{
	bool more = k->unreported && (!k->spool_trouble.now || k->retry) && !k->store_trouble.now;

	/* they may have been forgotten meanwhile */
	if (!k->unreported)
		works(&k->report_trouble);
	if (k->retry && more)
		more = release_reports(k);
	k->retry = false;
	while (more && monotonic_ns() < until_ns)
		more = write_batch(k, until_ns);
	return more;
}
