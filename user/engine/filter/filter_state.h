/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Inside of the filter, shared by its files only: see filter.h. */
#ifndef ENGINE_FILTER_FILTER_STATE_H
#define ENGINE_FILTER_FILTER_STATE_H

#include "engine/filter/filter.h"

/* Entry 0 of the state is the background, which has no workload. */
#define NO_WORKLOAD UINT32_MAX

/**
 * struct filter_entry - a workload in the state
 * @workload: its number
 * @kin, @ended: as in struct filter_input, when it was last active
 * @alone: its level, its phase: it came with this block and has no covariance with anything else
 * @scale: size of its intensity: what its level and phase move by is a fraction of this
 * @quiet_s: time since it was last active
 * @last: what it did in the last windows, the latest one first
 * @last_within: where in these windows it was, as in filter_input
 * @since_s: when it was first active, on the filter's clock, or one of the two below
 */
struct filter_entry {
	uint32_t workload;
	uint64_t kin;
	bool ended;
	bool alone[2];
	double scale;
	double quiet_s;
	double last[FILTER_LAGS];
	double last_within[FILTER_LAGS];
	double since_s;
};
#define NOT_YET	 (-1.0)
#define LONG_AGO (-2.0)

/* An entry that was dropped from the state, should it come back. */
struct parked {
	uint32_t workload; /* NO_WORKLOAD: it has ended, and may have kin */
	uint64_t kin;
	double level;
	double variance;
	double since_s;
};

/**
 * struct filter_state - what is known of all intensities
 * @entries, @nr: who; states 2i and 2i+1 are the level and the phase of entry i
 * @mean: of the states
 * @p: covariance of the states
 */
struct filter_state {
	struct filter_entry *entries;
	size_t nr;
	double *mean;
	struct matrix p;
};

/**
 * struct params - what is known of intensities in general
 * @prior: standard deviation of an unknown level, as a fraction of the mean one
 * @kin: the same where a workload of the same program is known, as a fraction of that one's level; 0:
 *	that is not asked
 * @common: how uncertain the mean intensity is, as a fraction of how uncertain a level is
 * @wander: of a level's change in a second, as a fraction of its scale
 * @tau_s: how long a phase lasts
 * @background: standard deviation of the background, as a fraction of the counter
 * @start: standard deviation of what a start moves at least, as a fraction of the mean intensity
 * @phase: standard deviation of phases to begin with
 * @max_phase, @max_noise: they are not learned to be more
 * @mean: the mean intensity is not learned to be more; 0 = no limit, nothing is known of it
 * @bursts: standard deviation of phases of the background, as a fraction of its scale. 0: it has
 *	none, and never changes much
 * @limited: activity says what was asked for, not what was moved: the memory may be at its limit
 * @timing_tau_s: how long activity stays early or late, once it is
 * @each: log odds that intensities differ; not used for I/O
 * @beside: bytes of others in a workload's windows may be off by this fraction; 0: not asked
 * @tail: what phases change by is Student's t with so many degrees of freedom; 0: it is Gaussian
 */
struct params {
	double prior;
	double kin;
	double common;
	double wander;
	double tau_s;
	double background;
	double start;
	double phase;
	double max_phase;
	double max_noise;
	double mean;
	double bursts;
	bool limited;
	double timing_tau_s;
	double each;
	double beside;
	double tail;
};

/**
 * struct limited - windows of a block in which the memory is at its limit
 * @nr: how many
 * @is: which
 * @pace: bytes that were moved, by bytes that were asked for
 * @y, @noise: as in struct work, as if there were no limit
 */
struct limited {
	size_t nr;
	bool is[FILTER_MAX_WINDOWS];
	double pace[FILTER_MAX_WINDOWS];
	double y[FILTER_MAX_WINDOWS];
	double noise[FILTER_MAX_WINDOWS];
};

/**
 * struct fading - what is left of a phase some windows later
 * @t, @tau_s, @middle_s: what it was made for; counters of a group have their windows together
 * @v: @t x @t, at and below the diagonal: a fraction
 */
