// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "report/top/past.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define HASH_NONFATAL_OOM 1
#include <uthash.h>

#include "base/array.h"
#include "base/cleanup.h"
#include "base/sums.h"
#include "report/devices.h"
#include "report/top/pack.h"

/* Flags of a packed row */
#define ROW_SEPARABLE 1
#define ROW_EXITED    2

/* Identity of a row: the same in many intervals, so it is kept once. */
struct known {
	uint32_t id;
	uint32_t uses;
	bool leaf;
	size_t key_at;
	size_t size;
	UT_hash_handle hh;
	uint8_t bytes[];
};

struct interval {
	struct past_when when;
	uint8_t *bytes;
	size_t size;
	size_t rows_at;
};

struct past {
	size_t max_bytes;
	size_t used;
	struct known *known;
	struct known **by_id;
	size_t nr_ids;
	size_t cap_ids;
	uint32_t *free_ids;
	size_t nr_free;
	size_t cap_free;
	struct interval *intervals; /* the oldest is at @first */
	size_t first;
	size_t nr;
	size_t cap;
	uint64_t added;
};

struct past *past_new(size_t max_bytes)
{
	struct past *p = calloc(1, sizeof(*p));

	if (p)
		p->max_bytes = max_bytes;
	return p;
}

/* --- identities of rows */

static void forget_known(struct past *p, struct known *k)
{
	p->used -= sizeof(*k) + k->size;
	p->by_id[k->id] = NULL;
	p->free_ids[p->nr_free++] = k->id;
	HASH_DEL(p->known, k);
	free(k);
}

static int take_id(struct past *p, struct known *k)
{
	if (p->nr_free) {
		k->id = p->free_ids[--p->nr_free];
	} else {
		/* Memory for releasing it is allocated with it: releasing cannot fail. */
		if (array_reserve(p->by_id, p->cap_ids, p->nr_ids) ||
		    array_reserve(p->free_ids, p->cap_free, p->nr_ids))
			return -ENOMEM;
		k->id = (uint32_t)p->nr_ids++;
	}
	p->by_id[k->id] = k;
	return 0;
}

/* Counts one more use. */
static int find_known(struct past *p, const struct report_row *r, struct bytes *w, uint32_t *ret_id)
{
	struct known *k;
	size_t key_at;

	pack_who(w, r, &key_at);
	if (w->err)
		return -ENOMEM;
	HASH_FIND(hh, p->known, w->data, w->nr, k);
	if (!k) {
		k = calloc(1, sizeof(*k) + w->nr);
		if (!k || take_id(p, k)) {
			free(k);
			return -ENOMEM;
		}
		k->leaf = r->leaf;
		k->key_at = key_at;
		k->size = w->nr;
		memcpy(k->bytes, w->data, w->nr);
		HASH_ADD_KEYPTR(hh, p->known, k->bytes, k->size, k);
		if (!k->hh.tbl) {
			p->by_id[k->id] = NULL;
			p->free_ids[p->nr_free++] = k->id;
			free(k);
			return -ENOMEM;
		}
		p->used += sizeof(*k) + k->size;
	}
	k->uses++;
	*ret_id = k->id;
	return 0;
}

static const char *key_of(const struct known *k)
{
	struct bytes_in u = bytes_from(k->bytes + k->key_at, k->size - k->key_at);

	return unpack_text(&u);
}

/* --- packing */

/* A row of the report that is added, found by its key */
struct place {
	const char *key;
	uint32_t index;
};

struct packer {
	struct past *past;
	const struct report *r;
	struct place *places; /* sorted by key; made when a row is tangled */
	struct bytes who;
	struct bytes row;
	struct bytes out;
};

static int compare_places(const void *a, const void *b)
{
	const struct place *x = a, *y = b;

	return strncmp(x->key, y->key, MODEL_KEY_LEN);
}

