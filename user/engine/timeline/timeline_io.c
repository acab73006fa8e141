// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* I/O on the timeline: as slices, with bytes instead of CPU time, and devices instead of sockets. */
#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "engine/timeline/internal.h"

int timeline_flows_new(struct timeline *t)
{
	t->flows = calloc(t->nr_devices + 1, sizeof(*t->flows));
	if (!t->flows)
		return -ENOMEM;
	for (size_t g = 0; g < t->layout->nr_groups; g++) {
		uint32_t device = timeline_group_device(t->layout, g);

		if (!device || device > t->nr_devices)
			continue;
		t->flows[device - 1].counted = true;
		t->flows[device - 1].socket = t->layout->groups[g].socket;
	}
	return 0;
}

void timeline_flows_free(struct timeline *t)
{
	for (size_t i = 0; t->flows && i < t->nr_devices; i++) {
		free(t->flows[i].pending.items);
		free(t->flows[i].history.items);
	}
	free(t->flows);
}

static int io_add(struct ios *s, const struct io *io)
{
	if (array_reserve(s->items, s->cap, s->nr))
		return -ENOMEM;
	s->items[s->nr++] = *io;
	return 0;
}

/* Bytes up to a moment, as if they were spread evenly; those of an instant are moved at once. */
static uint64_t bytes_until(const struct io *io, int direction, uint64_t ns)
{
	uint64_t bytes = io->bytes[direction];

	if (ns <= io->start_ns)
		return 0;
	if (ns >= io->end_ns)
		return bytes;
	return (unsigned __int128)bytes * (ns - io->start_ns) / (io->end_ns - io->start_ns);
}

/* Cuts at @end, which is inside: the part before it is returned, the rest stays. */
static struct io cut_io(struct io *io, uint64_t end)
{
	struct io before = *io;

	for (int k = 0; k < 2; k++) {
		before.bytes[k] = bytes_until(io, k, end);
		io->bytes[k] -= before.bytes[k];
	}
	before.end_ns = io->start_ns = end;
	return before;
}

int timeline_io(struct timeline *t, uint32_t workload, const struct trace_io *io)
{
	struct io mine = { .start_ns = io->start_ns,
			   .end_ns = io->end_ns,
			   .workload = workload,
			   .exclusive = io->exclusive };
	struct flow *f;
	uint64_t begin;

	assert(io->device < t->nr_devices && io->start_ns <= io->end_ns);
	f = &t->flows[io->device];
	begin = t->layout->nr_sockets ? t->begin_ns[f->socket] : 0;
	mine.bytes[DIRECTION_READ] = io->read_bytes;
	mine.bytes[DIRECTION_WRITE] = io->write_bytes;
	if (mine.start_ns < begin) {
		if (mine.end_ns <= begin)
			return 0;
		cut_io(&mine, begin);
	}
	if (!mine.bytes[0] && !mine.bytes[1] && !mine.exclusive)
		return 0;
	return io_add(&f->pending, &mine);
}

static void forget_exclusive(struct ios *s)
{
	size_t kept = 0;

	for (size_t i = 0; i < s->nr; i++)
		if (!s->items[i].exclusive)
			s->items[kept++] = s->items[i];
	s->nr = kept;
}

void timeline_forget_exclusive(struct timeline *t, uint32_t device)
{
	forget_exclusive(&t->flows[device].pending);
	forget_exclusive(&t->flows[device].history);
}

/* Moves the part before @end to @ret; the rest stays. */
static int cut_ios(struct ios *pending, uint64_t end, struct ios *ret)
{
	size_t kept = 0;
	int err = 0;

	for (size_t i = 0; i < pending->nr; i++) {
		struct io io = pending->items[i], before = io;

		if (io.start_ns >= end) {
			pending->items[kept++] = io;
			continue;
		}
		if (io.end_ns > end) {
			before = cut_io(&io, end);
			pending->items[kept++] = io;
		}
		if (!err)
			err = io_add(ret, &before);
	}
	pending->nr = kept;
	return err;
}

int timeline_flows_begin(struct timeline *t, const uint64_t *starts_ns)
{
	int err = 0;

	for (size_t i = 0; i < t->nr_devices && t->layout->nr_sockets && !err; i++) {
		struct flow *f = &t->flows[i];

		err = cut_ios(&f->pending, starts_ns[f->socket], &f->history);
		f->history.nr = 0;
	}
	return err;
}

static int cell_add(struct timeline_cells *c, const struct activity *a)
{
	if (array_reserve(c->raw, c->cap_raw, c->nr_raw))
		return -ENOMEM;
	c->raw[c->nr_raw++] = *a;
	return 0;
}

/* Bytes of one piece of I/O in the first @nr windows. */
static int bytes_cells(const struct io *io, const struct windows *w, size_t nr,
		       struct timeline_cells *ret)
{
	bool instant = io->start_ns == io->end_ns;
	int err = 0;

	for (size_t k = timeline_window_at(w, io->start_ns); k < nr && !err; k++) {
		const struct trace_window *window = &w->items[k];
		struct activity a = { .window = k, .workload = io->workload };

		if (instant ? window->start_ns > io->start_ns : window->start_ns >= io->end_ns)
			break;
		for (int d = 0; d < 2; d++)
			a.io_bytes[d] = instant ? io->bytes[d]
						: bytes_until(io, d, window->end_ns) -
							  bytes_until(io, d, window->start_ns);
		if (a.io_bytes[0] || a.io_bytes[1])
			err = cell_add(ret, &a);
		if (instant)
			break;
	}
	return err;
}

