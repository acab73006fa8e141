// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * The block of devices below the rows. What is known of a device beyond its bytes
 * is left out where there is no room; the JSON has all.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/sums.h"
#include "report/table/cells.h"
#include "report/latencies.h"
#include "report/names.h"
#include "report/notes.h"
#include "report/table/devices_table.h"

#define NUMBER_WIDTH  (FORMAT_NUMBER_WIDTH + 1)
#define RANGE_COLUMN  (FORMAT_BAR_WIDTH + 1)
#define COVER_WIDTH   6
/* READ and WRITE with their ranges, COVER, OWNED; and without all that nobody counted. */
#define COUNTED_WIDTH (2 * (NUMBER_WIDTH + RANGE_COLUMN) + 2 * (COVER_WIDTH + 1))
#define IO_WIDTH      (2 * NUMBER_WIDTH)
#define NAME_MIN      8
#define WHERE_LEN     48

/**
 * struct block - the block while it is written
 * @address, @name, @where: columns; without @name addresses give way to names
 * @requests, @latency: there are such columns
 */
struct block {
	const struct table *t;
	size_t address;
	size_t name;
	size_t where;
	bool requests;
	bool latency;
};

static uint64_t moved(const struct report_device *d)
{
	uint64_t io = sum_capped(d->read.io_bytes, d->write.io_bytes), sum = 0;

	if (d->read.valid)
		sum = d->read.bytes;
	if (d->write.valid)
		sum = sum_capped(sum, d->write.bytes);
	return sum > io ? sum : io;
}

/* Was it seen that it did nothing? Of what was not counted, only that nobody asked for anything. */
static bool is_idle(const struct table *t, const struct report_device *d)
{
	return !moved(d) && (t->devices == DEVICES_IO || (d->read.valid && d->write.valid));
}

/* A sentence has its name, and there is nothing else to say. */
static bool is_unknown(const struct table *t, const struct report_device *d)
{
	return !moved(d) && t->devices == DEVICES_COUNTED &&
	       d->device->filter == DEVICE_NOT_COUNTED && !d->read.valid && !d->write.valid;
}

/* "s0 rc1 rp2", with a mark when nothing but a rule of thumb says so */
static void where_is(const struct report *r, const struct device *d, char ret_text[WHERE_LEN])
{
	if (d->wiring == WIRING_UNKNOWN)
		strcpy(ret_text, "-");
	else
		snprintf(ret_text, WHERE_LEN, "s%" PRIu32 " rc%" PRIu32 " rp%" PRIu32 "%s",
			 d->socket < r->nr_sockets ? r->sockets[d->socket].id : d->socket, d->rc,
			 d->rp, devices_is_guess(d) && d->filter != DEVICE_NOT_COUNTED ? "?" : "");
}

/* A sentence below the line of a device. */
__attribute__((format(printf, 2, 3))) static int put_below(const struct table *t,
							   const char *format, ...)
{
	cleanup_free char *text = NULL;
	va_list args;
	int len;

	va_start(args, format);
	len = vasprintf(&text, format, args);
	va_end(args);
	if (len < 0) {
		text = NULL;
		return -ENOMEM;
	}
	fputs("  ", t->out);
	return notes_wrapped(t->out, text, t->width - 2);
}

static void put_right(const struct table *t, const char *text, size_t width)
{
	cells_pad(t, text, width, true);
}

static void put_rate(const struct table *t, uint64_t bytes)
{
	char text[FORMAT_NUMBER_LEN];

	format_rate(bytes, t->duration_ns, text);
	put_right(t, text, NUMBER_WIDTH);
}

static void put_side(const struct table *t, const struct report_device *d,
		     const struct device_bytes *side)
{
	char bar[FORMAT_NUMBER_LEN] = "";

	if (side->valid) {
		put_rate(t, side->bytes);
		format_bar(side->bytes, side->low, side->high, bar);
	} else {
		put_right(t, d->device->filter == DEVICE_NOT_COUNTED ? "-" : "no data",
			  NUMBER_WIDTH);
	}
	put_right(t, bar, RANGE_COLUMN);
}

static void put_percent(const struct table *t, bool known, uint64_t part, uint64_t whole)
{
	char text[FORMAT_NUMBER_LEN] = "-";

	if (known)
		format_percent(part < whole ? part : whole, whole, text);
	put_right(t, text, COVER_WIDTH + 1);
}