struct fading {
	size_t t;
	double tau_s;
	double middle_s[FILTER_MAX_WINDOWS];
	double v[FILTER_MAX_WINDOWS * FILTER_MAX_WINDOWS];
};

/* This many workloads have shocks of their own. */
#define MAX_SHAKEN 32

/* At most this many levels change within a block. */
#define MAX_STEPS  8

/**
 * struct step - a level that is another one from a window of the block on
 * @entry, @from: whose, and from which window on
 * @variance: of the difference
 */
struct step {
	size_t entry;
	size_t from;
	double variance;
};

/*
 * The state of work on a block, in the order in which steps fill it: a step may read the results of
 * earlier steps. One row or element per window, unless stated.
 */
struct work {
	/* filter_work_shape() */
	size_t t;	 /* windows */
	size_t n;	 /* active entries, the background among them: 0 .. n-1 of the state */
	double *vectors; /* memory of all vectors below */
	size_t cap;	 /* its elements */

	/* filter_solve_prepare(): activity. filter_saturation_slow() scales @raw for the results. */
	struct matrix raw;		     /* activity as counted, t x n */
	struct matrix a;		     /* the same with the lag, t x n */
	struct matrix at;		     /* its transpose */
	struct matrix aa;		     /* level and phase of each: t x 2n */
	struct matrix aat;		     /* its transpose */
	double *sum;			     /* by entry: its activity */
	double *decay;			     /* exp(-middle / tau) */
	double keep[FILTER_MAX_WINDOWS + 1]; /* of a phase since the window before; at the end */
	struct fading fading;
	float last[FILTER_LAGS][FILTER_MAX_WORKLOADS + 1]; /* activity before the block */
	float last_within[FILTER_LAGS][FILTER_MAX_WORKLOADS + 1];
	size_t fresh[FILTER_MAX_WORKLOADS]; /* entries that are new to the state */
	size_t nr_fresh;

	/* The same: covariances of bytes, by origin. Refined when scales, shocks or jumps change. */
	struct matrix g;     /* bytes and state at the start: t x 2nr */
	struct matrix c0;    /* the state at the start */
	struct matrix c1;    /* phases that begin in the block */
	struct matrix c2;    /* how counts of long slices are spread */
	bool paced;	     /* there is @c2 */
	double *moved;	     /* t x t: activity that is early or late, for a second of it */
	double *phase_var;   /* by entry: of phases in the long run */
	struct matrix shock; /* variance of shocks, in units of the usual one: t x n */
	struct matrix begun; /* variance of phases that began in the block: t x n */
	struct matrix av;    /* at times @begun: n x t; of @shaken when their shocks are known */

	/* filter_solve_block(), each time: noise, and what follows from the bytes. */
	double *noise;			       /* variance of the noise */
	double *own;			       /* of that: what is learned */
	size_t starting[FILTER_MAX_WORKLOADS]; /* entries of programs that are just starting */
	size_t nr_starting;
	struct matrix start; /* by starting entry: variance of bytes that its start moves, n x t */
	double *y;	     /* what was not predicted */
	double *demand;	     /* t x t: covariance without noise; only if there may be a limit */
	struct limited limited;
	double *c;     /* t x t: covariance of bytes, with noise */
	double *l;     /* its triangle */
	double *white; /* @y, whitened */
	double *alpha; /* C^-1 y */

	/* filter_jump_find(); filter_jump_forget() takes it back */
	double widened[FILTER_MAX_WORKLOADS + 1]; /* by entry: what its level's variance got more */
	struct step steps[MAX_STEPS];
	size_t nr_steps;

	/* filter_phase_shock() */
	size_t shaken[MAX_SHAKEN]; /* entries with shocks of their own */
	size_t nr_shaken;
	struct matrix few;	/* activity of these: t x nr_shaken */
	struct matrix few_rows; /* its transpose */

