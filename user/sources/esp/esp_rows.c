// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "sources/esp/esp_rows.h"

#include <stdio.h>

#include "base/array.h"

#define CACHES "memory tiles with caches"
#define ACCS   "accelerator tiles"

static const struct esp_counter_row counters[] = {
	{ "ddr_accesses", "accesses", 0, 1, "memory tiles" },
	{ "coh_reqs", "messages", 1, 1, CACHES },
	{ "coh_fwds", "messages", 2, 1, CACHES },
	{ "coh_rsps_rcv", "messages", 3, 1, CACHES },
	{ "coh_rsps_snd", "messages", 4, 1, CACHES },
	{ "dma_reqs", "messages", 5, 1, CACHES },
	{ "dma_rsps", "messages", 6, 1, CACHES },
	{ "coh_dma_reqs", "messages", 7, 1, CACHES },
	{ "coh_dma_rsps", "messages", 8, 1, CACHES },
	{ "l2_hits", "hits", 9, 1, "CPU tiles, and accelerator tiles with an L2" },
	{ "l2_misses", "misses", 10, 1, "CPU tiles, and accelerator tiles with an L2" },
	{ "llc_hits", "hits", 11, 1, CACHES },
	{ "llc_misses", "misses", 12, 1, CACHES },
	{ "acc_tlb", "cycles", 13, 1, "tiles of accelerators that were made with ESP" },
	{ "acc_mem_lo", "cycles", 14, 1, ACCS },
	{ "acc_mem_hi", "cycles", 15, 1, ACCS },
	{ "acc_tot_lo", "cycles", 16, 1, ACCS },
	{ "acc_tot_hi", "cycles", 17, 1, ACCS },
	{ "acc_invocations", "invocations", 18, 1, ACCS },
	{ "dvfs_op_%u", "cycles", 19, ESP_NR_POINTS, "CPU and accelerator tiles with DVFS" },
	{ "noc_inject_plane%u", "packets", 23, ESP_NR_PLANES, "all tiles" },
	{ "noc_queue_full_plane%u_%s", "cycles", 29, ESP_NR_PLANES *ESP_NR_QUEUES, "all tiles" },
};

const char *esp_tile_type_name(enum esp_tile_type type)
{
	static const char *const names[ESP_NR_TILE_TYPES] = {
		[ESP_TILE_EMPTY] = "empty", [ESP_TILE_CPU] = "cpu",   [ESP_TILE_MEM] = "mem",
		[ESP_TILE_ACC] = "acc",	    [ESP_TILE_MISC] = "misc", [ESP_TILE_SLM] = "slm",
	};

	return names[type];
}

const struct esp_counter_row *esp_counter_row(uint32_t i)
{
	size_t k = 0;

	while (i >= counters[k].first + counters[k].nr)
		k++;
	return &counters[k];
}

void esp_counter_name(uint32_t i, char ret[ESP_NAME_LEN])
{
	static const char *const queues[ESP_NR_QUEUES] = { "local", "east", "west", "south",
							   "north" };
	const struct esp_counter_row *row = esp_counter_row(i);
	uint32_t k = i - row->first;

	if (row->first == ESP_NOC_QUEUE_FULL)
		snprintf(ret, ESP_NAME_LEN, "noc_queue_full_plane%u_%s", k / ESP_NR_QUEUES,
			 queues[k % ESP_NR_QUEUES]);
	else if (row->first == ESP_NOC_INJECTS)
		snprintf(ret, ESP_NAME_LEN, "noc_inject_plane%u", k);
	else if (row->first == ESP_DVFS)
		snprintf(ret, ESP_NAME_LEN, "dvfs_op_%u", k);
	else
		snprintf(ret, ESP_NAME_LEN, "%s", row->name);
}

uint32_t esp_counter_pair(uint32_t i)
{
	return i == ESP_ACC_MEM_LO || i == ESP_ACC_TOT_LO ? i + 1 : 0;
}

#define DVFS	    "(dvfs_op_0 + dvfs_op_1 + dvfs_op_2 + dvfs_op_3)"
#define FULL(queue) "noc_queue_full_plane%u_" queue
#define BITS(i)	    ESP_BITS(i, 1)

const struct esp_metric_row esp_metric_rows[] = {
	{ "esp.mem.ddr_bandwidth", "accesses to DRAM", "GB/s",
	  "ddr_accesses * word_bytes / duration_ns", 1, BITS(ESP_DDR_ACCESSES) },
	{ "esp.mem.llc_hit_rate", "hits of the last-level cache", "percent",
	  "100 * llc_hits / (llc_hits + llc_misses)", 1, ESP_BITS(ESP_LLC_HITS, 2) },
	{ "esp.l2_hit_rate", "hits of the L2 cache", "percent",
	  "100 * l2_hits / (l2_hits + l2_misses)", 1, ESP_BITS(ESP_L2_HITS, 2) },
	{ "esp.acc.busy", "time in which the accelerator was busy", "percent",
	  "100 * acc_tot / (clock_hz * duration_s)", 1, ESP_BITS(ESP_ACC_TOT_LO, 2) },
	{ "esp.acc.memory_share", "part of its busy time in which it moved data", "percent",
	  "100 * acc_mem / acc_tot", 1, ESP_BITS(ESP_ACC_MEM_LO, 4) },
	{ "esp.acc.tlb_share", "part of its busy time in which it loaded its TLB", "percent",
	  "100 * acc_tlb / acc_tot", 1, BITS(ESP_ACC_TLB) | ESP_BITS(ESP_ACC_TOT_LO, 2) },
	{ "esp.acc.invocations", "invocations by second", "1/s", "acc_invocations / duration_s", 1,
	  BITS(ESP_ACC_INVOCATIONS) },
	{ "esp.acc.invocation_cycles", "cycles of an invocation", "cycles",
	  "acc_tot / acc_invocations", 1, ESP_BITS(ESP_ACC_TOT_LO, 3) },
	{ "esp.acc.invocation_memory_cycles", "cycles of an invocation that moved data", "cycles",
	  "acc_mem / acc_invocations", 1, ESP_BITS(ESP_ACC_MEM_LO, 5) },
	{ "esp.dvfs_op_%u", "time at operating point %u", "percent", "100 * dvfs_op_%u / " DVFS,
	  ESP_NR_POINTS, ESP_BITS(ESP_DVFS, ESP_NR_POINTS) },
	{ "esp.noc.plane%u_injection", "packets injected on plane %u", "packets/cycle",
	  "noc_inject_plane%u / (clock_hz * duration_s)", ESP_NR_PLANES,
	  ESP_BITS(ESP_NOC_INJECTS, ESP_NR_PLANES) },
	{ "esp.noc.plane%u_full", "back-pressure of plane %u: time a queue was full, mean of five",
	  "percent",
	  "100 * (" FULL("local") " + " FULL("east") " + " FULL("west") " + " FULL(
		  "south") " + " FULL("north") ") / (5 * clock_hz * duration_s)",
	  ESP_NR_PLANES, ESP_BITS(ESP_NOC_QUEUE_FULL, ESP_NR_PLANES *ESP_NR_QUEUES) },
};
const size_t nr_esp_metric_rows = ARRAY_SIZE(esp_metric_rows);
