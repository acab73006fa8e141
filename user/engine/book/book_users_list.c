// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Lists of users of devices: found, made, and added up over intervals. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/sums.h"
#include "engine/book/book_rows.h"

void book_user_release(struct device_user *u)
{
	free(u->cgroup);
	row_job_release(u->job);
}

void book_users_clear(struct book_users *u)
{
	for (size_t i = 0; i < u->nr; i++)
		book_user_release(&u->items[i].user);
	free(u->items);
	free(u->owners);
	*u = (struct book_users){ 0 };
}

/* --- one user, or several? */

/* Open nodes have one owner by cgroup, contexts by job, too. */
bool book_user_is(enum owner_rule rule, const struct book_user *a, const struct book_user *b)
{
	const struct row_job *x = a->user.job, *y = b->user.job;

	if (rule == OWNER_CONTEXTS && (x || y))
		return x && y && x->scheduler == y->scheduler && x->cgroup_id == y->cgroup_id;
	if (a->cgroup_id || b->cgroup_id)
		return a->cgroup_id == b->cgroup_id;
	return a->user.pid == b->user.pid && a->user.start_ns == b->user.start_ns;
}

struct book_user *book_users_find(struct book_users *u, const struct book_user *like)
{
	for (size_t i = 0; i < u->nr; i++)
		if (u->items[i].user.instance == like->user.instance &&
		    book_user_is(u->rule, &u->items[i], like))
			return &u->items[i];
	return NULL;
}

/* Takes over what @new points to. */
int book_users_put(struct book_users *u, struct book_user *new, struct book_user **ret)
{
	*ret = NULL;
	if (u->nr < DEVICE_MAX_USERS && array_reserve(u->items, u->cap, u->nr)) {
		book_user_release(&new->user);
		return -ENOMEM;
	}
	if (u->nr == DEVICE_MAX_USERS) {
		book_user_release(&new->user);
		u->more++;
		return 0;
	}
	u->items[u->nr] = *new;
	*ret = &u->items[u->nr++];
	return 0;
}

/* It has processes in several steps of a job: it is the job. */
int book_user_leave_step(struct book_user *u, const struct row_job *other)
{
	struct row_job *job = u->user.job;

	if (!job || !other || !strcmp(job->step, other->step) || !job->step[0])
		return 0;
	job = malloc(sizeof(*job));
	if (!job)
		return -ENOMEM;
	*job = *u->user.job;
	job->shared = 0;
	job->step[0] = '\0';
	row_job_release(u->user.job);
	u->user.job = job;
	return 0;
}

/* --- of a run */

/* One after another is several, and whatever was missed in one interval is not known of all. */
static enum ownership ownership_of_both(const struct book_users *total,
					const struct book_users *part)
{
	const enum ownership a = total->found, b = part->found;

	if (a == OWNERSHIP_SHARED || b == OWNERSHIP_SHARED)
		return OWNERSHIP_SHARED;
	if (a == OWNERSHIP_UNKNOWN || b == OWNERSHIP_UNKNOWN)
		return OWNERSHIP_UNKNOWN;
	if (a == OWNERSHIP_FREE || b == OWNERSHIP_FREE)
		return a == OWNERSHIP_FREE ? b : a;
	return book_user_is(total->rule, &total->items[0], &part->items[0]) ? OWNERSHIP_ONE
									    : OWNERSHIP_SHARED;
}

static int copy_user(const struct book_user *from, struct book_user *ret)
{
	*ret = *from;
	if (from->user.cgroup)
		ret->user.cgroup = strdup(from->user.cgroup);
	if (from->user.cgroup && !ret->user.cgroup)
		return -ENOMEM;
	if (from->user.job)
		ret->user.job = row_job_share(from->user.job);
	return 0;
}

static int merge_user(struct book_users *total, const struct book_user *from)
{
	struct book_user *user = book_users_find(total, from), copy;
	struct device_user *to;
	int err;

	if (!user) {
		err = copy_user(from, &copy);
		return err ? err : book_users_put(total, &copy, &user);
	}
	to = &user->user;
	to->held_ns = sum_capped(to->held_ns, from->user.held_ns);
	to->busy_ns = sum_capped(to->busy_ns, from->user.busy_ns);
	to->copy_ns = sum_capped(to->copy_ns, from->user.copy_ns);
	if (from->user.processes > to->processes)
		to->processes = from->user.processes;
	if (from->rows != 1 || memcmp(&user->row, &from->row, sizeof(user->row)) != 0)
		user->rows = 2;
	return book_user_leave_step(user, from->user.job);
}

int book_users_add(struct book_users *total, const struct book_users *part)
{
	int err = 0;

	if (part->rule < total->rule || part->rule == OWNER_NONE)
		return 0;
	/* Contexts win over open nodes. */
	if (part->rule != total->rule)
		book_users_clear(total);
	total->found = total->rule == OWNER_NONE ? part->found : ownership_of_both(total, part);
	total->copies = part->copies && (total->copies || !total->told_ns);
	total->rule = part->rule;
	total->undivided |= part->undivided;
	total->gone |= part->gone;
	total->told_ns = sum_capped(total->told_ns, part->told_ns);
	total->samples = sum_capped(total->samples, part->samples);
	total->more = part->more > total->more ? part->more : total->more;
	for (size_t i = 0; i < part->nr && !err; i++)
		err = merge_user(total, &part->items[i]);
	return err;
}
