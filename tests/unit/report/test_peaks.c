// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Parts of peaks: in tables, JSON, counts and metrics; nothing where no peak is known. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "engine/accounts/accounts.h"
#include "report/json/json.h"
#include "report/openmetrics/openmetrics.h"
#include "report/peaks.h"
#include "report/stat/stat_peaks.h"
#include "report/stat/stat_report.h"
#include "report/table/table.h"
#include "sample_report.h"
#include "tables/metric_peaks.h"
#include "tables/metrics.h"

#define GB 1000000000ull

static struct host_info host;

/* The sample, which is of one second, with peaks. */
static struct report *report_with(const struct peaks_wanted *w)
{
	struct report *r = sample_report(ROW_PROCESS);

	host = *r->host;
	peaks_apply(&host.peaks, w);
	r->host = &host;
	return r;
}

static char *table_text(const struct report *r, size_t width, bool quiet)
{
	struct table_options o = { .width = width, .quiet = quiet };

	return sample_table(r, &o);
}

static void assert_has(const char *text, const char *part, bool has)
{
	if (!strstr(text, part) == has)
		fail_msg("\"%s\" is %sin:\n%s", part, has ? "not " : "", text);
}

static void options_replace_what_was_known(void **state)
{
	struct peaks p = { .items = { { PEAK_CMEM, PEAK_FIRMWARE, 0, 5 * GB },
				      { PEAK_CMEM, PEAK_FIRMWARE, 1, 6 * GB } },
			   .nr = 2,
			   .note = "12 memory devices" };
	struct peaks_wanted w = { .bytes_per_s = { [PEAK_GMEM] = 9 * GB } };

	(void)state;
	peaks_apply(&p, &w);
	assert_int_equal(p.nr, 3);
	assert_int_equal(peaks_find(&p, PEAK_CMEM, 1)->bytes_per_s, 6 * GB);
	assert_null(peaks_find(&p, PEAK_CMEM, 2));
	assert_int_equal(peaks_find(&p, PEAK_GMEM, 2)->bytes_per_s, 9 * GB);
	assert_string_equal(p.note, "12 memory devices");
	w = (struct peaks_wanted){ .bytes_per_s = { 7 * GB } };
	peaks_apply(&p, &w);
	assert_int_equal(p.nr, 2);
	assert_int_equal(peaks_find(&p, PEAK_CMEM, 1)->bytes_per_s, 7 * GB);
	assert_int_equal(peaks_find(&p, PEAK_CMEM, 1)->from, PEAK_GIVEN);
	assert_string_equal(p.note, "");
	w = (struct peaks_wanted){ .none = true };
	peaks_apply(&p, &w);
	assert_int_equal(p.nr, 0);
}

/* Bytes of a socket, from the counters themselves. */
static double moved(const struct report *r, uint32_t socket, int direction)
{
	double sum = 0;

	for (size_t i = 0; i < r->nr_counters; i++)
		if (r->counters[i].counter->socket == socket &&
		    (int)r->counters[i].counter->direction == direction)
			sum += (double)r->counters[i].value;
	return sum;
}

/* The use of that number, from 0 on; false for none. */
static bool use_at(const struct report *r, size_t i, struct peak_use *u)
{
	size_t at = 0;
	bool some;

	do
		some = peaks_use(r, &at, u);
	while (some && i--);
	return some;
}

/* As use_at(), of what was counted: its family, NULL for none. */
static const char *counted_at(const struct stat_report *r, size_t i, struct peak_use *u)
{
	const char *family;
	size_t at = 0;

	do
		family = stat_peaks_use(r, &at, u);
	while (family && i--);
	return family;
}

