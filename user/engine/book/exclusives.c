// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "engine/book/exclusives.h"

#include <errno.h>
#include <stdlib.h>

#include "base/array.h"

/* A part of the interval, one in this many, may be without news. */
#define UNSEEN 50

struct exclusive_span {
	uint64_t start_ns;
	uint64_t end_ns;
	uint32_t workload;
};

struct spans {
	struct exclusive_span *items;
	size_t nr, cap;
};

struct exclusives {
	const struct trace_header *header;
	struct identity *id;
	struct spans *devices; /* one list each */
};

int exclusives_new(const struct trace_header *header, struct identity *id, struct exclusives **ret)
{
	struct exclusives *x = calloc(1, sizeof(*x));

	if (!x)
		return -ENOMEM;
	x->header = header;
	x->id = id;
	x->devices = calloc(header->nr_devices + 1, sizeof(*x->devices));
	if (!x->devices) {
		free(x);
		return -ENOMEM;
	}
	*ret = x;
	return 0;
}

void exclusives_free(struct exclusives *x)
{
	if (!x)
		return;
	for (size_t i = 0; i < x->header->nr_devices; i++)
		free(x->devices[i].items);
	free(x->devices);
	free(x);
}

int exclusives_add(struct exclusives *x, uint32_t device, uint32_t workload, uint64_t start_ns,
		   uint64_t end_ns)
{
	struct spans *s = &x->devices[device];

	/* Said again and again of the same workload: one span. */
	for (size_t i = s->nr; i-- > 0;) {
		struct exclusive_span *last = &s->items[i];

		if (last->workload != workload)
			continue;
		if (last->end_ns < start_ns || end_ns < last->start_ns)
			break;
		last->start_ns = start_ns < last->start_ns ? start_ns : last->start_ns;
		last->end_ns = end_ns > last->end_ns ? end_ns : last->end_ns;
		return 0;
	}
	if (array_reserve(s->items, s->cap, s->nr))
		return -ENOMEM;
	s->items[s->nr++] = (struct exclusive_span){ start_ns, end_ns, workload };
	return 0;
}

void exclusives_forget(struct exclusives *x, uint32_t device)
{
	x->devices[device].nr = 0;
}

static int by_start(const void *a, const void *b)
{
	const struct exclusive_span *x = a, *y = b;

	if (x->start_ns != y->start_ns)
		return x->start_ns < y->start_ns ? -1 : 1;
	return x->workload < y->workload ? -1 : x->workload > y->workload;
}

/* Time of the interval that no span covers; spans are ordered by start. */
static uint64_t unseen(const struct spans *s, uint64_t start_ns, uint64_t end_ns)
{
	uint64_t sum = 0, at = start_ns;

	for (size_t i = 0; i < s->nr && s->items[i].start_ns < end_ns; i++) {
		if (s->items[i].start_ns > at)
			sum += s->items[i].start_ns - at;
		if (s->items[i].end_ns > at)
			at = s->items[i].end_ns;
	}
	return at < end_ns ? sum + end_ns - at : sum;
}

void exclusives_keep(const struct exclusives *x)
{
	for (size_t i = 0; i < x->header->nr_devices; i++)
		for (size_t k = 0; k < x->devices[i].nr; k++)
			identity_keep(x->id, x->devices[i].items[k].workload);
}

static int close_device(const struct exclusives *x, uint32_t device, uint64_t start_ns,
			uint64_t end_ns, struct book *book)
{
	const struct split_sink rows = book_sink(book);
	struct spans *s = &x->devices[device];
	uint32_t one = SPLIT_NO_ROW, row;
	bool any = false, several = false;
	size_t kept = 0;
	int err = 0;

	if (s->nr)
		qsort(s->items, s->nr, sizeof(*s->items), by_start);
	for (size_t i = 0; i < s->nr && !err; i++) {
		if (s->items[i].start_ns >= end_ns || s->items[i].end_ns <= start_ns)
			continue;
		err = rows.row(rows.arg, s->items[i].workload, &row);
		if (err)
			break;
		several |= any && row != one;
		one = row;
		any = true;
	}
	if (!any || several || unseen(s, start_ns, end_ns) > (end_ns - start_ns) / UNSEEN)
		one = SPLIT_NO_ROW;
	for (size_t i = 0; i < s->nr; i++) {
		if (s->items[i].end_ns <= end_ns)
			continue;
		identity_keep(x->id, s->items[i].workload);
		s->items[kept++] = s->items[i];
	}
	s->nr = kept;
	if (!err)
		book_exclusive(book, device, one, several);
	return err;
}

int exclusives_close(struct exclusives *x, const uint64_t *starts_ns, const uint64_t *ends_ns,
		     struct book *book)
{
	const struct trace_header *h = x->header;
	int err = 0;

	/* Without sockets there are no intervals. */
	for (uint32_t i = 0; h->layout.nr_sockets && i < h->nr_devices && !err; i++) {
		uint32_t at = trace_device_socket(h, i);

		err = close_device(x, i, starts_ns[at], ends_ns[at], book);
	}
	return err;
}
