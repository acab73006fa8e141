/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Watches what devices move in their turns, and has the meter weigh these. */
#ifndef PLATFORM_METER_DEVICE_SHARES_H
#define PLATFORM_METER_DEVICE_SHARES_H

#include "platform/plan/device_plan.h"
#include "platform/meter/meter.h"

struct device_shares;

/**
 * device_shares_new() - ports as a whole get device_turns_port(), all others equal parts at first
 * @plan: must outlive it
 * @m: has opened the plan's wants, weighed; must outlive it
 *
 * Return: 0 or -ENOMEM.
 */
int device_shares_new(const struct device_plan *plan, struct meter *m, struct device_shares **ret);
void device_shares_free(struct device_shares *s);

/** device_shares_segment() - look at a segment; may be called from the meter's sink */
void device_shares_segment(struct device_shares *s, const struct stat_segment *segment);

#endif
