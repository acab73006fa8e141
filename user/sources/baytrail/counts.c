// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "sources/baytrail/counts.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/cleanup.h"
#include "base/spelling.h"
#include "base/text.h"
#include "sources/baytrail/baytrail_rows.h"
#include "tables/formula.h"
#include "trace.h"

/* --- counters and metrics */

static const struct baytrail_group *find_group(const char *name, struct diag *d)
{
	struct spelling s = { .word = name };

	for (size_t i = 0; i < nr_baytrail_groups; i++)
		if (!strcasecmp(baytrail_groups[i].name, name))
			return &baytrail_groups[i];
	for (size_t i = 0; i < nr_baytrail_groups; i++)
		spelling_add(&s, baytrail_groups[i].name);
	diag_fail(d, -EINVAL, "--group %.64s: no group of counters has this name", name);
	spelling_advise(&s, "groups are", d, 0);
	return NULL;
}

static void add_counters(const struct baytrail_group *g, struct stat_layout *l)
{
	for (size_t i = 0; i < BAYTRAIL_MAX_EVENTS && g->events[i]; i++) {
		struct stat_counter *c = &l->counters[l->nr_counters++];
		bool cycles = !strcmp(g->events[i], "Clock_Counter") ||
			      strstr(g->events[i], "Self_Refresh");

		snprintf(c->name, sizeof(c->name), "%s/%s", g->name, g->events[i]);
		str_copy(c->event, sizeof(c->event), g->events[i]);
		str_copy(c->unit, sizeof(c->unit), cycles ? "cycles" : "requests");
		c->asked = true;
	}
}

/* A template with its "@" replaced; NULL without memory. */
static const char *expand(struct counts *c, const char *text, const char *with)
{
	char made[512] = "";

	for (size_t n; *text; text += n + (text[n] == '@')) {
		n = strcspn(text, "@");
		str_append(made, sizeof(made), "%.*s%s", (int)n, text, text[n] ? with : "");
	}
	return text_list_add(&c->texts, made) ? NULL : c->texts.items[c->texts.nr - 1];
}

static int take_input(const struct counts_options *o, const struct stat_layout *l, const char *name,
		      struct stat_metric *m)
{
	uint32_t at = m->nr_inputs++;

	if (at >= STAT_MAX_INPUTS)
		return -E2BIG;
	m->input[at] = STAT_CONSTANT;
	if (!strcmp(name, "duration_s"))
		m->input[at] = STAT_DURATION_S;
	else if (!strcmp(name, "ddr_bytes"))
		m->constant[at] = o->one_channel ? 32 : 64;
	else if (!strcmp(name, "dram_hz"))
		m->constant[at] = (double)o->dram_hz;
	else {
		for (uint32_t i = 0; i < l->nr_counters; i++)
			if (!strcmp(l->counters[i].event, name))
				m->input[at] = i;
		return m->input[at] == STAT_CONSTANT ? -EINVAL : 0;
	}
	return 0;
}

static int add_metric(struct counts *c, const struct counts_options *o,
		      const struct baytrail_part *part, const struct baytrail_metric *row,
		      struct diag *d)
{
	struct stat_metric *m = &c->layout.metrics[c->layout.nr_metrics];
	struct formula *f = NULL;
	int err;

	*m = (struct stat_metric){ .unit = row->unit };
	m->id = expand(c, row->id, part->id);
	m->title = expand(c, row->title, part->who);
	m->formula = expand(c, row->formula, part->prefix);
	if (!m->id || !m->title || !m->formula)
		return diag_no_memory(d);
	str_copy(m->name, sizeof(m->name), m->id);
	err = formula_parse(m->formula, d, &f);
	for (size_t i = 0; !err && i < formula_nr_names(f); i++)
		if (take_input(o, &c->layout, formula_name(f, i), m))
			err = diag_fail(d, -EINVAL, "%s: nothing is called %s", m->id,
					formula_name(f, i));
	formula_free(f);
	c->layout.nr_metrics += !err;
	return err;
}

static int add_metrics(struct counts *c, const struct counts_options *o,
		       const struct baytrail_group *g, struct diag *d)
{
	int err = 0;

	for (const struct baytrail_part *part = g->parts; part->kind; part++) {
		if (part->kind == BAYTRAIL_REFRESH && !o->dram_hz)
			continue;
		for (size_t i = 0; !err && i < nr_baytrail_metrics; i++)
			if (baytrail_metrics[i].kind == part->kind)
				err = add_metric(c, o, part, &baytrail_metrics[i], d);
	}
	return err;
}

int counts_new(const struct counts_options *o, struct diag *d, struct counts *ret)
{
	const struct baytrail_group *g = find_group(o->group, d);
	struct stat_layout *l = &ret->layout;
	int err;

	*ret = (struct counts){ 0 };
	if (!g)
		return -EINVAL;
	l->pmus = calloc(1, sizeof(*l->pmus));
	l->counters = calloc(BAYTRAIL_MAX_EVENTS, sizeof(*l->counters));
	l->metrics = calloc(BAYTRAIL_MAX_PARTS * nr_baytrail_metrics, sizeof(*l->metrics));
	if (!l->pmus || !l->counters || !l->metrics)
		return diag_no_memory(d);
	l->nr_pmus = 1;
	l->pmus[0] = (struct stat_pmu){ .socket = -1, .rc = -1 };
	str_copy(l->pmus[0].name, sizeof(l->pmus[0].name), g->name);
	str_copy(l->pmus[0].family, sizeof(l->pmus[0].family), "baytrail");
	snprintf(l->pmus[0].title, sizeof(l->pmus[0].title), "Bay Trail: %s", g->title);
	add_counters(g, l);
	err = add_metrics(ret, o, g, d);
	if (!err && g->parts[0].kind == BAYTRAIL_REFRESH && !o->dram_hz &&
	    text_list_add(&l->notes, "how long the memory was in self-refresh needs --dram-hz"))
		err = diag_no_memory(d);
	return err;
}

void counts_free(struct counts *c)
{
	text_list_free(&c->layout.notes);
	text_list_free(&c->texts);
	free(c->layout.pmus);
	free(c->layout.counters);
	free(c->layout.metrics);
	*c = (struct counts){ 0 };
}
