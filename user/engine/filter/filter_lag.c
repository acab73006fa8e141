// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Activity and its traffic are not at the same time: write-back comes later, and data of a
 * request move before it is noted as completed.
 */
#include <math.h>

#include "engine/filter/constants.h"
#include "engine/filter/filter_state.h"

/*
 * Data of I/O move some milliseconds at most before it is noted. A weight: the inverse
 * variance of what is expected beforehand.
 */
#define LEAD_KNOWN (1 / (LEAD_SPREAD_S * LEAD_SPREAD_S))

/* Bytes in the first window, at a lag of a whole one, of those who have stopped. */
double filter_lag_carried(const struct filter *f)
{
	const struct filter_state *s = &f->state;
	double sum = 0;

	for (size_t i = f->work->n; i < s->nr; i++)
		sum += fmax(s->mean[2 * i] + s->mean[2 * i + 1], 0) * s->entries[i].last;
	return sum;
}

/* Part of it shows one window later. */
static void with_lag(const struct filter *f, const struct filter_input *in, size_t t)
{
	const struct work *w = f->work;
	const float *x = matrix_row(in->activity, t);
	float *raw = matrix_row(&w->raw, t), *a = matrix_row(&w->a, t);
	double ratio = in->ratio[t], lag = f->lag, now = 1 - f->lag;

	for (size_t i = 1; i < w->n; i++)
		raw[i] = x[i - 1] * ratio;
	if (t) {
		const float *before = matrix_row(in->activity, t - 1);

		for (size_t i = 1; i < w->n; i++)
			a[i] = (now * x[i - 1] + lag * before[i - 1]) * ratio;
		return;
	}
	for (size_t i = 1; i < w->n; i++)
		a[i] = (now * x[i - 1] + lag * f->state.entries[i].last) * ratio;
}

/* I/O moved its data some milliseconds earlier: also in a window right before all of it. */
static void with_lead(const struct filter *f, const struct filter_input *in, size_t t)
{
	const struct work *w = f->work;
	const float *x = matrix_row(in->activity, t), *lead = matrix_row(in->lead, t);
	float *raw = matrix_row(&w->raw, t), *a = matrix_row(&w->a, t);

	for (size_t i = 1; i < w->n; i++) {
		raw[i] = a[i] = at_least(x[i - 1] + f->lag * lead[i - 1], 0) * in->ratio[t];
	}
}

/* Activity as the counter saw it, in one window. */
void filter_lag_shift(struct filter *f, const struct filter_input *in, size_t t)
{
	if (in->lead)
		with_lead(f, in, t);
	else
		with_lag(f, in, t);
}

/* How far the time may be off by which data move before they are noted. */
static double lead_doubt(const struct filter *f)
{
	return LEAD_DOUBT_S + 1 / sqrt(f->lag_den + LEAD_KNOWN);
}

/*
 * What moves over a window's ends because it is not known when exactly it did: much, where the
 * windows beside it are different, and single requests even where they are alike.
 */
double filter_lag_noise(struct filter *f, const struct filter_input *in, size_t t)
{
	struct filter_output *o = f->out;
	double change, grain;

	o->lead_s = f->lag;
	o->edge_s = hypot(f->lag / 2, lead_doubt(f));
	o->grain_s = GRAIN_S;
	change = o->edge_s * in->change[t];
	grain = o->grain_s * in->rate[t];
	return (change * change + grain * grain) * in->ratio[t] * in->ratio[t];
}

/* What is noted in the next window may be of this one, by so many seconds. */
double filter_lag_most_lead(const struct filter *f)
{
	return f->lag + 2 * lead_doubt(f);
}

/*
 * The lag that fits best: how the bytes that were not predicted go with the
 * difference between what was predicted for the window before and for this one.
 */
void filter_lag_learn(struct filter *f)
{
	struct work *w = f->work;
	double *g = w->alpha + w->t, num = 0, den;

	for (size_t t = 0; t < w->t; t++) {
		const float *raw = matrix_row(&w->raw, t);
		const float *last = t ? matrix_row(&w->raw, t - 1) : NULL;
		double decay = w->decay[t], sum = t ? 0 : filter_lag_carried(f);

		for (size_t i = 1; i < w->n; i++) {
			double before = last ? last[i] : f->state.entries[i].last;
			double theta = f->state.mean[2 * i] + decay * f->state.mean[2 * i + 1];

			sum += (before - raw[i]) * at_least(theta, FLOOR * f->mean);
		}
		g[t] = sum;
		num += sum * w->alpha[t];
	}
	matrix_cholesky_forward(w->l, w->t, g);
	den = matrix_dot(g, g, w->t);
	f->lag_num = LAG_KEPT * f->lag_num + den * f->lag + num;
	f->lag_den = LAG_KEPT * f->lag_den + den;
	f->lag = fmin(fmax(f->lag_num / (f->lag_den + LAG_KNOWN), 0), MAX_LAG);
}

/* The same for I/O: how many seconds earlier did the data move? */
void filter_lag_learn_lead(struct filter *f, const struct filter_input *in)
{
	struct work *w = f->work;
	double *g = w->alpha + w->t, num = 0, den;

	for (size_t t = 0; t < w->t; t++) {
		const float *lead = matrix_row(in->lead, t);

		g[t] = 0;
		for (size_t i = 1; i < w->n; i++)
			g[t] += lead[i - 1] * in->ratio[t] *
				at_least(f->state.mean[2 * i] +
						 w->decay[t] * f->state.mean[2 * i + 1],
					 FLOOR * f->mean);
		num += g[t] * w->alpha[t];
	}
	matrix_cholesky_forward(w->l, w->t, g);
	den = matrix_dot(g, g, w->t);
	f->lag_num = LAG_KEPT * f->lag_num + den * f->lag + num;
	f->lag_den = LAG_KEPT * f->lag_den + den;
	f->lag = fmin(fmax(f->lag_num / (f->lag_den + LEAD_KNOWN), 0), MAX_LEAD_S);
}
