// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "platform/plan/plan.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/cleanup.h"
#include "base/text.h"
#include "platform/plan/plan_internal.h"

/* Bits of a word that a format covers, 0 when the PMU has no such format there. */
static uint64_t format_bits(const struct pmu *pmu, const char *name, unsigned int word)
{
	const struct pmu_format *f = pmu_format_find(pmu, name);
	uint64_t bits = 0;

	if (!f || f->word != word)
		return 0;
	for (size_t i = 0; i < f->nr_ranges; i++)
		bits |= (~0ull >> (63 - f->ranges[i].high)) & (~0ull << f->ranges[i].low);
	return bits;
}

static uint64_t config_word(const struct pmu_config *c, unsigned int word)
{
	const uint64_t words[PMU_NR_WORDS] = { c->config, c->config1, c->config2, c->config3 };

	return words[word];
}

/* Is any bit of a format set? */
static bool is_set(const struct want *want, const char *name)
{
	for (unsigned int i = 0; i < PMU_NR_WORDS; i++) {
		if (config_word(&want->config, i) & format_bits(want->pmu, name, i))
			return true;
	}
	return false;
}

bool plan_is_cycles(const struct want *want)
{
	const struct pmu *pmu = want->pmu;
	struct pmu_config cycles;
	uint64_t bits;

	if (!pmu || !pmu->family->one_cycles || !pmu_event_find(pmu, "cycles") ||
	    pmu_encode(pmu, "cycles", NULL, 0, NULL, &cycles))
		return false;
	bits = format_bits(pmu, "event", 0);
	return bits && (want->config.config & bits) == (cycles.config & bits);
}

uint64_t plan_setting_bits(const struct pmu *pmu)
{
	return format_bits(pmu, "src_bdf", 1) | format_bits(pmu, "src_bdf_en", 1);
}

/* The driver ignores an id that is not switched on. */
static uint64_t setting_of(const struct want *want)
{
	if (!is_set(want, "src_bdf_en"))
		return 0;
	return want->config.config1 & plan_setting_bits(want->pmu);
}

/* Base and mask identify a range; its number is that of the first event with it. */
static uint32_t range_of(const struct plan_work *w, const struct want *want)
{
	if (!want->pmu->family->ranges || !is_set(want, "dst_addr_en"))
		return 0;
	for (size_t i = 0; i < w->nr; i++) {
		const struct want *other = &w->wants->wants[w->infos[i].want];

		if (w->infos[i].range && other->config.config1 == want->config.config1 &&
		    other->config.config2 == want->config.config2)
			return w->infos[i].range;
	}
	return w->nr + 1;
}

/* All "cycles" of a PMU are one event: filters do not change what they count. */
static bool same_event(const struct plan_work *w, const struct plan_info *info,
		       const struct want *want, bool cycles)
{
	const struct want *known = &w->wants->wants[info->want];

	return (info->cycles && cycles) || want_same_event(known, want);
}

static int collect(struct plan_work *w, uint32_t *event_of)
{
	for (size_t i = 0; i < w->wants->nr; i++) {
		const struct want *want = &w->wants->wants[i];
		bool cycles;
		size_t k;

		if (want->pmu != w->pmu)
			continue;
		cycles = plan_is_cycles(want);
		for (k = 0; k < w->nr; k++) {
			if (same_event(w, &w->infos[k], want, cycles))
				break;
		}
		if (k == w->nr) {
			if (array_reserve(w->infos, w->cap, w->nr))
				return -ENOMEM;
			w->infos[k] = (struct plan_info){
				.want = i,
				.cycles = cycles,
				.setting = cycles ? 0 : setting_of(want),
				.range = cycles ? 0 : range_of(w, want),
			};
			w->nr++;
		}
		w->infos[k].constant |= want->constant;
		event_of[i] = w->infos[k].want;
	}
	return 0;
}

static size_t index_of(const struct plan_work *w, uint32_t want)
{
	size_t i = 0;

	while (w->infos[i].want != want)
		i++;
	return i;
}

