// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "engine/stat/stat_book.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/sums.h"
#include "engine/split/apportion.h"
#include "engine/stat/stat_bars.h"
#include "tables/formula.h"
#include "trace.h"

/* Numbers this close, as a part of them, differ by rounding. */
#define ROUNDING 1e-12

/*
 * A counter over some segments. Those in which it counted are dealt out to samples in turn: how much
 * these differ says how far off all of them may be.
 */
struct count_sum {
	uint64_t counted;
	uint64_t enabled_ns;
	uint64_t running_ns;
	bool read;
	struct stat_turns turns;
	double sample[STAT_SAMPLES];
	double sample_ns[STAT_SAMPLES];
};

/* A metric over the segments in which all its counters counted. */
struct value_sum {
	double inputs[STAT_MAX_INPUTS];
	double duration_ns;
	uint64_t covered_ns;
	uint64_t enabled_ns;
	bool any;
	struct stat_turns turns;
	double sample[STAT_SAMPLES][STAT_MAX_INPUTS];
	double sample_ns[STAT_SAMPLES];
};

/* An interval, or the run. */
struct stat_sums {
	struct count_sum *counts;
	struct value_sum *values;
	double *stopped_ns; /* by PMU: time in which turns may have stopped it */
};

struct stat_book {
	const struct stat_layout *layout;
	struct formula **formulas;  /* by metric */
	const struct reading **now; /* by counter: in the segment that is being booked */
	bool *before;		    /* by counter: in the segment before it */
	struct stat_stops *stops;   /* by PMU */
	struct stat_cost *costs;    /* totals when the interval began */
	bool *refused;		    /* by counter */
	bool *refused_metric;	    /* by metric: one of its counters was */
	struct stat_sums interval, run;
	uint64_t start_ns, interval_ns; /* of the run, of the interval */
};

static bool is_counter(uint32_t input)
{
	return input < STAT_CONSTANT;
}

static int sums_new(const struct stat_layout *l, struct stat_sums *s)
{
	s->counts = calloc(l->nr_counters + 1, sizeof(*s->counts));
	s->values = calloc(l->nr_metrics + 1, sizeof(*s->values));
	s->stopped_ns = calloc(l->nr_pmus + 1, sizeof(*s->stopped_ns));
	return s->counts && s->values && s->stopped_ns ? 0 : -ENOMEM;
}

static void sums_free(struct stat_sums *s)
{
	free(s->counts);
	free(s->values);
	free(s->stopped_ns);
}

void stat_book_free(struct stat_book *b)
{
	if (!b)
		return;
	for (size_t i = 0; b->formulas && i < b->layout->nr_metrics; i++)
		formula_free(b->formulas[i]);
	free(b->formulas);
	free(b->now);
	free(b->before);
	free(b->stops);
	free(b->costs);
	free(b->refused);
	free(b->refused_metric);
	sums_free(&b->interval);
	sums_free(&b->run);
	free(b);
}

static int check_metric(const struct stat_layout *l, const struct stat_metric *m,
			const struct formula *f, struct diag *d)
{
	bool counts = false;

	if (m->pmu >= l->nr_pmus || m->nr_inputs > STAT_MAX_INPUTS ||
	    m->nr_inputs != formula_nr_names(f))
		return diag_fail(d, -EINVAL, "metric %s: its inputs do not fit its formula",
				 m->name);
	for (uint32_t i = 0; i < m->nr_inputs; i++) {
		if (!is_counter(m->input[i]))
			continue;
		if (m->input[i] >= l->nr_counters || l->counters[m->input[i]].pmu != m->pmu)
			return diag_fail(d, -EINVAL, "metric %s: a counter of another PMU",
					 m->name);
		counts = true;
	}
	return counts ? 0 : diag_fail(d, -EINVAL, "metric %s: needs no counter", m->name);
}

