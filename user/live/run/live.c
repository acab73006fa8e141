// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "live/run/live.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "base/array.h"
#include "base/clock.h"
#include "base/text.h"
#include "live/run/internal.h"
#include "live/lookup/live_readers.h"
#include "live/lookup/process.h"
#include "platform/bpf/kernel_clock.h"
#include "platform/pmu/platform_file.h"
#include "platform/sys/smbios.h"
#include "trace/header.h"
#include "trace/midrun.h"

/* At the start, tasks are asked about requested jobs that were not found for at most this long */
#define FIND_JOBS_NS 1000000000ull

/* --- setup, in the order of the calls in live_open() */

static int find_machine(struct live *l, void (*log)(const char *), struct diag *d)
{
	int err = sysfs_open(NULL, d, &l->sysfs);

	if (!err && !l->args->no_counters)
		err = pmu_list_read(&l->sysfs, d, &l->pmus);
	if (!err && !l->args->no_counters)
		err = platform_file_check(&l->sysfs, &l->pmus, d);
	l->context = (struct source_context){
		.args = l->args,
		.sysfs = &l->sysfs,
		.pmus = &l->pmus,
		.log = log,
		.counters = &l->none,
		.cpus = &l->cpus,
		.header = &l->header,
		.feed = &l->feed,
		.sink = &l->sink,
		.out = &l->out,
		.cgroups = &l->cgroups,
	};
	l->out = tee_sink(&l->tee);
	return err;
}

/* The wanted sources, none of which has looked for its hardware yet. */
static int list_sources(struct live *l, struct diag *d)
{
	l->sources = calloc(nr_live_sources, sizeof(*l->sources));
	for (size_t i = 0; l->sources && i < nr_live_sources; i++) {
		const struct live_source *row = live_sources[i];
		struct running *r = &l->sources[l->nr_sources];

		if (row->wanted && !row->wanted(l->args))
			continue;
		*r = (struct running){ row, calloc(1, row->size) };
		if (!r->data)
			return diag_no_memory(d);
		l->nr_sources++;
	}
	return l->sources ? 0 : diag_no_memory(d);
}

/* A mistake is reported before missing hardware. */
static int check_arguments(struct live *l, struct diag *d)
{
	const struct run_options *a = l->args;
	int err = live_cgroups_open(a, d, &l->cgroups);

	for (size_t i = 0; !err && i < a->pids.nr; i++)
		if (!process_lives(a->pids.items[i]))
			err = process_missing(a->pids.items[i], d);
	return err ? err : ALL_SOURCES(l, d, check, &l->context);
}

/* In reverse order. */
static void free_sources(struct live *l)
{
	while (l->nr_sources) {
		const struct running *r = &l->sources[--l->nr_sources];

		if (r->row->free)
			r->row->free(r->data);
		free(r->data);
	}
	free(l->sources);
}

static int make_layout(struct live *l, struct diag *d)
{
	const struct source_context *c = &l->context;
	int err = live_readers_map(c->counters, c->domains, c->nr_domains, &l->sysfs, d, &l->cpus);

	if (err)
		return err;
	l->ends_ns = calloc(l->cpus.nr_sockets, sizeof(*l->ends_ns));
	if (!l->ends_ns)
		return diag_no_memory(d);
	err = header_add_sockets(&l->header, l->cpus.socket, l->cpus.nr_cpus, l->cpus.socket_ids,
				 l->cpus.nr_sockets);
	/* The map may know the socket of a CPU that is offline. */
	for (uint32_t cpu = 0; cpu < l->header.layout.nr_cpus; cpu++)
		if (!cpulist_contains(&l->cpus.online, cpu))
			l->header.layout.cpu_socket[cpu] = LAYOUT_NO_SOCKET;
	l->header.online = true;
	return err ? diag_error(d, err, "cannot describe the sockets") : 0;
}

/* The firmware's table is read unless a better source gives the peak; a missing one is no error. */
static void find_peaks(const struct live *l, struct peaks *ret)
{
	const struct peaks_wanted *wanted = &l->args->peaks;
	const struct layout *layout = &l->header.layout;
	struct diag absent = { 0 };

	if (l->context.counters->nr && !wanted->none && !wanted->bytes_per_s[PEAK_CMEM])
		smbios_peaks(&l->sysfs, layout->socket_ids, layout->nr_sockets, &absent, ret);
	peaks_apply(ret, wanted);
}

