// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * How much memory the daemon's books need on a large machine, by the length of its intervals.
 * Records as the kernel sends them go the daemon's way: feed, session by job, report, accounts,
 * metrics. Each case is a process of its own, and its peak is what it ever had resident.
 *
 * memory [CPUS [WINDOW_MS [SECONDS [SLOTS]]]]: other sizes, one interval of so many seconds, in
 * which so many tasks have each CPU in each window. 1 is a machine whose tasks never switch.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "live/lookup/feed.h"
#include "engine/accounts/accounts.h"
#include "engine/session/session.h"
#include "report/openmetrics/openmetrics.h"
#include "synthetic.h"

#define NS_PER_S     1000000000ull
#define NR_SOCKETS   2
#define PER_SOCKET   6 /* counters */
#define SLOTS	     10
#define NR_JOBS	     64
#define EACH	     20 /* processes of a CPU */
#define FIRST_CGROUP 100
#define FIRST_PID    1000
#define MAX_CPUS     2048
/* Of an hour, so much is run: it takes as long as that of a machine of this size. */
#define LONG_S	     90

struct world {
	uint32_t nr_cpus;
	uint32_t slots;
	uint64_t window_ns;
	struct trace_header header;
	uint32_t cpu_socket[MAX_CPUS];
	uint32_t socket_ids[NR_SOCKETS];
	struct counter counters[NR_SOCKETS * PER_SOCKET];
	struct group groups[NR_SOCKETS];
	struct counted_event events[NR_SOCKETS * PER_SOCKET];
	uint32_t indexes[NR_SOCKETS * PER_SOCKET];
	struct counter_reader readers[NR_SOCKETS];
	struct counters counted;
	struct session *session;
	struct trace_sink out;
	struct accounts *accounts;
	struct openmetrics *metrics;
	struct feed feed;
	struct ledger_sink sink;
	struct ledger_reading totals[NR_SOCKETS][PER_SOCKET];
	uint64_t ends_ns[NR_SOCKETS];
	uint64_t now_ns;
	uint64_t random;
	uint64_t slices;
};

static uint32_t draw(struct world *w, uint32_t below)
{
	w->random ^= w->random << 13;
	w->random ^= w->random >> 7;
	w->random ^= w->random << 17;
	return (w->random >> 32) % below;
}

static void make_header(struct world *w)
{
	static const enum source sources[] = { SOURCE_CPU, SOURCE_DEVICE, SOURCE_REMOTE };

	for (uint32_t i = 0; i < w->nr_cpus; i++)
		w->cpu_socket[i] = i * NR_SOCKETS / w->nr_cpus;
	for (uint32_t s = 0; s < NR_SOCKETS; s++) {
		w->socket_ids[s] = s;
		w->groups[s] = (struct group){ s, s * PER_SOCKET, PER_SOCKET };
	}
	for (uint32_t i = 0; i < NR_SOCKETS * PER_SOCKET; i++) {
		uint32_t socket = i / PER_SOCKET, nr = i % PER_SOCKET;
		struct counter *c = &w->counters[i];

		*c = (struct counter){ .socket = socket,
				       .group = socket,
				       .source = sources[nr / 2],
				       .direction = nr % 2 ? DIRECTION_WRITE : DIRECTION_READ };
		snprintf(c->name, sizeof(c->name), "ucf%u/%u", socket, nr);
		w->events[i] = (struct counted_event){ .counter = i,
						       .scale = { .bytes = 1, .counts = 1 } };
		w->indexes[i] = i;
	}
	for (uint32_t s = 0; s < NR_SOCKETS; s++)
		w->readers[s] = (struct counter_reader){ .index = s,
							 .first = s * PER_SOCKET,
							 .events = &w->indexes[s * PER_SOCKET],
							 .nr = PER_SOCKET,
							 .capacity = PER_SOCKET };
	w->counted = (struct counters){ .events = w->events,
					.nr_events = NR_SOCKETS * PER_SOCKET,
					.readers = w->readers,
					.nr_readers = NR_SOCKETS,
					.max_readers = NR_SOCKETS };
	w->header = (struct trace_header){
		.host = { .name = "bench", .platform = "t410", .sockets = NR_SOCKETS },
		.layout = { w->cpu_socket, w->nr_cpus, w->socket_ids, NR_SOCKETS, w->counters,
			    NR_SOCKETS * PER_SOCKET, w->groups, NR_SOCKETS },
		.window_ns = w->window_ns,
		.marked = true,
		.all = true,
	};
}

