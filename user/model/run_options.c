// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "run_options.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"

struct run_options run_options_default(void)
{
	return (struct run_options){
		.interval_ns = RUN_INTERVAL_NS,
		.window_ns = RUN_WINDOW_NS,
		.probe_ns = RUN_PROBE_INTERVAL_NS,
		.read_budget = RUN_READ_BUDGET,
		.by = ROW_PROCESS,
		.methods = { METHOD_STATE_SPACE },
		.nr_methods = 1,
		.weights = "auto",
		.rise = 0.2,
	};
}

int text_list_add(struct text_list *list, const char *text)
{
	char *copy = array_room(list->items, list->cap, list->nr) ? NULL : strdup(text);

	if (!copy)
		return -ENOMEM;
	list->items[list->nr++] = copy;
	return 0;
}

void text_list_free(struct text_list *list)
{
	for (size_t i = 0; i < list->nr; i++)
		free(list->items[i]);
	free(list->items);
	*list = (struct text_list){ 0 };
}

void run_options_free(struct run_options *o)
{
	free(o->pids.items);
	text_list_free(&o->cgroups);
	text_list_free(&o->jobs);
	text_list_free(&o->devices);
}
