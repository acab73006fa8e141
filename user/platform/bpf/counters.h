/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Which uncore events are counted, and their descriptors. An event is opened once per PMU, on the
 * PMU's active CPU; trying shows which of them fit into the hardware at the same time.
 */
#ifndef PLATFORM_BPF_COUNTERS_H
#define PLATFORM_BPF_COUNTERS_H

#include "base/diag.h"
#include "model.h"
#include "platform/pmu/perf_events.h"
#include "platform/pmu/pmu.h"
#include "tables/counter_rows.h"

/**
 * struct counted_event - an event that is open on a PMU
 * @row: what it is
 * @attr: how it is opened
 * @fd: its descriptor, counting; -1 when it is closed
 * @counter: index of the counter that its bytes belong to
 * @scale: bytes for its counts
 * @turn: the PMU's group that it is in; 0 when the PMU has one
 */
struct counted_event {
	const struct counter_row *row;
	struct perf_event_attr attr;
	int fd;
	uint32_t counter;
	struct bytes_ratio scale;
	uint32_t turn;
};

/**
 * struct counted_pmu - a PMU that counts memory traffic
 * @pmu: not owned
 * @cpu: CPU its events are on now
 * @socket: index of its socket
 * @pinned: the events never leave the hardware
 * @first: index of its first event; they follow each other
 * @nr: number of events
 */
struct counted_pmu {
	const struct pmu *pmu;
	int cpu;
	uint32_t socket;
	bool pinned;
	uint32_t first;
	uint32_t nr;
};

/**
 * struct counted_socket - a socket with such PMUs
 * @id: its number
 * @cpus: its CPUs, NULL: those of the package with this number; not owned
 */
struct counted_socket {
	int32_t id;
	const struct cpulist *cpus;
};

/**
 * struct counter_reader - all events that are read on one CPU
 * @cpu: the CPU
 * @index: its number in the ledger
 * @first: index of its first event among those of all readers
 * @events: indexes of its events, without those that are closed
 * @fds: their descriptors, not owned
 * @nr: number of @events
 * @capacity: the same including closed events
 */
struct counter_reader {
	int cpu;
	uint32_t index;
	uint32_t first;
	uint32_t *events;
	int *fds;
	uint32_t nr;
	uint32_t capacity;
};

/**
 * struct counters - all counters of a run
 * @ops: the kernel
 * @items: the counters; each is the sum of the events with its index
 * @nr: number of counters
 * @groups: counters that are booked together
 * @events, @pmus, @sockets, @readers: see there
 * @soft_files: previous limit of open files; see open_files_allow()
 * @max_readers: bound of the readers' indexes, however CPUs come and go
 * @no_energy: why a PMU of energy could not be opened, "" if none was left out
 */
struct counters {
	const struct perf_ops *ops;
	struct counter *items;
	size_t nr, cap;
	struct group *groups;
	size_t nr_groups, cap_groups;
	struct counted_event *events;
	size_t nr_events, cap_events;
	struct counted_pmu *pmus;
	size_t nr_pmus, cap_pmus;
	struct counted_socket *sockets;
	size_t nr_sockets, cap_sockets;
	struct counter_reader *readers;
	size_t nr_readers, cap_readers;
	uint64_t soft_files;
	uint32_t max_readers;
	char no_energy[sizeof(((struct diag *)NULL)->what) + 32];
};

/**
 * counters_open() - open the events of every PMU that counts memory traffic
 * @ops: the kernel, &perf_kernel outside of tests
 * @pmus: all PMUs; must outlive @ret
 * @set: which rows of counter_rows
 * @d: gets the problem
 * @ret: release with counters_close(); everything counts from here on
 *
 * All events of a PMU go into one group, pinned, so that a window is never a guess. If the hardware
 * has fewer counters, or another user holds them, they are split into groups that take turns, each
 * with its own running time.
 *
 * A socket may have many PMUs of a family, such as one for each memory channel. Where they are read
 * on the same CPU, hence at the same time, a counter is their sum. A PMU whose events take turns
 * has its own counters, because its counts are scaled by its own times.
 *
 * Beside memory traffic an energy PMU that cannot be opened is left out, and @ret->no_energy says
 * why. Where no PMU counts memory traffic, energy is counted alone.
 *
 * Return: 0; -ENODEV when there is no such PMU; -EACCES with the setting or
 * capability that is missing; another negative errno.
 */
int counters_open(const struct perf_ops *ops, const struct pmu_list *pmus, unsigned int set,
		  struct diag *d, struct counters *ret);

/**
 * counters_reopen() - open the events of a PMU once more, in the same groups
 * @c: the counters
 * @pmu: index in @c->pmus; its @cpu says where
 *
 * For events that no longer count or cannot be read. No reader has the old ones now. A group that
 * can no longer be pinned takes turns from now on, unless it is a part of a sum: groups that take
 * turns cannot be added up.
 *
 * Return: 0, or a negative errno: the events are closed then, and a later call may succeed.
 */
int counters_reopen(struct counters *c, size_t pmu);

/** counters_closed() - are the events of a PMU closed, because they could not be opened again? */
bool counters_closed(const struct counters *c, size_t pmu);

/** counters_in_group() - does a PMU count for a group of counters? */
bool counters_in_group(const struct counters *c, size_t pmu, uint32_t group);

/**
 * counters_readers() - assign events to readers; again whenever counted_pmu.cpu has changed, or
 * events were opened or closed. Other readers keep their events and their first index
 * @c: gets counters.readers
 * @cpu_socket: index of the socket of each CPU
 * @nr_cpus: length of @cpu_socket
 * @nr_sockets: number of sockets, also those without counters
 * @d: gets the problem
 *
 * Return: 0, -E2BIG when a CPU would have to read too much, -ENOMEM.
 */
int counters_readers(struct counters *c, const uint32_t *cpu_socket, uint32_t nr_cpus,
		     uint32_t nr_sockets, struct diag *d);

/**
 * counters_groups() - divide the events of a PMU into groups
 * @items: their counters
 * @nr: number of @items
 * @size: events that fit into the hardware at the same time, at least 1
 * @ret_lengths: number of events of each group, one after the other; room for @nr
 *
 * Return: number of groups: 1 when all fit.
 */
size_t counters_groups(const struct counter *items, size_t nr, size_t size, size_t *ret_lengths);

/** counters_close() - close all events; NULL is fine */
void counters_close(struct counters *c);

#endif
