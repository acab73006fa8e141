// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * The data of plots. Arrays are by point, null for unknown. A row's bytes or energy are, by kind
 * and socket, a list of runs: the index of the first point, then value, value - low and high -
 * value of each.
 */
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "report/devices.h"
#include "report/format.h"
#include "report/html/page.h"
#include "report/put.h"

#define NOWHERE UINT32_MAX

/* The position of the next number of a row and column. */
struct series {
	json_t *runs;
	json_t *run; /* of @runs */
	size_t next; /* point that would continue it */
};

/*
 * Targets of the history's cells: rows of the page, or the row of all other rows, behind the last
 * one. A cgroup that was a leaf row before it got rows inside has two: its row, and that of the
 * tasks directly in it.
 */
struct plan {
	const struct page *p;
	uint32_t *to;		   /* by number of the history: two rows or NOWHERE */
	size_t columns;		   /* those of history_column(), then FACTS_OF_ROWS */
	size_t numbers;		   /* the first of these */
	struct history_cell *sums; /* of a point, by row and column */
	struct series *series;	   /* as @sums */
};

static json_t *name_text(const char *name, size_t max, int *err)
{
	cleanup_free char *text = NULL;

	if (!*err)
		*err = format_utf8(name, max, &text);
	return *err ? NULL : json_string(text);
}

static void put_cell(struct series *s, size_t point, const struct history_cell *c, bool bar,
		     int *err)
{
	if (!s->run || s->next != point) {
		s->run = json_array();
		put_element(s->run, page_integer(point), err);
		put_element(s->runs, s->run, err);
	}
	if (*err)
		return;
	s->next = point + 1;
	put_element(s->run, page_integer(c->value), err);
	if (!bar)
		return;
	put_element(s->run, json_integer((json_int_t)(c->value - c->low)), err);
	put_element(s->run, json_integer((json_int_t)(c->high - c->value)), err);
}

static void put_point(const struct plan *plan, size_t i, int *err)
{
	const struct history_point *point = &plan->p->history->points[i];
	size_t nr = (plan->p->nr + 1) * plan->columns;

	memset(plan->sums, 0, nr * sizeof(*plan->sums));
	for (size_t k = 0; k < point->nr; k++) {
		const struct history_cell *c = &point->cells[k];
		size_t column = c->column < HISTORY_NUMBERS
					? c->column
					: plan->numbers + c->column - HISTORY_NUMBERS;

		for (int n = 0; n < 2; n++) {
			uint32_t row = plan->to[2 * c->row + n];

			if (row != NOWHERE)
				history_cell_add(&plan->sums[row * plan->columns + column], c);
		}
	}
	for (size_t k = 0; k < nr && !*err; k++) {
		const struct history_cell *c = &plan->sums[k];

		if (c->value || c->low || c->high)
			put_cell(&plan->series[k], i, c, k % plan->columns < plan->numbers, err);
	}
}

/* The row of tasks directly in a cgroup or job, or of all other rows. */
static uint32_t own_row(const struct page *p, const char *key)
{
	char own[MODEL_KEY_LEN + 4];

	snprintf(own, sizeof(own), "%s:own", key);
	for (size_t i = 0; i < p->nr; i++)
		if (!strcmp(p->rows[i].node->row->key, own))
			return (uint32_t)i;
	return (uint32_t)p->nr;
}

static void choose_rows(struct plan *plan)
{
	const struct page *p = plan->p;

	for (uint32_t i = 0; i <= p->history->nr_rows; i++) {
		plan->to[2 * i] = history_is_leaf(p->history, i) ? (uint32_t)p->nr : NOWHERE;
		plan->to[2 * i + 1] = NOWHERE;
	}
	for (uint32_t i = 0; i < p->nr; i++) {
		const struct report_row *row = p->rows[i].node->row;
		uint32_t as_leaf = history_row(p->history, row->key, true);
		uint32_t as_parent = history_row(p->history, row->key, false);

		if (as_leaf != HISTORY_POOLED)
			plan->to[2 * as_leaf] = i;
		if (as_leaf != HISTORY_POOLED && !row->leaf)
			plan->to[2 * as_leaf + 1] = own_row(p, row->key);
		if (as_parent != HISTORY_POOLED)
			plan->to[2 * as_parent] = i;
	}
}

