/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Core events that relate to a task's memory traffic, by core. Codes and meanings are data;
 * weights.c tries them.
 */
#ifndef TABLES_WEIGHT_ROWS_H
#define TABLES_WEIGHT_ROWS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "tables/cpu_models.h"
#include "tables/families.h"

/* Cores with the same codes share a value. */
enum weight_core {
	WEIGHT_CORE_OLYMPUS,
	WEIGHT_CORE_NEOVERSE_V2,
	WEIGHT_CORE_NEOVERSE, /* of other servers */
	WEIGHT_CORE_INTEL,    /* up to Ice Lake */
	WEIGHT_CORE_INTEL_P,  /* Golden Cove and later */
	WEIGHT_CORE_INTEL_E,  /* efficient cores of servers */
	WEIGHT_CORE_ZEN4,
	WEIGHT_CORE_ZEN5,
	NR_WEIGHT_CORES,
};

enum weight_role {
	WEIGHT_READ,  /* reads from memory */
	WEIGHT_WRITE, /* writes towards memory */
	WEIGHT_OTHER, /* measures something else: only when named by the user */
};

/**
 * struct weight_core_row - a kind of cores
 * @core: also the index of the row
 * @platform: the only chip that has it; PMU_PLATFORM_UNKNOWN when several do
 * @several: some chips' cores lack these events; the kernel's list tells which they have
 * @name: for people
 * @source: source of the numbers that identify it
 */
struct weight_core_row {
	enum weight_core core;
	enum pmu_platform platform;
	bool several;
	const char *name;
	const char *source;
};

/**
 * struct weight_row - a core event
 * @core: core that has it
 * @name: its name, in the kernel's spelling if it has one
 * @code: number of the event; on x86 as in config of struct perf_event_attr
 * @role: its role
 * @rank: order in which "auto" tries the events of a role, 1 first; 0: never
 * @bytes: bytes per count; for reads informative only: proportions matter. 0 when it counts no data
 * @counts: its counts, and what they miss
 * @source: source of the meaning
 */
struct weight_row {
	enum weight_core core;
	const char *name;
	uint64_t code;
	enum weight_role role;
	uint8_t rank;
	uint8_t bytes;
	const char *counts;
	const char *source;
};

extern const struct weight_core_row weight_cores[NR_WEIGHT_CORES];
extern const struct weight_row weight_rows[];
extern const size_t nr_weight_rows;

/**
 * weight_core_find() - the core that a MIDR_EL1 value belongs to
 * @midr: content of regs/identification/midr_el1
 *
 * Return: its row, or NULL when no row fits.
 */
const struct weight_core_row *weight_core_find(uint64_t midr);

/** weight_core_of() - the core of an x86 CPU; NULL when no row fits */
const struct weight_core_row *weight_core_of(const struct cpu_id *id);

/**
 * weight_follows_traffic() - is a core event known to follow memory traffic?
 * @event: its name, in any letter case; its meaning is the same on all cores
 *
 * The intensity of such an event is nearly the same for all programs, which helps before anything
 * was learned; cycles or page faults do not.
 */
bool weight_follows_traffic(const char *event);

/**
 * weight_max_written() - upper bound of bytes written to memory per count
 * @event: name of a core event, in any letter case
 *
 * Lines that leave a core's caches may stay in the next one; but written lines have left them.
 *
 * Return: 0 for events that "auto" does not use for writes: bytes may pass these.
 */
double weight_max_written(const char *event);

/**
 * weight_bytes_read() - bytes read from memory per count
 * @event: name of a core event, in any letter case
 *
 * Return: 0 for events that "auto" does not use for reads.
 */
double weight_bytes_read(const char *event);

#endif
