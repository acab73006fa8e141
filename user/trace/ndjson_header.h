/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The first line of an NDJSON trace. */
#ifndef TRACE_NDJSON_HEADER_H
#define TRACE_NDJSON_HEADER_H

#include <stdio.h>

#include "trace.h"
#include "base/json_line.h"

#define NDJSON_SCHEMA "t410trace.trace/1"

/**
 * struct ndjson_names - names in lines for the numbers of the layout
 * @counter_ids: number of each counter of the layout; owned
 * @probe_ids: number of each probe of the header; owned
 * @own: we wrote it: there are lines for all events, and workload lines are not events
 * @weights_known: the header names the weights
 * @devices_known: the header lists the devices
 */
struct ndjson_names {
	uint64_t *counter_ids;
	uint64_t *probe_ids;
	bool own;
	bool weights_known;
	bool devices_known;
};

/**
 * ndjson_header() - take a header from its line
 * @line: parsed
 * @h: filled; released by the caller in any case
 * @names: filled, its arrays to be freed by the caller in any case
 *
 * Return: 0, -EBADMSG, -ENOMEM.
 */
int ndjson_header(const struct ndjson_line *line, struct trace_header *h,
		  struct ndjson_names *names);

/** ndjson_put_header() - write the line; errors stay in the stream */
void ndjson_put_header(FILE *f, const struct trace_header *h);

/** ndjson_socket() - the index of a socket by its number; nr_sockets when there is none */
uint32_t ndjson_socket(const struct layout *l, uint64_t number);

/* --- devices; the list of a header has room for TRACE_MAX_DEVICES while it is read */

/** ndjson_device_done() - an element of "devices" has been read but for its port; 0 or -EBADMSG */
int ndjson_device_done(const struct ndjson_line *line, const json_t *value, struct trace_header *h,
		       struct device *d);

/** ndjson_ports() - take the ports of all "devices": they may come behind them; 0 or -EBADMSG */
int ndjson_ports(const struct ndjson_line *line, struct trace_header *h);

/**
 * ndjson_bdf() - a PCI address
 * @line, @object, @key, @need: where it is
 * @ret: gets it as Linux writes it, MODEL_BDF_LEN bytes; "" without the optional key
 *
 * Return: 0 or -EBADMSG.
 */
int ndjson_bdf(const struct ndjson_line *line, const json_t *object, const char *key,
	       enum need need, char *ret);

/** ndjson_device() - number (from 1) of the device with an address of ndjson_bdf(), or 0 */
uint32_t ndjson_device(const struct trace_header *h, const char *bdf);

/** ndjson_counter_device() - take a counter's "bdf", if it is of devices; 0 or -EBADMSG */
int ndjson_counter_device(const struct ndjson_line *line, const json_t *value,
			  struct trace_header *h, struct counter *c);

/** ndjson_peek_device() - learn the device of a line of I/O, seen ahead of its turn */
void ndjson_peek_device(struct trace_header *h, const json_t *line);

#endif
