/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * From the events of a file back to reports. Decides where intervals end when the trace has no
 * marks, or when the user wants other intervals, and which rows are selected.
 */
#ifndef REPLAY_REPLAY_H
#define REPLAY_REPLAY_H

#include "base/diag.h"
#include "run_options.h"
#include "neighbourhood.h"
#include "trace.h"

/* More intervals than this are an error in the trace or the options. */
#define REPLAY_MAX_INTERVALS 1000000

struct replay;

/**
 * struct replay_output - receives the report of each interval
 * @report: takes one, which the caller releases. A nonzero result ends the replay
 * @arg: handed to @report
 * @regroups: replay_regroup() may be called: what that needs is kept
 */
struct replay_output {
	int (*report)(void *arg, struct report *report, struct diag *d);
	void *arg;
	bool regroups;
};

/**
 * replay_new() - prepare for the events of a trace
 * @header: of the trace; must outlive the replay and its reports
 * @args: selection, interval, rows and method; must outlive the replay
 * @output: where reports go; copied
 * @d: gets the problem
 * @ret: free with replay_free()
 *
 * Without a selection in @args that of the trace applies, or everything for a trace without marks.
 *
 * Return: 0, -EINVAL when the trace lacks the data for the requested rows, -ENOMEM.
 */
int replay_new(const struct trace_header *header, const struct run_options *args,
	       const struct replay_output *output, struct diag *d, struct replay **ret);
void replay_free(struct replay *r);

/**
 * replay_sink() - the sink for events
 *
 * -EINVAL is for events that make no sense. Any other error is final, with its words in the diag of
 * replay_new().
 *
 * With the marks of the trace, an interval ends at each. Otherwise intervals have the requested
 * length, from the first mark or the earliest window (without windows: the earliest slice) on. On
 * each socket an interval ends with the last window that ends in it; it is closed once a mark has
 * been read that is not earlier, or an event that ends 2 s later.
 */
struct trace_sink replay_sink(struct replay *r);

/**
 * replay_finish() - the trace has ended: close the rest
 *
 * With marks, the last one is the end: events behind it, when the writer was killed, are incomplete
 * on some CPUs. Without, the last interval ends with the last window or slice or the trace's own
 * end (a mark with only @last), whichever is latest, so that all bytes and all CPU time are
 * reported.
 *
 * Return: 0 or a negative errno with its words in the diag of replay_new().
 */
int replay_finish(struct replay *r);

/**
 * replay_regroup() - rows of another kind from the end of the current interval on
 * @r: made with @regroups; may be in the middle of its events
 * @by: the kind
 *
 * As live_regroup(): books continue where that interval ends, learned intensities are forgotten.
 *
 * Return: 0; -ENOTSUP where intervals do not end at marks of the trace, because later events have
 * been handed on already.
 */
int replay_regroup(struct replay *r, enum row_kind by);

/** replay_intervals() - number of intervals so far */
uint64_t replay_intervals(const struct replay *r);

/**
 * replay_neighbours() - neighbours in all intervals, with @neighbours of the options
 * @r: the replay
 * @ret: release with neighbours_report_free()
 *
 * Return: 0 or a negative errno with its words in the diag of replay_new().
 */
int replay_neighbours(struct replay *r, struct neighbours_report **ret);

/** replay_summary() - reports for all intervals, handed to the output; 0 or a negative errno */
int replay_summary(struct replay *r);

/**
 * replay_check_selection() - was all that the user selected in the trace?
 * @r: the replay
 * @name: of the file, for the problem
 *
 * Return: 0, or -ESRCH with words in the diag of replay_new().
 */
int replay_check_selection(const struct replay *r, const char *name);

#endif
