// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "trace/repeat_spans.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define MAX_SLICES  256 /* twice the slots of a CPU's ledger */
#define MAX_WINDOWS 4
#define MAX_IO	    1024

struct last_of_cpu {
	uint32_t socket;
	size_t next;
	size_t nr;
	struct trace_slice slices[MAX_SLICES]; /* a ring */
};

struct last_of_group {
	uint32_t socket;
	uint32_t nr_readings;
	size_t next;
	size_t nr;
	struct trace_window windows[MAX_WINDOWS]; /* a ring */
	struct reading *readings;		  /* of all of them */
};

/* Of all devices */
struct last_io {
	size_t next;
	size_t nr;
	struct trace_io items[MAX_IO]; /* a ring */
};

struct repeat_spans {
	struct last_io io;
	uint64_t *ends_ns; /* of the last mark, by socket */
	struct reading *readings;
	struct last_of_group *groups;
	size_t nr_groups;
	uint32_t nr_sockets;
	uint32_t nr_cpus;
	struct last_of_cpu cpus[];
};

static int add_groups(struct repeat_spans *o, const struct layout *layout)
{
	size_t nr = 0;

	for (size_t i = 0; i < layout->nr_groups; i++)
		nr += layout->groups[i].nr;
	o->ends_ns = calloc(layout->nr_sockets + 1, sizeof(*o->ends_ns));
	o->readings = calloc(nr * MAX_WINDOWS + 1, sizeof(*o->readings));
	o->groups = calloc(layout->nr_groups + 1, sizeof(*o->groups));
	if (!o->ends_ns || !o->readings || !o->groups)
		return -ENOMEM;
	nr = 0;
	for (size_t i = 0; i < layout->nr_groups; i++) {
		const struct group *g = &layout->groups[i];

		o->groups[i] = (struct last_of_group){
			.socket = g->socket,
			.nr_readings = g->nr,
			.readings = o->readings + nr,
		};
		nr += (size_t)g->nr * MAX_WINDOWS;
	}
	o->nr_groups = layout->nr_groups;
	return 0;
}

int repeat_spans_new(const struct layout *layout, struct repeat_spans **ret)
{
	struct repeat_spans *o = calloc(1, sizeof(*o) + layout->nr_cpus * sizeof(o->cpus[0]));

	if (!o || add_groups(o, layout)) {
		repeat_spans_free(o);
		return -ENOMEM;
	}
	o->nr_sockets = layout->nr_sockets;
	o->nr_cpus = layout->nr_cpus;
	for (uint32_t i = 0; i < o->nr_cpus; i++)
		o->cpus[i].socket = layout->cpu_socket[i];
	*ret = o;
	return 0;
}

void repeat_spans_free(struct repeat_spans *o)
{
	if (!o)
		return;
	free(o->ends_ns);
	free(o->readings);
	free(o->groups);
	free(o);
}

static void on_slice(struct repeat_spans *o, const struct trace_slice *s)
{
	struct last_of_cpu *c;

	if (s->cpu >= o->nr_cpus)
		return;
	c = &o->cpus[s->cpu];
	c->slices[c->next] = *s;
	c->next = (c->next + 1) % MAX_SLICES;
	c->nr += c->nr < MAX_SLICES;
}

static void on_window(struct repeat_spans *o, const struct trace_window *w)
{
	struct last_of_group *g;
	struct reading *readings;

	if (w->group >= o->nr_groups)
		return;
	g = &o->groups[w->group];
	readings = g->readings + g->next * g->nr_readings;
	memcpy(readings, w->readings, g->nr_readings * sizeof(*readings));
	g->windows[g->next] = *w;
	g->windows[g->next].readings = readings;
	g->next = (g->next + 1) % MAX_WINDOWS;
	g->nr += g->nr < MAX_WINDOWS;
}

static void on_io(struct repeat_spans *o, const struct trace_io *io)
{
	struct last_io *l = &o->io;

	l->items[l->next] = *io;
	l->next = (l->next + 1) % MAX_IO;
	l->nr += l->nr < MAX_IO;
}

