// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "live/lookup/process.h"

#include <errno.h>
#include <inttypes.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "platform/sys/pid_namespace.h"

/* The process that a thread belongs to, 0 when no thread has this number */
static uint32_t process_of(pid_t tid)
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

/* Without process descriptors a zombie counts as alive. */
bool process_lives(pid_t pid)
{
	cleanup_close int fd = (int)syscall(SYS_pidfd_open, pid, 0);
	struct pollfd ended = { .fd = fd, .events = POLLIN };

	if (fd >= 0)
		return !poll(&ended, 1, 0);
	if (errno == ESRCH || errno == EINVAL || errno == ENOENT)
		return false;
	return !kill(pid, 0) || errno != ESRCH;
}

int process_missing(pid_t pid, struct diag *d)
{
	/* elsewhere /proc is about other processes */
	uint32_t tgid = pid_namespace_has_proc("/proc") ? process_of(pid) : 0;

	if (process_lives(pid)) {
		diag_fail(d, -ESRCH,
			  "-p %d: this process lives, but the kernel's list of tasks does not have "
			  "it",
			  pid);
		diag_help(d, "so its number on the machine is not known: run in the host's pid "
			     "namespace (docker, podman: --pid=host)");
		return -ESRCH;
	}
	diag_fail(d, -ESRCH, "-p %d: there is no such process", pid);
	if (tgid && tgid != (uint32_t)pid)
		diag_help(d, "%d is a thread of process %u: follow that", pid, tgid);
	else
		diag_help(d, "it may have ended; \"t410trace -a\" shows what is running");
	return -ESRCH;
}
