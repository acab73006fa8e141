// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* How latencies and neighbours look, as tables and as JSON. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <errno.h>
#include <math.h>
#include <cmocka.h>

#include "base/array.h"
#include "report/format.h"
#include "report/json/json.h"
#include "report/latencies.h"
#include "report/table/table.h"
#include "sample_report.h"

static const struct probe probes[] = {
	{ .name = "cmem0/rd",
	  .title = "reads of CPU memory",
	  .pmu = "nvidia_cmem_latency_pmu_0",
	  .destination = DESTINATION_CMEM,
	  .by_tasks = true },
	{ .name = "nvlink_c2c0/out_rd/0",
	  .title = "reads of GPU memory",
	  .pmu = "nvidia_nvlink_c2c_pmu_0",
	  .destination = DESTINATION_GMEM,
	  .by_tasks = true },
	{ .name = "nvlink_c2c0/out_rd/1",
	  .title = "reads of GPU memory",
	  .pmu = "nvidia_nvlink_c2c_pmu_0",
	  .destination = DESTINATION_GMEM,
	  .by_tasks = true },
	{ .name = "cmem1/rd",
	  .title = "reads of CPU memory",
	  .pmu = "nvidia_cmem_latency_pmu_1",
	  .socket = 1,
	  .destination = DESTINATION_CMEM,
	  .by_tasks = true },
	{ .name = "in1\n\x1b[31m/rd",
	  .title = "reads by \xff",
	  .pmu = "nvidia_nvlink_c2c_pmu_1",
	  .socket = 1 },
};

/* The sample report, with what its first rows saw. */
static struct report *with_latencies(enum row_kind by)
{
	struct report *r = sample_report(by);

	r->nr_probes = ARRAY_SIZE(probes);
	r->probes = calloc(r->nr_probes, sizeof(*r->probes));
	assert_non_null(r->probes);
	for (size_t i = 0; i < r->nr_probes; i++)
		r->probes[i] = (struct report_probe){
			.probe = &probes[i],
			.valid = i != 4,
			.latency_cycles = 800.25 * (i + 1),
			.latency_ns = 400.125 * (i + 1),
			.requests = i == 4 ? 0 : 1000 * (i + 1),
			.outstanding = i == 4 ? 0 : 800250 * (i + 1) * (i + 1),
			.cycles = 2000000000,
			.samples = 10,
			.covered_ns = 999999999,
			.weighed = probes[i].destination == DESTINATION_CMEM,
		};
	for (size_t i = 0; i < 3 && i < r->nr_rows; i++) {
		struct report_row *row = &r->rows[i];

		row->latencies = calloc(2, sizeof(*row->latencies));
		assert_non_null(row->latencies);
		row->nr_latencies = 1 + (i == 0);
		row->latencies[0] = (struct seen_latency){ 0, 99.96 + 350 * i, 1000000, 1000000 };
		row->latencies[1] = (struct seen_latency){ 3, 1600.5, 500000, 2000000 };
	}
	return r;
}

static void check_golden(struct report *r, struct table_options o, const char *name)
{
	char *text = sample_table(r, &o);

	sample_check_golden(name, text);
	free(text);
	report_free(r);
}

static void reports_with_latencies(void **state)
{
	struct report *r;
	char *text;

	(void)state;
	check_golden(with_latencies(ROW_PROCESS), (struct table_options){ .width = 100 },
		     "latency-process-100.txt");
	check_golden(with_latencies(ROW_PROCESS), (struct table_options){ .verbose = true },
		     "latency-process-verbose.txt");
	check_golden(with_latencies(ROW_CGROUP), (struct table_options){ .width = 88 },
		     "latency-cgroup-88.txt");
	r = with_latencies(ROW_PROCESS);
	text = sample_json(r);
	sample_check_golden("latency-process.json", text);
	free(text);
	report_free(r);
}

/* The longest line of a text, in columns. */
static size_t widest(const char *text)
{
	size_t most = 0;

	while (*text) {
		size_t len = strcspn(text, "\n"), width;
		char *line = strndup(text, len);

		assert_non_null(line);
		width = format_width(line);
		most = width > most ? width : most;
		free(line);
		text += len + (text[len] == '\n');
	}
	return most;
}

static void no_line_is_too_wide(void **state)
{
	(void)state;
	for (size_t width = 60; width <= 130; width++) {
		for (int verbose = 0; verbose < 2; verbose++) {
			struct table_options o = { .width = width, .verbose = verbose };
			struct report *r = with_latencies(width % 2 ? ROW_PROCESS : ROW_CGROUP);
			char *text = sample_table(r, &o);

			if (widest(text) > width)
				fail_msg("%zu columns:\n%s", width, text);
			assert_null(strchr(text, '\x1b'));
			free(text);
			report_free(r);
		}
	}
}