static int make_series(struct plan *plan)
{
	const struct page *p = plan->p;
	size_t nr;
	int err = 0;

	plan->numbers = p->history->nr_sockets * NR_HISTORY_SPLIT;
	plan->columns = plan->numbers + NR_FACTS_OF_ROWS;
	nr = (p->nr + 1) * plan->columns;
	plan->to = calloc(p->history->nr_rows + 1, 2 * sizeof(*plan->to));
	plan->sums = calloc(nr, sizeof(*plan->sums));
	plan->series = calloc(nr, sizeof(*plan->series));
	if (!plan->to || !plan->sums || !plan->series)
		return -ENOMEM;
	choose_rows(plan);
	for (size_t i = 0; i < nr; i++) {
		plan->series[i].runs = json_array();
		if (!plan->series[i].runs)
			err = -ENOMEM;
	}
	for (size_t i = 0; i < p->history->nr && !err; i++)
		put_point(plan, i, &err);
	return err;
}

static void plan_free(struct plan *plan)
{
	if (plan->series)
		for (size_t i = 0; i < (plan->p->nr + 1) * plan->columns; i++)
			json_decref(plan->series[i].runs);
	free(plan->series);
	free(plan->sums);
	free(plan->to);
}

static const char *const kind_names[NR_HISTORY_KINDS] = {
	[HISTORY_READ] = "read",     [HISTORY_WRITE] = "write", [HISTORY_READWRITE] = "readwrite",
	[HISTORY_ENERGY] = "energy", [HISTORY_BYTES] = "bytes",
};

/* Of one kind, by socket; all zeros are left out. */
static void put_kind(const struct plan *plan, struct series *of_row, enum history_kind kind,
		     json_t *o, int *err)
{
	json_t *sockets = json_object();
	char key[24];

	for (uint32_t s = 0; s < plan->p->history->nr_sockets; s++) {
		json_t *runs = of_row[history_column(s, kind)].runs;

		snprintf(key, sizeof(key), "%" PRIu32, s);
		if (json_array_size(runs))
			put(sockets, key, json_incref(runs), err);
	}
	if (json_object_size(sockets))
		put(o, kind_names[kind], json_incref(sockets), err);
	json_decref(sockets);
}

/* Bytes and energy, then numbers such as CPU time */
static void put_series(const struct plan *plan, size_t row, json_t *o, int *err)
{
	struct series *of_row = &plan->series[row * plan->columns];
	json_t *moved = json_object();

	for (int k = 0; k < NR_HISTORY_SPLIT; k++)
		put_kind(plan, of_row, k, moved, err);
	put(o, "moved", moved, err);
	for (size_t k = 0; k < NR_FACTS_OF_ROWS; k++) {
		json_t *runs = of_row[plan->numbers + k].runs;

		if (json_array_size(runs))
			put(o, facts_of_rows[k].key, json_incref(runs), err);
	}
}

static void put_shares(const struct report_row *row, json_t *o, int *err)
{
	json_t *shares = json_array();

	for (size_t i = 0; i < row->nr_shares; i++) {
		const struct share *s = &row->shares[i];
		json_t *share;

		if (!s->value && !s->high)
			continue;
		share = json_array();
		put_element(share, json_integer(s->counter), err);
		put_element(share, page_integer(s->value), err);
		put_element(share, page_integer(s->low), err);
		put_element(share, page_integer(s->high), err);
		put_element(share, json_boolean(s->separable), err);
		put_element(shares, share, err);
	}
	put(o, "shares", shares, err);
}

