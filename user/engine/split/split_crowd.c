// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Who is in a block of windows, who is too small to matter, and who is alike. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "engine/filter/constants.h"
#include "engine/identity/identity.h"
#include "engine/split/internal.h"

/* Workloads that are estimated together are one column of the filter, under this number. */
#define WORKLOAD_POOL (UINT32_MAX - 1)

static int by_number(const void *a, const void *b)
{
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

	return x < y ? -1 : x > y;
}

/* Who is the same program again. */
static void find_kin(struct crowd *c, const struct split_sink *sink)
{
	for (size_t i = 0; sink->id && i < c->nr; i++) {
		struct crowd_member *m = &c->members[i];

		m->kin = identity_kin(sink->id, m->workload, &m->ended);
	}
}

/* Local rows: few, and from 0 on, whatever the sink's numbers are. */
static int number_rows(struct crowd *c, const struct split_sink *sink)
{
	size_t kept = 0;
	int err;

	for (size_t i = 0; i < c->nr; i++) {
		err = sink->row(sink->arg, c->members[i].workload, &c->members[i].row);
		if (err)
			return err;
		if (c->members[i].row != SPLIT_NO_ROW)
			c->rows[c->nr_rows++] = c->members[i].row;
	}
	if (c->nr_rows)
		qsort(c->rows, c->nr_rows, sizeof(*c->rows), by_number);
	for (size_t i = 0; i < c->nr_rows; i++)
		if (!kept || c->rows[kept - 1] != c->rows[i])
			c->rows[kept++] = c->rows[i];
	c->nr_rows = kept;
	for (size_t i = 0; i < c->nr; i++) {
		struct crowd_member *m = &c->members[i];
		const uint32_t *row =
			m->row == SPLIT_NO_ROW || !kept
				? NULL
				: bsearch(&m->row, c->rows, kept, sizeof(*c->rows), by_number);

		m->row = row ? (size_t)(row - c->rows) : kept;
	}
	return 0;
}

/*
 * Where windows begin, and who is in them. The block's activity is many times larger than what is
 * made of it, so it is read once; the largest number is returned.
 */
static uint32_t read_windows(struct crowd *c, const struct split_block *b)
{
	uint32_t most = 0;
	size_t at = 0;

	for (size_t w = 0; w <= b->nr_windows; w++) {
		for (; at < b->nr && b->activity[at].window < w; at++) {
			c->of[at] = b->activity[at].workload;
			most = c->of[at] > most ? c->of[at] : most;
		}
		c->first[w] = at;
	}
	return most;
}

/* Members in the order of their numbers, which are small; until now @of has these. */
static int find_members(struct crowd *c, size_t nr, uint32_t most)
{
	cleanup_free uint32_t *index = calloc((size_t)most + 1, sizeof(*index));

	if (!index)
		return -ENOMEM;
	for (size_t i = 0; i < nr; i++)
		index[c->of[i]] = 1;
	for (size_t k = 0; k <= most; k++)
		if (index[k])
			c->nr++;
	c->members = calloc(c->nr + 1, sizeof(*c->members));
	c->rows = calloc(c->nr + 1, sizeof(*c->rows));
	if (!c->members || !c->rows)
		return -ENOMEM;
	c->nr = 0;
	for (size_t k = 0; k <= most; k++) {
		if (!index[k])
			continue;
		c->members[c->nr].workload = k;
		index[k] = c->nr++;
	}
	for (size_t i = 0; i < nr; i++)
		c->of[i] = index[c->of[i]];
	return 0;
}

int crowd_make(const struct split_block *b, const struct split_sink *sink, struct crowd *ret)
{
	struct crowd c = { 0 };
	uint32_t most;
	int err;

	c.of = calloc(b->nr + 1, sizeof(*c.of));
	if (!c.of)
		return -ENOMEM;
	most = read_windows(&c, b);
	err = b->nr ? find_members(&c, b->nr, most) : 0;
	if (!err)
		err = number_rows(&c, sink);
	if (err) {
		crowd_free(&c);
		return err;
	}
	find_kin(&c, sink);
	*ret = c;
	return 0;
}

/* Return: NULL if it did nothing in the block. */
const struct crowd_member *crowd_find(const struct crowd *c, uint32_t workload)
{
	size_t low = 0, high = c->nr;

	while (low < high) {
		size_t mid = low + (high - low) / 2;

		if (c->members[mid].workload < workload)
			low = mid + 1;
		else
			high = mid;
	}
	return low < c->nr && c->members[low].workload == workload ? &c->members[low] : NULL;
}

