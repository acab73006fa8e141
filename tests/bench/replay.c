// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * How fast recordings are read: a busy machine is recorded to a file, which is then
 * read by one who ignores everything, and by sessions with the simplest and the
 * best method.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/diag.h"
#include "engine/session/session.h"
#include "synthetic.h"
#include "trace/ndjson.h"
#include "trace/recording.h"

#define SECONDS	      5
#define ROUNDS	      5
#define GOAL_MILLIONS 2.0

/* 176,000 slices a second: every CPU changes between ten processes in every window. */
static const struct synthetic_size size = {
	.workloads = 100, .windows = 100, .slots = 10, .cpu_counters = 2
};

/* Hands everything to a session, and marks to session_report(). */
struct replay {
	struct session *session;
	struct trace_sink to;
	uint64_t slices;
	uint64_t reports;
};

static int on_mark(struct replay *r, const struct trace_mark *m)
{
	struct report *report;
	int err;

	if (m->first)
		return trace_send_mark(&r->to, m);
	err = session_report(r->session, m, &report);
	if (err)
		return err;
	report_free(report);
	r->reports++;
	return 0;
}

static int on_event(void *arg, const struct trace_event *e)
{
	struct replay *r = arg;

	r->slices += e->type == TRACE_SLICE;
	if (!r->session)
		return 0;
	return e->type == TRACE_MARK ? on_mark(r, &e->mark) : trace_send(&r->to, e);
}

static void must_do(int err, const char *what, const struct diag *d)
{
	if (err)
		fprintf(stderr, "bench: %s\n", d->what);
	must(err, what);
}

static uint64_t emit(const struct trace_sink *sink)
{
	struct synthetic *s = synthetic_new(&size);
	uint64_t slices, total = 0;
	int i;

	must(synthetic_begin(s, sink), "begin");
	for (i = 0; i < SECONDS; i++) {
		synthetic_prepare(s);
		must(synthetic_second(s, sink, &slices, NULL), "events");
		must(trace_send_mark(sink, synthetic_mark(s)), "mark");
		total += slices;
	}
	synthetic_free(s);
	return total;
}

static uint64_t record(const char *path, uint64_t *ret_bytes)
{
	struct synthetic *s = synthetic_new(&size);
	struct recording_writer *w;
	struct diag d = { 0 };
	struct trace_sink sink;
	uint64_t slices;

	must_do(recording_create(path, synthetic_header(s), 0, &d, &w), "recording", &d);
	sink = recording_sink(w);
	slices = emit(&sink);
	must_do(recording_finish(w, &d, ret_bytes), "recording", &d);
	synthetic_free(s);
	return slices;
}

static uint64_t write_ndjson(const char *path, uint64_t *ret_bytes)
{
	struct synthetic *s = synthetic_new(&size);
	FILE *out = fopen(path, "we");
	struct ndjson_writer *w;
	struct diag d = { 0 };
	struct trace_sink sink;
	uint64_t slices;

	must(out ? 0 : -errno, path);
	must_do(ndjson_create(out, synthetic_header(s), &d, &w), "NDJSON", &d);
	sink = ndjson_sink(w);
	slices = emit(&sink);
	must_do(ndjson_finish(w, &d), "NDJSON", &d);
	*ret_bytes = ftello(out);
	fclose(out);
	synthetic_free(s);
	return slices;
}

/* Seconds of CPU time to read it all; without a method nobody looks at the events. */
static double read_once(const char *path, const enum method *method, uint64_t slices)
{
	struct replay r = { 0 };
	const struct trace_sink sink = { on_event, &r };
	double start = cpu_seconds(), took;
	struct trace_file *file;
	struct trace_end end;
	struct diag d = { 0 };

	must_do(trace_file_open(path, &d, &file), "open", &d);
	if (method) {
		const struct session_options options = {
			.by = ROW_PROCESS, .all = true, .method = *method, .replayed = true
		};

		must(session_new(trace_file_header(file), &options, &r.session), "session");
		r.to = session_sink(r.session);
	}
	must_do(trace_file_read(file, &sink, &d, &end), "read", &d);
	took = cpu_seconds() - start;
	if (r.slices != slices || !end.complete) {
		fprintf(stderr, "bench: %llu of %llu slices\n", (unsigned long long)r.slices,
			(unsigned long long)slices);
		exit(1);
	}
	session_free(r.session);
	trace_file_close(file);
	return took;
}

static int by_size(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

static void measure(const char *what, const char *path, const enum method *method, uint64_t slices,
		    const char *goal)
{
	double speeds[ROUNDS];
	char range[32];
	int i;

	for (i = 0; i < ROUNDS; i++)
		speeds[i] = slices / read_once(path, method, slices) / 1e6;
	qsort(speeds, ROUNDS, sizeof(*speeds), by_size);
	snprintf(range, sizeof(range), "%.2f..%.2f", speeds[0], speeds[ROUNDS - 1]);
	printf("%-44s%10.2f  %-18s%s\n", what, speeds[ROUNDS / 2], range, goal);
	fflush(stdout);
}

int main(int argc, char **argv)
{
	static const enum method cpu_time = METHOD_CPU_TIME, state_space = METHOD_STATE_SPACE;
	uint64_t slices, bytes;
	char path[4096], goal[32];

	if (argc != 2) {
		fprintf(stderr, "usage: replay FOLDER\n");
		return 2;
	}
	snprintf(goal, sizeof(goal), ">= %.0f", GOAL_MILLIONS);
	snprintf(path, sizeof(path), "%s/recording", argv[1]);
	slices = record(path, &bytes);
	printf("%llu slices, %.1f bytes each in the recording. Millions a second of one core.\n\n",
	       (unsigned long long)slices, (double)bytes / slices);
	printf("%-44s%10s  %-18s%s\n", "what", "median", "spread", "goal");
	measure("recording, read and ignored", path, NULL, slices, "");
	measure("recording, reported by CPU time", path, &cpu_time, slices, "");
	measure("recording, reported by state space", path, &state_space, slices, goal);
	printf("memory, MiB %71.1f\n", resident_kib() / 1024.0);
	unlink(path);
	snprintf(path, sizeof(path), "%s/ndjson", argv[1]);
	slices = write_ndjson(path, &bytes);
	measure("NDJSON, read and ignored", path, NULL, slices, "");
	unlink(path);
	return 0;
}
