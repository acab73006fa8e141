// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* A program that was written for ESP's own library, with the header that takes its place. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "temp_file.h"

#define MONITOR_WINDOW temp_path
#include "esp/monitors.h"

#define TILE_WORDS (MONITOR_TILE_SIZE / 4)

static uint32_t words[SOC_NTILES * TILE_WORDS];

static void put(void)
{
	FILE *f = fopen(temp_path, "r+");

	assert_non_null(f);
	assert_int_equal(fwrite(words, sizeof(words), 1, f), 1);
	fclose(f);
}

/* Counter i of tile t stands at 1000 (t + 1) + i. */
static void put_all(void)
{
	memset(words, 0, sizeof(words));
	for (uint32_t tile = 0; tile < SOC_NTILES; tile++)
		for (uint32_t i = 0; i < ESP_MON_COUNTERS; i++)
			words[tile * TILE_WORDS + 1 + i] = 1000 * (tile + 1) + i;
	put();
}

static uint32_t frozen(void)
{
	uint32_t nr = 0;

	for (int tile = 0; tile < SOC_NTILES; tile++)
		nr += *esp_mon_tile_(tile);
	return nr;
}

static void test_modes(void **state)
{
	esp_monitor_args_t args = { .read_mode = ESP_MON_READ_SINGLE };
	esp_monitor_vals_t *vals = esp_monitor_vals_alloc();
	unsigned int *word;

	(void)state;
	assert_int_equal(sizeof(*vals), 185 * sizeof(unsigned int));
	put_all();
	args.tile_index = 3;
	args.mon_index = 58;
	assert_int_equal(esp_monitor(args, NULL), 4058);
	args.mon_index = 59;
	assert_int_equal(esp_monitor(args, NULL), UINT32_MAX);
	args.read_mode = ESP_MON_READ_ALL;
	assert_int_equal(esp_monitor(args, vals), 0);
	assert_int_equal(vals->ddr_accesses[0], 1000);
	assert_int_equal(vals->mem_reqs[0].coh_dma_rsps, 1008);
	assert_int_equal(vals->l2_stats[1].hits, 2009);
	assert_int_equal(vals->l2_stats[2].misses, 3010);
	assert_int_equal(vals->l2_stats[0].hits, 0);
	assert_int_equal(vals->llc_stats[0].misses, 1012);
	assert_int_equal(vals->acc_stats[0].acc_tlb, 3013);
	assert_int_equal(vals->acc_stats[0].acc_invocations, 3018);
	assert_int_equal(vals->dvfs_op[1][3], 2022);
	assert_int_equal(vals->noc_injects[3][5], 4028);
	assert_int_equal(vals->noc_queue_full[0][1][0], 1034);
	assert_int_equal(vals->noc_queue_full[3][5][4], 4058);
	/* The third example of the guide */
	args.read_mode = ESP_MON_READ_MANY;
	args.read_mask = 1 << ESP_MON_READ_DDR_ACCESSES | 1 << ESP_MON_READ_L2_STATS |
			 1 << ESP_MON_READ_LLC_STATS | 1 << ESP_MON_READ_ACC_STATS |
			 1 << ESP_MON_READ_NOC_INJECTS | 1 << ESP_MON_READ_NOC_QUEUE_FULL_PLANE;
	assert_int_equal(args.read_mask, 0x15d);
	args.tile_index = 1;
	args.noc_index = 2;
	assert_int_equal(esp_monitor(args, vals), 0);
	assert_int_equal(vals->mem_reqs[0].coh_reqs, 0);
	for (int tile = 0; tile < SOC_NTILES; tile++)
		for (int i = 0; i < ESP_MON_COUNTERS; i++) {
			bool chosen = i == 0 || (i >= 9 && i < 19) ||
				      (i >= 23 && i < 29 && tile == 1) || (i >= 39 && i < 44);

			word = esp_mon_word_(vals, tile, i);
			if (word)
				assert_int_equal(*word, chosen ? 1000 * (tile + 1) + i : 0);
		}
	assert_int_equal(frozen(), 0);
	esp_monitor_free();
}

/* The structure of all values: what the guide says of two systems-on-chip */
static size_t words_of(size_t mems, size_t tiles, size_t accs)
{
	size_t bytes = mems * (sizeof(int) + sizeof(esp_mem_reqs_t) + sizeof(esp_cache_stats_t)) +
		       tiles * (sizeof(esp_cache_stats_t) + DVFS_OP_POINTS * sizeof(int) +
				NOC_PLANES * (1 + NOC_QUEUES) * sizeof(int)) +
		       accs * sizeof(esp_acc_stats_t);

	return bytes / sizeof(int);
}

static void test_words(void **state)
{
	(void)state;
	assert_int_equal(words_of(SOC_NMEM, SOC_NTILES, SOC_NACC), 185);
	assert_int_equal(sizeof(esp_monitor_vals_t), 185 * sizeof(unsigned int));
	assert_int_equal(words_of(2, 9, 3), 418);
}

#define BITS(first, nr) (((1ull << (nr)) - 1) << (first))

