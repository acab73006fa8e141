// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "engine/book/book_rows.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/cleanup.h"
#include "base/sums.h"
#include "engine/split/apportion.h"

static int set_path(struct book_row *row, const char *path)
{
	char *copy;

	if (!path || (row->path && !strcmp(row->path, path)))
		return 0;
	copy = strdup(path);
	if (!copy)
		return -ENOMEM;
	free(row->path);
	row->path = copy;
	return 0;
}

static void share_add(struct entry_share *to, const struct entry_share *from)
{
	to->value += from->value;
	to->low += from->low;
	to->high = sum_capped(to->high, from->high);
	to->below += from->below;
	to->sure += from->sure;
	to->tangled += from->tangled;
}

/* A row's parts in devices. */
static int devices_add(struct book *b, struct book_row *to, const struct book_row *from)
{
	struct entry_share *share;
	struct book_device_io *io;
	int err = 0;

	for (size_t i = 0; i < from->nr_device_shares && !err; i++) {
		err = book_share_get(b, to, from->device_shares[i].counter, &share);
		if (!err)
			share_add(share, &from->device_shares[i].share);
	}
	for (size_t i = 0; i < from->nr_io && !err; i++) {
		err = book_io_get(to, from->io[i].device, &io);
		if (err)
			break;
		for (int k = 0; k < 2; k++)
			io->bytes[k] = sum_capped(io->bytes[k], from->io[i].bytes[k]);
		book_links_add(io, &from->io[i]);
	}
	return err;
}

static void job_add(struct book_row *to, const struct book_row *from)
{
	row_job_release(to->job);
	to->job = from->job ? row_job_share(from->job) : NULL;
}

int book_row_add(struct book *b, struct book_row *to, const struct book_row *from)
{
	/* The end of a job is reported once. */
	bool ended = b->scope.by == ROW_JOB && to->exited;

	to->tgid = from->tgid;
	memcpy(to->comm, from->comm, sizeof(to->comm));
	to->comm_known = from->comm_known;
	to->kernel = from->kernel;
	to->exited = from->exited || ended;
	to->cgroup_id = from->cgroup_id;
	to->on_cpu_ns += from->on_cpu_ns;
	to->pooled += from->pooled;
	for (size_t i = 0; i < b->nr_places; i++)
		share_add(&to->shares[i], &from->shares[i]);
	if (devices_add(b, to, from))
		return -ENOMEM;
	for (size_t i = 0; i < b->nr_links; i++) {
		to->seen[i].bytes += from->seen[i].bytes;
		to->seen[i].byte_ns += from->seen[i].byte_ns;
	}
	if (from->nr_tangled_all > to->nr_tangled_all)
		to->nr_tangled_all = from->nr_tangled_all;
	for (size_t i = 0; i < from->nr_tangled; i++)
		if (book_row_tangle(to, &from->tangled[i]))
			return -ENOMEM;
	job_add(to, from);
	return set_path(to, from->path);
}

/* A row's name is that of its task, in the cgroup it ran in last. */
static int name_row(struct book *b, struct book_row *row)
{
	const struct workload *w = identity_get(b->id, row->workload);
	struct cgroup_name *c;
	int err = 0;

	if (b->scope.by == ROW_JOB)
		return book_name_job(b, row);
	if (b->scope.by == ROW_CGROUP)
		row->cgroup_id = row->key.cgroup_id;
	if (w) {
		row->cgroup_id = w->key.cgroup_id;
		row->tgid = w->task->tgid;
		memcpy(row->comm, w->task->comm, sizeof(row->comm));
		row->comm_known = w->task->comm_known;
		row->kernel = w->task->kernel;
		row->exited = w->task->exited;
	}
	c = identity_cgroup_find(b->id, row->cgroup_id);
	if (b->scope.by == ROW_CGROUP)
		row->exited = c && c->gone;
	row_job_release(row->job);
	row->job = NULL;
	if (c && c->job)
		err = identity_job_show(c, &row->job);
	return err ? err : set_path(row, c ? c->path : NULL);
}

static int enter_quiet_task(void *arg, const struct task *t)
{
	struct book *b = arg;
	struct book_key key = { .pid = t->key.pid, .start_ns = t->key.start_ns };
	struct book_row *row;
	int err;

	err = book_row_get(b, &key, &row);
	if (err)
		return err;
	row->tgid = t->tgid;
	memcpy(row->comm, t->comm, sizeof(row->comm));
	row->comm_known = t->comm_known;
	row->kernel = t->kernel;
	if (!row->cgroup_id)
		row->cgroup_id = t->cgroup_id;
	return 0;
}

