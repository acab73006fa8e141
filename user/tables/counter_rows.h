/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Which events count the memory traffic that workloads own, as rows of meaning. Another
 * platform is other rows. How events and filters are encoded is up to sysfs.
 */
#ifndef TABLES_COUNTER_ROWS_H
#define TABLES_COUNTER_ROWS_H

#include <stdint.h>

#include "model.h"
#include "tables/families.h"

/* Sets of rows that are counted together, as bits. No byte is in two rows of a set. */
#define COUNTERS_SUMS	     1u /* by source and direction */
#define COUNTERS_DESTINATION 2u /* what CPUs cause, by destination as well */
/*
 * Counted elsewhere than the total: at devices, links, or by who asks. It is never added to the
 * total, where the same bytes are already; reports show it beside (part_plan.h), and stat counts it
 * by the row's name.
 */
#define COUNTERS_PARTS	     4u

/**
 * struct bytes_ratio - bytes for a number of counts
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
 * @terms: what @event stands for, written like a file of sysfs, where sysfs has no such
 *	event; NULL where it must have it
 * @sum: rows of a PMU with this name are one counter of this name; NULL: each is its own
 * @filters: as in struct counter; "" for none
 * @source, @direction, @destination: what the bytes are
 * @unit: bytes, or nanojoules: of energy, which has no direction and no destination
 * @scale: bytes (nanojoules) per count; 0: as many as sysfs says
 * @counts: @scale is that of so many counts; 0 is 1
 * @part: what of the socket's traffic it is, of rows in COUNTERS_PARTS and of no others
 * @optional: not every machine has such a destination: without the event there are no
 *	such bytes. Other events must be there
 * @doc: where the meaning is written down
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

/** counter_row_at() - all rows that count: the user's own alone, if there are any; NULL behind them */
const struct counter_row *counter_row_at(size_t i);

/**
 * counter_rows_have() - is there a row of a set for a family, that counts bytes?
 *
 * Return: whether PMUs of this family count memory traffic.
 */
bool counter_rows_have(enum pmu_kind kind, unsigned int set);

/** counter_rows_any() - the same for rows that count anything: also energy */
bool counter_rows_any(enum pmu_kind kind, unsigned int set);

#endif