/* All combinations of sets: those of the four tiles, for tile 1, the accelerator, plane 5 */
static void test_sets(void **state)
{
	static const uint64_t rows[][SOC_NTILES] = {
		{ 1 },
		{ BITS(1, 8) },
		{ 0, 3 << 9, 3 << 9 },
		{ 3 << 11 },
		{ 0, 0, BITS(13, 6) },
		{ 0, BITS(19, 4) },
		{ 0, BITS(23, 6) },
		{ 0, BITS(29, 30) },
		{ BITS(54, 5), BITS(54, 5), BITS(54, 5), BITS(54, 5) },
	};
	esp_monitor_args_t args = { ESP_MON_READ_MANY, .tile_index = 1, .noc_index = 5 };
	esp_monitor_vals_t *vals = esp_monitor_vals_alloc();

	(void)state;
	put_all();
	for (unsigned int mask = 0; mask < 512; mask++) {
		args.read_mask = (uint16_t)mask;
		assert_int_equal(esp_monitor(args, vals), 0);
		for (int tile = 0; tile < SOC_NTILES; tile++) {
			uint64_t want = 0, got = 0;

			for (int set = 0; set < 9; set++)
				want |= mask >> set & 1 ? rows[set][tile] : 0;
			for (int i = 0; i < ESP_MON_COUNTERS; i++) {
				const unsigned int *word = esp_mon_word_(vals, tile, i);

				got |= word && *word ? 1ull << i : 0;
			}
			assert_int_equal(got, want);
		}
	}
	assert_int_equal(frozen(), 0);
	esp_monitor_free();
}

/* One counter is read as it is: its tile is neither frozen nor released. */
static void test_single(void **state)
{
	esp_monitor_args_t args = { ESP_MON_READ_SINGLE, .tile_index = 3, .mon_index = 58 };

	(void)state;
	put_all();
	words[3 * TILE_WORDS] = 1;
	put();
	assert_int_equal(esp_monitor(args, NULL), 4058);
	assert_int_equal(frozen(), 1);
	args.tile_index = 2;
	assert_int_equal(esp_monitor(args, NULL), 3058);
	assert_int_equal(frozen(), 1);
	esp_monitor_free();
}

static void test_bad_args(void **state)
{
	static const esp_monitor_args_t rows[] = {
		{ ESP_MON_READ_SINGLE, .tile_index = SOC_NTILES },
		{ ESP_MON_READ_SINGLE, .mon_index = 59 },
		{ ESP_MON_READ_MANY, .read_mask = 0x200 },
		{ ESP_MON_READ_MANY, 1 << ESP_MON_READ_DVFS_OP, .tile_index = SOC_NTILES },
		{ ESP_MON_READ_MANY, 1 << ESP_MON_READ_ACC_STATS, .acc_index = SOC_NACC },
		{ ESP_MON_READ_MANY, 1 << ESP_MON_READ_NOC_QUEUE_FULL_PLANE, .noc_index = 6 },
	};
	static esp_monitor_vals_t vals;

	(void)state;
	put_all();
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		errno = 0;
		assert_int_equal(esp_monitor(rows[i], &vals), UINT32_MAX);
		assert_int_equal(errno, EINVAL);
	}
	assert_int_equal(esp_monitor((esp_monitor_args_t){ ESP_MON_READ_ALL }, NULL), UINT32_MAX);
	esp_monitor_free();
}

static void test_diff(void **state)
{
	static const struct {
		uint32_t start, end, diff;
	} rows[] = {
		{ 0xa, 0x19, 15 },
		{ 0, 0, 0 },
		{ 0xffffffff, 0, 1 },
		{ 0xfffffff0, 0x10, 32 },
		{ 0x80000000, 0x7fffffff, 4294967295 },
		{ 5, 4, 4294967295 },
	};
	static esp_monitor_vals_t start, end, diff;

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		assert_int_equal(sub_monitor_vals(rows[i].start, rows[i].end), rows[i].diff);
		start.llc_stats[0].misses = rows[i].start;
		end.llc_stats[0].misses = rows[i].end;
		diff = esp_monitor_diff(start, end);
		assert_int_equal(diff.llc_stats[0].misses, rows[i].diff);
	}
	start.acc_stats[0].acc_mem_lo = start.acc_stats[0].acc_mem_hi = UINT32_MAX;
	start.acc_stats[0].acc_tot_lo = UINT32_MAX;
	start.acc_stats[0].acc_tot_hi = 1;
	end.acc_stats[0].acc_tot_lo = 1;
	end.acc_stats[0].acc_tot_hi = 2;
	diff = esp_monitor_diff(start, end);
	assert_int_equal(diff.acc_stats[0].acc_mem_lo, 1);
	assert_int_equal(diff.acc_stats[0].acc_mem_hi, 0);
	assert_int_equal(diff.acc_stats[0].acc_tot_lo, 2);
	assert_int_equal(diff.acc_stats[0].acc_tot_hi, 0);
}

static void test_print(void **state)
{
	esp_monitor_args_t args = { .read_mode = ESP_MON_READ_MANY,
				    .read_mask = 1 << ESP_MON_READ_ACC_STATS };
	static esp_monitor_vals_t vals;
	char text[1024] = "";
	FILE *f = fmemopen(text, sizeof(text), "w");

	(void)state;
	assert_non_null(f);
	vals.ddr_accesses[0] = 77;
	vals.acc_stats[0].acc_tot_lo = 5;
	vals.acc_stats[0].acc_tot_hi = 1;
	vals.acc_stats[0].acc_invocations = 3000000000;
	esp_monitor_print(args, vals, f);
	fclose(f);
	assert_string_equal(text, "tile 2: TLB cycles: 0\n"
				  "tile 2: memory cycles: 0\n"
				  "tile 2: total cycles: 4294967301\n"
				  "tile 2: invocations: 3000000000\n");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_modes),	 cmocka_unit_test(test_words),
		cmocka_unit_test(test_sets),	 cmocka_unit_test(test_single),
		cmocka_unit_test(test_bad_args), cmocka_unit_test(test_diff),
		cmocka_unit_test(test_print),
	};

	return cmocka_run_group_tests(tests, temp_make, temp_drop);
}
