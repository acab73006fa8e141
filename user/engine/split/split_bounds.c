// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * The bounds of each row's bytes in a block.
 *
 * Three facts bound them: the error of the estimate; the times at which rows ran (a row that did
 * not run owns nothing of a window, a row that ran alone owns all of it); and, for inseparable
 * workloads, the prior of intensities.
 */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "engine/filter/constants.h"
#include "engine/split/internal.h"

/**
 * struct row_sum - a row of the block; first what each window needs, next to each other
 * @in_window: bytes in the window looked at; @mark: which one
 * @may: bytes of windows it ran in; @may_var: variance of what the counter's noise adds
 * @variance: of what is not loose, from the estimate and the noise
 * @early: bytes in its windows that others may have caused who did not run
 * @given: bytes; @exact: the same, to the unit
 * @loose: of these, given to members that cannot be told from those of other rows
 * @loose_low, @loose_high: bounds of these
 * @own, @own_var: as @may, for windows it was alone in
 * @little: of what is not loose: what it would be given if it moved nothing
 * @late: bytes it may have caused in windows it did not run in
 * @inseparable: it shares a cluster with other rows
 * @pooled: most of it is pooled
 */
struct row_sum {
	double in_window;
	size_t mark;
	double may, may_var;
	double variance;
	double early;
	double given;
	uint64_t exact;
	double loose, loose_low, loose_high;
	double own, own_var;
	double little;
	double late;
	bool inseparable;
	double pooled;
};

/**
 * struct cluster - members that cannot be told apart
 * @row: the row all of them are in, or SPLIT_NO_ROW when there are several
 * @given: bytes of all
 * @variance: of that
 * @pool: they are alike only in being small
 */
struct cluster {
	uint32_t row;
	double given;
	double variance;
	bool pool;
};

struct bounding {
	const struct workloads *ws;
	const struct split_block *b;
	const struct counter_block *p;
	struct row_sum *rows;
	uint32_t *member_row; /* of @rows, by member */
	bool single;	      /* no row has two members */
	struct cluster *clusters;
	size_t nr_clusters;
	uint32_t *column_row; /* row of a column that counts for one row alone */
	double noise;
	double total;
};

/* The rows that ran in a window, and their bytes there. */
static void bound_window(struct bounding *g, size_t k)
{
	const struct workloads *ws = g->ws;
	size_t w = g->p->window[k], rows = 0;
	double bytes = g->p->bytes[k], var = g->noise * bytes * g->noise * bytes;

	for (size_t i = ws->first[w]; i < ws->first[w + 1]; i++) {
		struct row_sum *r = &g->rows[g->member_row[ws->of[i]]];

		if (r->mark != k + 1) {
			r->mark = k + 1;
			r->in_window = 0;
			r->may += bytes;
			r->may_var += var;
			rows++;
		}
		r->in_window += g->p->given[i];
	}
	if (rows == 1) {
		struct row_sum *r = &g->rows[g->member_row[ws->of[ws->first[w]]]];

		r->own += bytes;
		r->own_var += var;
	}
	for (size_t i = ws->first[w]; i < ws->first[w + 1]; i++) {
		struct row_sum *r = &g->rows[g->member_row[ws->of[i]]];

		r->variance += g->noise * r->in_window * g->noise * g->p->given[i];
	}
}

/* The same if each element has a row of its own, as with processes: there is nothing to add up. */
static void bound_single(struct bounding *g, size_t k)
{
	const struct workloads *ws = g->ws;
	size_t w = g->p->window[k], first = ws->first[w], end = ws->first[w + 1];
	double bytes = g->p->bytes[k], noise = g->noise, var = noise * bytes * noise * bytes;

	for (size_t i = first; i < end; i++) {
		struct row_sum *r = &g->rows[g->member_row[ws->of[i]]];
		double given = g->p->given[i];

		r->may += bytes;
		r->may_var += var;
		r->variance += noise * given * noise * given;
	}
	if (end - first == 1) {
		struct row_sum *r = &g->rows[g->member_row[ws->of[first]]];

		r->own += bytes;
		r->own_var += var;
	}
}

