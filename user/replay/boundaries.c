// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "replay/boundaries.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/times.h"

/* Events may be out of order by 1 s of trace time; an interval waits twice as long. */
#define SETTLED_NS   2000000000ull

/* An interval with this many windows of a group is long: some of them are handed out early. */
#define MANY_WINDOWS 200

#define NONE	     UINT64_MAX

struct held_item {
	uint64_t start_ns;
	uint64_t end_ns;
	void *data; /* readings of a window, or a struct trace_sample */
};

/*
 * Windows of a group or samples of a probe, by their start; those before @first have been handed
 * out. There is room on both sides of @items: a trace may have them in any order, even reversed.
 */
struct held {
	struct held_item *buffer; /* capacity for @cap items */
	struct held_item *items;
	size_t nr, cap;
	size_t first;
	uint64_t handed_ns; /* end of the last one handed out */
};

struct seen {
	uint64_t first_window_ns; /* NONE: there is none */
	uint64_t first_slice_ns;
	uint64_t last_ns;   /* end of the last window or slice */
	uint64_t end_ns;    /* of the last interval */
	uint64_t handed_ns; /* end of the last window handed out */
};

struct boundaries {
	const struct trace_header *header;
	const struct layout *layout; /* of @header */
	uint64_t interval_ns;
	struct held *held;    /* by group, then by probe */
	struct seen *seen;    /* by socket */
	uint64_t first_io_ns; /* NONE: there is none */
	uint64_t last_io_ns;
	uint64_t newest_ns;
	uint64_t last_window_ns; /* end of the newest window of all */
	struct trace_mark mark;	 /* the last one of the trace */
	uint64_t *mark_ends_ns;	 /* of @mark */
	bool has_mark;
	uint64_t trace_end_ns; /* as the trace says, 0 = it does not */
	uint64_t *ends_ns;     /* of the mark that is handed out */
	uint64_t *inner_ns;    /* of the last inner mark */
	uint64_t inner_at_ns;  /* complete up to here. NONE: not yet known */
	uint64_t next_ns;      /* the next boundary */
	bool begun;
	bool finished;
};

int boundaries_new(const struct trace_header *header, uint64_t interval_ns, struct boundaries **ret)
{
	const struct layout *layout = &header->layout;
	struct boundaries *b = calloc(1, sizeof(*b));

	if (!b)
		return -ENOMEM;
	b->header = header;
	b->layout = layout;
	b->interval_ns = interval_ns;
	b->held = calloc(layout->nr_groups + header->nr_probes + 1, sizeof(*b->held));
	b->seen = calloc(layout->nr_sockets + 1, sizeof(*b->seen));
	b->ends_ns = calloc(layout->nr_sockets + 1, sizeof(*b->ends_ns));
	b->mark_ends_ns = calloc(layout->nr_sockets + 1, sizeof(*b->mark_ends_ns));
	b->inner_ns = calloc(layout->nr_sockets + 1, sizeof(*b->inner_ns));
	if (!b->held || !b->seen || !b->ends_ns || !b->mark_ends_ns || !b->inner_ns) {
		boundaries_free(b);
		return -ENOMEM;
	}
	for (uint32_t s = 0; s < layout->nr_sockets; s++)
		b->seen[s].first_window_ns = b->seen[s].first_slice_ns = NONE;
	b->first_io_ns = NONE;
	b->inner_at_ns = NONE;
	*ret = b;
	return 0;
}

/* Drop the first ones. */
static void forget(struct held *h, size_t nr)
{
	for (size_t i = 0; i < nr; i++)
		free(h->items[i].data);
	h->nr -= nr;
	if (nr)
		h->items += nr;
	h->first = 0;
}

void boundaries_free(struct boundaries *b)
{
	if (!b)
		return;
	for (size_t i = 0; b->held && i < b->layout->nr_groups + b->header->nr_probes; i++) {
		forget(&b->held[i], b->held[i].nr);
		free(b->held[i].buffer);
	}
	free(b->held);
	free(b->seen);
	free(b->ends_ns);
	free(b->mark_ends_ns);
	free(b->inner_ns);
	free(b);
}

/* A sum that saturates at the end of time. */
static uint64_t after(uint64_t ns, uint64_t more)
{
	return ns > UINT64_MAX - more ? UINT64_MAX : ns + more;
}

static void add_slice(struct boundaries *b, const struct trace_slice *s)
{
	uint32_t socket = b->layout->cpu_socket[s->cpu];
	struct seen *seen;

	if (socket == LAYOUT_NO_SOCKET)
		return;
	seen = &b->seen[socket];
	seen->first_slice_ns = earlier(seen->first_slice_ns, s->start_ns);
	seen->last_ns = later(seen->last_ns, s->end_ns);
	b->newest_ns = later(b->newest_ns, s->end_ns);
}

