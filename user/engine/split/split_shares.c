// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Each workload's share of the windows it ran in. Elements are many, so loops are simple. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "engine/filter/wide.h"
#include "engine/split/internal.h"

/* Shares in proportion to activity. */
void split_in_proportion(const struct workloads *ws, const struct split_block *b,
			 struct counter_block *p)
{
	for (size_t w = 0; w < b->nr_windows; w++) {
		double sum = 0;

		for (size_t i = ws->first[w]; i < ws->first[w + 1]; i++)
			sum += p->x[i];
		/* Counts can be zero although there was CPU time: give() then uses CPU time. */
		for (size_t i = ws->first[w]; i < ws->first[w + 1]; i++)
			p->share[i] = sum > 0 ? p->x[i] / sum : 0;
	}
}

/*
 * Members that are divided together have a slot: a cluster, or behind those a column without one.
 * @ret: by member; @ret_columns: by column.
 */
static void find_slots(const struct workloads *ws, uint32_t *ret, uint32_t *ret_columns)
{
	for (size_t i = 0; i < ws->nr; i++) {
		const struct member *m = &ws->members[i];

		ret[i] = m->cluster != NO_CLUSTER ? m->cluster : ws->nr_clusters + m->column;
	}
	for (size_t j = 0; j < ws->nr_columns; j++)
		ret_columns[j] = ret[ws->columns[j]];
	if (ws->nr_pooled)
		ret_columns[ws->nr_columns - 1] = ws->nr_clusters - 1;
}

/*
 * Of a window: @share, which is its slot's, in proportion to activity in the slot, which is @all.
 */
static INLINE void divide_slots_any(const double *x, const double *all, double sum, size_t nr,
				    double *share)
{
	for (size_t i = 0; i < nr; i++)
		share[i] = share[i] * (x[i] / all[i]) / sum;
}

WIDE(static, void, divide_slots,
     (const double *x, const double *all, double sum, size_t nr, double *share),
     (x, all, sum, nr, share))

/*
 * Shares from the filter's bytes; inseparable ones by activity. A member that is alone in a slot
 * did all of its activity, so many elements need no division.
 */
int split_as_estimated(const struct workloads *ws, struct counter_block *p)
{
	double together[2 * FILTER_MAX_WORKLOADS + 1], activity[2 * FILTER_MAX_WORKLOADS + 1];
	cleanup_free uint32_t *slots = calloc(ws->nr + 1, sizeof(*slots));
	cleanup_free double *alls = calloc(ws->nr + 1, sizeof(*alls));
	size_t nr_slots = ws->nr_clusters + ws->nr_columns;
	uint32_t columns[FILTER_MAX_WORKLOADS];

	if (!slots || !alls)
		return -ENOMEM;
	find_slots(ws, slots, columns);
	for (size_t k = 0; k < p->nr_windows; k++) {
		const float *expected = matrix_row(&p->estimated->expected, k);
		size_t w = p->window[k], first = ws->first[w], nr = ws->first[w + 1] - first;
		double sum = p->estimated->background[k];

		memset(together, 0, nr_slots * sizeof(*together));
		memset(activity, 0, nr_slots * sizeof(*activity));
		for (size_t j = 0; j < ws->nr_columns; j++) {
			sum += expected[j];
			together[columns[j]] += expected[j];
		}
		for (size_t i = first; i < first + nr; i++)
			activity[slots[ws->of[i]]] += p->x[i];
		p->background[k] = sum > 0 ? p->estimated->background[k] / sum : 0;
		for (size_t i = 0; i < nr; i++) {
			uint32_t slot = slots[ws->of[first + i]];
			bool any = activity[slot] > 0 && sum > 0;

			alls[i] = any ? activity[slot] : 1;
			p->share[first + i] = any ? together[slot] : 0;
		}
		divide_slots(p->x + first, alls, sum > 0 ? sum : 1, nr, p->share + first);
	}
	return 0;
}

/* Shares as whole numbers; returns their sum. */
static INLINE uint64_t split_units_any(const double *share, size_t nr, uint64_t *ret)
{
	uint64_t sum = 0;

	for (size_t i = 0; i < nr; i++) {
		/* Far below 2^63, and signed numbers are faster to make. */
		ret[i] = (uint64_t)(int64_t)(share[i] * SPLIT_SHARE_UNITS);
		sum += ret[i];
	}
	return sum;
}

WIDE(, uint64_t, split_units, (const double *share, size_t nr, uint64_t *ret), (share, nr, ret))
