// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Which events count a device, which of them fit, and which count at the same time. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/text.h"
#include "platform/plan/device_plan_internal.h"

/* A quarter of the counters is left for events that take turns, see plan_make(). */
#define BASE_PART(events) ((events) - (events) / 4)

#define WAYS(way)	  (1u << (way))
#define BOTH_WAYS	  (WAYS(DIRECTION_READ) | WAYS(DIRECTION_WRITE))

static bool applies(const struct device_row *row, const struct device_depth *depth,
		    unsigned int parts, unsigned int ways)
{
	return row->kind == depth->pmu->kind && row->part & parts &&
	       row->use & (depth->by_destination ? DEVICE_SPLIT : DEVICE_SUMS) &&
	       WAYS(row->direction) & ways;
}

/* Are there separate sets for reads and writes? */
static bool is_parted(const struct device_depth *depth)
{
	return depth->by_destination && filter_row_use(depth->pmu->kind, FILTER_DESTINATION);
}

/* Ordinary counters that a set takes. */
static uint32_t size_of(const struct device_depth *depth, unsigned int parts, unsigned int ways)
{
	uint32_t nr = 0;

	for (size_t i = 0; i < nr_device_rows; i++)
		nr += applies(&device_rows[i], depth, parts, ways);
	if (parts & DEVICE_LATENCY && WAYS(DIRECTION_READ) & ways && !depth->capacity.cycles)
		nr++;
	return nr;
}

/* Turns of this many devices: sets in their order, each into the first turn with free counters. */
static size_t turns_of(const struct device_depth *depth, unsigned int parts, size_t devices)
{
	uint32_t capacity = depth->capacity.events, sizes[2], max = 0, left = 0;
	size_t turns = 0, sets = is_parted(depth) ? 2 : 1;

	sizes[0] = size_of(depth, parts, sets == 2 ? WAYS(DIRECTION_READ) : BOTH_WAYS);
	sizes[1] = size_of(depth, parts, WAYS(DIRECTION_WRITE));
	for (size_t s = 0; s < sets; s++)
		max = sizes[s] > max ? sizes[s] : max;
	if (max > capacity)
		return SIZE_MAX;
	for (size_t i = 0; i < devices * sets; i++) {
		uint32_t size = sizes[i % sets];

		if (size > left) {
			turns++;
			left = capacity;
		}
		left -= size;
	}
	return turns;
}

/* Parts in the order in which they are dropped. */
static const unsigned int by_value[] = {
	DEVICE_ALL_PARTS,
	DEVICE_BYTES | DEVICE_READS | DEVICE_LATENCY,
	DEVICE_BYTES | DEVICE_READS,
	DEVICE_BYTES,
};

/* All parts that need no more turns than bytes alone. */
static unsigned int parts_of(const struct device_depth *depth, size_t devices)
{
	size_t least = turns_of(depth, DEVICE_BYTES, devices);

	for (size_t i = 0; i < ARRAY_SIZE(by_value); i++) {
		unsigned int parts = by_value[i] & depth->wanted;
		size_t turns = turns_of(depth, parts, devices);

		if (turns != SIZE_MAX && turns <= least)
			return parts;
	}
	return DEVICE_BYTES;
}

/* Can bytes count all the time, while the rest takes turns beside them? */
static bool find_beside(struct device_depth *depth, size_t devices)
{
	uint32_t capacity = depth->capacity.events;
	uint32_t bytes = devices * size_of(depth, DEVICE_BYTES, BOTH_WAYS);

	if (is_parted(depth) || bytes > BASE_PART(capacity))
		return false;
	for (size_t i = 0; i < ARRAY_SIZE(by_value); i++) {
		unsigned int parts = by_value[i] & depth->wanted & ~DEVICE_BYTES;

		if (!parts || bytes + size_of(depth, parts, BOTH_WAYS) > capacity)
			continue;
		depth->parts = parts | DEVICE_BYTES;
		depth->beside = true;
		return true;
	}
	return false;
}

/* Are there rows of a part, and does the PMU have all of their events? */
static bool has_event(const struct pmu *pmu, enum device_part part)
{
	bool any = false;

	for (size_t i = 0; i < nr_device_rows; i++) {
		if (device_rows[i].kind != pmu->kind || device_rows[i].part != part)
			continue;
		if (!pmu_event_find(pmu, device_rows[i].event))
			return false;
		any = true;
	}
	return any;
}

