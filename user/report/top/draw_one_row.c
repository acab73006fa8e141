// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* One row over time, and all of its shares in the current interval. */
#include <assert.h>
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/cleanup.h"
#include "report/devices.h"
#include "report/latencies.h"
#include "report/names.h"
#include "report/notes.h"
#include "report/top/draw_internal.h"
#include "report/top/graph.h"

#define GRAPH_ROWS  5
#define GRAPH_LINES (GRAPH_ROWS + 1) /* with the line below it */
#define AXIS_WIDE   9
#define NAME_WIDE   34

static_assert(DRAW_MIN_COLUMNS > AXIS_WIDE + 1, "there is room for a graph beside its axis");

/* --- over time */

static int put_graph(const struct view *v, struct canvas *c, size_t top,
		     const struct report_row *row, bool cpu)
{
	struct graph_span s = graph_span(v->past, view_index(v));
	size_t wide = c->columns - AXIS_WIDE - 1;
	size_t pieces = 2 * wide > GRAPH_MAX ? GRAPH_MAX : 2 * wide;
	cleanup_free double *values = calloc(s.last - s.first + 1, sizeof(*values));
	struct past_line line = { row->key, row->leaf, cpu, values };
	char text[FORMAT_NUMBER_LEN];
	double bins[GRAPH_MAX], most;
	int err = values ? past_lines(v->past, s.first, s.last, &line, 1) : -ENOMEM;

	if (err)
		return err;
	graph_bins(v->past, &s, values, pieces, bins);
	most = graph_max(bins, pieces);
	graph_draw(c, top, AXIS_WIDE, pieces / 2, GRAPH_ROWS, bins, most);
	if (cpu)
		format_percent((uint64_t)(most * 1e6), 1000000, text);
	else
		format_rate((uint64_t)(most * 1e9), 1000000000, text);
	canvas_right(c, top, 0, AXIS_WIDE - 1, LOOK_DIM, text);
	canvas_right(c, top + 1, 0, AXIS_WIDE - 1, LOOK_DIM, cpu ? "CPU" : "GB/s");
	canvas_right(c, top + GRAPH_ROWS - 1, 0, AXIS_WIDE - 1, LOOK_DIM, "0");
	canvas_put(c, top + GRAPH_ROWS, AXIS_WIDE, SIZE_MAX, LOOK_DIM, "2 minutes before");
	canvas_right(c, top + GRAPH_ROWS, 0, AXIS_WIDE + pieces / 2, LOOK_DIM, "this interval");
	return 0;
}

/* --- in this interval */

static int put_share(const struct view *v, const struct share *s, FILE *out)
{
	const struct report *r = v->report;
	const struct report_counter *c = &r->counters[s->counter];
	char value[FORMAT_NUMBER_LEN], low[FORMAT_NUMBER_LEN], high[FORMAT_NUMBER_LEN];
	char part[FORMAT_NUMBER_LEN];
	cleanup_free char *cut = NULL;

	if (format_cut(FORMAT_SAFE(c->counter->name), NAME_WIDE, FORMAT_CUT_LEFT, &cut))
		return -ENOMEM;
	if (c->counter->unit == UNIT_NANOJOULES) {
		format_joules(s->value, value);
		format_joules(s->low, low);
		format_joules(s->high, high);
	} else {
		format_bytes(s->value, value);
		format_bytes(s->low, low);
		format_bytes(s->high, high);
	}
	format_percent(s->value, c->value, part);
	fprintf(out, "%s%*s %6" PRIu32, cut, (int)(NAME_WIDE - format_width(cut)), "",
		report_socket_id(r, c->counter));
	draw_padded(out, value, 9);
	draw_padded(out, low, 9);
	draw_padded(out, high, 9);
	draw_padded(out, part, 7);
	fputs(s->separable ? "\n" : " ~\n", out);
	return 0;
}

