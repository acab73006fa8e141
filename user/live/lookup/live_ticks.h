/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Ticks: on which CPUs windows are closed while a task goes on, and what the report says of it. */
#ifndef LIVE_LOOKUP_LIVE_TICKS_H
#define LIVE_LOOKUP_LIVE_TICKS_H

#include "platform/bpf/ledger.h"
#include "platform/sys/sysfs.h"
#include "run_options.h"

/**
 * struct live_ticks - what was chosen
 * @mode: as asked for
 * @on: windows are closed at ticks; without counters there are no windows
 * @quiet: CPUs that are left alone
 */
struct live_ticks {
	enum tick_mode mode;
	bool on;
	struct cpulist quiet;
};

/**
 * live_ticks_choose() - where windows are to be closed
 * @args: what was asked for
 * @counted: there are counters, and so windows
 * @fs: says which CPUs are isolated or nohz_full
 * @ret: the choice
 */
void live_ticks_choose(const struct run_options *args, bool counted, const struct sysfs *fs,
		       struct live_ticks *ret);

/**
 * live_ticks_tell() - say in the header what was chosen, and what became of it
 * @t: the choice
 * @counted: as above; without, there is nothing to say
 * @missing: why the ledger cannot have it, "" when it can
 * @nr_cpus: possible CPUs; others are not named
 * @ret: its @tick and @tick_note
 */
void live_ticks_tell(const struct live_ticks *t, bool counted, const char *missing,
		     uint32_t nr_cpus, struct host_info *ret);

#endif
