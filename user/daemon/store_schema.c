// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Tables of the store. The version of a file is in its header (user_version), and whose it is, too
 * (application_id). Columns may be added by a later version; they are never renamed, because people
 * query them (docs/JOBS.md).
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/array.h"
#include "base/cleanup.h"
#include "daemon/private_files.h"
#include "daemon/store_internal.h"

#define APPLICATION_ID "1412706640" /* "T41P" */

/*
 * Running jobs change with each interval: no index may have a column that changes while a job
 * runs, unless its condition leaves running jobs out.
 */
static const char version_1[] =
	"CREATE TABLE keeper("
	" one INTEGER PRIMARY KEY CHECK (one = 1),"
	" host TEXT NOT NULL, kernel TEXT NOT NULL, platform TEXT NOT NULL, sockets INTEGER NOT "
	"NULL,"
	" since_ns INTEGER NOT NULL, until_ns INTEGER NOT NULL,"
	" intervals INTEGER NOT NULL, covered_ns INTEGER NOT NULL,"
	" gaps INTEGER NOT NULL, gap_ns INTEGER NOT NULL,"
	" jobs_started INTEGER NOT NULL, jobs_ended INTEGER NOT NULL, jobs_stale INTEGER NOT NULL,"
	" jobs_dropped INTEGER NOT NULL, late_rows INTEGER NOT NULL,"
	" details BLOB NOT NULL);"
	"CREATE TABLE counters("
	" counter INTEGER PRIMARY KEY,"
	" name TEXT NOT NULL, socket INTEGER NOT NULL, source TEXT NOT NULL, direction TEXT NOT "
	"NULL,"
	" destination TEXT NOT NULL, device TEXT NOT NULL, whole INTEGER NOT NULL,"
	" bytes INTEGER NOT NULL, attributed INTEGER NOT NULL,"
	" idle INTEGER NOT NULL, by_devices INTEGER NOT NULL, remote INTEGER NOT NULL,"
	" other INTEGER NOT NULL, lost INTEGER NOT NULL, background INTEGER NOT NULL,"
	" enabled_ns INTEGER NOT NULL, running_ns INTEGER NOT NULL, missing INTEGER NOT NULL);"
	"CREATE TABLE jobs("
	" number INTEGER PRIMARY KEY,"
	" key TEXT NOT NULL UNIQUE,"
	" scheduler TEXT NOT NULL, id TEXT NOT NULL, user TEXT NOT NULL, name TEXT NOT NULL,"
	" state TEXT NOT NULL, reported INTEGER NOT NULL,"
	" start_ns INTEGER NOT NULL, end_ns INTEGER NOT NULL, cpu_ns INTEGER NOT NULL,"
	" mem_read_bytes INTEGER NOT NULL, mem_write_bytes INTEGER NOT NULL,"
	" pcie_read_bytes INTEGER NOT NULL, pcie_write_bytes INTEGER NOT NULL,"
	" steps INTEGER NOT NULL, intervals INTEGER NOT NULL, gap_ns INTEGER NOT NULL,"
	" late_start INTEGER NOT NULL,"
	" details BLOB NOT NULL);"
	"CREATE INDEX jobs_by_id ON jobs(id);"
	"CREATE INDEX jobs_by_start ON jobs(start_ns);"
	"CREATE INDEX jobs_open ON jobs(start_ns) WHERE reported = 0;"
	"CREATE INDEX jobs_done ON jobs(end_ns) WHERE reported = 1;"
	"PRAGMA application_id = " APPLICATION_ID ";"
	"PRAGMA user_version = 1;";

/* Whose jobs there are, and which of them wait or are the oldest: see store_prune(). */
static const char version_2[] =
	"ALTER TABLE jobs ADD COLUMN owner INTEGER NOT NULL DEFAULT 0;"
	"CREATE INDEX jobs_waiting ON jobs(owner, start_ns) WHERE reported = 0 AND state <> "
	"'running';"
	"CREATE INDEX jobs_unreported ON jobs(end_ns) WHERE reported = 0 AND state <> 'running';"
	"CREATE INDEX jobs_over ON jobs(owner, reported, end_ns) WHERE state <> 'running';"
	"PRAGMA user_version = 2;";

/* Counters that do not tell reads from writes. */
static const char version_3[] =
	"ALTER TABLE jobs ADD COLUMN mem_readwrite_bytes INTEGER NOT NULL DEFAULT 0;"
	"PRAGMA user_version = 3;";

