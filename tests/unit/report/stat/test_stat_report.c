// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <cmocka.h>

#include <errno.h>
#include <string.h>

#include "base/array.h"
#include "report/stat/stat_report.h"
#include "sample_report.h"

#define SECOND 1000000000ull

/* Two fabrics, six root complexes with one in use, a link that sleeps, and a workload. */
enum { UCF0, UCF1, PCIE0, LINK0 = PCIE0 + 6, CORES, NR_PMUS };

#define MAX_COUNTERS 64
#define MAX_METRICS  64

struct world {
	struct host_info host;
	struct stat_pmu pmus[NR_PMUS];
	struct stat_counter counters[MAX_COUNTERS];
	struct stat_metric metrics[MAX_METRICS];
	struct stat_count counts[MAX_COUNTERS];
	struct stat_value values[MAX_METRICS];
	struct stat_cost costs[NR_PMUS];
	char *notes[1];
	struct stat_layout layout;
	struct stat_report report;
};

static void add_pmu(struct world *w, uint32_t i, const char *family, const char *title,
		    int32_t socket, int32_t rc)
{
	struct stat_pmu *p = &w->pmus[i];

	snprintf(p->name, sizeof(p->name), "%s_%d_%d", family, (int)socket, (int)rc);
	strcpy(p->family, family);
	strcpy(p->title, title);
	p->socket = socket;
	p->rc = rc;
}

static uint32_t add_count(struct world *w, uint32_t pmu, const char *event, const char *unit,
			  uint64_t counted)
{
	uint32_t i = w->layout.nr_counters++;
	struct stat_counter *c = &w->counters[i];

	strcpy(c->name, w->pmus[pmu].name);
	strcat(c->name, "/");
	strcat(c->name, event);
	strcpy(c->event, event);
	strcpy(c->unit, unit);
	c->pmu = pmu;
	w->counts[i] = (struct stat_count){ STAT_PRESENT, counted, counted, SECOND,
					    SECOND,	  counted, counted };
	return i;
}

/* A metric with its counter. */
static struct stat_value *add_metric(struct world *w, uint32_t pmu, const char *id,
				     const char *title, const char *unit, uint64_t counted,
				     double value)
{
	size_t i = w->layout.nr_metrics++;
	struct stat_metric *m = &w->metrics[i];

	*m = (struct stat_metric){ .id = id, .title = title, .unit = unit, .formula = "event" };
	strcpy(m->name, id);
	m->pmu = pmu;
	m->nr_inputs = 1;
	m->input[0] = add_count(w, pmu, id, strcmp(unit, "GHz") ? "bytes" : "cycles", counted);
	w->values[i] = (struct stat_value){ STAT_PRESENT, value, SECOND, SECOND, value, value };
	return &w->values[i];
}

static void add_pmus(struct world *w)
{
	add_pmu(w, UCF0, "ucf", "Unified Coherence Fabric", 0, -1);
	add_pmu(w, UCF1, "ucf", "Unified Coherence Fabric", 1, -1);
	for (int i = 0; i < 6; i++)
		add_pmu(w, PCIE0 + i, "pcie", "PCIe, traffic issued by devices", 0, i);
	add_pmu(w, LINK0, "nvdlink", "NV-DLink, CXL memory", 0, -1);
	strcpy(w->pmus[LINK0].peer, "nr_cxlmem=1");
	w->pmus[LINK0].dear = true;
	w->pmus[LINK0].reads = 165;
	add_pmu(w, CORES, "core", "events of the cores and of the kernel", -1, -1);
	w->pmus[CORES].cores = true;
}

