/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What the files of this writer share. */
#ifndef REPORT_PERFETTO_INTERNAL_H
#define REPORT_PERFETTO_INTERNAL_H

#include "report/perfetto/events.h"
#include "trace.h"

/**
 * struct drawing - a report that is written
 * @e: the events
 * @r: the report, NULL behind the last one
 * @sorted: its rows by key
 */
struct drawing {
	struct events *e;
	const struct report *r;
	const struct report_row **sorted;
};

/* Groups at the top, in the order in which they are shown; the sockets come last */
enum top_group {
	TOP_INTERVALS,
	TOP_LOSSES,
	TOP_CPUS,
	TOP_CPU_TIME,
	TOP_DEVICES,
	TOP_SOCKETS,
};

/** drawing_top() - such a group, but for sockets */
struct place drawing_top(const struct drawing *d, enum top_group of);

/** drawing_socket() - the group of a socket, by its number */
struct place drawing_socket(const struct drawing *d, uint32_t id);

/** drawing_device() - the group of a device */
struct place drawing_device(const struct drawing *d, const struct device *of);

/** drawing_safe() - a name that is safe to show, to be freed; NULL without memory, which is noted */
char *drawing_safe(const struct drawing *d, const char *name, size_t max);

/** drawing_text() - a formatted text, to be freed; NULL without memory, which is noted */
__attribute__((format(printf, 2, 3))) char *drawing_text(const struct drawing *d,
							 const char *format, ...);

/** drawing_row() - the group of a row in @place, which is released */
struct place drawing_row(const struct drawing *d, struct place place, const struct report_row *row);

/** drawing_tangled() - an event that says which share is a guess; once for each socket or device */
void drawing_tangled(const struct drawing *d, const struct report_row *row, const struct place *at,
		     const char *counter);

struct slices;

/** slices_new() - NULL without memory */
struct slices *slices_new(void);

/** slices_take() - an event; 0 or -ENOMEM */
int slices_take(struct slices *s, const struct trace_event *e);

/** slices_write() - write all, or that there are too many; @d: of no report; @start_ns: of the trace */
void slices_write(struct slices *s, const struct drawing *d, uint64_t start_ns);
void slices_free(struct slices *s);

#endif
