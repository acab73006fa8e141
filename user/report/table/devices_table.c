// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * The block of devices below the rows. Facts about a device beyond its bytes are left out where
 * there is no room; the JSON has all.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/cleanup.h"
#include "base/sums.h"
#include "report/table/cells.h"
#include "report/latencies.h"
#include "report/names.h"
#include "report/notes.h"

#define COVER_WIDTH 6
#define NAME_MIN    8
#define RANGE_MIN   5 /* "RANGE", and "exact" */
#define WHERE_LEN   48

static uint64_t moved(const struct report_device *d)
{
	uint64_t io = sum_capped(d->read.io_bytes, d->write.io_bytes), sum = 0;

	if (d->read.valid)
		sum = d->read.bytes;
	if (d->write.valid)
		sum = sum_capped(sum, d->write.bytes);
	return sum > io ? sum : io;
}

/* Was the device seen idle? For devices without counters, only that no task requested anything. */
static bool is_idle(const struct table *t, const struct report_device *d)
{
	return !moved(d) && !d->by.nr && !d->by.nr_blockers &&
	       (t->devices == DEVICES_IO ? d->read.io_valid && d->write.io_valid
					 : d->read.valid && d->write.valid);
}

/* In a table of requests: are those of the device unknown? */
static bool is_unseen(const struct table *t, const struct report_device *d)
{
	return t->devices == DEVICES_IO && !d->read.io_valid && !d->write.io_valid;
}

/* Devices whose requests are unknown, and why. */
static int put_unseen(const struct table *t, bool of_kind, size_t nr)
{
	if (!nr)
		return 0;
	return notes_line(t->out, t->width, "(%zu device%s %s)", nr, nr == 1 ? "" : "s",
			  of_kind ? "of kinds without requests that a kernel could note"
				  : "whose requests were not noted");
}

static bool kind_has_requests(const struct device *d)
{
	return d->kind == DEVICE_NVME || d->kind == DEVICE_BLOCK || d->kind == DEVICE_NET;
}

/* Not read, or never counted: a sentence names it, and there is nothing else to tell. */
static bool is_unknown(const struct table *t, const struct report_device *d)
{
	return !moved(d) && !d->by.nr && !d->by.nr_blockers && t->devices == DEVICES_COUNTED &&
	       !d->read.valid && !d->write.valid;
}

/* "s0 rc1 rp2", with a mark if only a rule of thumb tells so */
static void where_is(const struct report *r, const struct device *d, char ret_text[WHERE_LEN])
{
	if (d->wiring == WIRING_UNKNOWN)
		strcpy(ret_text, "-");
	else
		snprintf(ret_text, WHERE_LEN, "s%" PRIu32 " rc%" PRIu32 " rp%" PRIu32 "%s",
			 report_socket_at(r, d->socket), d->rc, d->rp,
			 devices_is_guess(d) && d->filter != DEVICE_NOT_COUNTED ? "?" : "");
}

/* A sentence below the line of a device. */
#define put_below(t, ...) (fputs("  ", (t)->out), notes_line((t)->out, (t)->width - 2, __VA_ARGS__))

static int end_below(const struct table *t, struct sentence *s)
{
	fputs("  ", t->out);
	return sentence_end(s, t->out, t->width - 2, 0);
}

/* --- cells of a device */

/* Addresses give way to names if these have no column. */
static struct grid_cell cell_address(const struct grid_place *at)
{
	const struct device *d = ((const struct report_device *)at->row)->device;
	const struct table *t = at->table;
	char *text = NULL;
	int err;

	if (!t->names_as_addresses || !d->name[0])
		return grid_name(d->bdf, sizeof(d->bdf));
	err = format_cut(FORMAT_SAFE(d->name), at->column->width, FORMAT_CUT_RIGHT, &text);
	return grid_take(text, err);
}

static struct grid_cell cell_name(const struct grid_place *at)
{
	const struct report_device *rd = at->row;
	const struct device *d = rd->device;

	/* A kind is no name. */
	if (d->name[0])
		return grid_name(d->name, sizeof(d->name));
	if (d->kind == DEVICE_LINK)
		return grid_text("(%s)", device_how_name(rd->how));
	return grid_text("(%s)", device_kind_name(d->kind));
}

static struct grid_cell cell_where(const struct grid_place *at)
{
	const struct table *t = at->table;
	char where[WHERE_LEN];

