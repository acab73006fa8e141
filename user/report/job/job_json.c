// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* The closing report of a job and the list of jobs as JSON. */
#include <stdio.h>
#include <string.h>

#include "base/array.h"
#include "base/cleanup.h"
#include "report/format.h"
#include "report/job/job_gpus.h"
#include "report/job/job_nodes.h"
#include "report/job/job_peak.h"
#include "report/job/job_report.h"
#include "report/job/job_sums.h"
#include "report/json/internal.h"
#include "report/put.h"

/*
 * A job's report must always be written: numbers that are no bytes or energy are clamped to the
 * largest one of JSON readers, which no machine reaches: in nanoseconds it is 292 years. Sums of
 * bytes are exact, because 1.2 TB/s reach it in three months.
 */
static void put_cut(json_t *o, const char *key, uint64_t value, int *err)
{
	put_number(o, key, value < INT64_MAX ? value : INT64_MAX, err);
}

static void put_time(json_t *o, const char *key, uint64_t realtime_ns, int *err)
{
	char time[FORMAT_TIME_LEN];

	format_time(realtime_ns, time);
	put_text(o, key, time, err);
}

static void put_times(json_t *o, uint64_t start_ns, uint64_t end_ns, uint64_t duration_ns, int *err)
{
	put_time(o, "start_time", start_ns, err);
	put_time(o, "end_time", end_ns, err);
	put_cut(o, "start_ns", start_ns, err);
	put_cut(o, "end_ns", end_ns, err);
	put_cut(o, "duration_ns", duration_ns, err);
}

static void put_span(json_t *o, uint64_t start_ns, uint64_t end_ns, int *err)
{
	put_times(o, start_ns, end_ns, end_ns > start_ns ? end_ns - start_ns : 0, err);
}

static json_t *job_object(const struct account_job *j, int *err)
{
	json_t *o = json_object(), *cgroup = json_object();

	put_text(o, "scheduler", scheduler_name(j->job.scheduler), err);
	put_name(o, "id", j->job.id, sizeof(j->job.id), err);
	if (j->job.provisional)
		put_bool(o, "provisional", true, err);
	put_name(o, "name", j->job.name[0] ? j->job.name : NULL, sizeof(j->job.name), err);
	put_name(o, "user", j->job.user[0] ? j->job.user : NULL, sizeof(j->job.user), err);
	put_cut(cgroup, "id", j->job.cgroup_id, err);
	put_text(cgroup, "path", j->path, err);
	put(o, "cgroup", cgroup, err);
	put_name(o, "boot", j->boot, sizeof(j->boot), err);
	put_name(o, "key", j->key, sizeof(j->key), err);
	return o;
}

static json_t *gaps_array(const struct account_gap *gaps, size_t nr, int *err)
{
	json_t *a = json_array();

	for (size_t i = 0; i < nr; i++) {
		json_t *o = json_object();

		put_span(o, gaps[i].start_ns, gaps[i].end_ns, err);
		put_element(a, o, err);
	}
	return a;
}

static void put_value(json_t *o, const struct job_sum_value *v, int *err)
{
	put_number(o, "value", v->value, err);
	put_number(o, "low", v->low, err);
	put_number(o, "high", v->high, err);
	put_number(o, "inseparable", v->inseparable, err);
}

static json_t *rate(double value, uint64_t ns)
{
	return ns ? json_real(value * 1e9 / (double)ns) : json_null();
}

/* A sum, and the rest of the machine for the job as a whole. */
static json_t *metric_object(const struct account_job *j, const struct account_part *p,
			     const struct job_sum_value *v, const char *rate_name, double unit,
			     int *err)
{
	json_t *m = json_object();

	put_value(m, v, err);
	if (p != &j->whole)
		return m;
	put(m, rate_name, rate((double)v->value * unit, j->covered_ns), err);
	put_number(m, "others", v->others, err);
	put_number(m, "unattributed", v->unattributed, err);
	put_number(m, "machine", v->machine, err);
	put_bool(m, "partial", v->partial, err);
	return m;
}

