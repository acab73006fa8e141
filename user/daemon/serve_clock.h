/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Can the wall clock be believed, by which accounts are forgotten for their age? While the daemon runs,
 * the boot clock says how much time has passed. Over a stop nothing does: the machine may have been down
 * for long, or its clock may be wrong.
 */
#ifndef DAEMON_SERVE_CLOCK_H
#define DAEMON_SERVE_CLOCK_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>

#include "account.h"

#define SERVE_CLOCK_SUFFIX ".clock"

/**
 * struct serve_clock - see above
 * @file: beside the store, there while the clock is not believed, so that a restart does not change that.
 *	Whoever knows that the clock is right removes it
 * @boot: identity of this boot
 * @wall_ns, @boot_ns: a moment at which the clock was right (CLOCK_REALTIME, CLOCK_BOOTTIME); 0: not known
 * @stopped: nobody looked for a while after @wall_ns; @boot_ns is the end of that
 * @wrong: it is not believed
 * @first_ns, @last_ns: what it showed meanwhile, since the start; 0: nothing. It stays until
 *	somebody takes it away
 * @noted: @file is there
 */
struct serve_clock {
	char file[PATH_MAX + sizeof(SERVE_CLOCK_SUFFIX)];
	char boot[ACCOUNT_BOOT_LEN];
	uint64_t wall_ns;
	uint64_t boot_ns;
	uint64_t first_ns;
	uint64_t last_ns;
	bool stopped;
	bool wrong;
	bool noted;
};

/**
 * serve_clock_open() - at the start
 * @c: gets the state
 * @store: file of the accounts
 * @boot: identity of this boot
 * @until_ns: end of the last interval in them, 0: there is none
 */
void serve_clock_open(struct serve_clock *c, const char *store, const char *boot,
		      uint64_t until_ns);

/**
 * serve_clock_check() - at the end of an interval, before it is stored
 * @c: the clock
 * @wall_ns, @boot_ns: that moment (CLOCK_REALTIME, CLOCK_BOOTTIME)
 * @keep_ns: shortest age at which something is dropped, 0: nothing is
 * @ret_why: why the clock is not believed, and what helps
 * @size: its size
 *
 * The clock is wrong when it moved against the boot clock by more than a tenth of @keep_ns (at least a
 * minute). After a stop it is so when it is behind by as much, or ahead by more than a quarter of @keep_ns
 * (at least a day). It stays wrong until it is back within that, or until the file is removed.
 *
 * Return: is it believed?
 */
bool serve_clock_check(struct serve_clock *c, uint64_t wall_ns, uint64_t boot_ns, uint64_t keep_ns,
		       char *ret_why, size_t size);

#endif
