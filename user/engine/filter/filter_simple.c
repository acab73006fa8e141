// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Do intensities differ at all? If all are equal, dividing by activity is right, and learned
 * differences are noise. So a second model predicts the same bytes with one common intensity, which
 * has a level, a phase, noise and timing like those of the first model. The better prediction of a
 * counter decides the mixture of both, block by block.
 *
 * The common intensity has four states: level, phase, and the number of seconds by which activity
 * is early or late at the start and the end of a window. A recursion over windows (a Kalman filter)
 * takes a hundredth of the time of the first model.
 */
#include <float.h>
#include <math.h>
#include <string.h>

#include "engine/filter/constants.h"
#include "engine/filter/filter_state.h"
#include "engine/filter/wide.h"

enum {
	LEVEL,
	PHASE,
	START,
	END,
};

/**
 * struct seen - a window as this model sees it
 * @bytes: what was counted
 * @given: variance of the noise, without what is learned
 * @x: activity of all; also of those who have stopped, as far as their traffic comes later
 * @start_rate, @end_rate: bytes by second at its start and end
 * @between_s: since the middle of the window before
 * @stays: of what is early or late, from the start to the end
 */
struct seen {
	double bytes;
	double given;
	double x;
	double start_rate, end_rate;
	double between_s;
	double stays;
};

/**
 * struct fit - how well a block was predicted
 * @far: sum of squares of what was not predicted, by standard deviation
 * @logs: sum of the logarithms of variances
 * @likelihood: its logarithm, from both
 */
struct fit {
	double far;
	double logs;
	double likelihood;
};

static void scale_one(struct simple_model *s, int i, double by)
{
	s->mean[i] *= by;
	for (int j = 0; j < SIMPLE_STATES; j++) {
		s->p[i][j] *= by;
		s->p[j][i] *= by;
	}
}

/* From the window before to this one. */
static void advance(const struct filter *f, const struct seen *w, struct simple_model *s)
{
	double size = fmax(s->mean[LEVEL], 0), keep = exp(-w->between_s / f->params.tau_s);
	double phase = s->phase * size, wander = f->params.wander * size;

	s->p[LEVEL][LEVEL] += wander * wander * w->between_s;
	scale_one(s, PHASE, keep);
	s->p[PHASE][PHASE] += phase * phase * (1 - keep * keep);
	/* A window ends where the next one starts. */
	s->mean[START] = s->mean[END];
	for (int i = 0; i < SIMPLE_STATES; i++)
		s->p[START][i] = s->p[END][i];
	for (int i = 0; i < SIMPLE_STATES; i++)
		s->p[i][START] = s->p[i][END];
	scale_one(s, END, w->stays);
	s->p[END][END] += s->timing * s->timing * (1 - w->stays * w->stays);
}

/* Update with the window's bytes. */
static void observe(const struct seen *w, struct simple_model *s, struct fit *fit)
{
	const double h[SIMPLE_STATES] = { w->x, w->x, w->start_rate, -w->end_rate };
	double off = w->bytes, own = s->noise * w->bytes, variance = w->given + own * own;
	double ph[SIMPLE_STATES], far;

	for (int i = 0; i < SIMPLE_STATES; i++) {
		off -= h[i] * s->mean[i];
		ph[i] = 0;
		for (int j = 0; j < SIMPLE_STATES; j++)
			ph[i] += s->p[i][j] * h[j];
		variance += h[i] * ph[i];
	}
	far = off * off / variance;
	if (far > OUTLIER * OUTLIER)
		variance += far * variance / (WHITE_LIMIT * WHITE_LIMIT);
	for (int i = 0; i < SIMPLE_STATES; i++) {
		double gain = ph[i] / variance;

		s->mean[i] += gain * off;
		for (int j = 0; j < SIMPLE_STATES; j++)
			s->p[i][j] -= gain * ph[j];
	}
	fit->far += off * off / variance;
	fit->logs += log(variance);
}

/* Moves @s over the block. */
static struct fit run(const struct filter *f, const struct seen *windows, struct simple_model *s)
{
	struct fit fit = { 0 };

