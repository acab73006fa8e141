/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Which tiles an ESP system-on-chip has, and where its monitors are: from the configuration that
 * ESP's own tools write (.esp_config), with lines for what it does not say.
 */
#ifndef SOURCES_ESP_SOC_H
#define SOURCES_ESP_SOC_H

#include <stdbool.h>

#include "base/diag.h"
#include "sources/esp/esp_rows.h"

#define ESP_MAX_TILES 256
#define ESP_MEM	      "/dev/mem"
#define ESP_TREE      "/proc/device-tree"

/* A tile's registers: the control word, then a word for each counter. */
#define ESP_TILE_SIZE 0x200u

/**
 * struct esp_tile - a tile
 * @type: what it is
 * @row, @col: its place
 * @number: of its kind: CPU, memory tile or accelerator number so and so
 * @has_l2: an accelerator with an L2
 * @has_dvfs: an accelerator with DVFS emulation
 * @ip: what it holds, in small letters: "fft_stratus"
 * @device: of accelerators: the node that programs open to use it
 */
struct esp_tile {
	enum esp_tile_type type;
	uint32_t row;
	uint32_t col;
	uint32_t number;
	bool has_l2;
	bool has_dvfs;
	char ip[32];
	char device[64];
};

/**
 * struct esp_soc - a system-on-chip
 * @rows, @cols: of the grid of tiles
 * @tiles: row by row
 * @nr: their number, by type
 * @caches: it has the cache hierarchy
 * @word_bytes: bytes of one access to DRAM: the width of the tile's bus
 * @dma_word_bytes: bytes of a flit of DMA
 * @nr_registers: counters of a tile that the hardware has: 59; older trees 58
 * @clock_hz: 0 = not known
 * @window: path of the registers
 * @base: where they begin in it
 */
struct esp_soc {
	uint32_t rows;
	uint32_t cols;
	struct esp_tile tiles[ESP_MAX_TILES];
	uint32_t nr[ESP_NR_TILE_TYPES];
	bool caches;
	uint32_t word_bytes;
	uint32_t dma_word_bytes;
	uint32_t nr_registers;
	uint64_t clock_hz;
	char window[128];
	uint64_t base;
};

/** esp_nr_tiles() - all of them */
static inline uint32_t esp_nr_tiles(const struct esp_soc *soc)
{
	return soc->rows * soc->cols;
}

/**
 * esp_soc_read() - read a description
 * @path: its name
 * @d: on failure says what is wrong, at which line, and what would be right
 * @ret: the system-on-chip; what was not said has its default
 *
 * Return: 0, -EINVAL for a file that makes no sense, or the error of reading it.
 */
int esp_soc_read(const char *path, struct diag *d, struct esp_soc *ret);

/**
 * esp_tree_check() - is this machine the one that is described?
 * @soc: takes the clock from the device tree, unless the description has it
 * @tree: the device tree as folders, ESP_TREE
 * @d: what differs
 *
 * The device tree of ESP names CPUs and accelerators, and no monitors. What it names must be in
 * the description. On a machine that is no ESP the registers of its memory could be anything, and
 * reading monitors writes: there it is an error, unless the window is no physical memory.
 *
 * Return: 0, -ENODEV when it is another machine, -EINVAL when the clock is not known.
 */
int esp_tree_check(struct esp_soc *soc, const char *tree, struct diag *d);

/** esp_tile_at() - index of the tile with this type and number, or UINT32_MAX */
uint32_t esp_tile_at(const struct esp_soc *soc, enum esp_tile_type type, uint32_t number);

/** esp_tile_counters() - which counters make sense in a tile, as a set */
uint64_t esp_tile_counters(const struct esp_soc *soc, uint32_t tile);

/** esp_tile_label() - "cpu0", "mem1", "acc2 (fft_stratus)", "misc0" */
void esp_tile_label(const struct esp_soc *soc, uint32_t tile, char *ret, size_t size);

/** esp_safe_ns() - in this time no counter can have gone around more than once */
uint64_t esp_safe_ns(const struct esp_soc *soc);

#endif
