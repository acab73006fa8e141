// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * What each workload did in each window. There are many slices, and most of them are short:
 * what is ordered is where they are, not what they are.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/cleanup.h"
#include "engine/identity/identity.h"
#include "engine/timeline/internal.h"

/* Of a window, what of a workload: number @from of the slices, or of the raw cells. */
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
}

size_t timeline_window_at(const struct windows *w, uint64_t ns)
{
	size_t low = 0, high = w->nr;

	while (low < high) {
		size_t mid = low + (high - low) / 2;

		if (w->items[mid].end_ns <= ns)
			low = mid + 1;
		else
			high = mid;
	}
	return low;
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

/* What of a slice lies in a window. */
static void cell_of(const struct slice *s, const struct trace_window *w, struct activity *ret)
{
	uint64_t from, to;

	*ret = (struct activity){ .workload = s->workload, .on_cpu_ns = s->on_cpu_ns };
	if (s->start_ns >= w->start_ns && s->end_ns <= w->end_ns) {
		/* All of it, as with most of them: nothing to divide. */
		ret->weights_ns = s->weights_ns;
		memcpy(ret->weights, s->weights, sizeof(ret->weights));
		return;
	}
	from = timeline_on_cpu_until(s, w->start_ns);
	to = timeline_on_cpu_until(s, w->end_ns);
	ret->on_cpu_ns = to - from;
	if (!ret->on_cpu_ns)
		return;
	ret->weights_ns = timeline_part_of(s->weights_ns, to, s->on_cpu_ns) -
			  timeline_part_of(s->weights_ns, from, s->on_cpu_ns);
	for (int k = 0; k < TRACE_MAX_WEIGHTS; k++)
		ret->weights[k] = timeline_part_of(s->weights[k], to, s->on_cpu_ns) -
				  timeline_part_of(s->weights[k], from, s->on_cpu_ns);
}

static int place_add(struct timeline_cells *c, uint32_t window, uint32_t workload, size_t from)
{
	if (array_room(c->places, c->cap_places, c->nr_places))
		return -ENOMEM;
	c->places[c->nr_places++] = (struct cell_place){ window, workload, from };
	return 0;
}

/* Where places with each number begin, counted by the numbers before. */
static void starts_of(size_t *at, size_t nr_numbers)
{
	size_t sum = 0;

	for (size_t k = 0; k < nr_numbers; k++) {
		size_t nr = at[k];

		at[k] = sum;
		sum += nr;
	}
}

/* The digits by which places of a window are ordered; fewer of them are put in order one by one. */
#define DIGIT_BITS 8
#define DIGITS	   (1u << DIGIT_BITS)
#define FEW	   24

static void order_few(struct cell_place *p, size_t nr)
{
	for (size_t i = 1; i < nr; i++) {
		struct cell_place one = p[i];
		size_t k = i;

		for (; k && p[k - 1].workload > one.workload; k--)
			p[k] = p[k - 1];
		p[k] = one;
	}
}

/* Orders places of a window by workload, which is below 2^@bits, from the lowest digit on. */
static void order_window(struct cell_place *p, struct cell_place *other, size_t nr,
			 unsigned int bits)
{
	struct cell_place *from = p, *to = other, *was;

	if (nr <= FEW) {
		order_few(p, nr);
		return;
	}
	for (unsigned int shift = 0; shift < bits; shift += DIGIT_BITS) {
		size_t at[DIGITS] = { 0 };

		for (size_t i = 0; i < nr; i++)
			at[from[i].workload >> shift & (DIGITS - 1)]++;
		starts_of(at, DIGITS);
		for (size_t i = 0; i < nr; i++)
			to[at[from[i].workload >> shift & (DIGITS - 1)]++] = from[i];
		was = from;
		from = to;
		to = was;
	}
	if (from != p)
		memcpy(p, from, nr * sizeof(*p));
}

static int other_room(struct timeline_cells *c)
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
 * Orders places by window, by counting, and those of a window by workload. Slices come nearly in
 * the order of windows, and those of a window are few enough for the nearer caches.
 */
static int sort_places(struct timeline_cells *c, size_t nr_windows)
{
	cleanup_free size_t *by_window = calloc(nr_windows + 1, sizeof(*by_window));
	struct cell_place *places = c->places;
	size_t cap = c->cap_places, first = 0;
	uint32_t any = 0;

	if (!by_window || other_room(c))
		return -ENOMEM;
	for (size_t i = 0; i < c->nr_places; i++) {
		any |= places[i].workload;
		by_window[places[i].window]++;
	}
	starts_of(by_window, nr_windows);
	for (size_t i = 0; i < c->nr_places; i++)
		c->other[by_window[places[i].window]++] = places[i];
	for (size_t w = 0; w < nr_windows; w++) {
		order_window(c->other + first, places + first, by_window[w] - first,
			     any ? 32 - __builtin_clz(any) : 0);
		first = by_window[w];
	}
	c->places = c->other;
	c->cap_places = c->cap_other;
	c->other = places;
	c->cap_other = cap;
	return 0;
}

static void add_up(struct activity *to, const struct activity *a)
{
	to->on_cpu_ns += a->on_cpu_ns;
	to->weights_ns += a->weights_ns;
	for (int k = 0; k < TRACE_MAX_WEIGHTS; k++)
		to->weights[k] += a->weights[k];
	for (int k = 0; k < 2; k++)
		to->io_bytes[k] += a->io_bytes[k];
	to->exclusive |= a->exclusive;
}

/* Places are read in no order: what is there, over two lines often, is asked for before. */
#define AHEAD 24

/*
 * Takes what is at the places, in their order; what is of the same pair is added up. Each is made
 * where it stays if it is the first of its pair.
 */
static int gather(struct timeline_cells *c, const struct origin *from)
{
	for (size_t i = 0; i < c->nr_places; i++) {
		const struct cell_place *p = &c->places[i];
		struct activity *a, *to;

		if (array_room(c->items, c->cap, c->nr))
			return -ENOMEM;
		a = &c->items[c->nr];
		to = c->nr ? a - 1 : NULL;
		if (!from->slices) {
			*a = c->raw[p->from];
		} else {
			if (i + AHEAD < c->nr_places) {
				__builtin_prefetch(&from->slices->items[p[AHEAD].from]);
				__builtin_prefetch(&from->slices->items[p[AHEAD].from].workload);
			}
			cell_of(&from->slices->items[p->from], &from->windows->items[p->window], a);
			if (!a->on_cpu_ns)
				continue;
			a->window = p->window;
		}
		if (to && to->window == a->window && to->workload == a->workload)
			add_up(to, a);
		else
			c->nr++;
	}
	return 0;
}

static int sort_and_gather(struct timeline_cells *c, size_t nr_windows, const struct origin *from)
{
	int err = c->nr_places ? sort_places(c, nr_windows) : 0;

	c->nr = 0;
	return err ? err : gather(c, from);
}

int timeline_cells_of_slices(const struct slices *slices, const struct windows *w, size_t nr,
			     struct timeline_cells *ret)
{
	const struct origin from = { slices, w };
	size_t at = 0;
	int err = 0;

	ret->nr_places = 0;
	for (size_t i = 0; i < slices->nr_old && !err; i++) {
		const struct slice *s = &slices->items[i];

		if (s->workload == WORKLOAD_IDLE)
			continue;
		at = window_near(w, s->start_ns, at);
		for (size_t k = at; k < nr && w->items[k].start_ns < s->end_ns && !err; k++)
			err = place_add(ret, k, s->workload, i);
	}
	return err ? err : sort_and_gather(ret, nr, &from);
}

int timeline_cells_of_raw(struct timeline_cells *c, size_t nr_windows)
{
	const struct origin from = { 0 };
	int err = 0;

	c->nr_places = 0;
	for (size_t i = 0; i < c->nr_raw && !err; i++)
		err = place_add(c, c->raw[i].window, c->raw[i].workload, i);
	return err ? err : sort_and_gather(c, nr_windows, &from);
}
