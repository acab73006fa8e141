// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "report/html/history.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define HASH_NONFATAL_OOM 1
#include <uthash.h>

#include "base/array.h"
#include "base/sums.h"
#include "report/devices.h"

struct history_row {
	char key[MODEL_KEY_LEN + 1]; /* behind a letter that distinguishes leaf rows */
	uint32_t number;
	UT_hash_handle hh;
};

static void release(struct history_point *p)
{
	free(p->cells);
	free(p->sockets);
	free(p->probes);
	free(p->devices);
}

void history_free(struct history *h)
{
	struct history_row *row, *next;

	for (size_t i = 0; i < h->nr; i++)
		release(&h->points[i]);
	free(h->points);
	free(h->leaf);
	HASH_ITER (hh, h->rows, row, next) {
		HASH_DEL(h->rows, row);
		free(row);
	}
	*h = (struct history){ 0 };
}

static void make_key(char ret[MODEL_KEY_LEN + 1], const char *key, bool leaf)
{
	snprintf(ret, MODEL_KEY_LEN + 1, "%c%s", leaf ? 'l' : 'p', key);
}

uint32_t history_row(const struct history *h, const char *key, bool leaf)
{
	char wanted[MODEL_KEY_LEN + 1];
	struct history_row *row;

	make_key(wanted, key, leaf);
	HASH_FIND_STR(h->rows, wanted, row);
	return row ? row->number : HISTORY_POOLED;
}

bool history_is_leaf(const struct history *h, uint32_t number)
{
	return number == HISTORY_POOLED || h->leaf[number];
}

/* As history_row(); a new row gets a number, if any is left. */
static int number_of(struct history *h, const struct report_row *r, uint32_t *ret)
{
	struct history_row *row;

	*ret = history_row(h, r->key, r->leaf);
	if (*ret != HISTORY_POOLED || h->nr_rows >= HISTORY_MAX_ROWS)
		return 0;
	if (array_reserve(h->leaf, h->cap_leaf, h->nr_rows + 1))
		return -ENOMEM;
	row = calloc(1, sizeof(*row));
	if (!row)
		return -ENOMEM;
	make_key(row->key, r->key, r->leaf);
	HASH_ADD_STR(h->rows, key, row);
	if (!row->hh.tbl) {
		free(row);
		return -ENOMEM;
	}
	row->number = *ret = (uint32_t)++h->nr_rows;
	h->leaf[row->number] = r->leaf;
	return 0;
}

/* --- cells */

static int compare_cells(const void *a, const void *b)
{
	const struct history_cell *x = a, *y = b;

	return ORDER(x->row, y->row) ?: ORDER(x->column, y->column);
}

void history_cell_add(struct history_cell *to, const struct history_cell *from)
{
	to->value = sum_capped(to->value, from->value);
	to->low = sum_capped(to->low, from->low);
	to->high = sum_capped(to->high, from->high);
}

/* Cells of the same row and column become one. */
static void sort_cells(struct history_point *p)
{
	size_t kept = 0;

	qsort(p->cells, p->nr, sizeof(*p->cells), compare_cells);
	for (size_t i = 0; i < p->nr; i++) {
		if (kept && !compare_cells(&p->cells[kept - 1], &p->cells[i]))
			history_cell_add(&p->cells[kept - 1], &p->cells[i]);
		else
			p->cells[kept++] = p->cells[i];
	}
	p->nr = kept;
}

static void put_cell(struct history_point *p, const struct history_cell *cell)
{
	if (cell->value || cell->low || cell->high)
		p->cells[p->nr++] = *cell;
}

/* The kind of cells for a share; NR_HISTORY_SPLIT: none, its bytes are a device's */
static enum history_kind kind_of(const struct counter *c)
{
	if (devices_task_counter(c))
		return (enum history_kind)c->direction;
	return c->unit == UNIT_NANOJOULES && !c->device ? HISTORY_ENERGY : NR_HISTORY_SPLIT;
}

