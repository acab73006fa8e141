// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Opening and closing the store.
 *
 * It is in WAL mode: readers do not wait for the writer, nor the writer for them. Each commit waits
 * for the disk (synchronous = FULL), so that even a power cut loses nothing that was committed; it
 * is one wait an interval. The log goes when the writer closes. Where there is none, or nothing in it,
 * the file alone is all, and is read without locks, also by somebody who could not make a log; that
 * nothing was written meanwhile is checked afterwards.
 */
#include <ctype.h>
#include <errno.h>
#include <libgen.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <time.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "daemon/private_files.h"
#include "daemon/store_internal.h"
#include "platform/sys/notify.h"

#define WRITER_PATIENCE_MS 500
#define READER_TRIES	   50
#define READER_PAUSE_NS	   20000000
#define SETTLED_NS	   50000000 /* five ticks of the slowest clock, 100 Hz */
#define PAGE_BYTES	   16384
#define PAGE_BYTES_TEXT	   "16384"
#define LOG_PAGES	   512
#define CHECK_USEC	   60000000ull
#define PAGE_USEC	   20000

/* All of the store but the lock. */
void store_close_database(struct store *s)
{
	for (size_t i = 0; i < NR_STATEMENTS; i++) {
		sqlite3_finalize(s->statements[i]);
		s->statements[i] = NULL;
	}
	sqlite3_close(s->db);
	s->db = NULL;
}

void store_close(struct store *s)
{
	if (!s)
		return;
	store_close_database(s);
	store_unlock(s->lock, !s->damaged);
	free(s->headlines);
	free(s->blob.data);
	free(s->file);
	free(s);
}

int store_kept(const struct store *s)
{
	return s->write ? 1 : store_locked(s->file);
}

/* A name for SQLite with options behind it: what could be one is escaped. */
static char *uri_of(const char *file)
{
	char *uri = malloc(3 * strlen(file) + sizeof("file:?immutable=1"));
	char *at = uri;

	if (!uri)
		return NULL;
	at = stpcpy(at, "file:");
	for (; *file; file++) {
		if (isalnum((unsigned char)*file) || strchr("/._-", *file))
			*at++ = *file;
		else
			at += sprintf(at, "%%%02X", (unsigned char)*file);
	}
	strcpy(at, "?immutable=1");
	return uri;
}

static int open_database(struct store *s)
{
	int flags = SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_EXRESCODE;
	cleanup_free char *uri = NULL;

	if (s->immutable) {
		uri = uri_of(s->file);
		if (!uri)
			return SQLITE_NOMEM;
	}
	flags |= s->write ? SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE : SQLITE_OPEN_READONLY;
	return sqlite3_open_v2(uri ? uri : s->file, &s->db, flags | (uri ? SQLITE_OPEN_URI : 0),
			       NULL);
}

static int not_a_file(const char *file, struct diag *d)
{
	diag_fail(d, -EINVAL, "%s is not a regular file", file);
	return diag_advise(d, -EINVAL, "accounts are in a file, by default in " STORE_DEFAULT_FILE);
}

static int check_reader(const char *file, struct diag *d)
{
	struct stat st;
	int err = 0;

	if (stat(file, &st))
		err = -errno;
	else if (!S_ISREG(st.st_mode))
		return not_a_file(file, d);
	else if (access(file, R_OK))
		err = -errno;
	if (!err)
		return 0;
	diag_fail(d, err, "cannot read accounts from %s: %s", file, strerror(-err));
	if (err == -ENOENT)
		diag_help(d,
			  "accounts are kept by \"t410trace serve\": is it running here (systemctl "
			  "status t410trace)? If they are elsewhere, say where with --state");
	else
		diag_help(d, "ask the administrator for the right to read the file");
	return err;
}

/*
 * Without a log, and so without locks, only the time of the last change tells that nothing was written
 * meanwhile. File systems take it from a clock that goes on with the tick: of two changes in one tick
 * the second is not seen. So such a reading begins only when the last change is older than that, by
 * the same clock: it stands still for as long as the CPU that has the tick.
 */
static bool is_at_rest(struct store *s)
{
	struct timespec now;
	int64_t age;

	s->modified = store_modified(s->file);
	clock_gettime(CLOCK_REALTIME_COARSE, &now);
	age = (now.tv_sec - s->modified.tv_sec) * (int64_t)NS_PER_S +
	      (now.tv_nsec - s->modified.tv_nsec);
	return age > SETTLED_NS || age < -SETTLED_NS;
}

