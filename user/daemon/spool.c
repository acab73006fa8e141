// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "daemon/spool.h"

#include <dirent.h>
#include <fcntl.h>
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

/* Files that somebody may pick up; a negative errno. */
static ssize_t count_files(int folder)
{
	cleanup_closedir DIR *dir = dir_at(folder, ".");
	struct dirent *entry;
	ssize_t nr = 0;

	if (!dir)
		return -errno;
	for (errno = 0; (entry = readdir(dir)); errno = 0)
		nr += entry->d_name[0] != '.';
	return errno ? -errno : nr;
}

static bool same_time(const struct timespec *a, const struct timespec *b)
{
	return a->tv_sec == b->tv_sec && a->tv_nsec == b->tv_nsec;
}

/* Others take files away: count anew, but only if it matters and something has changed. */
static int check_room(struct spool *s, const char *name)
{
	struct timespec now;
	struct stat st;
	int err;
	ssize_t nr;

	if (!s->max_files || s->nr_files < s->max_files)
		return 0;
	if (!fstatat(s->folder, name, &st, AT_SYMLINK_NOFOLLOW))
		return 0;
	if (fstat(s->folder, &st))
		return -errno;
	if (same_time(&st.st_mtim, &s->counted))
		return -EDQUOT;
	nr = count_files(s->folder);
	if (nr < 0)
		return nr;
	s->nr_files = nr;
	/* within a tick of the clock a folder can change and keep its time */
	clock_gettime(CLOCK_REALTIME, &now);
	if (now.tv_sec > st.st_mtim.tv_sec + 1)
		s->counted = st.st_mtim;
	if (s->nr_files < s->max_files)
		return 0;
	err = spool_make_room(s);
	if (err)
		return err;
	return s->nr_files < s->max_files ? 0 : -EDQUOT;
}

int spool_open(const char *folder, size_t max_files, struct diag *d, struct spool *ret)
{
	cleanup_close int fd = -1, lock = -1;
	ssize_t nr;
	int err;

	*ret = (struct spool){ .folder = -1, .max_files = max_files };
	if (!folder[0])
		return 0;
	err = open_folder(folder, d, &fd);
	if (!err)
		err = lock_folder(folder, fd, d, &lock);
	if (!err)
		err = check_folder(folder, fd, d);
	if (err)
		return err;
	nr = count_files(fd);
	if (nr < 0)
		return refuse(folder, nr, "its files cannot be counted: look at its rights", d);
	/* the time 0: a full spool is counted once more */
	*ret = (struct spool){ .folder = take_fd(&fd),
			       .lock = take_fd(&lock),
			       .max_files = max_files,
			       .nr_files = nr };
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
	err = spool_open(s->path, s->max_files, d, &next);
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
	err = check_room(s, name);
	if (!err)
		err = put_file(s, name, text, size);
	if (!err)
		return 0;
	if (err == -EDQUOT && s->max_files && s->nr_files >= s->max_files) {
		diag_fail(d, err, "the closing report %s is not written: %zu are there already",
			  name, s->nr_files);
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
