// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* The monitors of an ESP: descriptions, sets, differences, and registers that a test plays. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "sources/esp/dma.h"
#include "sources/esp/layout.h"
#include "sources/esp/registers.h"
#include "temp_file.h"
#include "trace.h"
#include "tree.h"

#define TILES	 8
#define TILE_LEN (ESP_TILE_SIZE / sizeof(uint32_t))

/* Two CPUs, a memory tile, three accelerators, one with an L2 and two with DVFS. */
#define HEAD                          \
	"CPU_ARCH = ariane\n"         \
	"NCPU_TILE = 2\n"             \
	"CONFIG_HAS_SG = y\n"         \
	"CONFIG_NOC_ROWS = 2\n"       \
	"CONFIG_NOC_COLS = 4\n"       \
	"CONFIG_DMA_NOC_WIDTH = 64\n" \
	"CONFIG_CACHE_EN = y\n"       \
	"#CONFIG_MON_DDR is not set\n"
#define ROW0                           \
	"TILE_0_0 = 0 mem mem\n"       \
	"TILE_0_1 = 1 cpu cpu 0 0 0\n" \
	"TILE_0_2 = 2 cpu cpu\n"       \
	"TILE_0_3 = 3 misc IO\n"
#define ROW1                                                 \
	"TILE_1_0 = 4 acc FFT_STRATUS basic_dma64 0 1 sld\n" \
	"TILE_1_1 = 5 acc FFT_STRATUS basic_dma64 1 0 \n"    \
	"TILE_1_2 = 6 acc NV_NVDLA  0 1 nvidia\n"            \
	"TILE_1_3 = 7 empty empty\n"
#define CLOCK "T410TRACE_CLOCK_MHZ = 100\n"
#define GOOD  HEAD ROW0 ROW1 CLOCK

static struct esp_soc soc;

static int read_soc(const char *text, struct diag *d)
{
	*d = (struct diag){ 0 };
	temp_put(text);
	return esp_soc_read(temp_path, d, &soc);
}

static void good_soc(const char *more)
{
	char text[4096];
	struct diag d;

	snprintf(text, sizeof(text), GOOD "%s", more);
	assert_int_equal(read_soc(text, &d), 0);
}

/* --- description */

static void test_soc(void **state)
{
	static const uint64_t noc = ESP_BITS(23, 36);
	char label[64];

	(void)state;
	good_soc("");
	assert_int_equal(esp_nr_tiles(&soc), TILES);
	assert_int_equal(soc.nr[ESP_TILE_CPU], 2);
	assert_int_equal(soc.nr[ESP_TILE_ACC], 3);
	assert_int_equal(soc.word_bytes, 8);
	assert_int_equal(soc.dma_word_bytes, 8);
	assert_int_equal(soc.base, 0x60090000);
	assert_string_equal(soc.window, "/dev/mem");
	assert_string_equal(soc.tiles[4].device, "/dev/fft_stratus.0");
	assert_string_equal(soc.tiles[5].device, "/dev/fft_stratus.1");
	assert_string_equal(soc.tiles[6].device, "/dev/nv_nvdla.0");
	assert_false(soc.tiles[4].has_l2);
	assert_true(soc.tiles[4].has_dvfs);
	assert_true(soc.tiles[5].has_l2);
	assert_false(soc.tiles[5].has_dvfs);
	esp_tile_label(&soc, 6, label, sizeof(label));
	assert_string_equal(label, "acc2 (nv_nvdla)");
	assert_int_equal(esp_tile_at(&soc, ESP_TILE_ACC, 2), 6);
	assert_int_equal(esp_tile_at(&soc, ESP_TILE_ACC, 3), UINT32_MAX);
	assert_int_equal(esp_tile_counters(&soc, 0), noc | ESP_BITS(0, 9) | ESP_BITS(11, 2));
	assert_int_equal(esp_tile_counters(&soc, 1), noc | ESP_BITS(9, 2) | ESP_BITS(19, 4));
	assert_int_equal(esp_tile_counters(&soc, 4), noc | ESP_BITS(13, 10));
	assert_int_equal(esp_tile_counters(&soc, 5), noc | ESP_BITS(9, 2) | ESP_BITS(13, 6));
	assert_int_equal(esp_tile_counters(&soc, 7), noc);
	assert_int_equal(esp_safe_ns(&soc) / 100000000, 429); /* 42.9 s at 100 MHz */
}

