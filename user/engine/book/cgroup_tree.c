// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Rows of parents. The book has a row for each cgroup that tasks ran in; a report
 * also shows the cgroups above, each including all below it. A cgroup that has tasks of
 * its own and children gets a leaf row ("own") for the former, so that leaf rows alone add
 * up to the counters. Jobs and their steps are such a tree of two levels.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/digits.h"
#include "base/sums.h"
#include "base/text.h"
#include "engine/book/book_rows.h"
#include "tables/job_rules.h"

#define OWN ":own"

/* Where the key of a row of own tasks says so, or NULL. */
static const char *key_of_own(const char *key)
{
	size_t length = strlen(key), own = strlen(OWN);

	return length > own && !strcmp(key + length - own, OWN) ? key + length - own : NULL;
}

/* A parent row in the making, found by its place. */
struct node {
	char *path;	     /* of a cgroup; "ID/STEP" in a report by job */
	size_t row;	     /* index in report.rows */
	struct node *parent; /* the nearest one above; NULL: none, or not known yet */
	UT_hash_handle hh;
};

static void nodes_free(struct node *nodes)
{
	struct node *n, *next;

	HASH_ITER (hh, nodes, n, next) {
		HASH_DEL(nodes, n);
		free(n->path);
		free(n);
	}
}

/* Where a row is in the tree; NULL with 0 returned: outside of it. */
static int place_of(const struct report_row *row, char **ret)
{
	char *at;

	*ret = NULL;
	if (row->kind != ROW_JOB) {
		if (row->cgroup)
			*ret = strdup(row->cgroup);
		return row->cgroup && !*ret ? -ENOMEM : 0;
	}
	if (!row->job)
		return 0;
	*ret = malloc(DIGITS_MAX + sizeof("/") + sizeof(row->job->step));
	if (!*ret)
		return -ENOMEM;
	at = put_digits(*ret, row->job->cgroup_id);
	if (row->job->step[0])
		stpcpy(stpcpy(at, "/"), row->job->step);
	return 0;
}

/*
 * Cuts the last component off; false when there is none above. "/a" becomes "/", and in a v1
 * hierarchy "freezer:/a" becomes "freezer:/".
 */
static bool to_parent_cgroup(char *path)
{
	char *slash = strrchr(path, '/');

	if (!slash || !slash[1])
		return false;
	slash[slash == strchr(path, '/')] = '\0';
	return true;
}

static bool to_parent(const struct book *b, char *place)
{
	char *slash;

	if (b->scope.by != ROW_JOB)
		return to_parent_cgroup(place);
	slash = strchr(place, '/');
	if (slash)
		*slash = '\0';
	return slash;
}

/* Cgroups above selected ones are incomplete and not shown. */
static bool shown(const struct book *b, const char *path)
{
	const struct cgroup_name *c;

	if (b->scope.by == ROW_JOB || b->scope.all || !identity_has_selection(b->id))
		return true;
	c = identity_cgroup_by_path(b->id, path);
	return c && c->selected;
}

static int fill_cgroup(const struct report *r, struct cgroup_name *c, const char *path,
		       struct report_row *row)
{
	row->cgroup_id = c ? c->id : 0;
	row->exited = c && c->gone;
	row->cgroup = strdup(path);
	if (c)
		put_digits(stpcpy(row->key, "cgroup:"), c->id);
	else /* unknown id: the row's place still identifies it within the report */
		snprintf(row->key, sizeof(row->key), "cgroup:?:%zu", r->nr_rows - 1);
	if (!row->cgroup)
		return -ENOMEM;
	return c && c->job ? identity_job_show(c, &row->job) : 0;
}

/* How much of the path of a step is its job's; the job itself may be long forgotten. */
static size_t job_length(const struct book *b, const struct report_row *step)
{
	const struct job *j = identity_job(b->id, step->job->cgroup_id);
	size_t length = j && j->path ? strlen(j->path) : 0;
	struct job_path p;

	if (length && !strncmp(step->cgroup, j->path, length) &&
	    (!step->cgroup[length] || step->cgroup[length] == '/'))
		return length;
	return job_resolve(step->cgroup, &p) ? p.length : 0;
}

