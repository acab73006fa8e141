// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/cleanup.h"
#include "report/devices.h"
#include "report/names.h"
#include "report/top/draw_internal.h"

/* Reads, then writes, then lighter up to the upper end of the interval */
static void put_bar(struct canvas *c, size_t row, const struct draw_columns *l,
		    const struct amounts *a)
{
	static const struct {
		uint32_t text;
		enum canvas_look look;
	} parts[] = { [DIRECTION_READ] = { 0x2588, LOOK_STRONG },
		      [DIRECTION_WRITE] = { 0x2593, LOOK_PLAIN },
		      [DIRECTION_READWRITE] = { 0x2592, LOOK_PLAIN },
		      [NR_DIRECTIONS] = { 0x2591, LOOK_DIM } };
	double cell = (double)l->largest / (double)l->bar, sum = 0;
	size_t at = 0;

	if (!(cell > 0))
		return;
	for (size_t i = 0; i < ARRAY_SIZE(parts); i++) {
		size_t to;

		sum = i < NR_DIRECTIONS ? sum + (double)a->bytes[i] : fmax(sum, (double)a->high);
		to = sum / cell + 0.5 > (double)l->bar ? l->bar : (size_t)(sum / cell + 0.5);
		if (to > at)
			canvas_fill(c, row, l->bar_at + at, to - at, parts[i].look, parts[i].text);
		at = to > at ? to : at;
	}
	/* The upper end exceeds the bar. */
	if (a->high > l->largest)
		canvas_put(c, row, l->bar_at + l->bar - 1, 1, LOOK_DIM, "→");
}

static int put_name(const struct view *v, struct canvas *c, size_t row,
		    const struct draw_columns *l, const struct view_item *i)
{
	size_t marks = v->tree ? 2 : 0, indent = v->tree ? (size_t)i->depth * l->indent : 0, room;
	bool native = v->report->by == ROW_CGROUP;
	cleanup_free char *name = NULL;
	cleanup_free char *cut = NULL;
	char count[32] = "";
	int err = view_item_name(v, i, &name);

	if (i->folded)
		snprintf(count, sizeof(count), " +%zu", i->nr_rows);
	/* A part of a number would be a different number. */
	if (marks + strlen(count) > l->name)
		count[0] = '\0';
	room = l->name - marks - strlen(count);
	indent = indent > room - room / 4 ? room - room / 4 : indent;
	room -= indent;
	/* The last column is for the mark of a row that has ended. */
	if (!err)
		err = format_cut(name, room ? room - 1 : 0,
				 native || !i->row ? FORMAT_CUT_LEFT : FORMAT_CUT_RIGHT, &cut);
	if (err)
		return err;
	if (v->tree && i->child != VIEW_NO_ITEM)
		canvas_put(c, row, indent, 1, LOOK_KEY, i->folded ? "▸" : "▾");
	indent += marks;
	indent += canvas_put(c, row, indent, room, i->row ? LOOK_PLAIN : LOOK_STRONG, cut);
	if (room && i->row && i->row->exited)
		indent += canvas_put(c, row, indent, 1, LOOK_DIM, "*");
	canvas_put(c, row, indent, strlen(count), LOOK_DIM, count);
	return 0;
}

/* The end of a path tells the most. */
static int put_cgroup(struct canvas *c, size_t row, const struct draw_columns *l,
		      const struct report_row *r)
{
	cleanup_free char *path = NULL;
	cleanup_free char *cut = NULL;
	int err = names_cgroup(r, NULL, &path);

	if (!err)
		err = format_cut(path, l->cgroup, FORMAT_CUT_LEFT, &cut);
	if (!err)
		canvas_put(c, row, l->cgroup_at, l->cgroup, LOOK_DIM, cut);
	return err;
}

static int put_row(const struct view *v, struct canvas *c, size_t row, const struct draw_columns *l,
		   const struct view_item *i)
{
	int err = 0;

	draw_numbers(v, c, row, l, i);
	if (l->bar)
		put_bar(c, row, l, &i->amounts);
	if (l->cgroup && i->row)
		err = put_cgroup(c, row, l, i->row);
	return err ? err : put_name(v, c, row, l, i);
}

