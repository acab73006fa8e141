// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* The page of devices: those that move first, the others in one line. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/cleanup.h"
#include "base/sums.h"
#include "base/text.h"
#include "report/devices.h"
#include "report/notes.h"
#include "report/top/draw_internal.h"

#define DEVICE_NAME 15 /* columns */
#define NAME_LEN    (4 * sizeof(((struct device *)NULL)->name) + 1)

enum device_column {
	DEVICE_KIND,
	DEVICE_READ,
	DEVICE_READ_RANGE,
	DEVICE_WRITE,
	DEVICE_WRITE_RANGE,
	DEVICE_REQUESTS,
	DEVICE_COUNTED,
	DEVICE_LATENCY,
	NR_DEVICE_COLUMNS,
};

/* In this order, those that are needed most first, as many as there is room for */
static const enum device_column by_need[] = { DEVICE_READ,	  DEVICE_WRITE,	  DEVICE_READ_RANGE,
					      DEVICE_WRITE_RANGE, DEVICE_COUNTED, DEVICE_REQUESTS,
					      DEVICE_KIND,	  DEVICE_LATENCY };

static const struct {
	const char *head;
	bool unit; /* "GB/s" belongs behind it */
	size_t width;
} device_columns[NR_DEVICE_COLUMNS] = {
	[DEVICE_KIND] = { "KIND", false, 6 },	     [DEVICE_READ] = { "READ", true, 9 },
	[DEVICE_READ_RANGE] = { "95%", false, 12 },  [DEVICE_WRITE] = { "WRITE", true, 10 },
	[DEVICE_WRITE_RANGE] = { "95%", false, 12 }, [DEVICE_REQUESTS] = { "REQ", true, 8 },
	[DEVICE_COUNTED] = { "COUNTED", false, 7 },  [DEVICE_LATENCY] = { "LAT ns", false, 7 },
};

static void choose_columns(size_t width, bool ret_has[NR_DEVICE_COLUMNS])
{
	size_t used = DEVICE_NAME;

	for (size_t i = 0; i < ARRAY_SIZE(by_need); i++) {
		size_t more = device_columns[by_need[i]].width + 1;

		ret_has[by_need[i]] = used + more <= width;
		used += ret_has[by_need[i]] ? more : 0;
	}
}

static uint64_t moved(const struct report_device *d)
{
	uint64_t io = sum_capped(d->read.io_bytes, d->write.io_bytes);
	uint64_t sum =
		sum_capped(d->read.valid ? d->read.bytes : 0, d->write.valid ? d->write.bytes : 0);

	return sum > io ? sum : io;
}

/* Was it never to be counted, or did its turn not come? The text of a number that is not there. */
static const char *absence(const struct report_device *d)
{
	return d->enabled_ns ? "unread" : "never";
}

static void device_number(const struct view *v, const struct report_device *d,
			  enum device_column column, char ret[FORMAT_NUMBER_LEN])
{
	const struct device_bytes *side =
		column == DEVICE_WRITE || column == DEVICE_WRITE_RANGE ? &d->write : &d->read;
	uint64_t part, whole;

	strcpy(ret, "-");
	if (column == DEVICE_KIND) {
		snprintf(ret, FORMAT_NUMBER_LEN, "%s", device_kind_name(d->device->kind));
	} else if (column == DEVICE_REQUESTS) {
		if (d->read.io_valid || d->write.io_valid)
			draw_amount(v, sum_capped(d->read.io_bytes, d->write.io_bytes), ret);
	} else if (column == DEVICE_COUNTED) {
		devices_cover(v->report, d, &part, &whole);
		format_percent(part, whole, ret);
	} else if (column == DEVICE_LATENCY) {
		if (d->latency_valid)
			format_ns(d->latency_ns, ret);
	} else if (column == DEVICE_READ_RANGE || column == DEVICE_WRITE_RANGE) {
		ret[0] = '\0';
		if (side->valid)
			draw_range(v, side->bytes, side->low, side->high,
				   devices_time_ns(v->report, d), ret);
	} else if (side->valid) {
		draw_amount_of(v, side->bytes, devices_time_ns(v->report, d), ret);
	} else {
		strcpy(ret, absence(d));
	}
}

static const char *device_name(const struct device *d, char ret[NAME_LEN])
{
	return d->name[0] ? format_safe(ret, d->name, sizeof(d->name))
			  : format_safe(ret, d->bdf, sizeof(d->bdf));
}

