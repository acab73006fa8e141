// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "live/live.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>

#include "base/array.h"
#include "base/cleanup.h"
#include "base/clock.h"
#include "base/text.h"
#include "base/times.h"
#include "live/feed.h"
#include "live/live_cgroups.h"
#include "live/live_devices.h"
#include "live/live_jobs.h"
#include "live/live_probes.h"
#include "live/live_readers.h"
#include "live/live_tasks.h"
#include "live/live_totals.h"
#include "live/live_watch.h"
#include "live/process.h"
#include "trace/header.h"
#include "trace/tee.h"
#include "engine/session/session.h"
#include "platform/bpf/counters.h"
#include "platform/sys/cpus.h"
#include "platform/bpf/ledger.h"
#include "platform/core/weights.h"

/*
 * A longer interval has inner marks: one after so many windows, which make a good block, and one
 * when too many slices wait. Each costs an interrupt on every CPU, so not too often.
 */
#define INNER_WINDOWS 100
#define INNER_MIN_NS  200000000ull
/* Requests of a device wait for the end of its window: not for an hour. */
#define DEVICES_NS    5000000000ull

_Static_assert(LEDGER_MAX_WEIGHTS <= TRACE_MAX_WEIGHTS && WEIGHT_NAME_LEN <= TRACE_WEIGHT_NAME_LEN,
	       "the header has room for all weights");

struct live {
	const struct run_options *args;
	struct sysfs sysfs;
	struct pmu_list pmus;
	struct counters counters;
	struct weights weights;
	struct live_watch watch;
	struct cpu_map cpus;
	struct trace_header header;
	struct ledger *ledger;
	struct session *session;
	struct tee tee; /* session, recorder if there is one, names of jobs */
	bool recorded;
	struct trace_sink out; /* of @tee */
	struct feed feed;
	struct ledger_sink sink;      /* of @feed */
	struct sampler *sampler;      /* NULL: no latencies */
	struct live_devices *devices; /* NULL: none were asked for */
	struct live_cgroups cgroups;
	struct live_tasks tasks;
	struct live_jobs *jobs;
	uint64_t *ends_ns;   /* of the last mark, by socket */
	struct quality seen; /* losses up to the last mark */
	uint64_t marked_ns;  /* when that was */
	uint64_t inner_ns;   /* when an inner mark follows */
	uint64_t turned_ns;  /* when devices were last brought up to date */
};

/* --- setup, in the order of the calls in live_open() */

/* Whatever its number: that is a NUMA node, which need not be 0 or 1. */
static bool count_memory(const struct pmu_list *pmus, unsigned int set)
{
	for (size_t i = 0; i < pmus->nr; i++)
		if (counter_rows_have(pmus->pmus[i].kind, set))
			return true;
	return false;
}

static int no_memory_counters(const struct live *l, struct diag *d)
{
	int err = no_pmu_diag(&l->sysfs, d);

	if (l->args->devices.nr)
		str_append(d->help, sizeof(d->help),
			   " With --no-counters, -D tells who makes devices move data.");
	return err;
}

static int find_counters(struct live *l, struct diag *d)
{
	unsigned int set = l->args->by_destination ? COUNTERS_DESTINATION : COUNTERS_SUMS;
	int err = sysfs_open(NULL, d, &l->sysfs);

	if (err || l->args->no_counters)
		return err;
	err = pmu_list_read(&l->sysfs, d, &l->pmus);
	if (err)
		return err;
	if (!count_memory(&l->pmus, set))
		return no_memory_counters(l, d);
	err = counters_open(&perf_kernel, &l->pmus, set, d, &l->counters);
	return err;
}

static int make_layout(struct live *l, struct diag *d)
{
	struct counters *c = &l->counters;
	int err = live_readers_map(c, &l->sysfs, d, &l->cpus);

	if (err)
		return err;
	l->ends_ns = calloc(l->cpus.nr_sockets, sizeof(*l->ends_ns));
	if (!l->ends_ns)
		return diag_no_memory(d);
	err = header_add_sockets(&l->header, l->cpus.socket, l->cpus.nr_cpus, l->cpus.socket_ids,
				 l->cpus.nr_sockets);
	if (!err)
		err = header_add_counters(&l->header, c->items, c->nr, c->groups, c->nr_groups);
	return err ? diag_error(d, err, "cannot describe the counters") : 0;
}

