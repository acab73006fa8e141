// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "report/job/job_notes.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "report/format.h"
#include "report/job/job_gpus.h"
#include "report/job/job_nodes.h"
#include "report/job/job_sums.h"
#include "report/notes.h"
#include "report/resctrl_report.h"

/* At most this many gaps or counters are listed one by one. */
#define NAMED 3

static int put_state(FILE *out, const struct account_job *j, size_t width)
{
	char time[FORMAT_TIME_LEN];
	int err = 0;

	format_time(j->whole.end_ns, time);
	if (j->state == ACCOUNT_RUNNING)
		err = notes_line(out, width, "running: this is the account up to %s", time);
	else if (j->state == ACCOUNT_STALE && !j->nodes)
		err = notes_line(
			out, width,
			"stale: it ended while nobody looked; what it did after %s is not in "
			"this account",
			time);
	/* Of several nodes, those that are meant have been named. */
	if (err || !j->late_start || j->nodes)
		return err;
	return notes_line(
		out, width,
		"late start: it was perhaps there before t410trace began to look; what it did "
		"before is not in this account");
}

/* Said where it changes SHARE by more than a tenth. */
static int put_others(FILE *out, const struct account_job *j, size_t width)
{
	char seconds[FORMAT_NUMBER_LEN];

	if (j->others_unknown_ns <= j->covered_ns / 10)
		return 0;
	format_seconds(j->others_unknown_ns, seconds);
	return notes_line(
		out, width,
		"others: in its first %s s only its own traffic is known, so SHARE is too "
		"large",
		seconds);
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

		if (t->missing && nr++ < NAMED)
			err = notes_line(out, width,
					 "no data: %s in %" PRIu64 " of %" PRIu64
					 " intervals; sums are without it",
					 FORMAT_SAFE(counter->name), t->missing, j->intervals);
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
	struct job_sum_value v = job_sum_of(c->node, j, &j->whole, JOB_SUM_MEM, NR_DIRECTIONS);
	char bytes[FORMAT_NUMBER_LEN], percent[FORMAT_NUMBER_LEN];

	if (!v.inseparable)
		return 0;
	format_bytes(v.inseparable, bytes);
	format_percent(v.inseparable, v.value, percent);
	return notes_line(
		out, width,
		"~ tangled: %s (%s) of its memory traffic moved while others ran at the same "
		"times: that part of the split is what was expected, not measured",
		bytes, percent);
}

/* --- the kernel's monitoring groups (resctrl), beside the account: never mixed */

/* The part of the account for a group; NULL when its step has been merged into the rest by now. */
static const struct account_part *part_of(const struct account_job *j,
					  const struct account_group *g)
{
	if (!g->step[0])
		return &j->whole;
	for (size_t i = 0; i < j->nr_steps; i++)
		if (!strcmp(j->steps[i].step, g->step))
			return &j->steps[i];
	return NULL;
}

static int put_group(FILE *out, const struct job_context *c, const struct account_job *j,
		     const struct account_group *g, size_t width)
{
	char bytes[FORMAT_NUMBER_LEN], seconds[FORMAT_NUMBER_LEN], ours[FORMAT_NUMBER_LEN] = "-";
	char missing[80] = "";
	const struct account_part *part = part_of(j, g);
	struct job_sum_value own = { 0 };

	if (part)
		own = job_sum_of(c->node, j, part, JOB_SUM_MEM, NR_DIRECTIONS);
	format_bytes(g->bytes, bytes);
	format_seconds(g->ns, seconds);
	if (own.counted)
		format_bytes(own.value, ours);
	if (g->without)
		snprintf(missing, sizeof(missing),
			 "; no number in %" PRIu64 " of %" PRIu64 " intervals", g->without,
			 g->intervals);
	return notes_line(out, width, "resctrl: group %s%s%s: %s in %s s%s; here %s",
			  FORMAT_SAFE(g->group), g->step[0] ? " of step " : "",
			  FORMAT_SAFE(g->step), bytes, seconds, missing, ours);
}

static int put_groups(FILE *out, const struct job_context *c, const struct account_job *j,
		      size_t width)
{
	int err = 0;

	for (size_t i = 0; i < j->nr_groups && !err; i++)
		err = put_group(out, c, j, &j->groups[i], width);
	return err || !j->nr_groups ? err : resctrl_groups_explain(out, width);
}

/* Has one of the notes above named what is not in the account? */
static bool is_partial(const struct job_context *c, const struct account_job *j)
{
	bool without = false;

	for (size_t i = 0; i < j->nr_node; i++)
		without |= j->node[i].missing != 0;
	return without || j->nr_gaps || j->state == ACCOUNT_STALE || j->late_start ||
	       (c->nodes && job_nodes_incomplete(c->nodes));
}

int job_notes_write(FILE *out, const struct job_context *c, const struct account_job *j,
		    size_t width, const struct table_options *o)
{
	struct notes_basis b = {
		.quality = &j->quality,
		.self = &j->self,
		.duration_ns = j->covered_ns,
		.counted = j->nr_node != 0,
		.partial = is_partial(c, j),
	};
	int err = put_state(out, j, width);

	if (!err)
		err = put_others(out, j, width);
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
		err = job_gpus_notes(out, j, width);
	if (!err)
		err = put_groups(out, c, j, width);
	return err ? err : notes_trust(out, &b, width, o->quiet, o->verbose);
}
