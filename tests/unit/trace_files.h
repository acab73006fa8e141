/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Trace files in unit tests. */
#ifndef TESTS_TRACE_FILES_H
#define TESTS_TRACE_FILES_H

#include "events.h"
#include "trace/recording.h"

/* Reads a file of any format into @log; 0 or a negative errno. */
static inline int read_back(const char *name, struct event_log *log, struct trace_end *end,
			    struct diag *d)
{
	struct trace_sink sink = log_sink(log);
	struct trace_file *f;
	int err;

	*end = (struct trace_end){ 0 };
	err = trace_file_open(name, d, &f);
	if (err)
		return err;
	err = trace_file_read(f, &sink, d, end);
	trace_file_close(f);
	return err;
}

#endif