static int parse_metrics(struct stat_book *b, struct diag *d)
{
	const struct stat_layout *l = b->layout;
	int err = 0;

	for (size_t i = 0; i < l->nr_counters; i++)
		if (l->counters[i].pmu >= l->nr_pmus)
			return diag_fail(d, -EINVAL, "counter %s: no such PMU",
					 l->counters[i].name);
	for (size_t i = 0; !err && i < l->nr_metrics; i++) {
		err = formula_parse(l->metrics[i].formula, d, &b->formulas[i]);
		if (!err)
			err = check_metric(l, &l->metrics[i], b->formulas[i], d);
	}
	return err;
}

int stat_book_new(const struct stat_layout *layout, uint64_t start_ns, struct diag *d,
		  struct stat_book **ret)
{
	struct stat_book *b = calloc(1, sizeof(*b));
	int err;

	if (!b)
		return diag_no_memory(d);
	b->layout = layout;
	b->start_ns = start_ns;
	b->interval_ns = start_ns;
	b->formulas = calloc(layout->nr_metrics + 1, sizeof(*b->formulas));
	b->now = calloc(layout->nr_counters + 1, sizeof(*b->now));
	b->before = calloc(layout->nr_counters + 1, sizeof(*b->before));
	b->stops = calloc(layout->nr_pmus + 1, sizeof(*b->stops));
	b->costs = calloc(layout->nr_pmus + 1, sizeof(*b->costs));
	b->refused = calloc(layout->nr_counters + 1, sizeof(*b->refused));
	b->refused_metric = calloc(layout->nr_metrics + 1, sizeof(*b->refused_metric));
	if (!b->formulas || !b->now || !b->before || !b->stops || !b->costs || !b->refused ||
	    !b->refused_metric || sums_new(layout, &b->interval) || sums_new(layout, &b->run))
		err = diag_no_memory(d);
	else
		err = parse_metrics(b, d);
	if (err) {
		stat_book_free(b);
		return err;
	}
	*ret = b;
	return 0;
}

void stat_book_refuse(struct stat_book *b, uint32_t counter)
{
	const struct stat_layout *l = b->layout;

	if (counter >= l->nr_counters)
		return;
	b->refused[counter] = true;
	for (size_t i = 0; i < l->nr_metrics; i++)
		for (uint32_t n = 0; n < l->metrics[i].nr_inputs; n++)
			if (l->metrics[i].input[n] == counter)
				b->refused_metric[i] = true;
}

/* Time that events of the PMU were switched on: those that had their turn tell. */
static uint64_t segment_ns(const struct stat_segment *s)
{
	uint64_t ns = 0;

	for (size_t i = 0; i < s->nr; i++)
		if (s->readings[i].enabled_ns > ns)
			ns = s->readings[i].enabled_ns;
	return s->nr ? ns : s->end_ns - s->start_ns;
}

static void add_count(struct count_sum *c, const struct reading *r, uint64_t time_ns)
{
	size_t to;

	if (!r) {
		c->enabled_ns = sum_capped(c->enabled_ns, time_ns);
		return;
	}
	c->read = true;
	/* The kernel's two clocks may differ by a moment. */
	c->enabled_ns = sum_capped(c->enabled_ns,
				   r->running_ns > r->enabled_ns ? r->running_ns : r->enabled_ns);
	c->running_ns = sum_capped(c->running_ns, r->running_ns);
	/* Without running time there is no value, whatever is in its place. */
	if (!r->running_ns)
		return;
	c->counted = sum_capped(c->counted, r->value);
	to = stat_turn(&c->turns, r->enabled_ns, r->running_ns);
	c->sample[to] += (double)r->value;
	c->sample_ns[to] += (double)r->running_ns;
}

