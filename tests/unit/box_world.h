/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A run on a made-up machine, from its sysfs to the report: a kernel that opens any event, and
 * readings that grow by random counts. Sockets have CPUS_OF_SOCKET CPUs, one after the other.
 */
#ifndef TEST_BOX_WORLD_H
#define TEST_BOX_WORLD_H

#include <errno.h>

#include "base/array.h"
#include "engine/session/session.h"
#include "live/lookup/feed.h"
#include "live/lookup/live_readers.h"
#include "tree.h"

#define CPUS_OF_SOCKET 4
#define WINDOW_NS      100
#define NR_WINDOWS     6
#define MAX_FDS	       4096

/* --- the machine */

static struct {
	struct perf_event_attr attrs[MAX_FDS];
	int cpus[MAX_FDS], leaders[MAX_FDS];
	bool open[MAX_FDS];
	int nr, nr_open;
	uint32_t small_type; /* a PMU with few counters: */
	int small_room;	     /* so many beside the first of a group */
	uint32_t gone_type;  /* one that cannot be opened */
} kernel;

static inline int kernel_open(const struct perf_event_attr *attr, int pid, int cpu, int leader)
{
	int beside = 0;

	assert_int_equal(pid, -1);
	assert_true(kernel.nr < MAX_FDS);
	for (int i = 0; leader >= 0 && i < kernel.nr; i++)
		beside += kernel.open[i] && kernel.leaders[i] == leader;
	if (leader >= 0 && attr->type == kernel.small_type && beside >= kernel.small_room)
		return -EINVAL;
	if (attr->type == kernel.gone_type)
		return -ENODEV;
	kernel.attrs[kernel.nr] = *attr;
	kernel.cpus[kernel.nr] = cpu;
	kernel.leaders[kernel.nr] = leader;
	kernel.open[kernel.nr] = true;
	kernel.nr_open++;
	return kernel.nr++;
}

static inline ssize_t kernel_read(int fd, uint64_t *words, size_t nr)
{
	(void)fd;
	for (size_t i = 0; i < nr; i++)
		words[i] = 1;
	return nr * sizeof(*words);
}

static inline int kernel_enable(int leader)
{
	assert_true(kernel.open[leader]);
	return 0;
}

static inline void kernel_close(int fd)
{
	assert_true(kernel.open[fd]);
	kernel.open[fd] = false;
	kernel.nr_open--;
}

static const struct perf_ops ops = {
	.open = kernel_open,
	.read = kernel_read,
	.enable = kernel_enable,
	.disable = kernel_enable,
	.close = kernel_close,
};

/* --- a run on it */

struct world {
	struct tree tree;
	struct sysfs fs;
	struct pmu_list pmus;
	struct counters counters;
	struct cpu_map cpus;
	struct trace_header header;
	struct session *session;
	struct feed feed;
	struct ledger_sink sink;
	uint64_t now, begin_ns, random;
	uint64_t total[MAX_FDS], sent[MAX_FDS]; /* counts of each event: all, in good windows */
};

/* Opens the counters of a set on the machine of @w->tree. */
static inline void world_open(struct world *w, unsigned int set)
{
	const struct session_options o = { .by = ROW_PROCESS, .all = true };
	struct diag d = { 0 };
	struct trace_sink out;

	w->now = WINDOW_NS;
	w->random = 1;
	assert_int_equal(sysfs_open(w->tree.root, &d, &w->fs), 0);
	assert_int_equal(pmu_list_read(&w->fs, &d, &w->pmus), 0);
	if (counters_open(&ops, &w->pmus, set, &d, &w->counters) ||
	    live_readers_map(&w->counters, NULL, 0, &w->fs, &d, &w->cpus))
		fail_msg("%s", d.what);
	w->header.all = true;
	w->header.layout = (struct layout){
		.cpu_socket = w->cpus.socket,
		.nr_cpus = w->cpus.nr_cpus,
		.socket_ids = w->cpus.socket_ids,
		.nr_sockets = w->cpus.nr_sockets,
		.counters = w->counters.items,
		.nr_counters = w->counters.nr,
		.groups = w->counters.groups,
		.nr_groups = w->counters.nr_groups,
	};
	assert_int_equal(session_new(&w->header, &o, &w->session), 0);
	out = session_sink(w->session);
	assert_int_equal(feed_init(&w->feed, &w->header.layout, &w->counters, &out, WINDOW_NS), 0);
	w->sink = feed_sink(&w->feed);
}

static inline void end_world(struct world *w)
{
	feed_release(&w->feed);
	session_free(w->session);
	counters_close(&w->counters);
	assert_int_equal(kernel.nr_open, 0);
	cpu_map_free(&w->cpus);
	pmu_list_free(&w->pmus);
	sysfs_close(&w->fs);
	tree_remove(&w->tree);
	free(w);
}

