// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>
#include <errno.h>
#include <math.h>
#include <string.h>

#include "engine/latency/latency.h"
#include "engine/session/session.h"

#define MS 1000000ull

/* Two sockets of two CPUs; counters of destinations on the second only. */
static uint32_t cpu_socket[] = { 0, 0, 1, 1 };
static uint32_t socket_ids[] = { 0, 1 };
static struct counter counters[] = {
	{ .name = "rd0", .source = SOURCE_CPU },
	{ .name = "dev0", .source = SOURCE_DEVICE },
	{ .name = "wr0", .source = SOURCE_CPU, .direction = DIRECTION_WRITE, .group = 1 },
	{ .name = "cmem1", .source = SOURCE_CPU, .destination = DESTINATION_CMEM, .group = 2 },
	{ .name = "gmem1", .source = SOURCE_CPU, .destination = DESTINATION_GMEM, .group = 2 },
};
static struct group groups[] = { { 0, 0, 2 }, { 0, 2, 1 }, { 1, 3, 2 } };

enum { CMEM0, GMEM0, CMEM1, GMEM1, NOBODY, NR_PROBES };

static struct probe probes[NR_PROBES] = {
	[CMEM0] = { .name = "cmem0/rd", .destination = DESTINATION_CMEM, .by_tasks = true },
	[GMEM0] = { .name = "gmem0/rd", .destination = DESTINATION_GMEM, .by_tasks = true },
	[CMEM1] = { .name = "cmem1/rd",
		    .socket = 1,
		    .destination = DESTINATION_CMEM,
		    .by_tasks = true },
	[GMEM1] = { .name = "gmem1/rd",
		    .socket = 1,
		    .destination = DESTINATION_GMEM,
		    .by_tasks = true },
	[NOBODY] = { .name = "in/rd", .destination = DESTINATION_CMEM },
};

static const struct trace_header header = {
	.host = { .name = "n1" },
	.layout = { cpu_socket, 4, socket_ids, 2, counters, 5, groups, 3 },
	.probes = probes,
	.nr_probes = NR_PROBES,
};

/* --- a session in which a window is split by CPU time */

struct world {
	struct session *s;
	struct trace_sink in;
};

static struct world world_new(enum row_kind by)
{
	const struct session_options o = { .by = by, .all = true, .method = METHOD_CPU_TIME };
	const uint64_t ends[] = { 0, 0 };
	const struct trace_mark begin = { .first = true, .ends_ns = ends };
	struct world w;

	assert_int_equal(session_new(&header, &o, &w.s), 0);
	w.in = session_sink(w.s);
	assert_int_equal(trace_send_mark(&w.in, &begin), 0);
	return w;
}

/* A process of the number @pid, in a cgroup of the same number. */
static void ran(struct world *w, uint32_t pid, uint32_t cpu, uint64_t start_ms, uint64_t end_ms)
{
	const struct trace_slice s = { .pid = pid,
				       .tgid = pid,
				       .cgroup_id = pid,
				       .cpu = cpu,
				       .start_ns = start_ms * MS,
				       .end_ns = end_ms * MS,
				       .on_cpu_ns = (end_ms - start_ms) * MS };

	assert_int_equal(trace_send_slice(&w->in, &s), 0);
}

/* Windows of a group; each of its counters gains @bytes. */
static void moved(struct world *w, uint32_t group, uint64_t start_ms, uint64_t end_ms,
		  uint64_t bytes)
{
	uint64_t ns = (end_ms - start_ms) * MS;
	const struct reading r[] = { { bytes, ns, ns }, { bytes, ns, ns } };
	const struct trace_window window = { group, start_ms * MS, end_ms * MS, r };

	assert_int_equal(trace_send_window(&w->in, &window), 0);
}

/* 1000 requests at 2 GHz. */
static struct trace_sample sample_of(uint32_t probe, uint64_t start_ms, uint64_t end_ms,
				     uint64_t latency_ns)
{
	uint64_t ns = (end_ms - start_ms) * MS;

	return (struct trace_sample){ .probe = probe,
				      .start_ns = start_ms * MS,
				      .end_ns = end_ms * MS,
				      .outstanding = 1000 * latency_ns * 2,
				      .requests = 1000,
				      .cycles = ns * 2,
				      .enabled_ns = ns,
				      .running_ns = ns };
}

