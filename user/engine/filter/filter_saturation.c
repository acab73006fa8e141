// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Windows in which the memory is at its limit. The counter then shows the limit, whatever the
 * demand, and all workloads are slowed in proportion: D = min(demand, limit) + noise. Such a window
 * means "at least this much". Treated as a measurement, it would underestimate workloads that share
 * it.
 *
 * Demand is Gaussian as bytes are elsewhere; the likelihood of such a window is not. So each window
 * that may be at the limit is replaced by a measurement, a value with some noise, which gives the
 * demand the mean and variance that it really has (expectation propagation). The rest is solved as
 * usual.
 *
 * The limit is not known. It is assumed to exist when blocks are much more likely with it than
 * without: many windows have nearly the same rate and hardly any has more, although more was
 * expected.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "engine/filter/constants.h"
#include "engine/filter/filter_state.h"
#include "engine/filter/wide.h"

/* Points of the demand at which the likelihood of a window is evaluated, and their range. */
#define POINTS	  41
#define REACH	  5.0
#define SQRT_2_PI 2.5066282746310002

/* A window's evidence on its demand: precision, and precision times mean. */
struct site {
	double precision;
	double shift;
};

/* The block while limits are tried: demand minus prediction. */
struct demand {
	size_t t;
	bool last;   /* no window is visited again: only later ones must follow */
	double *cov; /* t x t */
	double mean[FILTER_MAX_WINDOWS];
	struct site sites[FILTER_MAX_WINDOWS];
};

/* Evidence on a limit: a step of Newton's method, as numerator and denominator. */
struct slope {
	double num;
	double den;
};

/* The limit of one window, bytes. */
static double limit_of(const struct filter_input *in, size_t t, double per_s)
{
	return per_s * in->length_s[t] * in->ratio[t];
}

/*
 * The count when @demand is requested. Demand varies within the window: a part of it may be above
 * the limit and the rest below. @ret_above: the fraction that is above.
 */
static double counted(double demand, double limit, double *ret_above)
{
	double sd = KNEE * limit, z = (demand - limit) / sd;

	if (z < -REACH || z > REACH) {
		*ret_above = z > 0;
		return z > 0 ? limit : demand;
	}
	*ret_above = 0.5 * erfc(-z * M_SQRT1_2);
	return demand - (demand - limit) * *ret_above - sd * exp(-0.5 * z * z) / SQRT_2_PI;
}

/*
 * Mean and variance of a window's demand, given the prediction from all other windows (@mean,
 * @variance) and the count. Return: the log likelihood of the count.
 */
static double look(const struct work *w, size_t t, double bytes, double limit, double *mean,
		   double *variance, struct slope *slope)
{
	double sd = sqrt(*variance), noise = w->limited.noise[t], step = 2 * REACH / (POINTS - 1);
	double log_p[POINTS], fraction[POINTS], off[POINTS], max = -INFINITY;
	double sum = 0, first = 0, second = 0, num = 0, den = 0;

	for (int i = 0; i < POINTS; i++) {
		double u = -REACH + i * step;

		off[i] = bytes - counted(fmax(*mean + u * sd, 0), limit, &fraction[i]);
		log_p[i] = -0.5 * (u * u + off[i] * off[i] / noise);
		max = fmax(max, log_p[i]);
	}
	for (int i = 0; i < POINTS; i++) {
		double u = -REACH + i * step, p = exp(log_p[i] - max);

		sum += p;
		first += p * u;
		second += p * u * u;
		num += p * fraction[i] * off[i];
		den += p * fraction[i] * fraction[i];
	}
	first /= sum;
	*mean += first * sd;
	*variance *= fmax(second / sum - first * first, MIN_SURE);
	slope->num += num / sum / noise * limit;
	slope->den += den / sum / noise * limit * limit;
	return max + log(sum * step / (SQRT_2_PI * SQRT_2_PI)) - 0.5 * log(noise);
}

