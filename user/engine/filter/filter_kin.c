// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * A program that is started again and again is a new workload each time, but its intensity is
 * nearly that of the runs before. What is known of one of these, its kin, is what is known of the
 * new one beforehand, and runs differ by a fraction of it. Both are wrong together: the new one has
 * the covariance of its kin with everybody, and what is learned of one is learned of the other.
 *
 * Kin of those that go on is another matter. Parents that wait have the name of the children that
 * do their work, and managers that of their workers.
 */
#include <math.h>
#include <string.h>

#include "engine/filter/constants.h"
#include "engine/filter/filter_state.h"

/* The first or the last window in which a workload did something. */
static size_t edge_of(const struct filter_input *in, size_t i, bool last)
{
	for (size_t k = 0; k < in->nr_windows; k++) {
		size_t t = last ? in->nr_windows - 1 - k : k;

		if (matrix_row(in->activity, t)[i] > 0)
			return t;
	}
	return last ? 0 : in->nr_windows;
}

/*
 * Whose level a new workload has: the entry of its kin of which most is known, of those that have
 * ended or have not run since it began.
 * @column: which of the block's workloads an entry is, from 1 on; 0: none
 * Return: an entry of the state; SIZE_MAX: there is none.
 */
size_t filter_kin_find(const struct filter *f, const struct filter_input *in, const size_t *column,
		       size_t i)
{
	const struct filter_state *s = &f->state;
	size_t best = SIZE_MAX;

	if (!(f->params.kin > 0) || !in->kin || !in->kin[i])
		return SIZE_MAX;
	for (size_t k = 1; k < s->nr; k++) {
		const struct filter_entry *e = &s->entries[k];

		if (e->kin != in->kin[i])
			continue;
		if (!e->ended && column[k] &&
		    edge_of(in, column[k] - 1, true) >= edge_of(in, i, false))
			continue;
		if (best == SIZE_MAX ||
		    matrix_row(&s->p, 2 * k)[2 * k] < matrix_row(&s->p, 2 * best)[2 * best])
			best = k;
	}
	return best;
}

/* What runs of a program differ by comes on top of what is known of its level. */
void filter_kin_widen(const struct filter *f, double *mean, double *variance)
{
	*mean = fmax(*mean, 0);
	*variance += f->params.kin * f->params.kin * (*mean * *mean + *variance);
}

/* An entry that is a copy of its kin's becomes that of a new workload: phases are its own. */
void filter_kin_enter(const struct filter *f, struct filter_state *s, size_t i, uint32_t workload)
{
	struct filter_entry *e = &s->entries[i];
	float *level = matrix_row(&s->p, 2 * i), *phase = matrix_row(&s->p, 2 * i + 1);
	double variance = level[2 * i], sd;

	filter_kin_widen(f, &s->mean[2 * i], &variance);
	level[2 * i] = variance;
	s->mean[2 * i + 1] = 0;
	memset(phase, 0, 2 * s->nr * sizeof(*phase));
	for (size_t j = 0; j < 2 * s->nr; j++)
		matrix_row(&s->p, j)[2 * i + 1] = 0;
	*e = (struct filter_entry){
		.workload = workload,
		.alone = { false, true },
		.scale = fmax(sqrt(s->mean[2 * i] * s->mean[2 * i] + variance),
			      SMALLEST_SCALE * f->mean),
		.since_s = NOT_YET,
	};
	sd = f->phase * e->scale;
	phase[2 * i + 1] = sd * sd;
}

/*
 * The same of kin that has left the state: the last one that did. It stays for the next one. Those
 * that left too long ago are gone: the workload itself was looked for before, see unpark().
 */
bool filter_kin_recall(const struct filter *f, uint64_t kin, struct parked *ret)
{
	const struct parked *best = NULL;

	for (size_t k = 0; f->params.kin > 0 && kin && k < f->nr_parked; k++) {
		const struct parked *p = &f->parked[k];

		if (p->kin == kin &&
		    (!best || p->since_s > best->since_s ||
		     (p->since_s == best->since_s && p->variance < best->variance)))
			best = p;
	}
	if (best)
		*ret = *best;
	return best != NULL;
}

/* The place of one that has ended: one for each program is enough. SIZE_MAX: there is none. */
size_t filter_kin_parked(const struct filter *f, uint64_t kin)
{
	for (size_t k = 0; k < f->nr_parked; k++)
		if (f->parked[k].workload == NO_WORKLOAD && f->parked[k].kin == kin)
			return k;
	return SIZE_MAX;
}
