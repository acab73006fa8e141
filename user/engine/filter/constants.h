/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Every number of the estimate that somebody chose: X(name, value, meaning). The filter, the
 * split and the scaling of turns take them from here. "make sensitivity" shows what each of them
 * does: it compiles with SENSITIVITY, where tests/accuracy/scaled.c has the numbers as variables
 * and scales one of them. The table that it makes is in docs/ESTIMATE.md.
 *
 * "A part" is a part of the value itself, apart from what is said.
 */
#ifndef ENGINE_FILTER_CONSTANTS_H
#define ENGINE_FILTER_CONSTANTS_H

/* clang-format off */

/*
 * Of intensities beforehand. CPU time and cycles say nothing about them: they differ by an order of
 * magnitude between programs, and change as programs go through phases. A count of cache refills
 * is right but for prefetches and write-backs, some ten percent; what changes is how the count
 * was spread over a slice, so its phases are as short as slices are.
 *
 * A byte of I/O is a byte on the way to memory, plus a few percent of queue entries and
 * headers. What goes beyond that is not the noted workloads' doing: it must go to the
 * background, which can be anything and comes in bursts, and not be learned as intensity.
 */
#define PRIOR_CONSTANTS(X)									\
	X(UNKNOWN_PRIOR,      1.5,  "CPU time: spread of unknown levels, part of the mean one")	\
	X(UNKNOWN_KIN,	      0.3,  "CPU time: spread of levels of one program's runs, a part of them")	\
	X(UNKNOWN_WANDER,     0.33, "CPU time: how far a level wanders in a second, a part")	\
	X(UNKNOWN_TAU_S,      0.5,  "CPU time: how long a phase lasts, s")			\
	X(UNKNOWN_BACKGROUND, 0.15, "CPU time: the background may be this part of the counter")	\
	X(UNKNOWN_START,      0.5,  "CPU time: what a start moves at least, part of the mean one")	\
	X(UNKNOWN_PHASE,      0.5,  "CPU time: size of phases to begin with, a part")		\
	X(TRAFFIC_PRIOR,      0.25, "weights: spread of unknown levels, part of the mean one")	\
	X(TRAFFIC_MEAN,	      1.0,  "weights: spread of the mean one, part of that of levels")	\
	X(TRAFFIC_WANDER,     0.05, "weights: how far a level wanders in a second, a part")	\
	X(TRAFFIC_TAU_S,      0.05, "weights: how long a phase lasts, s")			\
	X(TRAFFIC_BACKGROUND, 0.1,  "weights: the background may be this part of the counter")	\
	X(TRAFFIC_PHASE,      0.15, "weights: size of phases to begin with, a part")		\
	X(MAX_PHASE,	      1.5,  "phases are not learned to be larger, a part")		\
	X(MAX_NOISE,	      0.5,  "noise is not learned to be larger, part of the counter")	\
	X(IO_PRIOR,	      0.08, "I/O: spread of unknown levels, part of the mean one")	\
	X(IO_WANDER,	      0.02, "I/O: how far a level wanders in a second, a part")		\
	X(IO_TAU_S,	      0.05, "I/O: how long a phase lasts, s")				\
	X(IO_BACKGROUND,      0.5,  "I/O: the background may be this part of the counter")	\
	X(IO_PHASE,	      0.04, "I/O: size of phases to begin with, a part")		\
	X(IO_MAX_PHASE,	      0.15, "I/O: phases are not learned to be larger, a part")		\
	X(IO_MAX_NOISE,	      0.1,  "I/O: noise is not learned to be larger, part of the counter") \
	X(IO_MEAN,	      1.0,  "I/O: the mean intensity is not learned to be more")	\
	X(IO_BURSTS,	      1.0,  "I/O: size of the background's phases, part of its scale")

