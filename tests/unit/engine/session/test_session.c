// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>
#include <errno.h>
#include <string.h>

#include "trace/tee.h"
#include "engine/session/session.h"

/* Two sockets of one CPU each; the first has a counter. */
static uint32_t cpu_socket[] = { 0, 1 };
static uint32_t socket_ids[] = { 0, 1 };
static struct counter counters[] = { { .name = "a", .source = SOURCE_CPU } };
static struct group groups[] = { { 0, 0, 1 } };
static const struct trace_header header = {
	.host = { .name = "n1" },
	.layout = {
		.cpu_socket = cpu_socket,
		.nr_cpus = 2,
		.socket_ids = socket_ids,
		.nr_sockets = 2,
		.counters = counters,
		.nr_counters = 1,
		.groups = groups,
		.nr_groups = 1,
	},
};

static struct session *make(struct session_options o)
{
	struct session *s;

	assert_int_equal(session_new(&header, &o, &s), 0);
	return s;
}

static int task(const struct trace_sink *out, uint32_t pid, uint32_t parent, const char *comm)
{
	const struct trace_task t = { .pid = pid,
				      .tgid = pid,
				      .start_ns = pid,
				      .parent = parent,
				      .parent_start_ns = parent,
				      .cgroup_id = 1,
				      .comm = comm };

	return trace_send_task(out, &t);
}

/* A run without a break, of process @pid that started at @pid. */
static int slice(const struct trace_sink *out, uint32_t pid, uint32_t cpu, uint64_t start,
		 uint64_t end)
{
	const struct trace_slice s = { .pid = pid,
				       .tgid = pid,
				       .task_start_ns = pid,
				       .cgroup_id = 1,
				       .cpu = cpu,
				       .start_ns = start,
				       .end_ns = end,
				       .on_cpu_ns = end - start };

	return trace_send_slice(out, &s);
}

static int window(const struct trace_sink *out, uint64_t start, uint64_t end, uint64_t bytes)
{
	const struct reading r = { bytes, end - start, end - start };
	const struct trace_window w = { 0, start, end, &r };

	return trace_send_window(out, &w);
}

/* A mark that ends at @ns on both sockets, with totals that grow with it. */
static struct trace_mark mark_at(uint64_t ns, uint64_t *ends)
{
	ends[0] = ends[1] = ns;
	return (struct trace_mark){
		.time_ns = ns,
		.realtime_ns = 1000000 + ns,
		.ends_ns = ends,
		.losses = { .lost_windows = ns / 100 },
		.cost = { .cpu_ns = ns, .switches = 2 * ns, .switch_ns = 3 * ns / 2, .timed = ns },
	};
}

static void begin(const struct trace_sink *out, uint64_t ns)
{
	uint64_t ends[2];
	struct trace_mark m = mark_at(ns, ends);

	m.first = true;
	assert_int_equal(trace_send_mark(out, &m), 0);
}

static struct report *report_at(struct session *s, uint64_t ns)
{
	uint64_t ends[2];
	struct trace_mark m = mark_at(ns, ends);
	struct trace_sink out = session_sink(s);
	struct report *r;

	assert_int_equal(trace_send_mark(&out, &m), 0);
	assert_int_equal(session_report(s, &m, &r), 0);
	return r;
}