static void add_io(struct boundaries *b, const struct trace_io *io)
{
	b->first_io_ns = earlier(b->first_io_ns, io->start_ns);
	b->last_io_ns = later(b->last_io_ns, io->end_ns);
	b->newest_ns = later(b->newest_ns, io->end_ns);
}

/* Room on both sides for as many items again. */
static int reserve(struct held *h)
{
	size_t before = h->buffer ? (size_t)(h->items - h->buffer) : 0;
	size_t cap = 3 * h->nr + 64;
	struct held_item *buffer;

	if (before && before + h->nr < h->cap)
		return 0;
	buffer = calloc(cap, sizeof(*buffer));
	if (!buffer)
		return -ENOMEM;
	if (h->nr)
		memcpy(buffer + (cap - h->nr) / 2, h->items, h->nr * sizeof(*buffer));
	free(h->buffer);
	h->buffer = buffer;
	h->items = buffer + (cap - h->nr) / 2;
	h->cap = cap;
	return 0;
}

/* The first one that starts later */
static size_t place_of(const struct held *h, uint64_t start_ns)
{
	return h->first +
	       array_place(h->nr - h->first, i, h->items[h->first + i].start_ns <= start_ns);
}

/* Move the shorter side. */
static void insert(struct held *h, size_t at, const struct held_item *item)
{
	if (at < h->nr - at) {
		memmove(h->items - 1, h->items, at * sizeof(*item));
		h->items--;
	} else {
		memmove(&h->items[at + 1], &h->items[at], (h->nr - at) * sizeof(*item));
	}
	h->items[at] = *item;
	h->nr++;
}

static int hold(struct held *h, uint64_t start_ns, uint64_t end_ns, const void *data, size_t size)
{
	size_t at = place_of(h, start_ns);
	void *copy;

	if (start_ns < h->handed_ns)
		return -EINVAL;
	if (at > h->first && h->items[at - 1].end_ns > start_ns)
		return -EINVAL;
	if (at < h->nr && h->items[at].start_ns < end_ns)
		return -EINVAL;
	copy = malloc(size ? size : 1);
	if (!copy || reserve(h)) {
		free(copy);
		return -ENOMEM;
	}
	memcpy(copy, data, size);
	insert(h, at, &(struct held_item){ start_ns, end_ns, copy });
	return 0;
}

static bool is_of_device(const struct layout *l, size_t group)
{
	return l->counters[l->groups[group].first].device;
}

/* The end of the largest number of windows that is held; NONE: there are fewer. */
static uint64_t many_until(const struct held *h)
{
	return h->nr - h->first < MANY_WINDOWS ? NONE
					       : h->items[h->first + MANY_WINDOWS - 1].end_ns;
}

static int add_window(struct boundaries *b, const struct trace_window *w)
{
	const struct group *g = &b->layout->groups[w->group];
	struct seen *seen = &b->seen[g->socket];
	int err = hold(&b->held[w->group], w->start_ns, w->end_ns, w->readings,
		       g->nr * sizeof(*w->readings));

	if (err)
		return err;
	seen->first_window_ns = earlier(seen->first_window_ns, w->start_ns);
	seen->last_ns = later(seen->last_ns, w->end_ns);
	b->newest_ns = later(b->newest_ns, w->end_ns);
	b->last_window_ns = later(b->last_window_ns, w->end_ns);
	if (b->inner_at_ns == NONE && !is_of_device(b->layout, w->group))
		b->inner_at_ns = many_until(&b->held[w->group]);
	return 0;
}

static int add_sample(struct boundaries *b, const struct trace_sample *s)
{
	int err = hold(&b->held[b->layout->nr_groups + s->probe], s->start_ns, s->end_ns, s,
		       sizeof(*s));

	if (!err)
		b->newest_ns = later(b->newest_ns, s->end_ns);
	return err;
}

int boundaries_add(struct boundaries *b, const struct trace_event *e)
{
	switch (e->type) {
	case TRACE_SLICE:
		add_slice(b, &e->slice);
		return 0;
	case TRACE_IO:
		add_io(b, &e->io);
		return 0;
	case TRACE_WINDOW:
		return trace_valid(b->header, e) ? add_window(b, &e->window) : -EINVAL;
	case TRACE_SAMPLE:
		return trace_valid(b->header, e) ? add_sample(b, &e->sample) : -EINVAL;
	default:
		return 0;
	}
}