/* None of a metric's inputs was switched on: the process slept, and that is a count of zero. */
static bool slept_through(const struct stat_book *b, const struct stat_metric *m)
{
	for (uint32_t i = 0; i < m->nr_inputs; i++) {
		const struct reading *r = is_counter(m->input[i]) ? b->now[m->input[i]] : NULL;

		if (is_counter(m->input[i]) && (!r || r->enabled_ns || r->running_ns))
			return false;
	}
	return b->layout->pmus[m->pmu].cores;
}

/*
 * A metric's inputs in one segment, when all of them counted. Those that counted for a shorter
 * time are scaled: others kept them out for a part of it, or they were switched on a
 * moment later than the base, in each turn again.
 */
static bool take_inputs(const struct stat_book *b, const struct stat_metric *m,
			const struct stat_segment *s, struct value_sum *ret)
{
	struct value_sum v = { .covered_ns = UINT64_MAX };
	double wall_ns = (double)(s->end_ns - s->start_ns);

	if (slept_through(b, m)) {
		*ret = (struct value_sum){ .duration_ns = wall_ns };
		return true;
	}

	for (uint32_t i = 0; i < m->nr_inputs; i++) {
		const struct reading *r;

		if (!is_counter(m->input[i]))
			continue;
		r = b->now[m->input[i]];
		if (!r || !r->running_ns)
			return false;
		v.inputs[i] = (double)r->value;
		if ((double)r->enabled_ns > v.duration_ns)
			v.duration_ns = (double)r->enabled_ns;
		if (r->running_ns < v.covered_ns)
			v.covered_ns = r->running_ns;
	}
	for (uint32_t i = 0; i < m->nr_inputs; i++) {
		const struct reading *r = is_counter(m->input[i]) ? b->now[m->input[i]] : NULL;

		if (r && (double)r->running_ns < v.duration_ns)
			v.inputs[i] *= v.duration_ns / (double)r->running_ns;
	}
	/* Times of the cores are those of all CPUs or threads together. */
	if (b->layout->pmus[m->pmu].cores)
		v.duration_ns = wall_ns;
	*ret = v;
	return true;
}

static void add_value(struct value_sum *to, const struct value_sum *v, uint32_t nr,
		      uint64_t time_ns)
{
	size_t sample;

	to->enabled_ns = sum_capped(to->enabled_ns, time_ns);
	if (!v)
		return;
	sample = stat_turn(&to->turns, (uint64_t)v->duration_ns, v->covered_ns);
	for (uint32_t i = 0; i < nr; i++) {
		to->inputs[i] += v->inputs[i];
		to->sample[sample][i] += v->inputs[i];
	}
	to->duration_ns += v->duration_ns;
	to->sample_ns[sample] += v->duration_ns;
	/* Events that are not in one group are switched on some ns after each other. */
	to->covered_ns =
		sum_capped(to->covered_ns, v->covered_ns < time_ns ? v->covered_ns : time_ns);
	to->any = true;
}

/* Sets @b->now; -EINVAL and nothing set for a segment that makes no sense. */
static int open_segment(struct stat_book *b, const struct stat_segment *s)
{
	const struct stat_layout *l = b->layout;
	size_t i;

	if (s->pmu >= l->nr_pmus || s->end_ns < s->start_ns)
		return -EINVAL;
	for (i = 0; i < s->nr; i++) {
		uint32_t c = s->counters[i];

		if (c >= l->nr_counters || l->counters[c].pmu != s->pmu || b->now[c])
			break;
		b->now[c] = &s->readings[i];
	}
	if (i == s->nr)
		return 0;
	while (i--)
		b->now[s->counters[i]] = NULL;
	return -EINVAL;
}

/* The kernel multiplexes events of the cores, and their time is none of a clock. */
static void add_stop(struct stat_book *b, const struct stat_segment *s, uint64_t time_ns)
{
	const struct stat_layout *l = b->layout;
	bool ended = false, began = false;
	double ns;

	if (l->pmus[s->pmu].cores)
		return;
	for (size_t i = 0; i < l->nr_counters; i++) {
		if (l->counters[i].pmu != s->pmu)
			continue;
		ended |= b->before[i] && !b->now[i];
		began |= !b->before[i] && b->now[i];
		b->before[i] = b->now[i];
	}
	ns = stat_stop(&b->stops[s->pmu], ended, began, time_ns);
	b->interval.stopped_ns[s->pmu] += ns;
	b->run.stopped_ns[s->pmu] += ns;
}

