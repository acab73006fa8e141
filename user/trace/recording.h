/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Recordings: a trace in a compact binary file. The layout on disk is in
 * include/recording_format.h and docs/RECORDING.md.
 */
#ifndef TRACE_RECORDING_H
#define TRACE_RECORDING_H

#include "base/diag.h"
#include "trace.h"
#include "trace/input.h"

struct recording_writer;

/**
 * recording_create() - start a recording
 * @path: file; an existing one is replaced only once the new one has a header. Also a pipe, a
 *	device, or "-" for standard output
 * @header: written at once; must outlive the writer
 * @max_bytes: bound on the bytes of all files of the recording together, 0 = none.
 *	When it is reached, the oldest part is removed (rotation)
 * @d: gets the problem
 * @ret: finish with recording_finish()
 *
 * Return: 0 or a negative errno.
 */
int recording_create(const char *path, const struct trace_header *header, uint64_t max_bytes,
		     struct diag *d, struct recording_writer **ret);

/** recording_sink() - events go in through this; an error of the disk is returned once */
struct trace_sink recording_sink(struct recording_writer *w);

/**
 * recording_finish() - write the rest and close
 * @w: freed, whatever happens; NULL is fine
 * @d: gets the problem
 * @ret_bytes: bytes on disk; may be NULL
 *
 * Return: 0 or a negative errno.
 */
int recording_finish(struct recording_writer *w, struct diag *d, uint64_t *ret_bytes);

struct trace_file;

/**
 * struct trace_end - how a trace file ended
 * @events: events handed out
 * @bytes: bytes read
 * @complete: the end was written properly; otherwise the writer was killed
 * @dropped_bytes: unreadable or unfinished bytes at the end
 * @rotated: blocks that were removed by rotation before the first one
 * @refused: events that the sink refused with -EINVAL (recordings)
 */
struct trace_end {
	uint64_t events;
	uint64_t bytes;
	bool complete;
	uint64_t dropped_bytes;
	uint64_t rotated;
	uint64_t refused;
};

/**
 * trace_file_open() - open a recording or an NDJSON trace; which is seen from its content
 * @path: file, "-" for standard input (NDJSON and unrotated recordings)
 * @d: gets the problem, with line and column for NDJSON, the offset for a recording
 * @ret: close with trace_file_close()
 *
 * Return: 0; -EBADMSG for a file that is neither or is damaged; another errno.
 */
int trace_file_open(const char *path, struct diag *d, struct trace_file **ret);
void trace_file_close(struct trace_file *f);

/** trace_file_peaks() - the user's peaks instead of those in the file */
void trace_file_peaks(struct trace_file *f, const struct peaks_wanted *w);

/** trace_file_header() - valid until trace_file_close() */
const struct trace_header *trace_file_header(const struct trace_file *f);

/** trace_file_progress() - bytes that were read, and all that there are, 0 = not known */
void trace_file_progress(const struct trace_file *f, uint64_t *ret_done, uint64_t *ret_all);

/**
 * trace_file_wait() - call a function before waiting for more, and at the end of the file
 * @f: the file
 * @w: copied; its error ends trace_file_read()
 *
 * A recording of several files is followed in the last one that there is.
 */
void trace_file_wait(struct trace_file *f, const struct input_wait *w);

/** trace_file_ended() - has its end been read? Nothing more comes then */
bool trace_file_ended(const struct trace_file *f);

/**
 * trace_file_read() - hand all events to a sink
 * @f: the file
 * @sink: an error it returns ends the reading and is passed on, except -EINVAL:
 *	that is counted and passed over for recordings, and an error with line and
 *	column for NDJSON
 * @d: gets the problem; d->what[0] == '\0' when the error came from the sink
 * @ret: how it ended
 *
 * Return: 0, -EBADMSG, the sink's error, or another errno.
 */
int trace_file_read(struct trace_file *f, const struct trace_sink *sink, struct diag *d,
		    struct trace_end *ret);

#endif
