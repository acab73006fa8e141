// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Which turn is next, and how long it lasts. */
#include "platform/meter_parts.h"

/* Turns differ by so much from their length, at most. */
#define VARIATION  0.25
/* Longer than so many turns is nobody's turn: we were stopped. Others need not make up for it. */
#define MAX_LENGTH 20

/* A number from 0 to below 1; xorshift, for nothing that must be hard to guess. */
static double random_part(struct meter *m)
{
	m->random ^= m->random << 13;
	m->random ^= m->random >> 7;
	m->random ^= m->random << 17;
	return (double)(m->random >> 11) / (1ull << 53);
}

void turns_begin(struct meter *m, struct meter_pmu *p)
{
	double length = m->o.turn_ns;

	if (m->o.weighed)
		length *= p->shares[p->turn].length *
			  (1 - VARIATION + 2 * VARIATION * random_part(m));
	p->turn_begin_ns = m->ops->now();
	p->turn_end_ns = p->turn_begin_ns + (uint64_t)length;
}

size_t turns_next(struct meter *m, struct meter_pmu *p)
{
	uint64_t now = m->ops->now(), had = now - p->turn_begin_ns;
	size_t least = 0;

	if (!m->o.weighed)
		return (p->turn + 1) % p->nr_turns;
	if (had > MAX_LENGTH * m->o.turn_ns)
		had = MAX_LENGTH * m->o.turn_ns;
	p->shares[p->turn].had += had / p->shares[p->turn].weight;
	p->turn_begin_ns = now;
	for (size_t i = 1; i < p->nr_turns; i++) {
		if (p->shares[i].had < p->shares[least].had)
			least = i;
	}
	return least;
}

void meter_turns_restart(struct meter *m)
{
	uint64_t now = m->ops->now();

	for (size_t i = 0; i < m->plan.nr_pmus; i++) {
		struct meter_pmu *p = &m->pmus[i];

		p->turn_begin_ns = now;
		for (size_t t = 0; t < p->nr_turns; t++)
			p->shares[t].had = 0;
	}
}

/* The PMU of this number, NULL for that of the cores. */
static struct meter_pmu *pmu_numbered(const struct meter *m, uint32_t number)
{
	for (size_t i = 0; i < m->plan.nr_pmus; i++) {
		if (pmu_number(m, &m->pmus[i]) == number)
			return &m->pmus[i];
	}
	return NULL;
}

size_t meter_turns(const struct meter *m, uint32_t pmu)
{
	const struct meter_pmu *p = pmu_numbered(m, pmu);

	return p ? p->nr_turns : 0;
}

size_t meter_turn(const struct meter *m, size_t want)
{
	const struct meter_pmu *p = pmu_numbered(m, m->number[want]);

	for (size_t t = 0; p && t < p->nr_turns; t++) {
		for (size_t i = 0; i < p->turns[t].nr; i++) {
			if (p->turns[t].wants[i] == m->plan.event_of[want])
				return t;
		}
	}
	return METER_ALWAYS;
}

void meter_weigh(struct meter *m, uint32_t pmu, size_t turn, double weight, double length)
{
	struct meter_pmu *p = pmu_numbered(m, pmu);

	if (!p || turn >= p->nr_turns)
		return;
	p->shares[turn].weight = weight;
	p->shares[turn].length = length;
}
