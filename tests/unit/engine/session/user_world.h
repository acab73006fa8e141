/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* A GPU with jobs around it, for tests of its users: looks go in, reports come out. */
#ifndef TESTS_USER_WORLD_H
#define TESTS_USER_WORLD_H

#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <setjmp.h>
#include <cmocka.h>
#include <string.h>

#include "base/array.h"
#include "engine/session/session.h"

/* A GPU, counted in both directions, its link, and the socket's view of devices. */
static uint32_t cpu_socket[] = { 0 };
static uint32_t socket_ids[] = { 0 };
static struct counter counters[] = {
	{ .name = "ucf", .source = SOURCE_DEVICE },
	{ .name = "g/rd", .source = SOURCE_DEVICE, .group = 1, .device = 1 },
	{ .name = "g/wr",
	  .source = SOURCE_DEVICE,
	  .group = 1,
	  .device = 1,
	  .direction = DIRECTION_WRITE },
	{ .name = "l/rd", .source = SOURCE_DEVICE, .group = 2, .device = 2 },
};
static struct group groups[] = { { 0, 0, 1 }, { 0, 1, 2 }, { 0, 3, 1 } };
static struct device devices[] = {
	{ .bdf = "0009:01:00.0", .kind = DEVICE_GPU, .filter = DEVICE_BY_ID },
	{ .bdf = "0009:01:00.0/c2c", .kind = DEVICE_LINK, .function = 1, .filter = DEVICE_BY_LINK },
};
static const struct trace_header header = {
	.layout = { .cpu_socket = cpu_socket,
		    .nr_cpus = 1,
		    .socket_ids = socket_ids,
		    .nr_sockets = 1,
		    .counters = counters,
		    .nr_counters = ARRAY_SIZE(counters),
		    .groups = groups,
		    .nr_groups = ARRAY_SIZE(groups) },
	.devices = devices,
	.nr_devices = ARRAY_SIZE(devices),
	.marked = true,
	.all = true,
	.contexts = true,
	.c2c = true,
	.holders = true,
};

#define MS  1000000ull
/* Ticks of /proc: starts are told as up to a hundredth of a second off. */
#define OFF (7 * MS)

/* Three cgroups of job 12, one of job 13, a service, and a cgroup of no job. */
enum { JOB = 10, TASK0, TASK1, TASK2, OTHER_JOB, OTHER_TASK, SERVICE, LOOSE };

struct world {
	struct session *s;
	struct trace_sink out;
	uint64_t now; /* ms */
	uint64_t looked;
};

/* Gets all events, too, where there is one. */
static struct trace_sink beside;

static inline int world_event(void *arg, const struct trace_event *e)
{
	const struct trace_sink to = session_sink(arg);

	if (beside.event)
		assert_int_equal(trace_send(&beside, e), 0);
	return trace_send(&to, e);
}

static inline void cgroup(struct world *w, uint64_t id, const char *path)
{
	assert_int_equal(trace_send_cgroup(&w->out, id, path), 0);
}

static inline uint64_t start_of(uint32_t pid)
{
	return pid * 1000 * MS;
}

static inline void task_from(struct world *w, uint32_t pid, uint64_t start_ns, uint64_t in,
			     const char *comm)
{
	const struct trace_task t = {
		.pid = pid, .tgid = pid, .start_ns = start_ns, .cgroup_id = in, .comm = comm
	};

	assert_int_equal(trace_send_task(&w->out, &t), 0);
}

static inline void task(struct world *w, uint32_t pid, uint64_t in, const char *comm)
{
	task_from(w, pid, start_of(pid), in, comm);
}

static inline struct world make_with(struct session_options o)
{
	struct world w = { .now = 1000000 };
	struct trace_mark m = { .first = true, .time_ns = w.now * MS };
	uint64_t end = w.now * MS;

	o.all = true;
	assert_int_equal(session_new(&header, &o, &w.s), 0);
	w.out = (struct trace_sink){ world_event, w.s };
	m.ends_ns = &end;
	cgroup(&w, JOB, "/system.slice/slurmstepd.scope/job_12");
	cgroup(&w, TASK0, "/system.slice/slurmstepd.scope/job_12/step_0/user/task_0");
	cgroup(&w, TASK1, "/system.slice/slurmstepd.scope/job_12/step_0/user/task_1");
	cgroup(&w, TASK2, "/system.slice/slurmstepd.scope/job_12/step_1/user/task_0");
	cgroup(&w, OTHER_JOB, "/system.slice/slurmstepd.scope/job_13");
	cgroup(&w, OTHER_TASK, "/system.slice/slurmstepd.scope/job_13/step_0/user/task_0");
	cgroup(&w, SERVICE, "/loose/service");
	cgroup(&w, LOOSE, "/loose");
	task(&w, 1, TASK0, "python");
	task(&w, 2, TASK1, "python");
	task(&w, 3, TASK2, "python");
	task(&w, 4, OTHER_TASK, "lbm");
	task(&w, 5, SERVICE, "monitor");
	assert_int_equal(trace_send_mark(&w.out, &m), 0);
	return w;
}

static inline struct world make(enum row_kind by)
{
	return make_with((struct session_options){ .by = by });
}

static inline struct trace_context context(uint32_t pid)
{
	return (struct trace_context){ pid, start_of(pid) + OFF, TRACE_NO_INSTANCE, 0 };
}

