// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Pages that are lists: written as text, of which the terminal shows a part. */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/sums.h"
#include "report/devices.h"
#include "report/grid.h"
#include "report/latencies.h"
#include "report/names.h"
#include "report/notes.h"
#include "report/parts.h"
#include "report/peaks.h"
#include "report/top/draw_internal.h"

/* --- devices */

static void side(const struct view *v, const struct device_bytes *b, uint64_t ns,
		 char ret_value[FORMAT_NUMBER_LEN], char ret_range[FORMAT_NUMBER_LEN])
{
	ret_range[0] = '\0';
	if (b->valid) {
		draw_amount_of(v, b->bytes, ns, ret_value);
		draw_range(v, b->bytes, b->low, b->high, ns, ret_range);
	} else {
		strcpy(ret_value, "-");
	}
}

static int put_device(const struct view *v, const struct report_device *d, FILE *out)
{
	char values[2][FORMAT_NUMBER_LEN], ranges[2][FORMAT_NUMBER_LEN];
	char io[FORMAT_NUMBER_LEN], cover[FORMAT_NUMBER_LEN], ns[FORMAT_NUMBER_LEN] = "-";
	const struct device_bytes *sides[2] = { &d->read, &d->write };
	uint64_t part, whole;
	cleanup_free char *cut = NULL;

	if (format_cut(d->device->name[0] ? FORMAT_SAFE(d->device->name)
					  : FORMAT_SAFE(d->device->bdf),
		       16, FORMAT_CUT_LEFT, &cut))
		return -ENOMEM;
	fprintf(out, "%s%*s %-6s", cut, (int)(16 - format_width(cut)), "",
		device_kind_name(d->device->kind));
	for (int i = 0; i < 2; i++) {
		side(v, sides[i], devices_time_ns(v->report, d), values[i], ranges[i]);
		draw_padded(out, values[i], 9);
		draw_padded(out, ranges[i], GRID_RANGE_WIDTH);
	}
	if (sides[0]->io_valid || sides[1]->io_valid)
		draw_amount(v, sum_capped(sides[0]->io_bytes, sides[1]->io_bytes), io);
	else
		strcpy(io, "-");
	devices_cover(v->report, d, &part, &whole);
	format_percent(part, whole, cover);
	if (d->latency_valid)
		format_ns(d->latency_ns, ns);
	draw_padded(out, io, 9);
	draw_padded(out, cover, 8);
	draw_padded(out, ns, 8);
	fputc('\n', out);
	return 0;
}

/* How near the peaks devices were, or all */
static int put_peaks(const struct report *r, bool devices, FILE *out, size_t width)
{
	struct peak_use use;
	int err = 0;

	for (size_t at = 0; !err && peaks_use(r, &at, &use);)
		if (use.device || !devices)
			err = peaks_line(out, &use, "", width);
	return err;
}

static int put_devices(const struct view *v, FILE *out, size_t width)
{
	const struct report *r = v->report;
	int err = 0;

	if (!r->nr_devices)
		return notes_line(out, width,
				  "No device is followed: -D all, or -D with names, does that.");
	fprintf(out,
		"# DEVICE           KIND        READ          95%%     WRITE          95%%  "
		"REQUESTS COUNTED"
		"  LAT ns   %s, as devices see it\n",
		draw_unit(v)[0] ? draw_unit(v) : "bytes");
	for (size_t i = 0; i < r->nr_devices && !err; i++)
		err = put_device(v, &r->devices[i], out);
	fputs("\n", out);
	if (!err)
		err = put_peaks(r, true, out, width);
	if (err)
		return err;
	return notes_line(out, width,
			  "COUNTED is the part of the time in which its counters counted. REQUESTS "
			  "are those that the kernel saw; who made them is in the rows.");
}

/* --- latencies */

static void put_probe(const struct report_probe *p, const struct report *r, FILE *out)
{
	char ns[FORMAT_NUMBER_LEN] = "-", rate[FORMAT_NUMBER_LEN];
	double seconds = (double)report_duration_ns(r) / 1e9;

	if (p->valid)
		format_ns(p->latency_ns, ns);
	format_decimals(seconds > 0 ? (double)p->requests / seconds / 1e6 : 0, 3, rate);
	fprintf(out, "%-18.18s %6" PRIu32 " ", p->probe->name,
		report_socket_at(r, p->probe->socket));
	draw_padded(out, ns, 8);
	draw_padded(out, rate, 12);
	fprintf(out, " %8" PRIu64 "  %s\n", p->samples, p->probe->title);
}

