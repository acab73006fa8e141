/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Monitors of an ESP system-on-chip for your own Linux programs, with the names of ESP's library:
 * programs written for that library compile with this header instead, and need no library. As
 * there, "soc_defs.h" and "soc_locs.h" of the bitstream must be in the include path; ESP's tools
 * write them.
 *
 * Differences from ESP's library:
 * - differences wrap as counters do; there they are one too low when a counter wrapped
 * - llc_stats are filled in; there they are in l2_stats of the memory tile
 * - one tile after the other is frozen, read and released, and not all for the whole time
 * - accelerators are printed if their set was read, and not with the set of the last-level cache
 * - registers that cannot be mapped are an error with errno, and not the end of the program
 * - so are tiles, accelerators, planes, counters and sets that do not exist (EINVAL)
 */
#ifndef ESP_MONITORS_H
#define ESP_MONITORS_H

#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "soc_defs.h"

/* File with the registers at its beginning; a program may choose another one. */
#ifndef MONITOR_WINDOW
#define MONITOR_WINDOW	    "/dev/mem"
#define MONITOR_WINDOW_BASE MONITOR_BASE_ADDR
#endif
#ifndef MONITOR_WINDOW_BASE
#define MONITOR_WINDOW_BASE 0
#endif

#define SOC_NTILES			  (SOC_ROWS * SOC_COLS)
#define DVFS_OP_POINTS			  4
#define NOC_PLANES			  6
#define NOC_QUEUES			  5
#define ESP_MON_COUNTERS		  59

/* Positions of sets in read_mask */
#define ESP_MON_READ_DDR_ACCESSES	  0
#define ESP_MON_READ_MEM_REQS		  1
#define ESP_MON_READ_L2_STATS		  2
#define ESP_MON_READ_LLC_STATS		  3
#define ESP_MON_READ_ACC_STATS		  4 /* of the accelerator acc_index */
#define ESP_MON_READ_DVFS_OP		  5 /* of tile_index, as are the next two */
#define ESP_MON_READ_NOC_INJECTS	  6
#define ESP_MON_READ_NOC_QUEUE_FULL_TILE  7
#define ESP_MON_READ_NOC_QUEUE_FULL_PLANE 8 /* of noc_index, in all tiles */
#define ESP_MON_NR_SETS_		  9

/* mon_index of counters; groups have the first one */
#define MON_DDR_WORD_TRANSFER_INDEX	  0
#define MON_MEM_COH_REQ_INDEX		  1
#define MON_L2_HIT_INDEX		  9
#define MON_LLC_HIT_INDEX		  11
#define MON_ACC_TLB_INDEX		  13
#define MON_ACC_MEM_LO_INDEX		  14
#define MON_ACC_TOT_LO_INDEX		  16
#define MON_DVFS_BASE_INDEX		  19
#define MON_NOC_TILE_INJECT_BASE_INDEX	  23
#define MON_NOC_QUEUES_FULL_BASE_INDEX	  29

typedef struct soc_loc {
	uint8_t row;
	uint8_t col;
} soc_loc_t;

typedef enum esp_monitor_read_mode {
	ESP_MON_READ_ALL,
	ESP_MON_READ_SINGLE,
	ESP_MON_READ_MANY,
} esp_monitor_mode_t;

/**
 * struct esp_monitor_args - a request for readings
 * @read_mode: all; one counter, which is the return value; or the sets of @read_mask
 * @tile_index, @acc_index, @mon_index, @noc_index: as required by the mode and the sets
 */
typedef struct esp_monitor_args {
	esp_monitor_mode_t read_mode;
	uint16_t read_mask;
	uint8_t tile_index;
	uint8_t acc_index;
	uint8_t mon_index;
	uint8_t noc_index;
} esp_monitor_args_t;

typedef struct esp_mem_reqs {
	unsigned int coh_reqs;
	unsigned int coh_fwds;
	unsigned int coh_rsps_rcv;
	unsigned int coh_rsps_snd;
	unsigned int dma_reqs;
	unsigned int dma_rsps;
	unsigned int coh_dma_reqs;
	unsigned int coh_dma_rsps;
} esp_mem_reqs_t;

typedef struct esp_cache_stats {
	unsigned int hits;
	unsigned int misses;
} esp_cache_stats_t;

typedef struct esp_acc_stats {
	unsigned int acc_tlb;
	unsigned int acc_mem_lo;
	unsigned int acc_mem_hi;
	unsigned int acc_tot_lo;
	unsigned int acc_tot_hi;
	unsigned int acc_invocations;
} esp_acc_stats_t;

