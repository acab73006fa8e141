// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Users of devices: processes by job or cgroup, and whether they are one owner. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/cleanup.h"
#include "base/sums.h"
#include "base/times.h"
#include "engine/book/book_rows.h"

/* The user that a process is, as far as it is known. */
static int name_user(const struct book *b, const struct book_process *p, struct book_user *ret)
{
	const struct workload *w = identity_get(b->id, p->workload);
	struct cgroup_name *c = w ? identity_cgroup_find(b->id, w->key.cgroup_id) : NULL;
	int err = 0;

	*ret = (struct book_user){
		.user = { .pid = p->pid, .start_ns = p->start_ns, .instance = p->instance }
	};
	if (!w)
		return 0;
	ret->user.start_ns = w->key.start_ns;
	ret->cgroup_id = w->key.cgroup_id;
	if (w->task->comm_known)
		memcpy(ret->user.comm, w->task->comm, sizeof(ret->user.comm));
	if (!c)
		return 0;
	ret->user.cgroup = strdup(c->path);
	if (!ret->user.cgroup)
		err = -ENOMEM;
	if (!err && c->job)
		err = identity_job_show(c, &ret->user.job);
	if (err)
		book_user_release(&ret->user);
	return err;
}

static void note_row(struct book_user *u, const struct book_row *row)
{
	if (!row)
		u->rows = 2;
	else if (!u->rows)
		u->row = row->key;
	else if (memcmp(&u->row, &row->key, sizeof(u->row)) != 0)
		u->rows = 2;
	if (!u->rows)
		u->rows = 1;
}

/* Is it the first time that this process is met? Processes of a number come one after another. */
static bool is_first(const struct book_use *use, size_t at)
{
	const struct book_process *p = &use->processes[at];

	for (size_t i = 0; i < at; i++)
		if (use->processes[i].pid == p->pid && use->processes[i].instance == p->instance &&
		    use->processes[i].workload == p->workload)
			return false;
	return true;
}

/* @ret: which of the users it is, at least @u->nr for one too many */
static int add_process(const struct book *b, struct book_users *u, const struct book_use *use,
		       size_t at, size_t *ret)
{
	const struct book_process *p = &use->processes[at];
	uint64_t from = later(p->from_ns, use->start_ns), to = earlier(p->to_ns, use->end_ns);
	struct book_user new, *user;
	int err = name_user(b, p, &new);

	*ret = DEVICE_MAX_USERS;
	if (err)
		return err;
	user = book_users_find(u, &new);
	if (user) {
		err = book_user_leave_step(user, new.user.job);
		book_user_release(&new.user);
	} else {
		err = book_users_put(u, &new, &user);
	}
	if (err || !user)
		return err;
	*ret = user - u->items;
	user->user.processes += is_first(use, at);
	user->user.busy_ns = sum_capped(user->user.busy_ns, p->busy_ns);
	user->user.copy_ns = sum_capped(user->user.copy_ns, p->copy_ns);
	from = later(from, user->seen_ns);
	if (from < to) {
		user->user.held_ns += to - from;
		user->seen_ns = to;
	}
	return 0;
}

/* --- the owner's rows */

/* The part of a row, or of what is outside of the selection, in the work of the device. */
static int add_owner(struct book *b, struct book_users *u, const struct book_process *p)
{
	struct book_owner new = { .weight = p->busy_ns };
	uint32_t row;
	int err = book_number(b, p->workload, &row);

	if (err)
		return err;
	new.outside = row == SPLIT_NO_ROW;
	if (!new.outside)
		new.row = b->by_number[row]->key;
	for (size_t i = 0; i < u->nr_owners; i++) {
		struct book_owner *o = &u->owners[i];

		if (o->outside != new.outside || memcmp(&o->row, &new.row, sizeof(o->row)) != 0)
			continue;
		o->weight = sum_capped(o->weight, new.weight);
		return 0;
	}
	if (array_reserve(u->owners, u->cap_owners, u->nr_owners))
		return -ENOMEM;
	u->owners[u->nr_owners++] = new;
	return 0;
}

static bool any_weight(const struct book_users *u)
{
	for (size_t i = 0; i < u->nr_owners; i++)
		if (u->owners[i].weight)
			return true;
	return false;
}

/* Several rows, and nothing tells their parts. */
static int leave_undivided(struct book *b, struct book_users *u)
{
	const struct row_job *job = u->items[0].user.job;
	const struct job *j = job ? identity_job(b->id, job->cgroup_id) : NULL;
	struct book_row *row;
	int err;

	for (size_t i = 0; i < u->nr_owners; i++)
		if (u->owners[i].outside)
			j = NULL;
	if (b->scope.by != ROW_JOB || !j) {
		u->undivided = true;
		u->nr_owners = 0;
		return 0;
	}
	err = book_job_own_row(b, j, &row);
	u->owners[0] = (struct book_owner){ .weight = 1 };
	u->nr_owners = 1;
	if (!err)
		u->owners[0].row = row->key;
	return err;
}

static int find_owners(struct book *b, struct book_users *u, const struct book_use *use)
{
	int err = 0;

	for (size_t i = 0; i < use->nr && !err; i++)
		err = add_owner(b, u, &use->processes[i]);
	if (!err && u->nr_owners == 1)
		u->owners[0].weight = 1;
	else if (!err && !any_weight(u))
		err = leave_undivided(b, u);
	return err;
}

static enum ownership find_ownership(const struct book_users *u, bool known)
{
	for (size_t i = 1; i < u->nr; i++)
		if (!book_user_is(u->rule, &u->items[0], &u->items[i]))
			return OWNERSHIP_SHARED;
	if (u->more)
		return OWNERSHIP_SHARED;
	if (!known || (u->nr && !u->items[0].cgroup_id))
		return OWNERSHIP_UNKNOWN;
	return u->nr ? OWNERSHIP_ONE : OWNERSHIP_FREE;
}

int book_use(struct book *b, uint32_t device, const struct book_use *use)
{
	struct book_device *d = &b->devices[device];
	struct book_users *u = &d->by;
	cleanup_free size_t *of = calloc(use->nr + 1, sizeof(*of));
	int err = of ? 0 : -ENOMEM;

	book_users_clear(u);
	u->rule = use->rule;
	u->told_ns = use->told_ns;
	u->samples = use->samples;
	u->copies = use->copies;
	for (size_t i = 0; i < use->nr && !err; i++)
		err = add_process(b, u, use, i, &of[i]);
	if (err || use->rule != OWNER_CONTEXTS)
		return err;
	u->gone = use->gone;
	/* Of a difference nothing tells when it was moved. */
	u->found = find_ownership(u, use->known && !(use->gone && book_is_derived(b, device)));
	if (u->found == OWNERSHIP_ONE)
		err = find_owners(b, u, use);
	/* Those of an owner are made just now. */
	for (size_t i = 0; i < use->nr; i++)
		if (of[i] < u->nr)
			note_row(&u->items[of[i]], book_known_row(b, use->processes[i].workload));
	d->exclusive = u->found == OWNERSHIP_FREE		  ? EXCLUSIVE_UNKNOWN
		       : u->found != OWNERSHIP_ONE || u->gone	  ? EXCLUSIVE_NOBODY
		       : u->nr_owners == 1 && !u->owners->outside ? EXCLUSIVE_ONE
		       : u->nr_owners > 1 || u->undivided	  ? EXCLUSIVE_SEVERAL
								  : EXCLUSIVE_NOBODY;
	if (d->exclusive == EXCLUSIVE_ONE)
		d->owner = u->owners[0].row;
	return err;
}