#define FILTER_CONSTANTS(X)									\
	X(TIMING_AT_FIRST_S,  6e-4, "activity is early or late, to begin with, s")		\
	X(MIN_TIMING_S,	      5e-5, "that is not learned to be less, s")			\
	X(MAX_TIMING_S,	      0.1,  "nor more, s")						\
	X(TIMING_TRIED,	      1.0,  "what is tried of it, a part more")				\
	X(TIMING_TAU_S,	      0.03, "how long it is early or late, s")				\
	X(TRAFFIC_TIMING_TAU_S, 0.003, "weights: the same, s")					\
	X(NOISE_AT_FIRST,     0.03, "noise to begin with, part of the counter")			\
	X(MIN_NOISE,	     0.002, "noise is not learned to be smaller, part of the counter")	\
	X(MIN_PHASE,	      0.02, "phases are not learned to be smaller, a part")		\
	X(READ_NOISE,	      1e-3, "a reading is off by this part of the mean window")		\
	X(LINE_BYTES,	      64.0, "a reading is off by a line, bytes")			\
	X(MUX_NOISE,	      0.3,  "what was not counted of a window differs by this part")	\
	X(OUTLIER,	      4.0,  "windows further off are outliers, standard deviations")	\
	X(WHITE_LIMIT,	      2.0,  "outliers become this many standard deviations")		\
	X(LOST_TRACK,	      2.5,  "mean square of surprise from which the filter begins anew") \
	X(EVIDENCE_KEPT,      0.7,  "part of the evidence for sizes that stays for a block")	\
	X(SETTLED,	      2.0,  "evidence against both from which a size is not asked")	\
	X(INSISTENCE,	      1.0,  "evidence that moves a size a step, log likelihood")	\
	X(SHOUT,	      10.0, "evidence that makes it leap, log likelihood")		\
	X(STEP,		      0.25, "a step, a part more; what is tried, too")			\
	X(LEAP,		      1.0,  "a leap, a part more")					\
	X(SHOCK_TAIL,	      2.0,  "what phases change by is Student's t, degrees of freedom")	\
	X(JUMPED,	      5.0,  "levels further off are forgotten, standard deviations")	\
	X(STEPPED,	      2.0,  "CPU time: a level is another one within a block from these log odds") \
	X(STEP_OVER,	      2.0,  "so much more than for a level that is off all the time, log odds") \
	X(STEP_ALONE,	      3.0,  "and than for any other workload, log odds")		\
	X(STEP_DOUBT,	      1.5,  "errors of a block with such a level are so many times larger")	\
	X(NEWS,		      0.02, "new workloads matter from this part of the activity")	\
	X(HEAVY,	      0.5,  "part of a new level's variance that its first block says")	\
	X(SMALLEST_SCALE,     0.02, "scale of an intensity at least, part of the mean one")	\
	X(LEAST_VARIANCE,     1e-6, "variance that always stays, part of the scale's square")	\
	X(START_S,	      0.1,  "this long a program is said to be starting, s")		\
	X(YOUNG_S,	      1.0,  "this long it is hardly known, s")				\
	X(YOUNG_DOUBT,	      2.0,  "errors are so many times larger meanwhile")		\
	X(MEAN_S,	      4.5,  "the mean intensity follows changes within this time, s")	\
	X(QUIET_S,	      2.0,  "who is quiet this long leaves the state, s")		\
	X(PARKED_S,	      60.0, "its level is kept this long, s")				\
	X(BACKGROUND_SCALE,   0.3,  "what the background moves by, part of what it may be")	\
	X(BACKGROUND_MOVES,   0.2,  "I/O: how far it moves in a block, part of what it may be")	\
	X(NO_BACKGROUND,      2.0,  "a smaller background is cut off, standard deviations")	\
	X(SMALL,	      0.1,  "totals below this part of the mean are as good as none")	\
	X(LITTLE,	      0.3,  "part of that which everybody is given at least")		\
	X(FLOOR,	      0.01, "intensity of a window at least, part of the mean one")	\
	X(NOISE_DOUBT,	      1.5,  "noise in the bars, times what was learned")		\
	X(ALIKE,	      0.02, "activities that differ by less are alike, a part")		\
	X(STILL_UNKNOWN,      0.5,  "part of the prior variance from which nothing is known")

#define LAG_CONSTANTS(X)									\
	X(LAG_KEPT,	      0.97, "part of what is known of the lag that stays for a block")	\
	X(LAG_KNOWN,	      5.0,  "what is known of the lag beforehand, 1 / variance")	\
	X(MAX_LAG,	      1.0,  "the lag is not learned to be more, windows")		\
	X(LAG_DOUBT,	      0.02, "it is not the same for all, nor always, windows")		\
	X(LATER,	      2.0,  "what comes two windows later is this by the square of the rest") \
	X(LAG_NEWS,	      0.05, "a lag that differs by more is worth solving again, windows") \
	X(MAX_LEAD_S,	      0.01, "I/O: the lead is not learned to be more, s")		\
	X(LEAD_SPREAD_S,      3e-3, "I/O: what the lead may be beforehand, s")			\
	X(LEAD_DOUBT_S,	      2e-3, "I/O: what is never known of it, s")			\
	X(GRAIN_S,	      2e-3, "I/O: the same of single requests, s")

#define FULL_CONSTANTS(X)									\
	X(LIMIT_SURE,	      20.0, "a limit is believed from here on, log likelihood")		\
	X(LIMIT_SAY,	      2.0,  "a window adds to that so much at most")			\
	X(LIMIT_KEPT,	      0.97, "part of what is known of its value that stays for a block")	\
	X(LIMIT_STEP,	      0.05, "it moves by this part in a block at most")			\
	X(PILE,		      0.88, "a limit is looked for if a fifth is this near to the top, a part") \
	X(NEAR_LIMIT,	      0.7,  "windows from here on may be at the limit, a part of it")	\
	X(CROWD,	      1.5,  "fewer workloads in a window are no sign of a limit")	\
	X(KNEE,		      0.04, "demand varies so much within a window, part of the limit")	\
	X(FULL,		      1.5,  "who says so many times less is at the limit, variance")	\
	X(LEAST_SURE,	      1e-3, "what a window at the limit says at least, a part")

