/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Devices of a report: which of its numbers are theirs.
 *
 * What devices move is another view of traffic that sockets count as well. Their counters
 * therefore never add to those of the sockets.
 */
#ifndef REPORT_DEVICES_H
#define REPORT_DEVICES_H

#include <stdbool.h>
#include <stdint.h>

#include "model.h"

/* What columns of the rows say of devices. */
enum devices_mode {
	DEVICES_NONE,	 /* nothing: the run has no devices */
	DEVICES_IO,	 /* bytes of requests: nothing is counted */
	DEVICES_COUNTED, /* bytes that were counted */
};

/** devices_is_port() - is it a root port, and what it moves that of other devices once more? */
bool devices_is_port(const struct report_device *d);

/**
 * devices_is_shared() - is it a root port whose bytes nobody can divide among its devices?
 * @r: the report
 * @device: index into its devices
 *
 * Return: whether devices are below it and none of them is counted by itself.
 */
bool devices_is_shared(const struct report *r, size_t device);

/** devices_is_guess() - is where it is known by nothing but a rule of thumb? */
bool devices_is_guess(const struct device *d);

/**
 * devices_time_ns() - the time that the bytes of a device are about
 *
 * Return: that of the report, unless its readings were off by more than a twentieth.
 */
uint64_t devices_time_ns(const struct report *r, const struct report_device *d);

/**
 * devices_cover() - how long it counted, and of how much time
 * @r: the report
 * @d: the device
 * @ret_part: of @ret_whole; where its bytes are about more time than the report, only what
 *	of that is the report's
 * @ret_whole: time; more than the device's where it was read for a part of the report only
 *
 * devices_coverage() is the quotient of the two.
 */
void devices_cover(const struct report *r, const struct report_device *d, uint64_t *ret_part,
		   uint64_t *ret_whole);
double devices_coverage(const struct report *r, const struct report_device *d);

/** devices_mode() - the same for all intervals of a run */
enum devices_mode devices_mode(const struct report *r);

/** devices_task_counter() - are its bytes moved by CPUs, so that rows' sums have them? */
bool devices_task_counter(const struct counter *c);

/**
 * devices_pcie_counter() - are its bytes what one device moved, and no other counter's, too?
 *
 * Those of ports are the devices' once more, and so are those to a destination where another
 * counter has all of the direction.
 */
bool devices_pcie_counter(const struct report *r, const struct counter *c);

/** devices_of() - the device with a number as in counters and probes; NULL for 0 or nonsense */
const struct device *devices_of(const struct report *r, uint32_t number);

/** devices_valid() - was any device (no port) counted in this direction? */
bool devices_valid(const struct report *r, enum direction direction);

/**
 * devices_moved() - what devices moved for a row, as columns show it
 * @r: the report
 * @row: the row
 * @direction: as devices see it
 *
 * Return: bytes, of the kind that devices_mode() tells.
 */
uint64_t devices_moved(const struct report *r, const struct report_row *row,
		       enum direction direction);

/* Which shares keep a row from being separable, from the one that says most. */
enum tangle {
	TANGLE_MEMORY,
	TANGLE_DEVICES, /* none of what CPUs moved */
	TANGLE_ENERGY,	/* none of bytes */
};

/** devices_tangle() - of a row that is not separable */
enum tangle devices_tangle(const struct report *r, const struct report_row *row);

/** devices_on_socket() - counted bytes of the devices of a socket (its number) */
uint64_t devices_on_socket(const struct report *r, uint32_t socket, enum direction direction);

/** devices_part() - the device of a part of a row; NULL for nonsense and ports */
const struct device *devices_part(const struct report *r, const struct row_device *part);

#endif
