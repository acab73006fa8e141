// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * The report as a table. It is built in memory and written in one piece: a
 * reader never sees half a table because memory ran out.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "report/latencies.h"
#include "report/names.h"
#include "report/notes.h"
#include "report/peaks.h"
#include "report/resctrl_report.h"
#include "report/parts.h"
#include "report/table/cells.h"
#include "report/table/table.h"

/* With destinations all directions are one number; here they are separate. */
static int put_directions(const struct table *t, const struct row_node *node, const struct cells *c)
{
	static const char *const words[NR_DIRECTIONS] = { "reads", "writes", "reads and writes" };
	char label[TABLE_DEFAULT_WIDTH];
	int indent = (int)columns_before_name(t, node), err = 0;

	for (int d = 0; d < NR_DIRECTIONS && !err; d++) {
		snprintf(label, sizeof(label), "%*s%s", indent, "", words[d]);
		err = cells_direction(t, label, c, d);
	}
	return err;
}

/* A row's range, if it has no column, and its part of each socket, if there are several. */
static int put_details(const struct table *t, const struct row_node *node)
{
	const struct amounts *a = &node->amounts;
	bool parts = t->tree->nr_sockets > 1 && amounts_bytes(a);
	size_t indent = columns_before_name(t, node);
	char range[FORMAT_NUMBER_LEN];
	struct sentence s;
	FILE *f;

	if (!parts && (t->ranges || !a->high))
		return 0;
	f = sentence_begin(&s);
	if (!f)
		return -ENOMEM;
	if (!t->ranges && a->high) {
		format_range(amounts_bytes(a), a->low, a->high, range);
		fprintf(f, "range %s (certain)%s", range, parts ? "; " : "");
	}
	if (parts)
		rows_put_parts(f, t->r, t->tree, node->row);
	fprintf(t->out, "%*s", (int)indent, "");
	return sentence_end(&s, t->out, t->width - indent, 0);
}

static int put_row(struct table *t, const struct row_node *node)
{
	struct cells c = cells_of(t, &node->amounts, ALL_SOCKETS, TASK_SOURCES);
	int err;

	c.node = node;
	c.range = true;
	cells_devices(t, &c);
	c.lat = latencies_seen(t->r, node->row, &c.lat_ns) ? CELL_DATA : CELL_NO_DATA;
	err = grid_row(&t->grid, &c);
	t->marked[node->row->exited][node->row->pooled] = true;
	if (!err && t->o->verbose && t->nr_to && amounts_bytes(&node->amounts))
		err = put_directions(t, node, &c);
	if (!err && t->o->verbose)
		err = put_details(t, node);
	if (!err && t->devices && !t->device_columns)
		devices_put_moved(t, node->amounts.device, (int)columns_before_name(t, node));
	if (!err && t->o->verbose)
		err = devices_put_row(t, node->row, (int)columns_before_name(t, node));
	if (!err && t->o->verbose)
		err = latencies_write_row(t->out, t->r, node->row, columns_before_name(t, node));
	return err;
}

/* The hidden rows below a node, in one line at the place of its children. */
static int put_hidden(struct table *t, const struct row_node *node)
{
	struct cells c = cells_of(t, &node->hidden, ALL_SOCKETS, TASK_SOURCES);
	size_t indent = t->tree_rows && node->row ? columns_indent(t, columns_depth(node) + 1) : 0;
	char text[80], brief[64];
	const char *const labels[] = { text, t->fitted ? brief : NULL, NULL };

	if (!node->nr_hidden)
		return 0;
	c.range = true;
	cells_devices(t, &c);
	if (t->fitted) {
		snprintf(brief, sizeof(brief), "... and %zu more row%s", node->nr_hidden,
			 node->nr_hidden == 1 ? "" : "s");
		snprintf(text, sizeof(text), "%s (--all-rows)", brief);
	} else {
		snprintf(text, sizeof(text), "%*s(%zu more)", (int)indent, "", node->nr_hidden);
	}
	return cells_line(t, labels, &c);
}

