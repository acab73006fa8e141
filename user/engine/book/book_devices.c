// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Devices in the books: roles of their counters, turns, and memory traffic of devices. */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/cleanup.h"
#include "base/sums.h"
#include "engine/book/book_rows.h"
#include "engine/filter/constants.h"

typedef unsigned __int128 u128;

/* A counter of all bytes of its device and direction, wherever they go. */
static bool is_whole(const struct counter *c)
{
	return c->device && !c->term && c->unit == UNIT_BYTES && c->destination == DESTINATION_ANY;
}

/* @whole: by device number and direction, there is a counter like that */
static enum role role_of(const struct counter *c, const bool (*whole)[2])
{
	if (!c->device)
		return ROLE_MEMORY;
	if (c->term)
		return ROLE_TERM;
	if (c->unit != UNIT_BYTES)
		return c->unit == UNIT_EVENTS ? ROLE_WORK : ROLE_REQUESTS;
	return is_whole(c) || !whole[c->device][c->direction] ? ROLE_BYTES : ROLE_DESTINATION;
}

int book_devices_new(struct book *b)
{
	cleanup_free bool(*whole)[2] = calloc(b->scope.nr_devices + 1, sizeof(*whole));
	const struct layout *l = b->layout;

	b->roles = calloc(l->nr_counters + 1, sizeof(*b->roles));
	b->places = calloc(l->nr_counters + 1, sizeof(*b->places));
	b->squares = calloc(l->nr_counters + 1, sizeof(*b->squares));
	b->skipped_ns = calloc(l->nr_counters + 1, sizeof(*b->skipped_ns));
	b->rotations = calloc(l->nr_groups + 1, sizeof(*b->rotations));
	b->early = calloc(l->nr_groups + 1, sizeof(*b->early));
	b->spans = calloc(l->nr_groups + 1, sizeof(*b->spans));
	b->turns = calloc(l->nr_counters + 1, sizeof(*b->turns));
	b->gone = calloc(l->nr_counters + 1, sizeof(*b->gone));
	b->devices = calloc(b->scope.nr_devices + 1, sizeof(*b->devices));
	b->derived = calloc(b->scope.nr_devices + 1, sizeof(*b->derived));
	if (!whole || !b->roles || !b->places || !b->squares || !b->skipped_ns || !b->rotations ||
	    !b->early || !b->spans || !b->turns || !b->gone || !b->devices || !b->derived ||
	    book_stops_new(b))
		return -ENOMEM;
	for (size_t i = 0; i < l->nr_counters; i++)
		if (is_whole(&l->counters[i]))
			whole[l->counters[i].device][l->counters[i].direction] = true;
	for (size_t i = 0; i < l->nr_counters; i++) {
		const struct counter *c = &l->counters[i];

		if (c->device && c->term == TERM_WHOLE && c->unit == UNIT_BYTES)
			b->derived[c->device - 1] = true;
		b->roles[i] = role_of(&l->counters[i], (const bool(*)[2])whole);
		if (b->roles[i] == ROLE_MEMORY)
			b->places[i] = b->nr_places++;
	}
	return 0;
}

static bool is_kind(const struct book *b, const struct counter *c, enum device_kind kind)
{
	return c->device && b->scope.devices[c->device - 1].kind == kind;
}

bool book_is_nobodys(const struct book *b, const struct counter *c)
{
	return c->term || is_kind(b, c, DEVICE_PORT);
}

/* A window that could not be read when the interval before it ended. */
static void note_early(struct book *b, const struct trace_window *w, const uint64_t bytes[2])
{
	uint32_t socket = b->layout->groups[w->group].socket;
	uint64_t start = b->scope.starts_ns ? b->scope.starts_ns[socket] : 0;
	struct book_early *e = &b->early[w->group];
	double ns, part;

	if (w->start_ns >= start)
		return;
	ns = (w->end_ns < start ? w->end_ns : start) - w->start_ns;
	part = fmin((1 + SCALE_DOUBT) * ns / (w->end_ns - w->start_ns), 1);
	e->ns += ns;
	for (int i = 0; i < 2; i++)
		e->bytes[i] += bytes[i] * part;
}

static void note_span(struct book_span *s, const struct trace_window *w, uint64_t running_ns,
		      const uint64_t bytes[2])
{
	s->start_ns = s->end_ns ? s->start_ns : w->start_ns;
	s->end_ns = w->end_ns;
	for (int k = 0; k < 2 && running_ns; k++)
		s->rate[k] = fmax(s->rate[k], (double)bytes[k] / (double)running_ns);
}

