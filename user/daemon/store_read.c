// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Reading the store. Nothing in the file is trusted: anybody may have written it. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/text.h"
#include "daemon/store_internal.h"
#include "daemon/store_peaks.h"

#define QUERY_LEN 1024

/* Columns of a statement, one after the other. */
struct taker {
	sqlite3_stmt *st;
	int nr;
	bool bad;
};

static uint64_t take_number_of(struct taker *t)
{
	int column = t->nr++;

	if (sqlite3_column_type(t->st, column) != SQLITE_INTEGER)
		t->bad = true;
	return sqlite3_column_int64(t->st, column);
}

static void take_text_of(struct taker *t, char *ret, size_t size)
{
	int column = t->nr++;
	const char *text = (const char *)sqlite3_column_text(t->st, column);

	ret[0] = '\0';
	if (!text || str_copy(ret, size, text) ||
	    strlen(text) != (size_t)sqlite3_column_bytes(t->st, column))
		t->bad = true;
}

/* Define a function that finds the value of an enum by its name; @nr for an unknown one. */
#define FIND(function, type, name_of, nr)                    \
	static type function(const char *name)               \
	{                                                    \
		int i = 0;                                   \
                                                             \
		while (i < (nr) && strcmp(name_of(i), name)) \
			i++;                                 \
		return i;                                    \
	}

FIND(source_find, enum source, source_name, SOURCE_ANY + 1)
FIND(direction_find, enum direction, direction_name, NR_DIRECTIONS)
FIND(destination_find, enum destination, destination_name, NR_DESTINATIONS)
FIND(unit_find, enum unit, unit_name, NR_UNITS)
FIND(state_find, enum account_state, account_state_name, NR_ACCOUNT_STATES)

/* @ret_err: of the details, whose sums are those of the columns or larger. False: damage */
static bool take_counter_row(sqlite3_stmt *st, uint64_t expected, struct account_counter *c,
			     struct account_node_total *total, int *ret_err)
{
	struct taker t = { .st = st };
	char name[32];

	t.bad = take_number_of(&t) != expected;
	take_text_of(&t, c->name, sizeof(c->name));
	c->socket = take_number_of(&t);
	take_text_of(&t, name, sizeof(name));
	c->source = source_find(name);
	take_text_of(&t, name, sizeof(name));
	c->direction = direction_find(name);
	take_text_of(&t, name, sizeof(name));
	c->destination = destination_find(name);
	take_text_of(&t, c->bdf, sizeof(c->bdf));
	c->whole = take_number_of(&t);
	total->counter = expected;
	total->value = take_number_of(&t);
	total->attributed = take_number_of(&t);
	for (size_t i = 0; i < NR_REASONS; i++)
		total->unattributed[i] = take_number_of(&t);
	total->enabled_ns = take_number_of(&t);
	total->running_ns = take_number_of(&t);
	total->missing = take_number_of(&t);
	take_text_of(&t, name, sizeof(name));
	c->unit = unit_find(name);
	*ret_err = 0;
	if (sqlite3_column_bytes(st, t.nr))
		*ret_err = blob_read_counter(sqlite3_column_blob(st, t.nr),
					     sqlite3_column_bytes(st, t.nr), total);
	return !t.bad && *ret_err != -EUCLEAN && c->source <= SOURCE_ANY &&
	       c->direction < NR_DIRECTIONS && c->destination < NR_DESTINATIONS &&
	       c->unit < NR_UNITS;
}

static int read_counters(struct store *s, struct accounts_node *n, struct diag *d)
{
	size_t cap = 0, cap_totals = 0;
	sqlite3_stmt *st;
	int rc =
		sqlite3_prepare_v2(s->db, "SELECT * FROM counters ORDER BY counter", -1, &st, NULL);
	int err = 0;

	while (rc == SQLITE_OK && !err && (rc = sqlite3_step(st)) == SQLITE_ROW) {
		size_t i = n->nr_counters;

		rc = SQLITE_OK;
		if (array_reserve(n->counters, cap, i) || array_reserve(n->totals, cap_totals, i))
			rc = SQLITE_NOMEM;
		else if (!take_counter_row(st, i, &n->counters[i], &n->totals[i], &err))
			err = store_damage(s, "a counter", d);
		else if (err)
			diag_fail(d, err, "cannot read a counter in %s: %s", s->file,
				  strerror(-err));
		else
			n->nr_counters++;
	}
	sqlite3_finalize(st);
	n->nr_totals = n->nr_counters;
	if (err || rc == SQLITE_DONE)
		return err;
	return store_error(s, rc, "cannot read counters", d);
}

/* The one row of "keeper". */
static int take_keeper(struct store *s, sqlite3_stmt *st, struct host_info *host,
		       struct accounts_node *n, struct diag *d)
{
	struct taker t = { .st = st };
	char peaks[STORE_PEAKS_LEN];
	int err, details;

