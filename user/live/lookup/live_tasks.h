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
 * struct live_tasks - mapping of task numbers
 * @machine: our numbers are the machine's; otherwise we are in our own pid namespace
 * @named, @nr_named: processes that the user named, by their numbers here, which have not ended
 */
struct live_tasks {
	bool machine;
	pid_t *named;
	size_t nr_named;
};

/** live_tasks_open() - detect namespaces; @proc: "/proc" */
void live_tasks_open(const char *proc, struct live_tasks *ret);

/** live_tasks_free() - release the memory of live_tasks_remember() */
void live_tasks_free(struct live_tasks *t);

/** live_tasks_remember() - note a process that the user named; 0 or -ENOMEM */
int live_tasks_remember(struct live_tasks *t, pid_t pid);

/**
 * live_tasks_some_ended() - has a process that the user named ended since the last call?
 *
 * Its exit record tells so, too. But if that were missing without being counted as lost, a run
 * would wait for ever.
 */
bool live_tasks_some_ended(struct live_tasks *t);

/** live_tasks_note() - a note for users, "" for none */
const char *live_tasks_note(const struct live_tasks *t, const struct ledger *l);

/**
 * live_tasks_number() - the machine's number of a process
 * @t: of live_tasks_open()
 * @l: lists the tasks of our namespace, if it is not the machine's
 * @pid: from the user, or fork()
 * @ret: 0 when there is none
 *
 * Return: 0 or a negative errno.
 */
int live_tasks_number(const struct live_tasks *t, struct ledger *l, pid_t pid, uint32_t *ret);

/**
 * live_tasks_name() - name a task whose record was lost, or that the kernel's list lacks
 * @t: of live_tasks_open()
 * @l: the ledger
 * @sink: as in ledger_task(), which hands on to @out
 * @out: its function task() is called
 * @pid, @tgid, @start_ns: the task
 *
 * It still has a name in /proc if it lives. The pid cannot have been reused meanwhile: the start of
 * a new process would have been recorded. In our own pid namespace that name would be a different
 * task's: there the kernel is asked, if possible.
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
 * @out: gets the events
 *
 * In our own pid namespace the list is incomplete: tasks that are not in it may live.
 */
int live_tasks_list(const struct live_tasks *t, struct ledger *l, const struct ledger_sink *sink,
		    const struct trace_sink *out);

#endif
