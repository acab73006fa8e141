// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "trace/encode.h"
#include "trace/fields.h"

/* Places for keys of a block; at least twice of what the bytes of a block can name. */
#define NR_PLACES 65536u
#define MAX_KEYS  (NR_PLACES / 2)
/* Bytes that an event with a key has at most; its other fields are numbers. */
#define MAX_KEYED 160

struct key_place {
	struct trace_who key;
	uint32_t index;
	uint32_t block; /* valid in this block only: nothing to be cleared */
};

struct encoder {
	const struct trace_header *h;
	size_t prefix;
	struct bytes out;
	uint32_t events;
	uint32_t block;
	uint32_t nr_keys;
	struct trace_slice last;
	uint64_t time_ns; /* of the last event that is no slice and has one */
	struct key_place places[NR_PLACES];
};

int encoder_new(const struct trace_header *h, size_t prefix, struct encoder **ret)
{
	struct encoder *e = calloc(1, sizeof(*e));

	if (!e)
		return -ENOMEM;
	e->h = h;
	e->prefix = prefix;
	if (!bytes_room(&e->out, prefix + RECORDING_BLOCK_TARGET * 2)) {
		free(e);
		return -ENOMEM;
	}
	encoder_reset(e);
	*ret = e;
	return 0;
}

void encoder_free(struct encoder *e)
{
	if (!e)
		return;
	free(e->out.data);
	free(e);
}

void encoder_reset(struct encoder *e)
{
	e->out.nr = e->prefix;
	e->out.err = 0;
	memset(e->out.data, 0, e->prefix);
	e->events = 0;
	e->block++;
	e->nr_keys = 0;
	e->last = (struct trace_slice){ 0 };
	e->time_ns = 0;
}

struct bytes *encoder_out(struct encoder *e)
{
	return &e->out;
}

uint32_t encoder_events(const struct encoder *e)
{
	return e->events;
}

static struct key_place *find_key(struct encoder *e, const struct trace_who *key)
{
	uint64_t hash = key->pid ^ (uint64_t)key->tgid << 32 ^ key->task_start_ns * 31 ^
			key->cgroup_id * 0x9e3779b97f4a7c15u;
	struct key_place *p;

	hash *= 0x9e3779b97f4a7c15u;
	for (uint32_t i = hash >> 48;; i++) {
		p = &e->places[i % NR_PLACES];
		if (p->block != e->block || !memcmp(&p->key, key, sizeof(*key)))
			return p;
	}
}

/* The key of a task; in full where it is first used in the block. */
static void put_key(struct encoder *e, const struct trace_who *key)
{
	struct key_place *p = find_key(e, key);

	if (p->block == e->block) {
		bytes_put(&e->out, p->index);
		return;
	}
	if (e->nr_keys >= MAX_KEYS) {
		e->out.err = e->out.err ? e->out.err : -EINVAL;
		return;
	}
	*p = (struct key_place){ .key = *key, .index = e->nr_keys++, .block = e->block };
	bytes_put(&e->out, p->index);
	bytes_put(&e->out, key->pid);
	bytes_put(&e->out, key->tgid);
	bytes_put(&e->out, key->task_start_ns);
	bytes_put(&e->out, key->cgroup_id);
}

/* Nearly all of a recording is slices: a form of their own makes them short. */
static void put_slice(struct encoder *e, const struct trace_event *event)
{
	const struct trace_slice *s = &event->slice;
	const struct trace_who key = trace_who(event);
	struct bytes *o = &e->out;
	uint64_t length = s->end_ns - s->start_ns;
	uint32_t flags = RECORDING_SLICE;

	flags |= s->cpu == e->last.cpu ? RECORDING_SLICE_SAME_CPU : 0;
	flags |= s->on_cpu_ns == length ? RECORDING_SLICE_WHOLE : 0;
	flags |= s->start_ns == e->last.end_ns ? RECORDING_SLICE_FOLLOWS : 0;
	if (s->weights_ns && e->h->nr_weights)
		flags |= RECORDING_SLICE_WEIGHTS |
			 (s->weights_ns == s->on_cpu_ns ? RECORDING_SLICE_ALL_COUNTS : 0);
	bytes_put(o, flags);
	put_key(e, &key);
	if (!(flags & RECORDING_SLICE_SAME_CPU))
		bytes_put(o, s->cpu);
	if (!(flags & RECORDING_SLICE_FOLLOWS))
		bytes_put_delta(o, s->start_ns - e->last.start_ns);
	bytes_put_delta(o, length);
	if (!(flags & RECORDING_SLICE_WHOLE))
		bytes_put_delta(o, length - s->on_cpu_ns);
	if (flags & RECORDING_SLICE_WEIGHTS) {
		if (!(flags & RECORDING_SLICE_ALL_COUNTS))
			bytes_put_delta(o, s->on_cpu_ns - s->weights_ns);
		for (uint32_t i = 0; i < e->h->nr_weights; i++)
			bytes_put(o, s->weights[i]);
	}
	if (!o->err)
		e->last = *s;
}