static int put_names(const struct block *b, const struct device *d)
{
	const struct table *t = b->t;
	cleanup_free char *address = NULL;
	cleanup_free char *name = NULL;
	char where[WHERE_LEN];
	int err = format_terminal(d->bdf, sizeof(d->bdf), &address);

	if (!err)
		err = format_terminal(d->name, sizeof(d->name), &name);
	if (err)
		return err;
	if (!b->name)
		return d->name[0] ? cells_cut(t, name, b->address, FORMAT_CUT_RIGHT)
				  : cells_cut(t, address, b->address, FORMAT_CUT_LEFT);
	err = cells_cut(t, address, b->address, FORMAT_CUT_LEFT);
	fputc(' ', t->out);
	if (!err)
		err = cells_cut(t, d->name[0] ? name : device_kind_name(d->kind), b->name,
				FORMAT_CUT_RIGHT);
	if (!b->where || err)
		return err;
	where_is(t->r, d, where);
	fputc(' ', t->out);
	cells_pad(t, where, b->where, false);
	return 0;
}

/* Thousands a second. */
static void put_requests(const struct table *t, const struct report_device *d)
{
	char text[FORMAT_NUMBER_LEN] = "-";
	double requests = 0;

	if (d->read.requests_valid)
		requests += d->read.requests;
	if (d->write.requests_valid)
		requests += d->write.requests;
	if (t->duration_ns && (d->read.requests_valid || d->write.requests_valid))
		format_decimals(requests * 1e6 / t->duration_ns, 1, text);
	put_right(t, text, NUMBER_WIDTH);
}

static void put_numbers(const struct block *b, const struct report_device *d)
{
	const struct table *t = b->t;
	uint64_t owned = 0, bytes = 0;
	char text[FORMAT_NUMBER_LEN] = "-";

	if (t->devices == DEVICES_IO) {
		put_rate(t, d->read.io_bytes);
		put_rate(t, d->write.io_bytes);
		fputc('\n', t->out);
		return;
	}
	put_side(t, d, &d->read);
	put_side(t, d, &d->write);
	if (b->requests)
		put_requests(t, d);
	if (b->latency) {
		if (d->latency_valid)
			format_ns(d->latency_ns, text);
		put_right(t, text, NUMBER_WIDTH);
	}
	for (int i = 0; i < 2; i++) {
		const struct device_bytes *side = i ? &d->write : &d->read;

		owned = sum_capped(owned, side->valid ? side->owned : 0);
		bytes = sum_capped(bytes, side->valid ? side->bytes : 0);
	}
	put_percent(t, d->enabled_ns > 0, d->running_ns, d->enabled_ns);
	put_percent(t, d->read.valid || d->write.valid, owned, bytes);
	fputc('\n', t->out);
}

/* Where the bytes went, if that is known. */
static void put_destinations(const struct block *b, const struct report_device *d)
{
	const struct table *t = b->t;
	size_t left = b->address + (b->name ? b->name + 1 : 0) + (b->where ? b->where + 1 : 0);

	for (int to = 0; to < NR_DESTINATIONS; to++) {
		uint64_t read = d->read.valid && d->read.split ? d->read.to[to] : 0;
		uint64_t written = d->write.valid && d->write.split ? d->write.to[to] : 0;
		char label[32];

		if (!read && !written)
			continue;
		snprintf(label, sizeof(label), "  %s",
			 to == DESTINATION_ANY ? "elsewhere" : destination_name(to));
		cells_pad(t, label, left, false);
		put_rate(t, read);
		put_right(t, "", RANGE_COLUMN);
		put_rate(t, written);
		fputc('\n', t->out);
	}
}

/* "between 1.17 GB and 1.30 GB", where there is anything between. */
static void put_between(FILE *f, const char *what, const struct device_bytes *side)
{
	char low[FORMAT_NUMBER_LEN], high[FORMAT_NUMBER_LEN];

	if (!side->valid)
		return;
	format_bytes(side->low, low);
	format_bytes(side->high, high);
	if (strcmp(low, high) != 0)
		fprintf(f, "; %s between %s and %s", what, low, high);
}

/* What a single cell cannot say. */
static int put_details(const struct table *t, const struct report_device *d)
{
	static const char *const known[NR_WIRINGS] = {
		[WIRING_UNKNOWN] = "not known", [WIRING_FIRMWARE] = "from firmware",
		[WIRING_USER] = "from the map", [WIRING_MEDIUM] = "guessed, likely right",
		[WIRING_LOW] = "guessed",
	};
	char read[FORMAT_NUMBER_LEN], written[FORMAT_NUMBER_LEN];
	cleanup_free char *text = NULL;
	size_t len;
	FILE *f = open_memstream(&text, &len);
	int err = 0;

	if (!f)
		return -ENOMEM;
	fprintf(f, "place %s", d->device->wiring < NR_WIRINGS ? known[d->device->wiring] : "?");
	if (d->device->filter != DEVICE_NOT_COUNTED)
		fprintf(f, "; told from others by %s; counted anew %" PRIu64 " time%s",
			device_filter_name(d->device->filter), d->turns, d->turns == 1 ? "" : "s");
	put_between(f, "read", &d->read);
	put_between(f, "wrote", &d->write);
	if (d->read.io_bytes || d->write.io_bytes) {
		format_bytes(d->read.io_bytes, read);
		format_bytes(d->write.io_bytes, written);
		fprintf(f, "; requests that the kernel saw: READ %s, WRITE %s", read, written);
	}
	if (fclose(f))
		err = -ENOMEM;
	return err ? err : put_below(t, "%s", text);
}