static void intervals_and_a_summary(void **state)
{
	struct session *s = make((struct session_options){ .all = true });
	struct trace_sink out = session_sink(s);
	struct report *r;

	(void)state;
	assert_int_equal(task(&out, 5, 1, "one"), 0);
	assert_int_equal(slice(&out, 5, 0, 50, 150), 0);
	begin(&out, 100);
	assert_int_equal(window(&out, 100, 200, 7), 0);
	assert_int_equal(slice(&out, 5, 1, 150, 250), 0);
	r = report_at(s, 200);
	assert_ptr_equal(r->host, &header.host);
	assert_int_equal(r->start_ns, 100);
	assert_int_equal(r->end_ns, 200);
	assert_int_equal(r->start_time_ns, 1000100);
	assert_int_equal(r->nr_rows, 1);
	assert_string_equal(r->rows[0].comm, "one");
	assert_int_equal(r->rows[0].on_cpu_ns, 100); /* 100 to 150, and 150 to 200 */
	assert_int_equal(r->rows[0].shares[0].value, 7);
	assert_int_equal(r->quality.lost_windows, 2); /* also those before the begin */
	assert_int_equal(r->self.cpu_ns, 100);	      /* without the start */
	assert_int_equal(r->quality.method, METHOD_STATE_SPACE);
	assert_false(r->replayed);
	report_free(r);
	assert_int_equal(window(&out, 200, 300, 8), 0);
	r = report_at(s, 300);
	assert_int_equal(r->start_ns, 200);
	assert_int_equal(r->start_time_ns, 1000200);
	assert_int_equal(r->rows[0].on_cpu_ns, 50);
	assert_int_equal(r->counters[0].unattributed[REASON_IDLE], 8);
	assert_int_equal(r->quality.lost_windows, 1);
	assert_int_equal(r->self.cpu_ns, 100);
	assert_int_equal(r->self.switch_ns, 300); /* 150 in the 100 that were timed, of 200 */
	report_free(r);
	assert_int_equal(session_summary(s, &r), 0);
	assert_true(r->summary);
	assert_int_equal(r->start_ns, 100);
	assert_int_equal(r->end_ns, 300);
	assert_int_equal(r->counters[0].value, 15);
	assert_int_equal(r->quality.lost_windows, 3);
	report_free(r);
	session_free(s);
}

/* The removal comes an interval after the last run, when the cgroup has no row of its own. */
static void a_summary_says_which_cgroups_are_gone(void **state)
{
	struct session *s = make((struct session_options){ .all = true, .by = ROW_CGROUP });
	struct trace_sink out = session_sink(s);
	struct report *r;
	uint64_t gone = 0;

	(void)state;
	assert_int_equal(trace_send_cgroup(&out, 1, "/job"), 0);
	assert_int_equal(task(&out, 5, 1, "one"), 0);
	begin(&out, 100);
	assert_int_equal(window(&out, 100, 200, 7), 0);
	assert_int_equal(slice(&out, 5, 0, 100, 200), 0);
	report_free(report_at(s, 200));
	assert_int_equal(trace_send_cgroup(&out, 1, NULL), 0);
	assert_int_equal(window(&out, 200, 300, 8), 0);
	report_free(report_at(s, 300));
	assert_int_equal(session_summary(s, &r), 0);
	for (size_t i = 0; i < r->nr_rows; i++)
		if (r->rows[i].cgroup_id == 1 && r->rows[i].exited)
			gone = r->rows[i].on_cpu_ns;
	assert_int_equal(gone, 100);
	report_free(r);
	session_free(s);
}

/* What a session reports of four seconds of windows of 10 ms, with inner marks or without. */
static struct report *long_interval(struct session *s, bool inner)
{
	struct trace_sink out = session_sink(s);
	uint64_t ends[2], ms = 1000000;

	begin(&out, 0);
	assert_int_equal(task(&out, 5, 0, "a"), 0);
	for (uint64_t at = 0; at < 4000 * ms; at += 10 * ms) {
		struct trace_mark m = mark_at(at, ends);

		/* The second one works in every third window, one run in two windows. */
		assert_int_equal(slice(&out, 5, 0, at, at + 10 * ms), 0);
		if (at % (30 * ms) == 0)
			assert_int_equal(slice(&out, 6, 0, at + 8 * ms, at + 13 * ms), 0);
		assert_int_equal(window(&out, at, at + 10 * ms, 777 + at / ms), 0);
		m.inner = true;
		if (inner && at && at % (1000 * ms) == 0)
			assert_int_equal(trace_send_mark(&out, &m), 0);
	}
	return report_at(s, 4000 * ms);
}

