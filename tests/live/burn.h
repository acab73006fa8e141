/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What the programs of the live tests share: to use up CPU time, and to say how
 * much they used by the kernel's own books, which the tracer's are compared with.
 */
#ifndef LIVE_BURN_H
#define LIVE_BURN_H

#include <inttypes.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>

#define NS_PER_MS 1000000ull

static inline uint64_t clock_now_ns(clockid_t clock)
{
	struct timespec t;

	clock_gettime(clock, &t);
	return t.tv_sec * 1000000000ull + t.tv_nsec;
}

/* Runs until this thread has been on a CPU for that much longer. */
static inline void burn_ns(uint64_t ns)
{
	uint64_t end = clock_now_ns(CLOCK_THREAD_CPUTIME_ID) + ns;

	while (clock_now_ns(CLOCK_THREAD_CPUTIME_ID) < end)
		for (volatile int i = 0; i < 1000; i++)
			;
}

/* Last of all, so that hardly anything comes after it: "process PID NAME NS". */
static inline void say_process(int pid, const char *name)
{
	printf("process %d %s %" PRIu64 "\n", pid, name, clock_now_ns(CLOCK_PROCESS_CPUTIME_ID));
	fflush(stdout);
}

/* Who has ended still has its CPU for a moment, and its clock goes by ticks until it leaves. */
static inline void wait_off_cpu(int pid)
{
	char path[32], text[8];
	FILE *file;

	snprintf(path, sizeof(path), "/proc/%d/syscall", pid);
	do {
		memset(text, 0, sizeof(text));
		file = fopen(path, "r");
		if (file) {
			if (!fread(text, 1, sizeof(text) - 1, file))
				text[0] = 0;
			fclose(file);
		}
	} while (!strcmp(text, "running"));
}

/*
 * Waits for any child and says "ended PID NS": what it took until it was gone. The end of a process is
 * not in what it said itself, and an emulated CPU takes tens of milliseconds for it.
 */
static inline pid_t wait_for_child(void)
{
	clockid_t clock;
	siginfo_t info;

	if (waitid(P_ALL, 0, &info, WEXITED | WNOWAIT))
		return -1;
	wait_off_cpu(info.si_pid);
	if (!clock_getcpuclockid(info.si_pid, &clock))
		printf("ended %d %" PRIu64 "\n", info.si_pid, clock_now_ns(clock));
	return waitpid(info.si_pid, NULL, 0);
}

/* The argument as a number, or the end of the program. */
static inline long number(const char *text)
{
	char *end;
	long value = strtol(text, &end, 10);

	if (end == text || *end || value < 0) {
		fprintf(stderr, "%s: not a number\n", text);
		exit(2);
	}
	return value;
}

#endif
