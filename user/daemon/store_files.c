// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Files beside the store: the lock of the writer, and what is left of a damaged one.
 *
 * The lock is on a file of its own, never on SQLite's: closing any descriptor of that would drop
 * the locks that SQLite holds. It is never removed, so that two writers cannot lock two files of
 * one name. What is in it: the process that keeps the store, for people, or "clean" after it closed it.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

#include "base/array.h"
#include "base/cleanup.h"
#include "base/text.h"
#include "daemon/private_files.h"
#include "daemon/store_internal.h"

#define LOCK_SUFFIX ".lock"
#define LOG_SUFFIX  "-wal"
#define CLEAN	    "clean"
#define MAX_ASIDE   100 /* names tried for files of the same second */

static void read_content(int fd, char *ret, size_t size)
{
	ssize_t nr = pread(fd, ret, size - 1, 0);

	ret[nr > 0 ? nr : 0] = '\0';
	ret[strcspn(ret, "\n")] = '\0';
}

/* Not being able to write it costs a check at the next start, no more. */
static void write_content(int fd, const char *text)
{
	if (ftruncate(fd, 0) || pwrite(fd, text, strlen(text), 0) < 0)
		errno = 0;
}

static char *lock_name(const char *file)
{
	char *name;

	return asprintf(&name, "%s" LOCK_SUFFIX, file) < 0 ? NULL : name;
}

int store_lock(const char *file, struct diag *d, int *ret_fd, bool *ret_clean)
{
	cleanup_free char *name = lock_name(file);
	struct diag why = { 0 };
	char content[32];
	int fd, err = name ? private_lock(AT_FDCWD, name, &why, &fd) : -ENOMEM;

	if (err == -EBUSY) {
		diag_fail(d, err, "cannot keep accounts in %s: %s", file, why.what);
		return diag_advise(d, err, "%s", why.help);
	}
	if (err) {
		diag_fail(d, err, "cannot keep accounts in %s: %s" LOCK_SUFFIX ": %s", file, file,
			  strerror(-err));
		return diag_advise(d, err, "%s",
				   err == -EROFS
					   ? PRIVATE_READ_ONLY
					   : "accounts are written into that folder and by its "
					     "owner; make it if it is missing, or choose another "
					     "file");
	}
	read_content(fd, content, sizeof(content));
	*ret_clean = !strcmp(content, CLEAN);
	snprintf(content, sizeof(content), "%d\n", getpid());
	write_content(fd, content);
	*ret_fd = fd;
	return 0;
}

void store_unlock(int fd, bool clean)
{
	if (fd < 0)
		return;
	write_content(fd, clean ? CLEAN "\n" : "");
	close(fd);
}

/* Asks without taking it even for a moment: a writer that starts must not be in the way. */
int store_locked(const char *file)
{
	struct flock lock = { .l_type = F_RDLCK, .l_whence = SEEK_SET };
	cleanup_free char *name = lock_name(file);
	cleanup_close int fd = name ? open(name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW) : -1;

	if (fd < 0)
		return name && errno == EACCES ? -EACCES : 0;
	return !fcntl(fd, F_OFD_GETLK, &lock) && lock.l_type != F_UNLCK;
}

/* Its log, and the log's index, are made by SQLite with the rights of the file. */
int store_rights(const char *file, struct diag *d)
{
	static const char *const parts[] = { "", LOG_SUFFIX, "-shm", "-journal" };
	int fd = open(file, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, PRIVATE_FILE), err = 0;

	if (fd >= 0) {
		err = private_file(fd, PRIVATE_FILE);
		close(fd);
	}
	for (size_t i = 0; i < ARRAY_SIZE(parts) && !err; i++) {
		cleanup_free char *name = NULL;

		if (asprintf(&name, "%s%s", file, parts[i]) < 0) {
			name = NULL;
			return diag_no_memory(d);
		}
		err = private_narrow(AT_FDCWD, name);
	}
	if (!err)
		return 0;
	diag_fail(d, err, "cannot take rights to %s from others: %s", file, strerror(-err));
	return diag_advise(d, err,
			   "any process that can open it can lock it: chmod 640, also of %s-wal "
			   "and %s-shm, or "
			   "make the daemon's user their owner",
			   file, file);
}

