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

/* --- peaks */

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
		fputs("# LATENCY            SOCKET       ns  M REQUEST/s  SAMPLES  REQUESTS\n",
		      out);
	for (size_t i = 0; i < r->nr_probes && !err; i++)
		put_probe(&r->probes[i], r, out);
	if (err)
		return err;
	fputs("\n# NEIGHBOURS: rows that moved more while a latency was high, since the start\n",
	      out);
	fputs(v->neighbours ? v->neighbours : "Nothing is known so far.\n", out);
	return 0;
}

/* --- counters */

static bool has_range(const struct report_counter *c)
{
	return c->valid && c->running_ns < c->enabled_ns &&
	       (c->counter->unit == UNIT_NANOJOULES || c->counter->unit == UNIT_BYTES);
}

/* The rest beside its numbers */
static size_t name_width(const struct report *r, size_t width)
{
	size_t numbers = 38;

	for (size_t i = 0; i < r->nr_counters; i++)
		if (has_range(&r->counters[i])) {
			numbers += GRID_RANGE_WIDTH;
			break;
		}
	/* On a narrow terminal socket and value have room behind it, and nothing else. */
	size_t least = width < 22 + 7 + 12 ? width - 7 - 12 : 22;

	return width < numbers + least ? least : width > numbers + 75 ? 75 : width - numbers;
}

/* "409 k req/s" */
static void put_count(const struct view *v, uint64_t count, const char *unit,
		      char ret[FORMAT_NUMBER_LEN])
{
	static const char prefixes[] = " kMGTPE";
	double n = (double)count, ns = (double)report_duration_ns(v->report);
	bool rate = v->units != VIEW_BYTES && ns > 0;
	size_t i = 0;

	n = rate ? n * 1e9 / ns : n;
	for (; n >= 999.5 && i + 2 < sizeof(prefixes); i++)
		n /= 1000;
	snprintf(ret, FORMAT_NUMBER_LEN, "%.3g %.*s%s%s%s", n, i ? 1 : 0, prefixes + i,
		 i && unit[0] ? " " : "", unit, rate ? "/s" : "");
}

/* The value with its unit: that of counters differs. */
static void put_value(const struct view *v, const struct report_counter *c,
		      char ret[FORMAT_NUMBER_LEN])
{
	char text[FORMAT_NUMBER_LEN];

	if (!c->valid) {
		strcpy(ret, "no data");
	} else if (c->counter->unit == UNIT_NANOJOULES) {
		format_joules(c->value, ret);
	} else if (c->counter->unit == UNIT_REQUESTS) {
		put_count(v, c->value, "req", ret);
	} else if (c->counter->unit == UNIT_EVENTS) {
		put_count(v, c->value, "", ret);
	} else {
		draw_amount(v, c->value, text);
		snprintf(ret, FORMAT_NUMBER_LEN, "%.20s%s%s", text,
			 v->units == VIEW_GB_PER_S ? " " : "", draw_unit(v));
	}
}

static int put_counter(const struct view *v, const struct report_counter *c, FILE *out,
		       size_t width)
{
	const struct report *r = v->report;
	char value[FORMAT_NUMBER_LEN], part[FORMAT_NUMBER_LEN] = "-", cover[FORMAT_NUMBER_LEN],
				       range[FORMAT_NUMBER_LEN] = "";
	cleanup_free char *cut = NULL;

	if (format_cut(FORMAT_SAFE(c->counter->name), name_width(r, width), FORMAT_CUT_RIGHT, &cut))
		return -ENOMEM;
	put_value(v, c, value);
	if (c->valid && unit_is_split(c->counter->unit))
		format_percent(c->attributed, c->value, part);
	format_percent(c->running_ns, c->enabled_ns, cover);
	fprintf(out, "%s%*s %6" PRIu32, cut, (int)(name_width(r, width) - format_width(cut)), "",
		report_socket_id(r, c->counter));
	draw_padded(out, value, 12);
	draw_padded(out, part, 11);
	draw_padded(out, cover, 8);
	if (has_range(c)) {
		if (c->counter->unit == UNIT_NANOJOULES)
			format_joules_range(c->value, c->low, c->high, range);
		else
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
	fprintf(out, "# %-*s SOCKET       VALUE ATTRIBUTED COUNTED\n", (int)name_width(r, width),
		"COUNTER");
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
	int err;

	switch (v->page) {
	case VIEW_DEVICES:
		err = draw_devices(v, out, width);
		return err ? err : put_peaks(v->report, true, out, width);
	case VIEW_LATENCIES:
		return put_latencies(v, out, width);
	case VIEW_COUNTERS:
		return put_counters(v, out, width);
	case VIEW_GPUS:
		return draw_gpus(v, out, width);
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
