/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Graphs over time as braille dots: two columns and four rows in a cell. */
#ifndef REPORT_TOP_GRAPH_H
#define REPORT_TOP_GRAPH_H

#include "report/top/canvas.h"
#include "report/top/past.h"

/* Time that graphs show before an interval; beside the whole run they show all of it */
#define GRAPH_NS  120000000000ull
#define GRAPH_MAX 512

/**
 * struct graph_span - the intervals of a graph
 * @first, @last: indexes in the past
 * @end_ns: of the last one
 * @ns: time from the left edge of the graph to @end_ns
 */
struct graph_span {
	size_t first;
	size_t last;
	uint64_t end_ns;
	uint64_t ns;
};

/** graph_span() - the intervals of the last GRAPH_NS up to and with one */
struct graph_span graph_span(const struct past *p, size_t last);

/** graph_whole() - all kept intervals of a run that began at this time; there is at least one */
struct graph_span graph_whole(const struct past *p, uint64_t start_ns);

/**
 * graph_bins() - rates in equal pieces of time
 * @p: the past
 * @s: the intervals
 * @values: of each interval
 * @nr: pieces of the time of @s
 * @ret: mean per nanosecond; below 0 for unknown
 */
void graph_bins(const struct past *p, const struct graph_span *s, const double *values, size_t nr,
		double *ret);

/**
 * graph_draw() - dots up to the height of each number
 * @c: the picture
 * @row, @column: the upper left cell
 * @width, @height: cells
 * @bins: two for each column of cells
 * @max: the value of full height; 0: nothing is drawn
 */
void graph_draw(struct canvas *c, size_t row, size_t column, size_t width, size_t height,
		const double *bins, double max);

/** graph_max() - the largest of them, 0 if there is none */
double graph_max(const double *bins, size_t nr);

#endif
