// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * The bounds of each row's bytes of a device in a block. Unlike with CPU time, a row that is alone
 * in a window does not own all of it, because devices move data of their own accord, unless the row
 * owns the device.
 */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "engine/filter/constants.h"
#include "engine/split/internal.h"

/**
 * struct io_row - a row of the block
 * @here: it has portions
 * @exact: what it was given; @owned: of that, because the device was its own
 * @owned_low, @owned_high: bounds of that; @shared: of that, where others owned it, too
 * @may: bytes of windows it did I/O in
 * @variance: of the rest
 * @late: bytes of windows in which it did none, that may be its all the same
 * @mark: window looked at; @in_window: bytes of it, not owned
 * @asked: bytes of its requests in windows that were counted as a whole; @timing: variance of
 *	when data moved
 * @up, @down, @rate: in the window looked at, see add_timing()
 */
struct io_row {
	bool here;
	uint64_t exact;
	double owned, owned_low, owned_high, shared;
	double may, variance, late;
	size_t mark;
	double in_window;
	double asked, timing;
	double up, down, rate;
};

struct io_bounding {
	const struct workloads *ws;
	const struct split_block *b;
	const struct io_block *io;
	struct io_row *rows;
	double total;
	double whole;  /* bytes of windows that were counted as a whole, and nobody's alone */
	bool at_least; /* these are no fewer than requests say */
};

static struct io_row *row_of(const struct io_bounding *g, size_t element)
{
	return &g->rows[g->ws->members[g->ws->of[element]].row];
}

/* Are all owners of a window in one row? The last row is that of all workloads without one. */
static bool one_owner(const struct io_bounding *g, size_t w)
{
	const struct io_row *first = NULL;

	for (size_t i = g->ws->first[w]; i < g->ws->first[w + 1]; i++) {
		const struct io_row *r = row_of(g, i);

		if (!g->b->activity[i].exclusive)
			continue;
		if (first && r != first)
			return false;
		first = r;
	}
	return first != &g->rows[g->ws->nr_rows];
}

/*
 * A window with exclusive owners: they own all bytes that requests do not explain. The bytes that
 * the requests of others explain are not exactly known.
 */
static void bound_owned(struct io_bounding *g, size_t k)
{
	const struct io_block *io = g->io;
	bool one = one_owner(g, io->p->window[k]);
	double bytes = io->p->bytes[k], others = 0;

	for (size_t i = io->first[k]; i < io->first[k + 1]; i++)
		if (!g->b->activity[io->claims[i].element].exclusive)
			others += io->claims[i].given;
	for (size_t i = io->first[k]; i < io->first[k + 1]; i++) {
		const struct io_claim *claim = &io->claims[i];
		struct io_row *r = row_of(g, claim->element);
		bool fresh = r->mark != k + 1;

		r->mark = k + 1;
		if (!g->b->activity[claim->element].exclusive) {
			double sd = IO_PRIOR * claim->given;

			r->variance += sd * sd;
			r->may += fresh ? bytes : 0;
			continue;
		}
		r->owned += claim->given;
		if (!one) {
			r->shared += claim->given;
			r->owned_high += fresh ? bytes : 0;
			continue;
		}
		r->owned_low += fmax(claim->given - (fresh ? Z_95 * IO_PRIOR * others : 0), 0);
		r->owned_high += claim->given + (fresh ? Z_95 * IO_PRIOR * others : 0);
	}
}

