// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "daemon/private_files.h"

#include <ctype.h>
#include <dirent.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/text.h"

#define WIDE_RIGHTS (07777 & ~PRIVATE_FILE)
#define LOCK_TRIES  10

int private_folder(const char *path)
{
	if (mkdir(path, PRIVATE_FOLDER))
		return -errno;
	return chmod(path, PRIVATE_FOLDER) ? -errno : 0;
}

int private_file(int fd, int mode)
{
	struct stat st;

	if (fstat(fd, &st))
		return -errno;
	return (st.st_mode & 07777) == (mode_t)mode || !fchmod(fd, mode) ? 0 : -errno;
}

/* O_PATH: closing another descriptor would drop the locks that SQLite holds on a file. */
int private_narrow(int folder, const char *name)
{
	cleanup_close int fd = openat(folder, name, O_PATH | O_NOFOLLOW | O_CLOEXEC);
	char path[64];
	struct stat st;

	if (fd < 0)
		return errno == ENOENT ? 0 : -errno;
	if (fstat(fd, &st))
		return -errno;
	if (!S_ISREG(st.st_mode) || st.st_nlink > 1 || !(st.st_mode & WIDE_RIGHTS))
		return 0;
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	return chmod(path, st.st_mode & PRIVATE_FILE) ? -errno : 0;
}

static bool says_lock(int info, const char *name)
{
	int fd = openat(info, name, O_RDONLY | O_CLOEXEC);
	cleanup_fclose FILE *f = fd < 0 ? NULL : fdopen(fd, "r");
	char line[256];

	while (f && fgets(line, sizeof(line), f))
		if (!strncmp(line, "lock:", 5))
			return true;
	return false;
}

/* Has a process the file open, with a lock on it? @process: its folder in /proc */
static bool has_locked(int process, const struct stat *file)
{
	cleanup_closedir DIR *files = dir_at(process, "fd");
	cleanup_close int info = openat(process, "fdinfo", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	struct dirent *entry;
	struct stat st;

	while (files && info >= 0 && (entry = readdir(files)))
		if (isdigit((unsigned char)entry->d_name[0]) &&
		    !fstatat(dirfd(files), entry->d_name, &st, 0) && st.st_dev == file->st_dev &&
		    st.st_ino == file->st_ino && says_lock(info, entry->d_name))
			return true;
	return false;
}

/* "process 12 (sleep)"; a file that says who wrote it does not say that this one is still there. */
static void name_holder(int fd, char *ret, size_t size)
{
	cleanup_closedir DIR *all = dir_at(AT_FDCWD, "/proc");
	struct dirent *entry;
	char program[32];
	struct stat st;

	str_copy(ret, size, "a process that cannot be seen from here");
	if (!all || fstat(fd, &st))
		return;
	while ((entry = readdir(all))) {
		cleanup_close int process = -1;

		if (!isdigit((unsigned char)entry->d_name[0]))
			continue;
		process = openat(dirfd(all), entry->d_name, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
		if (process < 0 || !has_locked(process, &st))
			continue;
		if (read_line_at(process, "comm", program, sizeof(program)))
			str_copy(program, sizeof(program), "?");
		for (char *c = program; *c; c++)
			*c = isprint((unsigned char)*c) ? *c : '?';
		snprintf(ret, size, "process %.10s (%s)", entry->d_name, program);
		return;
	}
}

/* A writer has all of the file; who could only read it has no more than a shared lock. */
static int fail_locked(int fd, struct diag *d)
{
	struct flock lock = { .l_type = F_WRLCK, .l_whence = SEEK_SET };
	char holder[64];
	bool shared = !fcntl(fd, F_OFD_GETLK, &lock) && lock.l_type == F_RDLCK;

	name_holder(fd, holder, sizeof(holder));
	if (!shared) {
		diag_fail(d, -EBUSY, "another t410trace is at work there: %s", holder);
		return diag_advise(d, -EBUSY,
				   "stop that one first (systemctl stop t410trace), or choose "
				   "another place");
	}
	diag_fail(d, -EBUSY, "its lock is held by %s, which is not t410trace", holder);
	return diag_advise(d, -EBUSY, "end that process; others can no longer lock the file");
}

static int lock_once(int folder, const char *name, struct diag *d, int *ret_fd)
{
	const int flags = O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW;
	struct flock lock = { .l_type = F_WRLCK, .l_whence = SEEK_SET };
	cleanup_close int fd = openat(folder, name, flags, PRIVATE_LOCK);
	struct stat have, named;
	int err;

	if (fd < 0)
		return -errno;
	err = private_file(fd, PRIVATE_LOCK);
	if (err)
		return err;
	if (fcntl(fd, F_OFD_SETLK, &lock))
		return errno == EAGAIN || errno == EACCES ? fail_locked(fd, d) : -errno;
	if (fstat(fd, &have) || fstatat(folder, name, &named, AT_SYMLINK_NOFOLLOW) ||
	    have.st_dev != named.st_dev || have.st_ino != named.st_ino)
		return -EAGAIN;
	*ret_fd = take_fd(&fd);
	return 0;
}

int private_lock(int folder, const char *name, struct diag *d, int *ret_fd)
{
	int err = -EAGAIN;

	for (int i = 0; i < LOCK_TRIES && err == -EAGAIN; i++)
		err = lock_once(folder, name, d, ret_fd);
	return err;
}
