/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Tasks of a live run: their numbers in our pid namespace and on the machine, and names that no record told. */
#ifndef LIVE_LOOKUP_LIVE_TASKS_H
#define LIVE_LOOKUP_LIVE_TASKS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "platform/bpf/ledger.h"
#include "trace.h"

/**
 * struct live_tasks - which numbers are which
 * @machine: all have those of the machine; otherwise we are in a pid namespace of our own
 * @named, @nr_named: processes that the user named, by their numbers here, and that had not ended
 */
struct live_tasks {
	bool machine;
	pid_t *named;
	size_t nr_named;
};

/** live_tasks_open() - find out; @proc: "/proc" */
void live_tasks_open(const char *proc, struct live_tasks *ret);

/** live_tasks_free() - what live_tasks_remember() took */
void live_tasks_free(struct live_tasks *t);

/** live_tasks_remember() - the user named this process; 0 or -ENOMEM */
int live_tasks_remember(struct live_tasks *t, pid_t pid);

/**
 * live_tasks_some_ended() - has one that the user named ended since this was asked last?
 *
 * Its record of exit tells so, too. But if that were missing without being counted as lost, a run
 * would wait for its end for ever.
 */
bool live_tasks_some_ended(struct live_tasks *t);

/** live_tasks_note() - what a user must know, "" for nothing */
const char *live_tasks_note(const struct live_tasks *t, const struct ledger *l);

/**
 * live_tasks_number() - the machine's number of a process
 * @t: of live_tasks_open()
 * @l: lists the tasks of our namespace, if it is not the machine's
 * @pid: as a user gave it, or fork()
 * @ret: 0 when there is none
 *
 * Return: 0 or a negative errno.
 */
int live_tasks_number(const struct live_tasks *t, struct ledger *l, pid_t pid, uint32_t *ret);

/**
 * live_tasks_name() - tell the name of a task whose record was lost, or that the kernel's list left out
 * @t: of live_tasks_open()
 * @l: the ledger
 * @sink: as in ledger_task(), which hands on to @out
 * @out: its function task() is called
 * @pid, @tgid, @start_ns: which
 *
 * It still has a name in /proc if it lives. The pid cannot have been used again meanwhile: the start
 * of a new process would have been recorded. In a pid namespace of our own, that name would be
 * another one's: there the kernel is asked, if it can be.
 *
 * Return: 0, also without a name, or an error of @out.
 */
int live_tasks_name(const struct live_tasks *t, struct ledger *l, const struct ledger_sink *sink,
		    const struct trace_sink *out, uint32_t pid, uint32_t tgid, uint64_t start_ns);

/**
 * live_tasks_list() - records about tasks were lost: read the list again
 * @t: of live_tasks_open()
 * @l: the ledger
 * @sink: as in ledger_tasks(), which hands on to @out
 * @out: is told what is going on
 *
 * In a pid namespace of our own the list is not of all tasks: those that are not in it may live.
 */
int live_tasks_list(const struct live_tasks *t, struct ledger *l, const struct ledger_sink *sink,
		    const struct trace_sink *out);

#endif
