// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * A recording of a whole machine of two sockets with 352 CPUs and 5,000 processes, all of which go
 * on and off CPUs all the time: how fast it is written and reported, and how much memory that
 * needs.
 *
 * large FOLDER [SECONDS]: SECONDS of it, which is 20 without. Each row is a process of its own,
 * and its peak is what it ever had resident.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/diag.h"
#include "engine/session/session.h"
#include "synthetic.h"
#include "trace/recording.h"

static const struct synthetic_size size = { .workloads = 2500,
					    .windows = 100,
					    .slots = 5,
					    .cpu_counters = 2,
					    .cgroups = 500,
					    .cpus = 176 };

/* What a row is about, and what comes of it */
struct row {
	const char *what;
	const struct session_options *options; /* NULL: nobody looks at the events */
	const char *path;
	uint32_t seconds; /* to write; 0 = to read */
};

struct result {
	uint64_t slices;
	uint64_t bytes;
	double seconds; /* of CPU time, of all threads */
	double wall;
	long peak_kib;
};

struct reader {
	struct session *session;
	struct trace_sink to;
	uint64_t slices;
};

static void must_do(int err, const char *what, const struct diag *d)
{
	if (err)
		fprintf(stderr, "bench: %s\n", d->what);
	must(err, what);
}

static int on_event(void *arg, const struct trace_event *e)
{
	struct reader *r = arg;
	struct report *report;
	int err;

	r->slices += e->type == TRACE_SLICE;
	if (!r->session)
		return 0;
	if (e->type != TRACE_MARK || e->mark.first)
		return trace_send(&r->to, e);
	err = session_report(r->session, &e->mark, &report);
	if (!err)
		report_free(report);
	return err;
}

static void read_all(const struct row *row, struct result *ret)
{
	struct reader r = { 0 };
	const struct trace_sink sink = { on_event, &r };
	struct trace_file *file;
	struct trace_end end;
	struct diag d = { 0 };

	must_do(trace_file_open(row->path, &d, &file), "open", &d);
	if (row->options) {
		must(session_new(trace_file_header(file), row->options, &r.session), "session");
		r.to = session_sink(r.session);
	}
	must_do(trace_file_read(file, &sink, &d, &end), "read", &d);
	ret->slices = r.slices;
	session_free(r.session);
	trace_file_close(file);
}

/* Inventing the events is not measured. */
static void write_all(const struct row *row, struct result *ret)
{
	struct synthetic *s = synthetic_new(&size);
	struct recording_writer *w;
	struct diag d = { 0 };
	struct trace_sink sink;
	uint64_t slices;

	must_do(recording_create(row->path, synthetic_header(s), 0, &d, &w), "recording", &d);
	sink = recording_sink(w);
	must(synthetic_begin(s, &sink), "begin");
	for (uint32_t i = 0; i < row->seconds; i++) {
		double before = cpu_seconds();

		synthetic_prepare(s);
		ret->seconds -= cpu_seconds() - before;
		must(synthetic_second(s, &sink, &slices, NULL), "events");
		must(trace_send_mark(&sink, synthetic_mark(s)), "mark");
		ret->slices += slices;
	}
	must_do(recording_finish(w, &d, &ret->bytes), "recording", &d);
	synthetic_free(s);
}

/* Does what @row says in a process of its own. */
static struct result measure(const struct row *row)
{
	uint64_t start_ns = monotonic_ns();
	struct result r = { 0 };
	int ends[2], status;
	pid_t child;

	must(pipe(ends) ? -errno : 0, "pipe");
	child = fork();
	must(child < 0 ? -errno : 0, "fork");
	if (!child) {
		if (row->seconds)
			write_all(row, &r);
		else
			read_all(row, &r);
		r.seconds += cpu_seconds();
		r.wall = (monotonic_ns() - start_ns) / 1e9;
		r.peak_kib = resident_kib();
		_exit(write(ends[1], &r, sizeof(r)) != sizeof(r));
	}
	close(ends[1]);
	if (read(ends[0], &r, sizeof(r)) != sizeof(r) || waitpid(child, &status, 0) != child ||
	    status) {
		fprintf(stderr, "bench: %s: failed\n", row->what);
		exit(1);
	}
	close(ends[0]);
	return r;
}

int main(int argc, char **argv)
{
	static const struct session_options by_process = {
		.by = ROW_PROCESS, .all = true, .method = METHOD_STATE_SPACE, .replayed = true
	};
	static const struct session_options by_two = { .by = ROW_PROCESS,
						       .all = true,
						       .method = METHOD_STATE_SPACE,
						       .replayed = true,
						       .two_threads = true };
	static const struct session_options by_cgroup = {
		.by = ROW_CGROUP, .all = true, .method = METHOD_STATE_SPACE, .replayed = true
	};
	static const struct session_options by_cpu_time = {
		.by = ROW_PROCESS, .all = true, .method = METHOD_CPU_TIME, .replayed = true
	};
	const char *text = argc > 2 ? argv[2] : "20";
	uint32_t seconds = strtoul(text, NULL, 10);
	char path[4096];
	const struct row rows[] = {
		{ "written", NULL, path, seconds },
		{ "read and ignored", NULL, path, 0 },
		{ "reported by process, by CPU time", &by_cpu_time, path, 0 },
		{ "reported by process", &by_process, path, 0 },
		{ "reported by process, by two threads", &by_two, path, 0 },
		{ "reported by cgroup", &by_cgroup, path, 0 },
	};

	if (argc < 2 || argc > 3 || !seconds) {
		fprintf(stderr, "usage: large FOLDER [SECONDS]\n");
		return 2;
	}
	snprintf(path, sizeof(path), "%s/large", argv[1]);
	printf("%u CPUs, %u processes, %u cgroups, %u s, a report each second\n\n",
	       SYNTHETIC_SOCKETS * size.cpus, SYNTHETIC_SOCKETS * size.workloads, size.cgroups,
	       seconds);
	printf("%-40s%16s%18s%18s%12s\n", "a recording is", "million slices", "million a second",
	       "by wall clock", "peak, MiB");
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct result r = measure(&rows[i]);

		/* Inventing what is written takes wall time as well. */
		printf("%-40s%16.1f%18.2f%18.2f%12.1f\n", rows[i].what, r.slices / 1e6,
		       r.slices / r.seconds / 1e6, r.slices / r.wall / 1e6, r.peak_kib / 1024.0);
		if (rows[i].seconds)
			printf("%-40s%16.1f\n", "  bytes a slice", (double)r.bytes / r.slices);
		fflush(stdout);
	}
	unlink(path);
	return 0;
}
