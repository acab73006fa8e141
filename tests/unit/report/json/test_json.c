// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <errno.h>
#include <cmocka.h>

#include "base/array.h"
#include "report/json/json.h"
#include "sample_report.h"

/* What JSON readers have no room for is a text, so that it stays exact. */
static void assert_beyond(const json_t *o, const char *digits)
{
	char *text = json_dumps(o, JSON_COMPACT), quoted[32];

	snprintf(quoted, sizeof(quoted), "\"%s\"", digits);
	assert_non_null(text);
	assert_non_null(strstr(text, quoted));
	free(text);
}

static void check_golden(struct report *r, const char *name)
{
	char *text = sample_json(r);

	/* One report is one line. */
	assert_ptr_equal(strchr(text, '\n'), text + strlen(text) - 1);
	sample_check_golden(name, text);
	free(text);
	report_free(r);
}

static void make_trouble(struct report *r)
{
	r->counters[0].running_ns /= 2;
	r->counters[2].valid = false;
	r->counters[2].running_ns = 0;
	r->counters[4].valid = false;
	r->counters[4].enabled_ns = r->counters[4].running_ns = 0;
	r->quality.late_slices = 3;
	r->quality.kept_flushes = 5;
}

static void test_golden(void **state)
{
	struct report *summary = sample_report(ROW_PROCESS);

	(void)state;
	check_golden(sample_report(ROW_PROCESS), "report-process.json");
	check_golden(sample_report(ROW_THREAD), "report-thread.json");
	check_golden(sample_report(ROW_CGROUP), "report-cgroup.json");
	check_golden(sample_report(ROW_JOB), "report-job.json");
	check_golden(sample_without_counters(), "report-no-counters.json");
	check_golden(sample_without_rows(), "report-empty.json");
	summary->summary = true;
	summary->sequence = 12;
	make_trouble(summary);
	check_golden(summary, "report-trouble.json");
}

static json_t *object_of(const struct report *r)
{
	json_t *o = NULL;

	assert_int_equal(json_report(r, &o), 0);
	assert_non_null(o);
	return o;
}

static void test_counters(void **state)
{
	struct report *r = sample_report(ROW_PROCESS);
	json_t *o, *counters, *c;
	size_t i;

	(void)state;
	make_trouble(r);
	o = object_of(r);
	counters = json_object_get(o, "counters");
	c = json_array_get(counters, 0);
	assert_true(json_real_value(json_object_get(c, "running_ratio")) == 0.5);
	assert_true(json_is_true(json_object_get(c, "valid")));
	assert_null(json_object_get(c, "reason"));
	for (i = 2; i <= 4; i += 2) {
		c = json_array_get(counters, i);
		assert_true(json_is_false(json_object_get(c, "valid")));
		assert_null(json_object_get(c, "value"));
		assert_null(json_object_get(c, "attributed"));
		assert_null(json_object_get(c, "unattributed"));
		assert_null(json_object_get(c, "running_ratio"));
		assert_string_equal(json_string_value(json_object_get(c, "reason")),
				    i == 2 ? "not_running" : "not_read");
	}
	assert_null(json_object_get(o, "summary"));
	assert_int_equal(json_integer_value(json_object_get(
				 json_object_get(json_object_get(o, "quality"), "lost"), "slices")),
			 3);
	json_decref(o);
	report_free(r);
}

static json_t *row_of(json_t *report, size_t i)
{
	return json_array_get(json_object_get(report, "workloads"), i);
}

static int64_t metric_of(json_t *report, size_t row, const char *name)
{
	json_t *value = json_object_get(json_object_get(row_of(report, row), "metrics"), name);

	return value ? json_integer_value(value) : -1;
}

