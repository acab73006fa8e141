/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Time. Rates go by the host's clock, as the guest does, unless QEMU counts the guest's
 * instructions (-icount): then the guest's clock stands still while the host has no time
 * for it, and rates must do so, too.
 *
 * With -icount one thread of QEMU runs the emulated CPUs in turns, and a turn ends when the
 * next timer of the guest is due: 4 ms and more. To the other CPUs that is time in which they
 * did nothing. A timer of ours, which does nothing, ends turns early.
 */
#include <stdlib.h>
#include <time.h>

#include "machine.h"
#include "qemu_api.h"

static QEMUTimer *turns;
static uint64_t started_ns; /* when the guest's clock was 0; 0: the host's clock is used */

uint64_t now_ns(void)
{
	struct timespec t;

	if (started_ns)
		return started_ns + (uint64_t)qemu_clock_get_ns(QEMU_CLOCK_VIRTUAL);
	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * NS_PER_S + (uint64_t)t.tv_nsec;
}

static void end_turn(void *opaque)
{
	(void)opaque;
	timer_mod_ns(turns, qemu_clock_get_ns(QEMU_CLOCK_VIRTUAL) + machine.turn_us * 1000ll);
}

void clock_init(void)
{
	if (!machine.turn_us)
		return;
	started_ns = now_ns();
	turns = calloc(1, TIMER_ROOM);
	if (!turns)
		abort();
	timer_init_full(turns, NULL, QEMU_CLOCK_VIRTUAL, SCALE_NS, 0, end_turn, NULL);
	end_turn(NULL);
}
