// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "engine/timeline.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/cleanup.h"
#include "engine/identity.h"

struct slice {
	uint64_t start_ns;
	uint64_t end_ns;
	uint64_t on_cpu_ns;
	uint32_t workload;
};

struct slices {
	struct slice *items;
	size_t nr, cap;
};

struct window {
	uint64_t start_ns;
	uint64_t end_ns;
	struct reading *readings;
};

struct windows {
	struct window *items;
	size_t nr, cap;
};

/* CPU time of a workload in a window, before those of one pair are added up. */
struct cell {
	uint32_t window;
	uint32_t workload;
	uint64_t on_cpu_ns;
};

struct cells {
	struct cell *items;
	size_t nr, cap;
};

struct timeline {
	const struct layout *layout;
	struct slices *pending;	 /* one list a socket: after the last interval's end */
	struct slices *history;	 /* one list a socket: before it, for windows yet to come */
	struct windows *windows; /* one list a group */
	uint64_t *split_ns;	 /* end of the last window split, by group */
	uint64_t *closed_ns;	 /* end of the last interval, by socket */
};

/*
 * A group that cannot be read has no windows; when it can again, the first one
 * spans the outage. Slices are kept this long for it.
 */
#define HISTORY_NS 10000000000ull

int timeline_new(const struct layout *layout, struct timeline **ret)
{
	struct timeline *t = calloc(1, sizeof(*t));

	if (!t)
		return -ENOMEM;
	t->layout = layout;
	t->pending = calloc(layout->nr_sockets + 1, sizeof(*t->pending));
	t->history = calloc(layout->nr_sockets + 1, sizeof(*t->history));
	t->closed_ns = calloc(layout->nr_sockets + 1, sizeof(*t->closed_ns));
	t->windows = calloc(layout->nr_groups + 1, sizeof(*t->windows));
	t->split_ns = calloc(layout->nr_groups + 1, sizeof(*t->split_ns));
	if (!t->pending || !t->history || !t->windows || !t->closed_ns || !t->split_ns) {
		timeline_free(t);
		return -ENOMEM;
	}
	*ret = t;
	return 0;
}

/* Drops the first @nr windows. */
static void windows_drop(struct windows *w, size_t nr)
{
	for (size_t i = 0; i < nr; i++)
		free(w->items[i].readings);
	for (size_t i = nr; i < w->nr; i++)
		w->items[i - nr] = w->items[i];
	w->nr -= nr;
}

void timeline_free(struct timeline *t)
{
	if (!t)
		return;
	for (uint32_t s = 0; t->pending && s < t->layout->nr_sockets; s++)
		free(t->pending[s].items);
	for (uint32_t s = 0; t->history && s < t->layout->nr_sockets; s++)
		free(t->history[s].items);
	for (size_t g = 0; t->windows && g < t->layout->nr_groups; g++) {
		windows_drop(&t->windows[g], t->windows[g].nr);
		free(t->windows[g].items);
	}
	free(t->history);
	free(t->split_ns);
	free(t->pending);
	free(t->windows);
	free(t->closed_ns);
	free(t);
}

static int slice_add(struct slices *s, const struct slice *slice)
{
	if (array_room(s->items, s->cap, s->nr))
		return -ENOMEM;
	s->items[s->nr++] = *slice;
	return 0;
}

int timeline_slice(struct timeline *t, uint32_t workload, uint32_t cpu, uint64_t start_ns,
		   uint64_t end_ns, uint64_t on_cpu_ns)
{
	struct slice s = { start_ns, end_ns, on_cpu_ns, workload };
	uint32_t socket;

	if (cpu >= t->layout->nr_cpus || end_ns < start_ns || on_cpu_ns > end_ns - start_ns)
		return -EINVAL;
	socket = t->layout->cpu_socket[cpu];
	if (socket == LAYOUT_NO_SOCKET || !on_cpu_ns)
		return 0;
	return slice_add(&t->pending[socket], &s);
}

