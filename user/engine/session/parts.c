// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "engine/session/parts.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/sums.h"
#include "engine/split/rotation.h"

struct parts {
	const struct trace_header *header;
	struct trace_part *waiting;
	size_t nr, cap;
	struct report_part *interval;
	struct report_part *all;
};

int parts_new(const struct trace_header *header, struct parts **ret)
{
	struct parts *p = calloc(1, sizeof(*p));

	if (!p)
		return -ENOMEM;
	p->header = header;
	p->interval = calloc(header->nr_parts + 1, sizeof(*p->interval));
	p->all = calloc(header->nr_parts + 1, sizeof(*p->all));
	if (!p->interval || !p->all) {
		parts_free(p);
		return -ENOMEM;
	}
	for (size_t i = 0; i < header->nr_parts; i++)
		p->interval[i].part = p->all[i].part = &header->parts[i];
	*ret = p;
	return 0;
}

void parts_free(struct parts *p)
{
	if (!p)
		return;
	free(p->waiting);
	free(p->interval);
	free(p->all);
	free(p);
}

int parts_add(struct parts *p, const struct trace_part *part)
{
	if (array_reserve(p->waiting, p->cap, p->nr))
		return -ENOMEM;
	p->waiting[p->nr++] = *part;
	return 0;
}

static uint64_t portion_of(uint64_t value, uint64_t time, uint64_t whole)
{
	return (unsigned __int128)value * time / whole;
}

/* Takes the part before @end out of @from. */
static struct trace_part cut(struct trace_part *from, uint64_t end)
{
	uint64_t whole = from->end_ns - from->start_ns;
	struct trace_part before = *from;

	if (end >= from->end_ns)
		end = from->end_ns;
	before.end_ns = end;
	before.bytes = portion_of(from->bytes, end - from->start_ns, whole);
	before.enabled_ns = portion_of(from->enabled_ns, end - from->start_ns, whole);
	before.running_ns = portion_of(from->running_ns, end - from->start_ns, whole);
	from->start_ns = end;
	from->bytes -= before.bytes;
	from->enabled_ns -= before.enabled_ns;
	from->running_ns -= before.running_ns;
	return before;
}

/* The unobserved part is bounded like that of a counter, as far as is known here. */
static void enter_bounds(struct report_part *to, const struct trace_part *t)
{
	double bytes = (double)t->bytes, edges = 0, doubt = 0;

	if (t->running_ns && t->running_ns < t->enabled_ns) {
		double ratio = (double)t->enabled_ns / (double)t->running_ns;

		doubt = rotation_unseen_doubt(bytes / ratio, ratio, 0);
		edges = rotation_kernel_edges(bytes, (double)t->enabled_ns, (double)t->running_ns);
	}
	to->low = sum_capped(to->low, doubt < bytes ? t->bytes - (uint64_t)doubt : 0);
	to->high = sum_capped(to->high,
			      sum_capped(t->bytes, (uint64_t)ceil(fmin(doubt + edges, 0x1p63))));
}

static void enter(struct report_part *to, const struct trace_part *t)
{
	enter_bounds(to, t);
	to->valid |= t->running_ns > 0 || t->bytes > 0;
	to->bytes = sum_capped(to->bytes, t->bytes);
	to->enabled_ns = sum_capped(to->enabled_ns, t->enabled_ns);
	to->running_ns = sum_capped(to->running_ns, t->running_ns);
	to->covered_ns = sum_capped(to->covered_ns, t->end_ns - t->start_ns);
}

void parts_close(struct parts *p, const uint64_t *ends_ns)
{
	size_t kept = 0;

	for (size_t i = 0; i < p->header->nr_parts; i++)
		p->interval[i] = (struct report_part){ .part = &p->header->parts[i] };
	for (size_t i = 0; i < p->nr; i++) {
		struct trace_part *t = &p->waiting[i], before;
		uint64_t end = ends_ns[p->header->parts[t->part].socket];

		if (t->start_ns < end) {
			before = cut(t, end);
			enter(&p->interval[t->part], &before);
			enter(&p->all[t->part], &before);
		}
		if (t->start_ns < t->end_ns)
			p->waiting[kept++] = *t;
	}
	p->nr = kept;
}

int parts_report(const struct parts *p, bool all, struct report *ret)
{
	size_t nr = p->header->nr_parts;

	ret->parts = calloc(nr + 1, sizeof(*ret->parts));
	if (!ret->parts)
		return -ENOMEM;
	memcpy(ret->parts, all ? p->all : p->interval, nr * sizeof(*ret->parts));
	ret->nr_parts = nr;
	return 0;
}
