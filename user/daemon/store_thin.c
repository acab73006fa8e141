// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* The history grows coarser with its age: spans are joined, and dropped in the end. */
#include <errno.h>
#include <stdlib.h>

#include "base/array.h"
#include "base/clock.h"
#include "daemon/store_internal.h"

/* Clocks that are corrected little by little make no gap between two spans. */
#define CORRECTED_NS NS_PER_S
/* Jobs that were forgotten and whose parts go in one call */
#define MAX_GONE     20

/* A span, without what jobs had in it */
struct old_span {
	int64_t number;
	int64_t last;
	uint64_t start_ns;
	uint64_t end_ns;
	struct accounts_node piece;
};

/*
 * Spans that become one; those of @spans own no totals, @sum has all that they had. @damaged: number
 * of the first, if it cannot be read
 */
struct joint {
	struct old_span *spans;
	size_t nr;
	size_t cap;
	struct accounts_node sum;
	uint64_t length_ns;
	int64_t damaged;
};

static void joint_empty(struct joint *j)
{
	accounts_node_release(&j->sum);
	j->sum = (struct accounts_node){ 0 };
	j->nr = 0;
}

static void joint_free(struct joint *j)
{
	joint_empty(j);
	free(j->spans);
}

static int prepare(struct store *s, const char *sql, const int64_t *values, int nr,
		   sqlite3_stmt **ret)
{
	int rc = sqlite3_prepare_v2(s->db, sql, -1, ret, NULL);

	for (int i = 0; i < nr && rc == SQLITE_OK; i++)
		rc = sqlite3_bind_int64(*ret, i + 1, values[i]);
	return rc;
}

/* A statement without results, with whole numbers */
static int change(struct store *s, const char *sql, const int64_t *values, int nr)
{
	sqlite3_stmt *st = NULL;
	int rc = prepare(s, sql, values, nr, &st);

	if (rc == SQLITE_OK)
		rc = sqlite3_step(st);
	sqlite3_finalize(st);
	return rc == SQLITE_DONE ? SQLITE_OK : rc;
}

/* The only error besides damage, as SQLite says it */
static int code_of(int err)
{
	return err ? SQLITE_NOMEM : SQLITE_OK;
}

/* --- which spans */

/* Is there nothing between them that nobody looked at, and does the next step have both in one? */
static bool goes_on(const struct joint *j, const struct old_span *next)
{
	const struct old_span *last = &j->spans[j->nr - 1];
	uint64_t end = last->end_ns, start = next->start_ns;
	uint64_t apart = start > end ? start - end : end - start;

	return !next->piece.gaps && apart < CORRECTED_NS &&
	       j->spans[0].start_ns / j->length_ns == start / j->length_ns;
}

/*
 * A row; @ret_on: it belongs to those before, or is the first and the next step has ended. The last
 * that belongs to them ends behind that: they wait until it is old enough, too. What lies far ahead
 * is of a clock that was set, and nothing waits for it. A damaged one belongs to none, and is alone
 * when it is the first.
 */
static int take_span(struct joint *j, sqlite3_stmt *st, uint64_t before_ns, bool *ret_on)
{
	struct old_span o = { .number = sqlite3_column_int64(st, 0),
			      .last = sqlite3_column_int64(st, 1),
			      .start_ns = (uint64_t)sqlite3_column_int64(st, 2),
			      .end_ns = (uint64_t)sqlite3_column_int64(st, 3) };
	int err = blob_read_span(sqlite3_column_blob(st, 4), (size_t)sqlite3_column_bytes(st, 4),
				 SIZE_MAX, &o.piece);

	if (err) {
		*ret_on = false;
		j->damaged = j->nr ? 0 : o.number;
		return err == -ENOMEM ? SQLITE_NOMEM : SQLITE_OK;
	}
	*ret_on = j->nr ? goes_on(j, &o)
			: (o.start_ns / j->length_ns + 1) * j->length_ns <= before_ns;
	if (*ret_on && j->nr && o.end_ns > before_ns) {
		if (o.end_ns - before_ns < j->length_ns)
			joint_empty(j);
		*ret_on = false;
	}
	if (*ret_on && array_reserve(j->spans, j->cap, j->nr))
		err = -ENOMEM;
	if (*ret_on && !err)
		err = j->nr ? accounts_node_add(&j->sum, &o.piece)
			    : accounts_node_copy(&o.piece, &j->sum);
	accounts_node_release(&o.piece);
	o.piece.totals = NULL;
	o.piece.nr_totals = 0;
	if (*ret_on && !err)
		j->spans[j->nr++] = o;
	return code_of(err);
}

/*
 * The oldest span that is too fine for its age, with those that belong to it. Only when all that
 * will be in it is old enough: what is joined once is not touched again before the next step.
 */
