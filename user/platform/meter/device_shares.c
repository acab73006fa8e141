// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "platform/meter/device_shares.h"

#include <errno.h>
#include <stdlib.h>

#include "platform/plan/device_turns.h"
#include "trace.h"

/* Shorter turns were cut off by the end of an interval, and say little. */
#define SHORTEST_NS 10000000ull

/* A PMU with turns. */
struct pmu_shares {
	size_t nr;
	struct device_turn *turns;
	double *weights;
};

struct device_shares {
	const struct device_plan *plan;
	struct meter *meter;
	struct pmu_shares *pmus; /* by number */
	size_t nr_pmus;
	uint32_t *counter_of; /* by want: its counter of bytes, from 1; 0 = none */
};

static int pmu_new(struct meter *m, uint32_t pmu, struct pmu_shares *ret)
{
	ret->nr = meter_turns(m, pmu);
	ret->turns = calloc(ret->nr + 1, sizeof(*ret->turns));
	ret->weights = calloc(ret->nr + 1, sizeof(*ret->weights));
	for (size_t t = 0; ret->turns && t < ret->nr; t++)
		ret->turns[t].apart = true;
	return ret->turns && ret->weights ? 0 : -ENOMEM;
}

static const struct counter *counter_of(const struct device_shares *s, uint32_t want)
{
	uint32_t at = s->counter_of[want];

	return at ? &s->plan->counters[at - 1] : NULL;
}

static void set_weights(struct device_shares *s, uint32_t pmu)
{
	struct pmu_shares *p = &s->pmus[pmu];
	size_t apart = 0;
	double all = 0;

	device_turns_weigh(p->turns, p->nr, p->weights);
	for (size_t t = 0; t < p->nr; t++) {
		apart += p->turns[t].apart;
		all += p->weights[t];
	}
	for (size_t t = 0; t < p->nr; t++) {
		double part;

		if (!p->turns[t].apart) {
			meter_weigh(s->meter, pmu, t, p->weights[t], 1);
			continue;
		}
		part = device_turns_port(p->turns, p->nr, t);
		if (all > 0)
			meter_weigh(s->meter, pmu, t, all * part / (1 - part) / apart,
				    DEVICE_PORT_LENGTH);
	}
}

int device_shares_new(const struct device_plan *plan, struct meter *m, struct device_shares **ret)
{
	struct device_shares *s = calloc(1, sizeof(*s));
	int err = 0;

	if (!s)
		return -ENOMEM;
	s->plan = plan;
	s->meter = m;
	s->counter_of = calloc(plan->wants.nr + 1, sizeof(*s->counter_of));
	s->pmus = calloc(plan->wants.nr + 1, sizeof(*s->pmus));
	if (!s->counter_of || !s->pmus)
		err = -ENOMEM;
	for (size_t i = 0; i < plan->wants.nr && !err; i++) {
		uint32_t pmu = meter_pmu(m, i);

		if (pmu < s->nr_pmus)
			continue;
		err = pmu_new(m, pmu, &s->pmus[pmu]);
		s->nr_pmus = pmu + 1;
	}
	for (size_t i = 0; i < plan->nr_counters && !err; i++) {
		uint32_t want = plan->counter_wants[i];
		const struct counter *c = &plan->counters[i];
		const struct device *device = &plan->devices[c->device - 1];
		size_t turn = meter_turn(m, want);
		struct device_turn *t;

		if (c->unit == UNIT_BYTES)
			s->counter_of[want] = i + 1;
		if (turn == METER_ALWAYS)
			continue;
		t = &s->pmus[meter_pmu(m, want)].turns[turn];
		t->apart &= device->kind == DEVICE_PORT && device_plan_checks(plan, c->device - 1);
		t->port = device->kind == DEVICE_PORT ? c->device : device->port;
	}
	if (err) {
		device_shares_free(s);
		return err;
	}
	for (uint32_t i = 0; i < s->nr_pmus; i++)
		set_weights(s, i);
	*ret = s;
	return 0;
}

void device_shares_free(struct device_shares *s)
{
	if (!s)
		return;
	for (size_t i = 0; s->pmus && i < s->nr_pmus; i++) {
		free(s->pmus[i].turns);
		free(s->pmus[i].weights);
	}
	free(s->pmus);
	free(s->counter_of);
	free(s);
}

void device_shares_segment(struct device_shares *s, const struct stat_segment *segment)
{
	size_t turn = METER_ALWAYS;
	uint64_t bytes = 0, running_ns = 0;

	if (s->pmus[segment->pmu].nr < 2)
		return;
	for (size_t i = 0; i < segment->nr; i++) {
		const struct counter *c = counter_of(s, segment->counters[i]);
		size_t its = c ? meter_turn(s->meter, segment->counters[i]) : METER_ALWAYS;

		if (its == METER_ALWAYS)
			continue;
		turn = its;
		bytes += segment->readings[i].value;
		running_ns = segment->readings[i].running_ns;
	}
	if (turn == METER_ALWAYS || running_ns < SHORTEST_NS)
		return;
	device_turn_add(&s->pmus[segment->pmu].turns[turn], bytes, running_ns);
	set_weights(s, segment->pmu);
}
