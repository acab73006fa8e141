// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/cleanup.h"
#include "base/clock.h"
#include "base/text.h"
#include "base/units.h"
#include "report/top/draw_internal.h"
#include "report/verdict.h"

/* Room for a verdict of one word beside the names of pages */
#define VERDICT_ROOM 5
#define RECORDS	     "● REC"

static const char *const pages[NR_VIEW_PAGES] = {
	[VIEW_ROWS] = "Rows",	      [VIEW_DEVICES] = "Devices", [VIEW_LATENCIES] = "Latencies",
	[VIEW_COUNTERS] = "Counters", [VIEW_QUALITY] = "Quality", [VIEW_METRICS] = "Metrics",
	[VIEW_GPUS] = "GPUs",
};

static const char help[] =
	"# KEYS\n"
	"↑ ↓ PgUp PgDn g G  choose a row; k and j, too\n"
	"Enter              a row or a sum over time, with all its shares; Esc goes back\n"
	"← →                one interval back, or on; [ and ] ten; Home the oldest\n"
	"End                the newest interval, and all that follow\n"
	"Space              a file: plays five intervals a second, or stops; live: pause\n"
	"w                  the whole run, once all of a file has been read\n"
	"p                  pause: the picture stands still, measuring goes on\n"
	"/ F3               only rows with this in a name, number, cgroup, job\n"
	"s F6  S  R         sort by the next column, the one before; the other way\n"
	"t F5               tree or list\n"
	"b                  rows are processes, cgroups, jobs, in turn\n"
	"- + *              fold and unfold a part of the tree; * unfolds all\n"
	"y                  one scale for all graphs, or each its own\n"
	"a                  also rows and devices that did nothing\n"
	"u                  GB/s, bytes a second, bytes of the interval\n"
	"i I                a longer interval, a shorter one\n"
	"r                  record from now on, or end that (-o FILE)\n"
	"Tab 1 to 7         pages\n"
	"? h F1             this help\n"
	"q F10 Ctrl-C       end\n"
	"\n"
	"# WHAT IS SHOWN\n"
	"95%    interval of a row's bytes: 7.89-10.4 GB. With ~ it cannot be told from\n"
	"       others: its value is what was expected. A line names them.\n"
	"SHARE  part of all bytes of the machine\n"
	"PEAK   part of what the memory of all sockets could have moved\n"
	"CPU    100% is one CPU\n"
	"SOCKET those whose memory traffic it had a part in\n"
	"Bars   █ reads, ▓ writes, ░ to the upper end of the interval; full: the largest row\n"
	"Graph  the last two minutes, or the whole run; its heading has the full height\n"
	"*      the row has ended\n"
	"+3     number of folded rows\n"
	"A cgroup above processes has the sums of these, also of both ends of their\n"
	"intervals. One that only holds another cgroup has no line: a/b is both.\n";

/* --- the two lines at the top */

/* The position in time: "LIVE", "12 s ago" */
static enum canvas_look put_state(const struct view *v, char *ret, size_t size)
{
	size_t count = past_count(v->past), at = count ? view_index(v) : 0;
	static const char *const states[] = {
		[VIEW_LIVE] = "LIVE",
		[VIEW_READING] = "READING",
		[VIEW_WAITING] = "WAITS FOR MORE",
		[VIEW_AT_END] = "END OF FILE",
	};

	if (view_is_whole(v)) {
		snprintf(ret, size, "WHOLE RUN, %zu interval%s", count, count == 1 ? "" : "s");
		return LOOK_STRONG;
	}
	if (!count || (v->follow && !v->paused)) {
		snprintf(ret, size, "%s", states[v->state]);
		return v->state == VIEW_AT_END ? LOOK_STRONG : LOOK_GOOD;
	}
	snprintf(ret, size, "%s%zu/%zu, %.1f s before %s",
		 v->playing  ? "PLAYS "
		 : v->paused ? "PAUSED "
			     : "",
		 at + 1, count,
		 (double)(past_when(v->past, count - 1).end_ns - past_when(v->past, at).end_ns) /
			 (double)NS_PER_S,
		 v->state == VIEW_LIVE ? "now" : "the end");
	return LOOK_WARNING;
}

