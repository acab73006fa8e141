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
#include "random.h"

/* Two sockets; device 0 is counted on socket 0 by two groups, device 1 on socket 1, device 2 not. */
static uint32_t cpu_socket[] = { 0, 1 };
static uint32_t socket_ids[] = { 0, 1 };
static struct counter counters[] = {
	{ .name = "cpu", .source = SOURCE_CPU },
	{ .name = "rd", .source = SOURCE_DEVICE, .group = 1, .device = 1 },
	{ .name = "wr", .source = SOURCE_DEVICE, .group = 1, .device = 1 },
	{ .name = "more", .source = SOURCE_DEVICE, .group = 2, .device = 1 },
	{ .name = "other", .source = SOURCE_DEVICE, .group = 3, .device = 2 },
};
static struct group groups[] = { { 0, 0, 1 }, { 0, 1, 2 }, { 0, 3, 1 }, { 1, 4, 1 } };
static const struct layout layout = {
	.cpu_socket = cpu_socket,
	.nr_cpus = 2,
	.socket_ids = socket_ids,
	.nr_sockets = 2,
	.counters = counters,
	.nr_counters = 5,
	.groups = groups,
	.nr_groups = 4,
};
#define NR_DEVICES   3
#define NR_WORKLOADS 20

/* @io: as summed for the interval; @cell: as found in windows, by group. */
struct seen {
	uint64_t io[NR_DEVICES][NR_WORKLOADS][2];
	uint64_t cell[4][NR_WORKLOADS][2];
	uint64_t window[4][200][2]; /* by window of the group, all workloads */
	uint64_t exclusive[4];	    /* bit by window */
	uint64_t owner[4];	    /* bit by workload */
	size_t windows[4];
	unsigned int calls;
	int fail;
};

static int on_cpu(void *arg, uint32_t socket, uint32_t workload, uint64_t ns)
{
	(void)arg;
	(void)socket;
	(void)workload;
	(void)ns;
	return 0;
}

static int on_io(void *arg, uint32_t device, uint32_t workload, uint64_t read_bytes,
		 uint64_t write_bytes)
{
	struct seen *s = arg;

	assert_true(device < NR_DEVICES && workload < NR_WORKLOADS);
	assert_true(read_bytes || write_bytes);
	s->io[device][workload][DIRECTION_READ] += read_bytes;
	s->io[device][workload][DIRECTION_WRITE] += write_bytes;
	s->calls++;
	return s->fail;
}

static int on_block(void *arg, const struct split_block *b)
{
	struct seen *s = arg;

	for (size_t i = 0; i < b->nr; i++) {
		const struct activity *a = &b->activity[i];
		size_t w = s->windows[b->group] + a->window;

		assert_true(a->window < b->nr_windows);
		if (i)
			assert_true(a[-1].window < a->window ||
				    (a[-1].window == a->window && a[-1].workload < a->workload));
		if (!b->group) {
			assert_true(a->on_cpu_ns && !a->io_bytes[0] && !a->io_bytes[1]);
			continue;
		}
		assert_int_equal(a->on_cpu_ns, 0);
		assert_true(a->io_bytes[0] || a->io_bytes[1] || a->exclusive);
		for (int k = 0; k < 2; k++) {
			s->cell[b->group][a->workload][k] += a->io_bytes[k];
			s->window[b->group][w][k] += a->io_bytes[k];
		}
		if (a->exclusive) {
			s->exclusive[b->group] |= 1ull << w;
			s->owner[b->group] |= 1ull << a->workload;
		}
	}
	s->windows[b->group] += b->nr_windows;
	return 0;
}

static int setup(void **state)
{
	struct timeline *t;

	if (timeline_new(&layout, layout.cpu_socket, NR_DEVICES, &t))
		return -1;
	*state = t;
	return 0;
}

static int teardown(void **state)
{
	timeline_free(*state);
	return 0;
}