static int find(struct store *s, uint64_t before_ns, struct joint *j)
{
	sqlite3_stmt *st = NULL;
	bool on = true;
	int rc = prepare(s,
			 "SELECT number,last,start_ns,end_ns,details FROM spans WHERE number>="
			 "(SELECT min(number) FROM spans WHERE length_ns<?1 AND end_ns<=?2) AND "
			 "length_ns<?1 ORDER BY number",
			 (int64_t[]){ (int64_t)j->length_ns, (int64_t)before_ns }, 2, &st);

	while (rc == SQLITE_OK && on && (rc = sqlite3_step(st)) == SQLITE_ROW)
		rc = take_span(j, st, before_ns, &on);
	sqlite3_finalize(st);
	return rc == SQLITE_DONE ? SQLITE_OK : rc;
}

/* --- what jobs had in them */

/* The part of a job in all spans: @next is the first that it is not made of yet */
struct joint_part {
	int64_t job;
	int64_t first;
	int64_t last;
	struct account_job sum;
	bool begun;
	size_t next;
};

static int add_piece(struct joint_part *p, const struct account_job *piece)
{
	if (!p->begun)
		p->sum.whole.start_ns = piece->whole.start_ns;
	p->begun = true;
	p->sum.intervals += piece->intervals;
	p->sum.covered_ns += piece->covered_ns;
	p->sum.gap_ns += piece->gap_ns;
	return account_part_add(&p->sum.whole, &piece->whole);
}

/* Spans before this one in which the job was, and had nothing */
static int add_idle(const struct joint *j, struct joint_part *p, int64_t number)
{
	int err = 0;

	for (; !err && p->next < j->nr && j->spans[p->next].number < number; p->next++) {
		const struct old_span *o = &j->spans[p->next];
		const struct account_job idle = {
			.intervals = o->piece.intervals,
			.covered_ns = o->piece.covered_ns,
			.gap_ns = o->piece.gap_ns,
			.whole = { .start_ns = o->start_ns, .end_ns = o->end_ns },
		};

		if (o->last >= p->first && o->number <= p->last)
			err = add_piece(p, &idle);
	}
	return err;
}

static int put_part(struct store *s, const struct joint *j, struct joint_part *p)
{
	int rc = SQLITE_OK;

	if (p->job) {
		rc = code_of(add_idle(j, p, INT64_MAX));
		if (rc == SQLITE_OK)
			rc = store_put_part(s, p->job, j->spans[0].number, j->spans[0].start_ns,
					    &p->sum);
	}
	account_job_release(&p->sum);
	*p = (struct joint_part){ 0 };
	return rc;
}

/* A row: job, span, details, begin of the span, first and last span of the job */
static int take_part(struct store *s, const struct joint *j, sqlite3_stmt *st, struct joint_part *p)
{
	int64_t job = sqlite3_column_int64(st, 0), span = sqlite3_column_int64(st, 1);
	struct account_job piece = { 0 };
	int rc = SQLITE_OK, err;

	if (job != p->job) {
		rc = put_part(s, j, p);
		*p = (struct joint_part){ .job = job,
					  .first = sqlite3_column_int64(st, 4),
					  .last = sqlite3_column_int64(st, 5) };
	}
	if (rc != SQLITE_OK)
		return rc;
	err = blob_read_job_span(sqlite3_column_blob(st, 2), (size_t)sqlite3_column_bytes(st, 2),
				 SIZE_MAX, (uint64_t)sqlite3_column_int64(st, 3), &piece);
	/* A damaged one is lost: what is missing then is seen when all are added up. */
	if (err && err != -ENOMEM)
		return SQLITE_OK;
	if (!err)
		err = add_idle(j, p, span) ?: add_piece(p, &piece);
	p->next++;
	account_job_release(&piece);
	return code_of(err);
}

/* Jobs that were forgotten are left out. What is read is sorted, so writing is not in the way. */
static int join_parts(struct store *s, const struct joint *j)
{
	struct joint_part p = { 0 };
	sqlite3_stmt *st = NULL;
	int rc = prepare(s,
			 "SELECT p.job,p.span,p.details,s.start_ns,k.first,"
			 "ifnull(k.last,9223372036854775807) FROM job_spans p "
			 "JOIN spans s ON s.number=p.span JOIN span_jobs k ON k.job=p.job "
			 "WHERE p.span BETWEEN ?1 AND ?2 AND k.gone=0 ORDER BY +p.job,+p.span",
			 (int64_t[]){ j->spans[0].number, j->spans[j->nr - 1].number }, 2, &st);

	while (rc == SQLITE_OK && (rc = sqlite3_step(st)) == SQLITE_ROW)
		rc = take_part(s, j, st, &p);
	if (rc == SQLITE_DONE)
		rc = put_part(s, j, &p);
	account_job_release(&p.sum);
	sqlite3_finalize(st);
	return rc;
}

