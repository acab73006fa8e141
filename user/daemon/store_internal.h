/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The parts of the store, for each other. */
#ifndef DAEMON_STORE_INTERNAL_H
#define DAEMON_STORE_INTERNAL_H

#include <sqlite3.h>
#include <sys/types.h>
#include <time.h>

#include "daemon/store.h"
#include "daemon/store_blob.h"

/* What the bytes of a counter add to in the columns of a job. */
enum headline {
	HEADLINE_NONE,
	HEADLINE_MEM_READ,
	HEADLINE_MEM_WRITE,
	HEADLINE_PCIE_READ,
	HEADLINE_PCIE_WRITE,
	HEADLINE_MEM_READWRITE,
	HEADLINE_ENERGY,
	NR_HEADLINES,
};

/* Statements that are prepared once. */
enum statement {
	STATEMENT_KEEPER,
	STATEMENT_COUNTER,
	STATEMENT_COUNTERS_END,
	STATEMENT_JOB_UPDATE,
	STATEMENT_JOB_PUT,
	STATEMENT_REPORTED,
	STATEMENT_DAMAGED,
	STATEMENT_SPAN,
	STATEMENT_SPAN_JOB,
	STATEMENT_SPAN_JOB_NEW,
	STATEMENT_SPAN_JOB_OVER,
	STATEMENT_JOB_SPAN,
	NR_STATEMENTS,
};

/* A file, whatever its name; zero: none. The store's are the file itself, its log, and the log's index. */
struct store_file {
	dev_t dev;
	ino_t ino;
};
#define STORE_NR_FILES 3

/**
 * struct store - an open store
 * @db, @file: SQLite's, and its name; owned
 * @write: for the writer
 * @immutable: read without any locks, as there is no log. It must still not be there afterwards
 * @modified: when the file was written to last, as it was when such a reading began
 * @lock: descriptor of the lock file, the writer's; -1 for readers
 * @files: of the writer, what its names led to when it was opened
 * @damaged: damage was seen: to be looked for when it is opened next
 * @full: there was no room for the log: it is to be given back before anything else is written
 * @holds: jobs are in the table "held", see store_hold()
 * @left_out: accounts that were damaged
 * @statements: prepared when first used
 * @headlines, @nr_headlines: of the counters of store_node()
 * @blob: memory of the encoder
 */
struct store {
	sqlite3 *db;
	char *file;
	bool write;
	bool immutable;
	struct timespec modified;
	int lock;
	struct store_file files[STORE_NR_FILES];
	bool damaged;
	bool full;
	bool holds;
	struct store_damaged left_out;
	sqlite3_stmt *statements[NR_STATEMENTS];
	uint8_t *headlines;
	size_t nr_headlines;
	struct bytes blob;
};

/** store_error() - SQLite's error as a negative errno, in words with a remedy */
int store_error(struct store *s, int rc, const char *doing, struct diag *d);

/* Of a query of jobs: those that store_hold() was not given; only if there are any. */
#define NOT_HELD      " AND key NOT IN (SELECT key FROM held)"

#define STATE_DAMAGED "damaged" /* of accounts that were put aside */

/** store_prepare() - a statement of the writer; an SQLite code */
int store_prepare(struct store *s, enum statement i, sqlite3_stmt **ret);

/** store_check_begun() - -EINVAL outside of an interval */
int store_check_begun(struct store *s, struct diag *d);

/**
 * store_put_part() - what a job had in a span, which may be there already; an SQLite code
 * @s: in an interval
 * @job: number of the job
 * @span: number of the span
 * @start_ns: where the span begins
 * @piece: what is written
 */
int store_put_part(struct store *s, int64_t job, int64_t span, uint64_t start_ns,
		   const struct account_job *piece);

/** store_check_unchanged() - at the end of a reading without locks: -EAGAIN if somebody wrote */
int store_check_unchanged(struct store *s, struct diag *d);

/** store_put_jobs_aside() - let nobody read these rows of "jobs" again; 0 or a negative errno */
int store_put_jobs_aside(struct store *s, const int64_t *numbers, size_t nr, struct diag *d);

/** store_damage() - say that @what is damaged; -EUCLEAN */
int store_damage(struct store *s, const char *what, struct diag *d);

/** store_changed() - say that somebody wrote while a reader without locks read; -EAGAIN */
int store_changed(const struct store *s, struct diag *d);

/** store_exec() - statements without results; an SQLite code */
int store_exec(struct store *s, const char *sql);

/** store_number() - the number that a statement gives; an SQLite code */
int store_number(struct store *s, const char *sql, int64_t *ret);

/** store_schema() - bring the writer's file to this version, or check that a reader's has it */
int store_schema(struct store *s, struct diag *d);

/** store_lock() - be the only writer; 0, -EBUSY or another. @ret_clean: the last one closed properly */
int store_lock(const char *file, struct diag *d, int *ret_fd, bool *ret_clean);

/** store_unlock() - end of the writer; @clean: nothing was wrong */
void store_unlock(int fd, bool clean);

/** store_locked() - is there a writer of @file? 0 or 1; -EACCES: the caller may not know */
int store_locked(const char *file);

/** store_rights() - make the file, if it is not there, and let others not open it; 0 or a negative errno */
int store_rights(const char *file, struct diag *d);

/**
 * store_put_aside() - rename the file and its log
 * @file: the file
 * @why: a word for the new name
 * @ret_name: the new name, to be freed
 *
 * Return: 0, -ENOENT for no file, or another negative errno.
 */
int store_put_aside(const char *file, const char *why, char **ret_name);

/** store_open_database() - the writer's connection, with a file that is right; 0 or a negative errno */
int store_open_database(struct store *s, bool clean, struct diag *d);

/** store_close_database() - all of the store but the lock */
void store_close_database(struct store *s);

/* Their names, behind that of the file */
extern const char *const store_suffixes[STORE_NR_FILES];

/** store_file_of() - what a name leads to */
struct store_file store_file_of(const char *file, const char *suffix);

bool store_is_same(struct store_file a, struct store_file b);

/** store_keep_lock() - if the name of the lock no longer leads to ours, lock a new one; 0 or why not */
int store_keep_lock(struct store *s, struct diag *d);

/** store_note_files() - remember what the names of the writer's files lead to */
void store_note_files(struct store *s);

/** store_check_files() - do they still? 0, -ESTALE, or why the lock is not ours any more */
int store_check_files(struct store *s, struct diag *d);

/** store_log_empty() - is there nothing in the log, so that all is in the file itself? */
bool store_log_empty(const char *file);

/** store_modified() - when was the file itself written to last? Zero if that is not known */
struct timespec store_modified(const char *file);

#endif
