// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* What is forgotten, so that the store does not grow for ever; and whose closing reports wait. */
#include <errno.h>

#include "base/array.h"
#include "daemon/store_internal.h"

/* One that has more than the next one gives so many more in a step: exact shares are not worth a count each. */
#define FAIR_STEP 50

#define OVER	  "state<>'running'"

#define WAITING	  "SELECT owner FROM jobs WHERE reported=0 AND " OVER " AND owner>?1"
#define ORDERED	  " ORDER BY owner LIMIT 1"

/* Numbers of a statement, ?1 and so on; an SQLite code. */
static int prepare(struct store *s, const char *sql, const uint64_t *values, int nr,
		   sqlite3_stmt **ret)
{
	int rc = sqlite3_prepare_v2(s->db, sql, -1, ret, NULL);

	for (int i = 0; i < nr && rc == SQLITE_OK; i++)
		rc = sqlite3_bind_int64(*ret, i + 1, (sqlite3_int64)values[i]);
	return rc;
}

/* Runs a DELETE with these numbers; adds how many it took. */
static int forget(struct store *s, const char *sql, const uint64_t *values, int nr, uint64_t *ret)
{
	sqlite3_stmt *st = NULL;
	int rc = prepare(s, sql, values, nr, &st);

	if (rc == SQLITE_OK)
		rc = sqlite3_step(st);
	sqlite3_finalize(st);
	if (rc == SQLITE_DONE)
		*ret += sqlite3_changes(s->db);
	return rc == SQLITE_DONE ? SQLITE_OK : rc;
}

static uint64_t left(const struct store_pruned *p)
{
	return STORE_PRUNE_MAX - p->reported - p->unreported;
}

static int forget_old(struct store *s, const struct store_bounds *b, struct store_pruned *p)
{
	int rc = forget(s,
			"DELETE FROM jobs WHERE number IN (SELECT number FROM jobs WHERE "
			"reported=1 AND " OVER " AND end_ns<?1 ORDER BY end_ns LIMIT ?2)",
			(uint64_t[]){ b->before_ns, left(p) }, 2, &p->reported);

	if (rc == SQLITE_OK)
		rc = forget(s,
			    "DELETE FROM jobs WHERE number IN (SELECT number FROM jobs WHERE "
			    "reported=0 AND " OVER " AND end_ns<?1 ORDER BY end_ns LIMIT ?2)",
			    (uint64_t[]){ b->unreported_before_ns, left(p) }, 2, &p->unreported);
	return rc;
}

/* The oldest of an owner, those whose report was written first. */
static int forget_of(struct store *s, uint64_t owner, uint64_t nr, struct store_pruned *p)
{
	uint64_t before = p->reported;
	int rc = forget(s,
			"DELETE FROM jobs WHERE number IN (SELECT number FROM jobs WHERE " OVER
			" AND owner=?1 AND reported=1 ORDER BY end_ns LIMIT ?2)",
			(uint64_t[]){ owner, nr }, 2, &p->reported);

	nr -= p->reported - before;
	if (rc == SQLITE_OK && nr)
		rc = forget(s,
			    "DELETE FROM jobs WHERE number IN (SELECT number FROM jobs WHERE " OVER
			    " AND owner=?1 AND reported=0 ORDER BY end_ns LIMIT ?2)",
			    (uint64_t[]){ owner, nr }, 2, &p->unreported);
	return rc;
}

/* Jobs that are over: of the machine, of users, and of the two users that have most. */
struct owner_counts {
	uint64_t machine;
	uint64_t users;
	uint64_t largest;
	uint64_t largest_owner;
	uint64_t second;
};

static int count(struct store *s, struct owner_counts *ret)
{
	sqlite3_stmt *st = NULL;
	int rc = prepare(s, "SELECT owner,count(*) FROM jobs WHERE " OVER " GROUP BY owner", NULL,
			 0, &st);

	*ret = (struct owner_counts){ 0 };
	while (rc == SQLITE_OK && (rc = sqlite3_step(st)) == SQLITE_ROW) {
		uint64_t owner = sqlite3_column_int64(st, 0), nr = sqlite3_column_int64(st, 1);

		rc = SQLITE_OK;
		if (!owner) {
			ret->machine = nr;
			continue;
		}
		ret->users += nr;
		if (nr > ret->largest) {
			ret->second = ret->largest;
			ret->largest = nr;
			ret->largest_owner = owner;
		} else if (nr > ret->second) {
			ret->second = nr;
		}
	}
	sqlite3_finalize(st);
	return rc == SQLITE_DONE ? SQLITE_OK : rc;
}

