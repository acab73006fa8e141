// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Parts of accounts: differences and sums. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "account.h"
#include "base/sums.h"

/* Sums in accounts only grow; a saturated one has nothing new. */
static uint64_t since(uint64_t now, uint64_t before)
{
	return now > before ? now - before : 0;
}

/* --- parts */

static bool empty_total(const struct account_total *t)
{
	return !t->value && !t->low && !t->high;
}

static sum128 sum_since(sum128 now, sum128 before)
{
	return now > before ? now - before : 0;
}

static struct account_total total_since(const struct account_total *now,
					const struct account_total *before)
{
	return (struct account_total){
		.counter = now->counter,
		.value = sum_since(now->value, before->value),
		.low = sum_since(now->low, before->low),
		.high = sum_since(now->high, before->high),
		.inseparable = sum_since(now->inseparable, before->inseparable),
	};
}

static const struct account_io *find_io(const struct account_part *p, const char *bdf)
{
	for (size_t i = 0; i < p->nr_io; i++)
		if (!strncmp(p->io[i].bdf, bdf, sizeof(p->io[i].bdf)))
			return &p->io[i];
	return NULL;
}

static void io_since(const struct account_part *now, const struct account_part *before,
		     struct account_part *ret)
{
	static const struct account_io none;

	for (size_t i = 0; i < now->nr_io; i++) {
		const struct account_io *old = find_io(before, now->io[i].bdf);
		struct account_io io = now->io[i];

		old = old ? old : &none;
		io.read_bytes = since(io.read_bytes, old->read_bytes);
		io.write_bytes = since(io.write_bytes, old->write_bytes);
		if (io.read_bytes || io.write_bytes)
			ret->io[ret->nr_io++] = io;
	}
}

int account_part_since(const struct account_part *now, const struct account_part *before,
		       struct account_part *ret)
{
	static const struct account_total none;
	struct account_part p = { .start_ns = now->start_ns, .end_ns = now->end_ns };

	p.on_cpu_ns = sum_since(now->on_cpu_ns, before->on_cpu_ns);
	p.totals = calloc(now->nr_totals + 1, sizeof(*p.totals));
	p.io = calloc(now->nr_io + 1, sizeof(*p.io));
	if (!p.totals || !p.io) {
		account_part_release(&p);
		return -ENOMEM;
	}
	for (size_t i = 0, k = 0; i < now->nr_totals; i++) {
		const struct account_total *old = &none;
		struct account_total t;

		while (k < before->nr_totals && before->totals[k].counter < now->totals[i].counter)
			k++;
		if (k < before->nr_totals && before->totals[k].counter == now->totals[i].counter)
			old = &before->totals[k];
		t = total_since(&now->totals[i], old);
		if (!empty_total(&t))
			p.totals[p.nr_totals++] = t;
	}
	io_since(now, before, &p);
	*ret = p;
	return 0;
}

bool account_part_empty(const struct account_part *p)
{
	return !p->on_cpu_ns && !p->nr_totals && !p->nr_io;
}

static void add_total(struct account_total *to, const struct account_total *from)
{
	to->value += from->value;
	to->low += from->low;
	to->high += from->high;
	to->inseparable += from->inseparable;
}

/* Both are in counter order, and so is their sum. */
static int add_totals(struct account_part *to, const struct account_part *from)
{
	size_t nr = 0, i = 0, k = 0;
	struct account_total *sum = calloc(to->nr_totals + from->nr_totals + 1, sizeof(*sum));

	if (!sum)
		return -ENOMEM;
	while (i < to->nr_totals || k < from->nr_totals) {
		bool first = i < to->nr_totals, second = k < from->nr_totals;

		if (first && second && to->totals[i].counter == from->totals[k].counter) {
			sum[nr] = to->totals[i++];
			add_total(&sum[nr++], &from->totals[k++]);
		} else if (first && (!second || to->totals[i].counter < from->totals[k].counter)) {
			sum[nr++] = to->totals[i++];
		} else {
			sum[nr++] = from->totals[k++];
		}
	}
	free(to->totals);
	to->totals = sum;
	to->nr_totals = nr;
	return 0;
}

static int add_io(struct account_part *to, const struct account_part *from)
{
	struct account_io *io = reallocarray(to->io, to->nr_io + from->nr_io + 1, sizeof(*io));

	if (!io)
		return -ENOMEM;
	to->io = io;
	for (size_t i = 0; i < from->nr_io; i++) {
		struct account_io *same = (struct account_io *)find_io(to, from->io[i].bdf);

		if (!same) {
			io[to->nr_io++] = from->io[i];
			continue;
		}
		same->read_bytes = sum_capped(same->read_bytes, from->io[i].read_bytes);
		same->write_bytes = sum_capped(same->write_bytes, from->io[i].write_bytes);
	}
	return 0;
}

int account_part_add(struct account_part *to, const struct account_part *from)
{
	to->end_ns = from->end_ns;
	to->on_cpu_ns += from->on_cpu_ns;
	return add_totals(to, from) ?: add_io(to, from);
}