/* @step: one of the job's rows */
static int fill_job(const struct book *b, const struct report_row *step, struct report_row *row)
{
	size_t length;

	row->job = malloc(sizeof(*row->job));
	if (!row->job)
		return -ENOMEM;
	*row->job = *step->job;
	row->job->shared = 0;
	row->job->step[0] = '\0';
	row->cgroup_id = row->job->cgroup_id;
	put_digits(stpcpy(row->key, "job:"), row->job->cgroup_id);
	length = step->cgroup ? job_length(b, step) : 0;
	if (!length)
		return 0;
	row->cgroup = strndup(step->cgroup, length);
	return row->cgroup ? 0 : -ENOMEM;
}

/* @leaf: index of a row below it */
static int add_parent_row(const struct book *b, struct report *r, const char *place, size_t leaf)
{
	struct report_row *rows = reallocarray(r->rows, r->nr_rows + 1, sizeof(*rows)), *row;

	if (!rows)
		return -ENOMEM;
	r->rows = rows;
	row = &rows[r->nr_rows++];
	*row = (struct report_row){ .kind = b->scope.by, .separable = true };
	row->latencies = calloc(b->nr_links + 1, sizeof(*row->latencies));
	if (!row->latencies)
		return -ENOMEM;
	if (b->scope.by == ROW_JOB)
		return fill_job(b, &rows[leaf], row);
	return fill_cgroup(r, identity_cgroup_by_path(b->id, place), place, row);
}

static int node_add(const struct book *b, struct report *r, struct node **nodes, const char *path,
		    size_t leaf)
{
	struct node *n = calloc(1, sizeof(*n));
	int err;

	if (!n)
		return -ENOMEM;
	n->path = strdup(path);
	n->row = r->nr_rows;
	err = n->path ? add_parent_row(b, r, path, leaf) : -ENOMEM;
	if (!err) {
		HASH_ADD_KEYPTR(hh, *nodes, n->path, strlen(n->path), n);
		err = n->hh.tbl ? 0 : -ENOMEM;
	}
	if (err) {
		free(n->path);
		free(n);
	}
	return err;
}

/* The mean over both; there is room for all probes, which stay in order. */
static void observed_add(struct report_row *to, const struct seen_latency *from)
{
	struct seen_latency *l = to->latencies;
	size_t i = 0;

	while (i < to->nr_latencies && l[i].probe < from->probe)
		i++;
	if (i == to->nr_latencies || l[i].probe != from->probe) {
		memmove(l + i + 1, l + i, (to->nr_latencies++ - i) * sizeof(*l));
		l[i] = *from;
		return;
	}
	l[i].latency_ns += (from->latency_ns - l[i].latency_ns) *
			   ((double)from->bytes / ((double)l[i].bytes + from->bytes));
	l[i].bytes += from->bytes;
}

static void share_add(struct share *to, const struct share *from)
{
	to->value += from->value;
	to->low += from->low;
	to->high = sum_capped(to->high, from->high);
	to->separable &= from->separable || !from->value;
}

/* Both have their shares in the order of counters, the parent perhaps not all yet. */
static int shares_add(struct report_row *to, const struct report_row *from)
{
	size_t nr = 0, k = 0;
	struct share *both;

	for (size_t i = 0; i < from->nr_shares; i++) {
		while (k < to->nr_shares && to->shares[k].counter < from->shares[i].counter)
			k++;
		nr += k == to->nr_shares || to->shares[k].counter != from->shares[i].counter;
	}
	if (nr) {
		both = reallocarray(to->shares, to->nr_shares + nr, sizeof(*both));
		if (!both)
			return -ENOMEM;
		to->shares = both;
	}
	/* From the back, so that there is always room. */
	k = to->nr_shares;
	to->nr_shares += nr;
	for (size_t i = from->nr_shares; i-- > 0;) {
		const struct share *s = &from->shares[i];

		for (; k && to->shares[k - 1].counter > s->counter; k--)
			to->shares[k - 1 + nr] = to->shares[k - 1];
		if (k && to->shares[k - 1].counter == s->counter) {
			to->shares[k - 1 + nr] = to->shares[k - 1];
			share_add(&to->shares[--k + nr], s);
			continue;
		}
		nr--;
		to->shares[k + nr] = (struct share){ .counter = s->counter, .separable = true };
		share_add(&to->shares[k + nr], s);
	}
	return 0;
}

