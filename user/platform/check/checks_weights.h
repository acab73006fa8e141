/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Which events weigh a task's CPU time? */
#ifndef PLATFORM_CHECK_CHECKS_WEIGHTS_H
#define PLATFORM_CHECK_CHECKS_WEIGHTS_H

#include "platform/check/checks.h"
#include "platform/pmu/perf_events.h"
#include "platform/sys/sysfs.h"

/**
 * check_weights() - the core events that a run would use
 * @ops: the kernel, &perf_kernel outside of tests
 * @fs: sysfs
 * @ret_row: the answer
 *
 * Opens the events of "--weights auto" on every CPU, moves some memory, and closes them again: an
 * event that stands still is useless.
 *
 * Return: 0 or -ENOMEM.
 */
int check_weights(const struct perf_ops *ops, const struct sysfs *fs, struct check_row *ret_row);

#endif
