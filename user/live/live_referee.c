// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "live/live_referee.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/text.h"
#include "platform/sys/sysfs.h"

int live_referee_begin(struct live_referee *l)
{
	int err = l->root ? resctrl_read(l->root, &l->first) : 0;

	if (err)
		l->root = NULL;
	return err == -ENOMEM ? err : 0;
}

static const char *last_part(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

/* A row for the tasks directly in a cgroup is no place for a group. */
static bool may_have_group(const struct report_row *row)
{
	size_t length = strlen(row->key);

	return row->cgroup && row->cgroup[0] == '/' && row->cgroup[1] &&
	       (length < 4 || strcmp(row->key + length - 4, ":own") != 0);
}

/* Threads in a cgroup and below it, one by one. */
static uint64_t threads_below(int folder)
{
	cleanup_close int list = openat(folder, "cgroup.threads", O_RDONLY | O_CLOEXEC);
	int again = openat(folder, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	cleanup_closedir DIR *dir = again < 0 ? NULL : fdopendir(again);
	char part[4096];
	struct dirent *e;
	uint64_t nr = 0;
	ssize_t len;

	while (list >= 0 && (len = read(list, part, sizeof(part))) > 0)
		for (ssize_t i = 0; i < len; i++)
			nr += part[i] == '\n';
	while (dir && (e = readdir(dir))) {
		cleanup_close int below = -1;

		if (e->d_type != DT_DIR || e->d_name[0] == '.')
			continue;
		below = openat(folder, e->d_name, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
		if (below >= 0)
			nr += threads_below(below);
	}
	return nr;
}

/*
 * Tasks below a cgroup; 0 when the kernel does not tell. Without the pids controller, such as beside
 * v1 hierarchies, they are counted.
 */
static uint32_t tasks_below(const struct live_referee *l, const char *cgroup)
{
	char path[PATH_MAX], line[32];
	cleanup_close int folder = -1;
	uint64_t nr = 0;

	if (!l->cgroups[0] ||
	    snprintf(path, sizeof(path), "%s%s", l->cgroups, cgroup) >= (int)sizeof(path))
		return 0;
	folder = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (folder < 0)
		return 0;
	if (read_line_at(folder, "pids.current", line, sizeof(line)) || parse_u64(line, &nr))
		nr = threads_below(folder);
	return nr > UINT32_MAX ? 0 : (uint32_t)nr;
}

static bool is_below(const char *path, const char *above)
{
	size_t length = strlen(above);

	return !strncmp(path, above, length) && (!path[length] || path[length] == '/');
}

/* The deepest row that has all tasks of a group; of those that have others too, only its own. */
static const struct report_row *row_by_tasks(const struct live_referee *l, const struct report *r,
					     const char *cgroup, struct report_referee *f)
{
	const struct report_row *best = NULL;

	for (size_t i = 0; i < r->nr_rows; i++) {
		const struct report_row *row = &r->rows[i];
		uint32_t all;

		if (!may_have_group(row) || !is_below(cgroup, row->cgroup) ||
		    (best && strlen(row->cgroup) <= strlen(best->cgroup)))
			continue;
		all = tasks_below(l, row->cgroup);
		if (strcmp(cgroup, row->cgroup) != 0 && all != f->tasks)
			continue;
		best = row;
		f->of_tasks = all;
	}
	return best;
}

static const struct report_row *row_by_name(const struct report *r, const char *name)
{
	for (size_t i = 0; name[0] && i < r->nr_rows; i++) {
		const struct report_row *row = &r->rows[i];

		if (may_have_group(row) && !row->parent[0] && row->job &&
		    !strcmp(row->job->id, name))
			return row;
		if (may_have_group(row) && !strcmp(last_part(row->cgroup), name))
			return row;
	}
	return NULL;
}

static void match(const struct live_referee *l, const struct report *r, struct report_referee *f)
{
	const struct report_row *row;
	char cgroup[PATH_MAX];

	f->tasks = resctrl_tasks(l->root, f->group, l->proc, cgroup, sizeof(cgroup));
	row = cgroup[0] ? row_by_tasks(l, r, cgroup, f) : NULL;
	f->match = row ? REFEREE_BY_TASKS : REFEREE_BY_NONE;
	if (!row && !f->tasks) {
		row = row_by_name(r, last_part(f->group));
		f->match = row ? REFEREE_BY_NAME : REFEREE_BY_NONE;
	}
	if (row)
		str_copy(f->row, sizeof(f->row), row->key);
}

static int add_all(const struct live_referee *l, const struct resctrl_reading *from,
		   const struct resctrl_reading *to, struct report *r)
{
	r->referees = calloc(to->nr + 1, sizeof(*r->referees));
	if (!r->referees)
		return -ENOMEM;
	for (size_t i = 0; i < to->nr; i++) {
		const struct resctrl_group *g = &to->groups[i];
		struct report_referee *f = &r->referees[r->nr_referees];

		/* what nobody gave a group to is no workload */
		if (!g->path[0])
			continue;
		resctrl_since(resctrl_find(from, g->path), g, f);
		match(l, r, f);
		r->nr_referees++;
	}
	return 0;
}

int live_referee_report(struct live_referee *l, struct report *r)
{
	/* A reading has at least the default group. */
	const struct resctrl_reading *before = l->last.nr ? &l->last : &l->first;
	struct resctrl_reading now;
	int err;

	if (!l->root || (r->by != ROW_CGROUP && r->by != ROW_JOB))
		return 0;
	if (r->summary)
		return add_all(l, &l->first, &l->last, r);
	err = resctrl_read(l->root, &now);
	/* unmounted meanwhile: there is nothing to show */
	if (err)
		return err == -ENOMEM ? err : 0;
	resctrl_follow(before, &now);
	err = add_all(l, before, &now, r);
	resctrl_free(&l->last);
	l->last = now;
	return err;
}

void live_referee_free(struct live_referee *l)
{
	resctrl_free(&l->first);
	resctrl_free(&l->last);
}