/* Parts of the title from left to right, and which of them come first where there is little room. */
enum { TITLE_TOP, TITLE_NAME, TITLE_PLATFORM, TITLE_TIME, TITLE_LENGTH, NR_TITLE };
static const int title_ranks[] = { TITLE_TIME, TITLE_LENGTH, TITLE_NAME, TITLE_TOP,
				   TITLE_PLATFORM };

/* Parts for which there is no room in front of @end are left out. Returns the column behind them. */
static size_t put_parts(struct canvas *c, size_t column, size_t end, char texts[NR_TITLE][96])
{
	size_t width = column;

	for (size_t i = 0; i < NR_TITLE; i++) {
		char *text = texts[title_ranks[i]];

		if (text[0] && width + format_width(text) <= end)
			width += format_width(text) + 2;
		else
			text[0] = '\0';
	}
	for (size_t i = 0; i < NR_TITLE; i++)
		if (texts[i][0])
			column += canvas_put(c, 0, column, SIZE_MAX, LOOK_TITLE, texts[i]) + 2;
	return column;
}

static void put_title(const struct view *v, struct canvas *c)
{
	char state[96], texts[NR_TITLE][96] = { [TITLE_TOP] = "top" };
	enum canvas_look look = put_state(v, state, sizeof(state));
	size_t column, end = strlen(state) + 1;
	const struct report *r = v->report;

	end += v->recording[0] ? format_width(RECORDS) + 1 : 0;
	end = c->columns > end ? c->columns - end : 0;
	canvas_fill(c, 0, 0, c->columns, LOOK_TITLE, ' ');
	column = canvas_put(c, 0, 0, SIZE_MAX, LOOK_TITLE, "t410trace ");
	if (r) {
		snprintf(texts[TITLE_NAME], sizeof(texts[0]), "%.64s", r->host->name);
		if (c->columns >= 100)
			snprintf(texts[TITLE_PLATFORM], sizeof(texts[0]), "%.16s",
				 r->host->platform);
		format_when(r->start_time_ns, r->start_ns, texts[TITLE_TIME]);
		snprintf(texts[TITLE_LENGTH], sizeof(texts[0]), "%.3f s",
			 (double)report_duration_ns(r) / 1e9);
	}
	column = put_parts(c, column, end, texts);
	if (v->recording[0])
		canvas_put(c, 0, column, SIZE_MAX, LOOK_BAD, RECORDS);
	canvas_right(c, 0, 0, c->columns, look, state);
}

/* The verdict, with its reasons where there is room: page 5 has all of it. */
static void put_verdict(const struct view *v, struct canvas *c, size_t column)
{
	static const enum canvas_look looks[] = {
		[VERDICT_GOOD] = LOOK_GOOD,
		[VERDICT_FAIR] = LOOK_WARNING,
		[VERDICT_POOR] = LOOK_BAD,
	};
	const struct verdict verdict = report_verdict(v->report);
	const char *word = verdict_word_name(verdict.word);
	size_t room = c->columns > column ? c->columns - column : 0;

	canvas_right(c, 1, column, room, looks[verdict.word],
		     format_width(verdict.text) <= room ? verdict.text : word);
}

/* If not all names have room, only the name of the current page is shown. */
static void put_tabs(const struct view *v, struct canvas *c)
{
	size_t column = 0, all = 0;

	for (int i = 0; i < NR_VIEW_PAGES; i++)
		all += strlen(pages[i]) + 2;
	for (int i = 0; i < NR_VIEW_PAGES; i++) {
		bool here = i == (int)v->page;
		char number[12];

		snprintf(number, sizeof(number), "%d", i + 1);
		column += canvas_put(c, 1, column, SIZE_MAX, LOOK_KEY, number);
		if (here || all + VERDICT_ROOM <= c->columns)
			column += canvas_put(c, 1, column, SIZE_MAX, here ? LOOK_STRONG : LOOK_DIM,
					     pages[i]);
		column++;
	}
	if (v->report)
		put_verdict(v, c, column);
}