static int make_header(struct live *l, struct diag *d)
{
	const struct run_options *a = l->args;
	struct trace_header *h = &l->header;
	struct utsname u;
	int err;

	if (!uname(&u)) {
		str_copy(h->host.name, sizeof(h->host.name), u.nodename);
		str_copy(h->host.kernel, sizeof(h->host.kernel), u.release);
	}
	str_copy(h->host.platform, sizeof(h->host.platform),
		 l->counters.nr ? pmu_platform_name(l->counters.pmus[0].pmu->platform) : "none");
	h->host.sockets = h->layout.nr_sockets;
	str_copy(h->host.io_note, sizeof(h->host.io_note), ledger_io_note(l->ledger));
	h->window_ns = a->window_ns;
	h->interval_ns = a->interval_ns;
	h->by_thread = a->by == ROW_THREAD;
	h->marked = true;
	h->all = a->all;
	err = header_add_selection(h, l->cgroups.selected, l->cgroups.nr_selected, a->jobs.items,
				   a->jobs.nr);
	return err ? diag_error(d, err, "cannot describe the run") : 0;
}

static int select_job(struct session *s, const char *text)
{
	enum scheduler scheduler;
	const char *id;

	job_text_parse(text, &scheduler, &id); /* was checked with the arguments */
	return session_select_job(s, scheduler, id);
}

static int start_reader(void *arg, const struct counter_reader *r, struct diag *d)
{
	struct live *l = arg;

	return live_reader_start(r, l->ledger, l->args->window_ns, d);
}

/* Where events go: the session first, so that a recording has what a report would. */
static int make_engine(struct live *l, const struct live_recorder *recorder, struct diag *d)
{
	struct session_options o = {
		.by = l->args->by,
		.all = l->args->all,
		.method = l->args->methods[0],
		.names_only = recorder,
		.neighbours = l->args->neighbours,
		.idle_units = l->args->idle_units,
		.job_users = l->args->job_users,
		.no_summary = l->args->no_summary,
	};
	int err;

	err = session_new(&l->header, &o, &l->session);
	for (size_t i = 0; i < l->header.nr_cgroups && !err; i++)
		err = session_select(l->session, l->cgroups.selected[i]);
	for (size_t i = 0; i < l->args->jobs.nr && !err; i++)
		err = select_job(l->session, l->args->jobs.items[i]);
	if (err)
		return diag_error(d, err, "cannot prepare the report");
	l->tee.sinks[l->tee.nr++] = session_sink(l->session);
	if (recorder) {
		err = recorder->open(recorder->arg, &l->header, d, &l->tee.sinks[l->tee.nr]);
		if (err)
			return err;
		l->tee.nr++;
		l->recorded = true;
	}
	err = live_jobs_new(&l->cgroups, l->args->job_users, NULL, &l->jobs);
	if (err)
		return diag_error(d, err, "cannot look for jobs");
	l->tee.sinks[l->tee.nr++] = live_jobs_sink(l->jobs);
	l->out = tee_sink(&l->tee);
	err = feed_init(&l->feed, &l->header.layout, &l->counters, &l->out, l->args->window_ns);
	if (err)
		return diag_error(d, err, "cannot prepare the kernel's records");
	l->feed.v1 = l->cgroups.v1.controller;
	l->feed.start_of = session_start_of;
	l->feed.start_arg = l->session;
	l->sink = feed_sink(&l->feed);
	l->watch = (struct live_watch){ .counters = &l->counters,
					.weights = &l->weights,
					.ledger = l->ledger,
					.feed = &l->feed,
					.sink = &l->sink,
					.start = start_reader,
					.sysfs = &l->sysfs,
					.cpus = &l->cpus,
					.arg = l };
	if (live_watch_new(&l->watch))
		return diag_no_memory(d);
	/* What goes wrong here is noticed with the errors of the feed. */
	l->feed.error = live_cgroups_walk(&l->cgroups, &l->out);
	return 0;
}

/* "auto" takes no events when no window will be split by them: each switch would pay. */
static const char *wanted_weights(const struct run_options *a)
{
	bool useful = !a->no_counters && method_row(a->methods[0])->events;

	return useful || strcmp(a->weights, "auto") != 0 ? a->weights : "cpu-time";
}

