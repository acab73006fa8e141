// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * The names of the store's files may come to lead elsewhere, or nowhere, while it is open. SQLite goes
 * on with files that nobody finds again, and a reader or a second writer would find others. So the
 * writer looks before each interval. What it still has open is all there is: that is copied.
 */
#include <errno.h>
#include <libgen.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/array.h"
#include "base/cleanup.h"
#include "daemon/private_files.h"
#include "daemon/store_internal.h"

/* A copy that is not yet what it will be. */
#define COPY_SUFFIX "-new"

static int copy_database(struct store *s, const char *to, struct diag *d)
{
	sqlite3_backup *backup;
	sqlite3 *db = NULL;
	int rc, err = 0;

	if (unlink(to) && errno != ENOENT)
		err = -errno;
	if (!err)
		err = store_rights(to, d);
	if (err)
		return err;
	rc = sqlite3_open_v2(to, &db, SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX, NULL);
	if (rc == SQLITE_OK) {
		backup = sqlite3_backup_init(db, "main", s->db, "main");
		if (backup)
			sqlite3_backup_step(backup, -1);
		rc = backup ? sqlite3_backup_finish(backup) : sqlite3_errcode(db);
	}
	if (rc != SQLITE_OK) {
		struct store copy = { .db = db, .file = (char *)to, .write = true };

		err = store_error(&copy, rc, "cannot write the accounts", d);
	}
	sqlite3_close(db);
	/* it would keep the room that it lacked */
	if (err)
		unlink(to);
	return err;
}

static int drop_part(const char *file, const char *suffix)
{
	cleanup_free char *name = NULL;

	if (asprintf(&name, "%s%s", file, suffix) < 0) {
		name = NULL;
		return -ENOMEM;
	}
	return unlink(name) && errno != ENOENT ? -errno : 0;
}

/*
 * A log is taken for that of the file that it lies beside. So ours must not go with a file that is
 * not, and nothing may lie beside the new one.
 */
static int make_way(const struct store *s, char **ret_aside)
{
	struct store_file there = store_file_of(s->file, "");
	int err = 0;

	for (size_t i = 1; i < STORE_NR_FILES && !err; i++)
		if (store_is_same(store_file_of(s->file, store_suffixes[i]), s->files[i]))
			err = drop_part(s->file, store_suffixes[i]);
	if (!err && there.ino && !store_is_same(there, s->files[0]))
		err = store_put_aside(s->file, "replaced", ret_aside);
	for (size_t i = 1; i < STORE_NR_FILES && !err; i++)
		err = drop_part(s->file, store_suffixes[i]);
	return err;
}

/* The name leads to the copy from here on, or to nothing: then all is tried again. */
static int take_copy(struct store *s, const char *copy, struct diag *d)
{
	struct store next = { .file = s->file, .write = true, .lock = s->lock };
	int err = rename(copy, s->file) ? -errno : 0;

	if (err)
		return diag_fail(d, err, "cannot rename %s: %s", copy, strerror(-err));
	err = store_open_database(&next, true, d);
	free(next.headlines);
	free(next.blob.data);
	if (err) {
		store_close_database(&next);
		if (rename(s->file, copy))
			errno = 0;
		return err;
	}
	/* SQLite must not take the new log for that of the old file, and remove it. */
	sqlite3_db_config(s->db, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1, NULL);
	store_close_database(s);
	s->db = next.db;
	memcpy(s->statements, next.statements, sizeof(s->statements));
	memcpy(s->files, next.files, sizeof(s->files));
	s->holds = false;
	return 0;
}

int store_restore(struct store *s, struct diag *d)
{
	cleanup_free char *copy = NULL, *aside = NULL, *folder = strdup(s->file);
	int err;

	if (asprintf(&copy, "%s" COPY_SUFFIX, s->file) < 0)
		copy = NULL;
	if (!copy || !folder)
		return diag_no_memory(d);
	/* what is wrong with the folder will be seen when something is made in it */
	private_folder(dirname(folder));
	err = store_keep_lock(s, d);
	if (!err)
		err = copy_database(s, copy, d);
	if (err)
		return err;
	err = make_way(s, &aside);
	if (err)
		return diag_fail(d, err, "%s cannot be put aside: %s", s->file, strerror(-err));
	err = take_copy(s, copy, d);
	if (err)
		return err;
	diag_fail(d, 0, "all accounts were written to a new %s", s->file);
	if (aside)
		diag_help(d, "what was found there is kept as %s", aside);
	return 0;
}
