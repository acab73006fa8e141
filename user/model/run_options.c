// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "run_options.h"

#include <stddef.h>
#include <stdlib.h>

#include "base/array.h"

struct run_options run_options_default(void)
{
	return (struct run_options){
		.interval_ns = RUN_INTERVAL_NS,
		.window_ns = RUN_WINDOW_NS,
		.probe_ns = RUN_PROBE_INTERVAL_NS,
		.read_budget = RUN_READ_BUDGET,
		.by = ROW_PROCESS,
		.method = METHOD_STATE_SPACE,
		.weights = "auto",
		.gpu = "auto",
		.rise = 0.2,
	};
}

const char *tick_mode_name(unsigned int mode)
{
	static const char *const names[] = {
		[TICK_AUTO] = "auto",
		[TICK_ALL] = "all",
		[TICK_OFF] = "off",
	};

	return mode < ARRAY_SIZE(names) ? names[mode] : NULL;
}

void run_options_free(struct run_options *o)
{
	free(o->pids.items);
	text_list_free(&o->cgroups);
	text_list_free(&o->jobs);
	text_list_free(&o->devices);
	text_list_free(&o->ignored_holders);
	text_list_free(&o->sources);
}