/* The ledger with its core events, which it holds on to by itself from here on. */
static int open_ledger(struct live *l, void (*log)(const char *), struct diag *d)
{
	struct ledger_options o = {
		.by_thread = l->args->by == ROW_THREAD,
		.cpu_socket = l->cpus.socket,
		.nr_cpus = l->cpus.nr_cpus,
		.nr_readers = l->counters.max_readers,
		.nr_events = l->counters.nr_events,
		.io = l->devices,
		.v1_controller = l->cgroups.v1.controller,
		.v1_number = l->cgroups.v1.number,
		.own_pids = !l->tasks.machine,
		.cgroup_mount = l->cgroups.mount,
		.log = log,
	};
	struct trace_header *h = &l->header;
	struct weights *w = &l->weights;
	int err = weights_open(&perf_kernel, &l->sysfs, wanted_weights(l->args), o.nr_cpus, d, w);

	if (err)
		return err;
	o.nr_weights = w->nr;
	err = ledger_open(&o, d, &l->ledger);
	for (uint32_t e = 0; !err && e < w->nr; e++) {
		err = ledger_weights(l->ledger, e, w->fds[e], d);
		str_copy(h->weights[e], sizeof(h->weights[e]), w->names[e]);
	}
	h->nr_weights = w->nr;
	weights_let_go(w);
	return err;
}

static int start_ledger(struct live *l, struct diag *d)
{
	int err = ledger_attach(l->ledger, d);

	if (err)
		return err;
	/* Hooks first, list second: nobody is missed in between. */
	err = ledger_tasks(l->ledger, &l->sink);
	if (err)
		return diag_fail(d, err, "cannot list the tasks: %s", strerror(-err));
	return 0;
}

/* An error of those who receive the events, in words. */
static int trace_failed(const struct live *l, int err, struct diag *d)
{
	if (!err || err == -ENOMEM)
		return err ? diag_no_memory(d) : 0;
	if (!l->recorded)
		return diag_fail(d, err, "the kernel's records make no sense: %s", strerror(-err));
	diag_fail(d, err, "cannot write to %s: %s", l->args->output.file, strerror(-err));
	if (err == -ENOSPC)
		diag_help(d, "free some space, or bound the recording with --max-size; what was "
			     "recorded before can be reported");
	return err;
}

/* Running totals of all losses that the engine does not count itself. */
static void total_quality(const struct live *l, struct quality *ret)
{
	live_totals_quality(l->ledger, &l->feed, ret);
	ret->reader_moves = l->watch.reader_moves;
	ret->weights_reopened = l->watch.weights_reopened;
	live_devices_quality(l->devices, ret);
}

enum mark_kind {
	MARK_FIRST,
	MARK_BETWEEN,
	MARK_LAST,
	MARK_INNER,
};

static int send_mark(struct live *l, uint64_t now, enum mark_kind kind, struct diag *d,
		     struct trace_mark *ret)
{
	*ret = (struct trace_mark){
		.first = kind == MARK_FIRST,
		.last = kind == MARK_LAST,
		.inner = kind == MARK_INNER,
		.time_ns = now,
		.realtime_ns = clock_ns(CLOCK_REALTIME) - (monotonic_ns() - now),
		.ends_ns = l->ends_ns,
	};
	total_quality(l, &ret->losses);
	live_totals_cost(l->ledger, &ret->cost);
	live_probes_cost(l->sampler, &ret->cost);
	/* A block and a quarter: no inner mark comes right before the end of an interval. */
	l->inner_ns = now + (kind == MARK_INNER ? 4 : 5) * l->args->window_ns * INNER_WINDOWS / 4;
	l->marked_ns = now;
	return trace_failed(l, trace_send_mark(&l->out, ret), d);
}

/*
 * The time now, as a boundary for the slots of sockets that no reader is on; the others
 * have the end of a window for that.
 */
static uint64_t mark_time(struct live *l)
{
	uint64_t now = monotonic_ns();

	for (uint32_t s = 0; s < l->header.layout.nr_sockets; s++)
		if (!live_readers_on(&l->counters, s))
			ledger_mark(l->ledger, s, now);
	return now;
}

/*
 * The first window and the first flush: where the books begin. All ledgers run by
 * then, and what they noted before is forgotten, so that the first interval has all
 * CPU time and no more.
 */