static void test_own_lines(void **state)
{
	struct diag d;

	(void)state;
	good_soc("T410TRACE_WINDOW = /some/file\nT410TRACE_DEVICE_1 = /dev/null\n"
		 "T410TRACE_COUNTERS = 58\nT410TRACE_WORD_BYTES = 16\n");
	assert_string_equal(soc.window, "/some/file");
	assert_int_equal(soc.base, 0); /* no physical memory */
	assert_string_equal(soc.tiles[5].device, "/dev/null");
	assert_int_equal(soc.nr_registers, 58);
	assert_int_equal(soc.word_bytes, 16);
	assert_false(esp_tile_counters(&soc, 4) & ESP_BITS(ESP_ACC_INVOCATIONS, 1));
	good_soc("T410TRACE_WINDOW = /some/file\nT410TRACE_BASE = 0x200\n");
	assert_int_equal(soc.base, 0x200);
	/* Also above the CPU, which says what they are without such lines */
	assert_int_equal(read_soc("T410TRACE_WORD_BYTES = 16\nT410TRACE_BASE = 0x300\n" GOOD, &d),
			 0);
	assert_int_equal(soc.word_bytes, 16);
	assert_int_equal(soc.base, 0x300);
}

static void test_bad_soc(void **state)
{
	static const struct {
		const char *text;
		const char *what;
	} rows[] = {
		{ "", "no CPU_ARCH" },
		{ "CPU_ARCH = z80\n", ":1: CPU_ARCH is ariane" },
		{ "rubbish\n", ":1: a line is" },
		{ "CPU_ARCH = ariane\nCONFIG_NOC_ROWS = 99\n", ":2: CONFIG_NOC_ROWS must be" },
		{ "TILE_0_0 = 0 mem mem\n", "must come before the tiles" },
		{ HEAD ROW0 CLOCK, "TILE_1_0 is missing" },
		{ HEAD ROW0 ROW0, "TILE_0_0 is there twice" },
		{ HEAD "TILE_2_0 = 8 mem mem\n", "TILE_2_0 is not in the grid of 2 rows" },
		{ HEAD "TILE_0_0 = 3 mem mem\n", "TILE_0_0 is tile number 0" },
		{ HEAD "TILE_0_0 = 0 gpu gpu\n", "unknown tile type \"gpu\"" },
		{ HEAD "TILE_0_0 = 0 acc FFT basic\n", "an accelerator tile is" },
		{ HEAD "NCPU_TILE = 1\n" ROW0 ROW1, "NCPU_TILE is 1, and 2 tiles are CPUs" },
		{ GOOD "T410TRACE_CLOCK = 5\n", "unknown key \"T410TRACE_CLOCK\"" },
		{ GOOD "T410TRACE_CLOCK_MHZ = fast\n", "must be a number" },
		{ GOOD "T410TRACE_COUNTERS = 57\n", "from 58 to 59" },
		{ GOOD "T410TRACE_DEVICE_3 = /dev/x\n", "there are 3 accelerators" },
		{ GOOD "T410TRACE_DEVICE_0 = x\n", "path of a device node" },
	};
	struct diag d;

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		assert_int_equal(read_soc(rows[i].text, &d), -EINVAL);
		if (!strstr(d.what, rows[i].what))
			fail_msg("row %zu: \"%s\" and not \"%s\"", i, d.what, rows[i].what);
	}
	assert_int_equal(esp_soc_read("/nonexistent/esp", &d, &soc), -ENOENT);
	assert_non_null(strstr(d.help, ".esp_config"));
}

/* --- device tree */

static void make_tree(struct tree *t)
{
	static const char *const nodes[] = { "cpus/cpu@0/", "cpus/cpu@1/",
					     "soc/fft_stratus@60010000/",
					     "soc/fft_stratus@60010100/",
					     "soc/nv_nvdla@60400000/" };
	char path[PATH_MAX];

	tree_make(t);
	for (size_t i = 0; i < ARRAY_SIZE(nodes); i++)
		tree_path(t, nodes[i], path);
	tree_write(t, "compatible", "eth,ariane-bare-dev", 20);
	tree_write(t, "cpus/cpu@0/clock-frequency", "\x04\xa6\x2f\x80", 4); /* 78 MHz */
}