/* From here to the end all readings are of one state. */
static int begin_reading(struct store *s)
{
	int64_t version;
	int rc;

	s->immutable = store_log_empty(s->file);
	if (s->immutable && !is_at_rest(s))
		return SQLITE_BUSY;
	rc = open_database(s);
	if (rc == SQLITE_OK)
		rc = store_exec(s, "BEGIN");
	if (rc == SQLITE_OK)
		rc = store_number(s, "PRAGMA user_version", &version);
	return rc;
}

/* Is it a permission error on the WAL? Retrying will not help. */
static bool is_denied(const struct store *s, int rc)
{
	cleanup_free char *log = NULL;

	if ((rc & 0xff) != SQLITE_CANTOPEN)
		return false;
	if (asprintf(&log, "%s-wal", s->file) < 0)
		log = NULL;
	return log && access(log, R_OK) && errno == EACCES;
}

/* May be otherwise in a moment: the log is being recovered, begun anew or removed. */
static bool is_passing(const struct store *s, int rc)
{
	switch (rc & 0xff) {
	case SQLITE_CANTOPEN:
		return !is_denied(s, rc);
	case SQLITE_BUSY:
	case SQLITE_PROTOCOL:
	case SQLITE_READONLY:
		return true;
	default:
		return false;
	}
}

static int open_reader(struct store *s, struct diag *d)
{
	const struct timespec pause = { .tv_nsec = READER_PAUSE_NS };
	int err = check_reader(s->file, d), rc;

	if (err)
		return err;
	rc = begin_reading(s);
	/* The last one stays open: it knows what was wrong. */
	for (int i = 1; i < READER_TRIES && is_passing(s, rc); i++) {
		store_close_database(s);
		nanosleep(&pause, NULL);
		rc = begin_reading(s);
	}
	if (rc == SQLITE_OK)
		return store_schema(s, d);
	if (!s->db && rc == SQLITE_BUSY)
		return store_changed(s, d);
	err = store_error(s, rc, "cannot read the accounts", d);
	if (is_denied(s, rc))
		err = diag_fail(d, -EACCES, "cannot read the accounts in %s: %s", s->file,
				strerror(EACCES));
	if ((rc & 0xff) == SQLITE_CANTOPEN)
		diag_help(d,
			  "beside the file, its log (%s-wal) and the log's index (%s-shm) are "
			  "needed, "
			  "and the right to read them",
			  s->file, s->file);
	return err;
}

static int check_writer(const char *file, struct diag *d)
{
	cleanup_free char *copy = strdup(file);
	struct stat st;

	if (!copy)
		return diag_fail(d, -ENOMEM, "cannot open %s: out of memory", file);
	/* what is wrong with the folder will be seen when something is made in it */
	private_folder(dirname(copy));
	return stat(file, &st) || S_ISREG(st.st_mode) ? 0 : not_a_file(file, d);
}

/*
 * Pages that the log may have before it is brought into the file: 8 MiB, but no more than an eighth of a
 * small file system. Once it has taken all of that, there would be no room to bring it anywhere.
 */
static int64_t log_pages(const struct store *s)
{
	struct statvfs fs;
	uint64_t pages;

	if (statvfs(s->file, &fs))
		return LOG_PAGES;
	pages = (uint64_t)fs.f_blocks * fs.f_frsize / PAGE_BYTES / 8;
	return pages < 1 ? 1 : pages < LOG_PAGES ? (int64_t)pages : LOG_PAGES;
}

static int set_log_pages(struct store *s)
{
	char sql[64];

	snprintf(sql, sizeof(sql), "PRAGMA wal_autocheckpoint = %lld", (long long)log_pages(s));
	return store_exec(s, sql);
}

static int set_up_writer(struct store *s)
{
	int rc = open_database(s);

	if (rc != SQLITE_OK)
		return rc;
	sqlite3_busy_timeout(s->db, WRITER_PATIENCE_MS);
	/* An account has 1 to 2 KiB: larger pages leave less space unused. */
	rc = store_exec(s, "PRAGMA page_size = " PAGE_BYTES_TEXT ";"
			   "PRAGMA journal_mode = WAL;"
			   "PRAGMA synchronous = FULL;"
			   "PRAGMA journal_size_limit = 16777216;"
			   "PRAGMA cache_size = -4096;"
			   "PRAGMA temp_store = MEMORY;");
	return rc == SQLITE_OK ? set_log_pages(s) : rc;
}

/*
 * The service manager waits for us to be ready, and for a big file on a slow disk not long enough.
 * SQLite does not say how far a check is, so it is one message: a page may be a seek of a disk.
 */
