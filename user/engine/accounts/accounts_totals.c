// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Contents of accounts by counter and by device, and steps. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/text.h"
#include "engine/accounts/internal.h"

/*
 * Make room for one more in an array without a capacity of its own: it has room for the next
 * power of two. Having been longer once does no harm.
 */
static int one_more_(void *items, size_t nr, size_t size)
{
	void **p = items;
	void *bigger;

	if (nr && (nr < 4 || (nr & (nr - 1))))
		return 0;
	bigger = reallocarray(*p, nr ? nr * 2 : 4, size);
	if (!bigger)
		return -ENOMEM;
	*p = bigger;
	return 0;
}
#define one_more(items, nr) one_more_(&(items), (nr), sizeof(*(items)))

/* Index of a counter, or of where it belongs. */
static size_t place_of(const struct account_part *p, uint32_t counter)
{
	return array_place(p->nr_totals, i, p->totals[i].counter < counter);
}

struct account_total *accounts_part_search(struct account_part *p, uint32_t counter, size_t *hint)
{
	size_t i = place_of(p, counter);

	if (i == p->nr_totals || p->totals[i].counter != counter)
		return NULL;
	*hint = i + 1;
	return &p->totals[i];
}

int accounts_part_reserve(struct account_part *p, uint32_t counter, size_t *hint)
{
	size_t i;

	if (accounts_part_total(p, counter, hint))
		return 0;
	if (one_more(p->totals, p->nr_totals))
		return -ENOMEM;
	i = place_of(p, counter);
	memmove(p->totals + i + 1, p->totals + i, (p->nr_totals++ - i) * sizeof(*p->totals));
	p->totals[i] = (struct account_total){ .counter = counter };
	*hint = i + 1;
	return 0;
}

struct account_io *accounts_part_io(struct account_part *p, const char *bdf)
{
	for (size_t i = 0; i < p->nr_io; i++)
		if (!strncmp(p->io[i].bdf, bdf, sizeof(p->io[i].bdf)))
			return &p->io[i];
	return NULL;
}

int accounts_part_reserve_io(struct account_part *p, const struct device *d)
{
	if (accounts_part_io(p, d->bdf))
		return 0;
	if (one_more(p->io, p->nr_io))
		return -ENOMEM;
	p->io[p->nr_io] = (struct account_io){ 0 };
	str_copy(p->io[p->nr_io].bdf, sizeof(p->io->bdf), d->bdf);
	str_copy(p->io[p->nr_io++].name, sizeof(p->io->name), d->name);
	return 0;
}

void accounts_part_trim(struct account_part *p)
{
	size_t nr = 0;

	for (size_t i = 0; i < p->nr_totals; i++)
		if (p->totals[i].value || p->totals[i].high)
			p->totals[nr++] = p->totals[i];
	p->nr_totals = nr;
	nr = 0;
	for (size_t i = 0; i < p->nr_io; i++)
		if (p->io[i].read_bytes || p->io[i].write_bytes)
			p->io[nr++] = p->io[i];
	p->nr_io = nr;
}

int accounts_part_step(struct account_entry *e, const char *step)
{
	size_t nr = e->account.nr_steps + e->pending_steps;

	if (one_more(e->account.steps, nr))
		return -ENOMEM;
	e->account.steps[nr] = (struct account_part){ 0 };
	str_copy(e->account.steps[nr].step, sizeof(e->account.steps->step), step);
	e->pending_steps++;
	return 0;
}

void accounts_part_drop_steps(struct account_entry *e)
{
	for (; e->pending_steps; e->pending_steps--) {
		size_t last = e->account.nr_steps + e->pending_steps - 1;

		free(e->account.steps[last].totals);
		free(e->account.steps[last].io);
	}
}

void accounts_part_fold_others(struct account_job *j)
{
	struct account_part *last = &j->steps[j->nr_steps - 1];

	str_copy(last->step, sizeof(last->step), ACCOUNT_OTHER_STEPS);
	last->ended = false;
}

static bool is_sound_part(const struct accounts *a, const struct account_part *p)
{
	for (size_t i = 0; i < p->nr_totals; i++)
		if (p->totals[i].counter >= a->node.nr_counters)
			return false;
	return true;
}

static bool is_sound(const struct accounts *a, const struct account_job *j)
{
	if (j->state != ACCOUNT_RUNNING || !j->job.cgroup_id || j->nr_gaps > ACCOUNT_MAX_GAPS ||
	    j->nr_steps > ACCOUNT_MAX_STEPS || !is_sound_part(a, &j->whole))
		return false;
	for (size_t i = 0; i < j->nr_steps; i++)
		if (!is_sound_part(a, &j->steps[i]))
			return false;
	for (size_t i = 0; i < j->nr_node; i++)
		if (j->node[i].counter >= a->node.nr_counters)
			return false;
	return true;
}

static int compare_totals(const void *a, const void *b)
{
	const struct account_total *x = a, *y = b;

	return (x->counter > y->counter) - (x->counter < y->counter);
}

static int compare_node(const void *a, const void *b)
{
	const struct account_node_total *x = a, *y = b;

	return (x->counter > y->counter) - (x->counter < y->counter);
}

void accounts_part_sort_node(struct account_job *j)
{
	if (j->nr_node)
		qsort(j->node, j->nr_node, sizeof(*j->node), compare_node);
}

/* Room in a copied array, as one_more() takes it to be there. */
static int settle_(void *items, size_t nr, size_t size)
{
	void **p = items;
	size_t room = 4;
	void *bigger;

	while (room < nr)
		room *= 2;
	bigger = nr ? reallocarray(*p, room, size) : NULL;
	if (bigger)
		*p = bigger;
	return nr && !bigger ? -ENOMEM : 0;
}
#define settle(items, nr) settle_(&(items), (nr), sizeof(*(items)))

static int settle_part(struct account_part *p)
{
	if (p->nr_totals)
		qsort(p->totals, p->nr_totals, sizeof(*p->totals), compare_totals);
	return settle(p->totals, p->nr_totals) || settle(p->io, p->nr_io) ? -ENOMEM : 0;
}

int accounts_part_copy_job(const struct accounts *a, const struct account_job *from,
			   struct account_job *ret)
{
	struct account_job j;
	int err = is_sound(a, from) ? account_job_copy(from, &j) : -EINVAL;

	if (err)
		return err;
	accounts_part_sort_node(&j);
	err = settle_part(&j.whole);
	if (!err)
		err = settle(j.steps, j.nr_steps);
	for (size_t i = 0; i < j.nr_steps && !err; i++)
		err = settle_part(&j.steps[i]);
	if (err)
		account_job_release(&j);
	else
		*ret = j;
	return err;
}
