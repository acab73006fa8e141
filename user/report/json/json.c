// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/cleanup.h"
#include "base/sums.h"
#include "base/text.h"
#include "report/devices.h"
#include "report/facts.h"
#include "report/json/internal.h"
#include "report/format.h"
#include "report/json/json.h"
#include "report/latencies.h"
#include "report/parts.h"
#include "report/peaks.h"
#include "report/put.h"
#include "report/resctrl_report.h"
#include "report/verdict.h"

#define NANOJOULES 1e9 /* in a joule */

static json_t *filters_object(const struct counter *c, int *err)
{
	char name[sizeof(c->filters)];
	const char *filters = c->filters;
	json_t *o = json_object();
	uint64_t value;

	while (!take_setting(&filters, name, sizeof(name), &value))
		put_number(o, name, value, err);
	return o;
}

static json_t *counter_object(const struct report *r, const struct report_counter *rc, int *err)
{
	const struct counter *c = rc->counter;
	const struct device *device = devices_of(r, c->device);
	uint64_t unattributed = 0;
	double ratio = rc->enabled_ns ? (double)rc->running_ns / (double)rc->enabled_ns : 1.0;
	json_t *o = json_object();
	int i;

	for (i = 0; i < NR_REASONS; i++)
		unattributed = sum_capped(unattributed, rc->unattributed[i]);
	put_name(o, "name", c->name, sizeof(c->name), err);
	put_name(o, "pmu", c->pmu, sizeof(c->pmu), err);
	put_name(o, "event", c->event, sizeof(c->event), err);
	put(o, "filters", filters_object(c, err), err);
	put_text(o, "unit", unit_name(c->unit), err);
	put_number(o, "socket", report_socket_id(r, c), err);
	put_text(o, "source", source_name(c->source), err);
	if (device)
		put_name(o, "bdf", device->bdf, sizeof(device->bdf), err);
	put_text(o, "direction", direction_name(c->direction), err);
	put_text(o, "destination", destination_name(c->destination), err);
	if (c->term)
		put_text(o, "term", term_name(c->term), err);
	if (c->estimate)
		put_text(o, "estimate", estimate_name(c->estimate), err);
	put_bool(o, "valid", rc->valid, err);
	if (rc->valid) {
		put_number(o, "value", rc->value, err);
		put_number(o, "low", rc->low, err);
		put_number(o, "high", rc->high, err);
		/* Requests have no owners: nobody asked for any. */
		if (unit_is_split(c->unit)) {
			put_number(o, "attributed", rc->attributed, err);
			put_number(o, "unattributed", unattributed, err);
		}
		put(o, "running_ratio", json_real(ratio), err);
	} else {
		put_text(o, "reason", facts_why_absent(rc->enabled_ns, rc->running_ns), err);
	}
	put_number(o, "enabled_ns", rc->enabled_ns, err);
	put_number(o, "running_ns", rc->running_ns, err);
	put_number(o, "covered_ns", rc->covered_ns, err);
	if (rc->limit_per_s)
		put_number(o, "limit_bytes_per_s", rc->limit_per_s, err);
	return o;
}

static json_t *counters_array(const struct report *r, int *err)
{
	json_t *a = json_array();
	size_t i;

	for (i = 0; i < r->nr_counters; i++)
		put_element(a, counter_object(r, &r->counters[i], err), err);
	return a;
}

static void put_facts(json_t *o, const struct fact_of *of, size_t nr, const void *subject, int *err)
{
	for (size_t i = 0; i < nr; i++)
		put_number(o, of[i].name, fact_of(&of[i], subject), err);
}

static json_t *sockets_array(const struct report *r, int *err)
{
	json_t *a = json_array();
	size_t i;

	for (i = 0; i < r->nr_sockets; i++) {
		const struct report_socket *s = &r->sockets[i];
		json_t *o = json_object();

		put_number(o, "id", s->id, err);
		put_number(o, "cpus", s->nr_cpus, err);
		put_facts(o, facts_of_sockets, NR_FACTS_OF_SOCKETS, s, err);
		put_element(a, o, err);
	}
	return a;
}

/* Bytes of a row, by destination and direction; of DESTINATION_ANY, of all counters. */
struct row_bytes {
	uint64_t bytes[NR_DESTINATIONS][NR_DIRECTIONS];
	bool counted[NR_DESTINATIONS][NR_DIRECTIONS];
	uint64_t energy;
	bool energy_counted;
};