/* An interval is the same whether it was kept as a whole or in parts, by whatever is exact. */
static void inner_marks_change_no_sum(void **state)
{
	const struct session_options o = { .all = true, .method = METHOD_CPU_TIME };
	struct session *s[] = { make(o), make(o) };
	struct report *r[] = { long_interval(s[0], false), long_interval(s[1], true) };
	uint64_t ends[2];
	struct trace_mark m = mark_at(9000000000u, ends);
	struct report *none;

	(void)state;
	assert_int_equal(r[1]->quality.late_slices, 0);
	assert_int_equal(r[0]->nr_rows, 2);
	assert_int_equal(r[1]->nr_rows, 2);
	assert_int_equal(r[0]->start_ns, r[1]->start_ns);
	assert_int_equal(r[0]->end_ns, r[1]->end_ns);
	assert_int_equal(r[0]->quality.windows, r[1]->quality.windows);
	assert_int_equal(r[0]->counters[0].value, r[1]->counters[0].value);
	assert_int_equal(r[0]->counters[0].attributed, r[1]->counters[0].attributed);
	for (size_t i = 0; i < 2; i++) {
		assert_int_equal(r[0]->rows[i].on_cpu_ns, r[1]->rows[i].on_cpu_ns);
		assert_int_equal(r[0]->rows[i].shares[0].value, r[1]->rows[i].shares[0].value);
	}
	m.inner = true;
	assert_int_equal(session_report(s[0], &m, &none), -EINVAL);
	for (size_t i = 0; i < 2; i++) {
		report_free(r[i]);
		session_free(s[i]);
	}
}

static void nothing_before_the_first_mark(void **state)
{
	struct session *s = make((struct session_options){ .all = true });
	struct report *r = (struct report *)8;
	uint64_t ends[2];
	struct trace_mark m = mark_at(100, ends);

	(void)state;
	assert_int_equal(session_report(s, &m, &r), -EINVAL);
	assert_int_equal(session_summary(s, &r), -EINVAL);
	assert_ptr_equal(r, (struct report *)8);
	session_free(s);
}

/* A recording whose beginning was removed does not report the losses of that part. */
static void a_run_may_begin_in_the_middle(void **state)
{
	struct session *s = make((struct session_options){ .all = true, .replayed = true });
	struct trace_sink out = session_sink(s);
	uint64_t ends[2];
	struct trace_mark m = mark_at(1000, ends);
	struct report *r;

	(void)state;
	assert_int_equal(trace_send_mark(&out, &m), 0);
	r = report_at(s, 1100);
	assert_true(r->replayed);
	assert_int_equal(r->quality.lost_windows, 1);
	assert_int_equal(r->self.cpu_ns, 100);
	report_free(r);
	assert_int_equal(session_summary(s, &r), 0);
	assert_int_equal(r->quality.lost_windows, 1);
	report_free(r);
	session_free(s);
}

static void nonsense_is_refused_and_left_out(void **state)
{
	struct session *s = make((struct session_options){ .all = true });
	const struct trace_slice longer = { .pid = 5, .tgid = 5, .end_ns = 9, .on_cpu_ns = 10 };
	const struct trace_slice weighed = {
		.pid = 5, .tgid = 5, .end_ns = 9, .on_cpu_ns = 5, .weights_ns = 6
	};
	struct trace_window unknown_group = { .group = 1, .end_ns = 1 };
	struct trace_lost lost = { .what = "slices", .socket = 2, .count = 1 };
	struct trace_sink out = session_sink(s);
	struct report *r;

	(void)state;
	begin(&out, 0);
	assert_int_equal(slice(&out, 5, 2, 0, 10), -EINVAL); /* CPUs are 0 and 1 */
	assert_int_equal(slice(&out, 5, 0, 10, 9), -EINVAL);
	assert_int_equal(trace_send_slice(&out, &longer), -EINVAL);
	assert_int_equal(trace_send_slice(&out, &weighed),
			 -EINVAL); /* counted longer than it ran */
	assert_int_equal(trace_send_window(&out, &unknown_group), -EINVAL);
	assert_int_equal(window(&out, 10, 10, 1), -EINVAL);
	assert_int_equal(window(&out, 0, 50, 1), 0);
	assert_int_equal(window(&out, 49, 60, 1), -EINVAL); /* overlaps */
	assert_int_equal(trace_send_lost(&out, &lost), -EINVAL);
	r = report_at(s, 99);
	assert_int_equal(r->nr_rows, 0);
	assert_int_equal(r->counters[0].value, 1);
	assert_int_equal(r->quality.late_slices, 0);
	report_free(r);
	session_free(s);
}

