// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "base/array.h"
#include "trace/encode.h"
#include "trace/fields.h"

/* Totals that a later version may have and we do not know. */
#define MAX_TOTALS 256

struct decoder {
	const struct trace_header *h;
	struct trace_who *keys;
	size_t nr_keys, cap_keys;
	/* Of the slice before. */
	uint64_t start_ns, end_ns;
	uint32_t cpu;
	struct fields_in in;
	struct reading readings[TRACE_MAX_COUNTERS];
	uint64_t ends_ns[TRACE_MAX_SOCKETS];
	/* of the event in hand */
	size_t used_text;
	char text[RECORDING_MAX_TEXT + 1];
};

void decoder_free(struct decoder *d)
{
	if (!d)
		return;
	free(d->keys);
	free(d);
}

static const struct trace_who nobody;

/* The task of a slice or of I/O; a new one is described where it is first used. */
static const struct trace_who *get_key(struct decoder *d, struct bytes_in *in)
{
	uint64_t index = bytes_get_max(in, d->nr_keys);
	struct trace_who *key;

	if (!in->err && index < d->nr_keys)
		return &d->keys[index];
	if (!in->err)
		in->err = array_reserve(d->keys, d->cap_keys, d->nr_keys);
	if (in->err)
		return &nobody;
	key = &d->keys[d->nr_keys++];
	key->pid = bytes_get_max(in, UINT32_MAX);
	key->tgid = bytes_get_max(in, UINT32_MAX);
	key->task_start_ns = bytes_get(in);
	key->cgroup_id = bytes_get(in);
	return key;
}

static void get_slice(struct decoder *d, struct bytes_in *in, uint64_t flags, struct trace_slice *s)
{
	const struct trace_who *key = get_key(d, in);

	bytes_bad(in, flags > RECORDING_SLICE_FLAGS);
	*s = (struct trace_slice){ .pid = key->pid,
				   .tgid = key->tgid,
				   .task_start_ns = key->task_start_ns,
				   .cgroup_id = key->cgroup_id,
				   .cpu = d->cpu,
				   .start_ns = d->end_ns };
	if (!(flags & RECORDING_SLICE_SAME_CPU))
		s->cpu = bytes_get_max(in, UINT32_MAX);
	if (!(flags & RECORDING_SLICE_FOLLOWS))
		s->start_ns = d->start_ns + bytes_get_delta(in);
	s->on_cpu_ns = bytes_get_delta(in);
	s->end_ns = s->start_ns + s->on_cpu_ns;
	if (!(flags & RECORDING_SLICE_WHOLE))
		s->on_cpu_ns -= bytes_get_delta(in);
	if (flags & RECORDING_SLICE_WEIGHTS) {
		s->weights_ns = s->on_cpu_ns;
		if (!(flags & RECORDING_SLICE_ALL_COUNTS))
			s->weights_ns -= bytes_get_delta(in);
		for (uint32_t i = 0; i < d->h->nr_weights; i++)
			s->weights[i] = bytes_get(in);
	}
	d->cpu = s->cpu;
	d->start_ns = s->start_ns;
	d->end_ns = s->end_ns;
}

static void get_text(struct decoder *d, struct bytes_in *in, const struct field *f,
		     struct trace_event *event)
{
	const char *text = bytes_get_text(in, d->text + d->used_text, f->size);

	bytes_bad(in, f->required && !text);
	d->used_text += text ? strlen(text) + 1 : 0;
	*(const char **)((char *)event + f->offset) = text;
}

static void get_readings(struct decoder *d, struct bytes_in *in, struct trace_window *w)
{
	uint64_t length = w->end_ns - w->start_ns;

	for (uint32_t i = 0; i < d->h->layout.groups[w->group].nr; i++) {
		struct reading *r = &d->readings[i];

		r->value = bytes_get(in);
		r->enabled_ns = length + bytes_get_delta(in);
		r->running_ns = r->enabled_ns + bytes_get_delta(in);
	}
	w->readings = d->readings;
}

static void get_totals(struct bytes_in *in, const struct fields *totals, void *into)
{
	size_t have = bytes_get_max(in, MAX_TOTALS);

	for (size_t i = 0; i < have; i++) {
		uint64_t value = bytes_get(in);

		if (i < totals->nr)
			field_set(&totals->rows[i], into, value);
	}
}

