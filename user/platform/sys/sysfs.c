// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "platform/sys/sysfs.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/array.h"
#include "base/cleanup.h"
#include "base/text.h"

int sysfs_open(const char *root, struct diag *d, struct sysfs *ret_fs)
{
	const char *path = root ? root : "/sys";
	int fd, err;

	if (strlen(path) >= sizeof(ret_fs->root))
		return diag_fail(d, -ENAMETOOLONG, "the path of the sysfs tree is too long");
	fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fd < 0) {
		err = -errno;
		return diag_fail(d, err, "cannot open the sysfs tree %s: %s", path, strerror(-err));
	}
	ret_fs->fd = fd;
	return str_copy(ret_fs->root, sizeof(ret_fs->root), path);
}

void sysfs_close(struct sysfs *fs)
{
	if (!fs || fs->fd < 0)
		return;
	close(fs->fd);
	fs->fd = -1;
}

int sysfs_read(const struct sysfs *fs, const char *path, char *ret_line, size_t size)
{
	return read_line_at(fs->fd, path, ret_line, size);
}

static int by_name(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

static int add_name(struct sysfs_names *names, const char *name)
{
	char *copy;
	int err;

	if (!strcmp(name, ".") || !strcmp(name, ".."))
		return 0;
	err = array_room(names->names, names->cap, names->nr);
	if (err)
		return err;
	copy = strdup(name);
	if (!copy)
		return -ENOMEM;
	names->names[names->nr++] = copy;
	return 0;
}

static int read_names(DIR *dir, struct sysfs_names *names)
{
	struct dirent *entry;
	int err;

	for (;;) {
		/* Only errno tells the end of the directory from a failure. */
		errno = 0;
		entry = readdir(dir);
		if (!entry)
			return -errno;
		err = add_name(names, entry->d_name);
		if (err)
			return err;
	}
}

int sysfs_list(const struct sysfs *fs, const char *path, struct sysfs_names *ret_names)
{
	struct sysfs_names names = { 0 };
	cleanup_closedir DIR *dir = NULL;
	cleanup_close int fd = -1;
	int err;

	fd = openat(fs->fd, path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	dir = fdopendir(fd);
	if (!dir)
		return -errno;
	/* From here on the descriptor belongs to dir. */
	take_fd(&fd);
	err = read_names(dir, &names);
	if (err) {
		sysfs_names_free(&names);
		return err;
	}
	if (names.nr)
		qsort(names.names, names.nr, sizeof(*names.names), by_name);
	*ret_names = names;
	return 0;
}

void sysfs_names_free(struct sysfs_names *names)
{
	if (!names)
		return;
	for (size_t i = 0; i < names->nr; i++)
		free(names->names[i]);
	free(names->names);
	*names = (struct sysfs_names){ 0 };
}

int sysfs_link(const struct sysfs *fs, const char *path, char *ret_target)
{
	char target[PATH_MAX];
	ssize_t length = readlinkat(fs->fd, path, target, sizeof(target));

	if (length < 0)
		return -errno;
	if ((size_t)length >= sizeof(target))
		return -ENAMETOOLONG;
	memcpy(ret_target, target, (size_t)length);
	ret_target[length] = '\0';
	return 0;
}

int sysfs_link_name(const struct sysfs *fs, const char *path, char *ret_name, size_t size)
{
	char target[PATH_MAX];
	const char *base;
	int err = sysfs_link(fs, path, target);

	if (err)
		return err;
	base = strrchr(target, '/');
	base = base ? base + 1 : target;
	if (strlen(base) >= size)
		return -ENAMETOOLONG;
	return str_copy(ret_name, size, base);
}

bool sysfs_exists(const struct sysfs *fs, const char *path)
{
	return !faccessat(fs->fd, path, F_OK, 0);
}
