// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Activity and its traffic are not simultaneous: write-back comes later, and the data of a request
 * move before it is noted as completed.
 */
#include <math.h>
#include <string.h>

#include "engine/filter/constants.h"
#include "engine/filter/filter_state.h"
#include "engine/filter/wide.h"

/*
 * Data of I/O move at most some milliseconds before they are noted. Used as a weight: the inverse
 * variance of the prior.
 */
#define LEAD_KNOWN (1 / (LEAD_SPREAD_S * LEAD_SPREAD_S))

/* Activity of the entries @later windows before, as far as the counter counted then. */
const float *filter_lag_before(const struct filter *f, size_t t, size_t later)
{
	return t >= later ? matrix_row(&f->work->raw, t - later) : f->work->last[later - t - 1];
}

/*
 * Bytes in one of the first windows of workloads that have stopped, if all traffic comes that much
 * later.
 */
double filter_lag_carried(const struct filter *f, size_t t, size_t later)
{
	const struct filter_state *s = &f->state;
	double sum = 0;

	for (size_t i = f->work->n; t < later && i < s->nr; i++)
		sum += fmax(s->mean[2 * i] + s->mean[2 * i + 1], 0) *
		       s->entries[i].last[later - t - 1];
	return sum;
}

/* Data of this block that the next one needs. */
void filter_lag_remember(struct filter *f, const struct filter_input *in)
{
	const struct work *w = f->work;

	for (size_t i = 1; i < f->state.nr; i++) {
		struct filter_entry *e = &f->state.entries[i], was = *e;

		for (size_t k = 0; k < FILTER_LAGS; k++) {
			size_t t = w->t - 1 - k;
			bool inside = w->t > k, active = inside && i < w->n;

			e->last[k] = inside ? 0 : was.last[k - w->t];
			e->last_within[k] = inside ? 0 : was.last_within[k - w->t];
			if (active)
				e->last[k] = matrix_row(&w->raw, t)[i];
			if (active && in->within)
				e->last_within[k] = matrix_row(in->within, t)[i - 1] * in->ratio[t];
		}
	}
}

/* The last windows of the block before, as rows. */
void filter_lag_prepare(struct filter *f)
{
	for (size_t k = 0; k < FILTER_LAGS; k++)
		for (size_t i = 0; i < f->work->n; i++) {
			f->work->last[k][i] = f->state.entries[i].last[k];
			f->work->last_within[k][i] = f->state.entries[i].last_within[k];
		}
}

/* Variance of places in a window if all places are equally likely. */
#define PLACES (1.0 / 12)

/**
 * struct late - what is done late in a window shows in the next ones more than what is done early
 * @next, @behind: by so much more from its start to its end, in the next window and behind that
 * @next_change, @behind_change: how these change with the mean lag, by window
 */
struct late {
	double next, behind;
	double next_change, behind_change;
};

/*
 * Traffic of a moment is spread evenly over some time after it, which follows from the lag. So the
 * delayed fractions grow along a window, not quite evenly; these are the best linear fits. The less
 * the time of activity is known, the flatter they are: places are random to that extent. At the
 * memory's limit, traffic comes when it can, not after a fixed time.
 */
static struct late late_of(const struct filter *f, const struct filter_input *in)
{
	double random = f->timing / in->length_s[0], sure = 1 / (1 + random * random / PLACES);
	double over = fmin(2 * (f->lag[0] + 2 * f->lag[1]), FILTER_LAGS);
	double second = fmax(over - 1, 0);
	double both = over < 1 ? over * (3 - 2 * over) : 1 / over;
	double both_change = over < 1 ? 3 - 4 * over : -both / over;
	double behind = over > 1 ? second * second * (3 - 2 * second) / over : 0;
	double behind_change = over > 1 ? (6 * second * (1 - second) - behind) / over : 0;

	if (f->limit.known)
		return (struct late){ 0 };
	return (struct late){ sure * (both - behind), sure * behind,
			      sure * 2 * (both_change - behind_change), sure * 2 * behind_change };
}

/* Where in the window this many windows ago activity was, one element per workload. */
static const float *within_before(const struct filter *f, const struct filter_input *in, size_t t,
				  size_t later)
{
	static const float evenly[FILTER_MAX_WORKLOADS];

	if (!in->within)
		return evenly;
	return t >= later ? matrix_row(in->within, t - later)
			  : f->work->last_within[later - t - 1] + 1;
}

/*
 * The additional delayed bytes of activity that was late in its window, beside those that follow
 * from the activity of whole windows.
 */