static int start_books(struct live *l, struct diag *d)
{
	struct trace_mark mark;
	uint64_t now;
	int err = ledger_flush(l->ledger, &l->sink);

	if (err)
		return diag_fail(d, err, "cannot start the ledgers: %s", strerror(-err));
	err = live_readers_start(&l->counters, l->ledger, l->args->window_ns, d);
	if (err)
		return err;
	now = mark_time(l);
	err = ledger_flush(l->ledger, &l->sink);
	if (err)
		return diag_fail(d, err, "cannot flush the ledgers: %s", strerror(-err));
	if (ledger_settle(l->ledger, &l->sink))
		return diag_fail(d, -EIO, "cannot read the ring buffer");
	for (uint32_t s = 0; s < l->header.layout.nr_sockets; s++)
		l->ends_ns[s] = l->feed.last_end_ns[s] ? l->feed.last_end_ns[s] : now;
	err = trace_failed(l, l->feed.error, d);
	if (!err)
		err = send_mark(l, now, MARK_FIRST, d, &mark);
	/* Latencies begin with the books: their first samples lie behind the mark. */
	if (!err && l->sampler)
		sampler_start(l->sampler);
	return err ? err : live_devices_start(l->devices, d);
}

int live_open(const struct run_options *args, const struct live_recorder *recorder,
	      void (*log)(const char *), struct diag *d, struct live **ret)
{
	struct live *l = calloc(1, sizeof(*l));
	int err;

	if (!l)
		return diag_no_memory(d);
	l->args = args;
	l->sysfs.fd = -1;
	live_tasks_open("/proc", &l->tasks);
	d->what[0] = '\0';
	err = find_counters(l, d);
	if (!err)
		err = make_layout(l, d);
	/* Behind the counters: those of the traffic come first. */
	if (!err) {
		err = live_probes_open(args, &l->pmus, &l->counters, &l->header, &l->sampler);
		if (err)
			diag_error(d, err, "cannot measure latencies");
	}
	if (!err)
		err = live_devices_open(args, &l->sysfs, &l->pmus, &l->header, log, d, &l->devices);
	if (!err)
		err = live_cgroups_open(args, d, &l->cgroups);
	if (!err)
		err = open_ledger(l, log, d);
	for (size_t i = 0; !err && i < args->pids.nr; i++)
		if (!process_lives(args->pids.items[i]))
			err = process_missing(args->pids.items[i], d);
	/* From here on little can go wrong: a recorder may replace an older file. */
	if (!err) {
		err = make_header(l, d);
		if (!err)
			err = make_engine(l, recorder, d);
	}
	if (!err)
		err = live_devices_attach(l->devices, l->ledger, &l->cgroups, &l->out, d);
	if (!err)
		err = start_ledger(l, d);
	for (size_t i = 0; !err && i < args->pids.nr; i++)
		err = live_follow(l, args->pids.items[i], d);
	if (!err)
		err = start_books(l, d);
	if (err) {
		live_free(l);
		return err;
	}
	*ret = l;
	return 0;
}

/*
 * The ledger goes first: it reads the counters and the weights, which end with it, and
 * fills the feed.
 */
void live_free(struct live *l)
{
	if (!l)
		return;
	ledger_free(l->ledger);
	feed_release(&l->feed);
	live_watch_release(&l->watch);
	session_free(l->session);
	live_devices_free(l->devices);
	sampler_free(l->sampler);
	counters_close(&l->counters);
	weights_close(&l->weights);
	cpu_map_free(&l->cpus);
	pmu_list_free(&l->pmus);
	sysfs_close(&l->sysfs);
	live_jobs_free(l->jobs);
	live_cgroups_release(&l->cgroups);
	header_release(&l->header);
	free(l->ends_ns);
	free(l);
}

int live_follow(struct live *l, pid_t pid, struct diag *d)
{
	uint32_t number;
	int err;

	if (ledger_drain(l->ledger, &l->sink))
		return diag_fail(d, -EIO, "cannot read the ring buffer");
	err = live_tasks_number(&l->tasks, l->ledger, pid, &number);
	if (err)
		return diag_fail(d, err, "cannot list the tasks: %s", strerror(-err));
	if (number && session_follow(l->session, number))
		return trace_failed(l, trace_send_follow(&l->out, number), d);
	return process_missing(pid, d);
}