static void put_latencies(const struct report_row *row, json_t *o, int *err)
{
	json_t *seen = json_array();

	for (size_t i = 0; i < row->nr_latencies; i++) {
		const struct seen_latency *l = &row->latencies[i];
		json_t *latency = json_array();

		put_element(latency, json_integer(l->probe), err);
		put_element(latency, json_real(round(l->latency_ns * 10) / 10), err);
		put_element(latency, page_integer(l->bytes), err);
		put_element(latency, page_integer(l->of_bytes), err);
		put_element(seen, latency, err);
	}
	if (row->nr_latencies)
		put(o, "latencies", json_incref(seen), err);
	json_decref(seen);
}

static void put_tangled(const struct report_row *row, json_t *o, int *err)
{
	json_t *keys = json_array();

	for (size_t i = 0; i < row->nr_tangled; i++)
		put_element(keys, name_text(row->tangled[i], sizeof(row->tangled[i]), err), err);
	put(o, "tangled", keys, err);
	put_number(o, "tangled_count", row->nr_tangled_all, err);
}

static json_t *row_object(const struct plan *plan, size_t i, int *err)
{
	const struct report_row *row = plan->p->rows[i].node->row;
	cleanup_free char *name = NULL, *cgroup = NULL;
	json_t *o = json_object();

	if (!*err)
		*err = page_name(row, &name) ?: page_cgroup(row, &cgroup);
	put_name(o, "key", row->key, sizeof(row->key), err);
	put_text(o, "name", name ? name : "", err);
	put_text(o, "cgroup", cgroup ? cgroup : "", err);
	if (!row->leaf)
		put_bool(o, "leaf", false, err);
	put_shares(row, o, err);
	put_latencies(row, o, err);
	if (!row->separable)
		put_tangled(row, o, err);
	put_series(plan, i, o, err);
	return o;
}

static const struct history_count *count_at(const struct history_point *at, size_t s,
					    enum history_kind kind)
{
	return &at->sockets[s].kinds[kind];
}

static bool any_count(const struct page *p, size_t s, enum history_kind kind)
{
	for (size_t i = 0; i < p->history->nr; i++)
		if (count_at(&p->history->points[i], s, kind)->counted_ns)
			return true;
	return false;
}

/* One number of each point, null for none. */
#define PUT_POINTS(object, key, p, known, number)                                    \
	do {                                                                         \
		json_t *points_ = json_array();                                      \
                                                                                     \
		for (size_t i = 0; i < (p)->history->nr; i++) {                      \
			const struct history_point *at = &(p)->history->points[i];   \
                                                                                     \
			put_element(points_, (known) ? (number) : json_null(), err); \
		}                                                                    \
		put(object, key, points_, err);                                      \
	} while (0)

/* Counts of a kind on a socket */
static json_t *count_object(const struct page *p, size_t s, enum history_kind kind, int *err)
{
	json_t *o = json_object(), *reasons = json_object();

	PUT_POINTS(o, "counted_ns", p, true, page_integer(count_at(at, s, kind)->counted_ns));
	PUT_POINTS(o, "incomplete", p, true, json_integer(count_at(at, s, kind)->incomplete));
	PUT_POINTS(o, "value", p, count_at(at, s, kind)->counted_ns,
		   page_integer(count_at(at, s, kind)->value));
	PUT_POINTS(o, "owned", p, count_at(at, s, kind)->counted_ns,
		   page_integer(count_at(at, s, kind)->owned));
	for (int r = 0; r < NR_REASONS; r++)
		PUT_POINTS(reasons, reason_name(r), p, count_at(at, s, kind)->counted_ns,
			   page_integer(count_at(at, s, kind)->unattributed[r]));
	put(o, "unattributed", reasons, err);
	return o;
}

