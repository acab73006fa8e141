/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The means that this program has and lacks, as rows of t410trace check. */
#ifndef GPU_CHECK_H
#define GPU_CHECK_H

#include "gpu/fdinfo.h"
#include "gpu/nvml.h"

/**
 * check_all() - print all rows: "NAME<TAB>ok|limited<TAB>FOUND<TAB>REMEDY"
 * @p: processes
 * @sysfs: "/sys", or a copy for tests
 * @n: NULL: there are no GPUs of NVML
 * @f: NULL: no others
 */
void check_all(const struct processes *p, const char *sysfs, const struct nvml *n,
	       const struct fdinfo *f);

#endif
