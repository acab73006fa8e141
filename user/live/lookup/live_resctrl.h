/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Reads what the kernel's monitoring (resctrl) counts, for the trace of a live run. */
#ifndef LIVE_LOOKUP_LIVE_RESCTRL_H
#define LIVE_LOOKUP_LIVE_RESCTRL_H

#include "platform/sys/resctrl.h"
#include "trace.h"

/**
 * struct live_resctrl - readings of the groups
 * @root: where resctrl is mounted
 * @proc, @cgroups: where proc and the v2 tree of cgroups are mounted; "" for none
 * @last: the last reading; none before the first, and after the groups could not be read
 */
struct live_resctrl {
	const char *root;
	const char *proc;
	const char *cgroups;
	struct resctrl_reading last;
};

/** live_resctrl_begin() - the first reading; without monitoring there is none. 0 or -ENOMEM */
int live_resctrl_begin(struct live_resctrl *l);

/**
 * live_resctrl_send() - read again, and hand on the counts of each group since the last reading
 * @l: the readings
 * @out: gets an event for each group but the default one, which is no workload
 * @bad: number of rejected events is added
 *
 * Return: 0, -ENOMEM or the error of @out.
 */
int live_resctrl_send(struct live_resctrl *l, const struct trace_sink *out, uint64_t *bad);
void live_resctrl_free(struct live_resctrl *l);

#endif
