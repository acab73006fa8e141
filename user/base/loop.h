/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The event loop of all commands: waits for any number of descriptors and times, and runs what is
 * due. It knows no names: whoever has something to wait for adds a source.
 *
 * One thread, no locks: a source runs to its end before the next one does. While it runs nobody
 * empties the ring of the kernel's records, so it may take some milliseconds and not a second.
 *
 * A live screen would be three sources, added before the others so that a key is never late:
 *
 * - keys: @fd is the terminal (raw, O_NONBLOCK); @run reads until EAGAIN. At its end (read()
 *   returns 0) @fd has to say -1 from then on: a closed terminal is readable for ever.
 * - the size: SIGWINCH is blocked and @fd is a signalfd of it, beside that of signals_open();
 *   @run asks for the size and notes that the screen is old. A child must get the mask of before.
 * - the picture: @when says when it is old, but not more often than so many times a second; @run
 *   draws it. It is a function of the last report, so nothing else waits for it.
 */
#ifndef BASE_LOOP_H
#define BASE_LOOP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/diag.h"

/**
 * struct loop_source - something to wait for: a descriptor, a time or both
 * @fd: the descriptor that is readable when there is something; -1: none now. NULL: never one
 * @when: when it is due (CLOCK_MONOTONIC), UINT64_MAX: not so far. NULL: never by time
 * @run: does what is due, and bears that there is nothing. 0, or a negative errno with the problem
 *	in @d, which ends the loop
 *
 * @fd and @when are asked before each sleep, @when also after it: what they say may change at any
 * time, and there is no call to tell the loop.
 */
struct loop_source {
	int (*fd)(void *arg);
	uint64_t (*when)(void *arg);
	int (*run)(void *arg, struct diag *d);
};

struct pollfd;

/**
 * struct loop - what is waited for
 * @sources: in the order in which they were added
 * @args: handed to their functions
 * @fds: for the sleep
 * @nr: number of these
 * @cap: room for so many
 * @ended: loop_end() was called
 *
 * All zero to begin with.
 */
struct loop {
	const struct loop_source **sources;
	void **args;
	struct pollfd *fds;
	size_t nr;
	size_t cap;
	bool ended;
};

/**
 * loop_add() - wait for one more
 * @l: the loop; it may be running
 * @source: must outlive @l
 * @arg: handed to its functions
 * @d: gets the problem
 *
 * Sources that are due together run in the order in which they were added, each once; then the
 * others are looked at again. So none can keep another one waiting for longer than its own run.
 *
 * Return: 0 or -ENOMEM.
 */
int loop_add(struct loop *l, const struct loop_source *source, void *arg, struct diag *d);

/**
 * loop_run() - sleep and run sources until one calls loop_end() or fails
 *
 * Return: 0 or a negative errno.
 */
int loop_run(struct loop *l, struct diag *d);

/** loop_end() - end loop_run(): no source runs after the one that says so */
void loop_end(struct loop *l);

/** loop_free() - release */
void loop_free(struct loop *l);

#endif
