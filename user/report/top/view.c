// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "report/top/view.h"

#include <assert.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define HASH_NONFATAL_OOM 1
#include <uthash.h>

#include "base/array.h"
#include "base/cleanup.h"
#include "report/chains.h"
#include "report/devices.h"
#include "report/format.h"
#include "report/names.h"

/* Rows with less than a thousandth of the time on CPUs count as idle. */
#define QUIET_PART 1000
#define MAX_DEPTH  64

void view_init(struct view *v, struct past *past)
{
	*v = (struct view){
		.past = past,
		.follow = true,
		.stale = true,
		.recording = "",
		.tree = true,
	};
}

static void release_report(struct view *v)
{
	row_tree_free(v->tree_of);
	past_report_free(v->report);
	v->tree_of = NULL;
	v->report = NULL;
	v->nr_items = v->nr_lines = 0;
}

void view_free(struct view *v)
{
	release_report(v);
	past_free(v->whole);
	metrics_past_forget(&v->metrics);
	text_list_free(&v->folded);
	free(v->selected_key);
	free(v->neighbours);
	free(v->items);
	free(v->lines);
}

/* --- choice of the interval */

int view_add(struct view *v, const struct report *r)
{
	int err;

	/* It has names of rows that may be dropped. */
	release_report(v);
	v->stale = true;
	err = past_add(v->past, r);
	if (!err && v->return_ns && r->end_ns >= v->return_ns) {
		v->number = past_when(v->past, past_count(v->past) - 1).number;
		v->follow = false;
		v->return_ns = 0;
	}
	return err;
}

int view_add_metrics(struct view *v, struct stat_report *r)
{
	return metrics_past_add(&v->metrics, past_when(v->past, past_count(v->past) - 1).number, r);
}

int view_add_whole(struct view *v, const struct report *r)
{
	release_report(v);
	v->stale = true;
	past_free(v->whole);
	/* One interval is kept, however large it is. */
	v->whole = past_new(0);
	return v->whole ? past_add(v->whole, r) : -ENOMEM;
}

bool view_is_whole(const struct view *v)
{
	return v->at_whole && v->whole;
}

void view_clear(struct view *v)
{
	release_report(v);
	past_forget(v->past);
	past_free(v->whole);
	v->whole = NULL;
	metrics_past_forget(&v->metrics);
	v->return_ns = 0;
	v->follow = true;
	v->paused = v->playing = false;
	v->stale = true;
}

void view_reread(struct view *v)
{
	uint64_t end_ns = 0;

	if (past_count(v->past) && !v->follow && !view_is_whole(v))
		end_ns = past_when(v->past, view_index(v)).end_ns;
	view_clear(v);
	v->return_ns = end_ns;
}

size_t view_index(const struct view *v)
{
	return v->follow ? past_count(v->past) - 1 : past_find(v->past, v->number);
}

void view_go(struct view *v, long steps)
{
	size_t count = past_count(v->past), at;

	v->return_ns = 0;
	if (!count)
		return;
	v->stale = true;
	at = view_index(v);
	if (view_is_whole(v)) {
		if (steps <= 0)
			return;
		/* In front of the oldest one */
		at = 0;
		steps--;
	} else if (steps < 0 && !at && v->whole) {
		v->at_whole = true;
		v->follow = false;
		return;
	}
	v->at_whole = false;
	if (steps > 0 && (size_t)steps >= count - 1 - at) {
		/* A pause ends by its key, or by going to the end. */
		v->follow = !v->paused;
		at = count - 1;
	} else {
		v->follow = false;
		at = steps < 0 && (size_t)-steps > at ? 0 : at + (size_t)steps;
	}
	v->number = past_when(v->past, at).number;
}

void view_play(struct view *v)
{
	size_t count = past_count(v->past);

	v->playing = !v->playing && count > 1;
	if (!v->playing || view_is_whole(v) || view_index(v) + 1 < count)
		return;
	v->follow = v->paused = false;
	v->number = past_when(v->past, 0).number;
	v->stale = true;
}

void view_play_on(struct view *v)
{
	view_go(v, 1);
	v->playing = view_index(v) + 1 < past_count(v->past);
}

/* --- items */

