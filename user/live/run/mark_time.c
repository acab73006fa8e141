// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "live/run/mark_time.h"

/* The boundary must be there within this time, or it is set again, this many times at most. */
#define SOON_NS 20000
#define TRIES	8

uint64_t mark_time(const struct mark_time *m)
{
	uint64_t time_ns;
	int tries = 0;

	do {
		time_ns = m->now();
		m->set(m->arg, time_ns);
	} while (m->now() - time_ns > SOON_NS && ++tries < TRIES);
	return time_ns;
}
