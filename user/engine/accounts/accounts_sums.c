// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* The machine's numbers: see internal.h. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "engine/accounts/internal.h"

/* Both are walked through as rows of numbers. */
_Static_assert(sizeof(struct quality) ==
		       offsetof(struct quality, windows) + QUALITY_FIELDS * sizeof(uint64_t),
	       "after the first two, all of quality are numbers");
_Static_assert(offsetof(struct self_cost, probe_failed) == (SELF_FIELDS - 1) * sizeof(uint64_t),
	       "all of self_cost are numbers");

int accounts_reserve_(void *items, size_t *cap, size_t want, size_t size)
{
	void **p = items;
	size_t to = *cap ? *cap : 16;
	char *bigger;

	if (want <= *cap)
		return 0;
	while (to < want)
		to *= 2;
	bigger = reallocarray(*p, to, size);
	if (!bigger)
		return -ENOMEM;
	memset(bigger + *cap * size, 0, (to - *cap) * size);
	*p = bigger;
	*cap = to;
	return 0;
}

int accounts_sums_reserve(struct accounts *a, size_t nr_counters)
{
	size_t to = a->cap_counters ? a->cap_counters : 16;
	size_t cap_counters = a->cap_counters, cap_totals = a->cap_counters;
	sum128 *sums;
	int err;

	if (a->sums && nr_counters <= a->cap_counters)
		return 0;
	/* As accounts_reserve() does it: all three have the same capacity. */
	while (to < nr_counters)
		to *= 2;
	/* Arrays that have grown before a later one fails do no harm. */
	err = accounts_reserve(a->node.counters, cap_counters, to);
	if (!err)
		err = accounts_reserve(a->node.totals, cap_totals, to);
	if (err)
		return err;
	sums = reallocarray(a->sums, NR_SUMS + to * NR_OF_COUNTER, sizeof(*sums));
	if (!sums)
		return -ENOMEM;
	if (!a->sums)
		memset(sums, 0, NR_SUMS * sizeof(*sums));
	memset(accounts_sums_of(sums, a->cap_counters), 0,
	       (to - a->cap_counters) * NR_OF_COUNTER * sizeof(*sums));
	a->sums = sums;
	a->cap_counters = to;
	return 0;
}

static uint64_t field_of(const void *fields, size_t i)
{
	uint64_t value;

	memcpy(&value, (const char *)fields + i * sizeof(value), sizeof(value));
	return value;
}

static void set_field(void *fields, size_t i, uint64_t value)
{
	memcpy((char *)fields + i * sizeof(value), &value, sizeof(value));
}

static void copy_names(struct quality *to, const struct quality *from)
{
	to->method = from->method;
	memcpy(to->weights, from->weights, sizeof(to->weights));
}

/* An interval's number goes to the machine's numbers and, cut to 64 bits, to its total. */
static void add_one(sum128 *cell, uint64_t *total, uint64_t value)
{
	*cell += value;
	*total = sum_capped(*total, value);
}

static void add_sum(sum128 *cell, sum128 *total, uint64_t value)
{
	*cell += value;
	*total += value;
}

static void add_fields(sum128 *cells, void *totals, const void *values, size_t nr)
{
	for (size_t i = 0; i < nr; i++) {
		uint64_t value = field_of(values, i);

		cells[i] += value;
		set_field(totals, i, sum_capped(field_of(totals, i), value));
	}
}

static void add_counter(sum128 *cells, struct account_node_total *t, const struct report_counter *c)
{
	cells[OF_LISTED]++;
	add_one(&cells[OF_ENABLED], &t->enabled_ns, c->enabled_ns);
	add_one(&cells[OF_RUNNING], &t->running_ns, c->running_ns);
	if (!c->valid)
		return;
	cells[OF_VALID]++;
	add_sum(&cells[OF_VALUE], &t->value, c->value);
	add_sum(&cells[OF_ATTRIBUTED], &t->attributed, c->attributed);
	for (int i = 0; i < NR_REASONS; i++)
		add_sum(&cells[OF_UNATTRIBUTED + i], &t->unattributed[i], c->unattributed[i]);
	/* It was counted as missing together with all counters. */
	if (t->missing)
		t->missing--;
}

void accounts_sums_add(struct accounts *a, const struct report *r)
{
	struct accounts_node *n = &a->node;

	for (size_t i = 0; i < n->nr_totals; i++)
		n->totals[i].missing = sum_capped(n->totals[i].missing, 1);
	add_one(&a->sums[SUM_INTERVALS], &n->intervals, 1);
	add_one(&a->sums[SUM_COVERED], &n->covered_ns, r->end_ns - r->start_ns);
	add_fields(&a->sums[SUM_QUALITY], &n->quality.windows, &r->quality.windows, QUALITY_FIELDS);
	add_fields(&a->sums[SUM_SELF], &n->self, &r->self, SELF_FIELDS);
	copy_names(&n->quality, &r->quality);
	for (size_t i = 0; i < r->nr_counters; i++)
		if (a->map[i] != NO_COUNTER)
			add_counter(accounts_sums_of(a->sums, a->map[i]), &n->totals[a->map[i]],
				    &r->counters[i]);
}

