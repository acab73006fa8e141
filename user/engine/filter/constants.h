/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * All chosen numbers of the estimate: X(name, value, meaning). The filter, the split and the
 * scaling of turns use them. "make sensitivity" shows the effect of each: it compiles with
 * SENSITIVITY, where tests/accuracy/scaled.c has the numbers as variables and scales one of them.
 * Its table is in docs/ESTIMATE.md.
 *
 * A fraction is one of the value itself, unless stated.
 */
#ifndef ENGINE_FILTER_CONSTANTS_H
#define ENGINE_FILTER_CONSTANTS_H

/* clang-format off */

/*
 * Prior knowledge of intensities. CPU time and cycles say nothing about them: programs differ by an
 * order of magnitude and go through phases. A count of cache refills is right except for prefetches
 * and write-backs, some ten percent. Only its spread over a slice varies, so its phases are as short
 * as slices.
 *
 * A byte of I/O is a byte on the way to memory, plus a few percent of queue entries and headers.
 * Traffic beyond that is not caused by the noted workloads. It must go to the background, which is
 * arbitrary and comes in bursts, and must not be learned as intensity.
 */
#define PRIOR_CONSTANTS(X)									\
	X(UNKNOWN_PRIOR,      1.5,  "CPU time: spread of unknown levels, fraction of the mean")	\
	X(UNKNOWN_KIN,	      0.3,  "CPU time: spread of the levels of one program's runs, fraction") \
	X(UNKNOWN_WANDER,     0.33, "CPU time: drift of a level in a second, fraction")		\
	X(UNKNOWN_TAU_S,      0.5,  "CPU time: duration of a phase, s")				\
	X(UNKNOWN_BACKGROUND, 0.15, "CPU time: prior of the background, fraction of the counter")	\
	X(UNKNOWN_START,      0.5,  "CPU time: minimum traffic of a start, fraction of the mean")	\
	X(UNKNOWN_PHASE,      0.5,  "CPU time: initial size of phases, fraction")		\
	X(TRAFFIC_PRIOR,      0.25, "weights: spread of unknown levels, fraction of the mean")	\
	X(TRAFFIC_MEAN,	      1.0,  "weights: spread of the mean, fraction of that of levels")	\
	X(TRAFFIC_WANDER,     0.05, "weights: drift of a level in a second, fraction")		\
	X(TRAFFIC_TAU_S,      0.05, "weights: duration of a phase, s")				\
	X(TRAFFIC_BACKGROUND, 0.1,  "weights: prior of the background, fraction of the counter")	\
	X(TRAFFIC_PHASE,      0.15, "weights: initial size of phases, fraction")		\
	X(MAX_PHASE,	      1.5,  "maximum learned size of phases, fraction")			\
	X(MAX_NOISE,	      0.5,  "maximum learned noise, fraction of the counter")		\
	X(IO_PRIOR,	      0.08, "I/O: spread of unknown levels, fraction of the mean")	\
	X(IO_WANDER,	      0.02, "I/O: drift of a level in a second, fraction")		\
	X(IO_TAU_S,	      0.05, "I/O: duration of a phase, s")				\
	X(IO_BACKGROUND,      0.5,  "I/O: prior of the background, fraction of the counter")	\
	X(IO_PHASE,	      0.04, "I/O: initial size of phases, fraction")			\
	X(IO_MAX_PHASE,	      0.15, "I/O: maximum learned size of phases, fraction")		\
	X(IO_MAX_NOISE,	      0.1,  "I/O: maximum learned noise, fraction of the counter")	\
	X(IO_MEAN,	      1.0,  "I/O: maximum of the mean intensity")			\
	X(IO_BURSTS,	      1.0,  "I/O: size of the background's phases, fraction of its scale")

