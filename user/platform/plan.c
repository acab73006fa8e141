// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "platform/plan.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/cleanup.h"
#include "base/text.h"

/**
 * struct info - what matters about an event
 * @want: index of the want that stands for it
 * @cycles: "cycles" of a family where that is one counter of its own
 * @constant: some want would like it in the base
 * @setting: requester id and its switch; 0 = none. Cycles go with any setting
 * @window: number of its address window from 1; 0 = none
 */
struct info {
	uint32_t want;
	bool cycles;
	bool constant;
	uint64_t setting;
	uint32_t window;
};

/**
 * struct work - planning of one PMU
 * @infos: its events, @nr of them. Sets of events are arrays of @nr bool
 * @units: what must be together, one set of events after the other
 * @unit_want: a want of each unit, for messages
 * @base: events that always count
 * @turns: one set of events after the other
 * @seen: windows that were seen, for counting them
 */
struct work {
	const struct want_list *wants;
	const struct pmu *pmu;
	struct plan_room room;
	struct info *infos;
	size_t nr, cap;
	bool *units;
	uint32_t *unit_want;
	size_t nr_units;
	bool *base;
	bool *turns;
	size_t nr_turns;
	bool *seen;
};

static bool *unit_of(const struct work *w, size_t i)
{
	return w->units + i * w->nr;
}

static bool *turn_of(const struct work *w, size_t i)
{
	return w->turns + i * w->nr;
}

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

/* As the driver sees it, an id that is not switched on does not count. */
static uint64_t setting_of(const struct want *want)
{
	if (!is_set(want, "src_bdf_en"))
		return 0;
	return want->config.config1 & plan_setting_bits(want->pmu);
}

/* Windows are told apart by base and mask; the number is the first event's that has it. */
static uint32_t window_of(const struct work *w, const struct want *want)
{
	if (!want->pmu->family->windows || !is_set(want, "dst_addr_en"))
		return 0;
	for (size_t i = 0; i < w->nr; i++) {
		const struct want *other = &w->wants->wants[w->infos[i].want];

		if (w->infos[i].window && other->config.config1 == want->config.config1 &&
		    other->config.config2 == want->config.config2)
			return w->infos[i].window;
	}
	return w->nr + 1;
}

/* All "cycles" of a PMU are one event: filters do not change what they count. */
static bool same_event(const struct work *w, const struct info *info, const struct want *want,
		       bool cycles)
{
	const struct want *known = &w->wants->wants[info->want];

	return (info->cycles && cycles) ||
	       (known->type == want->type &&
		!memcmp(&known->config, &want->config, sizeof(want->config)));
}

static int collect(struct work *w, uint32_t *event_of)
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
			if (array_room(w->infos, w->cap, w->nr))
				return -ENOMEM;
			w->infos[k] = (struct info){
				.want = i,
				.cycles = cycles,
				.setting = cycles ? 0 : setting_of(want),
				.window = cycles ? 0 : window_of(w, want),
			};
			w->nr++;
		}
		w->infos[k].constant |= want->constant;
		event_of[i] = w->infos[k].want;
	}
	return 0;
}

static size_t index_of(const struct work *w, uint32_t want)
{
	size_t i = 0;

	while (w->infos[i].want != want)
		i++;
	return i;
}

/**
 * struct need - what events take
 * @events, @cycles: counters of both kinds
 * @windows: different address windows
 * @settings: different settings of the requester id
 */
struct need {
	uint32_t events;
	uint32_t cycles;
	uint32_t windows;
	uint32_t settings;
};

/* Needs of up to three sets of events together; sets may be NULL. */
static struct need need_of(const struct work *w, const bool *a, const bool *b, const bool *c)
{
	struct need need = { 0 };
	bool any = false;
	uint64_t setting = 0;

	memset(w->seen, 0, w->nr + 1);
	for (size_t i = 0; i < w->nr; i++) {
		const struct info *info = &w->infos[i];

		if (!((a && a[i]) || (b && b[i]) || (c && c[i])))
			continue;
		if (info->cycles && w->room.cycles) {
			need.cycles++;
			continue;
		}
		need.events++;
		if (info->window && !w->seen[info->window]) {
			w->seen[info->window] = true;
			need.windows++;
		}
		if (!info->cycles && (!any || info->setting != setting)) {
			need.settings++;
			any = true;
			setting = info->setting;
		}
	}
	return need;
}

static bool fits(const struct work *w, const bool *a, const bool *b, const bool *c)
{
	struct need need = need_of(w, a, b, c);

	return need.events <= w->room.events && need.cycles <= w->room.cycles &&
	       (!need.windows || need.windows <= w->pmu->family->windows) && need.settings <= 1;
}

static bool is_empty(const struct work *w, const bool *set)
{
	return !memchr(set, true, w->nr);
}

/* Is every event of @a in @b? */
static bool is_within(const struct work *w, const bool *a, const bool *b)
{
	for (size_t i = 0; i < w->nr; i++) {
		if (a[i] && !b[i])
			return false;
	}
	return true;
}

static void join(const struct work *w, bool *into, const bool *from)
{
	for (size_t i = 0; i < w->nr; i++)
		into[i] |= from[i];
}

