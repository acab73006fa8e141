/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The plan: which events of a PMU count when. Events that fit count all the time; the rest takes
 * turns, beside a base that stays. Pure: the hardware is an argument.
 */
#ifndef PLATFORM_PLAN_PLAN_H
#define PLATFORM_PLAN_PLAN_H

#include "platform/spec/want.h"

/**
 * struct plan_capacity - the events that a PMU can count at the same time
 * @events: ordinary events
 * @cycles: events of the separate cycle counter; ordinary ones do not use it up
 */
struct plan_capacity {
	uint32_t events;
	uint32_t cycles;
};

/**
 * struct plan_pmu - a PMU
 * @pmu: not owned
 * @events: different events, as indexes of wants (two wants with the same configuration are one
 *	event: the first one stands for both; so are all "cycles" where that is a counter of its
 *	own, because filters do not affect it)
 * @nr_events: their number
 * @base, @nr_base: events of @events that always count
 * @turns: by turn, events of @events that count in it beside the base; empty when @base
 *	has all
 * @nr_turns: 0 = nothing takes turns
 */
struct plan_pmu {
	const struct pmu *pmu;
	uint32_t *events;
	size_t nr_events;
	uint32_t *base;
	size_t nr_base;
	struct plan_turn {
		uint32_t *events;
		size_t nr;
	} * turns;
	size_t nr_turns;
};

struct plan {
	struct plan_pmu *pmus;
	size_t nr_pmus;
	uint32_t *event_of; /* by want: the want that stands for it */
};

/**
 * plan_make() - decide
 * @wants: the wants; events without a PMU are left out. Must outlive the plan
 * @capacity: what each PMU can count at a time, in the order in which PMUs first appear in @wants
 * @d: gets a want that can never count, for example a set that is larger than the PMU
 * @ret: release with plan_free()
 *
 * - Events of a set are in one turn (or the base) together, or the set's events that
 *   are in the base count as being with it: the base is read at each change of turns.
 * - "cycles" is needed by many metrics and goes to the base where it is a counter of its
 *   own (family->one_cycles).
 * - Events with "constant" enter the base first. A base never fills the PMU when there are turns:
 * the largest set must fit, and a quarter of the counters is left; half of them if that is
 * too little for all events with "constant".
 * - Constraints: at most family->ranges address ranges at the same time, one setting of the
 *   requester id per PMU at the same time (no base then, cycles are in every turn); events
 *   of a range are together, if they fit.
 * - A set that cannot count at the same time, none of whose events the user named, is split. Then
 * its events count at different times.
 * - Turns are as few and as equally large as a simple rule can make them.
 *
 * Return: 0, -E2BIG for a named set that cannot count at the same time, or an event for which there
 * is no counter; -ENOMEM.
 */
int plan_make(const struct want_list *wants, const struct plan_capacity *capacity, struct diag *d,
	      struct plan *ret);
void plan_free(struct plan *plan);

/** plan_is_cycles() - is this the separate cycle counter, with any filter? */
bool plan_is_cycles(const struct want *want);

/** plan_setting_bits() - bits of config1 for the requester id and its switch, 0 for none */
uint64_t plan_setting_bits(const struct pmu *pmu);

#endif
