// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Workloads enter the state of a filter, leave it, and are moved on in time. */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "engine/filter/constants.h"
#include "engine/filter/filter_state.h"
#include "engine/filter/wide.h"

/* Memory limits: quiet workloads beside the active ones, and parked ones. */
#define MAX_QUIET  32
#define MAX_PARKED 4096

void filter_state_free(struct filter_state *s)
{
	free(s->entries);
	free(s->mean);
	matrix_free(&s->p);
	*s = (struct filter_state){ 0 };
}

#define MAX_ENTRIES (1 + FILTER_MAX_WORKLOADS + MAX_QUIET)
#define PLACES	    1024 /* three times as many, and a power of two */

/* Where entries of the state are, by a hash of their workload; 0 is nobody. */
struct places {
	uint16_t at[PLACES];
};

static size_t place_of(uint32_t workload)
{
	return workload * 2654435769u >> (32 - __builtin_ctz(PLACES));
}

static void find_places(const struct filter_state *s, struct places *ret)
{
	memset(ret, 0, sizeof(*ret));
	for (size_t i = 1; i < s->nr; i++) {
		size_t k = place_of(s->entries[i].workload);

		while (ret->at[k])
			k = (k + 1) % PLACES;
		ret->at[k] = i;
	}
}

static size_t find(const struct filter_state *s, const struct places *p, uint32_t workload)
{
	for (size_t k = place_of(workload); p->at[k]; k = (k + 1) % PLACES)
		if (s->entries[p->at[k]].workload == workload)
			return p->at[k];
	return SIZE_MAX;
}

/* If all places are full, the entry that was parked first is replaced. */
static void park(struct filter *f, const struct filter_entry *e, double level, double variance)
{
	size_t at = f->nr_parked, same = SIZE_MAX;

	if (e->workload == NO_WORKLOAD) {
		if (!e->kin)
			return; /* neither it nor its kin ever comes back */
		same = filter_kin_parked(f, e->kin);
	}
	if (same != SIZE_MAX) {
		at = same;
	} else if (at == MAX_PARKED) {
		for (size_t i = at = 0; i < f->nr_parked; i++)
			if (f->parked[i].since_s < f->parked[at].since_s)
				at = i;
	} else {
		struct parked *more = realloc(f->parked, (f->nr_parked + 1) * sizeof(*f->parked));

		if (!more)
			return; /* it starts from nothing when it comes back: worse, not wrong */
		f->parked = more;
		f->nr_parked++;
	}
	f->parked[at] = (struct parked){ e->workload, e->kin, level, variance, f->now_s };
}

/* Parked for too long? All such entries are dropped when the first one is looked for. */
static bool unpark(struct filter *f, uint32_t workload, struct parked *ret)
{
	bool found = false, all = f->dropped_s != f->now_s;

	f->dropped_s = f->now_s;
	for (size_t i = 0; i < f->nr_parked && (all || !found);) {
		bool it = f->parked[i].workload == workload;

		if (it)
			*ret = f->parked[i];
		found |= it;
		if (it || (all && f->now_s - f->parked[i].since_s > PARKED_S))
			f->parked[i] = f->parked[--f->nr_parked];
		else
			i++;
	}
	return found;
}

static bool is_parked(const struct filter *f, uint32_t workload)
{
	for (size_t i = 0; i < f->nr_parked; i++)
		if (f->parked[i].workload == workload)
			return true;
	return false;
}

static void note_kin(struct filter_entry *e, const struct filter_input *in, size_t i)
{
	e->kin = in->kin ? in->kin[i] : 0;
	e->ended = in->ended && in->ended[i];
}

/* Those of the block; new ones with the entry of their kin: then @ret_kin is set. */
static void choose_active(struct filter *f, const struct filter_input *in, size_t *from,
			  size_t *column, bool *ret_kin)
{
	struct filter_state *s = &f->state;
	struct places places;

	find_places(s, &places);
	for (size_t i = 0; i < in->nr_workloads; i++) {
		from[i + 1] = find(s, &places, in->workloads[i]);
		if (from[i + 1] == SIZE_MAX)
			continue;
		column[from[i + 1]] = i + 1;
		note_kin(&s->entries[from[i + 1]], in, i);
	}
	for (size_t i = 0; i < in->nr_workloads; i++) {
		size_t kin = SIZE_MAX;

		if (from[i + 1] == SIZE_MAX)
			kin = filter_kin_find(f, in, column, i);
		if (kin == SIZE_MAX || is_parked(f, in->workloads[i]))
			continue;
		from[i + 1] = kin;
		ret_kin[i + 1] = true;
	}
}

