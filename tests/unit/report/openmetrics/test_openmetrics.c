// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Metrics, judged by their text alone: whatever runs, series only grow, add up to what the machine
 * was told, and are bounded in number.
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/array.h"
#include "metrics_world.h"
#include "random.h"
#include "sample_report.h"

/* --- random runs */

#define MOST_JOBS  40
#define FAMILIES   4
#define MAX_LABELS 32

/* What the machine was told in an interval, by what follows the workload in the labels. */
struct told {
	char labels[128];
	uint64_t bytes;
};

struct run {
	struct draw random;
	struct told told[MAX_LABELS];
	size_t nr_told;
	uint64_t cpu_ns;
	struct {
		uint64_t cgroup;
		unsigned int id;
		bool provisional;
	} jobs[MOST_JOBS];
	size_t nr_jobs;
	uint64_t next_cgroup;
};

static void tell(struct run *run, const char *labels, uint64_t bytes)
{
	size_t i;

	for (i = 0; i < run->nr_told && strcmp(run->told[i].labels, labels) != 0; i++)
		;
	assert_true(i < MAX_LABELS);
	if (i == run->nr_told)
		snprintf(run->told[run->nr_told++].labels, sizeof(run->told->labels), "%s", labels);
	run->told[i].bytes += bytes;
}

static void tell_share(struct run *run, const struct counter *c, uint64_t bytes)
{
	char labels[128];

	if (c->device)
		return;
	snprintf(labels, sizeof(labels),
		 "memory_bytes socket=\"%u\",source=\"%s\",direction=\"%s\",destination=\"%s\"",
		 c->socket, source_name(c->source), direction_name(c->direction),
		 destination_name(c->destination));
	tell(run, labels, bytes);
}

static void tell_device(struct run *run, const char *family, size_t device, const char *direction,
			uint64_t bytes)
{
	char labels[128];

	snprintf(labels, sizeof(labels), "%s device=\"%s\",direction=\"%s\"", family,
		 world_devices[device].bdf, direction);
	tell(run, labels, bytes);
}

/* Some traffic of a leaf row; the row of its job gets the same. */
static void fill(struct run *run, struct report *r, size_t leaf, size_t whole)
{
	uint64_t scale = 1ull << draw_below(&run->random, 30);
	struct report_row *row = &r->rows[leaf];
	struct row_device *d;

	row->on_cpu_ns = draw_below(&run->random, WORLD_SECOND);
	run->cpu_ns += row->on_cpu_ns;
	r->rows[whole].on_cpu_ns += whole == leaf ? 0 : row->on_cpu_ns;
	for (uint32_t c = 0; c < WORLD_COUNTERS; c++) {
		uint64_t bytes = draw_below(&run->random, scale + 1);

		if (world_counters[c].device || draw_below(&run->random, 3) == 0)
			continue;
		world_share(r, row, c, bytes);
		tell_share(run, &world_counters[c], bytes);
		if (whole == leaf)
			continue;
		for (size_t i = 0; i < r->rows[whole].nr_shares; i++) {
			struct share *s = &r->rows[whole].shares[i];

			if (s->counter != c)
				continue;
			s->value += bytes;
			s->low += bytes - bytes / 8;
			s->high += bytes + bytes / 8;
			bytes = 0;
		}
		if (bytes)
			world_share(r, &r->rows[whole], c, bytes);
	}
	if (draw_below(&run->random, 4))
		return;
	world_io(row, 0, scale, scale / 2);
	d = &row->devices[row->nr_devices - 1];
	d->counted = true;
	d->read_bytes = d->read_low = scale + 5;
	d->read_high = scale + 10;
	tell_device(run, "device_bytes", 0, "read", d->read_bytes);
	tell_device(run, "request_bytes", 0, "read", scale);
	tell_device(run, "request_bytes", 0, "write", scale / 2);
}

