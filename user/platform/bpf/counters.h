/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Which uncore events are counted, and their descriptors. An event is opened once
 * per PMU, on the PMU's active CPU; which of them fit into the hardware at the same
 * time is found out by trying.
 */
#ifndef PLATFORM_COUNTERS_H
#define PLATFORM_COUNTERS_H

#include "base/diag.h"
#include "model.h"
#include "platform/pmu/perf_events.h"
#include "platform/pmu/pmu.h"
#include "tables/counter_rows.h"

/**
 * struct socket_counters - a socket with a PMU that counts its memory traffic
 * @id: number of the socket
 * @pmu: not owned
 * @cpu: CPU the events are open on
 * @pinned: the events never leave the hardware
 * @first: index of its first counter; they follow each other
 * @nr: number of counters
 */
struct socket_counters {
	int32_t id;
	const struct pmu *pmu;
	int cpu;
	bool pinned;
	uint32_t first;
	uint32_t nr;
};

/**
 * struct counters - all counters of a run
 * @ops: the kernel
 * @items: what they are; @attrs how they are opened; @fds their descriptors, counting, -1 for
 *	one that is closed; @scales bytes per count
 * @nr: number of counters
 */
struct counters {
	const struct perf_ops *ops;
	struct counter *items;
	struct perf_event_attr *attrs;
	int *fds;
	uint32_t *scales;
	size_t nr, cap;
	struct group *groups;
	size_t nr_groups, cap_groups;
	struct socket_counters *sockets;
	size_t nr_sockets, cap_sockets;
};

/**
 * counters_open() - open the events of every socket that has a PMU for memory traffic
 * @ops: the kernel, &perf_kernel outside of tests
 * @pmus: all PMUs; must outlive @ret
 * @set: which rows of counter_rows
 * @d: gets the problem
 * @ret: release with counters_close(); everything counts from here on
 *
 * All events of a PMU go into one group, pinned, so that a window is never a
 * guess. If the hardware has fewer counters, or someone else holds them, they are
 * split into groups that take turns, each with its own running time.
 *
 * Return: 0; -ENODEV when there is no such PMU; -EACCES with the setting or
 * capability that is missing; another negative errno.
 */
int counters_open(const struct perf_ops *ops, const struct pmu_list *pmus, unsigned int set,
		  struct diag *d, struct counters *ret);

/**
 * counters_reopen() - open the events of a socket once more, in the same groups
 * @c: the counters
 * @socket: index in @c->sockets; its @cpu says where
 *
 * For events that do not count or cannot be read any more. Nobody reads the old ones now. A group
 * that cannot be pinned any more takes turns from now on.
 *
 * Return: 0, or a negative errno: the events are closed then, and another call may do better.
 */
int counters_reopen(struct counters *c, size_t socket);

/**
 * counters_groups() - divide the events of a PMU into groups
 * @items: what they count
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
