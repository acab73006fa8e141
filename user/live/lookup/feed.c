// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "live/lookup/feed.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "platform/pmu/gain.h"

_Static_assert(LEDGER_V1_SHIFT == TRACE_HIERARCHY_SHIFT, "ids of cgroups are handed on");
_Static_assert(LEDGER_MAX_WEIGHTS <= TRACE_MAX_WEIGHTS, "a slice has room for all weights");

/*
 * Totals that are below earlier ones for this long have restarted. Waiting until they catch up
 * could take as long as they had counted before.
 */
#define BACKWARD_NS (3 * NS_PER_S)

/* The events of each group. */
static void list_members(struct feed *f)
{
	const struct counters *c = f->counters;
	uint32_t first = 0;

	for (size_t e = 0; e < c->nr_events; e++)
		f->groups[f->layout->counters[c->events[e].counter].group].nr++;
	for (size_t g = 0; g < f->layout->nr_groups; g++) {
		f->groups[g].first = first;
		first += f->groups[g].nr;
		f->groups[g].nr = 0;
	}
	for (size_t e = 0; e < c->nr_events; e++) {
		struct feed_group *g = &f->groups[f->layout->counters[c->events[e].counter].group];

		f->members[g->first + g->nr++] = e;
	}
}

int feed_init(struct feed *f, const struct layout *layout, const struct counters *counters,
	      const struct trace_sink *out, uint64_t window_ns)
{
	*f = (struct feed){
		.layout = layout,
		.counters = counters,
		.out = *out,
		.window_ns = window_ns,
		.cut_ns = UINT64_MAX,
	};
	f->last_end_ns = calloc(layout->nr_sockets + 1, sizeof(*f->last_end_ns));
	f->seen_ns = calloc(counters->max_readers + 1, sizeof(*f->seen_ns));
	f->events = calloc(counters->nr_events + 1, sizeof(*f->events));
	f->groups = calloc(layout->nr_groups + 1, sizeof(*f->groups));
	f->members = calloc(counters->nr_events + 1, sizeof(*f->members));
	f->readings = calloc(layout->nr_counters + 1, sizeof(*f->readings));
	f->seen = calloc(layout->nr_counters + 1, sizeof(*f->seen));
	if (!f->last_end_ns || !f->seen_ns || !f->events || !f->groups || !f->members ||
	    !f->readings || !f->seen) {
		feed_release(f);
		return -ENOMEM;
	}
	list_members(f);
	return 0;
}

void feed_release(struct feed *f)
{
	free(f->last_end_ns);
	free(f->seen_ns);
	free(f->events);
	free(f->groups);
	free(f->members);
	free(f->readings);
	free(f->seen);
	*f = (struct feed){ 0 };
}

static void failed(struct feed *f, int err)
{
	if (err == -EINVAL)
		f->bad_slices++;
	else if (err && !f->error)
		f->error = err;
}

/* Weights only cover counted time; without any, the counts tell nothing. */
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
	failed(f, trace_send_slice(&f->out, &slice));
}

static void on_slices(void *arg, const struct ledger_slices *r, const struct ledger_weights *w)
{
	struct feed *f = arg;

	if (f->met && r->nr)
		failed(f, f->met(f->met_arg, r->h.cpu));
	for (uint32_t i = 0; i < r->nr; i++)
		on_slot(f, i, r, w);
}

/*
 * The bytes of all counts up to now, minus those of all counts up to the last time: remainders of a
 * ratio come with a later count, so that no byte is lost over time.
 */
static bool bytes_gained(uint64_t last, uint64_t now, const struct bytes_ratio *scale,
			 uint64_t *ret)
{
	uint64_t whole, part = now % scale->counts * scale->bytes / scale->counts;

	return !__builtin_mul_overflow(now / scale->counts - last / scale->counts, scale->bytes,
				       &whole) &&
	       !__builtin_add_overflow(whole, part, &whole) &&
	       !__builtin_sub_overflow(whole, last % scale->counts * scale->bytes / scale->counts,
				       ret);
}