/* A look at @ms after the begin of the run, of pids up to 0. */
static inline void look_list(struct world *w, uint64_t ms, bool known_before,
			     const struct trace_context *list, uint32_t nr)
{
	uint64_t at = (1000000 + ms) * MS;
	struct trace_contexts c = { .end_ns = at, .processes = list, .nr = nr };

	c.start_ns = known_before && w->looked ? w->looked : at;
	assert_int_equal(trace_send_contexts(&w->out, &c), 0);
	w->looked = at;
}

#define LOOK(w, ms, ...)                                           \
	do {                                                       \
		static const uint32_t pids_[] = { __VA_ARGS__ };   \
		struct trace_context list_[ARRAY_SIZE(pids_) + 1]; \
		for (size_t i_ = 0; i_ < ARRAY_SIZE(pids_); i_++)  \
			list_[i_] = context(pids_[i_]);            \
		look_list(w, ms, true, list_, ARRAY_SIZE(pids_));  \
	} while (0)

static inline void window(struct world *w, uint32_t group, uint64_t ms, const uint64_t *bytes)
{
	uint64_t ns = (1000000 + ms - w->now) * MS;
	struct reading r[2] = { { bytes[0], ns, ns }, { bytes[1], ns, ns } };
	const struct trace_window t = { group, w->now * MS, (1000000 + ms) * MS, r };

	assert_int_equal(trace_send_window(&w->out, &t), 0);
}

static const uint64_t moved[] = { 1001, 77 };

/* The interval ends at @ms; all that was counted is in it. */
static inline struct report *close_with(struct world *w, uint64_t ms, const uint64_t bytes[2])
{
	uint64_t end = (1000000 + ms) * MS;
	struct trace_mark m = { .time_ns = end, .ends_ns = &end };
	struct report *r;

	for (uint32_t g = 0; g < header.layout.nr_groups; g++)
		window(w, g, ms, bytes);
	w->now = 1000000 + ms;
	if (beside.event)
		assert_int_equal(trace_send_mark(&beside, &m), 0);
	assert_int_equal(session_report(w->s, &m, &r), 0);
	for (size_t i = 0; i < r->nr_counters; i++) {
		const struct report_counter *c = &r->counters[i];
		uint64_t sum = c->attributed, rows = 0;

		for (int k = 0; k < NR_REASONS; k++)
			sum += c->unattributed[k];
		assert_int_equal(sum, c->value);
		for (size_t k = 0; k < r->nr_rows; k++)
			for (size_t j = 0; r->rows[k].leaf && j < r->rows[k].nr_shares; j++) {
				const struct share *s = &r->rows[k].shares[j];

				if (s->counter != i)
					continue;
				rows += s->value;
				assert_true(s->low <= s->value && s->value <= s->high);
				assert_true(s->high <= c->high);
			}
		assert_int_equal(rows, c->attributed);
	}
	return r;
}

static inline struct report *close_at(struct world *w, uint64_t ms)
{
	return close_with(w, ms, moved);
}

static inline const struct report_row *row(const struct report *r, const char *key)
{
	for (size_t i = 0; i < r->nr_rows; i++)
		if (!strcmp(r->rows[i].key, key))
			return &r->rows[i];
	fail_msg("no row %s", key);
	return NULL;
}

static inline uint64_t bytes_of(const struct report *r, const char *key, uint32_t counter)
{
	const struct report_row *of = row(r, key);

	for (size_t i = 0; i < of->nr_shares; i++)
		if (of->shares[i].counter == counter)
			return of->shares[i].value;
	return 0;
}

/* The device, whose bytes nobody owns. */
static inline const struct device_users *unowned(const struct report *r, enum ownership found)
{
	const struct report_device *d = &r->devices[0];

	assert_int_equal(d->by.rule, OWNER_CONTEXTS);
	assert_int_equal(d->by.found, found);
	assert_int_equal(d->read.owned, 0);
	assert_int_equal(d->write.owned, 0);
	assert_int_equal(r->devices[1].read.owned, 0);
	assert_string_equal(d->exclusive, "");
	return &d->by;
}

static inline const struct device_users *owned(const struct report *r)
{
	const struct report_device *d = &r->devices[0];

	assert_int_equal(d->by.rule, OWNER_CONTEXTS);
	assert_int_equal(d->by.found, OWNERSHIP_ONE);
	assert_int_equal(d->read.owned, d->read.bytes);
	assert_int_equal(d->write.owned, d->write.bytes);
	assert_int_equal(r->devices[1].read.owned, r->devices[1].read.bytes);
	assert_int_equal(d->by.nr_blockers, 0);
	return &d->by;
}

static inline void done(struct world *w, struct report *r)
{
	report_free(r);
	session_free(w->s);
}

static inline void busy(struct world *w, uint64_t from_ms, uint64_t to_ms, uint32_t samples,
			const struct trace_busy *list, uint32_t nr)
{
	const struct trace_activity a = { .start_ns = (1000000 + from_ms) * MS,
					  .end_ns = (1000000 + to_ms) * MS,
					  .copies = !samples,
					  .samples = samples,
					  .period_ns = samples ? 100 * MS : 0,
					  .processes = list,
					  .nr = nr };

	assert_int_equal(trace_send_activity(&w->out, &a), 0);
}

#endif