/* Who alone had it open. */
static int put_exclusive(const struct table *t, const struct report_device *d)
{
	cleanup_free char *name = NULL;
	size_t i = 0;
	int err;

	while (i < t->r->nr_rows &&
	       strncmp(t->r->rows[i].key, d->exclusive, sizeof(d->exclusive)) != 0)
		i++;
	err = i < t->r->nr_rows ? names_row(&t->r->rows[i], &name)
				: format_terminal(d->exclusive, sizeof(d->exclusive), &name);
	return err ? err : put_below(t, "open in %s alone", name);
}

static int put_device(const struct block *b, const struct report_device *d)
{
	const struct table *t = b->t;
	char read[FORMAT_NUMBER_LEN], written[FORMAT_NUMBER_LEN];
	int err = put_names(b, d->device);

	if (err)
		return err;
	put_numbers(b, d);
	if (!t->o->quiet && t->devices == DEVICES_COUNTED)
		put_destinations(b, d);
	if (!t->o->verbose && t->devices == DEVICES_COUNTED && !d->read.valid && !d->write.valid &&
	    (d->read.io_bytes || d->write.io_bytes)) {
		format_rate(d->read.io_bytes, t->duration_ns, read);
		format_rate(d->write.io_bytes, t->duration_ns, written);
		err = put_below(t, "requests the kernel saw: READ %s, WRITE %s GB/s", read,
				written);
	}
	if (!err && d->exclusive[0] && !t->o->quiet)
		err = put_exclusive(t, d);
	if (!err && t->o->verbose)
		err = put_details(t, d);
	return err;
}

static int compare_devices(const void *a, const void *b)
{
	const struct report_device *x = *(const struct report_device *const *)a;
	const struct report_device *y = *(const struct report_device *const *)b;
	uint64_t x_moved = moved(x), y_moved = moved(y);

	if (x_moved != y_moved)
		return x_moved < y_moved ? 1 : -1;
	return (x > y) - (x < y);
}

static size_t larger(size_t a, size_t b)
{
	return a > b ? a : b;
}

/* Share what the numbers leave; addresses and names come first. */
static int lay_out(struct block *b)
{
	const struct report *r = b->t->r;
	bool counted = b->t->devices == DEVICES_COUNTED, requests = false, latency = false;
	size_t room = b->t->width - (counted ? COUNTED_WIDTH : IO_WIDTH);
	size_t address = strlen("DEVICE"), name = NAME_MIN, where = strlen("WHERE");

	for (size_t i = 0; i < r->nr_devices; i++) {
		const struct report_device *d = &r->devices[i];
		cleanup_free char *text = NULL;
		char place[WHERE_LEN];
		int err;

		if (devices_is_port(d))
			continue;
		err = format_terminal(d->device->name, sizeof(d->device->name), &text);
		if (err)
			return err;
		where_is(r, d->device, place);
		address = larger(address, strnlen(d->device->bdf, sizeof(d->device->bdf)));
		name = larger(name, format_width(text));
		where = larger(where, strlen(place));
		requests = requests || d->read.requests_valid || d->write.requests_valid;
		latency = latency || d->latency_valid;
	}
	b->address = room;
	if (room < address + 1 + NAME_MIN)
		return 0;
	b->address = address;
	b->name = NAME_MIN;
	room -= address + 1 + NAME_MIN;
	b->where = room > where ? where : 0;
	room -= b->where ? b->where + 1 : 0;
	b->name += room < name - NAME_MIN ? room : name - NAME_MIN;
	room -= b->name - NAME_MIN;
	b->latency = counted && latency && room >= NUMBER_WIDTH;
	room -= b->latency ? NUMBER_WIDTH : 0;
	b->requests = counted && requests && room >= NUMBER_WIDTH;
	return 0;
}