static int io(struct timeline *t, uint32_t workload, uint32_t device, uint64_t start, uint64_t end,
	      uint64_t read_bytes, uint64_t write_bytes)
{
	const struct trace_io i = { .device = device,
				    .start_ns = start,
				    .end_ns = end,
				    .read_bytes = read_bytes,
				    .write_bytes = write_bytes };

	return timeline_io(t, workload, &i);
}

static int alone(struct timeline *t, uint32_t workload, uint64_t start, uint64_t end)
{
	const struct trace_io i = { .exclusive = true, .start_ns = start, .end_ns = end };

	return timeline_io(t, workload, &i);
}

static void window(struct timeline *t, uint32_t group, uint64_t start, uint64_t end)
{
	static const struct reading readings[2];
	const struct trace_window w = { group, start, end, readings };

	assert_int_equal(timeline_window(t, &w), 0);
}

static uint64_t close_at(struct timeline *t, uint64_t end, struct seen *s)
{
	const struct timeline_sink sink = {
		.on_cpu = on_cpu, .block = on_block, .io = on_io, .arg = s
	};
	const uint64_t ends[] = { end, end };
	uint64_t late = 0;

	assert_int_equal(timeline_close(t, ends, &sink, &late), 0);
	return late;
}

static void begin_at(struct timeline *t, uint64_t ns)
{
	const uint64_t starts[] = { ns, ns };

	assert_int_equal(timeline_begin(t, starts), 0);
}

static void io_goes_to_its_devices_windows(void **state)
{
	struct timeline *t = *state;
	struct seen s = { 0 };
	const struct trace_slice slice = { .end_ns = 100, .on_cpu_ns = 100 };

	assert_int_equal(io(t, 5, 0, 10, 20, 100, 7), 0);
	assert_int_equal(io(t, 5, 0, 15, 15, 1, 0), 0);
	assert_int_equal(io(t, 6, 1, 10, 20, 0, 50), 0);
	assert_int_equal(io(t, 7, 2, 10, 20, 9, 9), 0);
	assert_int_equal(timeline_slice(t, 4, &slice), 0);
	for (uint32_t g = 0; g < 4; g++)
		window(t, g, 0, 100);
	assert_int_equal(close_at(t, 100, &s), 0);
	for (uint32_t g = 1; g < 3; g++) {
		assert_int_equal(s.cell[g][5][DIRECTION_READ], 101);
		assert_int_equal(s.cell[g][5][DIRECTION_WRITE], 7);
		assert_int_equal(s.cell[g][6][DIRECTION_WRITE], 0);
	}
	assert_int_equal(s.cell[3][6][DIRECTION_WRITE], 50);
	assert_int_equal(s.io[0][5][DIRECTION_READ], 101);
	assert_int_equal(s.io[1][6][DIRECTION_WRITE], 50);
	/* nobody counts this one */
	assert_int_equal(s.io[2][7][DIRECTION_READ], 9);
	assert_int_equal(s.io[2][7][DIRECTION_WRITE], 9);
}

static void io_over_windows_is_divided_by_time(void **state)
{
	struct timeline *t = *state;
	struct seen s = { 0 };

	/* 10 bytes in 30 ns: 3 in each window, and one more at the end */
	assert_int_equal(io(t, 5, 0, 5, 35, 10, 0), 0);
	/* an instant is in the window that begins then */
	assert_int_equal(io(t, 6, 0, 20, 20, 0, 8), 0);
	window(t, 1, 0, 10);
	window(t, 1, 10, 20);
	window(t, 1, 20, 30);
	window(t, 1, 30, 40);
	close_at(t, 40, &s);
	assert_int_equal(s.window[1][0][DIRECTION_READ], 1);
	assert_int_equal(s.window[1][1][DIRECTION_READ], 4);
	assert_int_equal(s.window[1][2][DIRECTION_READ], 3);
	assert_int_equal(s.window[1][3][DIRECTION_READ], 2);
	assert_int_equal(s.window[1][1][DIRECTION_WRITE], 0);
	assert_int_equal(s.window[1][2][DIRECTION_WRITE], 8);
}

