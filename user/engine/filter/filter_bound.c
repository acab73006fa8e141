// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Activity that may be no more than so many bytes. A line that is written to memory has left an L2
 * dirty before: a workload has written no more lines than leave its L2. It may have written far
 * fewer, for the next cache takes some several times. And what that one took leaves it when
 * somebody else's read pushes it out: the counter shows it then, and seems to say that the reader
 * is intense.
 *
 * An event may also be off both ways, as by stores that pass the caches. Then an upper bound would take
 * bytes from those who are above it. Both kinds can be told apart: if a cache takes lines, some
 * workloads are far below the most, further than an event is off that is right on the whole, and
 * hardly anybody is surely above it.
 */
#include <math.h>

#include "engine/filter/constants.h"
#include "engine/filter/filter_state.h"

/*
 * Is it believed? Before totals are kept below it. @cov: of their errors. How far a workload is
 * from the most, by what its total may be off by: by its own error, by others' in its windows, and
 * by an event that is right on the whole.
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
