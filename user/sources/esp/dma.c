// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "sources/esp/dma.h"

/* @whole x @part / @of, rounded down; nothing of nothing. */
static uint64_t share(uint64_t whole, uint64_t part, uint64_t of)
{
	return of ? (uint64_t)((unsigned __int128)whole * part / of) : 0;
}

struct esp_traffic esp_dma_part(const struct esp_soc *soc, const struct esp_delta *delta)
{
	const uint64_t *c = delta->counts;
	uint64_t all = c[ESP_DDR_ACCESSES], rest, taken, coherent, reads;
	uint64_t by_dma = c[ESP_COH_DMA_REQS] + c[ESP_COH_DMA_RSPS];
	uint64_t to_cpus = c[ESP_COH_FWDS] + c[ESP_COH_RSPS_SND];
	uint64_t by_cpus = c[ESP_COH_REQS] + c[ESP_COH_RSPS_RCV] + to_cpus;
	struct esp_traffic t;

	taken = share(c[ESP_DMA_REQS] + c[ESP_DMA_RSPS], soc->dma_word_bytes, soc->word_bytes);
	taken = taken < all ? taken : all;
	rest = all - taken;
	coherent = soc->caches ? share(rest, by_dma, by_dma + by_cpus) : 0;
	reads = share(taken, c[ESP_DMA_RSPS], c[ESP_DMA_REQS] + c[ESP_DMA_RSPS]) +
		share(coherent, c[ESP_COH_DMA_RSPS], by_dma);
	t.cpu_write = share(rest - coherent, c[ESP_COH_RSPS_RCV], c[ESP_COH_RSPS_RCV] + to_cpus);
	t.cpu_read = rest - coherent - t.cpu_write;
	t.dma_read = reads;
	t.dma_write = taken + coherent - reads;
	return t;
}

/* Each has what all up to it have together, without what those before it have. */
bool esp_dma_divide(uint64_t bytes, const uint64_t *busy, size_t nr, uint64_t *ret)
{
	uint64_t all = 0, before = 0, sum = 0;

	for (size_t i = 0; i < nr; i++)
		all += busy[i];
	for (size_t i = 0; i < nr; i++) {
		uint64_t upto;

		sum += busy[i];
		upto = share(bytes, sum, all);
		ret[i] = upto - before;
		before = upto;
	}
	return all;
}
