/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Opening and reading perf_event_open(2) events and groups, shared by all users of counters. */
#ifndef PLATFORM_PMU_PERF_EVENTS_H
#define PLATFORM_PMU_PERF_EVENTS_H

#include <linux/perf_event.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/diag.h"
#include "platform/pmu/pmu.h"

/**
 * struct perf_ops - the kernel's side; tests bring a kernel of their own
 * @open: perf_event_open(2) with close-on-exec; a descriptor or a negative errno
 * @read: read(2) of @nr words; the number of bytes or a negative errno
 * @enable: start an event and its siblings; 0 or a negative errno
 * @disable: stop a group, by its leader alone; 0 or a negative errno
 * @close: close(2)
 * @now: CLOCK_MONOTONIC in nanoseconds
 * @spent: CPU time of the calling thread in nanoseconds
 */
struct perf_ops {
	int (*open)(const struct perf_event_attr *attr, int pid, int cpu, int leader);
	ssize_t (*read)(int fd, uint64_t *words, size_t nr);
	int (*enable)(int leader);
	int (*disable)(int leader);
	void (*close)(int fd);
	uint64_t (*now)(void);
	uint64_t (*spent)(void);
};

/* A reading has the time for which the event was enabled, and the time it counted. */
#define PERF_TIMES (PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING)

/* The real one. */
extern const struct perf_ops perf_kernel;

/**
 * perf_attr() - how an event is opened
 * @type, @config: as in struct perf_event_attr
 * @read_format: PERF_FORMAT_*
 * @ret: the rest of it is zero
 *
 * Return: 0, or -EOPNOTSUPP for a config3, which the headers of this build do not know.
 */
int perf_attr(uint32_t type, const struct pmu_config *config, uint64_t read_format,
	      struct perf_event_attr *ret);

/**
 * perf_group_open() - open a group on a CPU, disabled
 * @ops: the kernel
 * @attrs: the events, the leader first
 * @nr: number of events, at least 1
 * @cpu: where
 * @pinned: the group must never leave the hardware
 * @fds: gets as many descriptors as are returned
 *
 * Return: the number of events that fit: a sibling for which no counter is left is
 * refused with EINVAL; or the negative errno of any other problem, with nothing open.
 */
int perf_group_open(const struct perf_ops *ops, const struct perf_event_attr *attrs, size_t nr,
		    int cpu, bool pinned, int *fds);

/**
 * perf_events_close() - close the descriptors that are not negative, last one first
 *
 * Siblings go before their leader: without it they would go on as single events.
 */
void perf_events_close(const struct perf_ops *ops, int *fds, size_t nr);

/** counters_rights_help() - the remedy for an event that may not be opened */
void counters_rights_help(struct diag *d);

#endif
