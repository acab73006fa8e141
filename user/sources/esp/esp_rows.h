/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Monitors of ESP systems-on-chip (Columbia University): 59 counters of 32 bits in each tile, and
 * the metrics computed from them. Source: the ESP monitors guide; where it is silent, the public
 * ESP sources (rtl/sockets/csr/esp_tile_csr.vhd, rtl/tiles/tile_mem.vhd).
 */
#ifndef SOURCES_ESP_ESP_ROWS_H
#define SOURCES_ESP_ESP_ROWS_H

#include <stddef.h>
#include <stdint.h>

#define ESP_NR_COUNTERS 59
#define ESP_NR_PLANES	6
#define ESP_NR_QUEUES	5
#define ESP_NR_POINTS	4
#define ESP_NAME_LEN	32

/* Index of a counter; groups have the first one. */
enum esp_counter {
	ESP_DDR_ACCESSES = 0,
	ESP_MEM_REQS = 1, /* 8: coherence and DMA */
	ESP_COH_REQS = 1,
	ESP_COH_FWDS = 2,
	ESP_COH_RSPS_RCV = 3,
	ESP_COH_RSPS_SND = 4,
	ESP_DMA_REQS = 5,
	ESP_DMA_RSPS = 6,
	ESP_COH_DMA_REQS = 7,
	ESP_COH_DMA_RSPS = 8,
	ESP_L2_HITS = 9,
	ESP_L2_MISSES = 10,
	ESP_LLC_HITS = 11,
	ESP_LLC_MISSES = 12,
	ESP_ACC_TLB = 13,
	ESP_ACC_MEM_LO = 14,
	ESP_ACC_MEM_HI = 15,
	ESP_ACC_TOT_LO = 16,
	ESP_ACC_TOT_HI = 17,
	ESP_ACC_INVOCATIONS = 18,
	ESP_DVFS = 19,		 /* 4 operating points */
	ESP_NOC_INJECTS = 23,	 /* 6 planes */
	ESP_NOC_QUEUE_FULL = 29, /* 6 planes, each 5 queues */
};

/* Counters as a set: bit i is the counter with index i. */
#define ESP_BITS(first, nr) (((1ull << (nr)) - 1) << (first))
#define ESP_ALL_BITS	    ESP_BITS(0, ESP_NR_COUNTERS)

/* Type of a tile. */
enum esp_tile_type {
	ESP_TILE_EMPTY,
	ESP_TILE_CPU,
	ESP_TILE_MEM,
	ESP_TILE_ACC,
	ESP_TILE_MISC,
	ESP_TILE_SLM,
	ESP_NR_TILE_TYPES,
};

/** esp_tile_type_name() - as ESP's tools write it: "cpu", "mem", "acc", "misc", "slm", "empty" */
const char *esp_tile_type_name(enum esp_tile_type type);

/**
 * struct esp_counter_row - a counter, or several that differ by a number
 * @name: with "%u" for the plane or point, and "%s" for the queue
 * @unit: its unit
 * @first, @nr: indexes
 * @valid: tiles where it makes sense, for people
 */
struct esp_counter_row {
	const char *name;
	const char *unit;
	uint32_t first;
	uint32_t nr;
	const char *valid;
};

/** esp_counter_row() - the row of a counter; @i is below ESP_NR_COUNTERS */
const struct esp_counter_row *esp_counter_row(uint32_t i);

/** esp_counter_name() - "ddr_accesses", "noc_queue_full_plane0_local" */
void esp_counter_name(uint32_t i, char ret[ESP_NAME_LEN]);

/**
 * esp_counter_pair() - the counter of a high word that belongs to a low one
 *
 * Return: its index, 0 when @i is no low word.
 */
uint32_t esp_counter_pair(uint32_t i);

/**
 * struct esp_metric_row - a metric of one tile
 * @id: "esp.mem.ddr_bandwidth"; with "%u" one for each plane or point
 * @title: in words; the same
 * @unit: as in struct metric_row
 * @formula: see formula.h. Names are counters (pairs by the name without "_lo"), "duration_ns",
 *	"duration_s", "clock_hz" and "word_bytes"; with "%u" the plane or point
 * @nr: number of planes or points, 1 for none
 * @needs: all these counters must be valid in the tile
 */
struct esp_metric_row {
	const char *id;
	const char *title;
	const char *unit;
	const char *formula;
	uint32_t nr;
	uint64_t needs;
};

extern const struct esp_metric_row esp_metric_rows[];
extern const size_t nr_esp_metric_rows;

#endif
