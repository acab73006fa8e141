// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "sources/esp/layout.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/spelling.h"
#include "base/text.h"
#include "platform/metrics/metric_select.h"
#include "tables/formula.h"
#include "trace.h"

/* Low words stand for their pair, without the end of their name. */
static void shown_name(uint32_t counter, char ret[ESP_NAME_LEN])
{
	esp_counter_name(counter, ret);
	if (esp_counter_pair(counter))
		ret[strlen(ret) - strlen("_lo")] = '\0';
}

static bool chosen(const struct text_list *patterns, const char *name)
{
	for (size_t i = 0; i < patterns->nr; i++)
		if (metric_matches(patterns->items[i], name))
			return true;
	return false;
}

/* "%u" in a row stands for the plane or point. The text stays in @l. */
static const char *expand(struct esp_layout *l, const char *text, uint32_t number)
{
	char copy[512] = "";

	for (const char *at; (at = strstr(text, "%u")); text = at + 2)
		str_append(copy, sizeof(copy), "%.*s%u", (int)(at - text), text, number);
	str_append(copy, sizeof(copy), "%s", text);
	return text_list_add(&l->texts, copy) ? NULL : l->texts.items[l->texts.nr - 1];
}

/* --- counters */

static void add_counters(struct esp_layout *l, const struct text_list *events, uint64_t set)
{
	uint32_t pmu = (uint32_t)l->stat.nr_pmus - 1;
	char name[ESP_NAME_LEN];

	l->first[pmu] = (uint32_t)l->stat.nr_counters;
	for (uint32_t i = 0; i < ESP_NR_COUNTERS; i++) {
		struct stat_counter *c = &l->stat.counters[l->stat.nr_counters];

		if (!(set & ESP_BITS(i, 1)) || i == ESP_ACC_MEM_HI || i == ESP_ACC_TOT_HI)
			continue;
		shown_name(i, name);
		*c = (struct stat_counter){ .pmu = pmu, .asked = chosen(events, name) };
		snprintf(c->name, sizeof(c->name), "%s/%s", l->stat.pmus[pmu].name, name);
		str_copy(c->event, sizeof(c->event), name);
		str_copy(c->unit, sizeof(c->unit), esp_counter_row(i)->unit);
		l->index[l->stat.nr_counters++] = i;
	}
}

static struct stat_pmu *add_pmu(struct esp_layout *l, const struct esp_tile *t)
{
	struct stat_pmu *p = &l->stat.pmus[l->stat.nr_pmus++];

	*p = (struct stat_pmu){ .socket = -1, .rc = -1 };
	snprintf(p->name, sizeof(p->name), "%s%u", esp_tile_type_name(t->type), t->number);
	return p;
}

static void add_tile(struct esp_layout *l, const struct esp_soc *soc,
		     const struct text_list *events, uint32_t tile)
{
	static const char *const titles[ESP_NR_TILE_TYPES] = {
		[ESP_TILE_CPU] = "CPU tiles of an ESP",
		[ESP_TILE_MEM] = "memory tiles of an ESP",
		[ESP_TILE_ACC] = "accelerator tiles of an ESP",
	};
	const struct esp_tile *t = &soc->tiles[tile];
	uint64_t set = esp_tile_counters(soc, tile), router = ESP_ALL_BITS << ESP_NOC_INJECTS;
	struct stat_pmu *p;

	l->pmus[tile] = (uint32_t)l->stat.nr_pmus;
	if (set & ~router) {
		p = add_pmu(l, t);
		snprintf(p->family, sizeof(p->family), "esp_%s", esp_tile_type_name(t->type));
		str_copy(p->title, sizeof(p->title), titles[t->type]);
		add_counters(l, events, set & ~router);
	}
	p = add_pmu(l, t);
	str_copy(p->family, sizeof(p->family), "esp_noc");
	str_copy(p->title, sizeof(p->title), "routers of the tiles of an ESP");
	add_counters(l, events, set & router);
}