void device_depth_find(const struct device_plan_options *o, const struct pmu *pmu,
		       size_t nr_by_port, size_t nr_by_id, struct device_depth *ret_port,
		       struct device_depth *ret_id)
{
	struct device_depth depth = {
		.pmu = pmu,
		.capacity = { UINT32_MAX, 1 },
		.wanted = DEVICE_BYTES,
		.by_destination = o->by_destination,
	};

	if (o->capacities)
		depth.capacity = o->capacities[pmu - o->pmus->pmus];
	if (!depth.capacity.events)
		depth.capacity.events = 1;
	if (has_event(pmu, DEVICE_READS))
		depth.wanted |= DEVICE_READS;
	if (o->latencies && depth.wanted & DEVICE_READS && has_event(pmu, DEVICE_LATENCY) &&
	    pmu_event_find(pmu, "cycles"))
		depth.wanted |= DEVICE_LATENCY;
	if (has_event(pmu, DEVICE_WRITES))
		depth.wanted |= DEVICE_WRITES;
	*ret_port = *ret_id = depth;
	/* Requests give way to the counters of links, bytes do not. */
	if (!nr_by_id && depth.capacity.events != UINT32_MAX &&
	    depth.capacity.events > device_links_need(o, pmu))
		ret_port->capacity.events -= device_links_need(o, pmu);
	/* Each id needs turns of its own; port masks share them. */
	ret_id->parts = parts_of(ret_id, 1);
	ret_port->parts = parts_of(ret_port, nr_by_port);
	if (ret_port->parts != depth.wanted && !nr_by_id &&
	    turns_of(ret_port, DEVICE_BYTES, nr_by_port) == 1)
		find_beside(ret_port, nr_by_port);
}

int device_depth_note(struct device_plan *p, const struct device_depth *depth)
{
	unsigned int lost = depth->wanted & ~depth->parts;
	char what[64];

	if (!lost)
		return 0;
	snprintf(what, sizeof(what), "%s%s%s", lost & DEVICE_LATENCY ? "latencies" : "",
		 lost & DEVICE_LATENCY && lost & (DEVICE_READS | DEVICE_WRITES) ? " and " : "",
		 !(lost & (DEVICE_READS | DEVICE_WRITES)) ? ""
		 : !(lost & DEVICE_READS)		  ? "requests of writes"
							  : "requests");
	return device_reason_add(&p->lost, depth->pmu->name, what);
}

/* --- sets */

static int add_want(struct device_plan *p, const struct device_sets *s, const char *event,
		    const char *filter, uint32_t set, bool constant, struct diag *d)
{
	struct pmu_term terms[3];
	size_t nr = s->nr_terms;
	struct want want;
	int err;

	memcpy(terms, s->terms, sizeof(s->terms));
	if (filter[0]) {
		str_copy(terms[nr].name, sizeof(terms[nr].name), filter);
		terms[nr++].value = 1;
	}
	/* Filters do not affect cycles; an id they must carry is filled in when they are opened. */
	err = want_make(s->depth->pmu, event, terms, strcmp(event, "cycles") ? nr : 0, d, &want);
	if (err)
		return err;
	want.set = set;
	want.constant = constant;
	return want_add(&p->wants, &want);
}

/* A counter of the last want, in the last group. */
static int add_counter(struct device_plan *p, const struct device_sets *s,
		       const struct device_row *row)
{
	const struct want *want = &p->wants.wants[p->wants.nr - 1];
	const struct device *device = &p->devices[s->device];
	struct counter *c;

	if (array_reserve(p->counters, p->cap_counters, p->nr_counters) ||
	    array_reserve(p->counter_wants, p->cap_counter_wants, p->nr_counters))
		return -ENOMEM;
	p->counter_wants[p->nr_counters] = p->wants.nr - 1;
	c = &p->counters[p->nr_counters++];
	*c = (struct counter){
		.socket = device->socket,
		.group = p->nr_groups - 1,
		.source = SOURCE_DEVICE,
		.direction = row->direction,
		.destination = row->destination,
		.unit = row->part == DEVICE_BYTES ? UNIT_BYTES : UNIT_REQUESTS,
		.device = s->device + 1,
	};
	snprintf(c->name, sizeof(c->name), "%s/%s%s%s", device->bdf, row->event,
		 row->filter[0] ? "/" : "", row->filter);
	str_copy(c->pmu, sizeof(c->pmu), want->pmu->name);
	str_copy(c->event, sizeof(c->event), row->event);
	str_copy(c->filters, sizeof(c->filters), want->filters);
	p->groups[p->nr_groups - 1].nr++;
	return 0;
}

