// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include <errno.h>
#include <stdlib.h>

#include "base/array.h"
#include "daemon/store_internal.h"
#include "daemon/store_peaks.h"

/*
 * JOB_UPDATE is what happens to a running job with each interval. What is in indexes is in its
 * condition and not set, so that SQLite leaves the indexes alone; otherwise JOB_PUT does all.
 */
static const char *const sql[NR_STATEMENTS] = {
	[STATEMENT_KEEPER] = "INSERT OR REPLACE INTO keeper VALUES"
			     "(1,?1,?2,?3,?4,?5,?6,?7,?8,?9,?10,?11,?12,?13,?14,?15,?16,?17)",
	[STATEMENT_COUNTER] =
		"INSERT OR REPLACE INTO counters VALUES"
		"(?1,?2,?3,?4,?5,?6,?7,?8,?9,?10,?11,?12,?13,?14,?15,?16,?17,?18,?19,?20,?21)",
	[STATEMENT_COUNTERS_END] = "DELETE FROM counters WHERE counter >= ?1",
	[STATEMENT_JOB_UPDATE] =
		"UPDATE jobs SET user=?4,name=?5,state=?6,end_ns=?9,cpu_ns=?10,mem_read_bytes=?11,"
		"mem_write_bytes=?12,pcie_read_bytes=?13,pcie_write_bytes=?14,steps=?15,intervals=?"
		"16,"
		"gap_ns=?17,late_start=?18,details=?19,mem_readwrite_bytes=?21,energy_nanojoules=?"
		"22,resctrl_groups=?23,gpus=?24 "
		"WHERE key=?1 AND id=?3 AND scheduler=?2 AND reported=?7 AND start_ns=?8 AND "
		"owner=?20",
	[STATEMENT_JOB_PUT] =
		"INSERT INTO jobs(key,scheduler,id,user,name,state,reported,start_ns,end_ns,cpu_ns,"
		"mem_read_bytes,mem_write_bytes,pcie_read_bytes,pcie_write_bytes,steps,intervals,"
		"gap_ns,late_start,details,owner,mem_readwrite_bytes,energy_nanojoules,"
		"resctrl_groups,gpus) VALUES"
		"(?1,?2,?3,?4,?5,?6,?7,?8,?9,?10,?11,?12,?13,?14,?15,?16,?17,?18,?19,?20,?21,?22,?"
		"23,?24) "
		"ON CONFLICT(key) DO UPDATE SET scheduler=?2,id=?3,user=?4,name=?5,state=?6,"
		"reported=?7,start_ns=?8,end_ns=?9,cpu_ns=?10,mem_read_bytes=?11,mem_write_bytes=?"
		"12,"
		"pcie_read_bytes=?13,pcie_write_bytes=?14,steps=?15,intervals=?16,gap_ns=?17,"
		"late_start=?18,details=?19,owner=?20,mem_readwrite_bytes=?21,"
		"energy_nanojoules=?22,resctrl_groups=?23,gpus=?24",
	[STATEMENT_REPORTED] = "UPDATE jobs SET reported=1 WHERE key=?1",
	[STATEMENT_DAMAGED] =
		"UPDATE jobs SET reported=1,state='" STATE_DAMAGED "' WHERE number=?1",
	[STATEMENT_SPAN] = "INSERT INTO spans VALUES(?1,?1,?2,?3,?4,?5) ON CONFLICT(number) "
			   "DO UPDATE SET start_ns=?2,end_ns=?3,length_ns=?4,details=?5",
	[STATEMENT_SPAN_JOB] = "SELECT job FROM span_jobs WHERE key=?1",
	[STATEMENT_SPAN_JOB_NEW] = "INSERT INTO span_jobs(key,first) VALUES(?1,?2)",
	[STATEMENT_SPAN_JOB_OVER] = "UPDATE span_jobs SET last=?2 WHERE job=?1",
	[STATEMENT_JOB_SPAN] = "INSERT OR REPLACE INTO job_spans VALUES(?1,?2,?3)",
};

