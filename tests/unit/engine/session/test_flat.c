// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Memory stays flat: what the daemon keeps of a million short processes and a hundred thousand
 * short jobs, each in a cgroup of its own, is what it keeps of the first few, in short intervals and in
 * a single long one. The engine, accounts and metrics
 * are the daemon's; how the kernel tells of all this is another matter (tests/bench/serve_churn.py).
 */
#include <malloc.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <cmocka.h>

#include "engine/accounts/accounts.h"
#include "engine/session/session.h"
#include "report/openmetrics/openmetrics.h"
#include "valgrind.h"

#define INTERVALS     1000
#define JOBS	      100 /* an interval */
#define PROCESSES     10  /* a job */
#define INTERVAL_NS   1000000000ull
#define SLICE_NS      (INTERVAL_NS / (JOBS * PROCESSES))
#define FIRST_CGROUP  100
#define WARM	      (3 * INTERVALS / 10)
/* Half a byte a process would be more. */
#define MORE_PERCENT  2
/* What waits goes up and down by some windows; a window that is kept has a hundred bytes. */
#define MORE_LONG     5
#define BYTES_A_SLICE 1000
#define BLOCK	      110 /* windows between two inner marks: some wait */

static uint32_t cpu_socket[] = { 0 };
static uint32_t socket_ids[] = { 0 };
static struct counter counters[] = { { .name = "ucf0/rd", .source = SOURCE_CPU } };
static struct group groups[] = { { 0, 0, 1 } };
static const struct trace_header header = {
	.host = { .name = "n1", .sockets = 1 },
	.layout = { .cpu_socket = cpu_socket,
		    .nr_cpus = 1,
		    .socket_ids = socket_ids,
		    .nr_sockets = 1,
		    .counters = counters,
		    .nr_counters = 1,
		    .groups = groups,
		    .nr_groups = 1 },
};

struct daemon {
	struct session *session;
	struct trace_sink in;
	struct accounts *accounts;
	struct openmetrics *metrics;
	uint64_t now;
	uint64_t processes;
	uint64_t jobs;
};

static int save(void *arg, const struct account_job *j)
{
	(void)arg;
	(void)j;
	return 0;
}

enum mark {
	FIRST,
	INNER,
	END,
};

static void mark(struct daemon *w, enum mark kind)
{
	const struct trace_mark m = {
		.first = kind == FIRST,
		.inner = kind == INNER,
		.time_ns = w->now,
		.realtime_ns = w->now,
		.ends_ns = &w->now,
	};
	struct report *r;

	assert_int_equal(trace_send_mark(&w->in, &m), 0);
	if (kind != END)
		return;
	assert_int_equal(session_report(w->session, &m, &r), 0);
	assert_int_equal(accounts_interval(w->accounts, r), 0);
	assert_int_equal(openmetrics_interval(w->metrics, r), 0);
	assert_int_equal(accounts_each_changed(w->accounts, save, NULL), 0);
	accounts_saved(w->accounts);
	report_free(r);
}

static void process(struct daemon *w, uint64_t cgroup)
{
	/* numbers come again, as on a machine */
	uint32_t pid = 1000 + w->processes++ % 30000;
	const struct trace_task t = { .pid = pid,
				      .tgid = pid,
				      .start_ns = w->now,
				      .parent = 1,
				      .cgroup_id = cgroup,
				      .comm = "short" };
	const struct trace_slice s = { .pid = pid,
				       .tgid = pid,
				       .task_start_ns = w->now,
				       .cgroup_id = cgroup,
				       .start_ns = w->now,
				       .end_ns = w->now + SLICE_NS,
				       .on_cpu_ns = SLICE_NS };

	assert_int_equal(trace_send_task(&w->in, &t), 0);
	assert_int_equal(trace_send_slice(&w->in, &s), 0);
	w->now += SLICE_NS;
	assert_int_equal(trace_send_exit(&w->in, pid, t.start_ns), 0);
}

