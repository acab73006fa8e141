/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * CPU tiles of an ESP as sockets of a run: bytes of CPUs are divided among the tiles by the misses
 * of their L2, and each tile's part is split among the tasks of its CPU alone.
 */
#ifndef SOURCES_ESP_ESP_CPU_TILES_H
#define SOURCES_ESP_ESP_CPU_TILES_H

#include "live/sources/source.h"
#include "sources/esp/monitors.h"

/* One more socket is for everything outside of CPU tiles. */
#define ESP_MAX_CPU_TILES (TRACE_MAX_SOCKETS - 1)

struct esp_cpu_tiles;

/**
 * struct esp_basis - keys for dividing the accesses of a memory tile's window
 * @misses: by CPU tile, of the same time
 * @unknown: some were unreadable
 */
struct esp_basis {
	uint64_t misses[ESP_MAX_CPU_TILES];
	bool unknown;
};

/**
 * esp_cpu_tiles_find() - make sockets of the CPU tiles
 * @c: of the run, in @find of the source: gets the domains
 * @soc: must outlive @ret
 * @ret: release with esp_cpu_tiles_free(); NULL when accesses cannot be divided among tiles
 * @ret_why: the reason, "" when there is nothing to divide; static
 *
 * Tile n is socket n. Everything else belongs to the socket behind them, which has no CPUs.
 *
 * Return: 0 or -ENOMEM.
 */
int esp_cpu_tiles_find(struct source_context *c, const struct esp_soc *soc,
		       struct esp_cpu_tiles **ret, const char **ret_why);
void esp_cpu_tiles_free(struct esp_cpu_tiles *t);

/** esp_cpu_tiles_nr() - number of CPU tiles */
uint32_t esp_cpu_tiles_nr(const struct esp_cpu_tiles *t);

/** esp_cpu_tiles_open() - prepare reading their L2 with @reader, which must outlive @t */
void esp_cpu_tiles_open(struct esp_cpu_tiles *t, struct esp_reader *reader);

/** esp_cpu_tiles_start() - begin the books; 0 or an error of reading with @d */
int esp_cpu_tiles_start(struct esp_cpu_tiles *t, struct diag *d);

/**
 * esp_cpu_tiles_read() - read all misses since the last call
 * @t: tiles
 * @bases: one for each memory tile; they are added to all
 * @nr: number of memory tiles
 */
void esp_cpu_tiles_read(struct esp_cpu_tiles *t, struct esp_basis *bases, size_t nr);

/**
 * esp_cpu_tiles_divide() - divide accesses of CPUs among the tiles
 * @t: tiles
 * @basis: of the window
 * @accesses: number of accesses
 * @ret: by tile; they add up to @accesses
 * @ret_by_time: they are divided by CPU time, because misses are unknown, or there were none
 *
 * The largest-remainder rule. CPU time is that of the kernel's ticks since the last division by it:
 * a single window may have none.
 *
 * Return: 0 or -ENOMEM.
 */
int esp_cpu_tiles_divide(struct esp_cpu_tiles *t, const struct esp_basis *basis, uint64_t accesses,
			 uint64_t *ret, bool *ret_by_time);

/** esp_cpu_tiles_failed() - number of useless readings */
uint64_t esp_cpu_tiles_failed(const struct esp_cpu_tiles *t);

#endif
