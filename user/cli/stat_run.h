/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A run of t410trace stat: signals, the command or process, and when something is to be
 * done. What is done is up to the caller.
 */
#ifndef CLI_STAT_RUN_H
#define CLI_STAT_RUN_H

#include <signal.h>

#include "cli/child.h"
#include "cli/stat_args.h"

/**
 * struct stat_run - a run
 * @args: what the user asked for
 * @next_ns: when there is something to do between intervals; UINT64_MAX: never
 * @step: do it
 * @interval: an interval ends now; not called at the end of the run
 * @arg: handed to these; they return 0 or a negative errno
 * @interrupted: the user has pressed Ctrl-C
 * @command_ended: the run ended because the command did
 * @not_started: the command could not be run
 * @child: the command
 */
struct stat_run {
	const struct stat_args *args;
	uint64_t (*next_ns)(void *arg);
	int (*step)(void *arg, struct diag *d);
	int (*interval)(void *arg, struct diag *d);
	void *arg;
	bool interrupted;
	bool command_ended;
	bool not_started;
	struct child child;
	int pidfd; /* of -p */
	int signals;
	sigset_t mask; /* before we blocked anything */
};
#define STAT_RUN_INIT ((struct stat_run){ .child = CHILD_NONE, .pidfd = -1, .signals = -1 })

/**
 * stat_run_open() - take care of signals, make the command's process (it waits), and find
 *	the process to follow
 *
 * Return: 0; -ESRCH when there is no such process; another negative errno.
 */
int stat_run_open(struct stat_run *run, struct diag *d);

/** stat_run_pid() - the process whose core events are counted, 0 = all CPUs */
int stat_run_pid(const struct stat_run *run);

/** stat_run_loop() - let the command run, and go on until there is a reason to end */
int stat_run_loop(struct stat_run *run, struct diag *d);

/**
 * stat_run_close() - release everything
 * @run: opened or not
 * @err: 0, or the error that ended the run
 * @incomplete: data is missing
 *
 * Return: the exit status.
 */
int stat_run_close(struct stat_run *run, int err, bool incomplete);

#endif
