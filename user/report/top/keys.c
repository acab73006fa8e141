// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "report/top/keys.h"

#include <stdio.h>
#include <string.h>

#include "base/array.h"

#define MS  1000000ull
#define S   1000000000ull
/* More lines and intervals than there can be */
#define ALL (1L << 24)

static const uint64_t intervals[] = { 100 * MS, 200 * MS, 500 * MS, S,	    2 * S,
				      5 * S,	10 * S,	  30 * S,   60 * S, 300 * S };

uint64_t keys_interval(uint64_t interval_ns, bool longer)
{
	for (size_t i = 0; i < ARRAY_SIZE(intervals); i++) {
		size_t back = ARRAY_SIZE(intervals) - 1 - i;

		if (longer && intervals[i] > interval_ns)
			return intervals[i];
		if (!longer && intervals[back] < interval_ns)
			return intervals[back];
	}
	return interval_ns;
}

enum row_kind keys_rows(enum row_kind by, bool by_thread)
{
	if (by == ROW_CGROUP)
		return ROW_JOB;
	if (by == ROW_JOB)
		return by_thread ? ROW_THREAD : ROW_PROCESS;
	return ROW_CGROUP;
}

/* --- moving */

static void move(struct view *v, long lines)
{
	if (v->over != VIEW_NOTHING || v->page != VIEW_ROWS) {
		/* Drawing limits the scrolling to the end of the text. */
		v->text_scroll = lines < 0 && (size_t)-lines > v->text_scroll
					 ? 0
					 : v->text_scroll + (size_t)lines;
		return;
	}
	view_select(v, lines < 0 && (size_t)-lines > v->selected ? 0 : v->selected + (size_t)lines);
}

static void move_pages(struct view *v, long pages)
{
	move(v, v->page_rows > 1 ? pages * ((long)v->page_rows - 1) : pages);
}

static void go_oldest(struct view *v, long arg)
{
	(void)arg;
	if (view_is_whole(v)) {
		view_go(v, 1);
		return;
	}
	view_go(v, -ALL);
	/* The whole run is in front of it. */
	v->at_whole = false;
}

static void go_newest(struct view *v, long arg)
{
	(void)arg;
	v->paused = v->playing = false;
	view_go(v, ALL);
}

static void pause_or_go_on(struct view *v, long arg)
{
	(void)arg;
	v->playing = false;
	v->paused = !v->paused;
	view_go(v, v->paused ? 0 : ALL);
}

/* A recording plays; of the machine there is nothing behind the newest interval. */
static void play_or_pause(struct view *v, long arg)
{
	if (v->source)
		view_play(v);
	else
		pause_or_go_on(v, arg);
}

static void go_whole(struct view *v, long arg)
{
	(void)arg;
	v->playing = false;
	v->at_whole = true;
	v->stale = true;
	if (!v->whole)
		snprintf(v->note, sizeof(v->note), "%s",
			 v->source ? "the whole run is shown once all of it has been read"
				   : "the whole run is that of a recording");
	if (!v->source)
		v->at_whole = false;
}

/* --- the rows */

static void sort_by(struct view *v, long step)
{
	v->sort = (enum view_sort)(((int)v->sort + step + NR_VIEW_SORTS) % NR_VIEW_SORTS);
	v->stale = true;
}

/* @offset: of a bool of the view */
static void change(struct view *v, long offset)
{
	bool *what = (bool *)((char *)v + offset);

	*what = !*what;
	v->stale = true;
}

static void fold(struct view *v, long arg)
{
	view_fold(v, arg);
}

static void unfold_all(struct view *v, long arg)
{
	(void)arg;
	text_list_free(&v->folded);
	v->stale = true;
}

static void change_units(struct view *v, long arg)
{
	(void)arg;
	v->units = (enum view_units)((v->units + 1) % NR_VIEW_UNITS);
}

/* --- the filter */

static void type(struct view *v, uint32_t key)
{
	size_t length = strlen(v->filter);

	v->stale = true;
	if (key == KEYS_RETURN) {
		v->typing = false;
	} else if (key == KEYS_ESCAPE) {
		v->typing = false;
		v->filter[0] = '\0';
	} else if (key == KEYS_ERASE || key == '\b') {
		v->filter[length ? length - 1 : 0] = '\0';
	} else if (key >= ' ' && key < 0x7f && length + 1 < sizeof(v->filter)) {
		v->filter[length] = (char)key;
		v->filter[length + 1] = '\0';
	}
}

/* --- pages */

static void show(struct view *v, enum view_page page, enum view_over over)
{
	v->page = page;
	v->over = over;
	v->text_scroll = 0;
}

static void start_filter(struct view *v, long arg)
{
	(void)arg;
	show(v, VIEW_ROWS, VIEW_NOTHING);
	v->typing = true;
}

static void turn_pages(struct view *v, long step)
{
	show(v, (enum view_page)(((int)v->page + step + NR_VIEW_PAGES) % NR_VIEW_PAGES),
	     VIEW_NOTHING);
}

static void go_page(struct view *v, long page)
{
	show(v, (enum view_page)page, VIEW_NOTHING);
}