/* What counts reads and writes as one is a metric of its own, in no other sum. */
static void test_together(void **state)
{
	struct report *r = sample_report(ROW_PROCESS);
	json_t *o, *c;

	(void)state;
	sample_together(r, 1);
	o = object_of(r);
	assert_int_equal(metric_of(o, 2, "mem_read_bytes"), 1012345678);
	assert_int_equal(metric_of(o, 2, "mem_write_bytes"), 312345678);
	assert_int_equal(metric_of(o, 2, "mem_readwrite_bytes"), 6012345001 + 2912345002);
	assert_int_equal(metric_of(o, 2, "cmem_readwrite_bytes"), 6012345001 + 2912345002);
	assert_int_equal(metric_of(o, 2, "cmem_read_bytes"), -1);
	c = json_array_get(json_object_get(o, "counters"), 6);
	assert_string_equal(json_string_value(json_object_get(c, "direction")), "readwrite");
	json_decref(o);
	check_golden(r, "report-together.json");
}

/* Energy is in no sum of bytes. */
static void test_energy(void **state)
{
	struct report *r = sample_report(ROW_PROCESS);
	json_t *o, *c;

	(void)state;
	sample_with_energy(r);
	o = object_of(r);
	c = json_object_get(json_object_get(row_of(o, 2), "metrics"), "energy_joules");
	assert_true(json_real_value(c) == (312345678 + 2912345002) / 1e9);
	assert_int_equal(metric_of(o, 2, "mem_read_bytes"), 1012345678 + 6012345001);
	assert_int_equal(metric_of(o, 2, "mem_write_bytes"), -1);
	assert_int_equal(metric_of(o, 2, "mem_readwrite_bytes"), -1);
	c = json_array_get(json_object_get(o, "counters"), 1);
	assert_string_equal(json_string_value(json_object_get(c, "unit")), "nanojoules");
	assert_non_null(json_object_get(c, "attributed"));
	json_decref(o);
	check_golden(r, "report-energy.json");
}

/* Sums stay; where the destination is known there are parts beside them. */
static void test_destinations(void **state)
{
	struct report *r = sample_report(ROW_PROCESS);
	json_t *o = object_of(r), *c;

	(void)state;
	assert_int_equal(metric_of(o, 1, "mem_read_bytes"), 31234567891);
	assert_int_equal(metric_of(o, 1, "cmem_read_bytes"), -1);
	c = json_array_get(json_object_get(o, "counters"), 3);
	assert_string_equal(json_string_value(json_object_get(c, "destination")), "any");
	assert_string_equal(json_string_value(json_object_get(c, "direction")), "write");
	json_decref(o);
	sample_by_destination(r);
	o = object_of(r);
	assert_int_equal(metric_of(o, 2, "mem_read_bytes"), 1012345678 + 6012345001);
	assert_int_equal(metric_of(o, 2, "mem_write_bytes"), 312345678 + 2912345002);
	assert_int_equal(metric_of(o, 2, "cmem_read_bytes"), 1012345678);
	assert_int_equal(metric_of(o, 2, "remote_write_bytes"), 312345678);
	assert_int_equal(metric_of(o, 2, "gmem_read_bytes"), 6012345001);
	assert_int_equal(metric_of(o, 2, "cxl_write_bytes"), 2912345002);
	assert_int_equal(metric_of(o, 2, "cmem_write_bytes"), -1);
	assert_int_equal(metric_of(o, 2, "any_read_bytes"), -1);
	c = json_array_get(json_object_get(o, "counters"), 0);
	assert_string_equal(json_string_value(json_object_get(c, "destination")), "cmem");
	assert_int_equal(
		json_integer_value(json_object_get(json_object_get(c, "filters"), "src_loc_cpu")),
		1);
	json_decref(o);
	report_free(r);
}