static struct stat_report *world_make(struct world *w)
{
	*w = (struct world){
		.host = { .name = "node1", .kernel = "7.2.13", .platform = "t410", .sockets = 2 }
	};
	add_pmus(w);
	for (uint32_t s = UCF0; s <= UCF1; s++) {
		add_metric(w, s, "t410.ucf.mem_read_bandwidth", "Memory read bandwidth", "GB/s", 5,
			   s == UCF0 ? 123.4567 : 0.0000004);
		add_metric(w, s, "t410.ucf.slc_hit_ratio", "SLC read hit ratio", "ratio", 5, 0.25);
		add_metric(w, s, "t410.ucf.frequency", "UCF clock", "GHz", 5, 2.4);
	}
	for (uint32_t rc = PCIE0; rc < PCIE0 + 6; rc++) {
		uint64_t counted = rc == PCIE0 + 1 ? 1000 : 0;

		add_metric(w, rc, "t410.pcie.read_bandwidth", "Read bandwidth", "GB/s", counted,
			   counted / 10.0);
		add_metric(w, rc, "t410.pcie.read_request_rate", "Read rate", "requests/cycle",
			   counted, counted / 1e5);
		add_metric(w, rc, "t410.pcie.read_latency_ns", "Read latency", "ns", counted,
			   801.23)
			->absence = counted ? STAT_PRESENT : STAT_ZERO;
	}
	add_metric(w, LINK0, "t410.nvdlink.in_read_latency_ns", "Read latency", "ns", 0, 0)
		->absence = STAT_ZERO;
	add_metric(w, CORES, "grace.core.ipc", "Instructions per cycle", "instructions/cycle", 0,
		   1.5);
	w->layout.pmus = w->pmus;
	w->layout.nr_pmus = NR_PMUS;
	w->layout.counters = w->counters;
	w->layout.metrics = w->metrics;
	for (int i = 0; i < NR_PMUS; i++)
		w->costs[i] = (struct stat_cost){ 2, 1500000, 0, 0, 4, 0, 2 };
	w->report = (struct stat_report){
		.host = &w->host,
		.layout = &w->layout,
		.summary = true,
		.start_ns = 5 * SECOND,
		.end_ns = 6 * SECOND,
		.start_time_ns = 1795190400ull * SECOND,
		.budget = 0.005,
		.busiest = 0.00123,
		.cpu_ns = 4200000,
		.counts = w->counts,
		.values = w->values,
		.costs = w->costs,
	};
	return &w->report;
}

/* What can be wrong with numbers, each of it once. */
static struct stat_report *world_make_trouble(struct world *w)
{
	struct stat_report *r = world_make(w);

	r->values[0].covered_ns = SECOND / 4;
	r->values[0].low *= 0.9;
	r->values[0].high *= 1.05;
	r->counts[0].running_ns = SECOND / 4;
	r->counts[0].counted = 5;
	r->counts[0].value = 20;
	r->counts[0].low = 18;
	r->counts[0].high = 22;
	r->counts[0].enabled_ns = SECOND;
	w->counters[0].asked = true;
	r->values[1].absence = STAT_NOT_READ;
	r->counts[1].absence = STAT_NOT_READ;
	w->counters[1].asked = true;
	r->values[2].absence = STAT_NOT_RUNNING;
	r->counts[2].absence = STAT_NOT_RUNNING;
	r->values[3].absence = STAT_REFUSED;
	r->counts[3].absence = STAT_REFUSED;
	r->values[4].absence = STAT_APART;
	w->counters[4].asked = true;
	r->counts[4].value = r->counts[4].counted = 12345678;
	r->counts[4].low = r->counts[4].high = 12345678;
	r->counts[5].enabled_ns = r->counts[5].running_ns = 3 * SECOND;
	w->notes[0] = "somebody\x1b[31m said something that must not reach a terminal as it is";
	w->layout.notes = (struct text_list){ w->notes, 1, 1 };
	return r;
}

static char *text_of(const struct stat_report *r, const struct table_options *o)
{
	char *text = NULL;
	size_t len;
	FILE *f = open_memstream(&text, &len);

	assert_non_null(f);
	assert_int_equal(o ? stat_table_write(f, r, o) : stat_json_write(f, r), 0);
	assert_int_equal(fclose(f), 0);
	return text;
}

