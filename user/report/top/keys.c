// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "report/top/keys.h"

#include <stdio.h>
#include <string.h>

#include "base/array.h"

#define TEN 10
#define MS  1000000ull
#define S   1000000000ull

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

static bool move_key(struct view *v, uint32_t key)
{
	long page = v->page_rows > 1 ? (long)v->page_rows - 1 : 1;
	/* More than possible */
	const long all = 1 << 24;
	const struct {
		uint32_t key;
		long lines;
	} moves[] = {
		{ KEYS_ARROW_UP, -1 },	 { 'k', -1 },
		{ KEYS_ARROW_DOWN, 1 },	 { 'j', 1 },
		{ KEYS_PAGE_UP, -page }, { KEYS_PAGE_DOWN, page },
		{ 'g', -all },		 { 'G', all },
	};

	for (size_t i = 0; i < ARRAY_SIZE(moves); i++)
		if (moves[i].key == key) {
			move(v, moves[i].lines);
			return true;
		}
	return false;
}

static bool time_key(struct view *v, uint32_t key)
{
	const long all = 1 << 24;

	switch (key) {
	case KEYS_ARROW_LEFT:
		view_go(v, -1);
		return true;
	case KEYS_ARROW_RIGHT:
		view_go(v, 1);
		return true;
	case '[':
		view_go(v, -TEN);
		return true;
	case ']':
		view_go(v, TEN);
		return true;
	case KEYS_FIRST:
		view_go(v, -all);
		return true;
	case KEYS_LAST:
		v->paused = false;
		view_go(v, all);
		return true;
	case 'p':
		v->paused = !v->paused;
		view_go(v, v->paused ? 0 : all);
		return true;
	default:
		return false;
	}
}

/* --- the rows */

static void sort_by(struct view *v, int step)
{
	v->sort = (enum view_sort)(((int)v->sort + step + NR_VIEW_SORTS) % NR_VIEW_SORTS);
	v->stale = true;
}

static void change(struct view *v, bool *what)
{
	*what = !*what;
	v->stale = true;
}

static bool row_key(struct view *v, uint32_t key)
{
	switch (key) {
	case 's':
	case KEYS_FUNCTION + 6:
		sort_by(v, 1);
		return true;
	case 'S':
		sort_by(v, -1);
		return true;
	case 'R':
		change(v, &v->reverse);
		return true;
	case 't':
	case KEYS_FUNCTION + 5:
		change(v, &v->tree);
		return true;
	case 'a':
		change(v, &v->all);
		return true;
	case ' ':
		view_fold(v, -1);
		return true;
	case '-':
		view_fold(v, 1);
		return true;
	case '+':
		view_fold(v, 0);
		return true;
	case '*':
		text_list_free(&v->folded);
		v->stale = true;
		return true;
	default:
		return false;
	}
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

static void escape(struct view *v)
{
	if (v->over != VIEW_NOTHING || v->page != VIEW_ROWS)
		show(v, v->over != VIEW_NOTHING ? v->page : VIEW_ROWS, VIEW_NOTHING);
	else if (v->filter[0])
		type(v, KEYS_ESCAPE);
}

static bool page_key(struct view *v, uint32_t key)
{
	int page = (int)v->page;

	switch (key) {
	case KEYS_TABULATOR:
		show(v, (enum view_page)((page + 1) % NR_VIEW_PAGES), VIEW_NOTHING);
		return true;
	case KEYS_BACK_TAB:
		show(v, (enum view_page)((page + NR_VIEW_PAGES - 1) % NR_VIEW_PAGES), VIEW_NOTHING);
		return true;
	case '?':
	case 'h':
	case KEYS_FUNCTION + 1:
		show(v, v->page, v->over == VIEW_HELP ? VIEW_NOTHING : VIEW_HELP);
		return true;
	case KEYS_RETURN:
	case '\n':
		if (v->page == VIEW_ROWS)
			show(v, v->page,
			     v->over == VIEW_NOTHING && v->nr_lines ? VIEW_ONE_ROW : VIEW_NOTHING);
		return true;
	case KEYS_ESCAPE:
		escape(v);
		return true;
	default:
		if (key < '1' || key >= '1' + NR_VIEW_PAGES)
			return false;
		show(v, (enum view_page)(key - '1'), VIEW_NOTHING);
		return true;
	}
}

enum keys_wish keys_press(struct view *v, uint32_t key)
{
	v->note[0] = '\0';
	if (key == KEYS_CTRL_C)
		return KEYS_END;
	if (v->typing) {
		type(v, key == '\n' ? KEYS_RETURN : key);
		return KEYS_NOTHING;
	}
	if (move_key(v, key) || time_key(v, key) || page_key(v, key))
		return KEYS_NOTHING;
	if (v->page == VIEW_ROWS && v->over == VIEW_NOTHING && row_key(v, key))
		return KEYS_NOTHING;
	switch (key) {
	case 'q':
	case KEYS_FUNCTION + 10:
		return KEYS_END;
	case 'r':
		return KEYS_RECORD;
	case 'b':
		return KEYS_ROWS;
	case 'i':
		return KEYS_LONGER;
	case 'I':
		return KEYS_SHORTER;
	case 'u':
		v->units = (enum view_units)((v->units + 1) % NR_VIEW_UNITS);
		break;
	case '/':
	case KEYS_FUNCTION + 3:
		show(v, VIEW_ROWS, VIEW_NOTHING);
		v->typing = true;
		break;
	default:
		snprintf(v->note, sizeof(v->note), "this key has no meaning: ? shows all keys");
	}
	return KEYS_NOTHING;
}
