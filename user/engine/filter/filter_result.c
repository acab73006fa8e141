// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Results of a solved block for each workload, with their uncertainty. */
#include <errno.h>
#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "engine/filter/constants.h"
#include "engine/filter/filter_state.h"
#include "engine/filter/wide.h"

/*
 * Traffic of programs that are just starting, beside that of their intensities: missing or surplus
 * bytes in their windows are theirs, unless other workloads are as uncertain. A window at the
 * memory's limit is no evidence.
 */
static void add_start(struct work *w)
{
	for (size_t k = 0; k < w->nr_starting; k++) {
		size_t i = w->starting[k];
		float *start = matrix_row(&w->start, k);

		for (size_t t = 0; t < w->t; t++) {
			double more = start[t] * w->alpha[t];

			if (w->limited.is[t])
				start[t] = 0;
			if (!(start[t] > 0))
				continue;
			w->total[i] += more;
			matrix_row(&w->theta, t)[i] += more / matrix_row(&w->raw, t)[i];
		}
	}
}

/* The covariance of that: @q of totals and bytes, @to of totals. */
static void add_start_covariance(const struct work *w, struct matrix *q, struct matrix *to)
{
	for (size_t k = 0; k < w->nr_starting; k++) {
		size_t i = w->starting[k];
		const float *start = matrix_row(&w->start, k);

		for (size_t t = 0; t < w->t; t++) {
			matrix_row(q, t)[i] += start[t];
			matrix_row(to, i)[i] += start[t];
		}
	}
}

/* The most likely intensity of each entry in each window; may be negative. */
static INLINE int fill_theta_any(struct filter *f)
{
	struct work *w = f->work;
	double *start = calloc(2 * w->n, sizeof(*start));
	int err = start ? 0 : -ENOMEM;

	for (size_t t = 0; t < w->t; t++) {
		const float *a = matrix_row(&w->a, t);
		float *q = matrix_row(&w->q, t);
		double alpha = w->alpha[t];

		for (size_t i = 0; i < w->n; i++)
			q[i] = a[i] * alpha;
	}
	err = err ? err : filter_phase_times(w, &w->q, &w->theta);
	if (err)
		goto out;
	for (size_t i = 0; i < 2 * w->n; i++)
		start[i] = f->state.mean[i];
	for (size_t t = 0; t < w->t; t++) {
		const float *g = matrix_row(&w->g, t);
		double alpha = w->alpha[t];

		for (size_t i = 0; i < 2 * w->n; i++)
			start[i] += g[i] * alpha;
	}
	for (size_t i = 0; i < w->n; i++)
		w->total[i] = 0;
	for (size_t t = 0; t < w->t; t++) {
		const float *raw = matrix_row(&w->raw, t);
		float *theta = matrix_row(&w->theta, t);
		double decay = w->decay[t];

		for (size_t i = 0; i < w->n; i++) {
			theta[i] += start[2 * i] + decay * start[2 * i + 1];
			w->total[i] += theta[i] * raw[i];
		}
	}
	filter_jump_total(w);
	add_start(w);
out:
	free(start);
	return err;
}

WIDE(static, int, fill_theta, (struct filter * f), (f))

