// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* The recurring work of a live run: take over records, and close intervals. */
#include <errno.h>
#include <string.h>
#include <sys/resource.h>

#include "base/clock.h"
#include "base/times.h"
#include "live/run/internal.h"
#include "live/run/mark_time.h"

/*
 * A longer interval has inner marks: one after this many windows, which make a good block, and one
 * when too many slices wait. Each costs a look at every CPU, so not too often.
 */
#define INNER_WINDOWS 100
#define INNER_MIN_NS  200000000ull

/* The session judges first, then the recorder, if any, then jobs. */
enum { BY_NOBODY, BY_SESSION, BY_RECORDER };

/* Put an error of a sink, or of creating events, into words. */
int live_trace_failed(const struct live *l, int err, struct diag *d)
{
	if (!err || err == -ENOMEM)
		return err ? diag_no_memory(d) : 0;
	if (l->tee.refused == BY_SESSION)
		return diag_error(d, err, "the kernel's records make no sense");
	if (l->tee.refused != BY_RECORDER || !l->recorded)
		return diag_error(d, err, "cannot find out what runs here");
	diag_fail(d, err, "cannot write to %s: %s", l->args->output.file, strerror(-err));
	if (err == -ENOSPC)
		diag_help(d, "free some space, or bound the recording with --max-size; what was "
			     "recorded before can be reported");
	return err;
}

/* Put errors of sources into words; errors without words are those of sinks. */
static int sources_done(const struct live *l, int err, struct diag *d)
{
	return err && !d->what[0] ? live_trace_failed(l, err, d) : err;
}

/* Marks for sources of SOURCE_WITH, or for all others. */
static int start_sources(struct live *l, bool with, struct diag *d)
{
	int err = 0;

	d->what[0] = '\0';
	EACH_SOURCE (r, l, start)
		if (!err && (r->row->order == SOURCE_WITH) == with)
			err = r->row->start(r->data, d);
	return sources_done(l, err, d);
}

/* Running totals of all losses that the engine does not count itself. */
static void total_quality(const struct live *l, struct quality *ret)
{
	const struct feed *f = &l->feed;
	struct ledger_losses losses;

	ledger_losses(l->ledger, &losses);
	*ret = (struct quality){
		.invalid_windows = f->invalid_windows,
		.lost_windows = losses.windows,
		.merged_windows = f->long_windows,
		.kept_flushes = losses.kept_flushes,
		.lost_tasks = losses.tasks,
		.lost_cgroups = losses.cgroups,
		.unseen_switches = losses.unseen,
		.lost_io = losses.io,
		.unscheduled_windows = f->unscheduled_windows,
		.bad_records = f->bad_slices + losses.bad,
		.counter_restarts = f->restarts,
		.uncounted_ns = f->uncounted_ns,
	};
	EACH_SOURCE (r, l, quality)
		r->row->quality(r->data, ret);
}

/* Our own cost so far: this process, the hooks, and sources. */
static void total_cost(const struct live *l, struct self_cost *ret)
{
	struct ledger_cost c;
	struct rusage u;

	getrusage(RUSAGE_SELF, &u);
	ledger_cost(l->ledger, &c);
	*ret = (struct self_cost){
		.cpu_ns = (u.ru_utime.tv_sec + u.ru_stime.tv_sec) * NS_PER_S +
			  (u.ru_utime.tv_usec + u.ru_stime.tv_usec) * 1000ull,
		.switches = c.switches,
		.switch_ns = c.timed_ns, /* of the timed ones only */
		.timed = c.timed,
	};
	EACH_SOURCE (r, l, cost)
		r->row->cost(r->data, ret);
}