	take_text_of(&t, host->name, sizeof(host->name));
	take_text_of(&t, host->kernel, sizeof(host->kernel));
	take_text_of(&t, host->platform, sizeof(host->platform));
	host->sockets = take_number_of(&t);
	n->since_ns = take_number_of(&t);
	n->until_ns = take_number_of(&t);
	n->intervals = take_number_of(&t);
	n->covered_ns = take_number_of(&t);
	n->gaps = take_number_of(&t);
	n->gap_ns = take_number_of(&t);
	n->jobs_started = take_number_of(&t);
	n->jobs_ended = take_number_of(&t);
	n->jobs_stale = take_number_of(&t);
	n->jobs_dropped = take_number_of(&t);
	n->late_rows = take_number_of(&t);
	details = t.nr++;
	take_text_of(&t, peaks, sizeof(peaks));
	err = t.bad || store_peaks_parse(peaks, &host->peaks)
		      ? -EUCLEAN
		      : blob_read_node(sqlite3_column_blob(st, details),
				       sqlite3_column_bytes(st, details), n);
	if (err == -EUCLEAN)
		return store_damage(s, "the record of the machine", d);
	return err ? diag_fail(d, err, "cannot read the machine's totals in %s: %s", s->file,
			       strerror(-err))
		   : 0;
}

static int read_node(struct store *s, struct host_info *host, struct accounts_node *n,
		     struct diag *d)
{
	sqlite3_stmt *st;
	int rc = sqlite3_prepare_v2(
		s->db,
		"SELECT host,kernel,platform,sockets,since_ns,until_ns,intervals,"
		"covered_ns,gaps,gap_ns,jobs_started,jobs_ended,jobs_stale,"
		"jobs_dropped,late_rows,details,peaks "
		"FROM keeper",
		-1, &st, NULL);
	int err = 0;

	if (rc == SQLITE_OK)
		rc = sqlite3_step(st);
	if (rc == SQLITE_ROW)
		err = take_keeper(s, st, host, n, d);
	else if (rc == SQLITE_DONE)
		err = diag_fail(d, -ENODATA, "there are no accounts in %s yet", s->file);
	else
		err = store_error(s, rc, "cannot read the machine's totals", d);
	sqlite3_finalize(st);
	if (!err)
		err = read_counters(s, n, d);
	return err ? err : store_check_unchanged(s, d);
}

int store_read_node(struct store *s, struct host_info *ret_host, struct accounts_node *ret,
		    struct diag *d)
{
	struct accounts_node n = { 0 };
	struct host_info host = { 0 };
	int err = read_node(s, &host, &n, d);

	if (err) {
		accounts_node_release(&n);
		return err;
	}
	*ret_host = host;
	*ret = n;
	return 0;
}

static void add_states(char *query, unsigned int states)
{
	const char *between = " AND state IN (";

	for (int i = 0; i < NR_ACCOUNT_STATES; i++)
		if (states & 1u << i) {
			str_append(query, QUERY_LEN, "%s'%s'", between, account_state_name(i));
			between = ",";
		}
	if (states)
		str_append(query, QUERY_LEN, "%s)", between[0] == ',' ? "" : " AND state IN (");
}

static int prepare_query(struct store *s, const struct store_query *q, sqlite3_stmt **ret)
{
	char query[QUERY_LEN] =
		"SELECT key,scheduler,id,user,name,state,reported,details,number FROM jobs "
		"WHERE state<>'" STATE_DAMAGED "'";
	int rc;

	add_states(query, q->states);
	if (q->scheduler != SCHEDULER_NONE)
		str_append(query, QUERY_LEN, " AND scheduler=?1");
	if (q->id)
		str_append(query, QUERY_LEN,
			   " AND (id=?2 OR key=?2 OR (id>?2 AND id<?2||'g' AND length(id)>=%d "
			   "AND length(?2)>=%d))",
			   JOB_LONG_ID, JOB_SHORT_ID);
	if (q->user)
		str_append(query, QUERY_LEN, " AND user=?3");
	if (q->since_ns)
		str_append(query, QUERY_LEN, " AND (state='running' OR end_ns>?4)");
	if (q->unreported)
		str_append(query, QUERY_LEN, " AND reported=0 AND state<>'running'%s",
			   s->holds ? NOT_HELD : "");
	if (q->by_owner)
		str_append(query, QUERY_LEN, " AND owner=?6");
	/* running jobs are never reported, which the index of open ones can tell */
	if (q->states == 1u << ACCOUNT_RUNNING)
		str_append(query, QUERY_LEN, " AND reported=0");
	str_append(query, QUERY_LEN,
		   q->newest ? " ORDER BY start_ns DESC,number DESC LIMIT ?5"
			     : " ORDER BY start_ns,number");
	rc = sqlite3_prepare_v2(s->db, query, -1, ret, NULL);
	if (rc != SQLITE_OK)
		return rc;
	/* those that the query does not have are refused, which does no harm */
	sqlite3_bind_text(*ret, 1, scheduler_name(q->scheduler), -1, SQLITE_STATIC);
	sqlite3_bind_text(*ret, 2, q->id, -1, SQLITE_STATIC);
	sqlite3_bind_text(*ret, 3, q->user, -1, SQLITE_STATIC);
	sqlite3_bind_int64(*ret, 4, (sqlite3_int64)q->since_ns);
	sqlite3_bind_int64(*ret, 6, q->owner);
	sqlite3_bind_int64(*ret, 5, q->newest < INT64_MAX ? (sqlite3_int64)q->newest : INT64_MAX);
	return SQLITE_OK;
}