static int add_item(struct view *v, struct view_item item)
{
	if (array_reserve(v->items, v->cap_items, v->nr_items))
		return -ENOMEM;
	item.child = item.next = VIEW_NO_ITEM;
	v->items[v->nr_items++] = item;
	return 0;
}

/* A synthetic cgroup, found by its path */
struct made_group {
	const char *path;
	size_t item;
	UT_hash_handle hh;
};

static void free_groups(struct made_group *groups)
{
	struct made_group *g, *next;

	HASH_ITER (hh, groups, g, next) {
		HASH_DEL(groups, g);
		free(g);
	}
}

/* The length of the path that @len bytes of @path are in; 0 for the root's child */
static size_t parent_length(const char *path, size_t len)
{
	while (len > 0 && path[len - 1] != '/')
		len--;
	return len > 1 ? len - 1 : len;
}

/* The item of a cgroup and, if it is new, those above it. */
static int find_group(struct view *v, struct made_group **groups, const char *path, size_t len,
		      int depth, size_t *ret)
{
	struct made_group *g;
	size_t above = VIEW_NO_ITEM;
	int err = 0;

	HASH_FIND(hh, *groups, path, len, g);
	if (g) {
		*ret = g->item;
		return 0;
	}
	if (len > 1 && depth < MAX_DEPTH)
		err = find_group(v, groups, path, parent_length(path, len), depth + 1, &above);
	g = err ? NULL : calloc(1, sizeof(*g));
	if (!g)
		return -ENOMEM;
	g->path = path;
	g->item = v->nr_items;
	err = add_item(v, (struct view_item){ .path = path, .path_len = len, .parent = above });
	if (!err)
		HASH_ADD_KEYPTR(hh, *groups, path, len, g);
	if (err || !g->hh.tbl) {
		free(g);
		return -ENOMEM;
	}
	*ret = g->item;
	return 0;
}

static void add_up(struct view_item *to, const struct view_item *from)
{
	amounts_add(&to->amounts, &from->amounts);
	to->sockets |= from->sockets;
}

/* Processes and threads know their cgroups, which form the tree above them. */
static int group_by_cgroup(struct view *v)
{
	size_t rows = v->nr_items, group;
	struct made_group *groups = NULL;
	int err = 0;

	for (size_t i = 0; i < rows && !err; i++) {
		const char *path = v->items[i].row->cgroup;

		if (!path || path[0] != '/')
			continue;
		err = find_group(v, &groups, path, strlen(path), 0, &group);
		v->items[i].parent = err ? VIEW_NO_ITEM : group;
	}
	free_groups(groups);
	for (size_t i = 0; i < rows && !err; i++)
		for (size_t up = v->items[i].parent; up != VIEW_NO_ITEM; up = v->items[up].parent)
			add_up(&v->items[up], &v->items[i]);
	return err;
}

static bool is_native(const struct report *r)
{
	return r->by == ROW_CGROUP || r->by == ROW_JOB;
}

static uint64_t sockets_of(const struct view *v, const struct report_row *row)
{
	uint64_t sockets = 0;

	for (size_t i = 0; i < row->nr_shares; i++) {
		const struct counter *c = v->report->counters[row->shares[i].counter].counter;

		if (row->shares[i].value && c->unit == UNIT_BYTES && devices_task_counter(c))
			sockets |= 1ULL
				   << row_tree_socket(v->tree_of, report_socket_id(v->report, c));
	}
	return sockets;
}

static int make_items(struct view *v)
{
	const struct row_tree *t = v->tree_of;
	int err = 0;

	for (size_t i = 0; i < t->nr_nodes && !err; i++) {
		const struct row_node *node = &t->nodes[i];
		struct view_item item = {
			.row = node->row,
			.amounts = node->amounts,
			.sockets = sockets_of(v, node->row),
			.parent = VIEW_NO_ITEM,
		};

		/* Sums of other rows do not belong in a list. */
		if (!v->tree && !node->row->leaf)
			continue;
		if (v->tree && is_native(v->report) && node->parent->row)
			item.parent = (size_t)(node->parent - t->nodes);
		err = add_item(v, item);
	}
	return !err && v->tree && !is_native(v->report) ? group_by_cgroup(v) : err;
}

/* --- choice and order of rows */

