// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>
#include <errno.h>
#include <malloc.h>
#include <string.h>

#include "replay/boundaries.h"
#include "engine/session/session.h"
#include "replay/replay.h"
#include "trace/recording.h"
#include "temp_file.h"

#define MS 1000000ull
#define T0 (7 * MS) /* where traces begin */

/* Two sockets of one CPU each; the first has a counter. */
static uint32_t cpu_socket[] = { 0, 1 };
static uint32_t socket_ids[] = { 0, 1 };
static struct counter counters[] = { { .name = "a", .source = SOURCE_CPU } };
static struct group groups[] = { { 0, 0, 1 } };
static const struct trace_header unmarked = {
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

/* What came out. */
struct world {
	struct run_options args;
	struct diag d;
	struct replay *replay;
	struct trace_sink in;
	size_t nr;
	uint64_t start_ns[100];
	uint64_t end_ns[100];
	uint64_t bytes[100];
	uint64_t busy_ns[100];
	size_t rows[100];
	uint64_t first_row_ns[100];
	bool summary[100];
};

static int on_report(void *arg, struct report *r, struct diag *d)
{
	struct world *w = arg;

	(void)d;
	assert_true(w->nr < 100);
	assert_true(r->replayed);
	w->start_ns[w->nr] = r->start_ns;
	w->end_ns[w->nr] = r->end_ns;
	w->bytes[w->nr] = r->counters[0].value;
	w->busy_ns[w->nr] = r->sockets[0].busy_ns + r->sockets[1].busy_ns;
	w->rows[w->nr] = r->nr_rows;
	w->first_row_ns[w->nr] = r->nr_rows ? r->rows[0].on_cpu_ns : 0;
	w->summary[w->nr] = r->summary;
	w->nr++;
	return 0;
}

static void setup(struct world *w, const struct trace_header *h, struct run_options args)
{
	const struct replay_output output = { .report = on_report, .arg = w };

	memset(w, 0, sizeof(*w));
	w->args = args;
	w->args.file = "a file";
	assert_int_equal(replay_new(h, &w->args, &output, &w->d, &w->replay), 0);
	w->in = replay_sink(w->replay);
}

static int slice(struct world *w, uint32_t pid, uint32_t cpu, uint64_t start, uint64_t end)
{
	const struct trace_slice s = { .pid = pid,
				       .tgid = pid,
				       .cgroup_id = 1,
				       .cpu = cpu,
				       .start_ns = start,
				       .end_ns = end,
				       .on_cpu_ns = end - start };

	return trace_send_slice(&w->in, &s);
}

static int window(struct world *w, uint64_t start, uint64_t end)
{
	const struct reading r = { 1000, end - start, end - start };
	const struct trace_window event = { 0, start, end, &r };

	return trace_send_window(&w->in, &event);
}

static int mark(struct world *w, uint64_t ns, bool first)
{
	const uint64_t ends[] = { ns, ns };
	const struct trace_mark m = { .first = first, .time_ns = ns, .ends_ns = ends };

	return trace_send_mark(&w->in, &m);
}

/* Windows of 10 ms, of process 5 on CPU 0 and 6 on CPU 1, up to @end. */
static void fill(struct world *w, uint64_t begin, uint64_t end)
{
	for (uint64_t t = begin; t < end; t += 10 * MS) {
		assert_int_equal(slice(w, 5, 0, t, t + 10 * MS), 0);
		assert_int_equal(slice(w, 6, 1, t, t + 10 * MS), 0);
		assert_int_equal(window(w, t, t + 10 * MS), 0);
	}
}

/* Nothing is lost between the intervals, whatever they are. */
static void check_sums(const struct world *w, uint64_t bytes, uint64_t busy)
{
	uint64_t all_bytes = 0, all_busy = 0;

	for (size_t i = 0; i < w->nr; i++) {
		all_bytes += w->bytes[i];
		all_busy += w->busy_ns[i];
		if (i)
			assert_int_equal(w->start_ns[i], w->end_ns[i - 1]);
	}
	assert_int_equal(all_bytes, bytes);
	assert_int_equal(all_busy, busy);
}

static void a_trace_without_marks(void **state)
{
	struct world w;

	(void)state;
	setup(&w, &unmarked, (struct run_options){ 0 });
	fill(&w, T0, T0 + 4500 * MS);
	assert_int_equal(w.nr, 2); /* the third may still get events */
	assert_int_equal(replay_finish(w.replay), 0);
	assert_int_equal(w.nr, 5);
	assert_int_equal(replay_intervals(w.replay), 5);
	assert_int_equal(w.start_ns[0], T0);
	assert_int_equal(w.end_ns[0], T0 + 1000 * MS);
	assert_int_equal(w.bytes[0], 100000);
	assert_int_equal(w.busy_ns[0], 2000 * MS);
	assert_int_equal(w.rows[0], 2);
	assert_int_equal(w.end_ns[4], T0 + 4500 * MS);
	check_sums(&w, 450000, 9000 * MS);
	assert_int_equal(replay_summary(w.replay), 0);
	assert_true(w.summary[5]);
	assert_int_equal(w.bytes[5], 450000);
	assert_int_equal(w.start_ns[5], T0);
	replay_free(w.replay);
}

static int sample(struct world *w, uint32_t probe, uint64_t start, uint64_t end)
{
	const struct trace_sample s = { .probe = probe,
					.start_ns = start,
					.end_ns = end,
					.requests = 1,
					.enabled_ns = end - start,
					.running_ns = end - start };

	return trace_send_sample(&w->in, &s);
}

/* Samples wait as windows do, so they may be out of order, and are checked at once. */
static void samples_are_checked(void **state)
{
	static struct probe probes[] = { { .name = "cmem0/rd" }, { .name = "dlink0/in_rd" } };
	struct trace_header h = unmarked;
	struct world w;

	(void)state;
	h.probes = probes;
	h.nr_probes = 2;
	setup(&w, &h, (struct run_options){ 0 });
	assert_int_equal(sample(&w, 2, T0, T0 + MS), -EINVAL);
	assert_int_equal(sample(&w, 0, T0 + MS, T0 + MS), -EINVAL);
	assert_int_equal(sample(&w, 0, T0 + 100 * MS, T0 + 200 * MS), 0);
	assert_int_equal(sample(&w, 0, T0, T0 + 100 * MS), 0);
	assert_int_equal(sample(&w, 0, T0 + 99 * MS, T0 + 101 * MS), -EINVAL);
	assert_int_equal(sample(&w, 0, T0 + 199 * MS, T0 + 201 * MS), -EINVAL);
	assert_int_equal(sample(&w, 1, T0 + 99 * MS, T0 + 101 * MS), 0);
	fill(&w, T0, T0 + 4500 * MS);
	assert_int_equal(w.nr, 2);
	/* what was handed out cannot be changed any more */
	assert_int_equal(sample(&w, 0, T0 + 150 * MS, T0 + 300 * MS), -EINVAL);
	assert_int_equal(sample(&w, 0, T0 + 200 * MS, T0 + 300 * MS), 0);
	assert_int_equal(replay_finish(w.replay), 0);
	assert_int_equal(w.nr, 5);
	replay_free(w.replay);
}

/* A sample is handed out with the first interval that it is partly in. */
static void samples_wait_for_their_interval(void **state)
{
	static struct probe probes[] = { { .name = "cmem0/rd" }, { .name = "dlink0/in_rd" } };
	const uint64_t ends[] = { 0, 0 }, later[] = { T0 + 70 * MS, T0 + 70 * MS };
	struct trace_mark mark = { .first = true, .ends_ns = ends };
	struct trace_header h = unmarked;
	struct trace_event e = { .type = TRACE_SAMPLE };
	struct trace_sample *s = &e.sample;
	struct boundaries *b;
	size_t nr[3] = { 0 };

	(void)state;
	h.probes = probes;
	h.nr_probes = 2;
	h.marked = true;
	assert_int_equal(boundaries_new(&h, 30 * MS, &b), 0);
	assert_int_equal(boundaries_add_mark(b, &mark), 0);
	assert_true(boundaries_next(b, false, &mark));
	for (s->start_ns = 0; s->start_ns < 70 * MS; s->start_ns = s->end_ns) {
		s->end_ns = s->start_ns + 20 * MS;
		for (s->probe = 0; s->probe < 2; s->probe++)
			assert_int_equal(boundaries_add(b, &e), 0);
	}
	mark = (struct trace_mark){ .last = true, .time_ns = 70 * MS, .ends_ns = later };
	assert_int_equal(boundaries_add_mark(b, &mark), 0);
	for (size_t i = 0; i < 3; i++) {
		assert_true(boundaries_next(b, true, &mark));
		assert_int_equal(mark.last, i == 2);
		for (; boundaries_event(b, &mark, &e); nr[i]++) {
			assert_int_equal(e.type, TRACE_SAMPLE);
			assert_true(s->start_ns < mark.time_ns);
		}
	}
	assert_false(boundaries_next(b, true, &mark));
	assert_int_equal(nr[0], 4); /* of both probes, from 0 and 20 ms on */
	assert_int_equal(nr[1], 2);
	assert_int_equal(nr[2], 2); /* ends at 80 ms, behind the last mark */
	boundaries_free(b);
}

/* An interval of a socket ends with a window; the rest is in the next. */
static void boundaries_follow_the_windows(void **state)
{
	struct world w;

	(void)state;
	setup(&w, &unmarked, (struct run_options){ .interval_ns = 25 * MS });
	fill(&w, T0, T0 + 60 * MS);
	assert_int_equal(replay_finish(w.replay), 0);
	assert_int_equal(w.nr, 3);
	assert_int_equal(w.bytes[0], 2000);
	assert_int_equal(w.bytes[1], 3000);
	assert_int_equal(w.bytes[2], 1000);
	assert_int_equal(w.busy_ns[0], 45 * MS); /* socket 1 has no windows: 25 ms of it */
	check_sums(&w, 6000, 120 * MS);
	replay_free(w.replay);
}

static void what_runs_after_the_last_window_is_reported(void **state)
{
	struct world w;

	(void)state;
	setup(&w, &unmarked, (struct run_options){ 0 });
	fill(&w, T0, T0 + 1000 * MS);
	assert_int_equal(slice(&w, 5, 0, T0 + 1000 * MS, T0 + 1300 * MS), 0);
	assert_int_equal(replay_finish(w.replay), 0);
	assert_int_equal(w.nr, 1); /* no interval of its own, without a window */
	assert_int_equal(w.end_ns[0], T0 + 1300 * MS);
	check_sums(&w, 100000, 2300 * MS);
	replay_free(w.replay);
}

/* All that is known of the end of such a trace is its time. */
static void a_trace_may_say_where_it_ends(void **state)
{
	struct trace_mark end = { .last = true, .time_ns = T0 + 1700 * MS };
	struct world w;

	(void)state;
	setup(&w, &unmarked, (struct run_options){ 0 });
	fill(&w, T0, T0 + 1500 * MS);
	assert_int_equal(trace_send_mark(&w.in, &end), 0);
	assert_int_equal(replay_finish(w.replay), 0);
	assert_int_equal(w.nr, 2);
	assert_int_equal(w.end_ns[1], T0 + 1700 * MS);
	check_sums(&w, 150000, 3000 * MS);
	replay_free(w.replay);
	/* before the last event it changes nothing */
	end.time_ns = T0;
	setup(&w, &unmarked, (struct run_options){ 0 });
	fill(&w, T0, T0 + 1500 * MS);
	assert_int_equal(trace_send_mark(&w.in, &end), 0);
	assert_int_equal(replay_finish(w.replay), 0);
	assert_int_equal(w.nr, 2);
	assert_int_equal(w.end_ns[1], T0 + 1500 * MS);
	replay_free(w.replay);
}

static void events_may_be_out_of_order(void **state)
{
	struct world w;

	(void)state;
	setup(&w, &unmarked, (struct run_options){ .interval_ns = 100 * MS });
	/* each second backwards */
	for (uint64_t second = 0; second < 4; second++)
		for (int k = 99; k >= 0; k--)
			fill(&w, T0 + (second * 1000 + k * 10) * MS,
			     T0 + (second * 1000 + k * 10 + 1) * MS);
	assert_int_equal(replay_finish(w.replay), 0);
	assert_int_equal(w.nr, 40);
	for (int i = 0; i < 40; i++)
		assert_int_equal(w.bytes[i], 10000);
	check_sums(&w, 400000, 8000 * MS);
	replay_free(w.replay);
}

static void only_slices(void **state)
{
	struct world w;

	(void)state;
	setup(&w, &unmarked, (struct run_options){ 0 });
	assert_int_equal(slice(&w, 5, 0, T0, T0 + 1500 * MS), 0);
	assert_int_equal(replay_finish(w.replay), 0);
	assert_int_equal(w.nr, 2);
	assert_int_equal(w.start_ns[0], T0);
	check_sums(&w, 0, 1500 * MS);
	replay_free(w.replay);
	/* and nothing at all */
	setup(&w, &unmarked, (struct run_options){ 0 });
	assert_int_equal(replay_finish(w.replay), 0);
	assert_int_equal(w.nr, 0);
	assert_int_equal(replay_summary(w.replay), -EINVAL);
	replay_free(w.replay);
}

static void junk(void **state)
{
	struct trace_window no_group = { .group = 9, .end_ns = 1 };
	struct world w;

	(void)state;
	setup(&w, &unmarked, (struct run_options){ 0 });
	assert_int_equal(mark(&w, 5, true), -EINVAL); /* the header says there are none */
	assert_int_equal(trace_send_window(&w.in, &no_group), -EINVAL);
	assert_int_equal(window(&w, 10, 10), -EINVAL);
	assert_int_equal(slice(&w, 5, 2, 0, 1), -EINVAL);
	assert_int_equal(window(&w, 10, 20), 0);
	assert_int_equal(window(&w, 15, 30), -EINVAL); /* overlaps the one before */
	assert_int_equal(window(&w, 5, 15), -EINVAL);  /* and the one behind */
	assert_int_equal(window(&w, 0, 10), 0);
	/* the end of time: not a billion empty intervals */
	assert_int_equal(slice(&w, 5, 0, 0, UINT64_MAX), -E2BIG);
	assert_non_null(strstr(w.d.help, "-i"));
	replay_free(w.replay);
}

static void processes_of_the_users_choice(void **state)
{
	uint32_t pids[] = { 6, 77 };
	struct run_options args = { .pids = { pids, 1, 2 } };
	struct world w;

	(void)state;
	setup(&w, &unmarked, args);
	assert_int_equal(trace_send_follow(&w.in, 5), 0); /* of the trace: not what was asked for */
	fill(&w, T0, T0 + 1000 * MS);
	assert_int_equal(replay_finish(w.replay), 0);
	assert_int_equal(w.rows[0], 1);
	assert_int_equal(w.busy_ns[0], 2000 * MS);
	assert_int_equal(replay_check_selection(w.replay, "file"), 0);
	replay_free(w.replay);
	args.pids.nr = 2;
	setup(&w, &unmarked, args);
	fill(&w, T0, T0 + 1000 * MS);
	assert_int_equal(replay_finish(w.replay), 0);
	assert_int_equal(replay_check_selection(w.replay, "file"), -ESRCH);
	assert_non_null(strstr(w.d.what, "77"));
	assert_non_null(strstr(w.d.what, "file"));
	replay_free(w.replay);
}

static void cgroups_of_the_users_choice(void **state)
{
	char *cgroups[] = { "job/", "/other" };
	struct run_options args = { .cgroups = { cgroups, 2, 2 } };
	struct world w;

	(void)state;
	setup(&w, &unmarked, args);
	assert_int_equal(trace_send_cgroup(&w.in, 1, "/job"), 0);
	fill(&w, T0, T0 + 1000 * MS);
	assert_int_equal(replay_finish(w.replay), 0);
	assert_int_equal(w.rows[0], 2);
	assert_int_equal(replay_check_selection(w.replay, "file"), -ESRCH);
	assert_non_null(strstr(w.d.what, "-G /other"));
	replay_free(w.replay);
}

static void rows_that_were_not_recorded(void **state)
{
	struct trace_header threads = unmarked;
	const struct replay_output output = { .report = on_report };
	struct run_options args = { .file = "f", .by = ROW_THREAD, .by_given = true };
	struct replay *r = (struct replay *)8;
	struct diag d = { 0 };

	(void)state;
	assert_int_equal(replay_new(&unmarked, &args, &output, &d, &r), -EINVAL);
	assert_ptr_equal(r, (struct replay *)8);
	assert_non_null(strstr(d.help, "record --by thread"));
	threads.by_thread = true;
	assert_int_equal(replay_new(&threads, &args, &output, &d, &r), 0);
	replay_free(r);
	args.by = ROW_PROCESS;
	assert_int_equal(replay_new(&threads, &args, &output, &d, &r), -EINVAL);
	args.by = ROW_CGROUP;
	assert_int_equal(replay_new(&threads, &args, &output, &d, &r), 0);
	replay_free(r);
}

static void marks_end_intervals(void **state)
{
	struct trace_header marked = unmarked;
	struct world w;

	(void)state;
	marked.marked = true;
	marked.all = true;
	setup(&w, &marked, (struct run_options){ 0 });
	assert_int_equal(mark(&w, T0, true), 0);
	fill(&w, T0, T0 + 300 * MS);
	assert_int_equal(mark(&w, T0 + 300 * MS, false), 0);
	assert_int_equal(w.nr, 1);
	fill(&w, T0 + 300 * MS, T0 + 700 * MS);
	assert_int_equal(mark(&w, T0 + 700 * MS, false), 0);
	fill(&w, T0 + 700 * MS, T0 + 800 * MS); /* the writer was killed here */
	assert_int_equal(replay_finish(w.replay), 0);
	assert_int_equal(w.nr, 2);
	check_sums(&w, 70000, 1400 * MS);
	replay_free(w.replay);
}

/* Only a trace without marks may end with one that does not say where sockets end. */
static void marks_without_ends_are_refused(void **state)
{
	const uint64_t intervals_ns[] = { 0, 200 * MS };
	struct trace_header marked = unmarked;

	(void)state;
	marked.marked = true;
	marked.all = true;
	for (size_t i = 0; i < 2; i++) {
		struct trace_mark end = { .last = true, .time_ns = T0 + 500 * MS };
		struct world w;

		setup(&w, &marked, (struct run_options){ .interval_ns = intervals_ns[i] });
		assert_int_equal(trace_send_mark(&w.in, &end), -EINVAL);
		assert_int_equal(mark(&w, T0, true), 0);
		fill(&w, T0, T0 + 300 * MS);
		assert_int_equal(mark(&w, T0 + 300 * MS, false), 0);
		assert_int_equal(trace_send_mark(&w.in, &end), -EINVAL);
		assert_int_equal(replay_finish(w.replay), 0);
		check_sums(&w, 30000, 600 * MS);
		replay_free(w.replay);
	}
}

/* What is allocated, or 0 where that is not told. */
static size_t used_bytes(void)
{
	struct mallinfo2 m = mallinfo2();

	return m.uordblks + m.hblkhd;
}

/* A trace of one interval is not kept as a whole, with marks of its own or without. */
static void a_long_interval_is_not_kept(void **state)
{
	const struct run_options args = { .all = true, .interval_ns = 3600000 * MS };
	const uint64_t length = 60000 * MS;

	(void)state;
	for (int marked = 0; marked < 2; marked++) {
		struct trace_header h = unmarked;
		size_t early = 0, late;
		struct world w;

		h.marked = marked;
		setup(&w, &h, args);
		if (marked)
			assert_int_equal(mark(&w, T0, true), 0);
		for (uint64_t t = T0; t < T0 + length; t += 1000 * MS) {
			fill(&w, t, t + 1000 * MS);
			if (marked)
				assert_int_equal(mark(&w, t + 1000 * MS, false), 0);
			if (t == T0 + length / 6)
				early = used_bytes();
		}
		late = used_bytes();
		/* It goes up and down by what waits. */
		print_message("# %zu bytes after 10 s, %zu after 60 s\n", early, late);
		assert_true(late <= 2 * early);
		assert_int_equal(replay_finish(w.replay), 0);
		assert_int_equal(w.nr, 1);
		check_sums(&w, 6000 * 1000, 2 * length);
		replay_free(w.replay);
	}
}

/* Other intervals than those of the trace have the same sums. */
static void marks_and_an_interval(void **state)
{
	struct trace_header marked = unmarked;
	struct world w;

	(void)state;
	marked.marked = true;
	marked.all = true;
	setup(&w, &marked, (struct run_options){ .interval_ns = 200 * MS });
	fill(&w, T0 - 5 * MS, T0 + 5 * MS); /* before the books, and across their beginning */
	assert_int_equal(mark(&w, T0 + 5 * MS, true), 0);
	fill(&w, T0 + 5 * MS, T0 + 305 * MS);
	assert_int_equal(mark(&w, T0 + 305 * MS, false), 0);
	assert_int_equal(w.nr, 1);
	assert_int_equal(w.end_ns[0], T0 + 205 * MS);
	fill(&w, T0 + 305 * MS, T0 + 705 * MS);
	assert_int_equal(mark(&w, T0 + 705 * MS, false), 0);
	assert_int_equal(mark(&w, T0 + 704 * MS, false), -EINVAL);
	fill(&w, T0 + 705 * MS, T0 + 805 * MS);
	assert_int_equal(replay_finish(w.replay), 0);
	assert_int_equal(w.nr, 4);
	assert_int_equal(w.end_ns[3], T0 + 705 * MS);
	check_sums(&w, 70000, 1400 * MS);
	replay_free(w.replay);
}

/* A window of which the counter was there half the time. */
static int half_a_window(struct world *w, uint64_t start, uint64_t value)
{
	const struct reading r = { value, 10 * MS, 5 * MS };
	const struct trace_window event = { 0, start, start + 10 * MS, &r };

	return trace_send_window(&w->in, &event);
}

/* Numbers of a trace may be anything: what cannot be added up is not "out of memory". */
static void numbers_too_large_are_called_so(void **state)
{
	struct world w;

	(void)state;
	setup(&w, &unmarked, (struct run_options){ .method = METHOD_CPU_TIME });
	assert_int_equal(slice(&w, 5, 0, T0, T0 + 10 * MS), 0);
	assert_int_equal(half_a_window(&w, T0, 1ull << 63), 0);
	assert_int_equal(slice(&w, 6, 0, T0 + 10 * MS, T0 + 20 * MS), 0);
	assert_int_equal(half_a_window(&w, T0 + 10 * MS, (1ull << 63) + 1000), 0);
	assert_int_equal(replay_finish(w.replay), -ERANGE);
	assert_string_equal(w.d.what,
			    "the trace has numbers that do not fit into 64 bits together");
	assert_non_null(strstr(w.d.help, "-i"));
	assert_int_equal(w.nr, 0);
	replay_free(w.replay);
}

static void a_trace_without_a_beginning_is_called_so(void **state)
{
	struct neighbours_report *n;
	struct world w;

	(void)state;
	setup(&w, &unmarked, (struct run_options){ .neighbours = true });
	assert_int_equal(replay_finish(w.replay), 0);
	assert_int_equal(replay_neighbours(w.replay, &n), -EINVAL);
	assert_string_equal(w.d.what, "the trace has no beginning");
	assert_non_null(strstr(w.d.help, "record again"));
	w.d = (struct diag){ 0 };
	assert_int_equal(replay_summary(w.replay), -EINVAL);
	assert_string_equal(w.d.what, "the trace has no beginning");
	replay_free(w.replay);
}

/* The linker gives these the calls of the program: see tests.mk. */
void *__real_calloc(size_t nr, size_t size);
void *__wrap_calloc(size_t nr, size_t size);

/* How many more succeed; negative: all do. */
static long left = -1;

void *__wrap_calloc(size_t nr, size_t size)
{
	if (left >= 0 && left-- == 0)
		return NULL;
	return __real_calloc(nr, size);
}

/* Wherever memory runs out, that is what is said. */
static void memory_that_runs_out_is_called_so(void **state)
{
	size_t failures = 0;
	int err = -ENOMEM;

	(void)state;
	for (long after = 0; err; after++) {
		struct world w;

		setup(&w, &unmarked, (struct run_options){ 0 });
		fill(&w, T0, T0 + 20 * MS);
		left = after;
		err = replay_finish(w.replay);
		left = -1;
		if (err) {
			assert_int_equal(err, -ENOMEM);
			assert_string_equal(w.d.what, "out of memory");
			failures++;
		}
		replay_free(w.replay);
	}
	assert_true(failures > 3);
}

/* The same while a file is opened and read: no error is without words. */
static void memory_that_runs_out_in_a_reader(void **state)
{
	static const char text[] =
		"{\"schema\": \"t410trace.trace/1\", \"type\": \"header\", \"sockets\": [{\"id\": "
		"0, "
		"\"cpus\": \"0\"}], \"counters\": [{\"id\": 1, \"name\": \"a\", \"socket\": 0, "
		"\"source\": \"cpu\"}]}\n"
		"{\"type\": \"window\", \"socket\": 0, \"start_ns\": 0, \"end_ns\": 10, "
		"\"values\": [[1, 1, 10, 10]]}\n";
	const struct replay_output output = { .report = on_report };
	struct run_options args = { .file = "a file" };
	size_t failures = 0;
	int err = -ENOMEM;

	(void)state;
	temp_write(text, sizeof(text) - 1);
	for (long after = 0; err; after++) {
		struct replay *r = NULL;
		struct trace_file *f;
		struct trace_sink sink;
		struct trace_end end;
		struct diag d = { 0 };

		left = after;
		err = trace_file_open(temp_path, &d, &f);
		left = -1;
		if (err) {
			assert_int_equal(err, -ENOMEM);
			assert_string_equal(d.what, "out of memory");
			failures++;
			continue;
		}
		assert_int_equal(replay_new(trace_file_header(f), &args, &output, &d, &r), 0);
		sink = replay_sink(r);
		assert_int_equal(trace_file_read(f, &sink, &d, &end), 0);
		replay_free(r);
		trace_file_close(f);
	}
	assert_true(failures > 3);
}

/* An error that is known by its number only: memory is told apart. */
static void errors_in_words(void **state)
{
	struct diag d = { .help = "old" };

	(void)state;
	assert_int_equal(diag_no_memory(&d), -ENOMEM);
	assert_string_equal(d.what, "out of memory");
	assert_string_equal(d.help, "");
	assert_int_equal(diag_error(&d, -EACCES, "cannot do it"), -EACCES);
	assert_string_equal(d.what, "cannot do it: Permission denied");
	assert_int_equal(diag_error(&d, -ENOMEM, "cannot do it"), -ENOMEM);
	assert_string_equal(d.what, "out of memory");
	assert_int_equal(session_failed(-EDOM, &d), -EDOM);
	assert_string_equal(d.what, "the interval does not add up");
	assert_true(d.help[0]);
	assert_int_equal(session_failed(-ENOMEM, &d), -ENOMEM);
	assert_string_equal(d.what, "out of memory");
	assert_int_equal(session_failed(-EIO, &d), -EIO);
	assert_string_equal(d.what, "cannot make the report: Input/output error");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_trace_without_marks),
		cmocka_unit_test(boundaries_follow_the_windows),
		cmocka_unit_test(what_runs_after_the_last_window_is_reported),
		cmocka_unit_test(a_trace_may_say_where_it_ends),
		cmocka_unit_test(samples_are_checked),
		cmocka_unit_test(samples_wait_for_their_interval),
		cmocka_unit_test(events_may_be_out_of_order),
		cmocka_unit_test(only_slices),
		cmocka_unit_test(junk),
		cmocka_unit_test(processes_of_the_users_choice),
		cmocka_unit_test(cgroups_of_the_users_choice),
		cmocka_unit_test(rows_that_were_not_recorded),
		cmocka_unit_test(marks_end_intervals),
		cmocka_unit_test(marks_without_ends_are_refused),
		cmocka_unit_test(marks_and_an_interval),
		cmocka_unit_test(a_long_interval_is_not_kept),
		cmocka_unit_test(numbers_too_large_are_called_so),
		cmocka_unit_test(a_trace_without_a_beginning_is_called_so),
		cmocka_unit_test(memory_that_runs_out_is_called_so),
		cmocka_unit_test(memory_that_runs_out_in_a_reader),
		cmocka_unit_test(errors_in_words),
	};

	return cmocka_run_group_tests_name("replay", tests, temp_make, temp_drop);
}