static void test_tree(void **state)
{
	struct diag d;
	struct tree t;

	(void)state;
	make_tree(&t);
	assert_int_equal(read_soc(HEAD ROW0 ROW1, &d), 0);
	assert_int_equal(esp_tree_check(&soc, t.root, &d), 0);
	assert_int_equal(soc.clock_hz, 78000000);
	good_soc(""); /* the description comes first */
	assert_int_equal(esp_tree_check(&soc, t.root, &d), 0);
	assert_int_equal(soc.clock_hz, 100000000);
	/* Another system-on-chip */
	soc.nr[ESP_TILE_CPU] = 4;
	assert_int_equal(esp_tree_check(&soc, t.root, &d), -ENODEV);
	assert_non_null(strstr(d.what, "2 CPU tiles, and its description 4"));
	soc.nr[ESP_TILE_CPU] = 2;
	tree_drop(&t, "soc/fft_stratus@60010100");
	assert_int_equal(esp_tree_check(&soc, t.root, &d), -ENODEV);
	assert_non_null(strstr(d.what, "1 accelerator fft_stratus, and its description 2"));
	/* Memory of a machine that is no ESP must not be written to. */
	tree_write(&t, "compatible", "qemu,virt", 10);
	assert_int_equal(esp_tree_check(&soc, t.root, &d), -ENODEV);
	assert_non_null(strstr(d.what, "not an ESP"));
	tree_remove(&t);
	assert_int_equal(esp_tree_check(&soc, t.root, &d), -ENODEV);
	good_soc("T410TRACE_WINDOW = /some/file\n");
	assert_int_equal(esp_tree_check(&soc, t.root, &d), 0);
	soc.clock_hz = 0;
	assert_int_equal(esp_tree_check(&soc, t.root, &d), -EINVAL);
	assert_non_null(strstr(d.help, "T410TRACE_CLOCK_MHZ"));
}

/* --- vectors of the guide */

static void test_names(void **state)
{
	static const char *const names[] = {
		"ddr_accesses", "coh_reqs",   "coh_fwds",     "coh_rsps_rcv",	 "coh_rsps_snd",
		"dma_reqs",	"dma_rsps",   "coh_dma_reqs", "coh_dma_rsps",	 "l2_hits",
		"l2_misses",	"llc_hits",   "llc_misses",   "acc_tlb",	 "acc_mem_lo",
		"acc_mem_hi",	"acc_tot_lo", "acc_tot_hi",   "acc_invocations", "dvfs_op_0",
		"dvfs_op_1",	"dvfs_op_2",  "dvfs_op_3",
	};
	static const char *const queues[] = { "local", "east", "west", "south", "north" };
	char name[ESP_NAME_LEN], want[ESP_NAME_LEN];

	(void)state;
	for (uint32_t i = 0; i < ESP_NR_COUNTERS; i++) {
		if (i < 23)
			snprintf(want, sizeof(want), "%s", names[i]);
		else if (i < 29)
			snprintf(want, sizeof(want), "noc_inject_plane%u", i - 23);
		else
			snprintf(want, sizeof(want), "noc_queue_full_plane%u_%s", (i - 29) / 5,
				 queues[(i - 29) % 5]);
		esp_counter_name(i, name);
		assert_string_equal(name, want);
	}
}

static void test_differences(void **state)
{
	static const struct {
		int bits;
		uint64_t start, end, diff;
	} rows[] = {
		{ 32, 0xa, 0x19, 15 },
		{ 32, 0, 0, 0 },
		{ 32, 0xffffffff, 0, 1 },
		{ 32, 0xfffffff0, 0x10, 32 },
		{ 32, 0x80000000, 0x7fffffff, 4294967295 },
		{ 32, 5, 4, 4294967295 },
		{ 64, 0xffffffffffffffff, 0, 1 },
		{ 64, 0x1ffffffff, 0x200000001, 2 },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		uint32_t at = rows[i].bits == 64 ? ESP_ACC_TOT_LO : ESP_L2_HITS;
		struct esp_counts start = { 0 }, end = { 0 };

		start.counts[at] = (uint32_t)rows[i].start;
		end.counts[at] = (uint32_t)rows[i].end;
		if (rows[i].bits == 64) {
			start.counts[at + 1] = rows[i].start >> 32;
			end.counts[at + 1] = rows[i].end >> 32;
		}
		assert_int_equal(esp_difference(&start, &end, at), rows[i].diff);
	}
}