static bool contains(const char *text, size_t max, const char *wanted)
{
	char copy[MODEL_NAME_LEN * 2];

	if (!text)
		return false;
	snprintf(copy, sizeof(copy), "%.*s", (int)(max < sizeof(copy) ? max : sizeof(copy)), text);
	return strcasestr(copy, wanted);
}

static bool matches(const struct view_item *i, const char *wanted)
{
	const struct report_row *r = i->row;
	char pid[16];

	if (!r)
		return strcasestr(i->path, wanted) && contains(i->path, i->path_len, wanted);
	snprintf(pid, sizeof(pid), "%u", r->kind == ROW_THREAD ? r->tid : r->pid);
	if ((r->kind == ROW_PROCESS || r->kind == ROW_THREAD) && strstr(pid, wanted))
		return true;
	return (r->comm_known && contains(r->comm, sizeof(r->comm), wanted)) ||
	       (r->cgroup && strcasestr(r->cgroup, wanted)) ||
	       (r->job && (contains(r->job->id, sizeof(r->job->id), wanted) ||
			   contains(r->job->name, sizeof(r->job->name), wanted) ||
			   contains(r->job->user, sizeof(r->job->user), wanted)));
}

static bool is_quiet(const struct view *v, const struct view_item *i)
{
	return !amounts_all(&i->amounts) &&
	       i->amounts.cpu_ns < report_duration_ns(v->report) / QUIET_PART;
}

/* A shown row shows its parents as well. */
static void choose(struct view *v)
{
	v->nr_quiet = 0;
	for (size_t i = 0; i < v->nr_items; i++) {
		struct view_item *item = &v->items[i];

		if (!item->row || !item->row->leaf) {
			/* Parents are shown for their children, or if requested. */
			if (!v->filter[0] || !matches(item, v->filter))
				continue;
		} else if (!v->all && is_quiet(v, item)) {
			v->nr_quiet++;
			continue;
		} else if (v->filter[0] && !matches(item, v->filter)) {
			continue;
		}
		for (size_t up = i; up != VIEW_NO_ITEM && !v->items[up].shown;
		     up = v->items[up].parent)
			v->items[up].shown = true;
	}
	for (size_t i = 0; i < v->nr_items; i++)
		for (size_t up = v->items[i].shown && v->items[i].row && v->items[i].row->leaf
					 ? v->items[i].parent
					 : VIEW_NO_ITEM;
		     up != VIEW_NO_ITEM; up = v->items[up].parent)
			v->items[up].nr_rows++;
}

static const char *key_of(const struct view_item *i, char ret[MODEL_NAME_LEN * 4])
{
	if (i->row && !rows_key_stays(i->row))
		snprintf(ret, MODEL_NAME_LEN * 4, "path:%s", i->row->cgroup);
	else if (i->row)
		/* A cgroup may have two rows: its own, and one for its direct tasks. */
		snprintf(ret, MODEL_NAME_LEN * 4, "%.*s", MODEL_KEY_LEN, i->row->key);
	else
		snprintf(ret, MODEL_NAME_LEN * 4, "made:%.*s", (int)i->path_len, i->path);
	return ret;
}

static size_t find_folded(const struct view *v, const struct view_item *i)
{
	char key[MODEL_NAME_LEN * 4];

	key_of(i, key);
	for (size_t k = 0; k < v->folded.nr; k++)
		if (!strcmp(v->folded.items[k], key))
			return k;
	return v->folded.nr;
}

/* Tasks have their own lines, and what does not repeat the numbers above, except of idle tasks. */
static bool stands_apart(const struct view *v, const struct view_item *i)
{
	const struct view_item *up = i->parent == VIEW_NO_ITEM ? NULL : &v->items[i->parent];

	/* Rows that the user has folded stay folded. */
	if (up && v->folded.nr && find_folded(v, up) < v->folded.nr)
		return true;
	if (!up || (i->row && (!is_native(v->report) || names_is_own(i->row))))
		return true;
	if (i->row && up->row && (up->row->leaf || up->row->exited != i->row->exited))
		return true;
	return amounts_all(&up->amounts) != amounts_all(&i->amounts) ||
	       up->amounts.cpu_ns > i->amounts.cpu_ns + report_duration_ns(v->report) / QUIET_PART;
}

