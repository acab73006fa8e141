// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "platform/metrics/metric_select.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/text.h"
#include "platform/spec/event_spec.h"
#include "platform/metrics/internal.h"
#include "tables/events.h"

#define MAX_SOCKETS 4 /* that names of events and metrics can tell apart */
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
	struct stat_layout *l = &s->layout;
	char *copy;

	for (size_t i = 0; i < l->nr_notes; i++)
		if (!strcmp(l->notes[i], text))
			return 0;
	copy = strdup(text);
	if (!copy || array_room(l->notes, s->cap_notes, l->nr_notes)) {
		free(copy);
		return -ENOMEM;
	}
	l->notes[l->nr_notes++] = copy;
	return 0;
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
	char *copy;

	if (!text || metric_text(text, socket, other, made, sizeof(made)))
		return text;
	if (!strcmp(made, text))
		return text;
	copy = strdup(made);
	if (!copy || array_room(s->texts, s->cap_texts, s->nr_texts)) {
		free(copy);
		return NULL;
	}
	s->texts[s->nr_texts++] = copy;
	return copy;
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

	if (!strcmp(name, "duration_ns"))
		p->metric.input[input] = STAT_DURATION_NS;
	else if (!strcmp(name, "duration_s"))
		p->metric.input[input] = STAT_DURATION_S;
	else if (!strcmp(name, "ports"))
		p->metric.input[input] = STAT_CONSTANT;
	else
		return false;
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

	if (array_room(l->metrics, s->cap_metrics, l->nr_metrics))
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

/* The wants of a metric on a PMU; false when the PMU lacks something. */
static int take_events(struct metric_job *job, const struct pmu *pmu,
		       const struct metric_variant *v, bool by_name, struct metric_plan *p,
		       bool *ret_complete)
{
	struct stat_metric *m = &p->metric;
	int err;

	for (uint32_t i = 0; i < m->nr_inputs; i++) {
		const char *event = formula_name(p->formula, i);
		/* A counter of its own, which no filter touches; a window would harm it. */
		bool plain = !strcmp(event, "cycles");
		const struct event_row *row;
		struct want want;

		if (metric_constant(p, i, v->ports))
			continue;
		if (!pmu_event_find(pmu, event)) {
			err = by_name ? metric_note(job, "%s: %s%s%s does not have the event %s",
						    m->name, pmu->name,
						    pmu->peer[0] ? ", peer " : "", pmu->peer, event)
				      : 0;
			*ret_complete = false;
			return err;
		}
		err = want_make(pmu, event, v->terms, plain ? 0 : v->nr_terms, job->d, &want);
		if (err == -ENOMEM)
			return err;
		if (err) {
			*ret_complete = false;
			return metric_note(job, "%s is not shown: %s", m->name,
					   job->d ? job->d->what : strerror(-err));
		}
		row = event_row_find(pmu->kind, event);
		want.constant = row && (row->unit == EVENT_BYTES || row->unit == EVENT_BEATS);
		str_copy(want.label, sizeof(want.label), plain ? "" : v->label);
		if (!plain)
			str_copy(m->filters, sizeof(m->filters), want.filters);
		metric_input(p, i, &want);
	}
	str_copy(m->label, sizeof(m->label), v->label);
	*ret_complete = p->nr_wants > 0;
	return 0;
}

/* A part of a peak that is that of all ports says nothing about one port. */
static bool is_of_all_ports(const struct metric_row *row, const struct metric_variant *v)
{
	return v->ports && v->label[0] && !strcmp(row->unit, "percent") &&
	       !strstr(row->formula, "ports");
}

static int add_metric(struct metric_job *job, const struct pmu *pmu, const struct metric_row *row,
		      int32_t other, const struct metric_variants *variants)
{
	bool by_name, complete = true;
	struct metric_plan p;
	char name[METRIC_ID_LEN];
	int err = metric_text(row->id, pmu->socket, other, name, sizeof(name));

	if (err || !metric_wanted(job, row, name, row->by_default, &by_name))
		return err;
	for (size_t i = 0; !err && complete && i < variants->nr; i++) {
		if (is_of_all_ports(row, &variants->v[i])) {
			err = by_name ? metric_note(job, "%s: known for all ports together only",
						    name)
				      : 0;
			continue;
		}
		err = metric_begin(job, row, pmu->socket, other, &p);
		if (err)
			break;
		err = take_events(job, pmu, &variants->v[i], by_name, &p, &complete);
		if (!err && complete)
			err = metric_commit(job, &p);
		metric_end(&p);
	}
	return err;
}

static int select_on_pmu(struct metric_job *job, const struct pmu *pmu)
{
	struct metric_variants variants = { 0 };
	const struct metric_row *row;
	int err = metric_variants_make(job, pmu, &variants);

	for (size_t i = 0; !err && variants.nr && (row = metric_row_at(i)); i++) {
		if (row->kind != pmu->kind)
			continue;
		if (!metric_has_other(row)) {
			err = add_metric(job, pmu, row, -1, &variants);
			continue;
		}
		for (int32_t other = 0; !err && other < MAX_SOCKETS; other++)
			if (other != pmu->socket && metric_has_socket(job->pmus, pmu->kind, other))
				err = add_metric(job, pmu, row, other, &variants);
	}
	free(variants.v);
	return err;
}

