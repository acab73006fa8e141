// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Tenants with fixed intensities that begin and stop working at random. Nothing
 * here is about accuracy: what the engine gets is as much, and as irregular, as on a
 * busy machine.
 */
#include "synthetic.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>

#define NS_PER_S      1000000000ull
#define FIRST_PID     1000
#define FIRST_CGROUP  500
#define NR_COUNTERS   (SYNTHETIC_SOCKETS * SYNTHETIC_COUNTERS)
/* A workload changes between work and sleep in every tenth window. */
#define CHANGE_ONE_IN 10

struct window {
	struct trace_window event;
	struct reading readings[SYNTHETIC_COUNTERS];
	size_t nr_slices; /* before it */
};

struct synthetic {
	struct synthetic_size size;
	struct trace_header header;
	uint32_t *cpu_socket;
	uint32_t socket_ids[SYNTHETIC_SOCKETS];
	struct counter counters[NR_COUNTERS];
	struct group groups[SYNTHETIC_SOCKETS];
	uint64_t now_ns;
	uint64_t random;
	bool *works; /* of each workload of each socket */
	double *intensity;
	uint32_t *workers; /* scratch: who works in this window */
	struct trace_slice *slices;
	struct window *windows;
	size_t nr_windows;
	struct trace_mark mark;
	uint64_t ends_ns[SYNTHETIC_SOCKETS];
};

void must(int err, const char *what)
{
	if (err >= 0)
		return;
	fprintf(stderr, "bench: %s: %s\n", what, strerror(-err));
	exit(1);
}

static void *zeroed(size_t nr, size_t size)
{
	void *p = calloc(nr, size);

	if (!p)
		must(-ENOMEM, "events");
	return p;
}

double cpu_seconds(void)
{
	struct timespec t;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return t.tv_sec + t.tv_nsec / 1e9;
}

long resident_kib(void)
{
	struct rusage usage;

	getrusage(RUSAGE_SELF, &usage);
	return usage.ru_maxrss;
}

static uint32_t draw(struct synthetic *s, uint32_t below)
{
	s->random ^= s->random << 13;
	s->random ^= s->random >> 7;
	s->random ^= s->random << 17;
	return (s->random >> 32) % below;
}

/* As in the real machine: reads and writes of CPUs, devices and the other socket */
static void name_counters(struct synthetic *s)
{
	static const char *const filters[] = { "src_loc_cpu", "src_loc_noncpu", "src_rem" };
	static const enum source sources[] = { SOURCE_CPU, SOURCE_DEVICE, SOURCE_REMOTE };
	uint32_t i;

	for (i = 0; i < NR_COUNTERS; i++) {
		uint32_t socket = i / SYNTHETIC_COUNTERS, nr = i % SYNTHETIC_COUNTERS;
		bool cpu = nr < s->size.cpu_counters;
		struct counter *c = &s->counters[i];

		*c = (struct counter){ .socket = socket,
				       .group = socket,
				       .source = cpu ? SOURCE_CPU : sources[nr / 2],
				       .direction = nr % 2 ? DIRECTION_WRITE : DIRECTION_READ };
		snprintf(c->pmu, sizeof(c->pmu), "nvidia_ucf_pmu_%u", socket);
		snprintf(c->event, sizeof(c->event), "mem_bytes_%s", nr % 2 ? "wr" : "rd");
		snprintf(c->filters, sizeof(c->filters), "%s=1", filters[nr / 2]);
		snprintf(c->name, sizeof(c->name), "ucf%u/%s/%s", socket, c->event, c->filters);
	}
}

