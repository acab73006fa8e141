// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "trace/overhang.h"

#include <errno.h>
#include <stdlib.h>

#define MOST_SLICES 64

struct last_of_cpu {
	uint32_t socket;
	size_t next;
	size_t nr;
	struct trace_slice slices[MOST_SLICES]; /* a ring */
};

struct overhang {
	uint32_t nr_sockets;
	uint32_t nr_cpus;
	struct last_of_cpu cpus[];
};

int overhang_new(const struct layout *layout, struct overhang **ret)
{
	struct overhang *o = calloc(1, sizeof(*o) + layout->nr_cpus * sizeof(o->cpus[0]));

	if (!o)
		return -ENOMEM;
	o->nr_sockets = layout->nr_sockets;
	o->nr_cpus = layout->nr_cpus;
	for (uint32_t i = 0; i < o->nr_cpus; i++)
		o->cpus[i].socket = layout->cpu_socket[i];
	*ret = o;
	return 0;
}

void overhang_free(struct overhang *o)
{
	free(o);
}

static void on_slice(struct overhang *o, const struct trace_slice *s)
{
	struct last_of_cpu *c;

	if (s->cpu >= o->nr_cpus)
		return;
	c = &o->cpus[s->cpu];
	c->slices[c->next] = *s;
	c->next = (c->next + 1) % MOST_SLICES;
	c->nr += c->nr < MOST_SLICES;
}

/* What ends before the mark is of no use any more; the others keep their order. */
static void on_mark(struct overhang *o, const struct trace_mark *m)
{
	for (uint32_t i = 0; m->ends_ns && i < o->nr_cpus; i++) {
		struct last_of_cpu *c = &o->cpus[i];
		size_t nr = c->nr, first = (c->next + MOST_SLICES - nr) % MOST_SLICES;

		c->nr = 0;
		c->next = first;
		for (size_t k = 0; k < nr; k++) {
			const struct trace_slice s = c->slices[(first + k) % MOST_SLICES];

			if (c->socket < o->nr_sockets && s.end_ns > m->ends_ns[c->socket])
				on_slice(o, &s);
		}
	}
}

void overhang_learn(struct overhang *o, const struct trace_event *e)
{
	if (e->type == TRACE_SLICE)
		on_slice(o, &e->slice);
	else if (e->type == TRACE_MARK)
		on_mark(o, &e->mark);
}

int overhang_announce(const struct overhang *o, const struct trace_sink *sink,
		      int (*after)(void *arg), void *arg)
{
	int err = 0;

	for (uint32_t i = 0; i < o->nr_cpus; i++) {
		const struct last_of_cpu *c = &o->cpus[i];

		for (size_t k = c->nr; k && !err; k--) {
			err = trace_send_slice(
				sink, &c->slices[(c->next + MOST_SLICES - k) % MOST_SLICES]);
			err = err ? err : after(arg);
		}
	}
	return err;
}