int stat_book_segment(struct stat_book *b, const struct stat_segment *s)
{
	const struct stat_layout *l = b->layout;
	uint64_t time_ns = segment_ns(s);
	int err = open_segment(b, s);

	if (err)
		return err;
	add_stop(b, s, time_ns);
	for (size_t i = 0; i < l->nr_counters; i++) {
		if (l->counters[i].pmu != s->pmu)
			continue;
		add_count(&b->interval.counts[i], b->now[i], time_ns);
		add_count(&b->run.counts[i], b->now[i], time_ns);
	}
	for (size_t i = 0; i < l->nr_metrics; i++) {
		const struct stat_metric *m = &l->metrics[i];
		struct value_sum v, *got;

		if (m->pmu != s->pmu)
			continue;
		got = take_inputs(b, m, s, &v) ? &v : NULL;
		add_value(&b->interval.values[i], got, m->nr_inputs, time_ns);
		add_value(&b->run.values[i], got, m->nr_inputs, time_ns);
	}
	for (size_t i = 0; i < s->nr; i++)
		b->now[s->counters[i]] = NULL;
	return 0;
}

/* A process that slept has counted nothing in no time, and that is known. */
static bool slept(const struct stat_book *b, const struct count_sum *c, size_t counter)
{
	const struct stat_layout *l = b->layout;

	return c->read && !c->enabled_ns && l->pmus[l->counters[counter].pmu].cores;
}

/* What turns of others may have kept from counters that counted all the time, as a part of it. */
static double stopped(const struct stat_book *b, const struct stat_sums *s, uint32_t pmu, double ns)
{
	return ns > 0 && !b->layout->pmus[pmu].cores ? s->stopped_ns[pmu] / ns : 0;
}

/* The counted part is sure. */
static void bound_count(const struct count_sum *c, struct stat_count *ret)
{
	struct stat_without without = { 0 };
	struct stat_bar bar;

	for (size_t k = 0; k < STAT_SAMPLES; k++)
		if (c->sample_ns[k] > 0 && c->sample_ns[k] < (double)c->running_ns)
			without.values[without.nr++] = ((double)c->counted - c->sample[k]) *
						       (double)c->enabled_ns /
						       ((double)c->running_ns - c->sample_ns[k]);
	bar = stat_bar((double)ret->value, &without, &c->turns, (double)c->enabled_ns,
		       (double)c->running_ns);
	ret->low = whole_capped(bar.low);
	ret->high = whole_capped(ceil(bar.high));
	if (ret->low < c->counted)
		ret->low = c->counted;
	bounds_around(ret->value, &ret->low, &ret->high);
}

static struct stat_count make_count(const struct stat_book *b, const struct stat_sums *s, size_t i)
{
	const struct count_sum *c = &s->counts[i];
	struct stat_count count = {
		.counted = c->counted,
		.enabled_ns = c->enabled_ns,
		.running_ns = c->running_ns,
	};

	if (c->running_ns || slept(b, c, i)) {
		count.value = count.low = count.high =
			apportion_scale(c->counted, c->enabled_ns, c->running_ns);
		if (c->running_ns < c->enabled_ns)
			bound_count(c, &count);
		else
			count.high = grown_capped(
				count.value, count.value,
				stopped(b, s, b->layout->counters[i].pmu, (double)c->running_ns));
	} else if (b->refused[i]) {
		count.absence = STAT_REFUSED;
	} else {
		count.absence = c->enabled_ns && c->read ? STAT_NOT_RUNNING : STAT_NOT_READ;
	}
	return count;
}

