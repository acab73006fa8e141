// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "engine/session/referees.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/sums.h"
#include "base/text.h"

/* A group and the cgroup of its tasks, "" if there is none. @f: its counts; no row yet. */
struct referee {
	struct report_referee f;
	char *cgroup;
	uint32_t above;
};

struct referee_list {
	struct referee *items;
	size_t nr, cap;
};

struct referees {
	bool sums;
	struct referee_list waiting;  /* of the interval that goes on */
	struct referee_list interval; /* of the last one that was closed */
	struct referee_list all;
};

int referees_new(bool sums, struct referees **ret)
{
	struct referees *r = calloc(1, sizeof(*r));

	if (!r)
		return -ENOMEM;
	r->sums = sums;
	*ret = r;
	return 0;
}

static void clear(struct referee_list *l)
{
	for (size_t i = 0; i < l->nr; i++)
		free(l->items[i].cgroup);
	l->nr = 0;
}

static void release(struct referee_list *l)
{
	clear(l);
	free(l->items);
}

void referees_free(struct referees *r)
{
	if (!r)
		return;
	release(&r->waiting);
	release(&r->interval);
	release(&r->all);
	free(r);
}

/* Room for one more, which has this cgroup. */
static struct referee *append(struct referee_list *l, const char *cgroup)
{
	struct referee *new;

	if (array_room(l->items, l->cap, l->nr))
		return NULL;
	new = &l->items[l->nr];
	*new = (struct referee){ .cgroup = strdup(cgroup) };
	if (!new->cgroup)
		return NULL;
	l->nr++;
	return new;
}

int referees_add(struct referees *r, const struct trace_referee *t)
{
	enum referee_state state = referee_state_find(t->state);
	struct referee *new;

	if (state == NR_REFEREE_STATES || !t->group[0] || t->end_ns < t->start_ns ||
	    t->missing > t->domains || (state != REFEREE_VALID && t->bytes))
		return -EINVAL;
	new = append(&r->waiting, t->cgroup ? t->cgroup : "");
	if (!new)
		return -ENOMEM;
	new->above = t->above;
	new->f = (struct report_referee){
		.tasks = t->tasks,
		.of_tasks = t->of_tasks,
		.state = state,
		.bytes = t->bytes,
		.ns = t->end_ns - t->start_ns,
		.domains = t->domains,
		.missing = t->missing,
		.intervals = 1,
		.without = state != REFEREE_VALID,
	};
	str_copy(new->f.group, sizeof(new->f.group), t->group);
	return 0;
}

/* Adds a later count to an earlier one of the same group. */
static void join(struct report_referee *to, const struct report_referee *from)
{
	bool back = to->state == REFEREE_BACKWARD || from->state == REFEREE_BACKWARD;

	if (from->state == REFEREE_VALID) {
		if (to->state != REFEREE_VALID)
			to->bytes = to->ns = to->missing = 0;
		to->bytes = sum_capped(to->bytes, from->bytes);
		to->ns = sum_capped(to->ns, from->ns);
		to->missing = from->missing > to->missing ? from->missing : to->missing;
	}
	if (back)
		to->state = REFEREE_BACKWARD;
	else if (to->state != REFEREE_VALID)
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
 * What a group is added to: what it had where its tasks are. One whose tasks have ended stays where
 * it was; one that had none yet is where they are now.
 */
static struct referee *find_sum(struct referee_list *l, const struct referee *from)
{
	struct referee *last = NULL, *idle = NULL;

	for (size_t i = 0; i < l->nr; i++) {
		struct referee *to = &l->items[i];

		if (strcmp(to->f.group, from->f.group) != 0)
			continue;
		if (!strcmp(to->cgroup, from->cgroup))
			return to;
		last = to;
		idle = to->f.tasks ? idle : to;
	}
	return from->f.tasks ? idle : last;
}

static int add_to_all(struct referees *r, const struct referee *from)
{
	struct referee *to = find_sum(&r->all, from);
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

int referees_close(struct referees *r)
{
	struct referee_list closed = r->interval;
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
static const struct report_row *row_by_tasks(const struct referee *g, const struct report *r,
					     struct report_referee *f)
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

static void match(const struct referee *g, const struct report *r, struct report_referee *f)
{
	const struct report_row *row;

	*f = g->f;
	f->of_tasks = 0;
	row = row_by_tasks(g, r, f);
	f->match = row ? REFEREE_BY_TASKS : REFEREE_BY_NONE;
	if (!row && !f->tasks) {
		row = row_by_name(r, last_part(f->group));
		f->match = row ? REFEREE_BY_NAME : REFEREE_BY_NONE;
	}
	if (row)
		str_copy(f->row, sizeof(f->row), row->key);
}

/* The same group in the same row, whose tasks were in other cgroups below it before. */
static struct report_referee *same_place(const struct report *r, const struct report_referee *f)
{
	for (size_t i = 0; i < r->nr_referees; i++)
		if (!strcmp(r->referees[i].group, f->group) && !strcmp(r->referees[i].row, f->row))
			return &r->referees[i];
	return NULL;
}

int referees_report(const struct referees *r, bool all, struct report *ret)
{
	const struct referee_list *l = all ? &r->all : &r->interval;

	if ((ret->by != ROW_CGROUP && ret->by != ROW_JOB) || !l->nr)
		return 0;
	ret->referees = calloc(l->nr, sizeof(*ret->referees));
	if (!ret->referees)
		return -ENOMEM;
	for (size_t i = 0; i < l->nr; i++) {
		struct report_referee f, *same;

		match(&l->items[i], ret, &f);
		same = same_place(ret, &f);
		if (same)
			join(same, &f);
		else
			ret->referees[ret->nr_referees++] = f;
	}
	return 0;
}
