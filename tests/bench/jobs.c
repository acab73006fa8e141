// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Many cgroups: what closing an interval costs while 1,000 of them live, and whether
 * memory stays flat while 100,000 short ones with 1,000,000 short processes pass by.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "engine/session/session.h"
#include "synthetic.h"

/* Seconds of trace: the first ones, in which tables grow, are not counted. */
#define WARM_UP	      2
#define ROUNDS	      7
#define NS_PER_S      1000000000ull

/* Of the passing ones; the last intervals measure what is left. */
#define INTERVALS     200
#define CGROUPS_EACH  500
#define TASKS_EACH    10 /* in each cgroup */
#define WINDOWS_EACH  10
#define FIRST_SHORT   1000000
#define BYTES_OF_TASK 4096

struct bench_case {
	const char *what;
	enum row_kind by;
	struct synthetic_size size;
	double goal_ms;
	double goal_mib; /* beside what the events need that are handed in; 0 = none */
};

static const struct bench_case cases[] = {
	{ "1000 cgroups, 100 of them run: by job", ROW_JOB, { 50, 100, 0, 2, 1000, 0 }, 10, 0 },
	{ "1000 cgroups, all run: by job", ROW_JOB, { 500, 100, 0, 2, 1000, 0 }, 10, 0 },
	{ "1000 cgroups, all run: by cgroup", ROW_CGROUP, { 500, 100, 0, 2, 1000, 0 }, 10, 0 },
	{ "1000 cgroups, all run: by process", ROW_PROCESS, { 500, 100, 0, 2, 1000, 0 }, 10, 0 },
	{ "no cgroups, as many processes", ROW_PROCESS, { 500, 100, 0, 2, 0, 0 }, 10, 0 },
	{ "10,000 processes on 352 CPUs", ROW_PROCESS, { 5000, 100, 5, 2, 0, 176 }, 50, 48 },
};