/* Sums over counters; of steps, the step's part only. @brief: values only */
static json_t *metrics_object(const struct job_context *c, const struct account_job *j,
			      const struct account_part *p, bool brief, int *err)
{
	json_t *o = json_object();

	for (size_t i = 0; i < NR_JOB_METRICS; i++) {
		struct job_sum_value v = job_metric(c->node, j, p, i);
		bool energy = i == NR_JOB_METRICS - 1;
		char name[JOB_METRIC_LEN];

		job_metric_name(i, name);
		if (v.counted && brief)
			put_number(o, name, v.value, err);
		else if (v.counted)
			put(o, name,
			    metric_object(j, p, &v, energy ? "watts" : "bytes_per_second",
					  energy ? 1e-9 : 1, err),
			    err);
	}
	return o;
}

static json_t *reasons_object(const struct account_node_total *t, int *err)
{
	json_t *o = json_object();

	for (int i = 0; i < NR_REASONS; i++)
		if (t->unattributed[i])
			put_number(o, reason_name(i), t->unattributed[i], err);
	return o;
}

/* Of a merged account: how many of its nodes have it */
static void put_counter_nodes(json_t *o, const struct job_context *c, size_t i, int *err)
{
	for (size_t k = 0; c->nodes && k < c->nodes->nr_kinds; k++)
		if (c->node == &c->nodes->kinds[k].node)
			put_number(o, "nodes", c->nodes->kinds[k].of[i].nodes, err);
}

static json_t *counter_object(const struct job_context *c, const struct account_job *j, size_t i,
			      int *err)
{
	const struct account_node_total *t = &j->node[i];
	const struct account_counter *counter = &c->node->counters[t->counter];
	struct job_sum_value v = job_sum_counter(j, &j->whole, i);
	json_t *o = json_object(), *machine = json_object();

	put_name(o, "name", counter->name, sizeof(counter->name), err);
	put_number(o, "socket", counter->socket, err);
	put_text(o, "source", source_name(counter->source), err);
	put_text(o, "direction", direction_name(counter->direction), err);
	put_text(o, "destination", destination_name(counter->destination), err);
	if (counter->unit != UNIT_BYTES)
		put_text(o, "unit", unit_name(counter->unit), err);
	if (counter->bdf[0])
		put_name(o, "bdf", counter->bdf, sizeof(counter->bdf), err);
	if (counter->unit == UNIT_BYTES && !counter->whole)
		put_bool(o, "whole", false, err);
	put_counter_nodes(o, c, i, err);
	/* Without a single reading there is no value: missing is not zero. */
	if (v.counted) {
		put_value(o, &v, err);
		put_number(o, "others", v.others, err);
		put_number(o, "unattributed", v.unattributed, err);
		put_number(machine, "value", t->value, err);
		put_number(machine, "attributed", t->attributed, err);
		put(machine, "unattributed", reasons_object(t, err), err);
		put(machine, "running_ratio", json_real(job_running_ratio(t)), err);
	}
	put_cut(machine, "missing", t->missing, err);
	put(o, "machine", machine, err);
	return o;
}

static json_t *counters_array(const struct job_context *c, const struct account_job *j, int *err)
{
	json_t *a = json_array();

	for (size_t i = 0; i < j->nr_node && !*err; i++)
		put_element(a, counter_object(c, j, i, err), err);
	return a;
}

static json_t *io_array(const struct account_part *p, int *err)
{
	json_t *a = json_array();

	for (size_t i = 0; i < p->nr_io; i++) {
		json_t *o = json_object();

		put_name(o, "bdf", p->io[i].bdf, sizeof(p->io[i].bdf), err);
		if (p->io[i].name[0])
			put_name(o, "name", p->io[i].name, sizeof(p->io[i].name), err);
		/* Perhaps nobody noted any. */
		if (p->io[i].read_bytes)
			put_number(o, "read_bytes", p->io[i].read_bytes, err);
		if (p->io[i].write_bytes)
			put_number(o, "write_bytes", p->io[i].write_bytes, err);
		put_element(a, o, err);
	}
	return a;
}

