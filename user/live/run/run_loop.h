/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The loop of a run: from its start through intervals to a reason to end. Signals, the time and
 * the command are such reasons; work in between comes from the caller's sources (base/loop.h).
 */
#ifndef LIVE_RUN_RUN_LOOP_H
#define LIVE_RUN_RUN_LOOP_H

#include <signal.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/loop.h"
#include "live/run/child.h"
#include "live/run/signals.h"

/**
 * struct run_loop - a run, and how it ended
 * @interval_ns: length of an interval, 0 = no intervals
 * @duration_ns: end after this time, 0 = no limit
 * @interval: an interval ends now; not called at the end of the run. 0 or a negative errno
 * @arg: handed to @interval
 * @hangup: meaning of SIGHUP, set before run_loop_open()
 * @loop: from run_loop_open() on; the caller's sources run before an interval ends. They may also
 *	end
 *	the run by loop_end()
 * @interrupted: the user has pressed Ctrl-C
 * @command_ended: the run ended because the command did
 * @not_started: the command could not be run
 * @child: the command, from child_prepare() on
 * @mask: signals that were blocked before run_loop_open(), for the command
 * @signals: descriptor of signals
 * @next_ns: end of the interval
 * @end_ns: end of the run
 * @ending: a signal has come, and the command gets its time to end
 */
struct run_loop {
	uint64_t interval_ns;
	uint64_t duration_ns;
	int (*interval)(void *arg, struct diag *d);
	void *arg;
	enum hangup hangup;
	struct loop loop;
	bool interrupted;
	bool command_ended;
	bool not_started;
	struct child child;
	sigset_t mask;
	int signals;
	uint64_t next_ns;
	uint64_t end_ns;
	bool ending;
};
#define RUN_LOOP_INIT ((struct run_loop){ .child = CHILD_NONE, .signals = -1 })

/** run_loop_open() - set up signals; 0 or a negative errno */
int run_loop_open(struct run_loop *c, struct diag *d);

/** run_loop_find() - before anything is opened: child_find() of the command, if there is one */
int run_loop_find(struct run_loop *c, char **command, struct diag *d);

/** run_loop_start() - let the prepared command run; @name is for the problem */
int run_loop_start(struct run_loop *c, const char *name, struct diag *d);

/**
 * run_loop_run() - run until there is a reason to end; once
 *
 * When a signal ends the run, the command gets a second to end, too.
 *
 * Return: 0 or a negative errno.
 */
int run_loop_run(struct run_loop *c, struct diag *d);

/**
 * run_loop_close() - release everything
 * @c: opened or not
 * @err: 0, or the error that ended the run
 * @incomplete: data is missing
 *
 * Return: the exit status.
 */
int run_loop_close(struct run_loop *c, int err, bool incomplete);

#endif