static void span_add(struct book_span *to, const struct book_span *from)
{
	if (!from->end_ns)
		return;
	to->start_ns = to->end_ns ? to->start_ns : from->start_ns;
	to->end_ns = from->end_ns;
	for (int k = 0; k < 2; k++)
		to->rate[k] = fmax(to->rate[k], from->rate[k]);
}

/* Bytes of turns: those of a term are scaled as a device's own are. */
static bool is_counted(const struct book *b, size_t i)
{
	return b->roles[i] == ROLE_BYTES ||
	       (b->roles[i] == ROLE_TERM && b->layout->counters[i].unit == UNIT_BYTES);
}

void book_device_window(struct book *b, const struct trace_window *w)
{
	const struct group *g = &b->layout->groups[w->group];
	const struct reading *of = w->readings;
	uint64_t bytes[2] = { 0 };

	for (uint32_t i = 0; i < g->nr; i++) {
		const struct reading *r = &w->readings[i];

		/* The first one may have been refused, or be missing. */
		if (r->running_ns > of->running_ns ||
		    (r->running_ns == of->running_ns && r->enabled_ns > of->enabled_ns))
			of = r;
		if (is_counted(b, g->first + i) && r->running_ns)
			bytes[b->layout->counters[g->first + i].direction] += r->value;
	}
	if (g->nr)
		rotation_window(&b->rotations[w->group], of->enabled_ns, of->running_ns, bytes);
	note_early(b, w, bytes);
	note_span(&b->spans[w->group], w, of->running_ns, bytes);
}

/* --- traffic of rows in turns */

int book_turn(struct book *b, uint32_t counter, const struct trace_window *w)
{
	const struct group *g = &b->layout->groups[w->group];
	const struct reading *r = &w->readings[counter - g->first];
	struct book_turns *t = &b->turns[counter];

	if (!t->nr || t->broken || w->start_ns != t->end_ns) {
		if (array_reserve(t->ns, t->cap, t->nr))
			return -ENOMEM;
		t->ns[t->nr++] = 0;
	}
	t->ns[t->nr - 1] += r->running_ns;
	t->end_ns = w->end_ns;
	t->broken = r->running_ns < r->enabled_ns;
	return 0;
}

void book_turn_bytes(const struct book *b, struct device_share *s, uint64_t bytes)
{
	const struct book_turns *t = &b->turns[s->counter];

	if (s->turn != t->nr - 1) {
		rotation_sums_add(&s->samples, s->open, t->ns[s->turn]);
		s->open = 0;
		s->turn = t->nr - 1;
	}
	s->open += bytes;
}

double book_turn_doubt(const struct book *b, const struct device_share *s, double ratio)
{
	const struct book_turns *t = &b->turns[s->counter];
	struct rotation_sums sums = s->samples;
	double ns = 0, squares = 0;

	if (!t->nr)
		return -1;
	rotation_sums_add(&sums, s->open, t->ns[s->turn]);
	for (size_t i = 0; i < t->nr; i++) {
		ns += t->ns[i];
		squares += t->ns[i] * t->ns[i];
	}
	return ns > 0 ? rotation_sample_doubt(t->nr, ratio, &sums, squares, sums.bytes / ns) : -1;
}

static void exclusive_add(struct book_device *to, const struct book_device *from)
{
	if (from->exclusive == EXCLUSIVE_UNKNOWN)
		return;
	if (to->exclusive == EXCLUSIVE_UNKNOWN) {
		to->exclusive = from->exclusive;
		to->owner = from->owner;
	}
	/* Whatever is not known of one interval, several of another were several. */
	if (to->exclusive == EXCLUSIVE_SEVERAL || from->exclusive == EXCLUSIVE_SEVERAL)
		to->exclusive = EXCLUSIVE_SEVERAL;
	else if (to->exclusive == EXCLUSIVE_NOBODY || from->exclusive == EXCLUSIVE_NOBODY)
		to->exclusive = EXCLUSIVE_NOBODY;
	else if (memcmp(&to->owner, &from->owner, sizeof(to->owner)) != 0)
		to->exclusive = EXCLUSIVE_SEVERAL;
}

int book_devices_add(struct book *total, const struct book *part)
{
	int err = 0;

	for (size_t g = 0; g < total->layout->nr_groups; g++) {
		rotation_add(&total->rotations[g], &part->rotations[g]);
		span_add(&total->spans[g], &part->spans[g]);
	}
	for (size_t i = 0; i < total->scope.nr_devices && !err; i++) {
		struct book_device *to = &total->devices[i];
		const struct book_device *from = &part->devices[i];

		for (int k = 0; k < 2; k++)
			to->io[k] = sum_capped(to->io[k], from->io[k]);
		exclusive_add(to, from);
		err = book_users_add(&to->by, &from->by);
	}
	total->unowned_io = sum_capped(total->unowned_io, part->unowned_io);
	return err;
}

