/* SPDX-License-Identifier: GPL-2.0-only */
/* The traffic model, seen from the units. */
#include "machine.h"

/* A t410ctl that was killed while it wrote must not stop the machine for good */
#define MAX_SPINS 10000000

static uint32_t read_begin(void)
{
	uint32_t seq = __atomic_load_n(&shm->seq, __ATOMIC_ACQUIRE);

	for (int i = 0; (seq & 1) && i < MAX_SPINS; i++)
		seq = __atomic_load_n(&shm->seq, __ATOMIC_ACQUIRE);
	return seq;
}

static bool read_retry(uint32_t seq)
{
	__atomic_thread_fence(__ATOMIC_ACQUIRE);
	return __atomic_load_n(&shm->seq, __ATOMIC_RELAXED) != seq;
}

uint64_t even_share(uint64_t total, unsigned int nth, unsigned int parts)
{
	return total / parts + (nth < total % parts);
}

uint64_t clock_total(enum kind kind, uint64_t now)
{
	uint64_t total;
	uint32_t seq;

	do {
		seq = read_begin();
		total = ramp_at(&shm->clock[kind], now);
	} while (read_retry(seq));
	return total;
}

static uint64_t flow_total(const struct flow *f, uint32_t event, uint64_t now)
{
	uint64_t total = 0;

	for (uint32_t i = 0; i < f->nr_events && i < SHM_MAX_EVENTS; i++)
		if (f->event[i].id == event)
			total += flow_event_total(shm, f, &f->event[i], now);
	return total;
}

uint64_t flows_total(flow_filter *pass, const void *unit, unsigned int index, uint32_t event,
		     uint64_t now)
{
	uint64_t total;
	uint32_t seq;

	do {
		seq = read_begin();
		total = 0;
		for (uint32_t i = 0; i < shm->nr_flows && i < SHM_MAX_FLOWS; i++)
			if (pass(unit, index, &shm->flow[i]))
				total += flow_total(&shm->flow[i], event, now);
	} while (read_retry(seq));
	return total;
}