static int put_device(const struct view *v, const struct report_device *d,
		      const bool has[NR_DEVICE_COLUMNS], FILE *out)
{
	char name[NAME_LEN], text[FORMAT_NUMBER_LEN];
	cleanup_free char *cut = NULL;

	if (format_cut(device_name(d->device, name), DEVICE_NAME, FORMAT_CUT_LEFT, &cut))
		return -ENOMEM;
	fprintf(out, "%s%*s", cut, (int)(DEVICE_NAME - format_width(cut)), "");
	for (int i = 0; i < NR_DEVICE_COLUMNS; i++) {
		if (!has[i])
			continue;
		device_number(v, d, (enum device_column)i, text);
		draw_padded(out, text, device_columns[i].width + 1);
	}
	fputc('\n', out);
	return 0;
}

static void put_device_heading(const struct view *v, const bool has[NR_DEVICE_COLUMNS], FILE *out)
{
	const char *unit = draw_unit(v);
	char text[FORMAT_NUMBER_LEN];

	fprintf(out, "# %-*s", DEVICE_NAME, "DEVICE");
	for (int i = 0; i < NR_DEVICE_COLUMNS; i++) {
		if (!has[i])
			continue;
		snprintf(text, sizeof(text), "%s%s%s", device_columns[i].head,
			 device_columns[i].unit && unit[0] != '/' ? " " : "",
			 device_columns[i].unit ? unit : "");
		draw_padded(out, text, device_columns[i].width + 1);
	}
	fputc('\n', out);
}

/* --- devices without a line */

enum stillness { STILL_MOVES, STILL_IDLE, STILL_UNREAD, STILL_UNKNOWN, NR_STILL };

static enum stillness stillness_of(const struct report_device *d)
{
	if (moved(d))
		return STILL_MOVES;
	if (d->read.valid || d->write.valid)
		return STILL_IDLE;
	if (d->enabled_ns)
		return STILL_UNREAD;
	return d->read.io_valid || d->write.io_valid ? STILL_IDLE : STILL_UNKNOWN;
}

/* As many names as one line has room for */
static int put_folded(const struct report *r, enum stillness how, FILE *out, size_t width)
{
	static const char *const texts[NR_STILL] = {
		[STILL_IDLE] = "moved nothing",
		[STILL_UNREAD] = "unread (not their turn in this time)",
		[STILL_UNKNOWN] = "never counted, nor are their requests known",
	};
	char line[1024] = "", begin[96], name[NAME_LEN];
	cleanup_free char *cut = NULL;
	size_t nr = 0;

	for (size_t i = 0; i < r->nr_devices; i++)
		if (stillness_of(&r->devices[i]) == how)
			str_append(line, sizeof(line), "%s %s", nr++ ? "," : "",
				   device_name(r->devices[i].device, name));
	if (!nr)
		return 0;
	snprintf(begin, sizeof(begin), "%zu %s:", nr, texts[how]);
	if (format_cut(line, width > strlen(begin) ? width - strlen(begin) : 0, FORMAT_CUT_RIGHT,
		       &cut))
		return -ENOMEM;
	fprintf(out, "%s%s\n", begin, cut);
	return 0;
}

/* --- all of them */

/* Ports have the bytes of other devices once more: they come last. */
static int compare_devices(const void *a, const void *b)
{
	const struct report_device *x = *(const struct report_device *const *)a;
	const struct report_device *y = *(const struct report_device *const *)b;

	return ORDER(devices_is_port(x), devices_is_port(y))
		       ?: ORDER(moved(y), moved(x))
		       ?: ORDER(x, y);
}

int draw_devices(const struct view *v, FILE *out, size_t width)
{
	const struct report *r = v->report;
	cleanup_free const struct report_device **sorted =
		calloc(r->nr_devices + 1, sizeof(*sorted));
	bool has[NR_DEVICE_COLUMNS];
	size_t nr = 0;
	int err = sorted ? 0 : -ENOMEM;

	if (!r->nr_devices)
		return notes_line(out, width,
				  "No device is followed: -D all, or -D with names, does that.");
	for (size_t i = 0; i < r->nr_devices && !err; i++)
		if (v->all || stillness_of(&r->devices[i]) == STILL_MOVES)
			sorted[nr++] = &r->devices[i];
	if (!err)
		qsort(sorted, nr, sizeof(*sorted), compare_devices);
	choose_columns(width, has);
	if (nr)
		put_device_heading(v, has, out);
	for (size_t i = 0; i < nr && !err; i++)
		err = put_device(v, sorted[i], has, out);
	for (int how = STILL_IDLE; how < NR_STILL && !v->all && !err; how++)
		err = put_folded(r, (enum stillness)how, out, width);
	if (err)
		return err;
	fputc('\n', out);
	return notes_line(out, width,
			  "As devices see it: a disk that is written reads memory. COUNTED is the "
			  "part of the time in which its counters counted; REQ are requests that "
			  "the kernel saw, rows have who made them.");
}
