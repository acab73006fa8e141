/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The kernel side: loads the BPF programs, starts and stops them, and hands their records on.
 * Nothing is pinned: everything lives as long as this process's descriptors, so nothing stays
 * behind however the process ends.
 */
#ifndef PLATFORM_BPF_LEDGER_H
#define PLATFORM_BPF_LEDGER_H

#include <linux/types.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/cpulist.h"
#include "base/diag.h"
#include "model.h"
#include "records.h"

/**
 * struct ledger_options - how the ledger is kept
 * @by_thread: slots are threads instead of processes
 * @cpu_socket: index of the socket of each possible CPU, or LEDGER_NO_SOCKET
 * @nr_cpus: number of possible CPUs
 * @nr_readers: bound of the indexes of readers, at least the number of sockets; 0 is 1
 * @nr_events: events of all readers
 * @nr_weights: core events to read at each switch, at most LEDGER_MAX_WEIGHTS; see
 *	ledger_weights()
 * @io: also note I/O of devices, see ledger_io_disk(). Without it none of these programs is loaded
 * @v1_controller: its cgroups stand in for those of the v2 tree, "" or NULL for none
 * @v1_number: its number in ids of cgroups
 * @tick: windows are closed at the ticks of CPUs without a switch, see ledger_tick_missing()
 * @quiet: but not on these CPUs; NULL for none
 * @own_pids: we are in a pid namespace of our own, see ledger_task()
 * @cgroup_mount: where the cgroup v2 tree is mounted, "" or NULL for nowhere: packets received
 *	are not noted then. For @io only
 * @log: receives libbpf's messages, NULL for none
 */
struct ledger_options {
	bool by_thread;
	const uint32_t *cpu_socket;
	uint32_t nr_cpus;
	uint32_t nr_readers;
	uint32_t nr_events;
	uint32_t nr_weights;
	bool io;
	const char *v1_controller;
	uint32_t v1_number;
	bool tick;
	const struct cpulist *quiet;
	bool own_pids;
	const char *cgroup_mount;
	void (*log)(const char *text);
};

/**
 * struct ledger_sink - where records go
 *
 * Records are valid during the call only. A record whose size or contents are
 * impossible is counted in ledger_losses.bad and not handed on.
 *
 * @slices gets the weights of the slots too, slot by slot, or NULL when there are none.
 */
struct ledger_sink {
	void (*slices)(void *arg, const struct ledger_slices *r, const struct ledger_weights *w);
	void (*window)(void *arg, const struct ledger_window *r);
	void (*task)(void *arg, const struct ledger_task *r);
	void (*cgroup)(void *arg, const struct ledger_cgroup *r);
	void (*io)(void *arg, const struct ledger_io *r);
	void *arg;
};

/**
 * struct ledger_losses - running totals since the start
 * @kept_flushes: slices that waited because the ring buffer was full, and flushes whose records were
 *	behind one that was not finished in time
 * @tasks, @cgroups, @windows: records that did not fit
 * @unseen: context switches that happened without our program being called
 * @weights: slices that were sent without their weights because the ring was full
 * @unowned: counts of the core events in no slot: an unknown task had the CPU, an event did not
 *	count all the time or could not be read, or the weights were lost
 * @io: requests or packets of devices whose bytes could not be noted
 * @bad: records that made no sense
 */
struct ledger_losses {
	uint64_t kept_flushes;
	uint64_t tasks;
	uint64_t cgroups;
	uint64_t windows;
	uint64_t unseen;
	uint64_t weights;
	uint64_t unowned[LEDGER_MAX_WEIGHTS];
	uint64_t io;
	uint64_t bad;
};

/* Running totals of the hook at sched_switch. */
struct ledger_cost {
	uint64_t switches;
	uint64_t timed;
	uint64_t timed_ns;
};

/**
 * struct ledger_ways - running totals: how ledger_flush() and ledger_settle() reached CPUs
 * @asleep: they slept, and were left asleep
 * @interrupted: they were interrupted, or we were on them
 *
 * All other CPUs sent their slots on their own, at a switch or tick.
 */
struct ledger_ways {
	uint64_t asleep;
	uint64_t interrupted;
};

struct ledger;

