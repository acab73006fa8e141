// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* The workloads of a block of windows: which are too small to matter, and which are alike. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/cleanup.h"
#include "engine/filter/constants.h"
#include "engine/identity/identity.h"
#include "engine/split/internal.h"

/* Workloads that are estimated together are one column of the filter, with this number. */
#define WORKLOAD_POOL (UINT32_MAX - 1)

static int by_number(const void *a, const void *b)
{
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

	return x < y ? -1 : x > y;
}

/* Finds workloads that are the same program again. */
static void find_kin(struct workloads *ws, const struct split_sink *sink)
{
	for (size_t i = 0; sink->id && i < ws->nr; i++) {
		struct member *m = &ws->members[i];

		m->kin = identity_kin(sink->id, m->workload, &m->ended);
	}
}

/* Local rows: few, and from 0 on, whatever the sink's numbers are. */
static int number_rows(struct workloads *ws, const struct split_sink *sink)
{
	size_t kept = 0;
	int err;

	for (size_t i = 0; i < ws->nr; i++) {
		err = sink->row(sink->arg, ws->members[i].workload, &ws->members[i].row);
		if (err)
			return err;
		if (ws->members[i].row != SPLIT_NO_ROW)
			ws->rows[ws->nr_rows++] = ws->members[i].row;
	}
	if (ws->nr_rows)
		qsort(ws->rows, ws->nr_rows, sizeof(*ws->rows), by_number);
	for (size_t i = 0; i < ws->nr_rows; i++)
		if (!kept || ws->rows[kept - 1] != ws->rows[i])
			ws->rows[kept++] = ws->rows[i];
	ws->nr_rows = kept;
	for (size_t i = 0; i < ws->nr; i++) {
		struct member *m = &ws->members[i];
		const uint32_t *row =
			m->row == SPLIT_NO_ROW || !kept
				? NULL
				: bsearch(&m->row, ws->rows, kept, sizeof(*ws->rows), by_number);

		m->row = row ? (size_t)(row - ws->rows) : kept;
	}
	return 0;
}

/*
 * Starts and workloads of windows. The block's activity is many times larger than these results, so
 * it is read once; the largest number is returned.
 */
static uint32_t read_windows(struct workloads *ws, const struct split_block *b)
{
	uint32_t max = 0;
	size_t at = 0;

	for (size_t w = 0; w <= b->nr_windows; w++) {
		for (; at < b->nr && b->activity[at].window < w; at++) {
			ws->of[at] = b->activity[at].workload;
			max = ws->of[at] > max ? ws->of[at] : max;
		}
		ws->first[w] = at;
	}
	return max;
}

/* Members in the order of their numbers, which are small; until now @of has these. */
static int find_members(struct workloads *ws, size_t nr, uint32_t max)
{
	cleanup_free uint32_t *index = calloc((size_t)max + 1, sizeof(*index));

	if (!index)
		return -ENOMEM;
	for (size_t i = 0; i < nr; i++)
		index[ws->of[i]] = 1;
	for (size_t k = 0; k <= max; k++)
		if (index[k])
			ws->nr++;
	ws->members = calloc(ws->nr + 1, sizeof(*ws->members));
	ws->rows = calloc(ws->nr + 1, sizeof(*ws->rows));
	if (!ws->members || !ws->rows)
		return -ENOMEM;
	ws->nr = 0;
	for (size_t k = 0; k <= max; k++) {
		if (!index[k])
			continue;
		ws->members[ws->nr].workload = k;
		index[k] = ws->nr++;
	}
	for (size_t i = 0; i < nr; i++)
		ws->of[i] = index[ws->of[i]];
	return 0;
}

int workloads_make(const struct split_block *b, const struct split_sink *sink,
		   struct workloads *ret)
{
	struct workloads ws = { 0 };
	uint32_t max;
	int err;

	ws.of = calloc(b->nr + 1, sizeof(*ws.of));
	if (!ws.of)
		return -ENOMEM;
	max = read_windows(&ws, b);
	err = b->nr ? find_members(&ws, b->nr, max) : 0;
	if (!err)
		err = number_rows(&ws, sink);
	if (err) {
		workloads_free(&ws);
		return err;
	}
	find_kin(&ws, sink);
	*ret = ws;
	return 0;
}