static void drop_unit(struct work *w, size_t i)
{
	w->nr_units--;
	memmove(unit_of(w, i), unit_of(w, i + 1), (w->nr_units - i) * w->nr);
	memmove(&w->unit_want[i], &w->unit_want[i + 1], (w->nr_units - i) * sizeof(*w->unit_want));
}

/* Units that another one contains need nothing of their own; nor do empty ones. */
static void drop_covered(struct work *w)
{
	for (size_t i = w->nr_units; i-- > 0;) {
		bool covered = is_empty(w, unit_of(w, i));

		for (size_t k = 0; k < w->nr_units && !covered; k++)
			covered = k != i && is_within(w, unit_of(w, i), unit_of(w, k));
		if (covered)
			drop_unit(w, i);
	}
}

static void add_single(struct work *w, size_t event, uint32_t want)
{
	unit_of(w, w->nr_units)[event] = true;
	w->unit_want[w->nr_units++] = want;
}

/* One unit for each set and for each event that is in none. */
static int make_units(struct work *w, const uint32_t *event_of)
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
		unit_of(w, k)[index_of(w, event_of[i])] = true;
	}
	return 0;
}

static bool is_asked(const struct work *w, size_t unit)
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

static int too_large(const struct work *w, size_t unit, struct diag *d)
{
	struct need need = need_of(w, unit_of(w, unit), NULL, NULL);
	char names[sizeof(d->what)] = "";
	const char *why = "it has fewer counters";
	size_t nr = 0;

	for (size_t i = 0; i < w->nr; i++) {
		if (unit_of(w, unit)[i])
			str_append(names, sizeof(names), "%s%s", nr++ ? ", " : "",
				   w->wants->wants[w->infos[i].want].name);
	}
	if (need.settings > 1)
		why = "it has one setting of the requester id for all counters";
	else if (need.windows > w->pmu->family->windows)
		why = "it has fewer address windows";
	if (nr < 2) {
		diag_fail(d, -E2BIG, "%s: %s has no counter that is free", names, w->pmu->name);
		diag_help(d, "stop other programs that count with this PMU");
		return -E2BIG;
	}
	diag_fail(d, -E2BIG, "%s cannot count these at the same time (%s): %s", w->pmu->name, why,
		  names);
	diag_help(d, "it can count %u events%s at the same time; make the group smaller",
		  w->room.events, w->room.cycles ? " and cycles" : "");
	return -E2BIG;
}

/*
 * Every unit must fit an empty PMU. A set that nobody asked for by name is taken apart
 * instead: its metric will be missing, and all the rest is not.
 */
static int check_units(struct work *w, struct diag *d)
{
	for (size_t i = 0; i < w->nr_units; i++) {
		bool *unit = unit_of(w, i);
		uint32_t want = w->unit_want[i];
		struct need need;

		if (fits(w, unit, NULL, NULL))
			continue;
		need = need_of(w, unit, NULL, NULL);
		if (need.events + need.cycles < 2 || is_asked(w, i))
			return too_large(w, i, d);
		for (size_t k = 0; k < w->nr; k++) {
			if (unit[k])
				add_single(w, k, w->infos[k].want);
		}
		memset(unit, 0, w->nr);
		w->unit_want[i] = want;
	}
	drop_covered(w);
	return 0;
}

/* Put an event into the base if every unit still finds room beside it. */
static bool try_base(struct work *w, size_t event)
{
	bool fine = true;

	w->base[event] = true;
	for (size_t i = 0; i < w->nr_units && fine; i++)
		fine = fits(w, w->base, unit_of(w, i), NULL);
	w->base[event] = fine;
	return fine;
}

/*
 * Events that say "constant", while the base is not larger than @max: false if that is
 * not all of them. Events with a window stay with the others of their window.
 */
static bool add_constants(struct work *w, uint32_t max)
{
	bool all = true;

	for (size_t i = 0; i < w->nr; i++) {
		if (!w->infos[i].constant || w->base[i])
			continue;
		if (w->infos[i].window || need_of(w, w->base, NULL, NULL).events >= max ||
		    !try_base(w, i))
			all = false;
	}
	return all;
}

/*
 * Cycles first, then what says "constant": all of it if a quarter of the counters is left
 * for turns. Otherwise some of it must take turns, and a large base would only make
 * them many. Events with different requester ids cannot all count.
 */
static void fill_base(struct work *w, bool one_setting)
{
	for (size_t i = 0; i < w->nr; i++) {
		if (w->infos[i].cycles)
			try_base(w, i);
	}
	if (one_setting && !add_constants(w, w->room.events - w->room.events / 4)) {
		for (size_t i = 0; i < w->nr; i++)
			w->base[i] &= w->infos[i].cycles;
		add_constants(w, w->room.events / 2);
	}
	for (size_t i = 0; i < w->nr_units; i++) {
		for (size_t k = 0; k < w->nr; k++)
			unit_of(w, i)[k] &= !w->base[k];
	}
	drop_covered(w);
}