static int save(void *arg, const struct account_job *j)
{
	(void)arg;
	(void)j;
	return 0;
}

static void mark(struct world *w, bool first, bool inner)
{
	const struct trace_mark m = {
		.first = first,
		.inner = inner,
		.time_ns = w->now_ns,
		.realtime_ns = w->now_ns,
		.ends_ns = w->ends_ns,
	};
	struct report *r;

	memcpy(w->ends_ns, w->feed.last_end_ns, sizeof(w->ends_ns));
	must(trace_send_mark(&w->out, &m), "mark");
	if (first || inner)
		return;
	must(session_report(w->session, &m, &r), "report");
	must(accounts_interval(w->accounts, r), "accounts");
	must(openmetrics_interval(w->metrics, r), "metrics");
	must(accounts_each_changed(w->accounts, save, NULL), "accounts");
	accounts_saved(w->accounts);
	report_free(r);
}

/* All slots of a CPU in one window; the last one is idle time. */
static void slots_of_cpu(struct world *w, uint32_t cpu, uint64_t start_ns)
{
	struct ledger_slices r = { .h = { .cpu = cpu, .time_ns = w->now_ns }, .nr = w->slots + 1 };
	uint64_t each_ns = w->window_ns / (w->slots + 1);
	uint32_t first = draw(w, EACH);

	for (uint32_t i = 0; i < r.nr; i++) {
		uint32_t who = cpu * EACH + (first + i) % EACH;

		r.slots[i] = (struct ledger_slot){
			.pid = i < w->slots ? FIRST_PID + who : 0,
			.tgid = i < w->slots ? FIRST_PID + who : 0,
			.start_ns = i < w->slots ? 1 + who : 0,
			.cgroup_id = i < w->slots ? FIRST_CGROUP + who % NR_JOBS : 0,
			.first_ns = start_ns,
			.last_ns = w->now_ns,
			.on_cpu_ns = 1 + draw(w, each_ns),
		};
	}
	w->slices += r.nr;
	w->sink.slices(w->sink.arg, &r, NULL);
}

static void window_of_socket(struct world *w, uint32_t socket)
{
	struct ledger_window r = { .h = { .time_ns = w->now_ns },
				   .reader = socket,
				   .nr = PER_SOCKET,
				   .begin_ns = w->now_ns,
				   .end_ns = w->now_ns };

	for (uint32_t i = 0; i < PER_SOCKET; i++) {
		struct ledger_value *v = &w->totals[socket][i].value;

		v->count += 1000000 + draw(w, 1000000);
		v->enabled_ns = v->running_ns = w->now_ns;
		r.readings[i] = w->totals[socket][i];
	}
	w->sink.window(w->sink.arg, &r);
}

static void next_window(struct world *w)
{
	uint64_t start_ns = w->now_ns;

	w->now_ns += w->window_ns;
	for (uint32_t cpu = 0; cpu < w->nr_cpus; cpu++)
		slots_of_cpu(w, cpu, start_ns);
	for (uint32_t s = 0; s < NR_SOCKETS; s++)
		window_of_socket(w, s);
}

static void begin(struct world *w)
{
	const struct session_options o = {
		.by = ROW_JOB, .all = true, .method = METHOD_STATE_SPACE, .no_summary = true
	};
	const struct accounts_options a = { .boot = "b", .schedulers = 1u << SCHEDULER_SLURM };
	const struct openmetrics_options m = { .top = 50, .keep = 6 };
	char path[64];

	make_header(w);
	must(session_new(&w->header, &o, &w->session), "session");
	must(accounts_new(&a, &w->accounts), "accounts");
	must(openmetrics_new(&m, &w->metrics), "metrics");
	w->out = session_sink(w->session);
	must(feed_init(&w->feed, &w->header.layout, &w->counted, &w->out, w->window_ns), "feed");
	w->sink = feed_sink(&w->feed);
	for (uint32_t i = 0; i < NR_JOBS; i++) {
		snprintf(path, sizeof(path), "/slurm/uid_0/job_%u", i + 1);
		must(trace_send_cgroup(&w->out, FIRST_CGROUP + i, path), "cgroup");
	}
	for (uint32_t i = 0; i < w->nr_cpus * EACH; i++) {
		const struct trace_task t = { .pid = FIRST_PID + i,
					      .tgid = FIRST_PID + i,
					      .start_ns = 1 + i,
					      .cgroup_id = FIRST_CGROUP + i % NR_JOBS,
					      .comm = "rank" };

		must(trace_send_task(&w->out, &t), "task");
	}
	for (uint32_t s = 0; s < NR_SOCKETS; s++)
		window_of_socket(w, s);
	mark(w, true, false);
}

