// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "live/selftest/selftest.h"

#include <errno.h>
#include <poll.h>
#include <sched.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/text.h"
#include "base/times.h"
#include "base/units.h"
#include "live/run/live.h"
#include "platform/sys/sysfs.h"
#include "live/selftest/traffic.h"

#define DRAIN_NS   (100 * NS_PER_MS)
#define QUIET_NS   NS_PER_S
#define STOP_NS	   (SELFTEST_PROGRAMS * TRAFFIC_STOP_NS)
#define CLOSE_NS   (2 * NS_PER_S) /* the last report is made, and the run ends */
#define PHASE_NS   (3 * NS_PER_S) /* at most */
#define LEAST_NS   (200 * NS_PER_MS)
/* Of five parts of a phase's time, four are for moving bytes, and one for waiting. */
#define MOVING(ns) ((ns) / 5 * 4)
#define AROUND(ns) ((ns) / 4 * 5)
_Static_assert(2 * QUIET_NS + CLOSE_NS + STOP_NS < SELFTEST_NS, "docs/USE.md says so");
#define FLUSH_NS   (5 * NS_PER_S)
#define TENTH_REST 9
#define BUSY_PART  13 /* of 16 parts of the memory */

/* State shared by everything below */
struct tester {
	struct sysfs fs;
	struct run_options options;
	struct live *live;
	struct selftest *ret;
	struct traffic_program programs[SELFTEST_PROGRAMS];
	uint64_t end_ns;    /* of the last socket */
	uint64_t socket_ns; /* end of the one under test */
	bool stuck;	    /* a killed program is still there, with its memory */
};

/* Continue the run, until @end_ns or until all programs obey; -ETIMEDOUT if they never do. */
static int go_on(struct tester *t, uint64_t end_ns, bool until_obeyed, struct diag *d)
{
	while (monotonic_ns() < end_ns) {
		uint64_t next = earlier(end_ns, monotonic_ns() + DRAIN_NS);
		bool obeyed = until_obeyed;
		struct pollfd p = { .fd = live_fd(t->live), .events = POLLIN };
		int err = 0;

		if (until_obeyed)
			next = earlier(next, monotonic_ns() + NS_PER_MS);
		poll(&p, 1, (next - earlier(next, monotonic_ns())) / NS_PER_MS);
		err = live_drain(t->live, d);
		if (err)
			return err;
		for (size_t i = 0; i < SELFTEST_PROGRAMS; i++) {
			if (!t->programs[i].pid)
				continue;
			obeyed &= traffic_obeys(&t->programs[i], &err);
			if (err)
				return diag_fail(d, err, "%s: %s", t->programs[i].name,
						 err == -ESRCH ? "somebody ended it"
							       : strerror(-err));
		}
		if (obeyed)
			return 0;
	}
	return until_obeyed ? -ETIMEDOUT : 0;
}

static void order(struct tester *t, enum traffic_order what)
{
	for (size_t i = 0; i < SELFTEST_PROGRAMS; i++)
		traffic_order(&t->programs[i], what);
}

/*
 * Does it count bytes of the socket's tasks in that direction? Some count any originator. While the
 * programs only read, a counter of both reads and writes counts reads.
 */
static bool counts_tasks(const struct report *r, const struct counter *c, uint32_t socket,
			 enum direction direction)
{
	bool fits = c->direction == direction ||
		    (c->direction == DIRECTION_READWRITE && direction == DIRECTION_READ);

	return (c->source == SOURCE_CPU || c->source == SOURCE_ANY) && c->unit == UNIT_BYTES &&
	       !c->device && fits && report_socket_id(r, c) == socket;
}

/* Sum of these counters; false when one has no value, or there is none. */
static bool counted(const struct report *r, uint32_t socket, enum direction direction,
		    uint64_t *ret)
{
	bool any = false;

	*ret = 0;
	for (size_t i = 0; i < r->nr_counters; i++) {
		const struct report_counter *c = &r->counters[i];

		if (!counts_tasks(r, c->counter, socket, direction))
			continue;
		if (!c->valid)
			return false;
		*ret += c->value;
		any = true;
	}
	return any;
}