static void add_job(struct run *run, struct report *r, size_t j)
{
	char id[32];
	bool steps = run->jobs[j].cgroup % 3 == 0;
	size_t at = r->nr_rows;

	if (run->jobs[j].provisional && draw_below(&run->random, 3) == 0)
		run->jobs[j].provisional = false;
	snprintf(id, sizeof(id), "%s%u", run->jobs[j].provisional ? "s" : "", run->jobs[j].id);
	world_row(r, SCHEDULER_SLURM, id, run->jobs[j].cgroup, "", !steps);
	if (steps) {
		world_row(r, SCHEDULER_SLURM, id, run->jobs[j].cgroup, "batch", true);
		world_row(r, SCHEDULER_SLURM, id, run->jobs[j].cgroup, "own", true);
	}
	for (size_t i = at; i < r->nr_rows; i++)
		r->rows[i].job->provisional = run->jobs[j].provisional;
	for (size_t i = at + steps; i < r->nr_rows; i++)
		if (draw_below(&run->random, 8))
			fill(run, r, i, at);
	if (draw_below(&run->random, 12) == 0) {
		r->rows[at].exited = true;
		run->jobs[j] = run->jobs[--run->nr_jobs];
	}
}

static struct report *random_report(struct run *run, uint64_t number)
{
	struct report *r = world_report(number);

	/* the second disk is never counted */
	r->devices[0].read.valid = r->devices[0].write.valid = true;
	run->nr_told = 0;
	memset(run->told, 0, sizeof(run->told));
	run->cpu_ns = 0;
	while (run->nr_jobs < MOST_JOBS && draw_below(&run->random, 4)) {
		run->jobs[run->nr_jobs].cgroup = ++run->next_cgroup;
		/* few numbers: the same one is given to several that run at once */
		run->jobs[run->nr_jobs].id = draw_below(&run->random, 60);
		run->jobs[run->nr_jobs++].provisional = draw_below(&run->random, 4) == 0;
	}
	world_row(r, SCHEDULER_NONE, NULL, 0, "", true);
	fill(run, r, 0, 0);
	for (size_t j = run->nr_jobs; j-- > 0;)
		if (draw_below(&run->random, 6))
			add_job(run, r, j);
	return r;
}

static bool is_workload(const char *key, const char *which)
{
	const char *at = strstr(key, "{workload=\"");

	return at && (!which || !strncmp(at + 11, which, strlen(which)));
}

/* Splits "t410trace_workload_memory_bytes_total{workload="x",socket=..}" into "memory_bytes socket=..". */
static void labels_of(const char *key, char *ret, size_t size)
{
	const char *brace = strchr(key, '{'), *comma = strstr(brace, "\",");
	int family = (int)(brace - key) - (int)strlen("t410trace_workload__total");

	snprintf(ret, size, "%.*s %.*s", family, key + strlen("t410trace_workload_"),
		 comma ? (int)strlen(comma + 2) - 1 : 0, comma ? comma + 2 : "");
}

static void check_growth(struct sample *before, struct sample *now, struct run *run)
{
	struct told grown[MAX_LABELS] = { 0 };
	struct sample *s, *next;
	uint64_t cpu_ns = 0;
	size_t nr = 0, i;

	HASH_ITER (hh, now, s, next) {
		const struct sample *old = sample(before, s->key);
		bool fixed = is_workload(s->key, "other\"") || is_workload(s->key, "none\"");
		char labels[128];
		uint64_t delta;

		if (!strstr(s->key, "_total"))
			continue;
		if (old && s->value < old->value)
			fail_msg("%s shrinks", s->key);
		if (!is_workload(s->key, NULL))
			continue;
		if (!old && s->value && !fixed)
			fail_msg("%s begins with %llu", s->key, (unsigned long long)s->value);
		delta = s->value - (old ? old->value : 0);
		if (strstr(s->key, "_cpu_seconds"))
			cpu_ns += delta;
		if (strstr(s->key, "_cpu_seconds") || strstr(s->key, "uncertainty"))
			continue;
		labels_of(s->key, labels, sizeof(labels));
		for (i = 0; i < nr && strcmp(grown[i].labels, labels) != 0; i++)
			;
		assert_true(i < MAX_LABELS);
		nr += i == nr;
		snprintf(grown[i].labels, sizeof(labels), "%s", labels);
		grown[i].bytes += delta;
	}
	assert_int_equal(cpu_ns, run->cpu_ns);
	for (i = 0; i < run->nr_told; i++) {
		size_t k;

		for (k = 0; k < nr && strcmp(grown[k].labels, run->told[i].labels) != 0; k++)
			;
		if (k == nr || grown[k].bytes != run->told[i].bytes)
			fail_msg("%s: %llu instead of %llu", run->told[i].labels,
				 k < nr ? (unsigned long long)grown[k].bytes : 0,
				 (unsigned long long)run->told[i].bytes);
		grown[k].bytes = 0;
	}
	for (i = 0; i < nr; i++)
		assert_int_equal(grown[i].bytes, 0);
}

