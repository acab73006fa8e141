// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * A job that begins within an interval: the books are closed soon after, and the interval may have
 * begun long before. Its own traffic is all of its own time. That of the machine is of the whole
 * interval and cannot be divided, so the account has only the job's own part of it, and how long
 * that was (others_unknown_ns).
 */
#include <errno.h>
#include <stdlib.h>

#include "engine/accounts/internal.h"

uint64_t accounts_begin_time(const struct report *r, uint64_t ns)
{
	uint64_t within = ns > r->start_ns ? ns - r->start_ns : 0, max = r->end_ns - r->start_ns;

	return sum_capped(r->start_time_ns, within < max ? within : max);
}

int accounts_begin_prepare(struct account_entry *e, const struct report *r)
{
	uint64_t begin_ns = e->who && e->who->made ? e->who->begin_ns : 0;

	e->begin_ns = begin_ns > r->start_ns ? begin_ns : 0;
	if (!e->begin_ns)
		return 0;
	/* A record may come before the books are closed, and be of a moment behind that. */
	if (e->begin_ns > r->end_ns)
		e->begin_ns = r->end_ns;
	e->account.node = calloc(r->nr_counters + 1, sizeof(*e->account.node));
	return e->account.node ? 0 : -ENOMEM;
}

/* A counter took turns in this time as in the whole interval. */
static struct account_node_total node_of(uint32_t counter, const struct report_counter *c,
					 uint64_t covered_ns)
{
	struct account_node_total t = { .counter = counter,
					.enabled_ns = c->enabled_ns,
					.running_ns = c->running_ns,
					.missing = !c->valid };

	if (t.enabled_ns <= covered_ns)
		return t;
	t.running_ns = (uint64_t)((sum128)t.running_ns * covered_ns / t.enabled_ns);
	t.enabled_ns = covered_ns;
	return t;
}

void accounts_begin_job(const struct accounts *a, struct account_entry *e, const struct report *r)
{
	struct account_job *j = &e->account;

	j->intervals = 1;
	j->covered_ns = j->others_unknown_ns = r->end_ns - e->begin_ns;
	for (size_t i = 0; i < r->nr_counters; i++)
		if (a->map[i] != NO_COUNTER)
			j->node[j->nr_node++] = node_of(a->map[i], &r->counters[i], j->covered_ns);
	accounts_part_sort_node(j);
	/* A loss of the interval may be one of this time. */
	j->quality = r->quality;
}

void accounts_begin_own(struct account_entry *e)
{
	const struct account_part *p = &e->account.whole;

	if (!e->begin_ns)
		return;
	for (size_t i = 0, k = 0; i < e->account.nr_node && k < p->nr_totals; i++) {
		struct account_node_total *t = &e->account.node[i];

		if (t->counter == p->totals[k].counter)
			t->value = t->attributed = p->totals[k++].value;
	}
	e->begin_ns = 0;
}
