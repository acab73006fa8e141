// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* The history of jobs: writing and reading spans. Thinning is in store_thin.c. */
#include <errno.h>

#include "daemon/store_internal.h"

/* Runs a statement with whole numbers to its end, after what was bound already; an SQLite code */
static int run(sqlite3_stmt *st)
{
	int rc = sqlite3_step(st);

	sqlite3_reset(st);
	sqlite3_clear_bindings(st);
	return rc == SQLITE_DONE || rc == SQLITE_ROW ? SQLITE_OK : rc;
}

int store_next_span(struct store *s, uint64_t *ret, struct diag *d)
{
	int64_t last;
	int rc = store_number(s, "SELECT ifnull(max(last),0) FROM spans", &last);

	if (rc != SQLITE_OK)
		return store_error(s, rc, "cannot read the history", d);
	*ret = (uint64_t)last + 1;
	return 0;
}

int store_span(struct store *s, const struct store_span *span, struct diag *d)
{
	int err = store_check_begun(s, d), rc = SQLITE_NOMEM;
	sqlite3_stmt *st;

	if (err)
		return err;
	if (!blob_span(&s->blob, span->piece))
		rc = store_prepare(s, STATEMENT_SPAN, &st);
	if (rc == SQLITE_OK) {
		sqlite3_bind_int64(st, 1, (sqlite3_int64)span->number);
		sqlite3_bind_int64(st, 2, (sqlite3_int64)span->start_ns);
		sqlite3_bind_int64(st, 3, (sqlite3_int64)span->end_ns);
		sqlite3_bind_int64(st, 4, (sqlite3_int64)span->length_ns);
		sqlite3_bind_blob(st, 5, s->blob.data, (int)s->blob.nr, SQLITE_STATIC);
		rc = run(st);
	}
	return rc == SQLITE_OK ? 0 : store_error(s, rc, "cannot write the history", d);
}

/* The number of a job, which it gets now if it has none and @first is not 0; 0 for none */
static int find_job(struct store *s, const char *key, uint64_t first, int64_t *ret)
{
	sqlite3_stmt *st;
	int rc = store_prepare(s, STATEMENT_SPAN_JOB, &st);

	*ret = 0;
	if (rc != SQLITE_OK)
		return rc;
	sqlite3_bind_text(st, 1, key, -1, SQLITE_STATIC);
	rc = sqlite3_step(st);
	if (rc == SQLITE_ROW)
		*ret = sqlite3_column_int64(st, 0);
	sqlite3_reset(st);
	sqlite3_clear_bindings(st);
	if (rc != SQLITE_DONE || !first)
		return rc == SQLITE_ROW || rc == SQLITE_DONE ? SQLITE_OK : rc;
	rc = store_prepare(s, STATEMENT_SPAN_JOB_NEW, &st);
	if (rc != SQLITE_OK)
		return rc;
	sqlite3_bind_text(st, 1, key, -1, SQLITE_STATIC);
	sqlite3_bind_int64(st, 2, (sqlite3_int64)first);
	rc = run(st);
	*ret = sqlite3_last_insert_rowid(s->db);
	return rc;
}

static int put_over(struct store *s, int64_t job, uint64_t last)
{
	sqlite3_stmt *st;
	int rc = store_prepare(s, STATEMENT_SPAN_JOB_OVER, &st);

	if (rc != SQLITE_OK)
		return rc;
	sqlite3_bind_int64(st, 1, job);
	sqlite3_bind_int64(st, 2, (sqlite3_int64)last);
	return run(st);
}

int store_put_part(struct store *s, int64_t job, int64_t span, uint64_t start_ns,
		   const struct account_job *piece)
{
	sqlite3_stmt *st;
	int rc;

	if (blob_job_span(&s->blob, piece, start_ns))
		return SQLITE_NOMEM;
	rc = store_prepare(s, STATEMENT_JOB_SPAN, &st);
	if (rc != SQLITE_OK)
		return rc;
	sqlite3_bind_int64(st, 1, span);
	sqlite3_bind_int64(st, 2, job);
	sqlite3_bind_blob(st, 3, s->blob.data, (int)s->blob.nr, SQLITE_STATIC);
	return run(st);
}

