// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "report/table/table.h"

#include <assert.h>
#include <errno.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/cleanup.h"
#include "base/sums.h"
#include "report/devices.h"
#include "report/grid.h"
#include "report/names.h"
#include "report/put.h"
#include "report/rows.h"

#define BYTES_WIDTH 12
#define NAME_MIN    20
#define ALL_WAYS    (-1)

/**
 * struct compare_line - a row in all reports
 * @rows: by report; NULL where it is missing
 * @largest: the most bytes of all methods, for sorting
 */
struct compare_line {
	const struct report_row *rows[NR_METHODS];
	uint64_t largest;
};

struct sum {
	uint64_t value, low, high;
};

/* Add up bytes of CPUs for a row; @only is a direction, or ALL_WAYS. */
static struct sum row_sum(const struct report *r, const struct report_row *row, int only)
{
	struct sum sum = { 0 };

	for (size_t i = 0; row && i < row->nr_shares; i++) {
		const struct share *s = &row->shares[i];

		if (!devices_task_counter(r->counters[s->counter].counter))
			continue;
		if (only >= 0 && (int)r->counters[s->counter].counter->direction != only)
			continue;
		sum.value = sum_capped(sum.value, s->value);
		sum.low = sum_capped(sum.low, s->low);
		sum.high = sum_capped(sum.high, s->high);
	}
	return sum;
}

static int by_key(const void *a, const void *b)
{
	const struct report_row *const *x = a, *const *y = b;

	return strcmp((*x)->key, (*y)->key);
}

static int by_bytes(const void *a, const void *b)
{
	const struct compare_line *x = a, *y = b;

	return ORDER(y->largest, x->largest) ?: strcmp(x->rows[0]->key, y->rows[0]->key);
}

/* Leaf rows of a report, sorted by key. */
static const struct report_row **sorted_rows(const struct report *r, size_t *ret_nr)
{
	const struct report_row **rows = calloc(r->nr_rows + 1, sizeof(const struct report_row *));
	size_t nr = 0;

	if (!rows)
		return NULL;
	for (size_t i = 0; i < r->nr_rows; i++)
		if (r->rows[i].leaf)
			rows[nr++] = &r->rows[i];
	qsort(rows, nr, sizeof(const struct report_row *), by_key);
	*ret_nr = nr;
	return rows;
}

/*
 * Rows of the first report with their counterparts in the other reports. All methods see the same
 * events, so none has a row that another lacks, except among pooled ones.
 */
static int match_rows(struct report *const *reports, size_t nr, struct compare_line **ret,
		      size_t *ret_nr)
{
	struct compare_line *lines = NULL;
	size_t nr_lines = 0;

	for (size_t k = 0; k < nr; k++) {
		size_t nr_rows = 0;
		cleanup_free const struct report_row **rows = sorted_rows(reports[k], &nr_rows);

		if (!k && rows) {
			nr_lines = nr_rows;
			lines = calloc(nr_lines + 1, sizeof(*lines));
		}
		if (!rows || !lines) {
			free(lines);
			return -ENOMEM;
		}
		for (size_t i = 0, at = 0; i < nr_lines; i++) {
			struct compare_line *l = &lines[i];
			uint64_t bytes;

			if (!k)
				l->rows[0] = rows[i];
			while (at < nr_rows && strcmp(rows[at]->key, l->rows[0]->key) < 0)
				at++;
			if (at < nr_rows && !strcmp(rows[at]->key, l->rows[0]->key))
				l->rows[k] = rows[at];
			bytes = row_sum(reports[k], l->rows[k], ALL_WAYS).value;
			if (bytes > l->largest)
				l->largest = bytes;
		}
	}
	qsort(lines, nr_lines, sizeof(*lines), by_bytes);
	*ret = lines;
	*ret_nr = nr_lines;
	return 0;
}

/* --- table */

