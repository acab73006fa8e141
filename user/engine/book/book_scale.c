// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Counters that counted a part of the time only. */
#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "base/cleanup.h"
#include "engine/filter/constants.h"
#include "engine/split/apportion.h"
#include "engine/book/book_rows.h"

/*
 * How wrong a row's value may be when it was scaled from @counted to @value.
 *
 * In each window the counter looked for a part of the time, r = 1 / @ratio. If a window's bytes
 * came in one lump, they were seen wholly with probability r, or not at all: scaled by 1/r that
 * has the variance (1 - r) / r of their square. The squares of what was seen add up to r of all
 * squares, so that the sum has the variance (1 - r) / r^2 = ratio * (ratio - 1) of them.
 *
 * A device has long turns instead, of which each is a sample.
 */
static double scale_doubt(const struct book *b, const struct book_row *row, uint32_t counter,
			  uint64_t value, double ratio)
{
	const struct entry_share *s = book_share(b, row, counter);
	double doubt = -1;

	if (b->roles[counter] != ROLE_MEMORY)
		doubt = book_turn_doubt(b, book_device_share(row, counter), ratio);
	if (doubt >= 0)
		return doubt;
	return fmax(SCALE_DOUBT * (value > s->value ? value - s->value : 0),
		    Z_95 * sqrt(ratio * (ratio - 1) * s->squares));
}

/* A row's bounds when its value was scaled, and all to @total. */
static void scale_bounds(struct entry_share *s, double ratio, double doubt, uint64_t total)
{
	double low = s->low * ratio - doubt, high = s->high * ratio + doubt;

	/* What is sure of the time that was counted stays so. */
	if (low > s->low)
		s->low = low;
	s->high = high < total ? high : total;
	s->below = fmin(s->below * ratio, total);
	if (s->low > s->value)
		s->low = s->value;
	if (s->high < s->value)
		s->high = s->value;
}

/* What a latency is about grows with the bytes it is weighted by. */
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
	c->value = scaled;
	c->attributed = scaled;
	for (k = 0; k < NR_REASONS; k++) {
		c->unattributed[k] = parts[k];
		c->attributed -= parts[k];
	}
	for (size_t i = 0; i < nr; i++) {
		struct entry_share *s = book_share(b, rows[i], counter);
		double ratio = (double)num / den;
		double doubt = scale_doubt(b, rows[i], counter, parts[k], ratio);
		uint64_t counted = s->value;

		s->value = parts[k++];
		scale_bounds(s, ratio, doubt, scaled);
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
