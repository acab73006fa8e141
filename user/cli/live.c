// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "cli/live.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/utsname.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/text.h"
#include "cli/feed.h"
#include "engine/book.h"
#include "platform/cgroups.h"
#include "platform/counters.h"
#include "platform/cpus.h"
#include "platform/ledger.h"

/* A reader that has been silent this long, and ten windows, may have lost its CPU. */
#define SILENT_NS      100000000ull
/* After this long its clock is dead, even if the CPU is back. */
#define DEAD_NS	       (10 * SILENT_NS)
/* Reading the cgroup tree again did not help: wait this many intervals at most. */
#define MAX_WALK_PAUSE 64

struct live {
	const struct trace_args *args;
	struct sysfs sysfs;
	struct pmu_list pmus;
	struct counters counters;
	struct cpu_map cpus;
	struct layout layout;
	struct ledger *ledger;
	struct identity *id;
	struct timeline *timeline;
	struct book *interval;
	struct book *total;
	struct feed feed;
	struct ledger_sink sink;
	struct host_info host;
	char cgroup_mount[PATH_MAX];
	uint64_t *ends_ns;	     /* of the last interval, by socket */
	uint64_t start_ns, begin_ns; /* of the interval, of the run */
	uint32_t walk_pause, walk_wait;
	/* totals at the start of the interval, to report what each one added */
	struct quality seen;
	struct self_cost cost_seen;
	struct quality sum;
	struct self_cost cost_sum;
	uint64_t reader_moves;
	uint64_t late;
};

static int no_memory(struct diag *d)
{
	return diag_fail(d, -ENOMEM, "out of memory");
}

/* --- setup, in the order of the calls in live_open() */

/* Whatever its number: that is a NUMA node, which need not be 0 or 1. */
static bool has_kind(const struct pmu_list *pmus, enum pmu_kind kind)
{
	for (size_t i = 0; i < pmus->nr; i++)
		if (pmus->pmus[i].kind == kind)
			return true;
	return false;
}

static int find_counters(struct live *l, struct diag *d)
{
	int err = sysfs_open(NULL, d, &l->sysfs);

	if (err || l->args->no_counters)
		return err;
	err = pmu_list_read(&l->sysfs, d, &l->pmus);
	if (err)
		return err;
	if (!has_kind(&l->pmus, PMU_UCF))
		return no_pmu_diag(&l->sysfs, d);
	err = counters_open(&l->pmus, d, &l->counters);
	if (!err && l->counters.nr_sockets > LEDGER_MAX_SOCKETS)
		err = diag_fail(d, -E2BIG, "%zu sockets with counters, at most %d are supported",
				l->counters.nr_sockets, LEDGER_MAX_SOCKETS);
	return err;
}

static int make_layout(struct live *l, struct diag *d)
{
	struct cpu_socket known[LEDGER_MAX_SOCKETS];
	const struct counters *c = &l->counters;
	int err;

	for (size_t s = 0; s < c->nr_sockets; s++)
		known[s] = (struct cpu_socket){ c->sockets[s].id, &c->sockets[s].pmu->cpus };
	err = cpu_map_read(&l->sysfs, known, c->nr_sockets, d, &l->cpus);
	if (err)
		return err;
	l->ends_ns = calloc(l->cpus.nr_sockets, sizeof(*l->ends_ns));
	if (!l->ends_ns)
		return no_memory(d);
	l->layout = (struct layout){
		.cpu_socket = l->cpus.socket,
		.nr_cpus = l->cpus.nr_cpus,
		.socket_ids = l->cpus.socket_ids,
		.nr_sockets = l->cpus.nr_sockets,
		.counters = c->items,
		.nr_counters = c->nr,
		.groups = c->groups,
		.nr_groups = c->nr_groups,
	};
	return 0;
}

static int make_engine(struct live *l, struct diag *d)
{
	struct book_scope scope = { .by = l->args->by, .all = l->args->all };

	if (identity_new(&l->id) || timeline_new(&l->layout, &l->timeline) ||
	    book_new(&l->layout, &scope, l->id, &l->interval) ||
	    book_new(&l->layout, &scope, l->id, &l->total) ||
	    feed_init(&l->feed, &l->layout, l->timeline, l->id, l->args->window_ns))
		return no_memory(d);
	l->sink = feed_sink(&l->feed);
	return 0;
}

