// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "engine/book/book.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "engine/split/apportion.h"
#include "engine/book/book_rows.h"
#include "base/array.h"
#include "base/sums.h"

int book_new(const struct layout *layout, const struct book_scope *scope, struct identity *id,
	     struct book **ret)
{
	struct book *b = calloc(1, sizeof(*b));

	if (!b)
		return -ENOMEM;
	b->layout = layout;
	b->scope = *scope;
	b->nr_links = scope->links ? scope->links->nr : 0;
	b->id = id;
	b->counters = calloc(layout->nr_counters + 1, sizeof(*b->counters));
	b->sockets = calloc(layout->nr_sockets + 1, sizeof(*b->sockets));
	if (!b->counters || !b->sockets || book_devices_new(b)) {
		book_free(b);
		return -ENOMEM;
	}
	book_clear(b);
	*ret = b;
	return 0;
}

void book_free(struct book *b)
{
	if (!b)
		return;
	book_rows_free(b);
	free(b->roles);
	free(b->places);
	free(b->beside);
	free(b->derived);
	free(b->squares);
	free(b->skipped_ns);
	free(b->rotations);
	free(b->early);
	free(b->spans);
	for (size_t i = 0; b->turns && i < b->layout->nr_counters; i++)
		free(b->turns[i].ns);
	free(b->turns);
	free(b->gone);
	for (size_t i = 0; b->devices && i < b->scope.nr_devices; i++)
		book_users_clear(&b->devices[i].by);
	free(b->devices);
	free(b->counters);
	free(b->sockets);
	free(b->row_of);
	free(b->by_number);
	free(b);
}

void book_clear(struct book *b)
{
	book_rows_clear(b);
	memset(b->counters, 0, b->layout->nr_counters * sizeof(*b->counters));
	memset(b->sockets, 0, b->layout->nr_sockets * sizeof(*b->sockets));
	for (size_t i = 0; i < b->layout->nr_counters; i++)
		b->counters[i].counter = &b->layout->counters[i];
	for (uint32_t s = 0; s < b->layout->nr_sockets; s++)
		b->sockets[s].id = b->layout->socket_ids[s];
	memset(b->squares, 0, b->layout->nr_counters * sizeof(*b->squares));
	memset(b->skipped_ns, 0, b->layout->nr_counters * sizeof(*b->skipped_ns));
	memset(b->rotations, 0, b->layout->nr_groups * sizeof(*b->rotations));
	memset(b->early, 0, b->layout->nr_groups * sizeof(*b->early));
	memset(b->spans, 0, b->layout->nr_groups * sizeof(*b->spans));
	for (size_t i = 0; i < b->layout->nr_counters; i++)
		b->turns[i].nr = 0;
	memset(b->gone, 0, b->layout->nr_counters * sizeof(*b->gone));
	for (size_t i = 0; i < b->scope.nr_devices; i++)
		book_users_clear(&b->devices[i].by);
	memset(b->devices, 0, b->scope.nr_devices * sizeof(*b->devices));
	b->unowned_io = 0;
	b->nr_row_of = 0;
	b->nr_numbers = 0;
	b->windows = 0;
	b->pooled = 0;
}

/* Is the workload a row of this book, or part of the rest? */
static bool in_scope(const struct book *b, const struct workload *w)
{
	const struct cgroup_name *c;

	if (b->scope.all || w->task->followed)
		return true;
	c = identity_cgroup_find(b->id, w->key.cgroup_id);
	return c && c->selected;
}

static struct book_key key_of(const struct book *b, const struct workload *w)
{
	if (b->scope.by == ROW_CGROUP)
		return (struct book_key){ .cgroup_id = w->key.cgroup_id };
	if (b->scope.by == ROW_JOB)
		return book_job_key(identity_cgroup_find(b->id, w->key.cgroup_id));
	return (struct book_key){ .pid = w->key.pid, .start_ns = w->key.start_ns };
}