static void fill_header(struct synthetic *s)
{
	struct trace_header *h = &s->header;
	uint32_t i;

	for (i = 0; i < SYNTHETIC_SOCKETS * s->size.cpus; i++)
		s->cpu_socket[i] = i / s->size.cpus;
	for (i = 0; i < SYNTHETIC_SOCKETS; i++) {
		s->socket_ids[i] = i;
		s->groups[i] = (struct group){ i, i * SYNTHETIC_COUNTERS, SYNTHETIC_COUNTERS };
	}
	name_counters(s);
	*h = (struct trace_header){
		.host = { .name = "bench",
			  .kernel = "none",
			  .platform = "t410",
			  .sockets = SYNTHETIC_SOCKETS },
		.layout = { s->cpu_socket, SYNTHETIC_SOCKETS * s->size.cpus, s->socket_ids,
			    SYNTHETIC_SOCKETS, s->counters, NR_COUNTERS, s->groups,
			    SYNTHETIC_SOCKETS },
		.window_ns = NS_PER_S / s->size.windows,
		.interval_ns = NS_PER_S,
		.marked = true,
		.all = true,
	};
}

struct synthetic *synthetic_new(const struct synthetic_size *size)
{
	struct synthetic *s = zeroed(1, sizeof(*s));
	size_t nr = (size_t)SYNTHETIC_SOCKETS * size->workloads, i;

	s->size = *size;
	if (!s->size.cpus)
		s->size.cpus = SYNTHETIC_CPUS_PER_SOCKET;
	if (!s->size.slots)
		s->size.slots = 1 + (size->workloads - 1) / s->size.cpus;
	s->random = 88172645463325252ull;
	s->now_ns = NS_PER_S;
	s->nr_windows = (size_t)SYNTHETIC_SOCKETS * size->windows;
	s->works = zeroed(nr, sizeof(*s->works));
	s->intensity = zeroed(nr, sizeof(*s->intensity));
	s->workers = zeroed(size->workloads, sizeof(*s->workers));
	s->cpu_socket = zeroed((size_t)SYNTHETIC_SOCKETS * s->size.cpus, sizeof(*s->cpu_socket));
	s->slices = zeroed(s->nr_windows * s->size.cpus * s->size.slots, sizeof(*s->slices));
	s->windows = zeroed(s->nr_windows, sizeof(*s->windows));
	for (i = 0; i < nr; i++) {
		s->works[i] = draw(s, 2);
		s->intensity[i] = (1u << draw(s, 6)) / 4.0;
	}
	fill_header(s);
	return s;
}

void synthetic_free(struct synthetic *s)
{
	if (!s)
		return;
	free(s->cpu_socket);
	free(s->works);
	free(s->intensity);
	free(s->workers);
	free(s->slices);
	free(s->windows);
	free(s);
}

const struct trace_header *synthetic_header(const struct synthetic *s)
{
	return &s->header;
}

const struct trace_mark *synthetic_mark(struct synthetic *s)
{
	uint32_t i;

	for (i = 0; i < SYNTHETIC_SOCKETS; i++)
		s->ends_ns[i] = s->now_ns;
	s->mark = (struct trace_mark){ .time_ns = s->now_ns,
				       .realtime_ns = s->now_ns,
				       .ends_ns = s->ends_ns };
	return &s->mark;
}

static uint64_t cgroup_of(const struct synthetic *s, uint32_t who)
{
	return FIRST_CGROUP + (s->size.cgroups ? who % s->size.cgroups : 0);
}

static int name_cgroups(const struct synthetic *s, const struct trace_sink *sink)
{
	int err = 0;

	if (!s->size.cgroups)
		return trace_send_cgroup(sink, FIRST_CGROUP, "/tenants");
	for (uint32_t i = 0; i < s->size.cgroups && !err; i++) {
		char path[64];

		snprintf(path, sizeof(path), "/slurm/uid_1000/job_%u%s", 1 + i / 2,
			 i % 2 ? "/step_0" : "");
		err = trace_send_cgroup(sink, FIRST_CGROUP + i, path);
	}
	return err;
}

int synthetic_begin(struct synthetic *s, const struct trace_sink *sink)
{
	uint32_t i;
	int err;

	for (i = 0; i < SYNTHETIC_SOCKETS * s->size.workloads; i++) {
		uint32_t pid = FIRST_PID + i;
		const struct trace_task task = { .pid = pid,
						 .tgid = pid,
						 .start_ns = pid,
						 .cgroup_id = cgroup_of(s, i),
						 .comm = "tenant" };

		err = trace_send_task(sink, &task);
		if (err)
			return err;
	}
	err = name_cgroups(s, sink);
	if (err)
		return err;
	synthetic_mark(s);
	s->mark.first = true;
	return trace_send_mark(sink, &s->mark);
}

