// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Where windows are closed while a task goes on, and what reports say of it. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>
#include <math.h>
#include <string.h>

#include "engine/session/session.h"
#include "live/lookup/live_ticks.h"
#include "platform/sys/cpus.h"
#include "report/json/json.h"
#include "report/put.h"
#include "report/table/table.h"
#include "sample_report.h"
#include "tree.h"

#define ISOLATED  "devices/system/cpu/isolated"
#define NOHZ_FULL "devices/system/cpu/nohz_full"

static struct tree tree;

static void quiet_cpus(const char *isolated, const char *nohz_full, const char *expected)
{
	char text[CPULIST_TEXT_LEN];
	struct cpulist quiet;
	struct diag d = { 0 };
	struct sysfs fs;

	tree_make(&tree);
	if (isolated)
		tree_put(&tree, ISOLATED, isolated);
	if (nohz_full)
		tree_put(&tree, NOHZ_FULL, nohz_full);
	assert_int_equal(sysfs_open(tree.root, &d, &fs), 0);
	cpus_kept_quiet(&fs, &quiet);
	assert_int_equal(cpulist_format(&quiet, text, sizeof(text)), 0);
	assert_string_equal(text, expected);
	sysfs_close(&fs);
	tree_remove(&tree);
}

static void isolated_and_nohz_full_are_quiet(void **state)
{
	(void)state;
	quiet_cpus("2-3\n", "3,7\n", "2-3,7");
	quiet_cpus("\n", "5\n", "5");
	quiet_cpus("1\n", "  (null)\n", "1");
	quiet_cpus("1\n", NULL, "1");
	quiet_cpus(NULL, NULL, "");
}

/* What is chosen, on a machine whose CPUs 2 and 3 are isolated. */
static struct live_ticks choose(enum tick_mode mode, bool counted)
{
	const struct run_options args = { .tick = mode };
	struct live_ticks ticks;
	struct diag d = { 0 };
	struct sysfs fs;

	tree_make(&tree);
	tree_put(&tree, ISOLATED, "2-3\n");
	assert_int_equal(sysfs_open(tree.root, &d, &fs), 0);
	live_ticks_choose(&args, counted, &fs, &ticks);
	sysfs_close(&fs);
	tree_remove(&tree);
	return ticks;
}

static struct host_info tell(const struct live_ticks *ticks, bool counted, const char *missing)
{
	struct host_info host = { 0 };

	live_ticks_tell(ticks, counted, missing, 4, &host);
	return host;
}

static void quiet_cpus_are_left_alone(void **state)
{
	struct live_ticks ticks = choose(TICK_AUTO, true);
	struct host_info host = tell(&ticks, true, "");

	(void)state;
	assert_true(ticks.on);
	assert_int_equal(cpulist_count(&ticks.quiet), 2);
	assert_true(cpulist_contains(&ticks.quiet, 2) && cpulist_contains(&ticks.quiet, 3));
	assert_string_equal(host.tick, "auto");
	assert_non_null(strstr(host.tick_note, "CPUs 2-3 are isolated or nohz_full"));
	assert_non_null(strstr(host.tick_note, "--tick=all"));
	/* Those that the machine does not have are not named. */
	cpulist_parse("9", &ticks.quiet);
	assert_string_equal(tell(&ticks, true, "").tick_note, "");
}

static void all_and_off(void **state)
{
	struct live_ticks ticks = choose(TICK_ALL, true);

	(void)state;
	assert_true(ticks.on);
	assert_int_equal(cpulist_count(&ticks.quiet), 0);
	assert_string_equal(tell(&ticks, true, "").tick, "all");
	assert_string_equal(tell(&ticks, true, "").tick_note, "");
	assert_non_null(strstr(tell(&ticks, true, "no tracepoint").tick_note, ": no tracepoint"));
	ticks = choose(TICK_OFF, true);
	assert_false(ticks.on);
	assert_string_equal(tell(&ticks, true, "").tick, "off");
	assert_string_equal(tell(&ticks, true, "").tick_note, "");
	/* Without counters there are no windows. */
	ticks = choose(TICK_ALL, false);
	assert_false(ticks.on);
	assert_string_equal(tell(&ticks, false, "").tick, "");
}

/* --- what of the CPU time is known window by window */

static uint32_t cpu_socket[] = { 0 };
static uint32_t socket_ids[] = { 0 };
static struct counter counters[] = { { .name = "a", .source = SOURCE_CPU } };
static struct group groups[] = { { 0, 0, 1 } };

