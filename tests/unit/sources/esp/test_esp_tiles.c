// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* CPU tiles of an ESP: whose they are, and how accesses are divided among them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>

#include "sources/esp/esp_cpu_tiles.h"
#include "sources/esp/cpus.h"
#include "temp_file.h"
#include "tree.h"

#define CPUS  3
#define TILES (CPUS + 1)

static struct tree tree;
static struct sysfs fs = { .fd = -1 };
static struct counters no_counters;
static struct run_options options;
static struct source_context context;
static struct esp_soc soc;
static struct esp_reader reader;
static struct esp_cpu_tiles *tiles;

/* --- CPUs */

static void put_possible(const char *text)
{
	tree_put(&tree, "devices/system/cpu/possible", text);
}

static void put_hart(uint32_t cpu, const char *bytes, size_t length)
{
	char path[64];

	snprintf(path, sizeof(path), "devices/system/cpu/cpu%u/of_node/reg", cpu);
	tree_write(&tree, path, bytes, length);
}

static int tree_setup(void **state)
{
	struct diag d;

	(void)state;
	tree_make(&tree);
	put_possible("0-2\n");
	return sysfs_open(tree.root, &d, &fs);
}

static int tree_teardown(void **state)
{
	(void)state;
	sysfs_close(&fs);
	tree_remove(&tree);
	return 0;
}

/* The kernel numbers harts as they come; a tile has the number of its hart. */
static void test_cpus(void **state)
{
	uint32_t cpus[4];

	(void)state;
	assert_int_equal(esp_cpus_find(&fs, 4, cpus), 0);
	assert_int_equal(cpus[0], 0);
	assert_int_equal(cpus[2], 2);
	assert_int_equal(cpus[3], ESP_NO_CPU);
	put_hart(0, "\0\0\0\2", 4);
	put_hart(1, "\0\0\0\0\0\0\0\3", 8);
	put_hart(2, "\0\0\0\0", 4);
	assert_int_equal(esp_cpus_find(&fs, 4, cpus), 0);
	assert_int_equal(cpus[0], 2);
	assert_int_equal(cpus[1], ESP_NO_CPU);
	assert_int_equal(cpus[2], 0);
	assert_int_equal(cpus[3], 1);
	/* in no tile; two in one */
	assert_int_equal(esp_cpus_find(&fs, 3, cpus), -ENODEV);
	put_hart(1, "\0\0\0\2", 4);
	assert_int_equal(esp_cpus_find(&fs, 4, cpus), -ENODEV);
}

static void test_busy(void **state)
{
	static const uint32_t cpus[] = { 1, ESP_NO_CPU, 0 };
	uint64_t busy[3] = { 9, 9, 9 };

	(void)state;
	assert_int_equal(esp_cpus_busy(fs.fd, cpus, 3, busy), -ENOENT);
	assert_int_equal(busy[0] + busy[1] + busy[2], 0);
	/* user, nice, system, idle, iowait, irq, softirq, steal */
	tree_put(&tree, "stat",
		 "cpu  9 9 9 9 9 9 9 9 9 9\ncpu0 1 20 300 7 7 4000 50000 7 7 7\n"
		 "cpu1 5 0 0 7\nintr 1 2\n");
	assert_int_equal(esp_cpus_busy(fs.fd, cpus, 3, busy), 0);
	assert_int_equal(busy[0], 5);
	assert_int_equal(busy[1], 0);
	assert_int_equal(busy[2], 54321);
}

/* --- division */

/* The L2 of a tile has no hits, and so many misses. */
static void count(uint32_t tile, uint32_t misses)
{
	const uint32_t words[] = { 0, misses };
	FILE *f = fopen(temp_path, "r+");

	assert_non_null(f);
	assert_int_equal(fseek(f, (long)(tile * ESP_TILE_SIZE + 4 * (1 + ESP_L2_HITS)), SEEK_SET),
			 0);
	assert_int_equal(fwrite(words, sizeof(words), 1, f), 1);
	fclose(f);
}

