// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "engine/stat/stat_bars.h"

#include <math.h>

#include "engine/filter/constants.h"
#include "engine/split/rotation.h"

/* The kernel's two clocks may differ by a moment. */
#define NEARLY_ALL 0.999

size_t stat_turn(struct stat_turns *t, uint64_t enabled_ns, uint64_t running_ns)
{
	t->shared |= (double)running_ns < NEARLY_ALL * (double)enabled_ns;
	return t->nr++ % STAT_SAMPLES;
}

double stat_stop(struct stat_stops *s, bool ended, bool began, uint64_t time_ns)
{
	double ns = ended ? 2 * EDGE_NS : began && !s->gap ? EDGE_NS : 0;

	if (!s->any)
		ns = 0;
	*s = (struct stat_stops){ .any = true, .gap = ended };
	return fmin(ns, (double)time_ns);
}

static double spread(const struct stat_without *w)
{
	double mean = 0, squares = 0, n = (double)w->nr;

	for (size_t i = 0; i < w->nr; i++)
		mean += w->values[i] / n;
	for (size_t i = 0; i < w->nr; i++)
		squares += (w->values[i] - mean) * (w->values[i] - mean);
	return rotation_quantile(w->nr - 1) * sqrt((n - 1) / n * squares);
}

struct stat_bar stat_bar(double value, const struct stat_without *without,
			 const struct stat_turns *turns, double enabled_ns, double running_ns)
{
	double unseen = enabled_ns > running_ns ? 1 - running_ns / enabled_ns : 0;
	double doubt, edges;

	if (!(unseen > 0) || !(running_ns > 0))
		return (struct stat_bar){ value, value };
	/* Samples are a part of all there was: the less is left, the less it can differ. */
	doubt = without->nr > 1 ? spread(without) * sqrt(unseen)
				: SCALE_DOUBT * unseen * fabs(value);
	edges = fabs(value) * fmin((double)turns->nr * EDGE_NS / running_ns, EDGE_MAX);
	if (turns->shared)
		edges += rotation_kernel_edges(fabs(value), enabled_ns, running_ns);
	return (struct stat_bar){ value >= 0 ? fmax(value - doubt, 0) : value - doubt,
				  value + doubt + edges };
}
