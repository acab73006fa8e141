// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Which turn is next, and how long it lasts. */
#include "platform/meter/internal.h"

#include <math.h>

/* The lengths of turns vary by at most this fraction. */
#define VARIATION  0.25
/*
 * Time beyond this many turns is of no turn: we were stopped. Other turns need not compensate it.
 */
#define MAX_LENGTH 20
/* Part of the time that changes may take, and how much longer turns get for that at most. */
#define GAP_PART   0.01
#define MAX_SCALE  2.0
/* About this many of the newest changes count. */
#define GAP_MEMORY 8
/* Turns this close to the least, as a part of a turn, are as good: chance decides. */
#define NEAR	   0.125

/* A number from 0 to below 1; xorshift, for nothing that must be hard to guess. */
static double random_part(struct meter *m)
{
	m->random ^= m->random << 13;
	m->random ^= m->random >> 7;
	m->random ^= m->random << 17;
	return (double)(m->random >> 11) / (1ull << 53);
}

/*
 * Length of a turn: longer where changes are slow. Turns that should be short come rarely instead.
 */
static double length_of(const struct meter *m, const struct meter_pmu *p)
{
	double length = m->o.turn_ns * p->shares[p->turn].length;

	if (p->shares[p->turn].length < 1)
		return length;
	return length * fmin(fmax(p->gap_ns / (GAP_PART * m->o.turn_ns), 1), MAX_SCALE);
}

/*
 * The time per weight that all turns will have had when @left ns more have been dealt out to those
 * with the least. After days a few ns more are lost in rounding: no turn may then seem to have less
 * than all.
 */
static double level(const struct meter_pmu *p, double left)
{
	double max = INFINITY, now = 0;

	for (size_t nr = p->nr_turns + 1, was = nr + 1; nr && nr < was;) {
		double weights = 0, had = left;

		was = nr;
		nr = 0;
		for (size_t i = 0; i < p->nr_turns; i++) {
			if (p->shares[i].had >= max)
				continue;
			weights += p->shares[i].weight;
			had += p->shares[i].had * p->shares[i].weight;
			nr++;
		}
		if (nr)
			max = now = had / weights;
	}
	return now;
}

/*
 * The rest of a turn's time in this interval, divided into equal parts about as long as @length. So
 * all turns have had their time when the interval ends, and none has a turn too many. Turns shorter
 * than usual are left alone: they would only get shorter.
 */
static double part_of_interval(const struct meter *m, const struct meter_pmu *p, double length,
			       bool *ret_last)
{
	const struct meter_share *s = &p->shares[p->turn];
	double left, need;

	*ret_last = false;
	if (s->length < 1 || m->o.interval_ns < 2 * p->nr_turns * m->o.turn_ns ||
	    p->turn_begin_ns >= m->end_ns)
		return length;
	left = m->end_ns - p->turn_begin_ns;
	need = (level(p, left) - s->had) * s->weight;
	*ret_last = need < 1.5 * length;
	return *ret_last ? fmax(need, length / 2) : need / round(need / length);
}

void turns_begin(struct meter *m, struct meter_pmu *p)
{
	double length = m->o.turn_ns;
	bool last;

	p->turn_begin_ns = m->ops->now();
	if (m->o.weighed) {
		length = part_of_interval(m, p, length_of(m, p), &last);
		if (!last)
			length *= 1 - VARIATION + 2 * VARIATION * random_part(m);
	}
	p->turn_end_ns = p->turn_begin_ns + (uint64_t)length;
}

/* The turn that has had the least time by its weight, or one of several. */
static size_t least_had(struct meter *m, const struct meter_pmu *p)
{
	size_t least = 0, near = 0, ret = 0;

	for (size_t i = 1; i < p->nr_turns; i++) {
		if (p->shares[i].had < p->shares[least].had)
			least = i;
	}
	for (size_t i = 0; i < p->nr_turns; i++) {
		if (p->shares[i].had > p->shares[least].had + NEAR * m->o.turn_ns)
			continue;
		near++;
		if (random_part(m) * near < 1)
			ret = i;
	}
	return ret;
}

size_t turns_next(struct meter *m, struct meter_pmu *p)
{
	uint64_t now = m->ops->now(), had = now - p->turn_begin_ns;

	if (!m->o.weighed)
		return (p->turn + 1) % p->nr_turns;
	if (had > MAX_LENGTH * m->o.turn_ns)
		had = MAX_LENGTH * m->o.turn_ns;
	p->shares[p->turn].had += had / p->shares[p->turn].weight;
	p->turn_begin_ns = now;
	return least_had(m, p);
}

void turns_interval(struct meter *m)
{
	uint64_t now = m->ops->now(), length = m->o.interval_ns;

	/*
	 * Ends are reported late, the later the busier the machine is: the next one is computed
	 * from the due time.
	 */
	if (now + length / 2 < m->end_ns || now >= m->end_ns + length)
		m->end_ns = now;
	m->end_ns += length;
}

void turns_gap(struct meter_pmu *p, uint64_t ns)
{
	double gap = ns;

	/* Sometimes another task has the processor: that is not the cost of a change. */
	if (p->gap_ns > 0)
		gap = p->gap_ns + (fmin(gap, 2 * p->gap_ns) - p->gap_ns) / GAP_MEMORY;
	p->gap_ns = gap;
}

void meter_turns_restart(struct meter *m)
{
	m->end_ns = m->ops->now() + m->o.interval_ns;
	for (size_t i = 0; i < m->plan.nr_pmus; i++) {
		struct meter_pmu *p = &m->pmus[i];

		for (size_t t = 0; t < p->nr_turns; t++)
			p->shares[t].had = 0;
		if (p->turn_end_ns != UINT64_MAX)
			turns_begin(m, p);
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

size_t meter_turning(const struct meter *m)
{
	size_t nr = 0;

	for (size_t i = 0; i < m->plan.nr_pmus; i++)
		nr += m->pmus[i].nr_turns > 1;
	return nr;
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