/* All ones: the tile does not answer. */
static void kill_tile(uint32_t tile)
{
	FILE *f = fopen(temp_path, "r+");

	assert_non_null(f);
	assert_int_equal(fseek(f, (long)(tile * ESP_TILE_SIZE), SEEK_SET), 0);
	for (size_t i = 0; i < ESP_TILE_SIZE; i++)
		fputc(0xff, f);
	fclose(f);
}

static void make_soc(void)
{
	soc = (struct esp_soc){ .rows = 1,
				.cols = TILES,
				.caches = true,
				.nr = { [ESP_TILE_CPU] = CPUS, [ESP_TILE_MEM] = 1 },
				.nr_registers = ESP_NR_COUNTERS,
				.clock_hz = 100000000 };
	soc.tiles[0].type = ESP_TILE_MEM;
	for (uint32_t i = 0; i < CPUS; i++)
		soc.tiles[1 + i] = (struct esp_tile){ .type = ESP_TILE_CPU, .number = i };
	snprintf(soc.window, sizeof(soc.window), "%s", temp_path);
	context =
		(struct source_context){ .args = &options, .sysfs = &fs, .counters = &no_counters };
}

/* CPU tile i is tile 1 + i. */
static int tiles_setup(void **state)
{
	const char *why;
	struct diag d;

	if (tree_setup(state))
		return -1;
	temp_put("");
	make_soc();
	if (truncate(temp_path, TILES * ESP_TILE_SIZE) || esp_reader_open(&soc, &d, &reader) ||
	    esp_cpu_tiles_find(&context, &soc, &tiles, &why) || !tiles)
		return -1;
	esp_cpu_tiles_open(tiles, &reader);
	return esp_cpu_tiles_start(tiles, &d);
}

static int tiles_teardown(void **state)
{
	esp_cpu_tiles_free(tiles);
	esp_reader_close(&reader);
	return tree_teardown(state);
}

static void divide(const struct esp_basis *b, uint64_t accesses, bool by_time, uint64_t parts[CPUS])
{
	bool found;
	uint64_t sum = 0;

	assert_int_equal(esp_cpu_tiles_divide(tiles, b, accesses, parts, &found), 0);
	for (int i = 0; i < CPUS; i++)
		sum += parts[i];
	assert_int_equal(sum, accesses);
	assert_int_equal(found, by_time);
}

static void test_exact(void **state)
{
	struct esp_basis b = { .misses = { 1, 1, 1 } };
	uint64_t parts[CPUS];

	(void)state;
	divide(&b, 0, false, parts);
	divide(&b, 1, false, parts);
	divide(&b, 10, false, parts);
	assert_int_equal(parts[0], 4);
	assert_int_equal(parts[1], 3);
	assert_int_equal(parts[2], 3);
	b = (struct esp_basis){ .misses = { 3, 0, 5 } };
	divide(&b, 1001, false, parts);
	assert_int_equal(parts[0], 375);
	assert_int_equal(parts[1], 0);
	assert_int_equal(parts[2], 626);
	/* as many as there can be in a window, and more */
	b = (struct esp_basis){ .misses = { UINT32_MAX, UINT32_MAX, 1 } };
	divide(&b, UINT32_MAX, false, parts);
	assert_in_range(parts[2], 0, 1);
	divide(&b, UINT64_MAX / 2, false, parts);
}

/* Each memory tile has the misses since its own last window; the counter goes around. */
static void test_read(void **state)
{
	struct esp_basis bases[2] = { 0 };

	(void)state;
	count(1, 0xfffffff0);
	esp_cpu_tiles_read(tiles, bases, 2);
	bases[0] = bases[1] = (struct esp_basis){ 0 };
	count(1, 0x10);
	count(3, 7);
	esp_cpu_tiles_read(tiles, bases, 2);
	bases[0] = (struct esp_basis){ 0 };
	count(1, 0x13);
	esp_cpu_tiles_read(tiles, bases, 2);
	assert_int_equal(bases[0].misses[0], 3);
	assert_int_equal(bases[0].misses[2], 0);
	assert_int_equal(bases[1].misses[0], 0x23);
	assert_int_equal(bases[1].misses[1], 0);
	assert_int_equal(bases[1].misses[2], 7);
	assert_false(bases[1].unknown);
	assert_int_equal(esp_cpu_tiles_failed(tiles), 0);
}

