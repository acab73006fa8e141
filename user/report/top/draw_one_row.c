// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* One row, or the sum of the rows in a cgroup: over time, and all its shares in the interval. */
#include <assert.h>
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/cleanup.h"
#include "base/sums.h"
#include "report/devices.h"
#include "report/latencies.h"
#include "report/names.h"
#include "report/notes.h"
#include "report/top/draw_internal.h"

#define GRAPH_ROWS  5
#define GRAPH_LINES (GRAPH_ROWS + 1) /* with the line below it */
#define AXIS_WIDE   9
#define NAME_WIDE   34

static_assert(DRAW_MIN_COLUMNS > AXIS_WIDE + 1, "there is room for a graph beside its axis");

/* --- over time */

static int put_graph(const struct view *v, struct canvas *c, size_t top, bool cpu)
{
	struct graph_span s = draw_span(v);
	size_t wide = c->columns - AXIS_WIDE - 1;
	size_t pieces = 2 * wide > GRAPH_MAX ? GRAPH_MAX : 2 * wide;
	cleanup_free double *values = calloc(s.last - s.first + 1, sizeof(*values));
	char text[FORMAT_NUMBER_LEN];
	double bins[GRAPH_MAX], most;
	int err = values ? draw_past(v, &s, v->lines + v->selected, 1, cpu, values) : -ENOMEM;

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
	canvas_put(c, top + GRAPH_ROWS, AXIS_WIDE, SIZE_MAX, LOOK_DIM,
		   view_is_whole(v) ? "begin" : "2 minutes before");
	canvas_right(c, top + GRAPH_ROWS, 0, AXIS_WIDE + pieces / 2, LOOK_DIM,
		     view_is_whole(v) ? "end" : "this interval");
	return 0;
}

/* --- in this interval */

static void add_share(struct share *to, const struct share *from)
{
	to->value = sum_capped(to->value, from->value);
	to->low = sum_capped(to->low, from->low);
	to->high = sum_capped(to->high, from->high);
	to->separable &= from->separable;
}

static bool is_in(const struct view *v, size_t item, const struct view_item *group)
{
	while (item != VIEW_NO_ITEM && &v->items[item] != group)
		item = v->items[item].parent;
	return item != VIEW_NO_ITEM;
}

/* Shares by counter: those of the row, or the sums of the rows in it; returns their number */
static size_t add_up(const struct view *v, const struct view_item *i, struct share *ret)
{
	size_t nr = 0;

	for (uint32_t k = 0; k < v->report->nr_counters; k++)
		ret[k] = (struct share){ .counter = k, .separable = true };
	for (size_t k = 0; k < v->nr_items; k++) {
		const struct report_row *row = v->items[k].row;

		if (!row || (i->row ? i != &v->items[k] : !is_in(v, k, i)))
			continue;
		nr++;
		for (size_t n = 0; n < row->nr_shares; n++)
			add_share(&ret[row->shares[n].counter], &row->shares[n]);
	}
	return nr;
}

/* Bytes on each socket, and the part of all bytes that its counters counted */
static void put_sockets(const struct view *v, const struct view_item *i, const struct share *shares,
			FILE *out)
{
	const struct row_tree *t = v->tree_of;
	const struct report *r = v->report;
	char bytes[FORMAT_NUMBER_LEN], rate[FORMAT_NUMBER_LEN], part[FORMAT_NUMBER_LEN];

	for (size_t at = 0; at < t->nr_sockets; at++) {
		struct amounts a = { 0 };

		if (!(i->sockets >> at & 1))
			continue;
		for (size_t k = 0; k < r->nr_counters; k++) {
			const struct counter *c = r->counters[k].counter;

			if (devices_task_counter(c) && c->unit == UNIT_BYTES &&
			    row_tree_socket(t, report_socket_id(r, c)) == at)
				amounts_add_bytes(&a, c, shares[k].value);
		}
		format_bytes(amounts_bytes(&a), bytes);
		format_rate(amounts_bytes(&a), report_duration_ns(r), rate);
		format_percent(amounts_bytes(&a), t->sockets[at].bytes, part);
		fprintf(out, "socket %" PRIu32 ": %s, %s GB/s: %s of its bytes\n",
			t->sockets[at].id, bytes, rate, part);
	}
}

