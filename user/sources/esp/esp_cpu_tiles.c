// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "sources/esp/esp_cpu_tiles.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "engine/split/apportion.h"
#include "sources/esp/esp_accelerators.h"
#include "sources/esp/cpus.h"

/* All counters fit, for any number of CPU tiles and accelerators */
#define MAX_MEMORY_TILES 11

/* Bytes of each CPU tile and of DMA at a memory tile; bytes and work of an accelerator */
enum {
	AT_MEMORY_TILE = 4 * ESP_MAX_CPU_TILES + ESP_WAYS,
	OF_ACCELERATOR = ESP_WAYS + NR_WORKS,
	MAX_ACCELERATORS = ESP_MAX_TILES - ESP_MAX_CPU_TILES - MAX_MEMORY_TILES,
	MAX_COUNTERS = MAX_MEMORY_TILES * AT_MEMORY_TILE + MAX_ACCELERATORS * OF_ACCELERATOR,
};
_Static_assert(MAX_COUNTERS <= TRACE_MAX_COUNTERS, "counters");

/**
 * struct cpu_tile - a CPU tile
 * @tile: its index among all tiles
 * @set: its CPU
 * @stale: it was not read: its next reading covers a longer time than those of the rest
 */
struct cpu_tile {
	uint32_t tile;
	struct cpulist set;
	bool stale;
};

/*
 * @cpus: by tile
 * @domains: by tile, and one for everything outside of tiles
 * @ticks: by tile, CPU time at the last look
 * @time: by tile, CPU time between the last two looks that differ
 * @looked: CPU time was looked at since the last reading
 */
struct esp_cpu_tiles {
	struct esp_reader *reader;
	uint32_t nr;
	struct cpu_tile items[ESP_MAX_CPU_TILES];
	uint32_t cpus[ESP_MAX_CPU_TILES];
	struct cpulist nobody;
	struct cpu_socket domains[TRACE_MAX_SOCKETS];
	int proc;
	uint64_t ticks[ESP_MAX_CPU_TILES];
	uint64_t time[ESP_MAX_CPU_TILES];
	bool looked;
	uint64_t failed;
};

/* --- setup */

static const char *why_not(const struct source_context *c, const struct esp_soc *soc)
{
	if (!soc->caches || soc->nr[ESP_TILE_CPU] < 2)
		return "";
	if (soc->nr[ESP_TILE_CPU] > ESP_MAX_CPU_TILES || soc->nr[ESP_TILE_MEM] > MAX_MEMORY_TILES)
		return "there are too many";
	if (c->counters->nr_sockets || c->nr_domains)
		return "other counters say what a socket is";
	if (peaks_given(&c->args->peaks))
		return "a peak is that of a socket, not of a tile";
	return NULL;
}

int esp_cpu_tiles_find(struct source_context *c, const struct esp_soc *soc,
		       struct esp_cpu_tiles **ret, const char **ret_why)
{
	struct esp_cpu_tiles *t;

	*ret = NULL;
	*ret_why = why_not(c, soc);
	if (*ret_why)
		return 0;
	t = calloc(1, sizeof(*t));
	if (!t)
		return -ENOMEM;
	t->proc = -1;
	t->nr = soc->nr[ESP_TILE_CPU];
	if (esp_cpus_find(c->sysfs, t->nr, t->cpus)) {
		*ret_why = "its tiles are not the CPUs of this machine";
		free(t);
		return 0;
	}
	for (uint32_t i = 0; i < t->nr; i++) {
		struct cpu_tile *item = &t->items[i];

		item->tile = esp_tile_at(soc, ESP_TILE_CPU, i);
		if (t->cpus[i] != ESP_NO_CPU)
			cpulist_set(&item->set, t->cpus[i], true);
		t->domains[i] = (struct cpu_socket){ i, &item->set };
	}
	t->domains[t->nr] = (struct cpu_socket){ t->nr, &t->nobody };
	c->domains = t->domains;
	c->nr_domains = t->nr + 1;
	*ret = t;
	return 0;
}

void esp_cpu_tiles_free(struct esp_cpu_tiles *t)
{
	if (t && t->proc >= 0)
		close(t->proc);
	free(t);
}

uint32_t esp_cpu_tiles_nr(const struct esp_cpu_tiles *t)
{
	return t->nr;
}

/* Hits, too: two all-ones counters mean that a tile does not answer. */
void esp_cpu_tiles_open(struct esp_cpu_tiles *t, struct esp_reader *reader)
{
	t->reader = reader;
	for (uint32_t i = 0; i < t->nr; i++)
		esp_reader_only(reader, t->items[i].tile, ESP_BITS(ESP_L2_HITS, 2));
	t->proc = open("/proc", O_PATH | O_DIRECTORY | O_CLOEXEC);
}

int esp_cpu_tiles_start(struct esp_cpu_tiles *t, struct diag *d)
{
	struct esp_delta delta;
	int err = 0;

	for (uint32_t i = 0; !err && i < t->nr; i++)
		err = esp_reader_tile(t->reader, t->items[i].tile, d, &delta);
	esp_cpus_busy(t->proc, t->cpus, t->nr, t->ticks);
	memcpy(t->time, t->ticks, sizeof(t->time));
	return err;
}

/* --- while it runs */

void esp_cpu_tiles_read(struct esp_cpu_tiles *t, struct esp_basis *bases, size_t nr)
{
	struct esp_delta delta;

	t->looked = false;
	for (uint32_t i = 0; i < t->nr; i++) {
		struct cpu_tile *item = &t->items[i];
		bool read = !esp_reader_tile(t->reader, item->tile, NULL, &delta);
		bool known = read && !delta.late && !item->stale;

		t->failed += !read || delta.late;
		item->stale = !read;
		for (size_t m = 0; m < nr; m++) {
			bases[m].unknown |= !known;
			bases[m].misses[i] += known ? delta.counts[ESP_L2_MISSES] : 0;
		}
	}
}

/* A tick is about as long as a window: CPUs without ticks had some in the one before. */
static void look_at_time(struct esp_cpu_tiles *t)
{
	uint64_t ticks[ESP_MAX_CPU_TILES], all = 0;

	if (t->looked)
		return;
	t->looked = true;
	if (!esp_cpus_busy(t->proc, t->cpus, t->nr, ticks)) {
		for (uint32_t i = 0; i < t->nr; i++)
			all += ticks[i] > t->ticks[i] ? ticks[i] - t->ticks[i] : 0;
		/* An offline CPU has no ticks, and continues from its old value. */
		for (uint32_t i = 0; all && i < t->nr; i++) {
			t->time[i] = ticks[i] > t->ticks[i] ? ticks[i] - t->ticks[i] : 0;
			t->ticks[i] += t->time[i];
		}
	}
	for (uint32_t i = 0; i < t->nr; i++)
		all |= t->time[i];
	for (uint32_t i = 0; !all && i < t->nr; i++)
		t->time[i] = t->cpus[i] != ESP_NO_CPU;
}

int esp_cpu_tiles_divide(struct esp_cpu_tiles *t, const struct esp_basis *basis, uint64_t accesses,
			 uint64_t *ret, bool *ret_by_time)
{
	uint64_t any = 0;

	for (uint32_t i = 0; i < t->nr; i++)
		any |= basis->misses[i];
	*ret_by_time = accesses && (basis->unknown || !any);
	if (*ret_by_time)
		look_at_time(t);
	return apportion(accesses, *ret_by_time ? t->time : basis->misses, t->nr, ret);
}

uint64_t esp_cpu_tiles_failed(const struct esp_cpu_tiles *t)
{
	return t->failed;
}