static int send_mark(struct live *l, uint64_t now, enum mark_kind kind, struct diag *d,
		     struct trace_mark *ret)
{
	*ret = (struct trace_mark){
		.first = kind == MARK_FIRST,
		.last = kind == MARK_LAST,
		.inner = kind == MARK_INNER,
		.time_ns = now,
		.realtime_ns = now + clock_ahead_ns(CLOCK_REALTIME),
		.ends_ns = l->ends_ns,
	};
	total_quality(l, &ret->losses);
	total_cost(l, &ret->cost);
	/* A block and a quarter: no inner mark comes right before the end of an interval. */
	l->inner_ns = now + (kind == MARK_INNER ? 4 : 5) * l->args->window_ns * INNER_WINDOWS / 4;
	l->marked_ns = now;
	return live_trace_failed(l, trace_send_mark(&l->out, ret), d);
}

static uint64_t mark_now(struct live *l)
{
	return mark_time(l->ledger, l->context.counters, l->header.layout.nr_sockets);
}

/*
 * The first window and the first flush begin the books. All ledgers run by then, and their earlier
 * records are dropped, so that the first interval has all its CPU time and no more.
 */
int live_books(struct live *l, struct diag *d)
{
	struct trace_mark mark;
	uint64_t now;
	int err = ledger_flush(l->ledger, &l->sink);

	if (err)
		return diag_fail(d, err, "cannot start the ledgers: %s", strerror(-err));
	err = start_sources(l, true, d);
	if (err)
		return err;
	now = mark_now(l);
	err = ledger_flush(l->ledger, &l->sink);
	if (err)
		return diag_fail(d, err, "cannot flush the ledgers: %s", strerror(-err));
	if (ledger_settle(l->ledger, &l->sink))
		return diag_fail(d, -EIO, "cannot read the ring buffer");
	for (uint32_t s = 0; s < l->header.layout.nr_sockets; s++)
		l->ends_ns[s] = l->feed.last_end_ns[s] ? l->feed.last_end_ns[s] : now;
	err = live_trace_failed(l, l->feed.error, d);
	if (!err)
		err = send_mark(l, now, MARK_FIRST, d, &mark);
	return err ? err : start_sources(l, false, d);
}

static int drain(struct live *l, struct diag *d)
{
	int err = ledger_drain(l->ledger, &l->sink);

	if (err)
		return diag_fail(d, err, "cannot read the ring buffer: %s", strerror(-err));
	return live_trace_failed(l, l->feed.error, d);
}

/* When the next inner mark is due. Most intervals end earlier. */
static uint64_t inner_due(const struct live *l)
{
	uint64_t soonest = l->marked_ns + INNER_MIN_NS;

	return session_backlogged(l->session) ? soonest : later(soonest, l->inner_ns);
}

uint64_t live_next_ns(const struct live *l)
{
	uint64_t next = earlier(live_jobs_next_ns(l->jobs), inner_due(l));

	EACH_SOURCE (r, l, next_ns)
		next = earlier(next, r->row->next_ns(r->data));
	return next;
}

/* The record of its removal may be lost, and the job would never end. */
static int tell_if_gone(void *arg, uint64_t id, const char *path)
{
	struct live *l = arg;

	return live_cgroups_gone(&l->cgroups, id, path) ? trace_send_cgroup(&l->out, id, NULL) : 0;
}

/* Names missing in the records are read from cgroupfs. */
static int find_cgroup_names(struct live *l, bool lost)
{
	const struct live_cgroups_news news = {
		.lost = lost,
		.cut = l->feed.cut_path,
		.unknown = session_unknown_cgroup(l->session),
	};
	uint64_t now_ns = monotonic_ns();
	bool look = live_cgroups_look(&l->cgroups, lost, now_ns);
	int err = look ? session_each_cgroup(l->session, tell_if_gone, l) : 0;

	l->feed.cut_path = false;
	if (err)
		return err;
	session_finding(l->session, true);
	err = live_cgroups_find(&l->cgroups, &news, now_ns, &l->out);
	session_finding(l->session, false);
	return err;
}

static int name_task(void *arg, uint32_t pid, uint32_t tgid, uint64_t start_ns)
{
	struct live *l = arg;

	return live_tasks_name(&l->tasks, l->ledger, &l->sink, &l->out, pid, tgid, start_ns);
}