static void add_single(struct plan_work *w, size_t event, uint32_t want)
{
	plan_unit_of(w, w->nr_units)[event] = true;
	w->unit_want[w->nr_units++] = want;
}

/* One unit for each set and for each event that is in none. */
static int make_units(struct plan_work *w, const uint32_t *event_of)
{
	size_t max = 0;

	/* Each want makes at most one unit, and one more when its set is taken apart. */
	for (size_t i = 0; i < w->wants->nr; i++)
		max += w->wants->wants[i].pmu == w->pmu ? 2 : 0;
	w->units = calloc(max, w->nr);
	w->unit_want = calloc(max, sizeof(*w->unit_want));
	w->base = calloc(w->nr, 1);
	w->turns = calloc(max, w->nr);
	w->seen = calloc(w->nr + 1, 1);
	if (!w->units || !w->unit_want || !w->base || !w->turns || !w->seen)
		return -ENOMEM;
	for (size_t i = 0; i < w->wants->nr; i++) {
		const struct want *want = &w->wants->wants[i];
		size_t k = w->nr_units;

		if (want->pmu != w->pmu)
			continue;
		for (size_t u = 0; u < w->nr_units && want->set; u++) {
			if (w->wants->wants[w->unit_want[u]].set == want->set)
				k = u;
		}
		if (k == w->nr_units)
			w->unit_want[w->nr_units++] = i;
		plan_unit_of(w, k)[index_of(w, event_of[i])] = true;
	}
	return 0;
}

static bool is_asked(const struct plan_work *w, size_t unit)
{
	const struct want *first = &w->wants->wants[w->unit_want[unit]];

	for (size_t i = 0; i < w->wants->nr; i++) {
		const struct want *want = &w->wants->wants[i];

		if (want->pmu == w->pmu && want->asked &&
		    (want == first || (want->set && want->set == first->set)))
			return true;
	}
	return false;
}

static int too_large(const struct plan_work *w, size_t unit, struct diag *d)
{
	struct plan_need need = plan_need_of(w, plan_unit_of(w, unit), NULL, NULL);
	char names[sizeof(d->what)] = "";
	const char *why = "it has fewer counters";
	size_t nr = 0;

	for (size_t i = 0; i < w->nr; i++) {
		if (plan_unit_of(w, unit)[i])
			str_append(names, sizeof(names), "%s%s", nr++ ? ", " : "",
				   w->wants->wants[w->infos[i].want].name);
	}
	if (need.settings > 1)
		why = "it has one setting of the requester id for all counters";
	else if (need.ranges > w->pmu->family->ranges)
		why = "it has fewer address ranges";
	if (nr < 2) {
		diag_fail(d, -E2BIG, "%s: %s has no counter that is free", names, w->pmu->name);
		return diag_advise(d, -E2BIG, "stop other programs that count with this PMU");
	}
	diag_fail(d, -E2BIG, "%s cannot count these at the same time (%s): %s", w->pmu->name, why,
		  names);
	return diag_advise(d, -E2BIG,
			   "it can count %u events%s at the same time; make the group smaller",
			   w->capacity.events, w->capacity.cycles ? " and cycles" : "");
}

/*
 * Every unit must fit an empty PMU. A set that the user did not name is split instead: its metric
 * will be missing, but nothing else.
 */
static int check_units(struct plan_work *w, struct diag *d)
{
	for (size_t i = 0; i < w->nr_units; i++) {
		bool *unit = plan_unit_of(w, i);
		uint32_t want = w->unit_want[i];
		struct plan_need need;

		if (plan_fits(w, unit, NULL, NULL))
			continue;
		need = plan_need_of(w, unit, NULL, NULL);
		if (need.events + need.cycles < 2 || is_asked(w, i))
			return too_large(w, i, d);
		for (size_t k = 0; k < w->nr; k++) {
			if (unit[k])
				add_single(w, k, w->infos[k].want);
		}
		memset(unit, 0, w->nr);
		w->unit_want[i] = want;
	}
	plan_drop_covered(w);
	return 0;
}