/**
 * ledger_open() - load the programs; the ledgers do not run yet
 *
 * Device programs do, but they know no device yet. From here on ledger_io_note() tells what this
 * kernel cannot provide for them.
 *
 * @o: options; not needed afterwards
 * @d: gets the problem
 * @ret: free with ledger_free()
 *
 * Return: 0 or a negative errno: -EPERM without the capabilities, -ENOENT without kernel type
 * information, or another error of the kernel.
 */
int ledger_open(const struct ledger_options *o, struct diag *d, struct ledger **ret);

/** ledger_free() - stop and unload everything; NULL is fine */
void ledger_free(struct ledger *l);

/** ledger_tick_missing() - why @tick is not available, "" if it is; one line */
const char *ledger_tick_missing(const struct ledger *l);

/**
 * ledger_weights() - set which core event is read on which CPU
 * @l: the ledger, not attached yet
 * @event: below ledger_options.nr_weights
 * @fds_by_cpu: the event on each possible CPU, counting; -1 where there is none: tasks
 *	have no weights there. May be closed afterwards
 * @d: gets the problem
 *
 * A CPU's events end when it goes offline: see ledger_weights_stand_still().
 *
 * Return: 0 or a negative errno.
 */
int ledger_weights(struct ledger *l, uint32_t event, const int *fds_by_cpu, struct diag *d);

/**
 * ledger_weights_stand_still() - have the core events of a CPU ended?
 * @l: the ledger, attached
 * @cpu: below the number of possible CPUs
 *
 * Compares with the call before: true if the CPU has switched between tasks meanwhile and one of
 * its events has not moved. Events end when their CPU goes offline.
 */
bool ledger_weights_stand_still(struct ledger *l, uint32_t cpu);

/**
 * ledger_weights_drop() - stop reading the core events of a CPU
 *
 * Books their counts up to now. Return: 0, -ENXIO when the CPU is offline, or another negative
 * errno.
 */
int ledger_weights_drop(struct ledger *l, uint32_t cpu);

/**
 * ledger_weights_put() - set the event of one CPU in an empty place
 * @fd: the event, counting; may be closed afterwards
 *
 * Return: 0 or a negative errno.
 */
int ledger_weights_put(struct ledger *l, uint32_t event, uint32_t cpu, int fd);

/**
 * ledger_attach() - hook the scheduler; CPUs start to keep their ledgers
 *
 * Return: 0 or a negative errno.
 */
int ledger_attach(struct ledger *l, struct diag *d);

/**
 * struct ledger_reading_plan - the events of a reader
 * @cpu: the PMUs' active CPU, on which no other reader runs
 * @first: index of its first event among those of all readers; readers do not overlap
 * @fds: the events, in the order of the window's readings; may be closed afterwards
 * @nr: number of events, at most LEDGER_MAX_EVENTS
 * @period_ns: time between two windows
 */
struct ledger_reading_plan {
	int cpu;
	uint32_t first;
	const int *fds;
	uint32_t nr;
	uint64_t period_ns;
};

/**
 * ledger_reader_start() - read events on a CPU periodically
 * @l: the ledger
 * @reader: index below ledger_options.nr_readers: that of the CPU's socket for the first
 *	reader on a socket
 * @p: its events
 * @d: gets the problem
 *
 * Called again, it moves the reader to another CPU or to other events.
 *
 * Return: 0 or a negative errno.
 */
int ledger_reader_start(struct ledger *l, uint32_t reader, const struct ledger_reading_plan *p,
			struct diag *d);

/**
 * ledger_reader_stop() - stop a reader and release its events
 *
 * Its records are in the ring when this returns. ledger_reader_start() starts it again.
 */
void ledger_reader_stop(struct ledger *l, uint32_t reader);

/**
 * ledger_window_now() - close a window of a reader at once
 *
 * Return: 0, -ENXIO when the reader's CPU is offline, another negative errno.
 */
int ledger_window_now(struct ledger *l, uint32_t reader);

/**
 * ledger_io_disk() - assign a disk's requests to a device
 * @l: made with the option @io
 * @name: kernel name of the disk, "nvme0n1" (or of a hidden path, "nvme0c0n1"); not of a partition
 * @device: index below LEDGER_MAX_DEVICES, or LEDGER_NO_DEVICE to stop
 *
 * May be called at any time. Return: 0 or a negative errno.
 */