/* --- the machine */

/* Consecutive numbers, as in accounts */
static void fields(void *to, const void *a, const void *b, size_t nr,
		   uint64_t (*of)(uint64_t, uint64_t))
{
	for (size_t i = 0; i < nr; i++) {
		uint64_t x, y;

		memcpy(&x, (const char *)a + i * sizeof(x), sizeof(x));
		memcpy(&y, (const char *)b + i * sizeof(y), sizeof(y));
		x = of(x, y);
		memcpy((char *)to + i * sizeof(x), &x, sizeof(x));
	}
}

static void losses(struct accounts_node *to, const struct accounts_node *a,
		   const struct accounts_node *b, uint64_t (*of)(uint64_t, uint64_t))
{
	fields(&to->quality.windows, &a->quality.windows, &b->quality.windows, NR_QUALITY_NUMBERS,
	       of);
	fields(&to->self, &a->self, &b->self, sizeof(to->self) / sizeof(uint64_t), of);
	to->intervals = of(a->intervals, b->intervals);
	to->covered_ns = of(a->covered_ns, b->covered_ns);
	to->gaps = of(a->gaps, b->gaps);
	to->gap_ns = of(a->gap_ns, b->gap_ns);
}

static void names(struct quality *to, const struct quality *from)
{
	to->method = from->method;
	memcpy(to->weights, from->weights, sizeof(to->weights));
}

static sum128 sum_of(sum128 a, sum128 b)
{
	return a + b;
}

/* How numbers of counters are combined, and their sums */
struct of_numbers {
	uint64_t (*number)(uint64_t a, uint64_t b);
	sum128 (*sum)(sum128 a, sum128 b);
};
static const struct of_numbers difference = { since, sum_since }, both = { sum_capped, sum_of };

/* Fields that are numbers and add up */
static void total_numbers(struct account_node_total *to, const struct account_node_total *a,
			  const struct account_node_total *b, const struct of_numbers *of)
{
	to->value = of->sum(a->value, b->value);
	to->attributed = of->sum(a->attributed, b->attributed);
	for (int i = 0; i < NR_REASONS; i++)
		to->unattributed[i] = of->sum(a->unattributed[i], b->unattributed[i]);
	to->enabled_ns = of->number(a->enabled_ns, b->enabled_ns);
	to->running_ns = of->number(a->running_ns, b->running_ns);
	to->missing = of->number(a->missing, b->missing);
}

int accounts_node_copy(const struct accounts_node *from, struct accounts_node *ret)
{
	struct accounts_node n = *from;

	n.counters = NULL;
	n.nr_counters = 0;
	n.totals = calloc(from->nr_totals + 1, sizeof(*n.totals));
	if (!n.totals)
		return -ENOMEM;
	if (from->nr_totals)
		memcpy(n.totals, from->totals, from->nr_totals * sizeof(*n.totals));
	*ret = n;
	return 0;
}

int accounts_node_since(const struct accounts_node *now, const struct accounts_node *before,
			struct accounts_node *ret)
{
	struct accounts_node n = { .since_ns = before->until_ns, .until_ns = now->until_ns };

	n.totals = calloc(now->nr_totals + 1, sizeof(*n.totals));
	if (!n.totals)
		return -ENOMEM;
	losses(&n, now, before, since);
	names(&n.quality, &now->quality);
	for (size_t i = 0; i < now->nr_totals; i++) {
		/* A new one was missing in all earlier intervals. */
		struct account_node_total old = { .missing = before->intervals };
		struct account_node_total *t = &n.totals[n.nr_totals];

		if (i < before->nr_totals)
			old = before->totals[i];
		t->counter = now->totals[i].counter;
		total_numbers(t, &now->totals[i], &old, &difference);
		if (t->enabled_ns || t->missing < n.intervals)
			n.nr_totals++;
	}
	*ret = n;
	return 0;
}

int accounts_node_add(struct accounts_node *to, const struct accounts_node *from)
{
	size_t nr = 0, i = 0, k = 0;
	struct account_node_total *sum = calloc(to->nr_totals + from->nr_totals + 1, sizeof(*sum));

	if (!sum)
		return -ENOMEM;
	while (i < to->nr_totals || k < from->nr_totals) {
		/* A missing one was missing all the time. */
		struct account_node_total a = { .missing = to->intervals };
		struct account_node_total b = { .missing = from->intervals };
		uint32_t x = i < to->nr_totals ? to->totals[i].counter : UINT32_MAX;
		uint32_t y = k < from->nr_totals ? from->totals[k].counter : UINT32_MAX;

		if (x <= y)
			a = to->totals[i++];
		if (y <= x)
			b = from->totals[k++];
		sum[nr].counter = x < y ? x : y;
		total_numbers(&sum[nr++], &a, &b, &both);
	}
	free(to->totals);
	to->totals = sum;
	to->nr_totals = nr;
	losses(to, to, from, sum_capped);
	names(&to->quality, &from->quality);
	to->until_ns = from->until_ns;
	return 0;
}
