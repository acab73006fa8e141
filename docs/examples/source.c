// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* What all disks move, as a source of counters: cc -o source source.c; t410trace --source ./source */
#include <stdio.h>
#include <string.h>
#include <time.h>

/* A value of /proc/vmstat, in bytes; -1 when it cannot be read. */
static long long vmstat(const char *name)
{
	char word[64];
	long long kib, found = -1;
	FILE *f = fopen("/proc/vmstat", "r");

	while (f && fscanf(f, "%63s %lld", word, &kib) == 2)
		if (!strcmp(word, name))
			found = kib * 1024;
	return f && !fclose(f) ? found : -1;
}

int main(void)
{
	struct timespec now, pause = { .tv_nsec = 50000000 };

	puts("{\"schema\":\"t410trace.source/1\",\"name\":\"disks\",\"every_ms\":50,\"counters\":["
	     "{\"name\":\"in\",\"direction\":\"write\",\"socket\":0},"
	     "{\"name\":\"out\",\"direction\":\"read\",\"socket\":0}]}");
	for (; !fflush(stdout) && !nanosleep(&pause, NULL);) {
		long long in = vmstat("pgpgin"), out = vmstat("pgpgout");

		if (in < 0 || out < 0 || clock_gettime(CLOCK_MONOTONIC, &now))
			return 1;
		printf("{\"time_ns\":%lld,\"values\":[%lld,%lld]}\n",
		       now.tv_sec * 1000000000ll + now.tv_nsec, in, out);
	}
	return 0;
}
