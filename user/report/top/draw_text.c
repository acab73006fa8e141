// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Numbers and texts, common to all pages. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/sums.h"
#include "report/top/draw_internal.h"

void draw_amount(const struct view *v, uint64_t bytes, char ret[FORMAT_NUMBER_LEN])
{
	draw_amount_of(v, bytes, report_duration_ns(v->report), ret);
}

static uint64_t per_second(uint64_t bytes, uint64_t ns)
{
	return whole_capped((double)bytes * (double)NS_PER_S / (double)ns + 0.5);
}

void draw_amount_of(const struct view *v, uint64_t bytes, uint64_t ns, char ret[FORMAT_NUMBER_LEN])
{
	if (v->units == VIEW_GB_PER_S)
		format_rate(bytes, ns, ret);
	else if (v->units == VIEW_BYTES)
		format_bytes(bytes, ret);
	else if (ns)
		format_bytes(per_second(bytes, ns), ret);
	else
		strcpy(ret, "-");
}

void draw_range(const struct view *v, uint64_t bytes, uint64_t low, uint64_t high, uint64_t ns,
		char ret[FORMAT_NUMBER_LEN])
{
	if (v->units == VIEW_BYTES)
		format_range(bytes, low, high, ret);
	else if (v->units == VIEW_PER_S && ns)
		format_range(per_second(bytes, ns), per_second(low, ns), per_second(high, ns), ret);
	else
		format_rate_range(bytes, low, high, ns, ret);
}

const char *draw_unit(const struct view *v)
{
	return v->units == VIEW_GB_PER_S ? "GB/s" : v->units == VIEW_PER_S ? "/s" : "";
}

/* @more: the last line of this page, and not of the text */
static void put_line(struct canvas *c, size_t row, const char *line, bool more)
{
	static const char sign[] = "  more ↓";
	bool heading = !strncmp(line, "# ", 2);

	line += heading ? 2 : 0;
	/* A line that the sign would cover waits for the next page. */
	if (!more || format_width(line) + format_width(sign) <= c->columns) {
		if (heading)
			canvas_fill(c, row, 0, c->columns, LOOK_HEADING, ' ');
		canvas_put(c, row, 0, SIZE_MAX, heading ? LOOK_HEADING : LOOK_PLAIN, line);
	}
	if (more)
		canvas_right(c, row, 0, c->columns, LOOK_KEY, sign);
}

void draw_text(struct view *v, struct canvas *c, struct draw_area area, const char *text)
{
	size_t lines = 0, row = 0;

	for (const char *at = text; *at; at = strchrnul(at, '\n') + 1, lines++)
		if (!strchr(at, '\n'))
			break;
	if (v->text_scroll + area.nr > lines)
		v->text_scroll = lines > area.nr ? lines - area.nr : 0;
	v->page_rows = area.nr;
	for (size_t line = 0; *text && row < area.nr; line++) {
		const char *end = strchrnul(text, '\n');
		cleanup_free char *copy = strndup(text, (size_t)(end - text));

		if (copy && line >= v->text_scroll) {
			put_line(c, area.top + row, copy, row + 1 == area.nr && line + 1 < lines);
			row++;
		}
		text = *end ? end + 1 : end;
	}
}

int draw_put(struct view *v, struct canvas *c, struct draw_area area,
	     int (*put)(const struct view *v, FILE *out, size_t width))
{
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);
	int err;

	if (!out)
		return -ENOMEM;
	err = put(v, out, c->columns - 1);
	if (fclose(out) && !err)
		err = -ENOMEM;
	if (!err)
		draw_text(v, c, area, text);
	free(text);
	return err;
}

void draw_padded(FILE *out, const char *text, size_t width)
{
	size_t takes = format_width(text);

	fprintf(out, "%*s%s", (int)(takes < width ? width - takes : 0), "", text);
}
