// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Counters that others of their PMU stop for a moment, where these take turns. */
#include <stdlib.h>
#include <string.h>

#include "base/sums.h"
#include "engine/book/book_rows.h"

static bool same_pmu(const struct layout *l, uint32_t a, uint32_t b)
{
	const char *pmu = l->counters[l->groups[a].first].pmu;

	return l->groups[a].nr && l->groups[b].nr && pmu[0] &&
	       !strcmp(pmu, l->counters[l->groups[b].first].pmu);
}

int book_stops_new(struct book *b)
{
	b->beside = calloc(b->layout->nr_groups + 1, sizeof(*b->beside));
	for (uint32_t g = 0, k; b->beside && g < b->layout->nr_groups; g++) {
		b->beside[g] = g;
		for (k = g; k > 0 && !same_pmu(b->layout, k - 1, g);)
			k--;
		if (!k)
			continue;
		b->beside[g] = b->beside[k - 1];
		b->beside[k - 1] = g;
	}
	return b->beside ? 0 : -1;
}

double book_stopped(const struct book *b, uint32_t group, const struct rotation *r)
{
	uint64_t turns = 0, ran_ns = 0;

	for (uint32_t g = b->beside[group]; g != group; g = b->beside[g]) {
		const struct rotation *o = &b->rotations[g];

		/* In turns of its own it does not count when others begin. */
		if (o->running_ns >= o->enabled_ns ||
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