static size_t count(struct sample *all, const char *family)
{
	struct sample *s, *next;
	size_t nr = 0;

	HASH_ITER (hh, all, s, next)
		nr += !strncmp(s->key, family, strlen(family));
	return nr;
}

static void run_randomly(uint64_t seed, size_t top, uint32_t keep)
{
	struct run run = { .random = { seed }, .next_cgroup = 100 };
	struct sample *before = NULL, *now;
	size_t times = draw_times(400, 20), most = 0;
	struct world w;

	world_open(&w, top, keep);
	for (uint64_t i = 0; i < times; i++) {
		world_add(&w, random_report(&run, i));
		now = world_samples(&w);
		check_growth(before, now, &run);
		assert_true(count(now, "t410trace_workload_info") <= 2 * top);
		assert_true(count(now, "t410trace_workload_cpu_seconds_total") <= 2 * top + 2);
		/* 10 of memory, 2 of a device that is counted, 4 of requests */
		assert_true(count(now, "t410trace_workload_") <=
			    (2 * top + 2) * (2 * 10 + 2 * 2 + 4 + 2) + 2 * top);
		if (count(now, "t410trace_workload_info") > most)
			most = count(now, "t410trace_workload_info");
		assert_null(sample(now, "t410trace_workload_device_bytes_total{workload=\"other\","
					"device=\"0012:81:00.0\",direction=\"read\"}"));
		samples_free(&before);
		before = now;
	}
	assert_true(most >= top);
	samples_free(&before);
	world_close(&w);
}

static void test_random_runs(void **state)
{
	(void)state;
	run_randomly(1, 5, 2);
	run_randomly(2, 1, 0);
	run_randomly(3, 20, 5);
	run_randomly(4, 0, 3);
}

/* --- single rules */

#define READS(w)                                                                                \
	"t410trace_workload_memory_bytes_total{workload=\"" w "\",socket=\"0\",source=\"cpu\"," \
	"direction=\"read\",destination=\"cmem\"}"

static void expect_reads(const struct world *w, const char *key, int64_t value)
{
	struct sample *all = world_samples(w);
	const struct sample *s = sample(all, key);

	if (value < 0 && s)
		fail_msg("%s is there", key);
	if (value >= 0)
		assert_int_equal(value_of(all, key), value);
	samples_free(&all);
}

static void test_places(void **state)
{
	struct world w;
	struct report *r;

	(void)state;
	world_open(&w, 2, 1);
	/* the two largest get series, which begin with 0 */
	world_add(&w, reads(0, 3, (uint64_t[]){ 1000, 3000, 2000 }));
	expect_reads(&w, READS("slurm:1"), -1);
	expect_reads(&w, READS("slurm:2"), 0);
	expect_reads(&w, READS("slurm:3"), 0);
	expect_reads(&w, READS("other"), 6000);
	/* a somewhat larger one does not get the place of another */
	world_add(&w, reads(1, 4, (uint64_t[]){ 1000, 3000, 2000, 3900 }));
	expect_reads(&w, READS("slurm:4"), -1);
	expect_reads(&w, READS("slurm:2"), 3000);
	expect_reads(&w, READS("other"), 10900);
	/* a much larger one does; the smallest stays to be seen once more, and then counts on as "other" */
	world_add(&w, reads(2, 4, (uint64_t[]){ 1000, 3000, 2000, 90000 }));
	expect_reads(&w, READS("slurm:4"), 0);
	expect_reads(&w, READS("slurm:3"), 4000);
	world_add(&w, reads(3, 4, (uint64_t[]){ 0, 3000, 1, 90000 }));
	expect_reads(&w, READS("slurm:3"), 4001);
	world_add(&w, reads(4, 4, (uint64_t[]){ 0, 3000, 1, 90000 }));
	expect_reads(&w, READS("slurm:3"), -1);
	expect_reads(&w, READS("slurm:4"), 180000);
	/* one that ends makes room */
	r = reads(5, 4, (uint64_t[]){ 700, 3000, 1, 90000 });
	r->rows[3].exited = true;
	world_add(&w, r);
	expect_reads(&w, READS("slurm:4"), 270000);
	expect_reads(&w, READS("slurm:1"), 0);
	/* fewer places */
	openmetrics_limits(w.metrics, &(struct openmetrics_options){ .top = 1, .keep = 0 });
	world_add(&w, reads(6, 2, (uint64_t[]){ 0, 3000 }));
	world_add(&w, reads(7, 2, (uint64_t[]){ 0, 3000 }));
	expect_reads(&w, READS("slurm:2"), 18000 + 3000);
	expect_reads(&w, READS("slurm:1"), -1);
	expect_reads(&w, READS("slurm:4"), -1);
	world_close(&w);
}

