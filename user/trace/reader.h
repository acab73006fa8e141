/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The two kinds of trace files behind struct trace_file. */
#ifndef TRACE_READER_H
#define TRACE_READER_H

#include "trace/input.h"
#include "trace/recording.h"

struct recording_reader;
struct ndjson_reader;

/**
 * recording_open() - read the header of a recording
 * @path: for messages and to find other segments
 * @in: at the start of the file; taken over if it works, emptied
 * @d: gets the problem
 * @header: filled; released by the caller with header_release() in any case
 * @ret: free with recording_reader_free()
 *
 * Return: 0, -EBADMSG or another errno.
 */
int recording_open(const char *path, struct input *in, struct diag *d, struct trace_header *header,
		   struct recording_reader **ret);
int recording_read(struct recording_reader *r, const struct trace_sink *sink, struct diag *d,
		   struct trace_end *ret);
/** recording_progress() - as trace_file_progress() */
void recording_progress(const struct recording_reader *r, uint64_t *ret_done, uint64_t *ret_all);
/** recording_wait() - as trace_file_wait() */
void recording_wait(struct recording_reader *r, const struct input_wait *w);
bool recording_ended(const struct recording_reader *r);
void recording_reader_free(struct recording_reader *r);

/* The same for NDJSON. */
int ndjson_open(const char *path, struct input *in, struct diag *d, struct trace_header *header,
		struct ndjson_reader **ret);
int ndjson_read(struct ndjson_reader *r, const struct trace_sink *sink, struct diag *d,
		struct trace_end *ret);
void ndjson_progress(const struct ndjson_reader *r, uint64_t *ret_done, uint64_t *ret_all);
void ndjson_wait(struct ndjson_reader *r, const struct input_wait *w);
bool ndjson_ended(const struct ndjson_reader *r);
void ndjson_reader_free(struct ndjson_reader *r);

#endif
