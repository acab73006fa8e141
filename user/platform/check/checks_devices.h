/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What there is for counting PCIe devices, as a row of check_machine(). */
#ifndef PLATFORM_CHECK_CHECKS_DEVICES_H
#define PLATFORM_CHECK_CHECKS_DEVICES_H

#include "platform/check/checks.h"

/**
 * check_devices() - are there PMUs of root complexes, and is it known where root ports are? Or have
 *	root ports PMUs of their own?
 * @fs: sysfs
 * @ret_row: "pci"; never CHECK_MISSING: who makes devices move data can be noted anywhere
 *
 * Return: 0 or -ENOMEM.
 */
int check_devices(const struct sysfs *fs, struct check_row *ret_row);

#endif
