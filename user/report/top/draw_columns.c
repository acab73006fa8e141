// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* The columns of the table of rows: choice, widths, headings and numbers. */
#include <assert.h>
#include <inttypes.h>
#include <string.h>

#include "base/array.h"
#include "report/devices.h"
#include "report/grid.h"
#include "report/peaks.h"
#include "report/top/draw_internal.h"

/* Columns of numbers are dropped if the name would be narrower: on narrow and on wider terminals */
#define NAME_NEEDS   10
#define NAME_WANTS   20
#define NAME_LEAST   16 /* the graph is dropped below this width */
#define LIST_NAME    24 /* beside a column of cgroups */
#define CGROUP_LEAST 16
#define PATH_MORE    32 /* of a tree, or of the column of cgroups, before graphs are wide */
#define GRAPH_LEAST  12
#define GRAPH_WIDE   60
#define BAR_WIDE     24
/* Minimum width of name, cgroup and graph, with the bar */
#define BAR_LEAVES   70
/* Widths of terminals from which on headings are words, and there are further columns */
#define ROOMY_FROM   80
#define WORDS_FROM   100
#define MORE_FROM    100
#define BAR_FROM     120
#define BYTES_FROM   140

static const struct {
	const char *head;
	bool unit;  /* "GB/s" belongs behind it */
	bool brief; /* two letters of it are enough beside a unit */
	size_t width;
	size_t from;	     /* width of the terminal */
	enum view_sort sort; /* NR_VIEW_SORTS: rows are not sorted by it */
} columns[NR_DRAW_COLUMNS] = {
	[DRAW_READ] = { "READ", true, true, 7, 0, VIEW_BY_READS },
	[DRAW_WRITE] = { "WRITE", true, true, 7, 0, VIEW_BY_WRITES },
	[DRAW_BOTH] = { "RD+WR", true, false, 7, 0, NR_VIEW_SORTS },
	[DRAW_BYTES] = { "BYTES", false, false, 7, BYTES_FROM, NR_VIEW_SORTS },
	[DRAW_SHARE] = { "SHARE", false, false, 6, 0, VIEW_BY_BYTES },
	[DRAW_RANGE] = { "95%", false, false, GRID_RANGE_WIDTH, 0, VIEW_BY_MOST },
	[DRAW_PEAK] = { "PEAK", false, false, 6, MORE_FROM, NR_VIEW_SORTS },
	[DRAW_SOCKETS] = { "SOCKET", false, false, 6, MORE_FROM, NR_VIEW_SORTS },
	[DRAW_DEVICE_READ] = { "PCIE-RD", false, false, 7, MORE_FROM, NR_VIEW_SORTS },
	[DRAW_DEVICE_WRITE] = { "PCIE-WR", false, false, 7, MORE_FROM, NR_VIEW_SORTS },
	[DRAW_CPU] = { "CPU", false, false, 7, 0, VIEW_BY_CPU },
};

/* --- choice and widths */

static void find_columns(const struct view *v, struct draw_columns *l, size_t width)
{
	const struct report *r = v->report;
	bool devices = devices_mode(r) != DEVICES_NONE;

	for (size_t i = 0; i < r->nr_counters; i++) {
		const struct report_counter *c = &r->counters[i];

		if (!devices_task_counter(c->counter))
			continue;
		l->counted = true;
		l->has[c->counter->direction] = true;
		l->known[c->counter->direction] |= c->valid;
	}
	l->most = peaks_memory(r, -1);
	l->has[DRAW_BYTES] = l->has[DRAW_SHARE] = l->counted;
	l->has[DRAW_RANGE] = l->counted && method_row(r->quality.method)->learns;
	l->has[DRAW_PEAK] = l->counted && l->most;
	l->has[DRAW_SOCKETS] = l->counted && v->tree_of->nr_sockets > 1;
	l->has[DRAW_CPU] = true;
	for (int i = 0; i < NR_DRAW_COLUMNS; i++)
		l->has[i] &= width >= columns[i].from;
	l->has[DRAW_DEVICE_READ] = l->has[DRAW_DEVICE_WRITE] =
		devices && (width >= MORE_FROM || !l->counted);
}

