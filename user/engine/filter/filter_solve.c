// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * The algebra of a block. With a the activity, the bytes and the state are jointly Gaussian: the
 * covariance C of the bytes is the sum of the parts from the state at the start (c0), from phases
 * that begin later (c1) and from noise. All results follow by conditioning on the bytes. This form
 * costs less than a recursion over windows, because a block has about as many windows as workloads.
 */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "engine/filter/constants.h"
#include "engine/filter/filter_state.h"
#include "engine/filter/wide.h"

/* A vector of struct work, and how many elements it has. */
struct vector {
	double **v;
	size_t nr;
};

/* All vectors are in one piece of memory, which is kept while it is large enough. */
static int shape_vectors(struct work *w, size_t nr)
{
	const size_t t = w->t;
	const struct vector all[] = {
		{ &w->decay, t },     { &w->noise, t },	     { &w->own, t },
		{ &w->y, t },	      { &w->white, t },	     { &w->alpha, t },
		{ &w->total, nr },    { &w->sum, nr },	     { &w->phase_var, nr },
		{ &w->c, t * t },     { &w->l, t * t },	     { &w->trial, t * t },
		{ &w->moved, t * t }, { &w->demand, t * t },
	};
	size_t need = 0;

	for (size_t i = 0; i < ARRAY_SIZE(all); i++)
		need += all[i].nr;
	if (need > w->cap) {
		double *v = calloc(need, sizeof(*v));

		if (!v)
			return -ENOMEM;
		free(w->vectors);
		w->vectors = v;
		w->cap = need;
	}
	need = 0;
	for (size_t i = 0; i < ARRAY_SIZE(all); i++) {
		*all[i].v = w->vectors + need;
		need += all[i].nr;
	}
	return 0;
}

int filter_work_shape(struct work *w, size_t t, size_t n, size_t nr)
{
	int err = 0;

	w->t = t;
	w->n = n;
	err = err ? err : matrix_resize(&w->raw, t, n);
	err = err ? err : matrix_resize(&w->a, t, n);
	err = err ? err : matrix_resize(&w->aa, t, 2 * n);
	err = err ? err : matrix_resize(&w->q, t, n);
	err = err ? err : matrix_resize(&w->theta, t, n);
	err = err ? err : matrix_resize(&w->start, n, t);
	err = err ? err : matrix_resize(&w->shock, t, n);
	err = err ? err : matrix_resize(&w->begun, t, n);
	return err ? err : shape_vectors(w, nr);
}

void filter_work_free(struct work *w)
{
	struct matrix *all[] = { &w->raw,   &w->a,    &w->at,	    &w->aa,	&w->aat, &w->g,
				 &w->av,    &w->c0,   &w->c1,	    &w->w,	&w->tri, &w->q,
				 &w->theta, &w->unit, &w->cov,	    &w->start,	&w->inv, &w->shock,
				 &w->begun, &w->few,  &w->few_rows, &w->change, &w->c2 };

	for (size_t i = 0; i < ARRAY_SIZE(all); i++)
		matrix_free(all[i]);
	free(w->vectors);
}

static INLINE void fill_activity_any(struct filter *f, const struct filter_input *in)
{
	struct work *w = f->work;

	for (size_t i = 0; i < w->n; i++)
		w->sum[i] = 0;
	for (size_t t = 0; t < w->t; t++) {
		float *raw = matrix_row(&w->raw, t), *a = matrix_row(&w->a, t);
		float *aa = matrix_row(&w->aa, t);
		double decay = exp(-in->middle_s[t] / f->params.tau_s);

		w->decay[t] = decay;
		raw[0] = a[0] = in->length_s[t] * in->ratio[t];
		filter_lag_shift(f, in, t);
		for (size_t i = 0; i < w->n; i++) {
			aa[2 * i] = a[i];
			aa[2 * i + 1] = a[i] * decay;
			w->sum[i] += raw[i];
		}
	}
	w->nr_fresh = 0;
	for (size_t i = 1; i < w->n; i++)
		if (f->state.entries[i].quiet_s < 0)
			w->fresh[w->nr_fresh++] = i;
}

WIDE(static, void, fill_activity, (struct filter * f, const struct filter_input *in), (f, in))

/*
 * A program that starts behaves differently at first: it is loaded, allocates, reads its input.
 * That says little about its intensity, but could be taken for certain evidence if nothing else
 * distinguished it from another program that started at nearly the same time. So the traffic of
 * starts is noise to the block, with a known owner: see add_start() of the results. It does not
 * shrink when the rest of the block shows little traffic: the start would then be booked on a
 * workload that only ran beside it.
 */