/* Do any windows end at which CPU time is cut? */
static bool windows_end(const struct live *l)
{
	return l->context.counters->nr || l->context.cuts;
}

static int make_header(struct live *l, struct diag *d)
{
	const struct run_options *a = l->args;
	struct trace_header *h = &l->header;
	struct utsname u;
	int err;

	if (!uname(&u)) {
		str_copy(h->host.name, sizeof(h->host.name),
			 a->host && a->host[0] ? a->host : u.nodename);
		str_copy(h->host.kernel, sizeof(h->host.kernel), u.release);
	}
	if (!h->host.platform[0])
		str_copy(h->host.platform, sizeof(h->host.platform), "none");
	h->host.sockets = h->layout.nr_sockets;
	str_copy(h->host.io_note, sizeof(h->host.io_note), ledger_io_note(l->ledger));
	live_ticks_tell(&l->ticks, windows_end(l), ledger_tick_missing(l->ledger), l->cpus.nr_cpus,
			&h->host);
	find_peaks(l, &h->host.peaks);
	h->window_ns = a->window_ns;
	h->interval_ns = a->interval_ns;
	h->by_thread = a->by == ROW_THREAD;
	h->marked = true;
	h->all = a->all;
	err = header_add_selection(h, l->cgroups.selected, l->cgroups.nr_selected, a->jobs.items,
				   a->jobs.nr);
	return err ? diag_error(d, err, "cannot describe the run") : 0;
}

static int make_session(const struct live *l, enum row_kind by, bool names_only, struct diag *d,
			struct session **ret)
{
	struct session_options o = {
		.by = by,
		.all = l->args->all,
		.method = l->args->method,
		.names_only = names_only,
		.neighbours = l->args->neighbours,
		.idle_units = l->args->idle_units,
		.job_users = l->args->job_users,
		.no_summary = l->args->no_summary,
	};
	int err = session_new(&l->header, &o, ret);

	for (size_t i = 0; i < l->header.nr_cgroups && !err; i++)
		err = identity_select(session_identity(*ret), l->cgroups.selected[i]);
	if (!err)
		err = identity_select_jobs(session_identity(*ret), l->args->jobs.items,
					   l->args->jobs.nr);
	return err ? diag_error(d, err, "cannot prepare the report") : 0;
}

static int met_cpu(void *arg, uint32_t cpu)
{
	return live_cpus_met(arg, cpu);
}

/* Sinks of events: the session first, so that a recording has the same events as a report. */
static int make_engine(struct live *l, const struct live_recorder *recorder, struct diag *d)
{
	int err = make_session(l, l->args->by, recorder && !recorder->reports, d, &l->session);

	if (err)
		return err;
	l->tee.sinks[l->tee.nr++] = session_sink(l->session);
	if (recorder) {
		err = recorder->open(recorder->arg, &l->header, d, &l->tee.sinks[l->tee.nr]);
		if (err)
			return err;
		l->tee.nr++;
		l->recorded = !recorder->reports;
	}
	err = live_jobs_new(&l->cgroups, l->args->job_users, l->header.host.name, NULL, &l->jobs);
	if (err)
		return diag_error(d, err, "cannot look for jobs");
	l->tee.sinks[l->tee.nr++] = live_jobs_sink(l->jobs);
	err = feed_init(&l->feed, &l->header.layout, l->context.counters, &l->out,
			l->args->window_ns);
	if (err)
		return diag_error(d, err, "cannot prepare the kernel's records");
	l->feed.v1 = l->cgroups.v1.controller;
	l->feed.start_of = session_start_of;
	l->feed.start_arg = l->session;
	l->coming = (struct live_cpus){
		.map = &l->cpus, .fs = &l->sysfs, .ledger = l->ledger, .out = &l->out
	};
	if (live_cpus_new(&l->coming))
		return diag_no_memory(d);
	l->feed.met = met_cpu;
	l->feed.met_arg = &l->coming;
	l->sink = feed_sink(&l->feed);
	/* Errors here show up as errors of the feed. */
	l->feed.error = live_cgroups_walk(&l->cgroups, &l->out);
	return 0;
}