	where_is(t->r, ((const struct report_device *)at->row)->device, where);
	return grid_text("%s", where);
}

static const struct device_bytes *side_at(const struct grid_place *at)
{
	const struct report_device *d = at->row;

	return at->column->arg == DIRECTION_WRITE ? &d->write : &d->read;
}

static struct grid_cell cell_counted(const struct grid_place *at)
{
	const struct report_device *d = at->row;
	const struct table *t = at->table;

	if (side_at(at)->valid)
		return grid_rate(side_at(at)->bytes, devices_time_ns(t->r, d));
	return grid_text(d->device->filter == DEVICE_NOT_COUNTED ? "never" : "unread");
}

static struct grid_cell cell_range(const struct grid_place *at)
{
	const struct device_bytes *side = side_at(at);
	const struct table *t = at->table;

	return side->valid ? grid_rate_range(side->bytes, side->low, side->high,
					     devices_time_ns(t->r, at->row))
			   : grid_is(GRID_EMPTY);
}

static struct grid_cell cell_io(const struct grid_place *at)
{
	const struct table *t = at->table;

	return grid_if(side_at(at)->io_valid, grid_rate(side_at(at)->io_bytes, t->duration_ns));
}

/* Thousands a second. */
static struct grid_cell cell_requests(const struct grid_place *at)
{
	const struct report_device *d = at->row;
	const struct table *t = at->table;
	char text[FORMAT_NUMBER_LEN] = "-";
	double requests = 0;

	if (d->read.requests_valid)
		requests += d->read.requests;
	if (d->write.requests_valid)
		requests += d->write.requests;
	if (t->duration_ns && (d->read.requests_valid || d->write.requests_valid))
		format_decimals(requests * 1e6 / (double)devices_time_ns(t->r, d), 1, text);
	return grid_text("%s", text);
}

static struct grid_cell percent_of(uint64_t part, uint64_t whole)
{
	return grid_percent(part < whole ? part : whole, whole);
}

static struct grid_cell cell_owned(const struct grid_place *at)
{
	const struct report_device *d = at->row;
	uint64_t owned = 0, bytes = 0;

	for (int i = 0; i < 2; i++) {
		const struct device_bytes *side = i ? &d->write : &d->read;

		owned = sum_capped(owned, side->valid ? side->owned : 0);
		bytes = sum_capped(bytes, side->valid ? side->bytes : 0);
	}
	return grid_if(d->read.valid || d->write.valid, percent_of(owned, bytes));
}

GRID_CELL(cell_latency, struct report_device,
	  grid_if(row->latency_valid, grid_ns(row->latency_ns)));

static struct grid_cell cell_cover(const struct grid_place *at)
{
	const struct report_device *d = at->row;
	const struct table *t = at->table;
	uint64_t part, whole;

	devices_cover(t->r, d, &part, &whole);
	return grid_if(d->enabled_ns > 0, percent_of(part, whole));
}

/* Does any device have this property? */
static bool any_device(const struct table *t, bool (*has)(const struct report_device *d))
{
	bool any = false;

	for (size_t i = 0; i < t->r->nr_devices; i++)
		any |= !devices_is_port(&t->r->devices[i]) && has(&t->r->devices[i]);
	return any;
}

static bool has_requests(const struct report_device *d)
{
	return d->read.requests_valid || d->write.requests_valid;
}

static bool has_latency(const struct report_device *d)
{
	return d->latency_valid;
}

static bool has_place(const struct report_device *d)
{
	return d->device->wiring != WIRING_UNKNOWN;
}

static bool has_owner(const struct report_device *d)
{
	return (d->read.valid && d->read.owned) || (d->write.valid && d->write.owned);
}

/* Columns of zeros are left out. */
static bool is_zero(const struct table *t, enum direction direction)
{
	return !t->o->verbose && !devices_any_moved(t->r, direction);
}

GRID_SHOWN(counted, struct table, table->devices == DEVICES_COUNTED);
GRID_SHOWN(counted_side, struct table, counted(at) && !is_zero(table, at->column->arg));
GRID_SHOWN(requested_side, struct table, !counted(at) && !is_zero(table, at->column->arg));
GRID_SHOWN(with_places, struct table, any_device(table, has_place));
GRID_SHOWN(with_owners, struct table,
	   counted(at) && (table->o->verbose || any_device(table, has_owner)));
