// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Which events are in the base, and in which turn the rest is. */
#include "platform/plan/plan_internal.h"

#include <string.h>

struct plan_need plan_need_of(const struct plan_work *w, const bool *a, const bool *b,
			      const bool *c)
{
	struct plan_need need = { 0 };
	bool any = false;
	uint64_t setting = 0;

	memset(w->seen, 0, w->nr + 1);
	for (size_t i = 0; i < w->nr; i++) {
		const struct plan_info *info = &w->infos[i];

		if (!((a && a[i]) || (b && b[i]) || (c && c[i])))
			continue;
		if (info->cycles && w->capacity.cycles) {
			need.cycles++;
			continue;
		}
		need.events++;
		if (info->range && !w->seen[info->range]) {
			w->seen[info->range] = true;
			need.ranges++;
		}
		if (!info->cycles && (!any || info->setting != setting)) {
			need.settings++;
			any = true;
			setting = info->setting;
		}
	}
	return need;
}

bool plan_fits(const struct plan_work *w, const bool *a, const bool *b, const bool *c)
{
	struct plan_need need = plan_need_of(w, a, b, c);

	return need.events <= w->capacity.events && need.cycles <= w->capacity.cycles &&
	       (!need.ranges || need.ranges <= w->pmu->family->ranges) && need.settings <= 1;
}

static bool is_empty(const struct plan_work *w, const bool *set)
{
	return !memchr(set, true, w->nr);
}

/* Is every event of @a in @b? */
static bool is_within(const struct plan_work *w, const bool *a, const bool *b)
{
	for (size_t i = 0; i < w->nr; i++) {
		if (a[i] && !b[i])
			return false;
	}
	return true;
}

static void join(const struct plan_work *w, bool *into, const bool *from)
{
	for (size_t i = 0; i < w->nr; i++)
		into[i] |= from[i];
}

static void drop_unit(struct plan_work *w, size_t i)
{
	w->nr_units--;
	memmove(plan_unit_of(w, i), plan_unit_of(w, i + 1), (w->nr_units - i) * w->nr);
	memmove(&w->unit_want[i], &w->unit_want[i + 1], (w->nr_units - i) * sizeof(*w->unit_want));
}

void plan_drop_covered(struct plan_work *w)
{
	for (size_t i = w->nr_units; i-- > 0;) {
		bool covered = is_empty(w, plan_unit_of(w, i));

		for (size_t k = 0; k < w->nr_units && !covered; k++)
			covered = k != i && is_within(w, plan_unit_of(w, i), plan_unit_of(w, k));
		if (covered)
			drop_unit(w, i);
	}
}

/* Put an event into the base if every unit still fits beside it. */
static bool try_base(struct plan_work *w, size_t event)
{
	bool fine = true;

	w->base[event] = true;
	for (size_t i = 0; i < w->nr_units && fine; i++)
		fine = plan_fits(w, w->base, plan_unit_of(w, i), NULL);
	w->base[event] = fine;
	return fine;
}

/*
 * Add events with "constant" while the base is not larger than @max: false if some are left. Events
 * with a range stay with those of the same range.
 */
static bool add_constants(struct plan_work *w, uint32_t max)
{
	bool all = true;

	for (size_t i = 0; i < w->nr; i++) {
		if (!w->infos[i].constant || w->base[i])
			continue;
		if (w->infos[i].range || plan_need_of(w, w->base, NULL, NULL).events >= max ||
		    !try_base(w, i))
			all = false;
	}
	return all;
}

/*
 * Cycles first, then events with "constant": all of them if a quarter of the counters is left for
 * turns. Otherwise some must take turns, and a large base would only multiply the turns. Events
 * with different requester ids cannot all count.
 */
static void fill_base(struct plan_work *w, bool one_setting)
{
	for (size_t i = 0; i < w->nr; i++) {
		if (w->infos[i].cycles)
			try_base(w, i);
	}
	if (one_setting && !add_constants(w, w->capacity.events - w->capacity.events / 4)) {
		for (size_t i = 0; i < w->nr; i++)
			w->base[i] &= w->infos[i].cycles;
		add_constants(w, w->capacity.events / 2);
	}
	for (size_t i = 0; i < w->nr_units; i++) {
		for (size_t k = 0; k < w->nr; k++)
			plan_unit_of(w, i)[k] &= !w->base[k];
	}
	plan_drop_covered(w);
}

