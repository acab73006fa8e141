// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * The memory tiles of an ESP (--esp): their accesses to DRAM, every window. Those of CPUs are split
 * among tasks, those of DMA are devices', and divided among accelerators.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/text.h"
#include "live/esp_accelerators.h"
#include "live/source.h"
#include "platform/esp/dma.h"
#include "trace/header.h"

/* A tile that cannot be read for so long is trouble. */
#define TROUBLE_NS (5 * NS_PER_S)

/* Counters of a memory tile, in the order of its group; without caches it has one */
enum {
	CPU_READS,
	CPU_WRITES,
	DMA_READS,
	DMA_WRITES,
	NR_KINDS,
};

/* A memory tile. */
struct memory_tile {
	uint32_t tile;
	uint32_t group;	  /* in the header */
	uint64_t read_ns; /* its last good reading */
	struct diag why;  /* it cannot be read */
};

struct esp {
	const struct source_context *c;
	struct esp_soc soc;
	struct esp_reader reader;
	struct memory_tile *tiles;
	size_t nr;
	struct esp_accelerators *accelerators; /* NULL: there are none */
	uint64_t dma[ESP_WAYS];		       /* bytes that they moved, not divided yet */
	uint64_t next_ns;
	uint64_t failed;
	uint64_t late;
	char note[3][256];
};

static bool wanted(const struct run_options *args)
{
	return args->esp;
}

/* --- setup */

static int add_counters(struct esp *e, uint32_t tile, const struct counter *kinds, uint32_t nr)
{
	struct trace_header *h = e->c->header;
	uint32_t number = e->soc.tiles[tile].number;
	struct counter counters[NR_KINDS];
	struct group group = { .nr = nr };

	for (uint32_t i = 0; i < nr; i++) {
		counters[i] = kinds[i];
		snprintf(counters[i].name, sizeof(counters[i].name), "mem%u/ddr_accesses%.16s",
			 number, kinds[i].name);
		snprintf(counters[i].pmu, sizeof(counters[i].pmu), "mem%u", number);
		str_copy(counters[i].event, sizeof(counters[i].event), "ddr_accesses");
	}
	e->tiles[e->nr++] = (struct memory_tile){ .tile = tile, .group = h->layout.nr_groups };
	return header_add_counters(h, counters, nr, &group, 1);
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

	if (!e->soc.caches) {
		esp_reader_only(&e->reader, tile, ESP_BITS(ESP_DDR_ACCESSES, 1));
		return add_counters(e, tile, &together, 1);
	}
	esp_reader_only(&e->reader, tile, ESP_DMA_COUNTERS);
	return add_counters(e, tile, kinds, NR_KINDS);
}

static int check_machine(const struct esp *e, struct diag *d)
{
	uint64_t pause = esp_reader_pause_ns(&e->reader);

	if (e->c->cpus->nr_sockets != 1)
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
	if (e->accelerators && esp_accelerators_note(e->accelerators)[0])
		str_copy(e->note[nr++], sizeof(e->note[0]), esp_accelerators_note(e->accelerators));
	if (frozen)
		snprintf(e->note[nr], sizeof(e->note[0]),
			 "%u tile%s had been left frozen by another program: released", frozen,
			 frozen == 1 ? "" : "s");
}

static int open_all(void *s, struct source_context *c, struct diag *d)
{
	struct esp *e = s;
	int err = esp_soc_read(c->args->esp, d, &e->soc);

	e->c = c;
	if (!err)
		err = esp_tree_check(&e->soc, ESP_TREE, d);
	if (!err)
		err = esp_reader_open(&e->soc, d, &e->reader);
	if (!err)
		err = check_machine(e, d);
	if (err)
		return err;
	c->cuts = true;
	str_copy(c->header->host.platform, sizeof(c->header->host.platform), "esp");
	e->tiles = calloc(esp_nr_tiles(&e->soc), sizeof(*e->tiles));
	if (!e->tiles)
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

	return e->accelerators ? esp_accelerators_attach(e->accelerators, d) : 0;
}

static void free_all(void *s)
{
	struct esp *e = s;

	esp_accelerators_free(e->accelerators);
	esp_reader_close(&e->reader);
	free(e->tiles);
}

/* --- while it runs */

/* What was not read is in the next window, unless counters may have gone around by then. */
static int read_tile(struct esp *e, struct memory_tile *t)
{
	struct reading readings[NR_KINDS];
	uint64_t values[NR_KINDS];
	struct trace_window window = { .group = t->group, .readings = readings };
	struct esp_traffic traffic;
	struct esp_delta delta;
	uint64_t time;
	int err = esp_reader_tile(&e->reader, t->tile, &t->why, &delta);

	if (err) {
		e->failed++;
		return 0;
	}
	t->why.what[0] = '\0';
	t->read_ns = delta.end_ns;
	e->late += delta.late;
	time = delta.end_ns - delta.start_ns;
	traffic = esp_dma_part(&e->soc, &delta);
	values[CPU_READS] = traffic.cpu_read; /* without caches: all */
	values[CPU_WRITES] = traffic.cpu_write;
	values[DMA_READS] = traffic.dma_read;
	values[DMA_WRITES] = traffic.dma_write;
	for (int i = 0; i < NR_KINDS; i++)
		readings[i] = (struct reading){ values[i] * e->soc.word_bytes, time,
						delta.late ? 0 : time };
	if (!delta.late) {
		e->dma[DIRECTION_READ] += readings[DMA_READS].value;
		e->dma[DIRECTION_WRITE] += readings[DMA_WRITES].value;
	}
	window.start_ns = delta.start_ns;
	window.end_ns = delta.end_ns;
	return trace_taken(trace_send_window(e->c->out, &window), &e->failed);
}

/* CPU time is cut where windows end. */
static int read_all(struct esp *e)
{
	int err = 0;

	for (size_t i = 0; !err && i < e->nr; i++)
		err = read_tile(e, &e->tiles[i]);
	ledger_mark(e->c->ledger, 0, e->tiles[0].read_ns);
	if (!err && e->accelerators)
		err = esp_accelerators_read(e->accelerators, e->dma);
	memset(e->dma, 0, sizeof(e->dma));
	e->next_ns = monotonic_ns() + e->c->args->window_ns;
	return err;
}

/* What was counted up to now is of no interval. */
static int start(void *s, struct diag *d)
{
	struct esp *e = s;
	struct esp_delta delta;
	int err = 0;

	for (size_t i = 0; !err && i < e->nr; i++) {
		err = esp_reader_tile(&e->reader, e->tiles[i].tile, d, &delta);
		e->tiles[i].read_ns = monotonic_ns();
	}
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

	return i < 3 && e->note[i][0] ? e->note[i] : NULL;
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
	.name = "esp",
	.order = SOURCE_BEFORE,
	.size = sizeof(struct esp),
	.wanted = wanted,
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
