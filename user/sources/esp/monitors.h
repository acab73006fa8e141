/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Counts of the tiles of an ESP between two readings. */
#ifndef SOURCES_ESP_MONITORS_H
#define SOURCES_ESP_MONITORS_H

#include "sources/esp/window.h"

/**
 * esp_difference() - what a counter gained between two readings
 * @start, @end: of one tile
 * @i: the counter. A low word stands for its pair
 *
 * Right if it gained less than 2^32, a pair 2^64.
 */
uint64_t esp_difference(const struct esp_counts *start, const struct esp_counts *end, uint32_t i);

/**
 * struct esp_delta - a tile between two readings
 * @start_ns, @end_ns: when
 * @late: so much time that counters may have gone around more than once: no counts
 * @set: which counters; a pair is its low word
 * @counts: what they gained
 */
struct esp_delta {
	uint64_t start_ns;
	uint64_t end_ns;
	bool late;
	uint64_t set;
	uint64_t counts[ESP_NR_COUNTERS];
};

/**
 * struct esp_reader - reads tiles again and again
 * @soc: of @window, which is closed by esp_reader_close()
 * @last: by tile, the last reading
 */
struct esp_reader {
	const struct esp_soc *soc;
	struct esp_window *window;
	struct esp_counts *last;
};

/** esp_reader_open() - as esp_window_open(), and read all tiles for the first time */
int esp_reader_open(const struct esp_soc *soc, struct diag *d, struct esp_reader *ret);
void esp_reader_close(struct esp_reader *r);

/**
 * esp_reader_tile() - what a tile counted since it was read before
 *
 * Return: 0 or an error of esp_window_read(): then the next reading has its counts.
 */
int esp_reader_tile(struct esp_reader *r, uint32_t tile, struct diag *d, struct esp_delta *ret);

/** esp_reader_only() - from now on a tile is read for these counters alone */
void esp_reader_only(struct esp_reader *r, uint32_t tile, uint64_t set);

/** esp_reader_pause_ns() - a tile must be read again after so much time */
uint64_t esp_reader_pause_ns(const struct esp_reader *r);

#endif
