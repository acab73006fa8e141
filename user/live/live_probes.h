/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Latencies of a live run: what its arguments ask of the sampler, and what is said of it. */
#ifndef CLI_LIVE_PROBES_H
#define CLI_LIVE_PROBES_H

#include "run_options.h"
#include "platform/meter/sampler.h"

/**
 * live_probes_open() - open the sampler that the arguments ask for
 * @args: what the user asked for
 * @pmus: must outlive the sampler
 * @counters: what counts traffic; open already
 * @header: has the sockets; the latencies are added
 * @ret: free with sampler_free(); NULL when no latencies are asked for
 *
 * Return: 0 or -ENOMEM.
 */
int live_probes_open(const struct run_options *args, const struct pmu_list *pmus,
		     const struct counters *counters, struct trace_header *header,
		     struct sampler **ret);

/** live_probes_cost() - set the part of the cost that is the sampler's; NULL is fine */
void live_probes_cost(const struct sampler *s, struct self_cost *ret);

/** live_probes_describe() - one line for people; "" for NULL */
void live_probes_describe(const struct sampler *s, const struct run_options *args, char *ret_text,
			  size_t size);

#endif