/* The report's numbers of a program, found by name: its pid may differ in here. */
static void read_row(const struct report *r, const char *name, uint32_t socket,
		     enum direction direction, struct selftest_part *ret)
{
	for (size_t i = 0; i < r->nr_rows; i++) {
		const struct report_row *row = &r->rows[i];

		if (strncmp(row->comm, name, MODEL_COMM_LEN) != 0)
			continue;
		ret->found = true;
		ret->on_cpu_ns += row->on_cpu_ns;
		for (size_t k = 0; k < row->nr_shares; k++) {
			const struct share *s = &row->shares[k];

			if (!counts_tasks(r, r->counters[s->counter].counter, socket, direction))
				continue;
			ret->given += s->value;
			ret->low += s->low;
			ret->high += s->high;
		}
	}
}

static int drop_report(struct tester *t, struct diag *d)
{
	struct report *r;
	int err = live_report(t->live, false, d, &r);

	if (!err)
		report_free(r);
	return err;
}

uint64_t selftest_phase_ns(uint64_t left_ns, unsigned int phases)
{
	uint64_t ns = earlier(PHASE_NS, MOVING(left_ns / phases));

	return ns < LEAST_NS ? 0 : ns;
}

uint64_t selftest_fill_ns(uint64_t left_ns)
{
	uint64_t rest_ns = 2 * AROUND(LEAST_NS);

	return left_ns > rest_ns ? left_ns - rest_ns : 0;
}

static uint64_t left_until(uint64_t end_ns)
{
	uint64_t now = monotonic_ns();

	return end_ns > now ? end_ns - now : 0;
}

/* The programs of a socket are not where they should be: skip it, and continue with the rest. */
__attribute__((format(printf, 2, 3))) static int skip(struct selftest_socket *s, const char *fmt,
						      ...)
{
	va_list args;

	va_start(args, fmt);
	vsnprintf(s->skipped, sizeof(s->skipped), fmt, args);
	va_end(args);
	return -ETIMEDOUT;
}

/* The programs rest: measure other tasks' traffic. */
static int quiet(struct tester *t, bool last, struct diag *d)
{
	struct selftest *s = t->ret;
	struct report *r;
	uint64_t value;
	int err = go_on(t, monotonic_ns() + QUIET_NS, false, d);

	if (!err)
		err = live_report(t->live, last, d, &r);
	if (err)
		return err;
	for (size_t i = 0; i < s->nr; i++)
		for (int k = 0; k < 2; k++) {
			struct selftest_phase *p = &s->sockets[i].phases[k];
			double *rate = last ? &p->after : &p->before;

			if (counted(r, s->sockets[i].id, k, &value))
				*rate = value / ((r->end_ns - r->start_ns) / (double)NS_PER_S);
		}
	report_free(r);
	return 0;
}

/* After writing, caches hold lines that were not written back yet: reading evicts them. */
static int settle(struct tester *t, struct selftest_socket *s, struct selftest_phase *p,
		  struct diag *d)
{
	int err;

	if (p->direction == DIRECTION_WRITE) {
		order(t, TRAFFIC_FLUSH);
		err = go_on(t, earlier(t->socket_ns, monotonic_ns() + FLUSH_NS), true, d);
		if (err == -ETIMEDOUT)
			p->left = t->ret->cache;
		else if (err)
			return err;
	}
	order(t, TRAFFIC_REST);
	err = go_on(t, t->end_ns, true, d);
	return err == -ETIMEDOUT ? skip(s, "its programs did not come to rest: they get no CPU")
				 : err;
}

