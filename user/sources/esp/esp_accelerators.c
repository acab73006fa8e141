// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "sources/esp/esp_accelerators.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/clock.h"
#include "base/text.h"
#include "live/sources/device_io.h"
#include "trace/header.h"

/* Counters to read, if the hardware has them */
#define COUNTERS ESP_BITS(ESP_ACC_TLB, 6)

static const uint32_t work_counters[NR_WORKS] = {
	[WORK_INVOCATIONS] = ESP_ACC_INVOCATIONS,
	[WORK_CYCLES] = ESP_ACC_TOT_LO,
	[WORK_MEMORY_CYCLES] = ESP_ACC_MEM_LO,
	[WORK_TLB_CYCLES] = ESP_ACC_TLB,
};

/*
 * @group: in the header, of its bytes; the next one is of its work
 * @works, @nr_works: its counters of work; by work, the amount in the open window
 */
struct accelerator {
	uint32_t tile;
	uint32_t group;
	enum work works[NR_WORKS];
	uint32_t nr_works;
	uint64_t did[NR_WORKS];
	uint64_t start_ns; /* of the open window */
	uint64_t end_ns;
	bool late;
};

/*
 * @busy, @before: by accelerator, cycles in this window and in the last one
 * @bytes: by direction, of DMA: of this window, and of the last one if no accelerator was busy
 * @parts: by accelerator, of one direction
 */
struct esp_accelerators {
	const struct source_context *c;
	struct esp_reader *reader;
	struct accelerator *items;
	size_t nr;
	uint64_t *busy;
	uint64_t *before;
	uint64_t *parts[ESP_WAYS];
	uint64_t bytes[ESP_WAYS];
	struct device_list list;
	struct device_io *io;
	uint64_t failed;
	char note[256];
};

/* --- setup */

static void describe(const struct esp_tile *t, struct device *ret)
{
	*ret = (struct device){ .kind = DEVICE_ACCELERATOR, .filter = DEVICE_BY_TILE };
	snprintf(ret->bdf, sizeof(ret->bdf), "acc%u", t->number);
	str_copy(ret->name, sizeof(ret->name), t->ip);
}

/* Outside of CPU tiles the socket is the last one, as for DMA that memory tiles count. */
static uint32_t socket_of(const struct esp_accelerators *a)
{
	return a->c->header->layout.nr_sockets - 1;
}

static int add_counters(struct esp_accelerators *a, const struct esp_tile *t)
{
	struct trace_header *h = a->c->header;
	struct group group = { .socket = socket_of(a), .nr = ESP_WAYS };
	struct counter counters[ESP_WAYS];

	a->items[a->nr].group = h->layout.nr_groups;
	for (int way = 0; way < ESP_WAYS; way++) {
		struct counter *k = &counters[way];

		*k = (struct counter){ .source = SOURCE_DEVICE,
				       .socket = group.socket,
				       .direction = (enum direction)way,
				       .device = (uint32_t)a->nr + 1 };
		snprintf(k->name, sizeof(k->name), "acc%u/dma_%s", t->number,
			 way == DIRECTION_WRITE ? "wr" : "rd");
		snprintf(k->pmu, sizeof(k->pmu), "acc%u", t->number);
		snprintf(k->event, sizeof(k->event), "dma_%s",
			 way == DIRECTION_WRITE ? "wr" : "rd");
	}
	return header_add_counters(h, counters, ESP_WAYS, &group, 1);
}