/*
 * Bytes that may have been moved before the interval. Readings are a little before its end, as
 * they were at the end before it: that is no matter.
 */
static double early_bytes(const struct book *b, uint32_t group, int which)
{
	const struct book_early *e = &b->early[group];

	if (e->ns <= REPORT_NEARLY * (b->rotations[group].enabled_ns - e->ns))
		return 0;
	return which == ROTATION_BOTH ? e->bytes[0] + e->bytes[1] : e->bytes[which];
}

/*
 * Bytes of a device in a group of its counters; adds to @s, with variances for the bounds. False
 * when one of them could not be read: then the total is unknown.
 */
static bool group_sum(const struct book *b, uint32_t group, int which, enum term term,
		      struct device_sum *s)
{
	const struct group *g = &b->layout->groups[group];
	const struct rotation *r = &b->rotations[group];
	double doubt, unseen, value = 0;
	bool any = false;

	for (uint32_t i = g->first; i < g->first + g->nr; i++) {
		const struct report_counter *c = &b->counters[i];

		if (!is_counted(b, i) || b->layout->counters[i].term != term ||
		    (which != ROTATION_BOTH && (int)c->counter->direction != which))
			continue;
		if (!c->valid)
			return false;
		any = true;
		value += c->value;
		s->value += c->value;
	}
	if (!any)
		return true;
	s->counted = true;
	doubt = rotation_doubt(r, which);
	/* The counted part is sure. */
	unseen = fmax(value - r->window[which].bytes, 0);
	s->edges += rotation_edges(r, which) + value * book_stopped(b, group, r);
	if (r->window[which].bytes > 0)
		s->early += early_bytes(b, group, which) * value / r->window[which].bytes;
	s->above += doubt * doubt;
	s->below += fmin(doubt, unseen) * fmin(doubt, unseen);
	return true;
}

struct device_sum book_term_sum(const struct book *b, uint32_t device, int which, enum term term)
{
	const struct layout *l = b->layout;
	struct device_sum s = { 0 };

	for (size_t g = 0; g < l->nr_groups; g++)
		if (l->groups[g].nr && l->counters[l->groups[g].first].device == device + 1 &&
		    !group_sum(b, g, which, term, &s))
			return (struct device_sum){ 0 };
	/* Groups take turns at different times. */
	s.below = sqrt(s.below) + s.early;
	s.above = sqrt(s.above) + s.edges;
	return s;
}

struct device_sum book_device_sum(const struct book *b, uint32_t device, int which)
{
	return book_term_sum(b, device, which, TERM_NONE);
}

/* --- memory traffic of devices */

/**
 * struct device_claim - the share of devices in a counter of memory traffic
 * @counter: that counter
 * @to: destinations of devices' bytes that may be seen there
 * @traffic: bytes of that counter and its likes, which have the claim together; @least and @most:
 *	the same for the lower and the upper end of that counter
 * @value, @low, @high: bytes of the devices, all owners'
 */
struct device_claim {
	const struct counter *counter;
	bool to[NR_DESTINATIONS];
	u128 traffic, least, most;
	u128 value, low, high;
};

/* A counter of bytes that devices of a socket moved, in the direction of @memory. */
static bool may_claim(const struct book *b, size_t i, const struct counter *memory)
{
	const struct counter *c = &b->layout->counters[i];

	return b->roles[i] == ROLE_BYTES && b->counters[i].valid && !is_kind(b, c, DEVICE_PORT) &&
	       !is_kind(b, c, DEVICE_LINK) && c->socket == memory->socket &&
	       c->direction == memory->direction;
}

static bool is_memory_of_devices(const struct book *b, size_t i)
{
	const struct counter *c = &b->layout->counters[i];

	return b->roles[i] == ROLE_MEMORY && c->source == SOURCE_DEVICE && c->unit == UNIT_BYTES &&
	       b->counters[i].valid;
}

/* Do all devices tell where their bytes go? */
static bool all_tell(const struct book *b, const struct counter *memory)
{
	for (size_t i = 0; i < b->layout->nr_counters; i++)
		if (may_claim(b, i, memory) &&
		    b->layout->counters[i].destination == DESTINATION_ANY)
			return false;
	return true;
}

/*
 * What goes to another device passes by all memory. When a counter tells its destination and a
 * device does not, the device's bytes are spread over all such counters as their traffic is.
 */