/* At most a cell for each share and number; @sums has room for all columns of sockets. */
static void put_row(struct history_point *p, const struct report *r, const struct report_row *row,
		    uint32_t number, struct history_cell *sums)
{
	for (uint32_t i = 0; i < r->nr_sockets * NR_HISTORY_SPLIT; i++)
		sums[i] = (struct history_cell){ .row = number, .column = i };
	for (size_t i = 0; i < row->nr_shares; i++) {
		const struct share *s = &row->shares[i];
		const struct counter *c = r->counters[s->counter].counter;
		const struct history_cell cell = { .value = s->value,
						   .low = s->low,
						   .high = s->high };
		enum history_kind kind = kind_of(c);

		if (kind < NR_HISTORY_SPLIT && c->socket < r->nr_sockets)
			history_cell_add(&sums[history_column(c->socket, kind)], &cell);
	}
	for (size_t i = 0; i < r->nr_sockets * NR_HISTORY_SPLIT; i++)
		put_cell(p, &sums[i]);
	for (uint32_t i = 0; i < NR_FACTS_OF_ROWS; i++) {
		const uint64_t value = fact_of(&facts_of_rows[i], row);

		put_cell(p, &(struct history_cell){ number, HISTORY_NUMBERS + i, value, value,
						    value });
	}
}

static int put_rows(struct history *h, struct history_point *p, const struct report *r)
{
	struct history_cell *sums = calloc(r->nr_sockets * NR_HISTORY_SPLIT + 1, sizeof(*sums));
	size_t most = r->nr_rows * NR_FACTS_OF_ROWS + 1;
	int err = 0;

	for (size_t i = 0; i < r->nr_rows; i++)
		most += r->rows[i].nr_shares;
	p->cells = calloc(most, sizeof(*p->cells));
	if (!sums || !p->cells)
		err = -ENOMEM;
	for (size_t i = 0; i < r->nr_rows && !err; i++) {
		const struct report_row *row = &r->rows[i];
		uint32_t number;

		err = number_of(h, row, &number);
		if (!err && (number != HISTORY_POOLED || row->leaf))
			put_row(p, r, row, number, sums);
	}
	free(sums);
	if (!err)
		sort_cells(p);
	return err;
}

/* --- the machine */

static void put_count(struct history_count *to, const struct report *r,
		      const struct report_counter *rc, bool owned)
{
	if (!rc->valid) {
		to->incomplete = true;
		return;
	}
	to->counted_ns = r->end_ns - r->start_ns;
	to->value = sum_capped(to->value, rc->value);
	if (owned)
		to->owned = sum_capped(to->owned, rc->attributed);
	for (int reason = 0; reason < NR_REASONS; reason++)
		to->unattributed[reason] =
			sum_capped(to->unattributed[reason], rc->unattributed[reason]);
}

static void put_sockets(struct history_point *p, const struct report *r, size_t nr)
{
	for (size_t i = 0; i < nr && i < r->nr_sockets; i++)
		for (size_t k = 0; k < NR_FACTS_OF_SOCKETS; k++)
			p->sockets[i].numbers[k] = fact_of(&facts_of_sockets[k], &r->sockets[i]);
	for (size_t i = 0; i < r->nr_counters; i++) {
		const struct report_counter *rc = &r->counters[i];
		const struct counter *c = rc->counter;
		struct history_socket *s = c->socket < nr ? &p->sockets[c->socket] : NULL;

		if (!s || c->device)
			continue;
		if (c->unit == UNIT_NANOJOULES)
			put_count(&s->kinds[HISTORY_ENERGY], r, rc, false);
		if (c->unit != UNIT_BYTES)
			continue;
		put_count(&s->kinds[c->direction], r, rc, !devices_task_counter(c));
		put_count(&s->kinds[HISTORY_BYTES], r, rc, !devices_task_counter(c));
	}
}

static void put_probes(struct history_point *p, const struct report *r, size_t nr)
{
	for (size_t i = 0; i < nr && i < r->nr_probes; i++)
		if (r->probes[i].valid)
			p->probes[i] = (struct history_probe){
				.ns_requests =
					r->probes[i].latency_ns * (double)r->probes[i].requests,
				.requests = (double)r->probes[i].requests,
			};
}

static void put_side(struct history_device *to, const struct device_bytes *side)
{
	if (!side->valid)
		return;
	to->value = sum_capped(to->value, side->bytes);
	to->low = sum_capped(to->low, side->low);
	to->high = sum_capped(to->high, side->high);
}

static void put_devices(struct history_point *p, const struct report *r, size_t nr)
{
	for (size_t i = 0; i < nr && i < r->nr_devices; i++) {
		const struct report_device *d = &r->devices[i];

		if (d->read.valid || d->write.valid)
			p->devices[i].counted_ns = devices_time_ns(r, d);
		put_side(&p->devices[i], &d->read);
		put_side(&p->devices[i], &d->write);
	}
}