/* Everything counts on, and a reader reads; @bad: index of one that fails, or -1. */
static inline void read_all(struct world *w, const struct counter_reader *r, int bad)
{
	struct ledger_window *record = calloc(1, sizeof(*record));

	assert_non_null(record);
	record->h = (struct ledger_header){ .type = LEDGER_WINDOW, .time_ns = w->now };
	record->reader = r->index;
	record->nr = r->nr;
	for (uint32_t i = 0; i < r->nr; i++) {
		uint32_t fd = r->fds[i];

		assert_int_equal(kernel.cpus[fd] / CPUS_OF_SOCKET, r->cpu / CPUS_OF_SOCKET);
		w->random = w->random * 6364136223846793005ull + 1442695040888963407ull;
		w->total[fd] += w->random >> 44;
		record->readings[i].value = (struct ledger_value){ w->total[fd], w->now, w->now };
		record->readings[i].error = (int)i == bad ? -EINVAL : 0;
	}
	w->sink.window(w->sink.arg, record);
	free(record);
}

/* A task on each socket: on its first CPU for half of the time. */
static inline void run_tasks(struct world *w)
{
	for (uint32_t cpu = 0; cpu < w->cpus.nr_cpus; cpu += CPUS_OF_SOCKET) {
		struct ledger_slices s = { .h = { .type = LEDGER_SLICES, .cpu = cpu }, .nr = 1 };

		s.slots[0] = (struct ledger_slot){ .pid = 10 + cpu,
						   .tgid = 10 + cpu,
						   .cgroup_id = 1,
						   .first_ns = w->now - WINDOW_NS,
						   .last_ns = w->now,
						   .on_cpu_ns = WINDOW_NS / 2 };
		w->sink.slices(w->sink.arg, &s, NULL);
	}
}

static inline void step(struct world *w, int bad)
{
	for (size_t i = 0; i < w->counters.nr_readers; i++)
		read_all(w, &w->counters.readers[i], i ? -1 : bad);
	run_tasks(w);
	w->now += WINDOW_NS;
}

static inline struct report *run(struct world *w)
{
	struct trace_mark mark = { .first = true };
	struct trace_sink out = session_sink(w->session);
	uint64_t ends[TRACE_MAX_SOCKETS];
	struct report *r;

	step(w, -1);
	memcpy(w->sent, w->total, sizeof(w->sent));
	for (uint32_t s = 0; s < w->cpus.nr_sockets; s++)
		assert_int_equal(ends[s] = w->feed.last_end_ns[s], WINDOW_NS);
	mark.ends_ns = ends;
	assert_int_equal(trace_send_mark(&out, &mark), 0);
	for (int i = 0; i < NR_WINDOWS; i++)
		step(w, i == 2 ? 0 : -1); /* what fails once is in the next window */
	for (uint32_t s = 0; s < w->cpus.nr_sockets; s++)
		ends[s] = w->feed.last_end_ns[s];
	mark = (struct trace_mark){ .last = true, .time_ns = w->now, .ends_ns = ends };
	assert_int_equal(session_report(w->session, &mark, &r), 0);
	return r;
}

/* Instead of a direction: the socket's energy */
#define ENERGY NR_DIRECTIONS

/* The bytes of a socket in one direction, or its energy, from what the machine counted. */
typedef uint64_t (*truth_fn)(const struct world *w, int socket, enum direction direction);

/* To the byte: the socket's bytes are those that its PMUs counted, and each has an owner. */
static inline void check_sums(const struct world *w, const struct report *r, truth_fn truth)
{
	for (uint32_t s = 0; s < w->cpus.nr_sockets; s++) {
		uint64_t sum[NR_DIRECTIONS + 1] = { 0 };

		for (size_t i = 0; i < r->nr_counters; i++) {
			const struct report_counter *c = &r->counters[i];
			uint64_t owned = c->attributed, shares = 0;

			if (c->counter->socket != s)
				continue;
			assert_true(c->valid);
			for (int k = 0; k < NR_REASONS; k++)
				owned += c->unattributed[k];
			assert_int_equal(owned, c->value);
			for (size_t k = 0; k < r->nr_rows; k++)
				for (size_t n = 0; n < r->rows[k].nr_shares; n++)
					shares += r->rows[k].shares[n].counter == i
							  ? r->rows[k].shares[n].value
							  : 0;
			assert_int_equal(shares, c->attributed);
			assert_true(c->attributed > 0);
			sum[c->counter->unit == UNIT_NANOJOULES ? ENERGY : c->counter->direction] +=
				c->value;
		}
		assert_true(sum[DIRECTION_READ] + sum[DIRECTION_READWRITE] > 0);
		for (int d = 0; d <= ENERGY; d++)
			assert_int_equal(sum[d], truth(w, s, d));
	}
}

#endif
