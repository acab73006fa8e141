// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Workloads whose intensity is another one than it was. A level that was observed for seconds is
 * held to be certain, and others, which are not, would get what is too much or too little. So each
 * block is asked whether the bytes that were not predicted go with the activity of one workload.
 * What is known of that one is forgotten as far as it must be; what is known of others stays.
 */
#include <errno.h>
#include <math.h>
#include <string.h>

#include "engine/filter/constants.h"
#include "engine/filter/filter_state.h"

/*
 * By how much the level of each workload is off, and by how many standard deviations. If a level
 * were off by x, that would be a times x in the windows; the likeliest x is a' C^-1 y / a' C^-1 a.
 * Return: the most standard deviations.
 */
static double how_far(const struct filter *f, double *far, double *off)
{
	const struct work *w = f->work;
	double most = 0;

	for (size_t i = 1; i < w->n; i++) {
		double with = 0, own = 0;

		far[i] = off[i] = 0;
		if (f->state.entries[i].quiet_s < 0)
			continue; /* nothing is known of it yet */
		for (size_t t = 0; t < w->t; t++) {
			double v = matrix_row(&w->w, t)[i];

			with += v * w->white[t];
			own += v * v;
		}
		if (!(own > 0))
			continue;
		far[i] = fabs(with) / sqrt(own);
		off[i] = with / own;
		most = fmax(most, far[i]);
	}
	return most;
}

/*
 * If a level is off, it is forgotten as far as the block says; @ret: one was. If it may be that of
 * one or another, each is forgotten as far as it is likely.
 */
int filter_jump_find(struct filter *f, bool *ret)
{
	struct work *w = f->work;
	double far[FILTER_MAX_WORKLOADS + 1], off[FILTER_MAX_WORKLOADS + 1], most, rough, sum = 0;
	int err = matrix_room(&w->w, w->t, w->n);

	*ret = false;
	for (size_t t = 0; !err && t < w->t; t++)
		memcpy(matrix_row(&w->w, t), matrix_row(&w->a, t), w->n * sizeof(float));
	err = err ? err : matrix_cholesky_forward_all(w->l, w->t, &w->w, &w->tri);
	if (err)
		return err;
	/* Where all is further off than it may be, it is not because of one. */
	rough = sqrt(fmax(matrix_dot(w->white, w->white, w->t) / w->t, 1));
	most = how_far(f, far, off);
	if (most <= JUMPED * rough)
		return 0;
	for (size_t i = 1; i < w->n; i++)
		sum += exp(0.5 * (far[i] * far[i] - most * most));
	for (size_t i = 1; i < w->n; i++) {
		double more = off[i] * off[i] * exp(0.5 * (far[i] * far[i] - most * most)) / sum;

		w->widened[i] += more;
		matrix_row(&f->state.p, 2 * i)[2 * i] += more;
	}
	*ret = true;
	return 0;
}

/* The block is going to be solved again from the beginning. */
void filter_jump_forget(struct filter *f)
{
	struct work *w = f->work;

	for (size_t i = 0; i < w->n; i++) {
		matrix_row(&f->state.p, 2 * i)[2 * i] -= w->widened[i];
		w->widened[i] = 0;
	}
}