static void sampled(struct world *w, uint32_t probe, uint64_t start_ms, uint64_t end_ms,
		    uint64_t latency_ns)
{
	const struct trace_sample s = sample_of(probe, start_ms, end_ms, latency_ns);

	assert_int_equal(trace_send_sample(&w->in, &s), 0);
}

static struct report *report_at(struct world *w, uint64_t ms)
{
	const uint64_t ends[] = { ms * MS, ms * MS };
	const struct trace_mark m = { .time_ns = ms * MS, .ends_ns = ends };
	struct report *r;

	assert_int_equal(session_report(w->s, &m, &r), 0);
	assert_int_equal(r->nr_probes, NR_PROBES);
	return r;
}

static struct report *summary(struct world *w)
{
	struct report *r;

	assert_int_equal(session_summary(w->s, &r), 0);
	return r;
}

static const struct report_row *row_of(const struct report *r, const char *key)
{
	for (size_t i = 0; i < r->nr_rows; i++)
		if (!strcmp(r->rows[i].key, key))
			return &r->rows[i];
	fail_msg("no row %s", key);
	return NULL;
}

static const struct seen_latency *seen(const struct report *r, const char *key, uint32_t probe)
{
	const struct report_row *row = row_of(r, key);

	for (size_t i = 0; i < row->nr_latencies; i++)
		if (row->latencies[i].probe == probe)
			return &row->latencies[i];
	return NULL;
}

static void check_seen(const struct report *r, const char *key, uint32_t probe, double ns,
		       uint64_t bytes, uint64_t of_bytes)
{
	const struct seen_latency *l = seen(r, key, probe);

	assert_non_null(l);
	assert_true(fabs(l->latency_ns - ns) < 1e-6 * ns);
	assert_int_equal(l->bytes, bytes);
	assert_int_equal(l->of_bytes, of_bytes);
}

/* --- which counters weigh which probe */

static void links_by_destination(void **state)
{
	struct links l;
	size_t nr;

	(void)state;
	assert_int_equal(links_make(&header, &l), 0);
	/* No counter of socket 0 tells destinations: those of any serve for CPU memory alone. */
	assert_int_equal(l.items[links_of(&l, CMEM0, &nr)].counter, 0);
	assert_int_equal(nr, 1);
	links_of(&l, GMEM0, &nr);
	assert_int_equal(nr, 0);
	assert_int_equal(l.items[links_of(&l, CMEM1, &nr)].counter, 3);
	assert_int_equal(nr, 1);
	assert_int_equal(l.items[links_of(&l, GMEM1, &nr)].counter, 4);
	assert_int_equal(nr, 1);
	links_of(&l, NOBODY, &nr);
	assert_int_equal(nr, 0);
	links_free(&l);
}

/* --- what rows see */

static void two_in_turn(void **state)
{
	struct world w = world_new(ROW_PROCESS);
	struct report *r;

	(void)state;
	for (uint64_t t = 0; t < 1000; t += 10) {
		bool first = t / 100 % 2 == 0;

		ran(&w, first ? 5 : 6, 0, t, t + 10);
		moved(&w, 0, t, t + 10, 1000);
	}
	for (uint64_t t = 0; t < 1000; t += 100)
		sampled(&w, CMEM0, t, t + 100, t / 100 % 2 ? 700 : 300);
	r = report_at(&w, 1000);
	check_seen(r, "pid:5:0", CMEM0, 300, 50000, 50000);
	check_seen(r, "pid:6:0", CMEM0, 700, 50000, 50000);
	assert_null(seen(r, "pid:5:0", GMEM0));
	assert_true(r->probes[CMEM0].valid);
	assert_true(fabs(r->probes[CMEM0].latency_ns - 500) < 1e-6);
	assert_true(fabs(r->probes[CMEM0].latency_cycles - 1000) < 1e-6);
	assert_int_equal(r->probes[CMEM0].requests, 10000);
	assert_int_equal(r->probes[CMEM0].samples, 10);
	assert_int_equal(r->probes[CMEM0].covered_ns, 1000 * MS);
	assert_true(r->probes[CMEM0].weighed);
	assert_int_equal(r->probes[CMEM0].destination, DESTINATION_ANY);
	assert_false(r->probes[GMEM0].weighed);
	assert_false(r->probes[GMEM0].valid);
	report_free(r);
	session_free(w.s);
}

