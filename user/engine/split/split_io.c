// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * The bytes of a device. Requests show which workloads made it move data, and a byte of a request
 * is about a byte on the way to memory. So little is left to estimate: the deviation from that, and
 * traffic without noted requests. The latter has no owner; it is not scaled onto workloads, as it
 * would be with CPU time.
 */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "engine/filter/constants.h"
#include "engine/split/apportion.h"
#include "engine/split/internal.h"

/* Activity in the counter's direction, and the windows of exclusive owners. */
static void take_io(const struct workloads *ws, const struct split_block *b, enum direction d,
		    struct io_block *io)
{
	struct counter_block *p = io->p;

	for (size_t i = 0; i < b->nr; i++)
		p->x[i] = b->activity[i].io_bytes[d];
	for (size_t w = 0; w < b->nr_windows; w++) {
		io->owners[w] = 0;
		for (size_t i = ws->first[w]; i < ws->first[w + 1]; i++)
			io->owners[w] += b->activity[i].exclusive;
	}
}

/* Columns as usual; but a pool without activity in this direction is dropped. */
static void take_columns(struct workloads *ws, const struct split_block *b, struct io_block *io)
{
	size_t pooled = 0;

	workloads_columns(ws, b, io->p->x);
	for (size_t i = 0; i < ws->nr; i++) {
		ws->members[i].bytes = 0;
		pooled += ws->members[i].column == NO_COLUMN && ws->members[i].x > 0;
	}
	if (ws->nr_pooled && !pooled)
		ws->nr_columns--;
	ws->nr_pooled = pooled;
}

/* Bytes by second, by window of the block and column. */
static int take_rates(const struct workloads *ws, const struct split_block *b, struct io_block *io)
{
	int err = matrix_shape(&io->rates, b->nr_windows, ws->nr_columns);

	for (size_t w = 0; w < b->nr_windows && !err; w++) {
		double length = (b->windows[w].end_ns - b->windows[w].start_ns) / 1e9;

		io->sums[w] = 0;
		for (size_t i = ws->first[w]; i < ws->first[w + 1]; i++) {
			uint32_t column = io_column(ws, &ws->members[ws->of[i]]);

			if (column == NO_COLUMN)
				continue;
			matrix_row(&io->rates, w)[column] += io->p->x[i] / length;
			io->sums[w] += io->p->x[i] / length;
		}
		io->before[w] = io->behind[w] = SIZE_MAX;
		if (!w || b->windows[w].start_ns != b->windows[w - 1].end_ns)
			continue;
		io->before[w] = w - 1;
		io->behind[w - 1] = w;
	}
	return err;
}

/* The difference between adjacent windows; one that was not counted may differ, too. */
static double change_of(const struct io_block *io, size_t w)
{
	double last = UNSEEN * io->sums[w], next = last;

	if (io->before[w] != SIZE_MAX)
		last = io->sums[w] - io->sums[io->before[w]];
	if (io->behind[w] != SIZE_MAX)
		next = io->sums[io->behind[w]] - io->sums[w];
	return hypot(last, next);
}