/* --- the line at the bottom */

static void put_keys(const struct view *v, struct canvas *c, size_t row)
{
	const struct {
		const char *key, *what;
	} keys[] = {
		{ "?", "Help" },
		{ "/", "Filter" },
		{ "s", "Sort" },
		{ "t", "Tree" },
		{ "Space", v->source ? "Play" : "Pause" },
		{ "←→", "Time" },
		{ "Enter", "Row" },
		{ "Tab", "Page" },
		{ "u", "Units" },
		{ "q", "Quit" },
		{ "a", "All" },
		{ "i", "Interval" },
		{ "r", "Record" },
		{ "b", "By" },
		{ "End", "Newest" },
	};
	size_t column = 0;

	if (v->note[0]) {
		canvas_put(c, row, 0, SIZE_MAX, LOOK_WARNING, v->note);
		return;
	}
	for (size_t i = 0; i < ARRAY_SIZE(keys); i++) {
		size_t wide = format_width(keys[i].key) + 1 + strlen(keys[i].what);

		if (column + wide > c->columns)
			break;
		column += canvas_put(c, row, column, SIZE_MAX, LOOK_KEY, keys[i].key) + 1;
		column += canvas_put(c, row, column, SIZE_MAX, LOOK_PLAIN, keys[i].what) + 2;
	}
}

static void put_filter(const struct view *v, struct canvas *c, size_t row)
{
	static const char keep[] = "Enter keeps it, Esc shows all";
	size_t column = canvas_put(c, row, 0, SIZE_MAX, LOOK_KEY, "Filter: ");

	column += canvas_put(c, row, column, SIZE_MAX, LOOK_STRONG, v->filter);
	column += canvas_put(c, row, column, 1, LOOK_SELECTED, " ");
	if (column + 1 + strlen(keep) <= c->columns)
		canvas_put(c, row, column + 1, SIZE_MAX, LOOK_DIM, keep);
}

/* --- all of it */

static void put_waiting(const struct view *v, struct canvas *c)
{
	char text[160], time[UNITS_TEXT_LEN];

	time_text(v->interval_ns, time);
	if (v->source)
		snprintf(text, sizeof(text), "no interval of %.100s is complete so far", v->source);
	else
		snprintf(text, sizeof(text), "measuring: the first interval ends after %s", time);
	canvas_put(c, 3, 1, SIZE_MAX, LOOK_DIM, text);
}

static int put_page(struct view *v, struct canvas *c)
{
	struct draw_area area = { 2, c->rows - 3 };
	/* At least half of the lines are for rows. */
	size_t most = c->rows / 2 > 4 ? c->rows / 2 - 2 : 2, used;
	int err;

	if (v->page != VIEW_ROWS)
		return draw_page(v, c, area);
	used = draw_sockets(v, c, area.top, most);
	area.top += used;
	area.nr -= used + 1;
	if (v->over == VIEW_ONE_ROW)
		return draw_one_row(v, c, (struct draw_area){ area.top, area.nr + 1 });
	err = draw_rows(v, c, area);
	return err ? err : draw_selected(v, c, c->rows - 2);
}

int draw_view(struct view *v, struct canvas *c)
{
	int err;

	if (c->rows < DRAW_MIN_ROWS || c->columns < DRAW_MIN_COLUMNS) {
		canvas_put(c, 0, 0, SIZE_MAX, LOOK_WARNING, "too small");
		return 0;
	}
	err = view_update(v);
	if (err)
		return err;
	put_title(v, c);
	put_tabs(v, c);
	if (v->over == VIEW_HELP)
		draw_text(v, c, (struct draw_area){ 2, c->rows - 3 }, help);
	else if (!v->report)
		put_waiting(v, c);
	else
		err = put_page(v, c);
	if (v->typing)
		put_filter(v, c, c->rows - 1);
	else
		put_keys(v, c, c->rows - 1);
	return err;
}
