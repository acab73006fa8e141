/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Names of the cgroups that exist, from the mounted trees. */
#ifndef PLATFORM_SYS_CGROUPS_H
#define PLATFORM_SYS_CGROUPS_H

#include <stddef.h>
#include <stdint.h>

#include "platform/sys/cgroup1.h"

/* The remedy where only a branch of a tree is mounted */
extern const char cgroups_whole_help[];

/**
 * cgroups_mount() - where the v2 tree is mounted
 * @d: gets the problem
 * @ret_path: the folder
 * @size: size of @ret_path in bytes
 *
 * Return: 0, -ENOENT when it is not mounted, another negative errno.
 */
int cgroups_mount(struct diag *d, char *ret_path, size_t size);

/**
 * cgroups_walk() - visit every cgroup, parents first
 * @mount: folder of the v2 tree, or of a v1 hierarchy
 * @fn: gets the id and the path from the hierarchy's root ("/" for the root); a
 *	nonzero result ends the walk
 * @arg: handed to @fn
 *
 * Cgroups that vanish meanwhile are left out.
 *
 * Return: 0, the result of @fn, or a negative errno when @mount cannot be read.
 */
int cgroups_walk(const char *mount, int (*fn)(void *arg, uint64_t id, const char *path), void *arg);

/**
 * cgroups_resolve() - the cgroup that a user means
 * @mount: folder of the v2 tree, "" when its root is mounted nowhere
 * @v1: the chosen v1 hierarchy
 * @text: folder below @mount, or path from the hierarchy's root with or without
 *	leading slash. Of @v1: the same with the controller before it, "freezer:/slurm"
 * @d: gets the problem
 * @ret_path: path as in the trace
 * @size: size of @ret_path in bytes
 *
 * Return: 0, -ENOENT when there is no such cgroup, -EINVAL for one that leads out
 * of the tree or is of another v1 hierarchy, -ENAMETOOLONG.
 */
int cgroups_resolve(const char *mount, const struct cgroup1 *v1, const char *text, struct diag *d,
		    char *ret_path, size_t size);

#endif
