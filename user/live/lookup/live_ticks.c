// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "live/lookup/live_ticks.h"

#include <stdio.h>
#include <string.h>

#include "base/text.h"
#include "platform/sys/cpus.h"

void live_ticks_choose(const struct run_options *args, bool counted, const struct sysfs *fs,
		       struct live_ticks *ret)
{
	*ret = (struct live_ticks){ .mode = args->tick, .on = counted && args->tick != TICK_OFF };
	if (args->tick == TICK_AUTO)
		cpus_kept_quiet(fs, &ret->quiet);
}

void live_ticks_tell(const struct live_ticks *t, bool counted, const char *missing,
		     uint32_t nr_cpus, struct host_info *ret)
{
	struct cpulist quiet = { 0 };
	char list[CPULIST_TEXT_LEN];

	if (!counted)
		return;
	str_copy(ret->tick, sizeof(ret->tick), tick_mode_name(t->mode));
	if (t->on && missing[0]) {
		snprintf(ret->tick_note, sizeof(ret->tick_note),
			 "what a task does between switches is known per report only: %.300s",
			 missing);
		return;
	}
	for (int cpu = -1; (cpu = cpulist_next(&t->quiet, cpu)) >= 0 && (uint32_t)cpu < nr_cpus;)
		cpulist_set(&quiet, (unsigned int)cpu, true);
	if (!t->on || !cpulist_count(&quiet) || cpulist_format(&quiet, list, sizeof(list)))
		return;
	snprintf(ret->tick_note, sizeof(ret->tick_note),
		 "CPUs %.200s%s are isolated or nohz_full and left alone: what a task does there "
		 "between switches is known per report only; --tick=all closes windows there, too",
		 list, strlen(list) > 200 ? "..." : "");
}
