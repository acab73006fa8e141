// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * What each workload did in each window. There are many slices, and most of them are short: they
 * stay where they are, and are added up where the pair of window and workload belongs.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "engine/identity/identity.h"
#include "engine/timeline/internal.h"

/* The cell of a window that slice or raw cell number @from adds to. */
struct cell_place {
	uint32_t window;
	uint32_t workload;
	size_t from;
};

/* Where places point to; without slices: raw cells. */
struct origin {
	const struct slices *slices;
	const struct windows *windows;
};

void timeline_cells_free(struct timeline_cells *c)
{
	free(c->items);
	free(c->raw);
	free(c->places);
	free(c->other);
	free(c->ends);
	free(c->is_there);
	free(c->at);
}

size_t timeline_window_at(const struct windows *w, uint64_t ns)
{
	return array_place(w->nr, i, w->items[i].end_ns <= ns);
}

/* The same; slices come in the order of time, so it is mostly the window of the last one. */
static size_t window_near(const struct windows *w, uint64_t ns, size_t last)
{
	if (last < w->nr && w->items[last].start_ns <= ns && ns < w->items[last].end_ns)
		return last;
	return timeline_window_at(w, ns);
}

/* CPU time of a slice up to a moment inside it, as if it were spread evenly. */
uint64_t timeline_on_cpu_until(const struct slice *s, uint64_t ns)
{
	uint64_t length = s->end_ns - s->start_ns;

	if (ns <= s->start_ns)
		return 0;
	if (ns >= s->end_ns)
		return s->on_cpu_ns;
	if (s->on_cpu_ns == length)
		return ns - s->start_ns;
	return (unsigned __int128)s->on_cpu_ns * (ns - s->start_ns) / length;
}

/* The part of a count that goes with a part of the CPU time. */
uint64_t timeline_part_of(uint64_t count, uint64_t ns, uint64_t on_cpu_ns)
{
	uint64_t product;

	/* A division of 128 bits is slow, and hardly ever needed. */
	if (!__builtin_mul_overflow(count, ns, &product))
		return product / on_cpu_ns;
	return (unsigned __int128)count * ns / on_cpu_ns;
}

static bool is_inside(const struct slice *s, const struct trace_window *w)
{
	return s->start_ns >= w->start_ns && s->end_ns <= w->end_ns;
}

/* CPU time of a slice in a window. */
static uint64_t on_cpu_in(const struct slice *s, const struct trace_window *w)
{
	return is_inside(s, w) ? s->on_cpu_ns
			       : timeline_on_cpu_until(s, w->end_ns) -
					 timeline_on_cpu_until(s, w->start_ns);
}

/*
 * Where in a window some CPU time was, see struct activity; @ends: both ends of it, one added to the
 * other. Whole numbers, so that sums are the same in any order.
 */
static void add_within(struct activity *to, const struct trace_window *w, uint64_t on_cpu_ns,
		       uint64_t ends)
{
	int64_t late = ends - w->start_ns - w->end_ns;

	/* Beyond 64 bits it is nonsense, but may be done. */
	to->within = (uint64_t)to->within + on_cpu_ns * (uint64_t)(late / (2 * WITHIN_NS));
}

/* Adds the part of a slice that lies in a window. */
static void add_part(struct activity *to, const struct slice *s, const struct trace_window *w)
{
	uint64_t from, until;

	if (is_inside(s, w)) {
		/* All of it, as with most of them: nothing to divide. */
		to->on_cpu_ns += s->on_cpu_ns;
		add_within(to, w, s->on_cpu_ns, s->start_ns + s->end_ns);
		to->weights_ns += s->weights_ns;
		for (int k = 0; k < TRACE_MAX_WEIGHTS; k++)
			to->weights[k] += s->weights[k];
		return;
	}
	from = timeline_on_cpu_until(s, w->start_ns);
	until = timeline_on_cpu_until(s, w->end_ns);
	to->on_cpu_ns += until - from;
	add_within(to, w, until - from,
		   (s->start_ns > w->start_ns ? s->start_ns : w->start_ns) +
			   (s->end_ns < w->end_ns ? s->end_ns : w->end_ns));
	to->weights_ns += timeline_part_of(s->weights_ns, until, s->on_cpu_ns) -
			  timeline_part_of(s->weights_ns, from, s->on_cpu_ns);
	for (int k = 0; k < TRACE_MAX_WEIGHTS; k++)
		to->weights[k] += timeline_part_of(s->weights[k], until, s->on_cpu_ns) -
				  timeline_part_of(s->weights[k], from, s->on_cpu_ns);
}

