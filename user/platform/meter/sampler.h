/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The sampler: the meter's groups and accounts, for latencies. One reading can be hundreds of
 * device reads on a PMU's CPU, so what is due first is read first, as far as the budget goes.
 */
#ifndef PLATFORM_METER_SAMPLER_H
#define PLATFORM_METER_SAMPLER_H

#include "base/diag.h"
#include "platform/bpf/counters.h"
#include "platform/pmu/perf_events.h"
#include "platform/pmu/pmu.h"
#include "trace.h"

/**
 * struct sampler_options - what to read, and how often
 * @interval_ns: time between two readings of a PMU, if the budget allows it
 * @budget: part of a CPU's time that readings may take on it, 0.005. The first and the
 *	last reading of a PMU are made in any case
 * @socket_ids, @nr_sockets: numbers of the sockets; probes have the index. PMUs of other
 *	sockets are left out
 * @counted, @nr_counted: PMUs whose counters count traffic already, which comes first
 * @ops: &perf_kernel
 */
struct sampler_options {
	uint64_t interval_ns;
	double budget;
	const uint32_t *socket_ids;
	uint32_t nr_sockets;
	const struct counted_pmu *counted;
	size_t nr_counted;
	const struct perf_ops *ops;
};

struct sampler;

/**
 * sampler_open() - open all probes of all PMUs, counting from here on
 * @pmus: must outlive the sampler
 * @o: what it points to must outlive sampler_open()
 * @ret: free with sampler_free()
 *
 * The events of a PMU are one group, pinned. If others hold the counters, it takes turns
 * with them. Beside our own counters of traffic it takes what they leave: if that is not
 * enough, probes are given up. Latencies are an extra: what cannot be opened is told by
 * sampler_note(), and is no error.
 *
 * Return: 0 or -ENOMEM.
 */
int sampler_open(const struct pmu_list *pmus, const struct sampler_options *o,
		 struct sampler **ret);
void sampler_free(struct sampler *s);

/** sampler_probes() - what is measured; valid until sampler_free() */
const struct probe *sampler_probes(const struct sampler *s, size_t *ret_nr);

/** sampler_pmus() - number of PMUs that the probes are on */
size_t sampler_pmus(const struct sampler *s);

/** sampler_note() - what could not be opened, "" for nothing */
const char *sampler_note(const struct sampler *s);

/** sampler_start() - the first reading of all PMUs: samples begin here */
void sampler_start(struct sampler *s);

/** sampler_next_ns() - when sampler_step() has something to do (CLOCK_MONOTONIC) */
uint64_t sampler_next_ns(const struct sampler *s);

/**
 * sampler_step() - read what is due and within the budget
 * @s: the sampler
 * @out: gets the samples; what it refuses with -EINVAL counts as failed
 *
 * Return: 0 or another error of the sink.
 */
int sampler_step(struct sampler *s, const struct trace_sink *out);

/**
 * sampler_mark() - read now what the budget allows: an interval ends
 * @s: the sampler
 * @last: the run ends: everything is read
 * @out: see sampler_step()
 *
 * A PMU that was read a moment ago is not read again, except at the end.
 *
 * Return: 0 or an error of the sink.
 */
int sampler_mark(struct sampler *s, bool last, const struct trace_sink *out);

/** sampler_cost() - add the part of the cost that is the sampler's, since the beginning */
void sampler_cost(const struct sampler *s, struct self_cost *ret);

#endif