void crowd_free(struct crowd *c)
{
	free(c->members);
	free(c->of);
	free(c->rows);
	*c = (struct crowd){ 0 };
}

struct rank {
	double x;
	uint32_t member;
};

static int by_size(const void *a, const void *b)
{
	const struct rank *x = a, *y = b;

	if (x->x != y->x)
		return x->x < y->x ? 1 : -1;
	return x->member < y->member ? -1 : x->member > y->member;
}

/*
 * Each of the large ones has a column of its own; the rest share the last one. With
 * nothing to rank by (no memory), all are pooled: worse, not wrong.
 */
void crowd_columns(struct crowd *c, const struct split_block *b, const double *x)
{
	struct rank *rank = calloc(c->nr, sizeof(*rank));
	double sum = 0;
	size_t nr = 0;

	for (size_t i = 0; i < c->nr; i++) {
		c->members[i].x = 0;
		c->members[i].column = NO_COLUMN;
		c->members[i].cluster = NO_CLUSTER;
	}
	for (size_t i = 0; i < b->nr; i++) {
		c->members[c->of[i]].x += x[i];
		sum += x[i];
	}
	for (size_t i = 0; rank && i < c->nr; i++)
		if (c->members[i].x > POOLED * sum)
			rank[nr++] = (struct rank){ c->members[i].x, i };
	if (nr)
		qsort(rank, nr, sizeof(*rank), by_size);
	/* The last column is kept for the pool, unless there is none. */
	if (nr > FILTER_MAX_WORKLOADS - 1)
		nr = FILTER_MAX_WORKLOADS - 1;
	for (size_t i = 0; i < nr; i++) {
		c->columns[i] = rank[i].member;
		c->members[rank[i].member].column = i;
	}
	c->nr_columns = nr;
	c->nr_pooled = c->nr - nr;
	if (c->nr_pooled)
		c->nr_columns++;
	free(rank);
}

/* The workload of each column. */
void crowd_workloads(const struct crowd *c, uint32_t *ret)
{
	for (size_t k = 0; k < c->nr_columns; k++)
		ret[k] = c->members[c->columns[k]].workload;
	if (c->nr_pooled)
		ret[c->nr_columns - 1] = WORKLOAD_POOL;
}

/* The same of their kin; the pool has none. */
void crowd_kin(const struct crowd *c, uint64_t *ret, bool *ret_ended)
{
	size_t own = c->nr_columns - (c->nr_pooled > 0);

	for (size_t k = 0; k < c->nr_columns; k++) {
		const struct crowd_member *m = k < own ? &c->members[c->columns[k]] : NULL;

		ret[k] = m ? m->kin : 0;
		ret_ended[k] = m && m->ended;
	}
}

/* Follows who is alike to whom from one member on. */
static void mark_cluster(struct crowd *c, const struct matrix *alike, size_t column, uint32_t id)
{
	uint32_t open[FILTER_MAX_WORKLOADS];
	size_t nr = 0, own = c->nr_columns - (c->nr_pooled > 0);

	c->members[c->columns[column]].cluster = id;
	open[nr++] = column;
	while (nr) {
		const float *row = matrix_row(alike, open[--nr]);

		for (size_t j = 0; j < own; j++) {
			struct crowd_member *m = &c->members[c->columns[j]];

			if (row[j] == 0 || m->cluster != NO_CLUSTER)
				continue;
			m->cluster = id;
			open[nr++] = j;
		}
	}
}

void crowd_clusters(struct crowd *c, const struct filter_output *estimated)
{
	size_t own = c->nr_columns - (c->nr_pooled > 0);

	c->nr_clusters = 0;
	for (size_t i = 0; i < own && estimated->any_alike; i++) {
		const float *row = matrix_row(&estimated->alike, i);
		bool any = false;

		for (size_t j = 0; j < own; j++)
			any |= row[j] != 0;
		if (any && c->members[c->columns[i]].cluster == NO_CLUSTER)
			mark_cluster(c, &estimated->alike, i, c->nr_clusters++);
	}
	/* The pool is one more: nothing is known of one member of it. */
	if (!c->nr_pooled)
		return;
	for (size_t i = 0; i < c->nr; i++)
		if (c->members[i].column == NO_COLUMN)
			c->members[i].cluster = c->nr_clusters;
	c->nr_clusters++;
}
