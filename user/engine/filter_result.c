// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* What a solved block says about each workload, and how sure it is. */
#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "engine/filter_state.h"

/* Intensities below this part of the mean one are as good as none. */
#define SMALL	    0.1
#define FLOOR	    0.01
/* The lag is not the same for all, nor always: part of a window. */
#define LAG_DOUBT   0.02
/* Noise is not told well from short phases; bounds take so much more. */
#define NOISE_DOUBT 1.5
/*
 * What a workload does in its first second is the least like a level with phases; what
 * is said of it is trusted half as much.
 */
#define YOUNG_S	    1.0
#define YOUNG_DOUBT 2.0
/* Rounds over the totals that came out negative. */
#define ROUNDS	    3
/*
 * Two workloads are alike when their activities, each divided by its mean, differ by
 * less than this (root mean square), and when what is known of the difference of
 * their intensities is hardly more than for unknown ones.
 */
#define ALIKE	    0.02
#define UNKNOWN	    0.5

/* The most likely intensity of each entry in each window; may be negative. */
static int fill_theta(struct filter *f, const struct filter_input *in)
{
	struct work *w = &f->work;
	double *start = calloc(2 * w->n, sizeof(*start));
	int err = start ? 0 : -ENOMEM;

	for (size_t t = 0; t < w->t; t++)
		for (size_t i = 0; i < w->n; i++)
			matrix_row(&w->q, t)[i] = matrix_row(&w->a, t)[i] * w->alpha[t];
	err = err ? err : convolve(w, in, f->params.tau_s, &w->q, &w->theta);
	if (err)
		goto out;
	for (size_t i = 0; i < 2 * w->n; i++)
		start[i] = f->state.mean[i];
	for (size_t t = 0; t < w->t; t++) {
		const float *g = matrix_row(&w->g, t);

		for (size_t i = 0; i < 2 * w->n; i++)
			start[i] += g[i] * w->alpha[t];
	}
	for (size_t i = 0; i < w->n; i++)
		w->total[i] = 0;
	for (size_t t = 0; t < w->t; t++) {
		const float *raw = matrix_row(&w->raw, t);
		float *theta = matrix_row(&w->theta, t);

		for (size_t i = 0; i < w->n; i++) {
			theta[i] = start[2 * i] + w->decay[t] * start[2 * i + 1] +
				   w->phase_var[i] * theta[i];
			w->total[i] += theta[i] * raw[i];
		}
	}
out:
	free(start);
	return err;
}

/* Covariance of the totals' errors; entry 0, the background, included. */
static int fill_covariance(struct filter *f, const struct filter_input *in, struct matrix *ret)
{
	struct work *w = &f->work;
	const struct matrix *p = &f->state.p;
	double *late = calloc(2 * w->n, sizeof(*late)), *own = late ? late + w->n : NULL;
	int err = late ? matrix_shape(ret, w->n, w->n) : -ENOMEM;

	if (err)
		goto out;
	err = convolve(w, in, f->params.tau_s, &w->raw, &w->q);
	if (err)
		goto out;
	for (size_t t = 0; t < w->t; t++) {
		const float *raw = matrix_row(&w->raw, t), *q = matrix_row(&w->q, t);

		for (size_t i = 0; i < w->n; i++) {
			late[i] += raw[i] * w->decay[t];
			own[i] += raw[i] * q[i] * w->phase_var[i];
		}
	}
	for (size_t t = 0; t < w->t; t++) {
		const float *g = matrix_row(&w->g, t), *a = matrix_row(&w->a, t);
		float *q = matrix_row(&w->q, t);

		for (size_t i = 0; i < w->n; i++)
			q[i] = g[2 * i] * w->sum[i] + g[2 * i + 1] * late[i] +
			       a[i] * w->phase_var[i] * q[i];
	}
	for (size_t i = 0; i < w->n; i++) {
		const float *level = matrix_row(p, 2 * i), *phase = matrix_row(p, 2 * i + 1);

		float *to = matrix_row(ret, i);

		/* The rest mirrors it. */
		for (size_t j = 0; j <= i; j++)
			to[j] = w->sum[i] *
					(level[2 * j] * w->sum[j] + level[2 * j + 1] * late[j]) +
				late[i] * (phase[2 * j] * w->sum[j] + phase[2 * j + 1] * late[j]);
		to[i] += own[i];
	}
	err = cholesky_forward_matrix(w->l, w->t, &w->q, &w->tri);
	if (!err)
		err = matrix_transpose(&w->q, &w->wt);
	if (!err) {
		matrix_multiply_lower(ret, -1, &w->wt, &w->q, w->t);
		matrix_mirror(ret);
	}
out:
	free(late);
	return err;
}

