/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The registers of the monitors. A tile is frozen while it is read: its counters are copied to
 * registers of the same time, and go on. So counts of one tile belong together, and each tile has
 * its own time.
 */
#ifndef SOURCES_ESP_WINDOW_H
#define SOURCES_ESP_WINDOW_H

#include "sources/esp/soc.h"

struct esp_window;

/**
 * struct esp_counts - a tile at a time
 * @time_ns: when it was frozen (CLOCK_MONOTONIC)
 * @set: which counters were read
 * @counts: by index; those that were not read are 0
 */
struct esp_counts {
	uint64_t time_ns;
	uint64_t set;
	uint32_t counts[ESP_NR_COUNTERS];
};

/**
 * esp_window_open() - map the registers, and release what a killed reader has left frozen
 * @soc: which; must outlive the window
 * @d: what is wrong, and the remedy
 * @ret: close with esp_window_close()
 *
 * Return: 0, -EACCES or -EPERM when the path must not be opened, -EINVAL when it is too short for
 * these tiles, -EBUSY when another t410trace reads it, -EIO as esp_window_read(), -ENXIO when there
 * are no registers, or another error of opening and mapping.
 */
int esp_window_open(const struct esp_soc *soc, struct diag *d, struct esp_window **ret);

/** esp_window_close() - unmap them; nothing stays frozen. NULL is fine */
void esp_window_close(struct esp_window *w);

/** esp_window_found_frozen() - so many tiles were frozen when it was opened */
uint32_t esp_window_found_frozen(const struct esp_window *w);

/**
 * esp_window_read() - freeze a tile, read counters, release it
 * @w: the registers
 * @tile: which
 * @set: which counters
 * @d: what is wrong
 * @ret: the counts
 *
 * Return: 0; -ENXIO when all registers read all ones: nothing answers there; -EIO when the tile
 * cannot be frozen, or stays frozen. It is released, or was tried to be, in any case.
 */
int esp_window_read(struct esp_window *w, uint32_t tile, uint64_t set, struct diag *d,
		    struct esp_counts *ret);

#endif