/* Of a task without a number only the cgroup is known; see struct trace_io. */
static bool is_somebody(const struct book *b, const struct workload *w)
{
	return b->scope.by == ROW_CGROUP || b->scope.by == ROW_JOB || w->key.pid != TRACE_PID_IDLE;
}

static int get_row(struct book *b, const struct workload *w, struct book_row **ret)
{
	struct book_key key;

	if (b->scope.by == ROW_JOB)
		return book_job_row(b, identity_cgroup_find(b->id, w->key.cgroup_id), ret);
	key = key_of(b, w);
	return book_row_get(b, &key, ret);
}

/* The row of a workload, which was found before. The reserved numbers (idle, lost) have no row. */
struct book_row *book_known_row(const struct book *b, uint32_t workload)
{
	return workload < b->nr_row_of ? b->row_of[workload] : NULL;
}

/* Cached by workload number; NULL with 0 returned: not in scope, or not known. */
static int row_of(struct book *b, uint32_t workload, struct book_row **ret)
{
	const struct workload *w;
	int err;

	/* Once in scope, always: there are many portions. */
	*ret = book_known_row(b, workload);
	if (*ret)
		return 0;
	w = identity_get(b->id, workload);
	while (workload >= b->nr_row_of) {
		if (array_reserve(b->row_of, b->cap_row_of, b->nr_row_of))
			return -ENOMEM;
		b->row_of[b->nr_row_of++] = NULL;
	}
	if (!w || !is_somebody(b, w) || !in_scope(b, w))
		return 0;
	err = get_row(b, w, ret);
	if (err)
		return err;
	/* Its CPU time tells its socket better than the requests that it made. */
	if (!(*ret)->on_cpu_ns)
		(*ret)->workload = workload;
	b->row_of[workload] = *ret;
	return 0;
}

void book_forget(struct book *b, uint32_t workload)
{
	if (workload < b->nr_row_of)
		b->row_of[workload] = NULL;
}

int book_on_cpu(struct book *b, uint32_t socket, uint32_t workload, uint64_t ns)
{
	struct book_row *row;
	bool fresh;
	int err;

	if (workload == WORKLOAD_IDLE) {
		b->sockets[socket].idle_ns += ns;
		return 0;
	}
	if (workload == WORKLOAD_LOST) {
		b->sockets[socket].lost_ns += ns;
		return 0;
	}
	b->sockets[socket].busy_ns += ns;
	identity_active(b->id, workload);
	fresh = !book_known_row(b, workload);
	err = row_of(b, workload, &row);
	if (err || !row)
		return err;
	if (fresh)
		row->workload = workload;
	row->on_cpu_ns += ns;
	return 0;
}

/* The reason for unattributed bytes of a workload without a row. */
static enum reason reason_of(struct book *b, uint32_t workload)
{
	const struct workload *w = identity_get(b->id, workload);
	struct book_row *row;
	struct book_key key;

	if (!w || !is_somebody(b, w))
		return REASON_LOST;
	/* Another workload of this cgroup was asked for: the time may be of that one. */
	if (w->key.pid == TRACE_PID_IDLE) {
		key = key_of(b, w);
		HASH_FIND(hh, b->rows, &key, sizeof(key), row);
		if (row)
			return REASON_LOST;
	}
	return REASON_OTHER;
}

int book_io(struct book *b, uint32_t device, uint32_t workload, uint64_t read_bytes,
	    uint64_t write_bytes)
{
	const uint64_t bytes[] = { read_bytes, write_bytes };
	struct book_row *row = NULL;
	struct book_device_io *io = NULL;
	int err = 0;

	if (workload != WORKLOAD_LOST) {
		identity_keep(b->id, workload);
		err = row_of(b, workload, &row);
	}
	if (!err && row)
		err = book_io_get(row, device, &io);
	if (err)
		return err;
	for (int i = 0; i < 2; i++) {
		uint64_t *all = &b->devices[device].io[i];

		*all = sum_capped(*all, bytes[i]);
		if (io)
			io->bytes[i] = sum_capped(io->bytes[i], bytes[i]);
		else if (reason_of(b, workload) == REASON_LOST)
			b->unowned_io = sum_capped(b->unowned_io, bytes[i]);
	}
	return 0;
}

