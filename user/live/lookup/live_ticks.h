/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Ticks: on which CPUs windows are closed while a task goes on, and what the report says of it. */
#ifndef LIVE_LOOKUP_LIVE_TICKS_H
#define LIVE_LOOKUP_LIVE_TICKS_H

#include "platform/bpf/ledger.h"
#include "platform/sys/sysfs.h"
#include "run_options.h"

/**
 * struct live_ticks - the choice
 * @mode: as requested
 * @on: windows are closed at ticks; without counters there are no windows
 * @quiet: CPUs that are not disturbed
 */
struct live_ticks {
	enum tick_mode mode;
	bool on;
	struct cpulist quiet;
};

/**
 * live_ticks_choose() - choose the CPUs whose windows are closed
 * @args: the user's options
 * @counted: there are counters, hence windows
 * @fs: has the lists of isolated and nohz_full CPUs
 * @ret: the choice
 */
void live_ticks_choose(const struct run_options *args, bool counted, const struct sysfs *fs,
		       struct live_ticks *ret);

/**
 * live_ticks_tell() - put the choice and its result into the header
 * @t: the choice
 * @counted: as above; otherwise there is nothing to tell
 * @missing: why the ledger cannot do it, "" when it can
 * @nr_cpus: possible CPUs; only these are named
 * @ret: its @tick and @tick_note
 */
void live_ticks_tell(const struct live_ticks *t, bool counted, const char *missing,
		     uint32_t nr_cpus, struct host_info *ret);

#endif
