/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Latencies join the trace's third stream, samples of probes, with windows that were
 * split: a latency belongs to no workload, but each workload has the latency of the windows in
 * which it moved bytes.
 */
#ifndef ENGINE_LATENCY_LATENCY_H
#define ENGINE_LATENCY_LATENCY_H

#include "engine/latency/links.h"
#include "engine/split/split.h"

/**
 * struct latency_sink - receives latencies of workloads
 * @observed: of the counter of a link (index), a workload moved @bytes in a window in which
 *	the link's probe had a latency of @ns
 * @arg: handed to @observed
 *
 * Returns 0 or a negative errno, which ends the split.
 */
struct latency_sink {
	int (*observed)(void *arg, size_t link, uint32_t workload, uint64_t bytes, double ns);
	void *arg;
};

struct latency;

/**
 * latency_new() - no sample yet
 * @header: probes; must outlive the latency
 * @links: of @header; must outlive the latency
 * @ret: free with latency_free()
 *
 * Return: 0 or -ENOMEM.
 */
int latency_new(const struct trace_header *header, const struct links *links, struct latency **ret);
void latency_free(struct latency *l);

/**
 * latency_sample() - a probe was read twice
 *
 * Windows that end later may come before or after it; to be part of an interval a
 * sample comes before latency_close(). Samples are valid, and those of a probe in order.
 *
 * Return: 0 or -ENOMEM.
 */
int latency_sample(struct latency *l, const struct trace_sample *s);

/** latency_begin() - the first interval starts; @starts_ns by socket */
void latency_begin(struct latency *l, const uint64_t *starts_ns);

/**
 * latency_split() - windows that were split go in through this
 * @l: the latency
 * @to: receives the latencies of workloads
 *
 * Only the calls @window and @bytes are there: see split_tee.h.
 */
struct split_sink latency_split(struct latency *l, struct latency_sink to);

/**
 * latency_close() - an interval has ended
 * @l: the latency
 * @ends_ns: by socket, as for timeline_close()
 *
 * Samples that cross the end are divided in proportion to time, to the unit. One that
 * comes after it counts for the next interval with its part behind the end, and for
 * the run with all of it.
 */
void latency_close(struct latency *l, const uint64_t *ends_ns);

/**
 * latency_close_inner() - all samples up to some moments have come, and the interval goes on
 * @l: the latency
 * @ends_ns: by socket, as for timeline_close_inner()
 *
 * Adds up earlier samples, so that they need not be kept.
 */
void latency_close_inner(struct latency *l, const uint64_t *ends_ns);

/**
 * latency_report() - the probes of the last closed interval, or of all
 * @l: the latency
 * @all: since the first interval's start
 * @ret: gets probes and nr_probes; release with report_free()
 *
 * Return: 0 or -ENOMEM.
 */
int latency_report(const struct latency *l, bool all, struct report *ret);

/**
 * struct latency_sums - samples added up, scaled to all the time that they should have
 *	counted
 */
struct latency_sums {
	double outstanding;
	double requests;
	double cycles;
	double enabled_ns;
};

/** latency_add() - add a part of a sample, from 0 to 1; without data it adds nothing */
void latency_add(struct latency_sums *to, const struct trace_sample *s, double part);

/**
 * latency_mean() - the latency that sums give
 * @s: sums
 * @ret_cycles, @ret_ns: the mean over the requests
 *
 * Return: false without a request, or without a cycle to tell how long one is.
 */
bool latency_mean(const struct latency_sums *s, double *ret_cycles, double *ret_ns);

#endif