static INLINE void with_late_any(const struct filter *f, const struct filter_input *in, size_t t)
{
	const struct late late = late_of(f, in);
	const float *now = within_before(f, in, t, 0), *next = within_before(f, in, t, 1);
	const float *behind = within_before(f, in, t, 2);
	double both = late.next + late.behind, ratio = in->ratio[t];
	float *a = matrix_row(&f->work->a, t);

	for (size_t i = 1; i < f->work->n; i++)
		a[i] += ratio *
			(late.next * next[i - 1] + late.behind * behind[i - 1] - both * now[i - 1]);
}

WIDE(static, void, with_late, (const struct filter *f, const struct filter_input *in, size_t t),
     (f, in, t))

/* A part of it shows in the next windows. */
static INLINE void with_lag_any(const struct filter *f, const struct filter_input *in, size_t t)
{
	const struct work *w = f->work;
	const float *x = matrix_row(in->activity, t);
	float *raw = matrix_row(&w->raw, t), *a = matrix_row(&w->a, t);
	double ratio = in->ratio[t], now = 1;

	for (size_t k = 0; k < FILTER_LAGS; k++)
		now -= f->lag[k];
	for (size_t i = 1; i < w->n; i++) {
		raw[i] = x[i - 1] * ratio;
		a[i] = now * x[i - 1] * ratio;
	}
	for (size_t k = 1; k <= FILTER_LAGS; k++) {
		const float *before = t >= k ? matrix_row(in->activity, t - k) : NULL;
		double lag = f->lag[k - 1] * ratio;

		for (size_t i = 1; before && i < w->n; i++)
			a[i] += lag * before[i - 1];
		for (size_t i = 1; !before && i < w->n; i++)
			a[i] += lag * f->state.entries[i].last[k - t - 1];
	}
}

WIDE(static, void, with_lag, (const struct filter *f, const struct filter_input *in, size_t t),
     (f, in, t))

/* I/O moved its data some milliseconds earlier: some of it in a window before the first request. */
static void with_lead(const struct filter *f, const struct filter_input *in, size_t t)
{
	const struct work *w = f->work;
	const float *x = matrix_row(in->activity, t), *lead = matrix_row(in->lead, t);
	float *raw = matrix_row(&w->raw, t), *a = matrix_row(&w->a, t);

	for (size_t i = 1; i < w->n; i++) {
		raw[i] = a[i] = max_of(x[i - 1] + f->lead * lead[i - 1], 0) * in->ratio[t];
	}
}

/* Activity as the counter saw it, in one window. */
void filter_lag_shift(struct filter *f, const struct filter_input *in, size_t t)
{
	if (in->lead) {
		with_lead(f, in, t);
		return;
	}
	with_lag(f, in, t);
	if (in->within && f->lag[0] > 0)
		with_late(f, in, t);
}

/* Uncertainty of the time by which data move before they are noted. */
static double lead_doubt(const struct filter *f)
{
	return LEAD_DOUBT_S + 1 / sqrt(f->lead_den + LEAD_KNOWN);
}

/*
 * Activity that may belong to the other side of a window's end because its time is not exactly
 * known: much where the windows beside it differ, and single requests even where they are alike.
 */
double filter_lag_noise(struct filter *f, const struct filter_input *in, size_t t)
{
	struct filter_output *o = f->out;
	double change, grain;

	o->lead_s = f->lead;
	o->edge_s = hypot(f->lead / 2, lead_doubt(f));
	o->grain_s = GRAIN_S;
	change = o->edge_s * in->change[t];
	grain = o->grain_s * in->rate[t];
	return (change * change + grain * grain) * in->ratio[t] * in->ratio[t];
}

/* Requests noted in the next window may have moved data in this one, up to this many seconds. */
double filter_lag_most_lead(const struct filter *f)
{
	return f->lead + 2 * lead_doubt(f);
}

/*
 * For the block's windows: the change of bytes if all of them came one window later, or two. First
 * the terms, several at a time, then their sums in the order of workloads.
 */