/* --- metrics */

static int take_input(const struct esp_layout *l, const struct esp_soc *soc, const char *name,
		      struct stat_metric *m)
{
	uint32_t at = m->nr_inputs++;

	if (at >= STAT_MAX_INPUTS)
		return -E2BIG;
	m->input[at] = STAT_CONSTANT;
	if (!strcmp(name, "duration_ns"))
		m->input[at] = STAT_DURATION_NS;
	else if (!strcmp(name, "duration_s"))
		m->input[at] = STAT_DURATION_S;
	else if (!strcmp(name, "clock_hz"))
		m->constant[at] = (double)soc->clock_hz;
	else if (!strcmp(name, "word_bytes"))
		m->constant[at] = soc->word_bytes;
	else {
		for (uint32_t i = l->first[m->pmu]; i < l->first[m->pmu + 1]; i++)
			if (!strcmp(l->stat.counters[i].event, name))
				m->input[at] = i;
		return m->input[at] == STAT_CONSTANT ? -EINVAL : 0;
	}
	return 0;
}

static int add_metric(struct esp_layout *l, const struct esp_soc *soc, uint32_t pmu,
		      const struct esp_metric_row *row, uint32_t number, struct diag *d)
{
	struct stat_metric *m = &l->stat.metrics[l->stat.nr_metrics];
	struct formula *f = NULL;
	int err;

	*m = (struct stat_metric){ .pmu = pmu, .unit = row->unit, .places = "tiles" };
	m->id = expand(l, row->id, number);
	m->title = expand(l, row->title, number);
	m->formula = expand(l, row->formula, number);
	if (!m->id || !m->title || !m->formula)
		return diag_no_memory(d);
	str_copy(m->name, sizeof(m->name), m->id);
	str_copy(m->label, sizeof(m->label), l->stat.pmus[pmu].name);
	err = formula_parse(m->formula, d, &f);
	for (size_t i = 0; !err && i < formula_nr_names(f); i++) {
		err = take_input(l, soc, formula_name(f, i), m);
		if (err)
			diag_fail(d, err, "%s: nothing is called %s", m->id, formula_name(f, i));
	}
	formula_free(f);
	l->stat.nr_metrics += !err;
	return err;
}

/* Low words, which stand for their pairs, are not enough. */
static uint64_t counters_of(const struct esp_layout *l, uint32_t pmu)
{
	uint64_t set = 0;

	for (uint32_t i = l->first[pmu]; i < l->first[pmu + 1]; i++) {
		set |= ESP_BITS(l->index[i], 1);
		if (esp_counter_pair(l->index[i]))
			set |= ESP_BITS(esp_counter_pair(l->index[i]), 1);
	}
	return set;
}

static int add_metrics(struct esp_layout *l, const struct esp_soc *soc,
		       const struct text_list *metrics, bool all, struct diag *d)
{
	int err = 0;

	for (uint32_t pmu = 0; pmu < l->stat.nr_pmus; pmu++) {
		uint64_t set = counters_of(l, pmu);

		for (size_t i = 0; i < nr_esp_metric_rows; i++) {
			const struct esp_metric_row *row = &esp_metric_rows[i];

			for (uint32_t k = 0; !err && k < row->nr && !(row->needs & ~set); k++) {
				const char *id = expand(l, row->id, k);

				if (!id)
					err = diag_no_memory(d);
				else if (all || chosen(metrics, id))
					err = add_metric(l, soc, pmu, row, k, d);
			}
		}
	}
	return err;
}

static size_t most_metrics(const struct esp_soc *soc)
{
	size_t nr = 0;

	for (size_t i = 0; i < nr_esp_metric_rows; i++)
		nr += esp_metric_rows[i].nr;
	return nr * esp_nr_tiles(soc);
}

/* --- what was asked for */

