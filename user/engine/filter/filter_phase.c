// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Phases that begin in the block. A phase fades, and changes a little from each window to the next:
 * it is an Ornstein-Uhlenbeck process. The change is called a shock here.
 *
 * Programs mostly continue as before, and sometimes change at once. If all shocks had the same
 * variance, such a change would be explained by several small ones of several workloads. So they
 * follow Student's t, which has heavier tails: each shock has a variance of its own, around the
 * usual one, and a solved block tells how large each was. With these variances it is solved again.
 */
#include <errno.h>
#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "engine/filter/constants.h"
#include "engine/filter/filter_state.h"
#include "engine/filter/wide.h"

static void fill_fading(struct filter *f, const struct filter_input *in)
{
	const double *middle_s = in->middle_s;
	struct fading *d = &f->work->fading;
	size_t t = f->work->t, size = t * sizeof(*middle_s);
	double tau_s = f->params.tau_s;

	if (d->t == t && d->tau_s == tau_s && !memcmp(d->middle_s, middle_s, size))
		return;
	d->t = t;
	d->tau_s = tau_s;
	memcpy(d->middle_s, middle_s, size);
	for (size_t i = 0; i < t; i++)
		for (size_t j = 0; j <= i; j++)
			d->v[i * t + j] = exp(-(middle_s[i] - middle_s[j]) / tau_s);
}

void filter_phase_prepare(struct filter *f, const struct filter_input *in)
{
	struct work *w = f->work;
	double last_s = 0;

	for (size_t t = 0; t <= w->t; t++) {
		double now_s = t < w->t ? in->middle_s[t] : in->block_s;

		w->keep[t] = exp(-(now_s - last_s) / f->params.tau_s);
		last_s = now_s;
	}
	fill_fading(f, in);
}

/* All shocks are as usual. */
void filter_phase_calm(struct filter *f)
{
	struct work *w = f->work;

	for (size_t t = 0; t < w->t; t++) {
		float *shock = matrix_row(&w->shock, t);

		for (size_t i = 0; i < w->n; i++)
			shock[i] = 1;
	}
}

/* Variances of phases; true when they have changed. */
bool filter_phase_sizes(struct filter *f)
{
	struct work *w = f->work;
	bool changed = false;

	for (size_t i = 0; i < f->state.nr; i++) {
		const struct filter_entry *e = &f->state.entries[i];
		double sd = i ? f->phase * e->scale : filter_state_bursts(f, e);

		changed |= w->phase_var[i] != sd * sd;
		w->phase_var[i] = sd * sd;
	}
	return changed;
}

/*
 * Variance of a phase in a window, as far as it began in the block: the rest of that in the window
 * before, and a shock. A usual shock keeps the long-run variance of phases.
 */
static inline double begun_variance(double before, double keep, double shock, double phase_var)
{
	return keep * keep * before + (1 - keep * keep) * shock * phase_var;
}

static INLINE void fill_begun_any(struct work *w)
{
	for (size_t t = 0; t < w->t; t++) {
		const float *before = t ? matrix_row(&w->begun, t - 1) : NULL;
		const float *shock = matrix_row(&w->shock, t), *a = matrix_row(&w->a, t);
		float *begun = matrix_row(&w->begun, t), *q = matrix_row(&w->q, t);
		double keep = w->keep[t];

		for (size_t i = 0; i < w->n; i++) {
			double was = before ? before[i] : 0;

			begun[i] = begun_variance(was, keep, shock[i], w->phase_var[i]);
			q[i] = a[i] * begun[i];
		}
	}
}

WIDE(static, void, fill_begun, (struct work * w), (w))

/* The covariance of a phase between two windows is the faded variance of the earlier one. */
static INLINE void fade_any(struct work *w)
{
	for (size_t i = 0; i < w->t; i++) {
		float *c1 = matrix_row(&w->c1, i);
		const double *left = w->fading.v + i * w->t;

		for (size_t j = 0; j <= i; j++)
			c1[j] *= left[j];
	}
}

