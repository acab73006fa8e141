// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "base/array.h"
#include "trace/encode.h"
#include "trace/fields.h"

/* Totals that a later version may have and we do not know. */
#define MAX_FIELDS 256

struct key {
	uint64_t start_ns;
	uint64_t cgroup_id;
	uint32_t pid;
	uint32_t tgid;
};

struct decoder {
	const struct trace_header *h;
	struct key *keys;
	size_t nr_keys, cap_keys;
	struct trace_slice last;
	uint64_t time_ns;
	struct reading readings[TRACE_MAX_COUNTERS];
	uint64_t ends_ns[TRACE_MAX_SOCKETS];
	char text[RECORDING_MAX_TEXT + 1];
	char job_id[JOB_ID_LEN];
	char job_name[JOB_NAME_LEN];
	char job_user[JOB_NAME_LEN];
};

int decoder_new(const struct trace_header *h, struct decoder **ret)
{
	struct decoder *d = calloc(1, sizeof(*d));

	if (!d)
		return -ENOMEM;
	d->h = h;
	*ret = d;
	return 0;
}

void decoder_free(struct decoder *d)
{
	if (!d)
		return;
	free(d->keys);
	free(d);
}

/* The task of a slice or of I/O; new ones are told where they are first used. */
static const struct key *get_key(struct decoder *d, struct wire_in *in)
{
	uint64_t index = wire_get_max(in, d->nr_keys);
	struct key *key;

	if (in->bad)
		return NULL;
	if (index < d->nr_keys)
		return &d->keys[index];
	if (array_room(d->keys, d->cap_keys, d->nr_keys))
		return NULL;
	key = &d->keys[d->nr_keys];
	key->pid = wire_get_max(in, UINT32_MAX);
	key->tgid = wire_get_max(in, UINT32_MAX);
	key->start_ns = wire_get(in);
	key->cgroup_id = wire_get(in);
	d->nr_keys++;
	return key;
}

static int get_slice(struct decoder *d, struct wire_in *in, uint64_t flags,
		     const struct trace_sink *sink)
{
	struct trace_slice s = { 0 };
	const struct key *key = get_key(d, in);

	if (!key)
		return in->bad ? -EBADMSG : -ENOMEM;
	s.pid = key->pid;
	s.tgid = key->tgid;
	s.task_start_ns = key->start_ns;
	s.cgroup_id = key->cgroup_id;
	s.cpu = d->last.cpu;
	if (!(flags & RECORDING_SLICE_SAME_CPU))
		s.cpu = wire_get_max(in, UINT32_MAX);
	s.start_ns = d->last.end_ns;
	if (!(flags & RECORDING_SLICE_FOLLOWS))
		s.start_ns = d->last.start_ns + wire_get_delta(in);
	s.on_cpu_ns = wire_get_delta(in);
	s.end_ns = s.start_ns + s.on_cpu_ns;
	if (!(flags & RECORDING_SLICE_WHOLE))
		s.on_cpu_ns -= wire_get_delta(in);
	if (flags & RECORDING_SLICE_WEIGHTS) {
		s.weights_ns = s.on_cpu_ns;
		if (!(flags & RECORDING_SLICE_ALL_COUNTS))
			s.weights_ns -= wire_get_delta(in);
		for (uint32_t i = 0; i < d->h->nr_weights; i++)
			s.weights[i] = wire_get(in);
	}
	if (in->bad)
		return -EBADMSG;
	d->last = s;
	return trace_send_slice(sink, &s);
}

static int get_task(struct decoder *d, struct wire_in *in, const struct trace_sink *sink)
{
	struct trace_task t = { 0 };

	t.kernel = wire_get_max(in, RECORDING_TASK_KERNEL) & RECORDING_TASK_KERNEL;
	t.pid = wire_get_max(in, UINT32_MAX);
	t.tgid = wire_get_max(in, UINT32_MAX);
	t.start_ns = wire_get(in);
	t.parent = wire_get_max(in, UINT32_MAX);
	t.parent_start_ns = wire_get(in);
	t.cgroup_id = wire_get(in);
	t.comm = wire_get_text(in, d->text, sizeof(d->text));
	return in->bad ? -EBADMSG : trace_send_task(sink, &t);
}