/*
 * A site changes: the demand in all windows that are still visited follows. Only rows of the
 * covariance are read, from the diagonal on if no window is visited again.
 */
static INLINE void replace_any(struct demand *d, size_t at, struct site site)
{
	double precision = site.precision - d->sites[at].precision;
	double shift = site.shift - d->sites[at].shift;
	double column[FILTER_MAX_WINDOWS], scale;
	size_t from = d->last ? at + 1 : 0;

	memcpy(column, d->cov + at * d->t, d->t * sizeof(*column));
	scale = 1 / (1 + precision * column[at]);
	shift = (shift - precision * d->mean[at]) * scale;
	precision *= scale;
	for (size_t i = from; i < d->t; i++) {
		double fraction = precision * column[i], *row = d->cov + i * d->t;

		d->mean[i] += shift * column[i];
		for (size_t j = d->last ? i : 0; j < d->t; j++)
			row[j] -= fraction * column[j];
	}
	d->sites[at] = site;
}

WIDE(static, void, replace, (struct demand * d, size_t at, struct site site), (d, at, site))

/* Log likelihood of such a deviation. */
static double log_likely(double off, double variance)
{
	return -0.5 * off * off / variance - 0.5 * log(variance) - log(SQRT_2_PI);
}

/* A window well below the limit is an ordinary measurement. */
static double measure(const struct work *w, struct demand *d, size_t t)
{
	double noise = w->limited.noise[t], all = d->cov[t * d->t + t] + noise;
	double far = w->limited.y[t] - d->mean[t];

	replace(d, t, (struct site){ 1 / noise, w->limited.y[t] / noise });
	return log_likely(far, all);
}

/* One that may be at the limit. */
static double censor(const struct work *w, struct demand *d, size_t t, double bytes, double limit,
		     struct slope *slope)
{
	double own = d->cov[t * d->t + t], precision = 1 / own - d->sites[t].precision;
	double others = 1 / precision, predicted = bytes - w->limited.y[t], mean, variance, max;
	double shift, likely;

	if (!(own > 0) || !(precision > 0))
		return 0;
	shift = d->mean[t] / own - d->sites[t].shift;
	mean = predicted + shift * others;
	variance = others;
	likely = look(w, t, bytes, limit, &mean, &variance, slope);
	max = fmax(1 / variance - precision, MIN_SURE * precision);
	replace(d, t, (struct site){ max, (mean - predicted) * (precision + max) - shift });
	return likely;
}

/*
 * Do several workloads share the activity of a window? One alone owns the whole count, and its
 * steady rate is no sign of a limit.
 */
static bool is_shared(const struct work *w, size_t t)
{
	const float *raw = matrix_row(&w->raw, t);
	double sum = 0, squares = 0;

	for (size_t i = 1; i < w->n; i++) {
		sum += raw[i];
		squares += raw[i] * raw[i];
	}
	return sum * sum > LIMIT_WORKLOADS * squares;
}

/* The demand is as predicted. Without @again, see @last of the demand. */
static void begin_demand(const struct work *w, bool again, struct demand *ret)
{
	memset(ret->mean, 0, sizeof(ret->mean));
	memset(ret->sites, 0, sizeof(ret->sites));
	ret->t = w->t;
	ret->last = !again;
	ret->cov = w->trial;
	for (size_t i = 0; i < w->t; i++)
		for (size_t j = 0; j <= i; j++)
			ret->cov[i * w->t + j] = ret->cov[j * w->t + i] = w->demand[i * w->t + j];
}

/* May a window be at a limit, bytes per second? */
bool filter_saturation_is_near(const struct filter_input *in, size_t t, double per_s)
{
	return in->bytes[t] >= NEAR_LIMIT * limit_of(in, t, per_s);
}

/* The same, with a look at the workloads that run in it. */
static bool is_near(const struct work *w, const struct filter_input *in, size_t t, double per_s)
{
	return filter_saturation_is_near(in, t, per_s) && is_shared(w, t);
}

