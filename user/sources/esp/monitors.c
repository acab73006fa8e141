// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "sources/esp/monitors.h"

#include <stdlib.h>

/* So often in the time that is safe: a reader may be held up. */
#define READINGS_IN_SAFE_TIME 4

uint64_t esp_difference(const struct esp_counts *start, const struct esp_counts *end, uint32_t i)
{
	uint32_t high = esp_counter_pair(i);

	/* Unsigned numbers go around as the counters do. */
	if (!high)
		return (uint32_t)(end->counts[i] - start->counts[i]);
	return ((uint64_t)end->counts[high] << 32 | end->counts[i]) -
	       ((uint64_t)start->counts[high] << 32 | start->counts[i]);
}

int esp_reader_open(const struct esp_soc *soc, struct diag *d, struct esp_reader *ret)
{
	int err;

	*ret = (struct esp_reader){ .soc = soc };
	ret->last = calloc(esp_nr_tiles(soc), sizeof(*ret->last));
	err = ret->last ? esp_window_open(soc, d, &ret->window) : diag_no_memory(d);
	for (uint32_t i = 0; !err && i < esp_nr_tiles(soc); i++)
		err = esp_window_read(ret->window, i, esp_tile_counters(soc, i), d, &ret->last[i]);
	if (err)
		esp_reader_close(ret);
	return err;
}

void esp_reader_close(struct esp_reader *r)
{
	esp_window_close(r->window);
	free(r->last);
	*r = (struct esp_reader){ 0 };
}

int esp_reader_tile(struct esp_reader *r, uint32_t tile, struct diag *d, struct esp_delta *ret)
{
	struct esp_counts now, *last = &r->last[tile];
	int err = esp_window_read(r->window, tile, last->set, d, &now);

	if (err)
		return err;
	*ret = (struct esp_delta){
		.start_ns = last->time_ns,
		.end_ns = now.time_ns,
		.late = now.time_ns - last->time_ns >= esp_safe_ns(r->soc),
		.set = last->set & ~ESP_BITS(ESP_ACC_MEM_HI, 1) & ~ESP_BITS(ESP_ACC_TOT_HI, 1),
	};
	for (uint32_t i = 0; !ret->late && i < ESP_NR_COUNTERS; i++)
		if (ret->set & ESP_BITS(i, 1))
			ret->counts[i] = esp_difference(last, &now, i);
	*last = now;
	return 0;
}

void esp_reader_only(struct esp_reader *r, uint32_t tile, uint64_t set)
{
	r->last[tile].set &= set;
}

uint64_t esp_reader_pause_ns(const struct esp_reader *r)
{
	return esp_safe_ns(r->soc) / READINGS_IN_SAFE_TIME;
}
