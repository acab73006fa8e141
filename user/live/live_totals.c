// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "live/live_totals.h"

#include <sys/resource.h>

#include "base/clock.h"

void live_totals_quality(const struct ledger *l, const struct feed *f, struct quality *ret)
{
	struct ledger_losses losses;

	ledger_losses(l, &losses);
	*ret = (struct quality){
		.invalid_windows = f->invalid_windows,
		.lost_windows = losses.windows,
		.merged_windows = f->long_windows,
		.kept_flushes = losses.kept_flushes,
		.lost_tasks = losses.tasks,
		.lost_cgroups = losses.cgroups,
		.unseen_switches = losses.unseen,
		.lost_io = losses.io,
		.unscheduled_windows = f->unscheduled_windows,
		.bad_records = f->bad_slices + losses.bad,
		.counter_restarts = f->restarts,
		.uncounted_ns = f->uncounted_ns,
	};
}

void live_totals_cost(const struct ledger *l, struct self_cost *ret)
{
	struct ledger_cost c;
	struct rusage u;

	getrusage(RUSAGE_SELF, &u);
	ledger_cost(l, &c);
	*ret = (struct self_cost){
		.cpu_ns = (u.ru_utime.tv_sec + u.ru_stime.tv_sec) * NS_PER_S +
			  (u.ru_utime.tv_usec + u.ru_stime.tv_usec) * 1000ull,
		.switches = c.switches,
		.switch_ns = c.timed_ns, /* of the timed ones only */
		.timed = c.timed,
	};
}