/* Return: NULL if it did nothing in the block. */
const struct member *workloads_find(const struct workloads *ws, uint32_t workload)
{
	size_t at = array_place(ws->nr, i, ws->members[i].workload < workload);

	return at < ws->nr && ws->members[at].workload == workload ? &ws->members[at] : NULL;
}

void workloads_free(struct workloads *ws)
{
	free(ws->members);
	free(ws->of);
	free(ws->rows);
	*ws = (struct workloads){ 0 };
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
void workloads_columns(struct workloads *ws, const struct split_block *b, const double *x)
{
	struct rank *rank = calloc(ws->nr, sizeof(*rank));
	double sum = 0;
	size_t nr = 0;

	for (size_t i = 0; i < ws->nr; i++) {
		ws->members[i].x = 0;
		ws->members[i].column = NO_COLUMN;
		ws->members[i].cluster = NO_CLUSTER;
	}
	for (size_t i = 0; i < b->nr; i++) {
		ws->members[ws->of[i]].x += x[i];
		sum += x[i];
	}
	for (size_t i = 0; rank && i < ws->nr; i++)
		if (ws->members[i].x > POOLED * sum)
			rank[nr++] = (struct rank){ ws->members[i].x, i };
	if (nr)
		qsort(rank, nr, sizeof(*rank), by_size);
	/* The last column is kept for the pool, unless there is none. */
	if (nr > FILTER_MAX_WORKLOADS - 1)
		nr = FILTER_MAX_WORKLOADS - 1;
	for (size_t i = 0; i < nr; i++) {
		ws->columns[i] = rank[i].member;
		ws->members[rank[i].member].column = i;
	}
	ws->nr_columns = nr;
	ws->nr_pooled = ws->nr - nr;
	if (ws->nr_pooled)
		ws->nr_columns++;
	free(rank);
}

/* The workload of each column. */
void workloads_numbers(const struct workloads *ws, uint32_t *ret)
{
	for (size_t k = 0; k < ws->nr_columns; k++)
		ret[k] = ws->members[ws->columns[k]].workload;
	if (ws->nr_pooled)
		ret[ws->nr_columns - 1] = WORKLOAD_POOL;
}

/* The same of their kin; the pool has none. */
void workloads_kin(const struct workloads *ws, uint64_t *ret, bool *ret_ended)
{
	size_t own = ws->nr_columns - (ws->nr_pooled > 0);

	for (size_t k = 0; k < ws->nr_columns; k++) {
		const struct member *m = k < own ? &ws->members[ws->columns[k]] : NULL;

		ret[k] = m ? m->kin : 0;
		ret_ended[k] = m && m->ended;
	}
}

/* Marks all workloads that are alike, directly or through others, starting from one member. */
static void mark_cluster(struct workloads *ws, const struct matrix *alike, size_t column,
			 uint32_t id)
{
	uint32_t open[FILTER_MAX_WORKLOADS];
	size_t nr = 0, own = ws->nr_columns - (ws->nr_pooled > 0);

	ws->members[ws->columns[column]].cluster = id;
	open[nr++] = column;
	while (nr) {
		const float *row = matrix_row(alike, open[--nr]);

		for (size_t j = 0; j < own; j++) {
			struct member *m = &ws->members[ws->columns[j]];

			if (row[j] == 0 || m->cluster != NO_CLUSTER)
				continue;
			m->cluster = id;
			open[nr++] = j;
		}
	}
}

void workloads_clusters(struct workloads *ws, const struct filter_output *estimated)
{
	size_t own = ws->nr_columns - (ws->nr_pooled > 0);

	ws->nr_clusters = 0;
	for (size_t i = 0; i < own && estimated->any_alike; i++) {
		const float *row = matrix_row(&estimated->alike, i);
		bool any = false;

		for (size_t j = 0; j < own; j++)
			any |= row[j] != 0;
		if (any && ws->members[ws->columns[i]].cluster == NO_CLUSTER)
			mark_cluster(ws, &estimated->alike, i, ws->nr_clusters++);
	}
	/* The pool is one cluster: nothing is known of single members. */
	if (!ws->nr_pooled)
		return;
	for (size_t i = 0; i < ws->nr; i++)
		if (ws->members[i].column == NO_COLUMN)
			ws->members[i].cluster = ws->nr_clusters;
	ws->nr_clusters++;
}
