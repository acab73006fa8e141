/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The visible part of the past: interval, rows and order, and the user's position. Needs no
 * terminal: keys come in by number, and drawing is a function of this alone.
 */
#ifndef REPORT_TOP_VIEW_H
#define REPORT_TOP_VIEW_H

#include "base/text_list.h"
#include "report/rows.h"
#include "report/top/metrics_past.h"
#include "report/top/past.h"

#define VIEW_FILTER_LEN	 64
#define VIEW_NOTE_LEN	 512
#define VIEW_PROBLEM_LEN 1100

/* Pages, in the order of their numbers on the keyboard */
enum view_page {
	VIEW_ROWS,
	VIEW_DEVICES,
	VIEW_LATENCIES,
	VIEW_COUNTERS,
	VIEW_QUALITY,
	VIEW_METRICS,
	VIEW_GPUS,
	NR_VIEW_PAGES,
};

/* Overlay in front of the page */
enum view_over {
	VIEW_NOTHING,
	VIEW_HELP,
	VIEW_ONE_ROW, /* the selected one over time */
};

enum view_sort {
	VIEW_BY_BYTES,
	VIEW_BY_READS,
	VIEW_BY_WRITES,
	VIEW_BY_CPU,
	VIEW_BY_MOST, /* the upper ends of intervals */
	VIEW_BY_NAME,
	NR_VIEW_SORTS,
};

enum view_units {
	VIEW_GB_PER_S, /* as in tables */
	VIEW_PER_S,    /* with a prefix that fits */
	VIEW_BYTES,    /* of the interval */
	NR_VIEW_UNITS,
};

/* Source of intervals */
enum view_state {
	VIEW_LIVE,
	VIEW_READING, /* a recording */
	VIEW_WAITING, /* waiting for more of it */
	VIEW_AT_END,  /* it is complete */
};

/**
 * struct view_item - a row, or a synthetic cgroup that holds rows
 * @row: NULL for the latter
 * @path: of a synthetic cgroup: the first @path_len bytes of the path of one of its rows
 * @amounts: of a synthetic cgroup, the sums
 * @sockets: those whose counters it has bytes of: bits of indexes in row_tree.sockets
 * @parent: index of an item, VIEW_NO_ITEM for none
 * @child, @next: likewise: the tree, sorted
 * @depth: of a line
 * @nr_rows: leaf rows in it
 * @shown: it is a line, or would be if its parent were not folded
 * @folded: its children are not shown
 */
struct view_item {
	const struct report_row *row;
	const char *path;
	size_t path_len;
	struct amounts amounts;
	uint64_t sockets;
	size_t parent;
	size_t child;
	size_t next;
	int depth;
	size_t nr_rows;
	bool shown;
	bool folded;
};
#define VIEW_NO_ITEM SIZE_MAX

/**
 * struct view - all of it
 * @past: intervals; not owned
 * @whole: the run as a whole, as the only interval in it; NULL: not known. Owned
 * @at_whole: that is shown, once it is known, instead of an interval
 * @playing: intervals are shown one after the other
 * @state: their source
 * @source: its name, for people: that of a file; NULL for the machine itself
 * @recording: where the run is recorded to; "" for nowhere
 * @interval_ns: requested time between two intervals
 * @page, @over: what is on the screen
 * @sort, @reverse, @tree, @units: how it is shown
 * @own_scales: each graph has its own scale
 * @all: also show idle rows and devices
 * @filter: only rows with this in a name; @typing: it is being typed
 * @folded: keys of folded items
 * @follow: the newest interval is shown; otherwise the one with the number @number
 * @paused: the user has pressed pause
 * @scroll: first line that is shown; @page_rows: number of lines with room, set by draw
 * @selected: index of a line; @selected_key: of its item
 * @text_scroll: first line of a text
 * @neighbours: text about neighbours; NULL for none. Owned
 * @metrics: of the intervals in which they were measured; owned
 * @measuring: metrics are being counted
 * @metrics_problem: why they are not counted while the page is shown; "" for none
 * @return_ns: the first interval that ends no earlier will be shown; 0: none
 * @note: shown in place of the keys until the next key; "" for none
 * @report, @tree_of: of the interval that is shown; NULL without one
 * @items, @nr_items: of the report
 * @lines, @nr_lines: indexes of items, from above
 * @nr_quiet: idle rows that were left out
 * @stale: something has changed since view_update()
 */
struct view {
	struct past *past;
	struct past *whole;
	bool at_whole;
	bool playing;
	enum view_state state;
	const char *source;
	const char *recording;
	uint64_t interval_ns;
	enum view_page page;
	enum view_over over;
	enum view_sort sort;
	bool reverse;
	bool tree;
	enum view_units units;
	bool own_scales;
	bool all;
	char filter[VIEW_FILTER_LEN];
	bool typing;
	struct text_list folded;
	bool follow;
	bool paused;
	uint64_t number;
	size_t scroll;
	size_t page_rows;
	size_t selected;
	char *selected_key;
	size_t text_scroll;
	char *neighbours;
	struct metrics_past metrics;
	bool measuring;
	char metrics_problem[VIEW_PROBLEM_LEN];
	uint64_t return_ns;
	char note[VIEW_NOTE_LEN];
	struct report *report;
	struct row_tree *tree_of;
	struct view_item *items;
	size_t nr_items;
	size_t cap_items;
	size_t *lines;
	size_t nr_lines;
	size_t nr_quiet;
	bool stale;
};

/** view_init() - start with the newest interval, and rows as a tree */
void view_init(struct view *v, struct past *past);
void view_free(struct view *v);

/** view_add() - add an interval; 0 or -ENOMEM */
int view_add(struct view *v, const struct report *r);

/**
 * view_add_metrics() - add metrics of the newest interval
 * @v: has one
 * @r: owned by the view from here on, also after an error
 *
 * Return: 0 or -ENOMEM.
 */
int view_add_metrics(struct view *v, struct stat_report *r);

/** view_add_whole() - add the report on the run as a whole; 0 or -ENOMEM */
int view_add_whole(struct view *v, const struct report *r);

/** view_is_whole() - is the run as a whole shown? */
bool view_is_whole(const struct view *v);

/** view_clear() - forget all intervals */
void view_clear(struct view *v);

/** view_reread() - forget them to read them again; the position in time stays */
void view_reread(struct view *v);

/**
 * view_update() - compute the items and lines to show
 *
 * Return: 0 or -ENOMEM.
 */
int view_update(struct view *v);

/** view_index() - index of the current interval; only if there is any */
size_t view_index(const struct view *v);

/** view_select() - select another line */
void view_select(struct view *v, size_t line);

/**
 * view_go() - move by a number of intervals
 *
 * Beyond the newest one it follows. The run as a whole is in front of the oldest one.
 */
void view_go(struct view *v, long steps);

/** view_play() - show intervals one after the other, from the oldest behind the newest; or stop */
void view_play(struct view *v);

/** view_play_on() - show the next one; the newest one ends it */
void view_play_on(struct view *v);

/** view_fold() - fold or unfold the selected item */
void view_fold(struct view *v, bool fold);

/** view_item_at() - the item of a line, NULL for none */
struct view_item *view_item_at(const struct view *v, size_t line);

/** view_item_name() - name of an item, to be freed; safe to print. 0 or -ENOMEM */
int view_item_name(const struct view *v, const struct view_item *i, char **ret);

#endif
