// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "trace/fields.h"

#define LOSS(name, from) { #name, offsetof(struct quality, name) },
#define COST(name)                                      \
	{                                               \
#name, offsetof(struct self_cost, name) \
	}

const struct trace_field trace_losses[TRACE_NR_LOSSES] = { QUALITY_NUMBERS(LOSS) };

const struct trace_field trace_costs[TRACE_NR_COSTS] = {
	COST(cpu_ns), COST(switches), COST(switch_ns),	    COST(timed),
	COST(probes), COST(probe_ns), COST(probe_deferred), COST(probe_failed),
};

/* A new total must be added to the tables, or recordings would lose it. */
_Static_assert(sizeof(struct self_cost) == TRACE_NR_COSTS * sizeof(uint64_t), "costs");