static void test_separable(void **state)
{
	struct report *r = sample_report(ROW_PROCESS);
	json_t *o, *row, *keys, *share;

	(void)state;
	/* One key is not in the report, one is not even UTF-8; and a row without a list. */
	sample_tangle(&r->rows[2], "pid:990:99 pid:5:5 \xff", INT64_MAX);
	sample_tangle(&r->rows[3], "", 0);
	o = object_of(r);
	row = row_of(o, 1);
	assert_true(json_is_true(json_object_get(row, "separable")));
	assert_null(json_object_get(row, "tangled_with"));
	assert_null(json_object_get(row, "tangled_count"));
	share = json_array_get(json_object_get(row, "shares"), 0);
	assert_true(json_is_true(json_object_get(share, "separable")));
	row = row_of(o, 2);
	assert_true(json_is_false(json_object_get(row, "separable")));
	keys = json_object_get(row, "tangled_with");
	assert_int_equal(json_array_size(keys), 3);
	assert_string_equal(json_string_value(json_array_get(keys, 0)), "pid:990:99");
	assert_string_equal(json_string_value(json_array_get(keys, 2)), "\xef\xbf\xbd");
	assert_true(json_integer_value(json_object_get(row, "tangled_count")) == INT64_MAX);
	share = json_array_get(json_object_get(row, "shares"), 0);
	assert_true(json_is_false(json_object_get(share, "separable")));
	row = row_of(o, 3);
	assert_int_equal(json_array_size(json_object_get(row, "tangled_with")), 0);
	assert_true(json_is_array(json_object_get(row, "tangled_with")));
	assert_int_equal(json_integer_value(json_object_get(row, "tangled_count")), 0);
	json_decref(o);
	o = NULL;
	r->rows[2].nr_tangled_all = (size_t)INT64_MAX + 1;
	assert_int_equal(json_report(r, &o), 0);
	assert_beyond(o, "9223372036854775808");
	json_decref(o);
	report_free(r);
}

static void test_quality(void **state)
{
	struct report *r = sample_report(ROW_PROCESS);
	json_t *o = object_of(r), *q = json_object_get(o, "quality"), *reason;
	size_t i, background = 0;

	(void)state;
	assert_string_equal(json_string_value(json_object_get(o, "source")), "live");
	assert_string_equal(json_string_value(json_object_get(q, "method")), "state-space");
	assert_string_equal(json_string_value(json_object_get(q, "weights")),
			    "l3d_cache_refill,l2d_cache_wb");
	assert_int_equal(json_integer_value(json_object_get(q, "weight_windows")), 198);
	assert_int_equal(json_integer_value(json_object_get(q, "fallback_windows")), 2);
	assert_int_equal(json_integer_value(json_object_get(q, "pooled_workloads")), 37);
	assert_null(json_object_get(q, "estimated_windows"));
	assert_null(json_object_get(q, "simple_windows"));
	json_array_foreach (json_object_get(o, "unattributed"), i, reason)
		background +=
			!strcmp(json_string_value(json_object_get(reason, "reason")), "background");
	assert_int_equal(background, 2);
	json_decref(o);
	r->replayed = true;
	r->estimated_windows = 180;
	o = object_of(r);
	q = json_object_get(o, "quality");
	assert_int_equal(json_integer_value(json_object_get(q, "estimated_windows")), 180);
	assert_true(json_is_integer(json_object_get(q, "simple_windows")));
	assert_string_equal(json_string_value(json_object_get(o, "source")), "recording");
	json_decref(o);
	report_free(r);
}

/* Leaf rows and reasons add up to each counter, as read back from the text. */
static void check_conservation(const struct report *r)
{
	json_t *o = object_of(r), *c, *row, *share, *entry;
	size_t i, j, k;

	json_array_foreach (json_object_get(o, "counters"), i, c) {
		const char *name = json_string_value(json_object_get(c, "name"));
		json_int_t sum = 0;

		json_array_foreach (json_object_get(o, "workloads"), j, row) {
			if (json_is_false(json_object_get(row, "leaf")))
				continue;
			json_array_foreach (json_object_get(row, "shares"), k, share)
				if (!strcmp(json_string_value(json_object_get(share, "counter")),
					    name))
					sum += json_integer_value(json_object_get(share, "value"));
		}
		json_array_foreach (json_object_get(o, "unattributed"), j, entry)
			if (!strcmp(json_string_value(json_object_get(entry, "counter")), name))
				sum += json_integer_value(json_object_get(entry, "value"));
		assert_int_equal(sum, json_integer_value(json_object_get(c, "value")));
	}
	json_decref(o);
}

static void test_conservation(void **state)
{
	static const enum row_kind kinds[] = { ROW_PROCESS, ROW_THREAD, ROW_CGROUP, ROW_JOB };
	size_t i;

	(void)state;
	for (i = 0; i < ARRAY_SIZE(kinds); i++) {
		struct report *r = sample_report(kinds[i]);

		check_conservation(r);
		report_free(r);
	}
}

