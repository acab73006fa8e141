// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>
#include <errno.h>
#include <string.h>

#include "engine/session/session.h"

/* Memory traffic of devices, and a disk; a second disk is not counted. */
static uint32_t cpu_socket[] = { 0 };
static uint32_t socket_ids[] = { 0 };
static struct counter counters[] = {
	{ .name = "ucf", .source = SOURCE_DEVICE },
	{ .name = "d/rd", .source = SOURCE_DEVICE, .group = 1, .device = 1 },
};
static struct group groups[] = { { 0, 0, 1 }, { 0, 1, 1 } };
static struct device devices[] = {
	{ .bdf = "0000:01:00.0", .name = "nvme0n1", .kind = DEVICE_NVME, .filter = DEVICE_BY_ID },
	{ .bdf = "0000:02:00.0", .name = "nvme1n1", .kind = DEVICE_NVME },
};
static struct probe probes[] = {
	{ .name = "d/lat", .device = 1 },
};
static const struct trace_header header = {
	.layout = { .cpu_socket = cpu_socket,
		    .nr_cpus = 1,
		    .socket_ids = socket_ids,
		    .nr_sockets = 1,
		    .counters = counters,
		    .nr_counters = 2,
		    .groups = groups,
		    .nr_groups = 2 },
	.devices = devices,
	.nr_devices = 2,
	.probes = probes,
	.nr_probes = 1,
};

/* Times are in ms. */
#define MS 1000000ull

static struct session *make(struct session_options o)
{
	struct session *s;

	assert_int_equal(session_new(&header, &o, &s), 0);
	return s;
}

static struct trace_io io_of(uint32_t pid, uint64_t cgroup, uint32_t device, uint64_t read,
			     uint64_t start, uint64_t end)
{
	return (struct trace_io){ .pid = pid,
				  .tgid = pid,
				  .task_start_ns = pid,
				  .cgroup_id = cgroup,
				  .device = device,
				  .read_bytes = read,
				  .start_ns = start * MS,
				  .end_ns = end * MS };
}

static int io(const struct trace_sink *out, uint32_t pid, uint64_t cgroup, uint32_t device,
	      uint64_t read, uint64_t start, uint64_t end)
{
	struct trace_io io = io_of(pid, cgroup, device, read, start, end);

	return trace_send_io(out, &io);
}

static int alone(const struct trace_sink *out, uint32_t pid, uint32_t device, uint64_t start,
		 uint64_t end)
{
	struct trace_io io = io_of(pid, 1, device, 0, start, end);

	io.exclusive = true;
	return trace_send_io(out, &io);
}

static void window(const struct trace_sink *out, uint32_t group, uint64_t start, uint64_t end,
		   uint64_t bytes)
{
	uint64_t ns = (end - start) * MS;
	const struct reading r = { bytes, ns, ns };
	const struct trace_window w = { group, start * MS, end * MS, &r };

	assert_int_equal(trace_send_window(out, &w), 0);
}

static struct trace_mark mark_at(uint64_t ms, uint64_t *end)
{
	*end = ms * MS;
	return (struct trace_mark){
		.time_ns = *end,
		.ends_ns = end,
		.losses = { .lost_io = ms / 100, .device_held_ns = ms, .device_changes = ms }
	};
}

static void begin(const struct trace_sink *out)
{
	uint64_t end;
	struct trace_mark m = mark_at(0, &end);

	m.first = true;
	assert_int_equal(trace_send_mark(out, &m), 0);
}

static struct report *report_at(struct session *s, uint64_t ms)
{
	uint64_t end;
	struct trace_mark m = mark_at(ms, &end);
	struct report *r;

	assert_int_equal(session_report(s, &m, &r), 0);
	return r;
}

static const struct report_row *row(const struct report *r, const char *key)
{
	for (size_t i = 0; i < r->nr_rows; i++)
		if (!strcmp(r->rows[i].key, key))
			return &r->rows[i];
	return NULL;
}

