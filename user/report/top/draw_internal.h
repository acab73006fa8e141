/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Shared by the files that draw. */
#ifndef REPORT_TOP_DRAW_INTERNAL_H
#define REPORT_TOP_DRAW_INTERNAL_H

#include <stdio.h>

#include "report/format.h"
#include "report/top/draw.h"
#include "report/top/graph.h"

/* The canvas lines of a page: from @top on, @nr of them */
struct draw_area {
	size_t top;
	size_t nr;
};

/** draw_sockets() - a bar for each socket, and a legend; returns the number of lines */
size_t draw_sockets(const struct view *v, struct canvas *c, size_t top, size_t most);

/** draw_rows() - the table of rows; 0 or -ENOMEM */
int draw_rows(struct view *v, struct canvas *c, struct draw_area area);

/* Columns of the table of rows */
enum draw_column {
	DRAW_READ,
	DRAW_WRITE,
	DRAW_BOTH,
	DRAW_BYTES,
	DRAW_SHARE,
	DRAW_RANGE,
	DRAW_PEAK,
	DRAW_SOCKETS,
	DRAW_DEVICE_READ,
	DRAW_DEVICE_WRITE,
	DRAW_CPU,
	NR_DRAW_COLUMNS,
};

/**
 * struct draw_columns - the columns and their places
 * @has, @at, @width: of columns of numbers
 * @counted: there are counters of tasks
 * @known: a counter of this direction has a value
 * @most: peak of all memory, bytes
 * @name: width of the name, which is first
 * @indent: columns for each level of a tree
 * @cgroup_at, @cgroup: the cgroup's path; width 0 leaves it out
 * @bar_at, @bar, @graph_at, @graph: likewise
 * @largest: value of a bar of full width
 */
struct draw_columns {
	bool has[NR_DRAW_COLUMNS];
	size_t at[NR_DRAW_COLUMNS];
	size_t width[NR_DRAW_COLUMNS];
	bool counted;
	bool known[NR_DIRECTIONS];
	uint64_t most;
	size_t name;
	size_t indent;
	size_t cgroup_at;
	size_t cgroup;
	size_t bar_at;
	size_t bar;
	size_t graph_at;
	size_t graph;
	uint64_t largest;
};

/** draw_columns() - choose columns and their widths for a terminal of this width */
struct draw_columns draw_columns(const struct view *v, size_t width);

/** draw_any_known() - does a counter of bytes of rows have a value? Without one they moved no number */
bool draw_any_known(const struct report *r);

/** draw_headings() - the line above the rows; @scale: bytes a second, or CPUs, of a full graph */
void draw_headings(const struct view *v, struct canvas *c, size_t row, const struct draw_columns *l,
		   double scale);

/** draw_numbers() - the numbers of a row in their columns */
void draw_numbers(const struct view *v, struct canvas *c, size_t row, const struct draw_columns *l,
		  const struct view_item *i);

/** draw_span() - the intervals of graphs: the last minutes, or the whole run */
struct graph_span draw_span(const struct view *v);

/**
 * draw_past() - items over time: a synthetic cgroup is the sum of the rows that are in it now
 * @v: the view
 * @s: the intervals
 * @items, @nr: indexes of items
 * @cpu: CPU time, otherwise bytes
 * @ret: of each item, its values in the intervals of @s; zero before
 *
 * Return: 0 or -ENOMEM.
 */
int draw_past(const struct view *v, const struct graph_span *s, const size_t *items, size_t nr,
	      bool cpu, double *ret);

/** draw_scale() - the value of a full graph, "46.7 GB/s" or "440%" */
void draw_scale(double per_ns, bool cpu, char ret[FORMAT_NUMBER_LEN]);

/** draw_one_row() - the selected row over time, with its shares; 0 or -ENOMEM */
int draw_one_row(struct view *v, struct canvas *c, struct draw_area area);

/** draw_selected() - a line on the selected row: its interval, and the rows it is tangled with */
int draw_selected(struct view *v, struct canvas *c, size_t row);

/** draw_page() - a page that is text: devices, latencies, counters, quality, metrics, GPUs; 0 or -ENOMEM */
int draw_page(struct view *v, struct canvas *c, struct draw_area area);

/** draw_devices() - the page of devices, as text; 0 or -ENOMEM */
int draw_devices(const struct view *v, FILE *out, size_t width);

/** draw_gpus() - the page of GPUs, as text; 0 or -ENOMEM */
int draw_gpus(const struct view *v, FILE *out, size_t width);

/**
 * draw_metrics() - the page of metrics, as text
 *
 * Return: 0, -ENOMEM, or the negative errno of a failed write.
 */
int draw_metrics(const struct view *v, FILE *out, size_t width);

/** draw_text() - lines of a text from v->text_scroll on; "# " marks a heading */
void draw_text(struct view *v, struct canvas *c, struct draw_area area, const char *text);

/** draw_put() - the same of the text that @put writes; 0, -ENOMEM or the error of @put */
int draw_put(struct view *v, struct canvas *c, struct draw_area area,
	     int (*put)(const struct view *v, FILE *out, size_t width));

/** draw_padded() - a text at the right of @width columns: printf() would count its bytes */
void draw_padded(FILE *out, const char *text, size_t width);

/** draw_amount() - bytes in the units of the view */
void draw_amount(const struct view *v, uint64_t bytes, char ret[FORMAT_NUMBER_LEN]);

/** draw_amount_of() - the same of bytes that are about so much time */
void draw_amount_of(const struct view *v, uint64_t bytes, uint64_t ns, char ret[FORMAT_NUMBER_LEN]);

/** draw_range() - the interval of such bytes, as format_range() has it */
void draw_range(const struct view *v, uint64_t bytes, uint64_t low, uint64_t high, uint64_t ns,
		char ret[FORMAT_NUMBER_LEN]);

/** draw_unit() - "GB/s", "/s", "", as it follows a number */
const char *draw_unit(const struct view *v);

#endif