static int add_group(struct device_plan *p)
{
	if (array_reserve(p->groups, p->cap_groups, p->nr_groups))
		return -ENOMEM;
	p->groups[p->nr_groups++] = (struct device_group){ p->nr_counters, 0 };
	return 0;
}

/* The latency whose wants begin at @first. */
static int add_probe(struct device_plan *p, const struct device_sets *s, size_t first, uint32_t set,
		     struct diag *d)
{
	const struct device *device = &p->devices[s->device];
	struct device_latency l = { .cycles = p->wants.nr };
	struct probe *probe;
	uint32_t requests = 0;
	int err = add_want(p, s, "cycles", "", set, false, d);

	if (err)
		return err;
	for (size_t i = first; i < l.cycles; i++) {
		const char *event = p->wants.wants[i].event;

		for (size_t r = 0; r < nr_device_rows; r++) {
			if (device_rows[r].kind != s->depth->pmu->kind ||
			    strcmp(device_rows[r].event, event))
				continue;
			if (device_rows[r].part == DEVICE_LATENCY)
				l.outstanding[l.nr++] = i;
			else if (device_rows[r].part == DEVICE_READS)
				l.requests[requests++] = i;
		}
	}
	if (array_reserve(p->probes, p->cap_probes, p->nr_probes) ||
	    array_reserve(p->latencies, p->cap_latencies, p->nr_probes))
		return -ENOMEM;
	p->latencies[p->nr_probes] = l;
	probe = &p->probes[p->nr_probes++];
	*probe = (struct probe){
		.socket = device->socket,
		.direction = DIRECTION_READ,
		.destination = DESTINATION_ANY,
		.device = s->device + 1,
	};
	snprintf(probe->name, sizeof(probe->name), "%s/rd", device->bdf);
	snprintf(probe->title, sizeof(probe->title), "reads by %.50s",
		 device->name[0] ? device->name : device->bdf);
	str_copy(probe->pmu, sizeof(probe->pmu), s->depth->pmu->name);
	return 0;
}

/* One set: bytes first. Bytes that do not fit the PMU become several sets. */
static int add_set(struct device_plan *p, const struct device_sets *s, unsigned int parts,
		   unsigned int ways, bool constant, struct diag *d)
{
	uint32_t capacity = s->depth->capacity.events, used = capacity, set = 0;
	size_t first = p->wants.nr;
	int err = 0;

	for (size_t i = 0; i < nr_device_rows && !err; i++) {
		if (!applies(&device_rows[i], s->depth, parts, ways))
			continue;
		if (used == capacity) {
			set = ++p->wants.last_set;
			used = 0;
			err = add_group(p);
		}
		if (!err)
			err = add_want(p, s, device_rows[i].event, device_rows[i].filter, set,
				       constant, d);
		used++;
		if (!err && device_rows[i].part != DEVICE_LATENCY)
			err = add_counter(p, s, &device_rows[i]);
	}
	if (!err && parts & DEVICE_LATENCY && ways & WAYS(DIRECTION_READ))
		err = add_probe(p, s, first, set, d);
	return err;
}

int device_sets_add(struct device_plan *p, const struct device_sets *s, struct diag *d)
{
	const struct device_plan was = *p;
	unsigned int parts = s->depth->parts;
	int err;

	if (s->depth->beside) {
		err = add_set(p, s, DEVICE_BYTES, BOTH_WAYS, true, d);
		if (!err)
			err = add_set(p, s, parts & ~DEVICE_BYTES, BOTH_WAYS, false, d);
	} else if (is_parted(s->depth)) {
		err = add_set(p, s, parts, WAYS(DIRECTION_READ), false, d);
		if (!err)
			err = add_set(p, s, parts, WAYS(DIRECTION_WRITE), false, d);
	} else {
		err = add_set(p, s, parts, BOTH_WAYS, false, d);
	}
	if (!err)
		return 0;
	p->wants.nr = was.wants.nr;
	p->nr_counters = was.nr_counters;
	p->nr_groups = was.nr_groups;
	p->nr_probes = was.nr_probes;
	return err;
}
