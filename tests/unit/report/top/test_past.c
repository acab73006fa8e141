// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Intervals that are kept in little memory: what comes out is what went in. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include <malloc.h>

#include "sample_report.h"
#include "report/top/graph.h"
#include "report/top/pack.h"
#include "report/top/past.h"
#include "valgrind.h"

#define SECOND 1000000000ULL
#define MANY   1000

static struct past *new_past(size_t max_bytes)
{
	struct past *p = past_new(max_bytes);

	assert_non_null(p);
	return p;
}

/* As it was, but for ends of intervals, which may lie further out by less than a hundredth. */
static void check_end(uint64_t value, uint64_t was, uint64_t is)
{
	uint64_t far_was = was > value ? was - value : value - was;
	uint64_t far_is = is > value ? is - value : value - is;

	assert_true(far_is >= far_was);
	assert_true(far_is - far_was <= far_was / 100);
}

static const struct share *find_share(const struct report_row *row, uint32_t counter)
{
	static const struct share none = { .separable = true };

	for (size_t i = 0; i < row->nr_shares; i++)
		if (row->shares[i].counter == counter)
			return &row->shares[i];
	return &none;
}

static void check_row(const struct report_row *was, const struct report_row *is)
{
	assert_string_equal(was->key, is->key);
	assert_string_equal(was->parent, is->parent);
	assert_int_equal(was->leaf, is->leaf);
	assert_int_equal(was->exited, is->exited);
	assert_int_equal(was->kernel, is->kernel);
	assert_int_equal(was->pid, is->pid);
	assert_int_equal(was->comm_known, is->comm_known);
	assert_int_equal(was->on_cpu_ns, is->on_cpu_ns);
	assert_int_equal(was->separable, is->separable);
	if (was->cgroup)
		assert_string_equal(was->cgroup, is->cgroup);
	else
		assert_null(is->cgroup);
	assert_int_equal(!was->job, !is->job);
	if (was->job)
		assert_string_equal(was->job->id, is->job->id);
	for (size_t i = 0; i < was->nr_shares; i++) {
		const struct share *from = &was->shares[i];
		const struct share *to = find_share(is, from->counter);

		assert_int_equal(from->value, to->value);
		assert_int_equal(from->separable, to->separable);
		check_end(from->value, from->low, to->low);
		check_end(from->value, from->high, to->high);
	}
	assert_int_equal(was->nr_devices, is->nr_devices);
	for (size_t i = 0; i < was->nr_devices; i++) {
		assert_int_equal(was->devices[i].device, is->devices[i].device);
		assert_int_equal(was->devices[i].read_bytes, is->devices[i].read_bytes);
		assert_int_equal(was->devices[i].io_write_bytes, is->devices[i].io_write_bytes);
	}
	assert_int_equal(was->nr_tangled_all, is->nr_tangled_all);
	for (size_t i = 0; i < is->nr_tangled; i++)
		assert_string_equal(was->tangled[i], is->tangled[i]);
}

static void check_kind(enum row_kind kind, bool devices)
{
	struct past *p = new_past(PAST_MAX_BYTES);
	struct report *was = sample_report(kind), *is;

	if (devices)
		sample_with_devices(was);
	assert_int_equal(past_add(p, was), 0);
	assert_int_equal(past_report(p, 0, &is), 0);
	assert_int_equal(is->nr_rows, was->nr_rows);
	assert_int_equal(is->nr_counters, was->nr_counters);
	assert_memory_equal(is->counters, was->counters, was->nr_counters * sizeof(*was->counters));
	assert_memory_equal(is->sockets, was->sockets, was->nr_sockets * sizeof(*was->sockets));
	assert_memory_equal(&is->quality, &was->quality, sizeof(was->quality));
	assert_int_equal(is->nr_devices, was->nr_devices);
	for (size_t i = 0; i < was->nr_rows; i++)
		check_row(&was->rows[i], &is->rows[i]);
	past_report_free(is);
	report_free(was);
	past_free(p);
}

static void test_reports_come_back(void **state)
{
	(void)state;
	check_kind(ROW_PROCESS, false);
	check_kind(ROW_PROCESS, true);
	check_kind(ROW_THREAD, false);
	check_kind(ROW_CGROUP, true);
	check_kind(ROW_JOB, false);
}

/* The end of an interval is never nearer than it was, and hardly further. */
static void test_rounding(void **state)
{
	(void)state;
	for (uint64_t v = 1; v; v = v > UINT64_MAX / 2 ? 0 : v * 2)
		for (uint64_t i = 0; i < 4; i++) {
			uint64_t exact = v + i * (v / 3) - (i & 1), code = pack_rounded(exact);

			assert_true(code < 1 << 14);
			assert_true(unpack_rounded(code) >= exact);
			assert_true(unpack_rounded(code) - exact <= exact / 128);
		}
	assert_int_equal(unpack_rounded(pack_rounded(UINT64_MAX)), UINT64_MAX);
	assert_int_equal(unpack_rounded(pack_rounded(255)), 255);
	assert_int_equal(unpack_rounded(pack_rounded(0)), 0);
}

