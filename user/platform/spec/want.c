// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "platform/spec/want.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/text.h"

/* A want, in the form that rules look at. A missing term is NULL. */
struct asked {
	const struct pmu *pmu;
	const char *event;
	const struct pmu_term *terms;
	size_t nr;
	const struct pmu_term *number; /* the event by number */
	const struct pmu_term *ports;
	const struct pmu_term *bdf;
	const struct pmu_term *bdf_enable;
	const struct pmu_term *base;
	const struct pmu_term *mask;
	const struct pmu_term *range_enable;
};

static const struct pmu_term *term_find(const struct pmu_term *terms, size_t nr, const char *name)
{
	for (size_t i = 0; i < nr; i++)
		if (!strcmp(terms[i].name, name))
			return &terms[i];
	return NULL;
}

static const struct pmu_term *term_use(const struct asked *a, enum filter_use use)
{
	const struct filter_row *row = filter_row_use(a->pmu->kind, use);

	return row ? term_find(a->terms, a->nr, row->name) : NULL;
}

static bool is_on(const struct pmu_term *term)
{
	return term && term->value;
}

static bool is_zero(const struct pmu_term *term)
{
	return term && !term->value;
}

/* The number of the named event; it may have no term of this name. */
static const struct pmu_term *number_of(const struct pmu_event *event)
{
	return event ? term_find(event->terms, event->nr_terms, "event") : NULL;
}

static bool is_cycles(const struct asked *a)
{
	const struct pmu_term *cycles = number_of(pmu_event_find(a->pmu, "cycles"));
	const struct pmu_term *number = a->number;

	if (a->event) {
		if (!strcmp(a->event, "cycles"))
			return true;
		number = number_of(pmu_event_find(a->pmu, a->event));
	}
	return cycles && number && cycles->value == number->value;
}

static bool is_listed(const struct asked *a)
{
	for (size_t i = 0; i < a->pmu->nr_events; i++) {
		const struct pmu_term *number = number_of(&a->pmu->events[i]);

		if (number && number->value == a->number->value)
			return true;
	}
	return false;
}

/* The term that breaks @rule, NULL when the rule is kept. */
static const struct pmu_term *breaks(const struct asked *a, enum constraint rule)
{
	bool range = is_on(a->range_enable);

	switch (rule) {
	case CONSTRAINT_EMPTY_RANGE:
		return range && !is_on(a->base) && !is_on(a->mask) ? a->range_enable : NULL;
	case CONSTRAINT_RANGE_ON_CYCLES:
		return range && is_cycles(a) ? a->range_enable : NULL;
	case CONSTRAINT_RANGE_NOT_ON:
		return range ? NULL : a->base ? a->base : a->mask;
	case CONSTRAINT_BDF_NOT_ON:
		return is_on(a->bdf_enable) ? NULL : a->bdf;
	case CONSTRAINT_BDF_AND_PORTS:
		return is_on(a->bdf_enable) && is_on(a->ports) ? a->ports : NULL;
	case CONSTRAINT_UNLISTED_EVENT:
		return a->number && !is_listed(a) ? a->number : NULL;
	case CONSTRAINT_EMPTY_PORTS:
		/* beside another active filter, 0 is the same as leaving it out */
		return is_zero(a->ports) && !range && !is_on(a->bdf_enable) ? a->ports : NULL;
	case CONSTRAINT_RANGES:
	case CONSTRAINT_ONE_BDF:
	case NR_CONSTRAINTS:
		break; /* rules about several events are the plan's business */
	}
	return NULL;
}

static struct asked look(const struct pmu *pmu, const char *event, const struct pmu_term *terms,
			 size_t nr)
{
	struct asked a = { .pmu = pmu, .event = event, .terms = terms, .nr = nr };

	a.number = event ? NULL : term_find(terms, nr, "event");
	a.ports = term_use(&a, FILTER_PORTS);
	if (!a.ports)
		a.ports = term_use(&a, FILTER_GPUS);
	a.bdf = term_use(&a, FILTER_BDF);
	a.bdf_enable = term_use(&a, FILTER_BDF_ENABLE);
	a.base = term_use(&a, FILTER_RANGE_BASE);
	a.mask = term_use(&a, FILTER_RANGE_MASK);
	a.range_enable = term_use(&a, FILTER_RANGE_ENABLE);
	return a;
}

const struct constraint_row *want_broken(const struct pmu *pmu, const char *event,
					 const struct pmu_term *terms, size_t nr, size_t *ret_term)
{
	struct asked a = look(pmu, event, terms, nr);

	for (enum constraint rule = 0; rule < NR_CONSTRAINTS; rule++) {
		const struct constraint_row *row = constraint_find(pmu->kind, rule);
		const struct pmu_term *term = row ? breaks(&a, rule) : NULL;

		if (!term)
			continue;
		*ret_term = (size_t)(term - terms);
		return row;
	}
	return NULL;
}