#define SAME_CONSTANTS(X)									\
	X(SAME_TRAFFIC,	      3.0,  "weights: log odds beforehand that intensities differ")	\
	X(SAME_UNKNOWN,	      5.0,  "CPU time: the same")					\
	X(SAME_TELLS,	      0.2,  "part of a block's log likelihood that counts for these odds") \
	X(SAME_KEPT,	      0.95, "part of what blocks have said of them that stays for a block") \
	X(SAME_FOR,	      5.0,  "a block speaks against them by so much at most")		\
	X(SAME_AGAINST,	      5.0,  "and for them, log likelihood")				\
	X(SAME_APART,	      7.0,  "odds change by how far models are apart, times at most")	\
	X(SAME_APART_KEPT,    0.8,  "part of that which stays for a block")			\
	X(SAME_BESIDE,	      0.04, "weights: others' bytes in one's windows may be off by this part") \
	X(SAME_MOST,	      200.0, "weights: odds of all that count for a single one at most")	\
	X(SAME_SINGLE,	      200.0, "weights: its own are so many times smaller at most")	\
	X(SAME_STEP,	      1.5,  "sizes of the simple model: a step, times")

#define MOST_CONSTANTS(X)									\
	X(MOST_SURE,	      12.0, "writes: a most is believed from here on, squares of deviations") \
	X(MOST_AGAINST,	      3.0,  "writes: who is above it counts so many times")		\
	X(MOST_KEPT,	      0.8,  "writes: part of what blocks have said of it that stays")	\
	X(MOST_OFF,	      0.01, "writes: it may be off by this part")			\
	X(MOST_BESIDE,	      0.3,  "writes: SAME_BESIDE where there is a most")

#define SPLIT_CONSTANTS(X)									\
	X(FEWER_SURE,	      8.0,  "writes: by the fewer of left and read from this log likelihood") \
	X(FEWER_SAYS,	      10.0, "writes: a block says so much of that at most")		\
	X(FEWER_KEPT,	      0.8,  "writes: part of that which stays for a block")		\
	X(COVERED,	      0.9,  "weights are used if they cover this part of CPU time")	\
	X(POOLED,	      5e-4, "who has less of the activity is estimated with others")	\
	X(Z_95,		      1.96, "a 95% interval, standard deviations")			\
	X(Z_PRIOR,	      2.3,  "the same where only the prior is known")			\
	X(MATTERS,	      0.01, "larger pooled rows are said not to be separable, a part")	\
	X(LOST_DOUBT,	      2.0,  "what is lost widens bars by so many times its part")	\
	X(SCALE_DOUBT,	      0.3,  "turns: what was not counted differs from the rest by this part") \
	X(EDGE_NS,	      3e5,  "time of a turn that may not have been counted, ns")	\
	X(EDGE_MOST,	      0.01, "the same, at most this part")				\
	X(NEAR_NS,	      1e6,  "I/O: windows this close follow each other, ns")		\
	X(UNSEEN,	      0.5,  "I/O: a window beyond the block differs by this part")	\
	X(MATCHED,	      0.5,  "I/O: doubt of bytes beside the window of their requests")	\
	X(PLAIN,	      0.1,  "I/O: doubt of requests where nothing was estimated")	\
	X(LEAST,	      0.98, "I/O: a byte of a request is this at least, bytes")		\
	X(TIMED,	      1.5,  "I/O: doubt of timing where only that bounds, times")

/* Whole numbers: how often something is done. */
#define ESTIMATE_COUNTS(X)									\
	X(SIZE_ROUNDS,	      4,    "a first block is solved again so often with what it taught") \
	X(LATER_ROUNDS,	      2,    "the same of later ones")				\
	X(EARLY_BLOCKS,	      3,    "so many blocks are first ones")				\
	X(REFINE_ROUNDS,      4,    "scales of new workloads are refined so often")		\
	X(SHOCK_ROUNDS,	      2,    "a block is solved again so often with how phases changed") \
	X(JUMP_ROUNDS,	      8,    "so many levels of a block are forgotten at most")	\
	X(STEP_WINDOWS,	      5,    "it ran in so many windows before and behind that, at least")	\
	X(LAG_ROUNDS,	      3,    "a block is solved again so often with the lag it taught")	\
	X(POSITIVE_ROUNDS,    3,    "rounds over totals that came out negative")		\
	X(CENSOR_ROUNDS,      4,    "rounds over windows that may be at the limit")		\
	X(LEAST_WINDOWS,      20,   "a limit is not looked for in fewer windows")		\
	X(SAME_ROUNDS,	      10,    "steps of the simple model's sizes in a block")		\
	X(MAX_HOPS,	      4,    "I/O: a burst is off by so many windows at most")

/* clang-format on */

#define ESTIMATE_CONSTANTS(X) \
	PRIOR_CONSTANTS(X)    \
	FILTER_CONSTANTS(X)   \
	LAG_CONSTANTS(X) FULL_CONSTANTS(X) SAME_CONSTANTS(X) MOST_CONSTANTS(X) SPLIT_CONSTANTS(X)

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
