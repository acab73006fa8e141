/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The two clocks of a recording: its times are CLOCK_MONOTONIC, and each mark also has the time of
 * day. So times of another tool, by either clock, become times of the recording.
 */
#ifndef SOURCES_BAYTRAIL_COUNTS_CLOCK_H
#define SOURCES_BAYTRAIL_COUNTS_CLOCK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/diag.h"

/** struct clock_pair - the same moment by both clocks */
struct clock_pair {
	uint64_t monotonic_ns;
	uint64_t realtime_ns;
};

/**
 * struct counts_clock - the clocks of a recording
 * @marks, @nr, @cap: its marks, in order
 * @wall: times are those of CLOCK_REALTIME; chosen by counts_clock_choose()
 */
struct counts_clock {
	struct clock_pair *marks;
	size_t nr;
	size_t cap;
	bool wall;
};

/**
 * counts_clock_read() - read a recording for its marks
 * @path: a file: a pipe could not be read again
 * @d: gets the problem
 * @ret: release with counts_clock_free(), in any case
 *
 * Return: 0 or a negative errno.
 */
int counts_clock_read(const char *path, struct diag *d, struct counts_clock *ret);
void counts_clock_free(struct counts_clock *c);

/**
 * counts_clock_choose() - choose the clock of these times
 * @c: gets the clock
 * @begin_ns, @end_ns: of all the times
 * @d: gets the reason, with a remedy
 *
 * Return: 0; -ERANGE where they fit neither, or the clock was set meanwhile.
 */
int counts_clock_choose(struct counts_clock *c, uint64_t begin_ns, uint64_t end_ns, struct diag *d);

/** counts_clock_ns() - a time of the chosen clock as one of the recording */
uint64_t counts_clock_ns(const struct counts_clock *c, uint64_t ns);

#endif
