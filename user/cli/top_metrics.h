/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The page of metrics of a live "top": they are counted while the page is shown. */
#ifndef CLI_TOP_METRICS_H
#define CLI_TOP_METRICS_H

#include "base/loop.h"
#include "live/sources/stat_meter.h"
#include "report/top/view.h"
#include "run_options.h"

/**
 * struct top_metrics - counting for the page
 * @args: of the run
 * @view: gets metrics, or why there are none
 * @meter: created when the page is first shown; kept metrics point to it
 * @shown: the page was shown at the last check
 * @time_ns: interval for which counting was started
 *
 * The caller sets @args and @view, the rest starts as zero.
 */
struct top_metrics {
	const struct run_options *args;
	struct view *view;
	struct stat_meter *meter;
	bool shown;
	uint64_t time_ns;
};

/** top_metrics_add() - start and stop with the page, while @l runs; 0 or -ENOMEM */
int top_metrics_add(struct top_metrics *t, struct loop *l, struct diag *d);

/** top_metrics_interval() - an interval was added to the view; 0 or -ENOMEM */
int top_metrics_interval(struct top_metrics *t, struct diag *d);

/** top_metrics_end() - stop counting, and drop everything */
void top_metrics_end(struct top_metrics *t);

#endif