GRID_SHOWN(with_requests, struct table, counted(at) && any_device(table, has_requests));
GRID_SHOWN(with_latency, struct table, counted(at) && any_device(table, has_latency));

enum { COLUMN_DEVICE, COLUMN_DEVICE_NAME, COLUMN_WHERE, COLUMN_SIDES };

static const struct grid_column columns[] = {
	[COLUMN_DEVICE] = { NULL, "DEVICE", .least = 1, .most = 1, .look = GRID_PATH,
			    .cell = cell_address },
	[COLUMN_DEVICE_NAME] = { NULL, "NAME", NAME_MIN, .most = 1, .look = GRID_NAME, .rank = 1,
				 .early = 3, .or_none = true, .cell = cell_name },
	[COLUMN_WHERE] = { NULL, "WHERE", .look = GRID_LEFT, .rank = 3, .shown = with_places,
			   .cell = cell_where },
	[COLUMN_SIDES] = { "READ", "GB/s", .shown = counted_side, .cell = cell_counted,
			   .arg = DIRECTION_READ },
	{ "95%", "RANGE", RANGE_MIN, .shown = counted_side, .cell = cell_range,
	  .arg = DIRECTION_READ },
	{ "WRITE", "GB/s", .shown = counted_side, .cell = cell_counted, .arg = DIRECTION_WRITE },
	{ "95%", "RANGE", RANGE_MIN, .shown = counted_side, .cell = cell_range,
	  .arg = DIRECTION_WRITE },
	{ "IO-RD", "GB/s", .shown = requested_side, .cell = cell_io, .arg = DIRECTION_READ },
	{ "IO-WR", "GB/s", .shown = requested_side, .cell = cell_io, .arg = DIRECTION_WRITE },
	{ "REQ", "1000/s", .rank = 5, .shown = with_requests, .cell = cell_requests },
	{ NULL, "LAT ns", .rank = 4, .shown = with_latency, .cell = cell_latency },
	{ NULL, "COVER", COVER_WIDTH, .shown = counted, .cell = cell_cover },
	{ NULL, "OWNED", COVER_WIDTH, .rank = 2, .shown = with_owners, .cell = cell_owned },
};

/* The destinations of the bytes, if known. */
static int put_destinations(const struct grid *g, const struct report_device *d)
{
	struct grid_column columns_of[COLUMN_SIDES + 3];
	struct grid sides = *g;
	int err = 0;

	/* The error of single destinations is unknown. */
	sides.nr = ARRAY_SIZE(columns_of);
	sides.columns = memcpy(columns_of, g->columns, sizeof(columns_of));
	sides.columns[COLUMN_SIDES + 1].cell = NULL;
	for (int to = 0; to < NR_DESTINATIONS && !err; to++) {
		uint64_t read = d->read.valid && d->read.split ? d->read.to[to] : 0;
		uint64_t written = d->write.valid && d->write.split ? d->write.to[to] : 0;
		const struct report_device part = {
			.read = { .valid = true, .bytes = read },
			.write = { .valid = true, .bytes = written },
		};
		char label[32];

		if (!read && !written)
			continue;
		snprintf(label, sizeof(label), "  %s",
			 to == DESTINATION_ANY ? "elsewhere" : destination_name(to));
		err = grid_line(&sides, label, COLUMN_SIDES, &part);
	}
	return err;
}

/* Bytes of requests, or their rate over @ns if that is not 0; "-" where none were noted. */
static void put_requested(const struct device_bytes *side, uint64_t ns,
			  char ret_text[FORMAT_NUMBER_LEN])
{
	if (!side->io_valid)
		strcpy(ret_text, "-");
	else if (ns)
		format_rate(side->io_bytes, ns, ret_text);
	else
		format_bytes(side->io_bytes, ret_text);
}

