// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "replay/replay.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/worker.h"
#include "replay/boundaries.h"
#include "trace/midrun.h"
#include "trace/tee.h"
#include "engine/session/session.h"

struct replay {
	const struct trace_header *header;
	const struct run_options *args;
	struct replay_output output;
	struct diag *d;
	struct session *session;
	struct tee tee;
	struct trace_sink out; /* of @tee */
	bool own_selection;
	bool *pid_seen;		       /* by index of args->pids.items */
	bool *cgroup_seen;	       /* by index of args->cgroups.items */
	struct boundaries *boundaries; /* NULL: the marks of the trace are used */
	bool begun;
	uint64_t intervals;
	struct midrun *midrun; /* with @output.regroups */
	enum row_kind by;      /* of the rows now */
	enum row_kind wanted_by;
};

/* --- setup */

/* A cgroup's path as in the trace: "/a/b" for "a/b/", "freezer:/a" for "freezer:/a/". */
static char *cgroup_path(const char *text)
{
	size_t prefix = strcspn(text, "/"), length;
	char *path;

	if (!text[prefix] || !prefix || text[prefix - 1] != ':')
		prefix = 0;
	length = strlen(text + prefix);
	path = calloc(1, prefix + length + 2);
	if (!path)
		return NULL;
	memcpy(path, text, prefix);
	text += prefix + strspn(text + prefix, "/");
	length = strlen(text);
	while (length && text[length - 1] == '/')
		length--;
	path[prefix] = '/';
	memcpy(path + prefix + 1, text, length);
	return path;
}

static int select_cgroup(struct session *s, const char *text)
{
	char *path = cgroup_path(text);
	int err = path ? identity_select(session_identity(s), path) : -ENOMEM;

	free(path);
	return err;
}

static int check_rows(const struct trace_header *h, const struct run_options *a, struct diag *d)
{
	if (!a->by_given || a->by == ROW_CGROUP || a->by == ROW_JOB ||
	    (a->by == ROW_THREAD) == h->by_thread)
		return 0;
	diag_fail(d, -EINVAL, "--by %s: %s was recorded by %s", row_kind_name(a->by), a->file,
		  h->by_thread ? "thread" : "process");
	diag_help(d, "leave --by out, or record again with \"t410trace record --by %s\"",
		  row_kind_name(a->by));
	return -EINVAL;
}

static int make_session(const struct replay *r, struct session **ret)
{
	const struct trace_header *h = r->header;
	const struct run_options *a = r->args;
	const struct session_options o = {
		.by = r->by,
		.all = r->own_selection ? a->all : h->all || !h->marked,
		.method = a->method,
		.replayed = true,
		.neighbours = a->neighbours,
		.two_threads = worker_useful(),
	};
	int err = session_new(h, &o, ret);

	for (size_t i = 0; i < a->cgroups.nr && !err; i++)
		err = select_cgroup(*ret, a->cgroups.items[i]);
	for (size_t i = 0; !r->own_selection && i < h->nr_cgroups && !err; i++)
		err = select_cgroup(*ret, h->cgroups[i]);
	if (!err)
		err = identity_select_jobs(session_identity(*ret), a->jobs.items, a->jobs.nr);
	if (!err && !r->own_selection)
		err = identity_select_jobs(session_identity(*ret), h->jobs, h->nr_jobs);
	return err;
}

/* The session judges events first; who knows what was before comes last. */
static int connect(struct replay *r)
{
	const struct run_options *a = r->args;
	int err;

	r->by = a->by_given ? a->by : r->header->by_thread ? ROW_THREAD : ROW_PROCESS;
	r->wanted_by = r->by;
	err = make_session(r, &r->session);
	if (!err)
		r->tee.sinks[r->tee.nr++] = session_sink(r->session);
	if (!err && r->output.regroups)
		err = midrun_new(r->header, &r->midrun);
	if (!err && r->midrun)
		r->tee.sinks[r->tee.nr++] = midrun_sink(r->midrun);
	r->out = tee_sink(&r->tee);
	return err;
}

