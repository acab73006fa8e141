// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "engine/session/resctrl_groups.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/sums.h"
#include "base/text.h"

/* A group and the cgroup of its tasks, "" if there is none. @f: its counts; no row yet. */
struct counted_group {
	struct report_resctrl f;
	char *cgroup;
	uint32_t above;
};

struct counted_list {
	struct counted_group *items;
	size_t nr, cap;
};

struct resctrl_groups {
	bool sums;
	struct counted_list waiting;  /* of the interval that goes on */
	struct counted_list interval; /* of the interval that was closed last */
	struct counted_list all;
};

int resctrl_groups_new(bool sums, struct resctrl_groups **ret)
{
	struct resctrl_groups *r = calloc(1, sizeof(*r));

	if (!r)
		return -ENOMEM;
	r->sums = sums;
	*ret = r;
	return 0;
}

static void clear(struct counted_list *l)
{
	for (size_t i = 0; i < l->nr; i++)
		free(l->items[i].cgroup);
	l->nr = 0;
}

static void release(struct counted_list *l)
{
	clear(l);
	free(l->items);
}

void resctrl_groups_free(struct resctrl_groups *r)
{
	if (!r)
		return;
	release(&r->waiting);
	release(&r->interval);
	release(&r->all);
	free(r);
}

/* Room for one more, which has this cgroup. */
static struct counted_group *append(struct counted_list *l, const char *cgroup)
{
	struct counted_group *new;

	if (array_reserve(l->items, l->cap, l->nr))
		return NULL;
	new = &l->items[l->nr];
	*new = (struct counted_group){ .cgroup = strdup(cgroup) };
	if (!new->cgroup)
		return NULL;
	l->nr++;
	return new;
}

int resctrl_groups_add(struct resctrl_groups *r, const struct trace_resctrl *t)
{
	enum resctrl_state state = resctrl_state_find(t->state);
	struct counted_group *new;

	if (state == NR_RESCTRL_STATES || !t->group[0] || t->end_ns < t->start_ns ||
	    t->missing > t->domains || (state != RESCTRL_VALID && t->bytes))
		return -EINVAL;
	new = append(&r->waiting, t->cgroup ? t->cgroup : "");
	if (!new)
		return -ENOMEM;
	new->above = t->above;
	new->f = (struct report_resctrl){
		.tasks = t->tasks,
		.of_tasks = t->of_tasks,
		.state = state,
		.bytes = t->bytes,
		.ns = t->end_ns - t->start_ns,
		.domains = t->domains,
		.missing = t->missing,
		.intervals = 1,
		.without = state != RESCTRL_VALID,
	};
	str_copy(new->f.group, sizeof(new->f.group), t->group);
	return 0;
}

/* Adds a later count to an earlier one of the same group. */
static void join(struct report_resctrl *to, const struct report_resctrl *from)
{
	bool back = to->state == RESCTRL_BACKWARD || from->state == RESCTRL_BACKWARD;

	if (from->state == RESCTRL_VALID) {
		if (to->state != RESCTRL_VALID)
			to->bytes = to->ns = to->missing = 0;
		to->bytes = sum_capped(to->bytes, from->bytes);
		to->ns = sum_capped(to->ns, from->ns);
		to->missing = from->missing > to->missing ? from->missing : to->missing;
	}
	if (back)
		to->state = RESCTRL_BACKWARD;
	else if (to->state != RESCTRL_VALID)
		to->state = from->state;
	if (from->tasks) {
		to->tasks = from->tasks;
		to->of_tasks = from->of_tasks;
	}
	to->domains = from->domains > to->domains ? from->domains : to->domains;
	to->intervals += from->intervals;
	to->without += from->without;
}

/*
 * The sum that a group's counts are added to: the one at its tasks' cgroup. A group whose tasks
 * have ended stays in its sum; one that had no tasks yet moves to the cgroup of its tasks.
 */
static struct counted_group *find_sum(struct counted_list *l, const struct counted_group *from)
{
	struct counted_group *last = NULL, *idle = NULL;