	for (size_t t = 0; t < f->work->t; t++) {
		advance(f, &windows[t], s);
		observe(&windows[t], s, &fit);
	}
	fit.likelihood = -0.5 * (fit.far + fit.logs);
	return fit;
}

static void begin(const struct filter *f, struct simple_model *s)
{
	double level = f->params.prior * f->mean, phase = f->params.phase * f->mean;

	*s = (struct simple_model){ .begun = true,
				    .noise = NOISE_AT_FIRST,
				    .phase = f->params.phase,
				    .timing = TIMING_AT_FIRST_S };
	s->mean[LEVEL] = f->mean;
	s->p[LEVEL][LEVEL] = level * level;
	s->p[PHASE][PHASE] = phase * phase;
	s->p[END][END] = s->timing * s->timing;
}

/* Activity of a window, with the lag that was learned. */
static double activity_of(const struct filter *f, const struct filter_input *in, size_t t)
{
	const struct work *w = f->work;
	const float *a = matrix_row(&w->a, t);
	double sum = 0;

	for (size_t i = 1; i < w->n; i++)
		sum += a[i];
	for (size_t k = t + 1; k <= FILTER_LAGS; k++)
		for (size_t i = w->n; i < f->state.nr; i++)
			sum += f->lag[k - 1] * f->state.entries[i].last[k - t - 1] * in->ratio[t];
	return sum;
}

static void fill_seen(const struct filter *f, const struct filter_input *in, struct seen *ret)
{
	const struct work *w = f->work;
	double at = 0;

	for (size_t t = 0; t < w->t; t++) {
		size_t before = t ? t - 1 : 0, after = t + 1 < w->t ? t + 1 : t;
		double end = in->middle_s[t] + in->length_s[t] / 2;

		ret[t] = (struct seen){
			.bytes = in->bytes[t],
			.given = w->noise[t] - w->own[t],
			.x = activity_of(f, in, t),
			.start_rate = (in->bytes[before] + in->bytes[t]) /
				      (in->length_s[before] + in->length_s[t]),
			.end_rate = (in->bytes[after] + in->bytes[t]) /
				    (in->length_s[after] + in->length_s[t]),
			.between_s =
				in->middle_s[t] - (t ? in->middle_s[t - 1] : -f->simple.since_s),
			.stays = exp(-fmax(end - at, 0) / f->params.timing_tau_s),
		};
		at = end;
	}
}

/*
 * Sizes that explain the block better, one step at a time, as the first model learns its own. @s
 * moves over the block.
 */
static struct fit learn(const struct filter *f, const struct seen *windows, struct simple_model *s)
{
	const struct simple_model start = *s;
	struct fit best = run(f, windows, s);

	for (int round = 0; round < SIMPLE_ROUNDS; round++) {
		struct simple_model from = start, better = *s;
		struct fit before = best;

		from.noise = s->noise;
		from.phase = s->phase;
		from.timing = s->timing;
		for (int i = 0; i < 2 * NR_SIZES; i++) {
			struct simple_model tried = from;
			double *sizes[] = { &tried.noise, &tried.phase, &tried.timing };
			struct fit fit;

			*sizes[i / 2] *= i % 2 ? SIMPLE_STEP : 1 / SIMPLE_STEP;
			fit = run(f, windows, &tried);
			if (fit.likelihood <= best.likelihood)
				continue;
			best = fit;
			better = tried;
		}
		if (best.likelihood <= before.likelihood + INSISTENCE)
			return before;
		*s = better;
	}
	return best;
}

/*
 * Log likelihood of the block if all variances are scaled by the one factor that fits best. Sizes
 * follow with a delay, so a calm block was not predicted worse than its variances say. @far: sum of
 * squares of the deviations in standard deviations; @logs: sum of the logarithms of variances.
 */
static double whatever_size(size_t t, double far, double logs)
{
	return -0.5 * (t * log(far / t) + logs);
}

static double said_by_each(const struct work *w)
{
	double logs = 0;

	for (size_t t = 0; t < w->t; t++)
		logs += 2 * log(w->l[t * w->t + t]);
	return whatever_size(w->t, matrix_dot(w->white, w->white, w->t), logs);
}