static void help(struct view *v, long arg)
{
	(void)arg;
	show(v, v->page, v->over == VIEW_HELP ? VIEW_NOTHING : VIEW_HELP);
}

static void enter(struct view *v, long arg)
{
	(void)arg;
	if (v->page == VIEW_ROWS)
		show(v, v->page,
		     v->over == VIEW_NOTHING && v->nr_lines ? VIEW_ONE_ROW : VIEW_NOTHING);
}

static void escape(struct view *v, long arg)
{
	(void)arg;
	if (v->over != VIEW_NOTHING || v->page != VIEW_ROWS)
		show(v, v->over != VIEW_NOTHING ? v->page : VIEW_ROWS, VIEW_NOTHING);
	else if (v->filter[0])
		type(v, KEYS_ESCAPE);
}

/* --- all keys */

/* @act gets @arg; only in the list of rows if @rows is set. Otherwise @wish is for the program. */
static const struct key_row {
	uint32_t key;
	void (*act)(struct view *v, long arg);
	long arg;
	bool rows;
	enum keys_wish wish;
} keys[] = {
	{ KEYS_ARROW_UP, .act = move, .arg = -1 },
	{ 'k', .act = move, .arg = -1 },
	{ KEYS_ARROW_DOWN, .act = move, .arg = 1 },
	{ 'j', .act = move, .arg = 1 },
	{ KEYS_PAGE_UP, .act = move_pages, .arg = -1 },
	{ KEYS_PAGE_DOWN, .act = move_pages, .arg = 1 },
	{ 'g', .act = move, .arg = -ALL },
	{ 'G', .act = move, .arg = ALL },
	{ KEYS_ARROW_LEFT, .act = view_go, .arg = -1 },
	{ KEYS_ARROW_RIGHT, .act = view_go, .arg = 1 },
	{ '[', .act = view_go, .arg = -10 },
	{ ']', .act = view_go, .arg = 10 },
	{ KEYS_FIRST, .act = go_oldest },
	{ KEYS_LAST, .act = go_newest },
	{ 'w', .act = go_whole },
	{ 'p', .act = pause_or_go_on },
	{ ' ', .act = play_or_pause },
	{ KEYS_TABULATOR, .act = turn_pages, .arg = 1 },
	{ KEYS_BACK_TAB, .act = turn_pages, .arg = -1 },
	{ '1', .act = go_page, .arg = VIEW_ROWS },
	{ '2', .act = go_page, .arg = VIEW_DEVICES },
	{ '3', .act = go_page, .arg = VIEW_LATENCIES },
	{ '4', .act = go_page, .arg = VIEW_COUNTERS },
	{ '5', .act = go_page, .arg = VIEW_QUALITY },
	{ '6', .act = go_page, .arg = VIEW_METRICS },
	{ '7', .act = go_page, .arg = VIEW_GPUS },
	{ '?', .act = help },
	{ 'h', .act = help },
	{ KEYS_FUNCTION + 1, .act = help },
	{ KEYS_RETURN, .act = enter },
	{ '\n', .act = enter },
	{ KEYS_ESCAPE, .act = escape },
	{ 's', .act = sort_by, .arg = 1, .rows = true },
	{ KEYS_FUNCTION + 6, .act = sort_by, .arg = 1, .rows = true },
	{ 'S', .act = sort_by, .arg = -1, .rows = true },
	{ 'R', .act = change, .arg = offsetof(struct view, reverse), .rows = true },
	{ 't', .act = change, .arg = offsetof(struct view, tree), .rows = true },
	{ KEYS_FUNCTION + 5, .act = change, .arg = offsetof(struct view, tree), .rows = true },
	{ 'y', .act = change, .arg = offsetof(struct view, own_scales), .rows = true },
	{ 'a', .act = change, .arg = offsetof(struct view, all) },
	{ '-', .act = fold, .arg = true, .rows = true },
	{ '+', .act = fold, .rows = true },
	{ '*', .act = unfold_all, .rows = true },
	{ 'u', .act = change_units },
	{ '/', .act = start_filter },
	{ KEYS_FUNCTION + 3, .act = start_filter },
	{ 'q', .wish = KEYS_END },
	{ KEYS_FUNCTION + 10, .wish = KEYS_END },
	{ 'r', .wish = KEYS_RECORD },
	{ 'b', .wish = KEYS_ROWS },
	{ 'i', .wish = KEYS_LONGER },
	{ 'I', .wish = KEYS_SHORTER },
};

enum keys_wish keys_press(struct view *v, uint32_t key)
{
	bool list = v->page == VIEW_ROWS && v->over == VIEW_NOTHING;

	v->note[0] = '\0';
	if (key == KEYS_CTRL_C)
		return KEYS_END;
	if (v->typing) {
		type(v, key == '\n' ? KEYS_RETURN : key);
		return KEYS_NOTHING;
	}
	for (size_t i = 0; i < ARRAY_SIZE(keys); i++) {
		if (keys[i].key != key || (keys[i].rows && !list))
			continue;
		if (keys[i].act)
			keys[i].act(v, keys[i].arg);
		return keys[i].wish;
	}
	snprintf(v->note, sizeof(v->note), "this key has no meaning: ? shows all keys");
	return KEYS_NOTHING;
}
