// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "report/top/graph.h"

#include <math.h>

#define BRAILLE 0x2800
#define DOTS	4

struct graph_span graph_span(const struct past *p, size_t last)
{
	struct graph_span s = { last, last, past_when(p, last).end_ns, GRAPH_NS };

	while (s.first && past_when(p, s.first - 1).end_ns + GRAPH_NS > s.end_ns)
		s.first--;
	return s;
}

struct graph_span graph_whole(const struct past *p, uint64_t start_ns)
{
	size_t last = past_count(p) - 1;
	uint64_t end_ns = past_when(p, last).end_ns;

	return (struct graph_span){ 0, last, end_ns, end_ns > start_ns ? end_ns - start_ns : 1 };
}

void graph_bins(const struct past *p, const struct graph_span *s, const double *values, size_t nr,
		double *ret)
{
	double piece = (double)s->ns / (double)nr;
	double covered[GRAPH_MAX] = { 0 };

	for (size_t i = 0; i < nr; i++)
		ret[i] = 0;
	for (size_t i = s->first; i <= s->last; i++) {
		struct past_when w = past_when(p, i);
		/* Relative to the graph's start: older intervals are negative. */
		double start = (double)s->ns - (double)(s->end_ns - w.start_ns);
		double end = (double)s->ns - (double)(s->end_ns - w.end_ns);
		double rate = end > start ? values[i - s->first] / (end - start) : 0;

		if (start < 0)
			start = 0;
		for (size_t k = (size_t)(start / piece); k < nr && (double)k * piece < end; k++) {
			double from = fmax(start, (double)k * piece);
			double to = fmin(end, (double)(k + 1) * piece);

			if (to <= from)
				continue;
			ret[k] += rate * (to - from);
			covered[k] += to - from;
		}
	}
	for (size_t i = 0; i < nr; i++)
		ret[i] = covered[i] > 0 ? ret[i] / covered[i] : -1;
}

double graph_max(const double *bins, size_t nr)
{
	double max = 0;

	for (size_t i = 0; i < nr; i++)
		max = fmax(max, bins[i]);
	return max;
}

/* Dots of one column of a cell, from below; nonzero values have at least one. */
static uint32_t dots(double value, double max, size_t above, size_t height, bool right)
{
	static const uint8_t bits[2][DOTS] = { { 0x40, 0x04, 0x02, 0x01 },
					       { 0x80, 0x20, 0x10, 0x08 } };
	double wanted = value > 0 ? ceil(value / max * (double)(height * DOTS) - 0.5) : 0;
	uint32_t set = 0;

	if (value > 0 && wanted < 1)
		wanted = 1;
	for (size_t i = 0; i < DOTS; i++)
		if ((double)(above * DOTS + i) < wanted)
			set |= bits[right][i];
	return set;
}

void graph_draw(struct canvas *c, size_t row, size_t column, size_t width, size_t height,
		const double *bins, double max)
{
	if (!(max > 0))
		return;
	for (size_t y = 0; y < height; y++)
		for (size_t x = 0; x < width; x++) {
			size_t above = height - 1 - y;
			uint32_t set = dots(bins[2 * x], max, above, height, false) |
				       dots(bins[2 * x + 1], max, above, height, true);

			if (set)
				canvas_fill(c, row + y, column + x, 1, LOOK_GRAPH, BRAILLE | set);
		}
}