/*
 * Should a limit be looked for? Counts that follow the traffic already contain it, except in
 * windows over which they are spread.
 */
bool filter_saturation_may(const struct filter *f, const struct filter_input *in)
{
	return f->params.limited || in->nr_slices;
}

/* The demand given a limit, bytes per second. */
static void find_demand(const struct work *w, const struct filter_input *in, double limit,
			struct demand *d)
{
	struct slope slope = { 0 };

	begin_demand(w, true, d);
	for (int sweep = 0; sweep < CENSOR_ROUNDS; sweep++) {
		d->last = sweep + 1 == CENSOR_ROUNDS;
		for (size_t t = 0; t < w->t; t++) {
			if (is_near(w, in, t, limit))
				censor(w, d, t, in->bytes[t], limit_of(in, t, limit), &slope);
			else if (!sweep)
				measure(w, d, t);
		}
	}
}

void filter_saturation_censor(struct filter *f, const struct filter_input *in)
{
	struct work *w = f->work;
	struct demand d;

	w->limited.nr = 0;
	memset(w->limited.is, 0, sizeof(w->limited.is));
	if (!filter_saturation_may(f, in))
		return;
	memcpy(w->limited.y, w->y, w->t * sizeof(*w->y));
	memcpy(w->limited.noise, w->noise, w->t * sizeof(*w->noise));
	if (!f->limit.known || !f->params.limited)
		return;
	find_demand(w, in, f->limit.per_s, &d);
	for (size_t t = 0; t < w->t; t++) {
		double noise = 1 / d.sites[t].precision;

		if (!is_near(w, in, t, f->limit.per_s))
			continue;
		w->limited.is[t] = noise > SATURATED * w->noise[t];
		w->limited.nr += w->limited.is[t];
		w->own[t] = w->limited.is[t] ? 0 : w->own[t] * fmin(1, noise / w->noise[t]);
		w->noise[t] = noise;
		w->y[t] = d.sites[t].shift * noise;
	}
}

