// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Who had which CPU. Slices of several tasks may overlap, for each is a part of its time only; a
 * lane cannot have that. So each CPU has as many lanes as it needs, of the same name.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define HASH_NONFATAL_OOM 1
#include <uthash.h>

#include "base/array.h"
#include "base/cleanup.h"
#include "base/text.h"
#include "report/format.h"
#include "report/perfetto/internal.h"
#include "report/perfetto/perfetto.h"

/* More lanes than that and slices share the last one: nobody can look at them. */
#define MAX_LANES 1024

struct slice {
	uint64_t start_ns;
	uint64_t end_ns;
	uint64_t on_cpu_ns;
	uint32_t pid;
	uint32_t cpu;
	char comm[MODEL_COMM_LEN];
};

struct task_key {
	uint64_t start_ns;
	uint64_t pid;
};

/* A task that lives, for its name. */
struct named_task {
	struct task_key key;
	char comm[MODEL_COMM_LEN];
	UT_hash_handle hh;
};

struct slices {
	struct slice *items;
	size_t nr;
	size_t capacity;
	bool too_many;
	struct named_task *tasks;
};

struct slices *slices_new(void)
{
	return calloc(1, sizeof(struct slices));
}

static void forget_tasks(struct slices *s)
{
	struct named_task *task, *next;

	HASH_ITER (hh, s->tasks, task, next) {
		HASH_DEL(s->tasks, task);
		free(task);
	}
}

static struct named_task *find(const struct slices *s, uint32_t pid, uint64_t start_ns)
{
	const struct task_key key = { start_ns, pid };
	struct named_task *task;

	HASH_FIND(hh, s->tasks, &key, sizeof(key), task);
	return task;
}

static int name_task(struct slices *s, const struct trace_task *t)
{
	struct named_task *task = find(s, t->pid, t->start_ns);

	if (!task) {
		task = calloc(1, sizeof(*task));
		if (!task)
			return -ENOMEM;
		task->key = (struct task_key){ t->start_ns, t->pid };
		HASH_ADD(hh, s->tasks, key, sizeof(task->key), task);
		if (!task->hh.tbl) {
			free(task);
			return -ENOMEM;
		}
	}
	if (t->comm)
		str_copy(task->comm, sizeof(task->comm), t->comm);
	return 0;
}

static int take_slice(struct slices *s, const struct trace_slice *from)
{
	const struct named_task *task;
	struct slice *more;

	if (from->pid == TRACE_PID_IDLE)
		return 0;
	if (s->nr == PERFETTO_MAX_SLICES) {
		s->too_many = true;
		free(take_ptr(s->items));
		s->nr = s->capacity = 0;
		forget_tasks(s);
		return 0;
	}
	if (s->nr == s->capacity) {
		size_t capacity = s->capacity ? 2 * s->capacity : 1024;

		more = reallocarray(s->items, capacity, sizeof(*more));
		if (!more)
			return -ENOMEM;
		s->items = more;
		s->capacity = capacity;
	}
	task = find(s, from->pid, from->task_start_ns);
	s->items[s->nr] = (struct slice){ .start_ns = from->start_ns,
					  .end_ns = from->end_ns,
					  .on_cpu_ns = from->on_cpu_ns,
					  .pid = from->pid,
					  .cpu = from->cpu };
	if (task)
		memcpy(s->items[s->nr].comm, task->comm, sizeof(task->comm));
	s->nr++;
	return 0;
}

int slices_take(struct slices *s, const struct trace_event *e)
{
	struct named_task *task;

	if (s->too_many)
		return 0;
	if (e->type == TRACE_TASK)
		return name_task(s, &e->task);
	if (e->type == TRACE_SLICE)
		return take_slice(s, &e->slice);
	/* CPU time may come after the end: its slice has a number for a name then. */
	task = e->type == TRACE_EXIT ? find(s, e->exit.pid, e->exit.start_ns) : NULL;
	if (task) {
		HASH_DEL(s->tasks, task);
		free(task);
	}
	return 0;
}

static int compare(const void *a, const void *b)
{
	const struct slice *x = a, *y = b;

	return ORDER(x->cpu, y->cpu) ?: ORDER(x->start_ns, y->start_ns) ?:
	       ORDER(x->end_ns, y->end_ns) ?: ORDER(x->pid, y->pid);
}

static void put_slice(struct events *e, const struct place *cpus, const struct slice *s,
		      size_t lane)
{
	char key[64], cpu[32], name[MODEL_COMM_LEN * 6 + 16];
	cleanup_free char *comm = NULL;
	int err = format_terminal(s->comm, sizeof(s->comm), &comm);

	if (err) {
		e->err = err;
		return;
	}
	snprintf(cpu, sizeof(cpu), "CPU %" PRIu32, s->cpu);
	snprintf(key, sizeof(key), "%s lane %zu", cpu, lane);
	if (s->pid == TRACE_PID_LOST)
		snprintf(name, sizeof(name), "(lost)");
	else
		snprintf(name, sizeof(name), "%" PRIu32 " %s", s->pid, comm);
	events_slice(e, cpus, key, cpu, name, s->start_ns, s->end_ns);
	events_note(e, "on_cpu_ns", s->on_cpu_ns);
	events_done(e);
}

static void put_all(struct slices *s, struct events *e, const struct place *cpus)
{
	uint64_t ends[MAX_LANES] = { 0 };
	size_t used = 0;

	qsort(s->items, s->nr, sizeof(*s->items), compare);
	for (size_t i = 0; i < s->nr && !e->err; i++) {
		const struct slice *of = &s->items[i];
		size_t lane = 0;

		if (i && of[-1].cpu != of->cpu)
			used = 0;
		while (lane < used && ends[lane] > of->start_ns && lane < MAX_LANES - 1)
			lane++;
		if (lane == used)
			used++;
		ends[lane] = of->end_ns;
		put_slice(e, cpus, of, lane);
	}
}

void slices_write(struct slices *s, const struct drawing *d, uint64_t start_ns)
{
	if (s->too_many) {
		cleanup_place struct place cpus = drawing_top(d, TOP_CPUS);

		events_instant(d->e, &cpus, start_ns, "too many slices: they are left out");
		events_note(d->e, "most", PERFETTO_MAX_SLICES);
		events_done(d->e);
	} else if (s->nr) {
		cleanup_place struct place cpus = drawing_top(d, TOP_CPUS);

		put_all(s, d->e, &cpus);
	}
}

void slices_free(struct slices *s)
{
	if (!s)
		return;
	forget_tasks(s);
	free(s->items);
	free(s);
}
