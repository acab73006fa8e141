// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * A known number of page faults: touch PAGES MS
 *
 * Touches fresh pages, a little at a time with naps between, so that they are spread over
 * many runs of about MS in all. Says "process PID touch PAGES" with what the kernel says it
 * has had, from its first line to its last.
 */
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#define STEPS 100

int main(int argc, char **argv)
{
	long page = sysconf(_SC_PAGESIZE), pages, step;
	struct timespec nap = { 0 };
	struct rusage usage;
	volatile char *p;

	if (argc != 3)
		return 2;
	pages = atol(argv[1]);
	step = (pages + STEPS - 1) / STEPS;
	nap.tv_nsec = atol(argv[2]) * 1000000 / STEPS;
	p = mmap(NULL, pages * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (p == MAP_FAILED || madvise((void *)p, pages * page, MADV_NOHUGEPAGE))
		return 1;
	for (long i = 0; i < pages; i++) {
		p[i * page] = 1;
		if (i % step == step - 1)
			nanosleep(&nap, NULL);
	}
	getrusage(RUSAGE_SELF, &usage);
	printf("process %d touch %ld\n", getpid(), usage.ru_minflt + usage.ru_majflt);
	return 0;
}
