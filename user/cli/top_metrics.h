/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The page of metrics of a live "top": they are counted while somebody looks at it. */
#ifndef CLI_TOP_METRICS_H
#define CLI_TOP_METRICS_H

#include "base/loop.h"
#include "live/sources/stat_meter.h"
#include "report/top/view.h"
#include "run_options.h"

/**
 * struct top_metrics - what is counted for the page
 * @args: of the run
 * @view: gets metrics, or why there are none
 * @meter: from the first time on that the page is shown; kept metrics point to it
 * @shown: the page was shown at the last look
 * @time_ns: interval for which counting was started
 *
 * @args and @view are the caller's, the rest is zero to begin with.
 */
struct top_metrics {
	const struct run_options *args;
	struct view *view;
	struct stat_meter *meter;
	bool shown;
	uint64_t time_ns;
};

/** top_metrics_add() - begin and end with the page, while @l runs; 0 or -ENOMEM */
int top_metrics_add(struct top_metrics *t, struct loop *l, struct diag *d);

/** top_metrics_interval() - an interval has ended, and the view has it; 0 or -ENOMEM */
int top_metrics_interval(struct top_metrics *t, struct diag *d);

/** top_metrics_end() - nothing is counted from here on, and nothing kept */
void top_metrics_end(struct top_metrics *t);

#endif