static void io_across_the_end_is_cut(void **state)
{
	struct timeline *t = *state;
	struct seen first = { 0 }, second = { 0 };

	assert_int_equal(io(t, 5, 0, 90, 110, 7, 1000001), 0);
	assert_int_equal(io(t, 5, 0, 100, 100, 3, 0), 0);
	window(t, 1, 0, 100);
	window(t, 2, 0, 120); /* ends later: it waits, and so does what it needs */
	assert_int_equal(close_at(t, 100, &first), 0);
	window(t, 1, 100, 200);
	assert_int_equal(close_at(t, 200, &second), 0);
	assert_int_equal(first.io[0][5][0], 3);
	assert_int_equal(second.io[0][5][0], 4 + 3);
	assert_int_equal(first.io[0][5][1] + second.io[0][5][1], 1000001);
	assert_int_equal(first.cell[1][5][0], 3);
	assert_int_equal(second.cell[1][5][0], 7);
	assert_int_equal(first.windows[2], 0);
	assert_int_equal(second.cell[2][5][0], 10);
	assert_int_equal(second.cell[2][5][1], 1000001);
}

static void io_before_the_run_is_dropped(void **state)
{
	struct timeline *t = *state;
	struct seen s = { 0 };

	assert_int_equal(io(t, 5, 0, 0, 99, 1, 1), 0);
	assert_int_equal(io(t, 5, 0, 50, 150, 100, 0), 0);
	begin_at(t, 100);
	/* the same when it comes afterwards; that is not late */
	assert_int_equal(io(t, 5, 0, 0, 100, 1, 1), 0);
	assert_int_equal(io(t, 5, 0, 50, 150, 100, 0), 0);
	assert_int_equal(io(t, 6, 0, 99, 99, 1, 0), 0);
	assert_int_equal(io(t, 6, 0, 100, 100, 1, 0), 0);
	window(t, 1, 100, 200);
	assert_int_equal(close_at(t, 200, &s), 0);
	assert_int_equal(s.io[0][5][0], 100);
	assert_int_equal(s.io[0][5][1], 0);
	assert_int_equal(s.io[0][6][0], 1);
	assert_int_equal(s.cell[1][5][0], 100);
}

static void late_io_is_counted(void **state)
{
	struct timeline *t = *state;
	struct seen s = { 0 };

	begin_at(t, 0);
	window(t, 1, 0, 100);
	assert_int_equal(close_at(t, 100, &s), 0);
	assert_int_equal(io(t, 5, 0, 10, 20, 5, 0), 0);	  /* its window is gone */
	assert_int_equal(io(t, 5, 0, 90, 110, 10, 0), 0); /* half of it is not */
	assert_int_equal(io(t, 5, 0, 100, 110, 1, 0), 0);
	window(t, 1, 100, 200);
	assert_int_equal(close_at(t, 200, &s), 2);
	assert_int_equal(s.io[0][5][0], 16);
	assert_int_equal(s.cell[1][5][0], 6);
	/* Group 2 was not read before: all of it is still to come. */
	window(t, 2, 0, 200);
	assert_int_equal(close_at(t, 300, &s), 0);
	assert_int_equal(s.cell[2][5][0], 16);
}

static void requests_without_bytes_are_ignored(void **state)
{
	struct timeline *t = *state;
	struct seen s = { 0 };

	assert_int_equal(io(t, 5, 0, 0, 10, 0, 0), 0);
	window(t, 1, 0, 100);
	assert_int_equal(close_at(t, 100, &s), 0);
	assert_int_equal(s.calls, 0);
	assert_int_equal(s.cell[1][5][0], 0);
}

static void errors_of_the_sink_end_it(void **state)
{
	struct seen s = { .fail = -EPIPE };
	const struct timeline_sink sink = {
		.on_cpu = on_cpu, .block = on_block, .io = on_io, .arg = &s
	};
	const uint64_t ends[] = { 100, 100 };
	uint64_t late = 77;

	assert_int_equal(io(*state, 5, 0, 0, 10, 1, 1), 0);
	assert_int_equal(timeline_close(*state, ends, &sink, &late), -EPIPE);
}

