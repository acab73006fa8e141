// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/cleanup.h"
#include "report/devices.h"
#include "report/grid.h"
#include "report/names.h"
#include "report/peaks.h"
#include "report/top/draw_internal.h"
#include "report/top/graph.h"

#define NAME_NEEDS  10 /* columns of numbers are dropped below this width */
#define NAME_LEAST  16 /* the graph is dropped below this width */
#define NAME_MOST   56
#define GRAPH_LEAST 8
#define GRAPH_WIDE  60
#define BAR_WIDE    24
#define BAR_FROM    120 /* columns of the terminal */
/* Minimum width of name and graph, with the bar */
#define BAR_LEAVES  70
#define DEVICE_FROM 100

enum column {
	COLUMN_READ,
	COLUMN_WRITE,
	COLUMN_BOTH,
	COLUMN_SHARE,
	COLUMN_RANGE,
	COLUMN_PEAK,
	COLUMN_DEVICE_READ,
	COLUMN_DEVICE_WRITE,
	COLUMN_CPU,
	NR_COLUMNS,
};

static const struct {
	const char *head;
	size_t width;
	enum view_sort sort; /* NR_VIEW_SORTS: rows are not sorted by it */
} columns[NR_COLUMNS] = {
	[COLUMN_READ] = { "READ", 7, VIEW_BY_READS },
	[COLUMN_WRITE] = { "WRITE", 7, VIEW_BY_WRITES },
	[COLUMN_BOTH] = { "RD+WR", 7, NR_VIEW_SORTS },
	[COLUMN_SHARE] = { "SHARE", 6, VIEW_BY_BYTES },
	[COLUMN_RANGE] = { "95%", GRID_RANGE_WIDTH, NR_VIEW_SORTS },
	[COLUMN_PEAK] = { "PEAK", 6, NR_VIEW_SORTS },
	[COLUMN_DEVICE_READ] = { "PCI-RD", 7, NR_VIEW_SORTS },
	[COLUMN_DEVICE_WRITE] = { "PCI-WR", 7, NR_VIEW_SORTS },
	[COLUMN_CPU] = { "CPU", 7, VIEW_BY_CPU },
};

/* The columns and their places */
struct layout {
	bool has[NR_COLUMNS];
	size_t at[NR_COLUMNS];
	bool counted;
	bool known[NR_DIRECTIONS]; /* a counter of this direction has a value */
	uint64_t most;		   /* peak of all memory, in bytes */
	size_t name;
	size_t bar_at;
	size_t bar;
	size_t graph_at;
	size_t graph;
	uint64_t largest; /* the value of a bar of full width */
};

static void find_columns(const struct view *v, struct layout *l, size_t width)
{
	const struct report *r = v->report;
	enum devices_mode devices = devices_mode(r);

	for (size_t i = 0; i < r->nr_counters; i++) {
		const struct report_counter *c = &r->counters[i];

		if (!devices_task_counter(c->counter))
			continue;
		l->counted = true;
		l->has[c->counter->direction] = true;
		l->known[c->counter->direction] |= c->valid;
	}
	l->most = peaks_memory(r, -1);
	l->has[COLUMN_SHARE] = l->counted;
	l->has[COLUMN_RANGE] = l->counted && method_row(r->quality.method)->learns;
	l->has[COLUMN_PEAK] = l->counted && l->most;
	l->has[COLUMN_CPU] = true;
	l->has[COLUMN_DEVICE_READ] = l->has[COLUMN_DEVICE_WRITE] =
		devices != DEVICES_NONE && (width >= DEVICE_FROM || !l->counted);
}

/* Three columns always stay: a row's reads, writes and sum. */
static_assert(DRAW_MIN_COLUMNS >= 3 * (7 + 1) + 1 + NAME_NEEDS, "a name always has its least");