static int sort_places(struct packer *w)
{
	const struct report *r = w->r;

	w->places = calloc(r->nr_rows, sizeof(*w->places));
	if (!w->places)
		return -ENOMEM;
	for (size_t i = 0; i < r->nr_rows; i++)
		w->places[i] = (struct place){ r->rows[i].key, (uint32_t)i };
	qsort(w->places, r->nr_rows, sizeof(*w->places), compare_places);
	return 0;
}

static int pack_tangled(struct packer *w, const struct report_row *row)
{
	size_t nr = row->nr_tangled < PAST_TANGLED ? row->nr_tangled : PAST_TANGLED, found = 0;
	uint32_t indexes[PAST_TANGLED];

	if (nr && !w->places && sort_places(w))
		return -ENOMEM;
	for (size_t i = 0; i < nr; i++) {
		struct place wanted = { .key = row->tangled[i] };
		struct place *place = bsearch(&wanted, w->places, w->r->nr_rows, sizeof(*w->places),
					      compare_places);

		if (place)
			indexes[found++] = place->index;
	}
	bytes_put(&w->row,
		  row->nr_tangled_all > row->nr_tangled ? row->nr_tangled_all : row->nr_tangled);
	bytes_put(&w->row, found);
	for (size_t i = 0; i < found; i++)
		bytes_put(&w->row, indexes[i]);
	return 0;
}

static void pack_bounds(struct bytes *w, uint64_t value, uint64_t low, uint64_t high)
{
	bytes_put(w, value);
	bytes_put(w, pack_rounded(value > low ? value - low : 0));
	bytes_put(w, pack_rounded(high > value ? high - value : 0));
}

static void unpack_bounds(struct bytes_in *u, uint64_t *value, uint64_t *low, uint64_t *high)
{
	uint64_t below, above;

	*value = unpack_number(u);
	below = unpack_rounded(unpack_number(u));
	above = unpack_rounded(unpack_number(u));
	*low = *value > below ? *value - below : 0;
	*high = sum_capped(*value, above);
}

/* Most rows have no value in most counters: zeros are not kept. */
static bool is_nothing(const struct share *s)
{
	return !s->value && !s->low && !s->high && s->separable;
}

static void pack_shares(struct bytes *w, const struct report_row *row)
{
	size_t nr = 0;

	for (size_t i = 0; i < row->nr_shares; i++)
		nr += !is_nothing(&row->shares[i]);
	bytes_put(w, nr);
	for (size_t i = 0; i < row->nr_shares; i++) {
		const struct share *s = &row->shares[i];

		if (is_nothing(s))
			continue;
		bytes_put(w, (uint64_t)s->counter << 1 | s->separable);
		pack_bounds(w, s->value, s->low, s->high);
	}
}

static void pack_latencies(struct bytes *w, const struct report_row *row)
{
	bytes_put(w, row->nr_latencies);
	for (size_t i = 0; i < row->nr_latencies; i++) {
		const struct seen_latency *l = &row->latencies[i];

		bytes_put(w, l->probe);
		bytes_put_raw(w, &l->latency_ns, sizeof(l->latency_ns));
		bytes_put(w, l->bytes);
		bytes_put(w, l->of_bytes);
	}
}

static void pack_row_devices(struct bytes *w, const struct report_row *row)
{
	bytes_put(w, row->nr_devices);
	for (size_t i = 0; i < row->nr_devices; i++) {
		const struct row_device *d = &row->devices[i];

		bytes_put(w, (uint64_t)d->device << 1 | d->counted);
		pack_bounds(w, d->read_bytes, d->read_low, d->read_high);
		pack_bounds(w, d->write_bytes, d->write_low, d->write_high);
		bytes_put(w, d->io_read_bytes);
		bytes_put(w, d->io_write_bytes);
	}
}

static uint64_t bytes_of(const struct report *r, const struct report_row *row)
{
	uint64_t sum = 0;

	for (size_t i = 0; i < row->nr_shares; i++)
		if (devices_task_counter(r->counters[row->shares[i].counter].counter))
			sum = sum_capped(sum, row->shares[i].value);
	return sum;
}

