/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The uncertainty of counters that take turns. Each turn is a sample of the rate; the differences
 * between samples show how wrong their mean may be for the time without a turn.
 */
#ifndef ENGINE_SPLIT_ROTATION_H
#define ENGINE_SPLIT_ROTATION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Sums are kept for each enum direction and for both together. */
#define ROTATION_BOTH 2
#define ROTATION_NR   3

/* Sums over samples or windows: squares of bytes, and bytes times the time. */
struct rotation_sums {
	double bytes;
	double squares;
	double products;
};

/**
 * struct rotation - windows of counters that are read together, added up; all zero is empty
 * @enabled_ns, @running_ns: time they should have counted, time they did
 * @turns: times that they began to count
 * @any, @began, @ran: there was a window; they counted in the first one, in the last one
 * @samples: turns that are over, and windows in which the kernel took the counters away
 * @sample_squares, @window_squares: of the time that samples and windows counted
 * @sample, @window: of their bytes
 * @open_ns, @open: the turn that goes on
 */
struct rotation {
	uint64_t enabled_ns;
	uint64_t running_ns;
	uint64_t turns;
	bool any;
	bool began;
	bool ran;
	size_t samples;
	double sample_squares;
	double window_squares;
	struct rotation_sums sample[ROTATION_NR];
	struct rotation_sums window[ROTATION_NR];
	double open_ns;
	double open[ROTATION_NR];
};

/** rotation_sums_add() - a sample or window of @ns more */
void rotation_sums_add(struct rotation_sums *to, double bytes, double ns);

/**
 * rotation_window() - one more window, in the order of time
 * @r: the sums
 * @enabled_ns, @running_ns: as in struct reading; a window in which nothing could be read
 *	(both 0) is not one
 * @bytes: by enum direction
 */
void rotation_window(struct rotation *r, uint64_t enabled_ns, uint64_t running_ns,
		     const uint64_t bytes[2]);

/** rotation_end() - no more windows: the turn that goes on is a sample as it is */
void rotation_end(struct rotation *r);

/** rotation_add() - @next follows @total in time; both have ended */
void rotation_add(struct rotation *total, const struct rotation *next);

/**
 * rotation_doubt() - half of the 95% interval of the scaled bytes
 * @r: has ended
 * @which: an enum direction or ROTATION_BOTH
 *
 * The larger of two: from the differences between samples, with Student's quantile for few
 * of them, and from those between windows, as if each was on its own. Both shrink with the
 * time that was left out. One sample alone says nothing of others: then it may have been the
 * only lump there was.
 *
 * Return: bytes; 0 when they counted all the time.
 */
double rotation_doubt(const struct rotation *r, int which);

/**
 * rotation_edges() - scaled bytes that may not have been counted at the begin of turns
 *
 * While the events of a turn are put on, the kernel stops the PMU and calls it running time:
 * some microseconds on hardware (by reading the drivers; not seen), up to three tenths of a
 * millisecond where registers are emulated. It is always on the same side, so it does not shrink with the number of turns.
 *
 * Return: bytes; 0 when they counted all the time.
 */
double rotation_edges(const struct rotation *r, int which);

/**
 * rotation_stopped() - part of the bytes that may not have been counted beside turns of others
 * @r: counters that went on meanwhile
 * @turns: of others on their PMU
 * @gap_ns: time between these turns, outside of which nothing stopped the PMU
 *
 * The end of a turn stops the PMU for a moment, and the begin of the next one does, as for
 * rotation_edges(); the kernel calls it running time.
 */
double rotation_stopped(const struct rotation *r, uint64_t turns, uint64_t gap_ns);

/** rotation_quantile() - 97.5% quantile of Student's distribution; @freedom is at least 1 */
double rotation_quantile(size_t freedom);

/**
 * rotation_unseen_doubt() - half of the 95% interval of what the kernel's own turns left out
 * @counted: what was counted
 * @ratio: it was scaled by, at least 1
 * @squares: of what windows had
 *
 * The unobserved time differs from the rest by a fraction of it, or lumps were missed: in each window
 * the counter looked for a fraction of the time, r = 1 / @ratio. If a window's bytes came in one lump,
 * they were seen wholly with probability r, or not at all: scaled by 1/r that has the variance
 * (1 - r) / r of their square. The squares of what was seen add up to r of all squares, so that the
 * sum has the variance (1 - r) / r^2 = ratio * (ratio - 1) of them.
 */
double rotation_unseen_doubt(double counted, double ratio, double squares);

/**
 * rotation_kernel_edges() - the same as rotation_edges() where the kernel takes turns by itself
 * @value: scaled
 * @enabled_ns, @running_ns: as in struct reading
 *
 * How often it did is in no reading: a turn lasts as long as kernels have it by default.
 */
double rotation_kernel_edges(double value, double enabled_ns, double running_ns);

/**
 * rotation_sample_doubt() - the same from samples alone
 * @nr: samples, at least 1
 * @ratio: of the time there was to the time that was sampled, at least 1
 * @sums: of the bytes in samples
 * @time_squares: of the lengths of samples
 * @rate: bytes by time
 */
double rotation_sample_doubt(size_t nr, double ratio, const struct rotation_sums *sums,
			     double time_squares, double rate);

#endif