static int run_filter(const struct workloads *ws, const struct split_block *b, struct io_block *io,
		      const struct split_io_how *how)
{
	double middle[SPLIT_MAX_WINDOWS], length[SPLIT_MAX_WINDOWS], bytes[SPLIT_MAX_WINDOWS];
	double ratio[SPLIT_MAX_WINDOWS], rate[SPLIT_MAX_WINDOWS], change[SPLIT_MAX_WINDOWS];
	uint32_t workloads[FILTER_MAX_WORKLOADS];
	uint64_t start = b->windows[0].start_ns;
	cleanup_matrix struct matrix x = { 0 }, lead = { 0 };
	struct filter_input in = { .nr_workloads = ws->nr_columns,
				   .workloads = workloads,
				   .activity = &x,
				   .bytes = bytes,
				   .ratio = ratio,
				   .middle_s = middle,
				   .length_s = length,
				   .block_s = (b->windows[b->nr_windows - 1].end_ns - start) / 1e9,
				   .lead = &lead,
				   .rate = rate,
				   .change = change };
	int err = matrix_shape(&x, b->nr_windows, ws->nr_columns);

	err = err ? err : matrix_shape(&lead, b->nr_windows, ws->nr_columns);
	if (!err && !*how->filter)
		err = filter_new(FILTER_IO, how->workspace, how->filter);
	if (err)
		return err;
	workloads_numbers(ws, workloads);
	for (size_t k = 0; k < io->p->nr_windows; k++) {
		size_t w = io->p->window[k], t = in.nr_windows, next = io->behind[w];
		const struct trace_window *window = &b->windows[w];

		io->row[k] = SIZE_MAX;
		if (io->owners[w])
			continue;
		io->row[k] = in.nr_windows++;
		bytes[t] = io->p->bytes[k];
		ratio[t] = io->p->ratio[k];
		length[t] = (window->end_ns - window->start_ns) / 1e9;
		middle[t] = (window->start_ns - start) / 1e9 + length[t] / 2;
		rate[t] = io->sums[w];
		change[t] = change_of(io, w);
		for (size_t j = 0; j < ws->nr_columns; j++) {
			double now = matrix_row(&io->rates, w)[j];

			matrix_row(&x, t)[j] = now * length[t];
			if (next != SIZE_MAX)
				matrix_row(&lead, t)[j] = matrix_row(&io->rates, next)[j] - now;
		}
	}
	if (!in.nr_windows)
		return -ENODATA;
	return filter_block(*how->filter, &in, &io->p->estimated);
}

/* Is the estimate used for a window that counted? */
static bool is_estimated(const struct io_block *io, size_t k)
{
	return io->p->estimated && io->row[k] != SIZE_MAX;
}

/* Elements of window @w from @i on; the end of the window if there are none. */
static size_t next_element(const struct workloads *ws, const struct split_block *b,
			   const struct io_block *io, size_t w, size_t i, bool here)
{
	while (i < ws->first[w + 1] && !(io->p->x[i] > 0) && !(here && b->activity[i].exclusive))
		i++;
	return i;
}

/*
 * Candidate owners of the bytes of a window: workloads that were active in it or, if the estimate
 * is used, right beside it. All three lists are ordered by workload, and so is the result.
 */
static size_t add_claims(const struct workloads *ws, const struct split_block *b,
			 struct io_block *io, size_t k, size_t nr)
{
	size_t w = io->p->window[k], from[3] = { w, io->before[w], io->behind[w] }, next[3];
	int lists = is_estimated(io, k) ? 3 : 1;

	for (int l = 0; l < lists; l++)
		if (l && from[l] != SIZE_MAX && io->owners[from[l]])
			from[l] = SIZE_MAX;
	for (int l = 0; l < lists; l++)
		if (from[l] != SIZE_MAX)
			next[l] = next_element(ws, b, io, from[l], ws->first[from[l]], !l);
	while (true) {
		uint32_t min = UINT32_MAX;
		int of = -1;

		/* a workload in several windows: this window comes first */
		for (int l = 0; l < lists; l++) {
			if (from[l] == SIZE_MAX || next[l] == ws->first[from[l] + 1])
				continue;
			if (of >= 0 && ws->of[next[l]] >= min)
				continue;
			min = ws->of[next[l]];
			of = l;
		}
		if (of < 0)
			return nr;
		io->claims[nr++] = (struct io_claim){ .element = next[of], .here = !of };
		for (int l = 0; l < lists; l++)
			if (from[l] != SIZE_MAX && next[l] < ws->first[from[l] + 1] &&
			    ws->of[next[l]] == min)
				next[l] = next_element(ws, b, io, from[l], next[l] + 1, !l);
	}
}

static void make_claims(const struct workloads *ws, const struct split_block *b,
			struct io_block *io)
{
	size_t nr = 0;

