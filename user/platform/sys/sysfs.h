/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Access to a sysfs tree through a directory handle, so that a copy of the
 * tree elsewhere works just like /sys. All paths are relative to its root.
 */
#ifndef PLATFORM_SYSFS_H
#define PLATFORM_SYSFS_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>

#include "base/diag.h"

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
 * struct sysfs_names - names of the entries of a directory, sorted bytewise
 * @names: owned by this structure, as is every string
 * @nr: number of names
 */
struct sysfs_names {
	char **names;
	size_t nr;
	size_t cap;
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

/** sysfs_read() - first line of a file; arguments and errors of read_line_at() */
int sysfs_read(const struct sysfs *fs, const char *path, char *ret_line, size_t size);

/**
 * sysfs_list() - names of the entries of a directory, without "." and ".."
 * @fs: the tree
 * @path: the directory
 * @ret_names: the names; release them with sysfs_names_free()
 *
 * Return: 0, -ENOMEM, or the error of opening or reading the directory.
 */
int sysfs_list(const struct sysfs *fs, const char *path, struct sysfs_names *ret_names);

/** sysfs_names_free() - release the names; NULL is fine */
void sysfs_names_free(struct sysfs_names *names);

/**
 * sysfs_link() - where a symbolic link points to
 * @fs: the tree
 * @path: the link
 * @ret_target: room of PATH_MAX bytes
 *
 * Return: 0, -ENAMETOOLONG when it does not fit, or the error of readlink(2),
 * -EINVAL when @path is no link.
 */
int sysfs_link(const struct sysfs *fs, const char *path, char *ret_target);

/**
 * sysfs_link_name() - last part of where a symbolic link points to
 * @fs: the tree
 * @path: the link
 * @ret_name: for example "nvidia_cspmu" for ".../drivers/nvidia_cspmu"
 * @size: room in @ret_name in bytes
 *
 * Return: 0, -ENAMETOOLONG when it does not fit, or the error of readlink(2),
 * -EINVAL when @path is no link.
 */
int sysfs_link_name(const struct sysfs *fs, const char *path, char *ret_name, size_t size);

/** sysfs_exists() - is there something at @path? A link without target is nothing. */
bool sysfs_exists(const struct sysfs *fs, const char *path);

#endif
