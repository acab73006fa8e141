// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "engine/identity/identity.h"
#include "engine/timeline/timeline.h"

/* Two sockets with two CPUs each; socket 0 has a group of a CPU and a device counter. */
static uint32_t cpu_socket[] = { 0, 0, 1, 1, LAYOUT_NO_SOCKET };
static uint32_t socket_ids[] = { 0, 1 };
static struct counter counters[] = {
	{ .name = "rd", .source = SOURCE_CPU },
	{ .name = "dev", .source = SOURCE_DEVICE },
	{ .name = "other group", .source = SOURCE_CPU, .group = 1 },
};
static struct group groups[] = { { 0, 0, 2 }, { 0, 2, 1 } };
static const struct layout layout = {
	.cpu_socket = cpu_socket,
	.nr_cpus = 5,
	.socket_ids = socket_ids,
	.nr_sockets = 2,
	.counters = counters,
	.nr_counters = 3,
	.groups = groups,
	.nr_groups = 2,
};

#define NR_WORKLOADS 40
#define MAX_LONGS    4

struct seen {
	uint64_t on_cpu[2][NR_WORKLOADS];
	uint64_t bytes[3]; /* as handed out */
	uint64_t given[3][NR_WORKLOADS];
	uint64_t idle[3];
	uint64_t weights[TRACE_MAX_WEIGHTS];
	uint64_t weights_ns;
	uint64_t active_ns;
	unsigned int windows[2], blocks;
	struct activity last;
	struct long_slice longs[MAX_LONGS];
	size_t nr_longs;
	int fail;
};

static int on_cpu(void *arg, uint32_t socket, uint32_t workload, uint64_t ns)
{
	struct seen *s = arg;

	s->on_cpu[socket][workload] += ns;
	return s->fail;
}

static int on_window(void *arg, const struct trace_window *w)
{
	struct seen *s = arg;

	assert_true(w->end_ns > w->start_ns);
	assert_non_null(w->readings);
	s->windows[w->group]++;
	return 0;
}

static int on_bytes(void *arg, uint32_t counter, const struct trace_window *w, uint64_t bytes,
		    const struct portion *p, size_t nr)
{
	struct seen *s = arg;
	uint64_t sum = 0;

	assert_non_null(w);
	s->bytes[counter] += bytes;
	if (!nr)
		s->idle[counter] += bytes;
	for (size_t i = 0; i < nr; i++) {
		s->given[counter][p[i].workload] += p[i].bytes;
		sum += p[i].bytes;
	}
	if (nr)
		assert_true(sum == bytes);
	return 0;
}

static int on_row(void *arg, uint32_t workload, uint32_t *ret)
{
	(void)arg;
	*ret = workload;
	return 0;
}

static int on_bounds(void *arg, uint32_t counter, const struct bounds *b)
{
	(void)arg;
	(void)counter;
	assert_true(b->low <= b->high);
	return 0;
}

/* What a block promises: windows in order, each pair once and sorted, inside its window. */
static void check_block(const struct split_block *b)
{
	assert_true(b->nr_windows > 0 && b->nr_windows <= SPLIT_MAX_WINDOWS);
	for (size_t w = 0; w < b->nr_windows; w++) {
		assert_int_equal(b->windows[w].group, b->group);
		assert_true(b->windows[w].start_ns < b->windows[w].end_ns);
		if (w)
			assert_true(b->windows[w - 1].end_ns <= b->windows[w].start_ns);
	}
	for (size_t i = 0; i < b->nr; i++) {
		const struct activity *a = &b->activity[i];

		assert_true(a->window < b->nr_windows);
		assert_true(a->on_cpu_ns > 0 && a->weights_ns <= a->on_cpu_ns);
		assert_int_not_equal(a->workload, WORKLOAD_IDLE);
		if (i)
			assert_true(a[-1].window < a->window ||
				    (a[-1].window == a->window && a[-1].workload < a->workload));
	}
}

/* In proportion to CPU time: the numbers show what the timeline handed out. */
static int on_block(void *arg, const struct split_block *b)
{
	struct trace_header header = { .layout = layout };
	struct split_sink sink = { on_window, on_bytes, on_row, on_bounds, arg, NULL };
	struct seen *s = arg;
	struct splitter *splitter;

	check_block(b);
	s->blocks++;
	for (size_t i = 0; i < b->nr; i++) {
		s->last = b->activity[i];
		s->active_ns += s->last.on_cpu_ns;
		s->weights_ns += s->last.weights_ns;
		for (int k = 0; k < TRACE_MAX_WEIGHTS; k++)
			s->weights[k] += s->last.weights[k];
	}
	for (size_t i = 0; i < b->nr_longs; i++)
		s->longs[s->nr_longs++ % MAX_LONGS] = b->longs[i];
	assert_int_equal(splitter_new(&header, METHOD_CPU_TIME, &splitter), 0);
	assert_int_equal(splitter_block(splitter, b, &sink), 0);
	splitter_free(splitter);
	return s->fail;
}