static int by_workload(const void *a, const void *b)
{
	const struct io *x = a, *y = b;

	if (x->workload != y->workload)
		return x->workload < y->workload ? -1 : 1;
	return x->start_ns < y->start_ns ? -1 : x->start_ns > y->start_ns;
}

/* Windows that lie within the time from @start to @end. */
static int exclusive_cells(uint32_t workload, uint64_t start, uint64_t end, const struct windows *w,
			   size_t nr, struct timeline_cells *ret)
{
	struct activity a = { .workload = workload, .exclusive = true };
	int err = 0;

	for (size_t k = timeline_window_at(w, start); k < nr && !err; k++) {
		if (w->items[k].end_ns > end)
			break;
		a.window = k;
		if (w->items[k].start_ns >= start)
			err = cell_add(ret, &a);
	}
	return err;
}

/* A workload's exclusive times, joined where they meet: a window is theirs as a whole or not. */
static int join_exclusive(struct io *items, size_t nr_items, const struct windows *w, size_t nr,
			  struct timeline_cells *ret)
{
	int err = 0;

	if (nr_items)
		qsort(items, nr_items, sizeof(*items), by_workload);
	for (size_t i = 0, next; i < nr_items && !err; i = next) {
		uint64_t end = items[i].end_ns;

		for (next = i + 1; next < nr_items && items[next].workload == items[i].workload &&
				   items[next].start_ns <= end;
		     next++)
			if (items[next].end_ns > end)
				end = items[next].end_ns;
		err = exclusive_cells(items[i].workload, items[i].start_ns, end, w, nr, ret);
	}
	return err;
}

/* Divides the I/O of a group's device among the first @nr windows of the group. */
int timeline_flows_cells(const struct timeline *t, uint32_t group, size_t nr,
			 struct timeline_cells *ret)
{
	uint32_t device = timeline_group_device(t->layout, group);
	const struct windows *w = &t->windows[group];
	const struct ios *h;
	struct io *alone;
	size_t nr_alone = 0;
	int err = 0;

	ret->nr_raw = 0;
	if (device > t->nr_devices)
		return timeline_cells_of_raw(ret, nr);
	h = &t->flows[device - 1].history;
	alone = malloc((h->nr + 1) * sizeof(*alone));
	if (!alone)
		return -ENOMEM;
	for (size_t i = 0; i < h->nr && !err; i++) {
		if (h->items[i].exclusive)
			alone[nr_alone++] = h->items[i];
		else
			err = bytes_cells(&h->items[i], w, nr, ret);
	}
	if (!err)
		err = join_exclusive(alone, nr_alone, w, nr, ret);
	free(alone);
	return err ? err : timeline_cells_of_raw(ret, nr);
}

/* Requests of the devices of a socket before @end go to the sink and the history. */
int timeline_flows_close(struct timeline *t, uint32_t socket, uint64_t end,
			 const struct timeline_sink *sink, uint64_t *late)
{
	int err = 0;

	for (size_t d = 0; d < t->nr_devices && !err; d++) {
		struct flow *f = &t->flows[d];
		size_t old = f->history.nr;

		if (f->socket != socket)
			continue;
		err = cut_ios(&f->pending, end, &f->history);
		for (size_t i = old; !err && i < f->history.nr; i++) {
			const struct io *io = &f->history.items[i];

			/* exclusive use is known after the second look at files: no loss */
			*late += !io->exclusive && io->start_ns < t->closed_ns[socket];
			if (sink->io && (io->bytes[0] || io->bytes[1]))
				err = sink->io(sink->arg, d, io->workload,
					       io->bytes[DIRECTION_READ],
					       io->bytes[DIRECTION_WRITE]);
		}
	}
	return err;
}

/* Keeps the time that future windows may cover. */
void timeline_flows_trim(struct timeline *t, uint32_t socket, const struct timeline_closing *c)
{
	for (size_t d = 0; d < t->nr_devices; d++) {
		struct flow *f = &t->flows[d];
		uint64_t needed = timeline_needed_from(t, socket, d + 1, c);
		size_t kept = 0;

		if (f->socket != socket)
			continue;
		for (size_t i = 0; f->counted && i < f->history.nr; i++) {
			const struct io *io = &f->history.items[i];

			/* An instant at the start of a window is in it. */
			if (io->end_ns > needed ||
			    (io->start_ns == io->end_ns && io->end_ns == needed))
				f->history.items[kept++] = *io;
		}
		f->history.nr = kept;
	}
}

static int keep_ios(struct timeline *t, const struct timeline_sink *sink, const struct ios *s)
{
	int err = 0;

	for (size_t i = 0; i < s->nr && !err; i++)
		err = timeline_keep(t, sink, s->items[i].workload);
	return err;
}

/* Keeps workloads whose requests are still needed. */
int timeline_flows_keep(struct timeline *t, const struct timeline_sink *sink)
{
	int err = 0;

	for (size_t d = 0; d < t->nr_devices && !err; d++) {
		err = keep_ios(t, sink, &t->flows[d].pending);
		if (!err)
			err = keep_ios(t, sink, &t->flows[d].history);
	}
	return err;
}