/* Covariance of the totals' errors; entry 0, the background, included. */
static INLINE int fill_covariance_any(struct filter *f, struct matrix *ret)
{
	struct work *w = f->work;
	const struct matrix *p = &f->state.p;
	double *late = calloc(2 * w->n, sizeof(*late)), *own = late ? late + w->n : NULL;
	int err = late ? matrix_resize(ret, w->n, w->n) : -ENOMEM;

	if (err)
		goto out;
	err = filter_phase_times(w, &w->raw, &w->q);
	if (err)
		goto out;
	for (size_t t = 0; t < w->t; t++) {
		const float *raw = matrix_row(&w->raw, t), *q = matrix_row(&w->q, t);
		double decay = w->decay[t];

		for (size_t i = 0; i < w->n; i++) {
			late[i] += raw[i] * decay;
			own[i] += raw[i] * q[i];
		}
	}
	for (size_t t = 0; t < w->t; t++) {
		const float *g = matrix_row(&w->g, t), *a = matrix_row(&w->a, t);
		float *q = matrix_row(&w->q, t);

		for (size_t i = 0; i < w->n; i++)
			q[i] = g[2 * i] * w->sum[i] + g[2 * i + 1] * late[i] + a[i] * q[i];
	}
	for (size_t i = 0; i < w->n; i++) {
		const float *level = matrix_row(p, 2 * i), *phase = matrix_row(p, 2 * i + 1);

		float *to = matrix_row(ret, i);

		/* The upper triangle mirrors it. */
		for (size_t j = 0; j <= i; j++)
			to[j] = w->sum[i] *
					(level[2 * j] * w->sum[j] + level[2 * j + 1] * late[j]) +
				late[i] * (phase[2 * j] * w->sum[j] + phase[2 * j + 1] * late[j]);
		to[i] += own[i];
	}
	filter_jump_covariance(w, &w->q, ret);
	add_start_covariance(w, &w->q, ret);
	err = filter_saturation_project(f, ret);
	err = err ? err : matrix_cholesky_forward_all(w->l, w->t, &w->q, &w->tri);
	if (!err) {
		matrix_multiply_lower_of(ret, -1, &w->q, &w->q, w->t);
		matrix_mirror(ret);
	}
out:
	free(late);
	return err;
}

WIDE(static, int, fill_covariance, (struct filter * f, struct matrix *ret), (f, ret))

/* This many changes are kept: few enough for the first cache, enough to make a product pay. */
#define CHANGES 16

/*
 * Totals that are treated as measured. Each changes the whole covariance, of which only one row and
 * one column are needed at a time: so some changes are kept, and applied together. @rows: the
 * covariance's row, one for each measurement; @gains: its factor, by entry
 */
struct measured {
	struct matrix *cov;
	struct matrix *rows;
	struct matrix *gains;
	size_t nr;
};

/* All totals follow the measured one; @column: its covariance with them. */
static INLINE void follow_any(struct work *w, double missing, double variance, float *column)
{
	for (size_t j = 0; j < w->n; j++) {
		double gain = column[j] / variance;

		w->total[j] += gain * missing;
		column[j] = -gain;
	}
}

WIDE(static, void, follow, (struct work * w, double missing, double variance, float *column),
     (w, missing, variance, column))

/*
 * Treat the total of an entry as measured to be @aim, with the standard deviation @sd: the other
 * totals and all errors follow. False: it has no uncertainty.
 */
static bool measure(struct work *w, struct measured *m, size_t i, double aim, double sd)
{
	double missing = aim - w->total[i], variance;
	float *row, *column;

	if (m->nr == CHANGES) {
		matrix_add_products(m->cov, m->gains, m->rows, m->nr);
		m->nr = 0;
	}
	row = matrix_row(m->rows, m->nr);
	column = matrix_row(m->gains, m->nr);
	memcpy(row, matrix_row(m->cov, i), m->cov->cols * sizeof(*row));
	matrix_add_rows(row, m->rows, m->nr, m->gains, i);
	variance = row[i] + sd * sd;
	if (!(variance > 0))
		return false;
	for (size_t j = 0; j < w->n; j++)
		column[j] = matrix_row(m->cov, j)[i];
	matrix_add_rows(column, m->gains, m->nr, m->rows, i);
	follow(w, missing, variance, column);
	m->nr++;
	return true;
}

/* Bounds of totals: at least @aim, or at most if @above; give or take @sd. */
struct reach {
	double aim[FILTER_MAX_WORKLOADS + 1];
	double sd[FILTER_MAX_WORKLOADS + 1];
	bool above;
};

/*
 * A total beyond its bound is treated as measured to be at the bound; the other totals get the
 * difference. That may put these beyond their bounds. @again: errors are needed again, and have to
 * follow as well
 */
static int keep_within(struct work *w, const struct reach *reach, struct matrix *cov, bool again)
{
	struct measured m = { .cov = cov, .rows = &w->w, .gains = &w->q };
	int err = matrix_resize(m.rows, CHANGES, w->n);
	bool any = true;

	err = err ? err : matrix_resize(m.gains, CHANGES, w->n);
	for (int round = 0; !err && any && round < POSITIVE_ROUNDS; round++) {
		any = false;
		for (size_t i = 0; i < w->n; i++) {
			double beyond = w->total[i] - reach->aim[i];

			if (w->sum[i] > 0 && (reach->above ? beyond > 0 : beyond < 0))
				any |= measure(w, &m, i, reach->aim[i], reach->sd[i]);
		}
	}
	if (!err && again && m.nr)
		matrix_add_products(cov, m.gains, m.rows, m.nr);
	return err;
}