static void test_names(void **state)
{
	static const char hostile[] = "a\"b\\c\nd{e=\"f\"} 1\n# EOF\xff";
	struct report_row *row;
	struct sample *all;
	struct report *r;
	struct world w;
	char *text;

	(void)state;
	world_open(&w, 4, 1);
	for (uint64_t i = 0; i < 2; i++) {
		r = world_report(i);
		/* the same number twice, and a container that someone gave a name of ill will */
		world_row(r, SCHEDULER_SLURM, "12", 71, "", true);
		world_row(r, SCHEDULER_SLURM, "12", 72, "", true);
		row = world_row(r, SCHEDULER_DOCKER, hostile, 73, "", true);
		snprintf(row->job->name, sizeof(row->job->name), "%s", hostile);
		snprintf(row->job->user, sizeof(row->job->user), "bob");
		for (size_t k = 0; k < 3; k++)
			world_share(r, &r->rows[k], 0, 1000 - k);
		world_add(&w, r);
	}
	all = world_samples(&w);
	assert_int_equal(value_of(all, READS("slurm:12")), 1000);
	assert_int_equal(value_of(all, READS("slurm:12@72")), 999);
	assert_int_equal(
		value_of(all, READS("docker:a\\\"b\\\\c\\nd{e=\\\"f\\\"} 1\\n# EOF\xef\xbf\xbd")),
		998);
	assert_int_equal(
		value_of(all,
			 "t410trace_workload_info{workload=\"docker:a\\\"b\\\\c\\nd{e=\\\"f\\\"} "
			 "1\\n# EOF\xef\xbf\xbd\",scheduler=\"docker\",id=\"a\\\"b\\\\c\\nd{e="
			 "\\\"f\\\"} 1\\n# EOF\xef\xbf\xbd\",name=\"a\\\"b\\\\c\\nd{e=\\\"f\\\"} "
			 "1\\n# EOF\xef\xbf\xbd\",user=\"bob\"}"),
		1);
	samples_free(&all);
	/* nothing says which process it was */
	text = world_text(&w, EXPOSITION_TEXT);
	assert_null(strstr(text, "pid"));
	free(text);
	world_close(&w);
}

static void test_negotiation(void **state)
{
	static const struct {
		const char *accept;
		enum exposition want;
	} cases[] = {
		/* what Prometheus 2.42 says */
		{ "application/openmetrics-text;version=1.0.0,application/"
		  "openmetrics-text;version=0.0.1;"
		  "q=0.75,text/plain;version=0.0.4;q=0.5,*/*;q=0.1",
		  EXPOSITION_OPENMETRICS },
		{ "", EXPOSITION_TEXT },
		{ "*/*", EXPOSITION_TEXT },
		{ "text/plain", EXPOSITION_TEXT },
		{ "text/html,application/xhtml+xml,*/*;q=0.8", EXPOSITION_TEXT },
		{ "application/openmetrics-text", EXPOSITION_OPENMETRICS },
		{ "Application/OpenMetrics-Text; version=1.0.0; q=0.9 , text/plain;q=0.8",
		  EXPOSITION_OPENMETRICS },
		{ "application/openmetrics-text;q=0.2,text/plain", EXPOSITION_TEXT },
		{ "application/openmetrics-text;version=0.0.1", EXPOSITION_TEXT },
		{ "application/openmetrics-text;q=0", EXPOSITION_TEXT },
		{ "application/openmetrics-text;q=", EXPOSITION_TEXT },
		{ "application/openmetrics-textual", EXPOSITION_TEXT },
		{ ",,, ,;;=q", EXPOSITION_TEXT },
		{ "application/openmetrics-text;version=", EXPOSITION_TEXT },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++)
		if (openmetrics_negotiate(cases[i].accept) != cases[i].want)
			fail_msg("wrong for \"%s\"", cases[i].accept);
	assert_string_equal(openmetrics_type(EXPOSITION_OPENMETRICS),
			    "application/openmetrics-text; version=1.0.0; charset=utf-8");
	assert_string_equal(openmetrics_type(EXPOSITION_TEXT),
			    "text/plain; version=0.0.4; charset=utf-8");
}