static bool share_range(const struct plan_work *w, const bool *a, const bool *b)
{
	for (size_t i = 0; i < w->nr; i++) {
		for (size_t k = 0; k < w->nr && a[i] && w->infos[i].range; k++) {
			if (b[k] && w->infos[k].range == w->infos[i].range)
				return true;
		}
	}
	return false;
}

/* Units with a common range become one, as far as that fits. */
static void join_ranges(struct plan_work *w)
{
	for (size_t i = 0; i < w->nr_units; i++) {
		for (size_t k = w->nr_units - 1; k > i; k--) {
			if (share_range(w, plan_unit_of(w, i), plan_unit_of(w, k)) &&
			    plan_fits(w, w->base, plan_unit_of(w, i), plan_unit_of(w, k))) {
				join(w, plan_unit_of(w, i), plan_unit_of(w, k));
				drop_unit(w, k);
			}
		}
	}
}

static uint32_t size_of(const struct plan_work *w, const bool *a, const bool *b)
{
	struct plan_need need = plan_need_of(w, a, b, NULL);

	return need.events + need.cycles;
}

/* The largest units first: small ones fill what is left. */
static void sort_units(struct plan_work *w)
{
	for (size_t i = 1; i < w->nr_units; i++) {
		for (size_t k = i; k > 0 && size_of(w, plan_unit_of(w, k), NULL) >
						    size_of(w, plan_unit_of(w, k - 1), NULL);
		     k--) {
			bool *a = plan_unit_of(w, k - 1), *b = plan_unit_of(w, k);

			for (size_t e = 0; e < w->nr; e++) {
				bool was = a[e];

				a[e] = b[e];
				b[e] = was;
			}
		}
	}
}

/* The turn for a unit: the first with room, or the one that is smallest with it added. */
static size_t find_turn(const struct plan_work *w, const bool *unit, size_t nr, bool smallest)
{
	size_t best = nr;
	uint32_t least = UINT32_MAX;

	for (size_t i = 0; i < nr; i++) {
		uint32_t size = size_of(w, plan_turn_of(w, i), unit);

		if (size >= least || !plan_fits(w, w->base, plan_turn_of(w, i), unit))
			continue;
		best = i;
		least = smallest ? size : 0;
	}
	return best;
}

/* Distribute units over at most @max turns; false when these are not enough. */
static bool fill_turns(struct plan_work *w, size_t max, bool smallest)
{
	size_t nr = smallest ? max : 0;

	memset(w->turns, 0, max * w->nr);
	for (size_t i = 0; i < w->nr_units; i++) {
		size_t turn = find_turn(w, plan_unit_of(w, i), nr, smallest);

		if (turn == nr && (smallest || nr == max))
			return false;
		if (turn == nr)
			nr++;
		join(w, plan_turn_of(w, turn), plan_unit_of(w, i));
	}
	w->nr_turns = nr;
	return true;
}

void plan_fill(struct plan_work *w, const bool *all)
{
	struct plan_need need = plan_need_of(w, all, NULL, NULL);

	if (plan_fits(w, all, NULL, NULL)) {
		memcpy(w->base, all, w->nr);
		return;
	}
	fill_base(w, need.settings <= 1);
	join_ranges(w);
	sort_units(w);
	fill_turns(w, w->nr_units, false);
	/* Keep that number of turns, but make them equally large if possible */
	if (!fill_turns(w, w->nr_turns, true))
		fill_turns(w, w->nr_units, false);
	if (need.settings <= 1)
		return;
	/* No base: its events, cycles, are in every turn instead. */
	for (size_t i = 0; i < w->nr_turns; i++)
		join(w, plan_turn_of(w, i), w->base);
	memset(w->base, 0, w->nr);
}
