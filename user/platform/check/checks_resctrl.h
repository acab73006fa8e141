/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Does the kernel's monitoring (resctrl) agree with the sockets' counters? */
#ifndef PLATFORM_CHECK_CHECKS_RESCTRL_H
#define PLATFORM_CHECK_CHECKS_RESCTRL_H

#include "platform/check/checks.h"
#include "platform/pmu/perf_events.h"

#define RESCTRL_MAX_SOCKETS 64

/**
 * struct resctrl_socket - both numbers of a socket
 * @id: its number
 * @domains: caches of the control groups on it
 * @missing: of these, those without a number: then it is not judged
 * @monitored, @counted: as in struct resctrl_audit
 */
struct resctrl_socket {
	int32_t id;
	uint32_t domains;
	uint32_t missing;
	uint64_t monitored;
	uint64_t counted;
};

/**
 * struct resctrl_audit - both over the same short time
 * @groups: monitoring groups
 * @domains: caches or memories of the control groups
 * @missing: of these, those without a number
 * @monitored: sum of the control groups, which include the rest
 * @why: why the counters have no sum, "" when they have
 * @counted: bytes that the counters of CPUs' traffic, or of all traffic, counted
 * @ns: the time
 * @sockets, @nr_sockets: the same for each socket; none where there is one only, or where it is not
 *	known on which socket a domain is
 */
struct resctrl_audit {
	size_t groups;
	uint32_t domains;
	uint32_t missing;
	uint64_t monitored;
	char why[256];
	uint64_t counted;
	uint64_t ns;
	struct resctrl_socket sockets[RESCTRL_MAX_SOCKETS];
	size_t nr_sockets;
};

/**
 * check_judge_resctrl() - judge an audit; sets all of @ret_row
 *
 * Caches count where a task runs, and memory controllers where its memory is: bytes missing on one
 * socket may be extra on another. The row mentions this; it is no fault.
 */
void check_judge_resctrl(const struct resctrl_audit *a, struct check_row *ret_row);

/**
 * check_resctrl() - read groups and counters twice, half a second apart
 * @ops: the kernel, &perf_kernel outside of tests
 * @fs: sysfs
 * @root: where resctrl is mounted
 * @pmus: the machine's PMUs
 * @ret_row: the answer, unless there is no monitoring
 *
 * Return: 0, -ENOENT when there is no monitoring, -ENOMEM.
 */
int check_resctrl(const struct perf_ops *ops, const struct sysfs *fs, const char *root,
		  const struct pmu_list *pmus, struct check_row *ret_row);

#endif