static bool is_left_out(const struct view *v, const struct view_item *i)
{
	return !i->shown && is_quiet(v, i);
}

static_assert(CHAINS_NO_PARENT == VIEW_NO_ITEM, "parents of items are those of chains");

/* A row that would only repeat the numbers of the one below it has no line. */
static int join_chains(struct view *v)
{
	cleanup_free size_t *parents = calloc(v->nr_items + 1, sizeof(*parents));
	cleanup_free bool *apart = calloc(v->nr_items + 1, sizeof(*apart));
	cleanup_free bool *joined = calloc(v->nr_items + 1, sizeof(*joined));
	int err = parents && apart && joined ? 0 : -ENOMEM;

	for (size_t i = 0; i < v->nr_items && !err; i++) {
		parents[i] = is_left_out(v, &v->items[i]) ? CHAINS_NO_PARENT : v->items[i].parent;
		apart[i] = stands_apart(v, &v->items[i]);
	}
	if (!err)
		err = chains_join(parents, v->nr_items, apart, joined);
	for (size_t i = 0; i < v->nr_items && !err; i++) {
		if (!is_left_out(v, &v->items[i]))
			v->items[i].parent = parents[i];
		v->items[i].shown &= !joined[i];
	}
	return err;
}

static int compare_names(const struct view_item *a, const struct view_item *b)
{
	const char *x = a->path, *y = b->path;

	if (a->row && b->row && (a->row->kind == ROW_PROCESS || a->row->kind == ROW_THREAD))
		return strncmp(a->row->comm, b->row->comm, sizeof(a->row->comm));
	x = a->row && a->row->cgroup ? a->row->cgroup : x ? x : "";
	y = b->row && b->row->cgroup ? b->row->cgroup : y ? y : "";
	return strcmp(x, y);
}

static uint64_t sorted_by(const struct view_item *i, enum view_sort sort)
{
	switch (sort) {
	case VIEW_BY_READS:
		return i->amounts.bytes[DIRECTION_READ];
	case VIEW_BY_WRITES:
		return i->amounts.bytes[DIRECTION_WRITE];
	case VIEW_BY_CPU:
		return i->amounts.cpu_ns;
	case VIEW_BY_MOST:
		return i->amounts.high;
	default:
		return amounts_all(&i->amounts);
	}
}

static int compare_items(const void *a, const void *b, void *arg)
{
	const struct view *v = arg;
	size_t left = *(const size_t *)a, right = *(const size_t *)b;
	const struct view_item *x = &v->items[left], *y = &v->items[right];
	int order = v->sort == VIEW_BY_NAME ? compare_names(x, y)
					    : ORDER(sorted_by(y, v->sort), sorted_by(x, v->sort));

	if (v->reverse)
		order = -order;
	if (!order)
		order = ORDER(amounts_all(&y->amounts), amounts_all(&x->amounts));
	if (!order)
		order = ORDER(y->amounts.cpu_ns, x->amounts.cpu_ns);
	return order ? order : ORDER(left, right);
}

/* From top to bottom, without folded rows. */
static void flatten(struct view *v, size_t first)
{
	size_t i = first;
	int depth = 0;

	while (i != VIEW_NO_ITEM) {
		struct view_item *item = &v->items[i];

		item->depth = depth;
		v->lines[v->nr_lines++] = i;
		item->folded = item->child != VIEW_NO_ITEM && v->folded.nr &&
			       find_folded(v, item) < v->folded.nr;
		if (item->child != VIEW_NO_ITEM && !item->folded) {
			i = item->child;
			depth++;
			continue;
		}
		while (i != VIEW_NO_ITEM && v->items[i].next == VIEW_NO_ITEM) {
			i = v->items[i].parent;
			depth--;
		}
		if (i != VIEW_NO_ITEM)
			i = v->items[i].next;
	}
}