/* Did one reading count a smaller part of its time than the other? */
static bool counted_less(const struct reading *r, const struct reading *than)
{
	return (unsigned __int128)r->running_ns * than->enabled_ns <
	       (unsigned __int128)than->running_ns * r->enabled_ns;
}

/*
 * An event's gain since the last good window of its group is added to its counter. A sum has the
 * times of the part with the lowest coverage. They are from one reading: parts are read one after
 * the other, so times of two would show a gap in each sum.
 */
static enum feed_verdict add_event(const struct feed_event *e, const struct bytes_ratio *scale,
				   uint64_t window_ns, bool first, struct reading *ret)
{
	struct reading gain;
	uint64_t bytes;

	if (gain_between(&e->last, &e->now, window_ns, &gain) ||
	    !bytes_gained(e->last.value, e->now.value, scale, &bytes) ||
	    __builtin_add_overflow(bytes, ret->value, &bytes))
		return READING_BACKWARD;
	if (first || counted_less(&gain, ret))
		*ret = gain;
	ret->value = bytes;
	return gain.running_ns ? READING_GOOD : READING_WAITED;
}

/* Gains of a group's counters since its last good window, in @f->readings. */
static enum feed_verdict group_readings(struct feed *f, uint32_t group, uint64_t end)
{
	const struct group *layout = &f->layout->groups[group];
	const struct feed_group *g = &f->groups[group];
	enum feed_verdict verdict = READING_GOOD;

	if (g->read_err)
		return READING_FAILED;
	if (!g->end_ns || g->restart)
		return READING_GOOD;
	memset(f->readings, 0, layout->nr * sizeof(*f->readings));
	memset(f->seen, 0, layout->nr * sizeof(*f->seen));
	for (uint32_t k = 0; k < g->nr; k++) {
		uint32_t e = f->members[g->first + k];
		const struct counted_event *counted = &f->counters->events[e];
		uint32_t at = counted->counter - layout->first;
		enum feed_verdict one = add_event(&f->events[e], &counted->scale, end - g->end_ns,
						  !f->seen[at], &f->readings[at]);

		f->seen[at] = true;
		if (one == READING_BACKWARD)
			return one;
		if (one != READING_GOOD)
			verdict = one;
	}
	return verdict;
}

static bool backward_for_long(const struct feed *f, const struct feed_group *g, uint64_t now)
{
	return g->bad_ns && now - g->bad_ns > BACKWARD_NS + 10 * f->window_ns;
}

/* The end of a window, or the start of the next one after a gap. */
static void take_base(struct feed *f, uint32_t group, uint64_t now)
{
	uint64_t *last_end_ns = &f->last_end_ns[f->layout->groups[group].socket];
	struct feed_group *g = &f->groups[group];

	for (uint32_t k = 0; k < g->nr; k++) {
		struct feed_event *e = &f->events[f->members[g->first + k]];

		e->last = e->now;
	}
	g->end_ns = now;
	g->bad_ns = 0;
	g->restart = false;
	if (now <= f->cut_ns && now > *last_end_ns)
		*last_end_ns = now;
}

