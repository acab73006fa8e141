// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "report/table/table.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/cleanup.h"
#include "base/clock.h"
#include "base/sums.h"
#include "report/grid.h"
#include "report/names.h"
#include "report/notes.h"
#include "report/peaks.h"

#define MAX_LEFT 48

struct output {
	FILE *out;
	const struct neighbours_report *r;
	const struct table_options *o;
	size_t width;
};

static const char *const reasons[NR_REASONS] = {
	[REASON_IDLE] = "(while nobody ran)", [REASON_DEVICE] = "(devices)",
	[REASON_REMOTE] = "(other sockets)",  [REASON_OTHER] = "(not followed)",
	[REASON_LOST] = "(not recorded)",     [REASON_BACKGROUND] = "(background)",
};

/* A line of the table: of a neighbour, or of the socket. */
struct neighbour_line {
	const struct neighbour *n;
	const char *socket; /* its name; NULL: a neighbour */
};

static struct grid_cell rate(double rate)
{
	return grid_rate(whole_capped(rate), NS_PER_S);
}

/* Signed, unless it rounds to zero. */
static struct grid_cell signed_rate(double change)
{
	double size = change < 0 ? -change : change;

	if (size < 5e5)
		return grid_text("0");
	if (size < 99.9995e9)
		return grid_text("%+.3f", change / 1e9);
	return size < 999.99e9 ? grid_text("%+.2f", change / 1e9)
			       : grid_text("%+.0e", change / 1e9);
}

static struct grid_cell cell_name(const struct grid_place *at)
{
	const struct neighbour_line *l = at->row;
	char *name = NULL;
	int err;

	if (l->socket || !l->n->row)
		return grid_text("%s", l->socket ? l->socket : reasons[l->n->reason]);
	err = names_row(l->n->row, &name);
	return grid_take(name, err);
}

static struct grid_cell latency(double ns)
{
	return grid_if(ns > 0, grid_ns(ns));
}

GRID_CELL(cell_role, struct neighbour_line,
	  grid_text("%s", row->n->role == NEIGHBOUR_NONE ? "" : neighbour_role_name(row->n->role)));
GRID_CELL(cell_calm, struct neighbour_line, rate(row->n->calm));
GRID_CELL(cell_risen, struct neighbour_line, rate(row->n->risen));
GRID_CELL(cell_change, struct neighbour_line, signed_rate(row->n->increase));
GRID_CELL(cell_share, struct neighbour_line, grid_percent(row->n->share * 1e9, 1000000000));
GRID_CELL(cell_observed_calm, struct neighbour_line, latency(row->n->observed_calm));
GRID_CELL(cell_observed_risen, struct neighbour_line, latency(row->n->observed_risen));

static const struct grid_column columns[] = {
	{ NULL, "NEIGHBOUR", .most = MAX_LEFT, .look = GRID_NAME, .cell = cell_name },
	{ "CALM", "GB/s", .cell = cell_calm },
	{ "HIGH", "GB/s", .cell = cell_risen },
	{ "CHANGE", "GB/s", .cell = cell_change },
	{ "SHARE", "HIGH", 6, .cell = cell_share },
	{ "CALM", "LAT ns", .cell = cell_observed_calm },
	{ "HIGH", "LAT ns", .cell = cell_observed_risen },
	{ NULL, NULL, 6, .look = GRID_LEFT, .cell = cell_role },
};

static int put_neighbour(const struct output *o, const struct grid *g,
			 const struct neighbourhood *h, const struct neighbour *n)
{
	char error[FORMAT_NUMBER_LEN];
	int err = grid_row(g, &(struct neighbour_line){ .n = n });

	if (!err && o->o->verbose) {
		format_rate(whole_capped(n->error), NS_PER_S, error);
		fprintf(o->out, "  change by chance: up to %s GB/s; in %zu of %zu high samples\n",
			error, n->active, h->risen_samples);
	}
	return err;
}

