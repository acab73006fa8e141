/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Can PCIe devices be counted? A row of check_machine(). */
#ifndef PLATFORM_CHECK_CHECKS_DEVICES_H
#define PLATFORM_CHECK_CHECKS_DEVICES_H

#include "platform/check/checks.h"

/**
 * check_devices() - are there PMUs of root complexes, with known places of root ports, or PMUs of
 * single root ports?
 * @fs: sysfs
 * @ret_row: "pci"; never CHECK_MISSING: the tasks that make devices move data can be noted anywhere
 * @ret_gpus: "gpus": those that PCI shows, CHECK_OK; without one it has no name
 *
 * Return: 0 or -ENOMEM.
 */
int check_devices(const struct sysfs *fs, struct check_row *ret_row, struct check_row *ret_gpus);

#endif