/*
 * Which model predicted the block better? Errors of windows are correlated, and a block in which
 * one program changes says little about all others: so the evidence of a block is small and
 * bounded. At the memory's limit, bytes are not the demand: such blocks are not judged.
 */
void filter_simple_judge(struct filter *f, const struct filter_input *in)
{
	const struct work *w = f->work;
	struct seen windows[FILTER_MAX_WINDOWS];
	struct simple_model *s = &f->simple;
	struct fit fit;
	double more;

	s->judged = false;
	/* Squares of absurd counts are beyond single precision. */
	if (f->bytes * f->bytes > FLT_MAX)
		return;
	if (!s->begun)
		begin(f, s);
	fill_seen(f, in, windows);
	fit = learn(f, windows, s);
	more = said_by_each(w) - whatever_size(w->t, fit.far, fit.logs);
	s->since_s = in->block_s - in->middle_s[w->t - 1];
	if (!isfinite(more)) {
		*s = (struct simple_model){ 0 };
		return;
	}
	if (w->limited.nr || f->limit.known)
		return;
	s->judged = true;
	s->odds = SIMPLE_KEPT * s->odds + fmax(fmin(more, SIMPLE_AGAINST), -SIMPLE_FOR);
}

/* Bytes of each window, and its activity, as the first model sees them. */
struct sums {
	double all[FILTER_MAX_WINDOWS];
	double x[FILTER_MAX_WINDOWS];
};

/* Several windows at a time, because additions to the same sum wait for each other. */
#define TOGETHER 4

static void sum_windows(const struct filter *f, size_t first, size_t nr, struct sums *ret)
{
	const struct matrix *raw = &f->work->raw, *expected = &f->out->expected;
	double all[TOGETHER], x[TOGETHER] = { 0 };

	for (size_t t = 0; t < nr; t++)
		all[t] = f->out->background[first + t];
	for (size_t i = 1; i < f->work->n; i++)
		for (size_t t = 0; t < nr; t++) {
			x[t] += matrix_row(raw, first + t)[i];
			all[t] += matrix_row(expected, first + t)[i - 1];
		}
	memcpy(ret->all + first, all, nr * sizeof(*all));
	memcpy(ret->x + first, x, nr * sizeof(*x));
}

static void fill_sums(const struct filter *f, struct sums *ret)
{
	size_t t = 0;

	for (; t + TOGETHER <= f->work->t; t += TOGETHER)
		sum_windows(f, t, TOGETHER, ret);
	for (; t < f->work->t; t++)
		sum_windows(f, t, 1, ret);
}

/* The change of each workload's bytes if they were divided by activity. */
static INLINE void fill_differ_any(const struct filter *f, const struct filter_input *in,
				   const struct sums *sums, double *ret)
{
	const struct work *w = f->work;

	memset(ret, 0, w->n * sizeof(*ret));
	for (size_t t = 0; t < w->t; t++) {
		const float *raw = matrix_row(&w->raw, t);
		const float *expected = matrix_row(&f->out->expected, t);
		double x = sums->x[t], all = sums->all[t];

		if (!(x > 0) || !(all > 0))
			continue;
		for (size_t i = 1; i < w->n; i++)
			ret[i - 1] += (raw[i] / x - expected[i - 1] / all) * in->bytes[t];
	}
}

WIDE(static, void, fill_differ,
     (const struct filter *f, const struct filter_input *in, const struct sums *sums, double *ret),
     (f, in, sums, ret))

/*
 * Odds for the first model. A difference from the simple model below its own errors may be nothing
 * else; a much larger one is a finding.
 */
static double odds_of_all(struct filter *f, const double *differ)
{
	struct simple_model *s = &f->simple;
	double apart = 0, errors = 0, odds;

	for (size_t i = 0; i + 1 < f->work->n; i++) {
		apart += differ[i] * differ[i];
		errors += matrix_row(&f->out->covariance, i)[i];
	}
	s->apart = SIMPLE_APART_KEPT * s->apart + apart;
	s->errors = SIMPLE_APART_KEPT * s->errors + errors;
	odds = exp(f->params.each + SIMPLE_TELLS * s->odds);
	if (s->errors > 0)
		odds *= fmax(fmin(s->apart / s->errors, SIMPLE_APART), 1 / SIMPLE_APART);
	return odds;
}

