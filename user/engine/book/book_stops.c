// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Counters that others of their PMU stop for a moment, where these take turns. */
#include <stdlib.h>
#include <string.h>

#include "base/sums.h"
#include "engine/book/book_rows.h"

/* A group by itself has a number that no other group has. */
static uint32_t pmu_of(const struct layout *l, uint32_t group)
{
	const char *pmu = l->counters[l->groups[group].first].pmu;
	uint32_t g = 0;

	while (g < group && (!l->groups[g].nr || !l->groups[group].nr || !pmu[0] ||
			     strcmp(l->counters[l->groups[g].first].pmu, pmu) != 0))
		g++;
	return g;
}

int book_stops_new(struct book *b)
{
	b->pmus = calloc(b->layout->nr_groups + 1, sizeof(*b->pmus));
	for (uint32_t g = 0; b->pmus && g < b->layout->nr_groups; g++)
		b->pmus[g] = pmu_of(b->layout, g);
	return b->pmus ? 0 : -1;
}

double book_stopped(const struct book *b, uint32_t group, const struct rotation *r)
{
	uint64_t turns = 0, ran_ns = 0;

	for (size_t g = 0; g < b->layout->nr_groups; g++) {
		const struct rotation *o = &b->rotations[g];

		/* In turns of its own it does not count when others begin. */
		if (g == group || b->pmus[g] != b->pmus[group] || o->running_ns >= o->enabled_ns ||
		    r->running_ns + o->running_ns <= r->enabled_ns)
			continue;
		turns += o->turns;
		ran_ns += o->running_ns;
	}
	return rotation_stopped(r, turns, r->enabled_ns > ran_ns ? r->enabled_ns - ran_ns : 0);
}

/* Windows of memory are not turns; the times of its counters say all. */
static double stopped(const struct book *b, uint32_t counter)
{
	const struct report_counter *c = &b->counters[counter];
	uint32_t group = b->layout->counters[counter].group;
	struct rotation own = { .enabled_ns = c->enabled_ns, .running_ns = c->running_ns };

	return !c->valid ? 0
			 : book_stopped(b, group, c->counter->device ? &b->rotations[group] : &own);
}

void book_widen(struct book *b)
{
	struct book_row *row, *next;

	for (size_t i = 0; i < b->layout->nr_counters; i++) {
		struct report_counter *c = &b->counters[i];
		double part = stopped(b, i);

		if (!(part > 0))
			continue;
		c->high = grown_capped(c->high, c->value, part);
		HASH_ITER (hh, b->rows, row, next) {
			struct entry_share *s = book_share(b, row, i);

			if (s)
				s->high = grown_capped(s->high, s->value, part);
		}
	}
}
