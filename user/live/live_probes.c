// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "live/live_probes.h"

#include <stdio.h>

#include "base/text.h"
#include "trace/header.h"

int live_probes_open(const struct run_options *args, const struct pmu_list *pmus,
		     const struct counters *counters, struct trace_header *header,
		     struct sampler **ret)
{
	struct sampler_options o = {
		.interval_ns = args->probe_ns,
		.budget = args->read_budget,
		.socket_ids = header->layout.socket_ids,
		.nr_sockets = header->layout.nr_sockets,
		.counted = counters->pmus,
		.nr_counted = counters->nr_pmus,
		.ops = &perf_kernel,
	};
	const struct probe *probes;
	size_t nr;
	int err;

	*ret = NULL;
	if (args->no_counters || !args->read_budget)
		return 0;
	err = sampler_open(pmus, &o, ret);
	if (err)
		return err;
	probes = sampler_probes(*ret, &nr);
	return header_add_latencies(header, probes, nr);
}

void live_probes_cost(const struct sampler *s, struct self_cost *ret)
{
	struct sampler_cost c = { 0 };

	if (s)
		sampler_cost(s, &c);
	ret->probes = c.readings;
	ret->probe_ns = c.ns;
	ret->probe_deferred = c.deferred;
	ret->probe_failed = c.failed;
}

void live_probes_describe(const struct sampler *s, const struct run_options *args, char *ret_text,
			  size_t size)
{
	size_t nr = 0;

	ret_text[0] = '\0';
	if (!s)
		return;
	sampler_probes(s, &nr);
	if (nr)
		str_append(ret_text, size,
			   "%zu latenc%s of %zu PMU%s every %g ms, for at most %g%% of a CPU", nr,
			   nr == 1 ? "y" : "ies", sampler_pmus(s), sampler_pmus(s) == 1 ? "" : "s",
			   (double)args->probe_ns / 1e6, args->read_budget * 100);
	else
		str_append(ret_text, size, "no latencies");
	if (sampler_note(s)[0])
		str_append(ret_text, size, ": %s", sampler_note(s));
}
