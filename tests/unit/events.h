/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Traces for tests: a header, events of all kinds, and a sink that writes them down. */
#ifndef TESTS_EVENTS_H
#define TESTS_EVENTS_H

#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "trace.h"
#include "valgrind.h"
#include "trace/fields.h"

/* xorshift64*: the same numbers everywhere */
static uint64_t random_state = 88172645463325252u;

static inline uint64_t random_u64(void)
{
	random_state ^= random_state >> 12;
	random_state ^= random_state << 25;
	random_state ^= random_state >> 27;
	return random_state * 0x2545f4914f6cdd1du;
}

static inline uint64_t random_below(uint64_t n)
{
	return random_u64() % n;
}

static uint32_t sample_cpus[] = { 0, 0, 0, 1, 1, LAYOUT_NO_SOCKET, 1, LAYOUT_NO_SOCKET };
static uint32_t sample_sockets[] = { 0, 36 };
static struct counter sample_counters[] = {
	{ "ucf0/mem_bytes_rd/src_loc_cpu=1", "nvidia_ucf_pmu_0", "mem_bytes_rd",
	  "src_loc_cpu=1,dst_loc_cmem=1", 0, 0, SOURCE_CPU, DIRECTION_READ, DESTINATION_CMEM,
	  UNIT_BYTES, 0, 0, TERM_NONE },
	{ "ucf0/mem_bytes_wr/src_loc_cpu=1", "nvidia_ucf_pmu_0", "mem_bytes_wr",
	  "src_loc_cpu=1,dst_rem=1", 0, 0, SOURCE_CPU, DIRECTION_WRITE, DESTINATION_REMOTE,
	  UNIT_BYTES, 0, 0, TERM_NONE },
	{ "ucf0/mem_bytes_rd/src_rem=1", "nvidia_ucf_pmu_0", "mem_bytes_rd", "src_rem=1", 0, 1,
	  SOURCE_REMOTE, DIRECTION_READ, DESTINATION_ANY, UNIT_BYTES, 0, 0, TERM_NONE },
	{ "ucf1/mem_bytes_rd/", "nvidia_ucf_pmu_1", "mem_bytes_rd", "", 1, 2, SOURCE_ANY,
	  DIRECTION_READ, DESTINATION_ANY, UNIT_BYTES, 0, 0, TERM_NONE },
	{ "pcie0.rc1/rd_bytes/nvme0n1", "nvidia_pcie_pmu_0_rc_1", "rd_bytes",
	  "src_bdf=33024,src_bdf_en=1", 0, 3, SOURCE_DEVICE, DIRECTION_READ, DESTINATION_P2P,
	  UNIT_BYTES, 2, 0, TERM_NONE },
	{ "pcie0.rc1/wr_req/nvme0n1", "nvidia_pcie_pmu_0_rc_1", "wr_req",
	  "src_bdf=33024,src_bdf_en=1", 0, 3, SOURCE_DEVICE, DIRECTION_WRITE, DESTINATION_ANY,
	  UNIT_REQUESTS, 2, 0, TERM_NONE },
};
#define NR_SAMPLE_COUNTERS (sizeof(sample_counters) / sizeof(sample_counters[0]))
static struct group sample_groups[] = { { 0, 0, 2 }, { 0, 2, 1 }, { 1, 3, 1 }, { 0, 4, 2 } };
#define NR_SAMPLE_GROUPS (sizeof(sample_groups) / sizeof(sample_groups[0]))
static char *sample_cgroups[] = { "/a b", "/slurm/job_1" };

static struct probe sample_probes[] = {
	{ "cmem0/rd", "reads of CPU memory", "nvidia_cmem_latency_pmu_0", 0, DIRECTION_READ,
	  DESTINATION_CMEM, true, 0 },
	{ "c2c1/in_wr", "", "nvidia_nvlink_c2c_pmu_1", 1, DIRECTION_WRITE, DESTINATION_ANY, false,
	  2 },
};