	for (size_t w = 0; w < b->nr_windows; w++)
		io->at[w] = SIZE_MAX;
	for (size_t k = 0; k < io->p->nr_windows; k++) {
		io->at[io->p->window[k]] = k;
		io->first[k] = nr;
		nr = add_claims(ws, b, io, k, nr);
	}
	io->first[io->p->nr_windows] = nr;
}

/* Without an estimate, requests explain bytes one to one, as far as there are any. */
static double share_plainly(struct io_block *io, size_t k)
{
	const struct counter_block *p = io->p;
	double sum = 0, scale;

	for (size_t i = io->first[k]; i < io->first[k + 1]; i++)
		if (io->claims[i].here)
			sum += p->x[io->claims[i].element] * p->ratio[k];
	scale = sum > p->bytes[k] ? p->bytes[k] / sum : 1;
	for (size_t i = io->first[k]; i < io->first[k + 1]; i++) {
		struct io_claim *claim = &io->claims[i];

		claim->share = claim->here ? p->x[claim->element] * p->ratio[k] * scale : 0;
	}
	io->asked[k] = sum;
	return sum * scale;
}

/*
 * The deviation that timing may explain: at most one standard deviation of timing errors, and none
 * if it is more than four of them, which has another cause.
 */
static double due_to_timing(double rest, double sd)
{
	double far = sd > 0 ? fabs(rest) / sd : INFINITY;

	return fmin(fmax(rest, -sd), sd) * fmin(fmax(2 - far / 2, 0), 1);
}

/* Expected bytes of all claims on a window; returns their sum. */
static double take_expected(const struct workloads *ws, struct io_block *io, size_t k)
{
	const float *expected = matrix_row(&io->p->estimated->expected, io->row[k]);
	const double *x = io->p->x;
	double pool = 0, sum = 0;

	for (size_t i = io->first[k]; i < io->first[k + 1]; i++) {
		const struct io_claim *claim = &io->claims[i];

		if (claim->here && ws->members[ws->of[claim->element]].column == NO_COLUMN)
			pool += x[claim->element];
	}
	for (size_t i = io->first[k]; i < io->first[k + 1]; i++) {
		struct io_claim *claim = &io->claims[i];
		const struct member *m = &ws->members[ws->of[claim->element]];

		if (m->column != NO_COLUMN)
			claim->share = expected[m->column];
		else if (claim->here)
			claim->share = expected[ws->nr_columns - 1] * (x[claim->element] / pool);
		sum += claim->share;
	}
	return sum;
}

/*
 * As estimated. The deviation goes to workloads with I/O as far as the time at which data moved may
 * explain it; the rest is background.
 */
static double share_as_estimated(const struct workloads *ws, struct io_block *io, size_t k)
{
	const struct counter_block *p = io->p;
	const struct filter_output *o = p->estimated;
	size_t w = p->window[k];
	double sum = take_expected(ws, io, k), change = o->edge_s * change_of(io, w);
	double timing = hypot(change, o->grain_s * io->sums[w]) * p->ratio[k];
	double rest = p->bytes[k] - sum - o->background[io->row[k]], all;

	if (!(sum > 0) || !isfinite(sum))
		return share_plainly(io, k);
	io->asked[k] = sum;
	all = fmin(fmax(sum + due_to_timing(rest, timing), 0), p->bytes[k]);
	/* Workloads without activity there own the expected bytes, and no part of the deviation. */
	if (!(io->sums[w] > 0))
		all = fmin(all, sum);
	for (size_t i = io->first[k]; i < io->first[k + 1]; i++)
		io->claims[i].share *= all / sum;
	return all;
}

/* Bytes without requests belong to the exclusive owners, in equal shares. */
static double share_owned(const struct split_block *b, struct io_block *io, size_t k)
{
	const struct counter_block *p = io->p;
	double rest = p->bytes[k] - share_plainly(io, k);

	for (size_t i = io->first[k]; i < io->first[k + 1]; i++)
		if (b->activity[io->claims[i].element].exclusive)
			io->claims[i].share += fmax(rest, 0) / io->owners[p->window[k]];
	return p->bytes[k];
}