int store_job_span(struct store *s, const struct store_job_span *j, struct diag *d)
{
	uint64_t number = j->span->number;
	int64_t job;
	int err = store_check_begun(s, d), rc;

	if (err)
		return err;
	rc = find_job(s, j->key, j->piece ? number : 0, &job);
	if (rc == SQLITE_OK && j->piece)
		rc = store_put_part(s, job, (int64_t)number, j->span->start_ns, j->piece);
	if (rc == SQLITE_OK && job && (j->over || !j->piece))
		rc = put_over(s, job, j->piece ? number : number - 1);
	return rc == SQLITE_OK ? 0 : store_error(s, rc, "cannot write the history", d);
}

/* --- reading */

/* A row: start_ns, end_ns, the machine's details, the job's or NULL. -EUCLEAN without words */
static int take_span(sqlite3_stmt *st, size_t nr_counters, struct account_job *ret, struct diag *d)
{
	uint64_t start_ns = (uint64_t)sqlite3_column_int64(st, 0);
	uint64_t end_ns = (uint64_t)sqlite3_column_int64(st, 1);
	struct account_job j = { .whole = { .start_ns = start_ns, .end_ns = end_ns } };
	struct accounts_node node = { 0 };
	int err = blob_read_span(sqlite3_column_blob(st, 2), (size_t)sqlite3_column_bytes(st, 2),
				 nr_counters, &node);

	if (!err && sqlite3_column_type(st, 3) == SQLITE_NULL) {
		j.intervals = node.intervals;
		j.covered_ns = node.covered_ns;
		j.gap_ns = node.gap_ns;
	} else if (!err) {
		err = blob_read_job_span(sqlite3_column_blob(st, 3),
					 (size_t)sqlite3_column_bytes(st, 3), nr_counters, start_ns,
					 &j);
	}
	if (err) {
		accounts_node_release(&node);
		if (err == -ENOMEM)
			diag_no_memory(d);
		return err;
	}
	j.node = node.totals;
	j.nr_node = node.nr_totals;
	j.quality = node.quality;
	j.self = node.self;
	*ret = j;
	return 0;
}

int store_each_span(struct store *s, const char *key,
		    int (*fn)(void *arg, const struct account_job *interval), void *arg,
		    struct diag *d)
{
	static const char query[] =
		"SELECT s.start_ns,s.end_ns,s.details,p.details FROM span_jobs j JOIN spans s ON "
		"s.number>=(SELECT ifnull(max(number),0) FROM spans WHERE number<=j.first) AND "
		"s.number<=ifnull(j.last,9e18) AND s.last>=j.first "
		"LEFT JOIN job_spans p ON p.span=s.number AND p.job=j.job "
		"WHERE j.key=?1 ORDER BY s.number";
	sqlite3_stmt *st = NULL;
	int64_t nr_counters;
	int rc = store_number(s, "SELECT count(*) FROM counters", &nr_counters), err = 0;

	if (rc == SQLITE_OK)
		rc = sqlite3_prepare_v2(s->db, query, -1, &st, NULL);
	if (rc == SQLITE_OK)
		rc = sqlite3_bind_text(st, 1, key, -1, SQLITE_STATIC);
	while (rc == SQLITE_OK && !err && (rc = sqlite3_step(st)) == SQLITE_ROW) {
		struct account_job j = { 0 };

		rc = SQLITE_OK;
		err = take_span(st, (size_t)nr_counters, &j, d);
		/* It is missing then, as one that was dropped. */
		if (err == -EUCLEAN)
			err = 0;
		else if (!err)
			err = fn(arg, &j);
		account_job_release(&j);
	}
	sqlite3_finalize(st);
	if (!err && rc != SQLITE_DONE)
		err = store_error(s, rc, "cannot read the history", d);
	return err ?: store_check_unchanged(s, d);
}
