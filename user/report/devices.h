/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Devices of a report: their part of its numbers.
 *
 * Device traffic is another view of bytes that sockets count as well. Their counters therefore
 * never add to those of the sockets.
 */
#ifndef REPORT_DEVICES_H
#define REPORT_DEVICES_H

#include <stdbool.h>
#include <stdint.h>

#include "model.h"

/* Content of the rows' columns for devices. */
enum devices_mode {
	DEVICES_NONE,	 /* nothing: the run has no devices */
	DEVICES_IO,	 /* bytes of requests: no device is counted */
	DEVICES_COUNTED, /* counted bytes */
};

/** devices_is_port() - is it a root port, whose bytes are those of other devices once more? */
bool devices_is_port(const struct report_device *d);

/** devices_is_link() - is it a GPU's link? Its bytes are in no sum with those of other devices */
bool devices_is_link(const struct report_device *d);

/**
 * devices_is_shared() - is it a root port whose bytes cannot be divided among its devices?
 * @r: the report
 * @device: index into its devices
 *
 * Return: whether devices are below it and none has its own counter.
 */
bool devices_is_shared(const struct report *r, size_t device);

/** devices_is_guess() - is its place known only by a rule of thumb? */
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

/** devices_task_counter() - do CPUs move its bytes, so that rows' sums include them? */
bool devices_task_counter(const struct counter *c);

/**
 * devices_pcie_counter() - does it count one device's bytes, which no other counter has?
 *
 * Bytes of ports are the devices' once more, links are beside their functions, and so are bytes to a destination where another
 * counter has the whole direction.
 */
bool devices_pcie_counter(const struct report *r, const struct counter *c);

/** devices_of() - the device with a number as in counters and probes; NULL for 0 or nonsense */
const struct device *devices_of(const struct report *r, uint32_t number);

/** devices_any_moved() - may any device (no port) have moved bytes in this direction? */
bool devices_any_moved(const struct report *r, enum direction direction);

/** devices_valid() - was any device (no port, no link) counted in this direction? */
bool devices_valid(const struct report *r, enum direction direction);

/**
 * devices_moved() - bytes of devices for a row, as columns show them
 * @r: the report
 * @row: the row
 * @direction: as devices see it
 *
 * Return: bytes, of the kind that devices_mode() tells; without those of links.
 */
uint64_t devices_moved(const struct report *r, const struct report_row *row,
		       enum direction direction);

/* Shares that keep a row from being separable, the most informative first. */
enum tangle {
	TANGLE_MEMORY,
	TANGLE_DEVICES, /* no bytes of CPUs */
	TANGLE_ENERGY,	/* no bytes */
};

/** devices_tangle() - the tangled shares of an inseparable row */
enum tangle devices_tangle(const struct report *r, const struct report_row *row);

/** devices_on_socket() - counted bytes of the devices of a socket (its number) */
uint64_t devices_on_socket(const struct report *r, uint32_t socket, enum direction direction);

/** devices_part() - the device of a part of a row; NULL for nonsense and ports */
const struct device *devices_part(const struct report *r, const struct row_device *part);

#endif