/* "-" where no requests were noted */
static void put_requested(bool valid, uint64_t bytes, char ret_text[FORMAT_NUMBER_LEN])
{
	if (valid)
		format_bytes(bytes, ret_text);
	else
		strcpy(ret_text, "-");
}

static int put_device(const struct view *v, const struct row_device *part, FILE *out, size_t width)
{
	const struct device *d = devices_part(v->report, part);
	const struct report_device *all;
	char bytes[4][FORMAT_NUMBER_LEN];
	const char *name;

	if (!d)
		return 0;
	name = d->name[0] ? FORMAT_SAFE(d->name) : FORMAT_SAFE(d->bdf);
	all = &v->report->devices[part->device];
	format_bytes(part->read_bytes, bytes[0]);
	format_bytes(part->write_bytes, bytes[1]);
	put_requested(all->read.io_valid, part->io_read_bytes, bytes[2]);
	put_requested(all->write.io_valid, part->io_write_bytes, bytes[3]);
	if (!part->counted)
		return notes_line(out, width, "device %s: requests to read %s, to write %s", name,
				  bytes[2], bytes[3]);
	return notes_line(out, width, "device %s: read %s and wrote %s of memory; requests %s, %s",
			  name, bytes[0], bytes[1], bytes[2], bytes[3]);
}

static int put_who(const struct report_row *row, FILE *out, size_t width)
{
	cleanup_free char *path = NULL;
	cleanup_free char *job = NULL;
	int err = names_cgroup(row, NULL, &path);

	if (!err)
		err = notes_line(out, width, "cgroup: %s", path);
	if (!err && row->job)
		err = names_job(row, false, &job);
	if (!err && job)
		err = notes_line(out, width, "job: %s", job);
	if (!err && row->exited)
		err = notes_line(out, width, "It has ended.");
	return err;
}

static int put_numbers(const struct view *v, FILE *out, size_t width)
{
	const struct report_row *row = view_item_at(v, v->selected)->row;
	char cpu[FORMAT_NUMBER_LEN];
	int err = put_who(row, out, width);

	if (err)
		return err;
	format_seconds(row->on_cpu_ns, cpu);
	fprintf(out, "CPU time: %s s\n\n", cpu);
	if (row->nr_shares)
		fprintf(out, "# %-*s SOCKET    BYTES       LOW     HIGH    OF IT\n", NAME_WIDE,
			"SHARES OF COUNTERS");
	for (size_t i = 0; i < row->nr_shares && !err; i++)
		err = put_share(v, &row->shares[i], out);
	if (!err && row->nr_latencies)
		err = latencies_write_row(out, v->report, row, 0);
	for (size_t i = 0; i < row->nr_devices && !err; i++)
		err = put_device(v, &row->devices[i], out, width);
	return err;
}

int draw_one_row(struct view *v, struct canvas *c, struct draw_area area)
{
	const struct view_item *i = view_item_at(v, v->selected);
	const struct report_row *row = i ? i->row : NULL;
	cleanup_free char *name = NULL;
	struct draw_area below = area;
	int err;

	if (!row) {
		canvas_put(c, area.top, 0, SIZE_MAX, LOOK_DIM,
			   i ? "A cgroup that only holds rows has no shares: choose a row in it."
			     : "The row has gone.");
		return 0;
	}
	err = names_row(row, &name);
	if (err)
		return err;
	canvas_fill(c, area.top, 0, c->columns, LOOK_HEADING, ' ');
	canvas_put(c, area.top, 0, SIZE_MAX, LOOK_HEADING, name);
	below.top++;
	below.nr--;
	/* On a low terminal the numbers need the lines more. */
	if (below.nr > GRAPH_LINES) {
		err = put_graph(v, c, below.top, row, !v->report->nr_counters);
		below.top += GRAPH_LINES;
		below.nr -= GRAPH_LINES;
	}
	return err ? err : draw_put(v, c, below, put_numbers);
}