static struct timeline_sink sink_of(struct seen *s)
{
	return (struct timeline_sink){ .on_cpu = on_cpu, .block = on_block, .arg = s };
}

static int slice(struct timeline *t, uint32_t workload, uint32_t cpu, uint64_t start, uint64_t end,
		 uint64_t on_cpu_ns)
{
	struct trace_slice s = {
		.cpu = cpu, .start_ns = start, .end_ns = end, .on_cpu_ns = on_cpu_ns
	};

	return timeline_slice(t, workload, &s);
}

static int read_at(struct timeline *t, uint32_t group, uint64_t start, uint64_t end,
		   const struct reading *r)
{
	struct trace_window w = { group, start, end, r };

	return timeline_window(t, &w);
}

static int setup(void **state)
{
	struct timeline *t;

	if (timeline_new(&layout, layout.cpu_socket, 0, &t))
		return -1;
	*state = t;
	return 0;
}

static int teardown(void **state)
{
	timeline_free(*state);
	return 0;
}

static void window(struct timeline *t, uint32_t group, uint64_t start, uint64_t end, uint64_t value)
{
	struct reading r[2] = { { value, end - start, end - start },
				{ value / 2, end - start, end - start } };

	assert_int_equal(read_at(t, group, start, end, r), 0);
}

static uint64_t close_at(struct timeline *t, uint64_t end, struct seen *s)
{
	struct timeline_sink sink = sink_of(s);
	const uint64_t ends[] = { end, end };
	uint64_t late = 0;

	assert_int_equal(timeline_close(t, ends, &sink, &late), 0);
	return late;
}

static void a_window_is_split_by_cpu_time(void **state)
{
	struct timeline *t = *state;
	struct seen s = { 0 };

	assert_int_equal(slice(t, 5, 0, 100, 200, 75), 0);
	assert_int_equal(slice(t, 6, 1, 100, 200, 25), 0);
	assert_int_equal(slice(t, 7, 2, 100, 200, 100), 0); /* the other socket */
	assert_int_equal(slice(t, WORKLOAD_IDLE, 1, 100, 200, 75), 0);
	window(t, 0, 100, 200, 1000);
	assert_int_equal(close_at(t, 200, &s), 0);
	assert_int_equal(s.given[0][5], 750);
	assert_int_equal(s.given[0][6], 250);
	assert_int_equal(s.given[0][7], 0);
	assert_int_equal(s.on_cpu[1][7], 100);
	assert_int_equal(s.on_cpu[0][WORKLOAD_IDLE], 75);
	/* a device counter is never split among tasks */
	assert_int_equal(s.idle[1], 500);
}

static void nobody_ran(void **state)
{
	struct timeline *t = *state;
	struct seen s = { 0 };

	assert_int_equal(slice(t, WORKLOAD_IDLE, 0, 0, 100, 100), 0);
	window(t, 0, 0, 100, 42);
	close_at(t, 100, &s);
	assert_int_equal(s.idle[0], 42);
}

static void a_long_run_is_split_exactly(void **state)
{
	struct timeline *t = *state;
	struct seen s = { 0 };

	/* runs from 5 to 37 without a break; the other one only in the second window */
	assert_int_equal(slice(t, 5, 0, 5, 37, 32), 0);
	assert_int_equal(slice(t, 6, 1, 10, 20, 10), 0);
	window(t, 0, 0, 10, 100);
	window(t, 0, 10, 20, 100);
	window(t, 0, 20, 30, 100);
	window(t, 0, 30, 40, 100);
	close_at(t, 40, &s);
	assert_int_equal(s.given[0][5], 350);
	assert_int_equal(s.given[0][6], 50);
	assert_int_equal(s.on_cpu[0][5], 32);
}

