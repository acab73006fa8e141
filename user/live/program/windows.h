/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Turn readings of a program into windows of the trace: no byte is counted twice, or invented. */
#ifndef LIVE_PROGRAM_WINDOWS_H
#define LIVE_PROGRAM_WINDOWS_H

#include "base/clock.h"
#include "live/program/text.h"
#include "trace.h"

/* Slices are kept for 10 s for late windows; half of that is for programs. */
#define PROGRAM_LATE_NS (5 * NS_PER_S)

/* enum program_verdict - verdict on a reading */
enum program_verdict {
	PROGRAM_GOOD,
	PROGRAM_EARLY,	  /* from before the run: in no interval, and no error */
	PROGRAM_AGAIN,	  /* it has the same time as the one before */
	PROGRAM_BACKWARD, /* it is older than the one before */
	PROGRAM_LATE,	  /* too old: CPU time of then is no longer known */
	PROGRAM_FUTURE,	  /* its clock is not CLOCK_MONOTONIC */
};

/**
 * struct program_total - state of a counter
 * @known: @base is a reading
 * @anew: the program was started again: counts since @base are unknown
 * @base_ns, @base: end of the last window
 * @next_ns, @next: the newest reading since then, the end of a window to be; 0 = none
 * @fallen_ns: since then its readings have been below earlier ones; 0 = they are not
 */
struct program_total {
	bool known;
	bool anew;
	uint64_t base_ns;
	uint64_t base;
	uint64_t next_ns;
	uint64_t next;
	uint64_t fallen_ns;
};

#define PROGRAM_NO_GROUP UINT32_MAX

/**
 * struct program_windows - of a program
 * @nr: number of counters, each a group of its own
 * @groups: by counter, its place in the header; PROGRAM_NO_GROUP: it has none
 * @out: where windows go
 * @window_ns: shorter windows are merged
 * @begin_ns: begin of the books, UINT64_MAX before
 * @last_ns: of the last good reading
 * @totals: by counter
 * @good_ns: by counter, when its last good reading came, 0 = none yet
 * @failed: useless readings of a counter; its bytes are in the next window
 * @restarts, @uncounted_ns: how often a counter restarted, and time without known counts
 * @bad: windows that the sink rejected
 */
struct program_windows {
	size_t nr;
	uint32_t groups[PROGRAM_MAX_COUNTERS];
	const struct trace_sink *out;
	uint64_t window_ns;
	uint64_t begin_ns;
	uint64_t last_ns;
	struct program_total totals[PROGRAM_MAX_COUNTERS];
	uint64_t good_ns[PROGRAM_MAX_COUNTERS];
	uint64_t failed;
	uint64_t restarts;
	uint64_t uncounted_ns;
	uint64_t bad;
};

/**
 * program_windows_take() - take a reading
 * @w: the windows
 * @r: the reading
 * @now_ns: the time
 * @ret: the verdict
 *
 * A window goes out when a later reading confirms its end.
 *
 * Return: 0, or an error of @out.
 */
int program_windows_take(struct program_windows *w, const struct program_reading *r,
			 uint64_t now_ns, enum program_verdict *ret);

/** program_windows_flush() - hand out windows that wait to be merged; 0 or an error of @out */
int program_windows_flush(struct program_windows *w);

/** program_windows_anew() - the program was restarted: its totals do not continue earlier ones */
void program_windows_anew(struct program_windows *w);

#endif