static INLINE void fill_changes_any(const struct filter *f, const struct filter_input *in,
				    double ret[FILTER_LAGS][FILTER_MAX_WINDOWS])
{
	const struct work *w = f->work;
	const struct late late = late_of(f, in);
	double both = late.next_change + late.behind_change, floor = FLOOR * f->mean;

	for (size_t t = 0; t < w->t; t++) {
		const float *place = within_before(f, in, t, 0);
		const float *place_last = within_before(f, in, t, 1);
		const float *place_behind = within_before(f, in, t, 2);
		const float *raw = matrix_row(&w->raw, t);
		const float *last = filter_lag_before(f, t, 1);
		const float *behind = filter_lag_before(f, t, 2);
		double terms[FILTER_LAGS][FILTER_MAX_WORKLOADS + 1], decay = w->decay[t];
		double ratio = in->ratio[t];
		double first = filter_lag_carried(f, t, 1), second = filter_lag_carried(f, t, 2);

		for (size_t i = 1; i < w->n; i++) {
			double moved = max_of(
				f->state.mean[2 * i] + decay * f->state.mean[2 * i + 1], floor);

			double more = ratio * (late.next_change * place_last[i - 1] +
					       late.behind_change * place_behind[i - 1] -
					       both * place[i - 1]);

			terms[0][i] = (last[i] - raw[i] + more) * moved;
			terms[1][i] = (behind[i] - raw[i] + 2 * more) * moved;
		}
		for (size_t i = 1; i < w->n; i++) {
			first += terms[0][i];
			second += terms[1][i];
		}
		ret[0][t] = first;
		ret[1][t] = second;
	}
}

WIDE(static, void, fill_changes,
     (const struct filter *f, const struct filter_input *in,
      double ret[FILTER_LAGS][FILTER_MAX_WINDOWS]),
     (f, in, ret))

/*
 * Traffic that is two windows late passes through the first one: if little comes in the next
 * window, next to nothing comes in the one after it.
 */
static double most_behind(double first)
{
	return first * fmin(1, LATER * first);
}

/* The fractions that fit best, none of them negative. */
static void solve_lag(struct filter *f)
{
	double a = f->lag_den[0][0] + LAG_KNOWN, b = f->lag_den[0][1];
	double c = f->lag_den[1][1] + LAG_KNOWN, det = a * c - b * b;
	double one = fmax((c * f->lag_num[0] - b * f->lag_num[1]) / det, 0);
	double two = fmax((a * f->lag_num[1] - b * f->lag_num[0]) / det, 0);

	two = fmin(two, most_behind(one));
	one = fmax((f->lag_num[0] - b * two) / a, 0);
	f->lag[0] = one / fmax(1, (one + two) / MAX_LAG);
	f->lag[1] = two / fmax(1, (one + two) / MAX_LAG);
}

/*
 * The lag that fits best: the unpredicted bytes are regressed on the differences between the
 * predictions for earlier windows and for this one.
 */
void filter_lag_learn(struct filter *f, const struct filter_input *in)
{
	struct work *w = f->work;
	double g[FILTER_LAGS][FILTER_MAX_WINDOWS], num[FILTER_LAGS];

	fill_changes(f, in, g);
	for (size_t k = 0; k < FILTER_LAGS; k++) {
		num[k] = matrix_dot(g[k], w->alpha, w->t);
		matrix_cholesky_forward(w->l, w->t, g[k]);
	}
	for (size_t k = 0; k < FILTER_LAGS; k++) {
		f->lag_num[k] = LAG_KEPT * f->lag_num[k] + num[k];
		for (size_t j = 0; j < FILTER_LAGS; j++) {
			double den = matrix_dot(g[k], g[j], w->t);

			f->lag_den[k][j] = LAG_KEPT * f->lag_den[k][j] + den;
			f->lag_num[k] += den * f->lag[j];
		}
	}
	solve_lag(f);
}

static double most_lag(const struct filter *f, size_t k)
{
	double doubt = LAG_DOUBT + 2 / sqrt(f->lag_den[k][k] + LAG_KNOWN);

	return fmin(f->lag[k] + doubt, MAX_LAG);
}

/* Maximum fraction that comes this many windows later. */
double filter_lag_most(const struct filter *f, size_t later)
{
	double first = most_lag(f, 0);

	return later == 1 ? first : fmin(most_lag(f, 1), most_behind(first));
}

/* The same for I/O: how many seconds earlier did the data move? */
void filter_lag_learn_lead(struct filter *f, const struct filter_input *in)
{
	struct work *w = f->work;
	double g[FILTER_MAX_WINDOWS], num = 0, den;

	for (size_t t = 0; t < w->t; t++) {
		const float *lead = matrix_row(in->lead, t);

		g[t] = 0;
		for (size_t i = 1; i < w->n; i++)
			g[t] += lead[i - 1] * in->ratio[t] *
				max_of(f->state.mean[2 * i] +
					       w->decay[t] * f->state.mean[2 * i + 1],
				       FLOOR * f->mean);
		num += g[t] * w->alpha[t];
	}
	matrix_cholesky_forward(w->l, w->t, g);
	den = matrix_dot(g, g, w->t);
	f->lead_num = LAG_KEPT * f->lead_num + den * f->lead + num;
	f->lead_den = LAG_KEPT * f->lead_den + den;
	f->lead = fmin(fmax(f->lead_num / (f->lead_den + LEAD_KNOWN), 0), MAX_LEAD_S);
}
