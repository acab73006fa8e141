// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Recordings that earlier versions of the format wrote stay readable. */
#include "trace_files.h"

#include "tree.h"

static struct trace_file *open_file(const char *name)
{
	struct diag d = { 0 };
	struct trace_file *f;

	assert_int_equal(trace_file_open(name, &d, &f), 0);
	return f;
}

/* All that a file has, to be freed */
static char *events_of(const char *name)
{
	struct event_log got = { 0 };
	struct trace_end end;
	struct diag d = { 0 };

	assert_int_equal(read_back(name, &got, &end, &d), 0);
	assert_true(end.complete);
	assert_int_equal(end.refused, 0);
	return got.text;
}

/* One event of each kind that version 1 had. */
static void events_of_version_1(const struct trace_sink *s)
{
	const uint64_t ends[2][2] = { { 1000, 990 }, { 9000, 8990 } };
	const struct trace_task task = { 7, 7, 1, 5, 99, 881, "lbm", false };
	const struct trace_slice slice = { 7, 7, 99, 881, 3, 1000, 9000, 6500, { 311, 4 }, 6500 };
	const struct reading readings[] = { { 123456, 8000, 8000 }, { 5, 8000, 4000 } };
	const struct trace_window window = { 0, 1000, 9000, readings };
	const struct trace_lost lost = { "slices", 1, 1000, 9000, 12 };
	struct trace_mark mark = { .first = true, .time_ns = 1000, .ends_ns = ends[0] };

	assert_int_equal(trace_send_mark(s, &mark), 0);
	assert_int_equal(trace_send_cgroup(s, 881, "/slurm/job_1"), 0);
	assert_int_equal(trace_send_task(s, &task), 0);
	assert_int_equal(trace_send_follow(s, 7), 0);
	assert_int_equal(trace_send_slice(s, &slice), 0);
	assert_int_equal(trace_send_window(s, &window), 0);
	assert_int_equal(trace_send_lost(s, &lost), 0);
	assert_int_equal(trace_send_resync(s, true), 0);
	assert_int_equal(trace_send_resync(s, false), 0);
	assert_int_equal(trace_send_exit(s, 7, 99), 0);
	mark = (struct trace_mark){
		.last = true,
		.time_ns = 9000,
		.realtime_ns = 1700000000000000000u,
		.ends_ns = ends[1],
		.losses = { .windows = 3, .rows_pooled = 1 },
		.cost = { .cpu_ns = 1, .switches = 2, .switch_ns = 3, .timed = 4 },
	};
	assert_int_equal(trace_send_mark(s, &mark), 0);
}

/* A file that version 1 wrote, which knew nothing of probes. */
static void test_version_1(void **state)
{
	struct trace_file *f = open_file(TESTS_DIR "/fixtures/recording-1");
	char *got = events_of(TESTS_DIR "/fixtures/recording-1");
	struct event_log said = { 0 };
	struct trace_sink to_log = log_sink(&said);
	const struct trace_header *h;

	(void)state;
	h = trace_file_header(f);
	assert_int_equal(h->nr_probes, 0);
	assert_int_equal(h->layout.nr_counters, 4);
	assert_string_equal(h->layout.counters[2].name, sample_counters[2].name);
	assert_string_equal(h->weights[1], sample_header.weights[1]);
	assert_int_equal(h->nr_cgroups, 2);
	assert_string_equal(h->cgroups[1], sample_cgroups[1]);
	trace_file_close(f);
	events_of_version_1(&to_log);
	assert_string_equal(said.text, got);
	free(said.text);
	free(got);
}

/* A file that version 2 wrote: no devices, and 16 totals of losses. */
static void test_version_2(void **state)
{
	struct trace_file *f = open_file(TESTS_DIR "/fixtures/recording-2");
	char *got = events_of(TESTS_DIR "/fixtures/recording-2");
	const struct trace_header *h;

	(void)state;
	h = trace_file_header(f);
	assert_int_equal(h->nr_probes, 2);
	assert_string_equal(h->probes[1].name, sample_probes[1].name);
	assert_int_equal(h->probes[1].device, 0);
	assert_int_equal(h->nr_devices, 0);
	assert_int_equal(h->layout.nr_counters, 4);
	assert_memory_equal(h->layout.counters, sample_counters, 4 * sizeof(*sample_counters));
	trace_file_close(f);
	assert_non_null(strstr(got, "sample 1 1000 9000 70/7/8 8000/8000\n"));
	assert_non_null(strstr(
		got, "mark 0 1 9000 1700000000000000000 9000 8990"
		     " 3 0 0 0 0 0 0 0 0 0 0 0 0 0 0 1 0 0 0 0 0 0 0 0 0 0 0 1 2 3 4 0 0 0 0\n"));
	free(got);
}

/* A file that version 3 wrote: devices and I/O, but no names of jobs. */
static void test_version_3(void **state)
{
	struct trace_file *f = open_file(TESTS_DIR "/fixtures/recording-3");
	char *got = events_of(TESTS_DIR "/fixtures/recording-3");
	const struct trace_header *h;

	(void)state;
	h = trace_file_header(f);
	assert_same_header(h, &sample_header);
	trace_file_close(f);
	assert_string_equal(
		got, "cgroup 881 [/slurm/job_12]\n"
		     "task 7 7 0 0 70 881 0 [lbm]\n"
		     "mark 1 0 1000 1700000000000000000 1000 1000"
		     " 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0\n"
		     "slice 7 7 70 881 cpu 3 1000 9000 6500 w 3 4 6000\n"
		     "window 0 1000 9000 4096/8000/8000 64/8000/7000\n"
		     "sample 0 1000 9000 70/7/8 8000/8000\n"
		     "io 7 7 70 881 dev 1 0 4096/512 2000 3000\n"
		     "io 0 0 0 881 dev 1 1 0/0 1000 9000\n"
		     "cgroup 881 [(null)]\n"
		     "mark 0 1 9000 1700000000000000000 9000 8990"
		     " 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 0 0 0 0 0 0 0"
		     " 100 101 102 103 104 105 106 107\n");
	free(got);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_version_1),
		cmocka_unit_test(test_version_2),
		cmocka_unit_test(test_version_3),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
