/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * How far off a number may be that was counted for a part of the time: the same for counts and for
 * metrics, whatever their formula is.
 */
#ifndef ENGINE_STAT_STAT_BARS_H
#define ENGINE_STAT_STAT_BARS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Number of samples that segments are dealt out to. */
#define STAT_SAMPLES 8

/**
 * struct stat_turns - segments in which something counted
 * @nr: how many
 * @shared: in one of them the kernel gave the hardware to others, too
 */
struct stat_turns {
	size_t nr;
	bool shared;
};

/** stat_turn() - one more; returns the sample that it is of */
size_t stat_turn(struct stat_turns *t, uint64_t enabled_ns, uint64_t running_ns);

/**
 * struct stat_stops - how turns of a PMU end and begin, from segment to segment
 * @any: there was a segment
 * @gap: in the last one a turn ended, so that the next turn began in it, too
 */
struct stat_stops {
	bool any;
	bool gap;
};

/**
 * stat_stop() - one more segment of a PMU
 * @ended, @began: counters of the last segment are not in it; others are
 * @time_ns: of the segment
 *
 * Return: time in which nothing may have been counted, see rotation_stopped().
 */
double stat_stop(struct stat_stops *s, bool ended, bool began, uint64_t time_ns);

/* The number again, each time without one of the samples. */
struct stat_without {
	double values[STAT_SAMPLES];
	size_t nr;
};

struct stat_bar {
	double low;
	double high;
};

/**
 * stat_bar() - the 95% interval of a number
 * @value: the number
 * @without: jackknife: how much these differ says how much samples do. Fewer than two say nothing
 * @turns: each begins with a moment that is not counted
 * @enabled_ns, @running_ns: of all time, and of the time that was counted
 */
struct stat_bar stat_bar(double value, const struct stat_without *without,
			 const struct stat_turns *turns, double enabled_ns, double running_ns);

#endif