static int add_work(struct esp_accelerators *a, const struct esp_tile *t, uint64_t set)
{
	struct accelerator *item = &a->items[a->nr];
	struct counter counters[NR_WORKS];
	struct group group = { .socket = socket_of(a) };

	for (int i = 0; i < NR_WORKS; i++) {
		struct counter *k = &counters[group.nr];

		if (!(set & ESP_BITS(work_counters[i], 1)))
			continue;
		*k = (struct counter){ .source = SOURCE_DEVICE,
				       .socket = group.socket,
				       .unit = UNIT_EVENTS,
				       .device = (uint32_t)a->nr + 1 };
		snprintf(k->name, sizeof(k->name), "acc%u/%s", t->number, work_name(i));
		snprintf(k->pmu, sizeof(k->pmu), "acc%u", t->number);
		str_copy(k->event, sizeof(k->event), work_name(i));
		item->works[group.nr++] = (enum work)i;
	}
	item->nr_works = group.nr;
	return header_add_counters(a->c->header, counters, group.nr, &group, 1);
}

/* Without a node its users are unknown. */
static int add_node(struct esp_accelerators *a, const struct esp_tile *t)
{
	struct device_item *item = &a->list.items[a->list.nr++];
	struct stat st;

	if (stat(t->device, &st) || !S_ISCHR(st.st_mode)) {
		str_append(a->note, sizeof(a->note), "%s%s",
			   a->note[0] ? ", " : "users of accelerators are not known without ",
			   t->device);
		return 0;
	}
	item->nodes = calloc(1, sizeof(*item->nodes));
	if (!item->nodes)
		return -ENOMEM;
	item->nodes[item->nr_nodes++] = st.st_rdev;
	return 0;
}

static int add(struct esp_accelerators *a, uint32_t tile)
{
	const struct esp_tile *t = &a->reader->soc->tiles[tile];
	struct device device;
	int err;

	a->items[a->nr].tile = tile;
	esp_reader_only(a->reader, tile, COUNTERS);
	describe(t, &device);
	err = header_add_devices(a->c->header, &device, 1);
	if (!err)
		err = add_counters(a, t);
	if (!err)
		err = add_work(a, t, esp_tile_counters(a->reader->soc, tile) & COUNTERS);
	if (!err)
		err = add_node(a, t);
	a->nr++;
	return err;
}

static int make(struct esp_accelerators *a)
{
	const struct esp_soc *soc = a->reader->soc;
	uint32_t nr = soc->nr[ESP_TILE_ACC];
	int err = 0;

	a->items = calloc(nr, sizeof(*a->items));
	a->busy = calloc(nr, sizeof(*a->busy));
	a->before = calloc(nr, sizeof(*a->before));
	a->list.items = calloc(nr, sizeof(*a->list.items));
	for (int way = 0; way < ESP_WAYS; way++)
		a->parts[way] = calloc(nr, sizeof(*a->parts[way]));
	if (!a->items || !a->busy || !a->before || !a->list.items || !a->parts[DIRECTION_READ] ||
	    !a->parts[DIRECTION_WRITE])
		return -ENOMEM;
	for (uint32_t i = 0; !err && i < nr; i++)
		err = add(a, esp_tile_at(soc, ESP_TILE_ACC, i));
	return err;
}

int esp_accelerators_new(const struct source_context *c, struct esp_reader *reader, struct diag *d,
			 struct esp_accelerators **ret)
{
	struct esp_accelerators *a;

	*ret = NULL;
	if (!reader->soc->nr[ESP_TILE_ACC])
		return 0;
	a = calloc(1, sizeof(*a));
	if (!a)
		return diag_no_memory(d);
	a->c = c;
	a->reader = reader;
	*ret = a;
	return make(a) ? diag_no_memory(d) : 0;
}

void esp_accelerators_free(struct esp_accelerators *a)
{
	if (!a)
		return;
	device_io_free(a->io);
	for (size_t i = 0; i < a->list.nr; i++)
		free(a->list.items[i].nodes);
	free(a->list.items);
	for (int way = 0; way < ESP_WAYS; way++)
		free(a->parts[way]);
	free(a->items);
	free(a->busy);
	free(a->before);
	free(a);
}

