/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * From kernel records to the events of a trace: slots become slices, running totals become windows,
 * and records of tasks and cgroups become names. Invalid records are counted, never guessed.
 */
#ifndef LIVE_LOOKUP_FEED_H
#define LIVE_LOOKUP_FEED_H

#include "platform/bpf/counters.h"
#include "platform/bpf/ledger.h"
#include "trace.h"

/* Verdict on a reading of a group. Unless it is good, the next window spans this one too. */
enum feed_verdict {
	READING_GOOD,
	READING_FAILED,	  /* the kernel gave no value */
	READING_BACKWARD, /* a total went back, or grew more than possible */
	READING_WAITED,	  /* a counter had no turn since the last good reading */
};

/**
 * struct feed_event - an event of a group
 * @last: running totals at the end of the group's last good window
 * @now: as read since then
 * @fresh: it has been read since
 */
struct feed_event {
	struct reading last;
	struct reading now;
	bool fresh;
};

/**
 * struct feed_group - state of a group
 *
 * Its window ends when all of its events have been read. One reader reads them all at once, as
 * long as their PMUs are on one CPU.
 *
 * @end_ns: end of its last good window; 0: not read yet
 * @bad_ns: its first useless reading since then; 0: none
 * @verdict: on the last reading
 * @err: its error
 * @restart: the next reading that does not fail is a new base
 * @first: of its events in feed.members; @nr of them
 * @fresh: of these, read since the last window
 * @read_err: error of the first of them, 0 = none
 */
struct feed_group {
	uint64_t end_ns;
	uint64_t bad_ns;
	enum feed_verdict verdict;
	int err;
	bool restart;
	uint32_t first;
	uint32_t nr;
	uint32_t fresh;
	int read_err;
};

/**
 * struct feed - state of the translation
 * @layout: not owned
 * @out: where events go
 * @counters: events of readers, and the counters they belong to; not owned
 * @v1: name of the v1 controller whose cgroups have ids of their own; not owned, NULL for none
 * @start_of: start time of the living task of a number, 0 for none; NULL: unknown
 * @start_arg: handed to it
 * @met: called before the slices of a CPU are handed on: 0 or an error of @out; NULL: nobody is
 * @met_arg: handed to it
 * @cut_ns: windows that end later do not move @last_end_ns
 * @seen_ns: time of the last reading, useful or not, by index of the reader; 0 = none yet
 * @last_end_ns: end of the last good window, by socket; 0 = none yet
 * @error: first error of @out other than -EINVAL; data was lost then
 * @invalid_windows: readings of a group that failed or were invalid
 * @unscheduled_windows: readings of a group that had no turn since its last good window
 * @long_windows: windows more than twice as long as requested
 * @bad_slices: slices, windows and requests with impossible times or devices
 * @restarts: times a group got a new base
 * @uncounted_ns: time of restarts that is in no window
 * @lost_ns: CPU time whose task could not be noted
 * @cut_path: the path of a cgroup was too long for a record
 */
struct feed {
	const struct layout *layout;
	struct trace_sink out;
	uint64_t window_ns;
	const struct counters *counters;
	const char *v1;
	uint64_t (*start_of)(void *arg, uint32_t pid);
	void *start_arg;
	int (*met)(void *arg, uint32_t cpu);
	void *met_arg;
	uint64_t cut_ns;
	uint64_t *seen_ns;
	uint64_t *last_end_ns;
	int error;
	uint64_t invalid_windows;
	uint64_t unscheduled_windows;
	uint64_t long_windows;
	uint64_t bad_slices;
	uint64_t restarts;
	uint64_t uncounted_ns;
	uint64_t lost_ns;
	bool cut_path;
	struct feed_group *groups; /* by group */
	struct feed_event *events; /* by event */
	uint32_t *members;	   /* events by group */
	struct reading *readings;  /* of the current group, */
	bool *seen;		   /* and which of them have a part */
};

/**
 * feed_init() - prepare a feed
 * @f: filled
 * @layout: its groups and counters are those of @counters
 * @counters: with readers, which may change while no record of them is under way
 * @out: where events go; copied
 * @window_ns: requested length of a window
 *
 * Return: 0 or -ENOMEM; release with feed_release().
 */
int feed_init(struct feed *f, const struct layout *layout, const struct counters *counters,
	      const struct trace_sink *out, uint64_t window_ns);
void feed_release(struct feed *f);

/**
 * feed_restart() - a group's events were opened again: they begin with 0
 *
 * The records of the old ones have been taken. Counts of the new ones begin with their first
 * reading; counts since the last good one are in no window, and their time is in @uncounted_ns.
 */
void feed_restart(struct feed *f, uint32_t group);

/** feed_sink() - the sink for the ledger's records */
struct ledger_sink feed_sink(struct feed *f);

#endif