/* Slices that end before the mark are dropped; the rest keeps its order. */
static void on_mark(struct repeat_spans *o, const struct trace_mark *m)
{
	for (uint32_t s = 0; m->ends_ns && s < o->nr_sockets; s++)
		o->ends_ns[s] = m->ends_ns[s];
	for (uint32_t i = 0; m->ends_ns && i < o->nr_cpus; i++) {
		struct last_of_cpu *c = &o->cpus[i];
		size_t nr = c->nr, first = (c->next + MAX_SLICES - nr) % MAX_SLICES;

		c->nr = 0;
		c->next = first;
		for (size_t k = 0; k < nr; k++) {
			const struct trace_slice s = c->slices[(first + k) % MAX_SLICES];

			if (c->socket < o->nr_sockets && s.end_ns > m->ends_ns[c->socket])
				on_slice(o, &s);
		}
	}
}

/* Its slices from before it had a socket are in no interval. */
static void on_cpu(struct repeat_spans *o, const struct trace_cpu *c)
{
	if (c->cpu >= o->nr_cpus || !c->online)
		return;
	if (o->cpus[c->cpu].socket >= o->nr_sockets)
		o->cpus[c->cpu].nr = 0;
	o->cpus[c->cpu].socket = c->socket;
}

void repeat_spans_learn(struct repeat_spans *o, const struct trace_event *e)
{
	if (e->type == TRACE_SLICE)
		on_slice(o, &e->slice);
	else if (e->type == TRACE_WINDOW)
		on_window(o, &e->window);
	else if (e->type == TRACE_IO)
		on_io(o, &e->io);
	else if (e->type == TRACE_CPU)
		on_cpu(o, &e->cpu);
	else if (e->type == TRACE_MARK)
		on_mark(o, &e->mark);
}

static int announce_windows(const struct repeat_spans *o, const struct trace_sink *sink,
			    int (*after)(void *arg), void *arg)
{
	int err = 0;

	for (size_t i = 0; i < o->nr_groups; i++) {
		const struct last_of_group *g = &o->groups[i];

		for (size_t k = g->nr; k && !err; k--) {
			const struct trace_window *w =
				&g->windows[(g->next + MAX_WINDOWS - k) % MAX_WINDOWS];

			if (g->socket >= o->nr_sockets || w->end_ns <= o->ends_ns[g->socket])
				continue;
			err = trace_send_window(sink, w);
			err = err ? err : after(arg);
		}
	}
	return err;
}

/* The receiver cuts a request at the end of its device's socket; here that may be any socket. */
static int announce_io(const struct repeat_spans *o, const struct trace_sink *sink,
		       int (*after)(void *arg), void *arg)
{
	const struct last_io *l = &o->io;
	uint64_t end_ns = o->nr_sockets ? UINT64_MAX : 0;
	int err = 0;

	for (uint32_t s = 0; s < o->nr_sockets; s++)
		end_ns = o->ends_ns[s] < end_ns ? o->ends_ns[s] : end_ns;
	for (size_t k = l->nr; k && !err; k--) {
		const struct trace_io *io = &l->items[(l->next + MAX_IO - k) % MAX_IO];

		if (io->end_ns < end_ns)
			continue;
		err = trace_send_io(sink, io);
		err = err ? err : after(arg);
	}
	return err;
}

int repeat_spans_announce(const struct repeat_spans *o, const struct trace_sink *sink,
			  int (*after)(void *arg), void *arg)
{
	int err = 0;

	for (uint32_t i = 0; i < o->nr_cpus; i++) {
		const struct last_of_cpu *c = &o->cpus[i];

		for (size_t k = c->nr; k && !err; k--) {
			err = trace_send_slice(sink,
					       &c->slices[(c->next + MAX_SLICES - k) % MAX_SLICES]);
			err = err ? err : after(arg);
		}
	}
	if (!err)
		err = announce_windows(o, sink, after, arg);
	return err ? err : announce_io(o, sink, after, arg);
}
