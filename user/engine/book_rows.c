// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "engine/book_rows.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/cleanup.h"
#include "engine/apportion.h"

int book_row_get(struct book *b, const struct book_key *key, struct book_row **ret)
{
	struct book_row *row;

	HASH_FIND(hh, b->rows, key, sizeof(*key), row);
	if (!row) {
		row = calloc(1, sizeof(*row) + b->layout->nr_counters * sizeof(row->shares[0]) +
					b->nr_links * sizeof(row->seen[0]));
		if (!row)
			return -ENOMEM;
		row->key = *key;
		row->seen = (struct entry_seen *)&row->shares[b->layout->nr_counters];
		HASH_ADD(hh, b->rows, key, sizeof(row->key), row);
		if (!row->hh.tbl) {
			free(row);
			return -ENOMEM;
		}
	}
	*ret = row;
	return 0;
}

void book_row_delete(struct book *b, struct book_row *row)
{
	HASH_DEL(b->rows, row);
	free(row->path);
	free(row->tangled);
	free(row);
}

/* Beyond this many the count alone says how many there are. */
#define MAX_TANGLED 32

int book_row_tangle(struct book_row *row, const struct book_key *other)
{
	for (size_t i = 0; i < row->nr_tangled; i++)
		if (!memcmp(&row->tangled[i], other, sizeof(*other)))
			return 0;
	if (row->nr_tangled == MAX_TANGLED)
		return 0;
	if (array_room(row->tangled, row->cap_tangled, row->nr_tangled))
		return -ENOMEM;
	row->tangled[row->nr_tangled++] = *other;
	if (row->nr_tangled > row->nr_tangled_all)
		row->nr_tangled_all = row->nr_tangled;
	return 0;
}

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

int book_row_add(struct book *b, struct book_row *to, const struct book_row *from)
{
	to->tgid = from->tgid;
	memcpy(to->comm, from->comm, sizeof(to->comm));
	to->comm_known = from->comm_known;
	to->kernel = from->kernel;
	to->exited = from->exited;
	to->cgroup_id = from->cgroup_id;
	to->on_cpu_ns += from->on_cpu_ns;
	for (size_t i = 0; i < b->layout->nr_counters; i++) {
		to->shares[i].value += from->shares[i].value;
		to->shares[i].low += from->shares[i].low;
		to->shares[i].high += from->shares[i].high;
		to->shares[i].tangled += from->shares[i].tangled;
	}
	for (size_t i = 0; i < b->nr_links; i++) {
		to->seen[i].bytes += from->seen[i].bytes;
		to->seen[i].byte_ns += from->seen[i].byte_ns;
	}
	if (from->nr_tangled_all > to->nr_tangled_all)
		to->nr_tangled_all = from->nr_tangled_all;
	for (size_t i = 0; i < from->nr_tangled; i++)
		if (book_row_tangle(to, &from->tangled[i]))
			return -ENOMEM;
	return set_path(to, from->path);
}

/* A row's name is that of its task, in the cgroup it ran in last. */
static int name_row(struct book *b, struct book_row *row)
{
	const struct workload *w = identity_get(b->id, row->workload);
	const struct cgroup_name *c;

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
	return set_path(row, c ? c->path : NULL);
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

	return book_row_get(b, &key, &row);
}

/* Traffic of the time that was not counted may differ from the rest by this much. */
#define SCALE_DOUBT 0.3

/*
 * A row's bounds when its value was scaled from @counted to @value, and all to @total.
 *
 * In each window the counter looked for a part of the time, r = 1 / @ratio. If a window's bytes
 * came in one lump, they were seen wholly with probability r, or not at all: scaled by 1/r that
 * has the variance (1 - r) / r of their square. The squares of what was seen add up to r of all
 * squares, so that the sum has the variance (1 - r) / r^2 = ratio * (ratio - 1) of them.
 */
static void scale_bounds(struct entry_share *s, uint64_t counted, uint64_t value, double ratio,
			 uint64_t total)
{
	double doubt = fmax(SCALE_DOUBT * (value > counted ? value - counted : 0),
			    1.96 * sqrt(ratio * (ratio - 1) * s->squares));
	double low = s->low * ratio - doubt, high = s->high * ratio + doubt;

	/* What is sure of the time that was counted stays so. */
	if (low > s->low)
		s->low = low;
	s->high = high < total ? high : total;
	if (s->low > value)
		s->low = value;
	if (s->high < value)
		s->high = value;
}

/* What a latency is about grows with the bytes it is weighted by. */
static void scale_seen(struct book *b, struct book_row *row, size_t counter, uint64_t counted)
{
	uint64_t value = row->shares[counter].value;

	for (size_t i = 0; i < b->nr_links; i++) {
		struct entry_seen *s = &row->seen[i];

		if (b->scope.links->items[i].counter != counter || !counted)
			continue;
		s->bytes = scale_u64(s->bytes, value, counted);
		s->byte_ns *= (double)value / counted;
	}
}

