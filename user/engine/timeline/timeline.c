// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "engine/timeline/timeline.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/cleanup.h"
#include "engine/identity/identity.h"
#include "engine/timeline/internal.h"

/* Windows of a device wait for each other at most this long in an interval. */
#define DEVICE_WAIT_NS 5000000000ull
/* Capacity for slices is reduced after this number of closes, and to no less than this. */
#define ROOM_CLOSES    16
#define ROOM_MIN       4096

int timeline_new(const struct layout *layout, const uint32_t *cpu_socket, size_t nr_devices,
		 struct timeline **ret)
{
	struct timeline *t = calloc(1, sizeof(*t));

	if (!t)
		return -ENOMEM;
	t->layout = layout;
	t->cpu_socket = cpu_socket;
	t->nr_devices = nr_devices;
	t->slices = calloc(layout->nr_sockets + 1, sizeof(*t->slices));
	t->closed_ns = calloc(layout->nr_sockets + 1, sizeof(*t->closed_ns));
	t->windows = calloc(layout->nr_groups + 1, sizeof(*t->windows));
	t->split_ns = calloc(layout->nr_groups + 1, sizeof(*t->split_ns));
	t->begin_ns = calloc(layout->nr_sockets + 1, sizeof(*t->begin_ns));
	if (!t->begin_ns || !t->slices || !t->windows || !t->closed_ns || !t->split_ns ||
	    timeline_flows_new(t)) {
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
		free((void *)w->items[i].readings);
	for (size_t i = nr; i < w->nr; i++)
		w->items[i - nr] = w->items[i];
	w->nr -= nr;
}

void timeline_free(struct timeline *t)
{
	if (!t)
		return;
	for (uint32_t s = 0; t->slices && s < t->layout->nr_sockets; s++)
		free(t->slices[s].items);
	for (size_t g = 0; t->windows && g < t->layout->nr_groups; g++) {
		windows_drop(&t->windows[g], t->windows[g].nr);
		free(t->windows[g].items);
	}
	timeline_flows_free(t);
	free(t->split_ns);
	free(t->slices);
	free(t->windows);
	free(t->closed_ns);
	free(t->begin_ns);
	free(t->behind.items);
	free(t->longs.items);
	timeline_cells_free(&t->cells);
	free(t->on_cpu.ns);
	free(t->on_cpu.who);
	free(t->kept);
	free(t);
}

static int slice_add(struct slices *s, const struct slice *slice)
{
	if (array_reserve(s->items, s->cap, s->nr))
		return -ENOMEM;
	s->items[s->nr++] = *slice;
	return 0;
}

int timeline_window(struct timeline *t, const struct trace_window *window)
{
	struct windows *w;
	struct reading *copy;
	size_t size;

	assert(window->group < t->layout->nr_groups && window->start_ns < window->end_ns);
	w = &t->windows[window->group];
	assert(!w->nr || w->items[w->nr - 1].end_ns <= window->start_ns);
	size = t->layout->groups[window->group].nr * sizeof(*copy);
	copy = malloc(size);
	if (!copy || array_reserve(w->items, w->cap, w->nr)) {
		free(copy);
		return -ENOMEM;
	}
	memcpy(copy, window->readings, size);
	w->items[w->nr] = *window;
	w->items[w->nr++].readings = copy;
	return 0;
}

static uint32_t more_ns(uint32_t ns, uint64_t more)
{
	return more < UINT32_MAX - ns ? ns + more : UINT32_MAX;
}

/* Cuts a slice at @end, or at its own end: the part before it is returned, the rest stays. */
static struct slice cut_slice(struct slice *s, uint64_t end)
{
	struct slice before = *s;