static int by_size(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

static void check_bytes(const struct report *r, uint64_t bytes)
{
	uint64_t found = 0;

	for (size_t i = 0; i < r->nr_counters; i++)
		found += r->counters[i].value;
	if (found == bytes)
		return;
	fprintf(stderr, "bench: reported %" PRIu64 " bytes of %" PRIu64 "\n", found, bytes);
	exit(1);
}

static long resident_now(void)
{
	long pages = 0;
	FILE *f = fopen("/proc/self/statm", "r");

	if (!f || fscanf(f, "%*d %ld", &pages) != 1)
		must(-EIO, "/proc/self/statm");
	fclose(f);
	return pages * (sysconf(_SC_PAGESIZE) / 1024);
}

static void run(const struct bench_case *c)
{
	const struct session_options o = {
		.by = c->by, .all = true, .method = METHOD_STATE_SPACE, .no_summary = true
	};
	struct synthetic *s = synthetic_new(&c->size);
	struct session *session;
	struct trace_sink sink;
	double ms[ROUNDS];
	size_t rows = 0;
	long before_kib;

	synthetic_prepare(s);
	before_kib = resident_now();
	must(session_new(synthetic_header(s), &o, &session), "session");
	sink = session_sink(session);
	must(synthetic_begin(s, &sink), "begin");
	for (int i = -WARM_UP; i < ROUNDS; i++) {
		struct report *report = NULL;
		uint64_t bytes;
		double start;

		synthetic_prepare(s);
		must(synthetic_second(s, &sink, NULL, &bytes), "events");
		start = cpu_seconds();
		must(session_report(session, synthetic_mark(s), &report), "report");
		if (i >= 0)
			ms[i] = (cpu_seconds() - start) * 1e3;
		check_bytes(report, bytes);
		rows = report->nr_rows;
		report_free(report);
	}
	qsort(ms, ROUNDS, sizeof(*ms), by_size);
	printf("%-40s%8.2f  %6.2f..%-8.2f<= %-5.0f%6zu rows", c->what, ms[ROUNDS / 2], ms[0],
	       ms[ROUNDS - 1], c->goal_ms, rows);
	if (c->goal_mib > 0)
		printf(", %.1f MiB (goal %.0f)", (resident_kib() - before_kib) / 1024.0,
		       c->goal_mib);
	putchar('\n');
	session_free(session);
	synthetic_free(s);
}

/* --- memory */

/* A cgroup that is there for the interval from @start_ns on, with its processes. */
static void live_and_die(const struct trace_sink *sink, uint64_t nr, uint64_t start_ns)
{
	uint64_t id = FIRST_SHORT + 2 * nr;
	uint32_t sockets = SYNTHETIC_SOCKETS * SYNTHETIC_CPUS_PER_SOCKET;
	char path[64];
	int length;

	length = snprintf(path, sizeof(path), "/slurm/uid_1000/job_%" PRIu64, 1 + nr % 5000);
	must(trace_send_cgroup(sink, id, path), "cgroup");
	snprintf(path + length, sizeof(path) - length, "/step_0");
	must(trace_send_cgroup(sink, id + 1, path), "cgroup");
	for (uint32_t i = 0; i < TASKS_EACH; i++) {
		uint32_t pid = 1 + (nr * TASKS_EACH + i) % 4000000;
		const struct trace_task t = { .pid = pid,
					      .tgid = pid,
					      .start_ns = start_ns + i,
					      .cgroup_id = id + 1,
					      .comm = "short" };
		const struct trace_slice slice = { .pid = pid,
						   .tgid = pid,
						   .task_start_ns = t.start_ns,
						   .cgroup_id = id + 1,
						   .cpu = (nr + i) % sockets,
						   .start_ns = start_ns + i,
						   .end_ns = start_ns + NS_PER_S / 2 + i,
						   .on_cpu_ns = 100000 };

		must(trace_send_task(sink, &t), "task");
		must(trace_send_slice(sink, &slice), "slice");
		must(trace_send_exit(sink, pid, t.start_ns), "exit");
	}
	must(trace_send_cgroup(sink, id + 1, NULL), "cgroup");
	must(trace_send_cgroup(sink, id, NULL), "cgroup");
}

static void windows(const struct trace_sink *sink, uint64_t start_ns)
{
	const uint64_t length_ns = NS_PER_S / WINDOWS_EACH;
	struct reading r[SYNTHETIC_COUNTERS];

	for (int i = 0; i < SYNTHETIC_COUNTERS; i++)
		r[i] = (struct reading){ (uint64_t)BYTES_OF_TASK * CGROUPS_EACH * TASKS_EACH,
					 length_ns, length_ns };
	for (uint64_t i = 0; i < WINDOWS_EACH; i++)
		for (uint32_t group = 0; group < SYNTHETIC_SOCKETS; group++) {
			const struct trace_window w = { group, start_ns + i * length_ns,
							start_ns + (i + 1) * length_ns, r };

			must(trace_send_window(sink, &w), "window");
		}
}

static uint64_t ended(const struct report *r)
{
	uint64_t nr = 0;

	for (size_t i = 0; i < r->nr_rows; i++)
		nr += r->rows[i].exited && r->rows[i].job && !r->rows[i].job->step[0];
	return nr;
}

static void pass_by(enum row_kind by)
{
	const struct synthetic_size size = { .workloads = 1, .windows = 1, .cpu_counters = 2 };
	const struct session_options o = {
		.by = by, .all = true, .method = METHOD_STATE_SPACE, .no_summary = true
	};
	struct synthetic *s = synthetic_new(&size);
	uint64_t nr = 0, jobs = 0;
	struct session *session;
	struct trace_sink sink;
	long kib[3] = { 0 };
	double start;

	must(session_new(synthetic_header(s), &o, &session), "session");
	sink = session_sink(session);
	must(trace_send_mark(
		     &sink, &(struct trace_mark){ .first = true, .ends_ns = (uint64_t[]){ 0, 0 } }),
	     "mark");
	start = cpu_seconds();
	for (uint64_t i = 0; i < INTERVALS; i++) {
		uint64_t end_ns = (i + 1) * NS_PER_S;
		const struct trace_mark m = { .time_ns = end_ns,
					      .ends_ns = (uint64_t[]){ end_ns, end_ns } };
		struct report *r;

		for (int k = 0; k < CGROUPS_EACH; k++)
			live_and_die(&sink, nr++, i * NS_PER_S);
		windows(&sink, i * NS_PER_S);
		must(session_report(session, &m, &r), "report");
		jobs += ended(r);
		report_free(r);
		if (i + 1 == INTERVALS / 10)
			kib[0] = resident_now();
		if (i + 1 == INTERVALS / 2)
			kib[1] = resident_now();
	}
	kib[2] = resident_now();
	if (by == ROW_JOB && jobs != nr) {
		fprintf(stderr, "bench: %" PRIu64 " of %" PRIu64 " jobs ended\n", jobs, nr);
		exit(1);
	}
	printf("by %-10s %6.1f MiB %6.1f MiB %6.1f MiB  %6.0f ms an interval\n",
	       by == ROW_JOB ? "job" : "process", kib[0] / 1024.0, kib[1] / 1024.0, kib[2] / 1024.0,
	       (cpu_seconds() - start) * 1e3 / INTERVALS);
	session_free(session);
	synthetic_free(s);
}

static void in_child(void (*fn)(int nr), int nr)
{
	pid_t pid;
	int status;

	fflush(stdout);
	pid = fork();
	must(pid < 0 ? -errno : 0, "fork");
	if (!pid) {
		fn(nr);
		fflush(stdout);
		_exit(0);
	}
	if (waitpid(pid, &status, 0) != pid || status)
		exit(1);
}

static void run_case(int nr)
{
	run(&cases[nr]);
}

static void pass_by_kind(int by)
{
	pass_by(by);
}

int main(void)
{
	printf("Closing an interval of a second with 100 windows, ms of one core\n\n%-40s%8s  "
	       "%-16s%s\n",
	       "what", "median", "spread", "goal");
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		in_child(run_case, i);
	printf("\n%d cgroups with %d processes each pass by, %d an interval: resident memory "
	       "after\n"
	       "10%%, 50%% and all of them\n\n",
	       INTERVALS * CGROUPS_EACH, TASKS_EACH, CGROUPS_EACH);
	in_child(pass_by_kind, ROW_JOB);
	in_child(pass_by_kind, ROW_PROCESS);
	return 0;
}
