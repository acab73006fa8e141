// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Counters of devices that others of their PMU stop for a moment, where these take turns. */
#include <math.h>
#include <string.h>

#include "base/sums.h"
#include "engine/book/book_rows.h"

double book_stopped(const struct book *b, uint32_t group)
{
	const struct layout *l = b->layout;
	const struct counter *own = &l->counters[l->groups[group].first];
	const struct rotation *r = &b->rotations[group];
	uint64_t turns = 0, ran_ns = 0;

	for (size_t g = 0; g < l->nr_groups && own->pmu[0]; g++) {
		const struct counter *c = &l->counters[l->groups[g].first];
		const struct rotation *o = &b->rotations[g];

		/* In turns of its own it does not count when others begin. */
		if (g == group || !l->groups[g].nr || !c->device || strcmp(c->pmu, own->pmu) != 0 ||
		    o->running_ns >= o->enabled_ns ||
		    r->running_ns + o->running_ns <= r->enabled_ns)
			continue;
		turns += o->turns;
		ran_ns += o->running_ns;
	}
	return rotation_stopped(r, turns, r->enabled_ns > ran_ns ? r->enabled_ns - ran_ns : 0);
}

static uint64_t grown(uint64_t high, uint64_t value, double part)
{
	return sum_capped(high, whole_capped(ceil((double)value * part)));
}

void book_widen(struct book *b)
{
	struct book_row *row, *next;

	for (size_t i = 0; i < b->layout->nr_counters; i++) {
		struct report_counter *c = &b->counters[i];
		double part = b->roles[i] == ROLE_MEMORY || !c->valid
				      ? 0
				      : book_stopped(b, b->layout->counters[i].group);

		if (!(part > 0))
			continue;
		c->high = grown(c->high, c->value, part);
		HASH_ITER (hh, b->rows, row, next) {
			struct entry_share *s = book_share(b, row, i);

			if (s)
				s->high = grown(s->high, s->value, part);
		}
	}
}
