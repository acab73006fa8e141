// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Links whose bytes are derived: those of all agents of a socket but CPUs, less those of its root
 * complexes. The difference keeps its sign while intervals are added up, and is cut once for each
 * report: otherwise the noise of an idle link would become bytes.
 */
#include <errno.h>
#include <math.h>
#include <string.h>

#include "base/sums.h"
#include "engine/book/book_rows.h"

/* The rate of a moment may be that much more than the largest one of windows. */
#define RATE_MARGIN 1.5

static bool is_term(const struct counter *c, uint32_t device, int direction, enum term term,
		    enum unit unit)
{
	return c->device == device + 1 && (int)c->direction == direction && c->term == term &&
	       c->unit == unit;
}

static bool has_term(const struct book *b, uint32_t device, int direction, enum term term,
		     enum unit unit)
{
	for (size_t i = 0; i < b->layout->nr_counters; i++)
		if (is_term(&b->layout->counters[i], device, direction, term, unit))
			return true;
	return false;
}

bool book_is_derived(const struct book *b, uint32_t device)
{
	return b->derived[device];
}

/* Requests of a term; false if they were not all counted all the time. */
static bool requests_of(const struct book *b, uint32_t device, int direction, enum term term,
			uint64_t *ret)
{
	*ret = 0;
	for (size_t i = 0; i < b->layout->nr_counters; i++) {
		const struct report_counter *c = &b->counters[i];

		if (!is_term(&b->layout->counters[i], device, direction, term, UNIT_REQUESTS))
			continue;
		if (!c->valid || c->running_ns < c->enabled_ns)
			return false;
		*ret += c->value;
	}
	return true;
}

/* The time that windows of the fabric's bytes cover. */
static struct book_span whole_span(const struct book *b, uint32_t device)
{
	for (size_t g = 0; g < b->layout->nr_groups; g++) {
		const struct counter *c = &b->layout->counters[b->layout->groups[g].first];

		if (c->device == device + 1 && c->term == TERM_WHOLE && c->unit == UNIT_BYTES)
			return b->spans[g];
	}
	return (struct book_span){ 0 };
}

/* Bytes that @s may have in the time that one of the two has and the other has not. */
static double edges(const struct book_span *s, int direction, const struct book_span *a,
		    const struct book_span *b)
{
	return RATE_MARGIN * s->rate[direction] *
	       (fabs((double)a->start_ns - (double)b->start_ns) +
		fabs((double)a->end_ns - (double)b->end_ns));
}

/* The fabric's bytes at an edge, where requests are in the interval before or after. */
static double unasked(const struct book *b, uint32_t device, int direction)
{
	const struct book_span at = whole_span(b, device);
	double most = 0;

	for (size_t g = 0; g < b->layout->nr_groups; g++) {
		const struct counter *c = &b->layout->counters[b->layout->groups[g].first];

		if (c->device == device + 1 && c->unit == UNIT_REQUESTS)
			most = fmax(most, edges(&at, direction, &at, &b->spans[g]));
	}
	return most;
}

/*
 * Root complexes are not read at the moment that the fabric is: what they moved between the two is
 * in one number only.
 */
static double shifted(const struct book *b, uint32_t device, int direction)
{
	const struct book_span at = whole_span(b, device);
	double sum = 0;

	for (size_t g = 0; g < b->layout->nr_groups; g++) {
		const struct counter *c = &b->layout->counters[b->layout->groups[g].first];
		const struct book_span *s = &b->spans[g];

		if (c->device != device + 1 || c->term != TERM_LESS)
			continue;
		sum += edges(s, direction, s, &at);
	}
	return sum;
}

/* One of several GPUs has the part that its requests are, or anything: they differ in size. */
static void take_part(uint64_t own, uint64_t all, struct book_derived *d)
{
	if (own >= all)
		return;
	d->moved *= (double)own / (double)all;
	d->low = 0;
}