/* Energy: its counters have another unit, and what is called bytes is in it. */
static const char version_4[] =
	"ALTER TABLE counters ADD COLUMN unit TEXT NOT NULL DEFAULT 'bytes';"
	"ALTER TABLE jobs ADD COLUMN energy_nanojoules INTEGER NOT NULL DEFAULT 0;"
	"PRAGMA user_version = 4;";

/*
 * The history of jobs. "spans" are pieces of the machine's totals, "job_spans" the parts of jobs in
 * them, and "span_jobs" says in which spans a job was: it had nothing where it has no part. Rows of
 * one span lie together, because they come and go together. Numbers of span_jobs are not used
 * twice, so that what is left of a job that was forgotten is never taken for another one's; it is
 * removed little by little.
 */
static const char version_5[] =
	"CREATE TABLE spans(number INTEGER PRIMARY KEY, last INTEGER NOT NULL,"
	" start_ns INTEGER NOT NULL, end_ns INTEGER NOT NULL, length_ns INTEGER NOT NULL,"
	" details BLOB NOT NULL);"
	"CREATE INDEX spans_by_length ON spans(length_ns, number);"
	"CREATE INDEX spans_by_end ON spans(end_ns);"
	"CREATE TABLE job_spans(span INTEGER NOT NULL, job INTEGER NOT NULL,"
	" details BLOB NOT NULL, PRIMARY KEY(span, job)) WITHOUT ROWID;"
	"CREATE TABLE span_jobs(job INTEGER PRIMARY KEY AUTOINCREMENT, key TEXT NOT NULL UNIQUE,"
	" first INTEGER NOT NULL, last INTEGER, gone INTEGER NOT NULL DEFAULT 0);"
	"CREATE INDEX span_jobs_gone ON span_jobs(job) WHERE gone = 1;"
	"CREATE TRIGGER jobs_gone AFTER DELETE ON jobs BEGIN"
	" UPDATE span_jobs SET gone = 1 WHERE key = OLD.key; END;"
	"PRAGMA user_version = 5;";

/* The most that memory and links can move, see store_peaks.h. */
static const char version_6[] = "ALTER TABLE keeper ADD COLUMN peaks TEXT NOT NULL DEFAULT '';"
				"PRAGMA user_version = 6;";

/* How many monitoring groups of the kernel have a number of a job; more is in its details. */
static const char version_7[] =
	"ALTER TABLE jobs ADD COLUMN resctrl_groups INTEGER NOT NULL DEFAULT 0;"
	"PRAGMA user_version = 7;";

/*
 * Sums of counters may have more than 64 bits: the columns, which are for people, stop at the largest
 * whole number of SQLite, and the details have all digits. Without details, which the next interval
 * writes, the columns have all.
 */
static const char version_8[] = "ALTER TABLE counters ADD COLUMN details BLOB NOT NULL DEFAULT x'';"
				"PRAGMA user_version = 8;";

/* How many GPUs a job held; more is in its details. */
static const char version_9[] = "ALTER TABLE jobs ADD COLUMN gpus INTEGER NOT NULL DEFAULT 0;"
				"PRAGMA user_version = 9;";

/* What makes each version of the one before; the first of an empty file. */
static const char *const steps[] = { version_1, version_2, version_3, version_4, version_5,
				     version_6, version_7, version_8, version_9 };

#define STORE_VERSION ((int64_t)ARRAY_SIZE(steps))
#define TABLES	      "'keeper', 'counters', 'jobs', 'spans', 'job_spans', 'span_jobs'"

/* For who must go back to the t410trace that wrote it: FILE.vN, which nothing removes. */
static int keep_old(struct store *s, int64_t version, struct diag *d)
{
	cleanup_free char *name = NULL;
	char *sql;
	int fd, err, rc;

	if (asprintf(&name, "%s.v%lld", s->file, (long long)version) < 0) {
		name = NULL;
		return diag_no_memory(d);
	}
	unlink(name);
	/* SQLite fills an empty file, which has rights of ours */
	fd = open(name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, PRIVATE_FILE);
	err = fd < 0 ? -errno : private_file(fd, PRIVATE_FILE);
	if (fd >= 0)
		close(fd);
	if (err)
		return diag_fail(d, err, "cannot keep the accounts of before as %s: %s", name,
				 strerror(-err));
	sql = sqlite3_mprintf("VACUUM INTO %Q", name);
	rc = sql ? store_exec(s, sql) : SQLITE_NOMEM;
	sqlite3_free(sql);
	if (rc == SQLITE_OK)
		return 0;
	rc = store_error(s, rc, "cannot keep a copy of the accounts of before", d);
	unlink(name);
	return rc;
}