static void numbers_fit(void **state)
{
	static const double values[] = { 0,	0.004,	9.99,	      9.996,	 99.94,
					 99.96, 123.4,	9999.5,	      9999999.4, 1e7,
					 1e300, 5e-324, 1.7976931e308 };
	char text[FORMAT_NUMBER_LEN];

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(values); i++) {
		format_ns(values[i], text);
		if (strlen(text) > FORMAT_NUMBER_WIDTH + (values[i] >= 1e99))
			fail_msg("%g: %s", values[i], text);
	}
	format_ns(9.996, text);
	assert_string_equal(text, "10.0");
	format_ns(99.96, text);
	assert_string_equal(text, "100");
	format_ns(123.4, text);
	assert_string_equal(text, "123");
}

/* --- neighbours */

static struct neighbours_report *neighbours_of(enum row_kind by)
{
	struct neighbours_report *n = calloc(1, sizeof(*n));
	struct neighbourhood *h;

	assert_non_null(n);
	n->summary = with_latencies(by);
	n->rise = 0.2;
	n->nr = 3;
	n->probes = calloc(n->nr, sizeof(*n->probes));
	assert_non_null(n->probes);
	h = &n->probes[0];
	*h = (struct neighbourhood){ .probe = &probes[0],
				     .samples = 120,
				     .unusable = 3,
				     .merged = 4,
				     .calm_samples = 90,
				     .risen_samples = 30,
				     .episodes = 6,
				     .calm_ns = 9000000000,
				     .risen_ns = 3000000000,
				     .baseline_ns = 302.04,
				     .limit_ns = 362.448,
				     .calm_latency_ns = 303,
				     .risen_latency_ns = 702,
				     .calm = 10.2e9,
				     .risen = 39.7e9,
				     .enough = true,
				     .nr = 5 };
	h->rows = calloc(h->nr, sizeof(*h->rows));
	assert_non_null(h->rows);
	h->rows[0] = (struct neighbour){ .row = &n->summary->rows[0],
					 .risen = 30e9,
					 .increase = 30e9,
					 .error = 1.5e9,
					 .share = 30 / 39.7,
					 .active = 30,
					 .observed_risen = 702.2,
					 .role = NEIGHBOUR_ROSE };
	h->rows[1] = (struct neighbour){ .reason = REASON_DEVICE,
					 .calm = 1e9,
					 .risen = 1.001e9,
					 .increase = 1e6,
					 .share = 1.001 / 39.7,
					 .active = 30 };
	h->rows[2] = (struct neighbour){ .row = &n->summary->rows[1],
					 .calm = 5e9,
					 .risen = 5e9,
					 .share = 5 / 39.7,
					 .active = 30,
					 .observed_calm = 303,
					 .observed_risen = 702,
					 .role = NEIGHBOUR_VICTIM };
	h->rows[3] = (struct neighbour){ .row = &n->summary->rows[2], .calm = 1, .increase = -1 };
	h->rows[4] = (struct neighbour){ .row = &n->summary->rows[3],
					 .calm = 4.2e9,
					 .risen = 3.699e9,
					 .increase = -0.501e9,
					 .error = 2e9,
					 .share = 3.699 / 39.7,
					 .active = 28,
					 .observed_calm = 303,
					 .observed_risen = 702,
					 .role = NEIGHBOUR_VICTIM };
	n->probes[1] = (struct neighbourhood){ .probe = &probes[1],
					       .samples = 12,
					       .merged = 1,
					       .calm_samples = 3,
					       .risen_samples = 9,
					       .episodes = 1,
					       .baseline_ns = 1000,
					       .limit_ns = 1200 };
	n->probes[2] = (struct neighbourhood){ .probe = &probes[4], .merged = 1, .unusable = 5 };
	return n;
}

static char *neighbours_text(const struct neighbours_report *r, const struct table_options *o)
{
	char *text = NULL;
	size_t len;
	FILE *f = open_memstream(&text, &len);

	assert_non_null(f);
	assert_int_equal(o ? neighbours_table_write(f, r, o) : neighbours_json_write(f, r), 0);
	assert_int_equal(fclose(f), 0);
	return text;
}

static void check_neighbours(enum row_kind by, const struct table_options *o, const char *name)
{
	struct neighbours_report *r = neighbours_of(by);
	char *text = neighbours_text(r, o);

	sample_check_golden(name, text);
	free(text);
	neighbours_report_free(r);
}

static void reports_of_neighbours(void **state)
{
	(void)state;
	check_neighbours(ROW_PROCESS, &(struct table_options){ 0 }, "neighbours-process.txt");
	check_neighbours(ROW_CGROUP, &(struct table_options){ .width = 100, .verbose = true },
			 "neighbours-cgroup-verbose-100.txt");
	check_neighbours(ROW_PROCESS, &(struct table_options){ .top = 2, .quiet = true },
			 "neighbours-process-quiet-top.txt");
	check_neighbours(ROW_PROCESS, NULL, "neighbours-process.json");
}

