/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Which latencies can be measured, as rows of meaning. Whether a PMU has the events, and
 * how they are encoded, is up to sysfs.
 */
#ifndef TABLES_LATENCY_ROWS_H
#define TABLES_LATENCY_ROWS_H

#include "model.h"
#include "tables/families.h"

/* The event that all latencies of a PMU share. */
#define LATENCY_CYCLES "cycles"

/**
 * struct latency_row - requests of a kind, and how long they are under way
 * @kind: PMU family
 * @peer: only when the link leads to this: "gpu", "cpu" or "cxlmem"; NULL: whatever it is
 * @prefix: what the name of the probe begins with, before the number of the socket
 * @suffix: the rest of the name
 * @title: see struct probe
 * @outstanding: event that adds up requests under way each cycle; "<s>" stands for the
 *	number of the PMU's socket
 * @requests: event that counts them
 * @direction, @destination, @by_tasks: see struct probe
 * @source: where the meaning is written down
 */
struct latency_row {
	enum pmu_kind kind;
	const char *peer;
	const char *prefix;
	const char *suffix;
	const char *title;
	const char *outstanding;
	const char *requests;
	enum direction direction;
	enum destination destination;
	bool by_tasks;
	const char *source;
};

/* Those of a PMU the most wanted first: the last ones are given up when counters are scarce. */
extern const struct latency_row latency_rows[];
extern const size_t nr_latency_rows;

#endif
