// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Counts of slices that are longer than a window, at the memory's limit. Such a count is known as a
 * sum only, and is spread evenly over the slice. But at the limit all workloads are slowed in
 * proportion: there is a pace, common to all, which differs from window to window. So too much of
 * each count is placed in windows at the limit, and too little in others. Treated as exact, it
 * underestimates workloads that share a saturated window.
 *
 * Nothing is known of the pace at the limit; below it there is none. A pace that is larger than
 * assumed adds to its window, and takes the same amount from all other windows of the same slices.
 * So its errors are noise that cancels over the time of a slice: intensities are then learned from
 * longer times, and from windows below the limit.
 */
#include <math.h>
#include <string.h>

#include "base/array.h"
#include "engine/filter/constants.h"
#include "engine/filter/filter_state.h"

/* Variance of a pace that is uniform from 0 to 1, divided by the square of its mean. */
#define PACE_VARIANCE (1.0 / 3)

/**
 * struct spread - a slice as it is spread over windows, from @first up to @end
 * @fraction: of the slice's time in each of them, beginning with @first
 * @bytes: of its piece that is in the block, in each of them
 * @outside: fraction of its time that is in none of them
 */
struct spread {
	size_t first, end;
	double fraction[FILTER_MAX_WINDOWS];
	double bytes[FILTER_MAX_WINDOWS];
	double outside;
};

static double start_of(const struct filter_input *in, size_t t)
{
	return in->middle_s[t] - in->length_s[t] / 2;
}

/* The first window that ends later. */
static size_t window_after(const struct filter_input *in, double s)
{
	return array_place(in->nr_windows, t, start_of(in, t) + in->length_s[t] <= s);
}

/* Seconds of a window between two moments. */
static double inside(const struct filter_input *in, size_t t, double start_s, double end_s)
{
	double start = start_of(in, t), end = start + in->length_s[t];

	return fmax(fmin(end, end_s) - fmax(start, start_s), 0);
}

static void find_spread(const struct filter_input *in, const struct filter_slice *s, double theta,
			struct spread *ret)
{
	double per_s = theta * s->count / (s->end_s - s->start_s);
	double whole_s = s->whole_end_s - s->whole_start_s;
	size_t t = window_after(in, s->whole_start_s);

	ret->first = t;
	ret->outside = 1;
	for (; t < in->nr_windows && start_of(in, t) < s->whole_end_s; t++) {
		double fraction = inside(in, t, s->whole_start_s, s->whole_end_s) / whole_s;
		double bytes = per_s * inside(in, t, s->start_s, s->end_s);

		ret->fraction[t - ret->first] = fraction;
		ret->bytes[t - ret->first] = bytes * in->ratio[t];
		ret->outside -= fraction;
	}
	ret->end = t;
}

/*
 * Adds the gain of each window if a pace is larger: a row per pace, a column per window. The part
 * of the slice outside of the block has a pace of its own, which adds to their covariance.
 */
static void add_slice(const struct spread *s, struct matrix *gain, struct matrix *cov)
{
	double outside = PACE_VARIANCE * s->outside * s->outside;

	for (size_t i = s->first; i < s->end; i++) {
		double bytes = s->bytes[i - s->first];
		float *to = matrix_row(cov, i);

		matrix_row(gain, i)[i] += bytes;
		for (size_t j = s->first; j < s->end; j++)
			matrix_row(gain, j)[i] -= s->fraction[j - s->first] * bytes;
		for (size_t j = s->first; j <= i; j++)
			to[j] += outside * bytes * s->bytes[j - s->first];
	}
}

int filter_pace_cover(struct filter *f, const struct filter_input *in)
{
	struct work *w = f->work;
	struct matrix *gain = &w->unit;
	int err;

	w->paced = f->limit.known && in->nr_slices;
	if (!w->paced)
		return 0;
	err = matrix_shape(gain, w->t, w->t);
	err = err ? err : matrix_shape(&w->c2, w->t, w->t);
	if (err)
		return err;
	for (size_t k = 0; k < in->nr_slices; k++) {
		const struct filter_slice *s = &in->slices[k];
		double level = f->state.mean[2 * (s->column + 1)];
		struct spread spread;

		find_spread(in, s, fmax(level, FLOOR * f->mean), &spread);
		add_slice(&spread, gain, &w->c2);
	}
	for (size_t t = 0; t < w->t; t++)
		if (!filter_saturation_is_near(in, t, f->limit.per_s))
			memset(matrix_row(gain, t), 0, w->t * sizeof(float));
	matrix_multiply_lower_of(&w->c2, PACE_VARIANCE, gain, gain, w->t);
	return 0;
}

void filter_pace_add(const struct work *w, double *c)
{
	for (size_t i = 0; w->paced && i < w->t; i++) {
		const float *more = matrix_row(&w->c2, i);

		for (size_t j = 0; j <= i; j++)
			c[i * w->t + j] += more[j];
	}
}