/* --- graphs */

/* Graphs of the shown rows, two numbers for a column of cells each; @scale: that of all */
struct graphs {
	double *bins;
	size_t pieces;
	double scale;
};

/* That of rows: beside sums, which are cut off, they would be flat. */
static double scale_of(const struct view *v, const struct graphs *g, size_t nr)
{
	double most = 0;

	for (size_t i = 0; i < nr; i++) {
		const struct view_item *item = view_item_at(v, v->scroll + i);

		if (item->child == VIEW_NO_ITEM)
			most = fmax(most, graph_max(g->bins + i * g->pieces, g->pieces));
	}
	return most > 0 ? most : graph_max(g->bins, nr * g->pieces);
}

static int make_graphs(const struct view *v, const struct draw_columns *l, size_t nr,
		       struct graphs *ret)
{
	struct graph_span s = draw_span(v);
	size_t span = s.last - s.first + 1, pieces = 2 * l->graph;
	cleanup_free double *values = calloc(nr * span + 1, sizeof(*values));
	int err;

	ret->pieces = pieces;
	ret->bins = calloc(nr * pieces + 1, sizeof(*ret->bins));
	if (!values || !ret->bins)
		return -ENOMEM;
	err = draw_past(v, &s, v->lines + v->scroll, nr, !l->counted, values);
	for (size_t i = 0; i < nr && !err; i++)
		graph_bins(v->past, &s, values + i * span, pieces, ret->bins + i * pieces);
	ret->scale = scale_of(v, ret, nr);
	return err;
}

static void put_graphs(const struct view *v, struct canvas *c, size_t top,
		       const struct draw_columns *l, const struct graphs *g, size_t nr)
{
	for (size_t i = 0; i < nr; i++) {
		const double *bins = g->bins + i * g->pieces;

		graph_draw(c, top + i, l->graph_at, l->graph, 1, bins,
			   v->own_scales ? graph_max(bins, g->pieces) : g->scale);
	}
}

/* --- the table */

static void scroll_to_selected(struct view *v, size_t nr)
{
	v->page_rows = nr;
	if (v->selected < v->scroll)
		v->scroll = v->selected;
	if (nr && v->selected >= v->scroll + nr)
		v->scroll = v->selected - nr + 1;
	if (v->scroll + nr > v->nr_lines)
		v->scroll = v->nr_lines > nr ? v->nr_lines - nr : 0;
}

static uint64_t largest_of(const struct view *v)
{
	uint64_t most = 0;

	for (size_t i = 0; i < v->nr_lines; i++) {
		uint64_t bytes = amounts_bytes(&v->items[v->lines[i]].amounts);

		most = bytes > most ? bytes : most;
	}
	return most;
}

/* All that was counted, of rows or not: 100% */
static void put_machine(const struct view *v, struct canvas *c, size_t row,
			const struct draw_columns *l)
{
	const struct view_item all = {
		.amounts = rows_machine(v->report),
	};
	struct draw_columns own = *l;

	own.has[DRAW_RANGE] &= all.amounts.low < all.amounts.high;
	own.has[DRAW_SOCKETS] = false;
	if (devices_mode(v->report) != DEVICES_COUNTED)
		own.has[DRAW_DEVICE_READ] = own.has[DRAW_DEVICE_WRITE] = false;
	canvas_put(c, row, 0, l->name, LOOK_STRONG, "all");
	draw_numbers(v, c, row, &own, &all);
}

/* @top: of the headings; @at: of the rows */
static int put_rows(const struct view *v, struct canvas *c, size_t top, size_t at,
		    const struct draw_columns *l, size_t nr)
{
	struct graphs g = { 0 };
	int err = l->graph && nr ? make_graphs(v, l, nr, &g) : 0;

	draw_headings(v, c, top, l, g.scale);
	if (at > top + 1)
		put_machine(v, c, top + 1, l);
	for (size_t i = 0; i < nr && !err; i++)
		err = put_row(v, c, at + i, l, view_item_at(v, v->scroll + i));
	if (!err && g.bins)
		put_graphs(v, c, at, l, &g, nr);
	free(g.bins);
	return err;
}

