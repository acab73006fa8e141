/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Access to a sysfs tree through a directory handle, so that a copy of the
 * tree elsewhere works just like /sys. All paths are relative to its root.
 */
#ifndef PLATFORM_SYS_SYSFS_H
#define PLATFORM_SYS_SYSFS_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/diag.h"
#include "base/text_list.h"

/**
 * struct sysfs - an open sysfs tree
 * @fd: its root directory; -1 when closed
 * @root: path it was opened with, for messages
 */
struct sysfs {
	int fd;
	char root[PATH_MAX];
};

/**
 * sysfs_open() - open a tree
 * @root: its directory; NULL for /sys
 * @d: names the directory on failure
 * @ret_fs: the tree; close it with sysfs_close()
 *
 * Return: 0, or the error of opening the directory.
 */
int sysfs_open(const char *root, struct diag *d, struct sysfs *ret_fs);

/** sysfs_close() - close a tree; NULL and a closed tree are fine */
void sysfs_close(struct sysfs *fs);

/*
 * The path of a file, directory or link is formatted as with printf(). -ENAMETOOLONG for paths that
 * are too long.
 */

/** sysfs_read() - first line of a file; other arguments and errors of read_line_at() */
__attribute__((format(printf, 4, 5))) int sysfs_read(const struct sysfs *fs, char *ret_line,
						     size_t size, const char *path, ...);

/** sysfs_number() - a file with a number as parse_u64() reads it; errors of it and of sysfs_read() */
__attribute__((format(printf, 3, 4))) int sysfs_number(const struct sysfs *fs, uint64_t *ret,
						       const char *path, ...);

/**
 * sysfs_list() - names of the entries of a directory, without "." and "..", sorted bytewise
 * @fs: the tree
 * @ret_names: gets them; untouched when this fails
 * @path: the directory
 *
 * Return: 0, -ENOMEM, or the error of opening or reading the directory.
 */
__attribute__((format(printf, 3, 4))) int sysfs_list(const struct sysfs *fs,
						     struct text_list *ret_names, const char *path,
						     ...);

/**
 * sysfs_link() - the target of a symbolic link
 * @fs: the tree
 * @ret_target: PATH_MAX bytes
 * @path: the link
 *
 * Return: 0, -ENAMETOOLONG when it does not fit, or the error of readlink(2),
 * -EINVAL when @path is no link.
 */
__attribute__((format(printf, 3, 4))) int sysfs_link(const struct sysfs *fs, char *ret_target,
						     const char *path, ...);

/**
 * sysfs_link_name() - last part of a symbolic link's target
 * @fs: the tree
 * @ret_name: for example "nvidia_cspmu" for ".../drivers/nvidia_cspmu"
 * @size: size of @ret_name in bytes
 * @path: the link
 *
 * Return: as sysfs_link()
 */
__attribute__((format(printf, 4, 5))) int sysfs_link_name(const struct sysfs *fs, char *ret_name,
							  size_t size, const char *path, ...);

/** sysfs_exists() - is there something at @path? A link without target is nothing. */
__attribute__((format(printf, 2, 3))) bool sysfs_exists(const struct sysfs *fs, const char *path,
							...);

#endif
