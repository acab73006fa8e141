/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A recording that begins in the middle of a run. It first repeats the known tasks and cgroups, as
 * a new segment of a rotated recording does.
 */
#ifndef TRACE_MIDRUN_H
#define TRACE_MIDRUN_H

#include "base/diag.h"
#include "trace.h"

struct midrun;

/**
 * midrun_new() - be ready to record
 * @header: of the run; must outlive @ret
 * @ret: midrun_sink() gets all events from the first on; end with midrun_free()
 *
 * Return: 0 or -ENOMEM.
 */
int midrun_new(const struct trace_header *header, struct midrun **ret);

/**
 * midrun_sink() - learns tasks and cgroups, and records on request. A full disk is not its error
 */
struct trace_sink midrun_sink(struct midrun *l);

/**
 * midrun_start() - record from the next mark on
 * @l: does not record
 * @path: the file, which is made at once
 * @d: gets the problem
 *
 * Return: 0 or a negative errno.
 */
int midrun_start(struct midrun *l, const char *path, struct diag *d);

/**
 * midrun_tell() - send the events with which a recording begins at a mark
 * @l: has learned all events up to this mark, and none behind it
 * @out: gets the known tasks and cgroups, events that span the mark, and the mark
 * @mark: the last one
 *
 * For receivers other than a recording that join a run late. Return: 0 or the first error of @out.
 */
int midrun_tell(const struct midrun *l, const struct trace_sink *out,
		const struct trace_mark *mark);

/**
 * midrun_stop() - end the recording; it has all up to the last event
 * @l: records
 * @d: gets the problem, also one that it had meanwhile
 * @ret_bytes: bytes on disk
 *
 * Return: 0 or a negative errno.
 */
int midrun_stop(struct midrun *l, struct diag *d, uint64_t *ret_bytes);

/** midrun_records() - has it begun, and not been stopped? NULL, as of a run that never began: no */
bool midrun_records(const struct midrun *l);

/** midrun_error() - 0, or why nothing more is written; midrun_stop() says it, too */
int midrun_error(const struct midrun *l);

/** midrun_free() - NULL is fine; a recording is finished */
void midrun_free(struct midrun *l);

#endif