static void nonsense_is_refused(void **state)
{
	(void)state;
	for (int names_only = 0; names_only < 2; names_only++) {
		struct session *s =
			make((struct session_options){ .all = true, .names_only = names_only });
		struct trace_sink out = session_sink(s);
		struct trace_io e;

		begin(&out);
		assert_int_equal(io(&out, 5, 1, 2, 10, 0, 10), -EINVAL); /* devices are 0 and 1 */
		assert_int_equal(io(&out, 5, 1, 0, 10, 10, 9), -EINVAL);
		assert_int_equal(io(&out, 0, 0, 0, 10, 0, 9), -EINVAL); /* not even a cgroup */
		e = io_of(5, 1, 0, 10, 0, 10);
		e.tgid = 0;
		assert_int_equal(trace_send_io(&out, &e), -EINVAL);
		e.tgid = 6; /* tasks are processes */
		assert_int_equal(trace_send_io(&out, &e), -EINVAL);
		e.tgid = 5;
		e.exclusive = true;
		assert_int_equal(trace_send_io(&out, &e), -EINVAL); /* with bytes */
		assert_int_equal(alone(&out, TRACE_PID_LOST, 0, 0, 10), -EINVAL);
		assert_false(session_unknown_cgroup(s)); /* nothing of it was looked at */
		assert_int_equal(io(&out, 5, 1, 0, 10, 5, 5), 0);
		assert_true(session_unknown_cgroup(s));
		if (!names_only) {
			struct report *r = report_at(s, 100);

			assert_int_equal(r->nr_rows, 1);
			assert_int_equal(r->devices[0].read.io_bytes, 10);
			report_free(r);
		}
		session_free(s);
	}
}

static int count(void *arg, uint32_t pid, uint32_t tgid, uint64_t start_ns)
{
	size_t *nr = arg;

	assert_int_equal(pid, 5);
	assert_int_equal(tgid, 5);
	assert_int_equal(start_ns, 5);
	++*nr;
	return 0;
}

/* One that is known only by what it wrote is named and kept like any other. */
static void names_are_kept(void **state)
{
	struct session *s = make((struct session_options){ .names_only = true });
	struct trace_sink out = session_sink(s);
	uint64_t end;
	struct trace_mark m;
	size_t nr = 0;

	(void)state;
	begin(&out);
	assert_int_equal(io(&out, 0, 9, 0, 10, 0, 10), 0); /* nobody to be named */
	assert_int_equal(io(&out, TRACE_PID_LOST, 0, 0, 10, 0, 10), 0);
	for (uint64_t k = 1; k < 300; k++) {
		assert_int_equal(io(&out, 5, 1, 0, 1, k, k), 0);
		if (k == 2)
			assert_int_equal(trace_send_exit(&out, 5, 5), 0);
		m = mark_at(k, &end);
		assert_int_equal(trace_send_mark(&out, &m), 0);
	}
	assert_int_equal(session_each_unnamed(s, count, &nr), 0);
	assert_int_equal(nr, 1);
	session_free(s);
}

static void bytes_reach_rows(void **state)
{
	struct session *s = make((struct session_options){ .all = true });
	struct trace_sink out = session_sink(s);
	const struct trace_sample sample = { .end_ns = 100 * MS,
					     .outstanding = 4000,
					     .requests = 10,
					     .cycles = 100000000,
					     .enabled_ns = 1,
					     .running_ns = 1 };
	const struct trace_lost lost = { .what = "io", .count = 3 };
	const struct report_row *k;
	struct report *r;

	(void)state;
	begin(&out);
	assert_int_equal(trace_send_cgroup(&out, 2, "/job"), 0);
	for (uint64_t ms = 0; ms < 100; ms += 10) {
		assert_int_equal(io(&out, 9, 2, 0, 4096, ms, ms + 10), 0);
		window(&out, 0, ms, ms + 10, 10000);
		window(&out, 1, ms, ms + 10, 4096);
	}
	assert_int_equal(io(&out, 9, 2, 1, 512, 20, 20), 0);
	assert_int_equal(io(&out, TRACE_PID_LOST, 0, 1, 100, 20, 30), 0);
	assert_int_equal(io(&out, 0, 2, 1, 11, 20, 30), 0);
	assert_int_equal(trace_send_lost(&out, &lost), 0);
	assert_int_equal(trace_send_sample(&out, &sample), 0);
	r = report_at(s, 100);
	assert_int_equal(r->nr_rows, 1);
	k = row(r, "pid:9:9");
	assert_string_equal(k->cgroup, "/job");
	assert_int_equal(k->nr_devices, 2);
	assert_int_equal(k->devices[0].io_read_bytes, 40960);
	assert_int_equal(k->devices[1].io_read_bytes, 512);
	assert_int_equal(r->devices[0].read.bytes, 40960);
	assert_true(k->devices[0].read_bytes > 40000);
	assert_int_equal(r->devices[0].read.owned, k->devices[0].read_bytes);
	/* its memory traffic, too */
	assert_int_equal(r->counters[0].attributed, k->devices[0].read_bytes);
	assert_int_equal(r->counters[0].value, 100000);
	assert_int_equal(r->devices[1].read.io_bytes, 623);
	assert_int_equal(r->quality.unowned_io_bytes, 111);
	assert_int_equal(r->quality.lost_io, 4);
	assert_int_equal(r->quality.device_held_ns, 100);
	assert_int_equal(r->quality.device_changes, 100);
	assert_int_equal(r->quality.windows, 10);
	assert_true(r->devices[0].latency_valid);
	assert_false(r->devices[1].latency_valid);
	assert_int_equal(k->nr_latencies, 0);
	report_free(r);
	assert_int_equal(session_summary(s, &r), 0);
	assert_int_equal(r->devices[0].read.bytes, 40960);
	assert_int_equal(r->devices[0].turns, 1);
	assert_int_equal(r->quality.unowned_io_bytes, 111);
	report_free(r);
	session_free(s);
}