/* "READ GB/s", "RD GB/s", "READ" */
static void head_of(const struct view *v, int column, size_t width, char *ret, size_t size)
{
	const char *unit = columns[column].unit ? draw_unit(v) : "";
	bool brief = unit[0] && width < WORDS_FROM;
	bool device = column == DRAW_DEVICE_READ || column == DRAW_DEVICE_WRITE;

	if (brief && columns[column].brief)
		snprintf(ret, size, "%c%c", columns[column].head[0],
			 column == DRAW_READ ? 'D' : 'R');
	else if (device && devices_mode(v->report) == DEVICES_IO)
		snprintf(ret, size, "%s", column == DRAW_DEVICE_READ ? "IO-RD" : "IO-WR");
	else
		snprintf(ret, size, "%s", columns[column].head);
	if (unit[0] && (!brief || columns[column].brief))
		snprintf(ret + strlen(ret), size - strlen(ret), "%s%s", unit[0] == '/' ? "" : " ",
			 unit);
}

/* Three columns always stay: a row's reads, writes and sum. */
static_assert(DRAW_MIN_COLUMNS >= 3 * (7 + 1) + 1 + NAME_NEEDS, "a name always has its least");

/* Rows need names: on a narrow terminal columns are dropped, the least needed first. */
static size_t room_for_numbers(const struct view *v, struct draw_columns *l, size_t width,
			       size_t left)
{
	static const enum draw_column goes[] = { DRAW_PEAK,    DRAW_DEVICE_WRITE, DRAW_DEVICE_READ,
						 DRAW_SOCKETS, DRAW_RANGE,	  DRAW_CPU,
						 DRAW_SHARE };
	size_t numbers = 0;
	char head[32];

	for (int i = 0; i < NR_DRAW_COLUMNS; i++) {
		head_of(v, i, width, head, sizeof(head));
		l->width[i] = strlen(head) > columns[i].width ? strlen(head) : columns[i].width;
		numbers += l->has[i] ? l->width[i] + 1 : 0;
	}
	for (size_t i = 0; i < ARRAY_SIZE(goes) && numbers + 1 + left > width; i++)
		if (l->has[goes[i]]) {
			l->has[goes[i]] = false;
			numbers -= l->width[goes[i]] + 1;
		}
	return numbers;
}

/* Rows of cgroups, and those below cgroups, have their path already. */
static bool wants_cgroup(const struct view *v, size_t width)
{
	enum row_kind by = v->report->by;

	return width >= MORE_FROM && by != ROW_CGROUP && (!v->tree || by == ROW_JOB);
}

/* Move columns from what is left to one of those who share it. */
static void give(size_t *left, size_t *to, size_t columns)
{
	columns = columns < *left ? columns : *left;
	*left -= columns;
	*to += columns;
}

/* The name, the cgroup and the graph: each its least, if there is room; then they share the rest. */
static void share_room(struct draw_columns *l, size_t left, bool cgroup)
{
	size_t *path = cgroup && left > NAME_LEAST + CGROUP_LEAST ? &l->cgroup : NULL;

	give(&left, &l->name, NAME_LEAST);
	if (path) {
		left--;
		give(&left, path, CGROUP_LEAST);
	}
	if (left > GRAPH_LEAST) {
		left--;
		give(&left, &l->graph, GRAPH_LEAST);
	}
	if (path)
		give(&left, &l->name, LIST_NAME - NAME_LEAST);
	if (left <= GRAPH_LEAST)
		give(&left, path ? path : &l->name, left);
	give(&left, path ? path : &l->name, left * 2 / 3 < PATH_MORE ? left * 2 / 3 : PATH_MORE);
	if (l->graph)
		give(&left, &l->graph, GRAPH_WIDE - GRAPH_LEAST);
	give(&left, path ? path : &l->name, left);
}

/* Levels are never shown as one: where they are many, each has less room. */
static size_t indent_of(const struct view *v, size_t name)
{
	int deepest = 0;

	for (size_t i = 0; i < v->nr_lines; i++)
		if (v->items[v->lines[i]].depth > deepest)
			deepest = v->items[v->lines[i]].depth;
	return (size_t)deepest * 2 <= name / 2 ? 2 : 1;
}

struct draw_columns draw_columns(const struct view *v, size_t width)
{
	struct draw_columns l = { 0 };
	bool cgroup = wants_cgroup(v, width);
	size_t numbers, left, needs = width < ROOMY_FROM ? NAME_NEEDS : NAME_WANTS;