/* The reports side by side. */
struct side_by_side {
	struct report *const *reports;
	const enum method *methods;
	size_t nr;
	const struct table_options *o;
	bool ways[NR_DIRECTIONS]; /* with -v, directions that have their own line */
};

/* A line of the table: a row, or the sum of several consecutive ones. */
struct shown {
	const struct compare_line *l;
	size_t nr;
	int only; /* see row_sum() */
};

static struct sum sum_at(const struct grid_place *at, size_t k)
{
	const struct side_by_side *s = at->table;
	const struct shown *shown = at->row;
	struct sum all = { 0 };

	for (size_t i = 0; i < shown->nr; i++) {
		struct sum one = row_sum(s->reports[k], shown->l[i].rows[k], shown->only);

		all.value = sum_capped(all.value, one.value);
		all.low = sum_capped(all.low, one.low);
		all.high = sum_capped(all.high, one.high);
	}
	return all;
}

static struct grid_cell cell_name(const struct grid_place *at)
{
	const struct report_row *row = ((const struct shown *)at->row)->l->rows[0];
	cleanup_free char *text = NULL, *cut = NULL;
	char number[32] = "";
	int err;

	if (row->kind == ROW_JOB)
		err = names_row(row, &text);
	else if (row->kind == ROW_CGROUP)
		err = format_terminal(row->cgroup ? row->cgroup : "?", SIZE_MAX, &text);
	else
		err = format_terminal(row->comm_known ? row->comm : "?", sizeof(row->comm), &text);
	if (row->kind == ROW_PROCESS || row->kind == ROW_THREAD)
		snprintf(number, sizeof(number), " %u",
			 row->kind == ROW_THREAD ? row->tid : row->pid);
	if (!err)
		err = format_cut(text, at->column->width - strlen(number),
				 row->kind == ROW_CGROUP ? FORMAT_CUT_LEFT : FORMAT_CUT_RIGHT,
				 &cut);
	return err ? grid_take(NULL, err) : grid_text("%s%s", cut, number);
}

static struct grid_cell cell_bytes(const struct grid_place *at)
{
	size_t k = (size_t)at->column->arg;

	return grid_if(((const struct shown *)at->row)->l->rows[k],
		       grid_bytes(sum_at(at, k).value));
}

/* Difference of the last from the first: "+12.5%". */
static struct grid_cell cell_difference(const struct grid_place *at)
{
	size_t nr = ((const struct side_by_side *)at->table)->nr;
	uint64_t then = sum_at(at, 0).value, now = sum_at(at, nr - 1).value;
	double percent = then ? ((double)now - (double)then) / (double)then * 100 : 0;

	if (!then)
		return grid_text(now ? "new" : "-");
	return percent >= 100000 ? grid_text(">99999%%") : grid_text("%+.1f%%", percent);
}

static struct grid_cell cell_last(const struct grid_place *at)
{
	size_t nr = ((const struct side_by_side *)at->table)->nr;
	struct sum last = sum_at(at, nr - 1);
	char low[FORMAT_NUMBER_LEN], high[FORMAT_NUMBER_LEN];

	format_bytes(last.low, low);
	format_bytes(last.high, high);
	return grid_text("%s to %s", low, high);
}

GRID_SHOWN(is_asked_for, struct side_by_side, (size_t)at->column->arg < table->nr);

static const struct grid_column columns[] = {
	{ .least = NAME_MIN, .most = SIZE_MAX, .look = GRID_LEFT, .cell = cell_name },
	{ NULL, NULL, BYTES_WIDTH, .shown = is_asked_for, .cell = cell_bytes, .arg = 0 },
	{ NULL, NULL, BYTES_WIDTH, .shown = is_asked_for, .cell = cell_bytes, .arg = 1 },
	{ NULL, NULL, BYTES_WIDTH, .shown = is_asked_for, .cell = cell_bytes, .arg = 2 },
	{ NULL, "DIFF", 8, .cell = cell_difference },
	{ NULL, "95% OF THE LAST", 18, .gap = 1, .look = GRID_LEFT, .cell = cell_last },
};

