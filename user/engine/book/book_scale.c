// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Counters that counted a part of the time only. */
#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "base/cleanup.h"
#include "base/sums.h"
#include "engine/filter/constants.h"
#include "engine/split/apportion.h"
#include "engine/book/book_rows.h"

/**
 * struct scaling - a count during @den becomes one for @num
 * @ratio: of the two
 * @edges: part of a scaled value that was not counted where turns began
 */
struct scaling {
	uint64_t num, den;
	double ratio;
	double edges;
};

static struct scaling scaling_of(const struct book *b, uint32_t counter, uint64_t num, uint64_t den)
{
	struct scaling s = { num, den, (double)num / den, 0 };

	if (b->roles[counter] == ROLE_MEMORY)
		s.edges = rotation_kernel_edges(1, num, den);
	else
		s.edges = fmin(b->turns[counter].nr * EDGE_NS / den, EDGE_MAX);
	return s;
}

/* How wrong a row's value may be. A device has long turns, of which each is a sample. */
static double row_doubt(const struct book *b, const struct book_row *row, uint32_t counter,
			const struct scaling *by)
{
	const struct entry_share *s = book_share(b, row, counter);
	double doubt = -1;

	if (b->roles[counter] != ROLE_MEMORY)
		doubt = book_turn_doubt(b, book_device_share(row, counter), by->ratio);
	return doubt >= 0 ? doubt : rotation_unseen_doubt(s->value, by->ratio, s->squares);
}

/* The same for all: devices by their turns, unless the counter does not count bytes. */
static double counter_doubt(const struct book *b, uint32_t counter, const struct scaling *by)
{
	const struct counter *c = &b->layout->counters[counter];

	if ((b->roles[counter] == ROLE_BYTES || b->roles[counter] == ROLE_DESTINATION) &&
	    b->rotations[c->group].samples)
		return rotation_doubt(&b->rotations[c->group], c->direction);
	return rotation_unseen_doubt(b->counters[counter].value, by->ratio, b->squares[counter]);
}

/* A counter's bounds when it was scaled to @value. The counted part is sure. */
static void scale_counter_bounds(struct report_counter *c, const struct scaling *by, double doubt,
				 uint64_t value)
{
	uint64_t low = whole_capped(c->low * by->ratio - doubt);

	c->low = low > c->low ? low : c->low;
	c->high = whole_capped(ceil(c->high * by->ratio + doubt + value * by->edges));
	bounds_around(value, &c->low, &c->high);
}

/* A row's bounds when its value was scaled, and all to @max. */
static void scale_bounds(struct entry_share *s, const struct scaling *by, double doubt,
			 uint64_t max)
{
	double low = s->low * by->ratio - doubt;
	double high = s->high * by->ratio + doubt + s->value * by->edges;

	/* The certain part of the counted time stays certain. */
	if (low > s->low)
		s->low = low;
	s->high = high < max ? high : max;
	s->below = fmin(s->below * by->ratio, max);
	bounds_around(s->value, &s->low, &s->high);
}

/* The bytes that weigh a latency grow with the counter. */
static void scale_seen(struct book *b, struct book_row *row, size_t counter, uint64_t counted,
		       uint64_t value)
{
	for (size_t i = 0; i < b->nr_links; i++) {
		struct entry_seen *s = &row->seen[i];

		if (b->scope.links->items[i].counter != counter || !counted)
			continue;
		s->bytes = apportion_scale(s->bytes, value, counted);
		s->byte_ns *= (double)value / counted;
	}
}

/* Rows that have a part in a counter; there is room for all rows. */
static size_t find_parts(struct book *b, uint32_t counter, struct book_row **ret)
{
	struct book_row *row, *next;
	size_t nr = 0;

	HASH_ITER (hh, b->rows, row, next)
		if (book_share(b, row, counter))
			ret[nr++] = row;
	return nr;
}

int book_scale(struct book *b, uint32_t counter, uint64_t num, uint64_t den)
{
	struct report_counter *c = &b->counters[counter];
	const struct scaling by = scaling_of(b, counter, num, den);
	size_t room = HASH_COUNT(b->rows) + NR_REASONS, nr, k = 0;
	cleanup_free uint64_t *parts = calloc(room, 2 * sizeof(*parts));
	cleanup_free struct book_row **rows = calloc(room, sizeof(struct book_row *));
	uint64_t scaled = apportion_scale(c->value, num, den), *weights;
	int err;

	if (!c->value)
		return 0;
	if (!parts || !rows)
		return -ENOMEM;
	nr = find_parts(b, counter, rows);
	weights = parts + room;
	for (; k < NR_REASONS; k++)
		weights[k] = c->unattributed[k];
	for (size_t i = 0; i < nr; i++)
		weights[k++] = book_share(b, rows[i], counter)->value;
	err = apportion(scaled, weights, k, parts);
	if (err)
		return err;
	scale_counter_bounds(c, &by, counter_doubt(b, counter, &by), scaled);
	c->value = scaled;
	c->attributed = scaled;
	for (k = 0; k < NR_REASONS; k++) {
		c->unattributed[k] = parts[k];
		c->attributed -= parts[k];
	}
	for (size_t i = 0; i < nr; i++) {
		struct entry_share *s = book_share(b, rows[i], counter);
		double doubt = row_doubt(b, rows[i], counter, &by);
		uint64_t counted = s->value;

		s->value = parts[k++];
		scale_bounds(s, &by, doubt, c->high);
		scale_seen(b, rows[i], counter, counted, s->value);
	}
	return 0;
}

int book_fill_gaps(struct book *b)
{
	int err = 0;

	for (size_t i = 0; i < b->layout->nr_counters && !err; i++) {
		uint64_t all = b->counters[i].enabled_ns, skipped = b->skipped_ns[i];

		if (b->counters[i].valid && skipped && skipped < all)
			err = book_scale(b, i, all, all - skipped);
		if (!err)
			b->skipped_ns[i] = b->counters[i].valid ? 0 : skipped;
	}
	return err;
}
