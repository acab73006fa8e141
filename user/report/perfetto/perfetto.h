/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Reports as a timeline in the Trace Event Format (JSON), for viewers such as ui.perfetto.dev.
 * docs/EXPORT.md has its groups.
 */
#ifndef REPORT_PERFETTO_PERFETTO_H
#define REPORT_PERFETTO_PERFETTO_H

#include <stdio.h>

#include "trace.h"

/* More slices than this are too many for the user interface: then there are none. */
#define PERFETTO_MAX_SLICES 1000000

struct perfetto;

/**
 * perfetto_new() - begin a trace
 * @out: where to; written as reports come
 * @ret: free with perfetto_free()
 *
 * Memory is bounded by the rows of two reports, PERFETTO_MAX_SLICES and EVENTS_MAX_NUMBERS.
 *
 * Return: 0 or -ENOMEM.
 */
int perfetto_new(FILE *out, struct perfetto **ret);

/**
 * perfetto_sink() - receives the events that reports are made of: who had which CPU
 *
 * It takes only what makes sense, after whoever judges that. -ENOMEM is the only error.
 */
struct trace_sink perfetto_sink(struct perfetto *p);

/** perfetto_write() - write a report; 0, -ENOMEM or the negative errno of a failed write */
int perfetto_write(struct perfetto *p, const struct report *r);

/** perfetto_finish() - write what is left: the slices; flush. As perfetto_write() */
int perfetto_finish(struct perfetto *p);

void perfetto_free(struct perfetto *p);

#endif