/* A window is its owner's as a whole or not at all. */
static void exclusive_windows(void **state)
{
	struct timeline *t = *state;
	struct seen s = { 0 };

	begin_at(t, 0);
	assert_int_equal(alone(t, 5, 5, 20), 0);
	assert_int_equal(alone(t, 5, 20, 35), 0);
	assert_int_equal(alone(t, 5, 25, 30), 0);
	/* twice half a window is not a whole one */
	assert_int_equal(alone(t, 6, 40, 46), 0);
	assert_int_equal(alone(t, 6, 40, 46), 0);
	assert_int_equal(alone(t, 7, 55, 130), 0);
	for (uint64_t k = 0; k < 10; k++)
		window(t, 1, 10 * k, 10 * k + 10);
	assert_int_equal(close_at(t, 100, &s), 0);
	assert_int_equal(s.exclusive[1], 0x3c6);
	assert_int_equal(s.owner[1], 1 << 5 | 1 << 7);
	assert_int_equal(s.calls, 0);
	/* it goes on, and a window that crosses the end is joined again */
	s = (struct seen){ 0 };
	window(t, 1, 100, 130);
	window(t, 1, 130, 131);
	window(t, 2, 50, 130);
	window(t, 2, 130, 140);
	assert_int_equal(close_at(t, 200, &s), 0);
	assert_int_equal(s.exclusive[1], 1);
	assert_int_equal(s.exclusive[2], 0);
	/* what was seen at a look before the end of an interval is not late */
	s = (struct seen){ 0 };
	assert_int_equal(alone(t, 5, 195, 220), 0);
	window(t, 1, 200, 210);
	assert_int_equal(close_at(t, 300, &s), 0);
	assert_int_equal(s.exclusive[1], 1);
}

/* A device whose group is never read keeps ten seconds at most, one without a group nothing. */
static void memory_is_bounded(void **state)
{
	const uint64_t s1 = 1000000000;
	struct timeline *t = *state;
	struct seen s = { 0 };

	begin_at(t, 0);
	for (uint64_t i = 0; i < 30; i++) {
		assert_int_equal(io(t, 5, 0, i * s1, i * s1 + 1, 1, 0), 0);
		assert_int_equal(io(t, 5, 2, i * s1, i * s1 + 1, 1, 0), 0);
		assert_int_equal(close_at(t, (i + 1) * s1, &s), 0);
	}
	window(t, 1, 0, 30 * s1);
	close_at(t, 30 * s1, &s);
	assert_int_equal(s.io[0][5][0], 30);
	assert_int_equal(s.io[2][5][0], 30);
	assert_int_equal(s.cell[1][5][0], 10);
}

static void count_kept(void *arg, uint32_t workload)
{
	unsigned int *kept = arg;

	assert_true(workload < NR_WORKLOADS);
	kept[workload]++;
}

static int no_io(void *arg, uint32_t device, uint32_t workload, uint64_t read_bytes,
		 uint64_t write_bytes)
{
	(void)arg;
	(void)device;
	(void)workload;
	(void)read_bytes;
	(void)write_bytes;
	return 0;
}

/* Who is still needed is said once a close; without sockets nobody is. */
static void needed_workloads_are_kept(void **state)
{
	static const struct layout none;
	unsigned int kept[NR_WORKLOADS] = { 0 };
	const struct timeline_sink sink = {
		.on_cpu = on_cpu, .io = no_io, .keep = count_kept, .arg = kept
	};
	const uint64_t ends[] = { 100, 100 };
	const struct trace_slice ahead = { .start_ns = 150, .end_ns = 160, .on_cpu_ns = 10 };
	const struct trace_io i = { .end_ns = 50, .read_bytes = 1 };
	struct timeline *t = *state;
	uint64_t late;

	begin_at(t, 0);
	for (uint64_t k = 0; k < 3; k++)
		assert_int_equal(io(t, 5, 0, k, k + 1, 1, 1), 0); /* no window yet */
	assert_int_equal(io(t, 6, 2, 0, 1, 1, 1), 0);		  /* never one */
	assert_int_equal(io(t, 7, 2, 100, 110, 1, 1), 0);	  /* the next interval */
	assert_int_equal(timeline_slice(t, 8, &ahead), 0);
	assert_int_equal(timeline_close(t, ends, &sink, &late), 0);
	assert_int_equal(kept[5], 1);
	assert_int_equal(kept[6], 0);
	assert_int_equal(kept[7], 1);
	assert_int_equal(kept[8], 1);

	assert_int_equal(timeline_new(&none, none.cpu_socket, 1, &t), 0);
	assert_int_equal(timeline_io(t, 9, &i), 0);
	assert_int_equal(timeline_close(t, NULL, &sink, &late), 0);
	assert_int_equal(kept[9], 0);
	timeline_free(t);
}