static void add_start_noise(struct filter *f, const struct filter_input *in)
{
	struct work *w = f->work;
	double begin = f->now_s - in->block_s, min = f->params.start * f->mean;

	w->nr_starting = 0;
	for (size_t i = 1; i < w->n; i++) {
		struct filter_entry *e = &f->state.entries[i];
		float *start;

		if (e->since_s != NOT_YET && begin + in->middle_s[0] > e->since_s + START_S)
			continue; /* as most starts, long ago or not */
		start = matrix_row(&w->start, w->nr_starting);
		w->starting[w->nr_starting++] = i;
		memset(start, 0, w->t * sizeof(*start));
		for (size_t t = 0; t < w->t; t++) {
			double moved = fmax(e->scale, min) * matrix_row(&w->raw, t)[i];
			double now = begin + in->middle_s[t];

			/* Workloads that existed when the filter began are not starting. */
			if (e->since_s == NOT_YET && moved > 0)
				e->since_s = f->blocks || t ? now : LONG_AGO;
			if (e->since_s == NOT_YET)
				continue;
			if (e->since_s < 0 || now > e->since_s + START_S)
				break;
			start[t] = moved * moved;
			w->noise[t] += start[t];
		}
	}
}

static void fill_noise(struct filter *f, const struct filter_input *in)
{
	struct work *w = f->work;
	double mean = 0;

	for (size_t t = 0; t < w->t; t++)
		mean += in->bytes[t] / w->t;
	for (size_t t = 0; t < w->t; t++) {
		double own = f->noise * in->bytes[t], read = READ_NOISE * mean;
		double mux = MUX_NOISE * (1 - in->ratio[t]) * in->bytes[t];

		w->own[t] = own * own;
		w->noise[t] = own * own + read * read + mux * mux + LINE_BYTES * LINE_BYTES;
		if (in->lead)
			w->noise[t] += filter_lag_noise(f, in, t);
	}
}

/*
 * The time of activity is known only to within its slices; bytes missing in a window are in one
 * nearby. Covariance of bytes on the wrong side of window ends, for a timing error of one second.
 */
static void fill_moved(struct filter *f, const struct filter_input *in)
{
	struct work *w = f->work;
	double rate[FILTER_MAX_WINDOWS + 1], keep[FILTER_MAX_WINDOWS + 1], at = 0;

	/* At the start of each window, and at the end of the last one. */
	for (size_t i = 0; i <= w->t; i++) {
		size_t before = i ? i - 1 : 0, after = i < w->t ? i : w->t - 1;
		double half = in->length_s[after] / 2, last = at;

		rate[i] = (in->bytes[before] + in->bytes[after]) /
			  (in->length_s[before] + in->length_s[after]);
		at = in->middle_s[after] + (i < w->t ? -half : half);
		keep[i] = exp(-fmax(at - last, 0) / f->params.timing_tau_s);
	}
	for (size_t i = 0; i < w->t; i++) {
		double alike = 1, beside = keep[i + 1], *to = w->moved + i * w->t;

		/* @alike: the ends i and j; @beside: i and the one behind j */
		for (size_t j = i + 1; j-- > 0;) {
			double after = j == i ? 1 : beside * keep[i + 1];

			to[j] = rate[i] * rate[j] * alike + rate[i + 1] * rate[j + 1] * after -
				rate[i + 1] * rate[j] * alike * keep[i + 1] -
				rate[i] * rate[j + 1] * beside;
			beside = alike;
			alike *= keep[j];
		}
	}
}

static const double as_it_is[NR_SIZES] = { 1, 1, 1 };

/*
 * c, with sizes @times as large as they are. Only the learned noise is scaled: the rest is given. A
 * window without traffic says nothing about the noise of windows with much traffic.
 */
static INLINE void fill_c_any(const struct filter *f, const double *times, double *c)
{
	const struct work *w = f->work;
	double noise = times[SIZE_NOISE] * times[SIZE_NOISE] - 1;
	double phase = times[SIZE_PHASE] * times[SIZE_PHASE];
	double moved = times[SIZE_TIMING] * f->timing * times[SIZE_TIMING] * f->timing;

	for (size_t i = 0; i < w->t; i++) {
		const float *c0 = matrix_row(&w->c0, i), *c1 = matrix_row(&w->c1, i);
		const double *mi = w->moved + i * w->t;
		double *ci = c + i * w->t;

		for (size_t j = 0; j <= i; j++)
			ci[j] = c0[j] + phase * c1[j] + moved * mi[j];
		ci[i] += w->noise[i] + noise * w->own[i];
	}
}

