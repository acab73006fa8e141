// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "engine/session.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "engine/book.h"
#include "engine/identity.h"
#include "engine/latency.h"
#include "engine/neighbours.h"
#include "engine/split_tee.h"
#include "engine/timeline.h"

/* What was reported up to some moment, to say what came since. */
struct totals {
	struct quality losses;
	struct self_cost cost;
};

struct session {
	const struct trace_header *header;
	struct session_options o;
	struct identity *id;
	struct timeline *timeline;
	struct splitter *splitter;
	struct book *interval;
	struct book *total;
	struct links links;
	struct latency *latency;
	struct neighbours *neighbours;
	struct split_tee split;	     /* the interval's book, and latencies */
	uint64_t *window_end_ns;     /* of the last window, by group */
	uint64_t *sample_end_ns;     /* of the last sample, by probe */
	struct trace_mark last;	     /* @ends_ns points to our copy */
	uint64_t *ends_ns;	     /* of the last mark, by socket */
	uint64_t start_ns, begin_ns; /* of the interval, of the run */
	struct totals seen;	     /* up to the last report */
	struct totals begin;	     /* before the run */
	uint64_t late;		     /* slices that came after their interval */
	struct quality told;	     /* running totals of "lost" events */
	bool begun;
	bool unknown_cgroup;
};

/* --- the calls that know how the timeline, the splitter and the books are used */

static void on_forget(void *arg, uint32_t workload)
{
	splitter_forget(arg, workload);
}

static int on_saw(void *arg, size_t link, uint32_t workload, uint64_t bytes, double ns)
{
	struct session *s = arg;

	return book_saw(s->interval, link, workload, bytes, ns);
}

static int on_row(void *arg, uint32_t workload, uint32_t *ret)
{
	const struct session *s = arg;
	struct split_sink book = book_sink(s->interval);

	return book.row(book.arg, workload, ret);
}

static void on_key(void *arg, uint32_t row, char ret[MODEL_KEY_LEN])
{
	const struct session *s = arg;

	book_key(s->interval, row, ret);
}

static int make_neighbours(struct session *s)
{
	const struct neighbours_names names = { on_row, on_key, s };
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
	const struct latency_sink saw = { on_saw, s };
	struct book_scope scope = { .by = s->o.by, .all = s->o.all, .links = &s->links };

	if (s->o.names_only)
		return 0;
	if (timeline_new(layout, &s->timeline) ||
	    splitter_new(s->header, s->o.method, &s->splitter) ||
	    links_make(s->header, &s->links) || latency_new(s->header, &s->links, &s->latency) ||
	    book_new(layout, &scope, s->id, &s->interval) ||
	    book_new(layout, &scope, s->id, &s->total))
		return -ENOMEM;
	identity_on_forget(s->id, on_forget, s->splitter);
	s->split.sinks[s->split.nr++] = book_sink(s->interval);
	if (s->header->nr_probes)
		s->split.sinks[s->split.nr++] = latency_split(s->latency, &saw);
	return make_neighbours(s);
}

static int enter_on_cpu(void *arg, uint32_t socket, uint32_t workload, uint64_t ns)
{
	struct session *s = arg;

	return book_on_cpu(s->interval, socket, workload, ns);
}

static int enter_block(void *arg, const struct split_block *b)
{
	struct session *s = arg;
	struct split_sink sink = split_tee_sink(&s->split);

	return splitter_block(s->splitter, b, &sink);
}

/* Everything up to @ends_ns goes into the books. */
static int close_books(struct session *s, const uint64_t *ends_ns)
{
	struct timeline_sink sink = { enter_on_cpu, enter_block, s };
	uint64_t late = 0;
	int err = timeline_close(s->timeline, ends_ns, &sink, &late);

	s->late += late;
	latency_close(s->latency, ends_ns);
	if (s->neighbours)
		neighbours_close(s->neighbours);
	if (!err)
		err = book_finish(s->interval);
	if (!err)
		err = book_add(s->total, s->interval);
	return err;
}

/* --- events */

static int on_task(void *arg, const struct trace_task *t)
{
	struct session *s = arg;

	return identity_task(s->id, t, NULL);
}

static int on_task_exit(void *arg, uint32_t pid, uint64_t start_ns)
{
	struct session *s = arg;

	identity_exit(s->id, pid, start_ns);
	return 0;
}

static int on_resync(void *arg, bool begin)
{
	struct session *s = arg;

	if (begin)
		identity_resync(s->id);
	else
		identity_resync_end(s->id);
	return 0;
}

static int on_cgroup(void *arg, uint64_t id, const char *path)
{
	struct session *s = arg;

	if (path)
		return identity_cgroup(s->id, id, path);
	identity_cgroup_gone(s->id, id);
	return 0;
}

static int on_follow(void *arg, uint32_t pid)
{
	session_follow(arg, pid);
	return 0;
}