static void a_slice_across_the_end_is_cut(void **state)
{
	struct timeline *t = *state;
	struct seen first = { 0 }, second = { 0 };

	/* half of the time on the CPU: 7 ns of 14; nothing may get lost by rounding */
	assert_int_equal(slice(t, 5, 0, 3, 17, 7), 0);
	window(t, 0, 0, 10, 100);
	close_at(t, 10, &first);
	window(t, 0, 10, 20, 100);
	close_at(t, 20, &second);
	assert_int_equal(first.on_cpu[0][5], 3);
	assert_int_equal(second.on_cpu[0][5], 4);
	assert_int_equal(first.given[0][5], 100);
	assert_int_equal(second.given[0][5], 100);
}

static void windows_beyond_the_end_stay(void **state)
{
	struct timeline *t = *state;
	struct seen first = { 0 }, second = { 0 };

	assert_int_equal(slice(t, 5, 0, 0, 20, 20), 0);
	window(t, 0, 0, 10, 100);
	window(t, 0, 10, 20, 300);
	close_at(t, 10, &first);
	assert_int_equal(first.bytes[0], 100);
	close_at(t, 20, &second);
	assert_int_equal(second.bytes[0], 300);
	assert_int_equal(second.given[0][5], 300);
}

/* A group that could not be read for a while: its window reaches back over the interval's end. */
static void a_late_window_finds_its_slices(void **state)
{
	struct timeline *t = *state;
	struct seen first = { 0 }, second = { 0 };

	assert_int_equal(slice(t, 5, 0, 0, 10, 10), 0);
	window(t, 1, 0, 5, 50);
	close_at(t, 10, &first);
	assert_int_equal(first.given[2][5], 50);
	assert_int_equal(slice(t, 6, 0, 10, 20, 10), 0);
	window(t, 1, 5, 20, 150);
	close_at(t, 20, &second);
	assert_int_equal(second.given[2][5], 50);
	assert_int_equal(second.given[2][6], 100);
	/* but its CPU time was reported already */
	assert_int_equal(second.on_cpu[0][5], 0);
}

static void late_slices_are_counted_and_kept(void **state)
{
	struct timeline *t = *state;
	struct seen s = { 0 };

	assert_int_equal(close_at(t, 100, &s), 0);
	assert_int_equal(slice(t, 5, 0, 50, 60, 10), 0);
	assert_int_equal(close_at(t, 200, &s), 1);
	assert_int_equal(s.on_cpu[0][5], 10);
}

static void what_never_ran_has_no_data(void **state)
{
	struct timeline *t = *state;
	struct reading half[2] = { { 100, 10, 5 }, { 7, 10, 0 } };
	struct seen s = { 0 };

	assert_int_equal(slice(t, 5, 0, 0, 10, 10), 0);
	assert_int_equal(read_at(t, 0, 0, 10, half), 0);
	close_at(t, 10, &s);
	assert_int_equal(s.given[0][5], 100); /* as counted; scaling is the book's */
	/* never got to count: no data, not zero and not seven */
	assert_int_equal(s.bytes[1], 0);
	assert_int_equal(s.idle[1], 0);
}

static void the_past_is_forgotten_at_the_start(void **state)
{
	struct timeline *t = *state;
	const uint64_t starts[] = { 50, 50 };
	struct seen s = { 0 };

	assert_int_equal(slice(t, 5, 0, 0, 40, 40), 0);
	assert_int_equal(slice(t, 6, 0, 40, 60, 20), 0);
	window(t, 0, 0, 50, 1000);
	window(t, 0, 50, 60, 10);
	assert_int_equal(timeline_begin(t, starts), 0);
	assert_int_equal(close_at(t, 60, &s), 0);
	assert_int_equal(s.on_cpu[0][5], 0);
	assert_int_equal(s.on_cpu[0][6], 10);
	assert_int_equal(s.bytes[0], 10);
	assert_int_equal(s.given[0][6], 10);
}

/* Weights are cut with their slices, at intervals and windows: nothing appears or vanishes. */
static void weights_are_cut_with_their_slice(void **state)
{
	struct timeline *t = *state;
	struct trace_slice s = { .end_ns = 30,
				 .on_cpu_ns = 29,
				 .weights = { 1000003, UINT64_MAX / 64 },
				 .weights_ns = 23 };
	struct seen seen = { 0 };

	assert_int_equal(timeline_slice(t, 5, &s), 0);
	window(t, 0, 0, 7, 100);
	window(t, 0, 7, 11, 100);
	close_at(t, 11, &seen);
	assert_int_equal(seen.last.weights_ns, seen.weights_ns - 23 * 6 / 29);
	window(t, 0, 11, 19, 100);
	close_at(t, 19, &seen);
	window(t, 0, 19, 30, 100);
	close_at(t, 30, &seen);
	assert_int_equal(seen.active_ns, 29);
	assert_int_equal(seen.weights_ns, 23);
	assert_true(seen.weights[0] == s.weights[0]);
	assert_true(seen.weights[1] == s.weights[1]);
}