static int put_latencies(const struct view *v, FILE *out, size_t width)
{
	const struct report *r = v->report;
	int err = 0;

	if (!r->nr_probes)
		err = notes_line(out, width, "No latency is measured here.");
	else
		fputs("# LATENCY            SOCKET       ns  M REQUEST/s  SAMPLES  OF WHAT\n", out);
	for (size_t i = 0; i < r->nr_probes && !err; i++)
		put_probe(&r->probes[i], r, out);
	if (err)
		return err;
	fputs("\n# NEIGHBOURS: who moved more while a latency was high, since the begin\n", out);
	fputs(v->neighbours ? v->neighbours : "Nothing is known so far.\n", out);
	return 0;
}

/* --- counters */

/* The rest beside its numbers */
static size_t name_width(size_t width)
{
	return width < 73 ? 22 : width > 126 ? 75 : width - 51;
}

static int put_counter(const struct view *v, const struct report_counter *c, FILE *out,
		       size_t width)
{
	const struct report *r = v->report;
	char value[FORMAT_NUMBER_LEN] = "no data", part[FORMAT_NUMBER_LEN] = "-",
	     cover[FORMAT_NUMBER_LEN], range[FORMAT_NUMBER_LEN] = "";
	cleanup_free char *cut = NULL;

	if (format_cut(FORMAT_SAFE(c->counter->name), name_width(width), FORMAT_CUT_RIGHT, &cut))
		return -ENOMEM;
	if (c->valid && c->counter->unit == UNIT_NANOJOULES)
		format_joules(c->value, value);
	else if (c->valid && c->counter->unit == UNIT_REQUESTS)
		snprintf(value, sizeof(value), "%.4g req", (double)c->value);
	else if (c->valid && c->counter->unit == UNIT_EVENTS)
		snprintf(value, sizeof(value), "%.4g", (double)c->value);
	else if (c->valid)
		draw_amount(v, c->value, value);
	if (c->valid)
		format_percent(c->attributed, c->value, part);
	format_percent(c->running_ns, c->enabled_ns, cover);
	fprintf(out, "%s%*s %6" PRIu32, cut, (int)(name_width(width) - format_width(cut)), "",
		report_socket_id(r, c->counter));
	draw_padded(out, value, 10);
	draw_padded(out, part, 11);
	draw_padded(out, cover, 9);
	if (c->valid && c->running_ns < c->enabled_ns) {
		if (c->counter->unit == UNIT_NANOJOULES)
			format_joules_range(c->value, c->low, c->high, range);
		else if (c->counter->unit == UNIT_BYTES)
			draw_range(v, c->value, c->low, c->high, report_duration_ns(r), range);
		fprintf(out, " %s", range);
	}
	fputc('\n', out);
	return 0;
}

static int put_counters(const struct view *v, FILE *out, size_t width)
{
	const struct report *r = v->report;
	int err = 0;

	if (!r->nr_counters)
		return notes_line(out, width, "Nothing is counted: only CPU time is known.");
	fprintf(out, "# %-*s SOCKET %9s ATTRIBUTED  COUNTED\n", (int)name_width(width), "COUNTER",
		draw_unit(v)[0] ? draw_unit(v) : "bytes");
	for (size_t i = 0; i < r->nr_counters && !err; i++)
		err = put_counter(v, &r->counters[i], out, width);
	fputc('\n', out);
	if (!err)
		err = put_peaks(r, false, out, width);
	if (!err)
		err = peaks_source_line(out, &r->host->peaks, width);
	if (!err)
		err = parts_write(out, r, width, true);
	if (err)
		return err;
	return notes_line(out, width,
			  "COUNTED is the part of the time in which the counter counted: less "
			  "than 100%% where it shares the hardware with others. Then its value is "
			  "scaled, and behind it is how far off that may be.");
}

/* --- all of them */

static int put_page(const struct view *v, FILE *out, size_t width)
{
	switch (v->page) {
	case VIEW_DEVICES:
		return put_devices(v, out, width);
	case VIEW_LATENCIES:
		return put_latencies(v, out, width);
	case VIEW_COUNTERS:
		return put_counters(v, out, width);
	case VIEW_METRICS:
		return draw_metrics(v, out, width);
	default:
		return notes_write(out, v->report, width, false, true);
	}
}

int draw_page(struct view *v, struct canvas *c, struct draw_area area)
{
	return draw_put(v, c, area, put_page);
}