bool store_log_empty(const char *file)
{
	cleanup_free char *name = NULL;
	struct stat st;

	if (asprintf(&name, "%s" LOG_SUFFIX, file) < 0) {
		name = NULL;
		return false;
	}
	return stat(name, &st) ? errno == ENOENT : !st.st_size;
}

struct timespec store_modified(const char *file)
{
	struct stat st;

	return stat(file, &st) ? (struct timespec){ 0 } : st.st_mtim;
}

static int rename_part(const char *file, const char *aside, const char *suffix)
{
	cleanup_free char *from = NULL, *to = NULL;

	if (asprintf(&from, "%s%s", file, suffix) < 0) {
		from = NULL;
		return -ENOMEM;
	}
	if (asprintf(&to, "%s%s", aside, suffix) < 0) {
		to = NULL;
		return -ENOMEM;
	}
	return renameat2(AT_FDCWD, from, AT_FDCWD, to, RENAME_NOREPLACE) ? -errno : 0;
}

int store_put_aside(const char *file, const char *why, char **ret_name)
{
	/* the log first: it must never be found beside a new file */
	static const char *const parts[] = { LOG_SUFFIX, "-shm", "" };
	time_t now = time(NULL);
	char stamp[32];
	struct tm tm;

	strftime(stamp, sizeof(stamp), "%Y%m%dT%H%M%SZ", gmtime_r(&now, &tm));
	for (int i = 0; i < MAX_ASIDE; i++) {
		cleanup_free char *aside = NULL;
		size_t part = 0;
		int err = 0;

		if (asprintf(&aside, i ? "%s.%s-%s-%d" : "%s.%s-%s", file, why, stamp, i) < 0) {
			aside = NULL;
			return -ENOMEM;
		}
		if (!access(aside, F_OK))
			continue;
		for (; part < ARRAY_SIZE(parts) && (!err || err == -ENOENT); part++)
			err = rename_part(file, aside, parts[part]);
		if (err)
			return err;
		*ret_name = take_ptr(aside);
		return 0;
	}
	return -EEXIST;
}

/* Of the file, its log, and the log's index */
const char *const store_suffixes[STORE_NR_FILES] = { "", LOG_SUFFIX, "-shm" };

struct store_file store_file_of(const char *file, const char *suffix)
{
	cleanup_free char *name = NULL;
	struct stat st;

	if (asprintf(&name, "%s%s", file, suffix) < 0) {
		name = NULL;
		return (struct store_file){ 0 };
	}
	return stat(name, &st) ? (struct store_file){ 0 }
			       : (struct store_file){ st.st_dev, st.st_ino };
}

bool store_is_same(struct store_file a, struct store_file b)
{
	return a.dev == b.dev && a.ino == b.ino;
}

void store_note_files(struct store *s)
{
	for (size_t i = 0; i < STORE_NR_FILES; i++)
		s->files[i] = store_file_of(s->file, store_suffixes[i]);
}

/* Without its name, a second writer could lock a new file. */
int store_keep_lock(struct store *s, struct diag *d)
{
	struct store_file named = store_file_of(s->file, LOCK_SUFFIX);
	struct stat st;
	bool clean;
	int fd, err;

	if (fstat(s->lock, &st) ||
	    store_is_same(named, (struct store_file){ st.st_dev, st.st_ino }))
		return 0;
	err = store_lock(s->file, d, &fd, &clean);
	if (err)
		return err;
	close(s->lock);
	s->lock = fd;
	return 0;
}

int store_check_files(struct store *s, struct diag *d)
{
	for (size_t i = 0; i < STORE_NR_FILES; i++) {
		if (store_is_same(s->files[i], store_file_of(s->file, store_suffixes[i])))
			continue;
		diag_fail(d, -ESTALE, "%s%s was removed, renamed or replaced while it was in use",
			  s->file, store_suffixes[i]);
		return diag_advise(d, -ESTALE, "stop t410trace before touching its files");
	}
	return store_keep_lock(s, d);
}