static_assert(ARRAY_SIZE(columns) == 1 + NR_METHODS + 2, "a column for each method");

static void put_title(FILE *out, const struct report *r)
{
	char time[FORMAT_WHEN_LEN], seconds[FORMAT_NUMBER_LEN];

	format_when(r->start_time_ns, r->start_ns, time);
	format_seconds(r->end_ns - r->start_ns, seconds);
	fprintf(out, "%s%s, %s s%s, by %s, bytes by method\n", r->sequence ? "\n" : "", time,
		seconds, r->summary ? " in all" : "", row_kind_name(r->by));
}

static void put_foot(FILE *out, const struct side_by_side *s)
{
	for (size_t k = 0; k < s->nr; k++)
		if (s->reports[k]->quality.method != s->methods[k])
			fprintf(out, "quality: %s could not be used, its column is %s\n",
				method_name(s->methods[k]),
				method_name(s->reports[k]->quality.method));
}

/* Directions counted for tasks. If nothing counts both as one, there are two. */
static void find_ways(struct side_by_side *s)
{
	const struct report *r = s->reports[0];

	for (size_t i = 0; i < r->nr_counters; i++) {
		const struct counter *c = r->counters[i].counter;

		if (devices_task_counter(c))
			s->ways[c->direction] = true;
	}
	if (!s->ways[DIRECTION_READWRITE])
		s->ways[DIRECTION_READ] = s->ways[DIRECTION_WRITE] = true;
}

static int put_line_of(const struct grid *g, const struct side_by_side *s,
		       const struct compare_line *l)
{
	static const char *const labels[NR_DIRECTIONS] = { "  read", "  write", "  read + write" };
	struct shown shown = { .l = l, .nr = 1, .only = ALL_WAYS };
	int err = grid_row(g, &shown);

	for (int d = 0; d < NR_DIRECTIONS && s->o->verbose && !err; d++) {
		shown.only = d;
		if (s->ways[d])
			err = grid_line(g, labels[d], 1, &shown);
	}
	return err;
}

/* Lines besides those of rows: empty line, title, heading, hidden rest, unused options. */
#define OTHER_LINES 6

/* Number of rows shown: see struct table_options. */
static size_t rows_shown(const struct side_by_side *s, const struct compare_line *lines, size_t nr)
{
	size_t height = s->o->height, each = 1, fit;

	if (s->o->top || !height)
		return s->o->top && s->o->top < nr ? s->o->top : nr;
	for (int d = 0; d < NR_DIRECTIONS; d++)
		each += s->o->verbose && s->ways[d];
	fit = height > OTHER_LINES ? (height - OTHER_LINES) / each : 0;
	while (nr > TABLE_LEAST_ROWS && (nr > fit || !lines[nr - 1].largest))
		nr--;
	return nr;
}

static int put_rest(const struct grid *g, const struct side_by_side *s,
		    const struct compare_line *lines, size_t nr)
{
	const struct shown rest = { .l = lines, .nr = nr, .only = ALL_WAYS };
	char text[64];

	if (s->o->top || !s->o->height) {
		fprintf(g->out, "(%zu more rows)\n", nr);
		return 0;
	}
	snprintf(text, sizeof(text), "... and %zu more", nr);
	return grid_line(g, text, 1, &rest);
}

static int put_table(FILE *out, void *arg)
{
	const struct side_by_side *s = arg;
	GRID(g, columns, out, s->o->width ? s->o->width : TABLE_DEFAULT_WIDTH, s);
	cleanup_free struct compare_line *lines = NULL;
	size_t nr_lines = 0, shown;
	int err = match_rows(s->reports, s->nr, &lines, &nr_lines);

	if (err)
		return err;
	for (size_t k = 0; k < s->nr; k++)
		g.columns[1 + k].unit = method_name(s->methods[k]);
	grid_fit(&g);
	put_title(out, s->reports[0]);
	grid_heading(&g);
	shown = rows_shown(s, lines, nr_lines);
	for (size_t i = 0; i < shown && !err; i++)
		err = put_line_of(&g, s, &lines[i]);
	if (shown < nr_lines && !err)
		err = put_rest(&g, s, lines + shown, nr_lines - shown);
	put_foot(out, s);
	return err;
}

