// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * A recording gives the reports of the live run, byte for byte; so does one of a part of the run, and
 * so do rows that are of another kind from some interval on.
 */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "live/lookup/feed.h"
#include "replay/replay.h"
#include "trace/tee.h"
#include "engine/session/session.h"
#include "report/json/json.h"
#include "trace/midrun.h"
#include "trace/recording.h"

#define MS	     1000000ull
#define NR_CPUS	     4
#define NR_INTERVALS 12

/* Two sockets of two CPUs; two groups on the first, one on the second. */
static uint32_t cpu_socket[NR_CPUS] = { 0, 0, 1, 1 };
static uint32_t socket_ids[] = { 0, 1 };
static struct counter counters[] = {
	{ .name = "rd0", .pmu = "p0", .event = "rd", .filters = "cpu=1" },
	{ .name = "wr0", .pmu = "p0", .event = "wr", .group = 1, .direction = DIRECTION_WRITE },
	{ .name = "dev0", .pmu = "p0", .event = "rd", .group = 1, .source = SOURCE_DEVICE },
	{ .name = "rd1", .pmu = "p1", .event = "rd", .socket = 1, .group = 2 },
};
static struct group groups[] = { { 0, 0, 1 }, { 0, 1, 2 }, { 1, 3, 1 } };

static struct device devices[] = { { .bdf = "0000:01:00.0", .name = "nvme0n1" } };

static const struct trace_header header = {
	.host = { .name = "n1", .kernel = "7.1", .platform = "t410", .sockets = 2 },
	.layout = {
		.cpu_socket = cpu_socket,
		.nr_cpus = NR_CPUS,
		.socket_ids = socket_ids,
		.nr_sockets = 2,
		.counters = counters,
		.nr_counters = 4,
		.groups = groups,
		.nr_groups = 3,
	},
	.window_ns = 10 * MS,
	.interval_ns = 50 * MS,
	.marked = true,
	.devices = devices,
	.nr_devices = 1,
};

/* A reader on each socket; every counter is one event. */
static struct counted_event counted_events[] = {
	{ .counter = 0, .scale = { 1, 1 } },
	{ .counter = 1, .scale = { 1, 1 } },
	{ .counter = 2, .scale = { 1, 1 } },
	{ .counter = 3, .scale = { 1, 1 } },
};
static uint32_t events_of[][3] = { { 0, 1, 2 }, { 3 } };
static struct counter_reader readers[] = {
	{ .index = 0, .events = events_of[0], .nr = 3 },
	{ .index = 1, .events = events_of[1], .nr = 1 },
};
static const struct counters counted = {
	.events = counted_events,
	.nr_events = 4,
	.readers = readers,
	.nr_readers = 2,
	.max_readers = 2,
};

/* The same numbers each time, and no two alike. */
static uint64_t next_random(uint64_t *state)
{
	*state = *state * 6364136223846793005ull + 1442695040888963407ull;
	return *state >> 33;
}

struct world {
	struct feed feed;
	struct ledger_sink in;
	struct tee tee;
	struct trace_sink out;
	uint64_t random;
	uint64_t now;
	uint64_t total[2][3]; /* counters, by socket */
	uint32_t next_pid;
	int deaths_from; /* interval; the dead run on, and only who knew them can name them */
};

static void send_task(struct world *w, uint32_t type, uint32_t pid, uint32_t parent)
{
	struct ledger_task t = { .h = { .type = type, .time_ns = w->now },
				 .pid = pid,
				 .tgid = pid,
				 .parent = parent,
				 .parent_start_ns = parent * 10ull,
				 .start_ns = pid * 10ull,
				 .leader_start_ns = pid * 10ull,
				 .cgroup_id = 1 + pid % 3 };

	snprintf(t.comm, sizeof(t.comm), "task-%u", pid);
	w->in.task(w->in.arg, &t);
}

static void send_cgroup(struct world *w, uint64_t id, const char *path)
{
	struct ledger_cgroup c = { .h = { .type = path ? LEDGER_CGROUP_NEW : LEDGER_CGROUP_GONE },
				   .id = id };

	snprintf(c.path, sizeof(c.path), "%s", path ? path : "");
	w->in.cgroup(w->in.arg, &c);
}