static void ask_for_time(const struct store *s)
{
	struct notify manager;
	struct stat st;

	if (stat(s->file, &st))
		return;
	notify_open(&manager);
	notify_send(&manager, "EXTEND_TIMEOUT_USEC=%llu\nSTATUS=Checking %lld MiB of accounts",
		    CHECK_USEC + (unsigned long long)st.st_size / PAGE_BYTES * PAGE_USEC,
		    (long long)(st.st_size >> 20));
	notify_close(&manager);
}

/*
 * Structure of the file, in time that grows with its size. The statement, not the function
 * pragma_quick_check(): later versions of SQLite take the function's number of errors for the name
 * of a table.
 */
static int check_structure(struct store *s, struct diag *d)
{
	bool good = false;
	sqlite3_stmt *st;
	int rc = sqlite3_prepare_v2(s->db, "PRAGMA quick_check(1)", -1, &st, NULL);

	if (rc != SQLITE_OK)
		return store_error(s, rc, "cannot check the accounts", d);
	ask_for_time(s);
	rc = sqlite3_step(st);
	if (rc == SQLITE_ROW)
		good = !strcmp((const char *)sqlite3_column_text(st, 0), "ok");
	sqlite3_finalize(st);
	if (rc != SQLITE_ROW)
		return store_error(s, rc, "cannot check the accounts", d);
	return good ? 0 : store_damage(s, "something", d);
}

static int ignore_job(void *arg, const struct account_job *j)
{
	(void)arg;
	(void)j;
	return 0;
}

/* What the next interval is added to can be read. */
static int check_content(struct store *s, struct diag *d)
{
	static const struct store_query running = { .states = 1u << ACCOUNT_RUNNING };
	static const struct store_query unreported = { .unreported = true };
	struct accounts_node node = { 0 };
	struct host_info host;
	int err = store_read_node(s, &host, &node, d);

	accounts_node_release(&node);
	if (err)
		return err == -ENODATA ? 0 : err;
	err = store_each_job(s, &running, ignore_job, NULL, d);
	return err ? err : store_each_job(s, &unreported, ignore_job, NULL, d);
}

int store_open_database(struct store *s, bool clean, struct diag *d)
{
	int rc, err = store_rights(s->file, d);

	if (err)
		return err;
	rc = set_up_writer(s);
	if (rc != SQLITE_OK)
		return store_error(s, rc, "cannot open the accounts", d);
	err = store_schema(s, d);
	if (!err && !clean)
		err = check_structure(s, d);
	if (err)
		return err;
	/* it was read, so that its log is there */
	store_note_files(s);
	return check_content(s, d);
}

/* The damaged file stays for whoever wants to rescue something of it. */
static int begin_anew(struct store *s, struct diag *d)
{
	cleanup_free char *aside = NULL;
	char what[sizeof(d->what)];
	int err;

	snprintf(what, sizeof(what), "%.300s", d ? d->what : "");
	store_close_database(s);
	err = store_put_aside(s->file, "damaged", &aside);
	if (err)
		return diag_fail(d, err, "%s, and it cannot be put aside: %s", what,
				 strerror(-err));
	s->damaged = false;
	err = store_open_database(s, true, d);
	if (err)
		return err;
	diag_fail(d, 0, "%s", what);
	diag_help(d, "the old file is kept as %s, and new accounts are begun", aside);
	return 0;
}

static int open_writer(struct store *s, struct diag *d)
{
	bool clean;
	int err = check_writer(s->file, d);

	if (!err)
		err = store_lock(s->file, d, &s->lock, &clean);
	if (err)
		return err;
	err = store_open_database(s, clean, d);
	if (err == -EUCLEAN)
		return begin_anew(s, d);
	if (!err && d)
		*d = (struct diag){ 0 };
	return err;
}

int store_open(const char *file, bool write, struct diag *d, struct store **ret)
{
	struct store *s = calloc(1, sizeof(*s));
	int err;

	if (s)
		s->file = strdup(file);
	if (!s || !s->file) {
		free(s);
		return diag_fail(d, -ENOMEM, "cannot open %s: out of memory", file);
	}
	s->lock = -1;
	s->write = write;
	err = write ? open_writer(s, d) : open_reader(s, d);
	if (err) {
		/* whatever it was, the next one had better look */
		s->damaged = true;
		store_close(s);
		return err;
	}
	if (!write && d)
		*d = (struct diag){ 0 };
	*ret = s;
	return 0;
}