int compare_table_write(FILE *out, struct report *const *reports, const enum method *methods,
			size_t nr, const struct table_options *o)
{
	struct side_by_side s = { .reports = reports, .methods = methods, .nr = nr, .o = o };

	find_ways(&s);
	return format_whole(out, put_table, &s);
}

/* --- JSON; the first error stays, and later steps do nothing */

/* The part of a row in a counter, or NULL. */
static const struct share *share_of(const struct report_row *row, uint32_t counter)
{
	for (size_t i = 0; row && i < row->nr_shares; i++)
		if (row->shares[i].counter == counter)
			return &row->shares[i];
	return NULL;
}

static json_t *shares_array(struct report *const *reports, const enum method *methods, size_t nr,
			    const struct compare_line *l, int *err)
{
	json_t *array = json_array();

	for (uint32_t c = 0; c < reports[0]->nr_counters; c++) {
		const struct share *last = share_of(l->rows[nr - 1], c);
		json_t *o, *values;

		if (!last)
			continue;
		o = json_object();
		values = json_object();
		put_name(o, "counter", reports[0]->counters[c].counter->name, MODEL_NAME_LEN, err);
		for (size_t k = 0; k < nr; k++) {
			const struct share *s = share_of(l->rows[k], c);

			if (s)
				put_number(values, method_name(methods[k]), s->value, err);
		}
		put(o, "values", values, err);
		put_number(o, "low", last->low, err);
		put_number(o, "high", last->high, err);
		put_element(array, o, err);
	}
	return array;
}

static json_t *workload_object(struct report *const *reports, const enum method *methods, size_t nr,
			       const struct compare_line *l, int *err)
{
	const struct report_row *row = l->rows[0];
	json_t *o = json_object();

	put_name(o, "key", row->key, sizeof(row->key), err);
	if (row->kind == ROW_PROCESS || row->kind == ROW_THREAD) {
		put_number(o, "pid", row->pid, err);
		if (row->kind == ROW_THREAD)
			put_number(o, "tid", row->tid, err);
		put_name(o, "comm", row->comm_known ? row->comm : NULL, sizeof(row->comm), err);
	}
	put_name(o, "cgroup", row->cgroup, SIZE_MAX, err);
	put(o, "shares", shares_array(reports, methods, nr, l, err), err);
	return o;
}

int compare_json_write(FILE *out, struct report *const *reports, const enum method *methods,
		       size_t nr)
{
	cleanup_free struct compare_line *lines = NULL;
	json_t *o, *asked = json_array(), *used = json_array(), *workloads = json_array();
	size_t nr_lines = 0;
	int err = match_rows(reports, nr, &lines, &nr_lines);

	for (size_t k = 0; k < nr; k++) {
		put_element(asked, json_string(method_name(methods[k])), &err);
		put_element(used, json_string(method_name(reports[k]->quality.method)), &err);
	}
	for (size_t i = 0; i < nr_lines && !err; i++)
		put_element(workloads, workload_object(reports, methods, nr, &lines[i], &err),
			    &err);
	o = json_object();
	put_name(o, "schema", "t410trace.compare/1", SIZE_MAX, &err);
	put_number(o, "sequence", reports[0]->sequence, &err);
	if (reports[0]->summary)
		put(o, "summary", json_true(), &err);
	put_interval(o, reports[0]->start_ns, reports[0]->end_ns, reports[0]->start_time_ns, &err);
	put(o, "methods", asked, &err);
	put(o, "used", used, &err);
	put(o, "workloads", workloads, &err);
	return put_line(out, o, 0, err);
}