static void job(struct daemon *w)
{
	uint64_t cgroup = FIRST_CGROUP + w->jobs++;
	const struct reading r = { BYTES_A_SLICE * PROCESSES, SLICE_NS * PROCESSES,
				   SLICE_NS * PROCESSES };
	const struct trace_window win = { 0, w->now, w->now + SLICE_NS * PROCESSES, &r };
	char path[64];

	snprintf(path, sizeof(path), "/slurm/uid_0/job_%llu", (unsigned long long)cgroup);
	assert_int_equal(trace_send_cgroup(&w->in, cgroup, path), 0);
	for (int i = 0; i < PROCESSES; i++)
		process(w, cgroup);
	assert_int_equal(trace_send_window(&w->in, &win), 0);
	assert_int_equal(trace_send_cgroup(&w->in, cgroup, NULL), 0);
}

/* What is not given back; nothing with allocators that do not tell. */
static size_t used_kib(void)
{
	struct mallinfo2 m = mallinfo2();

	return (m.uordblks + m.hblkhd) / 1024;
}

static void open_daemon(struct daemon *w)
{
	const struct session_options o = { .by = ROW_JOB, .all = true, .no_summary = true };
	const struct accounts_options a = { .boot = "b", .schedulers = 1u << SCHEDULER_SLURM };
	const struct openmetrics_options m = { .top = 50, .keep = 6 };

	*w = (struct daemon){ 0 };
	assert_int_equal(session_new(&header, &o, &w->session), 0);
	assert_int_equal(accounts_new(&a, &w->accounts), 0);
	assert_int_equal(openmetrics_new(&m, &w->metrics), 0);
	w->in = session_sink(w->session);
	mark(w, FIRST);
}

static void close_daemon(struct daemon *w)
{
	openmetrics_free(w->metrics);
	accounts_free(w->accounts);
	session_free(w->session);
}

static void memory_stays(void **state)
{
	size_t warm = 0, end;
	/* where memory is not told, the rest is soon seen */
	size_t intervals = under_valgrind(INTERVALS / 100, used_kib() ? INTERVALS : INTERVALS / 10);
	struct daemon w;

	(void)state;
	open_daemon(&w);
	for (size_t i = 0; i < intervals; i++) {
		for (int k = 0; k < JOBS; k++)
			job(&w);
		mark(&w, END);
		if (i == WARM)
			warm = used_kib();
	}
	end = used_kib();
	print_message("# %llu processes, %llu jobs: %zu KiB after three tenths, %zu at the end\n",
		      (unsigned long long)w.processes, (unsigned long long)w.jobs, warm, end);
	assert_true(!warm || 100 * end <= (100 + MORE_PERCENT) * warm);
	assert_int_equal(accounts_node(w.accounts)->jobs_started, w.jobs);
	assert_int_equal(accounts_node(w.accounts)->jobs_ended, w.jobs);
	assert_int_equal(accounts_nr(w.accounts), 0);
	close_daemon(&w);
}

/* One interval of many blocks of windows, in which processes of one job come and go. */
static void a_long_interval_stays_small(void **state)
{
	const size_t blocks = used_kib() ? under_valgrind(20, 1000) : 20;
	size_t warm = 0, end;
	struct daemon w;

	(void)state;
	open_daemon(&w);
	assert_int_equal(trace_send_cgroup(&w.in, FIRST_CGROUP, "/slurm/uid_0/job_1"), 0);
	for (size_t i = 0; i < blocks; i++) {
		for (size_t k = 0; k < BLOCK; k++) {
			const struct reading r = { BYTES_A_SLICE, SLICE_NS, SLICE_NS };
			const struct trace_window win = { 0, w.now, w.now + SLICE_NS, &r };

			process(&w, FIRST_CGROUP);
			assert_int_equal(trace_send_window(&w.in, &win), 0);
		}
		mark(&w, INNER);
		if (i == blocks / 10)
			warm = used_kib();
	}
	end = used_kib();
	print_message("# %zu windows in one interval: %zu KiB after a tenth, %zu at the end\n",
		      blocks * BLOCK, warm, end);
	assert_true(!warm || 100 * end <= (100 + MORE_LONG) * warm);
	mark(&w, END);
	assert_int_equal(accounts_node(w.accounts)->intervals, 1);
	assert_int_equal(accounts_node(w.accounts)->totals[0].value,
			 blocks * BLOCK * BYTES_A_SLICE);
	close_daemon(&w);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(memory_stays),
		cmocka_unit_test(a_long_interval_stays_small),
	};

	return cmocka_run_group_tests_name("flat", tests, NULL, NULL);
}
