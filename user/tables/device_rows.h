/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The events that count the traffic of a single device, as rows of meaning. Encoding and filters
 * are up to sysfs.
 */
#ifndef TABLES_DEVICE_ROWS_H
#define TABLES_DEVICE_ROWS_H

#include "model.h"
#include "tables/families.h"

/* Parts that are counted of a device, as bits: the higher, the earlier it is dropped. */
enum device_part {
	DEVICE_BYTES = 1,
	DEVICE_READS = 2,   /* requests */
	DEVICE_LATENCY = 4, /* with DEVICE_READS */
	DEVICE_WRITES = 8,  /* requests */
};
#define DEVICE_ALL_PARTS (DEVICE_BYTES | DEVICE_READS | DEVICE_LATENCY | DEVICE_WRITES)

/* When a row is used, as bits. */
#define DEVICE_SUMS	 1u
#define DEVICE_SPLIT	 2u /* bytes by destination */

/**
 * struct device_row - an event of a device
 * @kind: PMU family
 * @use: for sums, by destination, or both
 * @part: the part it serves
 * @direction, @destination: of the bytes; bytes of one direction add up
 * @event: name in sysfs
 * @filter: the destination's, "" for none
 * @source: source of the meaning
 */
struct device_row {
	enum pmu_kind kind;
	unsigned int use;
	enum device_part part;
	enum direction direction;
	enum destination destination;
	const char *event;
	const char *filter;
	const char *source;
};

extern const struct device_row device_rows[];
extern const size_t nr_device_rows;

#endif