static void late_and_lost_slices_are_counted(void **state)
{
	struct session *s = make((struct session_options){ .all = true });
	struct trace_lost lost = { .what = "slices", .count = 3, .end_ns = 1 };
	struct trace_sink out = session_sink(s);
	struct report *r;

	(void)state;
	begin(&out, 0);
	report_free(report_at(s, 100));
	assert_int_equal(slice(&out, 5, 0, 50, 60), 0);
	assert_int_equal(trace_send_lost(&out, &lost), 0);
	lost.what = "something else";
	assert_int_equal(trace_send_lost(&out, &lost), 0);
	r = report_at(s, 200);
	assert_int_equal(r->quality.late_slices, 1);
	assert_int_equal(r->quality.lost_slices, 3);
	assert_int_equal(r->rows[0].on_cpu_ns, 10); /* late, not lost */
	report_free(r);
	r = report_at(s, 300);
	assert_int_equal(r->quality.late_slices, 0);
	report_free(r);
	session_free(s);
}

static void followed_tasks_and_selected_cgroups(void **state)
{
	struct session *s = make((struct session_options){ 0 });
	struct trace_sink out = session_sink(s);
	struct report *r;

	(void)state;
	assert_int_equal(identity_select(session_identity(s), "/job"), 0);
	assert_int_equal(trace_send_cgroup(&out, 9, "/job/a"), 0);
	assert_int_equal(task(&out, 5, 1, "five"), 0);
	assert_int_equal(identity_follow(session_identity(s), 6), 0);
	assert_int_equal(trace_send_follow(&out, 5), 0);
	assert_int_equal(task(&out, 6, 5, "child"), 0);
	assert_int_equal(task(&out, 7, 1, "other"), 0);
	assert_int_equal(identity_followed_alive(session_identity(s)), 2);
	begin(&out, 0);
	assert_int_equal(slice(&out, 6, 0, 0, 10), 0);
	assert_int_equal(slice(&out, 7, 0, 10, 20), 0);
	assert_int_equal(trace_send_exit(&out, 5, 5), 0);
	assert_int_equal(identity_followed_alive(session_identity(s)), 1);
	r = report_at(s, 100);
	assert_int_equal(r->nr_rows, 1);
	assert_string_equal(r->rows[0].comm, "child");
	assert_int_equal(r->sockets[0].busy_ns, 20);
	report_free(r);
	/* the list of all tasks, without 6 */
	assert_int_equal(trace_send_resync(&out, true), 0);
	assert_int_equal(task(&out, 7, 1, "other"), 0);
	assert_int_equal(trace_send_resync(&out, false), 0);
	assert_int_equal(identity_followed_alive(session_identity(s)), 0);
	session_free(s);
}

static int name_it(void *arg, uint32_t pid, uint32_t tgid, uint64_t start_ns)
{
	const struct trace_sink *out = arg;
	const struct trace_task t = { .pid = pid, .tgid = tgid, .start_ns = start_ns, .comm = "x" };

	assert_int_equal(pid, 5);
	return trace_send_task(out, &t);
}

static int never(void *arg, uint32_t pid, uint32_t tgid, uint64_t start_ns)
{
	(void)arg, (void)pid, (void)tgid, (void)start_ns;
	return -EIO;
}