int boundaries_add_mark(struct boundaries *b, const struct trace_mark *m)
{
	for (uint32_t s = 0; s < b->layout->nr_sockets; s++)
		if (m->ends_ns[s] < b->mark_ends_ns[s])
			return -EINVAL;
	memcpy(b->mark_ends_ns, m->ends_ns, b->layout->nr_sockets * sizeof(*m->ends_ns));
	b->mark = *m;
	b->has_mark = true;
	return 0;
}

void boundaries_add_end(struct boundaries *b, uint64_t end_ns)
{
	b->trace_end_ns = end_ns;
}

/* The window may have been the last one of its interval. */
static void note_handed(struct boundaries *b, size_t group, uint64_t end_ns)
{
	struct seen *seen = &b->seen[b->layout->groups[group].socket];

	seen->handed_ns = later(seen->handed_ns, end_ns);
}

/* Start of a trace without marks: its first window, or else its first slice or I/O. */
static uint64_t earliest(const struct boundaries *b)
{
	uint64_t window = NONE, slice = NONE;

	for (uint32_t s = 0; s < b->layout->nr_sockets; s++) {
		window = earlier(window, b->seen[s].first_window_ns);
		slice = earlier(slice, b->seen[s].first_slice_ns);
	}
	return window != NONE ? window : earlier(slice, b->first_io_ns);
}

/* The time up to which the trace is known to be complete. */
static uint64_t complete_until(const struct boundaries *b)
{
	uint64_t until = UINT64_MAX;

	if (!b->header->marked)
		return b->newest_ns > SETTLED_NS ? b->newest_ns - SETTLED_NS : 0;
	for (uint32_t s = 0; s < b->layout->nr_sockets; s++)
		until = earlier(until, b->mark_ends_ns[s]);
	return b->has_mark ? until : 0;
}

bool boundaries_due(const struct boundaries *b)
{
	uint64_t until = complete_until(b), wait;

	if (b->begun)
		return until >= earlier(b->next_ns, b->inner_at_ns);
	/* Cheap tests first: every slice gets here. A long interval can begin before it is over. */
	wait = earlier(b->interval_ns, SETTLED_NS);
	return !b->header->marked && until >= wait && until >= after(earliest(b), wait);
}

uint64_t boundaries_left(const struct boundaries *b)
{
	uint64_t until = complete_until(b), from = b->begun ? b->next_ns : earliest(b);

	if (b->header->marked && !b->begun)
		return 0;
	return until > from ? (until - from) / b->interval_ns : 0;
}

static void make_mark(const struct boundaries *b, uint64_t now, bool first, bool last,
		      struct trace_mark *ret)
{
	*ret = b->mark;
	ret->first = first;
	ret->last = last;
	ret->inner = false; /* in the trace it may be */
	ret->time_ns = now;
	if (b->has_mark)
		ret->realtime_ns = b->mark.realtime_ns + now - b->mark.time_ns;
	for (uint32_t s = 0; s < b->layout->nr_sockets; s++)
		b->seen[s].end_ns = b->ends_ns[s];
	ret->ends_ns = b->ends_ns;
}

static bool begin(struct boundaries *b, bool end, struct trace_mark *ret)
{
	uint64_t begin_ns = earliest(b);

	if (b->header->marked ? !b->has_mark : begin_ns == NONE || !(end || boundaries_due(b)))
		return false;
	for (uint32_t s = 0; s < b->layout->nr_sockets; s++) {
		if (b->header->marked)
			b->ends_ns[s] = b->mark_ends_ns[s];
		else if (b->seen[s].first_window_ns != NONE)
			b->ends_ns[s] = b->seen[s].first_window_ns;
		else
			b->ends_ns[s] = begin_ns;
	}
	if (b->header->marked)
		begin_ns = b->mark.time_ns;
	make_mark(b, begin_ns, b->header->marked ? b->mark.first : true, false, ret);
	b->next_ns = after(begin_ns, b->interval_ns);
	b->begun = true;
	if (!b->layout->nr_groups)
		b->inner_at_ns = after(begin_ns, SETTLED_NS);
	return true;
}

/*
 * End of the last window of a socket that ends up to @boundary; 0: none. Groups of devices are
 * skipped: the rest would wait for the end of a turn.
 */
static uint64_t last_window_until(const struct boundaries *b, uint32_t socket, uint64_t boundary)
{
	uint64_t last = b->seen[socket].handed_ns;

	for (size_t g = 0; g < b->layout->nr_groups; g++) {
		const struct held *h = &b->held[g];

		if (b->layout->groups[g].socket != socket || is_of_device(b->layout, g))
			continue;
		for (size_t i = h->first; i < h->nr && h->items[i].end_ns <= boundary; i++)
			last = later(last, h->items[i].end_ns);
	}
	return last;
}