static int join_machine(struct store *s, const struct joint *j)
{
	const struct old_span *last = &j->spans[j->nr - 1];
	sqlite3_stmt *st = NULL;
	int rc = prepare(s,
			 "UPDATE spans SET last=?2,end_ns=?3,length_ns=?4,details=?5 WHERE "
			 "number=?1",
			 (int64_t[]){ j->spans[0].number, last->last, (int64_t)last->end_ns,
				      (int64_t)j->length_ns },
			 4, &st);

	if (rc == SQLITE_OK && blob_span(&s->blob, &j->sum))
		rc = SQLITE_NOMEM;
	if (rc == SQLITE_OK)
		rc = sqlite3_bind_blob(st, 5, s->blob.data, (int)s->blob.nr, SQLITE_STATIC);
	if (rc == SQLITE_OK)
		rc = sqlite3_step(st);
	sqlite3_finalize(st);
	return rc == SQLITE_DONE ? SQLITE_OK : rc;
}

static int join(struct store *s, const struct joint *j)
{
	const int64_t others[] = { j->spans[0].number, j->spans[j->nr - 1].number };
	int rc = j->nr > 1 ? join_parts(s, j) : SQLITE_OK;

	if (rc == SQLITE_OK)
		rc = join_machine(s, j);
	if (rc == SQLITE_OK)
		rc = change(s, "DELETE FROM job_spans WHERE span>?1 AND span<=?2", others, 2);
	if (rc == SQLITE_OK)
		rc = change(s, "DELETE FROM spans WHERE number>?1 AND number<=?2", others, 2);
	return rc;
}

/* --- dropping */

static int drop(struct store *s, int64_t number)
{
	int rc = change(s, "DELETE FROM job_spans WHERE span=?1", &number, 1);

	return rc == SQLITE_OK ? change(s, "DELETE FROM spans WHERE number=?1", &number, 1) : rc;
}

/* The span that ended first, if it ended before */
static int drop_old(struct store *s, uint64_t before_ns, bool *ret_more)
{
	const int64_t before[] = { (int64_t)before_ns };
	int64_t number = 0;
	sqlite3_stmt *st = NULL;
	int rc = prepare(s, "SELECT number FROM spans WHERE end_ns<?1 ORDER BY end_ns LIMIT 1",
			 before, 1, &st);

	if (rc == SQLITE_OK)
		rc = sqlite3_step(st);
	if (rc == SQLITE_ROW)
		number = sqlite3_column_int64(st, 0);
	sqlite3_finalize(st);
	if (rc != SQLITE_ROW)
		return rc == SQLITE_DONE ? SQLITE_OK : rc;
	*ret_more = true;
	return drop(s, number);
}

/* What is left of jobs that were forgotten: a few of them */
static int drop_gone(struct store *s, bool *ret_more)
{
	int rc = SQLITE_OK;

	for (int i = 0; i < MAX_GONE && rc == SQLITE_OK; i++) {
		int64_t job;

		rc = store_number(s, "SELECT ifnull(min(job),0) FROM span_jobs WHERE gone=1", &job);
		if (rc != SQLITE_OK || !job)
			return rc;
		*ret_more = true;
		rc = change(s,
			    "DELETE FROM job_spans WHERE job=?1 AND span IN (SELECT s.number FROM "
			    "span_jobs k JOIN spans s ON s.number>=(SELECT ifnull(max(number),0) "
			    "FROM spans WHERE number<=k.first) AND s.number<=ifnull(k.last,9e18) "
			    "WHERE k.job=?1)",
			    &job, 1);
		if (rc == SQLITE_OK)
			rc = change(s, "DELETE FROM span_jobs WHERE job=?1", &job, 1);
	}
	return rc;
}

static uint64_t ago(uint64_t now_ns, uint64_t ns)
{
	return now_ns > ns ? now_ns - ns : 0;
}

static int thin(struct store *s, const struct history_config *c, uint64_t now_ns, bool *ret_more)
{
	uint64_t kept_ns = c->nr ? ago(now_ns, c->steps[c->nr - 1].keep_ns) : UINT64_MAX >> 1;
	int rc = drop_old(s, kept_ns, ret_more);

	for (size_t i = 1; i < c->nr && rc == SQLITE_OK && !*ret_more; i++) {
		struct joint j = { .length_ns = c->steps[i].step_ns };

		rc = find(s, ago(now_ns, c->steps[i - 1].keep_ns), &j);
		if (rc == SQLITE_OK && j.nr) {
			rc = join(s, &j);
			*ret_more = true;
		} else if (rc == SQLITE_OK && j.damaged) {
			rc = drop(s, j.damaged);
			*ret_more = true;
		}
		joint_free(&j);
	}
	return rc == SQLITE_OK && !*ret_more ? drop_gone(s, ret_more) : rc;
}

int store_thin(struct store *s, const struct history_config *c, uint64_t now_ns, struct diag *d,
	       bool *ret_more)
{
	int err = store_begin(s, d), rc;

	*ret_more = false;
	if (err)
		return err;
	rc = thin(s, c, now_ns, ret_more);
	if (rc != SQLITE_OK || !*ret_more) {
		if (rc != SQLITE_OK)
			err = store_error(s, rc, "cannot thin the history", d);
		store_rollback(s);
		return err;
	}
	/* no waiting for the disk: see store.h */
	store_exec(s, "PRAGMA synchronous = NORMAL");
	err = store_commit(s, d);
	store_exec(s, "PRAGMA synchronous = FULL");
	return err;
}
