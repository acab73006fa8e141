// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "base/open_files.h"

#include <fcntl.h>
#include <sys/resource.h>
#include <unistd.h>

/* Files that somebody else in this process may want to open. */
#define SPARE_FILES 256

/* Before any was raised; 0 when none was */
static rlim_t first;

uint64_t open_files_allow(size_t nr)
{
	struct rlimit limit;
	rlim_t was, need;
	int next;

	if (getrlimit(RLIMIT_NOFILE, &limit) || limit.rlim_cur == RLIM_INFINITY)
		return 0;
	was = limit.rlim_cur;
	/* Descriptors are given out from the lowest one on: the next one tells how many there are. */
	next = open("/", O_PATH | O_CLOEXEC);
	if (next >= 0)
		close(next);
	need = (next >= 0 ? (rlim_t)next : was) + nr + SPARE_FILES;
	limit.rlim_cur = need < limit.rlim_max ? need : limit.rlim_max;
	if (limit.rlim_cur <= was || setrlimit(RLIMIT_NOFILE, &limit))
		return 0;
	first = first ? first : was;
	return was;
}

void open_files_restore(uint64_t soft)
{
	struct rlimit limit;

	if (!soft || getrlimit(RLIMIT_NOFILE, &limit))
		return;
	limit.rlim_cur = soft;
	setrlimit(RLIMIT_NOFILE, &limit);
}

void open_files_in_child(void)
{
	open_files_restore(first);
}