/* Why there was no segment in which all counters of a metric counted. */
static enum stat_absence why_none(const struct stat_book *b, const struct stat_sums *s,
				  size_t metric)
{
	const struct stat_metric *m = &b->layout->metrics[metric];
	enum stat_absence why = STAT_APART;

	if (b->refused_metric[metric])
		return STAT_REFUSED;
	for (uint32_t i = 0; i < m->nr_inputs; i++) {
		const struct count_sum *c;

		if (!is_counter(m->input[i]))
			continue;
		c = &s->counts[m->input[i]];
		if (!c->read)
			return STAT_NOT_READ;
		/* In no time nothing happened that could be divided. */
		if (!c->running_ns)
			why = slept(b, c, m->input[i]) ? STAT_ZERO : STAT_NOT_RUNNING;
	}
	return why;
}

/* The metric over some time. False: its denominator is zero. */
static bool eval(const struct stat_book *b, size_t i, const double *counted, double ns, double *ret)
{
	const struct stat_metric *m = &b->layout->metrics[i];
	double inputs[STAT_MAX_INPUTS];

	for (uint32_t n = 0; n < m->nr_inputs; n++) {
		switch (m->input[n]) {
		case STAT_DURATION_NS:
			inputs[n] = ns;
			break;
		case STAT_DURATION_S:
			inputs[n] = ns / 1e9;
			break;
		case STAT_CONSTANT:
			inputs[n] = m->constant[n];
			break;
		default:
			inputs[n] = counted[n];
		}
	}
	return formula_eval(b->formulas[i], inputs, ret);
}

static void bound_value(const struct stat_book *b, const struct value_sum *v, size_t i,
			struct stat_value *ret)
{
	const uint32_t nr = b->layout->metrics[i].nr_inputs;
	struct stat_without without = { 0 };
	struct stat_bar bar;

	for (size_t k = 0; k < STAT_SAMPLES; k++) {
		double rest[STAT_MAX_INPUTS];

		if (!(v->sample_ns[k] > 0) || v->sample_ns[k] >= v->duration_ns)
			continue;
		for (uint32_t n = 0; n < nr; n++)
			rest[n] = v->inputs[n] - v->sample[k][n];
		without.nr += eval(b, i, rest, v->duration_ns - v->sample_ns[k],
				   &without.values[without.nr]);
	}
	bar = stat_bar(ret->value, &without, &v->turns, (double)v->enabled_ns,
		       (double)v->covered_ns);
	ret->low = bar.low;
	ret->high = bar.high;
}

/* A PMU that stops stops all its counters: ratios of them stay as they are. */
static void bound_stopped(const struct stat_book *b, const struct stat_sums *s, size_t i,
			  struct stat_value *ret)
{
	const struct stat_metric *m = &b->layout->metrics[i];
	const struct value_sum *v = &s->values[i];
	double part = stopped(b, s, m->pmu, v->duration_ns), whole[STAT_MAX_INPUTS], value;

	for (uint32_t n = 0; n < m->nr_inputs; n++)
		whole[n] = v->inputs[n] * (1 + part);
	if (!(part > 0) || !eval(b, i, whole, v->duration_ns, &value) ||
	    fabs(value - ret->value) <= ROUNDING * fabs(ret->value))
		return;
	ret->low = fmin(ret->low, value);
	ret->high = fmax(ret->high, value);
}

/* Is it time per request, with next to no requests, or without the time that they took? */
static bool too_few(const struct stat_book *b, size_t metric, const double *inputs)
{
	const struct stat_metric *m = &b->layout->metrics[metric];
	double requests = 0, outstanding = 0;
	bool any = false;

	if (strcmp(m->unit, "ns") != 0 && strcmp(m->unit, "cycles") != 0)
		return false;
	for (uint32_t i = 0; i < m->nr_inputs; i++) {
		const char *unit =
			is_counter(m->input[i]) ? b->layout->counters[m->input[i]].unit : "";

		if (!strcmp(unit, "requests"))
			requests += inputs[i];
		else if (!strcmp(unit, "outstanding"))
			outstanding += inputs[i];
		any |= !strcmp(unit, "outstanding");
	}
	return any && (requests < STAT_LEAST_REQUESTS || !(outstanding > 0));
}