typedef struct esp_monitor_vals {
	unsigned int ddr_accesses[SOC_NMEM];
	esp_mem_reqs_t mem_reqs[SOC_NMEM];
	esp_cache_stats_t l2_stats[SOC_NTILES];
	esp_cache_stats_t llc_stats[SOC_NMEM];
	esp_acc_stats_t acc_stats[SOC_NACC];
	unsigned int dvfs_op[SOC_NTILES][DVFS_OP_POINTS];
	unsigned int noc_injects[SOC_NTILES][NOC_PLANES];
	unsigned int noc_queue_full[SOC_NTILES][NOC_PLANES][NOC_QUEUES];
} esp_monitor_vals_t;

/* State of this header between calls. */
static struct {
	volatile uint32_t *registers;
	void **values; /* of esp_monitor_vals_alloc() */
	size_t nr;
} esp_mon_;

/* --- places of counters */

/* Type of a tile: numbers of its kinds, -1 for none. */
struct esp_mon_tile_ {
	int mem;
	int acc;
	int l2;
};

static inline struct esp_mon_tile_ esp_mon_tile_of_(int tile)
{
#include "soc_locs.h"
	struct esp_mon_tile_ t = { -1, -1, 0 };

	for (int i = 0; i < SOC_NCPU; i++)
		t.l2 |= cpu_locs[i].row * SOC_COLS + cpu_locs[i].col == tile;
	for (int i = 0; i < SOC_NMEM; i++)
		if (mem_locs[i].row * SOC_COLS + mem_locs[i].col == tile)
			t.mem = i;
#ifdef ACCS_PRESENT
	for (int i = 0; i < SOC_NACC; i++)
		if (acc_locs[i].row * SOC_COLS + acc_locs[i].col == tile) {
			t.acc = i;
			t.l2 |= acc_has_l2[i];
		}
#endif
	return t;
}

/* The word of a counter; NULL where the counter does not exist. */
static inline unsigned int *esp_mon_word_(esp_monitor_vals_t *v, int tile, int i)
{
	struct esp_mon_tile_ t = esp_mon_tile_of_(tile);

	if (i >= MON_NOC_QUEUES_FULL_BASE_INDEX)
		return &v->noc_queue_full[tile][0][0] + (i - MON_NOC_QUEUES_FULL_BASE_INDEX);
	if (i >= MON_NOC_TILE_INJECT_BASE_INDEX)
		return &v->noc_injects[tile][i - MON_NOC_TILE_INJECT_BASE_INDEX];
	if (i >= MON_DVFS_BASE_INDEX)
		return &v->dvfs_op[tile][i - MON_DVFS_BASE_INDEX];
	if (i >= MON_ACC_TLB_INDEX)
		return t.acc < 0 ? NULL : &v->acc_stats[t.acc].acc_tlb + (i - MON_ACC_TLB_INDEX);
	if (i >= MON_LLC_HIT_INDEX)
		return t.mem < 0 ? NULL : &v->llc_stats[t.mem].hits + (i - MON_LLC_HIT_INDEX);
	if (i >= MON_L2_HIT_INDEX)
		return t.l2 ? &v->l2_stats[tile].hits + (i - MON_L2_HIT_INDEX) : NULL;
	if (t.mem < 0)
		return NULL;
	return i ? &v->mem_reqs[t.mem].coh_reqs + (i - MON_MEM_COH_REQ_INDEX)
		 : &v->ddr_accesses[t.mem];
}

/* Was a counter requested? */
static inline int esp_mon_wanted_(const esp_monitor_args_t *a, int tile, int i)
{
	int plane = (i - MON_NOC_QUEUES_FULL_BASE_INDEX) / NOC_QUEUES, set;

	if (a->read_mode != ESP_MON_READ_MANY)
		return a->read_mode == ESP_MON_READ_ALL;
	if (i >= MON_NOC_QUEUES_FULL_BASE_INDEX)
		return (a->read_mask >> ESP_MON_READ_NOC_QUEUE_FULL_TILE & 1 &&
			tile == a->tile_index) ||
		       (a->read_mask >> ESP_MON_READ_NOC_QUEUE_FULL_PLANE & 1 &&
			plane == a->noc_index);
	set = i >= MON_NOC_TILE_INJECT_BASE_INDEX ? ESP_MON_READ_NOC_INJECTS
	      : i >= MON_DVFS_BASE_INDEX	  ? ESP_MON_READ_DVFS_OP
	      : i >= MON_ACC_TLB_INDEX		  ? ESP_MON_READ_ACC_STATS
	      : i >= MON_LLC_HIT_INDEX		  ? ESP_MON_READ_LLC_STATS
	      : i >= MON_L2_HIT_INDEX		  ? ESP_MON_READ_L2_STATS
	      : i				  ? ESP_MON_READ_MEM_REQS
						  : ESP_MON_READ_DDR_ACCESSES;
	if (!(a->read_mask >> set & 1))
		return 0;
	if (set == ESP_MON_READ_ACC_STATS)
		return esp_mon_tile_of_(tile).acc == a->acc_index;
	return set < ESP_MON_READ_DVFS_OP || tile == a->tile_index;
}