	if (cgroup)
		needs = NAME_LEAST + 1 + CGROUP_LEAST;
	find_columns(v, &l, width);
	numbers = room_for_numbers(v, &l, width, needs);
	left = width > numbers + 1 ? width - numbers - 1 : 0;
	l.bar = width >= BAR_FROM && left > BAR_LEAVES && l.counted ? BAR_WIDE : 0;
	share_room(&l, left - (l.bar ? l.bar + 1 : 0), cgroup);
	l.indent = indent_of(v, l.name);
	left = l.name;
	for (int i = 0; i < NR_DRAW_COLUMNS; i++)
		if (l.has[i]) {
			l.at[i] = left + 1;
			left += l.width[i] + 1;
		}
	l.cgroup_at = left + 1;
	l.bar_at = l.cgroup_at + (l.cgroup ? l.cgroup + 1 : 0);
	l.graph_at = l.bar_at + (l.bar ? l.bar + 1 : 0);
	return l;
}

/* --- headings */

/* The longest text that fits */
static void put_longest(struct canvas *c, size_t row, size_t column, size_t width,
			const char *const *texts, size_t nr)
{
	for (size_t i = 0; i < nr; i++)
		if (format_width(texts[i]) <= width) {
			canvas_put(c, row, column, width, LOOK_HEADING, texts[i]);
			return;
		}
}

static void put_graph_heading(const struct view *v, struct canvas *c, size_t row,
			      const struct draw_columns *l, double scale)
{
	static const char *const own[] = { "EACH GRAPH HAS ITS OWN SCALE", "EACH ITS OWN SCALE",
					   "OWN SCALE", "OWN" };
	const char *time = view_is_whole(v) ? "WHOLE RUN" : "LAST 2 MIN";
	char most[FORMAT_NUMBER_LEN], texts[4][64];

	if (v->own_scales) {
		put_longest(c, row, l->graph_at, l->graph, own, ARRAY_SIZE(own));
		return;
	}
	if (!(scale > 0)) {
		canvas_put(c, row, l->graph_at, l->graph, LOOK_HEADING, time);
		return;
	}
	draw_scale(scale, !l->counted, most);
	snprintf(texts[0], sizeof(texts[0]), "%s, FULL FROM %s ON", time, most);
	snprintf(texts[1], sizeof(texts[1]), "%s, TO %s", time, most);
	snprintf(texts[2], sizeof(texts[2]), "TO %s", most);
	snprintf(texts[3], sizeof(texts[3]), "%s", most);
	put_longest(c, row, l->graph_at, l->graph,
		    (const char *const[]){ texts[0], texts[1], texts[2], texts[3] }, 4);
}

static void put_bar_heading(struct canvas *c, size_t row, const struct draw_columns *l)
{
	const char *text =
		l->has[DRAW_BOTH] ? "█ RD ▓ WR ▒ RD+WR ░ MOST" : "█ READ ▓ WRITE ░ AT MOST";

	canvas_put(c, row, l->bar_at, l->bar, LOOK_HEADING, text);
}

void draw_headings(const struct view *v, struct canvas *c, size_t row, const struct draw_columns *l,
		   double scale)
{
	static const char *const kinds[] = {
		[ROW_PROCESS] = "PROCESS",
		[ROW_CGROUP] = "CGROUP",
		[ROW_THREAD] = "THREAD",
		[ROW_JOB] = "JOB",
	};
	const char *arrow = v->reverse ? "▲" : "▼";
	char text[VIEW_FILTER_LEN + 64], head[32];

	canvas_fill(c, row, 0, c->columns, LOOK_HEADING, ' ');
	snprintf(text, sizeof(text), "%s%s%s%s%s", kinds[v->report->by],
		 v->sort == VIEW_BY_NAME ? arrow : "", v->filter[0] ? " /" : "", v->filter,
		 v->typing ? "_" : "");
	canvas_put(c, row, 0, l->name, LOOK_HEADING, text);
	for (int i = 0; i < NR_DRAW_COLUMNS; i++) {
		if (!l->has[i])
			continue;
		head_of(v, i, c->columns, head, sizeof(head));
		snprintf(text, sizeof(text), "%s%s", columns[i].sort == v->sort ? arrow : "", head);
		/* The arrow may be in the blank in front of the column. */
		canvas_right(c, row, l->at[i] - 1, l->width[i] + 1, LOOK_HEADING, text);
	}
	canvas_put(c, row, l->cgroup_at, l->cgroup, LOOK_HEADING, "CGROUP");
	if (l->bar)
		put_bar_heading(c, row, l);
	if (l->graph)
		put_graph_heading(v, c, row, l, scale);
}