/* For a recorder: names are kept, time is not, and what is over is forgotten. */
static void names_only(void **state)
{
	struct session *s = make((struct session_options){ .names_only = true });
	struct trace_sink out = session_sink(s);
	uint64_t ends[2];
	struct trace_mark m;
	struct report *r;

	(void)state;
	begin(&out, 0);
	assert_int_equal(slice(&out, 5, 0, 0, 10), 0);
	assert_int_equal(slice(&out, 5, 3, 0, 10), -EINVAL);
	assert_int_equal(window(&out, 0, 10, 1), 0);
	assert_int_equal(window(&out, 0, 10, 1), -EINVAL);
	assert_true(session_unknown_cgroup(s));
	assert_false(session_unknown_cgroup(s));
	assert_int_equal(session_each_unnamed(s, name_it, &out), 0);
	assert_int_equal(session_each_unnamed(s, never, NULL), 0);
	assert_int_equal(identity_follow(session_identity(s), 5), 1);
	assert_int_equal(trace_send_exit(&out, 5, 5), 0);
	for (uint64_t k = 1; k < 10; k++) {
		m = mark_at(100 * k, ends);
		assert_int_equal(trace_send_mark(&out, &m), 0);
	}
	assert_int_equal(session_report(s, &m, &r), -EINVAL);
	/* forgotten: now it is a task without a name again */
	assert_int_equal(slice(&out, 5, 0, 900, 910), 0);
	assert_int_equal(session_each_unnamed(s, never, NULL), -EIO);
	session_free(s);
}

static int answer(void *arg, const struct trace_event *e)
{
	const int *err = arg;

	(void)e;
	return *err;
}

static void a_tee_lets_the_first_one_judge(void **state)
{
	struct session *a = make((struct session_options){ .all = true });
	struct session *b = make((struct session_options){ .by = ROW_CGROUP, .all = true });
	struct tee tee = { .sinks = { session_sink(a), session_sink(b) }, .nr = 2 };
	struct trace_sink out = tee_sink(&tee);
	struct report *r, *q;

	(void)state;
	begin(&out, 0);
	assert_int_equal(trace_send_cgroup(&out, 1, "/"), 0);
	assert_int_equal(slice(&out, 5, 0, 0, 10), 0);
	assert_int_equal(tee.refused, 0);
	assert_int_equal(slice(&out, 5, 7, 0, 10), -EINVAL);
	assert_int_equal(tee.refused, 1);
	assert_int_equal(window(&out, 0, 100, 6), 0);
	r = report_at(a, 100);
	q = report_at(b, 100);
	assert_int_equal(r->counters[0].attributed, 6);
	assert_int_equal(q->counters[0].attributed, 6);
	assert_string_equal(q->rows[0].cgroup, "/");
	report_free(r);
	report_free(q);
	session_free(a);
	session_free(b);
	/* who refuses is told apart: one is the kernel's mistake, the other a full disk */
	tee.sinks[0] = (struct trace_sink){ answer, &(int){ 0 } };
	tee.sinks[1] = (struct trace_sink){ answer, &(int){ -ENOSPC } };
	assert_int_equal(trace_send_resync(&out, true), -ENOSPC);
	assert_int_equal(tee.refused, 2);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(intervals_and_a_summary),
		cmocka_unit_test(a_summary_says_which_cgroups_are_gone),
		cmocka_unit_test(inner_marks_change_no_sum),
		cmocka_unit_test(nothing_before_the_first_mark),
		cmocka_unit_test(a_run_may_begin_in_the_middle),
		cmocka_unit_test(nonsense_is_refused_and_left_out),
		cmocka_unit_test(late_and_lost_slices_are_counted),
		cmocka_unit_test(followed_tasks_and_selected_cgroups),
		cmocka_unit_test(names_only),
		cmocka_unit_test(a_tee_lets_the_first_one_judge),
	};

	return cmocka_run_group_tests_name("session", tests, NULL, NULL);
}