/*
 * By workload: bytes of others in the windows in which it ran, a fraction of which may be wrong.
 * Errors of several others are independent: with many equal ones the sum is smaller.
 */
static INLINE void filter_simple_others_any(const struct filter *f, const struct filter_input *in,
					    double *ret)
{
	const struct work *w = f->work;
	double all = 0, squares = 0;

	memset(ret, 0, w->n * sizeof(*ret));
	for (size_t t = 0; t < w->t; t++) {
		const float *raw = matrix_row(&w->raw, t);
		double bytes = in->bytes[t];

		for (size_t i = 1; i < w->n; i++)
			ret[i - 1] += raw[i] > 0 ? bytes : 0;
	}
	for (size_t i = 1; i < w->n; i++) {
		all += w->total[i];
		squares += w->total[i] * w->total[i];
	}
	for (size_t i = 0; i + 1 < w->n; i++) {
		double total = w->total[i + 1], others = fmax(all - total, 0);

		ret[i] = fmax(ret[i] - total, 0);
		if (others > 0)
			ret[i] *= sqrt(fmax(squares - total * total, 0)) / others;
	}
}

WIDE(, void, filter_simple_others,
     (const struct filter *f, const struct filter_input *in, double *ret), (f, in, ret))

/*
 * The weight of the first model in each workload's result. Most of the unpredicted bytes are of the
 * workloads that move most. A hundredth of their bytes can exceed all bytes of a small one; the
 * estimate of the small one is then wrong by that, however sure the filter is of it, because
 * programs are less regular than its phases and noise. So the bytes of all others may be wrong by a
 * fraction: a difference below that speaks for the simple model. And even certain evidence that
 * intensities differ does not say that each one does.
 */
static void fill_mix(const struct filter *f, const struct filter_input *in, double odds,
		     const double *differ, double *ret)
{
	double fraction = f->bound.holds ? BOUND_BESIDE : f->params.beside;

	filter_simple_others(f, in, ret);
	for (size_t i = 0; i + 1 < f->work->n; i++) {
		double beside = fraction * ret[i], own = odds;
		double error = matrix_row(&f->out->covariance, i)[i] + beside * beside;

		if (f->params.beside > 0 && error > 0)
			own = fmin(odds, SIMPLE_MAX) *
			      fmax(fmin(differ[i] * differ[i] / error, 1), 1 / SIMPLE_SINGLE);
		ret[i] = own / (1 + own);
	}
}

/*
 * Each window is divided by both models; the result mixes them. The difference between a workload's
 * bytes in the two is as doubtful as the choice between them.
 */
static INLINE void filter_simple_mix_any(struct filter *f, const struct filter_input *in)
{
	const struct work *w = f->work;
	struct filter_output *o = f->out;
	double odds, differ[FILTER_MAX_WORKLOADS + 1], mix[FILTER_MAX_WORKLOADS + 1];
	struct sums sums;

	o->mix = 1;
	if (!f->simple.judged)
		return;
	fill_sums(f, &sums);
	fill_differ(f, in, &sums, differ);
	odds = odds_of_all(f, differ);
	o->mix = odds / (1 + odds);
	fill_mix(f, in, odds, differ, mix);
	for (size_t t = 0; t < w->t; t++) {
		const float *raw = matrix_row(&w->raw, t);
		float *expected = matrix_row(&o->expected, t);
		double x = sums.x[t], by = x > 0 ? sums.all[t] / x : 0;

		if (!(by > 0))
			continue;
		o->background[t] *= o->mix;
		for (size_t i = 0; i + 1 < w->n; i++)
			expected[i] = mix[i] * expected[i] + (1 - mix[i]) * by * raw[i + 1];
	}
	for (size_t i = 0; i + 1 < w->n; i++)
		differ[i] *= sqrt(mix[i] * (1 - mix[i]));
	for (size_t i = 0; i + 1 < w->n; i++) {
		float *to = matrix_row(&o->covariance, i);

		for (size_t j = 0; j + 1 < w->n; j++)
			to[j] += differ[i] * differ[j];
	}
}

WIDE(, void, filter_simple_mix, (struct filter * f, const struct filter_input *in), (f, in))