/* Both run in all windows; who moved more while it was slow saw more of it. */
static void weighted_by_own_bytes(void **state)
{
	struct world w = world_new(ROW_PROCESS);
	struct report *r;

	(void)state;
	ran(&w, 5, 0, 0, 90);
	ran(&w, 6, 1, 0, 10);
	moved(&w, 0, 0, 100, 1000);
	ran(&w, 5, 0, 100, 110);
	ran(&w, 6, 1, 100, 190);
	moved(&w, 0, 100, 200, 1000);
	sampled(&w, CMEM0, 0, 100, 300);
	sampled(&w, CMEM0, 100, 200, 700);
	r = report_at(&w, 200);
	check_seen(r, "pid:5:0", CMEM0, 340, 1000, 1000);
	check_seen(r, "pid:6:0", CMEM0, 660, 1000, 1000);
	report_free(r);
	session_free(w.s);
}

/* A window across two samples has the mean over its time; one with half a sample, that. */
static void uneven_windows(void **state)
{
	struct world w = world_new(ROW_PROCESS);
	struct report *r;

	(void)state;
	ran(&w, 5, 0, 0, 100);
	ran(&w, 6, 0, 100, 200);
	moved(&w, 0, 0, 100, 1000);
	moved(&w, 0, 100, 200, 500);
	sampled(&w, CMEM0, 0, 75, 300);
	sampled(&w, CMEM0, 75, 110, 700);
	r = report_at(&w, 200);
	check_seen(r, "pid:5:0", CMEM0, 400, 1000, 1000);
	check_seen(r, "pid:6:0", CMEM0, 700, 500, 500);
	report_free(r);
	session_free(w.s);
}

static void missing_samples(void **state)
{
	struct world w = world_new(ROW_PROCESS);
	struct report *r;

	(void)state;
	for (uint64_t t = 0; t < 400; t += 10) {
		ran(&w, t < 300 ? 5 : 6, 0, t, t + 10);
		moved(&w, 0, t, t + 10, 100);
	}
	sampled(&w, CMEM0, 0, 100, 300);
	sampled(&w, CMEM0, 200, 300, 600);
	r = report_at(&w, 400);
	check_seen(r, "pid:5:0", CMEM0, 450, 2000, 3000);
	assert_int_equal(row_of(r, "pid:6:0")->nr_latencies, 0);
	assert_int_equal(r->probes[CMEM0].covered_ns, 200 * MS);
	report_free(r);
	session_free(w.s);
}

/* No request, no cycle, no time: no latency, which is not zero. */
static void nothing_requested(void **state)
{
	struct world w = world_new(ROW_PROCESS);
	struct trace_sample s = sample_of(CMEM0, 0, 100, 300);
	struct report *r;

	(void)state;
	ran(&w, 5, 0, 0, 300);
	for (uint64_t t = 0; t < 300; t += 100)
		moved(&w, 0, t, t + 100, 1000);
	s.requests = s.outstanding = 0;
	assert_int_equal(trace_send_sample(&w.in, &s), 0);
	s = sample_of(CMEM0, 100, 200, 300);
	s.cycles = 0;
	s.requests = 0;
	assert_int_equal(trace_send_sample(&w.in, &s), 0);
	s = sample_of(CMEM0, 200, 300, 300);
	s.running_ns = 0;
	assert_int_equal(trace_send_sample(&w.in, &s), 0);
	r = report_at(&w, 300);
	assert_false(r->probes[CMEM0].valid);
	assert_int_equal(r->probes[CMEM0].requests, 0);
	assert_int_equal(r->probes[CMEM0].samples, 2);
	assert_int_equal(r->probes[CMEM0].covered_ns, 200 * MS);
	assert_int_equal(row_of(r, "pid:5:0")->nr_latencies, 0);
	report_free(r);
	session_free(w.s);
}