int history_add(struct history *h, const struct report *r)
{
	struct history_point p = { .start_ns = r->start_ns, .end_ns = r->end_ns, .intervals = 1 };
	int err;

	if (!h->intervals) {
		h->nr_sockets = r->nr_sockets;
		h->nr_probes = r->nr_probes;
		h->nr_devices = r->nr_devices;
		h->start_time_ns = r->start_time_ns;
	}
	if (array_reserve(h->points, h->cap, h->nr))
		return -ENOMEM;
	p.sockets = calloc(h->nr_sockets + 1, sizeof(*p.sockets));
	p.probes = calloc(h->nr_probes + 1, sizeof(*p.probes));
	p.devices = calloc(h->nr_devices + 1, sizeof(*p.devices));
	err = p.sockets && p.probes && p.devices ? put_rows(h, &p, r) : -ENOMEM;
	if (err) {
		release(&p);
		return err;
	}
	put_sockets(&p, r, h->nr_sockets);
	put_probes(&p, r, h->nr_probes);
	put_devices(&p, r, h->nr_devices);
	h->points[h->nr++] = p;
	h->nr_cells += p.nr;
	h->intervals++;
	if (h->nr <= HISTORY_MAX_POINTS && h->nr_cells <= HISTORY_MAX_CELLS)
		return 0;
	/* With some spare room for the next intervals. */
	return history_thin(h, HISTORY_MAX_POINTS * 7 / 8, HISTORY_MAX_CELLS / 8 * 7);
}

/* --- fewer points */

static void join_counts(struct history_count *to, const struct history_count *from)
{
	/* Time without counting is not part of a rate. */
	to->incomplete |= from->incomplete || !to->counted_ns != !from->counted_ns;
	to->counted_ns += from->counted_ns;
	to->value = sum_capped(to->value, from->value);
	to->owned = sum_capped(to->owned, from->owned);
	for (int i = 0; i < NR_REASONS; i++)
		to->unattributed[i] = sum_capped(to->unattributed[i], from->unattributed[i]);
}

static void join_sockets(struct history_socket *to, const struct history_socket *from)
{
	for (int k = 0; k < NR_HISTORY_KINDS; k++)
		join_counts(&to->kinds[k], &from->kinds[k]);
	for (size_t k = 0; k < NR_FACTS_OF_SOCKETS; k++)
		to->numbers[k] = sum_capped(to->numbers[k], from->numbers[k]);
}

static void join_devices(struct history_device *to, const struct history_device *from)
{
	to->counted_ns += from->counted_ns;
	to->value = sum_capped(to->value, from->value);
	to->low = sum_capped(to->low, from->low);
	to->high = sum_capped(to->high, from->high);
}

/* Merge point @i with the next one. */
static int join(struct history *h, size_t i)
{
	struct history_point *a = &h->points[i], *b = a + 1;
	struct history_cell *cells = reallocarray(a->cells, a->nr + b->nr + 1, sizeof(*cells));

	if (!cells)
		return -ENOMEM;
	a->cells = cells;
	h->nr_cells -= a->nr + b->nr;
	memcpy(cells + a->nr, b->cells, b->nr * sizeof(*cells));
	a->nr += b->nr;
	sort_cells(a);
	h->nr_cells += a->nr;
	for (size_t k = 0; k < h->nr_sockets; k++)
		join_sockets(&a->sockets[k], &b->sockets[k]);
	for (size_t k = 0; k < h->nr_probes; k++) {
		a->probes[k].ns_requests += b->probes[k].ns_requests;
		a->probes[k].requests += b->probes[k].requests;
	}
	for (size_t k = 0; k < h->nr_devices; k++)
		join_devices(&a->devices[k], &b->devices[k]);
	a->end_ns = b->end_ns;
	a->intervals += b->intervals;
	release(b);
	memmove(b, b + 1, (size_t)(h->points + h->nr - (b + 1)) * sizeof(*b));
	h->nr--;
	return 0;
}

/* The pair that is the shortest for its age: lengths grow with the square root of the age. */
static size_t least_missed(const struct history *h)
{
	double least = INFINITY;
	size_t best = 0;

	for (size_t i = 0; i + 1 < h->nr; i++) {
		const struct history_point *p = &h->points[i];
		double length = (double)(p[1].end_ns - p->start_ns);
		double age = (double)(h->points[h->nr - 1].end_ns - p->start_ns);
		double missed = length / sqrt(age + 1);

		if (missed < least) {
			least = missed;
			best = i;
		}
	}
	return best;
}

int history_thin(struct history *h, size_t points, size_t cells)
{
	int err = 0;

	while (!err && h->nr > 1 && (h->nr > points || h->nr_cells > cells))
		err = join(h, least_missed(h));
	return err;
}