/* What counts reads and writes as one is the same part of the memory, and no reads. */
static void both_ways_at_once(void **state)
{
	const struct peaks_wanted w = { .bytes_per_s = { 100 * GB } };
	struct report *r = report_with(&w);
	struct peak_use u;
	json_t *o;

	(void)state;
	sample_together(r, 1);
	assert_true(use_at(r, 1, &u));
	assert_true(u.valid && u.together && !u.apart);
	assert_float_equal(u.shares[0] + u.shares[1], 0, 0);
	assert_float_equal(u.share, moved(r, 1, DIRECTION_READWRITE) / 1e11, 1e-6);
	o = json_object();
	peaks_put(o, &u, &(int){ 0 });
	assert_null(json_object_get(o, "read_share"));
	assert_non_null(json_object_get(o, "readwrite_share"));
	json_decref(o);
	report_free(r);
}

static void shares_are_of_the_peak(void **state)
{
	const struct peaks_wanted w = { .bytes_per_s = { 100 * GB } };
	struct report *r = report_with(&w);
	struct peak_use u;

	(void)state;
	for (uint32_t s = 0; s < 2; s++) {
		assert_true(use_at(r, s, &u));
		assert_true(u.valid && u.upper_bound && !u.cpus_only);
		assert_int_equal(u.socket, s);
		assert_float_equal(u.shares[0], moved(r, s, 0) / 1e11, 1e-6);
		assert_float_equal(u.shares[1], moved(r, s, 1) / 1e11, 1e-6);
		assert_float_equal(u.share, u.shares[0] + u.shares[1], 1e-6);
	}
	assert_false(use_at(r, 2, &u));
	assert_int_equal(peaks_memory(r, 0), 100 * GB);
	assert_int_equal(peaks_memory(r, -1), 200 * GB);
	/* a counter without a value: there is no part, and none of the whole */
	r->counters[0].valid = false;
	assert_true(use_at(r, 0, &u));
	assert_false(u.valid);
	assert_int_equal(peaks_memory(r, 0), 0);
	assert_int_equal(peaks_memory(r, 1), 100 * GB);
	assert_int_equal(peaks_memory(r, -1), 0);
	report_free(r);
}

static void links_have_a_peak_each_way(void **state)
{
	const struct peaks_wanted w = { .bytes_per_s = {
						[PEAK_CMEM] = 100 * GB, [PEAK_REMOTE] = 50 * GB } };
	struct report *r = report_with(&w);
	bool remote = false;
	struct peak_use u;

	(void)state;
	sample_by_destination(r);
	for (size_t at = 0; peaks_use(r, &at, &u);) {
		if (u.peak->of != PEAK_REMOTE)
			continue;
		remote = true;
		assert_true(u.valid && !u.upper_bound);
		assert_float_equal(u.share, u.shares[0] > u.shares[1] ? u.shares[0] : u.shares[1],
				   1e-9);
	}
	assert_true(remote);
	report_free(r);
}

static void tables_say_it(void **state)
{
	const struct peaks_wanted none = { .none = true }, w = { .bytes_per_s = { 100 * GB } },
				  low = { .bytes_per_s = { 10 * GB } };
	struct report *r = report_with(&none), *same = sample_report(ROW_PROCESS);
	char *text = table_text(r, 80, false), *before = table_text(same, 80, false);

	(void)state;
	assert_string_equal(text, before);
	free(text);
	free(before);
	report_free(same);
	report_free(r);

	r = report_with(&w);
	text = table_text(r, 86, false);
	assert_has(text, "   PEAK ", true);
	assert_has(text, "peak of memory: 100.000 GB/s a socket, given by --peak", true);
	assert_has(text, "PEAK is at most so much", true);
	assert_has(text, "more than 100%", false);
	free(text);
	/* no room for the column: lines say it */
	text = table_text(r, 70, false);
	assert_has(text, "   PEAK ", false);
	assert_has(text, "peak: cmem of socket 1: at most ", true);
	free(text);
	/* one counter without a value */
	r->counters[0].valid = false;
	text = table_text(r, 80, false);
	assert_has(text, "   PEAK ", false);
	assert_has(text, "peak: cmem of socket 0: not known", true);
	free(text);
	report_free(r);

	r = report_with(&low);
	text = table_text(r, 80, true);
	assert_has(text, "more than 100% of a peak", true);
	assert_has(text, "peak of memory", false);
	free(text);
	report_free(r);
}

