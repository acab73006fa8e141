// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Data that future windows need: slices, I/O, and the names of workloads. */
#include <errno.h>

#include "base/array.h"
#include "engine/timeline/internal.h"

/* The number (from 1) of the device that a group counts, or 0: its windows are the CPUs'. */
uint32_t timeline_group_device(const struct layout *l, uint32_t group)
{
	return l->groups[group].nr ? l->counters[l->groups[group].first].device : 0;
}

bool timeline_backlogged_at(const struct timeline *t, uint32_t socket, uint32_t device)
{
	if (!device || device > t->nr_devices)
		return t->slices[socket].nr > MANY;
	return t->flows[device - 1].history.nr > MANY;
}

/* The earliest start of future windows, of the groups of a device or (0) of the CPUs. */
uint64_t timeline_needed_from(const struct timeline *t, uint32_t socket, uint32_t device,
			      const struct timeline_closing *c)
{
	uint64_t oldest = c->end_ns > HISTORY_NS ? c->end_ns - HISTORY_NS : 0, needed = c->end_ns;

	/* The interval goes on: as long as there is room, all of it is kept that may be needed. */
	if (c->inner && !timeline_backlogged_at(t, socket, device))
		oldest = 0;
	for (size_t g = 0; g < t->layout->nr_groups; g++)
		if (t->layout->groups[g].socket == socket &&
		    timeline_group_device(t->layout, g) == device && t->split_ns[g] < needed)
			needed = t->split_ns[g];
	return needed < oldest ? oldest : needed;
}

int timeline_keep(struct timeline *t, const struct timeline_sink *sink, uint32_t workload)
{
	while (workload >= t->nr_kept) {
		if (array_reserve(t->kept, t->cap_kept, t->nr_kept))
			return -ENOMEM;
		t->kept[t->nr_kept++] = 0;
	}
	if (t->kept[workload] != t->closes)
		sink->keep(sink->arg, workload);
	t->kept[workload] = t->closes;
	return 0;
}
