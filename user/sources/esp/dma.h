/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Whose accesses to DRAM: a memory tile counts them all together. Beside them it counts the words
 * (flits) that came by its DMA queues and by its coherence queues.
 */
#ifndef SOURCES_ESP_DMA_H
#define SOURCES_ESP_DMA_H

#include "sources/esp/monitors.h"

/* Counters of a memory tile that esp_dma_part() takes */
#define ESP_DMA_COUNTERS (ESP_BITS(ESP_DDR_ACCESSES, 1) | ESP_BITS(ESP_MEM_REQS, 8))

/**
 * struct esp_traffic - accesses to DRAM; their sum is the counter
 * @cpu_read, @cpu_write: of CPUs
 * @dma_read, @dma_write: of DMA; a write also has the heads of requests
 */
struct esp_traffic {
	uint64_t cpu_read;
	uint64_t cpu_write;
	uint64_t dma_read;
	uint64_t dma_write;
};

/**
 * esp_dma_part() - divide a memory tile's accesses
 * @soc: the system-on-chip
 * @delta: of the tile, with ESP_DMA_COUNTERS
 *
 * DMA that is not coherent passes by the caches: each of its words is an access. The rest is
 * divided between coherent DMA and CPUs as their words at the last-level cache are; without caches
 * it is that of CPUs. Words that went out are reads, words that came in are writes; what CPUs did
 * without any such word is reads. This is an estimate.
 */
struct esp_traffic esp_dma_part(const struct esp_soc *soc, const struct esp_delta *delta);

/**
 * esp_dma_divide() - divide bytes of DMA among accelerators
 * @bytes: how many
 * @busy: by accelerator, the cycles in which it moved data
 * @nr: number of accelerators
 * @ret: their parts, in proportion to @busy; the sum is @bytes
 *
 * Return: whether anybody was busy; otherwise all parts are 0.
 */
bool esp_dma_divide(uint64_t bytes, const uint64_t *busy, size_t nr, uint64_t *ret);

#endif
