// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Workloads whose intensity has changed. A level that was observed for seconds is held to be
 * certain, and the excess or deficit would go to others, which are not. So each block is checked:
 * do the bytes that were not predicted follow the activity of one workload? The knowledge of that
 * one is forgotten as far as necessary; that of all others stays.
 *
 * A level may also change within the block. There are as many candidate windows for that as the
 * block has, and phases look alike: so this explanation must be far likelier than any other.
 */
#include <errno.h>
#include <math.h>
#include <string.h>

#include "engine/filter/constants.h"
#include "engine/filter/filter_state.h"
#include "engine/filter/wide.h"

/* The product of each workload's whitened activity with the bytes, and with itself. */
static INLINE void fill_common_any(const struct work *w, double *with, double *own)
{
	memset(with, 0, w->n * sizeof(*with));
	memset(own, 0, w->n * sizeof(*own));
	for (size_t t = 0; t < w->t; t++) {
		const float *row = matrix_row(&w->w, t);
		double white = w->white[t];

		for (size_t i = 1; i < w->n; i++) {
			double v = row[i];

			with[i] += v * white;
			own[i] += v * v;
		}
	}
}

WIDE(static, void, fill_common, (const struct work *w, double *with, double *own), (w, with, own))

/*
 * How far the level of each workload is off, also in standard deviations. A level that is off by x
 * adds a times x to the windows; the likeliest x is a' C^-1 y / a' C^-1 a. Return: the largest
 * number of standard deviations.
 */
static double how_far(const struct filter *f, double *far, double *off)
{
	const struct work *w = f->work;
	double max = 0;

	fill_common(w, far, off);
	for (size_t i = 1; i < w->n; i++) {
		double with = far[i], own = off[i];

		far[i] = off[i] = 0;
		/* Those that are new have no level that could be wrong. */
		if (f->state.entries[i].quiet_s < 0 || !(own > 0))
			continue;
		far[i] = fabs(with) / sqrt(own);
		off[i] = with / own;
		max = fmax(max, far[i]);
	}
	return max;
}

/* Covariance of the bytes that comes from a level that changes. */
static void cover(struct work *w, const struct step *s)
{
	const float *a = matrix_row(&w->at, s->entry);

	for (size_t i = s->from; i < w->t; i++) {
		float *c0 = matrix_row(&w->c0, i);

		for (size_t j = s->from; j <= i; j++)
			c0[j] += s->variance * a[i] * a[j];
	}
}

void filter_jump_cover(struct work *w)
{
	for (size_t k = 0; k < w->nr_steps; k++)
		cover(w, &w->steps[k]);
}

/*
 * Into w: the contribution of the windows from each one on to a' C^-1 a, divided by a of that one.
 */
static INLINE void fill_own_any(struct work *w)
{
	for (size_t s = 0; s < w->t; s++) {
		float *to = matrix_row(&w->w, s);

		memset(to, 0, w->n * sizeof(*to));
		for (size_t t = s; t < w->t; t++) {
			const float *a = matrix_row(&w->a, t);
			float inv = (t == s ? 1 : 2) * matrix_row(&w->inv, t)[s];

			for (size_t i = 0; i < w->n; i++)
				to[i] += inv * a[i];
		}
	}
}

WIDE(static, void, fill_own, (struct work * w), (w))

/*
 * The likeliest window from which on an entry's level is off; as how_far(), with an a that is 0
 * before it. Return: the square of the deviations, 0 for none.
 */
static double likeliest_step(const struct work *w, size_t i, struct step *ret)
{
	double with = 0, own = 0, max = 0;
	int behind = 0, all = 0;

	for (size_t t = 0; t < w->t; t++)
		all += matrix_row(&w->raw, t)[i] > 0;
	for (size_t s = w->t; s-- > 1;) {
		double a = matrix_row(&w->a, s)[i];

		with += a * w->alpha[s];
		own += a * matrix_row(&w->w, s)[i];
		behind += matrix_row(&w->raw, s)[i] > 0;
		if (behind < STEP_WINDOWS || all - behind < STEP_WINDOWS || !(own > 0))
			continue;
		if (with * with / own <= max)
			continue;
		max = with * with / own;
		*ret = (struct step){ i, s, max / own };
	}
	return max;
}

/*
 * Does one level change from some window on, beyond doubt? @level: deviation of one that is off all
 * the time; @rough: factor by which all deviations exceed what they may be, as variances.
 */