/* The k-th second of a machine with many busy processes. */
static struct report *busy_report(uint64_t k, uint32_t first_pid)
{
	struct report *r = sample_report(ROW_PROCESS);

	r->start_ns = k * SECOND;
	r->end_ns = (k + 1) * SECOND;
	for (uint32_t i = 0; i < MANY - 5; i++)
		sample_add_row(r, first_pid + i, "worker", "/machine.slice/worker.service",
			       10000000 + (i * 7919 + k * 104729) % 9000000, 3000000 + i);
	return r;
}

/* Ten minutes of a thousand rows, in what is promised; really, not only by our own books. */
static void test_ten_minutes(void **state)
{
	struct past *p = new_past(PAST_MAX_BYTES);
	size_t before = mallinfo2().uordblks + mallinfo2().hblkhd, used;
	uint64_t seconds = under_valgrind(10, 600);

	(void)state;
	for (uint64_t k = 0; k < seconds; k++) {
		struct report *r = busy_report(k, 10000);

		assert_int_equal(past_add(p, r), 0);
		report_free(r);
	}
	used = mallinfo2().uordblks + mallinfo2().hblkhd - before;
	assert_int_equal(past_count(p), seconds);
	assert_int_equal(past_dropped(p), 0);
	assert_true(used < 32u << 20);
	past_free(p);
}

/* Processes that come and go take no more than that either: the oldest intervals go. */
static void test_bounded(void **state)
{
	const size_t bound = 2u << 20;
	struct past *p = new_past(bound);
	struct report *r;

	(void)state;
	for (uint64_t k = 0; k < 60; k++) {
		r = busy_report(k, (uint32_t)(10000 + k * MANY));
		assert_int_equal(past_add(p, r), 0);
		report_free(r);
		assert_true(past_bytes(p) <= bound || past_count(p) == 1);
	}
	assert_true(past_dropped(p) > 0);
	assert_int_equal(past_count(p) + past_dropped(p), 60);
	assert_int_equal(past_when(p, 0).number, past_dropped(p));
	assert_int_equal(past_find(p, 0), 0);
	assert_int_equal(past_find(p, 59), past_count(p) - 1);
	assert_int_equal(past_report(p, past_count(p) - 1, &r), 0);
	assert_int_equal(r->nr_rows, MANY);
	assert_int_equal(r->start_ns, 59 * SECOND);
	past_report_free(r);
	past_forget(p);
	assert_int_equal(past_count(p), 0);
	past_free(p);
}

/* A row over time, also when its name changes on the way. */
static void test_lines(void **state)
{
	struct past *p = new_past(PAST_MAX_BYTES);
	double bytes[5] = { 0 }, cpu[5] = { 0 }, bins[4];
	struct past_line lines[2] = { { .values = bytes }, { .cpu = true, .values = cpu } };
	struct graph_span span;

	(void)state;
	for (uint64_t k = 0; k < 5; k++) {
		struct report *r = sample_report(ROW_PROCESS);

		r->start_ns = k * 30 * SECOND;
		r->end_ns = (k + 1) * 30 * SECOND;
		sample_add_row(r, 77, k < 2 ? "before" : "after", "/x", k == 3 ? 0 : 100, 50);
		lines[0].key = lines[1].key = "pid:77:99";
		lines[0].leaf = lines[1].leaf = true;
		assert_int_equal(past_add(p, r), 0);
		report_free(r);
	}
	span = graph_span(p, 4);
	assert_int_equal(span.first, 1);
	assert_int_equal(past_lines(p, 0, 4, lines, 2), 0);
	for (int k = 0; k < 5; k++) {
		assert_true(k == 3 ? bytes[k] == 0 : bytes[k] >= 400 && bytes[k] < 408);
		assert_true(cpu[k] == 50);
	}
	/* Four pieces of thirty seconds: the oldest interval is older than the graph. */
	graph_bins(p, &span, bytes + 1, 4, bins);
	assert_true(bins[0] > 0 && bins[1] > 0 && bins[2] == 0 && bins[3] > 0);
	/* Of the first one alone there is nothing to be known before it. */
	span = graph_span(p, 0);
	graph_bins(p, &span, bytes, 4, bins);
	assert_true(bins[0] < 0 && bins[2] < 0 && bins[3] > 0);
	past_free(p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_reports_come_back),
		cmocka_unit_test(test_rounding),
		cmocka_unit_test(test_ten_minutes),
		cmocka_unit_test(test_bounded),
		cmocka_unit_test(test_lines),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
