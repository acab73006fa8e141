/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The latencies that can be measured, as rows of meaning. Whether a PMU has the events, and their
 * encoding, is up to sysfs.
 */
#ifndef TABLES_LATENCY_ROWS_H
#define TABLES_LATENCY_ROWS_H

#include "model.h"
#include "tables/families.h"

/* The event that all latencies of a PMU share. */
#define LATENCY_CYCLES "cycles"

/**
 * struct latency_row - requests of a kind, and the events for their latency
 * @kind: PMU family
 * @peer: only when the link leads to this: "gpu", "cpu" or "cxlmem"; NULL: any
 * @prefix: begin of the probe's name, before the number of the socket
 * @suffix: the rest of the name
 * @title: see struct probe
 * @outstanding: event that adds up requests under way each cycle; "<s>" stands for the
 *	number of the PMU's socket
 * @requests: event that counts them
 * @direction, @destination, @by_tasks: see struct probe
 * @source: source of the meaning
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

/* A PMU's most important rows first: the last ones are dropped when counters are scarce. */
extern const struct latency_row latency_rows[];
extern const size_t nr_latency_rows;

#endif