static int unknown(const char *what, struct spelling *s, struct diag *d)
{
	diag_fail(d, -ENOENT, "no %s of this ESP is called %.80s", what, s->word);
	return spelling_advise(s, "there are", d, -ENOENT);
}

static int check_metric(const struct esp_layout *l, const char *pattern, struct diag *d)
{
	struct spelling s = { .word = pattern };

	for (size_t k = 0; k < l->stat.nr_metrics; k++)
		if (metric_matches(pattern, l->stat.metrics[k].id))
			return 0;
	for (size_t k = 0; k < nr_esp_metric_rows; k++)
		spelling_add(&s, esp_metric_rows[k].id);
	return unknown("metric", &s, d);
}

static int check_event(const struct esp_layout *l, const char *pattern, struct diag *d)
{
	struct spelling s = { .word = pattern };

	for (size_t k = 0; k < l->stat.nr_counters; k++)
		if (metric_matches(pattern, l->stat.counters[k].event))
			return 0;
	for (size_t k = 0; k < l->stat.nr_counters; k++)
		spelling_add(&s, l->stat.counters[k].event);
	return unknown("counter", &s, d);
}

int esp_layout_make(const struct esp_soc *soc, const struct text_list *metrics,
		    const struct text_list *events, struct diag *d, struct esp_layout *ret)
{
	uint32_t tiles = esp_nr_tiles(soc);
	int err;

	*ret = (struct esp_layout){ 0 };
	ret->stat.pmus = calloc(2 * tiles, sizeof(*ret->stat.pmus));
	ret->stat.counters = calloc((size_t)tiles * ESP_NR_COUNTERS, sizeof(*ret->stat.counters));
	ret->stat.metrics = calloc(most_metrics(soc) + 1, sizeof(*ret->stat.metrics));
	ret->index = calloc((size_t)tiles * ESP_NR_COUNTERS, sizeof(*ret->index));
	ret->first = calloc(2 * tiles + 1, sizeof(*ret->first));
	ret->pmus = calloc(tiles + 1, sizeof(*ret->pmus));
	if (!ret->stat.pmus || !ret->stat.counters || !ret->stat.metrics || !ret->index ||
	    !ret->first || !ret->pmus)
		return diag_no_memory(d);
	for (uint32_t i = 0; i < tiles; i++)
		add_tile(ret, soc, events, i);
	ret->pmus[tiles] = (uint32_t)ret->stat.nr_pmus;
	ret->first[ret->stat.nr_pmus] = (uint32_t)ret->stat.nr_counters;
	err = add_metrics(ret, soc, metrics, !metrics->nr && !events->nr, d);
	for (size_t i = 0; !err && i < metrics->nr; i++)
		err = check_metric(ret, metrics->items[i], d);
	for (size_t i = 0; !err && i < events->nr; i++)
		err = check_event(ret, events->items[i], d);
	return err;
}

void esp_layout_free(struct esp_layout *l)
{
	text_list_free(&l->stat.notes);
	text_list_free(&l->texts);
	free(l->stat.pmus);
	free(l->stat.counters);
	free(l->stat.metrics);
	free(l->index);
	free(l->first);
	free(l->pmus);
	*l = (struct esp_layout){ 0 };
}

struct stat_segment esp_layout_segment(const struct esp_layout *l, uint32_t pmu,
				       const struct esp_delta *delta, uint32_t *counters,
				       struct reading *readings)
{
	struct stat_segment s = {
		.pmu = pmu,
		.start_ns = delta->start_ns,
		.end_ns = delta->end_ns,
		.counters = counters,
		.readings = readings,
	};
	uint64_t time = delta->end_ns - delta->start_ns;

	for (uint32_t i = l->first[pmu]; i < l->first[pmu + 1]; i++) {
		counters[s.nr] = i;
		readings[s.nr++] = (struct reading){ delta->counts[l->index[i]], time,
						     delta->late ? 0 : time };
	}
	return s;
}
