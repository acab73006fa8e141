/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A live run from its start to its end. The caller decides what to do with intervals, reports and
 * recordings.
 */
#ifndef LIVE_RUN_RUN_H
#define LIVE_RUN_RUN_H

#include "live/run/run_loop.h"
#include "live/run/live.h"
#include "run_options.h"

/**
 * struct run - a run
 * @who: name of the command, for messages
 * @args: the user's options
 * @interval: an interval ends now, the last one with @last; calls live_report() or
 *	live_mark(). Returns 0 or a negative errno
 * @news: gets news of a source, in words; NULL: they go to standard error
 * @arg: handed to @interval and @news
 * @live: from run_open() on
 * @run_loop: its loop, and how it ended
 * @drain_ns: when the ring is emptied next
 */
struct run {
	const char *who;
	const struct run_options *args;
	int (*interval)(void *arg, bool last, struct diag *d);
	void (*news)(void *arg, const char *text);
	void *arg;
	struct live *live;
	struct run_loop run_loop;
	uint64_t drain_ns;
};
#define RUN_INIT ((struct run){ .run_loop = RUN_LOOP_INIT })

/** run_open() - live_open(), with signals set up; 0 or a negative errno */
int run_open(struct run *run, const struct live_recorder *recorder, struct diag *d);

/** run_describe() - print restrictions; with -v, also the selection, counters and weights */
void run_describe(const struct run *run);

/**
 * run_loop() - start the command and run to the end of the last interval
 *
 * Return: 0 or a negative errno.
 */
int run_loop(struct run *run, struct diag *d);

/** run_stop() - from here on nothing is left in the kernel */
void run_stop(struct run *run);

/**
 * run_end() - exit status, and release everything
 * @run: stopped or not
 * @err: 0, or the error that ended the run
 * @incomplete: data is missing
 */
int run_end(struct run *run, int err, bool incomplete);

#endif
