// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "gpu/processes.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/text.h"

/* The initial pid namespace: elsewhere some drivers tell numbers of the machine, others do not. */
#define INIT_PID_NS "pid:[4026531836]"
/* Readings of the same difference of clocks differ by less. */
#define SLEPT_NS    10000000u

int processes_open(struct processes *p, const char *proc)
{
	*p = (struct processes){ .proc = open(proc, O_RDONLY | O_DIRECTORY | O_CLOEXEC) };
	return p->proc < 0 ? -errno : 0;
}

void processes_look(struct processes *p)
{
	uint64_t slept = clock_ahead_ns(CLOCK_BOOTTIME);

	if (slept > p->slept_ns + SLEPT_NS)
		p->slept_ns = slept;
}

bool processes_initial(const struct processes *p)
{
	char link[64];
	ssize_t n = readlinkat(p->proc, "self/ns/pid", link, sizeof(link) - 1);

	link[n > 0 ? n : 0] = '\0';
	return !strcmp(link, INIT_PID_NS);
}

/* The first one is always there. */
bool processes_hidden(const struct processes *p)
{
	return faccessat(p->proc, "1", F_OK, 0) != 0;
}

int processes_start(const struct processes *p, uint32_t pid, uint64_t before_ns, uint64_t *ret_ns)
{
	uint64_t ticks, tick_ns = NS_PER_S / sysconf(_SC_CLK_TCK);
	char path[32], line[1024];
	const char *at;
	int err;

	snprintf(path, sizeof(path), "%" PRIu32 "/stat", pid);
	err = read_line_at(p->proc, path, line, sizeof(line));
	if (err)
		return err == -ENOENT ? -ESRCH : err;
	/* the name may have blanks and parentheses; field 22 is the 20th behind it */
	at = strrchr(line, ')');
	for (int i = 0; at && i < 20; i++)
		at = strchr(at + 1, ' ');
	if (!at || sscanf(at, " %" SCNu64, &ticks) != 1)
		return -EBADMSG;
	*ret_ns = ticks * tick_ns > p->slept_ns ? ticks * tick_ns - p->slept_ns : 0;
	return *ret_ns > before_ns + tick_ns ? -EEXIST : 0;
}
