// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Closing intervals, and reports of them. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "engine/session/internal.h"

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

static int enter_io(void *arg, uint32_t device, uint32_t workload, uint64_t read_bytes,
		    uint64_t write_bytes)
{
	struct session *s = arg;

	return book_io(s->interval, device, workload, read_bytes, write_bytes);
}

static void keep_workload(void *arg, uint32_t workload)
{
	const struct session *s = arg;

	identity_keep(s->id, workload);
}

static struct timeline_sink sink_of(struct session *s)
{
	return (struct timeline_sink){
		.on_cpu = enter_on_cpu,
		.block = enter_block,
		.io = enter_io,
		.keep = keep_workload,
		.arg = s,
	};
}

int session_close_inner(struct session *s, const struct trace_mark *m)
{
	struct timeline_sink sink = sink_of(s);
	uint64_t late = 0;
	int err = 0;

	if (!s->o.names_only) {
		err = timeline_close_inner(s->timeline, m->ends_ns, &sink, &late);
		s->late += late;
		latency_close_inner(s->latency, m->ends_ns);
		exclusives_keep(s->exclusives);
		contexts_keep(s->contexts);
	}
	/* Rows of tasks have their names when the interval is reported. */
	if (s->o.names_only || s->o.by == ROW_JOB)
		identity_forget(s->id);
	return err;
}

/* Everything up to @ends_ns goes into the books. */
static int close_books(struct session *s, const uint64_t *ends_ns)
{
	struct timeline_sink sink = sink_of(s);
	uint64_t late = 0;
	int err = timeline_close(s->timeline, ends_ns, &sink, &late);

	s->late += late;
	latency_close(s->latency, ends_ns);
	parts_close(s->parts, ends_ns);
	if (!err)
		err = resctrl_groups_close(s->resctrl);
	if (s->neighbours)
		neighbours_close(s->neighbours);
	if (!err)
		err = exclusives_close(s->exclusives, s->ends_ns, ends_ns, s->interval);
	if (!err)
		err = contexts_close(s->contexts, s->ends_ns, ends_ns, s->interval);
	if (!err)
		err = book_finish(s->interval);
	if (!err && s->total)
		err = book_add(s->total, s->interval);
	return err;
}

/* Fills in the difference since @from. */
static void quality_since(const struct quality *from, const struct quality *now,
			  struct quality *ret)
{
#define SINCE_RUN(name) ret->name = now->name - from->name;
#define SINCE_REPORT(name)
#define SINCE(name, origin, unit) SINCE_##origin(name)
	QUALITY_NUMBERS(SINCE)
#undef SINCE
#undef SINCE_REPORT
#undef SINCE_RUN
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

/* All known losses: of the last mark, and our own. */
static struct totals totals_now(const struct session *s)
{
	struct totals now = { .losses = s->last.losses, .cost = s->last.cost };

	now.losses.late_slices += s->late;
	now.losses.lost_slices += s->reported.lost_slices;
	now.losses.unweighed_ns += s->reported.unweighed_ns;
	now.losses.spread_ns += s->reported.spread_ns;
	now.losses.tasks_ns += s->reported.tasks_ns;
	now.losses.lost_windows += s->reported.lost_windows;
	now.losses.lost_tasks += s->reported.lost_tasks;
	now.losses.lost_cgroups += s->reported.lost_cgroups;
	now.losses.lost_io += s->reported.lost_io;
	return now;
}

/* The part of a report that is not in its books. */
static void finish_report(const struct session *s, bool summary, struct report *r)
{
	const struct totals *from = summary ? &s->begin : &s->seen;
	uint64_t start_ns = summary ? s->begin_ns : s->start_ns, elapsed;
	struct totals now = totals_now(s);

	r->saturated_windows = splitter_saturated(s->splitter, summary);
	splitter_models(s->splitter, summary, &r->estimated_windows, &r->simple_windows);
	splitter_quality(s->splitter, summary, &r->quality);
	for (size_t i = 0; i < r->nr_counters; i++)
		r->counters[i].limit_per_s = splitter_limit(
			s->splitter, r->counters[i].counter - s->header->layout.counters);
	r->unplaced_ns = s->unplaced_ns - (summary ? 0 : s->reported_unplaced_ns);
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

void session_keep_ends(struct session *s, const struct trace_mark *m)
{
	memcpy(s->ends_ns, m->ends_ns, s->header->layout.nr_sockets * sizeof(*s->ends_ns));
	s->last = *m;
	s->last.ends_ns = s->ends_ns;
}

/* -EINVAL means a call that comes too early: here it would hide that the books are wrong. */
static int of_books(int err)
{
	return err == -EINVAL ? -EDOM : err;
}

/* The rows of @book and the latencies. */
static int fill_report(struct session *s, struct book *book, bool summary, struct report *r)
{
	int err = latency_report(s->latency, summary, r);

	if (!err)
		err = parts_report(s->parts, summary, r);
	if (!err)
		err = book_report(book, r);
	if (!err)
		session_cpus_count(&s->cpus, summary, r);
	return err ? err : resctrl_groups_report(s->resctrl, summary, r);
}

int session_report(struct session *s, const struct trace_mark *m, struct report **ret)
{
	struct report *r;
	int err;

	if (!s->begun || s->o.names_only || m->inner)
		return -EINVAL;
	err = close_books(s, m->ends_ns);
	if (err)
		return of_books(err);
	r = calloc(1, sizeof(*r));
	err = r ? fill_report(s, s->interval, false, r) : -ENOMEM;
	if (err) {
		report_free(r);
		return of_books(err);
	}
	session_keep_ends(s, m);
	finish_report(s, false, r);
	s->seen = totals_now(s);
	s->reported_unplaced_ns = s->unplaced_ns;
	session_cpus_begin_interval(&s->cpus);
	s->start_ns = r->end_ns;
	book_clear(s->interval);
	identity_closed(s->id);
	*ret = r;
	return 0;
}

int session_summary(struct session *s, struct report **ret)
{
	struct report *r;
	int err;

	if (!s->begun || !s->total)
		return -EINVAL;
	r = calloc(1, sizeof(*r));
	err = r ? book_fill_gaps(s->total) : -ENOMEM;
	if (!err)
		err = fill_report(s, s->total, true, r);
	if (err) {
		report_free(r);
		return of_books(err);
	}
	finish_report(s, true, r);
	r->summary = true;
	*ret = r;
	return 0;
}

int session_failed(int err, struct diag *d)
{
	switch (err) {
	case -EINVAL:
		diag_fail(d, err, "the trace has no beginning");
		diag_help(d, "there is nothing to report before its first mark or window: record "
			     "again, for longer");
		return err;
	case -ERANGE:
		diag_fail(d, err, "the trace has numbers that do not fit into 64 bits together");
		diag_help(d, "check the values and times of its windows and slices, or give a "
			     "shorter interval with -i");
		return err;
	case -EDOM:
		diag_fail(d, err, "the interval does not add up");
		diag_help(d, "check the values and times of the windows and slices of the trace; "
			     "if they are right, this is a bug: please report it");
		return err;
	default:
		return diag_error(d, err, "cannot make the report");
	}
}

int session_neighbours_progress(const struct session *s, double rise, struct neighbourhood *ret)
{
	return s->neighbours ? neighbours_progress(s->neighbours, rise, ret) : -EINVAL;
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
