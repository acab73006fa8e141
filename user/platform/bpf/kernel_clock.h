/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Is CLOCK_MONOTONIC of this process the clock that BPF programs read? In a time namespace (unshare
 * -T, CRIU, timeOffsets of an OCI container) it is not, and all windows would be without slices.
 */
#ifndef PLATFORM_BPF_KERNEL_CLOCK_H
#define PLATFORM_BPF_KERNEL_CLOCK_H

#include <stdint.h>

#include "base/diag.h"

/**
 * struct clock_reading - one reading of the kernel's clock between two of this process
 * @before_ns, @after_ns: CLOCK_MONOTONIC of this process
 * @kernel_ns: bpf_ktime_get_ns()
 */
struct clock_reading {
	uint64_t before_ns;
	uint64_t kernel_ns;
	uint64_t after_ns;
};

/** kernel_clock_read() - run a tiny BPF program once; 0 or a negative errno */
int kernel_clock_read(struct clock_reading *ret);

/** kernel_clock_lead() - this process's clock minus the kernel's; 0: it is the same */
int64_t kernel_clock_lead(const struct clock_reading *c);

/** kernel_clock_problem() - say that it is ahead by @lead_ns; -ETIME, see exit_of() */
int kernel_clock_problem(int64_t lead_ns, struct diag *d);

/** kernel_clock_check() - 0, also where the clock cannot be read; -ETIME when the two differ */
int kernel_clock_check(struct diag *d);

#endif