static int phase(struct tester *t, struct selftest_socket *s, int k, struct diag *d)
{
	struct selftest_phase *p = &s->phases[k];
	uint64_t ns = selftest_phase_ns(left_until(t->socket_ns), 2 - k);
	uint64_t before[SELFTEST_PROGRAMS];
	struct report *r;
	int err;

	if (!ns)
		return skip(s, "no time was left for its programs to %s",
			    p->direction == DIRECTION_READ ? "read" : "write");
	for (size_t i = 0; i < SELFTEST_PROGRAMS; i++)
		before[i] = traffic_moved(&t->programs[i], p->direction);
	order(t, p->direction == DIRECTION_READ ? TRAFFIC_READ : TRAFFIC_WRITE);
	err = go_on(t, monotonic_ns() + ns, false, d);
	if (!err)
		err = settle(t, s, p, d);
	if (!err)
		err = live_report(t->live, false, d, &r);
	if (err)
		return err;
	p->ns = r->end_ns - r->start_ns;
	p->counted = counted(r, p->socket, p->direction, &p->value);
	for (size_t i = 0; i < r->nr_counters; i++)
		p->together |=
			counts_tasks(r, r->counters[i].counter, p->socket, DIRECTION_READWRITE);
	for (size_t i = 0; i < SELFTEST_PROGRAMS; i++) {
		p->parts[i].known = traffic_moved(&t->programs[i], p->direction) - before[i];
		read_row(r, t->programs[i].name, p->socket, p->direction, &p->parts[i]);
	}
	report_free(r);
	return 0;
}

static int start_programs(struct tester *t, const struct selftest_socket *s, struct diag *d)
{
	uint64_t max = SELFTEST_BYTES / 16 * BUSY_PART;
	int err = 0;

	for (size_t i = 0; !err && i < SELFTEST_PROGRAMS; i++) {
		struct traffic_program *p = &t->programs[i];

		*p = (struct traffic_program){
			.cpu = s->cpus[i],
			.bytes = i ? SELFTEST_BYTES - max : max,
			.rest = i ? TENTH_REST : 0,
			.seed = s->id * SELFTEST_PROGRAMS + i + 1,
		};
		snprintf(p->name, sizeof(p->name), "t410-%s-%u", i ? "light" : "heavy",
			 s->id % 1000);
		err = traffic_start(p, d);
		if (!err)
			err = live_follow(t->live, p->pid, d);
	}
	return err;
}

static int fill(struct tester *t, struct selftest_socket *s, struct diag *d)
{
	uint64_t ns = selftest_fill_ns(left_until(t->socket_ns));
	int err;

	order(t, TRAFFIC_FILL);
	err = go_on(t, monotonic_ns() + ns, true, d);
	if (err == -ETIMEDOUT)
		return skip(s, "its programs did not fill their buffers in %.1f s: they get no CPU",
			    ns / (double)NS_PER_S);
	if (err == -ENOMEM)
		diag_advise(d, err, "the self-test needs %llu MiB of free memory",
			    SELFTEST_BYTES >> 20);
	/* Bytes of filling the buffers belong to no phase. */
	return err ? err : drop_report(t, d);
}

static void stop_programs(struct tester *t)
{
	for (size_t i = 0; i < SELFTEST_PROGRAMS; i++)
		t->stuck |= !traffic_stop(&t->programs[i]);
}

/* @sockets: number of sockets left, including this one: the time is divided equally */
static int test_socket(struct tester *t, struct selftest_socket *s, size_t sockets, struct diag *d)
{
	uint64_t left_ns = left_until(t->end_ns);
	int err;

	if (t->stuck || !selftest_fill_ns(left_ns / sockets)) {
		skip(s, t->stuck ? "a program of another socket was killed, and does not end"
				 : "no time was left for it");
		return 0;
	}
	t->socket_ns = monotonic_ns() + left_ns / sockets;
	err = start_programs(t, s, d);
	if (!err)
		err = fill(t, s, d);
	for (int k = 0; !err && k < 2; k++)
		err = phase(t, s, k, d);
	stop_programs(t);
	return err && !s->skipped[0] ? err : drop_report(t, d);
}

