// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Rows of core events beside perf's own lists, and x86 cores. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <linux/perf_event.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/array.h"
#include "fake_perf.h"
#include "platform/check/checks_weights.h"
#include "platform/core/weights.h"
#include "platform/pmu/pmu.h"
#include "tree.h"

#define CPUS	 "devices/system/cpu/"
#define MODALIAS "cpu:type:x86,ven%04Xfam%04Xmod%04X:feature:,0000,0001\n"

static const struct weight_core_row *core_of(const char *cpu)
{
	unsigned int vendor, family, model;

	if (sscanf(cpu, "%u-%x-%x", &vendor, &family, &model) != 3)
		return weight_core_find(strtoull(cpu, NULL, 16));
	return weight_core_of(&(struct cpu_id){ vendor, family, model });
}

static const struct weight_row *row_of(enum weight_core core, const char *event)
{
	for (size_t i = 0; i < nr_weight_rows; i++)
		if (weight_rows[i].core == core && !strcasecmp(weight_rows[i].name, event))
			return &weight_rows[i];
	return NULL;
}

/* Each row of these cores is in perf's lists, with this code. */
static void rows_are_those_of_perf(void **state)
{
	FILE *file = fopen(TESTS_DIR "/fixtures/core-events.tsv", "r");
	bool *seen = calloc(nr_weight_rows, sizeof(*seen));
	char line[256], cpu[32], event[64];
	unsigned long long code;

	(void)state;
	assert_non_null(file);
	assert_non_null(seen);
	while (fgets(line, sizeof(line), file)) {
		const struct weight_core_row *core;
		const struct weight_row *row;

		if (line[0] == '#')
			continue;
		assert_int_equal(sscanf(line, "%31s %63s %llx", cpu, event, &code), 3);
		core = core_of(cpu);
		if (!core)
			fail_msg("no core: %s", line);
		row = row_of(core->core, event);
		if (!row)
			fail_msg("no row: %s", line);
		if (row->code != code)
			fail_msg("row %#llx: %s", (unsigned long long)row->code, line);
		seen[row - weight_rows] = true;
	}
	fclose(file);
	for (size_t i = 0; i < nr_weight_rows; i++)
		if (!seen[i] && weight_rows[i].core != WEIGHT_CORE_OLYMPUS &&
		    weight_rows[i].core != WEIGHT_CORE_NEOVERSE_V2)
			fail_msg("core-events.tsv lacks %s", weight_rows[i].name);
	free(seen);
}