/* Rows need names: on a narrow terminal columns are dropped, the least needed first. */
static size_t room_for_numbers(struct layout *l, size_t width)
{
	static const enum column goes[] = { COLUMN_PEAK,  COLUMN_DEVICE_WRITE, COLUMN_DEVICE_READ,
					    COLUMN_RANGE, COLUMN_CPU,	       COLUMN_SHARE };
	size_t numbers = 0;

	for (int i = 0; i < NR_COLUMNS; i++)
		numbers += l->has[i] ? columns[i].width + 1 : 0;
	for (size_t i = 0; i < ARRAY_SIZE(goes) && numbers + 1 + NAME_NEEDS > width; i++)
		if (l->has[goes[i]]) {
			l->has[goes[i]] = false;
			numbers -= columns[goes[i]].width + 1;
		}
	return numbers;
}

/* Numbers first; the name, the graph and, on a wide terminal, a bar share the rest. */
static struct layout lay_out(const struct view *v, size_t width)
{
	struct layout l = { 0 };
	size_t numbers, left;

	find_columns(v, &l, width);
	numbers = room_for_numbers(&l, width);
	left = width > numbers + 1 ? width - numbers - 1 : 0;
	l.bar = width >= BAR_FROM && left > BAR_LEAVES && l.counted ? BAR_WIDE : 0;
	left -= l.bar ? l.bar + 1 : 0;
	l.graph = left > NAME_LEAST + GRAPH_LEAST + 1 ? (left - NAME_LEAST) / 2 : 0;
	if (left > NAME_MOST + l.graph + 1)
		l.graph = left - NAME_MOST - 1;
	l.graph = l.graph > GRAPH_WIDE ? GRAPH_WIDE : l.graph < GRAPH_LEAST ? 0 : l.graph;
	l.name = left - (l.graph ? l.graph + 1 : 0);
	left = l.name;
	for (int i = 0; i < NR_COLUMNS; i++)
		if (l.has[i]) {
			l.at[i] = left + 1;
			left += columns[i].width + 1;
		}
	l.bar_at = left + 1;
	l.graph_at = left + 1 + (l.bar ? l.bar + 1 : 0);
	return l;
}

static void put_headings(const struct view *v, struct canvas *c, size_t row, const struct layout *l)
{
	static const char *const kinds[] = {
		[ROW_PROCESS] = "PROCESS",
		[ROW_CGROUP] = "CGROUP",
		[ROW_THREAD] = "THREAD",
		[ROW_JOB] = "JOB",
	};
	const char *arrow = v->reverse ? "▲" : "▼";
	char text[VIEW_FILTER_LEN + 64];

	canvas_fill(c, row, 0, c->columns, LOOK_HEADING, ' ');
	snprintf(text, sizeof(text), "%s%s%s%s%s", kinds[v->report->by],
		 v->sort == VIEW_BY_NAME ? arrow : "", v->filter[0] ? " /" : "", v->filter,
		 v->typing ? "_" : "");
	canvas_put(c, row, 0, l->name, LOOK_HEADING, text);
	for (int i = 0; i < NR_COLUMNS; i++) {
		if (!l->has[i])
			continue;
		snprintf(text, sizeof(text), "%s%s", columns[i].head,
			 columns[i].sort == v->sort ? arrow : "");
		canvas_right(c, row, l->at[i], columns[i].width, LOOK_HEADING, text);
	}
	canvas_put(c, row, l->bar_at, l->bar, LOOK_HEADING, "UP TO THE LARGEST ROW");
	canvas_put(c, row, l->graph_at, l->graph, LOOK_HEADING,
		   l->graph >= 14   ? "LAST 2 MINUTES"
		   : l->graph >= 10 ? "LAST 2 MIN"
				    : "2 MIN");
}

/* --- one row */

static bool any_known(const struct layout *l)
{
	return l->known[DIRECTION_READ] || l->known[DIRECTION_WRITE] ||
	       l->known[DIRECTION_READWRITE];
}