void book_exclusive(struct book *b, uint32_t device, uint32_t row, bool several)
{
	struct book_device *d = &b->devices[device];

	d->exclusive = several		     ? EXCLUSIVE_SEVERAL
		       : row == SPLIT_NO_ROW ? EXCLUSIVE_NOBODY
					     : EXCLUSIVE_ONE;
	if (d->exclusive == EXCLUSIVE_ONE)
		d->owner = b->by_number[row]->key;
}

static int enter_window(void *arg, const struct trace_window *w)
{
	struct book *b = arg;
	const struct group *g = &b->layout->groups[w->group];
	const struct reading *r = w->readings;

	if (g->nr && b->roles[g->first] == ROLE_MEMORY)
		b->windows++;
	else
		book_device_window(b, w);
	for (uint32_t i = 0; i < g->nr; i++) {
		struct report_counter *c = &b->counters[g->first + i];

		if (!r[i].running_ns) {
			/* It was the turn of another device: that is time to be made up for. */
			if (b->roles[g->first + i] != ROLE_MEMORY)
				c->enabled_ns += r[i].enabled_ns;
			continue;
		}
		c->valid = true;
		c->enabled_ns += r[i].enabled_ns;
		c->running_ns += r[i].running_ns;
		c->covered_ns += w->end_ns - w->start_ns;
	}
	return 0;
}

static int enter_portion(struct book *b, struct book_row *row, uint32_t counter, uint64_t bytes)
{
	struct device_share *s;
	int err;

	if (b->roles[counter] == ROLE_MEMORY) {
		struct entry_share *share = &row->shares[b->places[counter]];

		share->value += bytes;
		share->squares += (double)bytes * bytes;
		return 0;
	}
	err = book_device_share_get(row, counter, &s);
	if (err)
		return err;
	s->share.value += bytes;
	book_turn_bytes(b, s, bytes);
	return 0;
}

/* A portion that is of no row that is known yet. */
static int enter_other(struct book *b, uint32_t counter, const struct portion *p)
{
	struct report_counter *c = &b->counters[counter];
	enum reason reason = REASON_LOST;
	struct book_row *row;
	int err;

	if (p->workload == WORKLOAD_BACKGROUND) {
		reason = c->counter->device ? REASON_DEVICE : REASON_BACKGROUND;
	} else if (p->workload != WORKLOAD_LOST) {
		err = row_of(b, p->workload, &row);
		if (err)
			return err;
		if (row) {
			c->attributed += p->bytes;
			return enter_portion(b, row, counter, p->bytes);
		}
		reason = reason_of(b, p->workload);
	}
	c->unattributed[reason] += p->bytes;
	return 0;
}

static int enter_bytes(void *arg, uint32_t counter, const struct trace_window *w, uint64_t bytes,
		       const struct portion *p, size_t nr)
{
	struct book *b = arg;
	struct report_counter *c = &b->counters[counter];
	int err = 0;

	c->value += bytes;
	b->squares[counter] += (double)bytes * (double)bytes;
	if (b->roles[counter] != ROLE_MEMORY && book_turn(b, counter, w))
		return -ENOMEM;
	if (c->counter->device)
		book_note_gone(b, counter, w->end_ns, bytes);
	if (book_is_nobodys(b, c->counter))
		nr = 0;
	if (!nr)
		c->unattributed[reason_unsplit(c->counter)] += bytes;
	for (size_t i = 0; i < nr && !err; i++) {
		struct book_row *row = book_known_row(b, p[i].workload);

		if (!row) {
			err = enter_other(b, counter, &p[i]);
			continue;
		}
		c->attributed += p[i].bytes;
		err = enter_portion(b, row, counter, p[i].bytes);
	}
	return err;
}

static int enter_latency(void *arg, size_t link, uint32_t workload, uint64_t bytes, double ns)
{
	struct book *b = arg;
	struct book_row *row;
	int err = row_of(b, workload, &row);

	if (err || !row)
		return err;
	row->seen[link].bytes += bytes;
	row->seen[link].byte_ns += bytes * ns;
	return 0;
}