/* The number of who ran; from now on also a task without a name has an entry. */
static int workload_of(struct session *s, const struct trace_slice *slice, uint32_t *ret)
{
	if (slice->pid == TRACE_PID_LOST) {
		*ret = WORKLOAD_LOST;
		return 0;
	}
	if (slice->pid == TRACE_PID_IDLE) {
		*ret = WORKLOAD_IDLE;
		return 0;
	}
	if (!identity_cgroup_find(s->id, slice->cgroup_id))
		s->unknown_cgroup = true;
	return identity_workload(s->id, slice->pid, slice->tgid, slice->task_start_ns,
				 slice->cgroup_id, ret);
}

static int on_slice(void *arg, const struct trace_slice *slice)
{
	struct session *s = arg;
	uint32_t workload = WORKLOAD_IDLE;
	int err;

	/* Judged here, so that a recording leaves out what a report would. */
	if (slice->cpu >= s->header->layout.nr_cpus || slice->end_ns < slice->start_ns ||
	    slice->on_cpu_ns > slice->end_ns - slice->start_ns ||
	    slice->weights_ns > slice->on_cpu_ns)
		return -EINVAL;
	err = workload_of(s, slice, &workload);
	if (err)
		return err;
	if (s->o.names_only) {
		identity_active(s->id, workload);
		return 0;
	}
	return timeline_slice(s->timeline, workload, slice);
}

static int on_window(void *arg, const struct trace_window *w)
{
	struct session *s = arg;
	int err;

	if (w->group >= s->header->layout.nr_groups || w->end_ns <= w->start_ns ||
	    w->start_ns < s->window_end_ns[w->group])
		return -EINVAL;
	err = s->o.names_only ? 0 : timeline_window(s->timeline, w);
	if (!err)
		s->window_end_ns[w->group] = w->end_ns;
	return err;
}

static int on_sample(void *arg, const struct trace_sample *sample)
{
	struct session *s = arg;
	int err;

	if (sample->probe >= s->header->nr_probes || sample->end_ns <= sample->start_ns ||
	    sample->start_ns < s->sample_end_ns[sample->probe])
		return -EINVAL;
	err = s->o.names_only ? 0 : latency_sample(s->latency, sample);
	if (!err && s->neighbours)
		err = neighbours_sample(s->neighbours, sample);
	if (!err)
		s->sample_end_ns[sample->probe] = sample->end_ns;
	return err;
}

/* What a trace of another tool lacks; a live run says so with its marks. */
static int on_lost(void *arg, const struct trace_lost *l)
{
	struct session *s = arg;

	if (l->end_ns < l->start_ns || l->socket >= s->header->layout.nr_sockets)
		return -EINVAL;
	if (s->splitter)
		splitter_lost(s->splitter, l);
	if (!strcmp(l->what, "slices"))
		s->told.late_slices += l->count;
	else if (!strcmp(l->what, "windows"))
		s->told.lost_windows += l->count;
	else if (!strcmp(l->what, "tasks"))
		s->told.lost_tasks += l->count;
	else if (!strcmp(l->what, "cgroups"))
		s->told.lost_cgroups += l->count;
	return 0;
}

static void keep_ends(struct session *s, const struct trace_mark *m)
{
	memcpy(s->ends_ns, m->ends_ns, s->header->layout.nr_sockets * sizeof(*s->ends_ns));
	s->last = *m;
	s->last.ends_ns = s->ends_ns;
}

static int on_mark(void *arg, const struct trace_mark *m)
{
	struct session *s = arg;

	if (s->begun) {
		/* Without reports nobody else would ever forget a task. */
		if (s->o.names_only)
			identity_closed(s->id);
		return 0;
	}
	s->begun = true;
	s->begin_ns = s->start_ns = m->time_ns;
	/* What was lost before the run began counts, unless its begin is missing too. */
	if (!m->first) {
		s->begin = (struct totals){ .losses = m->losses, .cost = m->cost };
		s->seen = s->begin;
	}
	keep_ends(s, m);
	if (s->o.names_only)
		return 0;
	latency_begin(s->latency, m->ends_ns);
	return timeline_begin(s->timeline, m->ends_ns);
}

struct trace_sink session_sink(struct session *s)
{
	return (struct trace_sink){
		.task = on_task,
		.task_exit = on_task_exit,
		.resync = on_resync,
		.cgroup = on_cgroup,
		.follow = on_follow,
		.slice = on_slice,
		.window = on_window,
		.sample = on_sample,
		.lost = on_lost,
		.mark = on_mark,
		.arg = s,
	};
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
	    make_books(s)) {
		session_free(s);
		return -ENOMEM;
	}
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
	neighbours_free(s->neighbours);
	links_free(&s->links);
	identity_free(s->id);
	free(s->window_end_ns);
	free(s->sample_end_ns);
	free(s->ends_ns);
	free(s);
}

int session_select(struct session *s, const char *path)
{
	return identity_select(s->id, path);
}