/* Facts that do not fit a cell. */
static int put_details(const struct table *t, const struct report_device *d)
{
	static const char *const known[NR_WIRINGS] = {
		[WIRING_UNKNOWN] = "not known", [WIRING_FIRMWARE] = "from firmware",
		[WIRING_USER] = "from the map", [WIRING_MEDIUM] = "guessed, likely right",
		[WIRING_LOW] = "guessed",
	};
	char read[FORMAT_NUMBER_LEN], written[FORMAT_NUMBER_LEN];
	struct sentence s;
	FILE *f = sentence_begin(&s);

	if (!f)
		return -ENOMEM;
	if (d->device->kind == DEVICE_ACCELERATOR)
		fprintf(f, "its part of what all accelerators moved, by the time that each did");
	else if (d->device->kind == DEVICE_AGENT)
		fprintf(f, "counters of its own");
	else if (d->how == HOW_DERIVED)
		fprintf(f, "what non-CPU agents of its socket moved, less what root complexes did");
	else
		fprintf(f, "place %s",
			d->device->wiring < NR_WIRINGS ? known[d->device->wiring] : "?");
	if (d->device->filter == DEVICE_BY_PORT || d->device->filter == DEVICE_BY_ID)
		fprintf(f, "; told from others by %s; counted anew %" PRIu64 " time%s",
			device_filter_name(d->device->filter), d->turns, d->turns == 1 ? "" : "s");
	if (d->read.io_bytes || d->write.io_bytes) {
		put_requested(&d->read, 0, read);
		put_requested(&d->write, 0, written);
		fprintf(f, "; requests that the kernel saw: READ %s, WRITE %s", read, written);
	}
	return end_below(t, &s);
}

/* The only task that had it open. */
static int put_exclusive(const struct table *t, const struct report_device *d)
{
	const struct report_row *row = rows_find(t->r, d->exclusive);
	cleanup_free char *name = NULL;

	if (row && names_row(row, &name))
		return -ENOMEM;
	return put_below(t, "open in %s alone", name ? name : FORMAT_SAFE(d->exclusive));
}

/* Work of an accelerator by invocation; the next line has the tasks. */
static int put_work(const struct table *t, const struct report_device *d)
{
	static const char *const names[NR_WORKS] = { [WORK_CYCLES] = "cycles",
						     [WORK_MEMORY_CYCLES] = "that moved data",
						     [WORK_TLB_CYCLES] = "for its TLB" };
	uint64_t nr = d->work[WORK_INVOCATIONS];
	const char *between = ": ";
	struct sentence s;
	FILE *f;

	if (!d->work_valid[WORK_INVOCATIONS] || !nr)
		return 0;
	f = sentence_begin(&s);
	if (!f)
		return -ENOMEM;
	fprintf(f, "%" PRIu64 " invocation%s", nr, nr == 1 ? "" : "s");
	for (int i = WORK_CYCLES; i < NR_WORKS; i++) {
		if (!d->work_valid[i])
			continue;
		fprintf(f, "%s%.4g %s", between, (double)d->work[i] / (double)nr, names[i]);
		between = ", ";
	}
	fprintf(f, "%s; %s", between[0] == ',' ? " each" : "",
		d->exclusive[0] ? "all by one"
		: d->shared	? "shared"
				: "shared by cgroups, or it is not known by whom");
	return end_below(t, &s);
}

/* Was it read for another time than the report, early (-1) or late (1)? */
static int time_off(const struct table *t, const struct report_device *d)
{
	uint64_t time = devices_time_ns(t->r, d);

	if (!(d->read.valid || d->write.valid))
		return 0;
	return time < t->duration_ns ? -1 : time > t->duration_ns;
}

/* The devices whose bytes are about another time, as one sentence for all of them. */
static int put_times(const struct table *t, int off)
{
	char least[FORMAT_NUMBER_LEN], most[FORMAT_NUMBER_LEN];
	uint64_t low = UINT64_MAX, high = 0;
	size_t nr = 0;

	for (size_t i = 0; i < t->r->nr_devices; i++) {
		const struct report_device *d = &t->r->devices[i];
		uint64_t time = devices_time_ns(t->r, d);

		if (devices_is_port(d) || !moved(d) || time_off(t, d) != off)
			continue;
		low = time < low ? time : low;
		high = time > high ? time : high;
		nr++;
	}
	if (!nr)
		return 0;
	snprintf(least, sizeof(least), "%.3g", (double)low / 1e9);
	snprintf(most, sizeof(most), "%.3g", (double)high / 1e9);
	return notes_line(t->out, t->width,
			  "%zu device%s read %s%s%s%s s%s: rates are of that time", nr,
			  nr == 1 ? " was" : "s were", off < 0 ? "for " : "late, for the last ",
			  least, strcmp(least, most) ? " to " : "", strcmp(least, most) ? most : "",
			  off < 0 ? " of this report only" : ", which began before this report");
}

