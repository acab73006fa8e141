// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "live/lookup/live_cpus.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/clock.h"
#include "base/text.h"

#define LOOK_NS NS_PER_S

int live_cpus_new(struct live_cpus *c)
{
	c->known = c->map->online;
	c->tried_ns = calloc(c->map->nr_cpus + 1, sizeof(*c->tried_ns));
	return c->tried_ns ? 0 : -ENOMEM;
}

void live_cpus_free(struct live_cpus *c)
{
	free(c->tried_ns);
	c->tried_ns = NULL;
}

/* One line is enough: each report has the CPU time of all of them. */
static void say_no_socket(struct live_cpus *c, uint32_t cpu)
{
	if (c->said)
		return;
	c->said = true;
	snprintf(c->news, sizeof(c->news),
		 "CPU %u came online on no socket of this run: its CPU time is not counted, start "
		 "again to count it",
		 cpu);
}

static int came(struct live_cpus *c, uint32_t cpu)
{
	struct trace_cpu event = { .cpu = cpu, .online = true };
	uint64_t now = monotonic_ns();

	if (c->tried_ns[cpu] && now - c->tried_ns[cpu] < LOOK_NS)
		return 0;
	c->tried_ns[cpu] = now;
	if (cpu_map_find(c->map, c->fs, cpu))
		return 0;
	c->tried_ns[cpu] = 0;
	cpulist_set(&c->known, cpu, true);
	event.socket = c->map->socket[cpu];
	if (event.socket == CPU_NO_SOCKET)
		say_no_socket(c, cpu);
	else
		ledger_cpu_socket(c->ledger, cpu, event.socket);
	return trace_send_cpu(c->out, &event);
}

static int went(struct live_cpus *c, uint32_t cpu)
{
	const struct trace_cpu event = { .cpu = cpu, .socket = LAYOUT_NO_SOCKET };

	cpulist_set(&c->known, cpu, false);
	return trace_send_cpu(c->out, &event);
}

int live_cpus_met(struct live_cpus *c, uint32_t cpu)
{
	return cpu >= c->map->nr_cpus || cpulist_contains(&c->known, cpu) ? 0 : came(c, cpu);
}

int live_cpus_step(struct live_cpus *c)
{
	uint64_t now = monotonic_ns();
	int err = 0;

	if (now < c->next_ns)
		return 0;
	c->next_ns = now + LOOK_NS;
	for (uint32_t cpu = 0; cpu < c->map->nr_cpus && !err; cpu++)
		if (!cpulist_contains(&c->known, cpu) && ledger_cpu_runs(c->ledger, cpu))
			err = came(c, cpu);
	return err;
}

int live_cpus_mark(struct live_cpus *c, const struct cpulist *online)
{
	int err = 0;

	if (!cpulist_count(online))
		return 0;
	for (uint32_t cpu = 0; cpu < c->map->nr_cpus && !err; cpu++) {
		bool was = cpulist_contains(&c->known, cpu), is = cpulist_contains(online, cpu);

		if (was != is)
			err = is ? came(c, cpu) : went(c, cpu);
	}
	return err;
}

bool live_cpus_news(struct live_cpus *c, char *ret_text, size_t size)
{
	if (!c->news[0])
		return false;
	str_copy(ret_text, size, c->news);
	c->news[0] = '\0';
	return true;
}