static void add_share(struct row_bytes *b, const struct counter *c, uint64_t value)
{
	enum destination to[] = { DESTINATION_ANY, c->destination };
	enum direction way = c->direction;

	for (size_t i = 0; i < (c->destination == DESTINATION_ANY ? 1 : 2); i++) {
		b->bytes[to[i]][way] = sum_capped(b->bytes[to[i]][way], value);
		b->counted[to[i]][way] = true;
	}
}

/* A metric without a single reading behind it is left out, not zero. */
static json_t *metrics_object(const struct report *r, const struct report_row *row,
			      const struct row_bytes *b, int *err)
{
	json_t *o = json_object();

	for (int d = 0; d < NR_DESTINATIONS; d++) {
		const char *to = d == DESTINATION_ANY ? "mem" : destination_name(d);
		char name[32];

		for (int way = 0; way < NR_DIRECTIONS; way++) {
			if (!b->counted[d][way])
				continue;
			snprintf(name, sizeof(name), "%s_%s_bytes", to, direction_name(way));
			put_number(o, name, b->bytes[d][way], err);
		}
	}
	if (b->energy_counted)
		put(o, "energy_joules", json_real((double)b->energy / NANOJOULES), err);
	devices_json_metrics(r, row, o, err);
	return o;
}

/* The shares of a row; @b receives what those that CPUs moved add up to. */
static json_t *shares_array(const struct report *r, const struct report_row *row,
			    struct row_bytes *b, int *err)
{
	json_t *a = json_array();
	size_t i;

	for (i = 0; i < row->nr_shares; i++) {
		const struct share *s = &row->shares[i];
		const struct counter *c = r->counters[s->counter].counter;
		json_t *o = json_object();

		put_name(o, "counter", c->name, sizeof(c->name), err);
		put_number(o, "value", s->value, err);
		put_number(o, "low", s->low, err);
		put_number(o, "high", s->high, err);
		put_bool(o, "separable", s->separable, err);
		put_element(a, o, err);
		if (c->unit == UNIT_NANOJOULES) {
			b->energy = sum_capped(b->energy, s->value);
			b->energy_counted = true;
		}
		if (devices_task_counter(c))
			add_share(b, c, s->value);
	}
	return a;
}

static json_t *cgroup_object(const struct report_row *row, int *err)
{
	json_t *o = json_object();

	put_number(o, "id", row->cgroup_id, err);
	put_text(o, "path", row->cgroup, err);
	return o;
}

static json_t *tangled_array(const struct report_row *row, int *err)
{
	json_t *a = json_array();
	size_t i;

	for (i = 0; i < row->nr_tangled; i++) {
		cleanup_free char *text = NULL;

		if (!*err)
			*err = format_utf8(row->tangled[i], sizeof(row->tangled[i]), &text);
		if (!*err)
			put_element(a, json_string(text), err);
	}
	return a;
}

void json_who(json_t *o, const struct report_row *row, int *err)
{
	put_name(o, "key", row->key, sizeof(row->key), err);
	put_text(o, "kind", row_kind_name(row->kind), err);
	if (row->kind == ROW_CGROUP || row->kind == ROW_JOB) {
		put_name(o, "parent", row->parent[0] ? row->parent : NULL, sizeof(row->parent),
			 err);
		put_bool(o, "leaf", row->leaf, err);
	} else {
		put_number(o, "pid", row->pid, err);
		if (row->kind == ROW_THREAD)
			put_number(o, "tid", row->tid, err);
		put_name(o, "comm", row->comm_known ? row->comm : NULL, sizeof(row->comm), err);
	}
	put(o, "cgroup", cgroup_object(row, err), err);
	if (row->job)
		put(o, "job", json_job(row->job, err), err);
	if (row->exited)
		put_bool(o, "exited", true, err);
	if (row->kernel)
		put_bool(o, "kernel", true, err);
}

/* What part the row used of the most that all sockets' memory could have moved, if it is known. */
static void put_peak_share(json_t *o, const struct row_bytes *b, uint64_t peak, int *err)
{
	uint64_t elsewhere = 0, all = 0;
	bool counted = false;

	for (int way = 0; way < NR_DIRECTIONS; way++) {
		for (int d = DESTINATION_CMEM + 1; d < NR_DESTINATIONS; d++)
			elsewhere = sum_capped(elsewhere, b->bytes[d][way]);
		all = sum_capped(all, b->bytes[DESTINATION_ANY][way]);
		counted |= b->counted[DESTINATION_ANY][way];
	}
	if (peak && counted)
		put(o, "peak_share",
		    json_real((double)(all > elsewhere ? all - elsewhere : 0) / (double)peak), err);
}