static json_t *socket_object(const struct page *p, size_t s, int *err)
{
	json_t *o = json_object(), *kinds = json_object();

	if (s < p->summary->nr_sockets) {
		put_number(o, "id", p->summary->sockets[s].id, err);
		put_number(o, "cpus", p->summary->sockets[s].nr_cpus, err);
	}
	for (int k = 0; k < NR_HISTORY_KINDS; k++)
		if (k == HISTORY_BYTES || any_count(p, s, k))
			put(kinds, kind_names[k], count_object(p, s, k, err), err);
	put(o, "kinds", kinds, err);
	for (size_t k = 0; k < NR_FACTS_OF_SOCKETS; k++)
		PUT_POINTS(o, facts_of_sockets[k].name, p, true,
			   page_integer(at->sockets[s].numbers[k]));
	return o;
}

static json_t *probe_object(const struct page *p, size_t n, int *err)
{
	const struct probe *probe = p->summary->probes[n].probe;
	json_t *o = json_object();

	put_name(o, "name", probe->name, sizeof(probe->name), err);
	put_name(o, "title", probe->title, sizeof(probe->title), err);
	PUT_POINTS(o, "ns", p, at->probes[n].requests > 0,
		   json_real(round(at->probes[n].ns_requests / at->probes[n].requests * 10) / 10));
	return o;
}

static json_t *device_object(const struct page *p, size_t n, int *err)
{
	const struct device *d = p->summary->devices[n].device;
	json_t *o = json_object();

	put_name(o, "bdf", d->bdf, sizeof(d->bdf), err);
	put_name(o, "name", d->name, sizeof(d->name), err);
	put_text(o, "kind", device_kind_name(d->kind), err);
	PUT_POINTS(o, "counted_ns", p, true, page_integer(at->devices[n].counted_ns));
	PUT_POINTS(o, "value", p, at->devices[n].counted_ns, page_integer(at->devices[n].value));
	PUT_POINTS(o, "low", p, at->devices[n].counted_ns, page_integer(at->devices[n].low));
	PUT_POINTS(o, "high", p, at->devices[n].counted_ns, page_integer(at->devices[n].high));
	return o;
}

/* A line of a plot, exact: PUT_POINTS() for its numbers. */
#define PUT_LAYER(layers, p, s, what, kind, colour)                                               \
	do {                                                                                      \
		json_t *layer_ = json_object();                                                   \
		char label_[48];                                                                  \
                                                                                                  \
		snprintf(label_, sizeof(label_), "socket %u%s",                                   \
			 (s) < (p)->summary->nr_sockets ? (p)->summary->sockets[s].id             \
							: (uint32_t)(s),                          \
			 what);                                                                   \
		put_text(layer_, "label", label_, err);                                           \
		put_text(layer_, "colour", colour, err);                                          \
		put_number(layer_, "dash", s, err);                                               \
		PUT_POINTS(layer_, "counted_ns", p, true,                                         \
			   page_integer(count_at(at, s, kind)->counted_ns));                      \
		PUT_POINTS(layer_, "value", p, true, page_integer(count_at(at, s, kind)->value)); \
		put_element(layers, layer_, err);                                                 \
	} while (0)

static json_t *plot_object(const char *id, const char *title, const char *unit, json_t *layers,
			   int *err)
{
	json_t *o = json_object();

	put_text(o, "id", id, err);
	put_text(o, "title", title, err);
	put_text(o, "unit", unit, err);
	put(o, "layers", layers, err);
	return o;
}

/* Counts of sockets, for all originators: by direction, and energy */
static json_t *plots_array(const struct page *p, int *err)
{
	static const char *const names[NR_DIRECTIONS] = { " read", " written", " read or written" };
	static const char *const colours[NR_DIRECTIONS] = { PAGE_READ, PAGE_WRITE, PAGE_BOTH };
	json_t *a = json_array(), *ways = json_array(), *energy = json_array();

	for (size_t s = 0; s < p->history->nr_sockets; s++) {
		for (int d = 0; d < NR_DIRECTIONS; d++)
			if (any_count(p, s, d))
				PUT_LAYER(ways, p, s, names[d], d, colours[d]);
		if (any_count(p, s, HISTORY_ENERGY))
			PUT_LAYER(energy, p, s, "", HISTORY_ENERGY, PAGE_SOCKET);
	}
	put_element(a,
		    plot_object("plot-ways", "Read and written apart, GB/s, whoever it was", "GB/s",
				ways, err),
		    err);
	put_element(a,
		    plot_object("plot-power", "Power of packages and memory, W", "W", energy, err),
		    err);
	return a;
}