/* The text of a number; @ret is "no data" where a counter has no value. */
static void number(const struct view *v, const struct layout *l, const struct view_item *i,
		   enum column column, char ret[FORMAT_NUMBER_LEN])
{
	const struct amounts *a = &i->amounts;
	uint64_t bytes = amounts_bytes(a);
	char range[FORMAT_NUMBER_LEN];

	switch (column) {
	case COLUMN_READ:
	case COLUMN_WRITE:
	case COLUMN_BOTH:
		if (l->known[column])
			draw_amount(v, a->bytes[column], ret);
		else
			strcpy(ret, "no data");
		return;
	case COLUMN_SHARE:
		format_percent(bytes, row_tree_all(v->tree_of), ret);
		break;
	case COLUMN_RANGE:
		format_range(bytes, a->low, a->high, range);
		snprintf(ret, FORMAT_NUMBER_LEN, "%s%.20s", a->tangled ? "~" : "", range);
		break;
	case COLUMN_PEAK:
		format_percent(amounts_to_memory(a), l->most, ret);
		break;
	case COLUMN_DEVICE_READ:
	case COLUMN_DEVICE_WRITE:
		draw_amount(v, a->device[column - COLUMN_DEVICE_READ], ret);
		return;
	default:
		format_percent(a->cpu_ns, report_duration_ns(v->report), ret);
		return;
	}
	if (!any_known(l))
		strcpy(ret, "-");
}

/* Full up to the lower end of the interval, then lighter to the value and to the upper end. */
static void put_bar(struct canvas *c, size_t row, const struct layout *l, const struct amounts *a)
{
	double cell = (double)l->largest / (double)l->bar;
	uint64_t bytes = amounts_bytes(a);
	const struct {
		uint64_t end;
		uint32_t text;
	} parts[] = { { a->low < bytes ? a->low : bytes, 0x2588 },
		      { bytes, 0x2593 },
		      { a->high > bytes ? a->high : bytes, 0x2591 } };
	size_t at = 0;

	if (!(cell > 0))
		return;
	for (size_t i = 0; i < ARRAY_SIZE(parts); i++) {
		double end = (double)parts[i].end / cell + 0.5;
		size_t to = end > (double)l->bar ? l->bar : (size_t)end;

		if (to > at)
			canvas_fill(c, row, l->bar_at + at, to - at,
				    i == 2 ? LOOK_DIM : LOOK_WORKLOADS, parts[i].text);
		at = to > at ? to : at;
	}
	/* The value exceeds the bar. */
	if (a->high > l->largest)
		canvas_put(c, row, l->bar_at + l->bar - 1, 1, LOOK_DIM, "→");
}