/*
 * Nobody gives bytes back. A total that came out below what is as good as nothing is
 * taken as measured to be about that, which tells the others where the bytes belong.
 */
static void make_positive(struct filter *f, struct matrix *cov)
{
	struct work *w = &f->work;

	for (int round = 0; round < ROUNDS; round++) {
		bool any = false;

		for (size_t i = 0; i < w->n; i++) {
			double small = SMALL * f->mean * w->sum[i], aim = i ? small : 0, rest, v;
			float *ci = matrix_row(cov, i);

			if (!i)
				small = SMALL * f->state.entries[0].scale * w->sum[0];
			v = ci[i] + small * small;
			if (!(w->sum[i] > 0) || w->total[i] >= aim || !(v > 0))
				continue;
			any = true;
			rest = aim - w->total[i];
			for (size_t j = 0; j < w->n; j++)
				w->total[j] += matrix_row(cov, j)[i] / v * rest;
			for (size_t j = 0; j < w->n; j++)
				if (j != i)
					matrix_add_row(cov, j, i, -matrix_row(cov, j)[i] / v);
			matrix_add_row(cov, i, i, -ci[i] / v);
		}
		if (!any)
			return;
	}
}

/*
 * A byte of a request is a byte on the way to memory at least, unless the device shows that it
 * is less. If data did not move when they were expected to, intensities come out too
 * low; what they lack is no background.
 */
static void make_requests_count(struct filter *f)
{
	struct work *w = &f->work;

	for (size_t i = 1; i < w->n; i++) {
		double lacks = f->mean * w->sum[i] - w->total[i];

		if (lacks <= 0)
			continue;
		w->total[i] += lacks;
		w->total[0] = fmax(w->total[0] - lacks, 0);
	}
}

/* Nobody is given less: who was active may have moved something. */
static double least_of(const struct filter *f, size_t i)
{
	return 0.3 * SMALL * f->mean * f->work.sum[i];
}

/* Bytes by window: intensities that are not negative, and add up to the totals. */
static void fill_expected(struct filter *f, const struct filter_input *in)
{
	struct work *w = &f->work;
	struct filter_output *o = &f->out;
	double doubt = LAG_DOUBT + 2 / sqrt(f->lag_den + 5), lag = fmin(f->lag + doubt, 0.5);
	double lead = most_lead(f);

	o->carried_in = lag * carried_over(f);
	if (in->lead)
		make_requests_count(f);
	for (size_t i = 0; i < w->n; i++) {
		double floor = i ? FLOOR * f->mean : 0, sum = 0, scale;
		double least = i ? least_of(f, i) : 0;

		for (size_t t = 0; t < w->t; t++) {
			float *theta = &matrix_row(&w->theta, t)[i];

			*theta = fmax(*theta, floor);
			sum += *theta * matrix_row(&w->raw, t)[i];
		}
		scale = sum > 0 ? fmax(w->total[i], least) / sum : 1;
		for (size_t t = 0; t < w->t; t++) {
			double theta = matrix_row(&w->theta, t)[i] * scale;
			double before = t ? matrix_row(&w->raw, t - 1)[i]
					  : f->state.entries[i].last * in->ratio[0];

			if (!i) {
				o->background[t] = theta * matrix_row(&w->raw, t)[0];
				continue;
			}
			matrix_row(&o->expected, t)[i - 1] = theta * matrix_row(&w->raw, t)[i];
			matrix_row(&o->carried, t)[i - 1] =
				in->lead ? lead * fmax(theta, f->mean) * in->ratio[t] *
						   fmax(matrix_row(in->lead, t)[i - 1], 0)
					 : lag * theta * before;
		}
	}
}

