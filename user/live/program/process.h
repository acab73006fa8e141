/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The process of a program that is a source of counters: `sh -c COMMAND` in a process group of its
 * own, with pipes for what it prints and an empty input. It is gone after any end of ours: between
 * us and it stands a guard, a process that waits for the end of a pipe that only we hold, and then
 * ends the whole group.
 */
#ifndef LIVE_PROGRAM_PROCESS_H
#define LIVE_PROGRAM_PROCESS_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "base/diag.h"

/**
 * struct program_process - a program that runs, or is about to end
 * @guard: process that waits for it, 0 for none
 * @out, @err: what it prints, and its errors; they do not block
 * @life: while it is open the program may run
 */
struct program_process {
	pid_t guard;
	int out;
	int err;
	int life;
};
#define PROGRAM_PROCESS_NONE ((struct program_process){ 0, -1, -1, -1 })

/** program_process_start() - start a command; 0 or a negative errno, with words in @d */
int program_process_start(const char *command, struct diag *d, struct program_process *ret);

/**
 * program_process_end() - have it ended: SIGTERM, and SIGKILL a second later
 *
 * Returns at once, and may be called again. What it prints from now on nobody reads.
 */
void program_process_end(struct program_process *p);

/**
 * program_process_ended() - has it ended, with all of its group?
 * @p: the process
 * @wait: wait for that; only behind program_process_end()
 * @ret_text: gets how, "ended with status 1"
 * @size: of @ret_text
 */
bool program_process_ended(struct program_process *p, bool wait, char *ret_text, size_t size);

#endif
