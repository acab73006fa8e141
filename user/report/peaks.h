/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The used part of a peak. Without a known peak there is none. */
#ifndef REPORT_PEAKS_H
#define REPORT_PEAKS_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "model.h"
#include "report/format.h"

/**
 * struct peak_use - use of a peak in an interval
 * @peak: the peak; not owned
 * @socket: number of the socket; unused for PEAK_PCIE
 * @device: of PEAK_PCIE; not owned
 * @place: its place by a name of sysfs; NULL: the device or the socket. Not owned
 * @valid: all its counters have a value; otherwise there are no numbers
 * @bytes: by direction
 * @shares: the same as parts of the peak
 * @share: of memory the sum of all directions, of links the larger one, or all that may be in it
 * @together: some counters mix reads and writes; @apart: some do not
 * @upper_bound: some bytes may have gone elsewhere, as the counters do not tell
 * @cpus_only: only bytes of CPUs were counted
 */
struct peak_use {
	const struct peak *peak;
	uint32_t socket;
	const struct device *device;
	const char *place;
	bool valid;
	uint64_t bytes[NR_DIRECTIONS];
	double shares[NR_DIRECTIONS];
	double share;
	bool together;
	bool apart;
	bool upper_bound;
	bool cpus_only;
};

/**
 * peaks_use() - the uses of peaks in a report, in turn
 * @r: the report
 * @at: position: 0 for the first one, then as it was left
 * @ret: the use
 *
 * Sockets first, each with its memory and links that have a peak and counters, then devices.
 *
 * Return: false behind the last one.
 */
bool peaks_use(const struct report *r, size_t *at, struct peak_use *ret);

/** peaks_share() - sets the shares of a use with @peak, @valid and @bytes, over a time */
void peaks_share(struct peak_use *u, uint64_t duration_ns);

/**
 * peaks_memory() - bytes that memory could have moved at most in the time of a report
 * @r: the report
 * @socket: index of the socket; -1: all of them
 *
 * Return: 0 when it is unknown, or when the moved bytes are unknown.
 */
uint64_t peaks_memory(const struct report *r, int socket);

/**
 * peaks_all_of_socket() - all counted bytes of a socket, and its memory's peak
 * @r: the report
 * @socket: index of the socket
 * @ret: @peak, @upper_bound and @cpus_only; @bytes and shares are those of the report
 *
 * Return: false when the peak is not known, or when a counter of memory has no value.
 */
bool peaks_all_of_socket(const struct report *r, uint32_t socket, struct peak_use *ret);

/** peaks_percent() - @bytes_per_s as percent of the peak, "12.3%" */
void peaks_percent(const struct peak_use *u, double bytes_per_s, char ret[FORMAT_NUMBER_LEN]);

/** peaks_array() - JSON of all uses; @err as in put.h */
json_t *peaks_array(const struct report *r, int *err);

/** peaks_put() - JSON of one use into @o: peak, its source, shares; @err as in put.h */
void peaks_put(json_t *o, const struct peak_use *u, int *err);

/**
 * peaks_line() - a sentence about a use
 * @out: where to
 * @u: the use
 * @counted_by: source of the numbers, "" when it is obvious
 * @width: columns of a line
 *
 * Return: 0 or -ENOMEM.
 */
int peaks_line(FILE *out, const struct peak_use *u, const char *counted_by, size_t width);

/** peaks_source_line() - a sentence about the source of memory's peak; nothing without one */
int peaks_source_line(FILE *out, const struct peaks *p, size_t width);

/**
 * peaks_explain() - sentences about percentages, once for all of them
 * @out: where to
 * @all: @upper_bound and @cpus_only of a column's values
 * @over: a value exceeds 100 %
 * @width: columns of a line
 *
 * Return: 0 or -ENOMEM.
 */
int peaks_explain(FILE *out, const struct peak_use *all, bool over, size_t width);

/** peaks_write() - the lines below a table; @column: it has the part of memory. 0 or -ENOMEM */
int peaks_write(FILE *out, const struct report *r, bool column, size_t width, bool quiet);

#endif