static int pack_row(struct packer *w, const struct report_row *row)
{
	uint32_t id;
	int err = find_known(w->past, row, &w->who, &id);

	if (err)
		return err;
	w->row.nr = 0;
	bytes_put(&w->row, (row->separable ? ROW_SEPARABLE : 0) | (row->exited ? ROW_EXITED : 0));
	pack_shares(&w->row, row);
	pack_latencies(&w->row, row);
	pack_row_devices(&w->row, row);
	err = row->separable ? 0 : pack_tangled(w, row);
	/* In front of what follows, so that who only wants the sums skips the rest. */
	bytes_put(&w->out, id);
	bytes_put(&w->out, pack_rounded(bytes_of(w->r, row)));
	bytes_put(&w->out, row->on_cpu_ns);
	bytes_put(&w->out, w->row.nr);
	bytes_put_raw(&w->out, w->row.data, w->row.nr);
	return err;
}

/* Sizes of the lists of all rows, for allocating them when they are read again */
static void pack_sizes(struct bytes *w, const struct report *r)
{
	size_t shares = 0, latencies = 0, devices = 0;

	for (size_t i = 0; i < r->nr_rows; i++) {
		for (size_t k = 0; k < r->rows[i].nr_shares; k++)
			shares += !is_nothing(&r->rows[i].shares[k]);
		latencies += r->rows[i].nr_latencies;
		devices += r->rows[i].nr_devices;
	}
	bytes_put(w, shares);
	bytes_put(w, latencies);
	bytes_put(w, devices);
}

static void pack_machine(struct bytes *w, const struct report *r)
{
	struct report head = *r;

	/* The kernel's monitoring is not part of the rows, and not kept. */
	head.resctrl = NULL;
	head.nr_resctrl = 0;
	bytes_put_raw(w, &head, sizeof(head));
	bytes_put_raw(w, r->counters, r->nr_counters * sizeof(*r->counters));
	bytes_put_raw(w, r->probes, r->nr_probes * sizeof(*r->probes));
	bytes_put_raw(w, r->parts, r->nr_parts * sizeof(*r->parts));
	bytes_put_raw(w, r->devices, r->nr_devices * sizeof(*r->devices));
	for (size_t i = 0; i < r->nr_devices; i++)
		pack_users(w, &r->devices[i].by);
	bytes_put_raw(w, r->sockets, r->nr_sockets * sizeof(*r->sockets));
	pack_sizes(w, r);
}

/* --- keeping */

/* The rest of a row, behind its sums */
static void skip(struct bytes_in *u)
{
	uint64_t size = unpack_number(u);

	u->at += size;
}

/* Release the rows of an interval. */
static void release(struct past *p, const uint8_t *from, const uint8_t *end)
{
	struct bytes_in u = bytes_from(from, end - from);

	while (u.at < u.end) {
		struct known *k = p->by_id[unpack_number(&u)];

		unpack_number(&u);
		unpack_number(&u);
		skip(&u);
		if (!--k->uses)
			forget_known(p, k);
	}
}

static void drop_oldest(struct past *p)
{
	struct interval *i = &p->intervals[p->first++];

	release(p, i->bytes + i->rows_at, i->bytes + i->size);
	p->used -= i->size;
	free(i->bytes);
	p->nr--;
}

static int reserve(struct past *p)
{
	if (p->first + p->nr < p->cap)
		return 0;
	if (p->first) {
		memmove(p->intervals, p->intervals + p->first, p->nr * sizeof(*p->intervals));
		p->first = 0;
	}
	return array_reserve(p->intervals, p->cap, p->nr);
}

static int pack_report(struct packer *w, size_t *ret_rows)
{
	int err = 0;

	pack_machine(&w->out, w->r);
	*ret_rows = w->out.nr;
	for (size_t i = 0; i < w->r->nr_rows && !err; i++)
		err = pack_row(w, &w->r->rows[i]);
	return err || w->who.err || w->row.err || w->out.err ? -ENOMEM : 0;
}

