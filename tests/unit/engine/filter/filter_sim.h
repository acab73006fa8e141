/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* A machine whose truth is known, for tests of the filter. */
#ifndef TESTS_FILTER_SIM_H
#define TESTS_FILTER_SIM_H

#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>
#include <stdlib.h>

#include "engine/filter/filter.h"
#include "random.h"

#define WINDOW_NS 10000000.0

static struct draw d;

/**
 * struct sim - a machine whose truth is known
 * @x: activity of the block
 * @kin, @ended: as in struct filter_input; nobody has kin unless a test says so
 * @truth: bytes of each workload in each window
 * @last: bytes of each workload in the windows before the block, the latest one first
 * @background, @noise, @lag: per window; part; parts that come one and two windows later
 * @bound: upper bound of the bytes of a unit of activity
 * @within: where in the windows activity was; without rows it is not said
 */
struct sim {
	struct filter *filter;
	struct filter_workspace *workspace;
	const struct filter_output *out;
	size_t t, n;
	struct matrix x;
	uint32_t workloads[FILTER_MAX_WORKLOADS];
	uint64_t kin[FILTER_MAX_WORKLOADS];
	bool ended[FILTER_MAX_WORKLOADS];
	double truth[FILTER_MAX_WINDOWS][FILTER_MAX_WORKLOADS];
	double last[FILTER_LAGS][FILTER_MAX_WORKLOADS];
	double bytes[FILTER_MAX_WINDOWS];
	double ratio[FILTER_MAX_WINDOWS];
	double middle[FILTER_MAX_WINDOWS];
	double length[FILTER_MAX_WINDOWS];
	double background, noise, lag[FILTER_LAGS], bound;
	bool io;
	struct matrix within;
	struct matrix lead;
	double rate[FILTER_MAX_WINDOWS], change[FILTER_MAX_WINDOWS];
};

static inline struct sim *sim_new(enum filter_kind kind, size_t t, size_t n)
{
	struct sim *s = calloc(1, sizeof(*s));

	assert_non_null(s);
	s->workspace = filter_workspace_new();
	assert_non_null(s->workspace);
	assert_int_equal(filter_new(kind, s->workspace, &s->filter), 0);
	s->io = kind == FILTER_IO;
	s->t = t;
	s->n = n;
	for (size_t i = 0; i < FILTER_MAX_WORKLOADS; i++)
		s->workloads[i] = 10 + i;
	for (size_t k = 0; k < FILTER_MAX_WINDOWS; k++) {
		s->ratio[k] = 1;
		s->length[k] = WINDOW_NS / 1e9;
		s->middle[k] = (k + 0.5) * s->length[k];
	}
	assert_int_equal(matrix_shape(&s->x, t, n), 0);
	d = (struct draw){ 1234567 };
	return s;
}

static inline void sim_free(struct sim *s)
{
	filter_free(s->filter);
	filter_workspace_free(s->workspace);
	matrix_free(&s->x);
	matrix_free(&s->lead);
	matrix_free(&s->within);
	free(s);
}

/* What the splitter makes of I/O: rates, and how they change. */
static inline void fill_lead(struct sim *s)
{
	assert_int_equal(matrix_shape(&s->lead, s->t, s->n), 0);
	for (size_t t = 0; t < s->t; t++) {
		s->rate[t] = s->change[t] = 0;
		for (size_t i = 0; i < s->n; i++) {
			double now = matrix_row(&s->x, t)[i] / s->length[t];
			double next =
				t + 1 < s->t ? matrix_row(&s->x, t + 1)[i] / s->length[t + 1] : now;

			matrix_row(&s->lead, t)[i] = next - now;
			s->rate[t] += now;
			s->change[t] += fabs(next - now);
		}
	}
}

static inline struct filter_input input_of(struct sim *s)
{
	struct filter_input in = {
		.nr_windows = s->t,
		.nr_workloads = s->n,
		.workloads = s->workloads,
		.kin = s->kin,
		.ended = s->ended,
		.activity = &s->x,
		.bytes = s->bytes,
		.ratio = s->ratio,
		.middle_s = s->middle,
		.length_s = s->length,
		.block_s = s->t * WINDOW_NS / 1e9,
		.bound = s->bound,
		.within = s->within.rows ? &s->within : NULL,
	};

	if (s->io) {
		fill_lead(s);
		in.lead = &s->lead;
		in.rate = s->rate;
		in.change = s->change;
	}
	return in;
}

