/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Shared by plan.c, which collects events, and plan_turns.c, which distributes them. */
#ifndef PLATFORM_PLAN_PLAN_INTERNAL_H
#define PLATFORM_PLAN_PLAN_INTERNAL_H

#include "platform/plan/plan.h"

/**
 * struct plan_info - an event's constraints
 * @want: index of the want that stands for it
 * @cycles: "cycles" of a family where that is one counter of its own
 * @constant: some want would like it in the base
 * @setting: requester id and its switch; 0 = none. Cycles go with any setting
 * @range: number of its address range from 1; 0 = none
 */
struct plan_info {
	uint32_t want;
	bool cycles;
	bool constant;
	uint64_t setting;
	uint32_t range;
};

/**
 * struct plan_work - planning of one PMU
 * @infos: its events, @nr of them. Sets of events are arrays of @nr bool
 * @units: events that must be together, one set after the other
 * @unit_want: a want of each unit, for messages
 * @base: events that always count
 * @turns: one set of events after the other
 * @seen: ranges seen so far, for counting them
 */
struct plan_work {
	const struct want_list *wants;
	const struct pmu *pmu;
	struct plan_capacity capacity;
	struct plan_info *infos;
	size_t nr, cap;
	bool *units;
	uint32_t *unit_want;
	size_t nr_units;
	bool *base;
	bool *turns;
	size_t nr_turns;
	bool *seen;
};

static inline bool *plan_unit_of(const struct plan_work *w, size_t i)
{
	return w->units + i * w->nr;
}

static inline bool *plan_turn_of(const struct plan_work *w, size_t i)
{
	return w->turns + i * w->nr;
}

/**
 * struct plan_need - the counters and settings that events need
 * @events, @cycles: counters of both kinds
 * @ranges: different address ranges
 * @settings: different settings of the requester id
 */
struct plan_need {
	uint32_t events;
	uint32_t cycles;
	uint32_t ranges;
	uint32_t settings;
};

/* plan_need_of() - needs of up to three sets of events together; sets may be NULL */
struct plan_need plan_need_of(const struct plan_work *w, const bool *a, const bool *b,
			      const bool *c);

/* plan_fits() - can they count at the same time? */
bool plan_fits(const struct plan_work *w, const bool *a, const bool *b, const bool *c);

/* plan_drop_covered() - clear units that are empty or contained in another unit */
void plan_drop_covered(struct plan_work *w);

/* plan_fill() - distribute @all events on base and turns; every unit fits alone */
void plan_fill(struct plan_work *w, const bool *all);

#endif