static int by_value(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

/* Candidate rates for a limit; false when few windows have nearly the same rate. */
static bool find_pile(const struct filter_input *in, double *ret)
{
	double rates[FILTER_MAX_WINDOWS], top;
	size_t nr = in->nr_windows;

	for (size_t t = 0; t < nr; t++)
		rates[t] = in->bytes[t] / (in->length_s[t] * in->ratio[t]);
	qsort(rates, nr, sizeof(*rates), by_value);
	top = rates[nr - 1 - nr / 20];
	ret[0] = rates[nr - 1 - nr / 10];
	ret[1] = rates[nr - 1 - nr / 3];
	return nr >= (size_t)MIN_WINDOWS && rates[nr - 1 - nr / 5] > PILE * top;
}

/*
 * Log likelihood of each window, given the earlier ones, without a limit; false: it cannot be
 * computed.
 */
static bool find_likely(struct work *w, double *ret)
{
	double *l = w->trial, white[FILTER_MAX_WINDOWS];

	memcpy(l, w->demand, w->t * w->t * sizeof(*l));
	memcpy(white, w->limited.y, w->t * sizeof(*white));
	for (size_t t = 0; t < w->t; t++)
		l[t * w->t + t] += w->limited.noise[t];
	if (matrix_cholesky(l, w->t, l))
		return false;
	matrix_cholesky_forward(l, w->t, white);
	for (size_t t = 0; t < w->t; t++)
		ret[t] = -0.5 * white[t] * white[t] - log(l[t * w->t + t]) - log(SQRT_2_PI);
	return true;
}

/*
 * The products of each workload's activity with the bytes and with itself, divided by the noise: in
 * wide registers over workloads, because sums over windows wait for each other.
 */
static INLINE void fit_single_any(const struct work *w, const double *bytes, const double *noise,
				  double *both, double *own)
{
	memset(both, 0, w->n * sizeof(*both));
	memset(own, 0, w->n * sizeof(*own));
	for (size_t t = 0; t < w->t; t++) {
		const float *a = matrix_row(&w->a, t);

		for (size_t i = 1; i < w->n; i++) {
			both[i] += a[i] * bytes[t] / noise[t];
			own[i] += (double)a[i] * a[i] / noise[t];
		}
	}
}

WIDE(static, void, fit_single,
     (const struct work *w, const double *bytes, const double *noise, double *both, double *own),
     (w, bytes, noise, both, own))

/*
 * The same, if one workload moves all bytes, with one intensity. A program that always runs does so
 * at a steady rate, whichever others come and go beside it: each of these would have to be close to
 * zero, which is unlikely for so many. Without this model, that would look like a limit. If there
 * is a limit, bytes follow the activity of no single workload in the windows below it.
 */
static void find_likely_of_one(const struct work *w, const double *bytes, double timing,
			       double *likely)
{
	double both[FILTER_MAX_WORKLOADS + 1], own[FILTER_MAX_WORKLOADS + 1];
	double noise[FILTER_MAX_WINDOWS], max = 0, theta = 0, gain = -log((double)w->n);
	double of_one[FILTER_MAX_WINDOWS];
	size_t one = 0;

	for (size_t t = 0; t < w->t; t++)
		noise[t] = w->limited.noise[t] + timing * timing * w->moved[t * w->t + t];
	fit_single(w, bytes, noise, both, own);
	for (size_t i = 1; i < w->n; i++)
		if (own[i] > 0 && both[i] * both[i] / own[i] > max) {
			max = both[i] * both[i] / own[i];
			theta = both[i] / own[i];
			one = i;
		}
	for (size_t t = 0; t < w->t; t++) {
		of_one[t] = log_likely(bytes[t] - theta * matrix_row(&w->at, one)[t], noise[t]);
		gain += of_one[t] - likely[t];
	}
	if (one && gain > 0)
		memcpy(likely, of_one, w->t * sizeof(*likely));
}

/*
 * How much more likely the block is with a limit than @without; @limit moves towards the likeliest.
 * The weight of each window is bounded: an outlier says nothing about limits. When the remaining
 * windows cannot lift the sum above @bar, the rest is not computed, which is nearly always so where
 * there is no limit.
 */
static double gain_of(struct filter *f, const struct filter_input *in, const double *without,
		      double bar, double *limit, struct slope *before)
{
	const struct work *w = f->work;
	struct demand d;
	struct slope slope = { 0 };
	double gain = 0;

	begin_demand(w, false, &d);
	for (size_t t = 0; t < w->t; t++) {
		double max = limit_of(in, t, *limit);
		double likely = is_near(w, in, t, *limit)
					? censor(w, &d, t, in->bytes[t], max, &slope)
					: measure(w, &d, t);

		gain += fmin(likely - without[t], LIMIT_SAY);
		/* One window more than there are, because sums are rounded. */
		if (gain + (w->t - t) * LIMIT_SAY < bar)
			return -INFINITY;
	}
	before->num = LIMIT_KEPT * before->num + slope.num;
	before->den = LIMIT_KEPT * before->den + slope.den;
	if (before->den > 0) {
		double move = before->num / before->den;

		move = fmin(fmax(move, -LIMIT_STEP), LIMIT_STEP);
		*limit *= 1 + move;
		before->num -= move * before->den;
	}
	return gain;
}

bool filter_saturation_judge(struct filter *f, const struct filter_input *in)
{
	struct filter_limit *l = &f->limit;
	double piles[2], without[FILTER_MAX_WINDOWS];
	struct slope slope;
	bool known = l->known, pile;

	if (!filter_saturation_may(f, in)) {
		*l = (struct filter_limit){ 0 };
		return known;
	}
	pile = find_pile(in, piles);
	if ((!pile && !(l->per_s > 0)) || !find_likely(f->work, without))
		return false;
	find_likely_of_one(f->work, in->bytes, f->timing, without);
	if (l->per_s > 0) {
		slope = (struct slope){ l->num, l->den };
		l->evidence = EVIDENCE_KEPT * l->evidence +
			      gain_of(f, in, without, -INFINITY, &l->per_s, &slope);
		l->num = slope.num;
		l->den = slope.den;
	}
	for (int i = 0; i < 2 && pile && l->evidence < LIMIT_SURE; i++) {
		double limit = piles[i], bar = fmax(l->evidence, 0), gain;

		slope = (struct slope){ 0 };
		gain = gain_of(f, in, without, bar, &limit, &slope);
		if (gain > bar)
			*l = (struct filter_limit){
				.per_s = limit, .evidence = gain, .num = slope.num, .den = slope.den
			};
	}
	l->known = l->evidence >= LIMIT_SURE || (known && l->evidence > 0);
	if (!(l->evidence > 0))
		*l = (struct filter_limit){ 0 };
	return known != l->known;
}

/* Scale activity down to the part that was served: all are slowed in proportion. */
void filter_saturation_slow(struct filter *f, const struct filter_input *in)
{
	struct work *w = f->work;

	if (!w->limited.nr)
		return;
	memset(w->total, 0, w->n * sizeof(*w->total));
	memset(w->sum, 0, w->n * sizeof(*w->sum));
	for (size_t t = 0; t < w->t; t++) {
		const float *theta = matrix_row(&w->theta, t);
		float *raw = matrix_row(&w->raw, t);
		double sum = 0;

		for (size_t i = 0; i < w->n; i++)
			sum += max_of(theta[i], 0) * raw[i];
		w->limited.pace[t] =
			w->limited.is[t] && sum > in->bytes[t] ? in->bytes[t] / sum : 1;
		for (size_t i = 0; i < w->n; i++) {
			raw[i] *= w->limited.pace[t];
			w->total[i] += theta[i] * raw[i];
			w->sum[i] += raw[i];
		}
	}
}

/* The opposite. */
void filter_saturation_restore(struct filter *f)
{
	struct work *w = f->work;

	for (size_t t = 0; t < w->t && w->limited.nr; t++) {
		float *raw = matrix_row(&w->raw, t);

		for (size_t i = 0; i < w->n; i++)
			raw[i] /= w->limited.pace[t];
	}
}

/*
 * The bytes of a window at the limit are known, whatever the demand: an error of the demand is
 * divided among workloads as the bytes are. With s the fraction of an entry, s times that error is
 * subtracted from the error of its total. R: the variance of sites. The covariance P - U'U, U =
 * L^-1 q, so becomes P + s'Rs - (U + V)'(U + V), V = L^-1 R s.
 */
int filter_saturation_project(struct filter *f, struct matrix *cov)
{
	struct work *w = f->work;
	int err = w->limited.nr ? matrix_shape(&w->unit, w->t, w->n) : 0;

	if (err || !w->limited.nr)
		return err;
	for (size_t t = 0; t < w->t; t++) {
		const float *theta = matrix_row(&w->theta, t), *raw = matrix_row(&w->raw, t);
		float *unit = matrix_row(&w->unit, t), *q = matrix_row(&w->q, t);
		double sum = 0, sd = sqrt(w->noise[t]);

		for (size_t i = 0; i < w->n; i++)
			sum += max_of(theta[i], 0) * raw[i];
		for (size_t i = 0; i < w->n && w->limited.is[t] && sum > 0; i++) {
			double fraction = w->limited.pace[t] * max_of(theta[i], 0) * raw[i] / sum;

			unit[i] = fraction * sd;
			q[i] += fraction * w->noise[t];
		}
	}
	matrix_multiply_lower_of(cov, 1, &w->unit, &w->unit, w->t);
	return 0;
}