/* --- registers */

/*
 * The hardware: counters go on by one at each access, all by the same; a frozen tile shows what
 * they were when it was frozen.
 */
static struct {
	bool played;
	bool dead; /* all ones */
	bool cannot_freeze;
	bool stays_frozen;
	uint32_t ticks;
	uint32_t frozen_at[TILES];
} hardware;
static const volatile uint32_t *base; /* where the window is mapped, from the first access on */

uint32_t __real_esp_register_get(const volatile uint32_t *at);
uint32_t __wrap_esp_register_get(const volatile uint32_t *at);
void __real_esp_register_put(volatile uint32_t *at, uint32_t value);
void __wrap_esp_register_put(volatile uint32_t *at, uint32_t value);

uint32_t __wrap_esp_register_get(const volatile uint32_t *at)
{
	size_t place;

	if (!hardware.played)
		return __real_esp_register_get(at);
	if (hardware.dead)
		return UINT32_MAX;
	/* Opening reads the first control word first. */
	if (!base)
		base = at;
	place = at - base;
	hardware.ticks++;
	if (place % TILE_LEN == 0)
		return __real_esp_register_get(at);
	/* Counter i stands at i thousand and the time, which went around long ago. */
	return (uint32_t)(place % TILE_LEN - 1) * 1000 +
	       (__real_esp_register_get(base + place / TILE_LEN * TILE_LEN) & 1
			? hardware.frozen_at[place / TILE_LEN]
			: hardware.ticks);
}

void __wrap_esp_register_put(volatile uint32_t *at, uint32_t value)
{
	if (hardware.played && !hardware.dead) {
		if (value && hardware.cannot_freeze)
			return;
		if (!value && hardware.stays_frozen)
			return;
		hardware.frozen_at[(at - base) / TILE_LEN] = hardware.ticks;
	}
	__real_esp_register_put(at, value);
}

static char window_path[] = "/tmp/t410trace-window-XXXXXX";

static void window_make(size_t size)
{
	int fd;

	strcpy(window_path + strlen(window_path) - 6, "XXXXXX");
	fd = mkstemp(window_path);
	assert_true(fd >= 0);
	assert_int_equal(ftruncate(fd, size), 0);
	close(fd);
	good_soc("");
	snprintf(soc.window, sizeof(soc.window), "%s", window_path);
	soc.base = 0;
	memset(&hardware, 0, sizeof(hardware));
	base = NULL;
}

static uint32_t window_word(uint32_t tile, uint32_t word)
{
	FILE *f = fopen(window_path, "r");
	uint32_t value;

	assert_non_null(f);
	assert_int_equal(fseek(f, (long)(tile * ESP_TILE_SIZE + word * 4), SEEK_SET), 0);
	assert_int_equal(fread(&value, sizeof(value), 1, f), 1);
	fclose(f);
	return value;
}

static void window_put(uint32_t tile, uint32_t word, uint32_t value)
{
	FILE *f = fopen(window_path, "r+");

	assert_non_null(f);
	assert_int_equal(fseek(f, (long)(tile * ESP_TILE_SIZE + word * 4), SEEK_SET), 0);
	assert_int_equal(fwrite(&value, sizeof(value), 1, f), 1);
	fclose(f);
}

/* A tile's counters are of one time, that of another tile is later. */
static void test_frozen(void **state)
{
	struct esp_counts counts[TILES];
	struct esp_window *w;
	struct diag d;

	(void)state;
	window_make(TILES * ESP_TILE_SIZE);
	hardware.played = true;
	assert_int_equal(esp_window_open(&soc, &d, &w), 0);
	for (uint32_t tile = 0; tile < TILES; tile++) {
		uint64_t set = esp_tile_counters(&soc, tile);

		assert_int_equal(esp_window_read(w, tile, set, &d, &counts[tile]), 0);
		assert_int_equal(counts[tile].set, set);
		for (uint32_t i = 0; i < ESP_NR_COUNTERS; i++) {
			uint32_t want = counts[tile].set & ESP_BITS(i, 1) ? i * 1000 : 0;

			/* the time of the tile, the same in all */
			if (counts[tile].set & ESP_BITS(i, 1))
				want += counts[tile].counts[58] - 58000;
			assert_int_equal(counts[tile].counts[i], want);
		}
		if (tile) {
			assert_true(counts[tile].counts[58] > counts[tile - 1].counts[58]);
			assert_true(counts[tile].time_ns >= counts[tile - 1].time_ns);
		}
		assert_int_equal(window_word(tile, 0), 0);
	}
	esp_window_close(w);
	unlink(window_path);
}

