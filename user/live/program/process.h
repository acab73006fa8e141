/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The process of a program that is a source of counters: `sh -c COMMAND` in a process group of its
 * own, with pipes for its output and an empty input. It never outlives us, however we end: a guard
 * process between us and it waits for the end of a pipe that only we hold, and then ends the whole
 * group. A program that somebody else has started is read at a socket instead, "unix:PATH".
 */
#ifndef LIVE_PROGRAM_PROCESS_H
#define LIVE_PROGRAM_PROCESS_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "base/diag.h"

/**
 * struct program_process - a program that is running or ending
 * @guard: its guard process, 0 for none
 * @status: of the last one that ended, 128 and more for a signal
 * @out, @err: its output, and its errors; nonblocking
 * @life: while it is open the program may run
 */
struct program_process {
	pid_t guard;
	int status;
	int out;
	int err;
	int life;
};
#define PROGRAM_PROCESS_NONE ((struct program_process){ .out = -1, .err = -1, .life = -1 })

/* Before the path of a socket, in place of a command */
#define PROGRAM_SOCKET	     "unix:"

/** program_process_start() - start a command, or connect to a socket; 0 or a negative errno, with words in @d */
int program_process_start(const char *command, struct diag *d, struct program_process *ret);

/**
 * program_process_end() - end it: SIGTERM, and SIGKILL a second later
 *
 * Returns at once, and may be called again. Its later output is not read.
 */
void program_process_end(struct program_process *p);

/**
 * program_process_ended() - has its whole group ended?
 * @p: the process
 * @wait: wait for that; only behind program_process_end(). One that the kernel holds, in a driver
 *	that hangs, is left to its guard after 3 s
 * @ret_text: gets its end, "ended with status 1"
 * @size: of @ret_text
 */
bool program_process_ended(struct program_process *p, bool wait, char *ret_text, size_t size);

#endif