/* Delayed bytes: the workloads that caused them may have stopped running. */
static void bound_lag(struct bounding *g, size_t k)
{
	const struct workloads *ws = g->ws;
	const float *carried = matrix_row(&g->p->estimated->carried, k);
	const float *expected = matrix_row(&g->p->estimated->expected, k);
	size_t w = g->p->window[k], own = ws->nr_columns - (ws->nr_pooled > 0);
	double gone = k < FILTER_LAGS ? g->p->estimated->carried_in[k] : 0, bytes = g->p->bytes[k];
	uint32_t late[FILTER_MAX_WORKLOADS];
	size_t nr = 0;

	/* Always, and only the step depends: a wrong guess of a branch costs more. */
	for (size_t j = 0; j < own; j++) {
		late[nr] = j;
		nr += !(expected[j] > 0) & !(carried[j] <= 0);
	}
	for (size_t i = 0; i < nr; i++) {
		gone += carried[late[i]];
		g->rows[ws->members[ws->columns[late[i]]].row].late += carried[late[i]];
	}
	if (!(gone > 0) || !(bytes > 0))
		return;
	for (size_t i = ws->first[w]; i < ws->first[w + 1]; i++)
		g->rows[g->member_row[ws->of[i]]].early += gone * (g->p->given[i] / bytes);
}

static void sum_clusters(struct bounding *g)
{
	const struct workloads *ws = g->ws;

	for (size_t i = 0; i < g->nr_clusters; i++)
		g->clusters[i].row = SPLIT_NO_ROW - 1; /* none yet */
	for (size_t i = 0; i < ws->nr; i++) {
		const struct member *m = &ws->members[i];
		struct cluster *cl;

		if (m->cluster == NO_CLUSTER)
			continue;
		cl = &g->clusters[m->cluster];
		cl->row = cl->row == SPLIT_NO_ROW - 1 || cl->row == m->row ? m->row : SPLIT_NO_ROW;
		cl->given += m->bytes;
	}
	if (ws->nr_pooled)
		g->clusters[g->nr_clusters - 1].pool = true;
}

/* Columns of the same number, in their order: @first of them, and the @next one or NO_COLUMN. */
struct equals {
	uint32_t first[FILTER_MAX_WORKLOADS];
	uint32_t next[FILTER_MAX_WORKLOADS];
};

/* @number: by column, @none when it has none; @nearest: scratch, by number */
static void find_equals(const uint32_t *number, size_t nr, uint32_t none, uint32_t *nearest,
			size_t nr_numbers, struct equals *ret)
{
	memset(nearest, 0xff, nr_numbers * sizeof(*nearest));
	for (size_t j = nr; j-- > 0;) {
		ret->first[j] = ret->next[j] = NO_COLUMN;
		if (number[j] == none)
			continue;
		ret->next[j] = nearest[number[j]];
		nearest[number[j]] = j;
	}
	for (size_t j = 0; j < nr; j++)
		if (number[j] != none)
			ret->first[j] = nearest[number[j]];
}

/* The covariances of @column with all columns of its number, itself among them. */
static void add_variance(const float *v, const struct equals *s, size_t column, double *to)
{
	for (uint32_t j = s->first[column]; j != NO_COLUMN; j = s->next[j])
		*to += v[j];
}

