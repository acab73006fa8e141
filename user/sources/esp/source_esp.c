// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * The memory tiles of an ESP (--esp): their accesses to DRAM, every window. CPU accesses are
 * divided among the CPU tiles and split among tasks, DMA accesses are divided among accelerators.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/clock.h"
#include "base/text.h"
#include "sources/esp/esp_accelerators.h"
#include "sources/esp/esp_cpu_tiles.h"
#include "live/sources/source.h"
#include "sources/esp/dma.h"
#include "trace/header.h"

/* A tile that cannot be read for this long is in trouble. */
#define TROUBLE_NS (5 * NS_PER_S)

#define BY_MISSES                                                                     \
	"accesses of CPUs to DRAM are divided by L2 misses of CPU tiles, those of a " \
	"tile among the tasks of its CPU; each CPU tile is a socket, and counters "   \
	"with by_time have what was divided by CPU time, because there were no misses"

/* Counters of a memory tile, in the order of its group; without caches there is one */
enum {
	CPU_READS,
	CPU_WRITES,
	DMA_READS,
	DMA_WRITES,
	NR_KINDS,
};

/* Counters of a CPU tile at a memory tile; those of DMA are a group of their own then */
enum {
	TILE_READS,
	TILE_WRITES,
	READS_BY_TIME,
	WRITES_BY_TIME,
	NR_TILE_KINDS,
};
_Static_assert((int)NR_TILE_KINDS <= (int)NR_KINDS, "there is room for so many");

/* A memory tile. */
struct memory_tile {
	uint32_t tile;
	uint32_t group;	  /* in the header, the first one */
	uint64_t read_ns; /* its last good reading */
	struct diag why;  /* it cannot be read */
	struct esp_delta delta;
	bool is_new; /* @delta is not in the trace */
};

struct esp {
	const struct source_context *c;
	struct esp_soc soc;
	struct esp_reader reader;
	struct memory_tile *tiles;
	struct esp_basis *bases; /* by memory tile */
	size_t nr;
	struct esp_cpu_tiles *cpus;	       /* NULL: all CPUs are one socket */
	const char *why_one;		       /* the reason, "" if users need not know */
	struct esp_accelerators *accelerators; /* NULL: there are none */
	uint64_t dma[ESP_WAYS];		       /* bytes of accelerators, not divided yet */
	uint64_t next_ns;
	uint64_t failed;
	uint64_t late;
	char note[4][256];
};

static bool wanted(const struct run_options *args)
{
	return args->esp;
}

/* --- setup */

static int add_counters(struct esp *e, uint32_t tile, uint32_t socket, const struct counter *kinds,
			uint32_t nr)
{
	uint32_t number = e->soc.tiles[tile].number;
	struct counter counters[NR_KINDS];
	struct group group = { .socket = socket, .nr = nr };

	for (uint32_t i = 0; i < nr; i++) {
		counters[i] = kinds[i];
		counters[i].socket = socket;
		snprintf(counters[i].name, sizeof(counters[i].name), "mem%u/ddr_accesses%.32s",
			 number, kinds[i].name);
		snprintf(counters[i].pmu, sizeof(counters[i].pmu), "mem%u", number);
		str_copy(counters[i].event, sizeof(counters[i].event), "ddr_accesses");
	}
	return header_add_counters(e->c->header, counters, nr, &group, 1);
}

static int add_cpu_tile(struct esp *e, uint32_t tile, uint32_t cpu)
{
	static const char *const names[NR_TILE_KINDS] = {
		[TILE_READS] = "rd",
		[TILE_WRITES] = "wr",
		[READS_BY_TIME] = "rd_by_time",
		[WRITES_BY_TIME] = "wr_by_time",
	};
	struct counter kinds[NR_TILE_KINDS];

	for (int i = 0; i < NR_TILE_KINDS; i++) {
		kinds[i] = (struct counter){ .source = SOURCE_CPU,
					     .direction = i == TILE_READS || i == READS_BY_TIME
								  ? DIRECTION_READ
								  : DIRECTION_WRITE };
		snprintf(kinds[i].name, sizeof(kinds[i].name), "/cpu%u_%s", cpu, names[i]);
	}
	return add_counters(e, tile, cpu, kinds, NR_TILE_KINDS);
}