/*
 * Counted only part of the time: all of it is value * enabled / running. Rows and
 * reasons keep their proportions, and still add up exactly.
 */
static int scale_counter(struct book *b, size_t i)
{
	struct report_counter *c = &b->counters[i];
	size_t nr = HASH_COUNT(b->rows) + NR_REASONS, k = 0;
	cleanup_free uint64_t *parts = calloc(nr, 2 * sizeof(*parts));
	uint64_t scaled = scale_u64(c->value, c->enabled_ns, c->running_ns), *weights;
	double ratio = (double)c->enabled_ns / c->running_ns;
	struct book_row *row, *next;
	int err;

	if (!parts)
		return -ENOMEM;
	weights = parts + nr;
	for (; k < NR_REASONS; k++)
		weights[k] = c->unattributed[k];
	HASH_ITER (hh, b->rows, row, next)
		weights[k++] = row->shares[i].value;
	err = apportion(scaled, weights, nr, parts);
	if (err)
		return err;
	c->value = scaled;
	c->attributed = scaled;
	for (k = 0; k < NR_REASONS; k++) {
		c->unattributed[k] = parts[k];
		c->attributed -= parts[k];
	}
	HASH_ITER (hh, b->rows, row, next) {
		uint64_t counted = row->shares[i].value;

		row->shares[i].value = parts[k++];
		scale_bounds(&row->shares[i], counted, row->shares[i].value, ratio, scaled);
		scale_seen(b, row, i, counted);
	}
	return 0;
}