/* The counters of a socket are read. */
static void send_window(struct world *w, uint32_t socket, uint64_t end)
{
	struct ledger_window r = { .h = { .type = LEDGER_WINDOW, .time_ns = end },
				   .reader = socket,
				   .nr = socket ? 1 : 3 };

	for (uint32_t i = 0; i < r.nr; i++) {
		w->total[socket][i] += next_random(&w->random) % 10000000;
		r.readings[i].value = (struct ledger_value){ w->total[socket][i], end, end };
	}
	if (next_random(&w->random) % 10 == 0)
		r.readings[0].error = -EIO;
	w->in.window(w->in.arg, &r);
}

/* 10 ms of everything: each CPU runs three tasks, idles, or loses some time. */
static void step(struct world *w)
{
	uint64_t begin = w->now, end = w->now + 10 * MS;

	for (uint32_t cpu = 0; cpu < NR_CPUS; cpu++) {
		struct ledger_slices s = { .h = { .type = LEDGER_SLICES, .cpu = cpu }, .nr = 4 };
		uint64_t at = begin;

		for (int i = 0; i < 4; i++) {
			uint64_t length = next_random(&w->random) % (3 * MS);
			uint32_t pid = 2 + next_random(&w->random) % (w->next_pid - 1);

			s.slots[i] = (struct ledger_slot){ .pid = pid,
							   .tgid = pid,
							   .start_ns = pid * 10ull,
							   .cgroup_id = 1 + pid % 3,
							   .first_ns = at,
							   .last_ns = at + length,
							   .on_cpu_ns = length - length / 9 };
			at += length;
		}
		if (next_random(&w->random) % 4 == 0)
			s.slots[3].tgid = 0; /* idle */
		if (next_random(&w->random) % 16 == 0)
			s.slots[2].pid = s.slots[2].tgid = LEDGER_LOST_PID;
		if (next_random(&w->random) % 32 == 0)
			s.slots[1].on_cpu_ns = UINT64_MAX; /* impossible */
		w->in.slices(w->in.arg, &s, NULL);
	}
	w->now = end;
	for (uint32_t socket = 0; socket < 2; socket++)
		send_window(w, socket, end);
}

static void send_mark(struct world *w, bool first, bool last, struct trace_mark *ret,
		      uint64_t *ends)
{
	ends[0] = w->feed.last_end_ns[0] ? w->feed.last_end_ns[0] : w->now;
	ends[1] = w->feed.last_end_ns[1] ? w->feed.last_end_ns[1] : w->now;
	*ret = (struct trace_mark){
		.first = first,
		.last = last,
		.time_ns = w->now,
		.realtime_ns = 1790000000000000000ull + w->now,
		.ends_ns = ends,
		.losses = { .invalid_windows = w->feed.invalid_windows,
			    .unscheduled_windows = w->feed.unscheduled_windows,
			    .bad_records = w->feed.bad_slices,
			    .kept_flushes = w->now / (70 * MS),
			    .unseen_switches = w->now / (90 * MS) },
		.cost = { .cpu_ns = w->now / 100,
			  .switches = w->now / 1000,
			  .switch_ns = w->now / 3000,
			  .timed = w->now / 64000 },
	};
	assert_int_equal(trace_send_mark(&w->out, ret), 0);
}

/* What changes from one interval to the next. */
static void change_things(struct world *w, int interval)
{
	char path[64];

	w->next_pid++;
	send_task(w, LEDGER_TASK_FORK, w->next_pid, 3);
	if (interval % 3 == 1 && interval >= w->deaths_from)
		send_task(w, LEDGER_TASK_EXIT, w->next_pid - 3, 1);
	snprintf(path, sizeof(path), "/job/step_%d", interval);
	send_cgroup(w, 2, path);
	if (interval == 7)
		send_cgroup(w, 3, NULL);
	if (interval == 5) {
		assert_int_equal(trace_send_resync(&w->out, true), 0);
		for (uint32_t pid = 2; pid <= w->next_pid; pid += 2)
			send_task(w, LEDGER_TASK_FORK, pid, 1);
		assert_int_equal(trace_send_resync(&w->out, false), 0);
	}
}