static void json_says_it(void **state)
{
	const struct peaks_wanted w = { .bytes_per_s = { 100 * GB } };
	struct report *r = report_with(&w);
	json_t *o, *one;

	(void)state;
	strcpy(host.peaks.note, "16 memory devices");
	assert_int_equal(json_report(r, &o), 0);
	one = json_array_get(json_object_get(o, "peaks"), 1);
	assert_string_equal(json_string_value(json_object_get(one, "of")), "cmem");
	assert_string_equal(json_string_value(json_object_get(one, "from")), "given");
	assert_int_equal(json_integer_value(json_object_get(one, "socket")), 1);
	assert_float_equal(json_real_value(json_object_get(one, "share")),
			   (moved(r, 1, 0) + moved(r, 1, 1)) / 1e11, 1e-6);
	assert_string_equal(json_string_value(json_object_get(o, "peak_note")),
			    "16 memory devices");
	one = json_array_get(json_object_get(o, "workloads"), 1);
	/* 46.469 GB of lbm, of the 200 GB of both sockets */
	assert_float_equal(json_real_value(json_object_get(one, "peak_share")), 0.2323456745, 1e-9);
	json_decref(o);
	r->counters[0].valid = false;
	assert_int_equal(json_report(r, &o), 0);
	one = json_array_get(json_object_get(o, "peaks"), 0);
	assert_true(json_is_false(json_object_get(one, "valid")));
	assert_null(json_object_get(one, "share"));
	assert_null(
		json_object_get(json_array_get(json_object_get(o, "workloads"), 1), "peak_share"));
	json_decref(o);
	report_free(r);
}

/* Two controllers on one socket; a third metric is of one port of another place. */
static void counts_say_it(void **state)
{
	static struct stat_pmu pmus[] = { { .family = "imc", .socket = 0 },
					  { .family = "imc", .socket = 0 } };
	static struct stat_metric metrics[] = {
		{ .id = "xeon-icelake.imc.read_bandwidth", .pmu = 0 },
		{ .id = "xeon-icelake.imc.write_bandwidth", .pmu = 0 },
		{ .id = "xeon-icelake.imc.read_bandwidth", .pmu = 1 },
		{ .id = "xeon-icelake.imc.write_bandwidth", .pmu = 1 },
		{ .id = "xeon-icelake.imc.read_bandwidth", .filters = "x=1", .pmu = 1 },
	};
	static struct stat_layout layout = {
		.pmus = pmus, .nr_pmus = 2, .metrics = metrics, .nr_metrics = ARRAY_SIZE(metrics)
	};
	struct stat_value values[] = {
		{ .value = 10 }, { .value = 5 }, { .value = 20 }, { .value = 1 }, { .value = 500 }
	};
	struct host_info machine = {
		.sockets = 1,
		.peaks = { .items = { { PEAK_CMEM, PEAK_FIRMWARE, 0, 200 * GB } }, .nr = 1 },
	};
	struct stat_report r = { .host = &machine, .layout = &layout, .values = values };
	struct peak_use u;

	(void)state;
	assert_string_equal(counted_at(&r, 0, &u), "imc");
	assert_true(u.valid && !u.upper_bound);
	assert_float_equal(u.shares[0], 0.15, 1e-9);
	assert_float_equal(u.share, 0.18, 1e-9);
	assert_null(counted_at(&r, 1, &u));
	values[3].absence = STAT_NOT_READ;
	assert_non_null(counted_at(&r, 0, &u));
	assert_false(u.valid);
	machine.peaks.nr = 0;
	assert_null(counted_at(&r, 0, &u));
}