WIDE(static, void, fade, (struct work * w), (w))

/* Covariance of the bytes that comes from phases that begin in the block. */
int filter_phase_cover(struct filter *f)
{
	struct work *w = f->work;
	int err = matrix_resize(&w->c1, w->t, w->t);

	if (err)
		return err;
	fill_begun(w);
	err = matrix_transpose(&w->q, &w->av);
	if (err)
		return err;
	matrix_set_lower_of(&w->c1, 1, &w->at, &w->av, w->n);
	fade(w);
	return 0;
}

/*
 * Ks * x for each workload, where Ks is the covariance of its phases that begin in the block. Two
 * passes instead of a product.
 */
static INLINE int filter_phase_times_any(const struct work *w, const struct matrix *x,
					 struct matrix *ret)
{
	double *run = calloc(w->n, sizeof(*run));

	if (!run)
		return -ENOMEM;
	for (size_t t = 0; t < w->t; t++) {
		const float *xt = matrix_row(x, t), *begun = matrix_row(&w->begun, t);
		float *rt = matrix_row(ret, t);

		for (size_t i = 0; i < w->n; i++) {
			run[i] = run[i] * w->keep[t] + (double)begun[i] * xt[i];
			rt[i] = run[i];
		}
	}
	memset(run, 0, w->n * sizeof(*run));
	for (size_t t = w->t; t-- > 1;) {
		const float *xt = matrix_row(x, t), *begun = matrix_row(&w->begun, t - 1);
		float *rt = matrix_row(ret, t - 1);

		for (size_t i = 0; i < w->n; i++) {
			run[i] = (run[i] + xt[i]) * w->keep[t];
			rt[i] += begun[i] * run[i];
		}
	}
	free(run);
	return 0;
}

WIDE(, int, filter_phase_times, (const struct work *w, const struct matrix *x, struct matrix *ret),
     (w, x, ret))

/*
 * Workloads whose phases move most bytes have shocks of their own. Sudden changes of others are
 * small beside these, and the time for a block does not grow with many workloads.
 */
static INLINE void choose_shaken_any(struct work *w)
{
	double moves[FILTER_MAX_WORKLOADS + 1] = { 0 };

	for (size_t t = 0; t < w->t; t++) {
		const float *a = matrix_row(&w->a, t);

		for (size_t i = 1; i < w->n; i++)
			moves[i] += (double)a[i] * a[i];
	}
	for (size_t i = 1; i < w->n; i++)
		moves[i] *= w->phase_var[i];
	for (w->nr_shaken = 0; w->nr_shaken < MAX_SHAKEN; w->nr_shaken++) {
		size_t max = 0;

		for (size_t i = 1; i < w->n; i++)
			max = moves[i] > moves[max] ? i : max;
		if (!max)
			break;
		moves[max] = 0;
		w->shaken[w->nr_shaken] = max;
	}
}

WIDE(static, void, choose_shaken, (struct work * w), (w))

/* Activity of these workloads, a column each, and a row each. */
static int gather_shaken(struct work *w)
{
	int err = matrix_resize(&w->few, w->t, w->nr_shaken);

	for (size_t t = 0; !err && t < w->t; t++)
		for (size_t k = 0; k < w->nr_shaken; k++)
			matrix_row(&w->few, t)[k] = matrix_row(&w->a, t)[w->shaken[k]];
	return err ? err : matrix_transpose(&w->few, &w->few_rows);
}

/*
 * Into w, by window s: the sum over t from s on of (C^-1)_st times the fraction of s that is left
 * in t, times a.
 */