static int put_name(const struct view *v, struct canvas *c, size_t row, const struct layout *l,
		    const struct view_item *i)
{
	size_t marks = v->tree ? 2 : 0, indent = v->tree ? (size_t)i->depth * 2 : 0, room;
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
	indent = indent > room / 2 ? room / 2 : indent;
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

static enum canvas_look look_of(enum column column, const struct view_item *i)
{
	if (column == COLUMN_RANGE)
		return i->amounts.tangled ? LOOK_WARNING : LOOK_DIM;
	return LOOK_PLAIN;
}

static int put_row(const struct view *v, struct canvas *c, size_t row, const struct layout *l,
		   const struct view_item *i)
{
	char text[FORMAT_NUMBER_LEN];

	for (int k = 0; k < NR_COLUMNS; k++) {
		if (!l->has[k])
			continue;
		number(v, l, i, k, text);
		canvas_right(c, row, l->at[k], columns[k].width, look_of(k, i), text);
	}
	if (l->bar)
		put_bar(c, row, l, &i->amounts);
	return put_name(v, c, row, l, i);
}

/* --- graphs */

/* Lines of the past, and the place of each */
struct graphs {
	struct past_line *lines;
	double *values;
	size_t *shown; /* by item: its line on the page plus one, 0 = none */
	size_t nr;
};

static void free_graphs(struct graphs *g)
{
	free(g->lines);
	free(g->values);
	free(g->shown);
}

/* A synthetic cgroup has the sum of the rows that are in it now. */
static void ask_for_lines(const struct view *v, struct graphs *g, size_t span, bool cpu)
{
	for (size_t i = 0; i < v->nr_items; i++) {
		const struct view_item *item = &v->items[i];

		if (!item->row)
			continue;
		for (size_t up = i; up != VIEW_NO_ITEM; up = v->items[up].parent)
			if (g->shown[up] && (up == i || !v->items[up].row))
				g->lines[g->nr++] = (struct past_line){
					.key = item->row->key,
					.leaf = item->row->leaf,
					.cpu = cpu,
					.values = g->values + (g->shown[up] - 1) * span,
				};
	}
}

static size_t count_lines(const struct view *v, const struct graphs *g)
{
	size_t nr = 0;

	for (size_t i = 0; i < v->nr_items; i++)
		for (size_t up = i; v->items[i].row && up != VIEW_NO_ITEM; up = v->items[up].parent)
			nr += g->shown[up] && (up == i || !v->items[up].row);
	return nr;
}

static int put_graphs(const struct view *v, struct canvas *c, size_t top, const struct layout *l,
		      size_t nr)
{
	struct graph_span s = graph_span(v->past, view_index(v));
	size_t span = s.last - s.first + 1, pieces = 2 * l->graph;
	struct graphs g = { .shown = calloc(v->nr_items + 1, sizeof(*g.shown)),
			    .values = calloc(nr * span + 1, sizeof(*g.values)) };
	double bins[GRAPH_MAX];
	int err = g.shown && g.values ? 0 : -ENOMEM;

	for (size_t i = 0; i < nr && !err; i++)
		g.shown[v->lines[v->scroll + i]] = i + 1;
	if (!err) {
		g.lines = calloc(count_lines(v, &g) + 1, sizeof(*g.lines));
		err = g.lines ? 0 : -ENOMEM;
	}
	if (!err) {
		ask_for_lines(v, &g, span, !l->counted);
		err = past_lines(v->past, s.first, s.last, g.lines, g.nr);
	}
	for (size_t i = 0; i < nr && !err; i++) {
		graph_bins(v->past, &s, g.values + i * span, pieces, bins);
		graph_draw(c, top + i, l->graph_at, l->graph, 1, bins, graph_max(bins, pieces));
	}
	free_graphs(&g);
	return err;
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

int draw_rows(struct view *v, struct canvas *c, struct draw_area area)
{
	struct layout l = lay_out(v, c->columns);
	size_t room = area.nr - 1, nr;
	int err = 0;

	scroll_to_selected(v, room);
	l.largest = largest_of(v);
	put_headings(v, c, area.top, &l);
	nr = v->nr_lines - v->scroll < room ? v->nr_lines - v->scroll : room;
	for (size_t i = 0; i < nr && !err; i++)
		err = put_row(v, c, area.top + 1 + i, &l, view_item_at(v, v->scroll + i));
	if (!err && l.graph && nr)
		err = put_graphs(v, c, area.top + 1, &l, nr);
	if (nr)
		canvas_look(c, area.top + 1 + v->selected - v->scroll, 0, c->columns,
			    LOOK_SELECTED);
	else
		canvas_put(c, area.top + 1, 0, SIZE_MAX, LOOK_DIM,
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

	if (devices_mode(v->report) != DEVICES_NONE || amounts_all(&i->amounts)) {
		format_bytes(amounts_bytes(&i->amounts), bytes);
		format_range(amounts_bytes(&i->amounts), i->amounts.low, i->amounts.high, range);
		fprintf(out, "%s (%s)  ", bytes, range);
	}
	if (!i->row)
		fputs("sums of what is in it, also of both ends", out);
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