int past_add(struct past *p, const struct report *r)
{
	struct packer w = { .past = p, .r = r };
	struct interval i = { .when = { r->start_ns, r->end_ns, p->added } };
	int err = reserve(p);

	if (!err)
		err = pack_report(&w, &i.rows_at);
	if (!err) {
		i.size = w.out.nr;
		i.bytes = realloc(take_ptr(w.out.data), i.size);
		p->intervals[p->first + p->nr++] = i;
		p->used += i.size;
		p->added++;
	}
	free(w.places);
	free(w.who.data);
	free(w.row.data);
	free(w.out.data);
	while (p->nr > 1 && past_bytes(p) > p->max_bytes)
		drop_oldest(p);
	return err;
}

void past_forget(struct past *p)
{
	while (p->nr)
		drop_oldest(p);
	p->added = 0;
}

void past_free(struct past *p)
{
	struct known *k, *next;

	if (!p)
		return;
	past_forget(p);
	/* Undo an interval that found no memory */
	HASH_ITER (hh, p->known, k, next)
		forget_known(p, k);
	free(p->by_id);
	free(p->free_ids);
	free(p->intervals);
	free(p);
}

size_t past_count(const struct past *p)
{
	return p->nr;
}

uint64_t past_dropped(const struct past *p)
{
	return p->added - p->nr;
}

size_t past_bytes(const struct past *p)
{
	return p->used + p->cap * sizeof(*p->intervals) +
	       p->cap_ids * (sizeof(*p->by_id) + sizeof(*p->free_ids));
}

struct past_when past_when(const struct past *p, size_t index)
{
	return p->intervals[p->first + index].when;
}

size_t past_find(const struct past *p, uint64_t number)
{
	uint64_t dropped = past_dropped(p);
	size_t index = number < dropped ? 0 : (size_t)(number - dropped);

	return p->nr && index >= p->nr ? p->nr - 1 : index;
}

/* --- reading */

/* A report and the lists of its rows, one allocation each */
struct unpacked {
	struct report report;
	struct share *shares;
	struct seen_latency *latencies;
	struct row_device *devices;
	char (*tangled)[MODEL_KEY_LEN];
	size_t nr_shares;
	size_t nr_latencies;
	size_t nr_devices;
};

void past_report_free(struct report *r)
{
	struct unpacked *u = (struct unpacked *)r;

	if (!u)
		return;
	for (size_t i = 0; r->rows && i < r->nr_rows; i++) {
		free(r->rows[i].job);
		free(r->rows[i].tangled);
	}
	free(r->counters);
	free(r->probes);
	free(r->parts);
	for (size_t i = 0; r->devices && i < r->nr_devices; i++)
		device_users_release(&r->devices[i].by);
	free(r->devices);
	free(r->sockets);
	free(r->rows);
	free(u->shares);
	free(u->latencies);
	free(u->devices);
	free(u);
}

static void *unpack_array(struct bytes_in *u, size_t nr, size_t size)
{
	void *array = calloc(nr + 1, size);

	if (array)
		unpack_raw(u, array, nr * size);
	return array;
}

/* Lists of users are new: pointers in the bytes are those of a report that is gone. */
static int unpack_devices(struct bytes_in *u, struct report *r)
{
	int err = 0;

	r->devices = unpack_array(u, r->nr_devices, sizeof(*r->devices));
	if (!r->devices)
		return -ENOMEM;
	for (size_t i = 0; i < r->nr_devices; i++) {
		struct device_users *by = &r->devices[i].by;

		if (!err)
			err = unpack_users(u, by);
		else
			*by = (struct device_users){ 0 };
	}
	return err;
}

