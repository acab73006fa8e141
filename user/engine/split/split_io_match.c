// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * The time at which data moved is not known to the millisecond: a request is noted some time after
 * its data have moved, and requests that are noted together are spread evenly over their time. So
 * the bytes of a burst may be counted in the window beside the expected one. They have moved all
 * the same: a surplus right beside a window that lacks bytes is not background, up to what is
 * lacking.
 */
#include <math.h>

#include "engine/filter/constants.h"
#include "engine/split/internal.h"

/* The window right beside @k if it counted and has no exclusive owner; SIZE_MAX: there is none. */
static size_t beside(const struct io_block *io, size_t k, bool behind)
{
	size_t w = io->p->window[k];

	w = behind ? io->behind[w] : io->before[w];
	return w == SIZE_MAX || io->owners[w] ? SIZE_MAX : io->at[w];
}

/*
 * Bytes per second without requests: measured in windows that have none, nor any beside them; as
 * estimated if there are no such windows.
 */
static double quiet_rate(const struct split_block *b, const struct io_block *io)
{
	const struct counter_block *p = io->p;
	double quiet = 0, length = 0, all = 0, expected = 0;

	for (size_t k = 0; k < p->nr_windows; k++) {
		size_t w = p->window[k], last = io->before[w], next = io->behind[w];
		double s = (b->windows[w].end_ns - b->windows[w].start_ns) / 1e9 * p->ratio[k];

		if (io->owners[w])
			continue;
		all += s;
		expected += p->estimated->background[io->row[k]];
		if (io->sums[w] > 0 || (last != SIZE_MAX && io->sums[last] > 0) ||
		    (next != SIZE_MAX && io->sums[next] > 0))
			continue;
		quiet += p->bytes[k];
		length += s;
	}
	if (length > 0)
		return quiet / length;
	return all > 0 ? expected / all : 0;
}

/* Move bytes of window @to to the workloads that lack them in window @from. */
static void move_claims(const struct split_block *b, struct io_block *io, size_t from, size_t to,
			double bytes)
{
	size_t i = io->first[to];
	double sum = 0;

	for (size_t j = io->first[from]; j < io->first[from + 1]; j++)
		if (io->claims[j].here)
			sum += io->p->x[io->claims[j].element];
	for (size_t j = io->first[from]; j < io->first[from + 1]; j++) {
		const struct io_claim *mine = &io->claims[j];
		uint32_t workload = b->activity[mine->element].workload;
		double moved = bytes * (io->p->x[mine->element] / sum);

		if (!mine->here)
			continue;
		/* Whoever did something right beside a window has a claim on it. */
		while (b->activity[io->claims[i].element].workload != workload)
			i++;
		io->claims[i].share += moved;
	}
	io->owned[to] += bytes;
}

/* The claims of window @k shrink by these bytes. */
static void give_up(struct io_block *io, size_t k, double bytes)
{
	double keep = fmax(1 - bytes / io->owned[k], 0);

	for (size_t i = io->first[k]; i < io->first[k + 1]; i++)
		io->claims[i].share *= keep;
	io->owned[k] -= bytes;
}

/*
 * Bytes lacking in window @k come from the nearest window on one side with a surplus. Bytes of the
 * windows in between move, too: each to the next one.
 */
static double reach(const struct split_block *b, struct io_block *io, size_t k, bool behind,
		    int hops, double bytes)
{
	const struct counter_block *p = io->p;
	size_t to = beside(io, k, behind);
	double left, more;

	if (to == SIZE_MAX)
		return 0;
	left = fmin(fmax(p->bytes[to] - io->owned[to] - io->quiet[to], 0), bytes);
	if (hops > 1 && left < bytes && io->owned[to] > 0 && io->sums[p->window[to]] > 0) {
		more = reach(b, io, to, behind, hops - 1, fmin(bytes - left, io->owned[to]));
		if (more > 0)
			give_up(io, to, more);
		left += more;
	}
	if (left > 0)
		move_claims(b, io, k, to, left);
	return left;
}

/* Bytes beyond expectation in windows beside @k are some of those lacking in @k. */
static double settle(const struct io_block *io, size_t k, double *more, double lacks)
{
	for (int side = 0; side < 2; side++) {
		size_t to = beside(io, k, side);
		double bytes = to == SIZE_MAX ? 0 : fmin(lacks, more[to]);

		if (!(bytes > 0))
			continue;
		more[to] -= bytes;
		lacks -= bytes;
	}
	return lacks;
}

/*
 * Earlier windows go first: data move before they are noted. A burst is off by some milliseconds in
 * each window it fills.
 */
void split_io_match(const struct split_block *b, struct io_block *io)
{
	const struct counter_block *p = io->p;
	double lacks[SPLIT_MAX_WINDOWS], more[SPLIT_MAX_WINDOWS], quiet = quiet_rate(b, io);

	for (size_t k = 0; k < p->nr_windows; k++) {
		size_t w = p->window[k];
		bool matters = !io->owners[w] && io->sums[w] > 0;

		io->quiet[k] = quiet * p->ratio[k] *
			       ((b->windows[w].end_ns - b->windows[w].start_ns) / 1e9);
		lacks[k] = matters ? fmax(io->asked[k] - p->bytes[k], 0) : 0;
		more[k] = matters ? fmax(io->owned[k] - io->asked[k], 0) : 0;
	}
	for (size_t k = 0; k < p->nr_windows; k++)
		lacks[k] = settle(io, k, more, lacks[k]);
	for (int hops = 1; hops <= MAX_HOPS; hops++)
		for (int behind = 0; behind < 2; behind++)
			for (size_t k = 0; k < p->nr_windows; k++)
				if (lacks[k] > 0)
					lacks[k] -= reach(b, io, k, behind, hops, lacks[k]);
}