static inline int run(struct sim *s)
{
	const struct filter_input in = input_of(s);

	return filter_block(s->filter, &in, &s->out);
}

static inline void all_finite(const struct matrix *m)
{
	for (size_t i = 0; i < m->rows; i++)
		for (size_t j = 0; j < m->cols; j++)
			assert_true(isfinite(matrix_row(m, i)[j]));
}

/* Whatever was put in: numbers, and no negative bytes. */
static inline void check_output(const struct sim *s)
{
	const struct filter_output *o = s->out;

	all_finite(&o->expected);
	all_finite(&o->carried);
	all_finite(&o->covariance);
	all_finite(&o->alike);
	assert_true(isfinite(o->carried_in[0]) && o->carried_in[0] >= 0);
	assert_true(o->noise > 0 && o->noise < 1 && o->prior > 0 && o->prior < 10);
	for (size_t t = 0; t < s->t; t++) {
		assert_true(isfinite(o->background[t]) && o->background[t] >= 0);
		for (size_t i = 0; i < s->n; i++) {
			assert_true(matrix_row(&o->expected, t)[i] >= 0);
			assert_true(matrix_row(&o->carried, t)[i] >= 0);
			/* what is noted in the next window may have moved in this one */
			if (s->lead.rows && matrix_row(&s->lead, t)[i] > 0)
				continue;
			if (matrix_row(&s->x, t)[i] == 0)
				assert_true(matrix_row(&o->expected, t)[i] == 0);
		}
	}
	for (size_t i = 0; i < s->n; i++)
		for (size_t j = 0; j < s->n; j++) {
			float alike = matrix_row(&o->alike, i)[j];

			assert_true(alike == 0 || alike == 1);
			assert_true(alike == matrix_row(&o->alike, j)[i]);
			assert_true(i != j || alike == 0);
		}
}

/* On and off at random, in windows of which a random part is used. */
static inline void random_activity(struct sim *s, double on)
{
	for (size_t t = 0; t < s->t; t++)
		for (size_t i = 0; i < s->n; i++)
			matrix_row(&s->x, t)[i] =
				draw_unit(&d) < on ? WINDOW_NS * (0.2 + 0.8 * draw_unit(&d)) : 0;
}

/* Bytes from the activity: intensities, noise, lag, background. */
static inline void make_bytes(struct sim *s, const double *intensity)
{
	for (size_t t = 0; t < s->t; t++) {
		double sum = s->background;

		for (size_t i = 0; i < s->n; i++) {
			double now = intensity[i] * matrix_row(&s->x, t)[i];

			s->truth[t][i] = now;
			sum += (1 - s->lag[0] - s->lag[1]) * now + s->lag[0] * s->last[0][i] +
			       s->lag[1] * s->last[1][i];
			s->last[1][i] = s->last[0][i];
			s->last[0][i] = now;
		}
		s->bytes[t] = fmax(sum * (1 + s->noise * draw_normal(&d)), 0);
	}
}

static inline double truth_of(const struct sim *s, size_t i)
{
	double sum = 0;

	for (size_t t = 0; t < s->t; t++)
		sum += s->truth[t][i];
	return sum;
}

static inline double found(const struct sim *s, size_t i)
{
	double sum = 0;

	for (size_t t = 0; t < s->t; t++)
		sum += matrix_row(&s->out->expected, t)[i];
	return sum;
}

static inline double background(const struct sim *s)
{
	double sum = 0;

	for (size_t t = 0; t < s->t; t++)
		sum += s->out->background[t];
	return sum;
}

static inline double sd_of(const struct sim *s, size_t i)
{
	return sqrt(fmax(matrix_row(&s->out->covariance, i)[i], 0));
}

static inline void is_about(double is, double should, double part)
{
	if (!(fabs(is - should) <= part * fabs(should)))
		fail_msg("%.6g instead of %.6g", is, should);
}

static inline void blocks(struct sim *s, const double *intensity, int nr)
{
	for (int b = 0; b < nr; b++) {
		random_activity(s, 0.5);
		make_bytes(s, intensity);
		assert_int_equal(run(s), 0);
		check_output(s);
	}
}

#endif
