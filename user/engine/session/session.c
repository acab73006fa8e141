// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "engine/session/internal.h"

static void on_forget(void *arg, uint32_t workload)
{
	const struct session *s = arg;

	splitter_forget(s->splitter, workload);
	book_forget(s->interval, workload);
}

static int make_neighbours(struct session *s)
{
	const struct neighbours_names names = book_names(s->interval);
	int err;

	if (!s->o.neighbours)
		return 0;
	err = neighbours_new(s->header, &s->links, &names, &s->neighbours);
	if (!err)
		s->split.sinks[s->split.nr++] = neighbours_split(s->neighbours);
	return err;
}

static int make_books(struct session *s)
{
	const struct layout *layout = &s->header->layout;
	struct book_scope scope = { .by = s->o.by,
				    .all = s->o.all,
				    .idle_units = s->o.idle_units,
				    .links = &s->links,
				    .devices = s->header->devices,
				    .nr_devices = s->header->nr_devices,
				    .starts_ns = s->ends_ns };

	if (s->o.names_only)
		return 0;
	if (contexts_new(s->header, s->id, &s->contexts))
		return -ENOMEM;
	scope.gone_ns = contexts_gone(s->contexts);
	if (timeline_new(layout, s->cpus.socket, s->header->nr_devices, &s->timeline) ||
	    splitter_new(s->header, s->o.method, &s->splitter) || parts_new(s->header, &s->parts) ||
	    resctrl_groups_new(!s->o.no_summary, &s->resctrl) || links_make(s->header, &s->links) ||
	    latency_new(s->header, &s->links, &s->latency) ||
	    exclusives_new(s->header, s->id, &s->exclusives) ||
	    book_new(layout, &scope, s->id, &s->interval) ||
	    (!s->o.no_summary && book_new(layout, &scope, s->id, &s->total)))
		return -ENOMEM;
	/* Without a second thread the result is the same, only slower. */
	if (s->o.two_threads)
		splitter_two_threads(s->splitter);
	identity_on_forget(s->id, on_forget, s);
	s->split.sinks[s->split.nr++] = book_sink(s->interval);
	if (s->header->nr_probes)
		s->split.sinks[s->split.nr++] =
			latency_split(s->latency, book_latencies(s->interval));
	return make_neighbours(s);
}

/* --- events */

static int on_cgroup(struct session *s, const struct trace_cgroup *c)
{
	/* A cgroup that was made before the books begin may have run before it, too. */
	identity_making(s->id, s->begun && !s->finding, c->made_ns);
	if (c->path)
		return identity_cgroup(s->id, c->id, c->path);
	identity_cgroup_gone(s->id, c->id);
	if (s->total)
		book_cgroup_gone(s->total, c->id);
	return 0;
}

static int workload_of(struct session *s, const struct trace_slice *slice, uint32_t *ret)
{
	const struct workload_key who = { .start_ns = slice->task_start_ns,
					  .cgroup_id = slice->cgroup_id,
					  .pid = slice->pid };

	if (slice->pid == TRACE_PID_LOST) {
		*ret = WORKLOAD_LOST;
		return 0;
	}
	if (slice->pid == TRACE_PID_IDLE) {
		*ret = WORKLOAD_IDLE;
		return 0;
	}
	return session_somebody(s, &who, slice->tgid, ret);
}

/*
 * How much of the tasks' CPU time is in slices longer than a window, so that their activity has to
 * be spread over several? With some slack, because windows end when their reader comes.
 */
static void note_spread(struct session *s, uint32_t workload, const struct trace_slice *slice)
{
	const struct trace_header *h = s->header;

	if (!h->host.tick[0] || workload == WORKLOAD_IDLE || workload == WORKLOAD_LOST)
		return;
	s->reported.tasks_ns += slice->on_cpu_ns;
	if (slice->end_ns - slice->start_ns > h->window_ns + h->window_ns / 2)
		s->reported.spread_ns += slice->on_cpu_ns;
}