/* Bytes of counters come later: see book_report_devices(). Those of derived links are here. */
static int requests_add(struct report_row *to, const struct report_row *from)
{
	struct row_device *both, *d;
	size_t at = 0;

	for (size_t i = 0; i < from->nr_devices; i++) {
		const struct row_device *f = &from->devices[i];

		while (at < to->nr_devices && to->devices[at].device < f->device)
			at++;
		if (at == to->nr_devices || to->devices[at].device != f->device) {
			both = reallocarray(to->devices, to->nr_devices + 1, sizeof(*both));
			if (!both)
				return -ENOMEM;
			to->devices = both;
			memmove(both + at + 1, both + at, (to->nr_devices++ - at) * sizeof(*both));
			both[at] = (struct row_device){ .device = f->device };
		}
		d = &to->devices[at];
		d->read_bytes += f->read_bytes;
		d->read_low += f->read_low;
		d->read_high += f->read_high;
		d->write_bytes += f->write_bytes;
		d->write_low += f->write_low;
		d->write_high += f->write_high;
		d->io_read_bytes = sum_capped(d->io_read_bytes, f->io_read_bytes);
		d->io_write_bytes = sum_capped(d->io_write_bytes, f->io_write_bytes);
	}
	return 0;
}

static int row_add(struct report_row *to, const struct report_row *from)
{
	int err;

	to->on_cpu_ns += from->on_cpu_ns;
	/* Perhaps its children are tangled with each other only; the sum says no more. */
	to->separable &= from->separable;
	err = shares_add(to, from);
	if (!err)
		err = requests_add(to, from);
	for (size_t i = 0; i < from->nr_latencies; i++)
		observed_add(to, &from->latencies[i]);
	return err;
}

/* The key that an own row had before it was known to have a parent. */
struct old_key {
	char key[MODEL_KEY_LEN];
	UT_hash_handle hh;
};

/* The own row of a cgroup with children was listed under the cgroup's key. */
static int rename_tangled(struct report *r, size_t nr_leaves)
{
	struct old_key *olds = calloc(nr_leaves + 1, sizeof(*olds)), *keys = NULL, *old;
	int err = olds ? 0 : -ENOMEM;

	for (size_t i = 0; !err && i < nr_leaves; i++) {
		const char *own = key_of_own(r->rows[i].key);

		if (!own)
			continue;
		old = &olds[i];
		memcpy(old->key, r->rows[i].key, own - r->rows[i].key);
		HASH_ADD_STR(keys, key, old);
		err = old->hh.tbl ? 0 : -ENOMEM;
	}
	for (size_t i = 0; !err && i < nr_leaves; i++)
		for (size_t k = 0; k < r->rows[i].nr_tangled; k++) {
			char *key = r->rows[i].tangled[k];

			HASH_FIND_STR(keys, key, old);
			if (old)
				snprintf(key, MODEL_KEY_LEN, "%.*s%s", MODEL_KEY_LEN - 5, old->key,
					 OWN);
		}
	HASH_CLEAR(hh, keys);
	free(olds);
	return err;
}

/* Upper bounds of several children may add up to more than there is. */
static void clip_high(const struct report *r, struct report_row *row)
{
	for (size_t i = 0; i < row->nr_shares; i++) {
		uint64_t max = r->counters[row->shares[i].counter].high;

		if (row->shares[i].high > max)
			row->shares[i].high = max;
	}
}

static int make_parents(const struct book *b, struct report *r, size_t nr_leaves,
			struct node **nodes)
{
	struct node *n = NULL, *next;
	int err;

