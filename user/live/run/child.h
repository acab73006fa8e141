/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The COMMAND that is run and followed. */
#ifndef LIVE_RUN_CHILD_H
#define LIVE_RUN_CHILD_H

#include <signal.h>
#include <sys/types.h>

#include "base/diag.h"

/**
 * struct child - a process that is waiting to start, running, or ended
 * @pid: its id, 0 = none
 * @pidfd: readable when it has ended
 * @gate: closing it lets the process start
 * @error: readable end of a pipe that tells why the program could not be run
 */
struct child {
	pid_t pid;
	int pidfd;
	int gate;
	int error;
};
#define CHILD_NONE ((struct child){ .pidfd = -1, .gate = -1, .error = -1 })

/**
 * child_find() - is there such a program?
 * @name: as execvp() takes it
 * @d: gets the problem
 *
 * In doubt there is: child_start() judges. Return: 0, -ENOENT or -EACCES.
 */
int child_find(const char *name, struct diag *d);

/**
 * child_prepare() - make the process; it waits before it runs the program
 * @argv: program and arguments
 * @mask: signal mask the program gets
 * @d: gets the problem
 * @ret: end it with child_end()
 *
 * Return: 0 or a negative errno.
 */
int child_prepare(char **argv, const sigset_t *mask, struct diag *d, struct child *ret);

/**
 * child_start() - let the program run
 * @c: a prepared child
 * @name: of the program, for the problem
 * @d: gets the problem
 *
 * Return: 0; -ENOENT, -EACCES or another errno of execvp().
 */
int child_start(struct child *c, const char *name, struct diag *d);

/**
 * child_status() - exit status of a child that has ended, in the manner of a shell
 *
 * Return: 0 to 255, 128 + signal when it was killed; a negative errno.
 */
int child_status(struct child *c);

/** child_end() - release; a child that has not been started ends without running */
void child_end(struct child *c);

#endif