int timeline_window(struct timeline *t, uint32_t group, uint64_t start_ns, uint64_t end_ns,
		    const struct reading *readings)
{
	struct windows *w;
	struct reading *copy;
	size_t size;

	if (group >= t->layout->nr_groups || end_ns <= start_ns)
		return -EINVAL;
	w = &t->windows[group];
	if (w->nr && w->items[w->nr - 1].end_ns > start_ns)
		return -EINVAL;
	size = t->layout->groups[group].nr * sizeof(*copy);
	copy = malloc(size);
	if (!copy || array_room(w->items, w->cap, w->nr)) {
		free(copy);
		return -ENOMEM;
	}
	memcpy(copy, readings, size);
	w->items[w->nr++] = (struct window){ start_ns, end_ns, copy };
	return 0;
}

/* CPU time of a slice up to a moment inside it, as if it were spread evenly. */
static uint64_t on_cpu_until(const struct slice *s, uint64_t ns)
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

/*
 * Moves what lies before @end from the pending slices of a socket to @ret; what
 * lies behind stays.
 */
static int cut_slices(struct slices *pending, uint64_t end, struct slices *ret)
{
	size_t kept = 0;
	int err = 0;

	for (size_t i = 0; i < pending->nr; i++) {
		struct slice s = pending->items[i], before = s;

		if (s.start_ns >= end) {
			pending->items[kept++] = s;
			continue;
		}
		if (s.end_ns > end) {
			before.on_cpu_ns = on_cpu_until(&s, end);
			before.end_ns = end;
			s.on_cpu_ns -= before.on_cpu_ns;
			s.start_ns = end;
			pending->items[kept++] = s;
		}
		if (!err)
			err = slice_add(ret, &before);
	}
	pending->nr = kept;
	return err;
}

int timeline_begin(struct timeline *t, const uint64_t *starts_ns)
{
	int err = 0;

	for (uint32_t s = 0; s < t->layout->nr_sockets && !err; s++) {
		err = cut_slices(&t->pending[s], starts_ns[s], &t->history[s]);
		t->history[s].nr = 0;
		t->closed_ns[s] = starts_ns[s];
	}
	for (size_t g = 0; g < t->layout->nr_groups; g++) {
		struct windows *w = &t->windows[g];
		uint64_t start = starts_ns[t->layout->groups[g].socket];
		size_t nr = 0;

		while (nr < w->nr && w->items[nr].end_ns <= start)
			nr++;
		windows_drop(w, nr);
		t->split_ns[g] = start;
	}
	return err;
}

/* Index of the window that holds @ns or, in a gap, of the next one. */
static size_t window_at(const struct windows *w, uint64_t ns)
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

/* Divides each slice among the first @nr windows, as far as it touches them. */
static int make_cells(const struct slices *slices, const struct windows *w, size_t nr,
		      struct cells *ret)
{
	for (size_t i = 0; i < slices->nr; i++) {
		const struct slice *s = &slices->items[i];

		if (s->workload == WORKLOAD_IDLE)
			continue;
		for (size_t k = window_at(w, s->start_ns);
		     k < nr && w->items[k].start_ns < s->end_ns; k++) {
			uint64_t ns = on_cpu_until(s, w->items[k].end_ns) -
				      on_cpu_until(s, w->items[k].start_ns);

			if (!ns)
				continue;
			if (array_room(ret->items, ret->cap, ret->nr))
				return -ENOMEM;
			ret->items[ret->nr++] = (struct cell){ k, s->workload, ns };
		}
	}
	return 0;
}

static int by_window(const void *a, const void *b)
{
	const struct cell *x = a, *y = b;

	if (x->window != y->window)
		return x->window < y->window ? -1 : 1;
	return x->workload < y->workload ? -1 : x->workload > y->workload;
}

/* Adds up cells of the same window and workload; sorted by both afterwards. */
static void merge_cells(struct cells *c)
{
	size_t kept = 0;

	if (c->nr)
		qsort(c->items, c->nr, sizeof(*c->items), by_window);
	for (size_t i = 0; i < c->nr; i++) {
		if (kept && !by_window(&c->items[kept - 1], &c->items[i]))
			c->items[kept - 1].on_cpu_ns += c->items[i].on_cpu_ns;
		else
			c->items[kept++] = c->items[i];
	}
	c->nr = kept;
}