static json_t *row_object(const struct report *r, const struct report_row *row, uint64_t peak,
			  int *err)
{
	json_t *o = json_object();
	struct row_bytes bytes = { 0 };

	json_who(o, row, err);
	put_facts(o, facts_of_rows, NR_FACTS_OF_ROWS, row, err);
	put(o, "shares", shares_array(r, row, &bytes, err), err);
	put(o, "metrics", metrics_object(r, row, &bytes, err), err);
	put_peak_share(o, &bytes, peak, err);
	if (r->nr_devices)
		put(o, "devices", devices_json_row(r, row, err), err);
	if (r->nr_probes)
		put(o, "latencies", latencies_row(r, row, err), err);
	put_bool(o, "separable", row->separable, err);
	if (!row->separable) {
		put(o, "tangled_with", tangled_array(row, err), err);
		put_number(o, "tangled_count", row->nr_tangled_all, err);
	}
	if (row->pooled)
		put_bool(o, "pooled", true, err);
	return o;
}

static json_t *workloads_array(const struct report *r, int *err)
{
	uint64_t peak = peaks_memory(r, -1);
	json_t *a = json_array();
	size_t i;

	for (i = 0; i < r->nr_rows && !*err; i++)
		put_element(a, row_object(r, &r->rows[i], peak, err), err);
	return a;
}

static json_t *unattributed_array(const struct report *r, int *err)
{
	json_t *a = json_array();
	size_t i;
	int reason;

	for (i = 0; i < r->nr_counters; i++) {
		const struct report_counter *rc = &r->counters[i];

		for (reason = 0; rc->valid && reason < NR_REASONS; reason++) {
			json_t *o;

			if (!rc->unattributed[reason] || !unit_is_split(rc->counter->unit))
				continue;
			o = json_object();
			put_name(o, "counter", rc->counter->name, sizeof(rc->counter->name), err);
			put_number(o, "value", rc->unattributed[reason], err);
			put_text(o, "reason", reason_name(reason), err);
			put_element(a, o, err);
		}
	}
	return a;
}

json_t *json_lost(const struct quality *q, int *err)
{
	json_t *lost = json_object();

	/*
	 * A slice that had to wait is not lost; one that came late is lost to its interval, and
	 * one that the trace says it lacks to all: these are what "slices" counts.
	 */
	put_number(lost, "slices", q->late_slices + q->lost_slices, err);
	put_number(lost, "late_slices", q->late_slices, err);
	put_number(lost, "slices_ns", q->lost_slices_ns, err);
	put_number(lost, "windows", q->lost_windows, err);
	put_number(lost, "tasks", q->lost_tasks, err);
	put_number(lost, "cgroups", q->lost_cgroups, err);
	put_number(lost, "io", q->lost_io, err);
	put_number(lost, "bad_records", q->bad_records, err);
	return lost;
}

json_t *json_quality(const struct quality *q, int *err)
{
	static const struct fact_of numbers[] = {
		OF_QUALITY(windows),	      OF_QUALITY(weight_windows),
		OF_QUALITY(fallback_windows), OF_QUALITY(pooled_workloads),
		OF_QUALITY(invalid_windows),  OF_QUALITY(unscheduled_windows),
		OF_QUALITY(merged_windows),   OF_QUALITY(kept_flushes),
		OF_QUALITY(unseen_switches),  OF_QUALITY(unknown_tasks),
		OF_QUALITY(reader_moves),     OF_QUALITY(rows_pooled),
		OF_QUALITY(counter_restarts), OF_QUALITY(uncounted_ns),
		OF_QUALITY(weights_reopened), OF_QUALITY(unweighed_ns),
		OF_QUALITY(unowned_io_bytes), OF_QUALITY(device_held_ns),
		OF_QUALITY(device_changes)
	};
	json_t *o = json_object();

	put_text(o, "method", method_name(q->method), err);
	put_name(o, "weights", q->weights, sizeof(q->weights), err);
	put_facts(o, numbers, ARRAY_SIZE(numbers), q, err);
	if (q->tasks_ns) {
		put_number(o, "tasks_ns", q->tasks_ns, err);
		put_number(o, "spread_ns", q->spread_ns, err);
		put(o, "per_window_ratio", json_real(quality_per_window(q)), err);
	}
	put(o, "lost", json_lost(q, err), err);
	return o;
}

