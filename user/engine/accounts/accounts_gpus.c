// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* GPUs that jobs hold, beside their accounts: how long, how busy, and bytes of the GPUs' links. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "engine/accounts/internal.h"

/* The account of the row that alone has a device; NULL for none. */
static struct account_entry *owner_of(const struct accounts *a, const struct report *r,
				      const struct report_device *d)
{
	for (size_t i = 0; d->exclusive[0] && i < r->nr_rows; i++)
		if (!strcmp(r->rows[i].key, d->exclusive))
			return a->targets[i].entry;
	return NULL;
}

/* Of a user. Its job may have no row: it needs no CPU time to hold a GPU. */
static struct account_entry *user_of(const struct accounts *a, const struct device_user *u)
{
	struct account_entry *e =
		u->job && u->job->cgroup_id ? accounts_entry_find(a, u->job->cgroup_id) : NULL;

	return e && e->account.state == ACCOUNT_RUNNING ? e : NULL;
}

/* The n-th account that uses a device: its owner, then those of its users; NULL for none. */
static struct account_entry *candidate(const struct accounts *a, const struct report *r,
				       const struct report_device *d, size_t n)
{
	return n ? user_of(a, &d->by.users[n - 1]) : owner_of(a, r, d);
}

static bool came_before(const struct accounts *a, const struct report *r,
			const struct report_device *d, size_t n, const struct account_entry *e)
{
	for (size_t i = 0; i < n; i++)
		if (candidate(a, r, d, i) == e)
			return true;
	return false;
}

static struct account_gpu *find(const struct account_job *j, const char *bdf)
{
	for (size_t i = 0; i < j->nr_gpus; i++)
		if (!strcmp(j->gpus[i].bdf, bdf))
			return &j->gpus[i];
	return NULL;
}

static int reserve(struct account_job *j, const struct device *d)
{
	struct account_gpu *more;
	size_t at = 0;

	if (find(j, d->bdf) || j->nr_gpus == ACCOUNT_MAX_GPUS)
		return 0;
	more = reallocarray(j->gpus, j->nr_gpus + 1, sizeof(*more));
	if (!more)
		return -ENOMEM;
	j->gpus = more;
	while (at < j->nr_gpus && strcmp(more[at].bdf, d->bdf) < 0)
		at++;
	memmove(more + at + 1, more + at, (j->nr_gpus++ - at) * sizeof(*more));
	more[at] = (struct account_gpu){ 0 };
	str_copy(more[at].bdf, sizeof(more->bdf), d->bdf);
	return 0;
}

int accounts_gpus_reserve(struct accounts *a, const struct report *r)
{
	int err = 0;

	for (size_t i = 0; i < r->nr_devices; i++) {
		const struct report_device *d = &r->devices[i];

		if (d->device->kind != DEVICE_GPU)
			continue;
		for (size_t n = 0; n <= d->by.nr && !err; n++) {
			struct account_entry *e = candidate(a, r, d, n);

			err = e ? reserve(&e->account, d->device) : 0;
		}
	}
	return err;
}

void accounts_gpus_trim(struct account_job *j)
{
	size_t nr = 0;

	for (size_t i = 0; i < j->nr_gpus; i++)
		if (j->gpus[i].held_ns)
			j->gpus[nr++] = j->gpus[i];
	j->nr_gpus = nr;
}

static void add_to(uint64_t *sum, uint64_t value)
{
	*sum = sum_capped(*sum, value);
}

/* A part of a time; NaN and what is below 0 are none of it. */
static uint64_t share_ns(double share, uint64_t ns)
{
	double part = share * (double)ns;

	return part >= 0x1p63 ? INT64_MAX : part > 0 ? (uint64_t)part : 0;
}

/*
 * A job may be several users: it has several instances of a GPU that is split. It holds the GPU as
 * long as one of them.
 */
static void add_use(const struct accounts *a, const struct report *r, const struct report_device *d,
		    const struct account_entry *e)
{
	struct account_gpu *g = find(&e->account, d->device->bdf);
	uint64_t told = d->by.told_ns, held = 0, busy = 0;
	bool alone = owner_of(a, r, d) == e, any = false;

	if (!g)
		return;
	for (size_t i = 0; i < d->by.nr; i++) {
		const struct device_user *u = &d->by.users[i];

		if (user_of(a, u) != e)
			continue;
		any = true;
		held = later(held, u->held_ns);
		busy = sum_capped(busy, u->busy_ns);
		add_to(&g->busy_low_ns, told ? share_ns(u->low, told) : 0);
		add_to(&g->busy_high_ns, told ? share_ns(u->high, told) : 0);
	}
	add_to(&g->held_ns, alone ? report_duration_ns(r) : held);
	add_to(&g->alone_ns, alone ? report_duration_ns(r) : 0);
	if (d->device->uuid[0])
		str_copy(g->uuid, sizeof(g->uuid), d->device->uuid);
	if (!any)
		return;
	add_to(&g->busy_ns, told ? busy : 0);
	add_to(&g->known_ns, told);
	if (!busy)
		add_to(&g->idle_ns, told);
}

static void add_link(struct account_link *to, uint64_t value, uint64_t low, uint64_t high)
{
	to->value += value;
	to->low += low;
	to->high += high;
}

/* The GPU of a link, in an account; NULL for what is no link, or one of a GPU that is not held. */
static struct account_gpu *gpu_of(const struct report *r, const struct account_job *j,
				  const struct device *link)
{
	bool known = link->kind == DEVICE_LINK && link->function && link->function <= r->nr_devices;

	return known ? find(j, r->devices[link->function - 1].device->bdf) : NULL;
}

/*
 * Bytes over links that a row owns. As with counters, values are those of leaf rows, and bounds those
 * of the row of all of them.
 */
static void add_row(const struct report *r, const struct report_row *row, struct account_entry *e)
{
	bool bounds = row->leaf != e->whole_row;

	for (size_t i = 0; i < row->nr_devices; i++) {
		const struct row_device *d = &row->devices[i];
		struct account_gpu *g = gpu_of(r, &e->account, r->devices[d->device].device);

		if (!g || !d->counted)
			continue;
		if (bounds)
			add_to(&g->link_ns, report_duration_ns(r));
		add_link(&g->link[DIRECTION_READ], row->leaf ? d->read_bytes : 0,
			 bounds ? d->read_low : 0, bounds ? d->read_high : 0);
		add_link(&g->link[DIRECTION_WRITE], row->leaf ? d->write_bytes : 0,
			 bounds ? d->write_low : 0, bounds ? d->write_high : 0);
	}
}

void accounts_gpus_add(struct accounts *a, const struct report *r)
{
	for (size_t i = 0; i < r->nr_devices; i++) {
		const struct report_device *d = &r->devices[i];

		for (size_t n = 0; d->device->kind == DEVICE_GPU && n <= d->by.nr; n++) {
			struct account_entry *e = candidate(a, r, d, n);

			if (e && !came_before(a, r, d, n, e))
				add_use(a, r, d, e);
		}
	}
	for (size_t i = 0; i < r->nr_rows; i++)
		if (a->targets[i].entry)
			add_row(r, &r->rows[i], a->targets[i].entry);
}