/* A disk below a port that is counted too, and a function of which nothing is known. */
static struct device sample_devices[] = {
	{ "0002:80:00.0", "", DEVICE_PORT, 0, 1, 1, WIRING_FIRMWARE, DEVICE_BY_PORT, 0, IO_UNTOLD,
	  LINK_UNKNOWN, "", 0, "" },
	{ "0002:81:00.0", "nvme0n1", DEVICE_NVME, 0, 1, 1, WIRING_FIRMWARE, DEVICE_BY_ID, 1,
	  IO_UNTOLD, LINK_UNKNOWN, "", 0, "" },
	{ "10000:e1:1f.7", "eth0,\xff", DEVICE_NET, 0, 0, 0, WIRING_UNKNOWN, DEVICE_NOT_COUNTED, 0,
	  IO_UNTOLD, LINK_UNKNOWN, "", 0, "" },
	{ "0009:00:00.0", "mlx5_0", DEVICE_RDMA, 1, 0, 0, WIRING_LOW, DEVICE_BY_PORT, 0, IO_UNTOLD,
	  LINK_UNKNOWN, "", 0, "" },
};
#define NR_SAMPLE_DEVICES (sizeof(sample_devices) / sizeof(sample_devices[0]))

static const struct trace_header sample_header = {
	.host = { .name = "n1", .kernel = "7.2.13", .platform = "t410", .sockets = 2 },
	.layout = { sample_cpus, 8, sample_sockets, 2, sample_counters, NR_SAMPLE_COUNTERS,
		    sample_groups, NR_SAMPLE_GROUPS },
	.window_ns = 10000000,
	.interval_ns = 1000000000,
	.by_thread = true,
	.marked = true,
	.cgroups = sample_cgroups,
	.nr_cgroups = 2,
	.weights = { "l3d_cache_refill", "l2d_cache_wb" },
	.nr_weights = 2,
	.probes = sample_probes,
	.nr_probes = 2,
	.devices = sample_devices,
	.nr_devices = NR_SAMPLE_DEVICES,
};

/* Everything a sink was told, as text. */
struct event_log {
	char *text;
	size_t nr, cap;
	size_t events;
	size_t marks;
	size_t at_mark;		     /* length at the last mark */
	int answer;		     /* what the sink returns */
	const struct layout *layout; /* NULL: that of the samples here */
};

static inline void log_line(struct event_log *l, const char *fmt, ...)
{
	va_list ap;
	int n;

	if (l->cap - l->nr < 2048) {
		l->cap = l->cap ? l->cap * 2 : 65536;
		l->text = realloc(l->text, l->cap);
		assert_non_null(l->text);
	}
	va_start(ap, fmt);
	n = vsnprintf(l->text + l->nr, l->cap - l->nr, fmt, ap);
	va_end(ap);
	l->nr += n < 2047 ? n : 2047;
}

#define LLU(x) ((unsigned long long)(x))

static inline void log_task(struct event_log *l, const struct trace_task *t)
{
	log_line(l, "task %u %u %u %llu %llu %llu %d [%s]\n", t->pid, t->tgid, t->parent,
		 LLU(t->parent_start_ns), LLU(t->start_ns), LLU(t->cgroup_id), t->kernel,
		 t->comm ? t->comm : "(null)");
}

static inline void log_exit(struct event_log *l, const struct trace_exit *e)
{
	log_line(l, "exit %u %llu\n", e->pid, LLU(e->start_ns));
}

static inline void log_resync(struct event_log *l, bool begin)
{
	log_line(l, "resync %d\n", begin);
}

static inline void log_cgroup(struct event_log *l, const struct trace_cgroup *c)
{
	log_line(l, "cgroup %llu [%s]\n", LLU(c->id), c->path ? c->path : "(null)");
}

static inline void log_job(struct event_log *l, const struct trace_job_news *j)
{
	log_line(l, "job %llu [%s] [%s] [%s]\n", LLU(j->cgroup_id), j->id ? j->id : "(null)",
		 j->name ? j->name : "(null)", j->user ? j->user : "(null)");
}

static inline void log_follow(struct event_log *l, uint32_t pid)
{
	log_line(l, "follow %u\n", pid);
}

