/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Processes in /proc: which one a number means, and since when. */
#ifndef GPU_PROCESSES_H
#define GPU_PROCESSES_H

#include <stdbool.h>
#include <stdint.h>

/**
 * struct processes - a view of /proc
 * @proc: descriptor of its folder
 * @slept_ns: CLOCK_BOOTTIME less CLOCK_MONOTONIC: starts of processes include sleep of the machine
 */
struct processes {
	int proc;
	uint64_t slept_ns;
};

/** processes_open() - open /proc, or a copy for tests; 0 or a negative errno */
int processes_open(struct processes *p, const char *proc);

/** processes_look() - begin a look: has the machine slept? */
void processes_look(struct processes *p);

/** processes_initial() - are its numbers those of the machine, not of a container? */
bool processes_initial(const struct processes *p);

/** processes_hidden() - does /proc hide those of others (hidepid)? */
bool processes_hidden(const struct processes *p);

/**
 * processes_start() - when did a process begin?
 * @p: the view
 * @pid: its number
 * @before_ns: if it began later, it is not the one that was asked about
 * @ret_ns: CLOCK_MONOTONIC, to a tick; the same in each look
 *
 * Return: 0; -ESRCH: it is gone; -EEXIST: it began later; another negative errno: it cannot be read.
 */
int processes_start(const struct processes *p, uint32_t pid, uint64_t before_ns, uint64_t *ret_ns);

#endif