#define FILTER_CONSTANTS(X)									\
	X(TIMING_AT_FIRST_S,  6e-4, "initial timing error of activity, s")			\
	X(MIN_TIMING_S,	      5e-5, "its learned minimum, s")					\
	X(MAX_TIMING_S,	      0.1,  "its learned maximum, s")					\
	X(TIMING_TRIED,	      1.0,  "its tried change, fraction")				\
	X(TIMING_TAU_S,	      0.03, "its duration, s")						\
	X(TRAFFIC_TIMING_TAU_S, 0.003, "weights: its duration, s")				\
	X(NOISE_AT_FIRST,     0.03, "initial noise, fraction of the counter")			\
	X(MIN_NOISE,	     0.002, "minimum learned noise, fraction of the counter")		\
	X(MIN_PHASE,	      0.02, "minimum learned size of phases, fraction")			\
	X(READ_NOISE,	      1e-3, "error of a reading, fraction of the mean window")		\
	X(LINE_BYTES,	      64.0, "error of a reading: a line, bytes")			\
	X(MUX_NOISE,	      0.3,  "error of the uncounted time of a window, fraction")	\
	X(OUTLIER,	      4.0,  "windows further off are outliers, standard deviations")	\
	X(WHITE_LIMIT,	      2.0,  "outliers are moved to this, standard deviations")		\
	X(LOST_TRACK,	      2.5,  "mean square of residuals that resets the filter")		\
	X(EVIDENCE_KEPT,      0.7,  "evidence for sizes that is kept per block, fraction")	\
	X(SETTLED,	      2.0,  "evidence against any change that ends tests of a size")	\
	X(INSISTENCE,	      1.0,  "evidence that moves a size a step, log likelihood")	\
	X(SHOUT,	      10.0, "evidence that makes it leap, log likelihood")		\
	X(STEP,		      0.25, "a step, and its tried change, fraction")			\
	X(LEAP,		      1.0,  "a leap, fraction")						\
	X(SHOCK_TAIL,	      2.0,  "phase changes are Student's t, degrees of freedom")	\
	X(JUMPED,	      5.0,  "levels further off are forgotten, standard deviations")	\
	X(STEPPED,	      2.0,  "CPU time: log odds that a level changes within a block")	\
	X(STEP_OVER,	      2.0,  "log odds over a level that is off in the whole block")	\
	X(STEP_ALONE,	      3.0,  "log odds over any other workload")				\
	X(STEP_DOUBT,	      1.5,  "factor of the errors of a block with such a level")	\
	X(HEAVY,	      0.5,  "variance of a new level from its first block, fraction")	\
	X(SMALLEST_SCALE,     0.02, "minimum scale of an intensity, fraction of the mean")	\
	X(START_S,	      0.1,  "duration of a program's start, s")				\
	X(YOUNG_S,	      1.0,  "a workload is young for this time, s")			\
	X(YOUNG_DOUBT,	      2.0,  "factor of the errors of young workloads")			\
	X(MEAN_S,	      4.5,  "time constant of the mean intensity, s")			\
	X(QUIET_S,	      2.0,  "quiet workloads leave the state after this, s")		\
	X(PARKED_S,	      60.0, "their levels are kept for this, s")			\
	X(BACKGROUND_SCALE,   0.3,  "drift of the background, fraction of its prior")		\
	X(BACKGROUND_MOVES,   0.2,  "I/O: drift of the background in a block, fraction of its prior") \
	X(NO_BACKGROUND,      2.0,  "a smaller background is cut off, standard deviations")	\
	X(SMALL,	      0.1,  "smaller totals are near zero, fraction of the mean")	\
	X(LITTLE,	      0.3,  "minimum total, fraction of that")				\
	X(FLOOR,	      0.01, "minimum intensity of a window, fraction of the mean")	\
	X(NOISE_DOUBT,	      1.5,  "noise in the bars, factor of the learned one")		\
	X(ALIKE,	      0.02, "activities that differ by less are alike, fraction")	\
	X(STILL_UNKNOWN,      0.5,  "variance of an unknown difference, fraction of the prior")

#define LAG_CONSTANTS(X)									\
	X(LAG_KEPT,	      0.97, "knowledge of the lag that is kept per block, fraction")	\
	X(LAG_KNOWN,	      5.0,  "prior knowledge of the lag, 1 / variance")			\
	X(MAX_LAG,	      1.0,  "maximum learned lag, windows")				\
	X(LAG_DOUBT,	      0.02, "the lag varies by this, windows")				\
	X(LATER,	      2.0,  "maximum of the second window's lag, by the square of the first") \
	X(LAG_NEWS,	      0.05, "a block that changes the lag by more is solved again, windows") \
	X(MAX_LEAD_S,	      0.01, "I/O: maximum learned lead, s")				\
	X(LEAD_SPREAD_S,      3e-3, "I/O: prior spread of the lead, s")				\
	X(LEAD_DOUBT_S,	      2e-3, "I/O: minimum error of the lead, s")			\
	X(GRAIN_S,	      2e-3, "I/O: the same for single requests, s")

#define SATURATION_CONSTANTS(X)									\
	X(LIMIT_SURE,	      20.0, "a limit is assumed from this log likelihood")		\
	X(LIMIT_SAY,	      2.0,  "maximum contribution of a window to it")			\
	X(LIMIT_KEPT,	      0.97, "knowledge of the limit that is kept per block, fraction")	\
	X(LIMIT_STEP,	      0.05, "maximum change of the limit in a block, fraction")		\
	X(PILE,		      0.88, "a limit is tested if a fifth is this near the top, fraction") \
	X(NEAR_LIMIT,	      0.7,  "windows above this may be at the limit, fraction of it")	\
	X(LIMIT_WORKLOADS,    1.5,  "fewer workloads in a window are no sign of a limit")	\
	X(KNEE,		      0.04, "demand varies by this within a window, fraction of the limit") \
	X(SATURATED,	      1.5,  "noise of a saturated window, factor of the variance")	\
	X(MIN_SURE,	      1e-3, "minimum precision of a saturated window, fraction")