static int find_step(struct filter *f, double level, double rough, bool *ret)
{
	struct work *w = f->work;
	double max = 0, second = 0, odds;
	struct step step;
	int err;

	*ret = false;
	/*
	 * Weights already contain the changes of intensity. And a block that was predicted well has
	 * no such level: most blocks need no more work.
	 */
	if (!f->params.limited || w->nr_steps == MAX_STEPS ||
	    matrix_dot(w->white, w->white, w->t) < w->t)
		return 0;
	err = matrix_cholesky_inverse(w->l, w->t, &w->inv, &w->w, &w->tri);
	err = err ? err : matrix_resize(&w->w, w->t, w->n);
	if (!err)
		fill_own(w);
	for (size_t i = 1; !err && i < w->n; i++) {
		struct step of = { 0 };
		double far = 0;

		if (f->state.entries[i].quiet_s >= 0)
			far = likeliest_step(w, i, &of);
		second = fmax(second, fmin(far, max));
		if (far <= max)
			continue;
		max = far;
		step = of;
	}
	odds = 0.5 * max / rough - log((double)w->n * w->t);
	if (err || odds < STEPPED || 0.5 * (max - level * level) < STEP_OVER ||
	    0.5 * (max - second) < STEP_ALONE)
		return err;
	w->steps[w->nr_steps++] = step;
	cover(w, &step);
	*ret = true;
	return 0;
}

/* Contribution of the steps to intensities and totals. */
void filter_jump_total(struct work *w)
{
	for (size_t k = 0; k < w->nr_steps; k++) {
		const struct step *s = &w->steps[k];
		double more = 0;

		for (size_t t = s->from; t < w->t; t++)
			more += s->variance * matrix_row(&w->a, t)[s->entry] * w->alpha[t];
		for (size_t t = s->from; t < w->t; t++) {
			matrix_row(&w->theta, t)[s->entry] += more;
			w->total[s->entry] += more * matrix_row(&w->raw, t)[s->entry];
		}
	}
}

/* The covariance of that: @q of totals and bytes, @to of totals. */
void filter_jump_covariance(const struct work *w, struct matrix *q, struct matrix *to)
{
	for (size_t k = 0; k < w->nr_steps; k++) {
		const struct step *s = &w->steps[k];
		size_t i = s->entry;
		double sum = 0;

		for (size_t t = s->from; t < w->t; t++)
			sum += matrix_row(&w->raw, t)[i];
		for (size_t t = s->from; t < w->t; t++)
			matrix_row(q, t)[i] += s->variance * sum * matrix_row(&w->a, t)[i];
		matrix_row(to, i)[i] += s->variance * sum * sum;
	}
}

/* At the end of the block the new level holds. */
void filter_jump_advance(struct filter *f)
{
	struct work *w = f->work;

	for (size_t k = 0; k < w->nr_steps; k++) {
		const struct step *s = &w->steps[k];
		size_t level = 2 * s->entry;

		for (size_t t = s->from; t < w->t; t++)
			matrix_row(&w->g, t)[level] += s->variance * matrix_row(&w->a, t)[s->entry];
		matrix_row(&f->state.p, level)[level] += s->variance;
	}
}

/*
 * If a level is off, it is forgotten as far as the block demands; @ret: one was. If several levels
 * could explain it, each is forgotten in proportion to its likelihood.
 */
int filter_jump_find(struct filter *f, bool *ret)
{
	struct work *w = f->work;
	double far[FILTER_MAX_WORKLOADS + 1], off[FILTER_MAX_WORKLOADS + 1], max, rough, sum = 0;
	int err = matrix_resize(&w->w, w->t, w->n);

	*ret = false;
	for (size_t t = 0; !err && t < w->t; t++)
		memcpy(matrix_row(&w->w, t), matrix_row(&w->a, t), w->n * sizeof(float));
	err = err ? err : matrix_cholesky_forward_all(w->l, w->t, &w->w, &w->tri);
	if (err)
		return err;
	/* If all predictions are worse than they may be, the cause is not a single level. */
	rough = sqrt(fmax(matrix_dot(w->white, w->white, w->t) / w->t, 1));
	max = how_far(f, far, off);
	err = find_step(f, max, rough * rough, ret);
	if (err || *ret)
		return err;
	if (max <= JUMPED * rough)
		return 0;
	for (size_t i = 1; i < w->n; i++)
		sum += exp(0.5 * (far[i] * far[i] - max * max));
	for (size_t i = 1; i < w->n; i++) {
		double more = off[i] * off[i] * exp(0.5 * (far[i] * far[i] - max * max)) / sum;

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

	w->nr_steps = 0;
	for (size_t i = 0; i < w->n; i++) {
		matrix_row(&f->state.p, 2 * i)[2 * i] -= w->widened[i];
		w->widened[i] = 0;
	}
}