/* No workload moves negative bytes: totals are at least about zero. */
static int make_positive(struct filter *f, const struct filter_input *in, struct matrix *cov)
{
	const struct work *w = f->work;
	struct reach min = { .above = false };

	min.sd[0] = SMALL * f->state.entries[0].scale * w->sum[0];
	for (size_t i = 1; i < w->n; i++)
		min.aim[i] = min.sd[i] = SMALL * f->mean * w->sum[i];
	return keep_within(f->work, &min, cov, in->bound > 0);
}

/* Where activity bounds bytes, totals are at most that; the background has no bound. */
static int keep_below(struct filter *f, const struct filter_input *in, struct matrix *cov)
{
	const struct work *w = f->work;
	struct reach max = { .aim = { INFINITY }, .above = true };

	if (!(in->bound > 0))
		return 0;
	filter_bound_judge(f, in, cov);
	if (!f->bound.holds)
		return 0;
	for (size_t i = 1; i < w->n; i++) {
		max.aim[i] = in->bound * w->sum[i];
		max.sd[i] = BOUND_OFF * max.aim[i];
	}
	return keep_within(f->work, &max, cov, false);
}

/*
 * A byte of a request is at least a byte on the way to memory, unless the device shows that it is
 * less. If data moved at another time than expected, intensities come out too low; the missing
 * bytes are no background.
 */
static void make_requests_count(struct filter *f)
{
	struct work *w = f->work;

	for (size_t i = 1; i < w->n; i++) {
		double lacks = f->mean * w->sum[i] - w->total[i];

		if (lacks <= 0)
			continue;
		w->total[i] += lacks;
		w->total[0] = fmax(w->total[0] - lacks, 0);
	}
}

/* No active workload is given less: it may have moved something. */
static double floor_of(const struct filter *f, size_t i)
{
	return LITTLE * SMALL * f->mean * f->work->sum[i];
}

/* Intensities without negative ones, and the factors that make them add up to the totals. */
static INLINE void fill_scales_any(struct filter *f, double *scale)
{
	struct work *w = f->work;
	double floor = FLOOR * f->mean;

	for (size_t i = 0; i < w->n; i++)
		scale[i] = 0;
	for (size_t t = 0; t < w->t; t++) {
		float *theta = matrix_row(&w->theta, t);
		const float *raw = matrix_row(&w->raw, t);

		theta[0] = max_of(theta[0], 0);
		for (size_t i = 1; i < w->n; i++)
			theta[i] = max_of(theta[i], floor);
		for (size_t i = 0; i < w->n; i++)
			scale[i] += theta[i] * raw[i];
	}
	for (size_t i = 0; i < w->n; i++) {
		double min = i ? floor_of(f, i) : 0;

		scale[i] = scale[i] > 0 ? fmax(w->total[i], min) / scale[i] : 1;
	}
}

WIDE(static, void, fill_scales, (struct filter * f, double *scale), (f, scale))

/* Bytes in the first windows that are of workloads of the block before which are gone. */
static void fill_carried_in(struct filter *f)
{
	for (size_t t = 0; t < FILTER_LAGS; t++) {
		f->out->carried_in[t] = 0;
		for (size_t k = t + 1; k <= FILTER_LAGS; k++)
			f->out->carried_in[t] +=
				filter_lag_most(f, k) * filter_lag_carried(f, t, k);
	}
}

/* Upper bound of the bytes in a window that come from activity in earlier windows. */
static void fill_carried(const struct filter *f, size_t t, const double *scale, const double *max,
			 float *ret)
{
	const struct work *w = f->work;
	const float *theta = matrix_row(&w->theta, t);
	const float *last = filter_lag_before(f, t, 1), *behind = filter_lag_before(f, t, 2);

	for (size_t i = 1; i < w->n; i++)
		ret[i - 1] = theta[i] * scale[i] * (max[0] * last[i] + max[1] * behind[i]);
}