static int put_device(const struct grid *g, const struct report_device *d)
{
	const struct table *t = g->table;
	char read[FORMAT_NUMBER_LEN], written[FORMAT_NUMBER_LEN];
	int err = grid_row(g, d);

	if (!err && !t->o->quiet && t->devices == DEVICES_COUNTED)
		err = put_destinations(g, d);
	if (!err && !t->o->verbose && t->devices == DEVICES_COUNTED && !d->read.valid &&
	    !d->write.valid && (d->read.io_bytes || d->write.io_bytes)) {
		put_requested(&d->read, t->duration_ns, read);
		put_requested(&d->write, t->duration_ns, written);
		err = put_below(t, "requests the kernel saw: READ %s, WRITE %s GB/s", read,
				written);
	}
	if (!err && !t->o->quiet)
		err = put_work(t, d);
	if (!err && d->exclusive[0] && d->by.rule != OWNER_CONTEXTS && !t->o->quiet)
		err = put_exclusive(t, d);
	/* A link's users are those of its function, and are told there. */
	if (!err && d->by.rule != OWNER_NONE && !d->device->function && !t->o->quiet)
		err = users_write(t, d);
	if (!err && t->o->verbose)
		err = put_details(t, d);
	return err;
}

static int compare_devices(const void *a, const void *b)
{
	const struct report_device *x = *(const struct report_device *const *)a;
	const struct report_device *y = *(const struct report_device *const *)b;

	return ORDER(moved(y), moved(x)) ?: ORDER(x, y);
}

/* Distribute the rest of the width; addresses and names first. */
/* As wide as its ranges: most counters count all the time, and those of their bytes are short. */
static void widen_ranges(struct grid *g, struct grid_column *column)
{
	const struct table *t = g->table;

	for (size_t i = 0; i < t->r->nr_devices; i++) {
		const struct grid_place at = { t, &t->r->devices[i], column };
		struct grid_cell cell = cell_range(&at);
		char text[FORMAT_NUMBER_LEN];

		grid_number(&cell, text);
		column->width = grid_larger(column->width, format_width(text));
	}
}

static void lay_out(struct table *t, struct grid *g)
{
	const struct report *r = t->r;
	size_t address = strlen("DEVICE"), name = NAME_MIN, where = strlen("WHERE");

	for (size_t i = 0; i < r->nr_devices; i++) {
		const struct device *d = r->devices[i].device;
		char place[WHERE_LEN];

		if (devices_is_port(&r->devices[i]))
			continue;
		where_is(r, d, place);
		address = grid_larger(address, strnlen(d->bdf, sizeof(d->bdf)));
		name = grid_larger(name, format_width(FORMAT_SAFE(d->name)));
		where = grid_larger(where, strlen(place));
	}
	g->columns[COLUMN_DEVICE].width = address;
	g->columns[COLUMN_DEVICE].most = address;
	g->columns[COLUMN_DEVICE_NAME].most = name;
	g->columns[COLUMN_WHERE].width = where;
	for (size_t i = 0; i < g->nr; i++)
		if (g->columns[i].cell == cell_range)
			widen_ranges(g, &g->columns[i]);
	grid_fit(g);
	t->names_as_addresses = g->columns[COLUMN_DEVICE_NAME].hidden;
	if (t->names_as_addresses) {
		g->columns[COLUMN_DEVICE].most = SIZE_MAX;
		grid_fit(g);
	}
}

/* Bytes of devices that share the counter of their port. */
static int put_shared(const struct table *t, const struct report_device *d, const char *port)
{
	const struct device_bytes *const sides[] = { &d->read, &d->write };
	char number[FORMAT_NUMBER_LEN];
	uint64_t part, whole;
	struct sentence s;
	FILE *f = sentence_begin(&s);

	if (!f)
		return -ENOMEM;
	fprintf(f, "port %s: ", port);
	for (size_t i = 0; i < ARRAY_SIZE(sides); i++) {
		char range[FORMAT_NUMBER_LEN];
		uint64_t ns = devices_time_ns(t->r, d);

		fprintf(f, "%s %s", i ? ", WRITE" : "READ", sides[i]->valid ? "" : "no data");
		if (!sides[i]->valid)
			continue;
		format_rate(sides[i]->bytes, ns, number);
		format_rate_range(sides[i]->bytes, sides[i]->low, sides[i]->high, ns, range);
		fprintf(f, "%s GB/s (%s)", number, range);
	}
	if (d->enabled_ns) {
		devices_cover(t->r, d, &part, &whole);
		format_percent(part, whole, number);
		fprintf(f, ", counted at least %s of the time", number);
	}
	fprintf(f, ": of %s together, which its counter does not tell apart",
		d->device->name[0] ? FORMAT_SAFE(d->device->name) : "its devices");
	return sentence_end(&s, t->out, t->width, 0);
}