/* Without an answer: what would help, and why latencies are missing. */
static void advice_of_neighbours(void **state)
{
	struct neighbours_report *r = neighbours_of(ROW_PROCESS);
	struct table_options o = { .width = 200 };
	char *text;

	(void)state;
	r->summary->end_ns = r->summary->start_ns + 10000000000;
	r->summary->self.probe_deferred = 0;
	text = neighbours_text(r, &o);
	assert_non_null(strstr(text, "9 high and 3 calm, 10 of each are needed; run it for at "
				     "least 40 s\n"));
	free(text);
	/* more readings would have been made within a larger budget, as far as there is one */
	r->summary->self.probe_deferred = 7;
	r->read_budget = 0.05;
	text = neighbours_text(r, &o);
	assert_non_null(strstr(text, "at least 40 s, or with --read-budget 17\n"));
	free(text);
	r->read_budget = 0.5;
	text = neighbours_text(r, &o);
	assert_non_null(strstr(text, "at least 40 s, or with a larger --read-budget\n"));
	free(text);
	r->probes[1].risen_samples = 0;
	text = neighbours_text(r, &o);
	assert_non_null(strstr(text, "0 high and 3 calm, 10 of each are needed; run it longer"));
	free(text);
	r->probes[1].samples = r->probes[1].calm_samples = 200;
	text = neighbours_text(r, &o);
	assert_non_null(strstr(text, "nothing to compare: the latency was calm in all samples\n"));
	assert_non_null(strstr(text, "/rd: no windows of the socket's counters beside"));
	free(text);
	r->probes[2].few = 5;
	text = neighbours_text(r, &o);
	assert_non_null(strstr(text, "/rd: fewer than 100 requests in each sample\n"));
	free(text);
	r->probes[2].unusable = r->probes[2].few = 0;
	text = neighbours_text(r, &o);
	assert_non_null(strstr(text, "/rd: never read, for want of --read-budget"));
	free(text);
	neighbours_report_free(r);
}

/* How near its peak the memory was, where the peak is known and all counters have a value. */
static void neighbours_and_the_peak(void **state)
{
	const struct peaks_wanted w = { .bytes_per_s = { 50000000000 } };
	struct neighbours_report *r = neighbours_of(ROW_PROCESS);
	struct table_options o = { .width = 100 };
	struct host_info host = *r->summary->host;
	json_t *json, *peak;
	char *text;

	(void)state;
	peaks_apply(&host.peaks, &w);
	r->summary->host = &host;
	text = neighbours_text(r, &o);
	assert_non_null(strstr(text, "peak: memory of socket 0: at most 20.4% of 50.000 GB/s while "
				     "calm, at most 79.4% while high\n"));
	free(text);
	text = neighbours_text(r, NULL);
	json = json_loads(text, 0, NULL);
	peak = json_object_get(json_array_get(json_object_get(json, "probes"), 0), "peak");
	assert_float_equal(json_real_value(json_object_get(peak, "high_share")), 0.794, 1e-9);
	assert_true(json_is_true(json_object_get(peak, "at_most")));
	/* too few samples */
	assert_null(json_object_get(json_array_get(json_object_get(json, "probes"), 1), "peak"));
	json_decref(json);
	free(text);
	for (size_t i = 0; i < r->summary->nr_counters; i++)
		r->summary->counters[i].valid = false;
	text = neighbours_text(r, &o);
	assert_null(strstr(text, "peak:"));
	free(text);
	neighbours_report_free(r);
}

/* Absurd numbers keep the table's shape; JSON says what it cannot say. */
static void absurd_neighbours(void **state)
{
	struct neighbours_report *r = neighbours_of(ROW_PROCESS);
	struct table_options o = { .verbose = true };
	struct neighbour *n = &r->probes[0].rows[0];
	FILE *f = tmpfile();
	char *text;

	(void)state;
	n->calm = n->risen = n->error = 1e300;
	n->increase = -1e300;
	n->share = 1e300;
	n->observed_calm = 1e99;
	text = neighbours_text(r, &o);
	assert_non_null(strstr(text, "4242 lbm"));
	free(text);
	assert_non_null(f);
	assert_int_equal(neighbours_json_write(f, r), 0);
	assert_true(ftell(f) > 0);
	fclose(f);
	neighbours_report_free(r);
}

static void a_full_disk(void **state)
{
	struct neighbours_report *r = neighbours_of(ROW_PROCESS);
	struct table_options o = { 0 };
	FILE *full = fopen("/dev/full", "w");

	(void)state;
	assert_non_null(full);
	assert_int_equal(neighbours_table_write(full, r, &o), -ENOSPC);
	assert_int_equal(neighbours_json_write(full, r), -ENOSPC);
	fclose(full);
	neighbours_report_free(r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(reports_with_latencies),
		cmocka_unit_test(no_line_is_too_wide),
		cmocka_unit_test(numbers_fit),
		cmocka_unit_test(reports_of_neighbours),
		cmocka_unit_test(advice_of_neighbours),
		cmocka_unit_test(neighbours_and_the_peak),
		cmocka_unit_test(absurd_neighbours),
		cmocka_unit_test(a_full_disk),
	};

	return cmocka_run_group_tests_name("latency_report", tests, NULL, NULL);
}