/* Which workloads did the same in every window? */
static int fill_alike(struct filter *f, const struct matrix *cov)
{
	struct work *w = &f->work;
	struct matrix *alike = &f->out.alike, *q = &w->w;
	double unknown = 2 * UNKNOWN * f->params.prior * f->params.prior * f->mean * f->mean;
	int err = matrix_shape(&w->unit, w->t, w->n);

	err = err ? err : matrix_shape(q, w->n, w->n);
	if (err)
		return err;
	/* What is known of I/O beforehand tells them apart. */
	if (f->params.mean > 0)
		return 0;
	for (size_t t = 0; t < w->t; t++)
		for (size_t i = 1; i < w->n; i++)
			if (w->sum[i] > 0)
				matrix_row(&w->unit, t)[i] =
					matrix_row(&w->raw, t)[i] * w->t / w->sum[i];
	err = matrix_transpose(&w->unit, &w->wt);
	if (err)
		return err;
	matrix_multiply_lower(q, 1.0f / w->t, &w->wt, &w->unit, w->t);
	for (size_t i = 1; i < w->n; i++) {
		for (size_t j = 1; j < i; j++) {
			double xi = w->sum[i], xj = w->sum[j], differ, error;

			if (!(xi > 0) || !(xj > 0))
				continue;
			differ =
				matrix_row(q, i)[i] + matrix_row(q, j)[j] - 2 * matrix_row(q, i)[j];
			error = matrix_row(cov, i)[i] / (xi * xi) +
				matrix_row(cov, j)[j] / (xj * xj) -
				2 * matrix_row(cov, i)[j] / (xi * xj);
			if (differ < ALIKE * ALIKE && error > unknown)
				matrix_row(alike, i - 1)[j - 1] = matrix_row(alike, j - 1)[i - 1] =
					1;
		}
	}
	return 0;
}

/* Squares of absurd counts are beyond single precision. */
static bool is_sane(const struct work *w, const struct matrix *cov)
{
	for (size_t i = 0; i < w->n; i++) {
		const float *row = matrix_row(cov, i);

		if (!isfinite(w->total[i]))
			return false;
		for (size_t j = 0; j < w->n; j++)
			if (!isfinite(row[j]))
				return false;
	}
	return true;
}

/* By how much the errors of an entry are larger than they come out. */
static double doubt_of(const struct filter *f, size_t i)
{
	double since = f->state.entries[i].since_s;

	return since >= 0 && f->now_s - since < YOUNG_S ? YOUNG_DOUBT : 1;
}

int make_result(struct filter *f, const struct filter_input *in)
{
	struct work *w = &f->work;
	struct filter_output *o = &f->out;
	size_t n = in->nr_workloads;
	struct matrix cov = { 0 };
	int err = matrix_shape(&o->expected, w->t, n);

	err = err ? err : matrix_shape(&o->carried, w->t, n);
	err = err ? err : matrix_shape(&o->covariance, n, n);
	err = err ? err : matrix_shape(&o->alike, n, n);
	err = err ? err : fill_theta(f, in);
	err = err ? err : fill_covariance(f, in, &cov);
	if (!err && !is_sane(w, &cov))
		err = -ENODATA;
	if (!err)
		err = fill_alike(f, &cov);
	if (!err) {
		for (size_t i = 0; i < n; i++)
			for (size_t j = 0; j < n; j++)
				matrix_row(&o->covariance, i)[j] = doubt_of(f, i + 1) *
								   doubt_of(f, j + 1) *
								   matrix_row(&cov, i + 1)[j + 1];
		/* The spread is that of before: what was cut off may have been noise. */
		if (!in->lead && w->total[0] < 2 * sqrt(fmax(matrix_row(&cov, 0)[0], 0)))
			w->total[0] = fmin(w->total[0], 0);
		make_positive(f, &cov);
		fill_expected(f, in);
		for (size_t i = 0; i < n; i++)
			o->little[i] = least_of(f, i + 1);
		o->noise = NOISE_DOUBT * f->noise;
		o->prior = sqrt(f->params.prior * f->params.prior + f->phase * f->phase);
	}
	matrix_free(&cov);
	return err;
}
