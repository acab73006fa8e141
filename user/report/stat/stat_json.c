// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "report/stat/stat_report.h"

#include <errno.h>
#include <string.h>

#include "base/cleanup.h"
#include "report/format.h"
#include "report/put.h"
#include "report/stat/stat_peaks.h"

/* A number, or null for -1, which means none. */
static void put_place(json_t *o, const char *key, int32_t value, int *err)
{
	put(o, key, value < 0 ? json_null() : json_integer(value), err);
}

/* Text, or null when there is none. */
static void put_optional(json_t *o, const char *key, const char *text, int *err)
{
	put_text(o, key, text && *text ? text : NULL, err);
}

static json_t *pmu_object(const struct stat_pmu *p, int *err)
{
	json_t *o = json_object();

	put_text(o, "name", p->name, err);
	put_text(o, "family", p->family, err);
	put_text(o, "title", p->title, err);
	put_place(o, "socket", p->socket, err);
	put_place(o, "root_complex", p->rc, err);
	put_optional(o, "peer", p->peer, err);
	put_bool(o, "dear", p->dear, err);
	if (p->reads)
		put_number(o, "device_reads", p->reads, err);
	return o;
}

/* Fields common to counts and metrics. */
static void put_quality(json_t *o, enum stat_absence absence, uint64_t enabled_ns,
			uint64_t covered_ns, const char *partly, int *err)
{
	put_bool(o, "valid", absence == STAT_PRESENT, err);
	if (absence != STAT_PRESENT)
		put_text(o, "reason", stat_absence_name(absence), err);
	else
		put_text(o, "method", covered_ns >= enabled_ns ? "counted" : partly, err);
	put_number(o, "enabled_ns", enabled_ns, err);
	put_number(o, "covered_ns", covered_ns, err);
}

static void put_bounds(json_t *o, const struct stat_value *v, int *err)
{
	put(o, "value", json_real(v->value), err);
	put(o, "low", json_real(v->low), err);
	put(o, "high", json_real(v->high), err);
}

static json_t *metric_object(const struct stat_report *r, size_t i, int *err)
{
	const struct stat_metric *m = &r->layout->metrics[i];
	const struct stat_pmu *p = &r->layout->pmus[m->pmu];
	const struct stat_value *v = &r->values[i];
	json_t *o = json_object();

	put_text(o, "name", m->name, err);
	put_text(o, "title", m->title, err);
	put_text(o, "unit", m->unit, err);
	put_text(o, "pmu", p->name, err);
	put_place(o, "socket", p->socket, err);
	put_place(o, "root_complex", p->rc, err);
	put_text(o, "filters", m->filters, err);
	put_optional(o, "label", m->label, err);
	put_optional(o, "from", m->from, err);
	put_optional(o, "to", m->to, err);
	put_text(o, "formula", m->formula, err);
	if (v->absence == STAT_PRESENT)
		put_bounds(o, v, err);
	put_quality(o, v->absence, v->enabled_ns, v->covered_ns, "sampled", err);
	return o;
}

static json_t *counter_object(const struct stat_report *r, size_t i, int *err)
{
	const struct stat_counter *c = &r->layout->counters[i];
	const struct stat_count *v = &r->counts[i];
	json_t *o = json_object();

	put_text(o, "name", c->name, err);
	put_text(o, "pmu", r->layout->pmus[c->pmu].name, err);
	put_optional(o, "event", c->event, err);
	put_text(o, "filters", c->filters, err);
	put_optional(o, "label", c->label, err);
	put_optional(o, "unit", c->unit, err);
	put_bool(o, "asked", c->asked, err);
	if (v->absence == STAT_PRESENT) {
		put_number(o, "value", v->value, err);
		put_number(o, "low", v->low, err);
		put_number(o, "high", v->high, err);
		put_number(o, "counted", v->counted, err);
	}
	put_quality(o, v->absence, v->enabled_ns, v->running_ns, "scaled", err);
	return o;
}

static json_t *cost_object(const struct stat_report *r, size_t i, int *err)
{
	const struct stat_cost *c = &r->costs[i];
	json_t *o = json_object();

	put_text(o, "pmu", r->layout->pmus[i].name, err);
	put_number(o, "readings", c->readings, err);
	put_number(o, "read_ns", c->read_ns, err);
	put_number(o, "failed", c->failed, err);
	put_number(o, "deferred", c->deferred, err);
	put_number(o, "turns", c->turns, err);
	put_number(o, "turns_deferred", c->turns_deferred, err);
	put_number(o, "sets", c->sets, err);
	return o;
}

static json_t *self_object(const struct stat_report *r, int *err)
{
	json_t *o = json_object(), *pmus = json_array();

	put_number(o, "cpu_ns", r->cpu_ns, err);
	put(o, "read_budget", json_real(r->budget), err);
	put(o, "busiest", json_real(r->busiest), err);
	for (size_t i = 0; i < r->layout->nr_pmus; i++)
		put_element(pmus, cost_object(r, i, err), err);
	put(o, "pmus", pmus, err);
	return o;
}

static json_t *notes_array(const struct stat_layout *l, int *err)
{
	json_t *a = json_array();

	for (size_t i = 0; i < l->notes.nr; i++) {
		cleanup_free char *text = NULL;

		if (!*err)
			*err = format_utf8(l->notes.items[i], SIZE_MAX, &text);
		if (!*err)
			put_element(a, json_string(text), err);
	}
	return a;
}

int stat_json(const struct stat_report *r, json_t **ret)
{
	const struct stat_layout *l = r->layout;
	json_t *o = json_object(), *pmus = json_array(), *metrics = json_array(),
	       *counters = json_array();
	int err = 0;

	put_text(o, "schema", "t410trace.stat/1", &err);
	put_number(o, "sequence", r->sequence, &err);
	if (r->summary)
		put_bool(o, "summary", true, &err);
	put_host(o, r->host, &err);
	put_interval(o, r->start_ns, r->end_ns, r->start_time_ns, &err);
	for (size_t i = 0; i < l->nr_pmus; i++)
		put_element(pmus, pmu_object(&l->pmus[i], &err), &err);
	for (size_t i = 0; i < l->nr_metrics; i++)
		put_element(metrics, metric_object(r, i, &err), &err);
	for (size_t i = 0; i < l->nr_counters; i++)
		put_element(counters, counter_object(r, i, &err), &err);
	put(o, "pmus", pmus, &err);
	put(o, "metrics", metrics, &err);
	put(o, "counters", counters, &err);
	if (r->host->peaks.nr)
		put(o, "peaks", stat_peaks_array(r, &err), &err);
	if (r->host->peaks.note[0])
		put_text(o, "peak_note", r->host->peaks.note, &err);
	put(o, "notes", notes_array(l, &err), &err);
	put(o, "self", self_object(r, &err), &err);
	if (err)
		json_decref(o);
	else
		*ret = o;
	return err;
}

int stat_json_write(FILE *out, const struct stat_report *r)
{
	json_t *o;
	int err = stat_json(r, &o);

	return err ? err : put_line(out, o, 15, 0);
}