static int on_cgroup(void *arg, uint64_t id, const char *path)
{
	return identity_cgroup(arg, id, path);
}

static int select_cgroups(struct live *l, struct diag *d)
{
	char path[PATH_MAX];
	int err = cgroups_mount(d, l->cgroup_mount, sizeof(l->cgroup_mount));

	/* Without the tree there are no names, but processes can be followed all the same. */
	if (err)
		return l->args->nr_cgroups || l->args->by == ROW_CGROUP ? err : 0;
	for (size_t i = 0; i < l->args->nr_cgroups; i++) {
		err = cgroups_resolve(l->cgroup_mount, l->args->cgroups[i], d, path, sizeof(path));
		if (err)
			return err;
		if (identity_select(l->id, path))
			return no_memory(d);
	}
	cgroups_walk(l->cgroup_mount, on_cgroup, l->id);
	return 0;
}

static int start_ledger(struct live *l, void (*log)(const char *), struct diag *d)
{
	struct ledger_options o = {
		.by_thread = l->args->by == ROW_THREAD,
		.cpu_socket = l->cpus.socket,
		.nr_cpus = l->cpus.nr_cpus,
		.log = log,
	};
	int err = ledger_open(&o, d, &l->ledger);

	if (!err)
		err = ledger_attach(l->ledger, d);
	if (err)
		return err;
	/* Hooks first, list second: nobody is missed in between. */
	err = ledger_tasks(l->ledger, &l->sink);
	if (err)
		return diag_fail(d, err, "cannot list the tasks: %s", strerror(-err));
	return 0;
}

static int start_reader(struct live *l, uint32_t socket, int cpu, struct diag *d)
{
	const struct socket_counters *s = &l->counters.sockets[socket];

	return ledger_reader_start(l->ledger, socket, cpu, l->counters.fds + s->first, s->nr,
				   l->args->window_ns, d);
}

/*
 * The time now, as a boundary for the slots of sockets without counters; the others
 * have the end of a window for that.
 */
static uint64_t mark_time(struct live *l)
{
	uint64_t now = monotonic_ns();

	for (uint32_t s = l->counters.nr_sockets; s < l->layout.nr_sockets; s++)
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
	int err = ledger_flush(l->ledger, &l->sink);

	if (err)
		return diag_fail(d, err, "cannot start the ledgers: %s", strerror(-err));
	for (uint32_t s = 0; s < l->counters.nr_sockets; s++) {
		err = start_reader(l, s, l->counters.sockets[s].cpu, d);
		if (!err)
			err = ledger_window_now(l->ledger, s);
		if (err)
			return d->what[0] ? err
					  : diag_fail(d, err,
						      "cannot read the counters of socket %d: %s",
						      l->counters.sockets[s].id, strerror(-err));
	}
	l->begin_ns = l->start_ns = mark_time(l);
	err = ledger_flush(l->ledger, &l->sink);
	if (err)
		return diag_fail(d, err, "cannot flush the ledgers: %s", strerror(-err));
	if (ledger_settle(l->ledger, &l->sink))
		return diag_fail(d, -EIO, "cannot read the ring buffer");
	for (uint32_t s = 0; s < l->layout.nr_sockets; s++)
		l->ends_ns[s] = s < l->counters.nr_sockets && l->feed.last_end_ns[s]
					? l->feed.last_end_ns[s]
					: l->start_ns;
	return timeline_begin(l->timeline, l->ends_ns) ? no_memory(d) : 0;
}

static void describe_host(struct live *l)
{
	struct utsname u;

	if (!uname(&u)) {
		str_copy(l->host.name, sizeof(l->host.name), u.nodename);
		str_copy(l->host.kernel, sizeof(l->host.kernel), u.release);
	}
	str_copy(l->host.platform, sizeof(l->host.platform), l->counters.nr ? "t410" : "none");
	l->host.sockets = l->layout.nr_sockets;
}

