// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "platform/pmu/gain.h"

#include "base/clock.h"

/*
 * An event may appear to run this much longer than a quarter beyond its window, because readings do
 * not always come at the same moment.
 */
#define JUMP_NS (NS_PER_S / 200)

static bool jumped(uint64_t ns, uint64_t window_ns)
{
	return ns > window_ns && ns - window_ns > window_ns / 4 + JUMP_NS;
}

int gain_between(const struct reading *last, const struct reading *now, uint64_t window_ns,
		 struct reading *ret)
{
	struct reading gain = { now->value - last->value, now->enabled_ns - last->enabled_ns,
				now->running_ns - last->running_ns };

	if (now->value < last->value || gain.value >> 63 || now->enabled_ns < last->enabled_ns ||
	    now->running_ns < last->running_ns)
		return GAIN_BACK;
	if (jumped(gain.enabled_ns, window_ns) || jumped(gain.running_ns, window_ns)) {
		gain.enabled_ns = window_ns;
		if (gain.running_ns > window_ns)
			gain.running_ns = window_ns;
	}
	*ret = gain;
	return 0;
}