static void get_index(struct decoder *d, struct bytes_in *in, const struct field *f,
		      struct trace_event *event)
{
	uint64_t value = bytes_get_max(in, UINT32_MAX);

	/* whether there is such a socket is for the sink to say, as with CPUs of slices */
	bytes_bad(in, f->type != FIELD_SOCKET && value >= trace_bound(d->h, f));
	field_set(f, event, value);
}

/* Fields that base/fields.h leaves to their owner */
static void get_own(struct fields_in *fields, const struct field *f, void *of)
{
	struct bytes_in *in = &fields->bytes;
	struct decoder *d = fields->arg;
	struct trace_event *event = of;
	struct trace_mark *m = &event->mark;

	switch (f->type) {
	case FIELD_TEXT:
		get_text(d, in, f, event);
		break;
	case FIELD_WHO:
		memcpy((char *)event + f->offset, get_key(d, in), sizeof(struct trace_who));
		break;
	case FIELD_READINGS:
		get_readings(d, in, &event->window);
		break;
	case FIELD_ENDS:
		m->ends_ns = fields->flags & f->flag ? d->ends_ns : NULL;
		for (uint32_t i = 0; m->ends_ns && i < d->h->layout.nr_sockets; i++)
			d->ends_ns[i] = m->time_ns + bytes_get_delta(in);
		break;
	case FIELD_PLACE:
		field_set(f, event, (uint32_t)bytes_get_max(in, d->h->layout.nr_sockets) - 1u);
		break;
	case FIELD_INSTANCE:
		field_set(f, of, (uint32_t)bytes_get_max(in, UINT32_MAX) - 1u);
		break;
	case FIELD_TOTALS:
		get_totals(in, f->each, (char *)event + f->offset);
		break;
	default:
		get_index(d, in, f, event);
	}
}

/* @code: enum recording_event */
static void get_row(struct decoder *d, uint64_t code, struct trace_event *event)
{
	const struct trace_row *row = trace_rows;

	while (row < trace_rows + NR_TRACE_EVENTS && (!row->code || row->code != code))
		row++;
	memset(event, 0, sizeof(*event));
	if (row == trace_rows + NR_TRACE_EVENTS) {
		bytes_bad(&d->in.bytes, true);
		return;
	}
	event->type = row - trace_rows;
	bytes_bad(&d->in.bytes, trace_unannounced(d->h, event->type));
	d->used_text = 0;
	fields_take(&d->in, &row->fields, event);
}

static int get_event(struct decoder *d, bool *first_mark, const struct trace_sink *sink)
{
	struct bytes_in *in = &d->in.bytes;
	uint64_t tag = bytes_get(in);
	struct trace_event event;
	struct trace_mark *m = &event.mark;
	int err;

	if (tag & RECORDING_SLICE) {
		event.type = TRACE_SLICE;
		get_slice(d, in, tag, &event.slice);
	} else {
		get_row(d, tag / 2, &event);
	}
	if (!in->err && event.type == TRACE_MARK) {
		/* Nothing can go on where nothing has begun, or where all ends. */
		bytes_bad(in, m->inner && (m->first || m->last || !m->ends_ns));
		if (*first_mark) {
			m->first = true;
			m->inner = false;
		}
		*first_mark = false;
	}
	err = in->err ? in->err : trace_send(sink, &event);
	if (trace_has_list(event.type))
		fields_release(&trace_rows[event.type].fields, &event);
	return err;
}

int decoder_new(const struct trace_header *h, struct decoder **ret)
{
	struct decoder *d = calloc(1, sizeof(*d));

	if (!d)
		return -ENOMEM;
	d->h = h;
	d->in.own = get_own;
	d->in.arg = d;
	*ret = d;
	return 0;
}

int decoder_block(struct decoder *d, const uint8_t *payload, size_t length, bool *first_mark,
		  const struct trace_sink *sink, struct decoded *ret)
{
	struct bytes_in *in = &d->in.bytes;
	int err;

	*ret = (struct decoded){ 0 };
	d->nr_keys = 0;
	d->start_ns = d->end_ns = d->cpu = 0;
	d->in.time = 0;
	*in = bytes_from(payload, length);
	while (in->at < in->end) {
		ret->offset = in->at - payload;
		err = get_event(d, first_mark, sink);
		ret->bad = in->err == -EBADMSG;
		if (in->err)
			return in->err;
		ret->events++;
		if (err == -EINVAL)
			ret->refused++;
		else if (err)
			return err;
	}
	return 0;
}