/* "0x10", or "1" for a single bit, as perf's users write it. */
static void put_term(const struct pmu *pmu, const struct pmu_term *term, char *text, size_t size)
{
	const struct pmu_format *format = pmu_format_find(pmu, term->name);
	bool flag = format && format->width == 1;

	str_append(text, size, flag ? "%s=%llu" : "%s=0x%llx", term->name,
		   (unsigned long long)term->value);
}

/* The text behind the term at fault; some rules are about the filter's switch. */
static const struct {
	const char *text;
	bool about_switch;
	enum filter_use on;
} broken_words[NR_CONSTRAINTS] = {
	[CONSTRAINT_EMPTY_RANGE] = { " with base 0 and mask 0", false, 0 },
	[CONSTRAINT_RANGE_ON_CYCLES] = { " on cycles", false, 0 },
	[CONSTRAINT_RANGE_NOT_ON] = { " without ", true, FILTER_RANGE_ENABLE },
	[CONSTRAINT_BDF_NOT_ON] = { " without ", true, FILTER_BDF_ENABLE },
	[CONSTRAINT_BDF_AND_PORTS] = { " together with ", true, FILTER_BDF_ENABLE },
	[CONSTRAINT_UNLISTED_EVENT] = { " is not among its events", false, 0 },
	[CONSTRAINT_EMPTY_PORTS] = { "", false, 0 },
};

int want_check(const struct pmu *pmu, const char *event, const struct pmu_term *terms, size_t nr,
	       struct diag *d)
{
	const struct filter_row *on = NULL;
	const struct constraint_row *row;
	char term[PMU_NAME_LEN + 24] = "";
	size_t at;

	row = want_broken(pmu, event, terms, nr, &at);
	if (!row)
		return 0;
	put_term(pmu, &terms[at], term, sizeof(term));
	if (broken_words[row->rule].about_switch)
		on = filter_row_use(pmu->kind, broken_words[row->rule].on);
	diag_fail(d, -EINVAL, "%s: %s%s%s: %s", pmu->name, term, broken_words[row->rule].text,
		  on ? on->name : "", row->why);
	return diag_advise(d, -EINVAL, "%s", row->remedy);
}

/* Filters in the order of their bits, so that the name does not depend on the spelling. */
static size_t sort_filters(const struct pmu *pmu, const char *event, const struct pmu_term *terms,
			   size_t nr, const struct pmu_term **ret)
{
	size_t used = 0;

	for (size_t f = 0; f < 64 * PMU_NR_WORDS; f++) {
		for (size_t i = 0; i < nr; i++) {
			const struct pmu_format *format = pmu_format_find(pmu, terms[i].name);
			bool number = !event && !strcmp(terms[i].name, "event");

			if (!number && format->word == f / 64 && format->ranges[0].low == f % 64)
				ret[used++] = &terms[i];
		}
	}
	return used;
}

static int name_want(const char *event, const struct pmu_term *terms, size_t nr, struct diag *d,
		     struct want *want)
{
	const struct pmu_term *sorted[64 * PMU_NR_WORDS];
	const struct pmu *pmu = want->pmu;
	size_t filters = sort_filters(pmu, event, terms, nr, sorted);
	const struct pmu_term *number = event ? NULL : term_find(terms, nr, "event");
	char *list = want->filters;

	for (size_t i = 0; i < filters; i++) {
		/* a label cut here exceeds the longest name and is found below */
		str_append(list, sizeof(want->filters), "%s", i ? "," : "");
		put_term(pmu, sorted[i], list, sizeof(want->filters));
	}
	pmu_label(pmu, want->name, sizeof(want->name));
	str_append(want->name, sizeof(want->name), "/");
	if (event)
		str_append(want->name, sizeof(want->name), "%s", event);
	else if (number)
		put_term(pmu, number, want->name, sizeof(want->name));
	if (strlen(list) == sizeof(want->filters) - 1 ||
	    str_append(want->name, sizeof(want->name), "%s%s/",
		       filters && (event || number) ? "," : "", list))
		return diag_fail(d, -EINVAL, "%s: too many filters at once", pmu->name);
	str_copy(want->event, sizeof(want->event), event ? event : "");
	return 0;
}

int want_make(const struct pmu *pmu, const char *event, const struct pmu_term *terms, size_t nr,
	      struct diag *d, struct want *ret)
{
	struct want want = { .pmu = pmu, .type = pmu->type };
	int err;

	err = pmu_encode(pmu, event, terms, nr, d, &want.config);
	if (!err)
		err = want_check(pmu, event, terms, nr, d);
	if (!err)
		err = name_want(event, terms, nr, d, &want);
	if (err)
		return err;
	*ret = want;
	return 0;
}

bool want_same_event(const struct want *a, const struct want *b)
{
	return a->pmu == b->pmu && a->type == b->type &&
	       !memcmp(&a->config, &b->config, sizeof(a->config));
}

int want_add(struct want_list *list, const struct want *want)
{
	int err = array_reserve(list->wants, list->cap, list->nr);

	if (!err)
		list->wants[list->nr++] = *want;
	return err;
}

void want_list_free(struct want_list *list)
{
	if (!list)
		return;
	free(list->wants);
	*list = (struct want_list){ 0 };
}