	for (size_t i = 0; i < nr_leaves; i++, n = NULL) {
		cleanup_free char *place = NULL;

		err = place_of(&r->rows[i], &place);
		/* Where one is, those above it are, too. */
		while (!err && !n && place && to_parent(b, place) && shown(b, place)) {
			HASH_FIND_STR(*nodes, place, n);
			if (!n)
				err = node_add(b, r, nodes, place, i);
		}
		if (err)
			return err;
	}
	HASH_ITER (hh, *nodes, n, next) {
		cleanup_free char *place = strdup(n->path);

		if (!place)
			return -ENOMEM;
		while (!n->parent && to_parent(b, place))
			HASH_FIND_STR(*nodes, place, n->parent);
	}
	return 0;
}

/*
 * Is the leaf the content directly in a parent, which has this row's place? A removed cgroup may
 * have had the same path: then it is a child of the same parent.
 */
static bool is_own(const struct report_row *parent, const struct report_row *leaf)
{
	return leaf->kind == ROW_JOB || parent->cgroup_id == leaf->cgroup_id;
}

/* Enters a leaf in all its parents and names the nearest one. */
static int enter_leaf(const struct book *b, struct report *r, size_t i, struct node *nodes)
{
	struct report_row *leaf = &r->rows[i];
	cleanup_free char *place = NULL;
	struct node *n;
	int err = place_of(leaf, &place);

	if (err || !place)
		return err;
	HASH_FIND_STR(nodes, place, n);
	if (n && is_own(&r->rows[n->row], leaf)) {
		str_copy(leaf->key, sizeof(leaf->key) - strlen(OWN), r->rows[n->row].key);
		str_append(leaf->key, sizeof(leaf->key), OWN);
		/* The row of the whole job reports its end. */
		r->rows[n->row].exited |= leaf->exited;
		leaf->exited &= leaf->kind != ROW_JOB;
	} else {
		n = NULL;
	}
	while (!n && to_parent(b, place))
		HASH_FIND_STR(nodes, place, n);
	if (n)
		memcpy(leaf->parent, r->rows[n->row].key, sizeof(leaf->parent));
	for (; n && !err; n = n->parent)
		err = row_add(&r->rows[n->row], leaf);
	return err;
}

/* The sum of the tree below, and the parent. */
static int finish_parent(const struct book *b, struct report *r, size_t i, struct node *nodes)
{
	struct report_row *row = &r->rows[i];
	cleanup_free char *place = NULL;
	struct node *n = NULL;
	int err = place_of(row, &place);

	if (err || !place)
		return err;
	clip_high(r, row);
	for (size_t k = 0; k < row->nr_latencies; k++)
		row->latencies[k].of_bytes = book_of_bytes(b, row, row->latencies[k].probe);
	if (to_parent(b, place))
		HASH_FIND_STR(nodes, place, n);
	if (n)
		memcpy(row->parent, r->rows[n->row].key, sizeof(row->parent));
	return 0;
}

static bool is_empty(const struct report_row *row)
{
	for (size_t i = 0; i < row->nr_shares; i++)
		if (row->shares[i].high)
			return false;
	return !row->on_cpu_ns && !row->nr_devices;
}

/* A job has a row as a whole; without content outside of steps that part has none. */
static void drop_empty_own(struct report *r, size_t nr_leaves)
{
	size_t kept = 0;

	for (size_t i = 0; i < r->nr_rows; i++) {
		if (i < nr_leaves && key_of_own(r->rows[i].key) && is_empty(&r->rows[i]))
			report_row_release(&r->rows[i]);
		else
			r->rows[kept++] = r->rows[i];
	}
	r->nr_rows = kept;
}

int cgroup_tree(const struct book *b, struct report *r)
{
	size_t nr_leaves = r->nr_rows;
	struct node *nodes = NULL;
	int err = make_parents(b, r, nr_leaves, &nodes);

	for (size_t i = 0; !err && i < nr_leaves; i++)
		err = enter_leaf(b, r, i, nodes);
	if (!err)
		err = rename_tangled(r, nr_leaves);
	for (size_t i = nr_leaves; !err && i < r->nr_rows; i++)
		err = finish_parent(b, r, i, nodes);
	if (!err && b->scope.by == ROW_JOB)
		drop_empty_own(r, nr_leaves);
	nodes_free(nodes);
	return err;
}