static bool device_moved(const struct page *p, size_t n)
{
	for (size_t i = 0; i < p->history->nr; i++)
		if (p->history->points[i].devices[n].value)
			return true;
	return false;
}

static bool probe_seen(const struct page *p, size_t n)
{
	for (size_t i = 0; i < p->history->nr; i++)
		if (p->history->points[i].probes[n].requests > 0)
			return true;
	return false;
}

static void put_machine(const struct page *p, json_t *o, int *err)
{
	json_t *sockets = json_array(), *probes = json_array(), *devices = json_array();
	json_t *counters = json_array(), *latencies = json_array(), *units = json_array();

	for (size_t i = 0; i < p->history->nr_sockets; i++)
		put_element(sockets, socket_object(p, i, err), err);
	for (size_t i = 0; i < p->history->nr_probes && i < p->summary->nr_probes; i++)
		if (probe_seen(p, i))
			put_element(probes, probe_object(p, i, err), err);
	for (size_t i = 0; i < p->history->nr_devices && i < p->summary->nr_devices; i++)
		if ((!devices_is_port(&p->summary->devices[i]) ||
		     devices_is_shared(p->summary, i)) &&
		    device_moved(p, i))
			put_element(devices, device_object(p, i, err), err);
	for (size_t i = 0; i < p->summary->nr_probes; i++) {
		const struct probe *probe = p->summary->probes[i].probe;

		put_element(latencies, name_text(probe->name, sizeof(probe->name), err), err);
	}
	for (size_t i = 0; i < p->summary->nr_counters; i++) {
		const struct counter *c = p->summary->counters[i].counter;

		put_element(counters, name_text(c->name, sizeof(c->name), err), err);
		put_element(units, json_string(unit_name(c->unit)), err);
	}
	put(o, "sockets", sockets, err);
	put(o, "plots", plots_array(p, err), err);
	put(o, "probes", probes, err);
	put(o, "devices", devices, err);
	put(o, "counters", counters, err);
	put(o, "units", units, err);
	put(o, "latencies", latencies, err);
}

static void put_times(const struct page *p, json_t *o, int *err)
{
	uint64_t start = p->history->nr ? p->history->points[0].start_ns : 0;

	put_number(o, "start_time_ms", p->history->start_time_ns / 1000000, err);
	put_number(o, "start_ns", start, err);
	PUT_POINTS(o, "begin_ns", p, true, page_integer(at->start_ns - start));
	PUT_POINTS(o, "end_ns", p, true, page_integer(at->end_ns - start));
	PUT_POINTS(o, "intervals", p, true, page_integer(at->intervals));
}

int page_data(const struct page *p, json_t **ret)
{
	struct plan plan = { .p = p };
	json_t *o = json_object(), *rows = json_array(), *others = json_object();
	int err = make_series(&plan);

	put_text(o, "schema", "t410trace.page/1", &err);
	put_text(o, "by", row_kind_name(p->summary->by), &err);
	put_bool(o, "learned", method_row(p->summary->quality.method)->learns, &err);
	put_times(p, o, &err);
	put_machine(p, o, &err);
	for (size_t i = 0; i < p->nr; i++)
		put_element(rows, row_object(&plan, i, &err), &err);
	put(o, "rows", rows, &err);
	if (!err)
		put_series(&plan, p->nr, others, &err);
	put(o, "others", others, &err);
	plan_free(&plan);
	if (err)
		json_decref(o);
	else
		*ret = o;
	return err;
}
