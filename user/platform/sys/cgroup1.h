/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The one v1 hierarchy, if any, whose cgroups stand in for those of the v2 tree: where job managers
 * use v1 controllers only, the v2 tree says "/" for all their tasks.
 */
#ifndef PLATFORM_SYS_CGROUP1_H
#define PLATFORM_SYS_CGROUP1_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/diag.h"

#define CGROUP1_NAME_LEN 16

/**
 * struct cgroup1 - the chosen hierarchy
 * @controller: as the kernel calls it, "freezer"; "" for none
 * @number: of the controller in ids of cgroups, see TRACE_HIERARCHY_SHIFT; 0 for none
 * @mount: folder of its hierarchy; "" when its root is mounted nowhere
 */
struct cgroup1 {
	char controller[CGROUP1_NAME_LEN];
	uint32_t number;
	char mount[PATH_MAX];
};

/**
 * cgroup1_number() - number of a controller in ids of cgroups
 *
 * The same on every machine, whatever its kernel's own numbers are.
 *
 * Return: 1 to 15, 0 for any other name.
 */
uint32_t cgroup1_number(const char *controller);

/** cgroup1_is_wanted() - may cgroup1_choose() be asked for this: "none", "auto" or a controller? */
bool cgroup1_is_wanted(const char *text);

/** cgroup1_id() - id in the trace of a cgroup of the hierarchy; @kernel_id: its inode number */
uint64_t cgroup1_id(const struct cgroup1 *c, uint64_t kernel_id);

/**
 * cgroup1_path() - path in the trace of a cgroup of the hierarchy
 * @path: from its root, "/slurm"
 * @ret, @size: gets "freezer:/slurm"
 *
 * Return: 0 or -ENAMETOOLONG.
 */
int cgroup1_path(const struct cgroup1 *c, const char *path, char *ret, size_t size);

/** cgroup1_below() - the reverse, a part of @path; NULL for another tree or when none is chosen */
const char *cgroup1_below(const struct cgroup1 *c, const char *path);

/**
 * cgroup1_choose() - choose one
 * @wanted: "none", a controller, or "auto": one that only job and container managers use, see below
 * @mountinfo: "/proc/self/mountinfo", or a file like it
 * @d: gets the problem
 * @ret: the choice
 *
 * With "auto", freezer or cpuset as far as mounted as v1, because service managers leave these
 * alone: whatever is in there is a job or a container. The first of the two that has cgroups,
 * otherwise the first, as jobs may come. Without either: none if the v2 tree has cgroups, which
 * then tell more than their copies in other controllers; otherwise the first of memory, pids,
 * devices and cpu that has cgroups, else the first that is mounted.
 *
 * Return: 0, also with none chosen by "auto"; -ENOENT when @wanted is not mounted as v1, -EINVAL when it
 * is no controller, another negative errno.
 */
int cgroup1_choose(const char *wanted, const char *mountinfo, struct diag *d, struct cgroup1 *ret);

#endif