static int put_rows(struct table *t)
{
	const struct row_node *node = &t->tree->root, *next = node->child;
	int err = 0;

	if (!next)
		fprintf(t->out, "(no %s ran)\n",
			t->r->by == ROW_CGROUP ? "task" : row_kind_name(t->r->by));
	while (!err) {
		while (next && !next->shown)
			next = next->next;
		if (next) {
			node = next;
			err = put_row(t, node);
			next = node->child;
			continue;
		}
		/* Nothing more below this node: close it and continue beside it. */
		err = put_hidden(t, node);
		if (!node->row)
			break;
		next = node->next;
		node = node->parent;
	}
	return err;
}

static int put_title(const struct table *t)
{
	const struct report *r = t->r;
	char time[FORMAT_WHEN_LEN], seconds[FORMAT_NUMBER_LEN];

	format_when(r->start_time_ns, r->start_ns, time);
	format_seconds(t->duration_ns, seconds);
	return notes_line(t->out, t->width, "%s, %s%s s%s, by %s%s%s%s, %s", time,
			  r->summary ? "summary of " : "", seconds,
			  t->o->cut_short ? " (cut short)" : "", row_kind_name(r->by),
			  t->nr_to ? " and destination" : "",
			  t->traffic			  ? ""
			  : t->energy			  ? ", no memory traffic"
			  : t->devices == DEVICES_COUNTED ? ", CPU time and PCIe only"
			  : t->devices == DEVICES_IO	  ? ", CPU time and IO only"
							  : ", CPU time only",
			  r->replayed ? ", recorded" : "", t->verdict.text);
}

static int put_marks(const struct table *t)
{
	const char *const says[] = { t->marked[true][false] ? "* ended" : NULL,
				     t->marked[false][true] ? "+ small, estimated together" : NULL,
				     t->marked[true][true] ? "& ended and small, estimated together"
							   : NULL };
	struct sentence s;
	FILE *f = sentence_begin(&s);

	if (!f)
		return -ENOMEM;
	for (size_t i = 0; i < ARRAY_SIZE(says); i++)
		if (says[i])
			fprintf(f, "%s%s", ftell(f) ? "; " : "", says[i]);
	return sentence_end(&s, t->out, t->width, 0);
}

static int put_notes(const struct table *t)
{
	const struct notes_beside beside = { &t->verdict, t->o->settled };

	if (t->o->verbose)
		return notes_write(t->out, t->r, t->width, t->o->quiet, true);
	return notes_rest(t->out, t->r, &beside, t->width, t->o->quiet);
}

static int put_table(FILE *out, void *arg)
{
	static const size_t sentences[TABLE_BRIEFEST + 1] = { 3, 1, 0 };
	struct table *t = arg;
	size_t i;
	int err, reason;

	t->out = out;
	err = columns_lay_out(t);
	if (err)
		return err;
	if (t->r->sequence)
		fputc('\n', t->out);
	err = put_title(t);
	if (err)
		return err;
	grid_heading(&t->grid);
	err = totals_machine(t);
	if (!err)
		err = put_rows(t);
	if (!err)
		err = totals_owned(t);
	if (!err && t->brief > 1)
		err = totals_reasons(t);
	for (reason = 0; !err && t->brief < 2 && reason < NR_REASONS; reason++)
		err = totals_reason(t, reason);
	for (i = 0; !err && i < t->tree->nr_sockets; i++)
		err = totals_socket(t, i);
	if (!err && !t->o->quiet)
		err = parts_write(t->out, t->r, t->width, t->o->verbose);
	if (!err)
		err = devices_write(t);
	if (!err)
		err = put_marks(t);
	if (!err && t->always && !t->o->quiet && !t->brief)
		err = notes_wrapped(t->out, "background: goes on whatever the workloads do",
				    t->width);
	if (!err && t->ranges)
		err = tangled_write(t->out, t->r, t->tree, t->width,
				    t->o->verbose ? TANGLED_ALL : sentences[t->brief]);
	if (!err)
		err = devices_notes(t);
	if (!err)
		err = peaks_write(t->out, t->r, t->most, t->width, t->o->quiet || t->brief > 1);
	if (!err && !t->o->quiet)
		err = resctrl_groups_write(t->out, t->r, t->width, t->o->verbose);
	return err ? err : put_notes(t);
}