int ledger_io_disk(struct ledger *l, const char *name, uint32_t device);

/**
 * ledger_io_interface() - assign a network interface's packets to a device
 * @l: made with the option @io
 * @ifindex: of our network namespace
 * @stacked: made of other interfaces (a VLAN): received packets have its name, and the interface
 *	below it sends its packets again and notes them
 * @device: as above
 *
 * Return: 0 or a negative errno.
 */
int ledger_io_interface(struct ledger *l, uint32_t ifindex, bool stacked, uint32_t device);

/** ledger_io_noted() - which requests of a device of this kind are noted, after ledger_open() */
enum io_noted ledger_io_noted(const struct ledger *l, enum device_kind kind);

/** ledger_io_note() - missing parts of @io and why, "" for none; one line */
const char *ledger_io_note(const struct ledger *l);

/**
 * ledger_mark() - end a window of a socket without a reader
 *
 * CPU time before and after @now will be in different slots. Nothing happens when
 * @socket is out of range.
 */
void ledger_mark(struct ledger *l, uint32_t socket, uint64_t now);

/** ledger_cpu_runs() - has a CPU switched since it came online, as far as is known? */
bool ledger_cpu_runs(const struct ledger *l, uint32_t cpu);

/** ledger_cpu_socket() - the socket of a CPU is known now: from its next switch on it has windows */
void ledger_cpu_socket(struct ledger *l, uint32_t cpu, uint32_t socket);

/** ledger_online() - CPUs online at the last flush, or known to have run since; empty: unknown */
const struct cpulist *ledger_online(const struct ledger *l);

/**
 * ledger_flush() - get all CPU time up to the end of the last window, or up to now
 *
 * Up to now on sockets where no window has ended since the last flush, and for requests of devices.
 * Slots of sleeping or offline CPUs and records in the ring go to @sink directly; take the rest
 * with ledger_settle().
 *
 * Return: 0 or a negative errno.
 */
int ledger_flush(struct ledger *l, const struct ledger_sink *sink);

/**
 * ledger_drain() - hand on all records that are in the ring now
 *
 * Return: 0 or a negative errno.
 */
int ledger_drain(struct ledger *l, const struct ledger_sink *sink);

/**
 * ledger_settle() - ledger_drain() until all records of the last flush have come
 *
 * Busy CPUs send them at their next tick or switch. After a tick and a quarter the late ones are
 * interrupted.
 *
 * An unfinished record holds up all behind it in the ring, for long if its CPU is a virtual one
 * that does not run, or if its task was taken off its CPU. Records still missing after another 0.2
 * s are left for later, and counted in ledger_losses.kept_flushes.
 *
 * Return: 0 or a negative errno.
 */
int ledger_settle(struct ledger *l, const struct ledger_sink *sink);

/** ledger_ways() - how CPUs were reached since the start */
void ledger_ways(const struct ledger *l, struct ledger_ways *ret);

/** ledger_fd() - becomes readable when the ring fills up early; for poll() */
int ledger_fd(const struct ledger *l);

/**
 * ledger_tasks() - hand on every task that exists, as LEDGER_TASK_FORK records
 *
 * Return: 0 or a negative errno.
 */
int ledger_tasks(struct ledger *l, const struct ledger_sink *sink);

/** ledger_finds_tasks() - does ledger_task() work? With the option @own_pids, since Linux 6.2 */
bool ledger_finds_tasks(const struct ledger *l);

/**
 * ledger_task() - hand on one task as a LEDGER_TASK_NAME record, if it exists
 * @l: see ledger_finds_tasks()
 * @pid: its thread id on the machine, also of a task outside of our pid namespace
 * @sink: its function task() is called
 *
 * Return: 0 or a negative errno.
 */
int ledger_task(struct ledger *l, uint32_t pid, const struct ledger_sink *sink);

void ledger_losses(const struct ledger *l, struct ledger_losses *ret);
void ledger_cost(const struct ledger *l, struct ledger_cost *ret);

#endif