/* The members of the new state, by index in the old one; SIZE_MAX: new. */
static size_t choose(struct filter *f, const struct filter_input *in, size_t *from, bool *ret_kin)
{
	struct filter_state *s = &f->state;
	size_t column[MAX_ENTRIES] = { 0 };
	size_t nr = 1 + in->nr_workloads, quiet = 0;

	from[0] = s->nr ? 0 : SIZE_MAX;
	choose_active(f, in, from, column, ret_kin);
	for (size_t i = 1; i < s->nr; i++) {
		struct filter_entry *e = &s->entries[i];

		if (column[i])
			continue;
		e->quiet_s += in->block_s;
		if (e->quiet_s <= QUIET_S && quiet < MAX_QUIET) {
			from[nr++] = i;
			quiet++;
		} else {
			park(f, e, s->mean[2 * i], matrix_row(&s->p, 2 * i)[2 * i]);
		}
	}
	return nr;
}

/* Size of the background's phases; they grow and shrink with those of the workloads. */
double filter_state_bursts(const struct filter *f, const struct filter_entry *background)
{
	return f->params.bursts * (f->phase / f->params.phase) * background->scale;
}

/*
 * Traffic of a device without noted requests is background: when the device is busier than before,
 * the background may be larger too.
 */
static void follow_background(const struct filter *f, struct filter_state *s, double per_s)
{
	struct filter_entry *e = &s->entries[0];
	double moves = BACKGROUND_MOVES * f->params.background * per_s;

	e->scale = BACKGROUND_SCALE * f->params.background * per_s;
	matrix_row(&s->p, 0)[0] += moves * moves;
}

/*
 * Covariance of the levels of two new workloads. Both are expected to have the mean intensity,
 * which is bytes by activity: where one workload moves most of the bytes, the mean is little more
 * than the intensity of that one, and may be as wrong for all others.
 */
double filter_state_common(const struct filter *f)
{
	double sd = f->params.common * f->params.prior * f->mean;

	return sd * sd;
}

static void share_mean(const struct filter *f, struct filter_state *s)
{
	double common = filter_state_common(f);

	for (size_t i = 1; common > 0 && i < s->nr; i++) {
		float *level = matrix_row(&s->p, 2 * i);

		if (s->entries[i].quiet_s >= 0)
			continue;
		s->entries[i].alone[0] = false;
		for (size_t j = 1; j < s->nr; j++)
			if (s->entries[j].quiet_s < 0)
				level[2 * j] += common;
	}
}

/* A workload that is new to the state gets the prior. */
static void enter(struct filter *f, struct filter_state *s, size_t i, const struct filter_input *in,
		  double per_s)
{
	const struct params *p = &f->params;
	struct filter_entry *e = &s->entries[i];
	uint32_t workload = i ? in->workloads[i - 1] : NO_WORKLOAD;
	double mean = f->mean, variance, phase;
	struct parked was;

	/* Below 0: new, see refine_scales(). */
	*e = (struct filter_entry){ .workload = workload,
				    .alone = { true, true },
				    .scale = mean,
				    .quiet_s = i ? -1 : 0,
				    .since_s = i && p->mean <= 0 ? NOT_YET : LONG_AGO };
	variance = p->prior * p->prior * mean * mean;
	if (!i) {
		mean = 0;
		e->scale = p->background * per_s;
		variance = e->scale * e->scale;
		e->scale *= BACKGROUND_SCALE;
	} else if (unpark(f, workload, &was)) {
		double away = p->wander * p->wander * (f->now_s - was.since_s);

		e->quiet_s = 0;
		e->since_s = LONG_AGO;
		mean = was.level;
		e->scale = fmax(sqrt(fmax(mean, 0) * fmax(mean, 0) + was.variance),
				SMALLEST_SCALE * f->mean);
		variance = fmin(was.variance + away * e->scale * e->scale, variance);
	} else if (in->kin && filter_kin_recall(f, in->kin[i - 1], &was)) {
		double away = p->wander * p->wander * (f->now_s - was.since_s);

		e->quiet_s = 0;
		mean = was.level;
		variance = was.variance + away * (mean * mean + was.variance);
		filter_kin_widen(f, &mean, &variance);
		e->scale = fmax(sqrt(mean * mean + variance), SMALLEST_SCALE * f->mean);
	}
	phase = i ? f->phase * e->scale : filter_state_bursts(f, e);
	for (int k = 0; k < 2; k++)
		memset(matrix_row(&s->p, 2 * i + k), 0, 2 * s->nr * sizeof(*s->p.v));
	s->mean[2 * i] = mean;
	s->mean[2 * i + 1] = 0;
	matrix_row(&s->p, 2 * i)[2 * i] = variance;
	matrix_row(&s->p, 2 * i + 1)[2 * i + 1] = phase * phase;
}

