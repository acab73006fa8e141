/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What there is for counting PCIe devices, as a row of probe_run(). */
#ifndef PLATFORM_PROBE_DEVICES_H
#define PLATFORM_PROBE_DEVICES_H

#include "platform/check/probe.h"

/**
 * probe_devices() - are there PMUs of root complexes, and is it known where root ports are?
 * @fs: sysfs
 * @ret_row: "pci"; never PROBE_MISSING: who makes devices move data can be noted anywhere
 *
 * Return: 0 or -ENOMEM.
 */
int probe_devices(const struct sysfs *fs, struct probe_row *ret_row);

#endif
