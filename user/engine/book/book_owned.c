// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Bytes of devices whose owner is known by contexts. */
#include <errno.h>
#include <stdlib.h>

#include "base/cleanup.h"
#include "base/sums.h"
#include "engine/book/book_rows.h"
#include "engine/split/apportion.h"

/* Bytes of a counter that are given away, with their bounds. */
struct gift {
	uint64_t value, low, high;
};

void book_note_gone(struct book *b, uint32_t counter, uint64_t end_ns, uint64_t bytes)
{
	uint32_t device = b->layout->counters[counter].device - 1;
	uint32_t function = b->scope.devices[device].function;
	uint64_t gone_ns =
		b->scope.gone_ns ? b->scope.gone_ns[function ? function - 1 : device] : 0;
	struct book_gone *g = &b->gone[counter];

	g->all = sum_capped(g->all, bytes);
	if (gone_ns && end_ns > gone_ns)
		g->after = sum_capped(g->after, bytes);
}

/* Once the users are gone, others may have moved the bytes, but need not. */
static struct gift gift_of(const struct book *b, uint32_t counter, bool gone)
{
	const struct report_counter *c = &b->counters[counter];
	const struct book_gone *by = &b->gone[counter];
	struct gift g = { .value = c->unattributed[REASON_DEVICE] };
	uint64_t doubt = c->value - c->low;

	g.high = sum_capped(g.value, c->high - c->value);
	if (gone && by->all)
		g.value = apportion_scale(g.value, by->all - by->after, by->all);
	g.low = g.value > doubt ? g.value - doubt : 0;
	return g;
}

/* Of several owners each may have moved all of it: busy time does not say who moved bytes. */
static int give_row(struct book *b, uint32_t counter, const struct book_users *u, size_t at,
		    const struct gift *g, uint64_t bytes)
{
	const struct report_counter *c = &b->counters[counter];
	struct entry_share *s;
	struct book_row *row;
	int err = book_row_get(b, &u->owners[at].row, &row);

	if (!err)
		err = book_share_get(b, row, counter, &s);
	if (err)
		return err;
	s->value += bytes;
	s->high = sum_capped(s->high, g->high);
	if (s->high > c->high)
		s->high = c->high;
	if (u->nr_owners == 1) {
		s->low += g->low;
		return 0;
	}
	s->tangled = sum_capped(s->tangled, g->high);
	for (size_t i = 0; i < u->nr_owners && !err; i++)
		if (i != at && !u->owners[i].outside)
			err = book_row_tangle(row, &u->owners[i].row);
	return err;
}

static int give(struct book *b, uint32_t counter, const struct book_users *u)
{
	struct report_counter *c = &b->counters[counter];
	const struct gift g = gift_of(b, counter, u->gone);
	cleanup_free uint64_t *parts = calloc(u->nr_owners, 2 * sizeof(*parts));
	uint64_t *weights = parts ? parts + u->nr_owners : NULL;
	int err;

	if (!parts)
		return -ENOMEM;
	for (size_t i = 0; i < u->nr_owners; i++)
		weights[i] = u->owners[i].weight;
	err = apportion(g.value, weights, u->nr_owners, parts);
	for (size_t i = 0; i < u->nr_owners && !err; i++) {
		c->unattributed[REASON_DEVICE] -= parts[i];
		if (u->owners[i].outside) {
			c->unattributed[REASON_OTHER] += parts[i];
			continue;
		}
		c->attributed += parts[i];
		err = give_row(b, counter, u, i, &g, parts[i]);
	}
	return err;
}

int book_owned(struct book *b)
{
	int err = 0;

	for (size_t i = 0; i < b->layout->nr_counters && !err; i++) {
		const struct counter *c = &b->layout->counters[i];

		if (!c->device || c->unit != UNIT_BYTES || !b->counters[i].valid ||
		    book_is_nobodys(b, c))
			continue;
		if (b->devices[c->device - 1].by.nr_owners)
			err = give(b, i, &b->devices[c->device - 1].by);
	}
	return err;
}