	/* filter_result_make() */
	struct matrix theta; /* intensities, t x n */
	double *total;	     /* by entry: estimate of its total */
	struct matrix cov;   /* of the errors of totals, n x n */

	/* Scratch: valid only inside the step that fills it. */
	struct matrix w;      /* often whitened columns */
	struct matrix q;      /* often covariance of bytes and entries */
	struct matrix unit;   /* filter_pace.c, filter_saturation.c, fill_alike() */
	struct matrix change; /* filter_phase_shock() */
	struct matrix inv;    /* lower triangle of C^-1 */
	struct matrix tri;    /* matrix_cholesky_forward_all() */
	double *trial;	      /* t x t: a covariance or triangle that is only tried */
};

/* fmax() without a call, which compilers can make several of at once; @least for no number. */
static inline double max_of(double v, double min)
{
	return v > min ? v : min;
}

/**
 * struct filter_limit - what is known of the memory's limit
 * @per_s: bytes by second that are never exceeded; 0: there seems to be none
 * @known: it is believed to be one
 * @evidence: log likelihood of recent blocks with it, less that without
 * @num, @den: how far it seems to be off, as a fraction; weight of that
 */
struct filter_limit {
	double per_s;
	bool known;
	double evidence;
	double num;
	double den;
};

/* Sizes learned by steps: those that make the bytes most likely. */
enum {
	SIZE_NOISE,
	SIZE_PHASE,
	SIZE_TIMING,
	NR_SIZES,
};

/* One of them, and its bounds. */
struct size {
	double *value;
	double min, max;
	double tried; /* by how much more it is tried */
};

struct filter_workspace {
	struct matrix spare; /* memory of a state before */
	struct work work;
	struct filter_output out;
};

/* Numbers of the state of one intensity for all: see filter_simple.c. */
#define SIMPLE_STATES 4

/**
 * struct simple_model - one intensity for all
 * @begun: there is one
 * @mean, @p: of the state, at the middle of the last window
 * @since_s: from there to the end of the block
 * @noise, @phase, @timing: sizes, as struct filter has them
 * @odds: what speaks for an intensity for each, log likelihood
 * @judged: the block has had its say in them
 * @apart, @errors: recent sums of squares: of what both models differ by in totals, and variances
 *	of these by the first one
 */
struct simple_model {
	bool begun;
	double mean[SIMPLE_STATES];
	double p[SIMPLE_STATES][SIMPLE_STATES];
	double since_s;
	double noise, phase, timing;
	double odds;
	bool judged;
	double apart, errors;
};

/**
 * struct filter_bound - may activity be no more than so many bytes?
 * @evidence: what recent blocks have said for it
 * @holds: it is believed; it is of the event, not of what workloads do, and outlives a new begin
 */
struct filter_bound {
	double evidence;
	bool holds;
};

struct filter {
	struct params params;
	struct filter_state state;
	struct filter_workspace *workspace;
	struct work *work; /* in the workspace, as @out */
	struct filter_output *out;
	struct parked *parked;
	size_t nr_parked;
	double dropped_s; /* when those were dropped that were parked for too long */
	double now_s;
	uint64_t blocks; /* since the state began */
	double noise;	 /* learned: of the counter, as a fraction of it */
	double phase;	 /* learned: of phases, as a fraction of the intensity */
	double lag
		[FILTER_LAGS]; /* learned: fractions of a window's traffic that come in the next */
	double lag_num[FILTER_LAGS], lag_den[FILTER_LAGS][FILTER_LAGS];
	double lead; /* learned, of I/O: seconds by which data move before they are noted */
	double lead_num, lead_den;
	double timing;		       /* learned: seconds by which activity is early or late */
	double evidence[2 * NR_SIZES]; /* for more and less of each size */
	double bytes, activity;	       /* recent sums: the mean intensity */
	double mean;		       /* bytes per unit of activity */
	struct filter_limit limit;
	struct simple_model simple;
	struct filter_bound bound;
};