/* If nothing counts both directions as one, there are two. */
static void find_directions(struct table *t)
{
	for (size_t i = 0; i < t->r->nr_counters; i++) {
		const struct counter *c = t->r->counters[i].counter;

		if (c->device)
			continue;
		if (c->unit == UNIT_NANOJOULES) {
			t->energy = true;
			continue;
		}
		t->traffic = true;
		t->directions[c->direction] = true;
	}
	if (!t->directions[DIRECTION_READWRITE] || t->directions[DIRECTION_READ] ||
	    t->directions[DIRECTION_WRITE])
		t->directions[DIRECTION_READ] = t->directions[DIRECTION_WRITE] = true;
}

/* A table of as many rows as @top; with @fitted the rest is one line. */
struct tried {
	const struct report *r;
	const struct table_options *o;
	size_t top;
	bool fitted;
	int brief;
};

static int put_tried(FILE *out, void *arg)
{
	const struct tried *a = arg;
	const struct report *r = a->r;
	struct table t = { .r = r,
			   .o = a->o,
			   .verdict = report_verdict(r),
			   .fitted = a->fitted,
			   .brief = a->brief,
			   .devices = devices_mode(r) };
	int err = row_tree_new(r, a->top, a->fitted, &t.tree);

	/* A job is called by its ID alone, and its step by another. */
	if (!err && r->by == ROW_CGROUP)
		err = row_tree_join(t.tree);
	if (err) {
		row_tree_free(t.tree);
		return err;
	}
	find_directions(&t);
	for (int d = 0; d < NR_WAYS; d++)
		t.device_state[d] = t.devices == DEVICES_NONE			     ? CELL_ABSENT
				    : t.devices == DEVICES_IO || devices_valid(r, d) ? CELL_DATA
										     : CELL_NO_DATA;
	t.duration_ns = report_duration_ns(r);
	err = put_table(out, &t);
	row_tree_free(t.tree);
	return err;
}

/*
 * Rows that moved bytes or had a CPU for a thousandth of the time, but a minimum of rows. Users
 * look for running jobs even if these do nothing.
 */
static int most_rows(const struct report *r, size_t *ret)
{
	uint64_t duration_ns = r->end_ns > r->start_ns ? r->end_ns - r->start_ns : 0;
	struct row_tree *tree;
	int err = row_tree_new(r, 0, false, &tree);

	if (err)
		return err;
	*ret = row_tree_busy(tree, r->by == ROW_JOB ? 0 : duration_ns / 1000 + 1);
	if (*ret < TABLE_LEAST_ROWS)
		*ret = TABLE_LEAST_ROWS;
	row_tree_free(tree);
	return 0;
}

/*
 * The most rows that fit, from @t->top on. Each takes at least a line, and only a try shows how many
 * notes they need: few numbers are tried, for there may be thousands of rows each second.
 */
static int find_fitting(struct tried *t, size_t most)
{
	long height = (long)t->o->height, lines = format_lines(put_tried, t);
	size_t least = t->top;

	if (lines < 0)
		return (int)lines;
	if (lines >= height)
		most = least;
	else if (most - least > (size_t)(height - lines))
		most = least + (size_t)(height - lines);
	for (t->top = most; least < most; t->top = least + (most - least + 1) / 2) {
		lines = format_lines(put_tried, t);
		if (lines < 0)
			return (int)lines;
		if (lines > height)
			most = t->top - 1;
		else
			least = t->top;
	}
	t->top = least;
	return 0;
}

/* Details give way until a good number of rows fits. */
static int write_fitting(FILE *out, const struct report *r, const struct table_options *o)
{
	struct tried t = { r, o, TABLE_LEAST_ROWS, true, 0 };
	size_t most = 0;
	int err = most_rows(r, &most);

	if (!err)
		err = find_fitting(&t, most);
	while (!err && !o->verbose && t.top < most && t.top < TABLE_GOOD_ROWS &&
	       t.brief < TABLE_BRIEFEST) {
		t.brief++;
		err = find_fitting(&t, most);
	}
	return err ? err : format_whole(out, put_tried, &t);
}

int table_write(FILE *out, const struct report *r, const struct table_options *o)
{
	struct tried whole = { r, o, o->top ? o->top : o->most, !o->top && o->most, 0 };

	return o->height && !o->top ? write_fitting(out, r, o)
				    : format_whole(out, put_tried, &whole);
}