static struct stat_value make_value(const struct stat_book *b, const struct stat_sums *s, size_t i)
{
	const struct value_sum *v = &s->values[i];
	struct stat_value value = { .covered_ns = v->covered_ns, .enabled_ns = v->enabled_ns };

	if (!v->any) {
		value.absence = why_none(b, s, i);
		return value;
	}
	if (!eval(b, i, v->inputs, v->duration_ns, &value.value)) {
		value.absence = STAT_ZERO;
		return value;
	}
	if (too_few(b, i, v->inputs)) {
		value.absence = STAT_FEW;
		return value;
	}
	value.low = value.high = value.value;
	if (v->covered_ns < v->enabled_ns)
		bound_value(b, v, i, &value);
	else
		bound_stopped(b, s, i, &value);
	return value;
}

static struct stat_cost cost_between(const struct stat_cost *to, const struct stat_cost *from)
{
	struct stat_cost c = *to;

	c.readings -= from->readings;
	c.read_ns -= from->read_ns;
	c.failed -= from->failed;
	c.deferred -= from->deferred;
	c.turns -= from->turns;
	c.turns_deferred -= from->turns_deferred;
	return c;
}

static int make_report(const struct stat_book *b, const struct stat_sums *s,
		       struct stat_report **ret)
{
	const struct stat_layout *l = b->layout;
	struct stat_report *r = calloc(1, sizeof(*r));

	if (!r)
		return -ENOMEM;
	r->layout = l;
	r->counts = calloc(l->nr_counters + 1, sizeof(*r->counts));
	r->values = calloc(l->nr_metrics + 1, sizeof(*r->values));
	r->costs = calloc(l->nr_pmus + 1, sizeof(*r->costs));
	if (!r->counts || !r->values || !r->costs) {
		stat_report_free(r);
		return -ENOMEM;
	}
	for (size_t i = 0; i < l->nr_counters; i++)
		r->counts[i] = make_count(b, s, i);
	for (size_t i = 0; i < l->nr_metrics; i++)
		r->values[i] = make_value(b, s, i);
	*ret = r;
	return 0;
}

int stat_book_interval(struct stat_book *b, uint64_t end_ns, const struct stat_cost *costs,
		       struct stat_report **ret)
{
	const struct stat_layout *l = b->layout;
	struct stat_report *r;
	int err = make_report(b, &b->interval, &r);

	if (err)
		return err;
	r->start_ns = b->interval_ns;
	r->end_ns = end_ns;
	for (size_t i = 0; i < l->nr_pmus; i++) {
		r->costs[i] = cost_between(&costs[i], &b->costs[i]);
		b->costs[i] = costs[i];
	}
	memset(b->interval.counts, 0, l->nr_counters * sizeof(*b->interval.counts));
	memset(b->interval.values, 0, l->nr_metrics * sizeof(*b->interval.values));
	memset(b->interval.stopped_ns, 0, l->nr_pmus * sizeof(*b->interval.stopped_ns));
	b->interval_ns = end_ns;
	*ret = r;
	return 0;
}

int stat_book_summary(const struct stat_book *b, uint64_t end_ns, const struct stat_cost *costs,
		      struct stat_report **ret)
{
	struct stat_report *r;
	int err = make_report(b, &b->run, &r);

	if (err)
		return err;
	r->summary = true;
	r->start_ns = b->start_ns;
	r->end_ns = end_ns;
	for (size_t i = 0; i < b->layout->nr_pmus; i++)
		r->costs[i] = costs[i];
	*ret = r;
	return 0;
}