/* The more informative a neighbour, the lower its rank. */
static int rank(const struct neighbour *n)
{
	return n->role == NEIGHBOUR_ROSE ? 0 : !n->row ? 1 : n->role == NEIGHBOUR_VICTIM ? 2 : 3;
}

static int by_rank(const void *a, const void *b)
{
	const struct neighbour *x = *(const struct neighbour *const *)a;
	const struct neighbour *y = *(const struct neighbour *const *)b;
	double x_bytes = x->calm + x->risen, y_bytes = y->calm + y->risen;

	return ORDER(rank(x), rank(y)) ?: ORDER(y_bytes, x_bytes) ?: ORDER(x, y);
}

/* Does it have next to nothing of the socket's bytes? */
static bool is_small(const struct neighbourhood *h, const struct neighbour *n)
{
	return n->role != NEIGHBOUR_ROSE && n->calm < NEIGHBOURS_MIN_SHARE * h->calm &&
	       n->risen < NEIGHBOURS_MIN_SHARE * h->risen;
}

static void put_folded(const struct output *o, size_t small, size_t more)
{
	if (small && more)
		fprintf(o->out, "(%zu more, and %zu below %.0f%% of the bytes)\n", more, small,
			NEIGHBOURS_MIN_SHARE * 100);
	else if (small)
		fprintf(o->out, "(%zu more below %.0f%% of the bytes)\n", small,
			NEIGHBOURS_MIN_SHARE * 100);
	else if (more)
		fprintf(o->out, "(%zu more)\n", more);
}

static int put_rows(const struct output *o, const struct grid *g, const struct neighbourhood *h)
{
	cleanup_free const struct neighbour **order = calloc(h->nr + 1, sizeof(*order));
	cleanup_free bool *shown = calloc(h->nr + 1, sizeof(*shown));
	size_t top = o->o->top ? o->o->top : o->o->verbose ? h->nr : NEIGHBOURS_TOP;
	size_t nr = 0;
	int err = 0;

	if (!order || !shown)
		return -ENOMEM;
	for (size_t i = 0; i < h->nr; i++)
		if (o->o->verbose || !is_small(h, &h->rows[i]))
			order[nr++] = &h->rows[i];
	qsort(order, nr, sizeof(*order), by_rank);
	for (size_t i = 0; i < nr && i < top; i++)
		shown[order[i] - h->rows] = true;
	for (size_t i = 0; i < h->nr && !err; i++)
		if (shown[i])
			err = put_neighbour(o, g, h, &h->rows[i]);
	if (!err)
		put_folded(o, h->nr - nr, nr > top ? nr - top : 0);
	return err;
}

static int put_total(const struct output *o, const struct grid *g, const struct neighbourhood *h)
{
	const struct report *r = o->r->summary;
	const struct neighbour all = {
		.calm = h->calm,
		.risen = h->risen,
		.increase = h->risen - h->calm,
		.share = 1,
		.observed_calm = h->calm_latency_ns,
		.observed_risen = h->risen_latency_ns,
	};
	char socket[32] = "socket";

	if (h->probe->socket < r->nr_sockets)
		snprintf(socket, sizeof(socket), "socket %u", r->sockets[h->probe->socket].id);
	return grid_row(g, &(struct neighbour_line){ &all, socket });
}

/* How near its peak the socket's memory was; nothing if unknown. */
static int put_peak(const struct output *o, const struct neighbourhood *h)
{
	char calm[FORMAT_NUMBER_LEN], risen[FORMAT_NUMBER_LEN], rate[FORMAT_NUMBER_LEN];
	const struct report *r = o->r->summary;
	struct peak_use u;

	if (!peaks_all_of_socket(r, h->probe->socket, &u))
		return 0;
	peaks_percent(&u, h->calm, calm);
	peaks_percent(&u, h->risen, risen);
	format_rate(u.peak->bytes_per_s, NS_PER_S, rate);
	return notes_line(
		o->out, o->width,
		"peak: memory of socket %" PRIu32 ": %s%s of %s GB/s while calm, %s%s while "
		"high%s",
		u.socket, u.upper_bound ? "at most " : "", calm, rate,
		u.upper_bound ? "at most " : "", risen, u.cpus_only ? ", by CPUs alone" : "");
}

