/* SPDX-License-Identifier: GPL-2.0-only */
/* The monitors of an ESP (esp.c), without QEMU. */
#include <stdio.h>

#include "check.h"
#include "fake.h"

#define FIRST	    0xfff00000u
#define WORD(i)	    (4 * (1 + (i)))
#define DDR	    0
#define TOTAL_LOW   16
#define INVOCATIONS 18
#define LAST	    58
#define TILE(n)	    ((n) * (uint64_t)ESP_TILE_SIZE)

static void test_counts_of_a_tile(void)
{
	fake_start(SHAPE_T410, 64);
	add_flow(KIND_ESP, DDR, UNIT_REQUESTS, 0)->request_bytes = 8;
	add_flow(KIND_ESP, LAST, UNIT_BYTES, 0)->port = 3;
	move(0, 8 * 5);
	CHECK(esp_read(TILE(0) + WORD(DDR)), FIRST + 5);
	CHECK(esp_read(TILE(0) + WORD(LAST)), FIRST);
	CHECK(esp_read(TILE(3) + WORD(LAST)), FIRST + 40);
	CHECK(esp_read(TILE(0) + WORD(LAST + 1)), 0);
}

/* The copy stands still, the counters go on */
static void test_freeze(void)
{
	fake_start(SHAPE_T410, 64);
	add_flow(KIND_ESP, DDR, UNIT_BYTES, 0);
	add_flow(KIND_ESP, INVOCATIONS, UNIT_BYTES, 0);
	add_flow(KIND_ESP, DDR, UNIT_BYTES, 0)->port = 1;
	move(0, 7);
	CHECK(esp_read(TILE(0)), 0);
	esp_write(TILE(0), 1);
	move(0, 1);
	CHECK(esp_read(TILE(0)), 1);
	CHECK(esp_read(TILE(0) + WORD(DDR)), FIRST + 7);
	CHECK(esp_read(TILE(0) + WORD(INVOCATIONS)), FIRST + 7);
	CHECK(esp_read(TILE(1) + WORD(DDR)), FIRST + 8);
	esp_write(TILE(0) + WORD(DDR), 1); /* counters cannot be written to */
	esp_write(TILE(0), 0);
	CHECK(esp_read(TILE(0)), 0);
	CHECK(esp_read(TILE(0) + WORD(DDR)), FIRST + 8);
}

static void test_wraps(void)
{
	fake_start(SHAPE_T410, 64);
	add_flow(KIND_ESP, DDR, UNIT_BYTES, 0);
	add_flow(KIND_ESP, TOTAL_LOW, UNIT_BYTES, 0);
	CHECK(esp_read(WORD(TOTAL_LOW + 1)), 0);
	move(0, 0x100000 + 9);
	CHECK(esp_read(WORD(DDR)), 9);
	CHECK(esp_read(WORD(DDR + 1)), FIRST); /* nothing is carried but in a pair */
	CHECK(esp_read(WORD(TOTAL_LOW)), 9);
	CHECK(esp_read(WORD(TOTAL_LOW + 1)), 1);
	move(0, 0x300000000ull);
	CHECK(esp_read(WORD(TOTAL_LOW + 1)), 4);
}

/* Nothing answers behind the tiles, and one stays frozen */
static void test_faults(void)
{
	fake_start(SHAPE_T410, 64);
	esp_write(TILE(ESP_TILES), 1);
	CHECK(esp_read(TILE(ESP_TILES)), 0xffffffff);
	CHECK(esp_read(TILE(ESP_STUCK) - 4), 0xffffffff);
	CHECK(esp_read(ESP_SIZE), 0xffffffff);
	CHECK(esp_read(TILE(ESP_STUCK)), 0);
	esp_write(TILE(ESP_STUCK), 1);
	esp_write(TILE(ESP_STUCK), 0);
	CHECK(esp_read(TILE(ESP_STUCK)), 1);
	CHECK(esp_read(TILE(ESP_TILES - 1)), 0);
}

int main(void)
{
	test_counts_of_a_tile();
	test_freeze();
	test_wraps();
	test_faults();
	return checks_end("monitors of an ESP");
}