/* Appends what replay or live run would print. */
static int print(void *arg, struct report *r, struct diag *d)
{
	(void)d;
	return json_write(arg, r);
}

static void report_now(struct session *s, const struct trace_mark *m, FILE *out)
{
	struct report *r;

	assert_int_equal(session_report(s, m, &r), 0);
	assert_int_equal(print(out, r, NULL), 0);
	report_free(r);
}

/* Sinks are there: some cgroups and processes, one of which is followed, and the first mark. */
static void begin(struct world *w, struct trace_mark *m, uint64_t ends[2])
{
	w->out = tee_sink(&w->tee);
	assert_int_equal(feed_init(&w->feed, &header.layout, &counted, &w->out, header.window_ns),
			 0);
	w->in = feed_sink(&w->feed);
	send_cgroup(w, 1, "/");
	send_cgroup(w, 2, "/job");
	send_cgroup(w, 3, "/system.slice");
	for (uint32_t pid = 2; pid < 5; pid++)
		send_task(w, LEDGER_TASK_FORK, pid, 1);
	assert_int_equal(trace_send_follow(&w->out, 3), 0);
	step(w);
	send_mark(w, true, false, m, ends);
}

/* A live run with a recorder beside its session; returns what it printed. */
static char *run_live(enum row_kind by, const char *path, int deaths_from, char **ret_summary)
{
	const struct session_options o = { .by = by };
	struct world w = {
		.random = 1, .now = 100 * MS, .next_pid = 5, .deaths_from = deaths_from
	};
	struct recording_writer *recorder;
	struct session *s;
	struct trace_mark m;
	struct report *r;
	uint64_t ends[2];
	struct diag d = { 0 };
	char *text = NULL;
	size_t length;
	FILE *out = open_memstream(&text, &length);

	assert_int_equal(session_new(&header, &o, &s), 0);
	assert_int_equal(recording_create(path, &header, 0, &d, &recorder), 0);
	w.tee = (struct tee){ .sinks = { session_sink(s), recording_sink(recorder) }, .nr = 2 };
	begin(&w, &m, ends);
	for (int i = 0; i < NR_INTERVALS; i++) {
		for (int k = 0; k < 5; k++)
			step(&w);
		change_things(&w, i);
		send_mark(&w, false, i == NR_INTERVALS - 1, &m, ends);
		report_now(s, &m, out);
	}
	assert_int_equal(w.feed.error, 0);
	assert_true(w.feed.bad_slices && w.feed.invalid_windows);
	assert_int_equal(fclose(out), 0);
	out = open_memstream(ret_summary, &length);
	assert_int_equal(session_summary(s, &r), 0);
	assert_int_equal(print(out, r, NULL), 0);
	report_free(r);
	fclose(out);
	assert_int_equal(recording_finish(recorder, &d, NULL), 0);
	feed_release(&w.feed);
	session_free(s);
	return text;
}

static char *run_replay(enum row_kind by, const char *path, char **ret_summary)
{
	struct run_options args = { .file = path, .by = by, .by_given = true };
	struct replay_output output = { .report = print };
	struct trace_file *file;
	struct replay *replay;
	struct trace_sink sink;
	struct trace_end end;
	struct diag d = { 0 };
	char *text = NULL;
	size_t length, summary_at;
	FILE *out = open_memstream(&text, &length);

	output.arg = out;
	assert_int_equal(trace_file_open(path, &d, &file), 0);
	assert_int_equal(replay_new(trace_file_header(file), &args, &output, &d, &replay), 0);
	sink = replay_sink(replay);
	assert_int_equal(trace_file_read(file, &sink, &d, &end), 0);
	assert_true(end.complete);
	assert_int_equal(end.refused, 0);
	assert_int_equal(replay_finish(replay), 0);
	assert_int_equal(replay_intervals(replay), NR_INTERVALS);
	fflush(out);
	summary_at = length;
	assert_int_equal(replay_summary(replay), 0);
	fclose(out);
	*ret_summary = strdup(text + summary_at);
	text[summary_at] = '\0';
	replay_free(replay);
	trace_file_close(file);
	return text;
}