static int get_window(struct decoder *d, struct wire_in *in, const struct trace_sink *sink)
{
	struct trace_window w = { .readings = d->readings };
	uint64_t length;

	w.group = wire_get_max(in, UINT32_MAX);
	in->bad |= w.group >= d->h->layout.nr_groups;
	if (in->bad)
		return -EBADMSG;
	w.start_ns = d->time_ns + wire_get_delta(in);
	length = wire_get_delta(in);
	w.end_ns = w.start_ns + length;
	for (uint32_t i = 0; i < d->h->layout.groups[w.group].nr; i++) {
		struct reading *r = &d->readings[i];

		r->value = wire_get(in);
		r->enabled_ns = length + wire_get_delta(in);
		r->running_ns = r->enabled_ns + wire_get_delta(in);
	}
	if (in->bad)
		return -EBADMSG;
	d->time_ns = w.start_ns;
	return trace_send_window(sink, &w);
}

static int get_sample(struct decoder *d, struct wire_in *in, const struct trace_sink *sink)
{
	struct trace_sample s = { 0 };
	uint64_t length;

	s.probe = wire_get_max(in, UINT32_MAX);
	in->bad |= s.probe >= d->h->nr_probes;
	s.start_ns = d->time_ns + wire_get_delta(in);
	length = wire_get_delta(in);
	s.end_ns = s.start_ns + length;
	s.outstanding = wire_get(in);
	s.requests = wire_get(in);
	s.cycles = wire_get(in);
	s.enabled_ns = length + wire_get_delta(in);
	s.running_ns = s.enabled_ns + wire_get_delta(in);
	if (in->bad)
		return -EBADMSG;
	d->time_ns = s.start_ns;
	return trace_send_sample(sink, &s);
}

static int get_io(struct decoder *d, struct wire_in *in, const struct trace_sink *sink)
{
	struct trace_io io = { 0 };
	const struct key *key = get_key(d, in);

	if (!key)
		return in->bad ? -EBADMSG : -ENOMEM;
	io.pid = key->pid;
	io.tgid = key->tgid;
	io.task_start_ns = key->start_ns;
	io.cgroup_id = key->cgroup_id;
	io.device = wire_get_max(in, UINT32_MAX);
	in->bad |= io.device >= d->h->nr_devices;
	io.exclusive = wire_get_max(in, RECORDING_IO_EXCLUSIVE);
	io.start_ns = d->time_ns + wire_get_delta(in);
	io.end_ns = io.start_ns + wire_get_delta(in);
	if (!io.exclusive) {
		io.read_bytes = wire_get(in);
		io.write_bytes = wire_get(in);
	}
	if (in->bad)
		return -EBADMSG;
	d->time_ns = io.start_ns;
	return trace_send_io(sink, &io);
}

static int get_lost(struct decoder *d, struct wire_in *in, const struct trace_sink *sink)
{
	struct trace_lost l = { 0 };

	l.what = wire_get_text(in, d->text, sizeof(d->text));
	l.socket = wire_get_max(in, UINT32_MAX);
	l.start_ns = d->time_ns + wire_get_delta(in);
	l.end_ns = l.start_ns + wire_get_delta(in);
	l.count = wire_get(in);
	in->bad |= !l.what;
	if (in->bad)
		return -EBADMSG;
	d->time_ns = l.start_ns;
	return trace_send_lost(sink, &l);
}

static void get_fields(struct wire_in *in, void *into, const struct trace_field *fields, size_t nr)
{
	size_t have = wire_get_max(in, MAX_FIELDS);

	for (size_t i = 0; i < have; i++) {
		uint64_t value = wire_get(in);

		if (i < nr)
			trace_field_set(into, &fields[i], value);
	}
}

