/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Cgroups of a live run: where their trees are, which were selected, and their names. */
#ifndef LIVE_LOOKUP_LIVE_CGROUPS_H
#define LIVE_LOOKUP_LIVE_CGROUPS_H

#include "base/diag.h"
#include "run_options.h"
#include "platform/sys/cgroup1.h"
#include "trace.h"

/**
 * struct live_cgroups - the trees that tasks of this run can be in
 * @mount: of the v2 tree, "" for none with its root
 * @v1: the hierarchy that stands in for it, if any
 * @selected, @nr_selected: paths as in the trace
 * @note: a note for users, "" for none
 * @cut, @unknown, @walk_ns, @unknown_ns, @pause_ns: of live_cgroups_find()
 * @look_ns: of live_cgroups_look()
 */
struct live_cgroups {
	char mount[PATH_MAX];
	struct cgroup1 v1;
	char **selected;
	size_t nr_selected;
	char note[512];
	bool cut;
	bool unknown;
	uint64_t walk_ns, unknown_ns, pause_ns;
	uint64_t look_ns;
};

/**
 * live_cgroups_open() - find the trees and what the user selected
 * @args: the user's options
 * @d: gets the problem
 * @ret: release with live_cgroups_release(), also after an error
 *
 * Paths in the trace begin at the root of a tree. Where only a branch is mounted, as in the cgroup
 * namespace of a container, names below it would be wrong, and cgroups outside would seem to be
 * gone: then the tree is not used, and names come from the kernel's records alone.
 *
 * Without a v2 tree there are no names, which is an error only when some were requested.
 *
 * Return: 0 or a negative errno.
 */
int live_cgroups_open(const struct run_options *args, struct diag *d, struct live_cgroups *ret);
void live_cgroups_release(struct live_cgroups *c);

/**
 * live_cgroups_walk() - report all existing cgroups
 * @c: the trees
 * @out: its function cgroup() is called, parents first
 *
 * Return: 0 or the first error of @out; trees that cannot be read are no error.
 */
int live_cgroups_walk(const struct live_cgroups *c, const struct trace_sink *out);

/**
 * struct live_cgroups_news - why names may be missing; since the last call
 * @lost: records were lost
 * @cut: the path of a new cgroup did not fit into its record
 * @unknown: a task is in a cgroup without a name
 */
struct live_cgroups_news {
	bool lost;
	bool cut;
	bool unknown;
};

/**
 * live_cgroups_find() - read names missing in the records, at a limited rate
 * @c: the trees
 * @news: reasons for missing names
 * @now_ns: CLOCK_MONOTONIC
 * @out: as in live_cgroups_walk()
 *
 * At once when records were lost, and at most 10 s after the last time for a path that was cut, as
 * it can be read. Cgroups outside of our namespace never get a name: the pauses between readings
 * for them grow to a minute. After a minute without them they start again.
 *
 * Return: as live_cgroups_walk().
 */
int live_cgroups_find(struct live_cgroups *c, const struct live_cgroups_news *news, uint64_t now_ns,
		      const struct trace_sink *out);

/**
 * live_cgroups_folder() - folder of a cgroup
 * @path: as in the trace
 * @ret, @size: gets the folder
 *
 * Return: 0, -ENOENT when its tree is not mounted, -ENAMETOOLONG.
 */
int live_cgroups_folder(const struct live_cgroups *c, const char *path, char *ret, size_t size);

/**
 * live_cgroups_look() - is it time to call live_cgroups_gone() for all cgroups?
 * @c: the trees
 * @lost: records were lost since the last call
 * @now_ns: CLOCK_MONOTONIC
 *
 * At once when records were lost, and a minute after the last time or the first call: the record of
 * a removal may be missing without being counted.
 */
bool live_cgroups_look(struct live_cgroups *c, bool lost, uint64_t now_ns);

/**
 * live_cgroups_gone() - has a cgroup certainly been removed?
 * @c: the trees
 * @id, @path: as in the trace
 *
 * A new one with the same path does not count, and if the whole tree is gone, no cgroup is.
 */
bool live_cgroups_gone(const struct live_cgroups *c, uint64_t id, const char *path);

#endif