/* Of these are keys: they name files in the spool and are in messages. */
#define KEY_CHARACTERS "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.-"

static bool is_key(const char *key)
{
	return key[0] && key[0] != '.' && !key[strspn(key, KEY_CHARACTERS)];
}

/* -EUCLEAN for damage, without words */
static int take_job_row(const struct store *s, sqlite3_stmt *st, size_t nr_counters,
			struct account_job *j, struct diag *d)
{
	struct taker t = { .st = st };
	char scheduler[32], state[32];
	int err = -EUCLEAN;

	take_text_of(&t, j->key, sizeof(j->key));
	take_text_of(&t, scheduler, sizeof(scheduler));
	j->job.scheduler = scheduler_find(scheduler);
	take_text_of(&t, j->job.id, sizeof(j->job.id));
	take_text_of(&t, j->job.user, sizeof(j->job.user));
	take_text_of(&t, j->job.name, sizeof(j->job.name));
	take_text_of(&t, state, sizeof(state));
	j->state = state_find(state);
	j->reported = take_number_of(&t);
	if (!t.bad && is_key(j->key) && j->job.scheduler < NR_SCHEDULERS &&
	    j->state < NR_ACCOUNT_STATES)
		err = blob_read_job(sqlite3_column_blob(st, t.nr), sqlite3_column_bytes(st, t.nr),
				    nr_counters, j);
	if (err && err != -EUCLEAN)
		diag_fail(d, err, "cannot read the account %s in %s: %s", j->key, s->file,
			  err == -EPROTONOSUPPORT ? "a later t410trace wrote it" : strerror(-err));
	return err;
}

/* Rows that turned out to be damaged. */
struct damaged_rows {
	int64_t *numbers;
	size_t nr, cap;
	char key[sizeof(((struct account_job *)NULL)->key)];
};

static int leave_out(sqlite3_stmt *st, const char *key, struct damaged_rows *r)
{
	if (array_reserve(r->numbers, r->cap, r->nr))
		return -ENOMEM;
	r->numbers[r->nr++] = sqlite3_column_int64(st, sqlite3_column_count(st) - 1);
	str_copy(r->key, sizeof(r->key), key);
	for (char *c = r->key; *c; c++)
		if (!strchr(KEY_CHARACTERS, *c))
			*c = '?';
	return 0;
}

static int put_aside(struct store *s, const struct damaged_rows *r, struct diag *d)
{
	int err = s->write ? store_put_jobs_aside(s, r->numbers, r->nr, d) : 0;

	if (err || !r->nr)
		return err;
	/* there may be more that nobody has looked at */
	s->damaged = true;
	s->left_out.nr += r->nr;
	memcpy(s->left_out.key, r->key, sizeof(r->key));
	return 0;
}

int store_each_job(struct store *s, const struct store_query *q,
		   int (*fn)(void *arg, const struct account_job *j), void *arg, struct diag *d)
{
	struct damaged_rows bad = { 0 };
	sqlite3_stmt *st = NULL;
	int64_t nr_counters;
	int rc = store_number(s, "SELECT count(*) FROM counters", &nr_counters);
	int err = 0, aside;

	if (rc == SQLITE_OK)
		rc = prepare_query(s, q, &st);
	while (rc == SQLITE_OK && !err && (rc = sqlite3_step(st)) == SQLITE_ROW) {
		struct account_job j = { 0 };

		rc = SQLITE_OK;
		err = take_job_row(s, st, nr_counters, &j, d);
		if (err == -EUCLEAN)
			err = leave_out(st, j.key, &bad);
		else if (!err)
			err = fn(arg, &j);
		account_job_release(&j);
	}
	sqlite3_finalize(st);
	if (!err && rc != SQLITE_DONE)
		err = store_error(s, rc, "cannot read accounts", d);
	if (!err)
		err = store_check_unchanged(s, d);
	aside = put_aside(s, &bad, d);
	free(bad.numbers);
	return err < 0 || !aside ? err : aside;
}

const struct store_damaged *store_damaged(const struct store *s)
{
	return &s->left_out;
}