int replay_new(const struct trace_header *header, const struct run_options *args,
	       const struct replay_output *output, struct diag *d, struct replay **ret)
{
	struct replay *r;
	int err = check_rows(header, args, d);

	if (err)
		return err;
	r = calloc(1, sizeof(*r));
	if (!r)
		return diag_no_memory(d);
	r->header = header;
	r->args = args;
	r->output = *output;
	r->d = d;
	r->own_selection = args->all || args->pids.nr || args->cgroups.nr || args->jobs.nr;
	r->pid_seen = calloc(args->pids.nr + 1, sizeof(*r->pid_seen));
	r->cgroup_seen = calloc(args->cgroups.nr + 1, sizeof(*r->cgroup_seen));
	err = r->pid_seen && r->cgroup_seen ? connect(r) : -ENOMEM;
	if (!err && (args->interval_ns || !header->marked))
		err = boundaries_new(header,
				     args->interval_ns ? args->interval_ns : RUN_INTERVAL_NS,
				     &r->boundaries);
	if (err) {
		replay_free(r);
		return diag_error(d, err, "cannot prepare the report");
	}
	*ret = r;
	return 0;
}

void replay_free(struct replay *r)
{
	if (!r)
		return;
	session_free(r->session);
	midrun_free(r->midrun);
	boundaries_free(r->boundaries);
	free(r->pid_seen);
	free(r->cgroup_seen);
	free(r);
}

/* --- intervals */

/* An error of the session, in words unless it is about the event. */
static int passed(struct replay *r, int err)
{
	return err && err != -EINVAL ? session_failed(err, r->d) : err;
}

/* @err: of making the report */
static int hand_out(struct replay *r, struct report *report, int err)
{
	err = err ? session_failed(err, r->d) : r->output.report(r->output.arg, report, r->d);
	report_free(report);
	return err;
}

int replay_regroup(struct replay *r, enum row_kind by)
{
	if (r->boundaries)
		return -ENOTSUP;
	r->wanted_by = by;
	return 0;
}

/* The interval that ends at this mark is the last one with the old rows. */
static int regroup(struct replay *r, const struct trace_mark *m)
{
	struct session *s = NULL;
	struct trace_sink sink;
	int err;

	if (!r->midrun || r->wanted_by == r->by)
		return 0;
	r->by = r->wanted_by;
	err = make_session(r, &s);
	if (!err) {
		sink = session_sink(s);
		err = midrun_tell(r->midrun, &sink, m);
	}
	if (err) {
		session_free(s);
		return session_failed(err, r->d);
	}
	session_free(r->session);
	r->session = s;
	r->tee.sinks[0] = sink;
	return 0;
}

/* A mark, of the trace or of our own: the first begins, the others end an interval. */
static int on_boundary(struct replay *r, const struct trace_mark *m)
{
	struct report *report = NULL;
	int err = trace_send_mark(&r->out, m);

	if (err)
		return passed(r, err);
	if (!r->begun) {
		r->begun = true;
		return 0;
	}
	r->intervals++;
	err = session_report(r->session, m, &report);
	err = hand_out(r, report, err);
	return err ? err : regroup(r, m);
}

/* Held-back windows and samples are in order only now. */
static int hand_out_held(struct replay *r, const struct trace_mark *m)
{
	struct trace_event e;
	int err = 0;

	while (!err && boundaries_event(r->boundaries, m, &e)) {
		err = trace_send(&r->out, &e);
		err = err == -EINVAL ? 0 : err;
	}
	return passed(r, err);
}

/* Closes all intervals that are complete, or with @end all that are left. */
static int close_due(struct replay *r, bool end)
{
	struct trace_mark m;
	int err = 0;

	if (boundaries_left(r->boundaries) > REPLAY_MAX_INTERVALS) {
		diag_fail(r->d, -E2BIG, "the trace is %llu intervals long, at most %d are shown",
			  (unsigned long long)boundaries_left(r->boundaries), REPLAY_MAX_INTERVALS);
		diag_help(r->d, "give a longer interval with -i");
		return -E2BIG;
	}
	while (!err && boundaries_next(r->boundaries, end, &m)) {
		err = hand_out_held(r, &m);
		if (!err)
			err = on_boundary(r, &m);
	}
	if (!err && !end && boundaries_inner(r->boundaries, &m)) {
		err = hand_out_held(r, &m);
		if (!err)
			err = passed(r, trace_send_mark(&r->out, &m));
	}
	return err;
}

int replay_finish(struct replay *r)
{
	return r->boundaries ? close_due(r, true) : 0;
}

uint64_t replay_intervals(const struct replay *r)
{
	return r->intervals;
}

int replay_summary(struct replay *r)
{
	struct report *report = NULL;
	int err = session_summary(r->session, &report);

	return hand_out(r, report, err);
}

int replay_neighbours(struct replay *r, struct neighbours_report **ret)
{
	int err = session_neighbours(r->session, r->args->rise, ret);

	return err ? session_failed(err, r->d) : 0;
}