static void test_machine_without_counters(void **state)
{
	struct report_row *row;
	struct sample *all;
	struct report *r;
	struct world w;

	(void)state;
	world_open(&w, 4, 1);
	for (uint64_t i = 0; i < 2; i++) {
		r = world_report(i);
		r->nr_counters = r->nr_devices = 0;
		row = world_row(r, SCHEDULER_SLURM, "12", 71, "", true);
		row->on_cpu_ns = 1500;
		r->sockets[0].busy_ns = 2000;
		world_add(&w, r);
	}
	all = world_samples(&w);
	assert_int_equal(value_of(all, "t410trace_workload_cpu_seconds_total{workload=\"other\"}"),
			 1500);
	/* its series began with the first interval and counts from the second one */
	assert_int_equal(value_of(all, "t410trace_cpu_seconds_total{socket=\"0\",mode=\"busy\"}"),
			 4000);
	assert_int_equal(count(all, "t410trace_memory_"), 0);
	assert_int_equal(count(all, "t410trace_workload_memory_"), 0);
	assert_int_equal(count(all, "t410trace_energy_"), 0);
	assert_int_equal(count(all, "t410trace_workload_energy_"), 0);
	samples_free(&all);
	world_close(&w);
}

/* Formats that choose the order of these numbers themselves leave none out. */
static void test_all_of_quality(void **state)
{
	static const struct {
		const char *name;
		size_t at;
	} numbers[] = {
#define NUMBER(name, ...) { #name, offsetof(struct quality, name) },
		QUALITY_NUMBERS(NUMBER)
	};
	struct report *r = world_report(0);
	struct sample *all, *s;
	struct world w;

	(void)state;
	world_open(&w, 4, 1);
	for (size_t i = 0; i < ARRAY_SIZE(numbers); i++)
		*(uint64_t *)((char *)&r->quality + numbers[i].at) = 7001000 + i;
	world_add(&w, r);
	all = world_samples(&w);
	for (size_t i = 0; i < ARRAY_SIZE(numbers); i++) {
		for (s = all; s && s->value != 7001000 + i; s = s->hh.next)
			;
		if (!s)
			fail_msg("there is no %s", numbers[i].name);
	}
	samples_free(&all);
	world_close(&w);
}

static void test_full_disk(void **state)
{
	FILE *out = fopen("/dev/full", "w");
	struct world w;

	(void)state;
	assert_non_null(out);
	world_open(&w, 4, 1);
	world_add(&w, reads(0, 1, (uint64_t[]){ 1000 }));
	assert_int_equal(
		openmetrics_write(out, w.metrics,
				  &(struct openmetrics_state){ .host = &world_host,
							       .node = accounts_node(w.accounts) },
				  EXPOSITION_TEXT),
		-ENOSPC);
	fclose(out);
	world_close(&w);
}

/* --- the example in docs/ */

