// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* From wants to the layout of results: counters and PMUs, each of them once. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "platform/metrics/internal.h"
#include "tables/events.h"

/*
 * Events of a PMU are planned, and opened once for all sets. The cores' are opened for each set: a
 * metric that divides by another group's count would mix two times.
 */
static bool same_event(const struct want *a, const struct want *b)
{
	return want_same_event(a, b) && (a->pmu || a->set == b->set);
}

static const char *unit_of(const struct want *want)
{
	const struct event_row *row =
		want->pmu && want->event[0] ? event_row_find(want->pmu->kind, want->event) : NULL;

	return row ? event_unit_name(row->unit) : "";
}

static void fill_pmu(const struct pmu *pmu, struct stat_pmu *ret)
{
	struct stat_pmu p = { .socket = -1, .rc = -1 };

	if (!pmu) {
		p.cores = true;
		str_copy(p.name, sizeof(p.name), "cores");
		str_copy(p.family, sizeof(p.family), "core");
		str_copy(p.title, sizeof(p.title), "events of the cores and of the kernel");
	} else {
		pmu_label(pmu, p.name, sizeof(p.name));
		str_copy(p.family, sizeof(p.family), pmu->family->short_name);
		str_copy(p.title, sizeof(p.title), pmu->family->title);
		str_copy(p.peer, sizeof(p.peer), pmu->peer);
		p.socket = pmu->socket;
		p.rc = pmu->rc;
		p.dear = pmu_family_dear(pmu->family);
	}
	*ret = p;
}

/* PMUs are numbered as they first appear in the wants; wants without a PMU share one number. */
static uint32_t number_pmu(struct metric_selection *s, const struct want *want,
			   const struct pmu **pmus)
{
	struct stat_layout *l = &s->layout;

	for (size_t i = 0; i < l->nr_pmus; i++)
		if (pmus[i] == want->pmu)
			return i;
	pmus[l->nr_pmus] = want->pmu;
	fill_pmu(want->pmu, &l->pmus[l->nr_pmus]);
	return l->nr_pmus++;
}

static void fill_counter(struct metric_selection *s, const struct want *want, uint32_t pmu)
{
	struct stat_counter *c = &s->layout.counters[s->layout.nr_counters++];
	struct stat_pmu *p = &s->layout.pmus[pmu];

	str_copy(c->name, sizeof(c->name), want->name);
	str_copy(c->event, sizeof(c->event), want->event);
	str_copy(c->filters, sizeof(c->filters), want->filters);
	str_copy(c->label, sizeof(c->label), want->label);
	str_copy(c->unit, sizeof(c->unit), unit_of(want));
	c->pmu = pmu;
	if (want->pmu)
		p->reads += strcmp(want->event, "cycles") ? want->pmu->family->read_cost
							  : want->pmu->family->cycles_cost;
}

int metric_layout_make(struct metric_selection *s)
{
	const struct want_list *w = &s->wants;
	struct stat_layout *l = &s->layout;
	const struct pmu **pmus = calloc(w->nr + 1, sizeof(*pmus));
	uint32_t *first = calloc(w->nr + 1, sizeof(*first)); /* by counter: its first want */

	s->counter_of = calloc(w->nr + 1, sizeof(*s->counter_of));
	l->counters = calloc(w->nr + 1, sizeof(*l->counters));
	l->pmus = calloc(w->nr + 1, sizeof(*l->pmus));
	if (!pmus || !first || !s->counter_of || !l->counters || !l->pmus) {
		free(pmus);
		free(first);
		return -ENOMEM;
	}
	for (size_t i = 0; i < w->nr; i++) {
		const struct want *want = &w->wants[i];
		size_t c = 0;

		while (c < l->nr_counters && !same_event(want, &w->wants[first[c]]))
			c++;
		if (c == l->nr_counters) {
			first[c] = i;
			fill_counter(s, want, number_pmu(s, want, pmus));
		}
		s->counter_of[i] = c;
		l->counters[c].asked |= want->asked;
	}
	for (size_t i = 0; i < l->nr_metrics; i++) {
		struct stat_metric *m = &l->metrics[i];

		for (uint32_t n = 0; n < m->nr_inputs; n++) {
			if (m->input[n] >= STAT_CONSTANT)
				continue;
			m->input[n] = s->counter_of[m->input[n]];
			m->pmu = l->counters[m->input[n]].pmu;
		}
	}
	free(pmus);
	free(first);
	return 0;
}
