// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* One selected metric: was it requested, its texts and inputs, and notes about it. */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "platform/metrics/internal.h"

static bool has_wildcard(const char *pattern)
{
	return strpbrk(pattern, "*?");
}

static bool glob(const char *pattern, const char *text)
{
	for (; *pattern; pattern++, text++) {
		if (*pattern == '*') {
			while (pattern[1] == '*')
				pattern++;
			for (;; text++) {
				if (glob(pattern + 1, text))
					return true;
				if (!*text)
					return false;
			}
		}
		if (!*text || (*pattern != '?' && *pattern != *text))
			return false;
	}
	return !*text;
}

bool metric_matches(const char *pattern, const char *name)
{
	const char *rest = strchr(name, '.'), *last = strrchr(name, '.');

	return glob(pattern, name) || (rest && glob(pattern, rest + 1)) ||
	       (last && glob(pattern, last + 1));
}

int metric_selection_note(struct metric_selection *s, const char *text)
{
	struct text_list *notes = &s->layout.notes;

	for (size_t i = 0; i < notes->nr; i++)
		if (!strcmp(notes->items[i], text))
			return 0;
	return text_list_add(notes, text);
}

int metric_note(struct metric_job *job, const char *fmt, ...)
{
	char text[512];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	return metric_selection_note(job->s, text);
}

/* A text that lives as long as the selection. */
static const char *keep(struct metric_job *job, const char *text, int32_t socket, int32_t other)
{
	struct metric_selection *s = job->s;
	char made[512];

	if (!text || metric_text(text, socket, other, made, sizeof(made)))
		return text;
	if (!strcmp(made, text))
		return text;
	return text_list_add(&s->texts, made) ? NULL : s->texts.items[s->texts.nr - 1];
}

int metric_begin(struct metric_job *job, const struct metric_row *row, int32_t socket,
		 int32_t other, struct metric_plan *ret)
{
	struct metric_plan p = { .row = row };
	struct stat_metric *m = &p.metric;
	int err;

	m->id = row->id;
	m->unit = row->unit;
	m->title = keep(job, row->title, socket, other);
	m->formula = keep(job, row->formula, socket, other);
	m->from = keep(job, row->from, socket, other);
	m->to = keep(job, row->to, socket, other);
	if (!m->title || !m->formula || (row->from && !m->from) || (row->to && !m->to))
		return diag_no_memory(job->d);
	err = metric_text(row->id, socket, other, m->name, sizeof(m->name));
	if (!err)
		err = formula_parse(m->formula, job->d, &p.formula);
	if (!err && formula_nr_names(p.formula) > STAT_MAX_INPUTS) {
		formula_free(p.formula);
		err = diag_fail(job->d, -E2BIG, "metric %s needs too many events", m->name);
	}
	if (err)
		return err;
	m->nr_inputs = formula_nr_names(p.formula);
	*ret = p;
	return 0;
}

void metric_end(struct metric_plan *p)
{
	formula_free(p->formula);
}

bool metric_constant(struct metric_plan *p, uint32_t input, unsigned int ports)
{
	const char *name = formula_name(p->formula, input);

	if (!metric_is_constant(name))
		return false;
	p->metric.input[input] = !strcmp(name, "duration_ns")  ? STAT_DURATION_NS
				 : !strcmp(name, "duration_s") ? STAT_DURATION_S
							       : STAT_CONSTANT;
	if (p->metric.input[input] == STAT_CONSTANT)
		p->metric.constant[input] = ports;
	return true;
}

void metric_input(struct metric_plan *p, uint32_t input, const struct want *want)
{
	p->metric.input[input] = p->nr_wants;
	p->wants[p->nr_wants++] = *want;
}

int metric_commit(struct metric_job *job, const struct metric_plan *p)
{
	struct metric_selection *s = job->s;
	struct stat_layout *l = &s->layout;
	uint32_t set = p->nr_wants > 1 ? ++s->wants.last_set : 0;
	size_t first = s->wants.nr;
	struct stat_metric *m;

	if (array_reserve(l->metrics, s->cap_metrics, l->nr_metrics))
		return diag_no_memory(job->d);
	for (uint32_t i = 0; i < p->nr_wants; i++) {
		struct want want = p->wants[i];

		want.set = set;
		if (want_add(&s->wants, &want))
			return diag_no_memory(job->d);
	}
	m = &l->metrics[l->nr_metrics++];
	*m = p->metric;
	for (uint32_t i = 0; i < m->nr_inputs; i++)
		if (m->input[i] < STAT_CONSTANT)
			m->input[i] += first;
	for (size_t i = 0; i < job->o->nr_metrics; i++)
		job->hits[i] += metric_matches(job->o->metrics[i], m->name) ||
				metric_matches(job->o->metrics[i], m->id);
	return 0;
}

bool metric_wanted(struct metric_job *job, const struct metric_row *row, const char *name,
		   bool by_default, bool *ret_by_name)
{
	const struct metric_options *o = job->o;
	bool wanted = !o->nr_metrics && by_default;

	*ret_by_name = false;
	for (size_t i = 0; i < o->nr_metrics; i++) {
		if (!metric_matches(o->metrics[i], name) && !metric_matches(o->metrics[i], row->id))
			continue;
		wanted = true;
		*ret_by_name |= !has_wildcard(o->metrics[i]);
	}
	return wanted;
}