/* Without a tile's misses nobody's part is known; its next reading is of two windows. */
static void test_missing(void **state)
{
	struct esp_basis b = { 0 };
	uint64_t parts[CPUS];

	(void)state;
	count(1, 100);
	kill_tile(2);
	esp_cpu_tiles_read(tiles, &b, 1);
	assert_true(b.unknown);
	assert_int_equal(esp_cpu_tiles_failed(tiles), 1);
	divide(&b, 12345, true, parts);
	for (int i = 0; i < 2; i++) {
		b = (struct esp_basis){ 0 };
		count(1, 200 + 100 * i);
		count(2, 5);
		esp_cpu_tiles_read(tiles, &b, 1);
		assert_int_equal(b.unknown, i == 0);
	}
	divide(&b, 12345, false, parts);
	assert_int_equal(parts[0], 12345);
	/* too late: counters may have gone around */
	b = (struct esp_basis){ 0 };
	reader.last[3].time_ns -= esp_safe_ns(&soc);
	esp_cpu_tiles_read(tiles, &b, 1);
	assert_true(b.unknown);
	assert_int_equal(esp_cpu_tiles_failed(tiles), 2);
}

static void test_none(void **state)
{
	struct esp_basis b = { 0 };
	uint64_t parts[CPUS];

	(void)state;
	esp_cpu_tiles_read(tiles, &b, 1);
	assert_false(b.unknown);
	divide(&b, 1000003, true, parts);
	/* Nothing to divide is no division by time. */
	divide(&b, 0, false, parts);
}

/* Sockets: one for each CPU tile, and one for all that is in none. */
static void test_sockets(void **state)
{
	(void)state;
	assert_int_equal(esp_cpu_tiles_nr(tiles), CPUS);
	assert_int_equal(context.nr_domains, CPUS + 1);
	for (uint32_t i = 0; i < CPUS; i++) {
		assert_int_equal(context.domains[i].id, i);
		assert_int_equal(cpulist_count(context.domains[i].cpus), 1);
		assert_true(cpulist_contains(context.domains[i].cpus, i));
	}
	assert_int_equal(cpulist_count(context.domains[CPUS].cpus), 0);
}

static void not_divided(const char *reason)
{
	struct esp_cpu_tiles *t;
	const char *why;

	assert_int_equal(esp_cpu_tiles_find(&context, &soc, &t, &why), 0);
	assert_null(t);
	assert_non_null(strstr(why, reason));
}

static void test_not_divided(void **state)
{
	(void)state;
	make_soc();
	context.nr_domains = 1;
	not_divided("other counters");
	make_soc();
	options.peaks.bytes_per_s[PEAK_CMEM] = 1;
	not_divided("a peak");
	options.peaks.bytes_per_s[PEAK_CMEM] = 0;
	put_possible("0-3\n");
	not_divided("not the CPUs of this machine");
	assert_int_equal(context.nr_domains, 0);
	soc.nr[ESP_TILE_CPU] = ESP_MAX_CPU_TILES + 1;
	not_divided("too many");
	soc.nr[ESP_TILE_CPU] = CPUS;
	soc.nr[ESP_TILE_MEM] = 12;
	not_divided("too many");
	soc.nr[ESP_TILE_CPU] = 1;
	not_divided("");
	make_soc();
	soc.caches = false;
	not_divided("");
}

#define WITH_TREE(test)	 cmocka_unit_test_setup_teardown(test, tree_setup, tree_teardown)
#define WITH_TILES(test) cmocka_unit_test_setup_teardown(test, tiles_setup, tiles_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		WITH_TREE(test_cpus),	  WITH_TREE(test_busy),	       WITH_TILES(test_exact),
		WITH_TILES(test_read),	  WITH_TILES(test_missing),    WITH_TILES(test_none),
		WITH_TILES(test_sockets), WITH_TREE(test_not_divided),
	};

	return cmocka_run_group_tests(tests, temp_make, temp_drop);
}