/* filter_state.c: entries come and go */
int filter_state_update(struct filter *f, const struct filter_input *in);
void filter_state_free(struct filter_state *s);
double filter_state_common(const struct filter *f);
double filter_state_bursts(const struct filter *f, const struct filter_entry *background);
int filter_state_advance(struct filter *f, const struct filter_input *in);

/* filter_kin.c: the same program again */
size_t filter_kin_find(const struct filter *f, const struct filter_input *in, const size_t *column,
		       size_t i);
void filter_kin_enter(const struct filter *f, struct filter_state *s, size_t i, uint32_t workload);
bool filter_kin_recall(const struct filter *f, uint64_t kin, struct parked *ret);
void filter_kin_widen(const struct filter *f, double *mean, double *variance);
size_t filter_kin_parked(const struct filter *f, uint64_t kin);

/* filter_solve.c: the algebra of a block */
int filter_work_shape(struct work *w, size_t t, size_t n, size_t nr);
void filter_work_free(struct work *w);
void filter_solve_forget_fresh(struct filter *f);
int filter_solve_prepare(struct filter *f, const struct filter_input *in);
int filter_solve_block(struct filter *f, const struct filter_input *in, bool refine);

/* filter_phase.c: phases that begin in the block */
void filter_phase_prepare(struct filter *f, const struct filter_input *in);
void filter_phase_calm(struct filter *f);
bool filter_phase_sizes(struct filter *f);
int filter_phase_cover(struct filter *f);
int filter_phase_times(const struct work *w, const struct matrix *x, struct matrix *ret);
int filter_phase_shock(struct filter *f);

/* filter_saturation.c: the memory is at its limit */
bool filter_saturation_is_near(const struct filter_input *in, size_t t, double per_s);
bool filter_saturation_may(const struct filter *f, const struct filter_input *in);
void filter_saturation_censor(struct filter *f, const struct filter_input *in);
bool filter_saturation_judge(struct filter *f, const struct filter_input *in);
void filter_saturation_slow(struct filter *f, const struct filter_input *in);
void filter_saturation_restore(struct filter *f);
int filter_saturation_project(struct filter *f, struct matrix *cov);

/* filter_pace.c: counts of long slices, where the memory is at its limit */
int filter_pace_cover(struct filter *f, const struct filter_input *in);
void filter_pace_add(const struct work *w, double *c);

/* filter_result.c: totals, their errors, and what is learned */
int filter_result_make(struct filter *f, const struct filter_input *in);
bool filter_solve_learn_sizes(struct filter *f, double *before);

/* filter_jump.c: intensities that have changed */
int filter_jump_find(struct filter *f, bool *ret);
void filter_jump_forget(struct filter *f);
void filter_jump_cover(struct work *w);
void filter_jump_total(struct work *w);
void filter_jump_covariance(const struct work *w, struct matrix *q, struct matrix *to);
void filter_jump_advance(struct filter *f);

/* filter_simple.c: one intensity for all */
void filter_simple_judge(struct filter *f, const struct filter_input *in);
void filter_simple_mix(struct filter *f, const struct filter_input *in);
void filter_simple_others(const struct filter *f, const struct filter_input *in, double *ret);

/* filter_bound.c: activity as an upper bound of bytes */
void filter_bound_judge(struct filter *f, const struct filter_input *in, const struct matrix *cov);

/* filter_lag.c: the delay between activity and its traffic */
void filter_lag_shift(struct filter *f, const struct filter_input *in, size_t t);
double filter_lag_noise(struct filter *f, const struct filter_input *in, size_t t);
double filter_lag_most_lead(const struct filter *f);
double filter_lag_carried(const struct filter *f, size_t t, size_t later);
void filter_lag_prepare(struct filter *f);
const float *filter_lag_before(const struct filter *f, size_t t, size_t later);
void filter_lag_remember(struct filter *f, const struct filter_input *in);
double filter_lag_most(const struct filter *f, size_t later);
void filter_lag_learn(struct filter *f, const struct filter_input *in);
void filter_lag_learn_lead(struct filter *f, const struct filter_input *in);

#endif