static uint64_t spread_of(const char *tick)
{
	static const uint64_t lengths[] = { 100, 140, 160, 600 };
	struct trace_header header = {
		.layout = { cpu_socket, 1, socket_ids, 1, counters, 1, groups, 1 },
		.window_ns = 100,
	};
	struct session_options o = { .all = true };
	struct trace_mark m = { .first = true, .ends_ns = (uint64_t[]){ 0 } };
	uint64_t end = 0, spread;
	struct trace_sink out;
	struct session *s;
	struct report *r;

	strcpy(header.host.tick, tick);
	assert_int_equal(session_new(&header, &o, &s), 0);
	out = session_sink(s);
	assert_int_equal(trace_send_mark(&out, &m), 0);
	for (int i = 0; i < 4; i++) {
		struct trace_slice one = { .pid = 7,
					   .tgid = 7,
					   .task_start_ns = 7,
					   .cgroup_id = 1,
					   .start_ns = end,
					   .end_ns = end + lengths[i],
					   .on_cpu_ns = lengths[i] - 10 };

		assert_int_equal(trace_send_slice(&out, &one), 0);
		one.pid = TRACE_PID_IDLE;
		one.tgid = 0;
		one.on_cpu_ns = 10;
		assert_int_equal(trace_send_slice(&out, &one), 0);
		end += lengths[i];
	}
	m = (struct trace_mark){ .last = true, .time_ns = end, .ends_ns = &end };
	assert_int_equal(trace_send_mark(&out, &m), 0);
	assert_int_equal(session_report(s, &m, &r), 0);
	spread = r->quality.spread_ns;
	assert_int_equal(r->quality.tasks_ns, tick[0] ? 90 + 130 + 150 + 590 : 0);
	if (spread)
		assert_true(fabs(quality_per_window(&r->quality) - 220.0 / 960) < 1e-9);
	report_free(r);
	session_free(s);
	return spread;
}

static void slices_of_several_windows_are_spread(void **state)
{
	(void)state;
	assert_int_equal(spread_of("auto"), 150 + 590);
	assert_int_equal(spread_of("off"), 150 + 590);
	/* A recording that does not say how windows were closed has the reports that it had. */
	assert_int_equal(spread_of(""), 0);
}

static char *text_of(const struct report *r, bool verbose)
{
	const struct table_options o = { .width = 200, .verbose = verbose };

	return sample_table(r, &o);
}

static void reports_say_so(void **state)
{
	struct report *r = sample_report(ROW_PROCESS);
	struct host_info host = *r->host;
	json_t *o, *q;
	char *text;

	(void)state;
	assert_int_equal(json_report(r, &o), 0);
	q = json_object_get(o, "quality");
	assert_null(json_object_get(q, "tick"));
	assert_null(json_object_get(q, "spread_ns"));
	assert_null(json_object_get(q, "per_window_ratio"));
	json_decref(o);
	strcpy(host.tick, "auto");
	strcpy(host.tick_note, "CPUs 2-3 are left alone\x1b");
	r->host = &host;
	assert_int_equal(json_report(r, &o), 0);
	q = json_object_get(o, "quality");
	/* Nobody ran: of nothing there is no part. */
	assert_string_equal(json_string_value(json_object_get(q, "tick")), "auto");
	assert_null(json_object_get(q, "per_window_ratio"));
	json_decref(o);
	r->quality.tasks_ns = 4000;
	r->quality.spread_ns = 1000;
	assert_int_equal(json_report(r, &o), 0);
	q = json_object_get(o, "quality");
	assert_string_equal(json_string_value(json_object_get(q, "tick")), "auto");
	assert_int_equal(json_integer_value(json_object_get(q, "tasks_ns")), 4000);
	assert_int_equal(json_integer_value(json_object_get(q, "spread_ns")), 1000);
	assert_true(fabs(json_real_value(json_object_get(q, "per_window_ratio")) - 0.75) < 1e-9);
	assert_non_null(json_object_get(q, "tick_note"));
	json_decref(o);
	text = text_of(r, false);
	assert_non_null(strstr(text, "\nCPUs 2-3 are left alone\\x1b\n"));
	assert_null(strstr(text, "activity of tasks known"));
	free(text);
	text = text_of(r, true);
	assert_non_null(strstr(text, "activity of tasks known for each window in 75.0% of "));
	assert_non_null(strstr(text, "(tick: auto)"));
	free(text);
	/* 99.97 % is not all. */
	r->quality.spread_ns = 1;
	text = text_of(r, true);
	assert_non_null(strstr(text, "in 99.9% of their CPU time"));
	free(text);
	report_free(r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(isolated_and_nohz_full_are_quiet),
		cmocka_unit_test(quiet_cpus_are_left_alone),
		cmocka_unit_test(all_and_off),
		cmocka_unit_test(slices_of_several_windows_are_spread),
		cmocka_unit_test(reports_say_so),
	};

	return cmocka_run_group_tests_name("ticks", tests, NULL, NULL);
}
