/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Latencies of a report: of the probes, and as its rows saw them. */
#ifndef REPORT_LATENCIES_H
#define REPORT_LATENCIES_H

#include <jansson.h>
#include <stdio.h>

#include "model.h"
#include "report/format.h"

/** latencies_probes() - JSON of all probes of a report; @err as in put.h */
json_t *latencies_probes(const struct report *r, int *err);

/** latencies_row() - JSON of a row's latencies; @err as in put.h */
json_t *latencies_row(const struct report *r, const struct report_row *row, int *err);

/** latencies_tenths() - JSON of a latency, to the known precision of a tenth */
json_t *latencies_tenths(double value);

/** latencies_main() - is it the kind of latency that has a column: reads of CPU memory? */
bool latencies_main(const struct probe *p);

/**
 * latencies_seen() - a row's main latency, over all sockets
 * @r: the report
 * @row: the row
 * @ret_ns: the mean
 *
 * Return: false when it is unknown, or the row moved less than a thousandth of all bytes.
 */
bool latencies_seen(const struct report *r, const struct report_row *row, double *ret_ns);

/**
 * latencies_of_socket() - the main latency of a socket
 * @r: the report
 * @socket: its index
 * @ret_ns: the mean over its probes' requests
 *
 * Return: false when it is unknown.
 */
bool latencies_of_socket(const struct report *r, uint32_t socket, double *ret_ns);

/**
 * latencies_write_socket() - write the latencies of a socket
 * @out: where to
 * @r: the report
 * @socket: its index
 * @width: columns of a line
 * @verbose: each probe on its own, with its counts; otherwise a line with the mean of probes that
 *	measure the same
 *
 * Return: 0 or -ENOMEM.
 */
int latencies_write_socket(FILE *out, const struct report *r, uint32_t socket, size_t width,
			   bool verbose);

/**
 * latencies_write_row() - a line for each latency of a row
 * @out: where to
 * @r: the report
 * @row: the row
 * @indent: blanks in front
 *
 * Return: 0 or -ENOMEM.
 */
int latencies_write_row(FILE *out, const struct report *r, const struct report_row *row,
			int indent);

#endif
