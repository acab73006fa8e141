// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Rows over time, for the graphs of all pages. */
#include <errno.h>
#include <stdlib.h>

#include "base/cleanup.h"
#include "report/top/draw_internal.h"

struct graph_span draw_span(const struct view *v)
{
	return view_is_whole(v) ? graph_whole(v->past, v->report->start_ns)
				: graph_span(v->past, view_index(v));
}

/* Lines of the past; @shown: by item, its place in the result plus one, 0 = none */
struct graphs {
	const struct view *v;
	const size_t *shown;
	struct past_line *lines; /* NULL: they are counted */
	size_t nr;
};

/* Others are sums of the rows in them. */
static bool has_past(const struct view_item *i)
{
	return i->row && rows_key_stays(i->row);
}

/* Each row, and each shown sum that it is part of */
static void find_lines(struct graphs *g, size_t span, bool cpu, double *values)
{
	const struct view_item *items = g->v->items;

	g->nr = 0;
	for (size_t i = 0; i < g->v->nr_items; i++)
		for (size_t up = i; has_past(&items[i]) && up != VIEW_NO_ITEM;
		     up = items[up].parent) {
			if (!g->shown[up] ||
			    (up != i && (has_past(&items[up]) || !items[i].row->leaf)))
				continue;
			if (g->lines)
				g->lines[g->nr] = (struct past_line){
					.key = items[i].row->key,
					.leaf = items[i].row->leaf,
					.cpu = cpu,
					.values = values + (g->shown[up] - 1) * span,
				};
			g->nr++;
		}
}

int draw_past(const struct view *v, const struct graph_span *s, const size_t *items, size_t nr,
	      bool cpu, double *ret)
{
	cleanup_free size_t *shown = calloc(v->nr_items + 1, sizeof(*shown));
	cleanup_free struct past_line *lines = NULL;
	struct graphs g = { .v = v, .shown = shown };
	size_t span = s->last - s->first + 1;

	if (!shown)
		return -ENOMEM;
	for (size_t i = 0; i < nr; i++)
		shown[items[i]] = i + 1;
	find_lines(&g, span, cpu, ret);
	lines = calloc(g.nr + 1, sizeof(*lines));
	if (!lines)
		return -ENOMEM;
	g.lines = lines;
	find_lines(&g, span, cpu, ret);
	return past_lines(v->past, s->first, s->last, lines, g.nr);
}

void draw_scale(double per_ns, bool cpu, char ret[FORMAT_NUMBER_LEN])
{
	char text[FORMAT_NUMBER_LEN];

	if (cpu) {
		format_percent(whole_capped(per_ns * 1e6), 1000000, ret);
		return;
	}
	format_bytes(whole_capped(per_ns * 1e9), text);
	snprintf(ret, FORMAT_NUMBER_LEN, "%.20s/s", text);
}