/* Bytes by window: intensities that are not negative, scaled to add up to the totals. */
static INLINE void fill_expected_any(struct filter *f, const struct filter_input *in)
{
	struct work *w = f->work;
	struct filter_output *o = f->out;
	double lead = filter_lag_most_lead(f), scale[FILTER_MAX_WORKLOADS + 1];
	const double max[FILTER_LAGS] = { filter_lag_most(f, 1), filter_lag_most(f, 2) };

	fill_carried_in(f);
	if (in->lead)
		make_requests_count(f);
	fill_scales(f, scale);
	for (size_t t = 0; t < w->t; t++) {
		const float *theta = matrix_row(&w->theta, t), *raw = matrix_row(&w->raw, t);
		const float *early = in->lead ? matrix_row(in->lead, t) : NULL;
		float *expected = matrix_row(&o->expected, t),
		      *carried = matrix_row(&o->carried, t);

		o->background[t] = theta[0] * scale[0] * raw[0];
		for (size_t i = 1; i < w->n; i++)
			expected[i - 1] = theta[i] * scale[i] * raw[i];
		for (size_t i = 1; i < w->n && early; i++)
			carried[i - 1] = lead * max_of(theta[i] * scale[i], f->mean) *
					 in->ratio[t] * max_of(early[i - 1], 0);
		if (!early)
			fill_carried(f, t, scale, max, carried);
	}
}

WIDE(static, void, fill_expected, (struct filter * f, const struct filter_input *in), (f, in))

/* Is the difference of two intensities hardly known better than at first? */
static bool is_unknown(const struct filter *f, const struct matrix *cov, size_t i, size_t j)
{
	double unknown = 2 * STILL_UNKNOWN * f->params.prior * f->params.prior * f->mean * f->mean;
	double xi = f->work->sum[i], xj = f->work->sum[j];

	return matrix_row(cov, i)[i] / (xi * xi) + matrix_row(cov, j)[j] / (xj * xj) -
		       2 * matrix_row(cov, i)[j] / (xi * xj) >
	       unknown;
}

/*
 * Workloads that did the same in every window: their activities, each divided by its mean, differ
 * by next to nothing (root mean square), and the difference of their intensities is hardly known
 * better than that of unknown ones.
 */
static INLINE int fill_alike_any(struct filter *f, const struct matrix *cov)
{
	struct work *w = f->work;
	struct matrix *alike = &f->out->alike, *q = &w->w;
	int err = matrix_resize(&w->unit, w->t, w->n);
	float own[FILTER_MAX_WORKLOADS + 1];

	err = err ? err : matrix_resize(q, w->n, w->n);
	if (err)
		return err;
	/* The prior of I/O tells them apart. */
	if (f->params.mean > 0)
		return 0;
	for (size_t t = 0; t < w->t; t++) {
		const float *raw = matrix_row(&w->raw, t);
		float *unit = matrix_row(&w->unit, t);

		unit[0] = 0;
		for (size_t i = 1; i < w->n; i++)
			unit[i] = w->sum[i] > 0 ? raw[i] * w->t / w->sum[i] : 0;
	}
	matrix_set_lower_of(q, 1.0f / w->t, &w->unit, &w->unit, w->t);
	for (size_t i = 1; i < w->n; i++) {
		const float *qi = matrix_row(q, i);
		int any = 0;

		own[i] = qi[i];
		/* Nearly always there are none, which shows soon. */
		for (size_t j = 1; j < i; j++)
			any |= own[i] + own[j] - 2 * qi[j] < ALIKE * ALIKE;
		for (size_t j = 1; any && j < i; j++) {
			double differ = own[i] + own[j] - 2 * qi[j];

			if (differ < ALIKE * ALIKE && w->sum[i] > 0 && w->sum[j] > 0 &&
			    is_unknown(f, cov, i, j)) {
				matrix_row(alike, i - 1)[j - 1] = matrix_row(alike, j - 1)[i - 1] =
					1;
				f->out->any_alike = true;
			}
		}
	}
	return 0;
}

WIDE(static, int, fill_alike, (struct filter * f, const struct matrix *cov), (f, cov))