/* Splits the counters of one window among the claims. */
static int split_window(const struct timeline *t, const struct group *g, const struct window *w,
			const struct claim *claims, size_t nr, const struct timeline_sink *sink)
{
	cleanup_free struct estimate *estimates = calloc(nr + 1, sizeof(*estimates));

	if (!estimates)
		return -ENOMEM;
	for (uint32_t i = 0; i < g->nr; i++) {
		const struct reading *r = &w->readings[i];
		const struct counter *c = &t->layout->counters[g->first + i];
		int err;

		if (!r->running_ns)
			continue;
		if (c->source == SOURCE_CPU && nr) {
			err = estimate_window(r->value, claims, nr, estimates);
			if (err)
				return err;
			err = sink->bytes(sink->arg, g->first + i, r->value, claims, estimates, nr);
		} else {
			err = sink->bytes(sink->arg, g->first + i, r->value, NULL, NULL, 0);
		}
		if (err)
			return err;
	}
	return 0;
}

/* Splits the windows of a group that end in the interval. */
static int close_group(struct timeline *t, uint32_t group, const struct slices *slices,
		       uint64_t end, const struct timeline_sink *sink)
{
	const struct group *g = &t->layout->groups[group];
	struct windows *w = &t->windows[group];
	struct cells cells = { 0 };
	cleanup_free struct claim *claims = NULL;
	size_t at = 0, nr, nr_windows = 0;
	int err;

	while (nr_windows < w->nr && w->items[nr_windows].end_ns <= end)
		nr_windows++;
	err = make_cells(slices, w, nr_windows, &cells);
	if (!err) {
		merge_cells(&cells);
		claims = calloc(cells.nr + 1, sizeof(*claims));
		err = claims ? 0 : -ENOMEM;
	}
	for (size_t k = 0; !err && k < nr_windows; k++) {
		for (nr = 0; at < cells.nr && cells.items[at].window == k; at++, nr++)
			claims[nr] = (struct claim){ cells.items[at].workload,
						     cells.items[at].on_cpu_ns };
		err = sink->window(sink->arg, group, w->items[k].end_ns - w->items[k].start_ns,
				   w->items[k].readings);
		if (!err)
			err = split_window(t, g, &w->items[k], claims, nr, sink);
	}
	if (nr_windows)
		t->split_ns[group] = w->items[nr_windows - 1].end_ns;
	windows_drop(w, nr_windows);
	free(cells.items);
	return err;
}

/* Keeps the slices that a window yet to come may reach back to. */
static void trim_history(struct timeline *t, uint32_t socket, uint64_t end)
{
	struct slices *h = &t->history[socket];
	uint64_t oldest = end > HISTORY_NS ? end - HISTORY_NS : 0, needed = end;
	size_t kept = 0;

	for (size_t g = 0; g < t->layout->nr_groups; g++)
		if (t->layout->groups[g].socket == socket && t->split_ns[g] < needed)
			needed = t->split_ns[g];
	if (needed < oldest)
		needed = oldest;
	for (size_t i = 0; i < h->nr; i++)
		if (h->items[i].end_ns > needed)
			h->items[kept++] = h->items[i];
	h->nr = kept;
}

static int close_socket(struct timeline *t, uint32_t socket, uint64_t end,
			const struct timeline_sink *sink, uint64_t *late)
{
	struct slices *h = &t->history[socket];
	size_t old = h->nr;
	int err = cut_slices(&t->pending[socket], end, h);

	for (size_t i = old; !err && i < h->nr; i++) {
		*late += h->items[i].start_ns < t->closed_ns[socket];
		err = sink->on_cpu(sink->arg, socket, h->items[i].workload, h->items[i].on_cpu_ns);
	}
	for (size_t g = 0; !err && g < t->layout->nr_groups; g++)
		if (t->layout->groups[g].socket == socket)
			err = close_group(t, g, h, end, sink);
	trim_history(t, socket, end);
	t->closed_ns[socket] = end;
	return err;
}

int timeline_close(struct timeline *t, const uint64_t *ends_ns, const struct timeline_sink *sink,
		   uint64_t *ret_late)
{
	uint64_t late = 0;
	int err = 0;

	for (uint32_t s = 0; s < t->layout->nr_sockets; s++) {
		int e = close_socket(t, s, ends_ns[s], sink, &late);

		if (!err)
			err = e;
	}
	*ret_late = late;
	return err;
}