static void the_cgroup_alone_is_known(void **state)
{
	struct session *s = make((struct session_options){ .by = ROW_CGROUP, .all = true });
	struct trace_sink out = session_sink(s);
	struct report *r;

	(void)state;
	begin(&out);
	assert_int_equal(trace_send_cgroup(&out, 2, "/job"), 0);
	assert_int_equal(io(&out, 0, 2, 0, 77, 1, 2), 0);
	r = report_at(s, 100);
	assert_int_equal(row(r, "cgroup:2")->devices[0].io_read_bytes, 77);
	assert_int_equal(r->quality.unowned_io_bytes, 0);
	report_free(r);
	session_free(s);
}

static void owners_of_all_the_interval(void **state)
{
	struct session *s = make((struct session_options){ .all = true });
	struct trace_sink out = session_sink(s);
	struct report *r;

	(void)state;
	begin(&out);
	/* said in pieces, and not quite to the end; of the other disk there is a hole */
	for (uint64_t ms = 0; ms < 990; ms += 90)
		assert_int_equal(alone(&out, 5, 0, ms, ms + 90), 0);
	assert_int_equal(alone(&out, 6, 1, 0, 500), 0);
	assert_int_equal(alone(&out, 6, 1, 600, 1000), 0);
	r = report_at(s, 1000);
	assert_string_equal(r->devices[0].exclusive, "pid:5:5");
	assert_string_equal(r->devices[1].exclusive, "");
	assert_false(r->devices[0].shared);
	assert_false(r->devices[1].shared);
	report_free(r);

	/* then two of them; and one span that goes on for long */
	assert_int_equal(alone(&out, 5, 0, 990, 1500), 0);
	assert_int_equal(alone(&out, 7, 0, 1500, 2000), 0);
	assert_int_equal(alone(&out, 6, 1, 1000, 1000000), 0);
	r = report_at(s, 2000);
	assert_string_equal(r->devices[0].exclusive, "");
	assert_true(r->devices[0].shared);
	assert_string_equal(r->devices[1].exclusive, "pid:6:6");
	assert_false(r->devices[1].shared);
	report_free(r);
	for (uint64_t k = 3; k < 200; k++) {
		r = report_at(s, k * 1000);
		assert_string_equal(r->devices[0].exclusive, "");
		assert_false(r->devices[0].shared);
		assert_string_equal(r->devices[1].exclusive, "pid:6:6");
		report_free(r);
	}
	assert_int_equal(session_summary(s, &r), 0);
	assert_string_equal(r->devices[1].exclusive, "");
	assert_true(r->devices[0].shared);
	assert_false(r->devices[1].shared);
	report_free(r);
	session_free(s);
}

/* Processes of a cgroup that has a device alone share it; of rows of cgroups, it is one. */
static void shared_at_once(void **state)
{
	(void)state;
	for (int by_cgroup = 0; by_cgroup < 2; by_cgroup++) {
		struct session *s = make((struct session_options){
			.by = by_cgroup ? ROW_CGROUP : ROW_PROCESS, .all = true });
		struct trace_sink out = session_sink(s);
		struct report *r;

		begin(&out);
		assert_int_equal(alone(&out, 5, 0, 0, 1000), 0);
		assert_int_equal(alone(&out, 7, 0, 0, 500), 0);
		r = report_at(s, 1000);
		assert_int_equal(r->devices[0].shared, !by_cgroup);
		assert_string_equal(r->devices[0].exclusive, by_cgroup ? "cgroup:1" : "");
		report_free(r);
		session_free(s);
	}
}