static void x86_cores_are_recognized(void **state)
{
	static const struct {
		const char *cpu;
		int core; /* -1: none */
	} rows[] = {
		{ "0-6-55", WEIGHT_CORE_INTEL },
		{ "0-6-8f", WEIGHT_CORE_INTEL_P },
		{ "0-6-af", WEIGHT_CORE_INTEL_E },
		{ "2-19-11", WEIGHT_CORE_ZEN4 },
		{ "2-1a-2", WEIGHT_CORE_ZEN5 },
		/* Alder Lake has two kinds, Clearwater Forest other events; Zen 3; VIA */
		{ "0-6-97", -1 },
		{ "0-6-dd", -1 },
		{ "2-19-1", -1 },
		{ "2-19-21", -1 },
		{ "5-6-55", -1 },
		{ "0-f-55", -1 },
		{ "2-17-31", -1 },
		{ "2-1a-30", -1 },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
		assert_ptr_equal(core_of(rows[i].cpu),
				 rows[i].core < 0 ? NULL : &weight_cores[rows[i].core]);
}

/* A machine with four x86 cores; @pmu: their PMU is there, type 4 */
static void make_x86(struct tree *tree, struct sysfs *fs, const char *cpu, bool pmu)
{
	unsigned int vendor, family, model;
	char alias[96];
	struct diag d = { 0 };

	assert_int_equal(sscanf(cpu, "%u-%x-%x", &vendor, &family, &model), 3);
	snprintf(alias, sizeof(alias), MODALIAS, vendor, family, model);
	tree_make(tree);
	tree_put(tree, CPUS "modalias", alias);
	tree_put(tree, CPUS "possible", "0-3\n");
	tree_put(tree, CPUS "online", "0-3\n");
	tree_put(tree, PMU_DEVICES "/msr/type", "9\n");
	if (pmu)
		tree_put(tree, PMU_DEVICES "/cpu/type", "4\n");
	assert_int_equal(sysfs_open(tree->root, &d, fs), 0);
}

static uint64_t standing;

/* One event stands still: this core does not have it, or a hypervisor hides it. */
static uint64_t rate(const struct perf_event_attr *attr)
{
	return attr->config == standing ? 0 : 2;
}

/* What is taken, and what check says of it. */
static void what_counts_is_taken(void **state)
{
	static const struct {
		const char *cpu;
		bool pmu;
		uint64_t standing;
		const char *first, *second, *note, *found;
		enum check_status status;
	} rows[] = {
		{ "0-6-6a", true, 0, "longest_lat_cache.miss", "l2_trans.l2_wb", "",
		  "longest_lat_cache.miss, l2_trans.l2_wb; seen counting", CHECK_OK },
		{ "0-6-8f", true, 0x412e, "offcore_requests.l3_miss_demand_data_rd",
		  "l2_lines_out.non_silent", "", "seen counting", CHECK_OK },
		{ "0-6-6a", true, 0x412e, NULL, NULL, "longest_lat_cache.miss\" stands still",
		  "CPU time: event", CHECK_LIMITED },
		{ "2-19-11", true, 0, "ls_any_fills_from_sys.dram_io_all", NULL,
		  "writes are weighed like reads: no event is known for them",
		  "ls_any_fills_from_sys.dram_io_all; seen counting; writes", CHECK_OK },
		{ "2-1a-2", true, 0x100004865, "ls_any_fills_from_sys.dram_io_all", NULL,
		  "no event is known for them", "ls_any_fills", CHECK_OK },
		{ "2-19-11", false, 0, NULL, NULL, "no PMU", "CPU time: the cores have no PMU",
		  CHECK_LIMITED },
		{ "2-17-31", true, 0, NULL, NULL, "known for this core (AuthenticAMD-23-31)",
		  "AuthenticAMD-23-31", CHECK_LIMITED },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct check_row row = { 0 };
		struct diag d = { 0 };
		struct weights w;
		struct tree tree;
		struct sysfs fs;

		fake_reset();
		fake_add(4, FAKE_MAX, 0);
		fake.rate = rate;
		standing = rows[i].standing;
		make_x86(&tree, &fs, rows[i].cpu, rows[i].pmu);
		assert_int_equal(weights_open(&fake_kernel, &fs, "auto", 4, &d, &w), 0);
		assert_int_equal(w.nr, !!rows[i].first + !!rows[i].second);
		if (rows[i].first)
			assert_string_equal(w.names[0], rows[i].first);
		if (rows[i].second)
			assert_string_equal(w.names[1], rows[i].second);
		assert_non_null(strstr(w.note, rows[i].note));
		assert_int_equal(!w.note[0], !rows[i].note[0]);
		weights_close(&w);
		assert_int_equal(check_weights(&fake_kernel, &fs, &row), 0);
		assert_string_equal(row.name, "weights");
		assert_int_equal(row.status, rows[i].status);
		assert_non_null(strstr(row.found, rows[i].found));
		assert_int_equal(!row.remedy[0], row.status == CHECK_OK);
		assert_int_equal(fake.open_now, 0);
		sysfs_close(&fs);
		tree_remove(&tree);
	}
}

static void cpus_that_sysfs_does_not_tell(void **state)
{
	struct check_row row;
	struct tree tree;
	struct sysfs fs;

	(void)state;
	make_x86(&tree, &fs, "0-6-6a", true);
	tree_put(&tree, CPUS "possible", "all\n");
	assert_int_equal(check_weights(&fake_kernel, &fs, &row), 0);
	assert_int_equal(row.status, CHECK_LIMITED);
	assert_non_null(strstr(row.found, "which CPUs there are"));
	sysfs_close(&fs);
	tree_remove(&tree);
}

static void what_would_be_tried(void **state)
{
	static const struct {
		const char *cpu;
		bool pmu;
		const char *text;
	} rows[] = {
		{ "0-6-8f", true, "longest_lat_cache.miss, else offcore_requests." },
		{ "2-19-11", true, "for writes the same, as there is none" },
		{ "2-19-11", false, NULL },
		{ "2-17-31", true, NULL },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct weight_cores cores;
		struct tree tree;
		struct sysfs fs;
		char text[512];

		make_x86(&tree, &fs, rows[i].cpu, rows[i].pmu);
		assert_int_equal(weight_cores_read(&fs, &cores), 0);
		weight_cores_describe(&cores, text, sizeof(text));
		assert_int_equal(!text[0], !rows[i].text);
		if (rows[i].text)
			assert_non_null(strstr(text, rows[i].text));
		sysfs_close(&fs);
		tree_remove(&tree);
	}
}

/* Nobody writes more than leaves a cache; refills and streams past the caches bound nothing. */
static void who_bounds_what_is_written(void **state)
{
	static const struct {
		const char *event;
		double bytes;
	} rows[] = {
		{ "l2d_cache_wb", 64 },	   { "L2D_CACHE_WB", 64 }, { "bus_access_wr", 32 },
		{ "l2_trans.l2_wb", 64 },  { "store_stream", 0 },  { "l3d_cache_refill", 0 },
		{ "l2d_cache_refill", 0 }, { "cycles", 0 },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
		assert_true(weight_max_written(rows[i].event) == rows[i].bytes);
}

/* Of what is written, too, it can be said what was read; of that which comes from elsewhere not. */
static void who_says_what_is_read(void **state)
{
	static const struct {
		const char *event;
		double bytes;
	} rows[] = {
		{ "l3d_cache_refill", 64 },	  { "LL_CACHE_MISS_RD", 64 },
		{ "longest_lat_cache.miss", 64 }, { "l2d_cache_wb", 0 },
		{ "remote_access", 0 },		  { "cycles", 0 },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
		assert_true(weight_bytes_read(rows[i].event) == rows[i].bytes);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(rows_are_those_of_perf),
		cmocka_unit_test(x86_cores_are_recognized),
		cmocka_unit_test(what_counts_is_taken),
		cmocka_unit_test(cpus_that_sysfs_does_not_tell),
		cmocka_unit_test(what_would_be_tried),
		cmocka_unit_test(who_bounds_what_is_written),
		cmocka_unit_test(who_says_what_is_read),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