static json_t *step_object(const struct job_context *c, const struct account_job *j,
			   const struct account_part *p, int *err)
{
	json_t *o = json_object(), *counters = json_array();

	put_name(o, "step", p->step, sizeof(p->step), err);
	put_bool(o, "ended", p->ended, err);
	put_times(o, p->start_ns, p->end_ns, job_duration(j, p), err);
	put_number(o, "on_cpu_ns", p->on_cpu_ns, err);
	put(o, "metrics", metrics_object(c, j, p, false, err), err);
	for (size_t i = 0, at = 0; i < p->nr_totals; i++) {
		const struct account_total *t = &p->totals[i];
		const struct account_counter *counter = &c->node->counters[t->counter];
		struct job_sum_value v = { .value = t->value,
					   .low = t->low,
					   .high = t->high,
					   .inseparable = t->inseparable };
		json_t *of = json_object();

		put_name(of, "counter", counter->name, sizeof(counter->name), err);
		put_number(of, "socket", counter->socket, err);
		/* Names are not unique. Both lists are in the order of the counters' numbers. */
		while (at < j->nr_node && j->node[at].counter < t->counter)
			at++;
		put_number(of, "index", at, err);
		put_value(of, &v, err);
		put_element(counters, of, err);
	}
	put(o, "counters", counters, err);
	put(o, "devices", io_array(p, err), err);
	return o;
}

static json_t *steps_array(const struct job_context *c, const struct account_job *j, int *err)
{
	json_t *a = json_array();

	for (size_t i = 0; i < j->nr_steps && !*err; i++)
		put_element(a, step_object(c, j, &j->steps[i], err), err);
	return a;
}

/* The quality of reports, and the observed part of the job's time. */
static json_t *quality_object(const struct job_context *c, const struct account_job *j, int *err)
{
	uint64_t covered = c->nodes ? c->nodes->covered_ns : j->covered_ns, missing = 0;
	uint64_t duration = c->nodes ? c->nodes->duration_ns : job_duration(j, &j->whole);
	json_t *o = json_quality(&j->quality, err);
	double least = 1;

	for (size_t i = 0; i < j->nr_node; i++) {
		double ratio = job_running_ratio(&j->node[i]);

		missing += j->node[i].missing != 0;
		least = ratio < least ? ratio : least;
	}
	put_cut(o, "intervals", j->intervals, err);
	put_cut(o, "covered_ns", j->covered_ns, err);
	if (j->others_unknown_ns)
		put_cut(o, "others_unknown_ns", j->others_unknown_ns, err);
	put(o, "coverage", json_real(covered < duration ? (double)covered / (double)duration : 1.0),
	    err);
	if (j->nr_node)
		put(o, "least_running_ratio", json_real(least), err);
	put_cut(o, "counters_missing", missing, err);
	return o;
}

/* Common to the report and the list of jobs. */
static void put_life(json_t *o, const struct account_job *j, int *err)
{
	put(o, "job", job_object(j, err), err);
	put_text(o, "state", account_state_name(j->state), err);
	put_times(o, j->whole.start_ns, j->whole.end_ns, job_duration(j, &j->whole), err);
	if (job_clock_set(j))
		put_cut(o, "clock_set_ns", job_clock_set(j), err);
	if (job_clock_back(j))
		put_cut(o, "clock_back_ns", job_clock_back(j), err);
	put_bool(o, "late_start", j->late_start, err);
	put_cut(o, "gap_ns", j->gap_ns, err);
	put_number(o, "on_cpu_ns", j->whole.on_cpu_ns, err);
}