int live_fd(const struct live *l)
{
	return ledger_fd(l->ledger);
}

size_t live_alive(const struct live *l)
{
	return session_alive(l->session);
}

uint64_t live_jobs_ended(const struct live *l, uint32_t schedulers)
{
	return session_jobs_ended(l->session, schedulers);
}

const struct host_info *live_host(const struct live *l)
{
	return &l->header.host;
}

/* live_drain() without latencies: in a mark they have been read before. */
static int drain(struct live *l, struct diag *d)
{
	int err = ledger_drain(l->ledger, &l->sink);

	if (err)
		return diag_fail(d, err, "cannot read the ring buffer: %s", strerror(-err));
	err = trace_failed(l, l->feed.error, d);
	return err ? err : live_watch_step(&l->watch, d);
}

static int on_sample(void *arg, const struct trace_sample *s)
{
	struct live *l = arg;

	return trace_send_sample(&l->out, s);
}

/* When the next inner mark is due. Most intervals end before. */
static uint64_t inner_due(const struct live *l)
{
	uint64_t soonest = l->marked_ns + INNER_MIN_NS;

	return session_full(l->session) ? soonest : later(soonest, l->inner_ns);
}

uint64_t live_next_ns(const struct live *l)
{
	uint64_t devices = live_devices_next_ns(l->devices);
	uint64_t probes = l->sampler ? sampler_next_ns(l->sampler) : UINT64_MAX;

	return earlier(earlier(devices, probes), earlier(live_jobs_next_ns(l->jobs), inner_due(l)));
}

/* An error without words is that of those who receive the events. */
static int devices_done(const struct live *l, int err, struct diag *d)
{
	return err && !d->what[0] ? trace_failed(l, err, d) : err;
}

/* The record of its removal may be among the lost ones: a job would go on forever. */
static int tell_if_gone(void *arg, uint64_t id, const char *path)
{
	struct live *l = arg;

	return live_cgroups_gone(&l->cgroups, id, path) ? trace_send_cgroup(&l->out, id, NULL) : 0;
}

/* What did not come as records is read from cgroupfs. */
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

/*
 * Everything up to now is in the trace afterwards; sets where each socket ends.
 *
 * The time of requests is known to a tick and no later than their flush, and what seems to be
 * behind the end of a socket is of the next interval. After the last one there is none: what has
 * been done when the run is told to end is flushed before anything ends.
 */
static int complete(struct live *l, enum mark_kind kind, struct diag *d, uint64_t *ret_now)
{
	uint64_t now;
	int err = kind == MARK_LAST ? ledger_flush(l->ledger, &l->sink) : 0;

	if (err)
		return diag_fail(d, err, "cannot flush the ledgers: %s", strerror(-err));
	if (kind != MARK_INNER)
		live_readers_now(&l->counters, l->ledger);
	now = mark_time(l);
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

		/* No window in this interval: the CPU time is reported all the same. */
		l->ends_ns[s] = end > l->ends_ns[s] ? end : now;
	}
	*ret_now = now;
	return err;
}

static int make_mark(struct live *l, enum mark_kind kind, struct diag *d, struct trace_mark *ret)
{
	const struct sampler_sink sink = { on_sample, l };
	struct quality losses;
	uint64_t now = monotonic_ns();
	int err = 0;

	if (kind != MARK_INNER || now >= l->turned_ns + DEVICES_NS) {
		l->turned_ns = now;
		err = devices_done(l, live_devices_mark(l->devices, kind == MARK_LAST, d), d);
	}
	if (!err)
		err = complete(l, kind, d, &now);
	/* Behind the windows: samples of the interval reach its end, or beyond it. */
	if (!err && l->sampler)
		err = trace_failed(l, sampler_mark(l->sampler, kind == MARK_LAST, &sink), d);
	if (err)
		return err;
	total_quality(l, &losses);
	if (losses.lost_tasks != l->seen.lost_tasks)
		err = live_tasks_list(&l->tasks, l->ledger, &l->sink, &l->out);
	if (err)
		return diag_fail(d, err, "cannot list the tasks: %s", strerror(-err));
	err = session_each_unnamed(l->session, name_task, l);
	if (!err)
		err = find_cgroup_names(l, losses.lost_cgroups != l->seen.lost_cgroups);
	err = trace_failed(l, err ? err : l->feed.error, d);
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
	const struct sampler_sink sink = { on_sample, l };
	struct trace_mark mark;
	int err = drain(l, d);

	if (!err && l->sampler)
		err = trace_failed(l, sampler_step(l->sampler, &sink), d);
	if (!err)
		err = trace_failed(l, live_jobs_step(l->jobs, &l->out), d);
	if (!err)
		err = devices_done(l, live_devices_step(l->devices, d), d);
	return err || monotonic_ns() < inner_due(l) ? err : make_mark(l, MARK_INNER, d, &mark);
}