static inline void log_slice(struct event_log *l, const struct trace_slice *s)
{
	log_line(l, "slice %u %u %llu %llu cpu %u %llu %llu %llu w %llu %llu %llu\n", s->pid,
		 s->tgid, LLU(s->task_start_ns), LLU(s->cgroup_id), s->cpu, LLU(s->start_ns),
		 LLU(s->end_ns), LLU(s->on_cpu_ns), LLU(s->weights[0]), LLU(s->weights[1]),
		 LLU(s->weights_ns));
}

static inline void log_window(struct event_log *l, const struct trace_window *w)
{
	const struct group *groups = l->layout ? l->layout->groups : sample_groups;
	size_t nr = l->layout ? l->layout->nr_groups : NR_SAMPLE_GROUPS;

	log_line(l, "window %u %llu %llu", w->group, LLU(w->start_ns), LLU(w->end_ns));
	for (uint32_t i = 0; w->group < nr && i < groups[w->group].nr; i++)
		log_line(l, " %llu/%llu/%llu", LLU(w->readings[i].value),
			 LLU(w->readings[i].enabled_ns), LLU(w->readings[i].running_ns));
	log_line(l, "\n");
}

static inline void log_sample(struct event_log *l, const struct trace_sample *s)
{
	log_line(l, "sample %u %llu %llu %llu/%llu/%llu %llu/%llu\n", s->probe, LLU(s->start_ns),
		 LLU(s->end_ns), LLU(s->outstanding), LLU(s->requests), LLU(s->cycles),
		 LLU(s->enabled_ns), LLU(s->running_ns));
}

static inline void log_io(struct event_log *l, const struct trace_io *io)
{
	log_line(l, "io %u %u %llu %llu dev %u %d %llu/%llu %llu %llu\n", io->pid, io->tgid,
		 LLU(io->task_start_ns), LLU(io->cgroup_id), io->device, io->exclusive,
		 LLU(io->read_bytes), LLU(io->write_bytes), LLU(io->start_ns), LLU(io->end_ns));
}

static inline void log_lost(struct event_log *l, const struct trace_lost *lost)
{
	log_line(l, "lost %s %u %llu %llu %llu\n", lost->what, lost->socket, LLU(lost->start_ns),
		 LLU(lost->end_ns), LLU(lost->count));
}

static inline void log_mark(struct event_log *l, const struct trace_mark *m)
{
	log_line(l, "mark %d %d %llu %llu", m->first, m->last, LLU(m->time_ns),
		 LLU(m->realtime_ns));
	for (uint32_t i = 0; m->ends_ns && i < 2; i++)
		log_line(l, " %llu", LLU(m->ends_ns[i]));
	for (size_t i = 0; i < trace_losses.nr; i++)
		log_line(l, " %llu", LLU(field_get(&trace_losses.rows[i], &m->losses)));
	for (size_t i = 0; i < trace_costs.nr; i++)
		log_line(l, " %llu", LLU(field_get(&trace_costs.rows[i], &m->cost)));
	log_line(l, m->inner ? " inner\n" : "\n");
	l->marks++;
	l->at_mark = l->nr;
}

static inline void log_resctrl(struct event_log *l, const struct trace_resctrl *r)
{
	log_line(l, "resctrl [%s] %s %llu %llu %llu %u %u %u [%s] %u %u\n", r->group, r->state,
		 LLU(r->start_ns), LLU(r->end_ns), LLU(r->bytes), r->domains, r->missing, r->tasks,
		 r->cgroup ? r->cgroup : "(null)", r->of_tasks, r->above);
}

static inline void log_cpu(struct event_log *l, const struct trace_cpu *c)
{
	log_line(l, "cpu %u %d %d\n", c->cpu, (int)c->socket, c->online);
}

static inline void log_contexts(struct event_log *l, const char *name,
				const struct trace_contexts *c)
{
	log_line(l, "%s dev %u %llu %llu", name, c->device, LLU(c->start_ns), LLU(c->end_ns));
	for (uint32_t i = 0; i < c->nr; i++)
		log_line(l, " [%u %llu %d %llu]", c->processes[i].pid,
			 LLU(c->processes[i].start_ns), (int)c->processes[i].instance,
			 LLU(c->processes[i].since_ns));
	log_line(l, "\n");
}

