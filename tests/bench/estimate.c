// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * What one second of a trace costs the engine: CPU time to take its events and to
 * report, and memory. Each case runs in a process of its own, so that its memory can
 * be told.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "engine/session/session.h"
#include "synthetic.h"

/* Seconds of trace: the first ones, in which tables grow, are not counted. */
#define WARM_UP 2
#define ROUNDS	7
#define GOAL_MS 20.0

struct bench_case {
	const char *what;
	struct synthetic_size size;
	bool has_goal;
};

static const struct bench_case cases[] = {
	{ "2 of 6 counters are the CPUs'", { 100, 100, 0, 2, 0, 0 }, true },
	{ "6 of 6 counters are the CPUs'", { 100, 100, 0, 6, 0, 0 }, true },
	{ "1 workload", { 1, 100, 0, 2, 0, 0 }, false },
	{ "10 workloads", { 10, 100, 0, 2, 0, 0 }, false },
	{ "1000 workloads", { 1000, 100, 0, 2, 0, 0 }, false },
	{ "2000 workloads", { 2000, 100, 0, 2, 0, 0 }, false },
	{ "250 windows", { 100, 250, 0, 2, 0, 0 }, false },
	{ "1000 windows", { 100, 1000, 0, 2, 0, 0 }, false },
};

static int by_size(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

/* A figure nobody can trust is worse than none: the report must have all bytes. */
static void check(const struct report *r, uint64_t bytes)
{
	uint64_t found = 0;
	size_t i;

	for (i = 0; i < r->nr_counters; i++)
		found += r->counters[i].value;
	if (found == bytes)
		return;
	fprintf(stderr, "bench: reported %llu bytes of %llu\n", (unsigned long long)found,
		(unsigned long long)bytes);
	exit(1);
}

static void print(const struct bench_case *c, double *totals, const double *reports, long kib)
{
	double spread[2], report = 0;
	char range[32];
	int i;

	for (i = 0; i < ROUNDS; i++)
		report += reports[i] / ROUNDS;
	qsort(totals, ROUNDS, sizeof(*totals), by_size);
	spread[0] = totals[0];
	spread[1] = totals[ROUNDS - 1];
	snprintf(range, sizeof(range), "%.2f..%.2f", spread[0], spread[1]);
	printf("%-44s%10.2f  %-18s", c->what, totals[ROUNDS / 2], range);
	if (c->has_goal)
		printf("<= %-7.0f", GOAL_MS);
	else
		printf("%-10s", "");
	printf(" %8.2f in the report, %5.1f MiB\n", report, kib / 1024.0);
	fflush(stdout);
}

static void run(const struct bench_case *c)
{
	const struct session_options options = { .by = ROW_PROCESS,
						 .all = true,
						 .method = METHOD_STATE_SPACE };
	struct synthetic *s = synthetic_new(&c->size);
	double totals[ROUNDS], reports[ROUNDS];
	struct session *session;
	struct trace_sink sink;
	long before;
	int i;

	synthetic_prepare(s); /* its memory is there before the session's */
	before = resident_kib();
	must(session_new(synthetic_header(s), &options, &session), "session");
	sink = session_sink(session);
	/* what was prepared is not used, and time has gone on */
	must(synthetic_begin(s, &sink), "begin");
	for (i = -WARM_UP; i < ROUNDS; i++) {
		struct report *report = NULL;
		double start, fed, end;
		uint64_t bytes;

		synthetic_prepare(s);
		start = cpu_seconds();
		must(synthetic_second(s, &sink, NULL, &bytes), "events");
		fed = cpu_seconds();
		must(session_report(session, synthetic_mark(s), &report), "report");
		end = cpu_seconds();
		check(report, bytes);
		report_free(report);
		if (i < 0)
			continue;
		totals[i] = (end - start) * 1e3;
		reports[i] = (end - fed) * 1e3;
	}
	print(c, totals, reports, resident_kib() - before);
	session_free(session);
	synthetic_free(s);
}

int main(void)
{
	size_t i;

	printf("One second of %d sockets with %d CPUs each; 100 workloads a socket and 100 "
	       "windows\n"
	       "unless it says otherwise. Milliseconds of one core.\n\n",
	       SYNTHETIC_SOCKETS, SYNTHETIC_CPUS_PER_SOCKET);
	printf("%-44s%10s  %-18s%-10s\n", "what", "median", "spread", "goal");
	fflush(stdout);
	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		pid_t pid = fork();
		int status;

		must(pid < 0 ? -errno : 0, "fork");
		if (!pid) {
			run(&cases[i]);
			_exit(0);
		}
		if (waitpid(pid, &status, 0) != pid || status)
			return 1;
	}
	return 0;
}