/* The bytes of one window, exactly; the rest is background. */
static int give(struct workloads *ws, const struct split_block *b, struct io_block *io, size_t k,
		uint64_t bytes, size_t *ret_nr)
{
	const struct counter_block *p = io->p;
	struct io_claim *claims = io->claims + io->first[k];
	size_t nr = io->first[k + 1] - io->first[k], given = 0;
	uint64_t *shares = io->units + nr + 1;
	int err;

	*ret_nr = 0;
	if (!nr)
		return 0;
	for (size_t i = 0; i < nr; i++)
		io->units[i] =
			bytes ? fmin(claims[i].share / p->bytes[k], 1) * SPLIT_SHARE_UNITS : 0;
	io->units[nr] = 0;
	if (bytes && !io->owners[p->window[k]])
		io->units[nr] = fmax(1 - io->owned[k] / p->bytes[k], 0) * SPLIT_SHARE_UNITS;
	err = apportion(bytes, io->units, nr + 1, shares);
	for (size_t i = 0; i < nr && !err; i++) {
		size_t e = claims[i].element;

		claims[i].given = shares[i];
		ws->members[ws->of[e]].bytes += shares[i];
		if (claims[i].here || shares[i])
			io->portions[given++] =
				(struct portion){ b->activity[e].workload, shares[i] };
	}
	if (!err && given && shares[nr])
		io->portions[given++] = (struct portion){ WORKLOAD_BACKGROUND, shares[nr] };
	*ret_nr = given;
	return err;
}

static int share_and_give(struct workloads *ws, const struct split_block *b, struct io_block *io,
			  uint32_t in_group, const struct split_sink *sink)
{
	const struct counter_block *p = io->p;
	int err = 0;

	make_claims(ws, b, io);
	for (size_t k = 0; k < p->nr_windows; k++) {
		if (io->owners[p->window[k]])
			io->owned[k] = share_owned(b, io, k);
		else if (p->estimated)
			io->owned[k] = share_as_estimated(ws, io, k);
		else
			io->owned[k] = share_plainly(io, k);
	}
	if (p->estimated)
		split_io_match(b, io);
	for (size_t k = 0; k < p->nr_windows && !err; k++) {
		const struct trace_window *window = &b->windows[p->window[k]];
		uint64_t bytes = window->readings[in_group].value;
		size_t nr;

		err = give(ws, b, io, k, bytes, &nr);
		if (!err)
			err = sink->bytes(sink->arg, p->counter, window, bytes, io->portions, nr);
	}
	return err;
}

int split_io(struct workloads *ws, const struct split_block *b, struct counter_block *p,
	     uint32_t in_group, const struct split_io_how *how, const struct split_sink *sink,
	     size_t *ret_pooled)
{
	struct io_block io = { .p = p };
	int err;

	p->kind = FILTER_IO;
	p->estimated = NULL;
	/* An element may have a claim on its window and on those beside it. */
	io.claims = calloc(3 * b->nr + 1, sizeof(*io.claims));
	io.portions = calloc(b->nr + 1, sizeof(*io.portions));
	io.units = calloc(b->nr + 1, 2 * sizeof(*io.units));
	err = io.claims && io.portions && io.units ? 0 : -ENOMEM;
	if (!err) {
		take_io(ws, b, how->direction, &io);
		take_columns(ws, b, &io);
		err = take_rates(ws, b, &io);
	}
	if (!err && how->filter && ws->nr_columns && p->nr_windows) {
		err = run_filter(ws, b, &io, how);
		if (!err)
			*ret_pooled = ws->nr_pooled;
		if (err == -ENODATA)
			err = 0;
	}
	if (!err)
		err = share_and_give(ws, b, &io, in_group, sink);
	if (!err)
		err = split_io_bounds(ws, b, &io, how->lost, sink);
	free(io.portions);
	free(io.units);
	free(io.claims);
	matrix_free(&io.rates);
	return err;
}