/* Of its losses, only nonzero ones. */
static json_t *losses_object(const struct quality *q, int *err)
{
	json_t *o = json_object();

	put_text(o, "method", method_name(q->method), err);
	put_name(o, "weights", q->weights, sizeof(q->weights), err);
#define PUT_LOSS(name, ...) \
	if (q->name)        \
		put_cut(o, #name, q->name, err);
	QUALITY_NUMBERS(PUT_LOSS)
#undef PUT_LOSS
	return o;
}

static json_t *interval_object(const struct job_context *c, const struct account_job *i, int *err)
{
	json_t *o = json_object();

	put_span(o, i->whole.start_ns, i->whole.end_ns, err);
	put_cut(o, "intervals", i->intervals, err);
	put_cut(o, "covered_ns", i->covered_ns, err);
	put_cut(o, "gap_ns", i->gap_ns, err);
	put_number(o, "on_cpu_ns", i->whole.on_cpu_ns, err);
	put(o, "metrics", metrics_object(c, i, &i->whole, false, err), err);
	put(o, "counters", counters_array(c, i, err), err);
	put(o, "devices", io_array(&i->whole, err), err);
	put(o, "quality", losses_object(&i->quality, err), err);
	return o;
}

static json_t *history_object(const struct job_context *c, const struct account_job *j, int *err)
{
	json_t *o = json_object(), *a = json_array();
	bool whole = false;

	if (!*err)
		*err = job_history_whole(j, c->history, &whole);
	put_bool(o, "complete", whole, err);
	for (size_t i = 0; i < c->history->nr && !*err; i++)
		put_element(a, interval_object(c, &c->history->jobs[i], err), err);
	put(o, "intervals", a, err);
	return o;
}

/* Compared with the peak of memory, where that is known. */
static void put_peak(json_t *o, const struct job_context *c, const struct account_job *j, int *err)
{
	struct job_peak p;
	json_t *to;

	if (!job_peak_of(c, j, &p))
		return;
	to = json_object();
	put_cut(to, "bytes_per_second", p.bytes_per_s, err);
	put_cut(to, "sockets", p.sockets, err);
	put(to, "share", json_real(p.share), err);
	put(to, "low", json_real(p.low), err);
	put(to, "high", json_real(p.high), err);
	put_bool(to, "at_most", p.upper_bound, err);
	put_bool(to, "partial", p.partial, err);
	if (p.max_known) {
		json_t *max = json_object();

		put_span(max, p.max_start_ns, p.max_end_ns, err);
		put(max, "share", json_real(p.max), err);
		put(to, "largest_interval", max, err);
	}
	put(o, "peak", to, err);
}

/* The kernel's own counts, beside the account. */
static json_t *group_object(const struct account_group *g, int *err)
{
	json_t *o = json_object();

	put_name(o, "group", g->group, sizeof(g->group), err);
	put_name(o, "step", g->step[0] ? g->step : NULL, sizeof(g->step), err);
	put_number(o, "mbm_total_bytes", g->bytes, err);
	put_cut(o, "duration_ns", g->ns, err);
	put_cut(o, "intervals", g->intervals, err);
	put_cut(o, "intervals_missing", g->without, err);
	return o;
}

static json_t *groups_array(const struct account_job *j, int *err)
{
	json_t *a = json_array();

	for (size_t i = 0; i < j->nr_groups && !*err; i++)
		put_element(a, group_object(&j->groups[i], err), err);
	return a;
}

/* --- nodes of a merged account */

static json_t *spread_object(const struct job_nodes *n, const struct job_spread *s, int *err)
{
	static const char *const points[] = { "min", "quartile_1", "median", "quartile_3", "max" };
	json_t *o = json_object();

	put_number(o, "nodes", s->nr, err);
	put_number(o, "sum", s->sum, err);
	for (size_t i = 0; i < ARRAY_SIZE(points); i++)
		put_number(o, points[i], s->points[i], err);
	put_text(o, "min_node", n->items[s->first].name, err);
	put_text(o, "max_node", n->items[s->last].name, err);
	put(o, "mean", json_real((double)s->sum / (double)s->nr), err);
	put(o, "imbalance", s->sum ? json_real(job_spread_imbalance(s)) : json_null(), err);
	return o;
}

static json_t *spreads_object(const struct job_nodes *n, const struct job_kind *k, int *err)
{
	json_t *o = json_object();

	for (size_t i = 0; i < NR_JOB_SPREADS; i++) {
		char name[JOB_METRIC_LEN] = "on_cpu_ns";

		if (!k->spreads[i].nr)
			continue;
		if (i != JOB_SPREAD_CPUS)
			job_metric_name(i, name);
		put(o, name, spread_object(n, &k->spreads[i], err), err);
	}
	return o;
}

static json_t *node_metrics(const struct job_node *n, int *err)
{
	json_t *o = json_object();

	for (size_t i = 0; i < NR_JOB_METRICS; i++) {
		char name[JOB_METRIC_LEN];

		job_metric_name(i, name);
		if (n->values[i].counted)
			put_number(o, name, n->values[i].value, err);
	}
	return o;
}

static void put_node_gpus(json_t *o, const struct job_node_gpus *g, int *err)
{
	json_t *gpus;

	if (!g->nr)
		return;
	gpus = json_object();
	put_cut(gpus, "number", g->nr, err);
	put_cut(gpus, "held_ns", g->held_ns, err);
	put_cut(gpus, "known_ns", g->known_ns, err);
	if (g->known_ns) {
		put_cut(gpus, "idle_ns", g->idle_ns, err);
		put_cut(gpus, "busy_ns", g->busy_ns, err);
	}
	put(o, "gpus", gpus, err);
}

static json_t *node_object(const struct job_nodes *all, const struct job_node *n, int *err)
{
	json_t *o = json_object();

	put_name(o, "host", n->name, sizeof(n->name), err);
	put_text(o, "platform", all->kinds[n->kind].host.platform, err);
	put_text(o, "state", account_state_name(n->state), err);
	put_number(o, "reports", n->reports, err);
	put_times(o, n->start_ns, n->end_ns, n->duration_ns, err);
	put_cut(o, "covered_ns", n->covered_ns, err);
	put_cut(o, "gap_ns", n->gap_ns, err);
	put(o, "gaps", gaps_array(n->gaps, n->nr_gaps, err), err);
	put_bool(o, "late_start", n->late_start, err);
	if (n->clock_set_ns)
		put_cut(o, "clock_set_ns", n->clock_set_ns, err);
	if (n->clock_back_ns)
		put_cut(o, "clock_back_ns", n->clock_back_ns, err);
	put_number(o, "on_cpu_ns", n->on_cpu_ns, err);
	put_cut(o, "counters_missing", n->counters_missing, err);
	put(o, "metrics", node_metrics(n, err), err);
	put_node_gpus(o, &n->gpus, err);
	put(o, "quality", losses_object(&n->quality, err), err);
	return o;
}

static json_t *kind_object(const struct job_context *c, const struct job_kind *k, int *err)
{
	struct job_context own = *c;
	json_t *o = json_object();

	own.host = &k->host;
	own.node = &k->node;
	put_host(o, &k->host, err);
	put_number(o, "nodes", k->nr_nodes, err);
	put(o, "metrics", metrics_object(&own, &k->job, &k->job.whole, false, err), err);
	put(o, "counters", counters_array(&own, &k->job, err), err);
	put(o, "steps", steps_array(&own, &k->job, err), err);
	put(o, "spread", spreads_object(c->nodes, k, err), err);
	return o;
}

/* Names of files may be any bytes. */
static json_t *name_value(const char *name, int *err)
{
	cleanup_free char *text = NULL;

	if (!*err)
		*err = format_utf8(name, SIZE_MAX, &text);
	return *err ? NULL : json_string(text);
}

static json_t *names_array(const struct text_list *names, int *err)
{
	json_t *a = json_array();

	for (size_t i = 0; i < names->nr && !*err; i++)
		put_element(a, name_value(names->items[i], err), err);
	return a;
}

static json_t *refused_array(const struct job_nodes *n, int *err)
{
	json_t *a = json_array();

	for (size_t i = 0; i < n->nr_refused && !*err; i++) {
		json_t *o = json_object();

		put_text(o, "report", n->refused[i].report, err);
		put_text(o, "reason", n->refused[i].reason, err);
		put_text(o, "text", n->refused[i].text, err);
		put_element(a, o, err);
	}
	return a;
}

static json_t *nodes_object(const struct job_context *c, int *err)
{
	const struct job_nodes *n = c->nodes;
	json_t *o = json_object(), *list = json_array(), *kinds = json_array();

	put_number(o, "reported", job_nodes_count(n), err);
	if (n->expected) {
		put_number(o, "expected", n->expected, err);
		put(o, "missing", names_array(&n->missing, err), err);
		put(o, "unexpected", names_array(&n->extra, err), err);
	}
	put_bool(o, "complete", !job_nodes_incomplete(n), err);
	put(o, "refused", refused_array(n, err), err);
	put(o, "twice", names_array(n->twice, err), err);
	for (size_t i = 0; i < n->nr && !*err; i++)
		put_element(list, node_object(n, &n->items[i], err), err);
	for (size_t i = 0; i < n->nr_kinds && n->nr_kinds > 1 && !*err; i++)
		put_element(kinds, kind_object(c, &n->kinds[i], err), err);
	put(o, "list", list, err);
	if (n->nr_kinds == 1)
		put(o, "spread", spreads_object(n, &n->kinds[0], err), err);
	put(o, "kinds", kinds, err);
	return o;
}

int job_json_write(FILE *out, const struct job_context *c, const struct account_job *j)
{
	json_t *o = json_object();
	int err = 0;

	put_text(o, "schema", "t410trace.job/1", &err);
	put_host(o, c->host, &err);
	put_life(o, j, &err);
	put(o, "gaps", gaps_array(j->gaps, j->nr_gaps, &err), &err);
	put(o, "metrics", metrics_object(c, j, &j->whole, false, &err), &err);
	put_peak(o, c, j, &err);
	put(o, "counters", counters_array(c, j, &err), &err);
	put(o, "devices", io_array(&j->whole, &err), &err);
	put(o, "steps", steps_array(c, j, &err), &err);
	put(o, "quality", quality_object(c, j, &err), &err);
	put(o, "self", json_self(&j->self, &err), &err);
	if (j->nr_gpus)
		put(o, "gpus", job_gpus_json(c, j, &err), &err);
	if (j->nr_groups)
		put(o, "resctrl", groups_array(j, &err), &err);
	if (c->nodes)
		put(o, "nodes", nodes_object(c, &err), &err);
	if (c->history)
		put(o, "history", history_object(c, j, &err), &err);
	return put_line(out, o, 15, err);
}

static json_t *listed_object(const struct job_context *c, const struct account_job *j, int *err)
{
	json_t *o = json_object();

	put_life(o, j, err);
	put_number(o, "steps", j->nr_steps, err);
	put(o, "metrics", metrics_object(c, j, &j->whole, true, err), err);
	return o;
}

int jobs_json_write(FILE *out, const struct job_context *c, const struct account_job *jobs,
		    size_t nr)
{
	json_t *o = json_object(), *a = json_array();
	int err = 0;

	put_text(o, "schema", "t410trace.jobs/1", &err);
	put_host(o, c->host, &err);
	for (size_t i = 0; i < nr && !err; i++)
		put_element(a, listed_object(c, &jobs[i], &err), &err);
	put(o, "jobs", a, &err);
	return put_line(out, o, 15, err);
}