int book_finish(struct book *b)
{
	struct book_row *row, *next;
	int err = 0;

	for (size_t i = 0; i < b->layout->nr_counters && !err; i++)
		if (b->counters[i].valid && b->counters[i].running_ns < b->counters[i].enabled_ns)
			err = scale_counter(b, i);
	if (err)
		return err;

	/* What was asked for is a row even if it did nothing. */
	if (!b->scope.all && b->scope.by == ROW_CGROUP)
		err = identity_each_selected(b->id, enter_quiet_cgroup, b);
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

static uint64_t row_bytes(const struct book *b, const struct book_row *row)
{
	uint64_t sum = 0;

	for (size_t i = 0; i < b->layout->nr_counters; i++)
		sum += row->shares[i].value;
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
			ended[nr++] = (struct ended){ row, row_bytes(b, row) };
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
	snprintf(pool->comm, sizeof(pool->comm), "(pooled)");
	pool->comm_known = true;
	pool->exited = false; /* it is never pooled itself */
	pool->kernel = false;
	pool->tgid = 0;
	pool->cgroup_id = 0;
	free(pool->path);
	pool->path = NULL;
	return 0;
}

static void row_key(const struct book *b, const struct book_key *key, char *ret)
{
	if (b->scope.by == ROW_CGROUP)
		snprintf(ret, MODEL_KEY_LEN, "cgroup:%" PRIu64, key->cgroup_id);
	else
		snprintf(ret, MODEL_KEY_LEN, "%s:%u:%" PRIu64,
			 b->scope.by == ROW_THREAD ? "tid" : "pid", key->pid, key->start_ns);
}

void book_key(const struct book *b, uint32_t row, char ret[MODEL_KEY_LEN])
{
	row_key(b, &b->by_number[row]->key, ret);
}

struct other {
	const struct book_key *key;
	uint64_t bytes;
};

static int by_most(const void *a, const void *b)
{
	const struct other *x = a, *y = b;

	if (x->bytes != y->bytes)
		return x->bytes < y->bytes ? 1 : -1;
	return memcmp(x->key, y->key, sizeof(*x->key));
}

/* The rows it cannot be told from, the largest first. */
static int report_tangled(const struct book *b, const struct book_row *row, struct report_row *ret)
{
	struct other others[MAX_TANGLED];
	struct book_row *other;

	for (size_t i = 0; i < row->nr_tangled; i++) {
		HASH_FIND(hh, b->rows, &row->tangled[i], sizeof(row->tangled[i]), other);
		others[i] = (struct other){ &row->tangled[i], other ? row_bytes(b, other) : 0 };
	}
	if (!row->nr_tangled)
		return 0;
	qsort(others, row->nr_tangled, sizeof(others[0]), by_most);
	ret->nr_tangled_all = row->nr_tangled_all;
	ret->nr_tangled = row->nr_tangled < MODEL_MAX_TANGLED ? row->nr_tangled : MODEL_MAX_TANGLED;
	ret->tangled = calloc(ret->nr_tangled, sizeof(*ret->tangled));
	if (!ret->tangled) {
		ret->nr_tangled = 0;
		return -ENOMEM;
	}
	for (size_t i = 0; i < ret->nr_tangled; i++)
		row_key(b, others[i].key, ret->tangled[i]);
	return 0;
}

/* Not separable in intervals that hold most of its bytes, as far as is known. */
static bool is_separable(const struct entry_share *s)
{
	return !s->tangled || s->tangled < s->high - s->tangled;
}

uint64_t book_of_bytes(const struct book *b, const struct report_row *row, uint32_t probe)
{
	uint64_t sum = 0;

	for (size_t k = 0; k < b->nr_links; k++)
		for (size_t i = 0; b->scope.links->items[k].probe == probe && i < row->nr_shares;
		     i++)
			if (row->shares[i].counter == b->scope.links->items[k].counter)
				sum += row->shares[i].value;
	return sum;
}

int book_latencies(const struct book *b, const struct entry_seen *seen, struct report_row *row)
{
	const struct link *links = b->nr_links ? b->scope.links->items : NULL;
	size_t i = 0;

	if (!b->nr_links)
		return 0;
	row->latencies = calloc(b->nr_links, sizeof(*row->latencies));
	if (!row->latencies)
		return -ENOMEM;
	while (i < b->nr_links) {
		struct seen_latency l = { .probe = links[i].probe };
		double byte_ns = 0;

		for (; i < b->nr_links && links[i].probe == l.probe; i++) {
			l.bytes += seen[i].bytes;
			byte_ns += seen[i].byte_ns;
		}
		if (!l.bytes)
			continue;
		l.of_bytes = book_of_bytes(b, row, l.probe);
		l.latency_ns = byte_ns / l.bytes;
		row->latencies[row->nr_latencies++] = l;
	}
	return 0;
}

static int report_row(const struct book *b, const struct book_row *row, struct report_row *ret)
{
	struct share *shares;
	bool separable = true;
	size_t nr = 0;

	shares = calloc(b->layout->nr_counters + 1, sizeof(*shares));
	if (!shares)
		return -ENOMEM;
	for (size_t i = 0; i < b->layout->nr_counters; i++) {
		const struct report_counter *c = &b->counters[i];
		const struct entry_share *e = &row->shares[i];

		if (!c->valid || c->counter->source != SOURCE_CPU)
			continue;
		shares[nr++] = (struct share){ i, e->value, e->low, e->high, is_separable(e) };
		separable &= !e->value || is_separable(e);
	}
	*ret = (struct report_row){
		.kind = b->scope.by,
		.leaf = true,
		.comm_known = row->comm_known,
		.exited = row->exited,
		.kernel = row->kernel,
		.pid = row->tgid,
		.tid = row->key.pid,
		.start_ns = row->key.start_ns,
		.cgroup_id = row->cgroup_id,
		.cgroup = row->path ? strdup(row->path) : NULL,
		.on_cpu_ns = row->on_cpu_ns,
		.shares = shares,
		.nr_shares = nr,
		.separable = separable,
	};
	memcpy(ret->comm, row->comm, sizeof(ret->comm));
	row_key(b, &row->key, ret->key);
	if (!separable && report_tangled(b, row, ret))
		return -ENOMEM;
	if (row->path && !ret->cgroup)
		return -ENOMEM;
	return book_latencies(b, row->seen, ret);
}

static int report_rows(const struct book *b, struct report *r)
{
	struct book_row *row, *next;
	int err;

	r->rows = calloc(HASH_COUNT(b->rows) + 1, sizeof(*r->rows));
	if (!r->rows)
		return -ENOMEM;
	HASH_ITER (hh, b->rows, row, next) {
		err = report_row(b, row, &r->rows[r->nr_rows++]);
		if (err)
			return err;
		if (b->scope.by != ROW_CGROUP)
			r->quality.unknown_tasks += !row->comm_known;
	}
	return b->scope.by == ROW_CGROUP ? cgroup_tree(b, r) : 0;
}

int book_report(const struct book *b, struct report *ret)
{
	const struct layout *l = b->layout;

	ret->by = b->scope.by;
	ret->counters = calloc(l->nr_counters + 1, sizeof(*ret->counters));
	ret->sockets = calloc(l->nr_sockets + 1, sizeof(*ret->sockets));
	if (!ret->counters || !ret->sockets)
		return -ENOMEM;
	memcpy(ret->counters, b->counters, l->nr_counters * sizeof(*ret->counters));
	ret->nr_counters = l->nr_counters;
	memcpy(ret->sockets, b->sockets, l->nr_sockets * sizeof(*ret->sockets));
	ret->nr_sockets = l->nr_sockets;
	ret->quality.windows = b->windows;
	ret->quality.rows_pooled = b->pooled;
	for (uint32_t s = 0; s < l->nr_sockets; s++)
		ret->quality.lost_slices_ns += b->sockets[s].lost_ns;
	return report_rows(b, ret);
}
