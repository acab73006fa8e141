/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The first line of an NDJSON trace. */
#ifndef TRACE_NDJSON_HEADER_H
#define TRACE_NDJSON_HEADER_H

#include "trace.h"
#include "trace/ndjson_line.h"

#define NDJSON_SCHEMA "t410trace.trace/1"

/**
 * struct ndjson_names - how lines name what the layout numbers
 * @counter_ids: number of each counter of the layout; owned
 * @probe_ids: number of each probe of the header; owned
 * @own: we wrote it: there are lines for all events, and workload lines are not events
 * @weights_known: the header names the weights
 */
struct ndjson_names {
	uint64_t *counter_ids;
	uint64_t *probe_ids;
	bool own;
	bool weights_known;
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

#endif
