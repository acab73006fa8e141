/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Counts of another tool and a recording of the same time become one trace: the recording says who
 * had which CPU, counts are the windows of its counters. What a live run would have recorded if the
 * program had counted itself.
 */
#ifndef SOURCES_BAYTRAIL_COUNTS_JOIN_H
#define SOURCES_BAYTRAIL_COUNTS_JOIN_H

#include "sources/baytrail/counts.h"
#include "trace.h"

/**
 * struct counts_joining - what is joined
 * @counts: options of the file of counts
 * @file: that file
 * @recording: the other one
 * @modules: CPUs of the modules, "0-1:2-3"; NULL: these
 * @offset_s: added to the times of counts, in seconds; NULL: nothing is
 */
struct counts_joining {
	struct counts_options counts;
	const char *file;
	const char *recording;
	const char *modules;
	const char *offset_s;
};

struct counts_join;

/**
 * counts_join_new() - read the counts, and find when they were
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
 * counts_join_sink() - events of the recording go in through this
 * @j: the join
 * @out: gets the events of the joined trace; copied
 *
 * Windows come before the first mark behind their begin. Where there are counts and no recording,
 * CPU time is lost (TRACE_PID_LOST): so their bytes are unattributed, and none is missing.
 */
struct trace_sink counts_join_sink(struct counts_join *j, const struct trace_sink *out);

/**
 * counts_join_describe() - what is missing, on standard error
 * @j: after the last event
 * @who: name of the command
 *
 * Return: true when something is.
 */
bool counts_join_describe(const struct counts_join *j, const char *who);

#endif
