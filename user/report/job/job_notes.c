// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "report/job/job_notes.h"

#include <errno.h>
#include <inttypes.h>

#include "base/cleanup.h"
#include "base/sums.h"
#include "report/format.h"
#include "report/job/job_groups.h"
#include "report/job/job_sums.h"
#include "report/notes.h"

/* At most this many gaps or counters are listed one by one. */
#define NAMED 3

static int put_state(FILE *out, const struct account_job *j, size_t width)
{
	char time[FORMAT_TIME_LEN];
	int err = 0;

	format_time(j->whole.end_ns, time);
	if (j->state == ACCOUNT_RUNNING)
		err = notes_line(out, width, "running: this is the account up to %s", time);
	else if (j->state == ACCOUNT_STALE)
		err = notes_line(
			out, width,
			"stale: it ended while nobody looked; what it did after %s is not in "
			"this account",
			time);
	if (err || !j->late_start)
		return err;
	return notes_line(
		out, width,
		"late start: it was perhaps there before t410trace began to look; what it did "
		"before is not in this account");
}

static int put_gaps(FILE *out, const struct account_job *j, size_t width)
{
	char start[FORMAT_TIME_LEN], end[FORMAT_TIME_LEN], seconds[FORMAT_NUMBER_LEN];
	int err = 0;

	for (size_t i = 0; i < j->nr_gaps && i < NAMED && !err; i++) {
		const struct account_gap *g = &j->gaps[i];

		format_time(g->start_ns, start);
		format_time(g->end_ns, end);
		format_seconds(g->end_ns - g->start_ns, seconds);
		err = notes_line(
			out, width,
			"gap: nobody looked from %s to %s (%s s); what it did then is not in "
			"this account",
			start, end, seconds);
	}
	format_seconds(j->gap_ns, seconds);
	if (!err && j->nr_gaps > NAMED)
		err = notes_line(out, width, "gaps: %zu more, %s s in all", j->nr_gaps - NAMED,
				 seconds);
	return err;
}

static int put_clock(FILE *out, const struct account_job *j, size_t width)
{
	char seconds[FORMAT_NUMBER_LEN];
	int err = 0;

	format_seconds(job_clock_back(j), seconds);
	if (job_clock_back(j))
		err = notes_line(
			out, width,
			"clock: it was set back by %s s while the job was there; its end is as "
			"long after its begin as it was there, not what the clock said",
			seconds);
	if (err || !job_clock_set(j))
		return err;
	format_seconds(job_clock_set(j), seconds);
	return notes_line(
		out, width,
		"clock: it was set forward by %s s while the job was there; begin and end are "
		"what it said, durations are without that",
		seconds);
}

static int put_missing(FILE *out, const struct job_context *c, const struct account_job *j,
		       size_t width)
{
	size_t nr = 0;
	int err = 0;

	for (size_t i = 0; i < j->nr_node && !err; i++) {
		const struct account_node_total *t = &j->node[i];
		const struct account_counter *counter = &c->node->counters[t->counter];
		cleanup_free char *name = NULL;

		if (!t->missing || nr++ >= NAMED)
			continue;
		err = format_terminal(counter->name, sizeof(counter->name), &name);
		if (!err)
			err = notes_line(out, width,
					 "no data: %s in %" PRIu64 " of %" PRIu64
					 " intervals; sums are without it",
					 name, t->missing, j->intervals);
	}
	if (!err && nr > NAMED)
		err = notes_line(out, width, "no data: %zu more counters, in some or all intervals",
				 nr - NAMED);
	return err;
}

static int put_multiplexed(FILE *out, const struct account_job *j, size_t width)
{
	char percent[FORMAT_NUMBER_LEN];
	const struct account_node_total *least = NULL;
	size_t nr = 0;

	for (size_t i = 0; i < j->nr_node; i++) {
		const struct account_node_total *t = &j->node[i];

		if (t->running_ns >= t->enabled_ns)
			continue;
		nr++;
		if (!least || job_running_ratio(t) < job_running_ratio(least))
			least = t;
	}
	if (!least)
		return 0;
	format_percent(least->running_ns, least->enabled_ns, percent);
	return notes_line(
		out, width,
		"multiplexed: %zu counter%s took turns and counted a part of the time, %s at "
		"the least; what they counted is scaled",
		nr, nr == 1 ? "" : "s", percent);
}

static int put_tangled(FILE *out, const struct job_context *c, const struct account_job *j,
		       size_t width)
{
	uint64_t inseparable = 0, all = 0;
	char bytes[FORMAT_NUMBER_LEN], percent[FORMAT_NUMBER_LEN];

	for (int d = 0; d < NR_DIRECTIONS; d++) {
		struct job_sum_value v = job_sum_of(c->node, j, &j->whole, JOB_SUM_MEM, d);

		inseparable = sum_capped(inseparable, v.inseparable);
		all = sum_capped(all, v.value);
	}
	if (!inseparable)
		return 0;
	format_bytes(inseparable, bytes);
	format_percent(inseparable, all, percent);
	return notes_line(
		out, width,
		"~ tangled: %s (%s) of its memory traffic moved while others ran at the same "
		"times: that part of the split is what was expected, not measured",
		bytes, percent);
}

int job_notes_write(FILE *out, const struct job_context *c, const struct account_job *j,
		    size_t width, const struct table_options *o)
{
	struct notes_basis b = {
		.quality = &j->quality,
		.self = &j->self,
		.duration_ns = j->covered_ns,
		.counted = j->nr_node != 0,
	};
	int err = put_state(out, j, width);

	if (!err)
		err = put_gaps(out, j, width);
	if (!err)
		err = put_clock(out, j, width);
	if (!err)
		err = put_missing(out, c, j, width);
	if (!err)
		err = put_multiplexed(out, j, width);
	if (!err)
		err = put_tangled(out, c, j, width);
	if (!err)
		err = job_groups_write(out, c, j, width);
	return err ? err : notes_trust(out, &b, width, o->quiet, o->verbose);
}
