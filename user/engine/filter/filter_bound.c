// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Activity as an upper bound of bytes. A line that is written to memory has left an L2 dirty
 * before: a workload cannot have written more lines than left its L2. It may have written far
 * fewer, because the next cache takes some of them several times. Lines kept there leave it when
 * somebody else's read pushes them out: the counter shows them then, which makes the reader look
 * intense.
 *
 * An event may also be off in both directions, for example by stores that pass the caches. Then an
 * upper bound would take bytes from workloads that are above it. The two cases can be told apart:
 * if a cache keeps lines, some workloads are far below the bound, further than the error of an
 * event that is right on the whole, and hardly any is surely above it.
 */
#include <math.h>

#include "engine/filter/constants.h"
#include "engine/filter/filter_state.h"

/*
 * Is the bound believed? Asked before totals are kept below it. @cov: of the totals' errors. The
 * distance of a workload from the bound is measured by three errors of its total: its own, those of
 * others in its windows, and that of an event that is right on the whole.
 */
void filter_bound_judge(struct filter *f, const struct filter_input *in, const struct matrix *cov)
{
	const struct work *w = f->work;
	double others[FILTER_MAX_WORKLOADS + 1], below = 0, above = 0;

	filter_simple_others(f, in, others);
	for (size_t i = 1; i < w->n; i++) {
		double max = in->bound * w->sum[i], off = w->total[i] - max;
		double beside = f->params.beside * others[i - 1], event = f->params.prior * max;
		double variance = fmax(matrix_row(cov, i)[i], 0) + beside * beside + event * event;

		if (!(max > 0) || !(variance > 0))
			continue;
		if (off > 0)
			above += off * off / variance;
		else
			below += off * off / variance;
	}
	f->bound.evidence = BOUND_KEPT * f->bound.evidence + below - BOUND_AGAINST * above;
	f->bound.holds = f->bound.evidence > BOUND_SURE;
}