static int on_slice(struct session *s, const struct trace_slice *slice)
{
	uint32_t workload = WORKLOAD_IDLE;
	int err;

	err = workload_of(s, slice, &workload);
	if (err)
		return err;
	if (s->header->nr_weights && workload != WORKLOAD_IDLE)
		s->reported.unweighed_ns += slice->on_cpu_ns - slice->weights_ns;
	note_spread(s, workload, slice);
	if (workload != WORKLOAD_IDLE && s->cpus.socket[slice->cpu] == LAYOUT_NO_SOCKET)
		s->unplaced_ns += slice->on_cpu_ns;
	if (s->o.names_only) {
		identity_active(s->id, workload);
		return 0;
	}
	return timeline_slice(s->timeline, workload, slice);
}

static int on_window(struct session *s, const struct trace_window *w)
{
	int err;

	if (w->start_ns < s->window_end_ns[w->group])
		return -EINVAL;
	err = s->o.names_only ? 0 : timeline_window(s->timeline, w);
	if (!err)
		s->window_end_ns[w->group] = w->end_ns;
	return err;
}

static int on_sample(struct session *s, const struct trace_sample *sample)
{
	int err;

	if (sample->start_ns < s->sample_end_ns[sample->probe])
		return -EINVAL;
	err = s->o.names_only ? 0 : latency_sample(s->latency, sample);
	if (!err && s->neighbours)
		err = neighbours_sample(s->neighbours, sample);
	if (!err)
		s->sample_end_ns[sample->probe] = sample->end_ns;
	return err;
}

/* By tasks and threads there is no row that could have a group. */
static int on_resctrl(struct session *s, const struct trace_resctrl *r)
{
	bool rows = s->o.by == ROW_CGROUP || s->o.by == ROW_JOB;

	return s->resctrl && rows ? resctrl_groups_add(s->resctrl, r) : 0;
}

/* Losses of a foreign trace; a live run reports its losses in marks. */
static int on_lost(struct session *s, const struct trace_lost *l)
{
	if (s->splitter)
		splitter_lost(s->splitter, l);
	if (!strcmp(l->what, "slices"))
		s->reported.lost_slices += l->count;
	else if (!strcmp(l->what, "windows"))
		s->reported.lost_windows += l->count;
	else if (!strcmp(l->what, "tasks"))
		s->reported.lost_tasks += l->count;
	else if (!strcmp(l->what, "cgroups"))
		s->reported.lost_cgroups += l->count;
	else if (!strcmp(l->what, "io"))
		s->reported.lost_io += l->count;
	return 0;
}

static int on_mark(struct session *s, const struct trace_mark *m)
{
	if (m->inner)
		return s->begun ? session_close_inner(s, m) : -EINVAL;
	if (s->begun) {
		/* Without reports nothing else would ever forget a task. */
		if (s->o.names_only)
			identity_closed(s->id);
		return 0;
	}
	s->begun = true;
	session_cpus_begin(&s->cpus);
	s->begin_ns = s->start_ns = m->time_ns;
	/*
	 * Losses before the begin of the run count, unless that begin is missing, too. The cost of
	 * starting is none of an interval, which may be shorter than the start.
	 */
	if (!m->first)
		s->begin.losses = m->losses;
	s->begin.cost = m->cost;
	s->seen = s->begin;
	session_keep_ends(s, m);
	if (s->o.names_only)
		return 0;
	latency_begin(s->latency, m->ends_ns);
	return timeline_begin(s->timeline, m->ends_ns);
}

static int on_event(void *arg, const struct trace_event *e)
{
	struct session *s = arg;

	/* Judged here, so that a recording and a report leave out the same events. */
	if (!trace_valid(s->header, e))
		return -EINVAL;
	switch (e->type) {
	case TRACE_TASK:
		return identity_task(s->id, &e->task, NULL);
	case TRACE_EXIT:
		identity_exit(s->id, e->exit.pid, e->exit.start_ns);
		return 0;
	case TRACE_RESYNC:
		if (e->resync.begin)
			identity_resync(s->id);
		else
			identity_resync_end(s->id);
		return 0;
	case TRACE_CGROUP:
		return on_cgroup(s, &e->cgroup);
	case TRACE_JOB:
		identity_job_news(s->id, &e->job);
		return 0;
	case TRACE_FOLLOW:
		if (identity_follow(s->id, e->follow.pid))
			return 0;
		return identity_await(s->id, e->follow.pid);
	case TRACE_SLICE:
		return on_slice(s, &e->slice);
	case TRACE_WINDOW:
		return on_window(s, &e->window);
	case TRACE_SAMPLE:
		return on_sample(s, &e->sample);
	case TRACE_IO:
		return session_io(s, &e->io);
	case TRACE_PART:
		return s->o.names_only ? 0 : parts_add(s->parts, &e->part);
	case TRACE_RESCTRL:
		return on_resctrl(s, &e->resctrl);
	case TRACE_LOST:
		return on_lost(s, &e->lost);
	case TRACE_MARK:
		return on_mark(s, &e->mark);
	case TRACE_CPU:
		session_cpu(&s->cpus, &e->cpu);
		return 0;
	case TRACE_CONTEXTS:
	case TRACE_ACTIVITY:
	case TRACE_HOLDERS:
		return s->o.names_only ? 0 : session_users(s, e);
	default:
		return -EINVAL;
	}
}