/* There are no places yet. */
static int begin_places(struct timeline_cells *c, size_t nr_windows)
{
	c->nr_places = c->nr_workloads = 0;
	free(c->ends);
	c->ends = calloc(nr_windows + 1, sizeof(*c->ends));
	return c->ends ? 0 : -ENOMEM;
}

static int place_add(struct timeline_cells *c, uint32_t window, uint32_t workload, size_t from)
{
	if (array_reserve(c->places, c->cap_places, c->nr_places))
		return -ENOMEM;
	c->places[c->nr_places++] = (struct cell_place){ window, workload, from };
	c->ends[window]++;
	if (workload >= c->nr_workloads)
		c->nr_workloads = (size_t)workload + 1;
	return 0;
}

static int other_reserve(struct timeline_cells *c)
{
	if (c->cap_other >= c->nr_places)
		return 0;
	free(c->other);
	c->cap_other = c->cap_places;
	c->other = malloc(c->cap_other * sizeof(*c->other));
	if (c->other)
		return 0;
	c->cap_other = 0;
	return -ENOMEM;
}

/*
 * Orders places by window; slices come nearly in that order. How many a window has is known, and
 * becomes where its places end.
 */
static int sort_places(struct timeline_cells *c, size_t nr_windows)
{
	struct cell_place *places = c->places;
	size_t cap = c->cap_places, sum = 0;

	if (other_reserve(c))
		return -ENOMEM;
	for (size_t k = 0; k < nr_windows; k++) {
		size_t nr = c->ends[k];

		c->ends[k] = sum;
		sum += nr;
	}
	for (size_t i = 0; i < c->nr_places; i++)
		c->other[c->ends[places[i].window]++] = places[i];
	c->places = c->other;
	c->cap_places = c->cap_other;
	c->other = places;
	c->cap_other = cap;
	return 0;
}

/* Arrays by workload for one window; their numbers are small. */
static int workloads_reserve(struct timeline_cells *c)
{
	size_t words = (c->nr_workloads + 63) / 64;

	if (words <= c->nr_words)
		return 0;
	free(c->is_there);
	free(c->at);
	c->is_there = calloc(words, sizeof(*c->is_there));
	c->at = calloc(words, 64 * sizeof(*c->at));
	c->nr_words = c->is_there && c->at ? words : 0;
	return c->nr_words ? 0 : -ENOMEM;
}

/* Empty cells of all workloads that have places in a window, in the order of their numbers. */
static int begin_cells(struct timeline_cells *c, const struct cell_place *p, size_t nr)
{
	for (size_t i = 0; i < nr; i++)
		c->is_there[p[i].workload / 64] |= 1ull << p[i].workload % 64;
	for (size_t k = 0; k < c->nr_words; k++) {
		uint64_t left = c->is_there[k];

		c->is_there[k] = 0;
		for (; left; left &= left - 1) {
			uint32_t workload = 64 * k + __builtin_ctzll(left);

			if (array_reserve(c->items, c->cap, c->nr)) {
				memset(c->is_there, 0, c->nr_words * sizeof(*c->is_there));
				return -ENOMEM;
			}
			c->items[c->nr] =
				(struct activity){ .window = p->window, .workload = workload };
			c->at[workload] = c->nr++;
		}
	}
	return 0;
}

