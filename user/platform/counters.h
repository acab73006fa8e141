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
#include "platform/perf_events.h"
#include "platform/pmu.h"

/**
 * struct counter_row - an event that reports need, as a row of meaning
 * @kind: PMU family
 * @event: name in sysfs
 * @filter: format field set to 1
 * @source, @direction: what the bytes are
 * @doc: where the meaning is written down
 */
struct counter_row {
	enum pmu_kind kind;
	const char *event;
	const char *filter;
	enum source source;
	enum direction direction;
	const char *doc;
};

extern const struct counter_row counter_rows[];
extern const size_t nr_counter_rows;

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
 * @items: what they are; @fds their descriptors, counting
 * @nr: number of counters
 */
struct counters {
	struct counter *items;
	int *fds;
	size_t nr, cap;
	struct group *groups;
	size_t nr_groups, cap_groups;
	struct socket_counters *sockets;
	size_t nr_sockets, cap_sockets;
};

/**
 * counters_open() - open the events of every socket that has a UCF PMU
 * @pmus: all PMUs; must outlive @ret
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
int counters_open(const struct pmu_list *pmus, struct diag *d, struct counters *ret);

/** counters_close() - close all events; NULL is fine */
void counters_close(struct counters *c);

#endif
