// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "live/process.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>

#include "base/cleanup.h"

uint32_t process_of(pid_t tid)
{
	char path[32], line[128];
	cleanup_fclose FILE *f = NULL;
	uint32_t tgid = 0;

	snprintf(path, sizeof(path), "/proc/%d/status", tid);
	f = fopen(path, "re");
	while (f && !tgid && fgets(line, sizeof(line), f))
		if (sscanf(line, "Tgid: %" SCNu32, &tgid) == 1)
			break;
	return tgid;
}

int process_missing(pid_t pid, struct diag *d)
{
	uint32_t tgid = process_of(pid);

	diag_fail(d, -ESRCH, "-p %d: there is no such process", pid);
	if (tgid && tgid != (uint32_t)pid)
		diag_help(d, "%d is a thread of process %u: follow that", pid, tgid);
	else
		diag_help(d, "it may have ended; \"t410trace -a\" shows what is running");
	return -ESRCH;
}