/* Facts about the latency itself, before its possible causes. */
static int put_probe_title(const struct output *o, const struct neighbourhood *h)
{
	const char *name = FORMAT_SAFE(h->probe->name), *title = FORMAT_SAFE(h->probe->title);
	char base[FORMAT_NUMBER_LEN], limit[FORMAT_NUMBER_LEN], unusable[96] = "", merged[64] = "";

	format_ns(h->baseline_ns, base);
	format_ns(h->limit_ns, limit);
	if (h->unusable)
		snprintf(unusable, sizeof(unusable), "; %zu could not be used", h->unusable);
	if (h->merged > 1)
		snprintf(merged, sizeof(merged), ", each of %zu readings", h->merged);
	if (!h->samples)
		return notes_line(o->out, o->width, "%s, %s: no sample that could be used%s", name,
				  title, unusable);
	return notes_line(o->out, o->width,
			  "%s, %s: lower quartile %s ns; high, from %s ns on, in %zu of %zu "
			  "samples%s, in %zu episode%s%s",
			  name, title, base, limit, h->risen_samples, h->samples, merged,
			  h->episodes, h->episodes == 1 ? "" : "s", unusable);
}

/* The run's seconds, in tens, that would have had enough samples at this rate. */
static double seconds_needed(const struct report *r, size_t scarce)
{
	double seconds = (double)(r->end_ns - r->start_ns) / 1e9;

	return 10 * ceil(seconds * NEIGHBOURS_MIN_SAMPLES / (double)scarce / 10);
}

/* Why there is no answer, and what would help. */
static int put_too_few(const struct output *o, const struct neighbourhood *h)
{
	size_t scarce = h->calm_samples < h->risen_samples ? h->calm_samples : h->risen_samples;
	double more = scarce ? (double)NEIGHBOURS_MIN_SAMPLES / (double)scarce : 0;
	const struct report *r = o->r->summary;
	char seconds[32] = "longer", budget[32] = "a larger --read-budget";

	if (h->samples >= 2 * NEIGHBOURS_MIN_SAMPLES && !scarce)
		return notes_line(o->out, o->width,
				  "nothing to compare: the latency was %s in all samples",
				  h->calm_samples ? "calm" : "high");
	if (scarce)
		snprintf(seconds, sizeof(seconds), "for at least %.0f s",
			 seconds_needed(r, scarce));
	if (scarce && o->r->read_budget > 0 && o->r->read_budget * more < 1)
		snprintf(budget, sizeof(budget), "--read-budget %.0f",
			 ceil(o->r->read_budget * more * 100));
	return notes_line(o->out, o->width,
			  "too few samples to say anything: %zu high and %zu calm, %d of each are "
			  "needed; run it %s%s%s",
			  h->risen_samples, h->calm_samples, NEIGHBOURS_MIN_SAMPLES, seconds,
			  r->self.probe_deferred ? ", or with " : "",
			  r->self.probe_deferred ? budget : "");
}

static int put_probe(const struct output *o, const struct neighbourhood *h)
{
	GRID(g, columns, o->out, o->width, o);
	int err;

	fputc('\n', o->out);
	err = put_probe_title(o, h);
	if (err)
		return err;
	if (!h->enough)
		return put_too_few(o, h);
	grid_fit(&g);
	grid_heading(&g);
	err = put_rows(o, &g, h);
	if (!err)
		err = put_total(o, &g, h);
	return err ? err : put_peak(o, h);
}