static void test_older(void **state)
{
	struct esp_counts counts;
	struct esp_window *w;
	struct diag d;

	(void)state;
	window_make(TILES * ESP_TILE_SIZE);
	soc.nr_registers = 58;
	for (uint32_t i = 0; i < 58; i++)
		window_put(4, 1 + i, 100 + i);
	assert_int_equal(esp_window_open(&soc, &d, &w), 0);
	assert_int_equal(esp_window_read(w, 4, ESP_ALL_BITS, &d, &counts), 0);
	assert_int_equal(counts.counts[ESP_ACC_TOT_HI], 117);
	assert_false(counts.set & ESP_BITS(ESP_ACC_INVOCATIONS, 1));
	assert_int_equal(counts.counts[ESP_DVFS], 118);
	assert_int_equal(counts.counts[58], 157);
	esp_window_close(w);
	unlink(window_path);
}

/* What a killed reader left is released by the next one; two at a time are refused. */
static void test_left_frozen(void **state)
{
	struct esp_window *w, *second;
	struct diag d;

	(void)state;
	window_make(TILES * ESP_TILE_SIZE);
	window_put(2, 0, 1);
	window_put(5, 0, 1);
	assert_int_equal(esp_window_open(&soc, &d, &w), 0);
	assert_int_equal(esp_window_found_frozen(w), 2);
	for (uint32_t tile = 0; tile < TILES; tile++)
		assert_int_equal(window_word(tile, 0), 0);
	assert_int_equal(esp_window_open(&soc, &d, &second), -EBUSY);
	assert_non_null(strstr(d.help, "end the other"));
	esp_window_close(w);
	unlink(window_path);
}

static void test_broken(void **state)
{
	struct esp_window *w = NULL;
	struct esp_counts counts;
	struct diag d;

	(void)state;
	window_make(TILES * ESP_TILE_SIZE);
	hardware.played = hardware.dead = true;
	assert_int_equal(esp_window_open(&soc, &d, &w), -ENXIO);
	assert_non_null(strstr(d.what, "all ones"));
	hardware.dead = false;
	assert_int_equal(esp_window_open(&soc, &d, &w), 0);
	hardware.dead = true;
	assert_int_equal(esp_window_read(w, 1, ESP_ALL_BITS, &d, &counts), -ENXIO);
	hardware.dead = false;
	hardware.cannot_freeze = true;
	assert_int_equal(esp_window_read(w, 1, ESP_ALL_BITS, &d, &counts), -EIO);
	assert_non_null(strstr(d.what, "tile 1, cpu0: its monitors cannot be frozen"));
	hardware.cannot_freeze = false;
	hardware.stays_frozen = true;
	assert_int_equal(esp_window_read(w, 1, ESP_ALL_BITS, &d, &counts), -EIO);
	assert_non_null(strstr(d.what, "stay frozen"));
	hardware.stays_frozen = false;
	esp_window_close(w);
	for (uint32_t tile = 0; tile < TILES; tile++)
		assert_int_equal(window_word(tile, 0), 0);
	unlink(window_path);
}

static void test_wrong_window(void **state)
{
	struct esp_window *w;
	struct diag d;

	(void)state;
	window_make(TILES * ESP_TILE_SIZE - 1);
	assert_int_equal(esp_window_open(&soc, &d, &w), -EINVAL);
	assert_non_null(strstr(d.help, "another system-on-chip"));
	unlink(window_path);
	assert_int_equal(esp_window_open(&soc, &d, &w), -ENOENT);
	assert_non_null(strstr(d.help, "T410TRACE_WINDOW"));
	soc.base = 2;
	window_make(TILES * ESP_TILE_SIZE + 2);
	soc.base = 2;
	assert_int_equal(esp_window_open(&soc, &d, &w), -EINVAL);
	unlink(window_path);
}

