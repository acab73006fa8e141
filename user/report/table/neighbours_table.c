// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "report/table/neighbours_table.h"

#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/cleanup.h"
#include "report/format.h"
#include "report/latencies.h"
#include "report/names.h"
#include "report/notes.h"

/* CALM, HIGH, CHANGE, LAT ns twice; SHARE; the role. */
#define NUMBERS_WIDTH (5 * (FORMAT_NUMBER_WIDTH + 1) + 7 + 7)
#define MAX_LEFT      48

struct output {
	FILE *out;
	const struct neighbours_report *r;
	const struct table_options *o;
	size_t width;
	size_t left; /* columns of names */
};

static const char *const reasons[NR_REASONS] = {
	[REASON_IDLE] = "(while nobody ran)", [REASON_DEVICE] = "(devices)",
	[REASON_REMOTE] = "(other sockets)",  [REASON_OTHER] = "(not followed)",
	[REASON_LOST] = "(not recorded)",     [REASON_BACKGROUND] = "(background)",
};

static void put_cell(FILE *out, const char *text, size_t width)
{
	size_t used = format_width(text);

	fprintf(out, " %*s%s", used < width ? (int)(width - used) : 0, "", text);
}

static void put_rate(FILE *out, double rate)
{
	char text[FORMAT_NUMBER_LEN];

	format_rate(rate < 1.8e19 ? (uint64_t)rate : UINT64_MAX, 1000000000, text);
	put_cell(out, text, FORMAT_NUMBER_WIDTH);
}

/* Signed, as far as it is more than nothing at all. */
static void put_change(FILE *out, double change)
{
	double size = change < 0 ? -change : change;
	char text[2 + FORMAT_NUMBER_LEN];

	if (size < 5e5)
		strcpy(text, "0");
	else
		snprintf(text, sizeof(text),
			 size < 99.9995e9  ? "%+.3f"
			 : size < 999.99e9 ? "%+.2f"
					   : "%+.0e",
			 change / 1e9);
	put_cell(out, text, FORMAT_NUMBER_WIDTH);
}

static void put_latency(FILE *out, double ns)
{
	char text[FORMAT_NUMBER_LEN] = "-";

	if (ns > 0)
		format_ns(ns, text);
	put_cell(out, text, FORMAT_NUMBER_WIDTH);
}

static void put_share(FILE *out, double share)
{
	char text[FORMAT_NUMBER_LEN];

	format_percent(share * 1e9, 1000000000, text);
	put_cell(out, text, 6);
}

static int put_name(const struct output *o, const char *text)
{
	cleanup_free char *cut = NULL;
	int err = format_cut(text, o->left, FORMAT_CUT_RIGHT, &cut);

	if (err)
		return err;
	fprintf(o->out, "%s%*s", cut, (int)(o->left - format_width(cut)), "");
	return 0;
}

static int put_neighbour(const struct output *o, const struct neighbourhood *h,
			 const struct neighbour *n)
{
	char error[FORMAT_NUMBER_LEN];
	int err;

	if (!n->row) {
		err = put_name(o, reasons[n->reason]);
	} else {
		cleanup_free char *name = NULL;

		err = names_row(n->row, &name);
		if (!err)
			err = put_name(o, name);
	}
	if (err)
		return err;
	put_rate(o->out, n->calm);
	put_rate(o->out, n->risen);
	put_change(o->out, n->increase);
	put_share(o->out, n->share);
	put_latency(o->out, n->saw_calm);
	put_latency(o->out, n->saw_risen);
	fprintf(o->out, "%s%s\n", n->role == NEIGHBOUR_NONE ? "" : " ",
		n->role == NEIGHBOUR_NONE ? "" : neighbour_role_name(n->role));
	if (o->o->verbose) {
		format_rate(n->error < 1.8e19 ? (uint64_t)n->error : UINT64_MAX, 1000000000, error);
		fprintf(o->out, "  change by chance: up to %s GB/s; in %zu of %zu high samples\n",
			error, n->active, h->risen_samples);
	}
	return 0;
}

/* The more there is to say of a neighbour, the lower its rank. */
static int rank(const struct neighbour *n)
{
	return n->role == NEIGHBOUR_ROSE ? 0 : !n->row ? 1 : n->role == NEIGHBOUR_VICTIM ? 2 : 3;
}