/* Windows of a device can be long beside intervals, and many tasks come and go meanwhile. */
static void requests_wait_for_their_window(void **state)
{
	const uint32_t pids[] = { 5, 6 };
	struct session *s = make((struct session_options){ .all = true });
	struct trace_sink out = session_sink(s);
	struct report *r;

	(void)state;
	begin(&out);
	assert_int_equal(io(&out, pids[0], 1, 0, 4096, 10, 20), 0);
	assert_int_equal(io(&out, pids[1], 1, 0, 4096, 5000, 5010), 0); /* read long before */
	assert_int_equal(trace_send_exit(&out, pids[0], pids[0]), 0);
	assert_int_equal(trace_send_exit(&out, pids[1], pids[1]), 0);
	for (uint32_t k = 1; k < 60; k++) {
		assert_int_equal(io(&out, 100 + k, 1, 1, 1, k * 100 - 10, k * 100 - 10), 0);
		r = report_at(s, k * 100);
		assert_int_equal(r->quality.unowned_io_bytes, 0);
		report_free(r);
	}
	window(&out, 1, 0, 6000, 8192);
	r = report_at(s, 6000);
	assert_int_equal(r->devices[0].read.owned, 8192);
	for (int i = 0; i < 2; i++) {
		const struct report_row *who = row(r, i ? "pid:6:6" : "pid:5:5");

		assert_non_null(who);
		assert_int_equal(who->devices[0].read_bytes, 4096);
	}
	report_free(r);
	session_free(s);
}

/*
 * A device that could not be read at the end of an interval: what it moved in both comes with the
 * second one, and is not said to be of that alone. A little before its begin is no matter.
 */
static void late_readings_say_so(void **state)
{
	struct session *s = make((struct session_options){ .all = true });
	struct trace_sink out = session_sink(s);
	struct report *r;

	(void)state;
	begin(&out);
	window(&out, 1, 0, 990, 3000);
	r = report_at(s, 1000);
	assert_int_equal(r->devices[0].read.bytes, 3000);
	assert_int_equal(r->devices[0].read.low, 3000);
	assert_int_equal(r->devices[0].read.high, 3000);
	report_free(r);
	r = report_at(s, 2000);
	assert_false(r->devices[0].read.valid);
	report_free(r);
	window(&out, 1, 990, 2500, 5000);
	window(&out, 1, 2500, 3000, 700);
	r = report_at(s, 3000);
	assert_int_equal(r->devices[0].read.bytes, 5700);
	/* 1010 of 1510 ms are before it, and as much again may differ by 30% */
	assert_int_equal(r->devices[0].read.low, 5700 - 4347);
	assert_int_equal(r->devices[0].read.high, 5700);
	assert_int_equal(r->devices[0].enabled_ns, 2010 * MS);
	report_free(r);
	window(&out, 1, 3000, 3960, 900);
	r = report_at(s, 4000);
	report_free(r);
	window(&out, 1, 3960, 5000, 1040);
	r = report_at(s, 5000);
	assert_int_equal(r->devices[0].read.low, 1040);
	report_free(r);
	/* All of it is of the run. */
	assert_int_equal(session_summary(s, &r), 0);
	assert_int_equal(r->devices[0].read.bytes, 10640);
	assert_int_equal(r->devices[0].read.low, 10640);
	assert_int_equal(r->devices[0].read.high, 10640);
	report_free(r);
	session_free(s);
}

/* Where counters took turns, totals may be as wrong as a row that has all of them. */
static void scaled_totals_have_bars(void **state)
{
	struct session *s = make((struct session_options){ .all = true });
	struct trace_sink out = session_sink(s);
	struct report *r;

	(void)state;
	begin(&out);
	for (uint64_t i = 0; i < 100; i++) {
		const struct reading half = { 456, 10 * MS, 5 * MS };
		const struct trace_window w = { 0, 10 * i * MS, 10 * (i + 1) * MS, &half };

		assert_int_equal(trace_send_window(&out, &w), 0);
	}
	r = report_at(s, 1000);
	assert_int_equal(r->counters[0].value, 91200);
	assert_in_range(r->counters[0].low, 60000, 79000);
	/* An eleventh more is what the kernel's turns may have missed. */
	assert_in_range(r->counters[0].high, 100000, 120000);
	report_free(r);
	window(&out, 0, 1000, 2000, 1000);
	r = report_at(s, 2000);
	assert_int_equal(r->counters[0].low, 1000);
	assert_int_equal(r->counters[0].high, 1000);
	report_free(r);
	assert_int_equal(session_summary(s, &r), 0);
	assert_true(r->counters[0].low < 80000 && r->counters[0].high > 101000);
	report_free(r);
	session_free(s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(nonsense_is_refused),
		cmocka_unit_test(names_are_kept),
		cmocka_unit_test(bytes_reach_rows),
		cmocka_unit_test(the_cgroup_alone_is_known),
		cmocka_unit_test(owners_of_all_the_interval),
		cmocka_unit_test(shared_at_once),
		cmocka_unit_test(requests_wait_for_their_window),
		cmocka_unit_test(late_readings_say_so),
		cmocka_unit_test(scaled_totals_have_bars),
	};

	return cmocka_run_group_tests_name("session_io", tests, NULL, NULL);
}