int live_report(struct live *l, bool last, struct diag *d, struct report **ret)
{
	struct trace_mark mark;
	int err = live_mark(l, last, d, &mark);

	if (err)
		return err;
	err = session_report(l->session, &mark, ret);
	return err ? session_failed(err, d) : 0;
}

int live_summary(struct live *l, struct diag *d, struct report **ret)
{
	int err = session_summary(l->session, ret);

	return err ? session_failed(err, d) : 0;
}

int live_neighbours(struct live *l, struct diag *d, struct neighbours_report **ret)
{
	int err = session_neighbours(l->session, l->args->rise, ret);

	return err ? session_failed(err, d) : 0;
}

void live_progress(const struct live *l, struct live_progress *ret)
{
	struct ledger_losses losses;

	ledger_losses(l->ledger, &losses);
	*ret = (struct live_progress){
		.events = l->tee.events,
		.lost_ns = l->feed.lost_ns,
		.lost_weights = losses.weights,
	};
}

void live_describe_counters(const struct live *l, char *ret_text, size_t size)
{
	size_t pinned = 0;

	for (size_t i = 0; i < l->counters.nr_pmus; i++)
		pinned += l->counters.pmus[i].pinned;
	snprintf(ret_text, size, "%zu counters on %zu socket%s in %zu group%s%s", l->counters.nr,
		 l->counters.nr_sockets, l->counters.nr_sockets == 1 ? "" : "s",
		 l->counters.nr_groups, l->counters.nr_groups == 1 ? "" : "s",
		 pinned == l->counters.nr_pmus ? " (pinned)" : " (shared, may be multiplexed)");
}

void live_describe(const struct live *l, char *ret_text, size_t size)
{
	live_describe_counters(l, ret_text, size);
	str_append(ret_text, size, ", %zu process%s", live_alive(l),
		   live_alive(l) == 1 ? "" : "es");
}

const char *live_note(const struct live *l, size_t i)
{
	const char *const notes[] = { l->cgroups.note, live_tasks_note(&l->tasks, l->ledger) };

	for (size_t k = 0; k < ARRAY_SIZE(notes); k++)
		if (notes[k][0] && !i--)
			return notes[k];
	return live_devices_note(l->devices, i);
}

bool live_news(struct live *l, char ret_text[LIVE_WATCH_NEWS_LEN])
{
	return live_watch_news(&l->watch, ret_text);
}

bool live_trouble(const struct live *l, char *ret_text, size_t size)
{
	return live_watch_trouble(&l->watch, monotonic_ns(), ret_text, size);
}

const char *live_missing_job(const struct live *l, size_t i)
{
	size_t nr = 0;

	for (size_t k = 0; k < l->args->jobs.nr; k++)
		if (!session_job_seen(l->session, k) && nr++ == i)
			return l->args->jobs.items[k];
	return NULL;
}

void live_describe_devices(const struct live *l, char *ret_text, size_t size)
{
	live_devices_describe(l->devices, ret_text, size);
}

void live_describe_probes(const struct live *l, char *ret_text, size_t size)
{
	live_probes_describe(l->sampler, l->args, ret_text, size);
}

void live_describe_weights(const struct live *l, char *ret_text, size_t size)
{
	const struct trace_header *h = &l->header;

	str_copy(ret_text, size, "activity measured by ");
	if (h->nr_weights == 2)
		str_append(ret_text, size, "%s (reads) and %s (writes)", h->weights[0],
			   h->weights[1]);
	else
		str_append(ret_text, size, "%s", h->nr_weights ? h->weights[0] : "CPU time");
	if (l->weights.note[0])
		str_append(ret_text, size, ": %s", l->weights.note);
}
