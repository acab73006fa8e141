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
 * @window_ns: the longest possible time between them, UINT64_MAX = not known
 * @ret: the gain; invalid without running time
 *
 * Times well beyond the window mean that another CPU took the event over, whose event clock
 * differs. The kernel moves the count along; only the times are useless and are cut to the window.
 *
 * Return: 0, or GAIN_BACK: a total went back, or gained more than is possible.
 */
int gain_between(const struct reading *last, const struct reading *now, uint64_t window_ns,
		 struct reading *ret);

#endif