static void check(const struct stat_report *r, const struct table_options *o, const char *name)
{
	char *text = text_of(r, o);

	assert_null(strstr(text, " \n"));
	assert_null(strchr(text, '\x1b'));
	sample_check_golden(name, text);
	free(text);
}

static void test_golden(void **state)
{
	struct world w;

	(void)state;
	check(world_make(&w), &(struct table_options){ 0 }, "stat.txt");
	check(world_make(&w), &(struct table_options){ .verbose = true }, "stat-verbose.txt");
	check(world_make_trouble(&w), &(struct table_options){ .width = 60 },
	      "stat-trouble-60.txt");
	check(world_make(&w), NULL, "stat.json");
	check(world_make_trouble(&w), NULL, "stat-trouble.json");
}

static void expect(char *text, const char *part, bool there)
{
	if (!strstr(text, part) == there)
		fail_msg("\"%s\" is %s in:\n%s", part, there ? "not" : "", text);
	free(text);
}

static void test_table(void **state)
{
	const struct table_options plain = { 0 }, quiet = { .quiet = true };
	struct stat_report *r;
	struct world w;

	(void)state;
	r = world_make_trouble(&w);
	expect(text_of(r, &plain), "some numbers are about the last 3.000 s", true);
	expect(text_of(r, &quiet), "note:", false);
	expect(text_of(r, &quiet), "cost:", false);
	/* What is wrong with numbers is no talk. */
	expect(text_of(r, &quiet), "-r refused", true);
	/* Notes hold for the whole run: once is enough. */
	r->sequence = 1;
	expect(text_of(r, &plain), "note:", false);
	expect(text_of(r, &plain), "cost:", true);
	/* A root complex without a reading is not one without traffic. */
	r = world_make(&w);
	for (uint32_t i = 0; i < w.layout.nr_counters; i++)
		if (w.counters[i].pmu == PCIE0 + 5)
			r->counts[i].absence = STAT_NOT_READ;
	expect(text_of(r, &plain), "4 more root complexes", true);
	/* Places with labels have the name that their metrics give them, whatever the labels are. */
	for (size_t i = 0; i < w.layout.nr_metrics; i++)
		if (w.metrics[i].pmu >= PCIE0 && w.metrics[i].pmu < LINK0) {
			w.metrics[i].places = "lanes";
			snprintf(w.metrics[i].label, sizeof(w.metrics[i].label), "number %u",
				 w.metrics[i].pmu);
		}
	expect(text_of(r, &plain), "4 more lanes", true);
}

static size_t lines_in(const char *text)
{
	size_t nr = 0;

	for (; *text; text++)
		nr += *text == '\n';
	return nr;
}

/* On a terminal, those with the least traffic are left out; what could not be read stays. */
static void test_fits(void **state)
{
	const struct table_options plain = { 0 }, all = { .verbose = true };
	const struct table_options no_room = { .height = 5 };
	struct table_options fits = { 0 }, verbose = { .verbose = true, .height = 5 };
	struct world w;
	struct stat_report *r = world_make(&w);
	char *whole, *text, *other;

	(void)state;
	for (uint32_t i = 0; i < w.layout.nr_counters; i++) {
		uint32_t pmu = w.counters[i].pmu;

		if (pmu >= PCIE0 && pmu < LINK0)
			r->counts[i].counted = pmu == PCIE0 + 3 ? 0 : 100 * (pmu - PCIE0 + 1);
		if (pmu == PCIE0 + 3)
			r->counts[i].absence = STAT_NOT_RUNNING;
	}
	whole = text_of(r, &plain);
	assert_non_null(strstr(whole, "RC 0"));
	/* two of six lines, and one that says so */
	fits.height = lines_in(whole) - 1;
	text = text_of(r, &fits);
	assert_int_equal(lines_in(text), fits.height);
	assert_non_null(strstr(text, "  ... and 2 more root complexes (-v)\n"));
	assert_null(strstr(text, "RC 0"));
	assert_null(strstr(text, "RC 1"));
	assert_non_null(strstr(text, "RC 3"));
	assert_non_null(strstr(text, "RC 5"));
	free(text);
	fits.height = lines_in(whole);
	text = text_of(r, &fits);
	assert_string_equal(text, whole);
	free(text);
	text = text_of(r, &no_room);
	assert_non_null(strstr(text, "... and 3 more root complexes"));
	free(text);
	text = text_of(r, &verbose);
	other = text_of(r, &all);
	assert_string_equal(text, other);
	free(other);
	free(text);
	free(whole);
}