static void put_heading(const struct block *b)
{
	const struct table *t = b->t;
	size_t left = b->address + (b->name ? b->name + 1 : 0) + (b->where ? b->where + 1 : 0);
	bool counted = t->devices == DEVICES_COUNTED;

	cells_pad(t, "", left, false);
	if (counted)
		fprintf(t->out, "%*s%*s%*s%*s", NUMBER_WIDTH, "READ", RANGE_COLUMN, "95%",
			NUMBER_WIDTH, "WRITE", RANGE_COLUMN, "95%");
	else
		fprintf(t->out, "%*s%*s", NUMBER_WIDTH, "IO-RD", NUMBER_WIDTH, "IO-WR");
	if (b->requests)
		put_right(t, "REQ", NUMBER_WIDTH);
	fputc('\n', t->out);
	cells_pad(t, "DEVICE", b->address, false);
	if (b->name) {
		fputc(' ', t->out);
		cells_pad(t, "NAME", b->name, false);
	}
	if (b->where) {
		fputc(' ', t->out);
		cells_pad(t, "WHERE", b->where, false);
	}
	if (!counted) {
		fprintf(t->out, "%*s%*s\n", NUMBER_WIDTH, "GB/s", NUMBER_WIDTH, "GB/s");
		return;
	}
	fprintf(t->out, "%*s%*s%*s%*s", NUMBER_WIDTH, "GB/s", RANGE_COLUMN, "RANGE", NUMBER_WIDTH,
		"GB/s", RANGE_COLUMN, "RANGE");
	if (b->requests)
		put_right(t, "1000/s", NUMBER_WIDTH);
	if (b->latency)
		put_right(t, "LAT ns", NUMBER_WIDTH);
	put_right(t, "COVER", COVER_WIDTH + 1);
	put_right(t, "OWNED", COVER_WIDTH + 1);
	fputc('\n', t->out);
}

/* Do the devices below a port make what the port itself was seen to move? */
static int put_port(const struct table *t, const struct report_device *d)
{
	cleanup_free char *text = NULL;
	cleanup_free char *port = NULL;
	char sum[FORMAT_NUMBER_LEN], low[FORMAT_NUMBER_LEN], high[FORMAT_NUMBER_LEN];
	uint64_t all =
		sum_capped(d->read.valid ? d->read.bytes : 0, d->write.valid ? d->write.bytes : 0);
	int len, err;

	if (!d->sum_valid && !t->o->verbose)
		return 0;
	err = format_terminal(d->device->bdf, sizeof(d->device->bdf), &port);
	if (err)
		return err;
	if (!d->sum_valid) {
		len = asprintf(&text, "port %s: was not counted as a whole", port);
	} else if (d->sum_bytes < d->sum_low || d->sum_bytes > d->sum_high) {
		format_bytes(d->sum_bytes, sum);
		format_bytes(d->sum_low, low);
		format_bytes(d->sum_high, high);
		len = asprintf(&text,
			       "warning: port %s: its devices moved %s, where its own count says "
			       "%s to %s: %s",
			       port, sum, low, high,
			       d->sum_bytes < d->sum_low
				       ? "something below it that is not counted moves data"
				       : "what was seen of the devices is not like the rest");
	} else if (t->o->quiet || !all) {
		return 0;
	} else {
		format_percent(d->sum_bytes, all, sum);
		len = asprintf(&text, "port %s: its devices make %s of its bytes", port, sum);
	}
	if (len < 0) {
		text = NULL;
		return -ENOMEM;
	}
	return notes_wrapped(t->out, text, t->width);
}

int devices_write(const struct table *t)
{
	const struct report *r = t->r;
	cleanup_free const struct report_device **sorted =
		calloc(r->nr_devices + 1, sizeof(*sorted));
	struct block b = { .t = t };
	size_t nr = 0, idle = 0;
	int err;

	if (!sorted)
		return -ENOMEM;
	for (size_t i = 0; i < r->nr_devices; i++)
		if (devices_is_port(&r->devices[i]))
			continue;
		else if (is_idle(t, &r->devices[i]) && !t->o->verbose)
			idle++;
		else if (!is_unknown(t, &r->devices[i]) || t->o->verbose)
			sorted[nr++] = &r->devices[i];
	qsort(sorted, nr, sizeof(*sorted), compare_devices);
	err = lay_out(&b);
	if (!err && nr)
		put_heading(&b);
	for (size_t i = 0; i < nr && !err; i++)
		err = put_device(&b, sorted[i]);
	if (!err && idle)
		fprintf(t->out, "(%zu %sdevice%s %s)\n", idle, nr ? "more " : "",
			idle == 1 ? "" : "s",
			t->devices == DEVICES_IO ? "without requests" : "moved nothing");
	for (size_t i = 0; i < r->nr_devices && !err; i++)
		if (devices_is_port(&r->devices[i]))
			err = put_port(t, &r->devices[i]);
	return err;
}