void accounts_sums_retake(const struct accounts *a, struct sums_base *b)
{
	memcpy(b->cells, a->sums, (NR_SUMS + b->nr_counters * NR_OF_COUNTER) * sizeof(b->cells[0]));
}

struct sums_base *accounts_sums_take(const struct accounts *a, size_t nr_counters)
{
	size_t nr = NR_SUMS + nr_counters * NR_OF_COUNTER;
	struct sums_base *b = calloc(1, sizeof(*b) + nr * sizeof(b->cells[0]));

	if (!b)
		return NULL;
	b->refs = 1;
	b->nr_counters = nr_counters;
	accounts_sums_retake(a, b);
	return b;
}

void accounts_sums_drop(struct sums_base *b)
{
	if (b && !--b->refs)
		free(b);
}

/* Growth of the numbers since they were taken. A counter that came later began at 0. */
static sum128 since(const struct accounts *a, const struct sums_base *b, size_t counter, size_t of)
{
	sum128 now = accounts_sums_of(a->sums, counter)[of];

	return counter < b->nr_counters ? now - accounts_sums_of((sum128 *)b->cells, counter)[of]
					: now;
}

/* Fields of an account go on from what was in them before. */
static void continue_fields(void *fields, size_t nr, const sum128 *now, const sum128 *base)
{
	for (size_t i = 0; i < nr; i++)
		set_field(fields, i, capped(field_of(fields, i), now[i] - base[i]));
}

/* @t: what was before, all 0 and missing in all intervals if there was nothing */
static void continue_counter(const struct accounts *a, const struct sums_base *b,
			     uint64_t intervals, struct account_node_total *t)
{
	size_t c = t->counter;

	t->value += since(a, b, c, OF_VALUE);
	t->attributed += since(a, b, c, OF_ATTRIBUTED);
	for (int i = 0; i < NR_REASONS; i++)
		t->unattributed[i] += since(a, b, c, OF_UNATTRIBUTED + i);
	t->enabled_ns = capped(t->enabled_ns, since(a, b, c, OF_ENABLED));
	t->running_ns = capped(t->running_ns, since(a, b, c, OF_RUNNING));
	if (intervals > since(a, b, c, OF_VALID))
		t->missing = capped(t->missing, intervals - since(a, b, c, OF_VALID));
}

void accounts_sums_account(const struct accounts *a, const struct account_entry *e,
			   struct account_node_total *node, struct account_job *ret)
{
	const struct account_node_total *before = e->account.node;
	const struct account_node_total *end = before + e->account.nr_node;
	const struct sums_base *b = e->base;
	uint64_t intervals, end_ns;
	size_t nr = 0;

	*ret = e->account;
	if (!b)
		return;
	intervals = (uint64_t)(a->sums[SUM_INTERVALS] - b->cells[SUM_INTERVALS]);
	for (size_t c = 0; c < a->node.nr_counters; c++) {
		struct account_node_total *t = &node[nr];

		if (before < end && before->counter == c)
			*t = *before++;
		else if (since(a, b, c, OF_LISTED))
			*t = (struct account_node_total){ .counter = (uint32_t)c,
							  .missing = e->account.intervals };
		else
			continue;
		continue_counter(a, b, intervals, t);
		nr++;
	}
	ret->node = node;
	ret->nr_node = nr;
	ret->intervals = sum_capped(ret->intervals, intervals);
	ret->covered_ns = capped(ret->covered_ns, a->sums[SUM_COVERED] - b->cells[SUM_COVERED]);
	continue_fields(&ret->quality.windows, QUALITY_FIELDS, &a->sums[SUM_QUALITY],
			&b->cells[SUM_QUALITY]);
	continue_fields(&ret->self, SELF_FIELDS, &a->sums[SUM_SELF], &b->cells[SUM_SELF]);
	copy_names(&ret->quality, &a->node.quality);
	/* The clock may have been set back: then the job ended as long after its begin as it was there. */
	end_ns = sum_capped(sum_capped(ret->whole.start_ns, ret->covered_ns), ret->gap_ns);
	ret->whole.end_ns = later(end_ns, a->node.until_ns);
	ret->clock_back_ns = ret->whole.end_ns - a->node.until_ns;
}