static int mark_sources(struct live *l, enum source_order order, enum mark_kind kind,
			struct diag *d)
{
	int err = 0;

	d->what[0] = '\0';
	EACH_SOURCE (r, l, mark)
		if (!err && r->row->order == order)
			err = r->row->mark(r->data, kind, d);
	return sources_done(l, err, d);
}

/*
 * Put everything up to now into the trace, and set the end of each socket.
 *
 * The time of requests is known to a tick and no later than their flush, and requests that seem to
 * be behind the end of a socket belong to the next interval. After the last one there is none:
 * requests made before the run ends are flushed before the sockets end.
 */
static int complete(struct live *l, enum mark_kind kind, struct diag *d, uint64_t *ret_now)
{
	uint64_t now;
	int err = kind == MARK_LAST ? ledger_flush(l->ledger, &l->sink) : 0;

	if (err)
		return diag_fail(d, err, "cannot flush the ledgers: %s", strerror(-err));
	err = mark_sources(l, SOURCE_WITH, kind, d);
	if (err)
		return err;
	now = mark_now(l);
	l->feed.cut_ns = now;
	err = ledger_flush(l->ledger, &l->sink);
	if (err)
		return diag_fail(d, err, "cannot flush the ledgers: %s", strerror(-err));
	err = ledger_settle(l->ledger, &l->sink);
	if (!err)
		err = drain(l, d);
	l->feed.cut_ns = UINT64_MAX;
	for (uint32_t s = 0; s < l->header.layout.nr_sockets; s++) {
		uint64_t end = l->feed.last_end_ns[s];

		/* Without a window in this interval, CPU time is reported all the same. */
		l->ends_ns[s] = end > l->ends_ns[s] ? end : now;
	}
	*ret_now = now;
	return err;
}

/* Records about tasks were lost, or one is missing that was not counted as lost. */
static bool tasks_in_doubt(struct live *l, const struct quality *losses)
{
	bool ended = live_tasks_some_ended(&l->tasks);
	struct identity *id = session_identity(l->session);

	return losses->lost_tasks != l->seen.lost_tasks || (ended && identity_followed_alive(id));
}

static int make_mark(struct live *l, enum mark_kind kind, struct diag *d, struct trace_mark *ret)
{
	struct quality losses;
	uint64_t now = 0;
	int err = mark_sources(l, SOURCE_BEFORE, kind, d);

	if (!err)
		err = complete(l, kind, d, &now);
	if (!err)
		err = mark_sources(l, SOURCE_BEHIND, kind, d);
	if (err)
		return err;
	err = live_cpus_mark(&l->coming, ledger_online(l->ledger));
	if (err)
		return live_trace_failed(l, err, d);
	total_quality(l, &losses);
	if (tasks_in_doubt(l, &losses))
		err = live_tasks_list(&l->tasks, l->ledger, &l->sink, &l->out);
	if (err)
		return diag_fail(d, err, "cannot list the tasks: %s", strerror(-err));
	err = session_each_unnamed(l->session, name_task, l);
	if (!err)
		err = find_cgroup_names(l, losses.lost_cgroups != l->seen.lost_cgroups);
	err = live_trace_failed(l, err ? err : l->feed.error, d);
	if (!err)
		err = send_mark(l, now, kind, d, ret);
	l->seen = losses;
	return err;
}

int live_mark(struct live *l, bool last, struct diag *d, struct trace_mark *ret)
{
	return make_mark(l, last ? MARK_LAST : MARK_BETWEEN, d, ret);
}

int live_drain(struct live *l, struct diag *d)
{
	struct trace_mark mark;
	int err = drain(l, d);

	if (!err)
		err = live_trace_failed(l, live_cpus_step(&l->coming), d);
	if (!err)
		err = sources_done(l, ALL_SOURCES(l, d, step), d);
	if (!err)
		err = live_trace_failed(l, live_jobs_step(l->jobs, &l->out), d);
	return err || monotonic_ns() < inner_due(l) ? err : make_mark(l, MARK_INNER, d, &mark);
}