static inline void log_activity(struct event_log *l, const struct trace_activity *a)
{
	log_line(l, "activity dev %u %llu %llu %d %u %llu", a->device, LLU(a->start_ns),
		 LLU(a->end_ns), a->copies, a->samples, LLU(a->period_ns));
	for (uint32_t i = 0; i < a->nr; i++)
		log_line(l, " [%u %llu %llu %llu]", a->processes[i].pid,
			 LLU(a->processes[i].start_ns), LLU(a->processes[i].busy_ns),
			 LLU(a->processes[i].copy_ns));
	log_line(l, "\n");
}

static inline int log_event(void *arg, const struct trace_event *e)
{
	struct event_log *l = arg;

	l->events++;
	switch (e->type) {
	case TRACE_TASK:
		log_task(l, &e->task);
		break;
	case TRACE_EXIT:
		log_exit(l, &e->exit);
		break;
	case TRACE_RESYNC:
		log_resync(l, e->resync.begin);
		break;
	case TRACE_CGROUP:
		log_cgroup(l, &e->cgroup);
		break;
	case TRACE_JOB:
		log_job(l, &e->job);
		break;
	case TRACE_FOLLOW:
		log_follow(l, e->follow.pid);
		break;
	case TRACE_SLICE:
		log_slice(l, &e->slice);
		break;
	case TRACE_WINDOW:
		log_window(l, &e->window);
		break;
	case TRACE_SAMPLE:
		log_sample(l, &e->sample);
		break;
	case TRACE_IO:
		log_io(l, &e->io);
		break;
	case TRACE_LOST:
		log_lost(l, &e->lost);
		break;
	case TRACE_MARK:
		log_mark(l, &e->mark);
		break;
	case TRACE_RESCTRL:
		log_resctrl(l, &e->resctrl);
		break;
	case TRACE_CPU:
		log_cpu(l, &e->cpu);
		break;
	case TRACE_CONTEXTS:
	case TRACE_HOLDERS:
		log_contexts(l, e->type == TRACE_HOLDERS ? "holders" : "contexts", &e->contexts);
		break;
	case TRACE_ACTIVITY:
		log_activity(l, &e->activity);
		break;
	default:
		fail_msg("event type %d", e->type);
	}
	return l->answer;
}

static inline struct trace_sink log_sink(struct event_log *l)
{
	return (struct trace_sink){ log_event, l };
}

/* Small numbers mostly, any number sometimes. */
static inline uint64_t random_number(bool wild)
{
	return wild && !random_below(4) ? random_u64() >> random_below(64) : random_below(100000);
}

static inline void random_slice(const struct trace_sink *s, uint64_t now, bool wild)
{
	static const uint32_t reserved[] = { TRACE_PID_IDLE, TRACE_PID_LOST };
	uint64_t length = random_below(9000000);
	struct trace_slice x = {
		.pid = 1 + random_below(50),
		.cpu = random_below(8),
		.start_ns = now + random_below(1000000),
	};

	x.tgid = x.pid;
	x.task_start_ns = x.pid * 1000u;
	x.cgroup_id = 100 + x.pid % 7;
	if (!random_below(5)) {
		x.pid = reserved[random_below(2)];
		x.tgid = x.task_start_ns = x.cgroup_id = 0;
	}
	if (wild && !random_below(8))
		x.start_ns = UINT64_MAX - length;
	x.end_ns = x.start_ns + length;
	x.on_cpu_ns = random_below(3) ? length : random_below(length + 1);
	if (!random_below(3) && x.on_cpu_ns) {
		x.weights_ns = random_below(2) ? x.on_cpu_ns : 1 + random_below(x.on_cpu_ns);
		x.weights[0] = random_number(wild);
		x.weights[1] = random_number(wild);
	}
	assert_int_equal(trace_send_slice(s, &x), 0);
}

static inline void random_window(const struct trace_sink *s, uint64_t now, bool wild)
{
	struct reading r[2];
	struct trace_window w = { .group = random_below(NR_SAMPLE_GROUPS),
				  .start_ns = now,
				  .readings = r };

	w.end_ns = now + 10000000 + random_below(1000);
	for (int i = 0; i < 2; i++) {
		r[i].value = random_number(wild);
		r[i].enabled_ns = 10000000;
		r[i].running_ns = random_below(3) ? 10000000 : 0;
	}
	assert_int_equal(trace_send_window(s, &w), 0);
}