/* Counted in a quarter of the time: the ratio stays, and the sample weighs as the others. */
static void multiplexed(void **state)
{
	struct world w = world_new(ROW_PROCESS);
	struct trace_sample s = sample_of(CMEM0, 100, 200, 700);
	struct report *r;

	(void)state;
	sampled(&w, CMEM0, 0, 100, 300);
	s.outstanding /= 4;
	s.requests /= 4;
	s.cycles /= 4;
	s.running_ns /= 4;
	assert_int_equal(trace_send_sample(&w.in, &s), 0);
	r = report_at(&w, 200);
	assert_true(fabs(r->probes[CMEM0].latency_ns - 500) < 1e-6);
	assert_int_equal(r->probes[CMEM0].requests, 1250);
	report_free(r);
	session_free(w.s);
}

static void counters_of_the_destination(void **state)
{
	struct world w = world_new(ROW_PROCESS);
	struct report *r;

	(void)state;
	ran(&w, 5, 2, 0, 100);
	moved(&w, 2, 0, 100, 1000);
	sampled(&w, CMEM0, 0, 100, 100);
	sampled(&w, CMEM1, 0, 100, 200);
	sampled(&w, GMEM1, 0, 100, 900);
	sampled(&w, NOBODY, 0, 100, 500);
	r = report_at(&w, 100);
	assert_int_equal(row_of(r, "pid:5:0")->nr_latencies, 2);
	check_seen(r, "pid:5:0", CMEM1, 200, 1000, 1000);
	check_seen(r, "pid:5:0", GMEM1, 900, 1000, 1000);
	assert_int_equal(r->probes[GMEM1].destination, DESTINATION_GMEM);
	assert_true(r->probes[NOBODY].valid);
	report_free(r);
	session_free(w.s);
}

/* --- intervals */

/* Divided by time, exactly; a run counts it once. */
static void across_the_end(void **state)
{
	struct world w = world_new(ROW_PROCESS);
	struct trace_sample s = sample_of(CMEM0, 50, 173, 300);
	struct report *r[3], *all;
	uint64_t requests = 0, outstanding = 0, cycles = 0, covered = 0;

	(void)state;
	s.requests = 1001;
	s.outstanding = 1234567;
	assert_int_equal(trace_send_sample(&w.in, &s), 0);
	for (int i = 0; i < 3; i++) {
		r[i] = report_at(&w, 60 * (i + 1));
		requests += r[i]->probes[CMEM0].requests;
		outstanding += r[i]->probes[CMEM0].outstanding;
		cycles += r[i]->probes[CMEM0].cycles;
		covered += r[i]->probes[CMEM0].covered_ns;
		assert_int_equal(r[i]->probes[CMEM0].samples, 1);
		report_free(r[i]);
	}
	all = summary(&w);
	assert_int_equal(requests, s.requests);
	assert_int_equal(outstanding, s.outstanding);
	assert_int_equal(cycles, s.cycles);
	assert_int_equal(covered, 123 * MS);
	assert_int_equal(all->probes[CMEM0].requests, s.requests);
	assert_int_equal(all->probes[CMEM0].samples, 1);
	report_free(all);
	session_free(w.s);
}

/* After its interval's end it counts for the next one, from there on, and for the run. */
static void late_sample(void **state)
{
	struct world w = world_new(ROW_PROCESS);
	struct report *r;

	(void)state;
	r = report_at(&w, 100);
	assert_int_equal(r->probes[CMEM0].samples, 0);
	report_free(r);
	sampled(&w, CMEM0, 80, 120, 300);
	r = report_at(&w, 200);
	assert_int_equal(r->probes[CMEM0].requests, 500);
	assert_int_equal(r->probes[CMEM0].covered_ns, 20 * MS);
	report_free(r);
	r = summary(&w);
	assert_int_equal(r->probes[CMEM0].requests, 1000);
	assert_int_equal(r->probes[CMEM0].samples, 1);
	report_free(r);
	session_free(w.s);
}