WIDE(static, void, fill_c, (const struct filter *f, const double *times, double *c), (f, times, c))

/* The covariance of bytes without noise. */
static void fill_demand(struct filter *f)
{
	struct work *w = f->work;

	fill_c(f, as_it_is, w->demand);
	for (size_t t = 0; t < w->t; t++)
		w->demand[t * w->t + t] -= w->noise[t];
}

/* The deviations from the prediction, and the triangle of their covariance. */
static void whiten(const struct work *w, const double *l, double *ret)
{
	for (size_t t = 0; t < w->t; t++)
		ret[t] = w->y[t];
	matrix_cholesky_forward(l, w->t, ret);
}

static int factor_once(struct filter *f)
{
	struct work *w = f->work;

	fill_c(f, as_it_is, w->c);
	filter_pace_add(w, w->c);
	if (matrix_cholesky(w->c, w->t, w->l))
		return -ENODATA;
	whiten(w, w->l, w->white);
	return 0;
}

static int factor(struct filter *f)
{
	struct work *w = f->work;
	bool outliers = false;

	if (factor_once(f))
		return -ENODATA;
	for (size_t t = 0; t < w->t; t++) {
		double far = fabs(w->white[t]);

		if (!isfinite(far))
			return -ENODATA;
		if (far <= OUTLIER)
			continue;
		outliers = true;
		w->noise[t] = w->noise[t] + far * far / (WHITE_LIMIT * WHITE_LIMIT) *
						    w->l[t * w->t + t] * w->l[t * w->t + t];
	}
	return outliers ? factor_once(f) : 0;
}

/* Covariance of the bytes that comes from the state at the start. */
static int fill_c0(struct filter *f)
{
	struct work *w = f->work;
	int err = matrix_resize(&w->c0, w->t, w->t);

	if (!err)
		matrix_set_lower(&w->c0, 1, &w->g, &w->aat, 2 * w->n);
	if (!err)
		filter_jump_cover(w);
	return err;
}

/*
 * Covariance of bytes and state: the largest product of all, once per block. An entry that is
 * @alone adds to its own column only. So refining the scale of a new workload changes two columns:
 * see refine_columns().
 */
static int fill_g(struct filter *f)
{
	struct work *w = f->work;
	float own[2 * (FILTER_MAX_WORKLOADS + 1)] = { 0 };
	uint16_t terms[2 * (FILTER_MAX_WORKLOADS + 1)];
	size_t nr = 0;
	int err = matrix_resize(&w->g, w->t, 2 * f->state.nr);

	if (err)
		return err;
	for (size_t k = 0; k < 2 * w->n; k++)
		if (f->state.entries[k / 2].alone[k % 2])
			own[k] = matrix_row(&f->state.p, k)[k];
		else
			terms[nr++] = k;
	matrix_multiply(&w->g, &w->aa, &f->state.p, terms, nr);
	for (size_t t = 0; nr < 2 * w->n && t < w->t; t++) {
		float *g = matrix_row(&w->g, t);
		const float *aa = matrix_row(&w->aa, t);

		for (size_t k = 0; k < 2 * w->n; k++)
			g[k] += aa[k] * own[k];
	}
	return fill_c0(f);
}

/* Columns of g that are the levels of new workloads, one beside the other, whitened. */
static int whiten_new(struct filter *f)
{
	struct work *w = f->work;
	int err = matrix_resize(&w->w, w->t, w->nr_fresh);

	for (size_t t = 0; !err && t < w->t; t++) {
		const float *g = matrix_row(&w->g, t);
		float *to = matrix_row(&w->w, t);

		for (size_t k = 0; k < w->nr_fresh; k++)
			to[k] = g[2 * w->fresh[k]];
	}
	return err ? err : matrix_cholesky_forward_all(w->l, w->t, &w->w, &w->tri);
}

/* The block's evidence on their levels: mean and variance, by new workload. */
static void judge_new(const struct filter *f, double *ret_mean, double *ret_variance)
{
	const struct work *w = f->work;

	for (size_t k = 0; k < w->nr_fresh; k++) {
		size_t level = 2 * w->fresh[k];

		ret_mean[k] = f->state.mean[level];
		ret_variance[k] = matrix_row(&f->state.p, level)[level];
	}
	for (size_t t = 0; t < w->t; t++) {
		const float *g = matrix_row(&w->g, t), *x = matrix_row(&w->w, t);

		for (size_t k = 0; k < w->nr_fresh; k++) {
			ret_mean[k] += g[2 * w->fresh[k]] * w->alpha[t];
			ret_variance[k] -= (double)x[k] * x[k];
		}
	}
}

