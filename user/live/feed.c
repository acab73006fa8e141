// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "live/feed.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"

_Static_assert(LEDGER_V1_SHIFT == TRACE_HIERARCHY_SHIFT, "ids of cgroups are handed on");
_Static_assert(LEDGER_MAX_WEIGHTS <= TRACE_MAX_WEIGHTS, "a slice has room for all weights");

/*
 * Totals that are less than they were for so long have begun anew. Waiting until they have caught
 * up could take as long as they had counted before.
 */
#define BACKWARD_NS (3 * NS_PER_S)

int feed_init(struct feed *f, const struct layout *layout, const struct trace_sink *out,
	      uint64_t window_ns)
{
	*f = (struct feed){
		.layout = layout,
		.out = *out,
		.window_ns = window_ns,
		.cut_ns = UINT64_MAX,
	};
	f->groups = calloc(layout->nr_groups + 1, sizeof(*f->groups));
	return f->groups ? 0 : -ENOMEM;
}

void feed_release(struct feed *f)
{
	free(f->groups);
	f->groups = NULL;
}

static void failed(struct feed *f, int err)
{
	if (err == -EINVAL)
		f->bad_slices++;
	else if (err && !f->error)
		f->error = err;
}

/* Weights are only about time that is covered; without any, the counts say nothing. */
static void put_weights(const struct ledger_weight *w, uint32_t nr_events, struct trace_slice *ret)
{
	if (!w->covered_ns)
		return;
	ret->weights_ns = w->covered_ns < ret->on_cpu_ns ? w->covered_ns : ret->on_cpu_ns;
	for (uint32_t i = 0; i < nr_events && i < LEDGER_MAX_WEIGHTS; i++)
		ret->weights[i] = w->count[i];
}

static void on_slot(struct feed *f, uint32_t i, const struct ledger_slices *r,
		    const struct ledger_weights *w)
{
	const struct ledger_slot *s = &r->slots[i];
	struct trace_slice slice = {
		.pid = s->tgid ? s->pid : TRACE_PID_IDLE,
		.tgid = s->tgid,
		.task_start_ns = s->start_ns,
		.cgroup_id = s->cgroup_id,
		.cpu = r->h.cpu,
		.start_ns = s->first_ns,
		.end_ns = s->last_ns,
		.on_cpu_ns = s->on_cpu_ns,
	};

	if (!s->on_cpu_ns)
		return;
	if (s->pid == LEDGER_LOST_PID) {
		slice.pid = TRACE_PID_LOST;
		f->lost_ns += s->on_cpu_ns;
	}
	if (w && i < w->nr)
		put_weights(&w->slots[i], w->nr_events, &slice);
	failed(f, f->out.slice(f->out.arg, &slice));
}

static void on_slices(void *arg, const struct ledger_slices *r, const struct ledger_weights *w)
{
	for (uint32_t i = 0; i < r->nr; i++)
		on_slot(arg, i, r, w);
}

/* What the counters of a group gained since its last good window. */
static enum feed_verdict group_readings(const struct feed_group *g, const struct ledger_window *w,
					uint32_t first, uint32_t nr, const uint32_t *scales,
					struct reading *ret)
{
	enum feed_verdict verdict = READING_GOOD;

	for (uint32_t i = 0; i < nr; i++) {
		const struct ledger_value *now = &w->values[first + i], *last = &g->last[i];

		if (w->errors[first + i])
			return READING_FAILED;
		if (!g->end_ns || g->restart)
			continue;
		if (now->count < last->count || now->running_ns < last->running_ns ||
		    now->enabled_ns < last->enabled_ns)
			return READING_BACKWARD;
		ret[i] = (struct reading){ now->count - last->count,
					   now->enabled_ns - last->enabled_ns,
					   now->running_ns - last->running_ns };
		if (scales && __builtin_mul_overflow(ret[i].value, scales[i], &ret[i].value))
			return READING_BACKWARD;
		if (!ret[i].running_ns)
			verdict = READING_WAITED;
	}
	return verdict;
}

static bool backward_for_long(const struct feed *f, const struct feed_group *g, uint64_t now)
{
	return g->bad_ns && now - g->bad_ns > BACKWARD_NS + 10 * f->window_ns;
}

/* The end of a window, or where the next one begins all the same. */
static void take_base(struct feed *f, uint32_t group, uint32_t first, const struct ledger_window *w)
{
	const struct group *layout = &f->layout->groups[group];
	struct feed_group *g = &f->groups[group];

	memcpy(g->last, &w->values[first], layout->nr * sizeof(g->last[0]));
	g->end_ns = w->h.time_ns;
	g->bad_ns = 0;
	g->restart = false;
	if (g->end_ns <= f->cut_ns)
		f->last_end_ns[layout->socket] = g->end_ns;
}

/* What was counted since the last good window is not known: it is in none, and that is said. */
static void begin_anew(struct feed *f, uint32_t group, uint32_t first,
		       const struct ledger_window *w)
{
	f->restarts++;
	f->uncounted_ns += w->h.time_ns - f->groups[group].end_ns;
	take_base(f, group, first, w);
}

static void of_no_use(struct feed *f, struct feed_group *g, uint64_t now)
{
	if (g->verdict == READING_WAITED)
		f->unscheduled_windows++;
	else
		f->invalid_windows++;
	if (!g->bad_ns)
		g->bad_ns = now;
}

static int first_error(const struct ledger_window *w, uint32_t first, uint32_t nr)
{
	for (uint32_t i = 0; i < nr; i++)
		if (w->errors[first + i])
			return w->errors[first + i];
	return 0;
}