static int select_uncore(struct metric_job *job)
{
	int err = metric_windows_read(job);

	for (size_t i = 0; !err && i < job->pmus->nr; i++) {
		const struct pmu *pmu = &job->pmus->pmus[i];

		if (pmu->usable && (job->o->socket < 0 || pmu->socket == job->o->socket))
			err = select_on_pmu(job, pmu);
	}
	return err;
}

/* Does a pattern fit any metric, on any machine? */
static bool is_known(const char *pattern)
{
	const struct metric_row *row;
	char name[METRIC_ID_LEN];

	for (size_t i = 0; (row = metric_row_at(i)); i++) {
		if (metric_matches(pattern, row->id))
			return true;
		for (int32_t n = 0; n < MAX_SOCKETS * MAX_SOCKETS; n++)
			if (!metric_text(row->id, n / MAX_SOCKETS, n % MAX_SOCKETS, name,
					 sizeof(name)) &&
			    metric_matches(pattern, name))
				return true;
	}
	return false;
}

/* Is there a PMU here that a row could be about? */
static bool row_applies(const struct metric_job *job, const struct metric_row *row)
{
	for (size_t i = 0; i < job->pmus->nr; i++)
		if (job->pmus->pmus[i].kind == row->kind)
			return true;
	return false;
}

/* Names that would fit here: those in which @word occurs, otherwise as many as fit. */
static void suggest(const struct metric_job *job, const char *word, struct diag *d)
{
	char help[sizeof(d->help)] = "";
	const struct metric_row *row;

	for (int pass = 0; pass < 2 && !help[0]; pass++) {
		for (size_t i = 0; (row = metric_row_at(i)); i++) {
			const char *name = strchr(row->id, '.');

			if (!name || !row_applies(job, row) || (!pass && !strstr(row->id, word)))
				continue;
			if (strlen(help) + strlen(name) + 32 > sizeof(help)) {
				str_append(help, sizeof(help), ", ...");
				break;
			}
			str_append(help, sizeof(help), "%s%s",
				   help[0] ? ", " : "known here: ", name + 1);
		}
	}
	diag_help(d, "%s", help[0] ? help : "the PMUs of this machine have no metrics");
}

/* Each pattern must have brought something; one without * or ? is asked for by name. */
static int check_patterns(struct metric_job *job)
{
	const struct metric_options *o = job->o;
	int err = 0;

	for (size_t i = 0; !err && i < o->nr_metrics; i++) {
		if (job->hits[i])
			continue;
		if (!is_known(o->metrics[i])) {
			err = diag_fail(job->d, -ENOENT, "there is no metric \"%s\"",
					o->metrics[i]);
			suggest(job, o->metrics[i], job->d);
		} else if (!job->s->wants.nr) {
			err = diag_fail(job->d, -ENOENT,
					"no PMU here counts what metric \"%s\" needs",
					o->metrics[i]);
			suggest(job, o->metrics[i], job->d);
		} else {
			err = metric_note(job, "%s: no PMU here counts what it needs",
					  o->metrics[i]);
		}
	}
	return err;
}

static int select_all(struct metric_job *job)
{
	const struct metric_options *o = job->o;
	bool metrics = o->nr_metrics || !o->nr_events || metric_asks_variants(o);
	int err = 0;

	for (size_t i = 0; !err && i < o->nr_events; i++)
		err = event_spec_add(job->fs, job->pmus, o->socket, o->events[i], job->d,
				     &job->s->wants);
	if (!err && metrics)
		err = select_uncore(job);
	if (!err && metrics && (!metric_asks_variants(o) || o->nr_metrics))
		err = metric_select_core(job);
	if (!err)
		err = check_patterns(job);
	if (!err && metric_layout_make(job->s))
		err = -ENOMEM;
	return err == -ENOMEM ? diag_no_memory(job->d) : err;
}

int metric_select(const struct sysfs *fs, const struct pmu_list *pmus,
		  const struct metric_options *o, struct diag *d, struct metric_selection *ret)
{
	struct metric_selection s = { 0 };
	struct metric_job job = {
		.fs = fs,
		.pmus = pmus,
		.o = o,
		.s = &s,
		.hits = calloc(o->nr_metrics + 1, sizeof(*job.hits)),
		.d = d,
	};
	int err = job.hits ? 0 : -ENOMEM;

	if (!err && o->per_port)
		err = root_ports_read(fs, &job.ports, &job.nr_ports);
	err = err ? diag_fail(d, err, "cannot start: %s", strerror(-err)) : select_all(&job);
	free(job.ports);
	free(job.windows);
	free(job.hits);
	if (err)
		metric_selection_free(&s);
	else
		*ret = s;
	return err;
}

void metric_selection_free(struct metric_selection *s)
{
	if (!s)
		return;
	want_list_free(&s->wants);
	free(s->counter_of);
	free(s->layout.pmus);
	free(s->layout.counters);
	free(s->layout.metrics);
	for (size_t i = 0; i < s->layout.nr_notes; i++)
		free(s->layout.notes[i]);
	free(s->layout.notes);
	for (size_t i = 0; i < s->nr_texts; i++)
		free(s->texts[i]);
	free(s->texts);
	*s = (struct metric_selection){ 0 };
}