/* Two CPUs of the socket that we may use, on different cores if possible. */
static void choose_cpus(const struct tester *t, const struct layout *layout, uint32_t index,
			const cpu_set_t *allowed, struct selftest_socket *s)
{
	char line[CPULIST_TEXT_LEN];
	struct cpulist siblings = { 0 };
	size_t nr = 0;

	for (int cpu = layout->nr_cpus - 1; cpu >= 0 && nr < SELFTEST_PROGRAMS; cpu--) {
		if (layout->cpu_socket[cpu] != index || cpu >= CPU_SETSIZE ||
		    !CPU_ISSET(cpu, allowed) || cpulist_contains(&siblings, cpu))
			continue;
		s->cpus[nr++] = cpu;
		if (sysfs_read(&t->fs, line, sizeof(line),
			       "devices/system/cpu/cpu%d/topology/thread_siblings_list", cpu) ||
		    cpulist_parse(line, &siblings))
			siblings = (struct cpulist){ 0 };
	}
	if (nr < SELFTEST_PROGRAMS)
		str_append(s->skipped, sizeof(s->skipped),
			   "it has fewer than two cores that this process may use");
}

static uint64_t largest_cache(const struct sysfs *fs, unsigned int cpu)
{
	uint64_t largest = 0, bytes;
	char line[64];

	for (int i = 0; !sysfs_read(fs, line, sizeof(line),
				    "devices/system/cpu/cpu%u/cache/index%d/size", cpu, i);
	     i++)
		if (!parse_size(line, &bytes) && bytes > largest)
			largest = bytes;
	return largest;
}

static void plan(struct tester *t)
{
	const struct layout *layout = live_layout(t->live);
	struct selftest *ret = t->ret;
	cpu_set_t allowed;

	CPU_ZERO(&allowed);
	sched_getaffinity(0, sizeof(allowed), &allowed);
	for (uint32_t i = 0; i < layout->nr_sockets && ret->nr < SELFTEST_MAX_SOCKETS; i++) {
		struct selftest_socket *s = &ret->sockets[ret->nr++];

		s->id = layout->socket_ids[i];
		choose_cpus(t, layout, i, &allowed, s);
		if (!ret->cache && !s->skipped[0])
			ret->cache = largest_cache(&t->fs, s->cpus[0]);
		for (int k = 0; k < 2; k++)
			s->phases[k] = (struct selftest_phase){ .socket = s->id,
								.direction = k,
								.buffer = SELFTEST_BYTES };
	}
	for (size_t i = 0; i < ret->nr; i++)
		ret->sockets[i].phases[0].cache = ret->sockets[i].phases[1].cache = ret->cache;
	ret->host = *live_host(t->live);
	live_describe_counters(t->live, ret->counters, sizeof(ret->counters));
	live_describe_weights(t->live, ret->weights, sizeof(ret->weights));
}

static int measure(struct tester *t, struct diag *d)
{
	int err = quiet(t, false, d);
	size_t left = 0;

	for (size_t i = 0; i < t->ret->nr; i++)
		left += !t->ret->sockets[i].skipped[0];
	for (size_t i = 0; !err && i < t->ret->nr; i++)
		if (!t->ret->sockets[i].skipped[0])
			err = test_socket(t, &t->ret->sockets[i], left--, d);
	return err ? err : quiet(t, true, d);
}

/* Losses of an interval are those of a phase: the whole run counts. */
static int take_quality(struct tester *t, struct diag *d)
{
	struct report *r;
	int err = live_summary(t->live, d, &r);

	if (err)
		return err;
	t->ret->quality = r->quality;
	report_free(r);
	return 0;
}

int selftest_run(void (*log)(const char *), struct diag *d, struct selftest *ret)
{
	struct tester t = { .fs = { .fd = -1 }, .options = run_options_default(), .ret = ret };
	uint64_t begin = monotonic_ns();
	int err = sysfs_open(NULL, d, &t.fs);

	*ret = (struct selftest){ 0 };
	t.end_ns = begin + SELFTEST_NS - STOP_NS - QUIET_NS - CLOSE_NS;
	t.options.interval_ns = RUN_INTERVAL_NS;
	t.options.read_budget = 0;
	t.options.need_traffic = true;
	if (!err)
		err = live_open(&t.options, NULL, log, d, &t.live);
	if (!err) {
		plan(&t);
		err = measure(&t, d);
	}
	if (!err)
		err = take_quality(&t, d);
	stop_programs(&t);
	live_free(t.live);
	sysfs_close(&t.fs);
	run_options_free(&t.options);
	ret->ns = monotonic_ns() - begin;
	return err;
}
