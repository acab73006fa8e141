// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "trace/encode.h"

#include "trace/fields.h"

/* Places for keys of a block; at least twice of what the bytes of a block can name. */
#define NR_PLACES 65536u
#define MAX_KEYS  (NR_PLACES / 2)

struct key {
	uint64_t start_ns;
	uint64_t cgroup_id;
	uint32_t pid;
	uint32_t tgid;
};

struct place {
	struct key key;
	uint32_t index;
	uint32_t block; /* valid in this block only: nothing to be cleared */
};

struct encoder {
	const struct trace_header *h;
	size_t prefix;
	struct wire_out out;
	uint32_t events;
	uint32_t block;
	uint32_t nr_keys;
	struct trace_slice last;
	uint64_t time_ns; /* of the last event that is no slice and has one */
	struct place places[NR_PLACES];
};

int encoder_new(const struct trace_header *h, size_t prefix, struct encoder **ret)
{
	struct encoder *e = calloc(1, sizeof(*e));

	if (!e)
		return -ENOMEM;
	e->h = h;
	e->prefix = prefix;
	if (!wire_room(&e->out, prefix + RECORDING_BLOCK_TARGET * 2)) {
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

struct wire_out *encoder_out(struct encoder *e)
{
	return &e->out;
}

uint32_t encoder_events(const struct encoder *e)
{
	return e->events;
}

/* Count the event, or take back what there is of it. */
static int done(struct encoder *e, size_t start)
{
	int err = e->out.err;

	if (err) {
		e->out.nr = start;
		e->out.err = 0;
		return err;
	}
	e->events++;
	return 0;
}

static struct place *find_key(struct encoder *e, const struct key *key)
{
	uint64_t hash = key->pid ^ (uint64_t)key->tgid << 32 ^ key->start_ns * 31 ^
			key->cgroup_id * 0x9e3779b97f4a7c15u;
	struct place *p;

	hash *= 0x9e3779b97f4a7c15u;
	for (uint32_t i = hash >> 48;; i++) {
		p = &e->places[i % NR_PLACES];
		if (p->block != e->block || !memcmp(&p->key, key, sizeof(*key)))
			return p;
	}
}

static void put_key(struct encoder *e, const struct key *key)
{
	struct place *p = find_key(e, key);

	if (p->block == e->block) {
		wire_put(&e->out, p->index);
		return;
	}
	*p = (struct place){ .key = *key, .index = e->nr_keys++, .block = e->block };
	wire_put(&e->out, p->index);
	wire_put(&e->out, key->pid);
	wire_put(&e->out, key->tgid);
	wire_put(&e->out, key->start_ns);
	wire_put(&e->out, key->cgroup_id);
}

static struct key slice_key(const struct trace_slice *s)
{
	bool reserved = s->pid == TRACE_PID_IDLE || s->pid == TRACE_PID_LOST;

	return (struct key){
		.pid = s->pid,
		.tgid = reserved ? 0 : s->tgid,
		.start_ns = reserved ? 0 : s->task_start_ns,
		.cgroup_id = reserved ? 0 : s->cgroup_id,
	};
}

/* As that of a slice, but pid 0 with a cgroup is anybody of that cgroup. */
static struct key io_key(const struct trace_io *io)
{
	bool reserved = io->pid == TRACE_PID_IDLE || io->pid == TRACE_PID_LOST;

	return (struct key){
		.pid = io->pid,
		.tgid = reserved ? 0 : io->tgid,
		.start_ns = reserved ? 0 : io->task_start_ns,
		.cgroup_id = io->pid == TRACE_PID_LOST ? 0 : io->cgroup_id,
	};
}

static int on_slice(struct encoder *e, const struct trace_slice *s)
{
	struct wire_out *o = &e->out;
	uint64_t length = s->end_ns - s->start_ns;
	uint32_t flags = RECORDING_SLICE;
	struct key key = slice_key(s);
	size_t start = o->nr;

	if (e->nr_keys >= MAX_KEYS)
		return -EINVAL;
	/* before the keys: they cannot be taken back */
	if (!wire_room(o, 160))
		return done(e, start);
	flags |= s->cpu == e->last.cpu ? RECORDING_SLICE_SAME_CPU : 0;
	flags |= s->on_cpu_ns == length ? RECORDING_SLICE_WHOLE : 0;
	flags |= s->start_ns == e->last.end_ns ? RECORDING_SLICE_FOLLOWS : 0;
	if (s->weights_ns && e->h->nr_weights)
		flags |= RECORDING_SLICE_WEIGHTS |
			 (s->weights_ns == s->on_cpu_ns ? RECORDING_SLICE_ALL_COUNTS : 0);
	wire_put(o, flags);
	put_key(e, &key);
	if (!(flags & RECORDING_SLICE_SAME_CPU))
		wire_put(o, s->cpu);
	if (!(flags & RECORDING_SLICE_FOLLOWS))
		wire_put_delta(o, s->start_ns - e->last.start_ns);
	wire_put_delta(o, length);
	if (!(flags & RECORDING_SLICE_WHOLE))
		wire_put_delta(o, length - s->on_cpu_ns);
	if (flags & RECORDING_SLICE_WEIGHTS) {
		if (!(flags & RECORDING_SLICE_ALL_COUNTS))
			wire_put_delta(o, s->on_cpu_ns - s->weights_ns);
		for (uint32_t i = 0; i < e->h->nr_weights; i++)
			wire_put(o, s->weights[i]);
	}
	e->last = *s;
	return done(e, start);
}

static int on_task(struct encoder *e, const struct trace_task *t)
{
	size_t start = e->out.nr;

	wire_put(&e->out, RECORDING_TASK * 2);
	wire_put(&e->out, t->kernel ? RECORDING_TASK_KERNEL : 0);
	wire_put(&e->out, t->pid);
	wire_put(&e->out, t->tgid);
	wire_put(&e->out, t->start_ns);
	wire_put(&e->out, t->parent);
	wire_put(&e->out, t->parent_start_ns);
	wire_put(&e->out, t->cgroup_id);
	wire_put_text(&e->out, t->comm);
	return done(e, start);
}

static int on_exit_(struct encoder *e, const struct trace_exit *x)
{
	size_t start = e->out.nr;

	wire_put(&e->out, RECORDING_EXIT * 2);
	wire_put(&e->out, x->pid);
	wire_put(&e->out, x->start_ns);
	return done(e, start);
}

static int on_resync(struct encoder *e, bool begin)
{
	size_t start = e->out.nr;

	wire_put(&e->out, RECORDING_RESYNC * 2);
	wire_put(&e->out, begin);
	return done(e, start);
}

static int on_cgroup(struct encoder *e, const struct trace_cgroup *c)
{
	size_t start = e->out.nr;

	wire_put(&e->out, RECORDING_CGROUP * 2);
	wire_put(&e->out, c->id);
	wire_put_text(&e->out, c->path);
	return done(e, start);
}

static int on_job(struct encoder *e, const struct trace_job_news *j)
{
	size_t start = e->out.nr;

	if (!trace_job_fits(j))
		return -EINVAL;
	wire_put(&e->out, RECORDING_JOB * 2);
	wire_put(&e->out, j->cgroup_id);
	wire_put_text(&e->out, j->id);
	wire_put_text(&e->out, j->name);
	wire_put_text(&e->out, j->user);
	return done(e, start);
}

static int on_follow(struct encoder *e, uint32_t pid)
{
	size_t start = e->out.nr;

	wire_put(&e->out, RECORDING_FOLLOW * 2);
	wire_put(&e->out, pid);
	return done(e, start);
}

static int on_window(struct encoder *e, const struct trace_window *w)
{
	struct wire_out *o = &e->out;
	size_t start = o->nr;
	uint64_t length = w->end_ns - w->start_ns;

	if (w->group >= e->h->layout.nr_groups)
		return -EINVAL;
	wire_put(o, RECORDING_WINDOW * 2);
	wire_put(o, w->group);
	wire_put_delta(o, w->start_ns - e->time_ns);
	wire_put_delta(o, length);
	for (uint32_t i = 0; i < e->h->layout.groups[w->group].nr; i++) {
		const struct reading *r = &w->readings[i];

		wire_put(o, r->value);
		wire_put_delta(o, r->enabled_ns - length);
		wire_put_delta(o, r->running_ns - r->enabled_ns);
	}
	if (!o->err)
		e->time_ns = w->start_ns;
	return done(e, start);
}

static int on_sample(struct encoder *e, const struct trace_sample *s)
{
	struct wire_out *o = &e->out;
	size_t start = o->nr;
	uint64_t length = s->end_ns - s->start_ns;

	if (s->probe >= e->h->nr_probes)
		return -EINVAL;
	wire_put(o, RECORDING_SAMPLE * 2);
	wire_put(o, s->probe);
	wire_put_delta(o, s->start_ns - e->time_ns);
	wire_put_delta(o, length);
	wire_put(o, s->outstanding);
	wire_put(o, s->requests);
	wire_put(o, s->cycles);
	wire_put_delta(o, s->enabled_ns - length);
	wire_put_delta(o, s->running_ns - s->enabled_ns);
	if (!o->err)
		e->time_ns = s->start_ns;
	return done(e, start);
}

static int on_io(struct encoder *e, const struct trace_io *io)
{
	struct wire_out *o = &e->out;
	struct key key = io_key(io);
	size_t start = o->nr;

	if (io->device >= e->h->nr_devices || e->nr_keys >= MAX_KEYS ||
	    (io->exclusive && (io->read_bytes || io->write_bytes)))
		return -EINVAL;
	/* before the key, as with slices */
	if (!wire_room(o, 120))
		return done(e, start);
	wire_put(o, RECORDING_IO * 2);
	put_key(e, &key);
	wire_put(o, io->device);
	wire_put(o, io->exclusive ? RECORDING_IO_EXCLUSIVE : 0);
	wire_put_delta(o, io->start_ns - e->time_ns);
	wire_put_delta(o, io->end_ns - io->start_ns);
	if (!io->exclusive) {
		wire_put(o, io->read_bytes);
		wire_put(o, io->write_bytes);
	}
	e->time_ns = io->start_ns;
	return done(e, start);
}

static int on_lost(struct encoder *e, const struct trace_lost *l)
{
	struct wire_out *o = &e->out;
	size_t start = o->nr;

	if (!l->what)
		return -EINVAL;
	wire_put(o, RECORDING_LOST * 2);
	wire_put_text(o, l->what);
	wire_put(o, l->socket);
	wire_put_delta(o, l->start_ns - e->time_ns);
	wire_put_delta(o, l->end_ns - l->start_ns);
	wire_put(o, l->count);
	if (!o->err)
		e->time_ns = l->start_ns;
	return done(e, start);
}

static int on_mark(struct encoder *e, const struct trace_mark *m)
{
	struct wire_out *o = &e->out;
	size_t start = o->nr;

	wire_put(o, RECORDING_MARK * 2);
	wire_put(o, (m->first ? RECORDING_MARK_FIRST : 0) | (m->last ? RECORDING_MARK_LAST : 0) |
			    (m->ends_ns ? RECORDING_MARK_ENDS : 0) |
			    (m->inner ? RECORDING_MARK_INNER : 0));
	wire_put_delta(o, m->time_ns - e->time_ns);
	wire_put(o, m->realtime_ns);
	for (uint32_t i = 0; m->ends_ns && i < e->h->layout.nr_sockets; i++)
		wire_put_delta(o, m->ends_ns[i] - m->time_ns);
	wire_put(o, TRACE_NR_LOSSES);
	for (size_t i = 0; i < TRACE_NR_LOSSES; i++)
		wire_put(o, trace_field_get(&m->losses, &trace_losses[i]));
	wire_put(o, TRACE_NR_COSTS);
	for (size_t i = 0; i < TRACE_NR_COSTS; i++)
		wire_put(o, trace_field_get(&m->cost, &trace_costs[i]));
	if (!o->err)
		e->time_ns = m->time_ns;
	return done(e, start);
}

static int on_event(void *arg, const struct trace_event *event)
{
	struct encoder *e = arg;

	switch (event->type) {
	case TRACE_TASK:
		return on_task(e, &event->task);
	case TRACE_EXIT:
		return on_exit_(e, &event->exit);
	case TRACE_RESYNC:
		return on_resync(e, event->resync.begin);
	case TRACE_CGROUP:
		return on_cgroup(e, &event->cgroup);
	case TRACE_JOB:
		return on_job(e, &event->job);
	case TRACE_FOLLOW:
		return on_follow(e, event->follow.pid);
	case TRACE_SLICE:
		return on_slice(e, &event->slice);
	case TRACE_WINDOW:
		return on_window(e, &event->window);
	case TRACE_SAMPLE:
		return on_sample(e, &event->sample);
	case TRACE_IO:
		return on_io(e, &event->io);
	case TRACE_LOST:
		return on_lost(e, &event->lost);
	case TRACE_MARK:
		return on_mark(e, &event->mark);
	default:
		return -EINVAL;
	}
}

struct trace_sink encoder_sink(struct encoder *e)
{
	return (struct trace_sink){ on_event, e };
}