static int open_ledger(struct live *l, struct diag *d)
{
	struct ledger_options *o = &l->context.ledger_options;
	int err;

	o->by_thread = l->args->by == ROW_THREAD;
	o->cpu_socket = l->cpus.socket;
	o->nr_cpus = l->cpus.nr_cpus;
	o->v1_controller = l->cgroups.v1.controller;
	o->v1_number = l->cgroups.v1.number;
	o->own_pids = !l->tasks.machine;
	o->cgroup_mount = l->cgroups.mount;
	o->log = l->context.log;
	live_ticks_choose(l->args, windows_end(l), &l->sysfs, &l->ticks);
	o->tick = l->ticks.on;
	o->quiet = &l->ticks.quiet;
	err = ledger_open(o, d, &l->ledger) ?: kernel_clock_check(d);
	l->context.ledger = l->ledger;
	return err;
}

static int start_ledger(struct live *l, struct diag *d)
{
	int err = ledger_attach(l->ledger, d);

	if (err)
		return err;
	/* Hooks first, list second: no task is missed in between. */
	err = ledger_tasks(l->ledger, &l->sink);
	if (err)
		return diag_fail(d, err, "cannot list the tasks: %s", strerror(-err));
	return 0;
}

/* Only tasks may know the name of a selected job: a running one must not be called missing. */
static int find_wanted_jobs(struct live *l, struct diag *d)
{
	uint64_t until = monotonic_ns() + FIND_JOBS_NS;
	bool asked = true;
	int err = 0;

	while (!err && asked && live_missing_job(l, 0) && monotonic_ns() < until)
		err = live_jobs_first(l->jobs, &l->out, &asked);
	return live_trace_failed(l, err, d);
}

static int wait_for(struct live *l, int fd, struct diag *d)
{
	struct epoll_event event = { .events = EPOLLIN };

	return epoll_ctl(l->events, EPOLL_CTL_ADD, fd, &event)
		       ? diag_fail(d, -errno, "cannot wait for records: %s", strerror(errno))
		       : 0;
}

/* Kernel records, and descriptors of sources */
static int open_events(struct live *l, struct diag *d)
{
	int err;

	l->events = epoll_create1(EPOLL_CLOEXEC);
	if (l->events < 0)
		return diag_fail(d, -errno, "cannot wait for records: %s", strerror(errno));
	err = wait_for(l, ledger_fd(l->ledger), d);
	EACH_SOURCE (r, l, fd)
		if (!err)
			err = wait_for(l, r->row->fd(r->data), d);
	return err;
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
	l->events = -1;
	live_tasks_open("/proc", &l->tasks);
	err = find_machine(l, log, d);
	if (!err)
		err = list_sources(l, d);
	if (!err)
		err = check_arguments(l, d);
	/* Counters may count from here on. */
	if (!err)
		err = ALL_SOURCES(l, d, find, &l->context);
	if (!err)
		err = make_layout(l, d);
	if (!err)
		err = ALL_SOURCES(l, d, open, &l->context);
	if (!err)
		err = open_ledger(l, d);
	if (!err)
		err = make_header(l, d);
	if (!err)
		err = ALL_SOURCES(l, d, attach);
	/* From here on few errors are possible: a recorder may replace an older file. */
	if (!err)
		err = make_engine(l, recorder, d);
	if (!err)
		err = start_ledger(l, d);
	if (!err)
		err = open_events(l, d);
	for (size_t i = 0; !err && i < args->pids.nr; i++)
		err = live_follow(l, args->pids.items[i], d);
	if (!err)
		err = find_wanted_jobs(l, d);
	if (!err)
		err = live_books(l, d);
	if (err) {
		live_free(l);
		return err;
	}
	*ret = l;
	return 0;
}

/* The ledger goes first: it reads counters of the sources, and fills the feed. */
void live_free(struct live *l)
{
	if (!l)
		return;
	ledger_free(l->ledger);
	feed_release(&l->feed);
	session_free(l->session);
	free_sources(l);
	live_cpus_free(&l->coming);
	cpu_map_free(&l->cpus);
	pmu_list_free(&l->pmus);
	sysfs_close(&l->sysfs);
	live_jobs_free(l->jobs);
	live_cgroups_release(&l->cgroups);
	live_tasks_free(&l->tasks);
	header_release(&l->header);
	free(l->ends_ns);
	if (l->events >= 0)
		close(l->events);
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
	/* The kernel's list may lack tasks that /proc has, process 1 for example. */
	if (!number ||
	    (!identity_follow(session_identity(l->session), number) && !process_lives(pid)))
		return process_missing(pid, d);
	err = live_tasks_remember(&l->tasks, pid) ?: trace_send_follow(&l->out, number);
	return live_trace_failed(l, err, d);
}

