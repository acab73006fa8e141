// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "engine/accounts/internal.h"

/* --- cgroups of jobs that are forgotten */

/* Numbers alone: uthash would need four times the memory. */
static size_t closed_hash(uint64_t id)
{
	return (size_t)((id * 0x9e3779b97f4a7c15u) >> 20) & (CLOSED_TABLE - 1);
}

static void closed_insert(struct closed *c, uint64_t cgroup_id)
{
	size_t i = closed_hash(cgroup_id);

	while (c->table[i] && c->table[i] != cgroup_id)
		i = (i + 1) % CLOSED_TABLE;
	c->table[i] = cgroup_id;
}

static void closed_add(struct closed *c, uint64_t cgroup_id)
{
	/* Slices come seconds late at most: the older half has done its duty. */
	if (c->nr == CLOSED_MAX) {
		c->nr = CLOSED_MAX / 2;
		memmove(c->ring, c->ring + c->nr, c->nr * sizeof(c->ring[0]));
		memset(c->table, 0, sizeof(c->table));
		for (size_t i = 0; i < c->nr; i++)
			closed_insert(c, c->ring[i]);
	}
	c->ring[c->nr++] = cgroup_id;
	closed_insert(c, cgroup_id);
}

bool accounts_closed_has(const struct closed *c, uint64_t cgroup_id)
{
	size_t i = closed_hash(cgroup_id);

	while (c->table[i] && c->table[i] != cgroup_id)
		i = (i + 1) % CLOSED_TABLE;
	return c->table[i] != 0;
}

/* --- jobs in memory */

struct account_entry *accounts_entry_find(const struct accounts *a, uint64_t cgroup_id)
{
	struct account_entry *e;

	HASH_FIND(hh, a->by_cgroup, &cgroup_id, sizeof(cgroup_id), e);
	return e;
}

void accounts_entry_unhash(struct accounts *a, struct account_entry *e)
{
	if (!e->hh.tbl)
		return;
	HASH_DEL(a->by_cgroup, e);
	e->hh.tbl = NULL;
}

struct account_entry *accounts_entry_new(struct accounts *a, uint64_t cgroup_id, bool hashed)
{
	struct account_entry *e;

	if (accounts_reserve(a->jobs, a->cap_jobs, a->nr_jobs + 1))
		return NULL;
	e = calloc(1, sizeof(*e));
	if (!e)
		return NULL;
	e->account.job.cgroup_id = cgroup_id;
	if (hashed) {
		HASH_ADD(hh, a->by_cgroup, account.job.cgroup_id, sizeof(cgroup_id), e);
		if (!e->hh.tbl) {
			free(e);
			return NULL;
		}
	}
	a->jobs[a->nr_jobs++] = e;
	return e;
}

void accounts_entry_free(struct account_entry *e)
{
	if (!e)
		return;
	account_job_release(&e->account);
	accounts_sums_drop(e->base);
	free(e->pending_path);
	free(e->node);
	free(e);
}

void accounts_entry_over(struct accounts *a, struct account_entry *e, enum account_state state,
			 uint64_t end_ns)
{
	struct account_job done;

	accounts_sums_account(a, e, e->node, &done);
	if (e->base) {
		/* It was shown in the room, which is the account's now. */
		free(e->account.node);
		e->node = NULL;
	}
	e->account = done;
	e->account.state = state;
	e->account.whole.ended = state == ACCOUNT_ENDED;
	/* The clock may have been set back since it began. */
	end_ns = later(end_ns, e->account.whole.start_ns);
	e->account.whole.end_ns = later(e->account.whole.end_ns, end_ns);
	accounts_sums_drop(e->base);
	e->base = NULL;
	e->waiting = false;
	e->changed = a->generation;
	/* The cgroup of a stale job is not known to be gone: if it is seen, it is a new account. */
	if (state == ACCOUNT_STALE)
		accounts_entry_unhash(a, e);
	else
		closed_add(a->closed, e->account.job.cgroup_id);
	if (state == ACCOUNT_STALE)
		a->node.jobs_stale++;
	else
		a->node.jobs_ended++;
}

/*
 * A job that ended only in this interval could not be saved yet: it is not dropped, however many
 * there are.
 */
static bool may_drop(const struct accounts *a, const struct account_entry *e, uint64_t saved)
{
	return e->account.state != ACCOUNT_RUNNING && e->changed > saved &&
	       e->changed < a->generation;
}

/* Users can make as many as they like: theirs go before those that the machine's schedulers made. */
static bool is_users(const struct account_entry *e)
{
	return account_key_owner(e->account.key);
}

void accounts_entry_sweep(struct accounts *a, uint64_t saved)
{
	size_t over = 0, users = 0, nr = 0, surplus[2];

	for (size_t i = 0; i < a->nr_jobs; i++) {
		over += may_drop(a, a->jobs[i], saved);
		users += may_drop(a, a->jobs[i], saved) && is_users(a->jobs[i]);
	}
	surplus[true] = over > ACCOUNTS_MAX_OVER ? over - ACCOUNTS_MAX_OVER : 0;
	surplus[false] = surplus[true] > users ? surplus[true] - users : 0;
	surplus[true] -= surplus[false];
	for (size_t i = 0; i < a->nr_jobs; i++) {
		struct account_entry *e = a->jobs[i];
		bool unsaved = e->changed > saved;
		bool drop = surplus[is_users(e)] && may_drop(a, e, saved);

		if (e->account.state == ACCOUNT_RUNNING || (unsaved && !drop)) {
			a->jobs[nr++] = e;
			continue;
		}
		if (drop) {
			surplus[is_users(e)]--;
			a->node.jobs_dropped++;
		}
		accounts_entry_unhash(a, e);
		accounts_entry_free(e);
	}
	a->nr_jobs = nr;
}

