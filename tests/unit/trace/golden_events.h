/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Events of each kind, with and without each field that may be left out: see the fixtures. */
#ifndef TESTS_GOLDEN_EVENTS_H
#define TESTS_GOLDEN_EVENTS_H

#include "events.h"

static inline void golden_names(const struct trace_sink *s)
{
	const struct trace_task tasks[] = {
		{ 7, 7, 1, 5, 99, 881, "lbm", false },
		{ 2, 2, 0, 0, 1, 0, NULL, true },
		{ 8, 7, 7, 99, UINT64_MAX, 1ull << 52, "a b\"\\\n\xff", false },
	};
	const struct trace_job_news jobs[] = {
		{ 880, "12", "fluid", "alice", 0 },
		{ 880, NULL, "caf\xc3\xa9", NULL, 0 },
	};

	assert_int_equal(trace_send_cgroup(s, 880, "/slurm/job_12"), 0);
	assert_int_equal(trace_send_cgroup(s, 881, "/slurm/job_12/step_0"), 0);
	assert_int_equal(trace_send_cgroup(s, (1ull << 48) + 9, "freezer:/slurm/\xfe"), 0);
	assert_int_equal(trace_send_cgroup(s, 5, NULL), 0);
	for (size_t i = 0; i < 3; i++)
		assert_int_equal(trace_send_task(s, &tasks[i]), 0);
	for (size_t i = 0; i < 2; i++)
		assert_int_equal(trace_send_job(s, &jobs[i]), 0);
	assert_int_equal(trace_send_follow(s, 7), 0);
	assert_int_equal(trace_send_resync(s, true), 0);
	assert_int_equal(trace_send_resync(s, false), 0);
	assert_int_equal(trace_send_exit(s, 8, UINT64_MAX), 0);
}

static inline void golden_slices(const struct trace_sink *s)
{
	const struct trace_slice slices[] = {
		{ 7, 7, 99, 881, 3, 1000, 9000, 6500, { 311, 4 }, 6500 },
		{ 7, 7, 99, 881, 3, 9000, 9500, 500, { 1, 1ull << 63 }, 400 },
		{ 8, 7, UINT64_MAX, 1ull << 52, 4, 500, 900, 400, { 0 }, 0 },
		{ TRACE_PID_IDLE, 0, 0, 0, 3, 9500, 9600, 100, { 0 }, 0 },
		{ TRACE_PID_LOST, 0, 0, 0, 3, 9600, 9600, 0, { 0 }, 0 },
		{ 7, 7, 99, 881, 0, 9600, 9700, 100, { 0 }, 0 },
	};

	for (size_t i = 0; i < 6; i++)
		assert_int_equal(trace_send_slice(s, &slices[i]), 0);
}

static inline void golden_counts(const struct trace_sink *s)
{
	const struct reading readings[] = { { 123456, 8000, 8000 }, { UINT64_MAX, 8001, 7000 } };
	const struct trace_window windows[] = { { 0, 1000, 9000, readings },
						{ 2, 900, 900, readings } };
	const struct trace_sample samples[] = {
		{ 1, 1000, 9000, 70, 7, 8, 8000, 8000 },
		{ 0, 500, 9000, 70, 7, 8, 9000, 0 },
	};
	const struct trace_io io[] = {
		{ 7, 7, 99, 881, 1, false, 4096, 512, 2000, 3000 },
		{ 0, 0, 0, 881, 2, true, 0, 0, 1000, 9000 },
		{ TRACE_PID_LOST, 0, 0, 0, 0, false, 0, 1, 9000, 9000 },
	};
	const struct trace_lost lost[] = {
		{ "slices", 1, 1000, 9000, 12 },
		{ "what\xff", 0, 5, 5, UINT64_MAX },
	};

	for (size_t i = 0; i < 2; i++) {
		assert_int_equal(trace_send_window(s, &windows[i]), 0);
		assert_int_equal(trace_send_sample(s, &samples[i]), 0);
		assert_int_equal(trace_send_lost(s, &lost[i]), 0);
	}
	for (size_t i = 0; i < 3; i++)
		assert_int_equal(trace_send_io(s, &io[i]), 0);
}

static inline void golden_events(const struct trace_sink *s)
{
	const uint64_t ends[] = { 1000, 990 };
	struct trace_mark mark = { .first = true, .time_ns = 1000, .ends_ns = ends };
	uint64_t number = 0;

	assert_int_equal(trace_send_mark(s, &mark), 0);
	golden_names(s);
	golden_slices(s);
	golden_counts(s);
	mark.first = false;
	mark.inner = true;
	mark.time_ns = 5000;
	assert_int_equal(trace_send_mark(s, &mark), 0);
	golden_slices(s);
	mark = (struct trace_mark){ .time_ns = 7000, .realtime_ns = UINT64_MAX, .ends_ns = ends };
#define NUMBER(name, ...) mark.losses.name = ++number;
	QUALITY_NUMBERS(NUMBER)
#undef NUMBER
	mark.cost = (struct self_cost){ 101, 102, 103, 104, 105, 106, 107, UINT64_MAX };
	assert_int_equal(trace_send_mark(s, &mark), 0);
	golden_counts(s);
	mark = (struct trace_mark){ .last = true, .time_ns = 9000, .realtime_ns = 1 };
	assert_int_equal(trace_send_mark(s, &mark), 0);
}

#endif
