/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The gain between two readings of an event, judged in this one place. */
#ifndef PLATFORM_PMU_GAIN_H
#define PLATFORM_PMU_GAIN_H

#include <errno.h>

#include "trace.h"

/* The error of a reading that went back. */
#define GAIN_BACK (-ERANGE)

/**
 * gain_between() - what an event gained from one reading to the next
 * @last, @now: running totals
 * @window_ns: the most time that can be between them, UINT64_MAX = not known
 * @ret: the gain; without running time it is no number
 *
 * Times that are longer than the window, and a little more, are those of another CPU that took
 * the event over, and its clock of events is another one. The kernel moves what was counted; only
 * the times are of no use, and are cut to the window.
 *
 * Return: 0, or GAIN_BACK: a total is less than it was, or gained more than there can be.
 */
int gain_between(const struct reading *last, const struct reading *now, uint64_t window_ns,
		 struct reading *ret);

#endif