/* Who works in the next window; somebody always does. */
static uint32_t find_workers(struct synthetic *s, uint32_t socket)
{
	bool *works = s->works + (size_t)socket * s->size.workloads;
	uint32_t i, nr = 0;

	for (i = 0; i < s->size.workloads; i++) {
		if (!draw(s, CHANGE_ONE_IN))
			works[i] = !works[i];
		if (works[i])
			s->workers[nr++] = i;
	}
	if (!nr)
		s->workers[nr++] = draw(s, s->size.workloads);
	return nr;
}

/* The slices of one window of a socket, and the traffic they make */
static double invent_slices(struct synthetic *s, uint32_t socket, uint64_t start_ns,
			    struct trace_slice *slices)
{
	uint32_t nr = find_workers(s, socket), total = s->size.cpus * s->size.slots;
	uint64_t each_ns = s->header.window_ns / s->size.slots;
	uint32_t first = socket * s->size.workloads, i;
	/* Where not all of them fit in, others do in each window. */
	uint32_t from = total < nr ? draw(s, nr) : 0;
	double bytes = 0;

	for (i = 0; i < total; i++) {
		uint32_t who = first + s->workers[(from + i) % nr];
		uint64_t on_cpu_ns = 1 + draw(s, each_ns);

		slices[i] = (struct trace_slice){
			.pid = FIRST_PID + who,
			.tgid = FIRST_PID + who,
			.task_start_ns = FIRST_PID + who,
			.cgroup_id = cgroup_of(s, who),
			.cpu = socket * s->size.cpus + i % s->size.cpus,
			.start_ns = start_ns,
			.end_ns = start_ns + s->header.window_ns,
			.on_cpu_ns = on_cpu_ns,
		};
		bytes += s->intensity[who] * on_cpu_ns;
	}
	return bytes;
}

void synthetic_prepare(struct synthetic *s)
{
	uint64_t length_ns = s->header.window_ns;
	struct trace_slice *slices = s->slices;
	uint32_t socket, i;
	size_t n;

	for (n = 0; n < s->nr_windows; n++) {
		struct window *w = &s->windows[n];
		double bytes;

		socket = n % SYNTHETIC_SOCKETS;
		w->event = (struct trace_window){ .group = socket,
						  .start_ns = s->now_ns,
						  .end_ns = s->now_ns + length_ns,
						  .readings = w->readings };
		bytes = invent_slices(s, socket, s->now_ns, slices);
		w->nr_slices = (size_t)s->size.cpus * s->size.slots;
		slices += w->nr_slices;
		for (i = 0; i < SYNTHETIC_COUNTERS; i++) {
			/* every counter has its own mind, and a percent of noise */
			double value = bytes / (i + 1) * (0.99 + draw(s, 2000) / 1e5);

			w->readings[i] = (struct reading){ value, length_ns, length_ns };
		}
		if (socket == SYNTHETIC_SOCKETS - 1)
			s->now_ns += length_ns;
	}
}

int synthetic_second(struct synthetic *s, const struct trace_sink *sink, uint64_t *ret_slices,
		     uint64_t *ret_bytes)
{
	const struct trace_slice *slice = s->slices;
	uint64_t bytes = 0;
	size_t n, i;
	int err;

	for (n = 0; n < s->nr_windows; n++) {
		const struct window *w = &s->windows[n];

		for (i = 0; i < w->nr_slices; i++) {
			err = trace_send_slice(sink, slice++);
			if (err)
				return err;
		}
		for (i = 0; i < SYNTHETIC_COUNTERS; i++)
			bytes += w->readings[i].value;
		err = trace_send_window(sink, &w->event);
		if (err)
			return err;
	}
	if (ret_slices)
		*ret_slices = slice - s->slices;
	if (ret_bytes)
		*ret_bytes = bytes;
	return 0;
}
