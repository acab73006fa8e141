/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What the files of this writer share. */
#ifndef REPORT_PERFETTO_INTERNAL_H
#define REPORT_PERFETTO_INTERNAL_H

#include "report/perfetto/packets.h"
#include "trace.h"

/**
 * struct drawing - a report that is written
 * @p: the packets
 * @r: the report
 * @sorted: its rows by key
 */
struct drawing {
	struct packets *p;
	const struct report *r;
	const struct report_row **sorted;
};

/** drawing_socket() - the track of a socket, by its number */
uint64_t drawing_socket(const struct drawing *d, uint32_t id);

/** drawing_counter() - the track that counts of a counter stand below: its socket or device */
uint64_t drawing_counter(const struct drawing *d, const struct counter *c);

/** drawing_unit() - what values of a counter are */
enum track_unit drawing_unit(const struct counter *c);

/** drawing_device() - the track of a device, by its index */
uint64_t drawing_device(const struct drawing *d, uint32_t device);

/** drawing_cpu_time() - the track that CPU time stands below */
uint64_t drawing_cpu_time(const struct drawing *d);

/** drawing_bar() - an estimate and both ends of its interval, on one scale; value, low, high */
void drawing_bar(const struct drawing *d, const struct series *s, const uint64_t bar[3]);

/** drawing_requests() - bytes of requests that the kernel saw; none are no value */
void drawing_requests(const struct drawing *d, uint64_t parent, const uint64_t bytes[NR_WAYS]);

/** drawing_safe() - a name that is safe to show, to be freed; NULL without memory, which is noted */
char *drawing_safe(const struct drawing *d, const char *name, size_t max);

/** drawing_text() - a formatted text, to be freed; NULL without memory, which is noted */
__attribute__((format(printf, 2, 3))) char *drawing_text(const struct drawing *d,
							 const char *format, ...);

/** drawing_rows() - all rows of the report */
void drawing_rows(struct drawing *d);

struct slices;

/** slices_new() - NULL without memory */
struct slices *slices_new(void);

/** slices_take() - an event; 0 or -ENOMEM */
int slices_take(struct slices *s, const struct trace_event *e);

/** slices_write() - write all of them, or that there are too many; @start_ns: begin of the trace */
void slices_write(struct slices *s, struct packets *p, uint64_t start_ns);
void slices_free(struct slices *s);

#endif