static bool share_window(const struct work *w, const bool *a, const bool *b)
{
	for (size_t i = 0; i < w->nr; i++) {
		for (size_t k = 0; k < w->nr && a[i] && w->infos[i].window; k++) {
			if (b[k] && w->infos[k].window == w->infos[i].window)
				return true;
		}
	}
	return false;
}

/* Units with a common window become one, as far as that fits. */
static void join_windows(struct work *w)
{
	for (size_t i = 0; i < w->nr_units; i++) {
		for (size_t k = w->nr_units - 1; k > i; k--) {
			if (share_window(w, unit_of(w, i), unit_of(w, k)) &&
			    fits(w, w->base, unit_of(w, i), unit_of(w, k))) {
				join(w, unit_of(w, i), unit_of(w, k));
				drop_unit(w, k);
			}
		}
	}
}

static uint32_t size_of(const struct work *w, const bool *a, const bool *b)
{
	struct need need = need_of(w, a, b, NULL);

	return need.events + need.cycles;
}

/* The largest units first: small ones fill what is left. */
static void sort_units(struct work *w)
{
	for (size_t i = 1; i < w->nr_units; i++) {
		for (size_t k = i;
		     k > 0 && size_of(w, unit_of(w, k), NULL) > size_of(w, unit_of(w, k - 1), NULL);
		     k--) {
			bool *a = unit_of(w, k - 1), *b = unit_of(w, k);

			for (size_t e = 0; e < w->nr; e++) {
				bool was = a[e];

				a[e] = b[e];
				b[e] = was;
			}
		}
	}
}

/* The turn for a unit: the first with room, or the one that is smallest with it. */
static size_t find_turn(const struct work *w, const bool *unit, size_t nr, bool smallest)
{
	size_t best = nr;
	uint32_t least = UINT32_MAX;

	for (size_t i = 0; i < nr; i++) {
		uint32_t size = size_of(w, turn_of(w, i), unit);

		if (size >= least || !fits(w, w->base, turn_of(w, i), unit))
			continue;
		best = i;
		least = smallest ? size : 0;
	}
	return best;
}

/* Put units into turns, at most @max; false when that is not enough. */
static bool fill_turns(struct work *w, size_t max, bool smallest)
{
	size_t nr = smallest ? max : 0;

	memset(w->turns, 0, max * w->nr);
	for (size_t i = 0; i < w->nr_units; i++) {
		size_t turn = find_turn(w, unit_of(w, i), nr, smallest);

		if (turn == nr && (smallest || nr == max))
			return false;
		if (turn == nr)
			nr++;
		join(w, turn_of(w, turn), unit_of(w, i));
	}
	w->nr_turns = nr;
	return true;
}

static void plan_work(struct work *w, const bool *all)
{
	struct need need = need_of(w, all, NULL, NULL);

	if (fits(w, all, NULL, NULL)) {
		memcpy(w->base, all, w->nr);
		return;
	}
	fill_base(w, need.settings <= 1);
	join_windows(w);
	sort_units(w);
	fill_turns(w, w->nr_units, false);
	/* As few turns as that took, but equally large if possible */
	if (!fill_turns(w, w->nr_turns, true))
		fill_turns(w, w->nr_units, false);
	if (need.settings <= 1)
		return;
	/* No base: what was to be in it, cycles, is in every turn instead. */
	for (size_t i = 0; i < w->nr_turns; i++)
		join(w, turn_of(w, i), w->base);
	memset(w->base, 0, w->nr);
}

/* Wants of a set of events, in their order. */
static int write_events(const struct work *w, const bool *set, uint32_t **ret, size_t *ret_nr)
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

/* On failure what was written belongs to @ret all the same. */
static int write_plan(const struct work *w, const bool *all, struct plan_pmu *ret)
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
		err = write_events(w, turn_of(w, i), &ret->turns[i].events, &ret->turns[i].nr);
	return err;
}

static int plan_pmu(struct work *w, uint32_t *event_of, struct diag *d, struct plan_pmu *ret)
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
	plan_work(w, all);
	return write_plan(w, all, ret);
}

static void work_free(struct work *w)
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
		if (array_room(plan->pmus, cap, plan->nr_pmus))
			return -ENOMEM;
		plan->pmus[plan->nr_pmus++] = (struct plan_pmu){ .pmu = pmu };
	}
	return 0;
}

int plan_make(const struct want_list *wants, const struct plan_room *room, struct diag *d,
	      struct plan *ret)
{
	struct plan plan = { 0 };
	int err;

	plan.event_of = calloc(wants->nr + 1, sizeof(*plan.event_of));
	err = plan.event_of ? find_pmus(wants, &plan) : -ENOMEM;
	for (size_t i = 0; i < wants->nr && !err; i++)
		plan.event_of[i] = i;
	for (size_t i = 0; i < plan.nr_pmus && !err; i++) {
		struct work w = { .wants = wants, .pmu = plan.pmus[i].pmu, .room = room[i] };

		err = plan_pmu(&w, plan.event_of, d, &plan.pmus[i]);
		work_free(&w);
	}
	if (err) {
		plan_free(&plan);
		return err == -ENOMEM ? diag_fail(d, err, "out of memory") : err;
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
