/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Join counts of another tool with a recording of the same time into one trace: the recording has
 * the CPU time of tasks, the counts become the windows of its counters. The result is what a live
 * run that counted itself would have recorded.
 */
#ifndef SOURCES_BAYTRAIL_COUNTS_JOIN_H
#define SOURCES_BAYTRAIL_COUNTS_JOIN_H

#include "sources/baytrail/counts.h"
#include "trace.h"

struct counts_join;

/**
 * counts_join_new() - read the counts, and place them in time
 * @o: must outlive @ret
 * @header: of the recording
 * @d: gets what is wrong
 * @ret: free with counts_join_free()
 *
 * Return: 0; -ENODATA for a group or file without traffic; -ERANGE where the times do not fit;
 * another negative errno.
 */
int counts_join_new(const struct counts_joining *o, const struct trace_header *header,
		    struct diag *d, struct counts_join **ret);
void counts_join_free(struct counts_join *j);

/** counts_join_header() - of the joined trace; valid until counts_join_free() */
const struct trace_header *counts_join_header(const struct counts_join *j);

/**
 * counts_join_sink() - the sink for the recording's events
 * @j: the join
 * @out: gets the events of the joined trace; copied
 *
 * Windows come before the first mark after their start. Where counts have no recording, CPU time is
 * lost (TRACE_PID_LOST): their bytes are unattributed, and none is missing.
 */
struct trace_sink counts_join_sink(struct counts_join *j, const struct trace_sink *out);

/**
 * counts_join_describe() - print missing parts on standard error
 * @j: after the last event
 * @who: name of the command
 *
 * Return: true when there are any.
 */
bool counts_join_describe(const struct counts_join *j, const char *who);

#endif