static int unpack_machine(struct bytes_in *u, struct unpacked *ret)
{
	struct report *r = &ret->report;

	unpack_raw(u, r, sizeof(*r));
	r->rows = NULL;
	r->counters = unpack_array(u, r->nr_counters, sizeof(*r->counters));
	r->probes = r->counters ? unpack_array(u, r->nr_probes, sizeof(*r->probes)) : NULL;
	r->parts = r->probes ? unpack_array(u, r->nr_parts, sizeof(*r->parts)) : NULL;
	if (!r->parts || unpack_devices(u, r))
		return -ENOMEM;
	r->sockets = r->devices ? unpack_array(u, r->nr_sockets, sizeof(*r->sockets)) : NULL;
	if (!r->sockets)
		return -ENOMEM;
	ret->shares = calloc(unpack_number(u) + 1, sizeof(*ret->shares));
	ret->latencies = calloc(unpack_number(u) + 1, sizeof(*ret->latencies));
	ret->devices = calloc(unpack_number(u) + 1, sizeof(*ret->devices));
	r->rows = calloc(r->nr_rows + 1, sizeof(*r->rows));
	return ret->shares && ret->latencies && ret->devices && r->rows ? 0 : -ENOMEM;
}

static void unpack_shares(struct bytes_in *u, struct unpacked *all, struct report_row *row)
{
	row->nr_shares = unpack_number(u);
	row->shares = all->shares + all->nr_shares;
	all->nr_shares += row->nr_shares;
	for (size_t i = 0; i < row->nr_shares; i++) {
		struct share *s = &row->shares[i];
		uint64_t number = unpack_number(u);

		s->counter = (uint32_t)(number >> 1);
		s->separable = number & 1;
		unpack_bounds(u, &s->value, &s->low, &s->high);
	}
}

static void unpack_latencies(struct bytes_in *u, struct unpacked *all, struct report_row *row)
{
	row->nr_latencies = unpack_number(u);
	row->latencies = all->latencies + all->nr_latencies;
	all->nr_latencies += row->nr_latencies;
	for (size_t i = 0; i < row->nr_latencies; i++) {
		struct seen_latency *l = &row->latencies[i];

		l->probe = (uint32_t)unpack_number(u);
		unpack_raw(u, &l->latency_ns, sizeof(l->latency_ns));
		l->bytes = unpack_number(u);
		l->of_bytes = unpack_number(u);
	}
}

static void unpack_row_devices(struct bytes_in *u, struct unpacked *all, struct report_row *row)
{
	row->nr_devices = unpack_number(u);
	row->devices = all->devices + all->nr_devices;
	all->nr_devices += row->nr_devices;
	for (size_t i = 0; i < row->nr_devices; i++) {
		struct row_device *d = &row->devices[i];
		uint64_t number = unpack_number(u);

		d->device = (uint32_t)(number >> 1);
		d->counted = number & 1;
		unpack_bounds(u, &d->read_bytes, &d->read_low, &d->read_high);
		unpack_bounds(u, &d->write_bytes, &d->write_low, &d->write_high);
		d->io_read_bytes = unpack_number(u);
		d->io_write_bytes = unpack_number(u);
	}
}

/* The others by their place in the report; their keys are known once all rows are. */
static int unpack_tangled(struct bytes_in *u, struct report_row *row)
{
	row->nr_tangled_all = unpack_number(u);
	row->nr_tangled = unpack_number(u);
	row->tangled = calloc(row->nr_tangled + 1, sizeof(*row->tangled));
	if (!row->tangled)
		return -ENOMEM;
	for (size_t i = 0; i < row->nr_tangled; i++) {
		uint32_t index = (uint32_t)unpack_number(u);

		memcpy(row->tangled[i], &index, sizeof(index));
	}
	return 0;
}

static void name_tangled(struct report *r)
{
	uint32_t index;

	for (size_t i = 0; i < r->nr_rows; i++) {
		struct report_row *row = &r->rows[i];

		for (size_t k = 0; k < row->nr_tangled; k++) {
			memcpy(&index, row->tangled[k], sizeof(index));
			memcpy(row->tangled[k], r->rows[index].key, MODEL_KEY_LEN);
		}
	}
}

static int unpack_row(const struct past *p, struct bytes_in *u, struct unpacked *all,
		      struct report_row *row)
{
	const struct known *k = p->by_id[unpack_number(u)];
	struct bytes_in rest = { .end = u->end };
	uint64_t flags, size;
	int err = unpack_who(k->bytes, k->size, row);

