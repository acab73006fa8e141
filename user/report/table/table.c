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

#include "base/cleanup.h"
#include "report/table/cells.h"
#include "report/latencies.h"
#include "report/names.h"
#include "report/notes.h"
#include "report/table/table.h"

/* With destinations both directions are one number; here they are two. */
static int put_directions(const struct table *t, const struct row_node *node, const struct cells *c)
{
	char label[TABLE_DEFAULT_WIDTH];
	int indent = (int)columns_before_name(t, node), err;

	snprintf(label, sizeof(label), "%*sreads", indent, "");
	err = cells_direction(t, label, c, DIRECTION_READ);
	snprintf(label, sizeof(label), "%*swrites", indent, "");
	return err ? err : cells_direction(t, label, c, DIRECTION_WRITE);
}

static int put_row(struct table *t, const struct row_node *node)
{
	struct cells c = cells_of(t, &node->amounts, ALL_SOCKETS, TASK_SOURCES);
	char low[FORMAT_NUMBER_LEN], high[FORMAT_NUMBER_LEN];
	int err;

	c.node = node;
	c.bar = true;
	cells_devices(t, &c);
	c.lat = latencies_seen(t->r, node->row, &c.lat_ns) ? CELL_DATA : CELL_NO_DATA;
	err = grid_row(&t->grid, &c);
	t->ended = t->ended || node->row->exited;
	if (!err && t->o->verbose && t->nr_to && amounts_bytes(&node->amounts))
		err = put_directions(t, node, &c);
	if (!err && t->o->verbose && node->amounts.high) {
		format_bytes(node->amounts.low, low);
		format_bytes(node->amounts.high, high);
		fprintf(t->out, "%*sbetween %s and %s (%s)\n", (int)columns_before_name(t, node),
			"", low, high, t->bars ? "95%" : "certain");
	}
	if (!err && t->devices && !t->device_columns)
		devices_put_moved(t, node->amounts.device, (int)columns_before_name(t, node));
	if (!err && t->o->verbose)
		err = devices_put_row(t, node->row, (int)columns_before_name(t, node));
	if (!err && t->o->verbose)
		err = latencies_write_row(t->out, t->r, node->row, columns_before_name(t, node));
	return err;
}

/* What --top hides below a node, in one line at the place of its children. */
static int put_hidden(struct table *t, const struct row_node *node)
{
	struct cells c = cells_of(t, &node->hidden, ALL_SOCKETS, TASK_SOURCES);
	size_t indent = t->tree_rows && node->row ? columns_indent(t, columns_depth(node) + 1) : 0;
	char text[64];
	const char *const labels[] = { text, NULL };

	if (!node->nr_hidden)
		return 0;
	c.bar = true;
	cells_devices(t, &c);
	snprintf(text, sizeof(text), "%*s(%zu more)", (int)indent, "", node->nr_hidden);
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
		/* Nothing more below this node: close it and go on beside it. */
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
	return notes_line(t->out, t->width, "%s, %s%s s, by %s%s, %zu socket%s%s%s", time,
			  r->summary ? "summary of " : "", seconds, row_kind_name(r->by),
			  t->nr_to ? " and destination" : "", t->tree->nr_sockets,
			  t->tree->nr_sockets == 1 ? "" : "s",
			  t->traffic			  ? ""
			  : t->devices == DEVICES_COUNTED ? ", CPU time and PCIe only"
			  : t->devices == DEVICES_IO	  ? ", CPU time and IO only"
							  : ", CPU time only",
			  r->replayed ? ", from a recording" : "");
}

static int put_table(FILE *out, void *arg)
{
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
	err = put_rows(t);
	if (!err)
		err = totals_owned(t);
	for (reason = 0; !err && reason < NR_REASONS; reason++)
		err = totals_reason(t, reason);
	for (i = 0; !err && i < t->tree->nr_sockets; i++)
		err = totals_socket(t, i);
	if (!err)
		err = devices_write(t);
	if (!err && t->ended)
		err = notes_wrapped(t->out, "* ended", t->width);
	if (!err && t->always && !t->o->quiet)
		err = notes_wrapped(t->out, "background: goes on whatever the workloads do",
				    t->width);
	if (!err && t->bars)
		err = tangled_write(t->out, t->r, t->tree, t->width, t->o->verbose);
	if (!err)
		err = devices_notes(t);
	if (!err)
		err = notes_write(t->out, t->r, t->width, t->o->quiet, t->o->verbose);
	return err;
}

int table_write(FILE *out, const struct report *r, const struct table_options *o)
{
	struct table t = { .r = r, .o = o, .devices = devices_mode(r) };
	int err = row_tree_new(r, o->top, &t.tree);

	if (err)
		return err;
	for (size_t i = 0; i < r->nr_counters && !t.traffic; i++)
		t.traffic = !r->counters[i].counter->device;
	for (int d = 0; d < 2; d++)
		t.device_state[d] = t.devices == DEVICES_NONE			     ? CELL_ABSENT
				    : t.devices == DEVICES_IO || devices_valid(r, d) ? CELL_DATA
										     : CELL_NO_DATA;
	t.duration_ns = r->end_ns > r->start_ns ? r->end_ns - r->start_ns : 0;
	err = format_whole(out, put_table, &t);
	row_tree_free(t.tree);
	return err;
}