static int add_tile(struct esp *e, uint32_t tile)
{
	static const struct counter together = { .source = SOURCE_ANY,
						 .direction = DIRECTION_READWRITE };
	static const struct counter kinds[NR_KINDS] = {
		[CPU_READS] = { .name = "/cpu_rd",
				.source = SOURCE_CPU,
				.direction = DIRECTION_READ },
		[CPU_WRITES] = { .name = "/cpu_wr",
				 .source = SOURCE_CPU,
				 .direction = DIRECTION_WRITE },
		[DMA_READS] = { .name = "/dma_rd",
				.source = SOURCE_DEVICE,
				.direction = DIRECTION_READ },
		[DMA_WRITES] = { .name = "/dma_wr",
				 .source = SOURCE_DEVICE,
				 .direction = DIRECTION_WRITE },
	};
	uint32_t group = (uint32_t)e->c->header->layout.nr_groups, nr = 0;
	int err = 0;

	e->tiles[e->nr++] = (struct memory_tile){ .tile = tile, .group = group };
	esp_reader_only(&e->reader, tile,
			e->soc.caches ? ESP_DMA_COUNTERS : ESP_BITS(ESP_DDR_ACCESSES, 1));
	if (!e->soc.caches)
		return add_counters(e, tile, 0, &together, 1);
	if (!e->cpus)
		return add_counters(e, tile, 0, kinds, NR_KINDS);
	while (!err && nr < esp_cpu_tiles_nr(e->cpus))
		err = add_cpu_tile(e, tile, nr++);
	return err ? err : add_counters(e, tile, nr, &kinds[DMA_READS], NR_KINDS - DMA_READS);
}

static int check_machine(const struct esp *e, struct diag *d)
{
	uint64_t pause = esp_reader_pause_ns(&e->reader);

	if (!e->cpus && e->c->cpus->nr_sockets != 1)
		return diag_fail(d, -EINVAL, "this machine has %u sockets, and an ESP has one",
				 e->c->cpus->nr_sockets);
	if (!e->soc.nr[ESP_TILE_MEM])
		return diag_fail(d, -ENODEV, "this ESP has no memory tile: nothing to attribute");
	if (e->c->args->window_ns <= pause)
		return 0;
	diag_fail(d, -EINVAL, "windows of %g ms are too long for counters of 32 bits at %g MHz",
		  (double)e->c->args->window_ns / 1e6, (double)e->soc.clock_hz / 1e6);
	return diag_advise(d, -EINVAL, "--window %gms, or less", (double)pause / 1e6);
}

static void make_notes(struct esp *e)
{
	uint32_t frozen = esp_window_found_frozen(e->reader.window);
	size_t nr = 0;

	snprintf(e->note[nr++], sizeof(e->note[0]),
		 "an ESP counts all accesses to DRAM together: %s",
		 e->soc.caches
			 ? "by CPUs or DMA, reads or writes, is estimated from the words that "
			   "passed the queues of its memory tiles"
			 : "one without caches does not tell reads from writes, nor DMA from CPUs");
	if (e->cpus)
		str_copy(e->note[nr++], sizeof(e->note[0]), BY_MISSES);
	else if (e->why_one[0])
		snprintf(e->note[nr++], sizeof(e->note[0]),
			 "accesses of CPUs are not divided by L2 misses of CPU tiles: %s",
			 e->why_one);
	if (e->accelerators && esp_accelerators_note(e->accelerators)[0])
		str_copy(e->note[nr++], sizeof(e->note[0]), esp_accelerators_note(e->accelerators));
	if (frozen)
		snprintf(e->note[nr], sizeof(e->note[0]),
			 "%u tile%s had been left frozen by another program: released", frozen,
			 frozen == 1 ? "" : "s");
}

static int find(void *s, struct source_context *c, struct diag *d)
{
	struct esp *e = s;
	int err = esp_soc_read(c->args->esp, d, &e->soc);

	e->c = c;
	if (err)
		return err;
	err = esp_cpu_tiles_find(c, &e->soc, &e->cpus, &e->why_one);
	return err ? diag_no_memory(d) : 0;
}