/* Rows of a run have the bytes of all intervals, with what each of them saw. */
static void rows_of_a_run(void **state)
{
	struct world w = world_new(ROW_PROCESS);
	struct report *r;

	(void)state;
	ran(&w, 5, 0, 0, 100);
	moved(&w, 0, 0, 100, 3000);
	sampled(&w, CMEM0, 0, 100, 300);
	r = report_at(&w, 100);
	check_seen(r, "pid:5:0", CMEM0, 300, 3000, 3000);
	report_free(r);
	ran(&w, 5, 0, 100, 200);
	moved(&w, 0, 100, 200, 1000);
	sampled(&w, CMEM0, 100, 200, 700);
	r = report_at(&w, 200);
	check_seen(r, "pid:5:0", CMEM0, 700, 1000, 1000);
	report_free(r);
	r = summary(&w);
	check_seen(r, "pid:5:0", CMEM0, 400, 4000, 4000);
	report_free(r);
	session_free(w.s);
}

/* A parent's latency is the mean over its children; bytes without a sample count too. */
static void cgroup_parents(void **state)
{
	struct world w = world_new(ROW_CGROUP);
	struct report *r;

	(void)state;
	assert_int_equal(trace_send_cgroup(&w.in, 4, "/box"), 0);
	assert_int_equal(trace_send_cgroup(&w.in, 5, "/box/a"), 0);
	assert_int_equal(trace_send_cgroup(&w.in, 6, "/box/b"), 0);
	assert_int_equal(trace_send_cgroup(&w.in, 7, "/box/c"), 0);
	ran(&w, 5, 0, 0, 100);
	moved(&w, 0, 0, 100, 3000);
	ran(&w, 6, 0, 100, 200);
	moved(&w, 0, 100, 200, 1000);
	ran(&w, 7, 0, 200, 300);
	moved(&w, 0, 200, 300, 500);
	sampled(&w, CMEM0, 0, 100, 300);
	sampled(&w, CMEM0, 100, 200, 700);
	r = report_at(&w, 300);
	check_seen(r, "cgroup:5", CMEM0, 300, 3000, 3000);
	check_seen(r, "cgroup:6", CMEM0, 700, 1000, 1000);
	assert_null(seen(r, "cgroup:7", CMEM0));
	check_seen(r, "cgroup:4", CMEM0, 400, 4000, 4500);
	report_free(r);
	session_free(w.s);
}

/* Counters that took turns are scaled, and what weighs with them. */
static void scaled_counters(void **state)
{
	struct world w = world_new(ROW_PROCESS);
	const struct reading half[] = { { 1000, 100 * MS, 50 * MS }, { 0, 100 * MS, 50 * MS } };
	const struct trace_window window = { 0, 0, 100 * MS, half };
	struct report *r;

	(void)state;
	ran(&w, 5, 0, 0, 100);
	assert_int_equal(trace_send_window(&w.in, &window), 0);
	sampled(&w, CMEM0, 0, 100, 300);
	r = report_at(&w, 100);
	assert_int_equal(r->counters[0].value, 2000);
	check_seen(r, "pid:5:0", CMEM0, 300, 2000, 2000);
	report_free(r);
	session_free(w.s);
}

/* --- junk */

static void check_refused(struct world *w, struct trace_sample s)
{
	assert_int_equal(trace_send_sample(&w->in, &s), -EINVAL);
}