	unpack_number(u); /* the sum: shares have it */
	row->on_cpu_ns = unpack_number(u);
	size = unpack_number(u);
	rest.at = u->at;
	u->at += size;
	flags = unpack_number(&rest);
	row->separable = flags & ROW_SEPARABLE;
	row->exited = flags & ROW_EXITED;
	unpack_shares(&rest, all, row);
	unpack_latencies(&rest, all, row);
	unpack_row_devices(&rest, all, row);
	return err || row->separable ? err : unpack_tangled(&rest, row);
}

int past_report(const struct past *p, size_t index, struct report **ret)
{
	const struct interval *i = &p->intervals[p->first + index];
	struct bytes_in u = bytes_from(i->bytes, i->size);
	struct unpacked *all = calloc(1, sizeof(*all));
	int err = all ? unpack_machine(&u, all) : -ENOMEM;

	for (size_t k = 0; !err && k < all->report.nr_rows; k++)
		err = unpack_row(p, &u, all, &all->report.rows[k]);
	if (err) {
		past_report_free(&all->report);
		return err;
	}
	name_tangled(&all->report);
	*ret = &all->report;
	return 0;
}

/* --- rows over time */

/* A line, sorted with others of the same row */
struct wanted {
	struct past_line *line;
	bool same; /* the next one is of this row, too */
};

static int compare_wanted(const void *a, const void *b)
{
	const struct past_line *x = ((const struct wanted *)a)->line;
	const struct past_line *y = ((const struct wanted *)b)->line;

	return strcmp(x->key, y->key) ?: ORDER(x->leaf, y->leaf);
}

static struct wanted *sort_lines(struct past_line *lines, size_t nr)
{
	struct wanted *sorted = calloc(nr + 1, sizeof(*sorted));

	for (size_t i = 0; sorted && i < nr; i++)
		sorted[i].line = &lines[i];
	if (sorted)
		qsort(sorted, nr, sizeof(*sorted), compare_wanted);
	for (size_t i = 0; sorted && i + 1 < nr; i++)
		sorted[i].same = !compare_wanted(&sorted[i], &sorted[i + 1]);
	return sorted;
}

/* By number of a known row: the first of its lines, or NULL. Its name may have changed. */
static void find_lines(const struct past *p, struct wanted *sorted, size_t nr, struct wanted **ret)
{
	for (size_t i = 0; i < p->nr_ids; i++) {
		struct past_line same = { 0 };
		struct wanted key = { .line = &same }, *found;

		if (!p->by_id[i])
			continue;
		same.key = key_of(p->by_id[i]);
		same.leaf = p->by_id[i]->leaf;
		found = bsearch(&key, sorted, nr, sizeof(*sorted), compare_wanted);
		while (found && found > sorted && found[-1].same)
			found--;
		ret[i] = found;
	}
}

static void add_values(struct wanted *w, size_t at, uint64_t bytes, uint64_t cpu_ns)
{
	for (bool more = true; more; w++) {
		w->line->values[at] += w->line->cpu ? (double)cpu_ns : (double)bytes;
		more = w->same;
	}
}

int past_lines(const struct past *p, size_t first, size_t last, struct past_line *lines, size_t nr)
{
	cleanup_free struct wanted *sorted = sort_lines(lines, nr);
	cleanup_free struct wanted **by_id = calloc(p->nr_ids + 1, sizeof(struct wanted *));

	if (!sorted || !by_id)
		return -ENOMEM;
	find_lines(p, sorted, nr, by_id);
	for (size_t i = first; i <= last; i++) {
		const struct interval *at = &p->intervals[p->first + i];
		struct bytes_in u = bytes_from(at->bytes + at->rows_at, at->size - at->rows_at);

		while (u.at < u.end) {
			struct wanted *w = by_id[unpack_number(&u)];
			uint64_t bytes = unpack_rounded(unpack_number(&u));
			uint64_t cpu_ns = unpack_number(&u);

			skip(&u);
			if (w)
				add_values(w, i - first, bytes, cpu_ns);
		}
	}
	return 0;
}
