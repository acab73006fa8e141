/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A recording that begins in the middle of a run. It first repeats the known tasks and cgroups, as
 * a new segment of a rotated recording does.
 */
#ifndef TRACE_LATE_H
#define TRACE_LATE_H

#include "base/diag.h"
#include "trace.h"

struct late;

/**
 * late_new() - be ready to record
 * @header: of the run; must outlive @ret
 * @ret: late_sink() gets all events from the first on; end with late_free()
 *
 * Return: 0 or -ENOMEM.
 */
int late_new(const struct trace_header *header, struct late **ret);

/** late_sink() - learns tasks and cgroups, and records on request. A full disk is not its error */
struct trace_sink late_sink(struct late *l);

/**
 * late_start() - record from the next mark on
 * @l: does not record
 * @path: the file, which is made at once
 * @d: gets the problem
 *
 * Return: 0 or a negative errno.
 */
int late_start(struct late *l, const char *path, struct diag *d);

/**
 * late_tell() - send the events with which a recording begins at a mark
 * @l: has learned all events up to this mark, and none behind it
 * @out: gets the known tasks and cgroups, events that span the mark, and the mark
 * @mark: the last one
 *
 * For receivers other than a recording that join a run late. Return: 0 or the first error of @out.
 */
int late_tell(const struct late *l, const struct trace_sink *out, const struct trace_mark *mark);

/**
 * late_stop() - end the recording; it has all up to the last event
 * @l: records
 * @d: gets the problem, also one that it had meanwhile
 * @ret_bytes: bytes on disk
 *
 * Return: 0 or a negative errno.
 */
int late_stop(struct late *l, struct diag *d, uint64_t *ret_bytes);

/** late_records() - has it begun, and not been stopped? NULL, as of a run that never began: no */
bool late_records(const struct late *l);

/** late_error() - 0, or why nothing more is written; late_stop() says it, too */
int late_error(const struct late *l);

/** late_free() - NULL is fine; a recording is finished */
void late_free(struct late *l);

#endif
