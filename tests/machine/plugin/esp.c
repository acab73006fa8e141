/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Monitors of an ESP system-on-chip: a control word and 59 counters of 32 bits in each tile. As in
 * the hardware's sources a tile that is frozen shows a copy of its counters, which go on. Eight
 * tiles work. Behind them nothing answers: what is read is all ones. The last place has a tile that
 * stays frozen once it was.
 *
 * A flow names its tile, and its events are numbers of counters. Two pairs of counters are the
 * words of one number: flows have events of the low one. Nothing is zero at first: all 32 bits of a
 * counter are used up soon, as in a system that has been running for a while.
 */
#include <stddef.h>

#include "machine.h"

#define NR_COUNTERS 59
#define FIRST_VALUE 0xfff00000u
/* The low word of each pair; the high one is the next */
#define MEMORY_LOW  14
#define TOTAL_LOW   16
#define FREEZE	    1u

struct tile {
	unsigned int number;
	bool frozen;
	uint32_t copy[NR_COUNTERS];
};
/* Those that work, and the one that does not */
static struct tile tiles[ESP_TILES + 1];

static bool pass_esp(const void *unit, unsigned int index, const struct flow *f)
{
	(void)index;
	return f->kind == KIND_ESP && f->port == ((const struct tile *)unit)->number;
}

static uint32_t count(const struct tile *t, unsigned int i, uint64_t now)
{
	bool high = i == MEMORY_LOW + 1 || i == TOTAL_LOW + 1;
	unsigned int event = i - high;
	uint64_t value = FIRST_VALUE + flows_total(pass_esp, t, event, event, now);

	return (uint32_t)(high ? value >> 32 : value);
}

static struct tile *tile_at(uint64_t offset)
{
	unsigned int n = (unsigned int)(offset / ESP_TILE_SIZE);
	struct tile *t;

	if (n >= ESP_TILES && n != ESP_STUCK)
		return NULL;
	t = &tiles[n < ESP_TILES ? n : ESP_TILES];
	t->number = n;
	return t;
}

uint32_t esp_read(uint64_t offset)
{
	struct tile *t = tile_at(offset);
	unsigned int word = (unsigned int)(offset % ESP_TILE_SIZE) / 4;

	if (!t)
		return UINT32_MAX;
	if (word > NR_COUNTERS)
		return 0;
	if (!word)
		return t->frozen;
	return t->frozen ? t->copy[word - 1] : count(t, word - 1, now_ns());
}

void esp_write(uint64_t offset, uint32_t value)
{
	struct tile *t = tile_at(offset);
	uint64_t now = now_ns();

	if (!t || offset % ESP_TILE_SIZE || (t->number == ESP_STUCK && t->frozen))
		return;
	t->frozen = value & FREEZE;
	for (unsigned int i = 0; t->frozen && i < NR_COUNTERS; i++)
		t->copy[i] = count(t, i, now);
}
