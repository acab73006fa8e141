// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "trace/fields.h"

#define LOSS(name)                                    \
	{                                             \
#name, offsetof(struct quality, name) \
	}
#define COST(name)                                      \
	{                                               \
#name, offsetof(struct self_cost, name) \
	}

const struct trace_field trace_losses[TRACE_NR_LOSSES] = {
	LOSS(windows),		LOSS(weight_windows),  LOSS(fallback_windows),
	LOSS(pooled_workloads), LOSS(invalid_windows), LOSS(lost_windows),
	LOSS(merged_windows),	LOSS(lost_slices_ns),  LOSS(kept_flushes),
	LOSS(lost_tasks),	LOSS(lost_cgroups),    LOSS(late_slices),
	LOSS(unseen_switches),	LOSS(unknown_tasks),   LOSS(reader_moves),
	LOSS(rows_pooled),	LOSS(lost_io),	       LOSS(unowned_io_bytes),
	LOSS(device_held_ns),	LOSS(device_changes),
};

const struct trace_field trace_costs[TRACE_NR_COSTS] = {
	COST(cpu_ns), COST(switches), COST(switch_ns),	    COST(timed),
	COST(probes), COST(probe_ns), COST(probe_deferred), COST(probe_failed),
};

/* A new total must be added to the tables, or recordings would lose it. */
_Static_assert(sizeof(struct self_cost) == TRACE_NR_COSTS * sizeof(uint64_t), "costs");
_Static_assert(sizeof(struct quality) - offsetof(struct quality, windows) ==
		       TRACE_NR_LOSSES * sizeof(uint64_t),
	       "losses");
