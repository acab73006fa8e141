// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "engine/latency/links.h"

#include <errno.h>
#include <stdlib.h>

#include "base/array.h"

/* Bytes of this counter are rows' own, and of the probe's socket and direction. */
static bool fits(const struct layout *l, const struct probe *p, const struct counter *c)
{
	return c->source == SOURCE_CPU && !c->device && l->groups[c->group].socket == p->socket &&
	       c->direction == p->direction;
}

/* Does any counter of the probe's socket and direction tell where its bytes go? */
static bool any_tells(const struct layout *l, const struct probe *p)
{
	for (size_t i = 0; i < l->nr_counters; i++)
		if (fits(l, p, &l->counters[i]) && l->counters[i].destination != DESTINATION_ANY)
			return true;
	return false;
}

static int link_probe(const struct layout *l, const struct probe *p, uint32_t probe, size_t *cap,
		      struct links *ret)
{
	enum destination to = p->destination;

	if (!p->by_tasks)
		return 0;
	if (to == DESTINATION_CMEM && !any_tells(l, p))
		to = DESTINATION_ANY;
	for (size_t i = 0; i < l->nr_counters; i++) {
		const struct counter *c = &l->counters[i];

		if (!fits(l, p, c) || c->destination != to)
			continue;
		if (array_reserve(ret->items, *cap, ret->nr))
			return -ENOMEM;
		ret->items[ret->nr++] = (struct link){ probe, i };
	}
	return 0;
}

int links_make(const struct trace_header *header, struct links *ret)
{
	struct links l = { 0 };
	size_t cap = 0;
	int err = 0;

	for (size_t i = 0; i < header->nr_probes && !err; i++)
		err = link_probe(&header->layout, &header->probes[i], i, &cap, &l);
	if (err) {
		links_free(&l);
		return err;
	}
	*ret = l;
	return 0;
}

void links_free(struct links *l)
{
	free(l->items);
	*l = (struct links){ 0 };
}

size_t links_of(const struct links *l, uint32_t probe, size_t *ret_nr)
{
	size_t first = 0, nr = 0;

	while (first < l->nr && l->items[first].probe < probe)
		first++;
	while (first + nr < l->nr && l->items[first + nr].probe == probe)
		nr++;
	*ret_nr = nr;
	return first;
}
