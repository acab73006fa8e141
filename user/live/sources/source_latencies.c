// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Latencies of a run: readings of the sampler become samples of the trace. */
#include <errno.h>

#include "base/text.h"
#include "live/sources/source.h"
#include "platform/meter/sampler.h"
#include "trace/header.h"

struct latencies {
	const struct source_context *c;
	struct sampler *sampler;
};

static bool wanted(const struct run_options *args)
{
	return !args->no_counters && args->read_budget > 0;
}

static int open_all(void *s, struct source_context *c, struct diag *d)
{
	struct latencies *l = s;
	const struct sampler_options o = {
		.interval_ns = c->args->probe_ns,
		.budget = c->args->read_budget,
		.socket_ids = c->header->layout.socket_ids,
		.nr_sockets = c->header->layout.nr_sockets,
		.counted = c->counters->pmus,
		.nr_counted = c->counters->nr_pmus,
		.ops = &perf_kernel,
	};
	const struct probe *probes;
	size_t nr;
	int err = sampler_open(c->pmus, &o, &l->sampler);

	l->c = c;
	if (!err) {
		probes = sampler_probes(l->sampler, &nr);
		err = header_add_latencies(c->header, probes, nr);
	}
	return err ? diag_error(d, err, "cannot measure latencies") : 0;
}

/* The first samples lie behind the mark. */
static int start(void *s, struct diag *d)
{
	struct latencies *l = s;

	(void)d;
	sampler_start(l->sampler);
	return 0;
}

static uint64_t next_ns(const void *s)
{
	const struct latencies *l = s;

	return sampler_next_ns(l->sampler);
}

static int step(void *s, struct diag *d)
{
	struct latencies *l = s;

	(void)d;
	return sampler_step(l->sampler, l->c->out);
}

static int mark(void *s, enum mark_kind kind, struct diag *d)
{
	struct latencies *l = s;

	(void)d;
	return sampler_mark(l->sampler, kind == MARK_LAST, l->c->out);
}

static void cost(const void *s, struct self_cost *ret)
{
	const struct latencies *l = s;

	sampler_cost(l->sampler, ret);
}

static void describe(const void *s, size_t i, char *ret_text, size_t size)
{
	const struct latencies *l = s;
	size_t nr = 0;

	if (i)
		return;
	sampler_probes(l->sampler, &nr);
	if (nr)
		str_append(ret_text, size,
			   "%zu latenc%s of %zu PMU%s every %g ms, for at most %g%% of a CPU", nr,
			   nr == 1 ? "y" : "ies", sampler_pmus(l->sampler),
			   sampler_pmus(l->sampler) == 1 ? "" : "s",
			   (double)l->c->args->probe_ns / 1e6, l->c->args->read_budget * 100);
	else
		str_append(ret_text, size, "no latencies");
	if (sampler_note(l->sampler)[0])
		str_append(ret_text, size, ": %s", sampler_note(l->sampler));
}

static void free_all(void *s)
{
	struct latencies *l = s;

	sampler_free(l->sampler);
}

const struct live_source source_latencies = {
	.order = SOURCE_BEHIND,
	.size = sizeof(struct latencies),
	.wanted = wanted,
	.open = open_all,
	.start = start,
	.next_ns = next_ns,
	.step = step,
	.mark = mark,
	.cost = cost,
	.describe = describe,
	.free = free_all,
};
