// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "cli/top_metrics.h"

#include <errno.h>
#include <stdio.h>

#include "base/clock.h"

static void stop(struct top_metrics *t)
{
	if (t->view->measuring)
		stat_meter_stop(t->meter);
	t->view->measuring = false;
}

/* Errors of metrics are shown on their page, and rows go on. */
static void fail(struct top_metrics *t, const struct diag *d)
{
	stop(t);
	snprintf(t->view->metrics_problem, sizeof(t->view->metrics_problem), "%s%s%s", d->what,
		 d->help[0] ? ": " : "", d->help);
}

static int find(struct top_metrics *t, struct diag *d)
{
	const struct stat_meter_options o = {
		.metrics = { .socket = -1 },
		.peaks = t->args->peaks,
		.budget = t->args->read_budget,
		.cores = "",
	};

	if (t->args->no_counters)
		return diag_fail(d, -ENODEV,
				 "With --no-counters nothing is counted, so there are no metrics.");
	return t->meter ? 0 : stat_meter_new(&o, d, &t->meter);
}

static void start(struct top_metrics *t)
{
	struct diag d = { 0 };
	int err = find(t, &d);

	t->time_ns = t->view->interval_ns;
	if (!err)
		err = stat_meter_start(t->meter, t->time_ns, 0, false, &d);
	t->view->metrics_problem[0] = '\0';
	if (err)
		fail(t, &d);
	else
		t->view->measuring = true;
}

static bool is_shown(const struct top_metrics *t)
{
	return t->view->page == VIEW_METRICS;
}

static uint64_t next_ns(void *arg)
{
	const struct top_metrics *t = arg;

	if (is_shown(t) != t->shown)
		return 0;
	return t->view->measuring ? stat_meter_next_ns(t->meter) : UINT64_MAX;
}

static int step(void *arg, struct diag *d)
{
	struct top_metrics *t = arg;
	struct diag problem = { 0 };

	(void)d;
	if (is_shown(t) != t->shown) {
		t->shown = is_shown(t);
		if (t->shown)
			start(t);
		else
			stop(t);
	}
	if (t->view->measuring && stat_meter_next_ns(t->meter) <= monotonic_ns() &&
	    stat_meter_step(t->meter, &problem))
		fail(t, &problem);
	return 0;
}

int top_metrics_add(struct top_metrics *t, struct loop *l, struct diag *d)
{
	static const struct loop_source source = { .when = next_ns, .run = step };

	return loop_add(l, &source, t, d);
}

int top_metrics_interval(struct top_metrics *t, struct diag *d)
{
	struct stat_report *r;
	struct diag problem = { 0 };

	if (!t->view->measuring)
		return 0;
	if (stat_meter_read(t->meter, false, &problem) ||
	    stat_meter_interval(t->meter, &problem, &r)) {
		fail(t, &problem);
		return 0;
	}
	/* Each report is shown alone: none relies on notes of an earlier one. */
	r->sequence = 0;
	if (view_add_metrics(t->view, r))
		return diag_no_memory(d);
	/* Turns are as long as the interval allows. */
	if (t->time_ns != t->view->interval_ns) {
		stop(t);
		start(t);
	}
	return 0;
}

void top_metrics_end(struct top_metrics *t)
{
	stop(t);
	metrics_past_forget(&t->view->metrics);
	stat_meter_free(t->meter);
	t->meter = NULL;
}