/* --- the keeper */

int accounts_new(const struct accounts_options *o, struct accounts **ret)
{
	struct accounts *a = calloc(1, sizeof(*a));

	if (!a)
		return -ENOMEM;
	a->o = *o;
	a->closed = calloc(1, sizeof(*a->closed));
	if (!a->closed || accounts_sums_reserve(a, 1)) {
		accounts_free(a);
		return -ENOMEM;
	}
	*ret = a;
	return 0;
}

void accounts_free(struct accounts *a)
{
	if (!a)
		return;
	HASH_CLEAR(hh, a->by_cgroup);
	for (size_t i = 0; i < a->nr_jobs; i++)
		accounts_entry_free(a->jobs[i]);
	accounts_node_release(&a->node);
	accounts_sums_drop(a->fresh);
	accounts_sums_drop(a->after);
	free(a->sums);
	free(a->jobs);
	free(a->closed);
	free(a->map);
	free(a->targets);
	free(a->view);
	free(a);
}

static int restore_node(struct accounts *a, const struct accounts_node *node, uint64_t now_ns)
{
	struct accounts_node copy = *node;

	if (node->nr_totals != node->nr_counters || node->nr_counters >= NO_COUNTER)
		return -EINVAL;
	for (size_t i = 0; i < node->nr_totals; i++)
		if (node->totals[i].counter != i)
			return -EINVAL;
	if (accounts_sums_reserve(a, node->nr_counters))
		return -ENOMEM;
	copy.counters = a->node.counters;
	copy.totals = a->node.totals;
	for (size_t i = 0; i < node->nr_counters; i++) {
		copy.counters[i] = node->counters[i];
		copy.totals[i] = node->totals[i];
	}
	/* The clock may have been set back since. */
	if (copy.until_ns > now_ns)
		copy.until_ns = now_ns;
	a->node = copy;
	return 0;
}

static int restore_job(struct accounts *a, const struct account_job *j, uint64_t now_ns)
{
	bool here = !strcmp(j->boot, a->o.boot) && !accounts_entry_find(a, j->job.cgroup_id);
	struct account_job copy;
	struct account_entry *e;
	int err = accounts_part_copy_job(a, j, &copy);

	if (err)
		return err;
	e = accounts_entry_new(a, j->job.cgroup_id, here);
	if (!e) {
		account_job_release(&copy);
		return -ENOMEM;
	}
	e->account = copy;
	e->waiting = true;
	if (e->account.whole.end_ns > now_ns)
		e->account.whole.end_ns = now_ns;
	return 0;
}

int accounts_restore(struct accounts *a, const struct accounts_node *node,
		     const struct account_job *jobs, size_t nr_jobs, uint64_t now_ns)
{
	int err;

	if (a->started || a->nr_jobs || a->node.nr_counters)
		return -EINVAL;
	err = restore_node(a, node, now_ns);
	for (size_t i = 0; i < nr_jobs && !err; i++)
		err = restore_job(a, &jobs[i], now_ns);
	if (!err && accounts_reserve(a->view, a->cap_view, a->node.nr_counters))
		err = -ENOMEM;
	if (!err)
		return 0;
	for (size_t i = 0; i < a->nr_jobs; i++) {
		accounts_entry_unhash(a, a->jobs[i]);
		accounts_entry_free(a->jobs[i]);
	}
	a->nr_jobs = 0;
	/* Its arrays stay allocated. */
	a->node = (struct accounts_node){ .counters = a->node.counters, .totals = a->node.totals };
	return err;
}

static int each(struct accounts *a, bool changed, int (*fn)(void *arg, const struct account_job *j),
		void *arg)
{
	for (size_t i = 0; i < a->nr_jobs; i++) {
		const struct account_entry *e = a->jobs[i];
		struct account_job view;
		int ret;

		if (changed && e->changed <= e->stored)
			continue;
		accounts_sums_account(a, e, a->view, &view);
		ret = fn(arg, &view);
		if (ret)
			return ret;
	}
	return 0;
}

int accounts_each_changed(struct accounts *a, int (*fn)(void *arg, const struct account_job *j),
			  void *arg)
{
	a->offered = a->generation;
	return each(a, true, fn, arg);
}

int accounts_each(struct accounts *a, int (*fn)(void *arg, const struct account_job *j), void *arg)
{
	return each(a, false, fn, arg);
}

void accounts_saved(struct accounts *a)
{
	for (size_t i = 0; i < a->nr_jobs; i++)
		if (a->jobs[i]->changed <= a->offered)
			a->jobs[i]->stored = a->offered;
	accounts_entry_sweep(a, a->offered);
}

const struct accounts_node *accounts_node(const struct accounts *a)
{
	return &a->node;
}

size_t accounts_nr(const struct accounts *a)
{
	return a->nr_jobs;
}

size_t accounts_nr_running(const struct accounts *a)
{
	size_t nr = 0;

	for (size_t i = 0; i < a->nr_jobs; i++)
		nr += a->jobs[i]->account.state == ACCOUNT_RUNNING;
	return nr;
}
