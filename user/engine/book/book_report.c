// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* From a finished book to a report. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "engine/book/book_rows.h"

static void key_of(void *arg, uint32_t row, char ret[MODEL_KEY_LEN])
{
	const struct book *b = arg;

	book_row_key(b, &b->by_number[row]->key, ret);
}

struct neighbours_names book_names(struct book *b)
{
	return (struct neighbours_names){ book_sink(b).row, key_of, b };
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

/* The rows from which it is inseparable, the largest first. */
static int report_tangled(const struct book *b, const struct book_row *row, struct report_row *ret)
{
	struct other others[BOOK_MAX_TANGLED];
	struct book_row *other;

	for (size_t i = 0; i < row->nr_tangled; i++) {
		HASH_FIND(hh, b->rows, &row->tangled[i], sizeof(row->tangled[i]), other);
		others[i] =
			(struct other){ &row->tangled[i], other ? book_row_bytes(b, other) : 0 };
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
		book_row_key(b, others[i].key, ret->tangled[i]);
	return 0;
}

/*
 * The lower end of the 95% interval of a row's bytes, of all that was added up. Each part of the
 * time may begin at 0 and be true, and one of many that begins too high is enough for their sum to
 * do so. So the remaining rows give up what they would have below it, but nothing of their certain
 * bytes.
 */
static uint64_t share_low(const struct entry_share *s)
{
	uint64_t low = s->low > s->below ? s->low - s->below : 0;

	return low > s->sure ? low : s->sure;
}

/* Not separable in intervals that hold most of its bytes, as far as is known. */
static bool is_separable(const struct entry_share *s)
{
	return !s->tangled || s->tangled < s->high - s->tangled;
}

static int add_latencies(const struct book *b, const struct entry_seen *seen,
			 struct report_row *row)
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

/* Shares of counters that tasks cause, and shares that are not 0 of the rest. */
static int report_shares(const struct book *b, const struct book_row *row, struct report_row *ret)
{
	const struct device_share *d = row->device_shares, *end = d + row->nr_device_shares;

	ret->shares = calloc(b->nr_places + row->nr_device_shares + 1, sizeof(*ret->shares));
	if (!ret->shares)
		return -ENOMEM;
	for (size_t i = 0; i < b->layout->nr_counters; i++) {
		const struct report_counter *c = &b->counters[i];
		const struct entry_share *e = NULL;
		bool separable;

		if (b->roles[i] == ROLE_MEMORY)
			e = &row->shares[b->places[i]];
		else if (d < end && d->counter == i)
			e = &d++->share;
		if (!e || !c->valid || (c->counter->source != SOURCE_CPU && !e->high && !e->value))
			continue;
		separable = is_separable(e);
		ret->shares[ret->nr_shares++] =
			(struct share){ i, e->value, share_low(e), e->high, separable };
		ret->separable &= !e->value || separable;
	}
	return 0;
}

static void report_link(const struct book *b, const struct book_device_io *io,
			struct row_device *ret)
{
	struct book_part part;

	if (!io->link[DIRECTION_READ].known && !io->link[DIRECTION_WRITE].known)
		return;
	book_link_part(b, io, DIRECTION_READ, &part);
	ret->read_bytes = part.value;
	ret->read_low = part.low;
	ret->read_high = part.high;
	book_link_part(b, io, DIRECTION_WRITE, &part);
	ret->write_bytes = part.value;
	ret->write_low = part.low;
	ret->write_high = part.high;
}

static int report_io(const struct book *b, const struct book_row *row, struct report_row *ret)
{
	if (!row->nr_io)
		return 0;
	ret->devices = calloc(row->nr_io, sizeof(*ret->devices));
	if (!ret->devices)
		return -ENOMEM;
	ret->nr_devices = row->nr_io;
	for (size_t i = 0; i < row->nr_io; i++)
		ret->devices[i] = (struct row_device){ .device = row->io[i].device,
						       .io_read_bytes = row->io[i].bytes[0],
						       .io_write_bytes = row->io[i].bytes[1] };
	for (size_t i = 0; i < row->nr_io; i++)
		report_link(b, &row->io[i], &ret->devices[i]);
	return 0;
}

static bool is_pooled(const struct report_row *row, uint64_t pooled)
{
	uint64_t bytes = 0;

	for (size_t i = 0; i < row->nr_shares; i++)
		bytes += row->shares[i].value;
	return pooled && pooled >= bytes - pooled;
}

static int report_row(const struct book *b, const struct book_row *row, struct report_row *ret)
{
	*ret = (struct report_row){
		.kind = b->scope.by,
		.leaf = true,
		.comm_known = row->comm_known,
		.exited = row->exited,
		.kernel = row->kernel,
		.pid = row->tgid,
		.tid = row->key.pid,
		.start_ns = b->scope.by == ROW_JOB ? 0 : row->key.start_ns,
		.cgroup_id = row->cgroup_id,
		.cgroup = row->path ? strdup(row->path) : NULL,
		.job = row->job ? row_job_share(row->job) : NULL,
		.on_cpu_ns = row->on_cpu_ns,
		.separable = true,
	};
	memcpy(ret->comm, row->comm, sizeof(ret->comm));
	book_row_key(b, &row->key, ret->key);
	if (report_shares(b, row, ret) || report_io(b, row, ret) ||
	    (!ret->separable && report_tangled(b, row, ret)))
		return -ENOMEM;
	ret->pooled = is_pooled(ret, row->pooled);
	if (row->path && !ret->cgroup)
		return -ENOMEM;
	return add_latencies(b, row->seen, ret);
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
		if (b->scope.by == ROW_PROCESS || b->scope.by == ROW_THREAD)
			r->quality.unknown_tasks += !row->comm_known;
	}
	return b->scope.by == ROW_CGROUP || b->scope.by == ROW_JOB ? cgroup_tree(b, r) : 0;
}

int book_report(const struct book *b, struct report *ret)
{
	const struct layout *l = b->layout;
	int err;

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
	ret->quality.unowned_io_bytes = b->unowned_io;
	for (uint32_t s = 0; s < l->nr_sockets; s++)
		ret->quality.lost_slices_ns += b->sockets[s].lost_ns;
	err = report_rows(b, ret);
	return err ? err : book_report_devices(b, ret);
}
