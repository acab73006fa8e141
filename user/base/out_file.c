// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "base/out_file.h"

#include <errno.h>
#include <inttypes.h>
#include <libgen.h>
#include <limits.h>
#include <stdint.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>

#include "base/cleanup.h"

/* As the kernel follows them */
#define MAX_LINKS 40

bool out_file_is_stdout(const char *path)
{
	return !strcmp(path, "-") || !strcmp(path, "/dev/stdout");
}

/* "FOLDER/name" with the real folder of @path */
static char *in_folder(const char *path, const char *name)
{
	cleanup_free char *copy = strdup(path);
	cleanup_free char *folder = copy ? realpath(dirname(copy), NULL) : NULL;
	char *joined;

	return folder && asprintf(&joined, "%s/%s", folder, name) >= 0 ? joined : NULL;
}

static char *resolve(const char *path, int links)
{
	char target[PATH_MAX];
	cleanup_free char *next = NULL;
	char *real = realpath(path, NULL);
	const char *name = strrchr(path, '/');
	ssize_t size;

	if (real || errno != ENOENT)
		return real;
	name = name ? name + 1 : path;
	size = readlink(path, target, sizeof(target) - 1);
	if (size < 0)
		return in_folder(path, name);
	/* A link to a file that is not there yet */
	target[size] = '\0';
	next = target[0] == '/' ? strdup(target) : in_folder(path, target);
	errno = links ? errno : ELOOP;
	return next && links ? resolve(next, links - 1) : NULL;
}

char *out_file_resolve(const char *path)
{
	return resolve(path, MAX_LINKS);
}

static int open_new(struct out_file *f)
{
	const int flags = O_WRONLY | O_CLOEXEC;
	cleanup_free char *folder = in_folder(f->path, "");
	char name[32];
	uint64_t id;

	if (!folder || getrandom(&id, sizeof(id), 0) != sizeof(id))
		return -errno;
	snprintf(name, sizeof(name), ".t410trace-%016" PRIx64, id);
	f->temporary = in_folder(f->path, name);
	if (!f->temporary)
		return -ENOMEM;
	f->fd = open(folder, flags | O_TMPFILE, 0600);
	if (f->fd >= 0 || (errno != EOPNOTSUPP && errno != EISDIR))
		return f->fd < 0 ? -errno : 0;
	/* Not every file system has files without a name. */
	f->fd = open(f->temporary, flags | O_CREAT | O_EXCL, 0600);
	f->named = f->fd >= 0;
	return f->fd < 0 ? -errno : 0;
}

static int open_beside(struct out_file *f, const char *path, const struct stat *old, mode_t mode)
{
	mode_t mask = umask(0);

	umask(mask);
	f->mode = mode & ~mask;
	f->path = out_file_resolve(path);
	if (!f->path)
		return -errno;
	if (old) {
		if (faccessat(AT_FDCWD, f->path, W_OK, AT_EACCESS))
			return -errno;
		f->mode = old->st_mode & 0777;
		f->uid = old->st_uid;
		f->gid = old->st_gid;
		f->replaces = true;
	}
	return open_new(f);
}

int out_file_open(const char *path, mode_t mode, struct out_file *ret)
{
	struct out_file f = OUT_FILE_NONE;
	struct stat st;
	bool is_there;
	int err = 0;

	*ret = f;
	is_there = !stat(path, &st);
	if (out_file_is_stdout(path)) {
		f.fd = fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 0);
		err = f.fd < 0 ? -errno : 0;
	} else if (is_there && !S_ISREG(st.st_mode)) {
		f.fd = open(path, O_WRONLY | O_CLOEXEC | O_NOCTTY);
		err = f.fd < 0 ? -errno : 0;
	} else {
		err = open_beside(&f, path, is_there ? &st : NULL, mode);
	}
	if (err)
		out_file_close(&f);
	else
		*ret = f;
	return err;
}

/* A group that cannot be kept must not get what the older file's group had. */
static int keep_rights(const struct out_file *f)
{
	mode_t mode = f->mode;

	if (f->replaces && fchown(f->fd, f->uid, f->gid) && fchown(f->fd, (uid_t)-1, f->gid))
		mode &= ~(mode_t)S_IRWXG;
	return fchmod(f->fd, mode) ? -errno : 0;
}

static int give_name(struct out_file *f)
{
	char self[32];

	if (!f->named) {
		snprintf(self, sizeof(self), "/proc/self/fd/%d", f->fd);
		if (linkat(AT_FDCWD, self, AT_FDCWD, f->temporary, AT_SYMLINK_FOLLOW))
			return -errno;
		f->named = true;
	}
	return rename(f->temporary, f->path) ? -errno : 0;
}

int out_file_publish(struct out_file *f)
{
	int err;

	if (!f->path || f->published)
		return 0;
	err = keep_rights(f) ?: give_name(f);
	f->published = !err;
	return err;
}

int out_file_close(struct out_file *f)
{
	int err = 0;

	if (f->named && !f->published)
		unlink(f->temporary);
	if (f->fd >= 0 && close(f->fd))
		err = -errno;
	free(f->path);
	free(f->temporary);
	*f = OUT_FILE_NONE;
	return err;
}