/* The same workload on two CPUs of the socket: one activity with both weights. */
static void is_long(const struct long_slice *s, uint64_t start, uint64_t end, uint64_t count)
{
	assert_int_equal(s->workload, 5);
	assert_int_equal(s->start_ns, start);
	assert_int_equal(s->end_ns, end);
	assert_int_equal(s->whole_start_ns, 3);
	assert_int_equal(s->whole_end_ns, 43);
	assert_int_equal(s->weights[0], count);
}

/* Those of whose counts it is not known in which window they were; also when they were cut. */
static void long_slices_are_told_as_wholes(void **state)
{
	struct trace_slice s = {
		.start_ns = 3, .end_ns = 43, .on_cpu_ns = 40, .weights_ns = 40, .weights = { 400 }
	};
	struct timeline *t = *state;
	struct seen first = { 0 }, second = { 0 }, third = { 0 };

	assert_int_equal(timeline_slice(t, 5, &s), 0);
	assert_int_equal(timeline_slice(t, WORKLOAD_IDLE, &s), 0);
	assert_int_equal(slice(t, 6, 1, 0, 40, 40), 0); /* has no counts */
	s = (struct trace_slice){
		.cpu = 1, .start_ns = 40, .end_ns = 50, .on_cpu_ns = 10, .weights_ns = 10
	};
	assert_int_equal(timeline_slice(t, 7, &s), 0); /* is no longer than a window */
	s.cpu = 2;
	s.start_ns = 0;
	assert_int_equal(timeline_slice(t, 8, &s), 0); /* on the other socket */
	for (uint64_t at = 0; at < 50; at += 10)
		window(t, 0, at, at + 10, 100);
	close_at(t, 10, &first);
	close_at(t, 40, &second);
	close_at(t, 50, &third);
	assert_true(first.nr_longs == 1 && second.nr_longs == 1 && third.nr_longs == 1);
	is_long(first.longs, 3, 10, 70);
	is_long(second.longs, 10, 40, 300);
	is_long(third.longs, 40, 43, 30);
}

static void weights_of_a_window_are_added_up(void **state)
{
	struct timeline *t = *state;
	struct trace_slice s = {
		.end_ns = 10, .on_cpu_ns = 10, .weights = { 40, 4 }, .weights_ns = 8
	};
	struct seen seen = { 0 };

	assert_int_equal(timeline_slice(t, 5, &s), 0);
	s.cpu = 1;
	s.on_cpu_ns = 5;
	s.weights_ns = 0; /* counts without time to go with say nothing */
	assert_int_equal(timeline_slice(t, 5, &s), 0);
	s.cpu = 2;
	assert_int_equal(timeline_slice(t, 5, &s), 0); /* the other socket */
	window(t, 0, 0, 10, 100);
	close_at(t, 10, &seen);
	assert_int_equal(seen.last.on_cpu_ns, 15);
	assert_int_equal(seen.last.weights_ns, 8);
	assert_int_equal(seen.last.weights[0], 40);
	assert_int_equal(seen.last.weights[1], 4);
}

/* On which side of the window's middle work was, and how far from it, also of a slice that is cut. */
static void where_in_a_window_it_was_is_added_up(void **state)
{
	const uint64_t ms = 1000000;
	struct timeline *t = *state;
	struct seen seen = { 0 };
	double late;

	/* 2 ms that are 4 ms early, and of 8 ms those 4 ms that are 3 ms late */
	assert_int_equal(slice(t, 5, 0, 0, 2 * ms, 2 * ms), 0);
	assert_int_equal(slice(t, 5, 1, 6 * ms, 14 * ms, 8 * ms), 0);
	window(t, 0, 0, 10 * ms, 100);
	close_at(t, 10 * ms, &seen);
	late = (double)seen.last.within * WITHIN_NS / ms / ms;
	assert_true(late > 3.95 && late < 4.05);
}