/* Rows of the old state are read in random order: the next one is prefetched. */
static void ask_for(const struct filter_state *old, size_t entry)
{
	const float *p = matrix_row(&old->p, 2 * entry);

	for (size_t j = 0; j < 2 * old->p.ld; j += MATRIX_COLS)
		__builtin_prefetch(p + j);
}

/* The elements of a level and of its phase in the matrix, copied together. */
typedef uint64_t pair __attribute__((may_alias));

static INLINE void copy_entry_any(const struct filter_state *old, const size_t *from,
				  struct filter_state *s, size_t i)
{
	size_t o = from[i];

	s->entries[i] = old->entries[o];
	for (int k = 0; k < 2; k++) {
		const pair *op = (const pair *)matrix_row(&old->p, 2 * o + k);
		pair *p = (pair *)matrix_row(&s->p, 2 * i + k);

		s->mean[2 * i + k] = old->mean[2 * o + k];
		for (size_t j = 0; j < s->nr; j++)
			p[j] = from[j] != SIZE_MAX ? op[from[j]] : 0;
	}
}

WIDE(static, void, copy_entry,
     (const struct filter_state *old, const size_t *from, struct filter_state *s, size_t i),
     (old, from, s, i))

/* The mean intensity; -ENODATA when there is none. */
static int update_mean(struct filter *f, const struct filter_input *in, double *ret_per_s)
{
	double bytes = 0, activity = 0, length = 0, keep = exp(-in->block_s / MEAN_S);

	for (size_t t = 0; t < in->nr_windows; t++) {
		const float *x = matrix_row(in->activity, t);

		for (size_t i = 0; i < in->nr_workloads; i++)
			activity += x[i] * in->ratio[t];
		bytes += in->bytes[t];
		length += in->length_s[t] * in->ratio[t];
	}
	f->now_s += in->block_s;
	if (!(bytes > 0) || !(activity > 0) || !(length > 0) || !isfinite(bytes * bytes))
		return -ENODATA;
	f->bytes = f->bytes * keep + bytes;
	f->activity = f->activity * keep + activity;
	f->mean = f->bytes / f->activity;
	/* A larger mean is not due to workloads; a smaller one is common to all of a device. */
	if (f->params.mean > 0)
		f->mean = fmin(f->mean, f->params.mean);
	*ret_per_s = bytes / length;
	return 0;
}

int filter_state_update(struct filter *f, const struct filter_input *in)
{
	size_t max = 1 + in->nr_workloads + MAX_QUIET;
	size_t *from = calloc(max, sizeof(*from));
	bool kin[MAX_ENTRIES] = { false };
	struct filter_state s = { 0 };
	double per_s;
	int err = from ? update_mean(f, in, &per_s) : -ENOMEM;

	if (err)
		goto out;
	s.nr = choose(f, in, from, kin);
	s.entries = calloc(s.nr, sizeof(*s.entries));
	s.mean = calloc(2 * s.nr, sizeof(*s.mean));
	s.p = f->workspace->spare;
	f->workspace->spare = (struct matrix){ 0 };
	err = s.entries && s.mean ? matrix_resize(&s.p, 2 * s.nr, 2 * s.nr) : -ENOMEM;
	if (err) {
		filter_state_free(&s);
		goto out;
	}
	for (size_t i = 0; i < s.nr; i++) {
		struct filter_entry *e = &s.entries[i];

		if (i + 1 < s.nr && from[i + 1] != SIZE_MAX)
			ask_for(&f->state, from[i + 1]);
		if (from[i] == SIZE_MAX) {
			enter(f, &s, i, in, per_s);
			continue;
		}
		copy_entry(&f->state, from, &s, i);
		matrix_row(&s.p, 2 * i)[2 * i] +=
			f->params.wander * f->params.wander * e->scale * e->scale * in->block_s;
		if (i <= in->nr_workloads)
			e->quiet_s = 0;
	}
	for (size_t i = 1; i <= in->nr_workloads; i++) {
		if (kin[i])
			filter_kin_enter(f, &s, i, in->workloads[i - 1]);
		note_kin(&s.entries[i], in, i - 1);
	}
	if (f->params.bursts > 0 && from[0] != SIZE_MAX)
		follow_background(f, &s, per_s);
	share_mean(f, &s);
	f->workspace->spare = f->state.p;
	f->state.p = (struct matrix){ 0 };
	filter_state_free(&f->state);
	f->state = s;
out:
	free(from);
	return err;
}

