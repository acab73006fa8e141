// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "daemon/spool.h"

#include <dirent.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/text.h"
#include "daemon/private_files.h"
#include "daemon/spool_prune.h"

/* There is one writer, so there is one unfinished file; who picks up files leaves names with dots. */
#define UNFINISHED	 ".t410trace-unfinished"
#define UNFINISHED_LEN	 32
#define UNFINISHED_NAMES 10
#define LOCK		 ".t410trace-lock"

static int refuse(const char *folder, int err, const char *help, struct diag *d)
{
	diag_fail(d, err, "cannot use %s for closing reports: %s", folder, strerror(-err));
	return diag_advise(d, err, "%s", err == -EROFS ? PRIVATE_READ_ONLY : help);
}

static int open_folder(const char *folder, struct diag *d, int *ret)
{
	int fd, err = private_folder(folder);

	if (err && err != -EEXIST)
		return refuse(folder, err, "make the folder, or choose another one", d);
	fd = open(folder, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (fd < 0 && (errno == ENOTDIR || errno == ELOOP))
		return refuse(folder, -ENOTDIR,
			      "name a folder itself, not a file or a symbolic link", d);
	if (fd < 0)
		return refuse(folder, -errno, "choose a folder that may be read and written", d);
	*ret = fd;
	return 0;
}

static int lock_folder(const char *folder, int fd, struct diag *d, int *ret)
{
	struct diag why = { 0 };
	int err = private_lock(fd, LOCK, &why, ret);

	if (err != -EBUSY)
		return err ? refuse(folder, err, "choose a folder that may be written", d) : 0;
	diag_fail(d, err, "cannot use %s for closing reports: %s", folder, why.what);
	return diag_advise(d, err, "%s", why.help);
}

static int check_folder(const char *folder, int fd, struct diag *d)
{
	struct stat st;
	int err;

	if (fstat(fd, &st))
		return refuse(folder, -errno, "choose another folder", d);
	if (st.st_mode & S_IWOTH)
		return refuse(
			folder, -EPERM,
			"everybody may write there, so that reports could be forged: chmod o-w, or "
			"choose another folder",
			d);
	err = spool_narrow(fd);
	if (err)
		return refuse(folder, err, "its reports must be for their owner and group only", d);
	if (unlinkat(fd, UNFINISHED, 0) && errno != ENOENT && errno != EISDIR)
		return refuse(folder, -errno,
			      "an unfinished report cannot be removed: remove " UNFINISHED
			      " in it, and look at the rights of the folder",
			      d);
	return 0;
}

/* The size of a file, 0 of anything else and of one that is not there. */
static uint64_t size_of(int folder, const char *name)
{
	struct stat st;

	return fstatat(folder, name, &st, AT_SYMLINK_NOFOLLOW) || !S_ISREG(st.st_mode) ? 0
										       : st.st_size;
}

/* Files that somebody may pick up. */
static int count_files(struct spool *s)
{
	cleanup_closedir DIR *dir = dir_at(s->folder, ".");
	struct dirent *entry;

	if (!dir)
		return -errno;
	s->nr_files = 0;
	s->bytes = 0;
	for (errno = 0; (entry = readdir(dir)); errno = 0) {
		if (entry->d_name[0] == '.')
			continue;
		s->nr_files++;
		s->bytes += size_of(s->folder, entry->d_name);
	}
	return -errno;
}

static bool same_time(const struct timespec *a, const struct timespec *b)
{
	return a->tv_sec == b->tv_sec && a->tv_nsec == b->tv_nsec;
}

/* Others take files away: count anew, but only if it matters and something has changed. */
static int check_room(struct spool *s, const char *name, uint64_t size)
{
	struct timespec now;
	struct stat st;
	bool is_new = fstatat(s->folder, name, &st, AT_SYMLINK_NOFOLLOW);
	uint64_t old = is_new || !S_ISREG(st.st_mode) ? 0 : st.st_size;
	uint64_t more = size > old ? size - old : 0;
	int err;

	if (more > s->max_bytes)
		more = s->max_bytes;
	if (!spool_is_full(s, is_new, more))
		return 0;
	if (fstat(s->folder, &st))
		return -errno;
	if (same_time(&st.st_mtim, &s->counted))
		return -EDQUOT;
	err = count_files(s);
	if (err)
		return err;
	/* within a tick of that clock a folder can change and keep its time */
	clock_gettime(CLOCK_REALTIME_COARSE, &now);
	if (now.tv_sec > st.st_mtim.tv_sec + 1)
		s->counted = st.st_mtim;
	if (!spool_is_full(s, is_new, more))
		return 0;
	err = spool_make_room(s, is_new, more);
	if (err)
		return err;
	return spool_is_full(s, is_new, more) ? -EDQUOT : 0;
}

int spool_open(const char *folder, size_t max_files, uint64_t max_bytes, struct diag *d,
	       struct spool *ret)
{
	cleanup_close int fd = -1, lock = -1;
	int err;

	*ret = (struct spool){ .folder = -1, .max_files = max_files, .max_bytes = max_bytes };
	if (!folder[0])
		return 0;
	err = open_folder(folder, d, &fd);
	if (!err)
		err = lock_folder(folder, fd, d, &lock);
	if (!err)
		err = check_folder(folder, fd, d);
	if (err)
		return err;
	/* the time is 0: a full spool is counted once more */
	ret->folder = fd;
	err = count_files(ret);
	ret->folder = -1;
	if (err)
		return refuse(folder, err, "its files cannot be counted: look at its rights", d);
	ret->folder = take_fd(&fd);
	ret->lock = take_fd(&lock);
	str_copy(ret->path, sizeof(ret->path), folder);
	return 0;
}

void spool_close(struct spool *s)
{
	if (s->folder < 0)
		return;
	close(s->folder);
	close(s->lock);
	s->folder = -1;
}

static int write_all(int fd, const char *text, size_t size)
{
	while (size) {
		ssize_t nr = write(fd, text, size);

		if (nr < 0 && errno == EINTR)
			continue;
		if (nr < 0)
			return -errno;
		text += nr;
		size -= nr;
	}
	return fsync(fd) ? -errno : 0;
}

/* Is the folder that is open still the one of its name? If not, go on with that one. */
static int follow_folder(struct spool *s, struct diag *d)
{
	struct stat have, named;
	struct spool next;
	int err;

	if (!fstat(s->folder, &have) && !stat(s->path, &named) && have.st_dev == named.st_dev &&
	    have.st_ino == named.st_ino)
		return 0;
	err = spool_open(s->path, s->max_files, s->max_bytes, d, &next);
	if (err)
		return err;
	next.removed = s->removed;
	spool_close(s);
	*s = next;
	return 0;
}

/*
 * Never one that is there already: who may write to the folder could have put anything. What cannot
 * be removed, a folder, must not be in the way: then it is another name.
 */
static int open_unfinished(int folder, char name[UNFINISHED_LEN])
{
	const int flags = O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC;
	int fd = -1;

	for (int i = 0; fd < 0 && i < UNFINISHED_NAMES; i++) {
		snprintf(name, UNFINISHED_LEN, i ? UNFINISHED "-%d" : UNFINISHED, i);
		if (unlinkat(folder, name, 0) && errno == EISDIR)
			continue;
		fd = openat(folder, name, flags, PRIVATE_FILE);
		if (fd < 0 && errno != EEXIST)
			break;
	}
	return fd < 0 ? -errno : fd;
}

/* The fault is of this name alone: a file was just written in the folder. */
static bool is_in_the_way(int err)
{
	return err == -EISDIR || err == -EPERM || err == -EACCES || err == -EBUSY;
}

static int put_file(struct spool *s, const char *name, const char *text, size_t size)
{
	char unfinished[UNFINISHED_LEN];
	cleanup_close int fd = -1;
	struct stat st;
	bool is_new = fstatat(s->folder, name, &st, AT_SYMLINK_NOFOLLOW);
	uint64_t old = is_new ? 0 : size_of(s->folder, name);
	int err;

	/* without writing it first: it is tried again and again */
	if (!is_new && S_ISDIR(st.st_mode))
		return -EEXIST;
	fd = open_unfinished(s->folder, unfinished);
	if (fd < 0)
		return fd;
	err = private_file(fd, PRIVATE_FILE);
	if (!err)
		err = write_all(fd, text, size);
	if (!err && renameat(s->folder, unfinished, s->folder, name))
		err = is_in_the_way(-errno) ? -EEXIST : -errno;
	if (err) {
		unlinkat(s->folder, unfinished, 0);
		return err;
	}
	s->nr_files += is_new;
	s->bytes += size;
	s->bytes -= old < s->bytes ? old : s->bytes;
	return fsync(s->folder) ? -errno : 0;
}

int spool_write(struct spool *s, const char *name, const char *text, size_t size, struct diag *d)
{
	int err;

	if (!spool_is_name(name))
		return diag_fail(d, -EINVAL, "\"%.64s\" is not a valid name of a closing report",
				 name);
	err = follow_folder(s, d);
	if (err)
		return err;
	err = check_room(s, name, size);
	if (!err)
		err = put_file(s, name, text, size);
	if (!err)
		return 0;
	if (err == -EDQUOT && spool_is_full(s, 1, size)) {
		diag_fail(d, err,
			  "the closing report %s is not written: %zu are there already (%" PRIu64
			  " bytes)",
			  name, s->nr_files, s->bytes);
		return diag_advise(d, err, "take files away, or allow more of them");
	}
	if (err == -EEXIST) {
		diag_fail(d, err, "cannot write the closing report %s: its name is taken", name);
		return diag_advise(d, err, "remove %s/%s, a folder or a file that must not change",
				   s->path, name);
	}
	diag_fail(d, err, "cannot write the closing report %s: %s", name, strerror(-err));
	if (err == -ENOSPC || err == -EDQUOT)
		diag_help(d, "free some space, or take reports away");
	else
		diag_help(d, "the folder and its rights are what matters");
	return err;
}
