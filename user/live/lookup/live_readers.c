// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "live/lookup/live_readers.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "trace.h"

int live_readers_map(struct counters *c, const struct cpu_socket *domains, size_t nr_domains,
		     const struct sysfs *fs, struct diag *d, struct cpu_map *ret)
{
	struct cpu_socket *known = calloc(c->nr_sockets + 1, sizeof(*known));
	int err;

	if (!known)
		return diag_no_memory(d);
	for (size_t s = 0; s < c->nr_sockets; s++)
		known[s] = (struct cpu_socket){ c->sockets[s].id, c->sockets[s].cpus };
	if (c->nr_sockets)
		err = cpu_map_read(fs, known, c->nr_sockets, d, ret);
	else
		err = cpu_map_read(fs, domains, nr_domains, d, ret);
	free(known);
	if (!err && (ret->nr_sockets > TRACE_MAX_SOCKETS || c->nr > TRACE_MAX_COUNTERS))
		err = diag_fail(d, -E2BIG,
				"%u sockets with %zu counters: a trace has room for %d and %d",
				ret->nr_sockets, c->nr, TRACE_MAX_SOCKETS, TRACE_MAX_COUNTERS);
	return err ? err : counters_readers(c, ret->socket, ret->nr_cpus, ret->nr_sockets, d);
}

int live_reader_start(const struct counter_reader *r, struct ledger *l, uint64_t window_ns,
		      struct diag *d)
{
	const struct ledger_reading_plan plan = {
		.cpu = r->cpu,
		.first = r->first,
		.fds = r->fds,
		.nr = r->nr,
		.period_ns = window_ns,
	};

	return ledger_reader_start(l, r->index, &plan, d);
}

/* The first PMU of a reader represents it. */
static int read_problem(const struct counters *c, const struct counter_reader *r, int err,
			struct diag *d)
{
	const struct counter *item = &c->items[c->events[r->events[0]].counter];

	if (d->what[0])
		return err;
	return diag_fail(d, err, "cannot read the counters of socket %d: %s",
			 c->sockets[item->socket].id, strerror(-err));
}

int live_readers_start(const struct counters *c, struct ledger *l, uint64_t window_ns,
		       struct diag *d)
{
	for (size_t i = 0; i < c->nr_readers; i++) {
		const struct counter_reader *r = &c->readers[i];
		int err = live_reader_start(r, l, window_ns, d);

		if (!err)
			err = ledger_window_now(l, r->index);
		if (err)
			return read_problem(c, r, err, d);
	}
	return 0;
}

bool live_readers_on(const struct counters *c, uint32_t socket)
{
	for (size_t i = 0; i < c->nr_readers; i++)
		if (c->readers[i].index == socket && c->readers[i].nr)
			return true;
	return false;
}

void live_readers_now(const struct counters *c, struct ledger *l)
{
	for (size_t i = 0; i < c->nr_readers; i++)
		ledger_window_now(l, c->readers[i].index);
}
