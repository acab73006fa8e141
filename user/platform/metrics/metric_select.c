// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "platform/metrics/metric_select.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "platform/spec/event_spec.h"
#include "platform/metrics/internal.h"
#include "tables/events.h"
#include "tables/metric_units.h"

#define MAX_SOCKETS 4 /* that distinguish names of events and metrics */

/* The wants of a metric on a PMU; false when the PMU lacks something. */
static int take_events(struct metric_job *job, const struct pmu *pmu,
		       const struct metric_variant *v, bool by_name, struct metric_plan *p,
		       bool *ret_complete)
{
	struct stat_metric *m = &p->metric;
	int err;

	for (uint32_t i = 0; i < m->nr_inputs; i++) {
		const char *event = formula_name(p->formula, i);
		/* A separate counter that no filter affects; an address range would break it. */
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
	m->places = v->places;
	*ret_complete = p->nr_wants > 0;
	return 0;
}

/* A part of all ports' peak says nothing about one port. */
static bool is_of_all_ports(const struct metric_row *row, const struct metric_variant *v)
{
	const struct metric_unit *unit = metric_unit_find(row->unit);

	return v->ports && v->label[0] && unit && unit->of_peak && !strstr(row->formula, "ports");
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
	int err = metric_ranges_read(job);

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

/* Is there a PMU here that fits a row? */
static bool row_applies(const struct metric_job *job, const struct metric_row *row)
{
	for (size_t i = 0; i < job->pmus->nr; i++)
		if (job->pmus->pmus[i].kind == row->kind)
			return true;
	return false;
}

/* Names that would fit here: those that contain @word, otherwise as many as fit. */
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

/* Each pattern must have matched; one without * or ? is a name. */
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
	err = err ? diag_error(d, err, "cannot start") : select_all(&job);
	free(job.ports);
	free(job.ranges);
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
	text_list_free(&s->layout.notes);
	text_list_free(&s->texts);
	*s = (struct metric_selection){ 0 };
}