/* The estimate's errors, of rows and of clusters. */
static int sum_variances(struct bounding *g)
{
	const struct workloads *ws = g->ws;
	size_t nr_numbers = ws->nr_rows + 1 + g->nr_clusters;
	cleanup_free uint32_t *nearest = calloc(nr_numbers, sizeof(*nearest));
	uint32_t cluster[FILTER_MAX_WORKLOADS] = { 0 };
	struct equals rows, clusters;

	if (!nearest)
		return -ENOMEM;
	for (size_t j = 0; j < ws->nr_columns; j++) {
		bool pool = ws->nr_pooled && j + 1 == ws->nr_columns;
		const struct member *m = &ws->members[ws->columns[j]];

		cluster[j] = pool ? g->nr_clusters - 1 : m->cluster;
		if (cluster[j] == NO_CLUSTER)
			g->column_row[j] = m->row;
		else
			g->column_row[j] = g->clusters[cluster[j]].row;
		if (g->column_row[j] != SPLIT_NO_ROW)
			g->rows[g->column_row[j]].little += g->p->estimated->little[j];
	}
	find_equals(g->column_row, ws->nr_columns, SPLIT_NO_ROW, nearest, nr_numbers, &rows);
	find_equals(cluster, ws->nr_columns, NO_CLUSTER, nearest, nr_numbers, &clusters);
	for (size_t i = 0; i < ws->nr_columns; i++) {
		const float *v = matrix_row(&g->p->estimated->covariance, i);

		if (g->column_row[i] != SPLIT_NO_ROW)
			add_variance(v, &rows, i, &g->rows[g->column_row[i]].variance);
		if (cluster[i] != NO_CLUSTER)
			add_variance(v, &clusters, i, &g->clusters[cluster[i]].variance);
	}
	return 0;
}

/* Members that are inseparable from those of other rows have bounds of their own. */
static void bound_loose(struct bounding *g)
{
	const struct workloads *ws = g->ws;
	double spread = exp(Z_PRIOR * g->p->estimated->prior);

	for (size_t i = 0; i < ws->nr; i++) {
		const struct member *m = &ws->members[i];
		const struct cluster *cl;
		struct row_sum *r = &g->rows[m->row];
		double all;

		if (m->cluster == NO_CLUSTER)
			continue;
		cl = &g->clusters[m->cluster];
		if (cl->row != SPLIT_NO_ROW)
			continue;
		all = cl->given + Z_95 * sqrt(fmax(cl->variance, 0));
		r->loose += m->bytes;
		r->loose_low += filter_follows_traffic(g->p->kind) ? m->bytes / spread : 0;
		r->loose_high += fmin(all, m->bytes * spread);
		if (cl->pool)
			r->pooled += m->bytes;
		else
			r->inseparable = true;
	}
}

/* Rows that have members in the same clusters as this one. */
static size_t find_inseparable(const struct bounding *g, uint32_t row, uint32_t *ret)
{
	const struct workloads *ws = g->ws;
	size_t nr = 0;

	for (uint32_t other = 0; other < ws->nr_rows; other++)
		g->rows[other].mark = 0;
	for (size_t i = 0; i < ws->nr; i++) {
		uint32_t cluster = ws->members[i].cluster;

		if (ws->members[i].row != row || cluster == NO_CLUSTER || g->clusters[cluster].pool)
			continue;
		for (size_t j = 0; j < ws->nr; j++) {
			uint32_t other = ws->members[j].row;

			if (ws->members[j].cluster != cluster || other == row ||
			    other == ws->nr_rows || g->rows[other].mark)
				continue;
			g->rows[other].mark = 1;
			ret[nr++] = ws->rows[other];
		}
	}
	return nr;
}

/* Bytes from 0 to @max; anything that is no number is 0. */
uint64_t split_bound_whole(double v, double max)
{
	if (v > max)
		v = max;
	if (!(v > 0))
		return 0;
	return v >= 0x1p64 ? UINT64_MAX : (uint64_t)v;
}

/* The interval of one row; @lost is the fraction of the slices that is missing. */
static void interval(const struct bounding *g, const struct row_sum *r, double lost,
		     struct bounds *ret)
{
	double low, high, sure, below = 0, max = g->total;

