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
	struct fields_out out;
	uint32_t events;
	uint32_t block;
	uint32_t nr_keys;
	struct trace_slice last;
	struct key_place places[NR_PLACES];
};

void encoder_free(struct encoder *e)
{
	if (!e)
		return;
	free(e->out.bytes.data);
	free(e);
}

void encoder_reset(struct encoder *e)
{
	e->out.bytes.nr = e->prefix;
	e->out.bytes.err = 0;
	memset(e->out.bytes.data, 0, e->prefix);
	e->events = 0;
	e->block++;
	e->nr_keys = 0;
	e->last = (struct trace_slice){ 0 };
	e->out.time = 0;
}

struct bytes *encoder_out(struct encoder *e)
{
	return &e->out.bytes;
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
		bytes_put(&e->out.bytes, p->index);
		return;
	}
	if (e->nr_keys >= MAX_KEYS) {
		e->out.bytes.err = e->out.bytes.err ? e->out.bytes.err : -EINVAL;
		return;
	}
	*p = (struct key_place){ .key = *key, .index = e->nr_keys++, .block = e->block };
	bytes_put(&e->out.bytes, p->index);
	bytes_put(&e->out.bytes, key->pid);
	bytes_put(&e->out.bytes, key->tgid);
	bytes_put(&e->out.bytes, key->task_start_ns);
	bytes_put(&e->out.bytes, key->cgroup_id);
}

/* Nearly all of a recording is slices: a form of their own makes them short. */
static void put_slice(struct encoder *e, const struct trace_event *event)
{
	const struct trace_slice *s = &event->slice;
	const struct trace_who key = trace_who(event);
	struct bytes *o = &e->out.bytes;
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

static void put_readings(struct encoder *e, const struct trace_window *w)
{
	uint64_t length = w->end_ns - w->start_ns;

	for (uint32_t i = 0; i < e->h->layout.groups[w->group].nr; i++) {
		const struct reading *r = &w->readings[i];

		bytes_put(&e->out.bytes, r->value);
		bytes_put_delta(&e->out.bytes, r->enabled_ns - length);
		bytes_put_delta(&e->out.bytes, r->running_ns - r->enabled_ns);
	}
}

/* Fields that base/fields.h leaves to their owner; indexes are numbers. */
static void put_own(struct fields_out *o, const struct field *f, const void *of)
{
	const struct trace_event *event = of;
	const struct trace_mark *m = &event->mark;
	struct encoder *e = o->arg;
	struct trace_who key;

	switch (f->type) {
	case FIELD_WHO:
		key = trace_who(event);
		put_key(e, &key);
		break;
	case FIELD_READINGS:
		put_readings(e, &event->window);
		break;
	case FIELD_ENDS:
		for (uint32_t i = 0; m->ends_ns && i < e->h->layout.nr_sockets; i++)
			bytes_put_delta(&o->bytes, m->ends_ns[i] - m->time_ns);
		break;
	case FIELD_PLACE:
	case FIELD_INSTANCE:
		bytes_put(&o->bytes, (uint32_t)(field_get(f, of) + 1));
		break;
	case FIELD_TOTALS:
		bytes_put(&o->bytes, f->each->nr);
		fields_put(o, f->each, field_at(f, of));
		break;
	default:
		bytes_put(&o->bytes, field_get(f, of));
	}
}

static int on_event(void *arg, const struct trace_event *event)
{
	struct encoder *e = arg;
	struct bytes *o = &e->out.bytes;
	uint64_t time_ns = e->out.time;
	size_t start = o->nr;
	int err;

	if (!trace_fits(e->h, event))
		return -EINVAL;
	/* in advance, because keys cannot be taken back */
	if (bytes_reserve(o, MAX_KEYED)) {
		if (event->type == TRACE_SLICE) {
			put_slice(e, event);
		} else {
			bytes_put(o, trace_rows[event->type].code * 2);
			fields_put(&e->out, &trace_rows[event->type].fields, event);
		}
	}
	err = o->err;
	if (err) {
		o->nr = start;
		o->err = 0;
		e->out.time = time_ns;
		return err;
	}
	e->events++;
	return 0;
}

int encoder_new(const struct trace_header *h, size_t prefix, struct encoder **ret)
{
	struct encoder *e = calloc(1, sizeof(*e));

	if (!e)
		return -ENOMEM;
	e->h = h;
	e->prefix = prefix;
	e->out.own = put_own;
	e->out.arg = e;
	if (!bytes_reserve(&e->out.bytes, prefix + RECORDING_BLOCK_TARGET * 2)) {
		free(e);
		return -ENOMEM;
	}
	encoder_reset(e);
	*ret = e;
	return 0;
}

struct trace_sink encoder_sink(struct encoder *e)
{
	return (struct trace_sink){ on_event, e };
}