int live_open(const struct trace_args *args, void (*log)(const char *), struct diag *d,
	      struct live **ret)
{
	struct live *l = calloc(1, sizeof(*l));
	int err;

	if (!l)
		return no_memory(d);
	l->args = args;
	l->sysfs.fd = -1;
	d->what[0] = '\0';
	err = find_counters(l, d);
	if (!err)
		err = make_layout(l, d);
	if (!err)
		err = make_engine(l, d);
	if (!err)
		err = select_cgroups(l, d);
	if (!err)
		err = start_ledger(l, log, d);
	for (size_t i = 0; !err && i < args->nr_pids; i++)
		err = live_follow(l, args->pids[i], d);
	if (!err)
		err = start_books(l, d);
	if (err) {
		live_free(l);
		return err;
	}
	describe_host(l);
	*ret = l;
	return 0;
}

/*
 * The ledger goes first: it reads the counters and fills the feed. The counters go
 * after the engine, whose layout points to them.
 */
void live_free(struct live *l)
{
	if (!l)
		return;
	ledger_free(l->ledger);
	feed_release(&l->feed);
	book_free(l->total);
	book_free(l->interval);
	timeline_free(l->timeline);
	identity_free(l->id);
	counters_close(&l->counters);
	cpu_map_free(&l->cpus);
	pmu_list_free(&l->pmus);
	sysfs_close(&l->sysfs);
	free(l->ends_ns);
	free(l);
}

/* The process that a thread belongs to, 0 when there is none of this number. */
static uint32_t process_of(pid_t tid)
{
	char path[32], line[128];
	cleanup_fclose FILE *f = NULL;
	uint32_t tgid = 0;

	snprintf(path, sizeof(path), "/proc/%d/status", tid);
	f = fopen(path, "re");
	while (f && !tgid && fgets(line, sizeof(line), f))
		if (sscanf(line, "Tgid: %" SCNu32, &tgid) == 1)
			break;
	return tgid;
}

int live_follow(struct live *l, pid_t pid, struct diag *d)
{
	uint32_t tgid;

	if (ledger_drain(l->ledger, &l->sink))
		return diag_fail(d, -EIO, "cannot read the ring buffer");
	if (identity_follow(l->id, pid))
		return 0;
	tgid = process_of(pid);
	diag_fail(d, -ESRCH, "-p %d: there is no such process", pid);
	if (tgid && tgid != (uint32_t)pid)
		diag_help(d, "%d is a thread of process %u: follow that", pid, tgid);
	else
		diag_help(d, "it may have ended; \"t410trace -a\" shows what is running");
	return -ESRCH;
}

int live_fd(const struct live *l)
{
	return ledger_fd(l->ledger);
}

size_t live_alive(const struct live *l)
{
	return identity_followed_alive(l->id);
}

/* When the active CPU goes offline, the driver moves the events and says so in cpumask. */
static int follow_reader(struct live *l, uint32_t socket, bool dead, struct diag *d)
{
	struct socket_counters *s = &l->counters.sockets[socket];
	char path[128], line[64];
	uint64_t cpu;

	snprintf(path, sizeof(path), PMU_DEVICES "/%s/cpumask", s->pmu->name);
	if (sysfs_read(&l->sysfs, path, line, sizeof(line)) || parse_u64(line, &cpu) ||
	    cpu >= l->layout.nr_cpus)
		return 0; /* no CPU of the socket is online: nothing to read, no window */
	if ((int)cpu != s->cpu)
		l->reader_moves++;
	else if (!dead)
		return 0; /* the machine is busy, that is all */
	s->cpu = cpu;
	return start_reader(l, socket, cpu, d);
}

static int check_readers(struct live *l, struct diag *d)
{
	uint64_t now = monotonic_ns();
	uint64_t limit = SILENT_NS + 10 * l->args->window_ns;
	int err = 0;

	for (uint32_t s = 0; s < l->counters.nr_sockets && !err; s++) {
		uint64_t silent = now - l->feed.last_end_ns[s];

		if (silent > limit)
			err = follow_reader(l, s, silent > limit + DEAD_NS, d);
	}
	/* An offline CPU cannot be told from one that is about to be: try again later. */
	return err == -ENODEV || err == -ENXIO ? 0 : err;
}

