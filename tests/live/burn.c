// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * A known busy loop: burn [-c CPU] [-t THREADS] [-m MS] [-f] [-w]
 *
 * Each thread uses MS of CPU time, pinned to CPU when one is given; -f asks for
 * real-time scheduling so that nobody takes the CPU away; -w waits for a line on
 * the standard input first. Says "thread TID NS" of each and "process PID burn NS".
 */
#include <pthread.h>
#include <sched.h>
#include <unistd.h>

#include "burn.h"

#define MAX_THREADS 64

static uint64_t each_ns = 100 * NS_PER_MS;

static void *thread_main(void *arg)
{
	(void)arg;
	burn_ns(each_ns);
	printf("thread %d %" PRIu64 "\n", gettid(), clock_now_ns(CLOCK_THREAD_CPUTIME_ID));
	return NULL;
}

static int pin(int cpu)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(cpu, &set);
	return sched_setaffinity(0, sizeof(set), &set);
}

static int real_time(void)
{
	struct sched_param p = { .sched_priority = 1 };

	return sched_setscheduler(0, SCHED_FIFO, &p);
}

int main(int argc, char **argv)
{
	pthread_t threads[MAX_THREADS];
	long nr = 1, i;
	char line[16];
	int option;

	while ((option = getopt(argc, argv, "c:t:m:fw")) != -1) {
		if (option == 'c' && pin(number(optarg))) {
			perror("burn: cannot be pinned");
			return 3;
		} else if (option == 'f' && real_time()) {
			perror("burn: no real-time scheduling");
			return 3;
		} else if (option == 'm') {
			each_ns = number(optarg) * NS_PER_MS;
		} else if (option == 't') {
			nr = number(optarg);
		} else if (option == 'w' && !fgets(line, sizeof(line), stdin)) {
			return 3;
		} else if (option == '?') {
			return 2;
		}
	}
	if (nr < 1 || nr > MAX_THREADS)
		return 2;
	for (i = 1; i < nr; i++)
		if (pthread_create(&threads[i], NULL, thread_main, NULL))
			return 3;
	thread_main(NULL);
	for (i = 1; i < nr; i++)
		pthread_join(threads[i], NULL);
	say_process(getpid(), "burn");
	return 0;
}
