// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "live/run/mark_time.h"

#include "base/clock.h"

/* The boundary must be there within this time, or it is set again, this many times at most. */
#define SOON_NS 20000
#define TRIES	8

uint64_t mark_time(struct ledger *l, const struct counters *c, uint32_t nr_sockets)
{
	uint64_t time_ns;
	int tries = 0;

	do {
		time_ns = monotonic_ns();
		for (uint32_t s = 0; s < nr_sockets; s++)
			if (!live_readers_on(c, s))
				ledger_mark(l, s, time_ns);
	} while (monotonic_ns() - time_ns > SOON_NS && ++tries < TRIES);
	return time_ns;
}