int store_prepare(struct store *s, enum statement i, sqlite3_stmt **ret)
{
	int rc = SQLITE_OK;

	if (!s->statements[i])
		rc = sqlite3_prepare_v3(s->db, sql[i], -1, SQLITE_PREPARE_PERSISTENT,
					&s->statements[i], NULL);
	*ret = s->statements[i];
	return rc;
}

/* Values of a statement, one after the other; SQLite complains when it runs. */
struct binder {
	sqlite3_stmt *st;
	int nr;
	int rc;
};

static void bind_number(struct binder *b, uint64_t value)
{
	int rc = sqlite3_bind_int64(b->st, ++b->nr, (sqlite3_int64)value);

	if (b->rc == SQLITE_OK)
		b->rc = rc;
}

/* For people: SQLite has no larger number, and t410trace reads the details. */
static void bind_sum(struct binder *b, sum128 value)
{
	bind_number(b, sum128_cut(value, INT64_MAX));
}

static void bind_text(struct binder *b, const char *text)
{
	int rc = sqlite3_bind_text(b->st, ++b->nr, text, -1, SQLITE_STATIC);

	if (b->rc == SQLITE_OK)
		b->rc = rc;
}

static void bind_blob(struct binder *b, const struct bytes *blob)
{
	int rc = sqlite3_bind_blob(b->st, ++b->nr, blob->data, blob->nr, SQLITE_STATIC);

	if (b->rc == SQLITE_OK)
		b->rc = rc;
}

/* Run it to its end; statements of the writer have no more than one row. */
static int run(const struct binder *b)
{
	int rc = b->rc;

	if (rc == SQLITE_OK)
		rc = sqlite3_step(b->st);
	if (rc == SQLITE_ROW)
		rc = SQLITE_DONE;
	sqlite3_reset(b->st);
	sqlite3_clear_bindings(b->st);
	return rc == SQLITE_DONE ? SQLITE_OK : rc;
}

/*
 * The log is brought into the file after a commit that made it long enough. On a small disk there is
 * no room for such a log, so that there never is such a commit: it is done here.
 */
static void give_log_back(struct store *s)
{
	int64_t busy = 1;

	/* a reader may be in the way, and the disk may still be full: what follows tells */
	if (store_number(s, "PRAGMA wal_checkpoint(TRUNCATE)", &busy) == SQLITE_OK)
		s->full = busy;
}

int store_begin(struct store *s, struct diag *d)
{
	int rc, err = store_check_files(s, d);

	if (err)
		return err;
	if (s->full)
		give_log_back(s);
	rc = store_exec(s, "BEGIN IMMEDIATE");

	return rc == SQLITE_OK ? 0 : store_error(s, rc, "cannot begin to write accounts", d);
}

/* After some errors SQLite has ended the transaction; what follows must not last alone. */
int store_check_begun(struct store *s, struct diag *d)
{
	if (!sqlite3_get_autocommit(s->db))
		return 0;
	return diag_fail(d, -EINVAL, "accounts are written to %s outside of an interval", s->file);
}

static enum headline headline_of(const struct account_counter *c)
{
	bool device = c->bdf[0];

	if (c->unit == UNIT_NANOJOULES)
		return c->source == SOURCE_DEVICE ? HEADLINE_NONE : HEADLINE_ENERGY;
	if (!c->whole || (!device && c->source != SOURCE_CPU && c->source != SOURCE_ANY))
		return HEADLINE_NONE;
	if (c->direction == DIRECTION_READWRITE)
		return device ? HEADLINE_NONE : HEADLINE_MEM_READWRITE;
	if (c->direction == DIRECTION_READ)
		return device ? HEADLINE_PCIE_READ : HEADLINE_MEM_READ;
	return device ? HEADLINE_PCIE_WRITE : HEADLINE_MEM_WRITE;
}

static int note_headlines(struct store *s, const struct accounts_node *n)
{
	uint8_t *headlines = reallocarray(s->headlines, n->nr_counters + 1, sizeof(*headlines));

	if (!headlines)
		return -ENOMEM;
	for (size_t i = 0; i < n->nr_counters; i++)
		headlines[i] = headline_of(&n->counters[i]);
	s->headlines = headlines;
	s->nr_headlines = n->nr_counters;
	return 0;
}