/* Compares two texts apart from where they say they come from. */
static void check_same(const char *live, const char *replayed)
{
	static const char is_live[] = "\"source\":\"live\"";
	static const char is_recording[] = "\"source\":\"recording\"";
	const char *at;

	while ((at = strstr(live, is_live))) {
		const char *other = strstr(replayed, is_recording);

		assert_non_null(other);
		assert_int_equal(other - replayed, at - live);
		assert_memory_equal(live, replayed, at - live);
		live = at + strlen(is_live);
		replayed = other + strlen(is_recording);
	}
	assert_string_equal(live, replayed);
}

static void check_rows(enum row_kind by)
{
	char path[] = "/tmp/t410-exact-XXXXXX";
	char *live, *replayed, *live_summary, *replayed_summary;
	int fd = mkstemp(path);

	assert_true(fd >= 0);
	close(fd);
	live = run_live(by, path, 0, &live_summary);
	replayed = run_replay(by, path, &replayed_summary);
	check_same(live, replayed);
	check_same(live_summary, replayed_summary);
	unlink(path);
	free(live);
	free(replayed);
	free(live_summary);
	free(replayed_summary);
}

/*
 * A task of CPU 0 and what it asked of a device go on beyond the mark that follows, and counters are
 * read once more before it.
 */
static void send_overhang(struct world *w)
{
	const struct trace_event e = { .type = TRACE_SLICE,
				       .slice = { .pid = 3,
						  .tgid = 3,
						  .task_start_ns = 30,
						  .cgroup_id = 1,
						  .start_ns = w->now - MS,
						  .end_ns = w->now + 2 * MS,
						  .on_cpu_ns = 3 * MS } };

	const struct trace_io io = { .pid = 3,
				     .tgid = 3,
				     .task_start_ns = 30,
				     .cgroup_id = 1,
				     .read_bytes = 4096,
				     .write_bytes = 100,
				     .start_ns = w->now - MS,
				     .end_ns = w->now + 2 * MS };

	assert_int_equal(trace_send(&w->out, &e), 0);
	assert_int_equal(trace_send_io(&w->out, &io), 0);
	w->feed.cut_ns = w->now;
	for (uint32_t socket = 0; socket < 2; socket++)
		send_window(w, socket, w->now + MS);
	w->feed.cut_ns = UINT64_MAX;
}

#define CHANGED 4 /* so many intervals have the rows from before */

/*
 * A live run whose rows are of kind @by after some intervals; returns what it prints then. With
 * @path, it is recorded then, and ends in the middle of an interval.
 */
static char *run_rows(enum row_kind first, enum row_kind by, bool all, const char *path)
{
	struct session_options o = { .by = first, .all = all, .method = METHOD_CPU_TIME };
	struct world w = { .random = 1, .now = 100 * MS, .next_pid = 5, .deaths_from = CHANGED };
	struct session *s, *next;
	struct trace_sink sink;
	struct midrun *midrun;
	struct trace_mark m;
	struct diag d = { 0 };
	uint64_t ends[2], bytes;
	char *text = NULL;
	size_t length;
	FILE *out = open_memstream(&text, &length), *before = fopen("/dev/null", "w");

	assert_int_equal(session_new(&header, &o, &s), 0);
	assert_int_equal(midrun_new(&header, &midrun), 0);
	w.tee = (struct tee){ .sinks = { session_sink(s), midrun_sink(midrun) }, .nr = 2 };
	begin(&w, &m, ends);
	for (int i = 0; i < NR_INTERVALS; i++) {
		for (int k = 0; k < (path && i == NR_INTERVALS - 1 ? 2 : 5); k++)
			step(&w);
		change_things(&w, i);
		send_overhang(&w);
		if (path && i + 1 == CHANGED)
			assert_int_equal(midrun_start(midrun, path, &d), 0);
		send_mark(&w, false, i == NR_INTERVALS - 1, &m, ends);
		report_now(s, &m, i < CHANGED ? before : out);
		if (i + 1 != CHANGED || first == by)
			continue;
		o.by = by;
		assert_int_equal(session_new(&header, &o, &next), 0);
		sink = session_sink(next);
		assert_int_equal(midrun_tell(midrun, &sink, &m), 0);
		session_free(s);
		s = next;
		w.tee.sinks[0] = sink;
	}
	if (path)
		assert_int_equal(midrun_stop(midrun, &d, &bytes), 0);
	assert_int_equal(fclose(out), 0);
	fclose(before);
	feed_release(&w.feed);
	session_free(s);
	midrun_free(midrun);
	return text;
}

