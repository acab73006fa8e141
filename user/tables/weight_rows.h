/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What core events say about a task's memory traffic, by core. Codes and meanings
 * are data; trying them is the business of weights.c.
 */
#ifndef TABLES_WEIGHT_ROWS_H
#define TABLES_WEIGHT_ROWS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "tables/cpu_models.h"
#include "tables/families.h"

/* Cores with the same codes are one. */
enum weight_core {
	WEIGHT_CORE_OLYMPUS,
	WEIGHT_CORE_NEOVERSE_V2,
	WEIGHT_CORE_NEOVERSE, /* other servers' */
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
	WEIGHT_OTHER, /* says something else: only for who asks for it by name */
};

/**
 * struct weight_core_row - a kind of cores
 * @core: also the index of the row
 * @platform: chip that has it and no other; PMU_PLATFORM_UNKNOWN when several do
 * @several: chips give their cores these events or not; the kernel's list says which they have
 * @name: for people
 * @source: where the numbers by which it is recognized were taken from
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
 * @name: its name, as the kernel spells those that it knows
 * @code: number of the event; on x86 as in config of struct perf_event_attr
 * @role: what it stands for
 * @rank: order in which "auto" tries the events of a role, 1 first; 0: never
 * @bytes: moved per count; of reads for people only: proportions matter. 0 when it counts no data
 * @counts: what it counts and what it misses
 * @source: where the meaning is written down
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
 * Return: its row, or NULL when it is none of ours.
 */
const struct weight_core_row *weight_core_find(uint64_t midr);

/** weight_core_of() - the core of an x86 CPU; NULL when it is none of ours */
const struct weight_core_row *weight_core_of(const struct cpu_id *id);

/**
 * weight_follows_traffic() - is a core event known to follow memory traffic?
 * @event: its name, in any case; on all cores it means the same
 *
 * The intensity of such an event is nearly the same for all programs, which says a lot
 * before anything was learned; cycles or page faults say nothing.
 */
bool weight_follows_traffic(const char *event);

/**
 * weight_most_written() - bytes that are written to memory for a count, at most
 * @event: name of a core event, in any case
 *
 * What leaves the caches of a core may stay in the next one; but what is written has left them.
 *
 * Return: 0 for events that "auto" does not try for writes: bytes may pass these.
 */
double weight_most_written(const char *event);

/**
 * weight_bytes_read() - bytes that are read from memory for a count
 * @event: name of a core event, in any case
 *
 * Return: 0 for events that "auto" does not try for reads.
 */
double weight_bytes_read(const char *event);

#endif