static uint64_t flags_of(const struct trace_event *event, const struct trace_row *row)
{
	uint64_t flags = 0;

	for (size_t i = 0; i < row->nr; i++) {
		const struct trace_field *f = &row->fields[i];

		if (f->type == FIELD_BOOL ? trace_get(event, f)
					  : f->type == FIELD_ENDS && event->mark.ends_ns)
			flags |= f->flag;
	}
	return flags;
}

static void put_readings(struct encoder *e, const struct trace_window *w)
{
	uint64_t length = w->end_ns - w->start_ns;

	for (uint32_t i = 0; i < e->h->layout.groups[w->group].nr; i++) {
		const struct reading *r = &w->readings[i];

		bytes_put(&e->out, r->value);
		bytes_put_delta(&e->out, r->enabled_ns - length);
		bytes_put_delta(&e->out, r->running_ns - r->enabled_ns);
	}
}

static void put_totals(struct bytes *o, const void *from, const struct trace_total *totals,
		       size_t nr)
{
	bytes_put(o, nr);
	for (size_t i = 0; i < nr; i++)
		bytes_put(o, trace_total_get(from, &totals[i]));
}

static void put_number(struct encoder *e, const struct trace_event *event,
		       const struct trace_field *f)
{
	uint64_t value = trace_get(event, f);

	if (f->base == BASE_NONE) {
		bytes_put(&e->out, value);
	} else if (f->base == BASE_TIME) {
		bytes_put_delta(&e->out, value - e->time_ns);
		e->time_ns = value;
	} else {
		bytes_put_delta(&e->out, value - trace_base(event, f));
	}
}

static void put_field(struct encoder *e, const struct trace_event *event,
		      const struct trace_row *row, const struct trace_field *f)
{
	const struct trace_mark *m = &event->mark;
	struct trace_who key;

	switch (f->type) {
	case FIELD_TEXT:
		bytes_put_text(&e->out, trace_text(event, f));
		break;
	case FIELD_BOOL: /* is one of the flags */
		break;
	case FIELD_FLAGS:
		bytes_put(&e->out, flags_of(event, row));
		break;
	case FIELD_WHO:
		key = trace_who(event);
		put_key(e, &key);
		break;
	case FIELD_READINGS:
		put_readings(e, &event->window);
		break;
	case FIELD_ENDS:
		for (uint32_t i = 0; m->ends_ns && i < e->h->layout.nr_sockets; i++)
			bytes_put_delta(&e->out, m->ends_ns[i] - m->time_ns);
		break;
	case FIELD_LOSSES:
		put_totals(&e->out, &m->losses, trace_losses, TRACE_NR_LOSSES);
		break;
	case FIELD_COSTS:
		put_totals(&e->out, &m->cost, trace_costs, TRACE_NR_COSTS);
		break;
	default:
		put_number(e, event, f);
	}
}

static void put_row(struct encoder *e, const struct trace_event *event)
{
	const struct trace_row *row = &trace_rows[event->type];

	bytes_put(&e->out, row->code * 2);
	for (size_t i = 0; i < row->nr; i++)
		if (!row->fields[i].unless)
			put_field(e, event, row, &row->fields[i]);
	for (size_t i = 0; i < row->nr; i++)
		if (row->fields[i].unless && !trace_absent(event, &row->fields[i]))
			put_field(e, event, row, &row->fields[i]);
}

static int on_event(void *arg, const struct trace_event *event)
{
	struct encoder *e = arg;
	struct bytes *o = &e->out;
	uint64_t time_ns = e->time_ns;
	size_t start = o->nr;
	int err;

	if (!trace_fits(e->h, event))
		return -EINVAL;
	/* in advance, because keys cannot be taken back */
	if (bytes_room(o, MAX_KEYED)) {
		if (event->type == TRACE_SLICE)
			put_slice(e, event);
		else
			put_row(e, event);
	}
	err = o->err;
	if (err) {
		o->nr = start;
		o->err = 0;
		e->time_ns = time_ns;
		return err;
	}
	e->events++;
	return 0;
}

struct trace_sink encoder_sink(struct encoder *e)
{
	return (struct trace_sink){ on_event, e };
}
