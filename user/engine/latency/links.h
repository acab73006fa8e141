/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Counters that give the weight of a latency for a workload: those of the traffic that
 * waits, by socket, direction and destination.
 */
#ifndef ENGINE_LATENCY_LINKS_H
#define ENGINE_LATENCY_LINKS_H

#include "trace.h"

/* Bytes of @counter weigh the latency of @probe. */
struct link {
	uint32_t probe;
	uint32_t counter;
};

/**
 * struct links - all of them
 * @items: ordered by probe; owned
 * @nr: length of @items
 */
struct links {
	struct link *items;
	size_t nr;
};

/**
 * links_make() - find the counters for each probe of a trace
 * @header: probes and counters
 * @ret: release with links_free()
 *
 * Only probes with @by_tasks have any: counters of the bytes of tasks that go where the
 * probe's requests go. Where no counter tells a destination, those of any serve for
 * memory of the CPUs, where most traffic of most programs goes.
 *
 * Return: 0 or -ENOMEM.
 */
int links_make(const struct trace_header *header, struct links *ret);
void links_free(struct links *l);

/**
 * links_of() - the links of a probe
 * @l: all
 * @probe: index of the probe
 * @ret_nr: how many there are; they follow each other
 *
 * Return: index of the first one.
 */
size_t links_of(const struct links *l, uint32_t probe, size_t *ret_nr);

#endif