int esp_accelerators_attach(struct esp_accelerators *a, struct diag *d)
{
	int err = device_io_new(&a->list, a->c->ledger, a->c->cgroups, NULL, a->c->out, a->c->feed,
				&a->io);

	return err ? diag_error(d, err, "cannot look for users of accelerators in /proc") : 0;
}

int esp_accelerators_start(struct esp_accelerators *a, struct diag *d)
{
	struct esp_delta delta;
	int err = 0;

	for (size_t i = 0; !err && i < a->nr; i++) {
		err = esp_reader_tile(a->reader, a->items[i].tile, d, &delta);
		a->items[i].start_ns = delta.end_ns;
	}
	device_io_start(a->io, monotonic_ns());
	return err;
}

/* --- while it runs */

/* False when one could not be read: all wait for it, because its share is unknown. */
static bool read_all(struct esp_accelerators *a)
{
	struct esp_delta delta;
	bool all = true;

	for (size_t i = 0; i < a->nr; i++) {
		struct accelerator *item = &a->items[i];

		if (esp_reader_tile(a->reader, item->tile, NULL, &delta)) {
			a->failed++;
			all = false;
			continue;
		}
		a->busy[i] += delta.counts[ESP_ACC_MEM_LO];
		for (int k = 0; k < NR_WORKS; k++)
			item->did[k] += delta.counts[work_counters[k]];
		item->late |= delta.late;
		item->end_ns = delta.end_ns;
		a->failed += delta.late;
	}
	return all;
}

static int send_window(struct esp_accelerators *a, size_t i)
{
	struct accelerator *item = &a->items[i];
	uint64_t time = item->end_ns - item->start_ns;
	struct reading readings[ESP_WAYS], works[NR_WORKS];
	const struct trace_window w = { item->group, item->start_ns, item->end_ns, readings };
	const struct trace_window did = { item->group + 1, item->start_ns, item->end_ns, works };
	int err;

	for (int way = 0; way < ESP_WAYS; way++)
		readings[way] = (struct reading){ a->parts[way][i], time, item->late ? 0 : time };
	for (uint32_t k = 0; k < item->nr_works; k++)
		works[k] =
			(struct reading){ item->did[item->works[k]], time, item->late ? 0 : time };
	memset(item->did, 0, sizeof(item->did));
	err = trace_taken(trace_send_window(a->c->out, &w), &a->failed);
	if (!err)
		err = trace_taken(trace_send_window(a->c->out, &did), &a->failed);
	item->start_ns = item->end_ns;
	item->late = false;
	return err;
}

/* Words may be counted just outside of the cycles in which they moved. */
static void divide(struct esp_accelerators *a, const uint64_t bytes[ESP_WAYS])
{
	uint64_t *busy;

	for (int way = 0; way < ESP_WAYS; way++) {
		bool anybody = esp_dma_divide(a->bytes[way], a->busy, a->nr, a->parts[way]) ||
			       esp_dma_divide(a->bytes[way], a->before, a->nr, a->parts[way]);
		a->bytes[way] = anybody ? 0 : bytes[way];
	}
	busy = a->before;
	a->before = a->busy;
	a->busy = busy;
	memset(a->busy, 0, a->nr * sizeof(*a->busy));
}

int esp_accelerators_read(struct esp_accelerators *a, const uint64_t bytes[ESP_WAYS])
{
	int err = 0;

	for (int way = 0; way < ESP_WAYS; way++)
		a->bytes[way] += bytes[way];
	if (!read_all(a))
		return 0;
	divide(a, bytes);
	for (size_t i = 0; !err && i < a->nr; i++)
		err = send_window(a, i);
	return err;
}

int esp_accelerators_look(struct esp_accelerators *a, bool mark)
{
	return device_io_look(a->io, monotonic_ns(), mark);
}

uint64_t esp_accelerators_failed(const struct esp_accelerators *a)
{
	return a->failed;
}

const char *esp_accelerators_note(const struct esp_accelerators *a)
{
	return a->note;
}