struct book_derived book_derive(const struct book *b, uint32_t device, int direction)
{
	struct device_sum whole = book_term_sum(b, device, direction, TERM_WHOLE);
	struct device_sum less = book_term_sum(b, device, direction, TERM_LESS);
	struct book_derived d = { 0 };
	uint64_t own, all;
	double least;

	if (!whole.counted)
		return (struct book_derived){ .why = "the fabric's bytes were not read" };
	if (!less.counted && has_term(b, device, direction, TERM_LESS, UNIT_BYTES))
		return (struct book_derived){ .why = "a root complex was not read" };
	if (!requests_of(b, device, direction, TERM_NONE, &own) ||
	    !requests_of(b, device, direction, TERM_WHOLE, &all))
		return (struct book_derived){ .why = "its requests were not read" };
	d.known = true;
	/* Nothing came over the link: no doubt about root complexes changes that. */
	if (!own && has_term(b, device, direction, TERM_NONE, UNIT_REQUESTS)) {
		d.high = whole_capped(fmin(unasked(b, device, direction), (double)whole.value));
		return d;
	}
	d.moved = (double)whole.value - (double)less.value;
	least = (double)whole.value - whole.below - (double)less.value - less.above -
		shifted(b, device, direction);
	d.low = whole_capped(least);
	d.high = whole.above > 0 ? whole_capped(ceil((double)whole.value + whole.above))
				 : whole.value;
	if (has_term(b, device, direction, TERM_WHOLE, UNIT_REQUESTS))
		take_part(own, all, &d);
	return d;
}

uint64_t book_derived_value(const struct book_derived *d)
{
	uint64_t value = whole_capped(d->moved);

	return value < d->low ? d->low : value > d->high ? d->high : value;
}

/* --- owners */

static struct book_row *row_of(const struct book *b, const struct book_key *key)
{
	struct book_row *row;

	HASH_FIND(hh, b->rows, key, sizeof(*key), row);
	return row;
}

/*
 * Owner number @at of a link: one row by either rule, or each row of the one owner by contexts, with
 * its part of the work. False behind the last; no row: it is not in the report.
 */
static bool owner_of(const struct book *b, uint32_t device, size_t at, struct book_row **ret,
		     double *ret_part)
{
	const struct book_device *d = &b->devices[device];
	double sum = 0;

	*ret = NULL;
	*ret_part = 1;
	if (d->exclusive == EXCLUSIVE_ONE) {
		*ret = row_of(b, &d->owner);
		return !at;
	}
	if (d->by.nr_owners < 2 || at >= d->by.nr_owners)
		return false;
	for (size_t i = 0; i < d->by.nr_owners; i++)
		sum += d->by.owners[i].weight;
	*ret_part = d->by.owners[at].weight / sum;
	if (!d->by.owners[at].outside)
		*ret = row_of(b, &d->by.owners[at].row);
	return true;
}

static int own(struct book *b, uint32_t device, struct book_row *row, double part)
{
	struct book_device_io *io;
	int err = book_io_get(row, device, &io);

	for (int k = 0; k < 2 && !err; k++) {
		struct book_derived d = book_derive(b, device, k);

		if (!d.known)
			continue;
		io->link[k].known = true;
		io->link[k].moved = d.moved * part;
		io->link[k].low = part < 1 ? 0 : d.low;
		io->link[k].high = d.high;
	}
	return err;
}

int book_links_own(struct book *b)
{
	struct book_row *row;
	double part;
	int err = 0;

	for (uint32_t i = 0; i < b->scope.nr_devices && !err; i++)
		for (size_t at = 0;
		     !err && book_is_derived(b, i) && owner_of(b, i, at, &row, &part); at++)
			err = row ? own(b, i, row, part) : 0;
	return err;
}