/* Links: all UPI of a socket are one, a root port is one by itself; and reads with writes. */
static void counts_say_it_of_links(void **state)
{
	static struct stat_pmu pmus[] = { { .family = "upi", .socket = 1 },
					  { .family = "upi", .socket = 1 },
					  { .name = "dwc_rootport_8", .family = "dwc_port" },
					  { .name = "dwc_rootport_10", .family = "dwc_port" },
					  { .family = "df", .socket = 0 },
					  { .family = "cxl", .socket = 0 } };
	static struct stat_metric metrics[] = {
		{ .id = "xeon-icelake.upi.receive_bandwidth", .pmu = 0 },
		{ .id = "xeon-icelake.upi.send_bandwidth", .pmu = 0 },
		{ .id = "xeon-icelake.upi.receive_bandwidth", .pmu = 1 },
		{ .id = "xeon-icelake.upi.send_bandwidth", .pmu = 1 },
		{ .id = "dwc_port.send_bandwidth", .pmu = 2 },
		{ .id = "dwc_port.receive_bandwidth", .pmu = 2 },
		{ .id = "dwc_port.send_bandwidth", .pmu = 3 },
		{ .id = "amd-zen2.df.bandwidth_0_3", .pmu = 4 },
		{ .id = "amd-zen2.df.bandwidth_4_7", .pmu = 4 },
		{ .id = "cxl.read_bandwidth", .pmu = 5 },
		{ .id = "cxl.write_bandwidth", .pmu = 5 },
	};
	static struct stat_layout layout = { .pmus = pmus,
					     .nr_pmus = ARRAY_SIZE(pmus),
					     .metrics = metrics,
					     .nr_metrics = ARRAY_SIZE(metrics) };
	struct stat_value values[] = { { .value = 10 }, { .value = 1 },	 { .value = 20 },
				       { .value = 2 },	{ .value = 16 }, { .value = 8 },
				       { .value = 1 },	{ .value = 30 }, { .value = 20 },
				       { .value = 6 },	{ .value = 3 } };
	const struct peaks_wanted w = { .bytes_per_s = { 100 * GB, 0, 12 * GB, 60 * GB, 32 * GB } };
	struct host_info machine = { .sockets = 2 };
	struct stat_report r = { .host = &machine, .layout = &layout, .values = values };
	struct peak_use u;
	char *text = NULL;
	size_t size;
	FILE *f;
	json_t *o;

	(void)state;
	peaks_apply(&machine.peaks, &w);
	assert_string_equal(counted_at(&r, 0, &u), "df");
	assert_true(u.valid && u.together && !u.apart);
	assert_float_equal(u.share, 0.5, 1e-9);
	assert_string_equal(counted_at(&r, 1, &u), "cxl");
	assert_float_equal(u.share, 0.5, 1e-9);
	assert_string_equal(counted_at(&r, 2, &u), "upi");
	assert_int_equal(u.socket, 1);
	assert_float_equal(u.shares[0], 0.5, 1e-9);
	assert_float_equal(u.shares[1], 0.05, 1e-9);
	assert_float_equal(u.share, 0.5, 1e-9);
	assert_string_equal(counted_at(&r, 3, &u), "dwc_port");
	assert_string_equal(u.place, "dwc_rootport_8");
	assert_float_equal(u.shares[0], 0.5, 1e-9);
	assert_float_equal(u.shares[1], 0.25, 1e-9);
	/* one direction alone is no use of the link */
	assert_string_equal(counted_at(&r, 4, &u), "dwc_port");
	assert_false(u.valid);
	assert_null(counted_at(&r, 5, &u));
	o = stat_peaks_array(&r, &(int){ 0 });
	assert_int_equal(json_array_size(o), 5);
	assert_string_equal(json_string_value(json_object_get(json_array_get(o, 3), "pmu")),
			    "dwc_rootport_8");
	assert_null(json_object_get(json_array_get(o, 3), "socket"));
	assert_null(json_object_get(json_array_get(o, 0), "read_share"));
	json_decref(o);
	f = open_memstream(&text, &size);
	assert_int_equal(stat_peaks_write(f, &r, 100), 0);
	fclose(f);
	assert_has(text,
		   "peak: df, cmem of socket 0: 50.0% of 100.000 GB/s (reads and writes together)",
		   true);
	assert_has(text, "peak: upi, remote of socket 1: reads 50.0%, writes 5.0% of 60.000 GB/s",
		   true);
	assert_has(text, "peak: dwc_port, pcie of dwc_rootport_8: reads 50.0%, writes 25.0%", true);
	assert_has(text, "peak: pcie of dwc_rootport_10: not known", true);
	free(text);
	/* some of the channels are not all */
	values[8].absence = STAT_NOT_READ;
	counted_at(&r, 0, &u);
	assert_false(u.valid);
}