/* Do the arguments fit this system-on-chip? Unused ones may have any value. */
static inline int esp_mon_fits_(const esp_monitor_args_t *a, const esp_monitor_vals_t *vals)
{
	int of_tile = 1 << ESP_MON_READ_DVFS_OP | 1 << ESP_MON_READ_NOC_INJECTS |
		      1 << ESP_MON_READ_NOC_QUEUE_FULL_TILE;

	if (a->read_mode == ESP_MON_READ_SINGLE)
		return a->tile_index < SOC_NTILES && a->mon_index < ESP_MON_COUNTERS;
	if (a->read_mode != ESP_MON_READ_MANY || !vals)
		return vals != NULL;
	if (a->read_mask >> ESP_MON_NR_SETS_)
		return 0;
	if (a->read_mask & of_tile && a->tile_index >= SOC_NTILES)
		return 0;
	if (a->read_mask >> ESP_MON_READ_ACC_STATS & 1 && a->acc_index >= SOC_NACC)
		return 0;
	return !(a->read_mask >> ESP_MON_READ_NOC_QUEUE_FULL_PLANE & 1) ||
	       a->noc_index < NOC_PLANES;
}

/* --- registers */

static inline void esp_mon_fence_(void)
{
#ifdef __riscv
	__asm__ __volatile__("fence iorw, iorw" ::: "memory");
#else
	__atomic_thread_fence(__ATOMIC_SEQ_CST);
#endif
}

static inline volatile uint32_t *esp_mon_tile_(int tile)
{
	return esp_mon_.registers + (size_t)tile * (MONITOR_TILE_SIZE / sizeof(uint32_t));
}

static inline int esp_mon_map_(void)
{
	int fd = open(MONITOR_WINDOW, O_RDWR | O_SYNC | O_CLOEXEC), err;
	void *at = fd < 0 ? MAP_FAILED
			  : mmap(NULL, (size_t)SOC_NTILES * MONITOR_TILE_SIZE,
				 PROT_READ | PROT_WRITE, MAP_SHARED, fd, MONITOR_WINDOW_BASE);

	err = errno;
	if (fd >= 0)
		close(fd);
	errno = err;
	if (at == MAP_FAILED)
		return -1;
	esp_mon_.registers = (volatile uint32_t *)at;
	return 0;
}

static inline void esp_mon_freeze_(int tile, uint32_t frozen)
{
	esp_mon_fence_();
	*esp_mon_tile_(tile) = frozen;
	esp_mon_fence_();
}

/* --- public functions */

/**
 * esp_monitor() - read counters
 * @args: the request
 * @vals: filled in; unused in the mode of one counter, cleared first in the mode of sets
 *
 * Return: the counter in the mode of one, 0 in the other modes. With registers that cannot be
 * mapped, or arguments that do not fit, all ones with errno.
 */
static inline unsigned int esp_monitor(esp_monitor_args_t args, esp_monitor_vals_t *vals)
{
	if (!esp_mon_fits_(&args, vals)) {
		errno = EINVAL;
		return UINT32_MAX;
	}
	if (!esp_mon_.registers && esp_mon_map_())
		return UINT32_MAX;
	if (args.read_mode == ESP_MON_READ_SINGLE)
		return esp_mon_tile_(args.tile_index)[1 + args.mon_index];
	if (args.read_mode == ESP_MON_READ_MANY)
		memset(vals, 0, sizeof(*vals));
	for (int tile = 0; tile < SOC_NTILES; tile++) {
		esp_mon_freeze_(tile, 1);
		for (int i = 0; i < ESP_MON_COUNTERS; i++) {
			unsigned int *word = esp_mon_word_(vals, tile, i);

			if (word && esp_mon_wanted_(&args, tile, i))
				*word = esp_mon_tile_(tile)[1 + i];
		}
		esp_mon_freeze_(tile, 0);
	}
	return 0;
}

/** sub_monitor_vals() - gain of one counter, valid below 2^32 */
static inline uint32_t sub_monitor_vals(uint32_t val_start, uint32_t val_end)
{
	return val_end - val_start;
}