static int enter_quiet_cgroup(void *arg, const struct cgroup_name *c)
{
	struct book *b = arg;
	struct book_key key = { .cgroup_id = c->id };
	struct book_row *row;

	return c->selected && !c->gone ? book_row_get(b, &key, &row) : 0;
}

static void clip_share(const struct book *b, uint32_t counter, struct entry_share *s)
{
	uint64_t bound = b->counters[counter].high;

	if (s->high <= bound)
		return;
	s->tangled = apportion_scale(s->tangled, bound, s->high);
	s->high = bound;
}

/* Upper bounds may add up to more than there is: of many rows, or of large numbers rounded. */
static void clip_bounds(const struct book *b, struct book_row *row)
{
	for (size_t i = 0; i < b->layout->nr_counters; i++)
		if (b->roles[i] == ROLE_MEMORY)
			clip_share(b, i, &row->shares[b->places[i]]);
	for (size_t i = 0; i < row->nr_device_shares; i++)
		clip_share(b, row->device_shares[i].counter, &row->device_shares[i].share);
}

int book_finish(struct book *b)
{
	struct book_row *row, *next;
	int err = 0;

	for (size_t g = 0; g < b->layout->nr_groups; g++)
		rotation_end(&b->rotations[g]);
	for (size_t i = 0; i < b->layout->nr_counters; i++)
		b->counters[i].low = b->counters[i].high = b->counters[i].value;
	for (size_t i = 0; i < b->layout->nr_counters && !err; i++)
		if (b->counters[i].valid && b->counters[i].running_ns < b->counters[i].enabled_ns)
			err = book_scale(b, i, b->counters[i].enabled_ns,
					 b->counters[i].running_ns);
	if (err)
		return err;
	book_widen(b);
	HASH_ITER (hh, b->rows, row, next)
		clip_bounds(b, row);
	err = book_owned(b);
	if (err)
		return err;
	book_memory_of_devices(b);
	book_memory_of_links(b);
	err = book_links_own(b);
	if (err)
		return err;

	/* Requested jobs and cgroups have a row even if they did nothing. */
	if (b->scope.by == ROW_JOB)
		err = book_quiet_jobs(b);
	else if (!b->scope.all && b->scope.by == ROW_CGROUP)
		err = identity_each_cgroup(b->id, enter_quiet_cgroup, b);
	else if (!b->scope.all)
		err = identity_each_followed(b->id, enter_quiet_task, b);
	if (err)
		return err;
	HASH_ITER (hh, b->rows, row, next) {
		err = name_row(b, row);
		if (err)
			return err;
	}
	return 0;
}

uint64_t book_row_bytes(const struct book *b, const struct book_row *row)
{
	uint64_t sum = 0;

	for (size_t i = 0; i < b->nr_places; i++)
		sum += row->shares[i].value;
	for (size_t i = 0; i < row->nr_device_shares; i++)
		sum += row->device_shares[i].share.value;
	return sum;
}

struct ended {
	struct book_row *row;
	uint64_t bytes;
};

static int by_bytes(const void *a, const void *b)
{
	const struct ended *x = a, *y = b;

	return x->bytes < y->bytes ? -1 : x->bytes > y->bytes;
}

int book_pool(struct book *b, size_t max)
{
	static const struct book_key pool_key;
	cleanup_free struct ended *ended = NULL;
	struct book_row *row, *next, *pool;
	size_t nr = 0, drop;
	int err;

	if (HASH_COUNT(b->rows) <= max)
		return 0;
	ended = calloc(HASH_COUNT(b->rows), sizeof(*ended));
	if (!ended)
		return -ENOMEM;
	HASH_ITER (hh, b->rows, row, next)
		if (row->exited && memcmp(&row->key, &pool_key, sizeof(pool_key)))
			ended[nr++] = (struct ended){ row, book_row_bytes(b, row) };
	err = book_row_get(b, &pool_key, &pool);
	if (err)
		return err;
	/* More than needed, so that this is not done again for every new row. */
	drop = HASH_COUNT(b->rows) - max + max / 4;
	if (drop > nr)
		drop = nr;
	qsort(ended, nr, sizeof(*ended), by_bytes);
	for (size_t i = 0; i < drop; i++) {
		err = book_row_add(b, pool, ended[i].row);
		if (err)
			return err;
		book_row_delete(b, ended[i].row);
		b->pooled++;
	}
	clip_bounds(b, pool);
	snprintf(pool->comm, sizeof(pool->comm), "(pooled)");
	pool->comm_known = true;
	pool->exited = false; /* it is never pooled itself */
	pool->kernel = false;
	pool->tgid = 0;
	pool->cgroup_id = 0;
	free(pool->path);
	pool->path = NULL;
	row_job_release(pool->job);
	pool->job = NULL;
	return 0;
}