static int by_rank(const void *a, const void *b)
{
	const struct neighbour *x = *(const struct neighbour *const *)a;
	const struct neighbour *y = *(const struct neighbour *const *)b;
	double x_bytes = x->calm + x->risen, y_bytes = y->calm + y->risen;

	if (rank(x) != rank(y))
		return rank(x) < rank(y) ? -1 : 1;
	if (x_bytes != y_bytes)
		return x_bytes < y_bytes ? 1 : -1;
	return x < y ? -1 : x > y;
}

static int put_rows(const struct output *o, const struct neighbourhood *h)
{
	cleanup_free const struct neighbour **order = calloc(h->nr + 1, sizeof(*order));
	cleanup_free bool *shown = calloc(h->nr + 1, sizeof(*shown));
	size_t top = o->o->top ? o->o->top : o->o->verbose ? h->nr : NEIGHBOURS_TOP;
	char more[64];
	int err = 0;

	if (!order || !shown)
		return -ENOMEM;
	for (size_t i = 0; i < h->nr; i++)
		order[i] = &h->rows[i];
	qsort(order, h->nr, sizeof(*order), by_rank);
	for (size_t i = 0; i < h->nr && i < top; i++)
		shown[order[i] - h->rows] = true;
	for (size_t i = 0; i < h->nr && !err; i++)
		if (shown[i])
			err = put_neighbour(o, h, &h->rows[i]);
	if (err || h->nr <= top)
		return err;
	snprintf(more, sizeof(more), "(%zu more)", h->nr - top);
	fprintf(o->out, "%s\n", more);
	return 0;
}

static void put_heading(const struct output *o)
{
	fprintf(o->out, "%*s %7s %7s %7s %6s %7s %7s\n", (int)o->left, "", "CALM", "HIGH", "CHANGE",
		"SHARE", "CALM", "HIGH");
	fprintf(o->out, "%-*s %7s %7s %7s %6s %7s %7s\n", (int)o->left, "NEIGHBOUR", "GB/s", "GB/s",
		"GB/s", "HIGH", "LAT ns", "LAT ns");
}

static void put_total(const struct output *o, const struct neighbourhood *h)
{
	const struct report *r = o->r->summary;
	char text[64] = "socket";

	if (h->probe->socket < r->nr_sockets)
		snprintf(text, sizeof(text), "socket %u", r->sockets[h->probe->socket].id);
	fprintf(o->out, "%-*s", (int)o->left, text);
	put_rate(o->out, h->calm);
	put_rate(o->out, h->risen);
	put_change(o->out, h->risen - h->calm);
	put_share(o->out, 1);
	put_latency(o->out, h->calm_latency_ns);
	put_latency(o->out, h->risen_latency_ns);
	fputc('\n', o->out);
}

/* What is known of the latency itself, before who may be the cause. */
static int put_probe_title(const struct output *o, const struct neighbourhood *h)
{
	cleanup_free char *name = NULL;
	cleanup_free char *title = NULL;
	cleanup_free char *text = NULL;
	char base[FORMAT_NUMBER_LEN], limit[FORMAT_NUMBER_LEN], unusable[96] = "", merged[64] = "";
	int n, err = format_terminal(h->probe->name, sizeof(h->probe->name), &name);

	if (!err)
		err = format_terminal(h->probe->title, sizeof(h->probe->title), &title);
	if (err)
		return err;
	format_ns(h->baseline_ns, base);
	format_ns(h->limit_ns, limit);
	if (h->unusable)
		snprintf(unusable, sizeof(unusable), "; %zu could not be used", h->unusable);
	if (h->merged > 1)
		snprintf(merged, sizeof(merged), ", each of %zu readings", h->merged);
	if (!h->samples)
		n = asprintf(&text, "%s, %s: no sample that could be used%s", name, title,
			     unusable);
	else
		n = asprintf(&text,
			     "%s, %s: lower quartile %s ns; high, from %s ns on, in %zu of %zu "
			     "samples%s, in %zu episode%s%s",
			     name, title, base, limit, h->risen_samples, h->samples, merged,
			     h->episodes, h->episodes == 1 ? "" : "s", unusable);
	if (n < 0) {
		text = NULL;
		return -ENOMEM;
	}
	return notes_wrapped(o->out, text, o->width);
}