void book_links_add(struct book_device_io *to, const struct book_device_io *from)
{
	for (int k = 0; k < 2; k++) {
		struct book_derived *t = &to->link[k];
		const struct book_derived *f = &from->link[k];

		t->known |= f->known;
		t->moved += f->moved;
		t->low = sum_capped(t->low, f->low);
		t->high = sum_capped(t->high, f->high);
	}
}

void book_link_part(const struct book *b, const struct book_device_io *io, int direction,
		    struct book_part *ret)
{
	struct book_derived all = book_derive(b, io->device, direction);
	uint64_t value = book_derived_value(&all), sum = 0, mine, low = io->link[direction].low;
	struct book_row *row, *next;

	*ret = (struct book_part){ 0 };
	if (!all.known || !io->link[direction].known)
		return;
	for (row = b->rows; row; row = next) {
		next = row->hh.next;
		for (size_t i = 0; i < row->nr_io; i++)
			if (row->io[i].device == io->device)
				sum = sum_capped(sum,
						 book_derived_value(&row->io[i].link[direction]));
	}
	mine = book_derived_value(&io->link[direction]);
	/* Intervals were cut one by one for their owners, the whole only once. */
	if (sum > value)
		mine = (uint64_t)((unsigned __int128)mine * value / sum);
	ret->value = mine;
	ret->low = low < mine ? low : mine;
	ret->high = io->link[direction].high < all.high ? io->link[direction].high : all.high;
	if (ret->high < mine)
		ret->high = mine;
}

/* --- memory traffic of devices */

static uint64_t rest(uint64_t total, double bytes)
{
	return bytes >= (double)total ? 0 : total - (uint64_t)bytes;
}

static void claim_row(struct report_counter *memory, struct entry_share *to, uint64_t value,
		      uint64_t low, uint64_t high)
{
	/* Parts of large numbers are rounded. */
	value = sum128_cut(value, memory->unattributed[REASON_DEVICE]);
	to->value += value;
	to->low += low;
	to->high = sum128_cut(sum_capped(to->high, high), memory->high);
	if (to->high < to->value)
		to->high = to->value;
	memory->attributed += value;
	memory->unattributed[REASON_DEVICE] -= value;
}

static void claim(struct book *b, size_t counter, uint32_t device, double pcie, double pcie_high)
{
	struct report_counter *memory = &b->counters[counter];
	int direction = memory->counter->direction;
	struct book_row *row;
	struct device_sum less = book_term_sum(b, device, direction, TERM_LESS);
	struct book_derived d = book_derive(b, device, direction);
	uint64_t value, sure;
	double part;

	if (!d.known || !d.high)
		return;
	value = sum128_cut(book_derived_value(&d),
			   rest(memory->value, fmax(pcie, (double)less.value)));
	value = sum128_cut(value, memory->unattributed[REASON_DEVICE]);
	sure = sum128_cut(sum128_cut(d.low, value),
			  rest(memory->low, fmax(pcie_high, (double)less.value + less.above)));
	for (size_t at = 0; owner_of(b, device, at, &row, &part); at++)
		if (row)
			claim_row(memory, book_share(b, row, counter),
				  part < 1 ? (uint64_t)((double)value * part) : value,
				  part < 1 ? 0 : sure, d.high);
}

static void claim_all(struct book *b, size_t counter)
{
	const struct counter *memory = &b->layout->counters[counter];
	double pcie, high;

	if ((memory->destination != DESTINATION_ANY && memory->destination != DESTINATION_CMEM) ||
	    memory->direction >= NR_WAYS || !book_claimed(b, counter, &pcie, &high))
		return;
	for (uint32_t i = 0; i < b->scope.nr_devices; i++)
		if (b->scope.devices[i].socket == memory->socket && book_is_derived(b, i))
			claim(b, counter, i, pcie, high);
}

void book_memory_of_links(struct book *b)
{
	for (size_t i = 0; i < b->layout->nr_counters; i++)
		claim_all(b, i);
}