static int open_all(void *s, struct source_context *c, struct diag *d)
{
	struct esp *e = s;
	int err = esp_tree_check(&e->soc, ESP_TREE, d);

	if (!err)
		err = esp_reader_open(&e->soc, d, &e->reader);
	if (!err)
		err = check_machine(e, d);
	if (err)
		return err;
	c->cuts = true;
	str_copy(c->header->host.platform, sizeof(c->header->host.platform), "esp");
	if (e->cpus)
		esp_cpu_tiles_open(e->cpus, &e->reader);
	e->tiles = calloc(e->soc.nr[ESP_TILE_MEM], sizeof(*e->tiles));
	e->bases = calloc(e->soc.nr[ESP_TILE_MEM], sizeof(*e->bases));
	if (!e->tiles || !e->bases)
		return diag_no_memory(d);
	for (uint32_t i = 0; i < esp_nr_tiles(&e->soc); i++)
		if (e->soc.tiles[i].type == ESP_TILE_MEM && add_tile(e, i))
			return diag_no_memory(d);
	if (e->soc.caches)
		err = esp_accelerators_new(c, &e->reader, d, &e->accelerators);
	make_notes(e);
	return err;
}

static int attach(void *s, struct diag *d)
{
	struct esp *e = s;
	struct host_info *host = &e->c->header->host;

	if (e->cpus)
		str_append(host->tick_note, sizeof(host->tick_note), "%s%s",
			   host->tick_note[0] ? "; " : "", BY_MISSES);
	return e->accelerators ? esp_accelerators_attach(e->accelerators, d) : 0;
}

static void free_all(void *s)
{
	struct esp *e = s;

	esp_accelerators_free(e->accelerators);
	esp_cpu_tiles_free(e->cpus);
	esp_reader_close(&e->reader);
	free(e->tiles);
	free(e->bases);
}

/* --- while it runs */

/* Accesses that were not read are in the next window, unless counters may have wrapped by then. */
static void read_tile(struct esp *e, struct memory_tile *t)
{
	t->is_new = !esp_reader_tile(&e->reader, t->tile, &t->why, &t->delta);
	e->failed += !t->is_new;
	if (!t->is_new)
		return;
	t->why.what[0] = '\0';
	t->read_ns = t->delta.end_ns;
	e->late += t->delta.late;
}

static int send_window(struct esp *e, const struct memory_tile *t, uint32_t group,
		       const uint64_t *accesses, uint32_t nr)
{
	struct reading readings[NR_KINDS];
	const struct trace_window window = { group, t->delta.start_ns, t->delta.end_ns, readings };
	uint64_t time = t->delta.end_ns - t->delta.start_ns;

	for (uint32_t i = 0; i < nr; i++)
		readings[i] = (struct reading){ accesses[i] * e->soc.word_bytes, time,
						t->delta.late ? 0 : time };
	return trace_taken(trace_send_window(e->c->out, &window), &e->failed);
}

/* A window of each CPU tile; reads and writes are divided alike. */
static int send_divided(struct esp *e, const struct memory_tile *t, const struct esp_basis *basis,
			const uint64_t all[NR_KINDS])
{
	uint64_t reads[ESP_MAX_CPU_TILES], writes[ESP_MAX_CPU_TILES];
	uint32_t nr = esp_cpu_tiles_nr(e->cpus);
	bool reads_by_time, writes_by_time;
	int err = esp_cpu_tiles_divide(e->cpus, basis, all[CPU_READS], reads, &reads_by_time);

	if (!err)
		err = esp_cpu_tiles_divide(e->cpus, basis, all[CPU_WRITES], writes,
					   &writes_by_time);
	for (uint32_t i = 0; !err && i < nr; i++) {
		uint64_t parts[NR_TILE_KINDS] = { 0 };

		parts[reads_by_time ? READS_BY_TIME : TILE_READS] = reads[i];
		parts[writes_by_time ? WRITES_BY_TIME : TILE_WRITES] = writes[i];
		err = send_window(e, t, t->group + i, parts, NR_TILE_KINDS);
	}
	return err ? err : send_window(e, t, t->group + nr, &all[DMA_READS], NR_KINDS - DMA_READS);
}

static int send_tile(struct esp *e, const struct memory_tile *t, struct esp_basis *basis)
{
	struct esp_traffic traffic = esp_dma_part(&e->soc, &t->delta);
	const uint64_t all[NR_KINDS] = {
		[CPU_READS] = traffic.cpu_read, /* without caches: all */
		[CPU_WRITES] = traffic.cpu_write,
		[DMA_READS] = traffic.dma_read,
		[DMA_WRITES] = traffic.dma_write,
	};
	int err;

	if (!t->delta.late) {
		e->dma[DIRECTION_READ] += all[DMA_READS] * e->soc.word_bytes;
		e->dma[DIRECTION_WRITE] += all[DMA_WRITES] * e->soc.word_bytes;
	}
	if (!e->cpus)
		return send_window(e, t, t->group, all, e->soc.caches ? NR_KINDS : 1);
	err = send_divided(e, t, basis, all);
	*basis = (struct esp_basis){ 0 };
	return err;
}