/* What is put in at random comes out to the byte, in the intervals and in the windows. */
static void nothing_is_lost(void **state)
{
	struct draw d = { 42 };

	(void)state;
	for (size_t round = 0; round < draw_times(60, 5); round++) {
		uint64_t in[NR_DEVICES][NR_WORKLOADS][2] = { 0 }, now = 1000, end = 1000;
		struct timeline *t;
		struct seen s = { 0 };

		assert_int_equal(timeline_new(&layout, layout.cpu_socket, NR_DEVICES, &t), 0);
		begin_at(t, 1000);
		for (int interval = 0; interval < 6; interval++) {
			size_t nr = draw_below(&d, 80);

			/* windows without gaps, which do not end where intervals do */
			end += 2000;
			while (now < end && (interval < 5 || now < 13000)) {
				uint64_t to = now + 1 + draw_below(&d, 900);

				if (interval == 5 && to > 13000)
					to = 13000;
				window(t, 1, now, to);
				window(t, 2, now, to);
				window(t, 3, now, to);
				now = to;
			}
			for (size_t i = 0; i < nr; i++) {
				uint64_t from = end - 2000 + draw_below(&d, 2000);
				uint64_t to = from + draw_below(&d, 3) * draw_below(&d, 1500);
				uint32_t device = draw_below(&d, NR_DEVICES);
				uint32_t workload = 1 + draw_below(&d, NR_WORKLOADS - 1);
				uint64_t r = draw_below(&d, 4) ? draw_u64(&d) >> 12 : 0;
				uint64_t w = draw_below(&d, 4) ? draw_below(&d, 50) : 0;

				if (to > 13000)
					to = 13000;
				if (from == 13000)
					continue;
				assert_int_equal(io(t, workload, device, from, to, r, w), 0);
				in[device][workload][0] += r;
				in[device][workload][1] += w;
			}
			assert_int_equal(close_at(t, end, &s), 0);
		}
		assert_memory_equal(s.io, in, sizeof(in));
		assert_memory_equal(s.cell[1], in[0], sizeof(in[0]));
		assert_memory_equal(s.cell[2], in[0], sizeof(in[0]));
		assert_memory_equal(s.cell[3], in[1], sizeof(in[1]));
		timeline_free(t);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(io_goes_to_its_devices_windows, setup, teardown),
		cmocka_unit_test_setup_teardown(io_over_windows_is_divided_by_time, setup,
						teardown),
		cmocka_unit_test_setup_teardown(io_across_the_end_is_cut, setup, teardown),
		cmocka_unit_test_setup_teardown(io_before_the_run_is_dropped, setup, teardown),
		cmocka_unit_test_setup_teardown(late_io_is_counted, setup, teardown),
		cmocka_unit_test_setup_teardown(needed_workloads_are_kept, setup, teardown),
		cmocka_unit_test_setup_teardown(requests_without_bytes_are_ignored, setup,
						teardown),
		cmocka_unit_test_setup_teardown(errors_of_the_sink_end_it, setup, teardown),
		cmocka_unit_test_setup_teardown(exclusive_windows, setup, teardown),
		cmocka_unit_test_setup_teardown(memory_is_bounded, setup, teardown),
		cmocka_unit_test(nothing_is_lost),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