	for (size_t i = 0; i < l->nr; i++) {
		struct counted_group *to = &l->items[i];

		if (strcmp(to->f.group, from->f.group) != 0)
			continue;
		if (!strcmp(to->cgroup, from->cgroup))
			return to;
		last = to;
		idle = to->f.tasks ? idle : to;
	}
	return from->f.tasks ? idle : last;
}

static int add_to_all(struct resctrl_groups *r, const struct counted_group *from)
{
	struct counted_group *to = find_sum(&r->all, from);
	char *cgroup;

	if (!to) {
		to = append(&r->all, from->cgroup);
		if (!to)
			return -ENOMEM;
		to->f = from->f;
		to->above = from->above;
		return 0;
	}
	join(&to->f, &from->f);
	if (!from->f.tasks)
		return 0;
	cgroup = strdup(from->cgroup);
	if (!cgroup)
		return -ENOMEM;
	free(to->cgroup);
	to->cgroup = cgroup;
	to->above = from->above;
	return 0;
}

int resctrl_groups_close(struct resctrl_groups *r)
{
	struct counted_list closed = r->interval;
	int err = 0;

	clear(&closed);
	r->interval = r->waiting;
	r->waiting = closed;
	for (size_t i = 0; i < r->interval.nr && r->sums && !err; i++)
		err = add_to_all(r, &r->interval.items[i]);
	return err;
}

/* --- the owner */

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

/* How many cgroups @above is above @path; -1 if it is not. */
static int levels_to(const char *path, const char *above)
{
	size_t length = strlen(above);
	int levels = 0;

	if (strncmp(path, above, length) != 0 || (path[length] && path[length] != '/'))
		return -1;
	for (path += length; *path; path++)
		levels += *path == '/';
	return levels;
}

/* The deepest row that has all tasks of a group; a row with more tasks only if it is its own. */
static const struct report_row *row_by_tasks(const struct counted_group *g, const struct report *r,
					     struct report_resctrl *f)
{
	const struct report_row *best = NULL;

	for (size_t i = 0; i < r->nr_rows && g->cgroup[0]; i++) {
		const struct report_row *row = &r->rows[i];
		int levels = may_have_group(row) ? levels_to(g->cgroup, row->cgroup) : -1;

		if (levels < 0 || (uint32_t)levels > g->above ||
		    (best && strlen(row->cgroup) <= strlen(best->cgroup)))
			continue;
		best = row;
		f->of_tasks = levels ? g->f.tasks : g->f.of_tasks;
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

static void match(const struct counted_group *g, const struct report *r, struct report_resctrl *f)
{
	const struct report_row *row;

	*f = g->f;
	f->of_tasks = 0;
	row = row_by_tasks(g, r, f);
	f->match = row ? RESCTRL_BY_TASKS : RESCTRL_BY_NONE;
	if (!row && !f->tasks) {
		row = row_by_name(r, last_part(f->group));
		f->match = row ? RESCTRL_BY_NAME : RESCTRL_BY_NONE;
	}
	if (row)
		str_copy(f->row, sizeof(f->row), row->key);
}

/* The same group in the same row; its tasks were in other cgroups below the row before. */
static struct report_resctrl *same_place(const struct report *r, const struct report_resctrl *f)
{
	for (size_t i = 0; i < r->nr_resctrl; i++)
		if (!strcmp(r->resctrl[i].group, f->group) && !strcmp(r->resctrl[i].row, f->row))
			return &r->resctrl[i];
	return NULL;
}

int resctrl_groups_report(const struct resctrl_groups *r, bool all, struct report *ret)
{
	const struct counted_list *l = all ? &r->all : &r->interval;

	if ((ret->by != ROW_CGROUP && ret->by != ROW_JOB) || !l->nr)
		return 0;
	ret->resctrl = calloc(l->nr, sizeof(*ret->resctrl));
	if (!ret->resctrl)
		return -ENOMEM;
	for (size_t i = 0; i < l->nr; i++) {
		struct report_resctrl f, *same;

		match(&l->items[i], ret, &f);
		same = same_place(ret, &f);
		if (same)
			join(same, &f);
		else
			ret->resctrl[ret->nr_resctrl++] = f;
	}
	return 0;
}
