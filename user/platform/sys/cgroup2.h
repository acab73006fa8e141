/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Where the cgroup trees are mounted. */
#ifndef PLATFORM_SYS_CGROUP2_H
#define PLATFORM_SYS_CGROUP2_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

/**
 * cgroup2_mount_find() - find the cgroup v2 tree in a list of mounts
 * @mountinfo: open on /proc/self/mountinfo or a file of that format; read to its
 *	end, stays open
 * @ret_path: where the tree is mounted. A mount of the tree's root is preferred to a mount of a
 *	branch, otherwise the first one counts. In a cgroup namespace of our own the list calls a
 *	branch the root, so the folders are looked at as well
 * @size: size of @ret_path in bytes
 *
 * On a hybrid system (v1 controllers beside v2) this finds the v2 tree below
 * /sys/fs/cgroup. Lines that are not of the format are skipped.
 *
 * Return: 0, -ENOENT when no cgroup2 file system is mounted, -ENAMETOOLONG when
 * the path does not fit, -EIO or -ENOMEM when reading failed.
 */
int cgroup2_mount_find(FILE *mountinfo, char *ret_path, size_t size);

/**
 * cgroup_mount_is_whole() - is a cgroup file system mounted here with its root?
 * @mount: folder
 *
 * The kernel numbers the cgroups of a tree from 1, root first. False for a branch, which is all
 * that containers see by default, and for anything else.
 */
bool cgroup_mount_is_whole(const char *mount);

/**
 * cgroup1_mount_find() - find the v1 hierarchy of a controller in a list of mounts
 * @mountinfo: as in cgroup2_mount_find()
 * @controller: as the kernel calls it, "freezer"
 * @ret_path, @size: as in cgroup2_mount_find()
 *
 * A hierarchy may have several controllers ("cpu,cpuacct"): each of them finds it.
 *
 * Return: as cgroup2_mount_find(), -ENOENT also when the controller is not mounted as v1.
 */
int cgroup1_mount_find(FILE *mountinfo, const char *controller, char *ret_path, size_t size);

#endif
