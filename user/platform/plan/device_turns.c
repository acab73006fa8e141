// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "platform/plan/device_turns.h"

#include <math.h>

/* Newer turns count more: about this many matter. */
#define MEMORY	       8.0
/* After this many turns without traffic a device is idle. */
#define SILENT_TURNS   4
/* A smaller part of a root complex' bytes does not matter. */
#define SILENT_PART    0.001
/* Bytes a second that never matter: doorbells, interrupts. */
#define SILENT_RATE    10000.0
/* Below this part of all traffic, a standard deviation counts as that of a constant rate. */
#define CONSTANT_PART  0.1
/* Differences below this part of its own rate are measurement noise. */
#define STEADY_PART    0.02
/* A sum fits a port if it differs by no more than either of these. */
#define FIT_DEVIATIONS 3.0
#define FIT_PART       0.03

void device_turn_add(struct device_turn *t, uint64_t bytes, uint64_t running_ns)
{
	double rate = bytes * 1e9 / running_ns, step = rate - t->rate;
	double part = t->seen < MEMORY ? 1.0 / (t->seen + 1) : 1 / MEMORY;

	if (t->seen)
		t->spread += (step * step / 2 - t->spread) * part;
	t->mean += (rate - t->mean) * part;
	t->rate = rate;
	t->seen++;
	t->silent = rate < SILENT_RATE ? t->silent + 1 : 0;
}

/* Variance of a mean over the turns that matter, none of which may be the same. */
static double mean_variance(const struct device_turn *t)
{
	return t->seen ? t->spread / fmin(t->seen, MEMORY) : 0;
}

double device_turns_port(const struct device_turn *t, size_t nr, size_t port)
{
	double sum = 0, variance = mean_variance(&t[port]), max;

	for (size_t i = 0; i < nr; i++) {
		if (t[i].apart || t[i].port != t[port].port)
			continue;
		sum += t[i].mean;
		variance += mean_variance(&t[i]);
	}
	max = FIT_DEVIATIONS * sqrt(variance) + FIT_PART * t[port].mean;
	return t[port].seen >= DEVICE_PORT_TURNS && fabs(sum - t[port].mean) <= max
		       ? DEVICE_PORT_LATER
		       : DEVICE_PORT_PART;
}

/* A device's change of rate from turn to turn. */
static double spread(const struct device_turn *t)
{
	double deviation = sqrt(t->spread);

	return deviation < STEADY_PART * t->mean ? 0 : deviation;
}

void device_turns_weigh(const struct device_turn *t, size_t nr, double *ret)
{
	double all = 0, max = 0;

	for (size_t i = 0; i < nr; i++) {
		if (t[i].apart)
			continue;
		all += t[i].mean;
		max = fmax(max, spread(&t[i]));
	}
	max = fmax(max, CONSTANT_PART * all);
	for (size_t i = 0; i < nr; i++) {
		bool small = t[i].rate < SILENT_PART * all && t[i].mean < SILENT_PART * all;
		bool idle = t[i].silent >= SILENT_TURNS || (small && t[i].seen >= SILENT_TURNS);

		ret[i] = !t[i].apart;
		if (t[i].apart)
			continue;
		if (idle)
			ret[i] = DEVICE_IDLE_WEIGHT;
		else if (max > 0)
			ret[i] += (DEVICE_MAX_WEIGHT - 1) * spread(&t[i]) / max;
	}
}