static void junk_is_left_out(void **state)
{
	struct world w = world_new(ROW_PROCESS);
	struct trace_sample s = sample_of(CMEM0, 100, 200, 300);
	struct report *r;

	(void)state;
	s.probe = NR_PROBES;
	check_refused(&w, s);
	s.probe = UINT32_MAX;
	check_refused(&w, s);
	s = sample_of(CMEM0, 100, 200, 300);
	s.end_ns = s.start_ns - 1;
	check_refused(&w, s);
	s.end_ns = s.start_ns;
	check_refused(&w, s);
	sampled(&w, CMEM0, 100, 200, 300);
	check_refused(&w, sample_of(CMEM0, 199, 300, 500));
	check_refused(&w, sample_of(CMEM0, 100, 200, 500));
	sampled(&w, CMEM1, 199, 300, 500);
	r = report_at(&w, 400);
	assert_int_equal(r->probes[CMEM0].samples, 1);
	assert_int_equal(r->probes[CMEM0].requests, 1000);
	report_free(r);
	session_free(w.s);
}

/* The largest numbers give a latency or none, and no overflow. */
static void huge_numbers(void **state)
{
	struct world w = world_new(ROW_PROCESS);
	struct report *r;

	(void)state;
	for (int i = 0; i < 32; i++) {
		struct trace_sample s = { .probe = CMEM0,
					  .start_ns = (100 + 10 * i) * MS,
					  .end_ns = (110 + 10 * i) * MS,
					  .outstanding = i & 1 ? UINT64_MAX : 0,
					  .requests = i & 2 ? UINT64_MAX : 1,
					  .cycles = i & 4 ? UINT64_MAX : 1,
					  .enabled_ns = i & 8 ? UINT64_MAX : 1,
					  .running_ns = i & 16 ? UINT64_MAX : 1 };

		ran(&w, 5, 0, 100 + 10 * i, 110 + 10 * i);
		moved(&w, 0, 100 + 10 * i, 110 + 10 * i, UINT32_MAX);
		assert_int_equal(trace_send_sample(&w.in, &s), 0);
	}
	r = report_at(&w, 1000);
	assert_true(!r->probes[CMEM0].valid || isfinite(r->probes[CMEM0].latency_ns));
	assert_true(isfinite(seen(r, "pid:5:0", CMEM0)->latency_ns));
	report_free(r);
	session_free(w.s);
}

/* Bytes and CPU time are what they are without samples. */
static void nothing_else_changes(void **state)
{
	struct report *r[2];

	(void)state;
	for (int with = 0; with < 2; with++) {
		struct world w = world_new(ROW_PROCESS);

		for (uint64_t t = 0; t < 500; t += 10) {
			ran(&w, 5, 0, t, t + 7);
			ran(&w, 6, 1, t, t + 3);
			moved(&w, 0, t, t + 10, 12345 + t);
			if (with && t % 100 == 90)
				sampled(&w, CMEM0, t - 90, t + 10, 300 + t);
		}
		r[with] = report_at(&w, 500);
		session_free(w.s);
	}
	assert_int_equal(r[0]->nr_rows, r[1]->nr_rows);
	for (size_t i = 0; i < r[0]->nr_rows; i++)
		assert_memory_equal(r[0]->rows[i].shares, r[1]->rows[i].shares,
				    r[0]->rows[i].nr_shares * sizeof(struct share));
	assert_int_equal(r[0]->counters[0].attributed, r[1]->counters[0].attributed);
	report_free(r[0]);
	report_free(r[1]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(links_by_destination),
		cmocka_unit_test(two_in_turn),
		cmocka_unit_test(weighted_by_own_bytes),
		cmocka_unit_test(uneven_windows),
		cmocka_unit_test(missing_samples),
		cmocka_unit_test(nothing_requested),
		cmocka_unit_test(multiplexed),
		cmocka_unit_test(counters_of_the_destination),
		cmocka_unit_test(across_the_end),
		cmocka_unit_test(late_sample),
		cmocka_unit_test(rows_of_a_run),
		cmocka_unit_test(cgroup_parents),
		cmocka_unit_test(scaled_counters),
		cmocka_unit_test(junk_is_left_out),
		cmocka_unit_test(huge_numbers),
		cmocka_unit_test(nothing_else_changes),
	};

	return cmocka_run_group_tests_name("latency", tests, NULL, NULL);
}