static uint64_t least(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

/* One step: who gives, and how many. Users have half at most, if the machine's jobs need the rest. */
static int forget_surplus(struct store *s, const struct owner_counts *o, uint64_t max_jobs,
			  struct store_pruned *p)
{
	uint64_t nr = least(o->machine + o->users - max_jobs, left(p));
	uint64_t half = max_jobs / 2;

	if (o->users <= half)
		return forget_of(s, 0, least(nr, o->machine), p);
	nr = least(nr, o->users - half);
	return forget_of(s, o->largest_owner, least(nr, o->largest - o->second + FAIR_STEP), p);
}

int store_prune(struct store *s, const struct store_bounds *b, struct diag *d,
		struct store_pruned *ret)
{
	struct store_pruned p = { 0 };
	struct owner_counts o;
	int rc = forget_old(s, b, &p);

	while (rc == SQLITE_OK && b->max_jobs && left(&p)) {
		rc = count(s, &o);
		if (rc != SQLITE_OK || o.machine + o.users <= b->max_jobs)
			break;
		rc = forget_surplus(s, &o, b->max_jobs, &p);
	}
	*ret = p;
	return rc == SQLITE_OK ? 0 : store_error(s, rc, "cannot forget old jobs", d);
}

int store_redate(struct store *s, uint64_t from_ns, uint64_t to_ns, uint64_t end_ns, struct diag *d)
{
	sqlite3_stmt *st = NULL;
	int rc = prepare(s,
			 "UPDATE jobs SET start_ns=start_ns+?3-end_ns,end_ns=?3 WHERE " OVER
			 " AND end_ns BETWEEN ?1 AND ?2 AND end_ns<?3",
			 (uint64_t[]){ from_ns, to_ns, end_ns }, 3, &st);

	if (rc == SQLITE_OK)
		rc = sqlite3_step(st);
	sqlite3_finalize(st);
	return rc == SQLITE_DONE ? 0 : store_error(s, rc, "cannot correct ends of jobs", d);
}

int store_waiting(struct store *s, int64_t after, uint32_t *ret, struct diag *d)
{
	static const char *const sql[] = { WAITING ORDERED, WAITING NOT_HELD ORDERED };
	sqlite3_stmt *st = NULL;
	int rc = prepare(s, sql[s->holds], (uint64_t[]){ (uint64_t)after }, 1, &st);

	if (rc == SQLITE_OK)
		rc = sqlite3_step(st);
	if (rc == SQLITE_ROW)
		*ret = (uint32_t)sqlite3_column_int64(st, 0);
	sqlite3_finalize(st);
	if (rc == SQLITE_ROW)
		return 0;
	return rc == SQLITE_DONE ? -ENOENT : store_error(s, rc, "cannot look for reports", d);
}

/* In memory, of this connection alone: see temp_store. */
int store_hold(struct store *s, const char *key, struct diag *d)
{
	sqlite3_stmt *st = NULL;
	int rc = store_exec(s, "CREATE TEMP TABLE IF NOT EXISTS held(key TEXT PRIMARY KEY)");

	if (rc == SQLITE_OK)
		rc = sqlite3_prepare_v2(s->db, "INSERT OR IGNORE INTO held VALUES(?1)", -1, &st,
					NULL);
	if (rc == SQLITE_OK)
		rc = sqlite3_bind_text(st, 1, key, -1, SQLITE_STATIC);
	if (rc == SQLITE_OK)
		rc = sqlite3_step(st);
	sqlite3_finalize(st);
	s->holds |= rc == SQLITE_DONE;
	return rc == SQLITE_DONE ? 0 : store_error(s, rc, "cannot leave a report for later", d);
}

int store_release(struct store *s, struct diag *d)
{
	int rc = s->holds ? store_exec(s, "DROP TABLE IF EXISTS temp.held") : SQLITE_OK;

	s->holds &= rc != SQLITE_OK;
	return rc == SQLITE_OK ? 0 : store_error(s, rc, "cannot look for reports", d);
}