static int migrate(struct store *s, int64_t version, struct diag *d)
{
	int rc = version ? keep_old(s, version, d) : 0;

	if (rc)
		return rc;
	rc = store_exec(s, "BEGIN IMMEDIATE");
	for (; rc == SQLITE_OK && version < STORE_VERSION; version++)
		rc = store_exec(s, steps[version]);
	if (rc == SQLITE_OK)
		rc = store_exec(s, "COMMIT");
	if (rc == SQLITE_OK)
		return 0;
	rc = store_error(s, rc, "cannot begin the accounts", d);
	store_rollback(s);
	return rc;
}

/*
 * A file of somebody else's may have anything under our names: a view with a query that never ends,
 * a table of a module, columns that are computed. Its text in the schema is as SQLite wrote it.
 */
static int check_tables(struct store *s, struct diag *d)
{
	int64_t others, computed;
	int rc = store_number(s,
			      "SELECT count(*) FROM sqlite_master WHERE lower(name) IN (" TABLES
			      ") AND NOT (type = 'table' AND rootpage > 0"
			      " AND sql LIKE 'CREATE TABLE %')",
			      &others);

	if (rc == SQLITE_OK && !others)
		rc = store_number(s,
				  "SELECT count(*) FROM sqlite_master AS m,"
				  " pragma_table_xinfo(m.name) AS x WHERE x.hidden <> 0"
				  " AND lower(m.name) IN (" TABLES ")",
				  &computed);
	if (rc != SQLITE_OK)
		return store_error(s, rc, "cannot read the accounts", d);
	return others || computed ? store_damage(s, "a table", d) : 0;
}

/* Nothing that is in the file is run, but for the writer's own trigger. */
static int distrust(struct store *s)
{
	const int off[] = { SQLITE_DBCONFIG_TRUSTED_SCHEMA, SQLITE_DBCONFIG_ENABLE_VIEW,
			    SQLITE_DBCONFIG_ENABLE_TRIGGER };
	int rc = sqlite3_db_config(s->db, SQLITE_DBCONFIG_DEFENSIVE, 1, NULL);

	for (size_t i = 0; rc == SQLITE_OK && i < ARRAY_SIZE(off) - s->write; i++)
		rc = sqlite3_db_config(s->db, off[i], 0, NULL);
	return rc;
}

int store_schema(struct store *s, struct diag *d)
{
	int64_t application, version, tables;
	int rc = distrust(s);

	if (rc == SQLITE_OK)
		rc = store_number(s, "PRAGMA application_id", &application);
	if (rc == SQLITE_OK)
		rc = store_number(s, "PRAGMA user_version", &version);
	if (rc == SQLITE_OK)
		rc = store_number(s, "SELECT count(*) FROM sqlite_master", &tables);
	if (rc != SQLITE_OK)
		return store_error(s, rc, "cannot read the accounts", d);
	if (!application && !version && !tables) {
		if (s->write)
			return migrate(s, 0, d);
		return diag_fail(d, -ENODATA, "there are no accounts in %s yet", s->file);
	}
	if (application != strtoll(APPLICATION_ID, NULL, 10))
		return diag_fail(d, -EINVAL, "%s is another program's database, not accounts",
				 s->file);
	if (version > STORE_VERSION) {
		diag_fail(d, -EPROTONOSUPPORT,
			  "the accounts in %s are of version %lld, and this t410trace knows none "
			  "after %lld",
			  s->file, (long long)version, (long long)STORE_VERSION);
		return diag_advise(d, -EPROTONOSUPPORT,
				   "use the t410trace that wrote them, or a later one");
	}
	if (version < 1)
		return store_damage(s, "the version", d);
	if (version == STORE_VERSION)
		return check_tables(s, d);
	if (s->write)
		return migrate(s, version, d);
	diag_fail(d, -EPROTONOSUPPORT, "the accounts in %s are of version %lld, which is too old",
		  s->file, (long long)version);
	return diag_advise(d, -EPROTONOSUPPORT,
			   "\"t410trace serve\" brings them to version %lld when it starts",
			   (long long)STORE_VERSION);
}
