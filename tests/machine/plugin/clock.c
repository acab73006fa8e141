/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Time. Rates go by the host's clock, as the guest does, unless QEMU counts the guest's
 * instructions (-icount): then the guest's clock stands still while the host has no time
 * for it, and rates must do so, too.
 *
 * With -icount one thread of QEMU runs the emulated CPUs in turns, and a turn ends when the
 * next timer of the guest is due: 4 ms and more. To the other CPUs that is time in which they
 * did nothing. A timer of ours ends turns early.
 *
 * When a turn has ended, QEMU 7.2 goes on with the next CPU first, runs the timer there, and gives
 * that CPU no instruction: its turn is lost. That can be the same CPU each time. Seen for 13 s, until
 * the guest's kernel reported a hard lockup of it. Where QEMU was asked to leave a CPU (cpu_exit), it
 * runs timers first. So all CPUs that have something to do are asked when a turn begins: each is left
 * once, at once, and has its turn afterwards.
 */
#include <stdlib.h>
#include <time.h>

#include "machine.h"
#include "qemu_api.h"

static QEMUTimer *turns;
static CPUState **cpus;
static int nr_cpus;
static uint64_t started_ns; /* when the guest's clock was 0; 0: the host's clock is used */

uint64_t now_ns(void)
{
	struct timespec t;

	if (started_ns)
		return started_ns + (uint64_t)qemu_clock_get_ns(QEMU_CLOCK_VIRTUAL);
	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * NS_PER_S + (uint64_t)t.tv_nsec;
}

/*
 * Sleeping ones take nothing of a turn; each that is asked costs a look at all of them. Tells how many
 * are awake.
 */
static int leave_all(void)
{
	int awake = 0;

	for (int i = 0; i < nr_cpus; i++)
		if (!cpu_thread_is_idle(cpus[i])) {
			cpu_exit(cpus[i]);
			awake++;
		}
	return awake;
}

static void leave_later(CPUState *cpu, run_on_cpu_data data)
{
	(void)cpu;
	(void)data;
	leave_all();
}

static void end_turn(void *opaque)
{
	static const CPUState *last;
	int awake = leave_all();

	(void)opaque;
	/* The one that has just lost its turn forgets what was asked: ask again when it has been left */
	if (current_cpu && current_cpu == last && awake > 1)
		async_run_on_cpu(current_cpu, leave_later, (run_on_cpu_data){ 0 });
	last = current_cpu;
	timer_mod_ns(turns, qemu_clock_get_ns(QEMU_CLOCK_VIRTUAL) + machine.turn_us * 1000ll);
}

void clock_init(void)
{
	if (!machine.turn_us)
		return;
	started_ns = now_ns();
	nr_cpus = qemu_plugin_n_vcpus();
	turns = calloc(1, TIMER_ROOM);
	cpus = calloc((size_t)nr_cpus, sizeof(*cpus));
	if (!turns || !cpus)
		abort();
	for (int i = 0; i < nr_cpus; i++)
		cpus[i] = qemu_get_cpu(i);
	timer_init_full(turns, NULL, QEMU_CLOCK_VIRTUAL, SCALE_NS, 0, end_turn, NULL);
	end_turn(NULL);
}