/* Rows that change have what they would have had from the start on, to the unit. */
static void changed_rows(void **state)
{
	static const enum row_kind kinds[][2] = { { ROW_PROCESS, ROW_CGROUP },
						  { ROW_CGROUP, ROW_PROCESS } };

	(void)state;
	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++)
		for (int all = 0; all < 2; all++) {
			char *changed = run_rows(kinds[i][0], kinds[i][1], all, NULL);
			char *same = run_rows(kinds[i][1], kinds[i][1], all, NULL);

			assert_string_equal(changed, same);
			free(changed);
			free(same);
		}
}

static void processes(void **state)
{
	(void)state;
	check_rows(ROW_PROCESS);
}

static void cgroups(void **state)
{
	(void)state;
	check_rows(ROW_CGROUP);
}

/* A replay that is told to change its rows while it reads */
struct change {
	struct replay *replay;
	enum row_kind by;
	int intervals;
	FILE *out;
};

static int print_changing(void *arg, struct report *r, struct diag *d)
{
	struct change *c = arg;

	if (++c->intervals == CHANGED)
		assert_int_equal(replay_regroup(c->replay, c->by), 0);
	return c->intervals > CHANGED ? print(c->out, r, d) : 0;
}

/* Returns what is printed behind the first @CHANGED intervals; @before of them are not in the file. */
static char *replay_rows(const char *path, enum row_kind first, enum row_kind by, int before)
{
	struct run_options args = {
		.file = path, .by = first, .by_given = true, .method = METHOD_CPU_TIME
	};
	struct change change = { .by = by, .intervals = before };
	const struct replay_output output = { .report = print_changing,
					      .arg = &change,
					      .regroups = true };
	struct trace_file *file;
	struct trace_sink sink;
	struct trace_end end;
	struct diag d = { 0 };
	char *text = NULL;
	size_t length;

	change.out = open_memstream(&text, &length);
	assert_int_equal(trace_file_open(path, &d, &file), 0);
	assert_int_equal(replay_new(trace_file_header(file), &args, &output, &d, &change.replay),
			 0);
	sink = replay_sink(change.replay);
	assert_int_equal(trace_file_read(file, &sink, &d, &end), 0);
	assert_int_equal(change.intervals, NR_INTERVALS);
	replay_free(change.replay);
	trace_file_close(file);
	assert_int_equal(fclose(change.out), 0);
	return text;
}

static void changed_rows_of_a_replay(void **state)
{
	char path[] = "/tmp/t410-exact-XXXXXX", *summary, *changed, *same;
	int fd = mkstemp(path);

	(void)state;
	assert_true(fd >= 0);
	close(fd);
	free(run_live(ROW_PROCESS, path, CHANGED, &summary));
	changed = replay_rows(path, ROW_PROCESS, ROW_CGROUP, 0);
	same = replay_rows(path, ROW_CGROUP, ROW_CGROUP, 0);
	assert_non_null(strstr(changed, "/job"));
	assert_string_equal(changed, same);
	unlink(path);
	free(summary);
	free(changed);
	free(same);
}

/* As the screen had it, and what was left of an interval when it ended. */
static void a_recording_from_now_on(void **state)
{
	char path[] = "/tmp/t410-exact-XXXXXX", *live, *replayed;
	int fd = mkstemp(path);

	(void)state;
	assert_true(fd >= 0);
	close(fd);
	live = run_rows(ROW_PROCESS, ROW_PROCESS, false, path);
	replayed = replay_rows(path, ROW_PROCESS, ROW_PROCESS, CHANGED);
	check_same(live, replayed);
	unlink(path);
	free(live);
	free(replayed);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(processes),
		cmocka_unit_test(cgroups),
		cmocka_unit_test(changed_rows),
		cmocka_unit_test(changed_rows_of_a_replay),
		cmocka_unit_test(a_recording_from_now_on),
	};

	return cmocka_run_group_tests_name("exact", tests, NULL, NULL);
}