/* Squares of absurd counts are beyond single precision. */
static INLINE bool is_sane_any(const struct work *w, const struct matrix *cov)
{
	int insane = 0;

	for (size_t i = 0; i < w->n; i++) {
		const float *row = matrix_row(cov, i);

		insane |= !isfinite(w->total[i]);
		for (size_t j = 0; j < w->n; j++)
			insane |= !(fabsf(row[j]) <= FLT_MAX);
	}
	return !insane;
}

WIDE(static, bool, is_sane, (const struct work *w, const struct matrix *cov), (w, cov))

/*
 * Factor by which the errors of an entry exceed the computed ones. At first a workload behaves
 * least like a level with phases, so its estimate is trusted less. Where a level has changed, the
 * change and its time are uncertain: some of its bytes may be of others.
 */
static double doubt_of(const struct filter *f, size_t i)
{
	double since = f->state.entries[i].since_s, doubt = f->work->nr_steps ? STEP_DOUBT : 1;

	return since >= 0 && f->now_s - since < YOUNG_S ? fmax(YOUNG_DOUBT, doubt) : doubt;
}

/* As computed, before negative values were cut off: noise spreads further than that. */
static INLINE void take_covariance_any(struct filter *f, const struct matrix *cov, size_t n)
{
	double doubt[FILTER_MAX_WORKLOADS];

	for (size_t i = 0; i < n; i++)
		doubt[i] = doubt_of(f, i + 1);
	for (size_t i = 0; i < n; i++) {
		const float *from = matrix_row(cov, i + 1);
		float *to = matrix_row(&f->out->covariance, i);

		for (size_t j = 0; j < n; j++)
			to[j] = doubt[i] * doubt[j] * from[j + 1];
	}
}

WIDE(static, void, take_covariance, (struct filter * f, const struct matrix *cov, size_t n),
     (f, cov, n))

/* Nearly always no two are alike, and then the matrix need not be cleared. */
static int begin_alike(struct filter_output *o, size_t n)
{
	size_t rows = o->alike.rows, cols = o->alike.cols;
	int err = matrix_resize(&o->alike, n, n);

	if (!err && (o->any_alike || o->alike.rows != rows || o->alike.cols != cols))
		err = matrix_shape(&o->alike, n, n);
	o->any_alike = false;
	return err;
}

int filter_result_make(struct filter *f, const struct filter_input *in)
{
	struct work *w = f->work;
	struct filter_output *o = f->out;
	size_t n = in->nr_workloads;
	struct matrix *cov = &w->cov;
	int err = matrix_resize(&o->expected, w->t, n);

	err = err ? err : matrix_resize(&o->carried, w->t, n);
	err = err ? err : matrix_resize(&o->covariance, n, n);
	err = err ? err : begin_alike(o, n);
	err = err ? err : fill_theta(f);
	if (!err)
		filter_saturation_slow(f, in);
	err = err ? err : fill_covariance(f, cov);
	if (!err && !is_sane(w, cov))
		err = -ENODATA;
	if (!err)
		err = fill_alike(f, cov);
	if (!err) {
		take_covariance(f, cov, n);
		/* The spread is that before cutting off: a cut part may have been noise. */
		if (!in->lead && w->total[0] < NO_BACKGROUND * sqrt(fmax(matrix_row(cov, 0)[0], 0)))
			w->total[0] = fmin(w->total[0], 0);
		err = make_positive(f, in, cov);
		err = err ? err : keep_below(f, in, cov);
	}
	if (!err) {
		fill_expected(f, in);
		filter_saturation_restore(f);
		memcpy(o->saturated, w->limited.is, sizeof(o->saturated));
		/* With counts, bytes are not divided by demand: nothing is reported. */
		o->limit_per_s = f->limit.known && f->params.limited ? f->limit.per_s : 0;
		for (size_t i = 0; i < n; i++)
			o->little[i] = floor_of(f, i + 1);
		/* Noise and short phases look alike. */
		o->noise = NOISE_DOUBT * f->noise;
		o->mix = 1;
		if (!in->lead)
			filter_simple_mix(f, in);
		o->prior = sqrt(f->params.prior * f->params.prior + f->phase * f->phase);
	}
	return err;
}
