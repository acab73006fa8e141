/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The events that count the memory traffic of workloads, as rows of meaning. Another platform is
 * other rows. Encoding of events and filters is up to sysfs.
 */
#ifndef TABLES_COUNTER_ROWS_H
#define TABLES_COUNTER_ROWS_H

#include <stdint.h>

#include "model.h"
#include "tables/families.h"

/* Sets of rows that are counted together, as bits. No byte is in two rows of a set. */
#define COUNTERS_SUMS	     1u /* by source and direction */
#define COUNTERS_DESTINATION 2u /* traffic that CPUs cause, also by destination */
/*
 * Counted elsewhere than the total: at devices or links, or by requester. Never added to the total,
 * which has these bytes already; reports show it beside (part_plan.h), and stat counts it by the
 * row's name.
 */
#define COUNTERS_PARTS	     4u

/**
 * struct bytes_ratio - bytes per number of counts
 * @bytes: 64
 * @counts: 9, if nine flits of a link carry 64 bytes; 1 for most events
 */
struct bytes_ratio {
	uint32_t bytes;
	uint32_t counts;
};

/**
 * struct counter_row - an event that reports need
 * @kind: PMU family
 * @sets: sets that it is in
 * @event: name in sysfs; "<s>" stands for the number of the PMU's own socket
 * @terms: meaning of @event, written like a file of sysfs, for machines whose sysfs lacks it; NULL
 *	where sysfs must have it
 * @sum: rows of a PMU with this name are one counter of this name; NULL: each is its own
 * @filters: as in struct counter; "" for none
 * @source, @direction, @destination: of the bytes
 * @unit: bytes, or nanojoules for energy, which has no direction and no destination
 * @scale: bytes (nanojoules) per count; 0: take the scale of sysfs
 * @counts: @scale is for this many counts; 0 means 1
 * @part: its part of the socket's traffic, for rows in COUNTERS_PARTS only
 * @optional: some machines lack such a destination: without the event there are no such bytes.
 *	Other events must exist
 * @doc: source of the meaning
 */
struct counter_row {
	enum pmu_kind kind;
	unsigned int sets;
	const char *event;
	const char *terms;
	const char *sum;
	const char *filters;
	enum source source;
	enum direction direction;
	enum destination destination;
	enum unit unit;
	uint32_t scale;
	uint32_t counts;
	enum part_kind part;
	bool optional;
	const char *doc;
};

extern const struct counter_row counter_rows[];
extern const size_t nr_counter_rows;

/** counter_row_at() - all rows in use: only the user's own, if any; NULL behind them */
const struct counter_row *counter_row_at(size_t i);

/**
 * counter_rows_have() - does a family have a row of a set that counts bytes?
 *
 * Return: whether PMUs of this family count memory traffic.
 */
bool counter_rows_have(enum pmu_kind kind, unsigned int set);

/** counter_rows_any() - the same for all rows, including energy */
bool counter_rows_any(enum pmu_kind kind, unsigned int set);

#endif
