// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "report/job/job_sums.h"

#include <stdio.h>
#include <string.h>

#include "base/array.h"
#include "base/clock.h"
#include "base/sums.h"

NAMES(job_sum_name, enum job_sum, [JOB_SUM_MEM] = "mem", [JOB_SUM_CMEM] = "cmem",
      [JOB_SUM_GMEM] = "gmem", [JOB_SUM_CXL] = "cxl", [JOB_SUM_REMOTE] = "remote",
      [JOB_SUM_DEVICE_MEM] = "device_mem", [JOB_SUM_PCIE] = "pcie")

/* Unattributed bytes, for all reasons */
static sum128 unattributed(const struct account_node_total *t)
{
	sum128 sum = 0;

	for (int i = 0; i < NR_REASONS; i++)
		sum += t->unattributed[i];
	return sum;
}

double job_running_ratio(const struct account_node_total *t)
{
	if (t->running_ns >= t->enabled_ns)
		return 1;
	return (double)t->running_ns / (double)t->enabled_ns;
}

static uint64_t by_clock(const struct account_part *p)
{
	return p->end_ns > p->start_ns ? p->end_ns - p->start_ns : 0;
}

uint64_t job_clock_set(const struct account_job *j)
{
	uint64_t there = sum_capped(j->covered_ns, j->gap_ns), clock = by_clock(&j->whole);

	/* Nodes begin and end at different times, and each has a clock of its own. */
	if (j->nodes)
		return 0;
	/* The clocks are read one after the other, so they never agree to the nanosecond. */
	return clock > there && clock - there >= NS_PER_S ? clock - there : 0;
}

uint64_t job_clock_back(const struct account_job *j)
{
	return j->clock_back_ns >= NS_PER_S ? j->clock_back_ns : 0;
}

uint64_t job_duration(const struct account_job *j, const struct account_part *p)
{
	uint64_t whole = by_clock(&j->whole) - job_clock_set(j), part = by_clock(p);

	return part < whole ? part : whole;
}

static bool is_in(const struct account_counter *c, enum job_sum sum)
{
	static const enum destination to[NR_JOB_SUMS] = {
		[JOB_SUM_CMEM] = DESTINATION_CMEM,
		[JOB_SUM_GMEM] = DESTINATION_GMEM,
		[JOB_SUM_CXL] = DESTINATION_CXL,
		[JOB_SUM_REMOTE] = DESTINATION_REMOTE,
	};

	if (sum == JOB_SUM_PCIE)
		return c->bdf[0] && c->whole;
	if (c->bdf[0] || c->source == SOURCE_REMOTE || !c->whole)
		return false;
	if (sum == JOB_SUM_DEVICE_MEM || c->source == SOURCE_DEVICE)
		return sum == JOB_SUM_DEVICE_MEM && c->source == SOURCE_DEVICE;
	return sum == JOB_SUM_MEM || c->destination == to[sum];
}

static const struct account_total *total_of(const struct account_part *p, uint32_t counter)
{
	for (size_t i = 0; i < p->nr_totals; i++)
		if (p->totals[i].counter == counter)
			return &p->totals[i];
	return NULL;
}

struct job_sum_value job_sum_counter(const struct account_job *j, const struct account_part *p,
				     size_t node)
{
	const struct account_node_total *n = &j->node[node];
	const struct account_total *t = total_of(p, n->counter);
	struct job_sum_value v = { .counted = n->missing < j->intervals };

	if (!v.counted)
		return v;
	v.partial = n->missing != 0;
	v.machine = n->value;
	v.unattributed = unattributed(n);
	if (t) {
		v.value = t->value;
		v.low = t->low;
		v.high = t->high;
		v.inseparable = t->inseparable;
	}
	v.others = n->attributed > v.value ? n->attributed - v.value : 0;
	return v;
}

/* Add a counter; one without a value makes the sum partial. */
static void add_counter(struct job_sum_value *all, const struct account_job *j,
			const struct account_part *p, size_t node)
{
	struct job_sum_value v = job_sum_counter(j, p, node);

	all->partial = all->partial || v.partial || !v.counted;
	if (!v.counted)
		return;
	all->counted = true;
	all->value += v.value;
	all->low += v.low;
	all->high += v.high;
	all->inseparable += v.inseparable;
	all->others += v.others;
	all->unattributed += v.unattributed;
	all->machine += v.machine;
}

struct job_sum_value job_sum_of(const struct accounts_node *n, const struct account_job *j,
				const struct account_part *p, enum job_sum sum,
				enum direction direction)
{
	struct job_sum_value all = { 0 };

	for (size_t i = 0; i < j->nr_node; i++) {
		const struct account_counter *c = &n->counters[j->node[i].counter];

		if ((c->direction == direction || direction == NR_DIRECTIONS) && is_in(c, sum))
			add_counter(&all, j, p, i);
	}
	return all;
}

struct job_sum_value job_sum_device(const struct accounts_node *n, const struct account_job *j,
				    const char *bdf, enum direction direction)
{
	struct job_sum_value all = { 0 };

	for (size_t i = 0; i < j->nr_node; i++) {
		const struct account_counter *c = &n->counters[j->node[i].counter];

		if (c->direction == direction && is_in(c, JOB_SUM_PCIE) &&
		    !strncmp(c->bdf, bdf, sizeof(c->bdf)))
			add_counter(&all, j, &j->whole, i);
	}
	return all;
}

struct job_sum_value job_sum_all(const struct accounts_node *n, const struct account_job *j,
				 const struct account_part *p)
{
	struct job_sum_value all = { 0 };

	for (size_t i = 0; i < j->nr_node; i++) {
		const struct account_counter *c = &n->counters[j->node[i].counter];

		if (c->unit == UNIT_BYTES && !c->bdf[0] && c->whole)
			add_counter(&all, j, p, i);
	}
	return all;
}

struct job_sum_value job_sum_energy(const struct accounts_node *n, const struct account_job *j,
				    const struct account_part *p)
{
	struct job_sum_value all = { 0 };

	for (size_t i = 0; i < j->nr_node; i++) {
		const struct account_counter *c = &n->counters[j->node[i].counter];

		if (c->unit == UNIT_NANOJOULES && c->source != SOURCE_DEVICE)
			add_counter(&all, j, p, i);
	}
	return all;
}

void job_metric_name(size_t metric, char ret[JOB_METRIC_LEN])
{
	if (metric == NR_JOB_METRICS - 1)
		snprintf(ret, JOB_METRIC_LEN, "energy_nanojoules");
	else
		snprintf(ret, JOB_METRIC_LEN, "%s_%s_bytes", job_sum_name(metric / NR_DIRECTIONS),
			 direction_name(metric % NR_DIRECTIONS));
}

struct job_sum_value job_metric(const struct accounts_node *n, const struct account_job *j,
				const struct account_part *p, size_t metric)
{
	if (metric == NR_JOB_METRICS - 1)
		return job_sum_energy(n, j, p);
	return job_sum_of(n, j, p, metric / NR_DIRECTIONS, metric % NR_DIRECTIONS);
}