/* Metrics that add up have a sum, over places that are not shown, too; not ratios and latencies. */
static void test_sums(void **state)
{
	const struct table_options plain = { 0 }, low = { .height = 5 };
	struct world w;
	struct stat_report *r = world_make(&w);

	(void)state;
	/* a single place that has traffic is the sum itself */
	expect(text_of(r, &plain), "\n  all ", false);
	for (uint32_t i = 0; i < w.layout.nr_metrics; i++)
		if (w.metrics[i].pmu >= PCIE0 && w.metrics[i].pmu < PCIE0 + 5) {
			r->counts[w.metrics[i].input[0]].counted = 1000;
			r->values[i].value = 1.5 * (w.metrics[i].pmu - PCIE0 + 1);
			r->values[i].absence = STAT_PRESENT;
		}
	expect(text_of(r, &plain),
	       "  all            22.500\n"
	       "  socket 0 RC 0   1.500    1.500      1.5\n",
	       true);
	expect(text_of(r, &low), "  all            22.500\n", true);
	/* the line with what covers least */
	for (uint32_t i = 0; i < w.layout.nr_metrics; i++)
		if (w.metrics[i].pmu == PCIE0 + 2)
			r->values[i].covered_ns = SECOND / 8;
	expect(text_of(r, &plain), "  all            22.500*\n", true);
	/* one that was not read is not 0 */
	for (uint32_t i = 0; i < w.layout.nr_metrics; i++)
		if (w.metrics[i].pmu == PCIE0 + 1)
			r->values[i].absence = STAT_NOT_READ;
	expect(text_of(r, &plain), "  all                -n\n", true);
	/* places that differ by more than where they are may have the same bytes */
	strcpy(w.metrics[6].label, "number 6");
	expect(text_of(r, &plain), "\n  all ", false);
}

static void test_names(void **state)
{
	(void)state;
	assert_string_equal(stat_absence_name(STAT_PRESENT), "");
	assert_string_equal(stat_absence_name(STAT_NOT_READ), "not_read");
	assert_string_equal(stat_absence_name(STAT_NOT_RUNNING), "not_running");
	assert_string_equal(stat_absence_name(STAT_REFUSED), "refused");
	assert_string_equal(stat_absence_name(STAT_ZERO), "undefined");
	assert_string_equal(stat_absence_name(STAT_APART), "apart");
	assert_string_equal(stat_absence_name(STAT_FEW), "few");
	assert_string_equal(stat_absence_name(NR_STAT_ABSENCES), "unknown");
}

/* What JSON readers have no room for is a text, not another number; a full disk is an error. */
static void test_errors(void **state)
{
	struct stat_report *r;
	json_t *o;
	char *text;
	struct world w;
	FILE *full;

	(void)state;
	r = world_make(&w);
	r->counts[0].value = UINT64_MAX;
	assert_int_equal(stat_json(r, &o), 0);
	text = json_dumps(o, JSON_COMPACT);
	assert_non_null(strstr(text, "\"18446744073709551615\""));
	free(text);
	json_decref(o);
	full = fopen("/dev/full", "w");
	assert_non_null(full);
	assert_int_equal(stat_table_write(full, world_make(&w), &(struct table_options){ 0 }),
			 -ENOSPC);
	fclose(full);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_golden), cmocka_unit_test(test_table),
		cmocka_unit_test(test_fits),   cmocka_unit_test(test_sums),
		cmocka_unit_test(test_names),  cmocka_unit_test(test_errors),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