size_t session_follow(struct session *s, uint32_t tgid)
{
	return identity_follow(s->id, tgid);
}

size_t session_alive(const struct session *s)
{
	return identity_followed_alive(s->id);
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

bool session_unknown_cgroup(struct session *s)
{
	bool unknown = s->unknown_cgroup;

	s->unknown_cgroup = false;
	return unknown;
}

/* Fills in what was added since @from. */
static void quality_since(const struct quality *from, const struct quality *now,
			  struct quality *ret)
{
	ret->invalid_windows = now->invalid_windows - from->invalid_windows;
	ret->lost_windows = now->lost_windows - from->lost_windows;
	ret->merged_windows = now->merged_windows - from->merged_windows;
	ret->kept_flushes = now->kept_flushes - from->kept_flushes;
	ret->lost_tasks = now->lost_tasks - from->lost_tasks;
	ret->lost_cgroups = now->lost_cgroups - from->lost_cgroups;
	ret->late_slices = now->late_slices - from->late_slices;
	ret->unseen_switches = now->unseen_switches - from->unseen_switches;
	ret->reader_moves = now->reader_moves - from->reader_moves;
}

static void cost_since(const struct self_cost *from, const struct self_cost *now,
		       struct self_cost *ret)
{
	uint64_t timed_ns = now->switch_ns - from->switch_ns;

	ret->cpu_ns = now->cpu_ns - from->cpu_ns;
	ret->switches = now->switches - from->switches;
	ret->timed = now->timed - from->timed;
	ret->probes = now->probes - from->probes;
	ret->probe_ns = now->probe_ns - from->probe_ns;
	ret->probe_deferred = now->probe_deferred - from->probe_deferred;
	ret->probe_failed = now->probe_failed - from->probe_failed;
	/* Extrapolated: one switch in many is timed. */
	ret->switch_ns = ret->timed ? (unsigned __int128)timed_ns * ret->switches / ret->timed : 0;
}

/* All that the last mark and we know to be lost. */
static struct totals totals_now(const struct session *s)
{
	struct totals now = { .losses = s->last.losses, .cost = s->last.cost };

	now.losses.late_slices += s->late + s->told.late_slices;
	now.losses.lost_windows += s->told.lost_windows;
	now.losses.lost_tasks += s->told.lost_tasks;
	now.losses.lost_cgroups += s->told.lost_cgroups;
	return now;
}

/* What a report says beside its books; @from is where it begins. */
static void finish_report(const struct session *s, bool summary, struct report *r)
{
	const struct totals *from = summary ? &s->begin : &s->seen;
	uint64_t start_ns = summary ? s->begin_ns : s->start_ns, elapsed;
	struct totals now = totals_now(s);

	splitter_quality(s->splitter, summary, &r->quality);
	quality_since(&from->losses, &now.losses, &r->quality);
	cost_since(&from->cost, &now.cost, &r->self);
	r->host = &s->header->host;
	r->replayed = s->o.replayed;
	r->start_ns = start_ns;
	for (uint32_t k = 0; k < s->header->layout.nr_sockets; k++)
		if (s->ends_ns[k] > r->end_ns)
			r->end_ns = s->ends_ns[k];
	elapsed = s->last.time_ns - start_ns;
	/* A trace of another tool may not know the time of day. */
	if (s->last.realtime_ns > elapsed)
		r->start_time_ns = s->last.realtime_ns - elapsed;
}

int session_report(struct session *s, const struct trace_mark *m, struct report **ret)
{
	struct report *r;

	if (!s->begun || s->o.names_only)
		return -EINVAL;
	if (close_books(s, m->ends_ns))
		return -ENOMEM;
	r = calloc(1, sizeof(*r));
	if (!r || book_report(s->interval, r) || latency_report(s->latency, false, r)) {
		report_free(r);
		return -ENOMEM;
	}
	keep_ends(s, m);
	finish_report(s, false, r);
	s->seen = totals_now(s);
	s->start_ns = r->end_ns;
	book_clear(s->interval);
	identity_closed(s->id);
	*ret = r;
	return 0;
}

int session_summary(struct session *s, struct report **ret)
{
	struct report *r;

	if (!s->begun || s->o.names_only)
		return -EINVAL;
	r = calloc(1, sizeof(*r));
	if (!r || book_report(s->total, r) || latency_report(s->latency, true, r)) {
		report_free(r);
		return -ENOMEM;
	}
	finish_report(s, true, r);
	r->summary = true;
	*ret = r;
	return 0;
}

int session_neighbours(struct session *s, double rise, struct neighbours_report **ret)
{
	struct report *summary;
	int err;

	if (!s->neighbours)
		return -EINVAL;
	err = session_summary(s, &summary);
	if (err)
		return err;
	err = neighbours_report(s->neighbours, rise, summary, ret);
	if (err)
		report_free(summary);
	return err;
}