struct latency_sink book_latencies(struct book *b)
{
	return (struct latency_sink){ enter_latency, b };
}

int book_number(struct book *b, uint32_t workload, uint32_t *ret)
{
	struct book_row *row = NULL;
	int err = workload == WORKLOAD_LOST ? 0 : row_of(b, workload, &row);

	if (err)
		return err;
	if (row && !row->number) {
		if (array_reserve(b->by_number, b->cap_numbers, b->nr_numbers))
			return -ENOMEM;
		b->by_number[b->nr_numbers++] = row;
		row->number = b->nr_numbers;
	}
	*ret = row ? row->number - 1 : SPLIT_NO_ROW;
	return 0;
}

/* The splitter knows rows by their number in the book. */
static int number_of(void *arg, uint32_t workload, uint32_t *ret)
{
	return book_number(arg, workload, ret);
}

static int enter_bounds(void *arg, uint32_t counter, const struct bounds *bounds)
{
	struct book *b = arg;
	struct book_row *row = b->by_number[bounds->row];
	struct entry_share *s;
	int err;

	if (book_is_nobodys(b, &b->layout->counters[counter]))
		return 0;
	err = book_share_get(b, row, counter, &s);
	if (err)
		return err;
	s->low += bounds->low;
	s->high += bounds->high;
	s->below += bounds->below;
	s->sure += bounds->sure;
	row->pooled += bounds->pooled;
	if (bounds->separable)
		return 0;
	s->tangled += bounds->high;
	if (bounds->nr_inseparable > row->nr_tangled_all)
		row->nr_tangled_all = bounds->nr_inseparable;
	for (size_t i = 0; i < bounds->nr_inseparable && !err; i++)
		err = book_row_tangle(row, &b->by_number[bounds->inseparable[i]]->key);
	return err;
}

struct split_sink book_sink(struct book *b)
{
	return (struct split_sink){
		.window = enter_window,
		.bytes = enter_bytes,
		.row = number_of,
		.bounds = enter_bounds,
		.arg = b,
		.id = b->id,
	};
}

void book_cgroup_gone(struct book *b, uint64_t cgroup_id)
{
	const struct book_key key = { .cgroup_id = cgroup_id };
	struct book_row *row = NULL;

	if (b->scope.by == ROW_CGROUP)
		HASH_FIND(hh, b->rows, &key, sizeof(key), row);
	if (row)
		row->exited = true;
}

int book_add(struct book *total, const struct book *part)
{
	struct book_row *row, *next, *mine;
	int err;

	for (size_t i = 0; i < total->layout->nr_counters; i++) {
		struct report_counter *t = &total->counters[i];
		const struct report_counter *p = &part->counters[i];

		t->valid |= p->valid;
		t->value += p->value;
		t->low = sum_capped(t->low, p->low);
		t->high = sum_capped(t->high, p->high);
		t->attributed += p->attributed;
		for (int k = 0; k < NR_REASONS; k++)
			t->unattributed[k] += p->unattributed[k];
		t->enabled_ns += p->enabled_ns;
		t->running_ns += p->running_ns;
		t->covered_ns += p->covered_ns;
		total->skipped_ns[i] += p->valid ? part->skipped_ns[i] : p->enabled_ns;
	}
	err = book_devices_add(total, part);
	if (err)
		return err;
	for (uint32_t s = 0; s < total->layout->nr_sockets; s++) {
		total->sockets[s].busy_ns += part->sockets[s].busy_ns;
		total->sockets[s].idle_ns += part->sockets[s].idle_ns;
		total->sockets[s].lost_ns += part->sockets[s].lost_ns;
	}
	total->windows += part->windows;
	HASH_ITER (hh, part->rows, row, next) {
		err = book_row_get_same(total, row, &mine);
		if (!err)
			err = book_row_add(total, mine, row);
		if (err)
			return err;
	}
	return book_pool(total, BOOK_MAX_ROWS);
}
