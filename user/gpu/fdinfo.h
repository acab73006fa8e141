/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * GPUs whose driver tells in /proc/PID/fdinfo what its clients do (Documentation/gpu in Linux,
 * drm-usage-stats): amdgpu, i915, xe. Nothing is opened, so no GPU is kept awake.
 */
#ifndef GPU_FDINFO_H
#define GPU_FDINFO_H

#include "gpu/look.h"
#include "gpu/processes.h"

struct fdinfo;

/**
 * fdinfo_open() - add these GPUs to a list
 * @p: processes, must outlive it
 * @sysfs: "/sys", or a copy for tests
 * @l: gets the GPUs
 * @ret: free with fdinfo_close(); NULL where there are none
 *
 * Return: 0 or -ENOMEM.
 */
int fdinfo_open(const struct processes *p, const char *sysfs, struct gpu_list *l,
		struct fdinfo **ret);
void fdinfo_close(struct fdinfo *f);

/**
 * fdinfo_look() - look through the open files of all processes, if it is time for that
 * @f: the GPUs
 * @now: it is time. Otherwise looks are up to 4 s apart where there are many open files, so that
 *	they take 0.5 % of a CPU
 *
 * Return: 0 or -ENOMEM; with any other error nothing is known, which has been said.
 */
int fdinfo_look(struct fdinfo *f, bool now);

#endif