	if (!g->p->estimated) {
		sure = low = r->own;
		high = r->may;
	} else {
		double sd = sqrt(fmax(r->variance, 0)), firm = r->given - r->loose;

		/* The minimum that every workload is given. */
		low = firm - Z_95 * sd > r->little ? firm - Z_95 * sd : 0;
		low += r->loose_low;
		sure = r->own - Z_95 * sqrt(r->own_var) - r->early;
		low = fmax(low - r->early, sure);
		if (!(low > 0))
			below = Z_95 * sd + r->little - firm - r->loose_low + r->early;
		high = firm + Z_95 * sd + r->loose_high;
		high = fmin(high, r->may + Z_95 * sqrt(r->may_var)) + r->late;
	}
	/* Missing slices may have run anywhere. */
	low *= fmax(1 - LOST_DOUBT * lost, 0);
	sure *= fmax(1 - LOST_DOUBT * lost, 0);
	high += fmin(LOST_DOUBT * lost, 1) * fmax(max - high, 0);
	/* Numbers this large are rounded; the given bytes lie inside all the same. */
	ret->low = split_bound_whole(low, max);
	ret->high = split_bound_whole(ceil(high), max);
	ret->below = split_bound_whole(below, r->exact);
	if (ret->low > r->exact)
		ret->low = r->exact;
	ret->sure = split_bound_whole(sure, ret->low);
	if (ret->sure > ret->low)
		ret->sure = ret->low;
	if (ret->below > r->exact)
		ret->below = r->exact;
	if (ret->high < r->exact)
		ret->high = r->exact;
}

static int hand_out(struct bounding *g, double lost, const struct split_sink *sink)
{
	cleanup_free uint32_t *inseparable = calloc(g->ws->nr_rows + 1, sizeof(*inseparable));
	int err = inseparable ? 0 : -ENOMEM;

	for (uint32_t i = 0; i < g->ws->nr_rows && !err; i++) {
		struct row_sum *r = &g->rows[i];
		struct bounds bounds = { .row = g->ws->rows[i], .separable = true };

		interval(g, r, lost, &bounds);
		bounds.pooled = split_bound_whole(r->pooled, (double)r->exact);
		if (bounds.pooled > r->exact)
			bounds.pooled = r->exact;
		if (r->inseparable && 2 * (r->loose - r->pooled) > r->given) {
			bounds.separable = false;
			bounds.inseparable = inseparable;
			bounds.nr_inseparable = find_inseparable(g, i, inseparable);
		} else if (2 * r->loose > r->given && bounds.high > MATTERS * g->total) {
			bounds.separable = false;
		}
		err = sink->bounds(sink->arg, g->p->counter, &bounds);
	}
	return err;
}

int split_bounds(const struct workloads *ws, const struct split_block *b,
		 const struct counter_block *p, double lost, const struct split_sink *sink)
{
	struct bounding g = { .ws = ws, .b = b, .p = p };
	cleanup_free struct row_sum *rows = calloc(ws->nr_rows + 1, sizeof(*rows));
	cleanup_free struct cluster *clusters = calloc(ws->nr_clusters + 1, sizeof(*clusters));
	cleanup_free uint32_t *column_row = calloc(ws->nr_columns + 1, sizeof(*column_row));
	cleanup_free uint32_t *member_row = calloc(ws->nr + 1, sizeof(*member_row));

	if (!rows || !clusters || !column_row || !member_row)
		return -ENOMEM;
	/* Workloads without a row share one row, the last. */
	g.single = true;
	for (size_t i = 0; i < ws->nr; i++) {
		member_row[i] = ws->members[i].row;
		g.single &= !rows[member_row[i]].mark++;
	}
	for (size_t i = 0; i <= ws->nr_rows; i++)
		rows[i].mark = 0;
	g.member_row = member_row;
	g.rows = rows;
	g.clusters = clusters;
	g.column_row = column_row;
	g.nr_clusters = p->estimated ? ws->nr_clusters : 0;
	g.noise = p->estimated ? p->estimated->noise : 0;
	for (size_t k = 0; k < p->nr_windows; k++) {
		g.total += p->bytes[k];
		(g.single ? bound_single : bound_window)(&g, k);
		if (p->estimated)
			bound_lag(&g, k);
	}
	for (size_t i = 0; i < ws->nr; i++) {
		struct row_sum *r = &rows[ws->members[i].row];

		r->exact += ws->members[i].bytes;
		r->given += ws->members[i].bytes;
	}
	if (p->estimated) {
		sum_clusters(&g);
		if (sum_variances(&g))
			return -ENOMEM;
		bound_loose(&g);
	}
	return hand_out(&g, lost, sink);
}