static int put_share(const struct view *v, const struct share *s, bool mark, FILE *out)
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
	fputs(mark ? " ~\n" : "\n", out);
	return 0;
}

static int put_shares(const struct view *v, const struct view_item *i, const struct share *shares,
		      FILE *out)
{
	bool any = false;
	int err = 0;

	for (size_t k = 0; k < v->report->nr_counters && !err; k++) {
		const struct share *s = &shares[k];

		if (!s->value && !s->high)
			continue;
		if (!any)
			fprintf(out, "\n# %-*s SOCKET    BYTES       LOW     HIGH    OF IT\n",
				NAME_WIDE, "SHARES OF COUNTERS");
		any = true;
		/* A sum is often better known than its parts: it has no mark. */
		err = put_share(v, s, i->row && !s->separable, out);
	}
	return err;
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

/* Of a row its devices one by one, of a sum all together */
static int put_devices(const struct view *v, const struct view_item *i, FILE *out, size_t width)
{
	char bytes[2][FORMAT_NUMBER_LEN];
	int err = 0;

	for (size_t k = 0; i->row && k < i->row->nr_devices && !err; k++)
		err = put_device(v, &i->row->devices[k], out, width);
	if (i->row || !(i->amounts.device[DIRECTION_READ] || i->amounts.device[DIRECTION_WRITE]))
		return err;
	format_bytes(i->amounts.device[DIRECTION_READ], bytes[0]);
	format_bytes(i->amounts.device[DIRECTION_WRITE], bytes[1]);
	return notes_line(out, width, "devices: read %s and wrote %s of memory for these rows",
			  bytes[0], bytes[1]);
}

static int put_numbers(const struct view *v, FILE *out, size_t width)
{
	const struct view_item *i = view_item_at(v, v->selected);
	cleanup_free struct share *shares = calloc(v->report->nr_counters + 1, sizeof(*shares));
	char cpu[FORMAT_NUMBER_LEN];
	size_t nr;
	int err = 0;

	if (!shares)
		return -ENOMEM;
	nr = add_up(v, i, shares);
	if (i->row)
		err = put_who(i->row, out, width);
	else
		err = notes_line(out, width,
				 "sum of %zu row%s, also of both ends (--by cgroup: exact ends)",
				 nr, nr == 1 ? "" : "s");
	if (err)
		return err;
	format_seconds(i->amounts.cpu_ns, cpu);
	fprintf(out, "CPU time: %s s\n", cpu);
	put_sockets(v, i, shares, out);
	err = put_shares(v, i, shares, out);
	if (!err && i->row && i->row->nr_latencies)
		err = latencies_write_row(out, v->report, i->row, 0);
	return err ? err : put_devices(v, i, out, width);
}

static int name_of(const struct view_item *i, char **ret)
{
	return i->row ? names_row(i->row, ret) : format_terminal(i->path, i->path_len, ret);
}

int draw_one_row(struct view *v, struct canvas *c, struct draw_area area)
{
	const struct view_item *i = view_item_at(v, v->selected);
	cleanup_free char *name = NULL;
	struct draw_area below = area;
	int err;

	if (!i) {
		canvas_put(c, area.top, 0, SIZE_MAX, LOOK_DIM, "The row has gone.");
		return 0;
	}
	err = name_of(i, &name);
	if (err)
		return err;
	canvas_fill(c, area.top, 0, c->columns, LOOK_HEADING, ' ');
	canvas_put(c, area.top, 0, SIZE_MAX, LOOK_HEADING, name);
	below.top++;
	below.nr--;
	/* On a low terminal the numbers need the lines more. */
	if (below.nr > GRAPH_LINES) {
		err = put_graph(v, c, below.top, !v->report->nr_counters);
		below.top += GRAPH_LINES;
		below.nr -= GRAPH_LINES;
	}
	return err ? err : draw_put(v, c, below, put_numbers);
}