struct trace_sink session_sink(struct session *s)
{
	return (struct trace_sink){ on_event, s };
}

/* --- from the outside */

int session_new(const struct trace_header *header, const struct session_options *o,
		struct session **ret)
{
	struct session *s = calloc(1, sizeof(*s));

	if (!s)
		return -ENOMEM;
	s->header = header;
	s->o = *o;
	s->ends_ns = calloc(header->layout.nr_sockets + 1, sizeof(*s->ends_ns));
	s->window_end_ns = calloc(header->layout.nr_groups + 1, sizeof(*s->window_end_ns));
	s->sample_end_ns = calloc(header->nr_probes + 1, sizeof(*s->sample_end_ns));
	if (!s->ends_ns || !s->window_end_ns || !s->sample_end_ns || identity_new(&s->id) ||
	    session_cpus_new(&header->layout, &s->cpus) || make_books(s)) {
		session_free(s);
		return -ENOMEM;
	}
	identity_believe(s->id, o->job_users);
	*ret = s;
	return 0;
}

void session_free(struct session *s)
{
	if (!s)
		return;
	book_free(s->total);
	book_free(s->interval);
	timeline_free(s->timeline);
	splitter_free(s->splitter);
	latency_free(s->latency);
	exclusives_free(s->exclusives);
	contexts_free(s->contexts);
	neighbours_free(s->neighbours);
	parts_free(s->parts);
	resctrl_groups_free(s->resctrl);
	links_free(&s->links);
	session_cpus_free(&s->cpus);
	identity_free(s->id);
	free(s->window_end_ns);
	free(s->sample_end_ns);
	free(s->ends_ns);
	free(s);
}

struct identity *session_identity(struct session *s)
{
	return s->id;
}

uint64_t session_start_of(void *arg, uint32_t pid)
{
	const struct session *s = arg;

	return identity_start_of(s->id, pid);
}

struct unnamed {
	int (*fn)(void *arg, uint32_t pid, uint32_t tgid, uint64_t start_ns);
	void *arg;
};

static int on_unnamed(void *arg, struct task *t)
{
	const struct unnamed *u = arg;

	return u->fn(u->arg, t->key.pid, t->tgid, t->key.start_ns);
}

int session_each_unnamed(struct session *s,
			 int (*fn)(void *arg, uint32_t pid, uint32_t tgid, uint64_t start_ns),
			 void *arg)
{
	struct unnamed u = { fn, arg };

	return identity_each_unnamed(s->id, on_unnamed, &u);
}

struct session_living {
	int (*fn)(void *arg, uint64_t id, const char *path);
	void *arg;
};

static int on_living(void *arg, const struct cgroup_name *c)
{
	const struct session_living *l = arg;

	return c->gone ? 0 : l->fn(l->arg, c->id, c->path);
}

int session_each_cgroup(struct session *s, int (*fn)(void *arg, uint64_t id, const char *path),
			void *arg)
{
	struct session_living l = { fn, arg };

	return identity_each_cgroup(s->id, on_living, &l);
}

void session_finding(struct session *s, bool finding)
{
	s->finding = finding;
}

bool session_backlogged(const struct session *s)
{
	return s->timeline && timeline_backlogged(s->timeline);
}

bool session_unknown_cgroup(struct session *s)
{
	bool unknown = s->unknown_cgroup;

	s->unknown_cgroup = false;
	return unknown;
}
