// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * A program that is started again and again is a new workload each time, but its intensity is
 * nearly that of its earlier runs. The knowledge of one of these, its kin, is the prior of the new
 * one; runs differ by a fraction of it. Both are wrong together: the new one has the covariance of
 * its kin with all others, and evidence on one is evidence on the other.
 *
 * Kin that is still running is another matter. Parents that wait have the same name as the children
 * that do their work, and managers that of their workers.
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
 * The entry whose level a new workload starts with: the best known one of its kin that has ended or
 * has not run since the new one began. @column: number of an entry's workload in the block, from 1
 * on; 0: none. Return: an entry of the state; SIZE_MAX: there is none.
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

/* The spread between runs of a program is added to the uncertainty of its level. */
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
 * The same for kin that has left the state: the last one that did. It stays for the next run.
 * Entries parked for too long are gone by now: unpark() looked for the workload itself first.
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
