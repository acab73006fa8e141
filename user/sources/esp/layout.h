/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * An ESP's tiles, counters and metrics as "t410trace stat" shows them. What a tile holds is a PMU,
 * and its router is another one.
 */
#ifndef SOURCES_ESP_LAYOUT_H
#define SOURCES_ESP_LAYOUT_H

#include "sources/esp/monitors.h"
#include "stat.h"

/**
 * struct esp_layout - what is shown
 * @stat: counters of a PMU follow each other
 * @index: by counter of @stat: its index in the tile
 * @first: by PMU: its first counter, and their end behind the last PMU
 * @pmus: by tile: its first PMU, and their end behind the last tile
 * @texts: memory behind @stat
 */
struct esp_layout {
	struct stat_layout stat;
	uint32_t *index;
	uint32_t *first;
	uint32_t *pmus;
	struct text_list texts;
};

/**
 * esp_layout_make() - all counters that make sense in a tile, and metrics of them
 * @soc: the system-on-chip
 * @metrics: names and patterns with * and ?; none: all, unless there are @events
 * @events: counters that the user named, the same
 * @d: a name that fits nothing
 * @ret: release with esp_layout_free()
 *
 * Return: 0, -ENOENT or -ENOMEM.
 */
int esp_layout_make(const struct esp_soc *soc, const struct text_list *metrics,
		    const struct text_list *events, struct diag *d, struct esp_layout *ret);
void esp_layout_free(struct esp_layout *l);

/**
 * esp_layout_segment() - a tile between two readings, as a segment of one of its PMUs
 * @l: the layout
 * @pmu: which
 * @delta: counts of its tile; if it is late, nothing has counted
 * @counters, @readings: room for ESP_NR_COUNTERS; the segment points to them
 */
struct stat_segment esp_layout_segment(const struct esp_layout *l, uint32_t pmu,
				       const struct esp_delta *delta, uint32_t *counters,
				       struct reading *readings);

#endif