static int put_keeper(struct store *s, const struct host_info *host, const struct accounts_node *n)
{
	struct binder b = { .rc = SQLITE_OK };
	char peaks[STORE_PEAKS_LEN];
	int rc = store_prepare(s, STATEMENT_KEEPER, &b.st);

	if (rc != SQLITE_OK)
		return rc;
	if (blob_node(&s->blob, n))
		return SQLITE_NOMEM;
	bind_text(&b, host->name);
	bind_text(&b, host->kernel);
	bind_text(&b, host->platform);
	bind_number(&b, host->sockets);
	bind_number(&b, n->since_ns);
	bind_number(&b, n->until_ns);
	bind_number(&b, n->intervals);
	bind_number(&b, n->covered_ns);
	bind_number(&b, n->gaps);
	bind_number(&b, n->gap_ns);
	bind_number(&b, n->jobs_started);
	bind_number(&b, n->jobs_ended);
	bind_number(&b, n->jobs_stale);
	bind_number(&b, n->jobs_dropped);
	bind_number(&b, n->late_rows);
	bind_blob(&b, &s->blob);
	store_peaks_text(&host->peaks, peaks);
	bind_text(&b, peaks);
	return run(&b);
}

static int put_counter(struct store *s, sqlite3_stmt *st, size_t i, const struct account_counter *c,
		       const struct account_node_total *t)
{
	struct binder b = { .st = st, .rc = SQLITE_OK };

	if (blob_counter(&s->blob, t))
		return SQLITE_NOMEM;
	bind_number(&b, i);
	bind_text(&b, c->name);
	bind_number(&b, c->socket);
	bind_text(&b, source_name(c->source));
	bind_text(&b, direction_name(c->direction));
	bind_text(&b, destination_name(c->destination));
	bind_text(&b, c->bdf);
	bind_number(&b, c->whole);
	bind_sum(&b, t->value);
	bind_sum(&b, t->attributed);
	for (size_t reason = 0; reason < NR_REASONS; reason++)
		bind_sum(&b, t->unattributed[reason]);
	bind_number(&b, t->enabled_ns);
	bind_number(&b, t->running_ns);
	bind_number(&b, t->missing);
	bind_text(&b, unit_name(c->unit));
	bind_blob(&b, &s->blob);
	return run(&b);
}

static int put_counters(struct store *s, const struct accounts_node *n)
{
	struct binder end = { .rc = SQLITE_OK };
	sqlite3_stmt *st;
	int rc = store_prepare(s, STATEMENT_COUNTER, &st);

	for (size_t i = 0; i < n->nr_counters && rc == SQLITE_OK; i++)
		rc = put_counter(s, st, i, &n->counters[i], &n->totals[i]);
	if (rc == SQLITE_OK)
		rc = store_prepare(s, STATEMENT_COUNTERS_END, &end.st);
	if (rc != SQLITE_OK)
		return rc;
	bind_number(&end, n->nr_counters);
	return run(&end);
}

int store_node(struct store *s, const struct host_info *host, const struct accounts_node *n,
	       struct diag *d)
{
	int err = store_check_begun(s, d);
	int rc = SQLITE_NOMEM;

	if (err)
		return err;
	if (!note_headlines(s, n))
		rc = put_keeper(s, host, n);
	if (rc == SQLITE_OK)
		rc = put_counters(s, n);
	return rc == SQLITE_OK ? 0 : store_error(s, rc, "cannot write totals", d);
}

static void bind_job(struct binder *b, struct store *s, const struct account_job *j)
{
	sum128 headlines[NR_HEADLINES] = { 0 };

	for (size_t i = 0; i < j->whole.nr_totals; i++)
		headlines[s->headlines[j->whole.totals[i].counter]] += j->whole.totals[i].value;
	bind_text(b, j->key);
	bind_text(b, scheduler_name(j->job.scheduler));
	bind_text(b, j->job.id);
	bind_text(b, j->job.user);
	bind_text(b, j->job.name);
	bind_text(b, account_state_name(j->state));
	bind_number(b, j->reported);
	bind_number(b, j->whole.start_ns);
	bind_number(b, j->whole.end_ns);
	bind_number(b, sum128_cut(j->whole.on_cpu_ns, INT64_MAX));
	for (size_t i = HEADLINE_MEM_READ; i <= HEADLINE_PCIE_WRITE; i++)
		bind_sum(b, headlines[i]);
	bind_number(b, j->nr_steps);
	bind_number(b, j->intervals);
	bind_number(b, j->gap_ns);
	bind_number(b, j->late_start);
	bind_blob(b, &s->blob);
	bind_number(b, account_key_owner(j->key));
	bind_sum(b, headlines[HEADLINE_MEM_READWRITE]);
	bind_sum(b, headlines[HEADLINE_ENERGY]);
	bind_number(b, j->nr_groups);
	bind_number(b, j->nr_gpus);
}

