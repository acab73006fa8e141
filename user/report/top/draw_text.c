// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Numbers and texts, as all pages have them. */
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "report/top/draw_parts.h"

void draw_amount(const struct view *v, uint64_t bytes, char ret[FORMAT_NUMBER_LEN])
{
	uint64_t ns = report_duration_ns(v->report);

	if (v->units == VIEW_GB_PER_S)
		format_rate(bytes, ns, ret);
	else if (v->units == VIEW_BYTES)
		format_bytes(bytes, ret);
	else if (ns)
		format_bytes((uint64_t)((double)bytes * (double)NS_PER_S / (double)ns + 0.5), ret);
	else
		strcpy(ret, "-");
}

const char *draw_unit(const struct view *v)
{
	return v->units == VIEW_GB_PER_S ? "GB/s" : v->units == VIEW_PER_S ? "/s" : "";
}

/* Where it would cut a line of the text, that line waits for the next page. */
static void put_more(struct canvas *c, size_t row)
{
	static const char more[] = "  more ↓";
	size_t from = c->columns - format_width(more);

	for (size_t i = from; i < c->columns; i++)
		if (c->cells[row * c->columns + i].text > ' ') {
			canvas_fill(c, row, 0, c->columns, LOOK_PLAIN, ' ');
			break;
		}
	canvas_put(c, row, from, SIZE_MAX, LOOK_KEY, more);
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
		bool heading = copy && !strncmp(copy, "# ", 2);

		if (copy && line >= v->text_scroll)
			canvas_put(c, area.top + row++, 0, SIZE_MAX,
				   heading ? LOOK_HEADING : LOOK_PLAIN, copy + (heading ? 2 : 0));
		text = *end ? end + 1 : end;
	}
	for (row = 0; row < area.nr; row++)
		if (c->cells[(area.top + row) * c->columns].look == LOOK_HEADING)
			canvas_look(c, area.top + row, 0, c->columns, LOOK_HEADING);
	if (v->text_scroll + area.nr < lines)
		put_more(c, area.top + area.nr - 1);
}
