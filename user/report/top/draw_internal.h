/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Shared by the files that draw. */
#ifndef REPORT_TOP_DRAW_INTERNAL_H
#define REPORT_TOP_DRAW_INTERNAL_H

#include <stdio.h>

#include "report/format.h"
#include "report/top/draw.h"

/* The canvas lines of a page: from @top on, @nr of them */
struct draw_area {
	size_t top;
	size_t nr;
};

/** draw_sockets() - a bar for each socket, and a legend; returns the number of lines */
size_t draw_sockets(const struct view *v, struct canvas *c, size_t top, size_t most);

/** draw_rows() - the table of rows; 0 or -ENOMEM */
int draw_rows(struct view *v, struct canvas *c, struct draw_area area);

/** draw_one_row() - the selected row over time, with its shares; 0 or -ENOMEM */
int draw_one_row(struct view *v, struct canvas *c, struct draw_area area);

/** draw_selected() - a line on the selected row: its interval, and the rows it is tangled with */
int draw_selected(struct view *v, struct canvas *c, size_t row);

/** draw_page() - a page that is text: devices, latencies, counters, quality, metrics; 0 or -ENOMEM */
int draw_page(struct view *v, struct canvas *c, struct draw_area area);

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

/** draw_unit() - "GB/s", "/s", "" */
const char *draw_unit(const struct view *v);

#endif