/* The requests of each row in a window, and the part that depends on the exact time of data. */
static void add_timing(struct io_bounding *g, size_t k)
{
	const struct io_block *io = g->io;
	const struct filter_output *o = io->p->estimated;
	const struct workloads *ws = g->ws;
	size_t w = io->p->window[k], own = ws->nr_columns - (ws->nr_pooled > 0);
	size_t before = io->before[w], behind = io->behind[w];
	double ratio = io->p->ratio[k];
	double length = (g->b->windows[w].end_ns - g->b->windows[w].start_ns) / 1e9;

	for (uint32_t r = 0; r <= ws->nr_rows; r++)
		g->rows[r].up = g->rows[r].down = g->rows[r].rate = 0;
	for (size_t j = 0; j < own; j++) {
		struct io_row *r = &g->rows[ws->members[ws->columns[j]].row];
		double now = matrix_row(&io->rates, w)[j];
		double next = behind == SIZE_MAX ? 0 : matrix_row(&io->rates, behind)[j] - now;

		r->rate += now;
		if (now > 0 && ratio >= 1)
			r->asked += fmax(now * length + o->lead_s * next, 0);
		r->up += before == SIZE_MAX ? now / 2 : now - matrix_row(&io->rates, before)[j];
		r->down += behind == SIZE_MAX ? now / 2 : next;
		if (!(now > 0))
			r->late += matrix_row(&o->carried, io->row[k])[j];
	}
	for (uint32_t r = 0; r < ws->nr_rows; r++) {
		struct io_row *row = &g->rows[r];
		double edge = o->edge_s * ratio, grain = o->grain_s * row->rate * ratio;

		if (row->rate > 0 || row->mark == k + 1)
			row->timing += edge * edge * (row->up * row->up + row->down * row->down) +
				       grain * grain;
	}
}

/* Rows that have a claim on a window, and their bytes there. */
static void bound_window(struct io_bounding *g, size_t k)
{
	const struct io_block *io = g->io;
	const struct counter_block *p = io->p;
	double noise = p->estimated ? p->estimated->noise : 0;

	for (size_t i = io->first[k]; i < io->first[k + 1]; i++) {
		const struct io_claim *claim = &io->claims[i];
		struct io_row *r = row_of(g, claim->element);

		if (!claim->here && !claim->given)
			continue;
		if (r->mark != k + 1) {
			r->mark = k + 1;
			r->in_window = 0;
			r->may += p->bytes[k];
		}
		r->in_window += claim->given;
	}
	for (size_t i = io->first[k]; i < io->first[k + 1]; i++) {
		const struct io_claim *claim = &io->claims[i];
		struct io_row *r = row_of(g, claim->element);

		r->variance += noise * noise * r->in_window * claim->given;
	}
	if (p->estimated)
		add_timing(g, k);
}

/* The estimate's errors. Pooled members have their own, as single ones are unknown. */
static void sum_variances(struct io_bounding *g)
{
	const struct workloads *ws = g->ws;
	const struct filter_output *o = g->io->p->estimated;
	size_t own = ws->nr_columns - (ws->nr_pooled > 0);

	for (size_t i = 0; i < own; i++)
		for (size_t j = 0; j < own; j++) {
			uint32_t row = ws->members[ws->columns[i]].row;

			if (ws->members[ws->columns[j]].row == row)
				g->rows[row].variance += matrix_row(&o->covariance, i)[j];
		}
	for (size_t i = 0; i < ws->nr; i++) {
		const struct member *m = &ws->members[i];
		double sd = o->prior * m->bytes;

		if (m->column == NO_COLUMN)
			g->rows[m->row].variance += sd * sd;
	}
}

/* Other rows that own the device at the same time. */
static size_t find_owners(const struct io_bounding *g, uint32_t row, uint32_t *ret)
{
	const struct workloads *ws = g->ws;
	const struct counter_block *p = g->io->p;
	size_t nr = 0;

	for (uint32_t r = 0; r <= ws->nr_rows; r++)
		g->rows[r].mark = 0;
	for (size_t k = 0; k < p->nr_windows; k++) {
		size_t w = p->window[k];
		bool here = false;

		for (size_t i = ws->first[w]; i < ws->first[w + 1]; i++)
			here |= g->b->activity[i].exclusive && row_of(g, i) == &g->rows[row];
		for (size_t i = ws->first[w]; here && i < ws->first[w + 1]; i++) {
			struct io_row *r = row_of(g, i);
			uint32_t other = r - g->rows;

			if (!g->b->activity[i].exclusive || other == row || other == ws->nr_rows ||
			    r->mark)
				continue;
			r->mark = 1;
			ret[nr++] = ws->rows[other];
		}
	}
	return nr;
}

/*
 * The interval of one row; @lost is the fraction of missing requests. A byte of a request is at
 * least a byte, apart from requests that failed. Without an estimate, timing counts for more. This
 * does not hold on a device that moves less than it is asked for.
 */
