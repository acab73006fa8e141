/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A live run: counters, ledger and engine put together. One struct live per run; course.h drives
 * it, and decides when it reports.
 */
#ifndef LIVE_RUN_LIVE_H
#define LIVE_RUN_LIVE_H

#include <sys/types.h>

#include "base/diag.h"
#include "run_options.h"
#include "live/lookup/live_watch.h"
#include "neighbourhood.h"
#include "trace.h"

struct midrun;
struct live;

/**
 * struct live_recorder - a sink that records the events
 * @open: called once the header is known; @ret gets every event from then on. It
 *	and @header must outlive the run; -ENOSPC and the like end the run
 * @arg: handed to @open
 * @reports: there are reports as well; it may skip events
 */
struct live_recorder {
	int (*open)(void *arg, const struct trace_header *header, struct diag *d,
		    struct trace_sink *ret);
	void *arg;
	bool reports;
};

/**
 * live_open() - load, attach and start counting
 * @args: the user's options; must outlive @ret
 * @recorder: records the events; without reports, unless it requests them. NULL: none
 * @log: receives messages of the BPF library, NULL for none
 * @d: gets the problem
 * @ret: free with live_free()
 *
 * From here on every byte and every nanosecond belongs to the first interval.
 *
 * Return: 0 or a negative errno.
 */
int live_open(const struct run_options *args, const struct live_recorder *recorder,
	      void (*log)(const char *), struct diag *d, struct live **ret);
void live_free(struct live *l);

/**
 * live_follow() - follow a process from now on, with the children it starts
 *
 * Return: 0, -ESRCH when no process has this pid.
 */
int live_follow(struct live *l, pid_t pid, struct diag *d);

/** live_fd() - readable when records wait, or sources have data; for poll() */
int live_fd(const struct live *l);

/** live_next_ns() - when live_drain() has sources or jobs to look at (CLOCK_MONOTONIC) */
uint64_t live_next_ns(const struct live *l);

/**
 * live_drain() - take over waiting records; call it some ten times a second
 *
 * Also runs due work of sources.
 *
 * Return: 0 or a negative errno.
 */
int live_drain(struct live *l, struct diag *d);

/** live_alive() - number of followed processes that have not ended */
size_t live_alive(const struct live *l);

/**
 * live_jobs_changed() - number of jobs whose begin was seen so far, and of those whose end was
 * @l: the run
 * @schedulers: of these only; bit by enum scheduler
 *
 * Updated by live_drain(): close the interval when this grows, so that a job begins with an interval
 * and its end is known at once.
 */
uint64_t live_jobs_changed(const struct live *l, uint32_t schedulers);

/** live_host() - the machine; valid as long as the run */
const struct host_info *live_host(const struct live *l);

/** live_layout() - CPUs, sockets and counters; valid as long as the run */
const struct layout *live_layout(const struct live *l);

/**
 * live_mark() - end an interval: afterwards the trace has everything up to now
 * @l: the run
 * @last: the run ends here
 * @d: gets the problem
 * @ret: the mark, which is in the trace already; valid until the next call
 *
 * Return: 0 or a negative errno.
 */
int live_mark(struct live *l, bool last, struct diag *d, struct trace_mark *ret);

/**
 * live_report() - live_mark() and the report of the interval
 * @l: the run
 * @last: the run ends here
 * @d: gets the problem
 * @ret: the report, without a sequence number; release with report_free()
 *
 * Return: 0 or a negative errno.
 */
int live_report(struct live *l, bool last, struct diag *d, struct report **ret);

/**
 * live_regroup() - rows of another kind from the end of the last interval on
 * @l: has reports; called right behind live_report(), with nothing in between
 * @by: the kind. Processes and threads cannot be exchanged: opening the run decides which of them
 *	the kernel records
 * @midrun: has seen all events of the run
 * @d: gets the problem
 *
 * The books of the new rows begin where the last interval ended, so no time and no byte falls
 * between them. Learned intensities of the old rows are dropped: the estimator starts again, and so
 * do live_summary() and live_neighbours().
 *
 * Return: 0; -EINVAL for an impossible kind, -ENOENT for cgroups or jobs where no tree of cgroups
 * is mounted, both with rows as they were; -ENOMEM and other errors end the run.
 */
int live_regroup(struct live *l, enum row_kind by, const struct midrun *midrun, struct diag *d);

/** live_summary() - one report for all intervals so far; 0 or a negative errno */
int live_summary(struct live *l, struct diag *d, struct report **ret);

/** live_neighbours() - neighbours in all intervals, with @neighbours of the options; 0 or a negative errno */
int live_neighbours(struct live *l, struct diag *d, struct neighbours_report **ret);

/** live_neighbours_progress() - as neighbours_progress(): 0 or a negative errno */
int live_neighbours_progress(const struct live *l, struct neighbourhood *ret);

/**
 * struct live_progress - totals so far
 * @events: events of the trace
 * @lost_ns: CPU time whose task could not be noted
 * @lost_weights: records of weights that did not fit: their slices have none
 */
struct live_progress {
	uint64_t events;
	uint64_t lost_ns;
	uint64_t lost_weights;
};
void live_progress(const struct live *l, struct live_progress *ret);

/**
 * live_describe_counters() - a line on the counters of memory, for people
 * @l: the run
 * @ret_text: gets it, "" for none
 * @size: of @ret_text
 */
void live_describe_counters(const struct live *l, char *ret_text, size_t size);

/** live_describe_weights() - the same on how activity of tasks is weighed, and why */
void live_describe_weights(const struct live *l, char *ret_text, size_t size);

/**
 * live_describe_line() - the lines of all sources in order
 * @l: the run
 * @line: its number; 0 is live_describe_counters()
 * @ret_text: gets it
 * @size: of @ret_text
 *
 * Return: false behind the last line.
 */
bool live_describe_line(const struct live *l, size_t line, char *ret_text, size_t size);

/** live_describe() - one line on selection and counters, for people */
void live_describe(const struct live *l, char *ret_text, size_t size);

/** live_missing_job() - requested jobs that are still missing; NULL behind the last one */
const char *live_missing_job(const struct live *l, size_t i);

/** live_note() - notes on namespaces and sources, line by line: NULL behind the last one */
const char *live_note(const struct live *l, size_t i);

/**
 * live_news() - news of sources since the run began, line by line
 * @ret_text: gets the next line
 *
 * Return: false when there is none.
 */
bool live_news(struct live *l, char ret_text[LIVE_WATCH_NEWS_LEN]);

/** live_trouble() - does a source count nothing? @ret_text gets its name and the reason */
bool live_trouble(const struct live *l, char *ret_text, size_t size);

#endif
