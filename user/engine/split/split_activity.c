// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Activity from counts of core events. For writes it may be the lines that left an L2, or the lines
 * that were read, whichever is smaller. The next cache takes a line several times, and memory gets
 * it once. A program that works in that cache makes many lines leave its L2 and reads few; it
 * hardly writes lines that it has not read.
 *
 * Stores that pass the caches, or clear whole lines, write lines that nobody reads. So the data
 * must show that the smaller of both follows the counter better. The test uses the simplest model,
 * one intensity for all workloads, which needs no learned state.
 */
#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "engine/filter/constants.h"
#include "engine/split/internal.h"
#include "tables/weight_rows.h"

/*
 * Activity in the counts of a core event. CPU time without counts is taken to be like the rest of
 * the workload's, or like that of the others. False when too little was counted.
 */
bool split_activity_counts(const struct split_block *b, uint32_t weight, double *x)
{
	double on_cpu = 0, covered = 0, counted = 0, others;

	for (size_t i = 0; i < b->nr; i++) {
		const struct activity *a = &b->activity[i];

		on_cpu += a->on_cpu_ns;
		covered += a->weights_ns;
		counted += a->weights[weight];
	}
	if (covered < COVERED * on_cpu || counted <= 0)
		return false;
	others = counted / covered;
	for (size_t i = 0; i < b->nr; i++) {
		const struct activity *a = &b->activity[i];
		double rest = a->on_cpu_ns > a->weights_ns ? a->on_cpu_ns - a->weights_ns : 0;
		double own = 2 * a->weights_ns >= a->on_cpu_ns
				     ? (double)a->weights[weight] / a->weights_ns
				     : others;

		x[i] = a->weights[weight] + rest * own;
	}
	return true;
}

bool split_minimum_find(const struct trace_header *h, uint32_t written,
			struct split_weight_pair *ret)
{
	double max = weight_max_written(h->weights[written]);

	for (uint32_t k = 0; max > 0 && k < h->nr_weights; k++) {
		double bytes = weight_bytes_read(h->weights[k]);

		if (bytes > 0) {
			*ret = (struct split_weight_pair){ written, k, bytes / max };
			return true;
		}
	}
	return false;
}

/* Counts of a slice, as the activity of its workload has them. */
static double count_of(const struct long_slice *l, const struct split_weight_pair *of, bool minimum)
{
	double written = l->weights[of->written];

	return minimum ? fmin(written, of->ratio * l->weights[of->read]) : written;
}

int split_activity_slices(const struct trace_header *h, const struct workloads *ws,
			  const struct split_block *b, const struct counter_block *p,
			  struct filter_slice **ret, size_t *ret_nr)
{
	struct split_weight_pair of = { .written = p->x_of % TRACE_MAX_WEIGHTS };
	bool minimum = p->kind == FILTER_MINIMUM && split_minimum_find(h, of.written, &of);
	double start = b->windows[0].start_ns;
	struct filter_slice *slices;

	*ret_nr = 0;
	*ret = NULL;
	if (!b->nr_longs || !filter_follows_traffic(p->kind))
		return 0;
	*ret = slices = calloc(b->nr_longs, sizeof(*slices));
	if (!slices)
		return -ENOMEM;
	for (size_t i = 0; i < b->nr_longs; i++) {
		const struct long_slice *l = &b->longs[i];
		const struct member *m = workloads_find(ws, l->workload);

		if (!m)
			continue; /* all of it is in a gap between windows */
		slices[(*ret_nr)++] = (struct filter_slice){
			.column = m->column == NO_COLUMN ? ws->nr_columns - 1 : m->column,
			.start_s = (l->start_ns - start) / 1e9,
			.end_s = (l->end_ns - start) / 1e9,
			.whole_start_s = (l->whole_start_ns - start) / 1e9,
			.whole_end_s = (l->whole_end_ns - start) / 1e9,
			.count = count_of(l, &of, minimum),
		};
	}
	return 0;
}

/* Sum of squares that one intensity for all leaves unexplained. */
static double misfit(const struct counter_block *p, const double *x)
{
	double xx = 0, xy = 0, yy = 0;

	for (size_t k = 0; k < p->nr_windows; k++) {
		double y = p->bytes[k];

		xx += x[k] * x[k];
		xy += x[k] * y;
		yy += y * y;
	}
	return xx > 0 ? yy - xy * xy / xx : yy;
}

bool split_minimum_judge(struct split_minimum *f, const struct workloads *ws,
			 const struct split_block *b, const struct counter_block *p,
			 const struct split_weight_pair *of)
{
	double left[SPLIT_MAX_WINDOWS] = { 0 }, minimum[SPLIT_MAX_WINDOWS] = { 0 }, more;

	for (size_t k = 0; k < p->nr_windows; k++) {
		size_t w = p->window[k];

		for (size_t i = ws->first[w]; i < ws->first[w + 1]; i++) {
			const uint64_t *counts = b->activity[i].weights;

			left[k] += p->ratio[k] * counts[of->written];
			minimum[k] += p->ratio[k] *
				      fmin(counts[of->written], of->ratio * counts[of->read]);
		}
	}
	more = p->nr_windows / 2.0 * log(misfit(p, left) / misfit(p, minimum));
	f->evidence = MINIMUM_KEPT * f->evidence +
		      (isfinite(more) ? fmax(fmin(more, MINIMUM_SAYS), -MINIMUM_SAYS) : 0);
	f->holds = f->evidence > (f->holds ? 0 : MINIMUM_SURE);
	return f->holds;
}

bool split_minimum_take(const struct split_block *b, const struct split_weight_pair *of,
			struct counter_block *p)
{
	double *read = p->share; /* scratch: shares are not found yet */

	if (!split_activity_counts(b, of->read, read))
		return false;
	for (size_t i = 0; i < b->nr; i++)
		p->x[i] = fmin(p->x[i], of->ratio * read[i]);
	p->kind = FILTER_MINIMUM;
	return true;
}