static int get_mark(struct decoder *d, struct wire_in *in, bool *first_mark,
		    const struct trace_sink *sink)
{
	uint64_t flags = wire_get_max(in, RECORDING_MARK_FLAGS);
	struct trace_mark m = {
		.first = flags & RECORDING_MARK_FIRST,
		.last = flags & RECORDING_MARK_LAST,
		.inner = flags & RECORDING_MARK_INNER,
		.ends_ns = flags & RECORDING_MARK_ENDS ? d->ends_ns : NULL,
	};

	m.time_ns = d->time_ns + wire_get_delta(in);
	m.realtime_ns = wire_get(in);
	for (uint32_t i = 0; m.ends_ns && i < d->h->layout.nr_sockets; i++)
		d->ends_ns[i] = m.time_ns + wire_get_delta(in);
	get_fields(in, &m.losses, trace_losses, TRACE_NR_LOSSES);
	get_fields(in, &m.cost, trace_costs, TRACE_NR_COSTS);
	/* Nothing can go on where nothing has begun, or where all ends. */
	in->bad |= m.inner && (m.first || m.last || !m.ends_ns);
	if (in->bad)
		return -EBADMSG;
	d->time_ns = m.time_ns;
	if (*first_mark) {
		m.first = true;
		m.inner = false;
	}
	*first_mark = false;
	return trace_send_mark(sink, &m);
}

static int get_job(struct decoder *d, struct wire_in *in, const struct trace_sink *sink)
{
	struct trace_job_news j = { .cgroup_id = wire_get(in) };

	j.id = wire_get_text(in, d->job_id, sizeof(d->job_id));
	j.name = wire_get_text(in, d->job_name, sizeof(d->job_name));
	j.user = wire_get_text(in, d->job_user, sizeof(d->job_user));
	return in->bad ? -EBADMSG : trace_send_job(sink, &j);
}

/* Events that are one or two numbers. */
static int get_small(struct decoder *d, struct wire_in *in, uint64_t type,
		     const struct trace_sink *sink)
{
	uint64_t number, start_ns;
	const char *path;

	switch (type) {
	case RECORDING_EXIT:
		number = wire_get_max(in, UINT32_MAX);
		start_ns = wire_get(in);
		return in->bad ? -EBADMSG : trace_send_exit(sink, number, start_ns);
	case RECORDING_RESYNC:
		number = wire_get_max(in, 1);
		return in->bad ? -EBADMSG : trace_send_resync(sink, number);
	case RECORDING_CGROUP:
		number = wire_get(in);
		path = wire_get_text(in, d->text, sizeof(d->text));
		return in->bad ? -EBADMSG : trace_send_cgroup(sink, number, path);
	case RECORDING_FOLLOW:
		number = wire_get_max(in, UINT32_MAX);
		return in->bad ? -EBADMSG : trace_send_follow(sink, number);
	default:
		in->bad = true;
		return -EBADMSG;
	}
}

static int get_event(struct decoder *d, struct wire_in *in, bool *first_mark,
		     const struct trace_sink *sink)
{
	uint64_t tag = wire_get(in);

	if (tag & RECORDING_SLICE) {
		in->bad |= tag > RECORDING_SLICE_FLAGS;
		return get_slice(d, in, tag, sink);
	}
	switch (tag / 2) {
	case RECORDING_TASK:
		return get_task(d, in, sink);
	case RECORDING_WINDOW:
		return get_window(d, in, sink);
	case RECORDING_LOST:
		return get_lost(d, in, sink);
	case RECORDING_SAMPLE:
		return get_sample(d, in, sink);
	case RECORDING_IO:
		return get_io(d, in, sink);
	case RECORDING_JOB:
		return get_job(d, in, sink);
	case RECORDING_MARK:
		return get_mark(d, in, first_mark, sink);
	default:
		return get_small(d, in, tag / 2, sink);
	}
}

int decoder_block(struct decoder *d, const uint8_t *payload, size_t length, bool *first_mark,
		  const struct trace_sink *sink, struct decoded *ret)
{
	struct wire_in in = { .at = payload, .end = payload + length };
	int err;

	*ret = (struct decoded){ 0 };
	d->nr_keys = 0;
	d->last = (struct trace_slice){ 0 };
	d->time_ns = 0;
	while (in.at < in.end) {
		ret->offset = in.at - payload;
		err = get_event(d, &in, first_mark, sink);
		ret->bad = in.bad;
		if (in.bad)
			return -EBADMSG;
		ret->events++;
		if (err == -EINVAL)
			ret->refused++;
		else if (err)
			return err;
	}
	return 0;
}
