// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* What all parts of the store ask of SQLite, and its errors in words. */
#include <errno.h>

#include "daemon/private_files.h"
#include "daemon/store_internal.h"

static int errno_of(sqlite3 *db, int rc)
{
	int system = db ? sqlite3_system_errno(db) : 0;

	switch (rc & 0xff) {
	case SQLITE_FULL:
		return -ENOSPC;
	case SQLITE_NOMEM:
		return -ENOMEM;
	case SQLITE_BUSY:
	case SQLITE_LOCKED:
	case SQLITE_PROTOCOL:
		return -EBUSY;
	case SQLITE_CORRUPT:
	case SQLITE_NOTADB:
		return -EUCLEAN;
	case SQLITE_PERM:
	case SQLITE_AUTH:
		return -EACCES;
	case SQLITE_READONLY:
		return -EROFS;
	case SQLITE_CANTOPEN:
		return system ? -system : -ENOENT;
	default:
		return system ? -system : -EIO;
	}
}

static void help(const struct store *s, int err, struct diag *d)
{
	switch (err) {
	case -ENOSPC:
	case -EDQUOT:
		diag_help(d,
			  "free some space on the file system of %s: nothing is lost, it is tried "
			  "again",
			  s->file);
		break;
	case -EBUSY:
		diag_help(d,
			  "another program has it locked, perhaps an open transaction in sqlite3; "
			  "it is tried again");
		break;
	case -EUCLEAN:
		diag_help(d,
			  "when \"t410trace serve\" restarts, it moves the file aside and begins "
			  "a new one");
		break;
	case -EROFS:
		diag_help(d, s->write ? PRIVATE_READ_ONLY : "copy it to where it can be written");
		break;
	case -EACCES:
	case -EPERM:
		diag_help(d,
			  s->write ? "the process that keeps accounts must be able to write to the "
				     "file and its folder"
				   : "ask the administrator for the right to read the file");
		break;
	case -EIO:
		diag_help(d, "the kernel's log (dmesg) says more about the disk");
		break;
	}
}

int store_changed(const struct store *s, struct diag *d)
{
	diag_fail(d, -EAGAIN, "the accounts in %s were changed while they were read", s->file);
	return diag_advise(d, -EAGAIN, "\"t410trace serve\" has just started or ended: try again");
}

/*
 * Without a log there are no locks either: was the file what it was all the time? A writer that came
 * and went left no log, but wrote to the file.
 */
int store_check_unchanged(struct store *s, struct diag *d)
{
	struct timespec modified = store_modified(s->file);

	if (!s->immutable || (store_log_empty(s->file) && modified.tv_sec == s->modified.tv_sec &&
			      modified.tv_nsec == s->modified.tv_nsec))
		return 0;
	return store_changed(s, d);
}

int store_error(struct store *s, int rc, const char *doing, struct diag *d)
{
	int err = errno_of(s->db, rc);

	/* Pages of two states, read without locks, look like damage. */
	if (err == -EUCLEAN && store_check_unchanged(s, d))
		return -EAGAIN;
	if (err == -EUCLEAN)
		s->damaged = true;
	if (err == -ENOSPC || err == -EDQUOT)
		s->full = true;
	/* A later call may have replaced what the database has to say. */
	diag_fail(d, err, "%s in %s: %s", doing, s->file,
		  s->db && (sqlite3_errcode(s->db) & 0xff) == (rc & 0xff) ? sqlite3_errmsg(s->db)
									  : sqlite3_errstr(rc));
	help(s, err, d);
	return err;
}

int store_damage(struct store *s, const char *what, struct diag *d)
{
	if (store_check_unchanged(s, d))
		return -EAGAIN;
	s->damaged = true;
	diag_fail(d, -EUCLEAN, "%s in %s is damaged", what, s->file);
	help(s, -EUCLEAN, d);
	return -EUCLEAN;
}

int store_exec(struct store *s, const char *sql)
{
	return sqlite3_exec(s->db, sql, NULL, NULL, NULL);
}

int store_number(struct store *s, const char *sql, int64_t *ret)
{
	sqlite3_stmt *st;
	int rc = sqlite3_prepare_v2(s->db, sql, -1, &st, NULL);

	if (rc != SQLITE_OK)
		return rc;
	rc = sqlite3_step(st);
	if (rc == SQLITE_ROW)
		*ret = sqlite3_column_int64(st, 0);
	sqlite3_finalize(st);
	return rc == SQLITE_ROW ? SQLITE_OK : rc == SQLITE_DONE ? SQLITE_ERROR : rc;
}