	if (end > s->end_ns)
		end = s->end_ns;
	before.on_cpu_ns = timeline_on_cpu_until(s, end);
	before.end_ns = end;
	before.behind_ns = more_ns(s->behind_ns, s->end_ns - end);
	s->before_ns = more_ns(s->before_ns, end - s->start_ns);
	before.weights_ns = timeline_part_of(s->weights_ns, before.on_cpu_ns, s->on_cpu_ns);
	for (int k = 0; k < TRACE_MAX_WEIGHTS; k++) {
		before.weights[k] = timeline_part_of(s->weights[k], before.on_cpu_ns, s->on_cpu_ns);
		s->weights[k] -= before.weights[k];
	}
	s->weights_ns -= before.weights_ns;
	s->on_cpu_ns -= before.on_cpu_ns;
	s->start_ns = end;
	return before;
}

int timeline_slice(struct timeline *t, uint32_t workload, const struct trace_slice *s)
{
	struct slice mine = { .start_ns = s->start_ns,
			      .end_ns = s->end_ns,
			      .on_cpu_ns = s->on_cpu_ns,
			      .weights_ns = s->weights_ns,
			      .workload = workload };
	uint32_t socket;

	assert(s->cpu < t->layout->nr_cpus && s->on_cpu_ns <= s->end_ns - s->start_ns);
	socket = t->cpu_socket[s->cpu];
	if (socket == LAYOUT_NO_SOCKET || !s->on_cpu_ns)
		return 0;
	if (s->weights_ns)
		memcpy(mine.weights, s->weights, sizeof(mine.weights));
	/* A record from before the run may come after its begin: it is not late, but not ours. */
	if (mine.start_ns < t->begin_ns[socket])
		cut_slice(&mine, t->begin_ns[socket]);
	return mine.on_cpu_ns ? slice_add(&t->slices[socket], &mine) : 0;
}

/*
 * Puts slices before @end at the end of the old ones, in the order in which they came, and the rest
 * behind them. Most of them stay where they are.
 */
static int take_slices(struct timeline *t, uint32_t socket, uint64_t end, size_t *ret_taken)
{
	struct slices *all = &t->slices[socket], *behind = &t->behind;
	size_t first = all->nr_old, to = first;
	int err = 0;

	if (all->nr > all->max)
		all->max = all->nr;
	behind->nr = 0;
	for (size_t i = first; i < all->nr; i++) {
		struct slice *s = &all->items[i], before = { 0 };

		if (s->end_ns > end) {
			if (s->start_ns < end)
				before = cut_slice(s, end);
			err = err ? err : slice_add(behind, s);
			if (!before.end_ns)
				continue;
			*s = before;
		}
		if (to != i)
			all->items[to] = *s;
		to++;
	}
	all->nr = all->nr_old = to;
	for (size_t i = 0; i < behind->nr && !err; i++)
		err = slice_add(all, &behind->items[i]);
	*ret_taken = to - first;
	return err;
}

/* Frees capacity that was not needed for a while; a socket with bursts keeps it. */
static void shrink(struct slices *s)
{
	size_t cap = 2 * s->max + ROOM_MIN;
	struct slice *smaller;

	if (++s->closes < ROOM_CLOSES)
		return;
	if (s->cap > 2 * cap) {
		smaller = reallocarray(s->items, cap, sizeof(*s->items));
		if (smaller) {
			s->items = smaller;
			s->cap = cap;
		}
	}
	s->max = s->nr;
	s->closes = 0;
}

/* Drops the old slices that no window reaches back to. */
static void keep_from(struct slices *s, uint64_t needed_ns)
{
	size_t kept = 0;

	/* As at most ends: then there is nothing to look at, and slices are many. */
	for (size_t i = 0; i < s->nr_old && needed_ns != UINT64_MAX; i++)
		/* Idle time is in no window and not needed again. */
		if (s->items[i].end_ns > needed_ns && s->items[i].workload != WORKLOAD_IDLE)
			s->items[kept++] = s->items[i];
	if (kept < s->nr_old)
		memmove(&s->items[kept], &s->items[s->nr_old],
			(s->nr - s->nr_old) * sizeof(*s->items));
	s->nr -= s->nr_old - kept;
	s->nr_old = kept;
	shrink(s);
}

int timeline_begin(struct timeline *t, const uint64_t *starts_ns)
{
	int err = 0;

	for (uint32_t s = 0; s < t->layout->nr_sockets && !err; s++) {
		size_t taken;

		err = take_slices(t, s, starts_ns[s], &taken);
		keep_from(&t->slices[s], UINT64_MAX);
		t->closed_ns[s] = t->begin_ns[s] = starts_ns[s];
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
	return err ? err : timeline_flows_begin(t, starts_ns);
}

/*
 * How many windows of a group are handed out. In the middle of an interval those that make whole
 * blocks, or nearly: the rest waits for more. Devices have few windows, which may wait for long.
 */
static size_t ripe_windows(const struct timeline *t, uint32_t group,
			   const struct timeline_closing *c)
{
	const struct windows *w = &t->windows[group];
	uint32_t device = timeline_group_device(t->layout, group);
	size_t nr = 0, rest;

	while (nr < w->nr && w->items[nr].end_ns <= c->end_ns)
		nr++;
	rest = nr % SPLIT_MAX_WINDOWS;
	if (!c->inner || !rest ||
	    timeline_backlogged_at(t, t->layout->groups[group].socket, device))
		return nr;
	if (device)
		return c->end_ns - w->items[nr - rest].start_ns < DEVICE_WAIT_NS ? nr - rest : nr;
	return rest < SPLIT_MAX_WINDOWS / 2 ? nr - rest : nr;
}

/* Hands out windows of a group that end before @c, in blocks of like size. */
static int close_group(struct timeline *t, uint32_t group, const struct timeline_closing *c,
		       const struct timeline_sink *sink)
{
	struct windows *w = &t->windows[group];
	struct timeline_cells *cells = &t->cells;
	size_t nr = ripe_windows(t, group, c), at = 0, done = 0;
	int err;

	if (!nr)
		return 0;
	err = timeline_group_device(t->layout, group)
		      ? timeline_flows_cells(t, group, nr, cells)
		      : timeline_cells_of_slices(&t->slices[t->layout->groups[group].socket], w, nr,
						 cells);
	while (!err && done < nr) {
		size_t blocks = (nr - done + SPLIT_MAX_WINDOWS - 1) / SPLIT_MAX_WINDOWS;
		size_t size = (nr - done + blocks - 1) / blocks, first = at;
		struct split_block b = { .group = group,
					 .nr_windows = size,
					 .windows = &w->items[done],
					 .activity = cells->items + at };

		for (; at < cells->nr && cells->items[at].window < done + size; at++)
			cells->items[at].window -= done;
		b.nr = at - first;
		err = timeline_longs_of(t, &b);
		err = err ? err : sink->block(sink->arg, &b);
		done += size;
	}
	t->split_ns[group] = w->items[nr - 1].end_ns;
	windows_drop(w, nr);
	return err;
}

/* Keeps the slices that a window yet to come may reach back to. */
static void trim_history(struct timeline *t, uint32_t socket, const struct timeline_closing *c)
{
	uint64_t needed = timeline_needed_from(t, socket, 0, c);

	/* All windows up to the end are split, as at most ends, and no slice goes beyond it. */
	if (needed >= c->end_ns && c->end_ns >= t->closed_ns[socket])
		needed = UINT64_MAX;
	keep_from(&t->slices[socket], needed);
}

/* A workload has CPU time for the first time in an interval. */
static int on_cpu_first(struct on_cpu *c, uint32_t workload)
{
	while (workload >= c->nr) {
		if (array_reserve(c->ns, c->cap, c->nr))
			return -ENOMEM;
		c->ns[c->nr++] = 0;
	}
	if (array_reserve(c->who, c->cap_who, c->nr_who))
		return -ENOMEM;
	c->who[c->nr_who++] = workload;
	return 0;
}

/* CPU time of each workload, in the order in which they come. */
static int enter_on_cpu(struct timeline *t, uint32_t socket, const struct slice *slices, size_t nr,
			const struct timeline_sink *sink, uint64_t *late)
{
	struct on_cpu *c = &t->on_cpu;
	int err = 0;

	c->nr_who = 0;
	for (size_t i = 0; i < nr && !err; i++) {
		uint32_t workload = slices[i].workload;

		*late += slices[i].start_ns < t->closed_ns[socket];
		if (workload >= c->nr || !c->ns[workload])
			err = on_cpu_first(c, workload);
		if (!err)
			c->ns[workload] += slices[i].on_cpu_ns;
	}
	for (size_t i = 0; i < c->nr_who; i++) {
		uint32_t workload = c->who[i];

		err = err ? err : sink->on_cpu(sink->arg, socket, workload, c->ns[workload]);
		c->ns[workload] = 0;
	}
	return err;
}

static int close_socket(struct timeline *t, uint32_t socket, const struct timeline_closing *c,
			const struct timeline_sink *sink, uint64_t *late)
{
	struct slices *s = &t->slices[socket];
	size_t taken, old = s->nr_old;
	int err = take_slices(t, socket, c->end_ns, &taken);

	if (!err)
		err = enter_on_cpu(t, socket, s->items + old, taken, sink, late);
	if (!err)
		err = timeline_flows_close(t, socket, c->end_ns, sink, late);
	for (size_t g = 0; !err && g < t->layout->nr_groups; g++)
		if (t->layout->groups[g].socket == socket)
			err = close_group(t, g, c, sink);
	trim_history(t, socket, c);
	timeline_flows_trim(t, socket, c);
	t->closed_ns[socket] = c->end_ns;
	return err;
}

static int keep_slices(struct timeline *t, const struct timeline_sink *sink, const struct slices *s)
{
	int err = 0;

	for (size_t i = 0; i < s->nr && !err; i++)
		err = timeline_keep(t, sink, s->items[i].workload);
	return err;
}

/* Intervals can be short beside windows, and beside how far events are ahead of them. */
static int keep_workloads(struct timeline *t, const struct timeline_sink *sink)
{
	int err = 0;

	if (!sink->keep)
		return 0;
	t->closes++;
	for (uint32_t s = 0; s < t->layout->nr_sockets && !err; s++)
		err = keep_slices(t, sink, &t->slices[s]);
	return err ? err : timeline_flows_keep(t, sink);
}

int timeline_close(struct timeline *t, const uint64_t *ends_ns, const struct timeline_sink *sink,
		   uint64_t *ret_late)
{
	struct timeline_closing c = { .end_ns = UINT64_MAX };
	uint64_t late = 0;
	int err = 0;

	for (uint32_t s = 0; s < t->layout->nr_sockets; s++) {
		int e;

		c.end_ns = ends_ns[s];
		e = close_socket(t, s, &c, sink, &late);
		if (!err)
			err = e;
	}
	/* Without sockets there are no intervals, but devices can be busy. */
	if (!t->layout->nr_sockets) {
		err = timeline_flows_close(t, 0, c.end_ns, sink, &late);
		timeline_flows_trim(t, 0, &c);
	}
	*ret_late = late;
	return err ? err : keep_workloads(t, sink);
}

int timeline_close_inner(struct timeline *t, const uint64_t *ends_ns,
			 const struct timeline_sink *sink, uint64_t *ret_late)
{
	uint64_t late = 0;
	int err = 0;

	for (uint32_t s = 0; s < t->layout->nr_sockets && !err; s++) {
		const struct timeline_closing c = { .end_ns = ends_ns[s], .inner = true };

		if (c.end_ns > t->closed_ns[s])
			err = close_socket(t, s, &c, sink, &late);
	}
	*ret_late = late;
	return err ? err : keep_workloads(t, sink);
}

bool timeline_backlogged(const struct timeline *t)
{
	for (uint32_t s = 0; s < t->layout->nr_sockets; s++)
		if (t->slices[s].nr > MANY)
			return true;
	return false;
}