/* Wants of a set of events, in their order. */
static int write_events(const struct plan_work *w, const bool *set, uint32_t **ret, size_t *ret_nr)
{
	uint32_t *events = calloc(w->nr, sizeof(*events));
	size_t nr = 0;

	if (!events)
		return -ENOMEM;
	for (size_t i = 0; i < w->nr; i++) {
		if (set[i])
			events[nr++] = w->infos[i].want;
	}
	*ret = events;
	*ret_nr = nr;
	return 0;
}

/* On failure the memory filled so far still belongs to @ret. */
static int write_plan(const struct plan_work *w, const bool *all, struct plan_pmu *ret)
{
	int err = write_events(w, all, &ret->events, &ret->nr_events);

	ret->pmu = w->pmu;
	if (!err)
		err = write_events(w, w->base, &ret->base, &ret->nr_base);
	if (err || !w->nr_turns)
		return err;
	ret->turns = calloc(w->nr_turns, sizeof(*ret->turns));
	if (!ret->turns)
		return -ENOMEM;
	ret->nr_turns = w->nr_turns;
	for (size_t i = 0; i < w->nr_turns && !err; i++)
		err = write_events(w, plan_turn_of(w, i), &ret->turns[i].events, &ret->turns[i].nr);
	return err;
}

static int plan_pmu(struct plan_work *w, uint32_t *event_of, struct diag *d, struct plan_pmu *ret)
{
	cleanup_free bool *all = NULL;
	int err = collect(w, event_of);

	if (!err)
		err = make_units(w, event_of);
	if (err)
		return err;
	all = malloc(w->nr);
	if (!all)
		return -ENOMEM;
	memset(all, true, w->nr);
	err = check_units(w, d);
	if (err)
		return err;
	plan_fill(w, all);
	return write_plan(w, all, ret);
}

static void work_free(struct plan_work *w)
{
	free(w->infos);
	free(w->units);
	free(w->unit_want);
	free(w->base);
	free(w->turns);
	free(w->seen);
}

/* The PMUs in the order of their first want. */
static int find_pmus(const struct want_list *wants, struct plan *plan)
{
	size_t cap = 0;

	for (size_t i = 0; i < wants->nr; i++) {
		const struct pmu *pmu = wants->wants[i].pmu;
		bool known = !pmu;

		for (size_t k = 0; k < plan->nr_pmus && !known; k++)
			known = plan->pmus[k].pmu == pmu;
		if (known)
			continue;
		if (array_reserve(plan->pmus, cap, plan->nr_pmus))
			return -ENOMEM;
		plan->pmus[plan->nr_pmus++] = (struct plan_pmu){ .pmu = pmu };
	}
	return 0;
}

int plan_make(const struct want_list *wants, const struct plan_capacity *capacity, struct diag *d,
	      struct plan *ret)
{
	struct plan plan = { 0 };
	int err;

	plan.event_of = calloc(wants->nr + 1, sizeof(*plan.event_of));
	err = plan.event_of ? find_pmus(wants, &plan) : -ENOMEM;
	for (size_t i = 0; i < wants->nr && !err; i++)
		plan.event_of[i] = i;
	for (size_t i = 0; i < plan.nr_pmus && !err; i++) {
		struct plan_work w = { .wants = wants,
				       .pmu = plan.pmus[i].pmu,
				       .capacity = capacity[i] };

		err = plan_pmu(&w, plan.event_of, d, &plan.pmus[i]);
		work_free(&w);
	}
	if (err) {
		plan_free(&plan);
		return err == -ENOMEM ? diag_no_memory(d) : err;
	}
	*ret = plan;
	return 0;
}

void plan_free(struct plan *plan)
{
	if (!plan)
		return;
	for (size_t i = 0; i < plan->nr_pmus; i++) {
		struct plan_pmu *p = &plan->pmus[i];

		for (size_t k = 0; k < p->nr_turns; k++)
			free(p->turns[k].events);
		free(p->turns);
		free(p->events);
		free(p->base);
	}
	free(plan->pmus);
	free(plan->event_of);
	*plan = (struct plan){ 0 };
}