/* Covariance of the bytes and the state at the end, from that of the state at the start. */
static INLINE void advance_g_any(struct filter *f, const struct filter_input *in, double keep)
{
	struct work *w = f->work;
	double tau = f->params.tau_s;

	for (size_t t = 0; t < w->t; t++) {
		double left = exp(-(in->block_s - in->middle_s[t]) / tau);
		const float *begun = matrix_row(&w->begun, t);
		float *g = matrix_row(&w->g, t);
		const float *a = matrix_row(&w->a, t);

		for (size_t i = 0; i < f->state.nr; i++)
			g[2 * i + 1] *= keep;
		for (size_t i = 0; i < w->n; i++)
			g[2 * i + 1] += a[i] * begun[i] * left;
	}
}

WIDE(static, void, advance_g, (struct filter * f, const struct filter_input *in, double keep),
     (f, in, keep))

/*
 * Levels stay, phases decay and start again; before the block is evaluated. At and below the
 * diagonal, with some elements beside it.
 */
static INLINE void advance_p_any(struct filter *f, double keep)
{
	const struct work *w = f->work;
	const float *begun = matrix_row(&w->begun, w->t - 1);
	double last = w->keep[w->t] * w->keep[w->t];
	struct filter_state *s = &f->state;

	for (size_t i = 0; i < s->nr; i++) {
		float *level = matrix_row(&s->p, 2 * i), *phase = matrix_row(&s->p, 2 * i + 1);

		s->mean[2 * i + 1] *= keep;
		for (size_t j = 0; j <= i; j++) {
			level[2 * j + 1] *= keep;
			phase[2 * j] *= keep;
			phase[2 * j + 1] *= keep * keep;
		}
		/* as it was during the block; newly learned sizes are for the next one */
		phase[2 * i + 1] += i < w->n ? last * begun[i] + (1 - last) * w->phase_var[i]
					     : (1 - keep * keep) * w->phase_var[i];
	}
}

WIDE(static, void, advance_p, (struct filter * f, double keep), (f, keep))

/* Update of the state with the block's bytes. */
static int condition(struct filter *f)
{
	struct work *w = f->work;
	struct filter_state *s = &f->state;
	int err;

	for (size_t t = 0; t < w->t; t++) {
		const float *g = matrix_row(&w->g, t);
		double alpha = w->alpha[t];

		for (size_t j = 0; j < 2 * s->nr; j++)
			s->mean[j] += g[j] * alpha;
	}
	err = matrix_cholesky_forward_all(w->l, w->t, &w->g, &w->tri);
	if (err)
		return err;
	matrix_multiply_lower_of(&s->p, -1, &w->g, &w->g, w->t);
	matrix_mirror(&s->p);
	return 0;
}

/* The state at the end of the block, given the block. */
int filter_state_advance(struct filter *f, const struct filter_input *in)
{
	struct filter_state *s = &f->state;
	struct work *w = f->work;
	double keep = exp(-in->block_s / f->params.tau_s);
	int err;

	advance_g(f, in, keep);
	advance_p(f, keep);
	filter_jump_advance(f);
	err = condition(f);
	if (err)
		return err;
	for (size_t i = 0; i < s->nr; i++) {
		struct filter_entry *e = &s->entries[i];
		float *level = matrix_row(&s->p, 2 * i), *phase = matrix_row(&s->p, 2 * i + 1);
		double m = fmax(s->mean[2 * i], 0);

		memset(e->alone, 0, sizeof(e->alone));
		level[2 * i] = fmax(level[2 * i], 0);
		if (i)
			phase[2 * i + 1] = fmax(phase[2 * i + 1], 0);
		if (i)
			e->scale = fmax(sqrt(m * m + level[2 * i]), SMALLEST_SCALE * f->mean);
		if (i && i < w->n)
			e->quiet_s = 0;
	}
	if (!in->lead)
		filter_lag_remember(f, in);
	return 0;
}