/* An id that no metric has would never be found. */
static void rows_name_metrics(void **state)
{
	(void)state;
	for (size_t i = 0; i < nr_metric_peak_rows; i++) {
		const struct metric_peak_row *p = &metric_peak_rows[i];
		const char *ids[] = { p->read, p->write, p->together[0], p->together[1] };

		assert_true(p->together[0] ? !p->read && !p->write : p->read && p->write);
		for (size_t k = 0; k < ARRAY_SIZE(ids); k++) {
			const struct metric_row *row;
			size_t n = 0;

			if (!ids[k])
				continue;
			while ((row = metric_row_at(n)) && strcmp(row->id, ids[k]) != 0)
				n++;
			if (!row)
				fail_msg("there is no metric %s", ids[k]);
			assert_string_equal(row->unit, "GB/s");
		}
	}
}

static void metrics_say_it(void **state)
{
	const struct peaks_wanted w = { .bytes_per_s = { 100 * GB } };
	struct accounts_options ao = { .boot = "boot" };
	struct openmetrics_options mo = { .top = 3, .keep = 1 };
	struct report *r = report_with(&w);
	struct openmetrics_state s = { .host = &host };
	struct openmetrics *m;
	struct accounts *a;
	char *text, line[128];
	size_t size;
	FILE *out;

	(void)state;
	assert_int_equal(accounts_new(&ao, &a), 0);
	assert_int_equal(openmetrics_new(&mo, &m), 0);
	assert_int_equal(openmetrics_interval(m, r), 0);
	s.node = accounts_node(a);
	out = open_memstream(&text, &size);
	assert_int_equal(openmetrics_write(out, m, &s, EXPOSITION_OPENMETRICS), 0);
	fclose(out);
	assert_has(text,
		   "t410trace_peak_bytes_per_second{of=\"cmem\",from=\"given\"} 100000000000\n",
		   true);
	snprintf(line, sizeof(line),
		 "t410trace_peak_ratio{of=\"cmem\",socket=\"1\",from=\"given\"} %.3f",
		 (moved(r, 1, 0) + moved(r, 1, 1)) / 1e11 - 0.0005);
	assert_has(text, line, true);
	free(text);
	/* what is not known has no sample */
	r->counters[0].valid = false;
	assert_int_equal(openmetrics_interval(m, r), 0);
	out = open_memstream(&text, &size);
	assert_int_equal(openmetrics_write(out, m, &s, EXPOSITION_TEXT), 0);
	fclose(out);
	assert_has(text, "t410trace_peak_ratio{of=\"cmem\",socket=\"0\"", false);
	assert_has(text, "t410trace_peak_ratio{of=\"cmem\",socket=\"1\"", true);
	free(text);
	openmetrics_free(m);
	accounts_free(a);
	report_free(r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(options_replace_what_was_known),
		cmocka_unit_test(both_ways_at_once),
		cmocka_unit_test(shares_are_of_the_peak),
		cmocka_unit_test(links_have_a_peak_each_way),
		cmocka_unit_test(tables_say_it),
		cmocka_unit_test(json_says_it),
		cmocka_unit_test(counts_say_it),
		cmocka_unit_test(counts_say_it_of_links),
		cmocka_unit_test(rows_name_metrics),
		cmocka_unit_test(metrics_say_it),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