static void add_example(struct world *w, uint64_t number)
{
	struct report *r = world_report(number);
	struct report_row *row;

	r->devices[0].read.valid = r->devices[0].write.valid = true;
	for (size_t i = 0; i < 2; i++) {
		r->sockets[i].busy_ns = 60 * WORLD_SECOND;
		r->sockets[i].idle_ns = 28 * WORLD_SECOND;
		world_rest(r, i * 6, REASON_IDLE, 20000000);
		world_rest(r, i * 6 + 4, REASON_DEVICE, 3000000000);
		world_rest(r, i * 6 + 5, REASON_DEVICE, 200000000);
	}
	r->counters[3].running_ns /= 2;
	r->quality.late_slices = 1;
	r->self.switch_ns = 1700000;
	row = world_row(r, SCHEDULER_SLURM, "1204", 7001, "", true);
	snprintf(row->job->name, sizeof(row->job->name), "lbm");
	snprintf(row->job->user, sizeof(row->job->user), "alice");
	row->on_cpu_ns = 80 * WORLD_SECOND;
	world_share(r, row, 0, 90000000000);
	world_share(r, row, 1, 41000000000);
	world_share(r, row, 6, 88000000000);
	row = world_row(r, SCHEDULER_KUBERNETES, "6f3c5a1e-0d2b-4f7c-9a55-0e6d1c2b3a49", 7002, "",
			true);
	snprintf(row->job->name, sizeof(row->job->name), "web-0");
	row->on_cpu_ns = 30 * WORLD_SECOND;
	world_share(r, row, 0, 4000000000);
	world_share(r, row, 2, 700000000);
	world_io(row, 0, 64000000, 16000000);
	row->devices[0].counted = true;
	row->devices[0].read_bytes = row->devices[0].read_low = 65000000;
	row->devices[0].read_high = 67000000;
	row->devices[0].write_bytes = row->devices[0].write_low = row->devices[0].write_high =
		16500000;
	row = world_row(r, SCHEDULER_NONE, NULL, 0, "", true);
	row->on_cpu_ns = 10 * WORLD_SECOND;
	world_share(r, row, 0, 1000000000);
	world_share(r, row, 3, 50000000);
	world_add(w, r);
}

static void test_example(void **state)
{
	struct world w;
	char *text;

	(void)state;
	world_open(&w, 20, 5);
	for (uint64_t i = 0; i < 60; i++)
		add_example(&w, i);
	text = world_text(&w, EXPOSITION_OPENMETRICS);
	world_close(&w);
	sample_check_golden("../../docs/examples/metrics.txt", text);
	free(text);
}

static size_t count_series(const char *text, const char *part)
{
	size_t nr = 0;

	for (const char *line = text; *line; line = strchr(line, '\n') + 1)
		nr += line[0] != '#' &&
		      (!part || memmem(line, strcspn(line, "\n"), part, strlen(part)));
	return nr;
}

/*
 * Jobs with bytes of each counter end together while as many others begin: so many series a page has at
 * most, and the table in docs/METRICS.md says the same. T410_METRICS-5, ... get the pages.
 */
static void test_numbers_of_series(void **state)
{
	static const size_t tops[] = { 5, 10, 50 };
	const char *file = getenv("T410_METRICS");

	(void)state;
	for (size_t t = 0; t < ARRAY_SIZE(tops); t++) {
		struct world w;
		char id[32], name[4096], *text;
		size_t kinds, of_jobs;
		FILE *f;

		world_open(&w, tops[t], 9);
		for (uint64_t i = 0; i < 4; i++) {
			struct report *r = world_report(i);

			r->nr_devices = 0;
			for (size_t k = 0; k < tops[t]; k++) {
				uint64_t number = k + 1 + (i > 1 ? tops[t] : 0);
				struct report_row *row;

				snprintf(id, sizeof(id), "%llu", (unsigned long long)number);
				row = world_row(r, SCHEDULER_SLURM, id, number, "", true);
				for (uint32_t c = 0; c < r->nr_counters; c++)
					world_share(r, row, c, 1000 * number);
				row->on_cpu_ns = WORLD_SECOND;
				row->exited = i == 1;
			}
			world_add(&w, r);
		}
		text = world_text(&w, EXPOSITION_OPENMETRICS);
		world_close(&w);
		kinds = count_series(text, "t410trace_memory_bytes_total");
		of_jobs = count_series(text, "workload=\"slurm:");
		assert_int_equal(kinds, 10);
		assert_int_equal(of_jobs, 2 * tops[t] * (2 * kinds + 3));
		assert_int_equal(count_series(text, NULL) - of_jobs, 238);
		if (file) {
			snprintf(name, sizeof(name), "%s-%zu", file, tops[t]);
			f = fopen(name, "w");
			assert_non_null(f);
			fputs(text, f);
			fclose(f);
		}
		free(text);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_places),
		cmocka_unit_test(test_names),
		cmocka_unit_test(test_negotiation),
		cmocka_unit_test(test_machine_without_counters),
		cmocka_unit_test(test_full_disk),
		cmocka_unit_test(test_random_runs),
		cmocka_unit_test(test_example),
		cmocka_unit_test(test_all_of_quality),
		cmocka_unit_test(test_numbers_of_series),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
