// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "report/job/job_peak.h"

#include <math.h>

#include "base/clock.h"
#include "report/format.h"
#include "report/notes.h"

/* May its bytes have gone to the memory of the socket's CPUs, and are they of tasks? */
static bool is_memory(const struct account_counter *c)
{
	return c->unit == UNIT_BYTES && c->whole && !c->bdf[0] &&
	       (c->source == SOURCE_CPU || c->source == SOURCE_ANY) &&
	       (c->destination == DESTINATION_CMEM || c->destination == DESTINATION_ANY);
}

/* Sums are doubles: a part of a peak need not be exact to the byte. */
struct sums {
	double value, low, high;
};

static struct sums sums_of(const struct accounts_node *n, const struct account_part *p)
{
	struct sums s = { 0 };

	for (size_t i = 0; i < p->nr_totals; i++) {
		const struct account_total *t = &p->totals[i];

		if (!is_memory(&n->counters[t->counter]))
			continue;
		s.value += (double)t->value;
		s.low += (double)t->low;
		s.high += (double)t->high;
	}
	return s;
}

/* Was this socket in an earlier counter of the machine? */
static bool is_counted(const struct accounts_node *n, const struct account_job *j, size_t before,
		       uint32_t socket)
{
	for (size_t i = 0; i < before; i++) {
		const struct account_counter *c = &n->counters[j->node[i].counter];

		if (is_memory(c) && c->socket == socket)
			return true;
	}
	return false;
}

/* Sum the peaks of the machine's sockets; false if one is unknown. */
static bool add_peaks(const struct job_context *c, const struct account_job *j,
		      struct job_peak *ret)
{
	for (size_t i = 0; i < j->nr_node; i++) {
		const struct account_counter *counter = &c->node->counters[j->node[i].counter];
		const struct peak *peak;

		if (!is_memory(counter))
			continue;
		ret->upper_bound |= counter->destination == DESTINATION_ANY;
		if (is_counted(c->node, j, i, counter->socket))
			continue;
		peak = peaks_find(&c->host->peaks, PEAK_CMEM, counter->socket);
		if (!peak)
			return false;
		ret->bytes_per_s += peak->bytes_per_s;
		ret->sockets++;
	}
	return ret->sockets > 0;
}

static double share_of(double bytes, uint64_t ns, uint64_t bytes_per_s)
{
	return bytes * 1e9 / (double)ns / (double)bytes_per_s;
}

bool job_peak_of(const struct job_context *c, const struct account_job *j, struct job_peak *ret)
{
	struct job_peak p = { 0 };
	struct sums s;

	s = sums_of(c->node, &j->whole);
	if (!j->covered_ns || !(s.value > 0) || !add_peaks(c, j, &p))
		return false;
	p.share = share_of(s.value, j->covered_ns, p.bytes_per_s);
	p.low = share_of(s.low, j->covered_ns, p.bytes_per_s);
	p.high = share_of(s.high, j->covered_ns, p.bytes_per_s);
	for (size_t i = 0; i < j->nr_node; i++)
		p.partial |=
			is_memory(&c->node->counters[j->node[i].counter]) && j->node[i].missing;
	for (size_t i = 0; c->kept && i < c->kept->nr; i++) {
		const struct account_job *span = &c->kept->jobs[i];
		double share;

		if (!span->covered_ns)
			continue;
		share = share_of(sums_of(c->node, &span->whole).value, span->covered_ns,
				 p.bytes_per_s);
		if (p.max_known && share <= p.max)
			continue;
		p.max_known = true;
		p.max = share;
		p.max_start_ns = span->whole.start_ns;
		p.max_end_ns = span->whole.end_ns;
	}
	*ret = p;
	return true;
}

/* Any share is possible: a peak may be one byte a second, and a job may have moved one byte. */
static void percent_of(double share, char ret[FORMAT_NUMBER_LEN])
{
	const uint64_t whole = 1000000000;
	double part = ceil(share * (double)whole);

	format_percent(part < 1e18 ? (uint64_t)part : (uint64_t)1e18, whole, ret);
}

int job_peak_line(FILE *out, const struct job_context *c, const struct account_job *j, size_t width)
{
	char mean[FORMAT_NUMBER_LEN], max[FORMAT_NUMBER_LEN] = "", rate[FORMAT_NUMBER_LEN];
	char start[FORMAT_TIME_LEN] = "";
	struct job_peak p;

	if (!job_peak_of(c, j, &p))
		return 0;
	percent_of(p.share, mean);
	format_rate(p.bytes_per_s, NS_PER_S, rate);
	if (p.max_known) {
		percent_of(p.max, max);
		format_time(p.max_start_ns, start);
	}
	return notes_line(out, width,
			  "memory of CPUs: %s%s of the machine's peak (%s GB/s)%s%s%s%s%s%s",
			  p.upper_bound ? "at most " : "", mean, rate, p.max_known ? ", " : "", max,
			  p.max_known ? " in the largest interval that is kept (" : "", start,
			  p.max_known ? ")" : "",
			  p.partial ? "; a counter was missing at times: it was more" : "");
}