static void test_hostile_names(void **state)
{
	struct report *r = sample_without_rows();
	char *text;
	json_t *o, *row;

	(void)state;
	sample_add_row(r, 666, "\x1b\"\\\xff\n", "/\xed\xa0\x80/\xf0\x9f\x9a\x80", 1, 1);
	sample_balance(r);
	text = sample_json(r);
	assert_ptr_equal(strchr(text, '\n'), text + strlen(text) - 1);
	o = json_loads(text, 0, NULL);
	assert_non_null(o);
	row = json_array_get(json_object_get(o, "workloads"), 0);
	assert_string_equal(json_string_value(json_object_get(row, "comm")),
			    "\x1b\"\\\xef\xbf\xbd\n");
	assert_string_equal(
		json_string_value(json_object_get(json_object_get(row, "cgroup"), "path")),
		"/\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd/\xf0\x9f\x9a\x80");
	json_decref(o);
	free(text);
	report_free(r);
}

/* Every number that does not fit is an error, and the output stays untouched. */
static void test_range(void **state)
{
	struct report *r = sample_report(ROW_PROCESS);
	uint64_t *const numbers[] = {
		&r->sequence,
		&r->counters[0].value,
		&r->counters[0].unattributed[REASON_IDLE],
		&r->counters[3].covered_ns,
		&r->rows[1].on_cpu_ns,
		&r->rows[1].cgroup_id,
		&r->rows[1].shares[0].value,
		&r->rows[1].shares[3].high,
		&r->sockets[1].idle_ns,
		&r->quality.reader_moves,
		&r->quality.weight_windows,
		&r->quality.fallback_windows,
		&r->quality.pooled_workloads,
		&r->quality.lost_cgroups,
		&r->self.switch_ns,
	};
	json_t *o = NULL;
	size_t i;

	(void)state;
	for (i = 0; i < ARRAY_SIZE(numbers); i++) {
		uint64_t saved = *numbers[i];

		*numbers[i] = (uint64_t)INT64_MAX + 1;
		assert_int_equal(json_report(r, &o), 0);
		assert_beyond(o, "9223372036854775808");
		json_decref(o);
		*numbers[i] = saved;
	}
	/* Each share fits, but not what they add up to. */
	r->rows[1].shares[0].value = r->rows[1].shares[2].value = INT64_MAX;
	assert_int_equal(json_report(r, &o), 0);
	assert_beyond(o, "18446744073709551614");
	json_decref(o);
	r->rows[1].shares[2].value = 0;
	assert_int_equal(json_report(r, &o), 0);
	json_decref(o);
	report_free(r);
}

static void test_errors(void **state)
{
	struct report *r = sample_report(ROW_PROCESS);
	FILE *f = fopen("/dev/full", "w");

	(void)state;
	assert_non_null(f);
	assert_int_equal(json_write(f, r), -ENOSPC);
	fclose(f);
	report_free(r);
}

/* Sockets are NUMA nodes: their numbers need not begin with 0, nor be in order. */
static void test_socket_numbers(void **state)
{
	struct report_socket sockets[] = { { .id = 36 }, { .id = 0 } };
	struct report r = { .sockets = sockets, .nr_sockets = 2 };
	struct counter first = { .socket = 0 }, second = { .socket = 1 }, strange = { .socket = 7 };

	(void)state;
	assert_int_equal(report_socket_id(&r, &first), 36);
	assert_int_equal(report_socket_id(&r, &second), 0);
	assert_int_equal(report_socket_id(&r, &strange), 7);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_golden),	       cmocka_unit_test(test_counters),
		cmocka_unit_test(test_together),       cmocka_unit_test(test_energy),
		cmocka_unit_test(test_socket_numbers), cmocka_unit_test(test_destinations),
		cmocka_unit_test(test_conservation),   cmocka_unit_test(test_hostile_names),
		cmocka_unit_test(test_range),	       cmocka_unit_test(test_errors),
		cmocka_unit_test(test_separable),      cmocka_unit_test(test_quality),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