/* Between two windows nothing was read: what ran there is in no window, the rest is exact. */
static void time_in_a_gap_is_in_no_window(void **state)
{
	struct timeline *t = *state;
	struct seen s = { 0 };

	assert_int_equal(slice(t, 5, 0, 5, 35, 30), 0);
	assert_int_equal(slice(t, 6, 1, 12, 18, 6), 0); /* in the gap alone */
	window(t, 0, 0, 10, 100);
	window(t, 0, 20, 30, 100);
	close_at(t, 40, &s);
	assert_int_equal(s.active_ns, 15);
	assert_int_equal(s.on_cpu[0][5], 30);
	assert_int_equal(s.on_cpu[0][6], 6);
	assert_int_equal(s.given[0][5], 200);
	assert_int_equal(s.given[0][6], 0);
}

/* More windows than a block holds: blocks of like size, and no window twice. */
static void many_windows_come_in_blocks(void **state)
{
	struct timeline *t = *state;
	struct seen s = { 0 };
	const uint64_t nr = 2 * SPLIT_MAX_WINDOWS + 1;

	assert_int_equal(slice(t, 5, 0, 0, nr * 10, nr * 10), 0);
	for (uint64_t w = 0; w < nr; w++)
		window(t, 0, w * 10, w * 10 + 10, 7);
	close_at(t, nr * 10, &s);
	assert_int_equal(s.blocks, 3);
	assert_int_equal(s.windows[0], nr);
	assert_int_equal(s.active_ns, nr * 10);
	assert_int_equal(s.given[0][5], nr * 7);
}

static void close_inner_at(struct timeline *t, uint64_t end, struct seen *s)
{
	struct timeline_sink sink = sink_of(s);
	const uint64_t ends[] = { end, end };
	uint64_t late = 0;

	assert_int_equal(timeline_close_inner(t, ends, &sink, &late), 0);
	assert_int_equal(late, 0);
}

/* Slices of two workloads that cross windows, and idle time; windows of 10 ns up to @end. */
static void fill(struct timeline *t, uint64_t begin, uint64_t end)
{
	for (uint64_t at = begin; at < end; at += 10) {
		assert_int_equal(slice(t, 5, 0, at, at + 9, 7), 0);
		assert_int_equal(slice(t, 6, 1, at + 1, at + 10, 4), 0);
		assert_int_equal(slice(t, WORKLOAD_IDLE, 1, at, at + 10, 6), 0);
		window(t, 0, at, at + 10, 1000 + at % 70);
	}
}

/* In the middle of an interval whole blocks are split and CPU time is booked; nothing is lost. */
static void what_is_complete_is_handed_out(void **state)
{
	struct timeline *t = *state;
	struct seen s = { 0 }, whole = { 0 };

	fill(t, 0, 1300);
	close_inner_at(t, 1250, &s);
	assert_int_equal(s.blocks, 1);
	assert_int_equal(s.windows[0], 100);
	assert_int_equal(s.on_cpu[0][WORKLOAD_IDLE], 125 * 6);
	close_inner_at(t, 1240, &s); /* goes back: nothing happens */
	assert_int_equal(s.windows[0], 100);
	fill(t, 1300, 1600);
	close_inner_at(t, 1600, &s); /* 60 wait: nearly a block */
	assert_int_equal(s.windows[0], 160);
	fill(t, 1600, 2000);
	assert_int_equal(close_at(t, 2000, &s), 0);
	assert_int_equal(s.windows[0], 200);
	/* The same in one go. */
	teardown(state);
	setup(state);
	fill(*state, 0, 2000);
	assert_int_equal(close_at(*state, 2000, &whole), 0);
	assert_memory_equal(s.on_cpu, whole.on_cpu, sizeof(s.on_cpu));
	assert_memory_equal(s.bytes, whole.bytes, sizeof(s.bytes));
	assert_memory_equal(s.given, whole.given, sizeof(s.given));
	assert_int_equal(s.active_ns, whole.active_ns);
}

/* A window that waits for others has its slices when its time comes, however long that takes. */
static void windows_that_wait_keep_their_slices(void **state)
{
	const uint64_t s = 1000000000;
	struct timeline *t = *state;
	struct seen seen = { 0 };

	assert_int_equal(slice(t, 5, 0, 0, 1 * s, 1 * s), 0);
	window(t, 0, 0, 1 * s, 1000);
	close_inner_at(t, 20 * s, &seen);
	close_inner_at(t, 40 * s, &seen);
	assert_int_equal(seen.blocks, 0);
	close_at(t, 41 * s, &seen);
	assert_int_equal(seen.given[0][5], 1000);
	/* What begins before an inner mark and comes after it is late, and booked. */
	close_inner_at(t, 50 * s, &seen);
	assert_int_equal(slice(t, 6, 0, 45 * s, 46 * s, s), 0);
	assert_int_equal(close_at(t, 60 * s, &seen), 1);
	assert_int_equal(seen.on_cpu[0][6], s);
}