static int put_job(struct store *s, const struct account_job *j)
{
	static const enum statement ways[] = { STATEMENT_JOB_UPDATE, STATEMENT_JOB_PUT };
	int rc = SQLITE_OK;

	for (size_t i = 0; i < ARRAY_SIZE(ways); i++) {
		struct binder b = { .rc = SQLITE_OK };

		rc = store_prepare(s, ways[i], &b.st);
		if (rc != SQLITE_OK)
			return rc;
		bind_job(&b, s, j);
		rc = run(&b);
		if (rc != SQLITE_OK || sqlite3_changes(s->db))
			break;
	}
	return rc;
}

static bool part_known(const struct store *s, const struct account_part *p)
{
	for (size_t i = 0; i < p->nr_totals; i++)
		if (p->totals[i].counter >= s->nr_headlines)
			return false;
	return true;
}

static bool counters_known(const struct store *s, const struct account_job *j)
{
	for (size_t i = 0; i < j->nr_node; i++)
		if (j->node[i].counter >= s->nr_headlines)
			return false;
	for (size_t i = 0; i < j->nr_steps; i++)
		if (!part_known(s, &j->steps[i]))
			return false;
	return part_known(s, &j->whole);
}

int store_job(struct store *s, const struct account_job *j, struct diag *d)
{
	int err = store_check_begun(s, d);
	int rc = SQLITE_NOMEM;

	if (err)
		return err;
	if (!counters_known(s, j))
		return diag_fail(d, -EINVAL,
				 "the account %s has counters that the machine does not", j->key);
	if (!blob_job(&s->blob, j))
		rc = put_job(s, j);
	return rc == SQLITE_OK ? 0 : store_error(s, rc, "cannot write an account", d);
}

int store_commit(struct store *s, struct diag *d)
{
	int err = store_check_begun(s, d);
	int rc;

	if (err)
		return err;
	rc = store_exec(s, "COMMIT");
	if (rc != SQLITE_OK) {
		err = store_error(s, rc, "cannot write accounts", d);
		store_rollback(s);
		return err;
	}
	return 0;
}

void store_rollback(struct store *s)
{
	if (!sqlite3_get_autocommit(s->db))
		store_exec(s, "ROLLBACK");
}

int store_reported(struct store *s, const char *key, struct diag *d)
{
	struct binder b = { .rc = SQLITE_OK };
	int rc = store_prepare(s, STATEMENT_REPORTED, &b.st);

	if (rc == SQLITE_OK) {
		bind_text(&b, key);
		/* no waiting for the disk: see store.h */
		store_exec(s, "PRAGMA synchronous = NORMAL");
		rc = run(&b);
		store_exec(s, "PRAGMA synchronous = FULL");
	}
	return rc == SQLITE_OK ? 0 : store_error(s, rc, "cannot note a report", d);
}

int store_put_jobs_aside(struct store *s, const int64_t *numbers, size_t nr, struct diag *d)
{
	struct binder b = { .rc = SQLITE_OK };
	int err = nr ? store_begin(s, d) : 0;
	int rc;

	if (err || !nr)
		return err;
	rc = store_prepare(s, STATEMENT_DAMAGED, &b.st);
	for (size_t i = 0; i < nr && rc == SQLITE_OK; i++) {
		b.nr = 0;
		bind_number(&b, numbers[i]);
		rc = run(&b);
	}
	if (rc == SQLITE_OK)
		return store_commit(s, d);
	err = store_error(s, rc, "cannot put damaged accounts aside", d);
	store_rollback(s);
	return err;
}