/* CPU time is cut where windows end. A miss comes before its access, so misses are read last. */
static int read_all(struct esp *e)
{
	int err = 0;

	for (size_t i = 0; i < e->nr; i++)
		read_tile(e, &e->tiles[i]);
	if (e->cpus)
		esp_cpu_tiles_read(e->cpus, e->bases, e->nr);
	for (size_t i = 0; !err && i < e->nr; i++)
		if (e->tiles[i].is_new)
			err = send_tile(e, &e->tiles[i], &e->bases[i]);
	for (uint32_t i = 0; i < e->c->header->layout.nr_sockets; i++)
		ledger_mark(e->c->ledger, i, e->tiles[0].read_ns);
	if (!err && e->accelerators)
		err = esp_accelerators_read(e->accelerators, e->dma);
	memset(e->dma, 0, sizeof(e->dma));
	e->next_ns = monotonic_ns() + e->c->args->window_ns;
	return err;
}

/* Counts up to now are in no interval. */
static int start(void *s, struct diag *d)
{
	struct esp *e = s;
	struct esp_delta delta;
	int err = 0;

	for (size_t i = 0; !err && i < e->nr; i++) {
		err = esp_reader_tile(&e->reader, e->tiles[i].tile, d, &delta);
		e->tiles[i].read_ns = monotonic_ns();
	}
	if (!err && e->cpus)
		err = esp_cpu_tiles_start(e->cpus, d);
	if (!err && e->accelerators)
		err = esp_accelerators_start(e->accelerators, d);
	e->next_ns = monotonic_ns() + e->c->args->window_ns;
	return err;
}

static uint64_t next_ns(const void *s)
{
	const struct esp *e = s;

	return e->next_ns;
}

static int step(void *s, struct diag *d)
{
	struct esp *e = s;
	int err;

	(void)d;
	if (monotonic_ns() < e->next_ns)
		return 0;
	err = read_all(e);
	return err || !e->accelerators ? err : esp_accelerators_look(e->accelerators, false);
}

static int mark(void *s, enum mark_kind kind, struct diag *d)
{
	struct esp *e = s;
	int err = read_all(e);

	(void)kind;
	(void)d;
	return err || !e->accelerators ? err : esp_accelerators_look(e->accelerators, true);
}

static void quality(const void *s, struct quality *ret)
{
	const struct esp *e = s;

	ret->invalid_windows += e->failed + e->late;
	if (e->cpus)
		ret->invalid_windows += esp_cpu_tiles_failed(e->cpus);
	if (e->accelerators)
		ret->invalid_windows += esp_accelerators_failed(e->accelerators);
}

static void describe(const void *s, size_t i, char *ret_text, size_t size)
{
	const struct esp *e = s;

	if (!i)
		snprintf(ret_text, size, "%zu memory tile%s of an ESP every %g ms", e->nr,
			 e->nr == 1 ? "" : "s", (double)e->c->args->window_ns / 1e6);
}

static const char *note(const void *s, size_t i)
{
	const struct esp *e = s;

	return i < ARRAY_SIZE(e->note) && e->note[i][0] ? e->note[i] : NULL;
}

static bool trouble(const void *s, char *ret_text, size_t size)
{
	const struct esp *e = s;
	uint64_t now = monotonic_ns();

	for (size_t i = 0; i < e->nr; i++) {
		if (!e->tiles[i].why.what[0] || now < e->tiles[i].read_ns + TROUBLE_NS)
			continue;
		str_copy(ret_text, size, e->tiles[i].why.what);
		return true;
	}
	return false;
}

const struct live_source source_esp = {
	.order = SOURCE_BEFORE,
	.size = sizeof(struct esp),
	.wanted = wanted,
	.find = find,
	.open = open_all,
	.attach = attach,
	.start = start,
	.next_ns = next_ns,
	.step = step,
	.mark = mark,
	.quality = quality,
	.describe = describe,
	.note = note,
	.trouble = trouble,
	.free = free_all,
};
