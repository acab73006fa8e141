/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Reading NDJSON: lines (ndjson_read.c) and their meaning (ndjson_event.c). */
#ifndef TRACE_NDJSON_READ_H
#define TRACE_NDJSON_READ_H

#include "recording_format.h"
#include "trace/fields.h"
#include "trace/input.h"
#include "trace/ndjson_header.h"
#include "trace/recording.h"

#define HASH_NONFATAL_OOM 1
#include <uthash.h>

/* A workload that was announced. */
struct ndjson_workload {
	uint64_t id;
	struct trace_who who;
	UT_hash_handle hh;
};

/**
 * struct ndjson_reader - a trace being read
 * @path: for messages
 * @header: belongs to the file
 * @names: numbers that lines use
 * @in: the file
 * @line: the line in hand
 * @used: its bytes with the newline
 * @unfinished: it has no newline
 * @workloads: by id
 * @events: handed out
 * @ended, @end_ns: the end was seen
 * @readings, @has_group, @socket, @ends_ns, @text, @used_text, @path_text: of the line in hand
 */
struct ndjson_reader {
	char *path;
	const struct trace_header *header;
	struct ndjson_names names;
	struct input in;
	struct ndjson_line line;
	size_t used;
	bool unfinished;
	struct ndjson_workload *workloads;
	uint64_t events;
	bool ended;
	uint64_t end_ns;
	struct reading readings[TRACE_MAX_COUNTERS];
	bool has_group[TRACE_MAX_COUNTERS];
	uint32_t socket;
	uint64_t ends_ns[TRACE_MAX_SOCKETS];
	char text[RECORDING_MAX_TEXT + 1];
	size_t used_text;
	char path_text[RECORDING_MAX_TEXT + 1];
};

/**
 * ndjson_event() - hand out the events of the line in hand
 *
 * Return: 0, -EBADMSG with the problem reported, -ENOMEM, or the sink's error.
 */
int ndjson_event(struct ndjson_reader *r, const struct trace_sink *sink);

#endif