int live_drain(struct live *l, struct diag *d)
{
	int err = ledger_drain(l->ledger, &l->sink);

	if (err)
		return diag_fail(d, err, "cannot read the ring buffer: %s", strerror(-err));
	if (l->feed.error)
		return no_memory(d);
	return check_readers(l, d);
}

/* Names that did not come as records are read from cgroupfs. */
static void find_cgroup_names(struct live *l, bool lost)
{
	if (!l->cgroup_mount[0] || (!lost && !l->feed.unknown_cgroup))
		return;
	if (!lost && l->walk_wait) {
		l->walk_wait--;
		return;
	}
	l->feed.unknown_cgroup = false;
	cgroups_walk(l->cgroup_mount, on_cgroup, l->id);
	/* A cgroup outside our namespace never gets a name: ask more and more seldom. */
	l->walk_pause = l->walk_pause ? l->walk_pause * 2 : 1;
	if (l->walk_pause > MAX_WALK_PAUSE)
		l->walk_pause = MAX_WALK_PAUSE;
	l->walk_wait = l->walk_pause;
}

/*
 * A task whose record was lost, or that the kernel's list left out, still has a
 * name in /proc if it lives. The pid cannot have been used again meanwhile: the
 * start of a new process would have been recorded.
 */
static int name_from_proc(void *arg, struct task *t)
{
	char path[32], line[MODEL_COMM_LEN];

	(void)arg;
	snprintf(path, sizeof(path), "/proc/%u/comm", t->key.pid);
	if (!read_line_at(AT_FDCWD, path, line, sizeof(line))) {
		str_copy(t->comm, sizeof(t->comm), line);
		t->comm_known = true;
	}
	return 0;
}

/* Everything up to now is in the timeline afterwards; sets where each socket ends. */
static int complete(struct live *l, struct diag *d)
{
	uint64_t now;
	int err;

	for (uint32_t s = 0; s < l->counters.nr_sockets; s++)
		ledger_window_now(l->ledger, s); /* failing, the last tick's window ends it */
	now = mark_time(l);
	l->feed.cut_ns = now;
	err = ledger_flush(l->ledger, &l->sink);
	if (err)
		return diag_fail(d, err, "cannot flush the ledgers: %s", strerror(-err));
	err = ledger_settle(l->ledger, &l->sink);
	if (!err)
		err = live_drain(l, d);
	l->feed.cut_ns = UINT64_MAX;
	for (uint32_t s = 0; s < l->layout.nr_sockets; s++) {
		uint64_t end = s < l->counters.nr_sockets ? l->feed.last_end_ns[s] : now;

		/* No window in this interval: the CPU time is reported all the same. */
		l->ends_ns[s] = end > l->ends_ns[s] ? end : now;
	}
	return err;
}

/* Running totals of all losses, to be compared with those at the last report. */
static void total_quality(const struct live *l, struct quality *ret)
{
	struct ledger_losses losses;

	ledger_losses(l->ledger, &losses);
	*ret = (struct quality){
		.invalid_windows = l->feed.invalid_windows,
		.lost_windows = losses.windows,
		.merged_windows = l->feed.long_windows,
		.kept_flushes = losses.kept_flushes,
		.lost_tasks = losses.tasks,
		.lost_cgroups = losses.cgroups,
		.late_slices = l->late + l->feed.bad_slices + losses.bad,
		.unseen_switches = losses.unseen,
		.reader_moves = l->reader_moves,
	};
}

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
}

/* Fills in what was added since @from, and moves @from on. */
static void quality_since(struct quality *from, const struct quality *now, struct quality *ret)
{
	ret->method = METHOD_CPU_TIME;
	str_copy(ret->weights, sizeof(ret->weights), "cpu-time");
	ret->invalid_windows = now->invalid_windows - from->invalid_windows;
	ret->lost_windows = now->lost_windows - from->lost_windows;
	ret->merged_windows = now->merged_windows - from->merged_windows;
	ret->kept_flushes = now->kept_flushes - from->kept_flushes;
	ret->lost_tasks = now->lost_tasks - from->lost_tasks;
	ret->lost_cgroups = now->lost_cgroups - from->lost_cgroups;
	ret->late_slices = now->late_slices - from->late_slices;
	ret->unseen_switches = now->unseen_switches - from->unseen_switches;
	ret->reader_moves = now->reader_moves - from->reader_moves;
	*from = *now;
}

