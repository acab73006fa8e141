/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* A machine that never was, whose events the benches of the engine are fed with. */
#ifndef BENCH_SYNTHETIC_H
#define BENCH_SYNTHETIC_H

#include "trace.h"

#define SYNTHETIC_SOCKETS	  2
#define SYNTHETIC_CPUS_PER_SOCKET 88
#define SYNTHETIC_COUNTERS	  6 /* per socket */

/**
 * struct synthetic_size - how much goes on
 * @workloads: processes per socket, all of which run in every second
 * @windows: per second
 * @slots: slices that each CPU sends per window; 0 = as few as let everybody run
 * @cpu_counters: how many of a socket's counters count CPUs' traffic
 * @cgroups: how many there are, half of them jobs, half steps of these, with an equal part of the
 *	workloads each; 0 = one of all, in no job
 * @cpus: per socket; 0 = SYNTHETIC_CPUS_PER_SOCKET
 */
struct synthetic_size {
	uint32_t workloads;
	uint32_t windows;
	uint32_t slots;
	uint32_t cpu_counters;
	uint32_t cgroups;
	uint32_t cpus;
};

struct synthetic;

/** synthetic_new() - ends the program when there is no memory */
struct synthetic *synthetic_new(const struct synthetic_size *size);
void synthetic_free(struct synthetic *s);

const struct trace_header *synthetic_header(const struct synthetic *s);

/** synthetic_begin() - hand out the tasks and the first mark */
int synthetic_begin(struct synthetic *s, const struct trace_sink *sink);

/** synthetic_prepare() - invent the next second, so that this is not measured */
void synthetic_prepare(struct synthetic *s);

/**
 * synthetic_second() - hand out the second that was prepared, without its mark
 * @ret_slices: how many there were; may be NULL
 * @ret_bytes: sum of the counters' values; may be NULL
 */
int synthetic_second(struct synthetic *s, const struct trace_sink *sink, uint64_t *ret_slices,
		     uint64_t *ret_bytes);

/** synthetic_mark() - the mark that ends it */
const struct trace_mark *synthetic_mark(struct synthetic *s);

/** cpu_seconds() - CPU time of this process */
double cpu_seconds(void);

/** resident_kib() - the most memory it ever had */
long resident_kib(void);

/** must() - end the program with a message if @err is an error */
void must(int err, const char *what);

#endif