#define SIMPLE_CONSTANTS(X)									\
	X(SIMPLE_TRAFFIC,     3.0,  "weights: prior log odds that intensities differ")		\
	X(SIMPLE_UNKNOWN,     5.0,  "CPU time: the same")					\
	X(SIMPLE_TELLS,	      0.2,  "fraction of a block's log likelihood that counts for these odds") \
	X(SIMPLE_KEPT,	      0.95, "evidence for these odds that is kept per block, fraction")	\
	X(SIMPLE_FOR,	      5.0,  "maximum evidence of a block for equal intensities")	\
	X(SIMPLE_AGAINST,     5.0,  "maximum evidence of a block against them, log likelihood")	\
	X(SIMPLE_APART,	      7.0,  "maximum factor of the odds from the models' difference")	\
	X(SIMPLE_APART_KEPT,  0.8,  "that difference is kept per block, fraction")		\
	X(SIMPLE_BESIDE,      0.04, "weights: error of other workloads' bytes, fraction")	\
	X(SIMPLE_MAX,	      200.0, "weights: maximum odds of all that count for one workload") \
	X(SIMPLE_SINGLE,      200.0, "weights: its own odds are smaller by up to this factor")	\
	X(SIMPLE_STEP,	      1.5,  "sizes of the simple model: a step, factor")

#define BOUND_CONSTANTS(X)									\
	X(BOUND_SURE,	      12.0, "writes: evidence for an upper bound, squared deviations")	\
	X(BOUND_AGAINST,      3.0,  "writes: factor of the evidence of workloads above it")	\
	X(BOUND_KEPT,	      0.8,  "writes: evidence that is kept per block, fraction")	\
	X(BOUND_OFF,	      0.01, "writes: error of the bound, fraction")			\
	X(BOUND_BESIDE,	      0.3,  "writes: SIMPLE_BESIDE where there is a bound")

#define SPLIT_CONSTANTS(X)									\
	X(MINIMUM_SURE,	      8.0,  "writes: evidence for the smaller weight, log likelihood")	\
	X(MINIMUM_SAYS,	      10.0, "writes: maximum contribution of a block to it")		\
	X(MINIMUM_KEPT,	      0.8,  "writes: evidence that is kept per block, fraction")	\
	X(COVERED,	      0.9,  "weights are used if they cover this fraction of CPU time")	\
	X(POOLED,	      5e-4, "workloads below this fraction of the activity are pooled")	\
	X(Z_95,		      1.96, "a 95% interval, standard deviations")			\
	X(Z_PRIOR,	      2.3,  "the same where only the prior is known")			\
	X(MATTERS,	      0.01, "larger pooled rows are marked as not separable, fraction")	\
	X(LOST_DOUBT,	      2.0,  "lost slices widen bars by this factor of their fraction")	\
	X(SCALE_DOUBT,	      0.3,  "turns: error of the uncounted time, fraction")		\
	X(EDGE_NS,	      3e5,  "time of a turn that may not have been counted, ns")	\
	X(EDGE_MAX,	      0.01, "its maximum, fraction of the turn")			\
	X(UNSEEN,	      0.5,  "I/O: a window beyond the block differs by this fraction")	\
	X(REQUEST_MIN,	      0.98, "I/O: minimum traffic of a byte of a request, bytes")	\
	X(TIMED,	      1.5,  "I/O: factor of the timing error where only that bounds")

/* Whole numbers: counts of rounds and windows. */
#define ESTIMATE_COUNTS(X)									\
	X(SIZE_ROUNDS,	      4,    "solutions of an early block with new sizes")		\
	X(LATER_ROUNDS,	      2,    "solutions of later blocks with new sizes")			\
	X(EARLY_BLOCKS,	      3,    "number of early blocks")					\
	X(REFINE_ROUNDS,      4,    "rounds that refine the scales of new workloads")		\
	X(SHOCK_ROUNDS,	      2,    "solutions of a block with variances of phase changes")	\
	X(JUMP_ROUNDS,	      8,    "maximum of forgotten levels in a block")			\
	X(STEP_WINDOWS,	      5,    "minimum of windows with the workload before and after a step") \
	X(LAG_ROUNDS,	      3,    "solutions of a block with a new lag")			\
	X(POSITIVE_ROUNDS,    3,    "rounds over negative totals")				\
	X(CENSOR_ROUNDS,      4,    "rounds over windows that may be at the limit")		\
	X(MIN_WINDOWS,	      20,   "a limit is not tested in shorter blocks, windows")		\
	X(SIMPLE_ROUNDS,      10,   "steps of the simple model's sizes in a block")		\
	X(MAX_HOPS,	      4,    "I/O: maximum shift of a burst, windows")

/* clang-format on */

#define ESTIMATE_CONSTANTS(X) \
	PRIOR_CONSTANTS(X)    \
	FILTER_CONSTANTS(X)   \
	LAG_CONSTANTS(X)      \
	SATURATION_CONSTANTS(X) SIMPLE_CONSTANTS(X) BOUND_CONSTANTS(X) SPLIT_CONSTANTS(X)

#ifdef SENSITIVITY
#define CONSTANT_OF(name, value, meaning) extern double name;
#define COUNT_OF(name, value, meaning)	  extern int name;
#else
#define CONSTANT_OF(name, value, meaning) static const double name = value;
#define COUNT_OF(name, value, meaning)	  static const int name = value;
#endif
ESTIMATE_CONSTANTS(CONSTANT_OF)
ESTIMATE_COUNTS(COUNT_OF)
#undef CONSTANT_OF
#undef COUNT_OF

#endif