static void on_group(struct feed *f, uint32_t group, uint32_t first, const struct ledger_window *w)
{
	const struct group *layout = &f->layout->groups[group];
	struct feed_group *g = &f->groups[group];
	struct reading readings[LEDGER_MAX_EVENTS] = { 0 };
	uint64_t end = w->h.time_ns;
	struct trace_window window = { group, g->end_ns, end, readings };

	g->err = first_error(w, first, layout->nr);
	g->verdict = group_readings(g, w, first, layout->nr,
				    f->scales ? f->scales + layout->first : NULL, readings);
	if (g->verdict != READING_GOOD) {
		of_no_use(f, g, end);
		if (g->verdict == READING_BACKWARD && backward_for_long(f, g, end))
			begin_anew(f, group, first, w);
		return;
	}
	if (g->restart && g->end_ns) {
		begin_anew(f, group, first, w);
		return;
	}
	if (g->end_ns) {
		if (end - g->end_ns > 2 * f->window_ns)
			f->long_windows++;
		failed(f, f->out.window(f->out.arg, &window));
	}
	take_base(f, group, first, w);
}

void feed_restart(struct feed *f, uint32_t socket)
{
	for (size_t i = 0; i < f->layout->nr_groups; i++)
		if (f->layout->groups[i].socket == socket)
			f->groups[i].restart = true;
}

static void on_window(void *arg, const struct ledger_window *w)
{
	struct feed *f = arg;
	uint32_t first = 0;

	f->seen_ns[w->socket] = w->h.time_ns;
	for (size_t i = 0; i < f->layout->nr_groups; i++) {
		const struct group *g = &f->layout->groups[i];

		if (g->socket != w->socket)
			continue;
		if (first + g->nr <= w->nr)
			on_group(f, i, first, w);
		first += g->nr;
	}
}

/*
 * A thread that is not the leader has called exec: it goes on as the leader, which had ended. Nobody
 * tells the end of what it was. It is followed if it was: so its parent is what it was.
 */
static void on_new_leader(struct feed *f, uint32_t old_pid, struct trace_task *news)
{
	uint64_t start = f->start_of ? f->start_of(f->start_arg, old_pid) : 0;

	if (start) {
		news->parent = old_pid;
		news->parent_start_ns = start;
	}
	failed(f, f->out.task(f->out.arg, news));
	if (start)
		failed(f, f->out.task_exit(f->out.arg, old_pid, start));
}

static void on_task(void *arg, const struct ledger_task *r)
{
	struct feed *f = arg;
	struct trace_task news = {
		.pid = r->pid,
		.tgid = r->tgid,
		.parent = r->parent,
		.parent_start_ns = r->parent_start_ns,
		.start_ns = r->start_ns,
		.cgroup_id = r->cgroup_id,
		.kernel = r->flags & LEDGER_TASK_KTHREAD,
	};
	char comm[LEDGER_COMM_LEN];

	memcpy(comm, r->comm, sizeof(comm));
	comm[sizeof(comm) - 1] = '\0';
	news.comm = comm;
	if (r->h.type == LEDGER_TASK_EXIT) {
		failed(f, f->out.task_exit(f->out.arg, r->pid, r->start_ns));
		return;
	}
	if (r->h.type == LEDGER_TASK_NAME && r->old_pid)
		on_new_leader(f, r->old_pid, &news);
	else
		failed(f, f->out.task(f->out.arg, &news));
}

static void on_cgroup(void *arg, const struct ledger_cgroup *r)
{
	struct feed *f = arg;
	char text[LEDGER_PATH_LEN + 32];
	const char *path;
	size_t length;

	if (r->h.type == LEDGER_CGROUP_GONE) {
		failed(f, f->out.cgroup(f->out.arg, r->id, NULL));
		return;
	}
	length = strnlen(r->path, sizeof(r->path));
	path = length ? r->path : "/";
	if (r->id >> LEDGER_V1_SHIFT) {
		snprintf(text, sizeof(text), "%s:%.*s", f->v1 ? f->v1 : "v1", LEDGER_PATH_LEN - 1,
			 path);
		path = text;
	}
	if (length >= sizeof(r->path) - 1)
		f->cut_path = true; /* to be read from cgroupfs */
	else
		failed(f, f->out.cgroup(f->out.arg, r->id, path));
}

static void on_io(void *arg, const struct ledger_io *r)
{
	struct feed *f = arg;

	for (uint32_t i = 0; f->out.io && i < r->nr; i++) {
		const struct ledger_io_slot *s = &r->slots[i];
		const struct trace_io io = {
			.pid = s->pid == LEDGER_LOST_PID ? TRACE_PID_LOST : s->pid,
			.tgid = s->tgid,
			.task_start_ns = s->start_ns,
			.cgroup_id = s->cgroup_id,
			.device = s->device,
			.read_bytes = s->read_bytes,
			.write_bytes = s->write_bytes,
			.start_ns = s->first_ns,
			.end_ns = s->last_ns,
		};

		/* A packet that was taken back leaves nothing. */
		if (!io.read_bytes && !io.write_bytes)
			continue;
		failed(f, s->device < LEDGER_MAX_DEVICES && s->first_ns <= s->last_ns
				  ? f->out.io(f->out.arg, &io)
				  : -EINVAL);
	}
}

struct ledger_sink feed_sink(struct feed *f)
{
	return (struct ledger_sink){
		.slices = on_slices,
		.window = on_window,
		.task = on_task,
		.cgroup = on_cgroup,
		.io = on_io,
		.arg = f,
	};
}