/* --- between two readings */

static void test_reader(void **state)
{
	struct esp_reader r;
	struct esp_delta delta;
	struct diag d;

	(void)state;
	window_make(TILES * ESP_TILE_SIZE);
	window_put(4, 1 + ESP_ACC_MEM_LO, 0xfffffff0);
	window_put(4, 1 + ESP_ACC_MEM_HI, 7);
	window_put(4, 1 + ESP_ACC_TLB, 0xffffffff);
	assert_int_equal(esp_reader_open(&soc, &d, &r), 0);
	assert_in_range(esp_reader_pause_ns(&r), 10000000000, 11000000000);
	window_put(4, 1 + ESP_ACC_MEM_LO, 0x10);
	window_put(4, 1 + ESP_ACC_MEM_HI, 9);
	window_put(4, 1 + ESP_ACC_TLB, 4);
	assert_int_equal(esp_reader_tile(&r, 4, &d, &delta), 0);
	assert_false(delta.late);
	assert_true(delta.end_ns > delta.start_ns);
	assert_int_equal(delta.counts[ESP_ACC_MEM_LO], 0x100000020);
	assert_int_equal(delta.counts[ESP_ACC_TLB], 5);
	assert_false(delta.set & ESP_BITS(ESP_ACC_MEM_HI, 1));
	/* Too late: a counter may have gone around twice. There is no number. */
	window_put(4, 1 + ESP_ACC_TLB, 100);
	r.last[4].time_ns -= esp_safe_ns(&soc);
	assert_int_equal(esp_reader_tile(&r, 4, &d, &delta), 0);
	assert_true(delta.late);
	assert_int_equal(delta.counts[ESP_ACC_TLB], 0);
	window_put(4, 1 + ESP_ACC_TLB, 103);
	assert_int_equal(esp_reader_tile(&r, 4, &d, &delta), 0);
	assert_int_equal(delta.counts[ESP_ACC_TLB], 3);
	esp_reader_close(&r);
	unlink(window_path);
}

static void test_dma(void **state)
{
	/* accesses; DMA in, out; coherent DMA in, out; coherence: to CPUs, from CPUs */
	static const struct {
		bool caches;
		uint32_t counts[9];
		uint64_t cpu_read, cpu_write, dma_read, dma_write;
	} rows[] = {
#define ROW(caches, all, in, out, coh_in, coh_out, to, from, ...) \
	{ caches, { all, 0, 0, from, to, in, out, coh_in, coh_out }, __VA_ARGS__ }
		ROW(true, 1000, 0, 0, 0, 0, 300, 100, 750, 250, 0, 0),
		ROW(true, 1000, 0, 0, 0, 0, 0, 0, 1000, 0, 0, 0),
		ROW(true, 1000, 100, 300, 0, 0, 0, 77, 0, 600, 300, 100),
		ROW(true, 1000, 0, 0, 10, 40, 40, 10, 400, 100, 400, 100),
		ROW(true, 1000, 100, 300, 10, 40, 25, 25, 150, 150, 300 + 240, 100 + 60),
		ROW(true, 100, 3000, 1000, 1, 1, 1, 0, 0, 0, 25, 75),
		ROW(true, 7, 1, 1, 1, 1, 1, 0, 2, 0, 1 + 1, 1 + 2),
		ROW(false, 1000, 100, 300, 10, 40, 0, 0, 600, 0, 300, 100),
		ROW(true, UINT32_MAX, 0, 0, UINT32_MAX, UINT32_MAX, 0, 0, 0, 0, UINT32_MAX / 2,
		    UINT32_MAX / 2 + 1),
	};
	static const uint64_t none[3], busy[3] = { 1000000, 0, 2000000 };
	uint64_t parts[3];

	(void)state;
	good_soc("");
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct esp_delta delta = { 0 };
		struct esp_traffic t;

		for (int k = 0; k < 9; k++)
			delta.counts[k] = rows[i].counts[k];
		soc.caches = rows[i].caches;
		t = esp_dma_part(&soc, &delta);
		assert_int_equal(t.cpu_read + t.cpu_write + t.dma_read + t.dma_write,
				 rows[i].counts[0]);
		assert_int_equal(t.cpu_read, rows[i].cpu_read);
		assert_int_equal(t.cpu_write, rows[i].cpu_write);
		assert_int_equal(t.dma_read, rows[i].dma_read);
		assert_int_equal(t.dma_write, rows[i].dma_write);
	}
	assert_false(esp_dma_divide(1000, none, 3, parts));
	assert_int_equal(parts[0] + parts[1] + parts[2], 0);
	assert_true(esp_dma_divide(1000, busy, 3, parts));
	assert_int_equal(parts[0], 333);
	assert_int_equal(parts[1], 0);
	assert_int_equal(parts[2], 667);
	/* A flit of DMA has two words of this bus. */
	soc.word_bytes = 4;
	assert_int_equal(
		esp_dma_part(&soc, &(struct esp_delta){ .counts = { [0] = 1000, [6] = 100 } })
			.dma_read,
		200);
}