static inline void random_sample(const struct trace_sink *s, uint64_t now, bool wild)
{
	uint64_t length = 1 + random_below(100000000);
	struct trace_sample x = {
		.probe = random_below(2),
		.start_ns = wild && !random_below(8) ? UINT64_MAX - length : now,
		.outstanding = random_number(wild),
		.requests = random_number(wild),
		.cycles = random_number(wild),
		.enabled_ns = random_below(3) ? length : random_number(wild),
	};

	x.end_ns = x.start_ns + length;
	x.running_ns = random_below(3) ? x.enabled_ns : 0;
	assert_int_equal(trace_send_sample(s, &x), 0);
}

/* Of a process, a cgroup, or nobody known. */
static inline void random_io(const struct trace_sink *s, uint64_t now, bool wild)
{
	uint64_t length = random_below(50000000);
	struct trace_io x = {
		.device = random_below(NR_SAMPLE_DEVICES),
		.exclusive = !random_below(3),
		.start_ns = wild && !random_below(8) ? UINT64_MAX - length : now,
	};

	x.end_ns = x.start_ns + length;
	if (!random_below(4)) {
		x.pid = TRACE_PID_LOST;
	} else {
		x.cgroup_id = 100 + random_below(7);
		if (random_below(3)) {
			x.pid = x.tgid = 1 + random_below(50);
			x.task_start_ns = x.pid * 1000u;
		}
	}
	if (!x.exclusive) {
		x.read_bytes = random_number(wild);
		x.write_bytes = random_number(wild);
	}
	assert_int_equal(trace_send_io(s, &x), 0);
}

static inline void random_mark(const struct trace_sink *s, uint64_t now, bool first, bool last,
			       bool wild)
{
	uint64_t ends[2] = { now, now - random_below(50) };
	struct trace_mark m = {
		.first = first,
		.last = last,
		.inner = !first && !last && random_below(2),
		.time_ns = now,
		.realtime_ns = 1700000000000000000u + now,
		.ends_ns = ends,
	};

	for (size_t i = 0; i < trace_losses.nr; i++)
		field_set(&trace_losses.rows[i], &m.losses, random_number(wild));
	for (size_t i = 0; i < trace_costs.nr; i++)
		field_set(&trace_costs.rows[i], &m.cost, random_number(wild));
	assert_int_equal(trace_send_mark(s, &m), 0);
}

static inline void random_task(const struct trace_sink *s, bool wild)
{
	static const char *const names[] = {
		"", "lbm", "a b\n\"\\", "\xff\xfe", "caf\xc3\xa9", NULL
	};
	struct trace_task t = {
		.pid = 1 + random_below(50),
		.parent = random_below(50),
		.comm = names[random_below(6)],
		.kernel = random_below(2),
	};

	t.tgid = wild && !random_below(4) ? t.pid + 1 : t.pid;
	t.start_ns = t.pid * 1000u;
	t.parent_start_ns = random_number(wild);
	t.cgroup_id = wild && !random_below(9) ? UINT64_MAX : 100 + t.pid % 7;
	assert_int_equal(trace_send_task(s, &t), 0);
}

static inline void random_job(const struct trace_sink *s, bool wild)
{
	static const char longest[] = "0123456789abcdef0123456789abcdef0123456789abcdef0123456789ab"
				      "cdef0123456789abcdef0123456789abcdef0123456789abcdef01234567"
				      "89abcde";
	static const char *const texts[] = { "", "12", "caf\xc3\xa9 \"\\", "\xff", longest, NULL };
	const struct trace_job_news j = {
		.cgroup_id = random_number(wild),
		.id = texts[random_below(6)],
		.name = texts[random_below(6)],
		.user = texts[random_below(6)],
	};

	_Static_assert(sizeof(longest) == JOB_ID_LEN && sizeof(longest) == JOB_NAME_LEN,
		       "the longest that there may be");
	assert_int_equal(trace_send_job(s, &j), 0);
}

