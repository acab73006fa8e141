/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The state-space estimate of one counter on one socket.
 *
 * In each window the counter gains  D = background + sum of theta_i * x_i + noise,
 * where x_i is what workload i did and theta_i its unknown intensity. An intensity is
 * the sum of a level, which wanders slowly, and of a phase, which comes and goes
 * (an Ornstein-Uhlenbeck process); both scale with the intensity itself. All of it is
 * Gaussian and linear, so a block of windows can be solved at once, exactly, given the
 * state that the blocks before have left: see docs/ESTIMATE.md.
 *
 * For devices x is the bytes of I/O, theta is about 1, and the background may be anything.
 *
 * What is not known beforehand is learned from how well the counter is predicted: the
 * noise of the counter, the size of the phases, and how far traffic lags activity.
 */
#ifndef ENGINE_FILTER_FILTER_H
#define ENGINE_FILTER_FILTER_H

#include <stdbool.h>
#include <stdint.h>

#include "engine/filter/matrix.h"

/* The unit of activity; it decides the prior of intensities. */
enum filter_kind {
	FILTER_CPU_TIME, /* no prior: programs differ by orders of magnitude */
	FILTER_WORK,	 /* a core event like cycles: no better prior, another unit */
	FILTER_TRAFFIC,	 /* a core event that follows the traffic: nearly the same for all */
	FILTER_MINIMUM,	 /* the smaller of two such events: the same prior */
	FILTER_IO,	 /* bytes of I/O of a device: a byte makes about a byte */
	NR_FILTER_KINDS,
};

/* The prior is that of an event which follows the traffic. */
static inline bool filter_follows_traffic(enum filter_kind kind)
{
	return kind == FILTER_TRAFFIC || kind == FILTER_MINIMUM;
}

/* Maximum number of windows and workloads of a block. */
#define FILTER_MAX_WINDOWS   128
#define FILTER_MAX_WORKLOADS 256

/* Number of later windows in which a window's traffic may show. */
#define FILTER_LAGS	     2

/**
 * struct filter_slice - activity of which the sum is known, but not when in its time it was
 * @column: whose
 * @start_s, @end_s: where in the block it is taken to be spread evenly
 * @whole_start_s, @whole_end_s: the same of the slice that it is a piece of
 * @count: how much
 */
struct filter_slice {
	uint32_t column;
	double start_s, end_s;
	double whole_start_s, whole_end_s;
	double count;
};

/**
 * struct filter_input - a block of windows
 * @nr_windows, @nr_workloads: at least 1, at most as above
 * @workloads: their numbers, each once
 * @kin: those that are one program again and again have the same number; 0: not known. NULL: of nobody
 * @ended: which of them have ended; NULL: not known
 * @activity: nr_windows x nr_workloads, not negative
 * @bytes: what the counter gained in each window, as counted
 * @ratio: fraction of each window in which it counted, above 0 and up to 1
 * @middle_s: middle of each window, seconds since the start of the block; rising
 * @length_s: length of each window
 * @block_s: length of the block
 * @lead: FILTER_IO only, like @activity: what a window gains in activity when data are taken to
 *	have moved a second earlier than they were noted; as a rate, for moves of milliseconds
 * @rate: FILTER_IO only: activity of each window, by second
 * @change: FILTER_IO only: by how much it differs from that of the windows beside it
 * @no_limit: the counter is not of a memory that may be at its limit
 * @bound: upper bound of the bytes of a unit of activity; 0: not known
 * @within: like @activity: sum over it of where in the window it was, from -1/2 at the window's
 *	start to 1/2 at its end. NULL: not known; it is taken to be spread evenly
 * @slices, @nr_slices: pieces of @activity that are spread over several windows
 */
struct filter_input {
	size_t nr_windows;
	size_t nr_workloads;
	const uint32_t *workloads;
	const uint64_t *kin;
	const bool *ended;
	const struct matrix *activity;
	const double *bytes;
	const double *ratio;
	const double *middle_s;
	const double *length_s;
	double block_s;
	const struct matrix *lead;
	const double *rate;
	const double *change;
	bool no_limit;
	double bound;
	const struct matrix *within;
	const struct filter_slice *slices;
	size_t nr_slices;
};

/**
 * struct filter_output - what the filter makes of a block; owned by its workspace
 * @expected: nr_windows x nr_workloads: bytes of each workload in each window. Not
 *	scaled to what was counted. FILTER_IO: a workload that did nothing in a window may have
 *	moved data there that are noted in the next one
 * @carried: nr_windows x nr_workloads: bytes that come from what the workload did in
 *	the windows before (FILTER_IO: in the next one), at most (lag and its uncertainty)
 * @carried_in: the same in the first windows, of workloads that are not in the block
 * @background: bytes of each window that belong to no workload
 * @covariance: nr_workloads x nr_workloads: of the errors of the workloads' totals
 * @little: what each workload is given at least, whatever its estimate: no more is no evidence
 * @alike: nr_workloads x nr_workloads: 1 where two workloads cannot be told apart,
 *	because they did the same in every window, and nothing is known from before
 * @any_alike: there is a 1
 * @saturated: windows in which the memory was at its limit: bytes are divided by what was asked for
 * @limit_per_s: the limit, bytes by second; 0: none is known
 * @mix: fraction of @expected that comes from an intensity for each; the rest is in proportion to
 *	activity. 1 for FILTER_IO
 * @noise: standard deviation of the counter's noise, as a fraction of its value
 * @prior: how far an unknown intensity may be off, as a fraction of the mean one
 * @lead_s: FILTER_IO only: by how much data are taken to have moved before they were noted
 * @edge_s: FILTER_IO only: standard deviation of the time by which all data may have moved
 *	earlier or later than estimated, in seconds
 * @grain_s: FILTER_IO only: the same for single requests
 */
struct filter_output {
	struct matrix expected;
	struct matrix carried;
	double carried_in[FILTER_LAGS];
	double background[FILTER_MAX_WINDOWS];
	struct matrix covariance;
	double little[FILTER_MAX_WORKLOADS];
	struct matrix alike;
	bool any_alike;
	bool saturated[FILTER_MAX_WINDOWS];
	double limit_per_s;
	double mix;
	double noise;
	double prior;
	double lead_s;
	double edge_s;
	double grain_s;
};

struct filter;

/*
 * Memory in which filters work on a block and leave their results. It is much larger than their
 * state, so filters that take turns share one, which stays in the caches.
 */
struct filter_workspace;

/** filter_workspace_new() - Return: NULL without memory; free with filter_workspace_free(), after its filters */
struct filter_workspace *filter_workspace_new(void);
void filter_workspace_free(struct filter_workspace *workspace);

/**
 * filter_new() - a filter that knows nothing yet
 * @kind: what activity is measured in
 * @workspace: must outlive the filter; one filter at a time works in it
 * @ret: free with filter_free()
 *
 * Return: 0 or -ENOMEM.
 */
int filter_new(enum filter_kind kind, struct filter_workspace *workspace, struct filter **ret);
void filter_free(struct filter *f);

/** filter_forget() - the number of a workload is going to be used for another one */
void filter_forget(struct filter *f, uint32_t workload);

/**
 * filter_block() - estimate a block, and learn from it
 * @f: the filter; blocks come in the order of time
 * @in: the block
 * @ret: valid until the next call for any filter of the same workspace
 *
 * Return: 0; -ENODATA when there is nothing to learn from (no bytes, no activity, or
 * numbers beyond what can be computed with; the filter then starts anew): split in
 * proportion to activity; -ENOMEM.
 */
int filter_block(struct filter *f, const struct filter_input *in, const struct filter_output **ret);

#endif