static int put_probe(const struct output *o, const struct neighbourhood *h)
{
	char text[160];
	int err;

	fputc('\n', o->out);
	err = put_probe_title(o, h);
	if (err)
		return err;
	if (!h->enough) {
		snprintf(text, sizeof(text),
			 "too few samples to say anything: %zu high and %zu calm, %d of each are "
			 "needed",
			 h->risen_samples, h->calm_samples, NEIGHBOURS_MIN_SAMPLES);
		return notes_wrapped(o->out, text, o->width);
	}
	put_heading(o);
	err = put_rows(o, h);
	if (!err)
		put_total(o, h);
	return err;
}

static int put_title(const struct output *o)
{
	const struct report *r = o->r->summary;
	char time[FORMAT_WHEN_LEN], seconds[FORMAT_NUMBER_LEN];
	cleanup_free char *text = NULL;

	format_when(r->start_time_ns, r->start_ns, time);
	format_seconds(r->end_ns - r->start_ns, seconds);
	if (asprintf(&text, "%s, %s s, neighbours by %s%s", time, seconds, row_kind_name(r->by),
		     r->replayed ? ", from a recording" : "") < 0) {
		text = NULL;
		return -ENOMEM;
	}
	return notes_wrapped(o->out, text, o->width);
}

/* Latencies that nobody waited for need no paragraph each. */
static bool is_quiet(const struct output *o, const struct neighbourhood *h)
{
	return !h->samples && !o->o->verbose;
}

static int put_quiet(const struct output *o)
{
	cleanup_free char *text = NULL;
	size_t size, nr = 0;
	FILE *f = open_memstream(&text, &size);
	int err = f ? 0 : -ENOMEM;

	for (size_t i = 0; i < o->r->nr && !err; i++) {
		const struct neighbourhood *h = &o->r->probes[i];
		cleanup_free char *name = NULL;

		if (!is_quiet(o, h))
			continue;
		err = format_terminal(h->probe->name, sizeof(h->probe->name), &name);
		if (!err)
			fprintf(f, "%s%s", nr++ ? ", " : "no samples that could be used: ", name);
	}
	if (f && fclose(f) && !err)
		err = -ENOMEM;
	if (err || !nr)
		return err;
	fputc('\n', o->out);
	return notes_wrapped(o->out, text, o->width);
}

static int put_all(const struct output *o)
{
	static const char *const legend[] = {
		"rose: moved clearly more while the latency was high",
		"victim: saw the high latency, and did not move more",
		"This is coincidence in time, not proof: what rose may be the cause, or share one.",
		"Bytes of rows are estimates.",
	};
	bool any = false;
	int err = put_title(o);

	for (size_t i = 0; i < o->r->nr && !err; i++) {
		if (!is_quiet(o, &o->r->probes[i]))
			err = put_probe(o, &o->r->probes[i]);
		any |= o->r->probes[i].enough;
	}
	if (!err)
		err = put_quiet(o);
	if (any && !o->o->quiet)
		fputc('\n', o->out);
	for (size_t i = 0; i < ARRAY_SIZE(legend) && any && !err && !o->o->quiet; i++)
		err = notes_wrapped(o->out, legend[i], o->width);
	if (!err)
		err = notes_write(o->out, o->r->summary, o->width, o->o->quiet, o->o->verbose);
	return err;
}

int neighbours_table_write(FILE *out, const struct neighbours_report *r,
			   const struct table_options *options)
{
	struct output o = { .r = r, .o = options };
	cleanup_free char *text = NULL;
	size_t len, want = options->width ? options->width : TABLE_DEFAULT_WIDTH;
	int err;

	o.width = want < TABLE_DEFAULT_WIDTH ? TABLE_DEFAULT_WIDTH : want;
	o.left = o.width - NUMBERS_WIDTH < MAX_LEFT ? o.width - NUMBERS_WIDTH : MAX_LEFT;
	o.out = open_memstream(&text, &len);
	if (!o.out)
		return -ENOMEM;
	err = put_all(&o);
	/* The text is complete only once the stream is closed. */
	if (fclose(o.out) && !err)
		err = -ENOMEM;
	return err ? err : format_emit(out, text, len);
}
