/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#ifndef BASE_CLOCK_H
#define BASE_CLOCK_H

#include <stdint.h>
#include <time.h>

#define NS_PER_S  1000000000ull
#define NS_PER_MS 1000000ull

/** clock_ns() - time of a clock in nanoseconds */
static inline uint64_t clock_ns(clockid_t clock)
{
	struct timespec t;

	clock_gettime(clock, &t);
	return t.tv_sec * NS_PER_S + t.tv_nsec;
}

/** monotonic_ns() - CLOCK_MONOTONIC, the clock of bpf_ktime_get_ns() */
static inline uint64_t monotonic_ns(void)
{
	return clock_ns(CLOCK_MONOTONIC);
}

/**
 * clock_ahead_ns() - what a clock is ahead of CLOCK_MONOTONIC
 *
 * The machine, or this thread alone, may stand still between two readings. So of some tries the
 * shortest one counts: it is right to 0.1 ms, unless all were longer.
 */
static inline int64_t clock_ahead_ns(clockid_t clock)
{
	uint64_t shortest = UINT64_MAX;
	int64_t ahead = 0;

	for (int i = 0; i < 10 && shortest > 100000; i++) {
		uint64_t before = monotonic_ns(), time = clock_ns(clock);
		uint64_t took = monotonic_ns() - before;

		if (took >= shortest)
			continue;
		shortest = took;
		ahead = (int64_t)(time - before);
	}
	return ahead;
}

#endif
