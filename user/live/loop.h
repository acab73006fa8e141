/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * How a run goes on: from its start through intervals to a reason to end. Signals, the time,
 * the command and the workloads are such reasons; what is done meanwhile is up to the caller.
 */
#ifndef CLI_LOOP_H
#define CLI_LOOP_H

#include <signal.h>
#include <stdbool.h>
#include <stdint.h>

#include "live/child.h"

/**
 * struct loop - a run, and how it ended
 * @interval_ns: time between two intervals' ends, 0 = there are none
 * @duration_ns: end after this time, 0 = when something else is a reason
 * @wake_fd: descriptor that also wakes, -1 = none
 * @next_ns: when @step is due (CLOCK_MONOTONIC); UINT64_MAX: never
 * @step: do what is due; called whenever the loop woke, so there may be nothing
 * @over: is there nothing left to follow? NULL: there always is
 * @interval: an interval ends now; not called at the end of the run
 * @arg: handed to these; @step and @interval return 0 or a negative errno
 * @interrupted: the user has pressed Ctrl-C
 * @command_ended: the run ended because the command did
 * @not_started: the command could not be run
 * @child: the command, from child_prepare() on
 * @mask: signals that were blocked before loop_open(), for the command
 */
struct loop {
	uint64_t interval_ns;
	uint64_t duration_ns;
	int wake_fd;
	uint64_t (*next_ns)(void *arg);
	int (*step)(void *arg, struct diag *d);
	bool (*over)(void *arg);
	int (*interval)(void *arg, struct diag *d);
	void *arg;
	bool interrupted;
	bool command_ended;
	bool not_started;
	struct child child;
	sigset_t mask;
	int signals;
};
#define LOOP_INIT ((struct loop){ .wake_fd = -1, .child = CHILD_NONE, .signals = -1 })

/** loop_open() - take care of signals; 0 or a negative errno */
int loop_open(struct loop *l, struct diag *d);

/** loop_start() - let the prepared command run; @name is for the problem */
int loop_start(struct loop *l, const char *name, struct diag *d);

/**
 * loop_run() - go on until there is a reason to end
 *
 * When a signal ends the run, the command gets a second to end, too.
 *
 * Return: 0 or a negative errno.
 */
int loop_run(struct loop *l, struct diag *d);

/**
 * loop_close() - release everything
 * @l: opened or not
 * @err: 0, or the error that ended the run
 * @incomplete: data is missing
 *
 * Return: the exit status.
 */
int loop_close(struct loop *l, int err, bool incomplete);

#endif