int replay_check_selection(const struct replay *r, const char *name)
{
	for (size_t i = 0; i < r->args->pids.nr; i++)
		if (!r->pid_seen[i]) {
			diag_fail(r->d, -ESRCH, "-p %u: there is no process %u in %s",
				  r->args->pids.items[i], r->args->pids.items[i], name);
			diag_help(r->d, "\"t410trace report -a\" of it shows what it has");
			return -ESRCH;
		}
	for (size_t i = 0; i < r->args->cgroups.nr; i++)
		if (!r->cgroup_seen[i]) {
			diag_fail(r->d, -ESRCH, "-G %s: there is no such cgroup in %s",
				  r->args->cgroups.items[i], name);
			diag_help(r->d,
				  "\"t410trace report -a --by cgroup\" of it shows those it has");
			return -ESRCH;
		}
	for (size_t i = 0; i < r->args->jobs.nr; i++)
		if (!identity_job_seen(session_identity(r->session), i)) {
			diag_fail(r->d, -ESRCH, "-J %s: there is no such job in %s",
				  r->args->jobs.items[i], name);
			diag_help(r->d,
				  "\"t410trace report -a --by job\" of it shows those it has");
			return -ESRCH;
		}
	return 0;
}

/* --- events */

/* A process of the user's list has appeared: follow it, as a live run does at the start. */
static void look_for(struct replay *r, uint32_t tgid)
{
	for (size_t i = 0; i < r->args->pids.nr; i++) {
		/* New threads of a process are not children of a followed task. */
		if (r->args->pids.items[i] != tgid || (r->pid_seen[i] && !r->header->by_thread))
			continue;
		r->pid_seen[i] = true;
		for (size_t k = 0; k < r->tee.nr; k++)
			trace_send_follow(&r->tee.sinks[k], tgid);
	}
}

/* Has a cgroup of the user's list appeared? */
static int look_for_cgroup(struct replay *r, const char *path)
{
	for (size_t i = 0; path && i < r->args->cgroups.nr; i++) {
		char *want = cgroup_path(r->args->cgroups.items[i]);

		if (!want)
			return diag_no_memory(r->d);
		r->cgroup_seen[i] |= !strcmp(want, path);
		free(want);
	}
	return 0;
}

/* The task's record may have been lost, so a slice may be its first sign. */
static void look_at(struct replay *r, const struct trace_slice *s)
{
	if (s->pid != TRACE_PID_IDLE && s->pid != TRACE_PID_LOST)
		for (size_t i = 0; i < r->args->pids.nr; i++)
			if (r->args->pids.items[i] == s->tgid && !r->pid_seen[i])
				look_for(r, s->tgid);
}

/* With own boundaries, events determine them, and some are held back. */
static int on_bounded(struct replay *r, const struct trace_event *e)
{
	bool completes = e->type == TRACE_SLICE || e->type == TRACE_WINDOW || e->type == TRACE_IO;
	int err = boundaries_add(r->boundaries, e);

	if (err || !completes)
		return passed(r, err);
	return boundaries_due(r->boundaries) ? close_due(r, false) : 0;
}

static int on_mark(struct replay *r, const struct trace_mark *m)
{
	if (!r->header->marked) {
		/* In such a trace a mark can only tell its end. */
		if (!m->last)
			return -EINVAL;
		boundaries_add_end(r->boundaries, m->time_ns);
		return 0;
	}
	/* Without these times nothing can be closed. */
	if (!m->ends_ns)
		return -EINVAL;
	if (!r->boundaries && m->inner)
		return passed(r, trace_send_mark(&r->out, m));
	if (!r->boundaries)
		return on_boundary(r, m);
	if (boundaries_add_mark(r->boundaries, m))
		return -EINVAL;
	return close_due(r, false);
}

static int on_event(void *arg, const struct trace_event *e)
{
	struct replay *r = arg;
	int err = 0;

	if (e->type == TRACE_MARK)
		return on_mark(r, &e->mark);
	if (e->type == TRACE_FOLLOW && r->own_selection)
		return 0;
	if (e->type == TRACE_CGROUP && e->cgroup.path)
		err = look_for_cgroup(r, e->cgroup.path);
	if (err)
		return err;
	if (!r->boundaries || (e->type != TRACE_WINDOW && e->type != TRACE_SAMPLE))
		err = trace_send(&r->out, e);
	if (err)
		return passed(r, err);
	if (e->type == TRACE_TASK)
		look_for(r, e->task.tgid);
	if (e->type == TRACE_SLICE)
		look_at(r, &e->slice);
	return r->boundaries ? on_bounded(r, e) : 0;
}

struct trace_sink replay_sink(struct replay *r)
{
	return (struct trace_sink){ on_event, r };
}
