/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What says how much a task moved, beside how long it had a CPU? */
#ifndef PLATFORM_CHECK_CHECKS_WEIGHTS_H
#define PLATFORM_CHECK_CHECKS_WEIGHTS_H

#include "platform/check/checks.h"
#include "platform/pmu/perf_events.h"
#include "platform/sys/sysfs.h"

/**
 * check_weights() - which events of the cores a run would take
 * @ops: the kernel, &perf_kernel outside of tests
 * @fs: sysfs
 * @ret_row: the answer
 *
 * Opens what "--weights auto" would, on every CPU, moves some memory, and closes it again: an
 * event that stands still is of no use.
 *
 * Return: 0 or -ENOMEM.
 */
int check_weights(const struct perf_ops *ops, const struct sysfs *fs, struct check_row *ret_row);

#endif