static int put_title(const struct output *o)
{
	const struct report *r = o->r->summary;
	char time[FORMAT_WHEN_LEN], seconds[FORMAT_NUMBER_LEN];

	format_when(r->start_time_ns, r->start_ns, time);
	format_seconds(r->end_ns - r->start_ns, seconds);
	return notes_line(o->out, o->width, "%s, %s s, neighbours by %s%s", time, seconds,
			  row_kind_name(r->by), r->replayed ? ", from a recording" : "");
}

/* Latencies without waiting tasks need no paragraph each. */
static bool is_quiet(const struct output *o, const struct neighbourhood *h)
{
	return !h->samples && !o->o->verbose;
}

/* Why a latency has no sample that could be used */
enum missing { NEVER_READ, FEW_REQUESTS, NO_WINDOWS, NR_MISSING };

static enum missing why_missing(const struct neighbourhood *h)
{
	if (!h->unusable)
		return NEVER_READ;
	return h->few == h->unusable ? FEW_REQUESTS : NO_WINDOWS;
}

static int put_missing(const struct output *o, enum missing why, bool *any)
{
	static const char *const words[NR_MISSING] = {
		[NEVER_READ] = "never read, for want of --read-budget, or because readings failed",
		[FEW_REQUESTS] = "fewer than 100 requests in each sample",
		[NO_WINDOWS] = "no windows of the socket's counters beside its samples",
	};
	struct sentence s;
	FILE *f = sentence_begin(&s);
	size_t nr = 0;

	if (!f)
		return -ENOMEM;
	for (size_t i = 0; i < o->r->nr; i++)
		if (is_quiet(o, &o->r->probes[i]) && why_missing(&o->r->probes[i]) == why)
			fprintf(f, "%s%s", nr++ ? ", " : "no latency: ",
				FORMAT_SAFE(o->r->probes[i].probe->name));
	fprintf(f, ": %s", words[why]);
	if (nr && !*any)
		fputc('\n', o->out);
	*any |= nr > 0;
	return sentence_end(&s, nr ? o->out : NULL, o->width, 0);
}

/* Latencies without waiting tasks, by reason. */
static int put_quiet(const struct output *o)
{
	bool any = false;
	int err = 0;

	for (int why = 0; why < NR_MISSING && !err; why++)
		err = put_missing(o, why, &any);
	return err;
}

static int put_all(FILE *out, void *arg)
{
	struct output *o = arg;
	static const char *const legend[] = {
		"rose: moved clearly more while the latency was high",
		"victim: saw the high latency, and did not move more",
		"This is coincidence in time, not proof: what rose may be the cause, or share one.",
		"Bytes of rows are estimates.",
	};
	bool any = false;
	int err;

	o->out = out;
	err = put_title(o);

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

static struct output output_of(const struct neighbours_report *r, const struct table_options *t)
{
	return (struct output){
		.r = r,
		.o = t,
		.width = t->width < TABLE_DEFAULT_WIDTH ? TABLE_DEFAULT_WIDTH : t->width,
	};
}

/* As many rows below each latency as fit, at least TABLE_LEAST_ROWS. At most twenty tries. */
static int write_fitting(FILE *out, const struct neighbours_report *r,
			 const struct table_options *options)
{
	struct table_options t = *options;
	struct output o = output_of(r, &t);
	long lines;

	t.top = NEIGHBOURS_TOP;
	while ((lines = format_lines(put_all, &o)) > (long)t.height && t.top > TABLE_LEAST_ROWS)
		t.top--;
	return lines < 0 ? (int)lines : format_whole(out, put_all, &o);
}

int neighbours_table_write(FILE *out, const struct neighbours_report *r,
			   const struct table_options *options)
{
	struct output o = output_of(r, options);

	return options->height && !options->top && !options->verbose
		       ? write_fitting(out, r, options)
		       : format_whole(out, put_all, &o);
}