static void a_cpu_of_no_socket_is_counted_nowhere(void **state)
{
	struct timeline *t = *state;
	struct seen seen = { 0 };

	assert_int_equal(slice(t, 5, 4, 0, 10, 10), 0);
	close_at(t, 10, &seen);
	for (int s = 0; s < 2; s++)
		assert_int_equal(seen.on_cpu[s][5], 0);
}

static void errors_of_the_sink_come_back(void **state)
{
	struct timeline *t = *state;
	struct seen s = { .fail = -ENOMEM };
	struct timeline_sink sink = sink_of(&s);
	const uint64_t ends[] = { 10, 10 };
	uint64_t late;

	assert_int_equal(slice(t, 5, 0, 0, 10, 10), 0);
	assert_int_equal(timeline_close(t, ends, &sink, &late), -ENOMEM);
}

/* Anything goes: not a nanosecond of CPU time and not a byte may get lost. */
static void random_input_is_conserved(void **state)
{
	struct timeline *t = *state;
	struct seen s = { 0 };
	uint64_t bytes = 0, ns = 0, got = 0, got_ns = 0, weights_ns = 0;
	uint64_t weights[TRACE_MAX_WEIGHTS] = { 0 };

	srandom(7);
	for (uint64_t interval = 0; interval < 50; interval++) {
		uint64_t base = interval * 1000;

		for (int i = 0; i < 60; i++) {
			uint64_t start = base + random() % 1000, length = 1 + random() % 700;
			uint64_t on = random() % (length + 1);

			struct trace_slice sl = { .cpu = random() % 2,
						  .start_ns = start,
						  .end_ns = start + length,
						  .on_cpu_ns = on,
						  .weights = { random(), random() },
						  .weights_ns = random() % (on + 1) };

			assert_int_equal(timeline_slice(t, 1 + random() % (NR_WORKLOADS - 1), &sl),
					 0);
			ns += on;
			weights_ns += sl.weights_ns;
			for (int k = 0; k < TRACE_MAX_WEIGHTS && sl.weights_ns; k++)
				weights[k] += sl.weights[k];
		}
		for (int w = 0; w < 10; w++) {
			uint64_t value = random();

			window(t, 0, base + w * 100, base + (w + 1) * 100, value);
			bytes += value;
		}
		close_at(t, base + 1000, &s);
	}
	/* the last slices reach beyond the last window */
	window(t, 0, 50000, 51000, 0);
	close_at(t, 1000000, &s);
	for (int w = 0; w < NR_WORKLOADS; w++) {
		got += s.given[0][w];
		got_ns += s.on_cpu[0][w];
	}
	assert_true(s.bytes[0] == bytes);
	assert_true(got + s.idle[0] == bytes);
	assert_true(got_ns == ns);
	assert_true(s.active_ns == ns);
	assert_true(s.weights_ns == weights_ns);
	assert_true(s.weights[0] == weights[0] && s.weights[1] == weights[1]);
	assert_int_equal(s.windows[0], 501);
}

#define TEST(fn) cmocka_unit_test_setup_teardown(fn, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(a_window_is_split_by_cpu_time),
		TEST(nobody_ran),
		TEST(a_long_run_is_split_exactly),
		TEST(a_slice_across_the_end_is_cut),
		TEST(windows_beyond_the_end_stay),
		TEST(a_late_window_finds_its_slices),
		TEST(late_slices_are_counted_and_kept),
		TEST(what_never_ran_has_no_data),
		TEST(the_past_is_forgotten_at_the_start),
		TEST(a_cpu_of_no_socket_is_counted_nowhere),
		TEST(weights_are_cut_with_their_slice),
		TEST(long_slices_are_told_as_wholes),
		TEST(weights_of_a_window_are_added_up),
		TEST(where_in_a_window_it_was_is_added_up),
		TEST(time_in_a_gap_is_in_no_window),
		TEST(many_windows_come_in_blocks),
		TEST(errors_of_the_sink_come_back),
		TEST(random_input_is_conserved),
		TEST(what_is_complete_is_handed_out),
		TEST(windows_that_wait_keep_their_slices),
	};

	return cmocka_run_group_tests_name("timeline", tests, NULL, NULL);
}