static int make_lines(struct view *v)
{
	cleanup_free size_t *sorted = calloc(v->nr_items + 1, sizeof(*sorted));
	size_t *lines = reallocarray(v->lines, v->nr_items + 1, sizeof(*lines));
	size_t first = VIEW_NO_ITEM;

	if (lines)
		v->lines = lines;
	if (!lines || !sorted)
		return -ENOMEM;
	for (size_t i = 0; i < v->nr_items; i++)
		sorted[i] = i;
	qsort_r(sorted, v->nr_items, sizeof(*sorted), compare_items, v);
	for (size_t i = v->nr_items; i > 0; i--) {
		struct view_item *item = &v->items[sorted[i - 1]];
		size_t *list =
			item->parent == VIEW_NO_ITEM ? &first : &v->items[item->parent].child;

		if (!item->shown)
			continue;
		item->next = *list;
		*list = sorted[i - 1];
	}
	v->nr_lines = 0;
	flatten(v, first);
	return 0;
}

/* --- the user's position */

struct view_item *view_item_at(const struct view *v, size_t line)
{
	return line < v->nr_lines ? &v->items[v->lines[line]] : NULL;
}

void view_select(struct view *v, size_t line)
{
	char key[MODEL_NAME_LEN * 4];

	v->selected = line < v->nr_lines ? line : v->nr_lines ? v->nr_lines - 1 : 0;
	free(v->selected_key);
	v->selected_key = v->nr_lines ? strdup(key_of(view_item_at(v, v->selected), key)) : NULL;
}

/* The same row, wherever it is now; if it is gone, the same line. */
static void select_again(struct view *v)
{
	char key[MODEL_NAME_LEN * 4];

	for (size_t i = 0; v->selected_key && i < v->nr_lines; i++)
		if (!strcmp(key_of(view_item_at(v, i), key), v->selected_key)) {
			v->selected = i;
			return;
		}
	if (v->selected >= v->nr_lines)
		v->selected = v->nr_lines ? v->nr_lines - 1 : 0;
}

void view_fold(struct view *v, bool fold)
{
	struct view_item *i = view_item_at(v, v->selected);
	char key[MODEL_NAME_LEN * 4];
	size_t at;

	/* Folding a row without children acts on its parent. */
	if (i && i->child == VIEW_NO_ITEM && fold && i->parent != VIEW_NO_ITEM)
		i = &v->items[i->parent];
	if (!i || i->child == VIEW_NO_ITEM)
		return;
	at = find_folded(v, i);
	if (at < v->folded.nr && !fold) {
		free(v->folded.items[at]);
		v->folded.items[at] = v->folded.items[--v->folded.nr];
	} else if (at == v->folded.nr && fold) {
		/* Without memory it stays open. */
		if (text_list_add(&v->folded, key_of(i, key)))
			return;
		free(v->selected_key);
		v->selected_key = strdup(key);
	}
	v->stale = true;
}

int view_update(struct view *v)
{
	int err;

	if (!v->stale)
		return 0;
	release_report(v);
	if (!past_count(v->past))
		return 0;
	err = view_is_whole(v) ? past_report(v->whole, 0, &v->report)
			       : past_report(v->past, view_index(v), &v->report);
	if (!err)
		err = row_tree_new(v->report, 0, false, &v->tree_of);
	if (!err)
		err = make_items(v);
	if (!err) {
		choose(v);
		err = join_chains(v);
	}
	if (!err)
		err = make_lines(v);
	if (err)
		return err;
	v->number = past_when(v->past, view_index(v)).number;
	select_again(v);
	v->stale = false;
	return 0;
}

/* --- names */

static int made_name(const struct view *v, const struct view_item *i, char **ret)
{
	size_t from = i->parent == VIEW_NO_ITEM ? 0 : v->items[i->parent].path_len;

	while (i->parent != VIEW_NO_ITEM && from < i->path_len && i->path[from] == '/')
		from++;
	return format_terminal(i->path + from, i->path_len - from, ret);
}

int view_item_name(const struct view *v, const struct view_item *i, char **ret)
{
	const struct view_item *up = i->parent == VIEW_NO_ITEM ? NULL : &v->items[i->parent];

	if (!i->row)
		return made_name(v, i, ret);
	if (!up || !up->row)
		return names_row(i->row, ret);
	if (i->row->kind == ROW_JOB)
		return names_job(i->row, true, ret);
	if (names_is_own(i->row)) {
		*ret = strdup("(own tasks)");
		return *ret ? 0 : -ENOMEM;
	}
	return names_cgroup(i->row, up->row->cgroup, ret);
}
