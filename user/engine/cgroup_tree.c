// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Rows of parent cgroups. The book has a row for each cgroup that tasks ran in;
 * a report also shows the cgroups above, each including all below it. A cgroup
 * that has tasks of its own and children gets a leaf row ("own") for the former,
 * so that leaf rows alone add up to the counters.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "engine/book_rows.h"

/* A parent row in the making, found by path. */
struct node {
	char *path;
	size_t row; /* index in report.rows */
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

/* Cuts the last component off; false when there is none above. */
static bool to_parent(char *path)
{
	char *slash = strrchr(path, '/');

	if (!slash || !slash[1])
		return false;
	slash[slash == strchr(path, '/')] = '\0'; /* "/a" becomes "/", "freezer:/a" "freezer:/" */
	return true;
}

/* With selected cgroups, what lies above them is not complete and not shown. */
static bool shown(const struct book *b, const char *path)
{
	const struct cgroup_name *c;

	if (b->scope.all || !identity_has_selection(b->id))
		return true;
	c = identity_cgroup_by_path(b->id, path);
	return c && c->selected;
}

static int add_parent_row(const struct book *b, struct report *r, const char *path)
{
	const struct cgroup_name *c = identity_cgroup_by_path(b->id, path);
	struct report_row *rows = reallocarray(r->rows, r->nr_rows + 1, sizeof(*rows)), *row;

	if (!rows)
		return -ENOMEM;
	r->rows = rows;
	row = &rows[r->nr_rows];
	*row = (struct report_row){ .kind = ROW_CGROUP, .cgroup_id = c ? c->id : 0 };
	row->exited = c && c->gone;
	row->cgroup = strdup(path);
	row->separable = true;
	row->latencies = calloc(b->nr_links + 1, sizeof(*row->latencies));
	r->nr_rows++;
	if (c)
		snprintf(row->key, sizeof(row->key), "cgroup:%" PRIu64, c->id);
	else /* unknown id: the row's place still identifies it within the report */
		snprintf(row->key, sizeof(row->key), "cgroup:?:%zu", r->nr_rows - 1);
	return row->cgroup && row->latencies ? 0 : -ENOMEM;
}

static int node_get(const struct book *b, struct report *r, struct node **nodes, const char *path,
		    struct node **ret)
{
	struct node *n;
	int err;

	HASH_FIND_STR(*nodes, path, n);
	if (!n) {
		n = calloc(1, sizeof(*n));
		if (!n)
			return -ENOMEM;
		n->path = strdup(path);
		n->row = r->nr_rows;
		err = n->path ? add_parent_row(b, r, path) : -ENOMEM;
		if (!err) {
			HASH_ADD_KEYPTR(hh, *nodes, n->path, strlen(n->path), n);
			err = n->hh.tbl ? 0 : -ENOMEM;
		}
		if (err) {
			free(n->path);
			free(n);
			return err;
		}
	}
	*ret = n;
	return 0;
}

/* The mean over both; there is room for all probes, which stay in order. */
static void saw_add(struct report_row *to, const struct seen_latency *from)
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
	to->high += from->high;
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

/* Bytes of counters come later: see book_report_devices(). */
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
		if (__builtin_add_overflow(d->io_read_bytes, f->io_read_bytes, &d->io_read_bytes))
			d->io_read_bytes = UINT64_MAX;
		if (__builtin_add_overflow(d->io_write_bytes, f->io_write_bytes,
					   &d->io_write_bytes))
			d->io_write_bytes = UINT64_MAX;
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
		saw_add(to, &from->latencies[i]);
	return err;
}

/* The own row of a cgroup with children was listed under the cgroup's key. */
static void rename_tangled(struct report *r, size_t nr_leaves)
{
	char own[MODEL_KEY_LEN + 8];

	for (size_t i = 0; i < nr_leaves; i++) {
		if (!strstr(r->rows[i].key, ":own"))
			continue;
		for (size_t j = 0; j < nr_leaves; j++)
			for (size_t k = 0; k < r->rows[j].nr_tangled; k++) {
				snprintf(own, sizeof(own), "%s:own", r->rows[j].tangled[k]);
				if (!strcmp(own, r->rows[i].key))
					memcpy(r->rows[j].tangled[k], own, MODEL_KEY_LEN);
			}
	}
}

/* Upper bounds of several children may add up to more than there is. */
static void clip_high(const struct report *r, struct report_row *row)
{
	for (size_t i = 0; i < row->nr_shares; i++) {
		uint64_t value = r->counters[row->shares[i].counter].value;

		if (row->shares[i].high > value)
			row->shares[i].high = value;
	}
}

static int make_parents(const struct book *b, struct report *r, size_t nr_leaves,
			struct node **nodes)
{
	struct node *n;
	int err;

	for (size_t i = 0; i < nr_leaves; i++) {
		cleanup_free char *path = NULL;

		if (!r->rows[i].cgroup)
			continue;
		path = strdup(r->rows[i].cgroup);
		if (!path)
			return -ENOMEM;
		while (to_parent(path) && shown(b, path)) {
			err = node_get(b, r, nodes, path, &n);
			if (err)
				return err;
		}
	}
	return 0;
}

/* Enters a leaf in all its parents and names the nearest one. */
static int enter_leaf(struct report *r, size_t i, struct node *nodes)
{
	struct report_row *leaf = &r->rows[i];
	cleanup_free char *path = strdup(leaf->cgroup);
	struct node *n;
	bool more;
	int err = 0;

	if (!path)
		return -ENOMEM;
	HASH_FIND_STR(nodes, path, n);
	/* A removed cgroup may have had the same path: then it is a child of the same parent. */
	if (n && r->rows[n->row].cgroup_id == leaf->cgroup_id)
		snprintf(leaf->key, sizeof(leaf->key), "cgroup:%" PRIu64 ":own", leaf->cgroup_id);
	else
		n = NULL;
	for (more = true; more && !err; more = to_parent(path)) {
		if (!n)
			HASH_FIND_STR(nodes, path, n);
		if (n && (strcmp(path, leaf->cgroup) || strstr(leaf->key, ":own"))) {
			if (!leaf->parent[0])
				memcpy(leaf->parent, r->rows[n->row].key, sizeof(leaf->parent));
			err = row_add(&r->rows[n->row], leaf);
		}
		n = NULL;
	}
	return err;
}

int cgroup_tree(const struct book *b, struct report *r)
{
	size_t nr_leaves = r->nr_rows;
	struct node *nodes = NULL, *n;
	int err = make_parents(b, r, nr_leaves, &nodes);

	for (size_t i = 0; !err && i < nr_leaves; i++)
		if (r->rows[i].cgroup)
			err = enter_leaf(r, i, nodes);
	rename_tangled(r, nr_leaves);
	for (size_t i = nr_leaves; !err && i < r->nr_rows; i++) {
		cleanup_free char *path = strdup(r->rows[i].cgroup);

		if (!path) {
			err = -ENOMEM;
			break;
		}
		clip_high(r, &r->rows[i]);
		for (size_t k = 0; k < r->rows[i].nr_latencies; k++)
			r->rows[i].latencies[k].of_bytes =
				book_of_bytes(b, &r->rows[i], r->rows[i].latencies[k].probe);
		if (!to_parent(path))
			continue;
		HASH_FIND_STR(nodes, path, n);
		if (n)
			memcpy(r->rows[i].parent, r->rows[n->row].key, sizeof(r->rows[i].parent));
	}
	nodes_free(nodes);
	return err;
}
