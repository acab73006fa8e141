/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * GPUs whose driver has NVML, through libnvidia-ml.so.1, which is opened at run time. The driver
 * keeps GPUs awake and refuses resets while somebody has it: it can be let go.
 */
#ifndef GPU_NVML_H
#define GPU_NVML_H

#include "gpu/look.h"
#include "gpu/processes.h"

struct nvml;

/**
 * nvml_open() - take the driver, and add its GPUs to a list
 * @p: processes, must outlive it
 * @l: gets the GPUs
 * @ret: free with nvml_close(); NULL where there is no such library or driver, which is no error
 *
 * Return: 0 or a negative errno; problems have been said.
 */
int nvml_open(const struct processes *p, struct gpu_list *l, struct nvml **ret);
void nvml_close(struct nvml *n);

/** nvml_release() - let the driver go until a time: nothing is known of its GPUs */
void nvml_release(struct nvml *n, uint64_t until_ns);

/** nvml_retake() - take the driver again now, if it was let go */
void nvml_retake(struct nvml *n);

/** nvml_look() - look at all its GPUs; a GPU that cannot be read is not known */
void nvml_look(struct nvml *n);

/** nvml_check() - rows of --check, see check.h */
void nvml_check(const struct nvml *n);

#endif