static INLINE void fill_faded_any(struct work *w)
{
	for (size_t s = 0; s < w->t; s++) {
		float *to = matrix_row(&w->w, s);

		memset(to, 0, w->nr_shaken * sizeof(*to));
		for (size_t t = s; t < w->t; t++) {
			const float *a = matrix_row(&w->few, t);
			float inv = (t == s ? 1 : 2) * matrix_row(&w->inv, t)[s] *
				    w->fading.v[t * w->t + s];

			for (size_t k = 0; k < w->nr_shaken; k++)
				to[k] += inv * a[k];
		}
	}
}

WIDE(static, void, fill_faded, (struct work * w), (w))

/*
 * The block's estimate of each shock: with q its variance and h its contribution to the bytes, its
 * mean is q h' C^-1 y, and its variance q - q h' C^-1 h q. Computed from the last window backwards,
 * because the later contribution of a shock is its faded rest. Its new variance is that of a t,
 * given its square: (tail + square) / (tail + 1) of the usual one.
 */
static void weigh(struct filter *f)
{
	struct work *w = f->work;
	double with[MAX_SHAKEN] = { 0 }, own[MAX_SHAKEN] = { 0 }, tail = f->params.tail;

	for (size_t t = w->t; t-- > 0;) {
		const float *a = matrix_row(&w->few, t), *faded = matrix_row(&w->w, t);
		float *shock = matrix_row(&w->shock, t);
		double left = t + 1 < w->t ? w->keep[t + 1] : 0;
		double fraction = 1 - w->keep[t] * w->keep[t];

		for (size_t k = 0; k < w->nr_shaken; k++) {
			size_t i = w->shaken[k];
			double usual = max_of(fraction * w->phase_var[i], DBL_MIN);
			double q = shock[i] * usual, mean, square;

			with[k] = with[k] * left + a[k] * w->alpha[t];
			own[k] = own[k] * left * left + (double)a[k] * faded[k];
			mean = q * with[k];
			square = mean * mean + max_of(q - q * own[k] * q, 0);
			shock[i] = (tail + square / usual) / (tail + 1);
		}
	}
}

/* Their phases' variances with these shocks, and the change of c1; as fill_begun(). */
static int cover_shaken(struct work *w)
{
	int err = matrix_resize(&w->change, w->t, w->nr_shaken);

	err = err ? err : matrix_resize(&w->w, w->t, w->t);
	if (err)
		return err;
	for (size_t t = 0; t < w->t; t++) {
		const float *before = t ? matrix_row(&w->begun, t - 1) : NULL;
		const float *shock = matrix_row(&w->shock, t), *a = matrix_row(&w->few, t);
		float *begun = matrix_row(&w->begun, t), *change = matrix_row(&w->change, t);

		for (size_t k = 0; k < w->nr_shaken; k++) {
			size_t i = w->shaken[k];
			float was = begun[i];

			begun[i] = begun_variance(before ? before[i] : 0, w->keep[t], shock[i],
						  w->phase_var[i]);
			change[k] = a[k] * (begun[i] - was);
		}
	}
	err = matrix_transpose(&w->change, &w->av);
	if (err)
		return err;
	matrix_set_lower_of(&w->w, 1, &w->few_rows, &w->av, w->nr_shaken);
	for (size_t i = 0; i < w->t; i++) {
		const float *more = matrix_row(&w->w, i);
		float *c1 = matrix_row(&w->c1, i);
		const double *left = w->fading.v + i * w->t;

		for (size_t j = 0; j <= i; j++)
			c1[j] += more[j] * left[j];
	}
	return 0;
}

/* The solved block tells how large shocks were: from here on c1 contains that. */
int filter_phase_shock(struct filter *f)
{
	struct work *w = f->work;
	int err;

	choose_shaken(w);
	if (!w->nr_shaken)
		return 0;
	err = gather_shaken(w);
	err = err ? err : matrix_cholesky_inverse(w->l, w->t, &w->inv, &w->w, &w->tri);
	err = err ? err : matrix_resize(&w->w, w->t, w->nr_shaken);
	if (err)
		return err;
	fill_faded(w);
	weigh(f);
	return cover_shaken(w);
}