static bool full_interval(struct boundaries *b, struct trace_mark *ret)
{
	for (uint32_t s = 0; s < b->layout->nr_sockets; s++) {
		uint64_t end = last_window_until(b, s, b->next_ns);

		/* Without a window, CPU time is reported all the same. */
		end = end > b->seen[s].end_ns ? end : b->next_ns;
		b->ends_ns[s] = later(end, b->inner_ns[s]);
	}
	make_mark(b, b->next_ns, false, false, ret);
	b->inner_at_ns = b->layout->nr_groups ? NONE : after(b->next_ns, SETTLED_NS);
	b->next_ns = after(b->next_ns, b->interval_ns);
	return true;
}

/* The rest at the end of the trace. */
static bool last_interval(struct boundaries *b, struct trace_mark *ret)
{
	uint64_t now = b->header->marked ? b->mark.time_ns : later(b->newest_ns, b->trace_end_ns);
	bool any = false;

	b->finished = true;
	for (uint32_t s = 0; s < b->layout->nr_sockets; s++) {
		uint64_t last = later(b->seen[s].last_ns, b->last_io_ns);
		uint64_t end =
			b->header->marked ? b->mark_ends_ns[s] : later(last, b->trace_end_ns);

		any |= end > b->seen[s].end_ns;
		end = end > b->seen[s].end_ns ? end : later(now, b->seen[s].end_ns);
		b->ends_ns[s] = later(end, b->inner_ns[s]);
	}
	if (any)
		make_mark(b, now, false, true, ret);
	return any;
}

bool boundaries_next(struct boundaries *b, bool end, struct trace_mark *ret)
{
	uint64_t until = complete_until(b);

	if (b->finished)
		return false;
	if (!b->begun)
		return begin(b, end, ret);
	if (end && !b->header->marked)
		until = later(until, (b->last_window_ns ? b->last_window_ns : b->newest_ns) - 1);
	if (b->next_ns <= until)
		return full_interval(b, ret);
	return end && last_interval(b, ret);
}

static bool counts_cpus(const struct boundaries *b, uint32_t socket)
{
	for (size_t g = 0; g < b->layout->nr_groups; g++)
		if (b->layout->groups[g].socket == socket && !is_of_device(b->layout, g))
			return true;
	return false;
}

bool boundaries_inner(struct boundaries *b, struct trace_mark *ret)
{
	uint64_t until = complete_until(b);

	if (!b->begun || b->finished || until < b->inner_at_ns)
		return false;
	for (uint32_t s = 0; s < b->layout->nr_sockets; s++) {
		uint64_t end = counts_cpus(b, s) ? last_window_until(b, s, until) : until;

		b->inner_ns[s] = later(later(end, b->seen[s].end_ns), b->inner_ns[s]);
	}
	b->inner_at_ns = b->layout->nr_groups ? NONE : after(until, SETTLED_NS);
	*ret = (struct trace_mark){ .inner = true, .time_ns = until, .ends_ns = b->inner_ns };
	return true;
}

/* Is an item due? Intervals share samples that overlap them. */
static bool is_before(const struct boundaries *b, const struct trace_mark *m, size_t held,
		      const struct held_item *item)
{
	if (held >= b->layout->nr_groups)
		return item->start_ns < m->time_ns;
	return item->end_ns <= m->ends_ns[b->layout->groups[held].socket];
}

bool boundaries_event(struct boundaries *b, const struct trace_mark *m, struct trace_event *ret)
{
	size_t nr_groups = b->layout->nr_groups;

	for (size_t i = 0; i < nr_groups + b->header->nr_probes; i++) {
		struct held *h = &b->held[i];
		const struct held_item *item = h->first < h->nr ? &h->items[h->first] : NULL;

		if (!item || !is_before(b, m, i, item)) {
			/* Nothing more is due: release the items that were handed out. */
			forget(h, h->first);
			continue;
		}
		h->first++;
		h->handed_ns = item->end_ns;
		if (i < nr_groups && !is_of_device(b->layout, i))
			note_handed(b, i, item->end_ns);
		ret->type = i < nr_groups ? TRACE_WINDOW : TRACE_SAMPLE;
		if (i < nr_groups)
			ret->window = (struct trace_window){ i, item->start_ns, item->end_ns,
							     item->data };
		else
			ret->sample = *(const struct trace_sample *)item->data;
		return true;
	}
	return false;
}