/* Counts since the last good window are unknown: they are in no window, and that is noted. */
static void begin_anew(struct feed *f, uint32_t group, uint64_t now)
{
	f->restarts++;
	f->uncounted_ns += now - f->groups[group].end_ns;
	take_base(f, group, now);
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

/* All events of a group have been read. */
static void on_group(struct feed *f, uint32_t group, uint64_t end)
{
	struct feed_group *g = &f->groups[group];
	struct trace_window window = { group, g->end_ns, end, f->readings };

	g->err = g->read_err;
	g->verdict = group_readings(f, group, end);
	if (g->verdict != READING_GOOD) {
		of_no_use(f, g, end);
		if (g->verdict == READING_BACKWARD && backward_for_long(f, g, end))
			begin_anew(f, group, end);
		return;
	}
	if (g->restart && g->end_ns) {
		begin_anew(f, group, end);
		return;
	}
	if (g->end_ns) {
		if (end - g->end_ns > 2 * f->window_ns)
			f->long_windows++;
		failed(f, trace_send_window(&f->out, &window));
	}
	take_base(f, group, end);
}

/* All events of a group must be read again. */
static void next_reading(struct feed *f, struct feed_group *g)
{
	for (uint32_t k = 0; k < g->nr; k++)
		f->events[f->members[g->first + k]].fresh = false;
	g->fresh = 0;
	g->read_err = 0;
}

void feed_restart(struct feed *f, uint32_t group)
{
	next_reading(f, &f->groups[group]);
	f->groups[group].restart = true;
}

static const struct counter_reader *reader_of(const struct feed *f, const struct ledger_window *w)
{
	for (size_t i = 0; i < f->counters->nr_readers; i++)
		if (f->counters->readers[i].index == w->reader)
			return &f->counters->readers[i];
	return NULL;
}

static uint32_t group_of(const struct feed *f, uint32_t event)
{
	return f->layout->counters[f->counters->events[event].counter].group;
}

static void on_window(void *arg, const struct ledger_window *w)
{
	struct feed *f = arg;
	const struct counter_reader *r = reader_of(f, w);
	struct feed_group *g;

	if (!r || r->nr != w->nr || w->reader > f->counters->max_readers)
		return;
	f->seen_ns[w->reader] = w->h.time_ns;
	for (uint32_t i = 0; i < r->nr; i++) {
		struct feed_event *e = &f->events[r->events[i]];

		g = &f->groups[group_of(f, r->events[i])];
		e->now = (struct reading){ w->readings[i].value.count,
					   w->readings[i].value.enabled_ns,
					   w->readings[i].value.running_ns };
		g->fresh += !e->fresh;
		e->fresh = true;
		if (!g->read_err)
			g->read_err = (int)w->readings[i].error;
	}
	/* Each group once: nothing of it is fresh afterwards. */
	for (uint32_t i = 0; i < r->nr; i++) {
		g = &f->groups[group_of(f, r->events[i])];
		if (g->fresh != g->nr)
			continue;
		on_group(f, group_of(f, r->events[i]), w->h.time_ns);
		next_reading(f, g);
	}
}

/*
 * A thread other than the leader has called exec: it takes the number of the leader, which had
 * ended. No record tells the end of the old number, which becomes its parent: it stays followed.
 */
static void on_new_leader(struct feed *f, uint32_t old_pid, struct trace_task *news)
{
	uint64_t start = f->start_of ? f->start_of(f->start_arg, old_pid) : 0;

	if (start) {
		news->parent = old_pid;
		news->parent_start_ns = start;
	}
	failed(f, trace_send_task(&f->out, news));
	if (start)
		failed(f, trace_send_exit(&f->out, old_pid, start));
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
		failed(f, trace_send_exit(&f->out, r->pid, r->start_ns));
		return;
	}
	if (r->h.type == LEDGER_TASK_NAME && r->old_pid)
		on_new_leader(f, r->old_pid, &news);
	else
		failed(f, trace_send_task(&f->out, &news));
}

static void on_cgroup(void *arg, const struct ledger_cgroup *r)
{
	struct feed *f = arg;
	char text[LEDGER_PATH_LEN + 32];
	const char *path;
	size_t length;

	if (r->h.type == LEDGER_CGROUP_GONE) {
		failed(f, trace_send_cgroup(&f->out, r->id, NULL));
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
		failed(f, TRACE_SEND(&f->out, TRACE_CGROUP, cgroup,
				     (struct trace_cgroup){ r->id, path, r->h.time_ns }));
}

static void on_io(void *arg, const struct ledger_io *r)
{
	struct feed *f = arg;

	for (uint32_t i = 0; i < r->nr; i++) {
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

		/* A cancelled packet leaves nothing. */
		if (!io.read_bytes && !io.write_bytes)
			continue;
		failed(f, s->device < LEDGER_MAX_DEVICES && s->first_ns <= s->last_ns
				  ? trace_send_io(&f->out, &io)
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
