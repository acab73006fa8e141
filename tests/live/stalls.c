// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * stalls: for how long did CPUs not run what had the highest priority?
 *
 * A thread on each CPU sleeps for 20 ms again and again, with a real-time priority. Our own load
 * does not make it late: what wakes it 10 ms late is the host that did not run the CPU, or a whole
 * machine that stood still. For each byte on the standard input it writes the time so far, all CPUs
 * together, in nanoseconds and on a line. It ends with its input.
 */
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#define PERIOD_NS 20000000ull
#define LATE_NS	  10000000ull

static _Atomic uint64_t stalled_ns;

static uint64_t now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1000000000ull + t.tv_nsec;
}

static void *watch(void *arg)
{
	(void)arg;
	for (;;) {
		uint64_t until = now_ns() + PERIOD_NS, late;
		struct timespec t = { until / 1000000000, until % 1000000000 };

		clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &t, NULL);
		late = now_ns() - until;
		if (late >= LATE_NS)
			stalled_ns += late;
	}
	return NULL;
}

static int start(int cpu)
{
	const struct sched_param priority = { .sched_priority = 1 };
	pthread_attr_t attr;
	pthread_t thread;
	cpu_set_t set;
	int err;

	CPU_ZERO(&set);
	CPU_SET(cpu, &set);
	pthread_attr_init(&attr);
	pthread_attr_setinheritsched(&attr, PTHREAD_EXPLICIT_SCHED);
	pthread_attr_setschedpolicy(&attr, SCHED_FIFO);
	pthread_attr_setschedparam(&attr, &priority);
	pthread_attr_setstacksize(&attr, 65536);
	pthread_attr_setaffinity_np(&attr, sizeof(set), &set);
	err = pthread_create(&thread, &attr, watch, NULL);
	pthread_attr_destroy(&attr);
	return err;
}

int main(void)
{
	cpu_set_t set;
	char byte;

	if (sched_getaffinity(0, sizeof(set), &set) || mlockall(MCL_CURRENT | MCL_FUTURE))
		return 1;
	for (int cpu = 0; cpu < CPU_SETSIZE; cpu++)
		if (CPU_ISSET(cpu, &set) && start(cpu))
			return 1;
	while (read(0, &byte, 1) == 1) {
		printf("%llu\n", (unsigned long long)stalled_ns);
		fflush(stdout);
	}
	return 0;
}
