// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "platform/sys/privileges.h"

#include <fcntl.h>
#include <string.h>
#include <sys/capability.h>
#include <sys/prctl.h>

#include "base/array.h"
#include "base/text.h"

/* libcap of older systems knows only numbers of these. */
#ifndef CAP_PERFMON
#define CAP_PERFMON 38
#define CAP_BPF	    39
#endif

#define PARANOID "/proc/sys/kernel/perf_event_paranoid"

/*
 * Capabilities and their use: CAP_BPF and CAP_PERFMON are required, without one of the rest a
 * feature is missing. @running: needed while it runs; otherwise only to start.
 */
static const struct {
	int capability;
	bool running;
	const char *why;
} rows[] = {
	{ CAP_BPF, true, "BPF programs and maps; flushing the books of each CPU at run time" },
	{ CAP_PERFMON, true,
	  "counters of the whole machine, also again after a CPU went offline; programs that read "
	  "the kernel's structures" },
	{ CAP_SYS_PTRACE, true,
	  "names and numbers of jobs that only the environment of their tasks tells; who has a "
	  "device open" },
	{ CAP_DAC_READ_SEARCH, true,
	  "the same: /proc/PID of other users is closed to readers without it" },
	{ CAP_SYS_ADMIN, false,
	  "where root ports are: their configuration space beyond its first 64 bytes. Where "
	  "kernel.perf_event_paranoid is 3 (Debian) also for counters, and kept for these" },
	{ CAP_NET_ADMIN, false, "whose packets a device received" },
	{ CAP_SYS_RESOURCE, false,
	  "locked memory for BPF on kernels before 5.11; more descriptors for devices" },
	{ CAP_SETPCAP, false, "to empty the bounding set" },
};

/* Debian's kernels have a paranoid level at which CAP_PERFMON does not open counters. */
static bool admin_counts(void)
{
	char line[16];
	uint64_t level;

	return !read_line_at(AT_FDCWD, PARANOID, line, sizeof(line)) && !parse_u64(line, &level) &&
	       level >= 3;
}

static bool wanted(int capability, bool running)
{
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
		if (rows[i].capability == capability)
			return rows[i].running || !running ||
			       (capability == CAP_SYS_ADMIN && admin_counts());
	return false;
}

/* Wanted capabilities that we have become permitted and effective; nothing is inheritable. */
static int set_own(cap_t now, bool running)
{
	cap_t next = cap_init();
	cap_flag_value_t have;
	int err = next ? 0 : -ENOMEM;

	for (size_t i = 0; !err && i < ARRAY_SIZE(rows); i++) {
		cap_value_t c = rows[i].capability;

		/* An error: the kernel or the library does not know it. */
		if (cap_get_flag(now, c, CAP_PERMITTED, &have) || have != CAP_SET ||
		    !wanted(c, running))
			continue;
		if (cap_set_flag(next, CAP_PERMITTED, 1, &c, CAP_SET) ||
		    cap_set_flag(next, CAP_EFFECTIVE, 1, &c, CAP_SET))
			err = -errno;
	}
	if (!err && cap_set_proc(next))
		err = -errno;
	cap_free(next);
	return err;
}

int privileges_keep(bool running, struct diag *d)
{
	cap_t now = cap_get_proc();
	int err = now ? 0 : -errno;

	if (!err && prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0))
		err = -errno;
	/* Needs CAP_SETPCAP; without privileges the bounding set offers nothing anyway. */
	for (cap_value_t c = 0; !err && cap_get_bound(c) >= 0; c++)
		if (!wanted(c, running))
			cap_drop_bound(c);
	if (!err) {
		prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0);
		err = set_own(now, running);
	}
	cap_free(now);
	return err ? diag_fail(d, err, "cannot give up privileges: %s", strerror(-err)) : 0;
}

void privileges_text(char *ret_text, size_t size)
{
	cap_t now = cap_get_proc();
	cap_flag_value_t have;
	char *name;

	ret_text[0] = '\0';
	for (size_t i = 0; now && i < ARRAY_SIZE(rows); i++) {
		if (cap_get_flag(now, rows[i].capability, CAP_EFFECTIVE, &have) || have != CAP_SET)
			continue;
		name = cap_to_name(rows[i].capability);
		str_append(ret_text, size, "%s%s", ret_text[0] ? "," : "", name ? name : "?");
		cap_free(name);
	}
	if (!ret_text[0])
		str_copy(ret_text, size, "none");
	cap_free(now);
}
