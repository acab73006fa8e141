/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* GPUs of a report, with their links, and users of devices as text for people. */
#ifndef REPORT_GPUS_H
#define REPORT_GPUS_H

#include <stdbool.h>
#include <stddef.h>

#include "model.h"

#define GPUS_TEXT_LEN 640

/** gpus_any() - is there a GPU among the devices? */
bool gpus_any(const struct report *r);

/** gpus_link() - the link of a device to the CPUs; NULL for none */
const struct report_device *gpus_link(const struct report *r, const struct report_device *d);

/**
 * gpus_users() - the users of a device: those of a link are its function's
 *
 * Return: of @d, or of its function where that is among the devices.
 */
const struct device_users *gpus_users(const struct report *r, const struct report_device *d);

/**
 * gpus_user() - a user of a device
 * @u: the user
 * @ret: "slurm job 12 step 0", "python (system.slice/a.service) on instance 1", "process 4711"; safe
 *	to print. Ids of containers are cut to the twelve digits that their users know
 */
void gpus_user(const struct device_user *u, char ret[GPUS_TEXT_LEN]);

/**
 * gpus_owner() - the owner of a device's bytes, or why there is none
 * @r: the report
 * @d: the device
 * @ret: "slurm job 12", "shared: A, B and 3 more", "nobody", "not known"; safe to print
 */
void gpus_owner(const struct report *r, const struct report_device *d, char ret[GPUS_TEXT_LEN]);

/** gpus_busy() - part of the known time that a device worked, and its bounds; false: not known */
bool gpus_busy(const struct device_users *u, double *ret, double *ret_low, double *ret_high);

/** gpus_idle() - does somebody hold it, and it did nothing in all of the time that is known? */
bool gpus_idle(const struct device_users *u);

#endif