static void choose_destinations(const struct book *b, size_t counter, struct device_claim *ret)
{
	const struct counter *memory = &b->layout->counters[counter];

	ret->counter = memory;
	ret->traffic = b->counters[counter].value;
	ret->least = b->counters[counter].low;
	ret->most = b->counters[counter].high;
	if (memory->destination != DESTINATION_ANY && all_tell(b, memory)) {
		ret->to[memory->destination] = true;
		return;
	}
	for (int d = 0; d < NR_DESTINATIONS; d++)
		ret->to[d] = d != DESTINATION_P2P;
	for (size_t i = 0; memory->destination != DESTINATION_ANY && i < b->layout->nr_counters;
	     i++) {
		const struct counter *c = &b->layout->counters[i];

		if (i == counter || !is_memory_of_devices(b, i) || c->socket != memory->socket ||
		    c->direction != memory->direction || c->destination == DESTINATION_ANY)
			continue;
		ret->traffic += b->counters[i].value;
		ret->least += b->counters[i].high;
		ret->most += b->counters[i].low;
	}
}

static bool claims(const struct book *b, size_t i, const struct device_claim *c)
{
	return may_claim(b, i, c->counter) && c->to[b->layout->counters[i].destination];
}

/* Where a device is may not be known; where it is counted is. */
static void sum_claim(struct book *b, struct device_claim *c)
{
	double below = 0, above = 0;

	for (size_t d = 0; d < b->scope.nr_devices; d++)
		b->devices[d].claims = false;
	for (size_t i = 0; i < b->layout->nr_counters; i++) {
		if (!claims(b, i, c))
			continue;
		c->value += b->counters[i].value;
		b->devices[b->layout->counters[i].device - 1].claims = true;
	}
	/* A device's doubt is that of all its destinations: more than is needed, not less. */
	for (size_t d = 0; d < b->scope.nr_devices; d++) {
		struct device_sum s;

		if (!b->devices[d].claims)
			continue;
		s = book_device_sum(b, d, c->counter->direction);
		below += s.below;
		above += s.above;
	}
	c->low = below < c->value ? c->value - (u128)below : 0;
	c->high = c->value + (u128)fmin(above, 0x1p64);
}

/* total * part / all, where @part is at most @all; parts that add up to @all give no more. */
static uint64_t part_of(uint64_t total, u128 part, u128 all)
{
	while (all >> 64) {
		all >>= 1;
		part >>= 1;
	}
	if (part > all)
		part = all;
	return all ? total * part / all : 0;
}

static u128 larger(u128 a, u128 b)
{
	return a > b ? a : b;
}

static void claim_for_row(struct book *b, size_t counter, const struct device_claim *c,
			  struct book_row *row)
{
	struct report_counter *memory = &b->counters[counter];
	u128 value = 0, low = 0, high = 0, tangled = 0;
	struct entry_share *to;

	for (size_t i = 0; i < row->nr_device_shares; i++) {
		const struct entry_share *s = &row->device_shares[i].share;

		if (!claims(b, row->device_shares[i].counter, c))
			continue;
		value += s->value;
		low += s->low;
		high += s->high;
		tangled += s->tangled;
	}
	if (!high && !value)
		return;
	to = book_share(b, row, counter);
	to->value = part_of(memory->value, value, larger(c->traffic, c->value));
	to->low = part_of(memory->low, low, larger(c->least, c->high));
	to->high = part_of(memory->high, high, larger(c->most, c->low));
	to->high += to->high < memory->high; /* rounded up */
	to->tangled = part_of(to->high, tangled, high);
	if (to->low > to->value)
		to->low = to->value;
	if (to->high < to->value)
		to->high = to->value;
	memory->attributed += to->value;
	memory->unattributed[REASON_DEVICE] -= to->value;
}

void book_memory_of_devices(struct book *b)
{
	struct book_row *row, *next;

	for (size_t i = 0; i < b->layout->nr_counters; i++) {
		struct device_claim c = { 0 };

		if (!is_memory_of_devices(b, i))
			continue;
		choose_destinations(b, i, &c);
		sum_claim(b, &c);
		if (!c.value)
			continue;
		HASH_ITER (hh, b->rows, row, next)
			claim_for_row(b, i, &c, row);
	}
}

bool book_claimed(struct book *b, size_t counter, double *ret_value, double *ret_high)
{
	struct device_claim c = { 0 };

	if (!is_memory_of_devices(b, counter))
		return false;
	choose_destinations(b, counter, &c);
	sum_claim(b, &c);
	*ret_value = (double)c.value;
	*ret_high = (double)c.high;
	return true;
}