/* Their columns of g: all they share is the mean intensity, which is uncertain. */
static void refine_columns(struct filter *f)
{
	struct work *w = f->work;
	double common = filter_state_common(f);

	for (size_t t = 0; t < w->t; t++) {
		float *g = matrix_row(&w->g, t);
		const float *aa = matrix_row(&w->aa, t);
		double all = 0;

		for (size_t k = 0; k < w->nr_fresh; k++)
			all += aa[2 * w->fresh[k]];
		for (size_t k = 0; k < w->nr_fresh; k++) {
			size_t i = 2 * w->fresh[k];

			g[i] = aa[i] * (matrix_row(&f->state.p, i)[i] - common) + all * common;
			g[i + 1] = aa[i + 1] * matrix_row(&f->state.p, i + 1)[i + 1];
		}
	}
}

/*
 * New workloads: how large are their levels, and so their phases? They shape their own prior. A
 * fraction of a level's variance follows the evidence of the block, because there are few large
 * intensities and many small ones: tails are heavier than a Gaussian's.
 */
static int refine_scales(struct filter *f)
{
	struct work *w = f->work;
	struct filter_state *s = &f->state;
	double common = filter_state_common(f);
	double mean[FILTER_MAX_WORKLOADS], variance[FILTER_MAX_WORKLOADS];
	int err = whiten_new(f);

	if (err)
		return err;
	judge_new(f, mean, variance);
	for (size_t k = 0; k < w->nr_fresh; k++) {
		size_t i = w->fresh[k];
		struct filter_entry *e = &s->entries[i];
		double m = mean[k], v = fmax(variance[k], 0), far = m - s->mean[2 * i];
		double sd = f->params.prior * f->mean;

		matrix_row(&s->p, 2 * i)[2 * i] =
			common + (1 - HEAVY) * sd * sd + HEAVY * (far * far + v);
		m = fmax(m, 0);
		e->scale = fmax(sqrt(m * m + v), SMALLEST_SCALE * f->mean);
		sd = f->phase * e->scale;
		matrix_row(&s->p, 2 * i + 1)[2 * i + 1] = sd * sd;
	}
	refine_columns(f);
	return fill_c0(f);
}

/* New workloads as they were before the block was evaluated. */
void filter_solve_forget_fresh(struct filter *f)
{
	const struct work *w = f->work;
	double level = f->params.prior * f->mean, phase = f->phase * f->mean;

	for (size_t k = 0; k < w->nr_fresh; k++) {
		size_t i = w->fresh[k];

		f->state.entries[i].scale = f->mean;
		matrix_row(&f->state.p, 2 * i)[2 * i] = level * level + filter_state_common(f);
		matrix_row(&f->state.p, 2 * i + 1)[2 * i + 1] = phase * phase;
	}
}

/* All that is the same each time the block is solved. */
int filter_solve_prepare(struct filter *f, const struct filter_input *in)
{
	struct work *w = f->work;
	int err;

	filter_lag_prepare(f);
	fill_activity(f, in);
	filter_phase_prepare(f, in);
	fill_moved(f, in);
	err = matrix_transpose(&w->a, &w->at);
	err = err ? err : matrix_transpose(&w->aa, &w->aat);
	err = err ? err : fill_g(f);
	if (err)
		return err;
	filter_phase_sizes(f);
	err = filter_phase_cover(f);
	return err ? err : filter_pace_cover(f, in);
}

/* The deviations from the prediction. */
static INLINE void fill_y_any(struct filter *f, const struct filter_input *in)
{
	struct work *w = f->work;

	for (size_t t = 0; t < w->t; t++)
		w->y[t] = in->bytes[t];
	for (size_t j = 0; j < 2 * w->n; j++) {
		const float *aa = matrix_row(&w->aat, j);
		double mean = f->state.mean[j];

		for (size_t t = 0; t < w->t; t++)
			w->y[t] -= aa[t] * mean;
	}
	for (size_t t = 0; !in->lead && t < FILTER_LAGS && t < w->t; t++)
		for (size_t k = t + 1; k <= FILTER_LAGS; k++)
			w->y[t] -= f->lag[k - 1] * filter_lag_carried(f, t, k) * in->ratio[t];
}