/* Adds a raw cell: of devices, which have no CPU time. */
static void add_raw(struct activity *to, const struct activity *a)
{
	for (int k = 0; k < 2; k++)
		to->io_bytes[k] += a->io_bytes[k];
	to->exclusive |= a->exclusive;
}

/* Adds the places of a window to its cells. */
static void fill_cells(struct timeline_cells *c, const struct origin *from,
		       const struct cell_place *p, size_t nr)
{
	for (size_t i = 0; i < nr; i++) {
		struct activity *to = &c->items[c->at[p[i].workload]];

		if (from->slices)
			add_part(to, &from->slices->items[p[i].from],
				 &from->windows->items[p[i].window]);
		else
			add_raw(to, &c->raw[p[i].from]);
	}
}

static int make_cells(struct timeline_cells *c, size_t nr_windows, const struct origin *from)
{
	size_t first = 0;
	int err = 0;

	c->nr = 0;
	if (c->nr_places)
		err = sort_places(c, nr_windows);
	if (!err)
		err = workloads_reserve(c);
	for (size_t w = 0; w < nr_windows && !err; w++) {
		const struct cell_place *p = c->places + first;
		size_t nr = c->ends[w] - first;

		err = nr ? begin_cells(c, p, nr) : 0;
		if (!err)
			fill_cells(c, from, p, nr);
		first = c->ends[w];
	}
	return err;
}

int timeline_cells_of_slices(const struct slices *slices, const struct windows *w, size_t nr,
			     struct timeline_cells *ret)
{
	const struct origin from = { slices, w };
	size_t at = 0;
	int err = begin_places(ret, nr);

	for (size_t i = 0; i < slices->nr_old && !err; i++) {
		const struct slice *s = &slices->items[i];

		if (s->workload == WORKLOAD_IDLE)
			continue;
		at = window_near(w, s->start_ns, at);
		for (size_t k = at; k < nr && w->items[k].start_ns < s->end_ns && !err; k++)
			if (on_cpu_in(s, &w->items[k]))
				err = place_add(ret, k, s->workload, i);
	}
	return err ? err : make_cells(ret, nr, &from);
}

int timeline_longs_of(struct timeline *t, struct split_block *b)
{
	struct longs *ret = &t->longs;
	const struct slices *slices = &t->slices[t->layout->groups[b->group].socket];
	uint64_t start = b->windows[0].start_ns, end = b->windows[b->nr_windows - 1].end_ns;
	uint64_t window_ns = b->windows[0].end_ns - start;

	ret->nr = 0;
	if (timeline_group_device(t->layout, b->group))
		return 0;
	for (size_t i = 0; i < slices->nr_old; i++) {
		const struct slice *s = &slices->items[i];
		uint64_t whole_start = s->start_ns - s->before_ns;
		uint64_t whole_end = s->end_ns + s->behind_ns;
		struct long_slice *to;

		if (s->workload == WORKLOAD_IDLE || !s->weights_ns || s->end_ns <= start ||
		    s->start_ns >= end || whole_end - whole_start <= window_ns)
			continue;
		if (array_reserve(ret->items, ret->cap, ret->nr))
			return -ENOMEM;
		to = &ret->items[ret->nr++];
		*to = (struct long_slice){ .workload = s->workload,
					   .start_ns = s->start_ns,
					   .end_ns = s->end_ns,
					   .whole_start_ns = whole_start,
					   .whole_end_ns = whole_end };
		memcpy(to->weights, s->weights, sizeof(to->weights));
	}
	b->longs = ret->items;
	b->nr_longs = ret->nr;
	return 0;
}

int timeline_cells_of_raw(struct timeline_cells *c, size_t nr_windows)
{
	const struct origin from = { 0 };
	int err = begin_places(c, nr_windows);

	for (size_t i = 0; i < c->nr_raw && !err; i++)
		err = place_add(c, c->raw[i].window, c->raw[i].workload, i);
	return err ? err : make_cells(c, nr_windows, &from);
}
