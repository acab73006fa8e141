// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Users of devices in reports. */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "engine/book/book_rows.h"
#include "engine/filter/constants.h"

/*
 * The error of a share of @n samples. The interval is Wilson's: unlike the normal one it does not
 * shrink to nothing where no sample, or each one, was of this user. Of several engines together,
 * whose samples may be of the same moments, the largest possible error is taken.
 */
static void find_error(uint64_t samples, struct device_user *u)
{
	double n = samples, z2 = Z_95 * Z_95, p = u->share;
	double middle = (p + z2 / (2 * n)) / (1 + z2 / n), half;

	if (p > 1) {
		u->error = sqrt(ceil(p) / (4 * n));
		u->low = fmax(p - Z_95 * u->error, 0);
		u->high = p + Z_95 * u->error;
		return;
	}
	u->error = sqrt(p * (1 - p) / n);
	half = Z_95 * sqrt(p * (1 - p) / n + z2 / (4 * n * n)) / (1 + z2 / n);
	u->low = fmax(fmin(middle - half, p), 0);
	u->high = fmin(fmax(middle + half, p), 1);
}

static void find_share(const struct book_users *from, struct device_user *u)
{
	if (!from->told_ns)
		return;
	u->share = u->low = u->high = (double)u->busy_ns / (double)from->told_ns;
	if (from->samples)
		find_error(from->samples, u);
}

/* Rows of a job, each of a step, have the job as their parent. */
static void find_key(const struct book *b, const struct book_user *from, char *ret)
{
	struct book_key job = { 0 };
	struct book_row *row, *next;

	if (from->rows == 1) {
		HASH_FIND(hh, b->rows, &from->row, sizeof(from->row), row);
		if (row)
			book_row_key(b, &row->key, ret);
		return;
	}
	if (b->scope.by != ROW_JOB || !from->user.job)
		return;
	job.cgroup_id = from->user.job->cgroup_id;
	HASH_ITER (hh, b->rows, row, next) {
		if (row->key.cgroup_id != job.cgroup_id)
			continue;
		book_row_key(b, &job, ret);
		return;
	}
}

static int copy_user(const struct device_user *from, struct device_user *ret)
{
	*ret = *from;
	ret->job = NULL;
	if (from->cgroup) {
		ret->cgroup = strdup(from->cgroup);
		if (!ret->cgroup)
			return -ENOMEM;
	}
	if (from->job)
		ret->job = row_job_share(from->job);
	return 0;
}

static int by_busy(const void *a, const void *b)
{
	const struct device_user *x = a, *y = b;

	return ORDER(y->busy_ns, x->busy_ns) ?: ORDER(y->held_ns, x->held_ns) ?:
	       ORDER(x->pid, y->pid) ?: ORDER(x->start_ns, y->start_ns) ?:
	       ORDER(x->instance, y->instance);
}

static int report_users(const struct book *b, const struct book_users *from,
			struct device_users *ret)
{
	int err = 0;

	ret->nr_all = from->nr + from->more;
	if (!from->nr)
		return 0;
	ret->users = calloc(from->nr, sizeof(*ret->users));
	if (!ret->users)
		return -ENOMEM;
	for (size_t i = 0; i < from->nr && !err; i++) {
		struct device_user *u = &ret->users[ret->nr++];

		err = copy_user(&from->items[i].user, u);
		find_key(b, &from->items[i], u->key);
		find_share(from, u);
	}
	qsort(ret->users, ret->nr, sizeof(*ret->users), by_busy);
	return err;
}

/* One instance or another of a split device: it is the same owner. */
static bool is_same(const struct device_user *a, const struct device_user *b)
{
	return a->pid == b->pid && a->start_ns == b->start_ns;
}

static int report_blockers(struct device_users *ret)
{
	int err = 0;

	ret->blockers = calloc(DEVICE_MAX_BLOCKERS, sizeof(*ret->blockers));
	if (!ret->blockers)
		return -ENOMEM;
	ret->nr_blockers_all = ret->nr_all;
	for (size_t i = 0; i < ret->nr && !err; i++) {
		const struct device_user *u = &ret->users[i];
		struct device_user *to = &ret->blockers[ret->nr_blockers];
		bool known = false;

		for (size_t k = 0; k < i; k++)
			known |= is_same(&ret->users[k], u);
		ret->nr_blockers_all -= known;
		if (known || ret->nr_blockers == DEVICE_MAX_BLOCKERS)
			continue;
		ret->nr_blockers++;
		err = copy_user(u, to);
	}
	return err;
}

static enum ownership found_by_nodes(const struct book *b, uint32_t device)
{
	const struct book_device *d = &b->devices[device];

	if (d->exclusive == EXCLUSIVE_ONE)
		return OWNERSHIP_ONE;
	return d->exclusive == EXCLUSIVE_SEVERAL || d->by.nr ? OWNERSHIP_SHARED : OWNERSHIP_UNKNOWN;
}

int book_users_report(const struct book *b, uint32_t device, struct device_users *ret)
{
	const struct book_users *from = &b->devices[device].by;
	bool by_contexts = from->rule == OWNER_CONTEXTS;
	int err = report_users(b, from, ret);

	ret->rule = from->rule;
	if (by_contexts) {
		ret->found = from->found;
		ret->undivided = from->undivided && from->found == OWNERSHIP_ONE;
		ret->gone = from->gone && from->found == OWNERSHIP_ONE;
		ret->told_ns = from->told_ns;
		ret->samples = from->samples;
		ret->copies = from->copies;
	} else if (from->rule == OWNER_NODES) {
		ret->found = found_by_nodes(b, device);
	}
	if (!err && ret->found == OWNERSHIP_SHARED && ret->nr)
		err = report_blockers(ret);
	return err;
}