int live_fd(const struct live *l)
{
	return l->events;
}

size_t live_alive(const struct live *l)
{
	return identity_followed_alive(session_identity(l->session));
}

uint64_t live_jobs_changed(const struct live *l, uint32_t schedulers)
{
	const struct identity *id = session_identity(l->session);

	return identity_jobs_begun(id, schedulers) + identity_jobs_ended(id, schedulers);
}

const struct host_info *live_host(const struct live *l)
{
	return &l->header.host;
}

const struct layout *live_layout(const struct live *l)
{
	return &l->header.layout;
}

int live_report(struct live *l, bool last, struct diag *d, struct report **ret)
{
	struct trace_mark mark;
	int err = live_mark(l, last, d, &mark);

	if (err)
		return err;
	l->reported = mark;
	err = session_report(l->session, &mark, ret);
	return err ? session_failed(err, d) : 0;
}

static int check_kind(const struct live *l, enum row_kind by, struct diag *d)
{
	bool groups = by == ROW_CGROUP || by == ROW_JOB;

	if (!groups && (by == ROW_THREAD) != l->header.by_thread)
		return diag_fail(d, -EINVAL, "rows cannot be %s: the run began with --by %s",
				 by == ROW_THREAD ? "threads" : "processes",
				 row_kind_name(l->args->by));
	if (groups && !l->cgroups.mount[0] && !l->cgroups.v1.number)
		return diag_fail(d, -ENOENT,
				 "rows cannot be cgroups or jobs: no tree of cgroups is mounted");
	return 0;
}

int live_regroup(struct live *l, enum row_kind by, const struct midrun *midrun, struct diag *d)
{
	struct session *s = NULL;
	struct trace_sink sink;
	int err = check_kind(l, by, d);

	if (err)
		return err;
	err = make_session(l, by, false, d, &s);
	if (err) {
		session_free(s);
		return err;
	}
	sink = session_sink(s);
	err = midrun_tell(midrun, &sink, &l->reported);
	if (err) {
		session_free(s);
		return diag_error(d, err, "cannot begin with other rows");
	}
	session_free(l->session);
	l->session = s;
	l->tee.sinks[0] = sink;
	l->feed.start_arg = s;
	return 0;
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

int live_neighbours_progress(const struct live *l, struct neighbourhood *ret)
{
	return session_neighbours_progress(l->session, l->args->rise, ret);
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

static void describe_memory(const struct live *l, size_t line, char *ret_text, size_t size)
{
	ret_text[0] = '\0';
	EACH_SOURCE (r, l, describe)
		if (r->row == &source_memory)
			r->row->describe(r->data, line, ret_text, size);
}

void live_describe_counters(const struct live *l, char *ret_text, size_t size)
{
	describe_memory(l, 0, ret_text, size);
}

void live_describe_weights(const struct live *l, char *ret_text, size_t size)
{
	describe_memory(l, 1, ret_text, size);
}

bool live_describe_line(const struct live *l, size_t line, char *ret_text, size_t size)
{
	EACH_SOURCE (r, l, describe)
		for (size_t i = 0;; i++) {
			ret_text[0] = '\0';
			r->row->describe(r->data, i, ret_text, size);
			if (!ret_text[0])
				break;
			if (!line--)
				return true;
		}
	return false;
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
	EACH_SOURCE (r, l, note)
		for (size_t n = 0; r->row->note(r->data, n); n++)
			if (!i--)
				return r->row->note(r->data, n);
	return NULL;
}

bool live_news(struct live *l, char ret_text[LIVE_WATCH_NEWS_LEN])
{
	if (live_cpus_news(&l->coming, ret_text, LIVE_WATCH_NEWS_LEN))
		return true;
	EACH_SOURCE (r, l, news)
		if (r->row->news(r->data, ret_text, LIVE_WATCH_NEWS_LEN))
			return true;
	return false;
}

bool live_trouble(const struct live *l, char *ret_text, size_t size)
{
	EACH_SOURCE (r, l, trouble)
		if (r->row->trouble(r->data, ret_text, size))
			return true;
	return false;
}

const char *live_missing_job(const struct live *l, size_t i)
{
	size_t nr = 0;

	for (size_t k = 0; k < l->args->jobs.nr; k++)
		if (!identity_job_seen(session_identity(l->session), k) && nr++ == i)
			return l->args->jobs.items[k];
	return NULL;
}
