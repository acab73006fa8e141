/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The machine in words, and the needs of the daemon beside those of a run. */
#ifndef PLATFORM_CHECK_CHECKS_MACHINE_H
#define PLATFORM_CHECK_CHECKS_MACHINE_H

#include "platform/check/checks.h"

/**
 * check_sockets() - the machine in words: CPU, sockets, CPUs, NUMA nodes
 * @fs: sysfs
 * @pmus: its PMUs, which may know the sockets of CPUs
 * @ret_row: "machine", CHECK_OK
 *
 * Return: 0 or -ENOMEM.
 */
int check_sockets(const struct sysfs *fs, const struct pmu_list *pmus, struct check_row *ret_row);

/** check_open_event() - open an event on a CPU and close it again; 0 or a negative errno */
int check_open_event(void);

/* The daemon's counters were not tried. */
#define CHECK_NOT_TRIED 1

/**
 * check_judge_serve() - can the daemon count, without CAP_SYS_ADMIN?
 * @text: content of /proc/sys/kernel/perf_event_paranoid, NULL when unreadable
 * @err: of opening an event with its capabilities, or CHECK_NOT_TRIED: then only @text tells
 * @ret_row: "serve", never CHECK_MISSING: a run may work
 */
void check_judge_serve(const char *text, int err, struct check_row *ret_row);

/** check_serve() - the same, with an event opened on a CPU as the daemon does; 0 or -ENOMEM */
int check_serve(const char *paranoid, struct check_row *ret_row);

#endif