static void interval(const struct io_bounding *g, const struct io_row *r, double lost,
		     struct bounds *ret)
{
	double rest = r->exact - r->owned, low = 0, high = r->may;
	double sd = sqrt(fmax(r->variance + r->timing, 0));

	if (g->io->p->estimated) {
		low = fmax(rest - Z_95 * sd, 0);
		if (g->at_least)
			low = fmax(low,
				   fmin(REQUEST_MIN * r->asked - TIMED * Z_95 * sqrt(r->timing),
					rest));
		high = fmin(rest + Z_95 * sd, r->may) + r->late;
	}
	high += r->owned_high;
	low = low * fmax(1 - LOST_DOUBT * lost, 0) + r->owned_low;
	high += fmin(LOST_DOUBT * lost, 1) * fmax(g->total - high, 0);
	ret->low = split_bound_whole(low, g->total);
	ret->high = split_bound_whole(ceil(high), g->total);
	/* Numbers this large are rounded; the given bytes lie inside all the same. */
	if (ret->low > r->exact || r->owned_low >= r->exact)
		ret->low = r->exact;
	if (ret->high < r->exact)
		ret->high = r->exact;
}

/* Bytes that surely belong to others are not its own. */
static void leave_others(const struct io_row *r, double total, double lows, struct bounds *ret)
{
	double max = ceil(total - (lows - ret->low));

	if (max < ret->high)
		ret->high = split_bound_whole(max, total);
	if (ret->high < r->exact)
		ret->high = r->exact;
}

static int hand_out(struct io_bounding *g, double lost, const struct split_sink *sink)
{
	cleanup_free uint32_t *inseparable = calloc(g->ws->nr_rows + 1, sizeof(*inseparable));
	int err = inseparable ? 0 : -ENOMEM;
	struct bounds bounds;
	double lows = 0;

	for (uint32_t i = 0; i < g->ws->nr_rows && !err; i++) {
		if (!g->rows[i].here)
			continue;
		interval(g, &g->rows[i], lost, &bounds);
		lows += bounds.low;
	}
	for (uint32_t i = 0; i < g->ws->nr_rows && !err; i++) {
		const struct io_row *r = &g->rows[i];

		if (!r->here)
			continue;
		bounds = (struct bounds){ .row = g->ws->rows[i], .separable = true };
		interval(g, r, lost, &bounds);
		leave_others(r, g->total, lows, &bounds);
		if (2 * r->shared > r->exact) {
			bounds.separable = false;
			bounds.inseparable = inseparable;
			bounds.nr_inseparable = find_owners(g, i, inseparable);
		}
		err = sink->bounds(sink->arg, g->io->p->counter, &bounds);
	}
	return err;
}

int split_io_bounds(const struct workloads *ws, const struct split_block *b,
		    const struct io_block *io, double lost, const struct split_sink *sink)
{
	cleanup_free struct io_row *rows = calloc(ws->nr_rows + 1, sizeof(*rows));
	struct io_bounding g = { .ws = ws, .b = b, .io = io, .rows = rows };
	const struct counter_block *p = io->p;
	double asked = 0;

	if (!rows)
		return -ENOMEM;
	for (size_t k = 0; k < p->nr_windows; k++) {
		g.total += p->bytes[k];
		for (size_t i = io->first[k]; i < io->first[k + 1]; i++) {
			const struct io_claim *claim = &io->claims[i];
			struct io_row *r = row_of(&g, claim->element);

			r->here |= claim->here || claim->given;
			r->exact += claim->given;
		}
		if (io->owners[p->window[k]]) {
			bound_owned(&g, k);
			continue;
		}
		bound_window(&g, k);
		g.whole += p->ratio[k] >= 1 ? p->bytes[k] : 0;
	}
	for (size_t i = 0; i <= ws->nr_rows; i++)
		asked += rows[i].asked;
	g.at_least = g.whole >= REQUEST_MIN * asked;
	if (p->estimated)
		sum_variances(&g);
	return hand_out(&g, lost, sink);
}