/* As a live run does: a block and a quarter after a mark, then every block, or when it is full. */
static uint64_t next_inner(const struct world *w, bool was_inner)
{
	uint64_t more = (was_inner ? 4 : 5) * 25 * w->window_ns;

	return w->now_ns + (more > NS_PER_S / 5 ? more : NS_PER_S / 5);
}

static int run(struct world *w, uint64_t interval_ns, uint64_t duration_ns)
{
	uint64_t start, inner, marked;
	double took, closing = 0;

	begin(w);
	start = marked = w->now_ns;
	inner = next_inner(w, false);
	took = cpu_seconds();
	while (w->now_ns < start + duration_ns) {
		bool ends = (w->now_ns + w->window_ns - start) % interval_ns == 0 ||
			    w->now_ns + w->window_ns >= start + duration_ns;
		double at;

		next_window(w);
		at = cpu_seconds();
		if (ends) {
			mark(w, false, false);
			closing = cpu_seconds() - at;
			inner = next_inner(w, false);
			marked = w->now_ns;
		} else if (w->now_ns >= inner ||
			   (session_backlogged(w->session) && w->now_ns >= marked + NS_PER_S / 5)) {
			mark(w, false, true);
			inner = next_inner(w, true);
			marked = w->now_ns;
		}
	}
	took = cpu_seconds() - took;
	printf("%12g %8.0f %10" PRIu64 " %9.1f %13.0f %15.2f\n", interval_ns / 1e9,
	       duration_ns / 1e9, w->slices, resident_kib() / 1024.0, closing * 1e3,
	       w->slices / took / 1e6);
	return 0;
}

static void measure(const struct world *machine, uint64_t interval_ns, uint64_t duration_ns)
{
	static struct world w;
	int status;
	pid_t pid;

	fflush(stdout);
	pid = fork();
	if (!pid) {
		w = *machine;
		run(&w, interval_ns, duration_ns);
		fflush(stdout);
		_exit(0);
	}
	must(waitpid(pid, &status, 0), "wait");
	if (status)
		exit(1);
}

int main(int argc, char **argv)
{
	static struct world m = { .now_ns = 1000 * NS_PER_S, .random = 88172645463325252ull };
	uint64_t seconds = argc > 3 ? strtoul(argv[3], NULL, 10) : 0;

	m.nr_cpus = argc > 1 ? strtoul(argv[1], NULL, 10) : 352;
	m.window_ns = argc > 2 ? strtoul(argv[2], NULL, 10) * 1000000 : 10000000;
	m.slots = argc > 4 ? strtoul(argv[4], NULL, 10) : SLOTS;
	if (!m.nr_cpus || m.nr_cpus > MAX_CPUS || !m.window_ns || !m.slots || m.slots > EACH) {
		fputs("usage: memory [CPUS [WINDOW_MS [SECONDS [SLOTS]]]]\n", stderr);
		return 2;
	}
	printf("memory: %u CPUs, %u slots and idle time each in windows of %g ms, by job\n",
	       m.nr_cpus, m.slots, m.window_ns / 1e6);
	puts("  interval s    run s     slices  MiB peak  ms to close M slices/s all");
	if (seconds) {
		measure(&m, seconds * NS_PER_S, seconds * NS_PER_S);
		return 0;
	}
	measure(&m, NS_PER_S, 5 * NS_PER_S);
	measure(&m, 10 * NS_PER_S, 20 * NS_PER_S);
	measure(&m, 60 * NS_PER_S, 60 * NS_PER_S);
	measure(&m, 3600 * NS_PER_S, LONG_S * NS_PER_S);
	return 0;
}
