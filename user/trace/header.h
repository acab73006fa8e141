/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Headers of traces, which own all they point to: built, checked, and as bytes. */
#ifndef TRACE_HEADER_H
#define TRACE_HEADER_H

#include "base/fields.h"
#include "recording_format.h"
#include "trace.h"

/* Far above existing machines, as with TRACE_MAX_*. */
#define TRACE_MAX_SELECTED 65536

/*
 * Types of fields beside those of base/fields.h. NDJSON has the number or the name that people know
 * of an index, which a reader looks up when it has the whole structure (ndjson_header.c).
 */
enum {
	HEADER_CPUS = FIELD_OWN, /* bytes: the socket of each CPU; JSON: the CPUs of a socket */
	HEADER_SOCKET,		 /* an index */
	HEADER_DEVICE,		 /* the number of a device from 1 on, 0 for none */
	HEADER_GROUP,		 /* JSON: the number of a counter's group */
	HEADER_FILTERS,		 /* a text in an array; JSON: an object */
	HEADER_ID,		 /* JSON: the index of the structure */
	HEADER_PEAK_SOCKET,	 /* a number, or PEAK_EVERY_SOCKET */
	HEADER_IO,		 /* bytes: device.io of each device */
	HEADER_LINKS,		 /* bytes: device.link and device.uuid of each device */
	HEADER_C2C,		 /* bytes: device.function and .why of each, counter.term of each */
};

/** header_fields - all of a header, in the order of NDJSON */
extern const struct fields header_fields;

/** header_release() - free everything a header points to; NULLs are fine */
void header_release(struct trace_header *h);

/*
 * Builders: each copies its arguments, appends them, and returns 0 or -ENOMEM.
 * After an error the header can still be released.
 */

/** header_add_sockets() - CPUs and sockets, of a header that has none yet */
int header_add_sockets(struct trace_header *h, const uint32_t *cpu_socket, uint32_t nr_cpus,
		       const uint32_t *socket_ids, uint32_t nr_sockets);

/**
 * header_add_counters() - counters and the groups that they are in
 * @h: the header
 * @counters, @nr: their groups and those of @groups are counted from 0 on
 * @groups, @nr_groups: with their counters; the header gets them behind earlier ones
 */
int header_add_counters(struct trace_header *h, const struct counter *counters, size_t nr,
			const struct group *groups, size_t nr_groups);

/** header_add_latencies() - latencies that are measured */
int header_add_latencies(struct trace_header *h, const struct probe *probes, size_t nr);

/** header_add_devices() - devices, numbered from 1 on as if the header had no earlier ones */
int header_add_devices(struct trace_header *h, const struct device *devices, size_t nr);

/** header_add_parts() - parts that are not measured by the counters */
int header_add_parts(struct trace_header *h, const struct traffic_part *parts, size_t nr);

/** header_add_selection() - cgroups and jobs that were asked for */
int header_add_selection(struct trace_header *h, char *const *cgroups, size_t nr_cgroups,
			 char *const *jobs, size_t nr_jobs);

/**
 * header_check() - do the parts of a header fit together?
 *
 * Return: NULL, or the problem.
 */
const char *header_check(const struct trace_header *h);

/** header_is_late() - does it say what no recording before version 10 can? @contexts and @c2c are version 11 */
bool header_is_late(const struct trace_header *h);

/** header_encode() - append a header as in recordings; errors are in @o */
void header_encode(const struct trace_header *h, struct bytes *o);

/**
 * header_decode() - read a header
 * @in: all of the payload
 * @ret: released with header_release()
 * @ret_wrong: the problem, with -EBADMSG
 *
 * Return: 0, -EBADMSG, -ENOMEM.
 */
int header_decode(struct bytes_in *in, struct trace_header *ret, const char **ret_wrong);

#endif