WIDE(static, void, fill_y, (struct filter * f, const struct filter_input *in), (f, in))

int filter_solve_block(struct filter *f, const struct filter_input *in, bool refine)
{
	struct work *w = f->work;
	int err = 0;

	for (int i = 0; !err && i <= (refine ? REFINE_ROUNDS : 0); i++) {
		if (i)
			err = refine_scales(f);
		if (!err && filter_phase_sizes(f))
			err = filter_phase_cover(f);
		if (err)
			break;
		fill_noise(f, in);
		add_start_noise(f, in);
		fill_y(f, in);
		if (filter_saturation_may(f, in))
			fill_demand(f);
		filter_saturation_censor(f, in);
		err = factor(f);
		for (size_t t = 0; !err && t < w->t; t++)
			w->alpha[t] = w->white[t];
		if (!err)
			matrix_cholesky_backward(w->l, w->t, w->alpha);
	}
	return err;
}

/* Log likelihood of the block, up to a constant, from a triangle and whitened bytes. */
static double likelihood(const double *l, const double *white, size_t t)
{
	double sum = -0.5 * matrix_dot(white, white, t);

	for (size_t i = 0; i < t; i++)
		sum -= log(l[i * t + i]);
	return sum;
}

/* How much more likely the block would be with another size. */
static double gain(struct filter *f, int size, double factor)
{
	struct work *w = f->work;
	double white[FILTER_MAX_WINDOWS], times[NR_SIZES] = { 1, 1, 1 };

	times[size] = factor;
	fill_c(f, times, w->trial);
	filter_pace_add(w, w->trial);
	if (matrix_cholesky(w->trial, w->t, w->trial))
		return 0;
	whiten(w, w->trial, white);
	return likelihood(w->trial, white, w->t) - likelihood(w->l, w->white, w->t);
}

/*
 * A step up or down when the accumulated evidence is sufficient; a large one when it is
 * overwhelming. True when there was one.
 */
static bool step(const struct size *size, const double *evidence)
{
	double max = fmax(evidence[0], evidence[1]), before = *size->value, v;

	if (max <= INSISTENCE)
		return false;
	v = before * pow(1 + (max > SHOUT ? LEAP : STEP), evidence[0] > evidence[1] ? 1 : -1);
	*size->value = fmin(fmax(v, size->min), size->max);
	return *size->value != before;
}

/*
 * A block's evidence for another size, combined with that @before; returns the larger one. A size
 * that fitted well for some blocks need not be checked in each of them: earlier evidence counts
 * less each time. And if one direction is better, the other one is worse.
 */
static double ask(struct filter *f, int size, const struct size *s, const double *before)
{
	double *e = &f->evidence[2 * size], better = 0;
	int first = before[1] > before[0];

	memcpy(e, before, 2 * sizeof(*e));
	for (int i = 0; i < 2 && fmax(before[0], before[1]) >= -SETTLED; i++) {
		int way = i ? 1 - first : first;

		if (*s->value == (way ? s->min : s->max)) {
			e[way] = -SHOUT;
			continue;
		}
		better = better > 0 ? -better : gain(f, size, pow(1 + s->tried, way ? -1 : 1));
		e[way] = fmax(e[way] + better, -SHOUT);
	}
	return fmax(e[0], e[1]);
}

/*
 * Would other sizes explain the bytes better? Then the block is solved again with these, because
 * its intervals depend on them. One at a time, because several may explain the same bytes: the one
 * that explains most. @before: evidence of earlier blocks.
 */
bool filter_solve_learn_sizes(struct filter *f, double *before)
{
	const struct size sizes[NR_SIZES] = {
		[SIZE_NOISE] = { &f->noise, MIN_NOISE, f->params.max_noise, STEP },
		[SIZE_PHASE] = { &f->phase, MIN_PHASE, f->params.max_phase, STEP },
		[SIZE_TIMING] = { &f->timing, MIN_TIMING_S, MAX_TIMING_S, TIMING_TRIED },
	};
	int nr = f->timing > 0 ? NR_SIZES : SIZE_TIMING, best = 0;
	double max = -INFINITY;

	for (int i = 0; i < nr; i++) {
		double said = ask(f, i, &sizes[i], &before[2 * i]);

		if (said > max)
			best = i;
		max = fmax(max, said);
	}
	if (!step(&sizes[best], &f->evidence[2 * best]))
		return false;
	before[2 * best] = before[2 * best + 1] = 0;
	return true;
}