static void test_layout(void **state)
{
	struct text_list none = { 0 }, events = { 0 }, metrics = { 0 };
	struct reading readings[ESP_NR_COUNTERS];
	uint32_t counters[ESP_NR_COUNTERS];
	struct esp_delta delta = { .start_ns = 5, .end_ns = 15 };
	struct stat_segment s;
	struct esp_layout l;
	size_t nr = 0;
	struct diag d;

	(void)state;
	good_soc("");
	assert_int_equal(esp_layout_make(&soc, &none, &none, &d, &l), 0);
	assert_int_equal(l.stat.nr_pmus, TILES + 6); /* routers, and six that hold something */
	assert_string_equal(l.stat.counters[0].name, "mem0/ddr_accesses");
	assert_string_equal(l.stat.metrics[0].name, "esp.mem.ddr_bandwidth");
	for (uint32_t i = 0; i < ESP_NR_COUNTERS; i++)
		delta.counts[i] = 7 * i;
	assert_int_equal(l.pmus[5] - l.pmus[4], 2);
	for (uint32_t pmu = l.pmus[4]; pmu < l.pmus[5]; pmu++) {
		s = esp_layout_segment(&l, pmu, &delta, counters, readings);
		assert_int_equal(s.pmu, pmu);
		nr += s.nr;
		for (size_t i = 0; i < s.nr; i++) {
			assert_int_equal(l.stat.counters[counters[i]].pmu, pmu);
			assert_int_equal(readings[i].value, 7 * l.index[counters[i]]);
			assert_int_equal(readings[i].running_ns, 10);
		}
	}
	assert_int_equal(nr, 46 - 2); /* two pairs */
	delta.late = true;
	s = esp_layout_segment(&l, l.pmus[4], &delta, counters, readings);
	assert_int_equal(readings[0].running_ns, 0);
	assert_int_equal(readings[0].enabled_ns, 10);
	esp_layout_free(&l);
	assert_int_equal(text_list_add(&events, "noc_inject_plan"), 0);
	assert_int_equal(esp_layout_make(&soc, &none, &events, &d, &l), -ENOENT);
	assert_non_null(strstr(d.help, "noc_inject_plane"));
	esp_layout_free(&l);
	assert_int_equal(text_list_add(&metrics, "l2_hit_rate"), 0);
	assert_int_equal(esp_layout_make(&soc, &metrics, &none, &d, &l), 0);
	assert_int_equal(l.stat.nr_metrics, 3);
	esp_layout_free(&l);
	text_list_free(&events);
	text_list_free(&metrics);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_soc),	     cmocka_unit_test(test_own_lines),
		cmocka_unit_test(test_bad_soc),	     cmocka_unit_test(test_tree),
		cmocka_unit_test(test_names),	     cmocka_unit_test(test_differences),
		cmocka_unit_test(test_frozen),	     cmocka_unit_test(test_older),
		cmocka_unit_test(test_left_frozen),  cmocka_unit_test(test_broken),
		cmocka_unit_test(test_wrong_window), cmocka_unit_test(test_reader),
		cmocka_unit_test(test_layout),	     cmocka_unit_test(test_dma),
	};

	return cmocka_run_group_tests(tests, temp_make, temp_drop);
}