json_t *json_self(const struct self_cost *s, int *err)
{
	json_t *o = json_object();

	put_number(o, "cpu_ns", s->cpu_ns, err);
	put_number(o, "switches", s->switches, err);
	put_number(o, "switch_ns", s->switch_ns, err);
	put_number(o, "timed", s->timed, err);
	put_number(o, "probes", s->probes, err);
	put_number(o, "probe_ns", s->probe_ns, err);
	put_number(o, "probe_deferred", s->probe_deferred, err);
	put_number(o, "probe_failed", s->probe_failed, err);
	return o;
}

/* Where windows are closed while a task goes on. */
static void put_ticks(json_t *o, const struct report *r, int *err)
{
	if (!r->host->tick[0])
		return;
	put_name(o, "tick", r->host->tick, sizeof(r->host->tick), err);
	if (r->host->tick_note[0])
		put_name(o, "tick_note", r->host->tick_note, sizeof(r->host->tick_note), err);
}

static json_t *verdict_object(const struct report *r, int *err)
{
	const struct verdict v = report_verdict(r);
	json_t *o = json_object();

	put_text(o, "word", verdict_word_name(v.word), err);
	put_text(o, "text", v.text, err);
	return o;
}

static json_t *report_quality(const struct report *r, int *err)
{
	json_t *o = json_quality(&r->quality, err);
	char text[MODEL_NOTE_LEN];

	put(o, "verdict", verdict_object(r, err), err);
	if (verdict_cpu_time(r, text))
		put_text(o, "cpu_note", text, err);
	if (r->host->io_note[0])
		put_name(o, "io_note", r->host->io_note, sizeof(r->host->io_note), err);
	put_ticks(o, r, err);
	if (r->unplaced_ns)
		put_number(o, "unplaced_ns", r->unplaced_ns, err);
	if (r->saturated_windows)
		put_number(o, "saturated_windows", r->saturated_windows, err);
	if (r->estimated_windows || r->simple_windows) {
		put_number(o, "estimated_windows", r->estimated_windows, err);
		put_number(o, "simple_windows", r->simple_windows, err);
	}
	return o;
}

/* Nothing where no peak is known. */
static void put_peaks(json_t *o, const struct report *r, int *err)
{
	if (!r->host->peaks.nr)
		return;
	put(o, "peaks", peaks_array(r, err), err);
	if (r->host->peaks.note[0])
		put_name(o, "peak_note", r->host->peaks.note, sizeof(r->host->peaks.note), err);
}

int json_report(const struct report *r, json_t **ret)
{
	json_t *o = json_object();
	int err = 0;

	put_text(o, "schema", "t410trace.report/1", &err);
	put_number(o, "sequence", r->sequence, &err);
	if (r->summary)
		put_bool(o, "summary", true, &err);
	put_host(o, r->host, &err);
	put_text(o, "source", r->replayed ? "recording" : "live", &err);
	put_interval(o, r->start_ns, r->end_ns, r->start_time_ns, &err);
	put(o, "counters", counters_array(r, &err), &err);
	put(o, "sockets", sockets_array(r, &err), &err);
	if (r->nr_probes)
		put(o, "latencies", latencies_probes(r, &err), &err);
	put_peaks(o, r, &err);
	if (r->nr_resctrl)
		put(o, "resctrl", resctrl_groups_array(r, &err), &err);
	if (r->nr_parts) {
		put(o, "parts", parts_json(r, &err), &err);
		put(o, "parts_check", parts_json_checks(r, &err), &err);
	}
	put(o, "workloads", workloads_array(r, &err), &err);
	put(o, "unattributed", unattributed_array(r, &err), &err);
	put(o, "devices", devices_json(r, &err), &err);
	put(o, "quality", report_quality(r, &err), &err);
	put(o, "self", json_self(&r->self, &err), &err);
	if (err)
		json_decref(o);
	else
		*ret = o;
	return err;
}

int json_write(FILE *out, const struct report *r)
{
	json_t *o;
	int err = json_report(r, &o);

	return err ? err : put_line(out, o, 15, 0);
}
