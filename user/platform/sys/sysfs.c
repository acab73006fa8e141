// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "platform/sys/sysfs.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

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

/* Print a path; 0 or -ENAMETOOLONG. */
#define PRINT(path, fmt)                                           \
	({                                                         \
		va_list args;                                      \
		int length;                                        \
                                                                   \
		va_start(args, fmt);                               \
		length = vsnprintf(path, sizeof(path), fmt, args); \
		va_end(args);                                      \
		length >= (int)sizeof(path) ? -ENAMETOOLONG : 0;   \
	})

int sysfs_read(const struct sysfs *fs, char *ret_line, size_t size, const char *fmt, ...)
{
	char path[PATH_MAX];
	int err = PRINT(path, fmt);

	return err ? err : read_line_at(fs->fd, path, ret_line, size);
}

int sysfs_number(const struct sysfs *fs, uint64_t *ret, const char *fmt, ...)
{
	char path[PATH_MAX], line[32];
	int err = PRINT(path, fmt);

	if (!err)
		err = read_line_at(fs->fd, path, line, sizeof(line));
	return err ? err : parse_u64(line, ret);
}

static int by_name(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

static int read_names(DIR *dir, struct text_list *names)
{
	struct dirent *entry;
	int err = 0;

	/* Only errno distinguishes the end of the directory from a failure. */
	for (errno = 0; !err && (entry = readdir(dir)); errno = 0)
		if (strcmp(entry->d_name, ".") && strcmp(entry->d_name, ".."))
			err = text_list_add(names, entry->d_name);
	return err ? err : -errno;
}

int sysfs_list(const struct sysfs *fs, struct text_list *ret_names, const char *fmt, ...)
{
	cleanup_texts struct text_list names = { 0 };
	cleanup_closedir DIR *dir = NULL;
	char path[PATH_MAX];
	int err = PRINT(path, fmt);

	if (err)
		return err;
	dir = dir_at(fs->fd, path);
	if (!dir)
		return -errno;
	err = read_names(dir, &names);
	if (err)
		return err;
	if (names.nr)
		qsort(names.items, names.nr, sizeof(*names.items), by_name);
	*ret_names = names;
	names = (struct text_list){ 0 };
	return 0;
}

static int read_link(const struct sysfs *fs, const char *path, char *ret_target)
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

int sysfs_link(const struct sysfs *fs, char *ret_target, const char *fmt, ...)
{
	char path[PATH_MAX];
	int err = PRINT(path, fmt);

	return err ? err : read_link(fs, path, ret_target);
}

int sysfs_link_name(const struct sysfs *fs, char *ret_name, size_t size, const char *fmt, ...)
{
	char path[PATH_MAX], target[PATH_MAX];
	const char *base;
	int err = PRINT(path, fmt);

	if (!err)
		err = read_link(fs, path, target);
	if (err)
		return err;
	base = strrchr(target, '/');
	base = base ? base + 1 : target;
	if (strlen(base) >= size)
		return -ENAMETOOLONG;
	return str_copy(ret_name, size, base);
}

bool sysfs_exists(const struct sysfs *fs, const char *fmt, ...)
{
	char path[PATH_MAX];

	return !PRINT(path, fmt) && !faccessat(fs->fd, path, F_OK, 0);
}