/* A number as those of cgroups of v1 hierarchies, sometimes. */
static inline uint64_t random_cgroup(bool wild)
{
	return random_number(wild) |
	       (random_below(3) ? 0 : (1 + random_below(15)) << TRACE_HIERARCHY_SHIFT);
}

/* One event of any kind but marks. */
static inline void random_event(const struct trace_sink *s, uint64_t now, bool wild)
{
	static const char *const paths[] = {
		"/", "/x", "/\xc3\x28", "/a/very/long/path", "freezer:/slurm/uid_0/job_3", NULL
	};
	static const char *const kinds[] = { "slices", "windows", "what\xff" };
	struct trace_lost lost = { kinds[random_below(3)], random_below(2), now, now + 5,
				   random_number(wild) };
	uint64_t pid = 1 + random_below(50);

	switch (random_below(20)) {
	case 0:
		random_task(s, wild);
		break;
	case 1:
		assert_int_equal(trace_send_exit(s, pid, pid * 1000), 0);
		break;
	case 2:
		assert_int_equal(trace_send_resync(s, random_below(2)), 0);
		break;
	case 3:
		assert_int_equal(trace_send_cgroup(s, random_cgroup(wild), paths[random_below(6)]),
				 0);
		break;
	case 4:
		assert_int_equal(trace_send_follow(s, pid), 0);
		break;
	case 5:
		assert_int_equal(trace_send_lost(s, &lost), 0);
		break;
	case 6:
	case 7:
		random_window(s, now, wild);
		break;
	case 8:
		random_sample(s, now, wild);
		break;
	case 9:
	case 10:
		random_io(s, now, wild);
		break;
	case 11:
		random_job(s, wild);
		break;
	default:
		random_slice(s, now, wild);
	}
}

/* A whole trace; @wild: with extremes. */
static inline void random_trace(const struct trace_sink *s, uint64_t seed, size_t events, bool wild)
{
	uint64_t now = 5000000000u;

	random_state = seed * 2 + 1;
	random_mark(s, now, true, false, wild);
	for (size_t i = 0; i < events; i++, now += random_below(1000000)) {
		if (i % 64 == 63)
			random_mark(s, now, false, false, wild);
		else
			random_event(s, now, wild);
	}
	random_mark(s, now, false, true, wild);
}

static inline void assert_same_header(const struct trace_header *a, const struct trace_header *b)
{
	const struct layout *k = &a->layout, *l = &b->layout;

	assert_memory_equal(&a->host, &b->host, sizeof(a->host));
	assert_int_equal(a->window_ns, b->window_ns);
	assert_int_equal(a->interval_ns, b->interval_ns);
	assert_int_equal(a->by_thread, b->by_thread);
	assert_int_equal(a->marked, b->marked);
	assert_int_equal(a->all, b->all);
	assert_int_equal(a->online, b->online);
	assert_int_equal(a->nr_weights, b->nr_weights);
	assert_memory_equal(a->weights, b->weights, sizeof(a->weights));
	assert_int_equal(a->nr_cgroups, b->nr_cgroups);
	for (size_t i = 0; i < a->nr_cgroups; i++)
		assert_string_equal(a->cgroups[i], b->cgroups[i]);
	assert_int_equal(k->nr_cpus, l->nr_cpus);
	assert_int_equal(k->nr_sockets, l->nr_sockets);
	assert_int_equal(k->nr_groups, l->nr_groups);
	assert_int_equal(k->nr_counters, l->nr_counters);
	assert_memory_equal(k->cpu_socket, l->cpu_socket, k->nr_cpus * sizeof(uint32_t));
	assert_memory_equal(k->socket_ids, l->socket_ids, k->nr_sockets * sizeof(uint32_t));
	assert_memory_equal(k->groups, l->groups, k->nr_groups * sizeof(*k->groups));
	assert_memory_equal(k->counters, l->counters, k->nr_counters * sizeof(*k->counters));
	assert_int_equal(a->nr_probes, b->nr_probes);
	assert_memory_equal(a->probes, b->probes, a->nr_probes * sizeof(*a->probes));
	assert_int_equal(a->nr_devices, b->nr_devices);
	if (a->nr_devices)
		assert_memory_equal(a->devices, b->devices, a->nr_devices * sizeof(*a->devices));
}

#endif