/* --- numbers */

static bool any_known(const struct draw_columns *l)
{
	return l->known[DIRECTION_READ] || l->known[DIRECTION_WRITE] ||
	       l->known[DIRECTION_READWRITE];
}

static bool device_known(const struct report *r, enum direction direction)
{
	return devices_mode(r) == DEVICES_IO || devices_valid(r, direction);
}

bool draw_any_known(const struct report *r)
{
	bool any = device_known(r, DIRECTION_READ) || device_known(r, DIRECTION_WRITE);

	for (size_t i = 0; i < r->nr_counters && !any; i++)
		any = devices_task_counter(r->counters[i].counter) && r->counters[i].valid;
	return any;
}

/* "0", "0,2", "0-3"; how many of them where that has no room */
static void socket_list(const struct row_tree *t, uint64_t sockets, size_t width,
			char ret[FORMAT_NUMBER_LEN])
{
	char text[512] = "";
	size_t nr = 0;

	for (size_t i = 0; i < t->nr_sockets; i++) {
		size_t last = i;

		if (!(sockets >> i & 1))
			continue;
		while (last + 1 < t->nr_sockets && sockets >> (last + 1) & 1 &&
		       t->sockets[last + 1].id == t->sockets[last].id + 1)
			last++;
		nr += last - i + 1;
		snprintf(text + strlen(text), sizeof(text) - strlen(text), "%s%" PRIu32,
			 text[0] ? "," : "", t->sockets[i].id);
		if (last > i)
			snprintf(text + strlen(text), sizeof(text) - strlen(text), "%c%" PRIu32,
				 last > i + 1 ? '-' : ',', t->sockets[last].id);
		i = last;
	}
	if (strlen(text) > width)
		snprintf(text, sizeof(text), "%zu", nr);
	snprintf(ret, FORMAT_NUMBER_LEN, "%.*s", FORMAT_NUMBER_LEN - 1, text[0] ? text : "-");
}

/* The text of a number; @ret is "no data" where a counter has no value. */
static void number(const struct view *v, const struct draw_columns *l, const struct view_item *i,
		   enum draw_column column, char ret[FORMAT_NUMBER_LEN])
{
	const struct amounts *a = &i->amounts;
	uint64_t bytes = amounts_bytes(a);
	char range[FORMAT_NUMBER_LEN];

	switch (column) {
	case DRAW_READ:
	case DRAW_WRITE:
	case DRAW_BOTH:
		if (l->known[column])
			draw_amount(v, a->bytes[column], ret);
		else
			strcpy(ret, "no data");
		return;
	case DRAW_BYTES:
		format_bytes(bytes, ret);
		break;
	case DRAW_SHARE:
		format_percent(bytes, row_tree_all(v->tree_of), ret);
		break;
	case DRAW_RANGE:
		format_range(bytes, a->low, a->high, range);
		snprintf(ret, FORMAT_NUMBER_LEN, "%s%.20s", a->tangled ? "~" : "", range);
		break;
	case DRAW_PEAK:
		format_percent(amounts_to_memory(a), l->most, ret);
		break;
	case DRAW_SOCKETS:
		socket_list(v->tree_of, i->sockets, l->width[DRAW_SOCKETS], ret);
		break;
	case DRAW_DEVICE_READ:
	case DRAW_DEVICE_WRITE:
		if (device_known(v->report, column - DRAW_DEVICE_READ))
			draw_amount(v, a->device[column - DRAW_DEVICE_READ], ret);
		else
			strcpy(ret, "no data");
		return;
	default:
		format_percent(a->cpu_ns, report_duration_ns(v->report), ret);
		return;
	}
	if (!any_known(l))
		strcpy(ret, "-");
}

void draw_numbers(const struct view *v, struct canvas *c, size_t row, const struct draw_columns *l,
		  const struct view_item *i)
{
	char text[FORMAT_NUMBER_LEN];

	for (int k = 0; k < NR_DRAW_COLUMNS; k++) {
		if (!l->has[k])
			continue;
		number(v, l, i, (enum draw_column)k, text);
		canvas_right(c, row, l->at[k], l->width[k],
			     k != DRAW_RANGE	  ? LOOK_PLAIN
			     : i->amounts.tangled ? LOOK_WARNING
						  : LOOK_DIM,
			     text);
	}
}