int draw_rows(struct view *v, struct canvas *c, struct draw_area area)
{
	struct draw_columns l = draw_columns(v, c->columns);
	/* On a low terminal rows need the line of the machine. */
	size_t at = area.top + (l.counted && area.nr >= 6 ? 2 : 1);
	size_t room = area.top + area.nr - at, nr;
	int err;

	scroll_to_selected(v, room);
	l.largest = largest_of(v);
	nr = v->nr_lines - v->scroll < room ? v->nr_lines - v->scroll : room;
	err = put_rows(v, c, area.top, at, &l, nr);
	if (nr)
		canvas_look(c, at + v->selected - v->scroll, 0, c->columns, LOOK_SELECTED);
	else
		canvas_put(c, at, 0, SIZE_MAX, LOOK_DIM,
			   v->filter[0] ? "no row has this in its names: / changes the filter"
					: "no row did anything: a shows all");
	return err;
}

/* --- more on the selected row */

static int put_tangled(const struct view *v, const struct report_row *row, FILE *out)
{
	size_t all = row->nr_tangled_all;
	int err = 0;

	fputs("~ cannot be told from ", out);
	if (!all)
		fputs("the rest", out);
	for (size_t i = 0; i < row->nr_tangled && !err; i++) {
		const struct report_row *other = rows_find(v->report, row->tangled[i]);
		cleanup_free char *name = NULL;

		err = other ? names_row(other, &name) : 0;
		if (name)
			fprintf(out, "%s%s", i ? ", " : "", name);
	}
	if (all > row->nr_tangled)
		fprintf(out, "%s%zu more", row->nr_tangled ? " and " : "", all - row->nr_tangled);
	return err;
}

static int put_where(const struct report_row *row, FILE *out)
{
	cleanup_free char *path = NULL;
	int err = names_cgroup(row, NULL, &path);

	if (!err)
		fprintf(out, "%s", path);
	return err;
}

/* "1.20 GB (0.90-1.50 GB)  /a/b" */
static int put_selected(FILE *out, void *arg)
{
	const struct view *v = arg;
	const struct view_item *i = view_item_at(v, v->selected);
	char bytes[FORMAT_NUMBER_LEN], range[FORMAT_NUMBER_LEN];
	int err = 0;

	if (draw_any_known(v->report) &&
	    (devices_mode(v->report) != DEVICES_NONE || amounts_all(&i->amounts))) {
		format_bytes(amounts_bytes(&i->amounts), bytes);
		format_range(amounts_bytes(&i->amounts), i->amounts.low, i->amounts.high, range);
		fprintf(out, "%s (%s)  ", bytes, range);
	}
	if (!i->row)
		fputs("sum of its rows, also of both ends", out);
	else if (!i->row->separable && devices_tangle(v->report, i->row) == TANGLE_MEMORY)
		err = put_tangled(v, i->row, out);
	else
		err = put_where(i->row, out);
	return err;
}

int draw_selected(struct view *v, struct canvas *c, size_t row)
{
	const struct view_item *i = view_item_at(v, v->selected);
	cleanup_free char *text = NULL;
	char counts[96];
	size_t size, right;
	int err = i ? format_text(put_selected, v, &text, &size) : 0;

	if (!i)
		return 0;
	if (v->nr_quiet)
		snprintf(counts, sizeof(counts), "  %zu of %zu, %zu quiet", v->selected + 1,
			 v->nr_lines, v->nr_quiet);
	else
		snprintf(counts, sizeof(counts), "  %zu of %zu", v->selected + 1, v->nr_lines);
	right = strlen(counts);
	canvas_right(c, row, 0, c->columns, LOOK_DIM, counts);
	if (!err)
		canvas_put(c, row, 0, c->columns > right ? c->columns - right : 0,
			   i->amounts.tangled ? LOOK_WARNING : LOOK_DIM, text);
	return err;
}