/* Do the bytes of devices below a port match the port's own count? */
static int put_port(const struct table *t, const struct report_device *d)
{
	const char *port = FORMAT_SAFE(d->device->bdf);
	char sum[FORMAT_NUMBER_LEN], low[FORMAT_NUMBER_LEN], high[FORMAT_NUMBER_LEN];
	uint64_t all =
		sum_capped(d->read.valid ? d->read.bytes : 0, d->write.valid ? d->write.bytes : 0);
	bool shared = devices_is_shared(t->r, (size_t)(d - t->r->devices));

	if (!d->sum_valid && !shared && !t->o->verbose)
		return 0;
	if (shared)
		return put_shared(t, d, port);
	if (!d->sum_valid)
		return notes_line(t->out, t->width, "port %s: was not counted as a whole", port);
	if (d->sum_bytes < d->sum_low || d->sum_bytes > d->sum_high) {
		format_bytes(d->sum_bytes, sum);
		format_bytes(d->sum_low, low);
		format_bytes(d->sum_high, high);
		return notes_line(
			t->out, t->width,
			"warning: port %s: its devices moved %s, where its own count says "
			"%s to %s: %s",
			port, sum, low, high,
			d->sum_bytes < d->sum_low
				? "something below it that is not counted moves data"
				: "what was seen of the devices is not like the rest");
	}
	if (t->o->quiet || !all)
		return 0;
	format_percent(d->sum_bytes, all, sum);
	return notes_line(t->out, t->width, "port %s: its devices make %s of its bytes", port, sum);
}

/* Lines and columns that are not there, as one line. */
static void put_folded(const struct table *t, size_t shown, size_t idle)
{
	const char *none = "";

	if (shown && is_zero(t, DIRECTION_WRITE))
		none = "wrote to memory";
	else if (shown && is_zero(t, DIRECTION_READ))
		none = "read memory";
	if (idle)
		fprintf(t->out, "(%zu %sdevice%s %s%s%s)\n", idle, shown ? "more " : "",
			idle == 1 ? "" : "s",
			t->devices == DEVICES_IO ? "without requests" : "moved nothing",
			none[0] ? "; none " : "", none);
	else if (none[0])
		fprintf(t->out, "(no device %s)\n", none);
}

int devices_write(struct table *t)
{
	const struct report *r = t->r;
	cleanup_free const struct report_device **sorted =
		calloc(r->nr_devices + 1, sizeof(*sorted));
	GRID(g, columns, t->out, t->width, t);
	size_t nr = 0, idle = 0, unseen[2] = { 0 };
	int err = 0;

	if (!sorted)
		return -ENOMEM;
	for (size_t i = 0; i < r->nr_devices; i++)
		if (devices_is_port(&r->devices[i]))
			continue;
		else if (is_unseen(t, &r->devices[i]))
			unseen[kind_has_requests(r->devices[i].device)]++;
		else if (is_idle(t, &r->devices[i]) && !t->o->verbose)
			idle++;
		else if (!is_unknown(t, &r->devices[i]) || t->o->verbose)
			sorted[nr++] = &r->devices[i];
	qsort(sorted, nr, sizeof(*sorted), compare_devices);
	lay_out(t, &g);
	if (nr)
		grid_heading(&g);
	for (size_t i = 0; i < nr && !err; i++)
		err = put_device(&g, sorted[i]);
	if (!err)
		put_folded(t, nr, idle);
	for (int off = -1; off < 2 && !err; off += 2)
		err = put_times(t, off);
	for (int i = 0; i < 2 && !err; i++)
		err = put_unseen(t, !i, unseen[i]);
	for (size_t i = 0; i < r->nr_devices && !err; i++)
		if (devices_is_port(&r->devices[i]))
			err = put_port(t, &r->devices[i]);
	return err;
}