static void cost_since(struct self_cost *from, const struct self_cost *now, struct self_cost *ret)
{
	uint64_t timed_ns = now->switch_ns - from->switch_ns;

	ret->cpu_ns = now->cpu_ns - from->cpu_ns;
	ret->switches = now->switches - from->switches;
	ret->timed = now->timed - from->timed;
	/* Extrapolated: one switch in many is timed. */
	ret->switch_ns = ret->timed ? (unsigned __int128)timed_ns * ret->switches / ret->timed : 0;
	*from = *now;
}

static void finish_report(struct live *l, bool summary, struct report *r)
{
	struct quality now;
	struct self_cost cost;

	total_quality(l, &now);
	total_cost(l, &cost);
	quality_since(summary ? &l->sum : &l->seen, &now, &r->quality);
	cost_since(summary ? &l->cost_sum : &l->cost_seen, &cost, &r->self);
	r->host = &l->host;
	r->summary = summary;
	r->start_ns = summary ? l->begin_ns : l->start_ns;
	for (uint32_t s = 0; s < l->layout.nr_sockets; s++)
		if (l->ends_ns[s] > r->end_ns)
			r->end_ns = l->ends_ns[s];
	r->start_time_ns = clock_ns(CLOCK_REALTIME) - (monotonic_ns() - r->start_ns);
}

/* Records about tasks were lost: read the whole list again. */
static int resync(struct live *l, uint64_t lost_tasks)
{
	int err;

	if (lost_tasks == l->seen.lost_tasks)
		return 0;
	identity_resync(l->id);
	err = ledger_tasks(l->ledger, &l->sink);
	if (!err)
		identity_resync_end(l->id);
	return err;
}

int live_report(struct live *l, struct diag *d, struct report **ret)
{
	struct timeline_sink sink = book_sink(l->interval);
	struct report *r;
	struct quality now;
	uint64_t late;
	int err = complete(l, d);

	if (err)
		return err;
	total_quality(l, &now);
	err = resync(l, now.lost_tasks);
	if (err)
		return diag_fail(d, err, "cannot list the tasks: %s", strerror(-err));
	identity_each_unnamed(l->id, name_from_proc, NULL);
	find_cgroup_names(l, now.lost_cgroups != l->seen.lost_cgroups);
	err = timeline_close(l->timeline, l->ends_ns, &sink, &late);
	l->late += late;
	if (!err)
		err = book_finish(l->interval);
	if (!err)
		err = book_add(l->total, l->interval);
	r = err ? NULL : calloc(1, sizeof(*r));
	if (!r || book_report(l->interval, r)) {
		report_free(r);
		return no_memory(d);
	}
	finish_report(l, false, r);
	l->start_ns = r->end_ns;
	book_clear(l->interval);
	identity_closed(l->id);
	*ret = r;
	return 0;
}

int live_summary(struct live *l, struct diag *d, struct report **ret)
{
	struct report *r = calloc(1, sizeof(*r));

	if (!r || book_report(l->total, r)) {
		report_free(r);
		return no_memory(d);
	}
	finish_report(l, true, r);
	*ret = r;
	return 0;
}

void live_describe(const struct live *l, char *ret_text, size_t size)
{
	size_t pinned = 0;

	for (size_t s = 0; s < l->counters.nr_sockets; s++)
		pinned += l->counters.sockets[s].pinned;
	snprintf(ret_text, size, "%zu counters on %zu socket%s in %zu group%s%s, %zu process%s",
		 l->counters.nr, l->counters.nr_sockets, l->counters.nr_sockets == 1 ? "" : "s",
		 l->counters.nr_groups, l->counters.nr_groups == 1 ? "" : "s",
		 pinned == l->counters.nr_sockets ? " (pinned)" : " (shared, may be multiplexed)",
		 live_alive(l), live_alive(l) == 1 ? "" : "es");
}