/** esp_monitor_diff() - gains of all counters; readings with the same arguments */
static inline esp_monitor_vals_t esp_monitor_diff(esp_monitor_vals_t vals_start,
						  esp_monitor_vals_t vals_end)
{
	esp_monitor_vals_t diff;

	memset(&diff, 0, sizeof(diff));
	for (int tile = 0; tile < SOC_NTILES; tile++)
		for (int i = 0; i < ESP_MON_COUNTERS; i++) {
			unsigned int *start = esp_mon_word_(&vals_start, tile, i);
			unsigned int *end = esp_mon_word_(&vals_end, tile, i);
			unsigned int *word = esp_mon_word_(&diff, tile, i);
			uint64_t both;

			if (!word)
				continue;
			*word = sub_monitor_vals(*start, *end);
			if (i != MON_ACC_MEM_LO_INDEX && i != MON_ACC_TOT_LO_INDEX)
				continue;
			/* A pair: the high word follows. */
			both = ((uint64_t)end[1] << 32 | end[0]) -
			       ((uint64_t)start[1] << 32 | start[0]);
			word[0] = (uint32_t)both;
			word[1] = (uint32_t)(both >> 32);
			i++;
		}
	return diff;
}

static inline const char *esp_mon_name_(int i)
{
	static const char *const names[] = {
		"accesses to DRAM",
		"coherence requests received",
		"coherence forwards sent",
		"coherence responses received",
		"coherence responses sent",
		"DMA requests received",
		"DMA responses sent",
		"coherent DMA requests received",
		"coherent DMA responses sent",
		"L2 hits",
		"L2 misses",
		"LLC hits",
		"LLC misses",
		"TLB cycles",
		"memory cycles",
		"memory cycles, high word",
		"total cycles",
		"total cycles, high word",
		"invocations",
		"cycles at operating point",
		"packets injected on plane",
	};

	if (i >= MON_NOC_QUEUES_FULL_BASE_INDEX)
		return "cycles in which a queue was full, plane";
	if (i >= MON_NOC_TILE_INJECT_BASE_INDEX)
		return names[20];
	return names[i >= MON_DVFS_BASE_INDEX ? 19 : i];
}

static inline void esp_mon_print_(int tile, int i, const unsigned int *word, FILE *fp)
{
	static const char *const queues[] = { "local", "east", "west", "south", "north" };
	int full = i - MON_NOC_QUEUES_FULL_BASE_INDEX;
	unsigned long long value = *word;

	if (i == MON_ACC_MEM_LO_INDEX || i == MON_ACC_TOT_LO_INDEX)
		value |= (unsigned long long)word[1] << 32;
	fprintf(fp, "tile %d: %s", tile, esp_mon_name_(i));
	if (full >= 0)
		fprintf(fp, " %d, %s", full / NOC_QUEUES, queues[full % NOC_QUEUES]);
	else if (i >= MON_NOC_TILE_INJECT_BASE_INDEX)
		fprintf(fp, " %d", i - MON_NOC_TILE_INJECT_BASE_INDEX);
	else if (i >= MON_DVFS_BASE_INDEX)
		fprintf(fp, " %d", i - MON_DVFS_BASE_INDEX);
	fprintf(fp, ": %llu\n", value);
}

/** esp_monitor_print() - write the readings of these arguments, one counter per line */
static inline void esp_monitor_print(esp_monitor_args_t args, esp_monitor_vals_t vals, FILE *fp)
{
	for (int tile = 0; tile < SOC_NTILES; tile++)
		for (int i = 0; i < ESP_MON_COUNTERS; i++) {
			const unsigned int *word = esp_mon_word_(&vals, tile, i);

			if (!word || !esp_mon_wanted_(&args, tile, i))
				continue;
			esp_mon_print_(tile, i, word, fp);
			i += i == MON_ACC_MEM_LO_INDEX || i == MON_ACC_TOT_LO_INDEX;
		}
}

/** esp_monitor_vals_alloc() - a structure that esp_monitor_free() releases; NULL with errno */
static inline esp_monitor_vals_t *esp_monitor_vals_alloc(void)
{
	void **more = (void **)realloc(esp_mon_.values, (esp_mon_.nr + 1) * sizeof(*more));

	if (!more)
		return NULL;
	esp_mon_.values = more;
	more[esp_mon_.nr] = calloc(1, sizeof(esp_monitor_vals_t));
	return (esp_monitor_vals_t *)more[esp_mon_.nr++];
}

/** esp_monitor_free() - unmap the registers, release all allocated structures */
static inline void esp_monitor_free(void)
{
	if (esp_mon_.registers)
		munmap((void *)esp_mon_.registers, (size_t)SOC_NTILES * MONITOR_TILE_SIZE);
	for (size_t i = 0; i < esp_mon_.nr; i++)
		free(esp_mon_.values[i]);
	free(esp_mon_.values);
	memset(&esp_mon_, 0, sizeof(esp_mon_));
}

#endif
