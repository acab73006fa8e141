/* SPDX-License-Identifier: GPL-2.0-only */
/* The memory controllers of AmpereOne (mcu.c) and Kunpeng (ddrc.c), without QEMU. */
#include <stdio.h>

#include "../units.h"
#include "check.h"
#include "fake.h"

#define PMEVCNTR   0x000
#define PMEVTYPER  0x400
#define PMCNTENSET 0xc00
#define PMIMPDEF   0xd80
#define PMCR	   0xe04
#define PMIIDR	   0xe08
#define RD_RDA	   0x0f

/* --- AmpereOne */

static void wr(const struct uncore *u, unsigned int offset, uint64_t value)
{
	units_write(u->offset + offset, 4, value);
}

static uint64_t rd(const struct uncore *u, unsigned int offset)
{
	uint64_t value = 0;

	units_read(u->offset + offset, 8, &value);
	return value;
}

static void count_reads(const struct uncore *u)
{
	wr(u, PMEVTYPER, RD_RDA);
	wr(u, PMCNTENSET, 1);
	wr(u, PMCR, 1);
}

static void start_ampereone(void)
{
	fake_start(SHAPE_AMPEREONE, 64);
	units_init();
	for (unsigned int s = 0; s < 2; s++)
		for (unsigned int n = 0; n < NR_MCUS; n++)
			count_reads(unit_find(KIND_MCU, s, n));
}

static uint64_t sum_of_socket(unsigned int socket)
{
	uint64_t sum = 0;

	for (unsigned int n = 0; n < NR_MCUS; n++)
		sum += rd(unit_find(KIND_MCU, socket, n), PAGE_SIZE + PMEVCNTR);
	return sum;
}

static void test_mcus_share_lines(void)
{
	start_ampereone();
	add_flow(KIND_MCU, RD_RDA, UNIT_LINES, 0);
	add_flow(KIND_MCU, RD_RDA, UNIT_LINES, 1)->socket = 1;
	move(0, 64 * 13);
	move(1, 63);
	CHECK(sum_of_socket(0), 13);
	CHECK(sum_of_socket(1), 0);
	CHECK(rd(unit_find(KIND_MCU, 0, 4), PAGE_SIZE), 2);
	CHECK(rd(unit_find(KIND_MCU, 0, 5), PAGE_SIZE), 1);
	move(1, 1); /* the rest of a line is not lost */
	CHECK(sum_of_socket(1), 1);
	CHECK(unit_find(KIND_MCU, 0, NR_MCUS) == NULL, true);
	CHECK(rd(unit_find(KIND_MCU, 0, 0), PMIIDR) & 0xfff, 0xa16);
}

static void test_mcu_filters(void)
{
	const struct uncore *u;
	struct flow *f;

	start_ampereone();
	u = unit_find(KIND_MCU, 0, 0);
	f = add_flow(KIND_MCU, RD_RDA, UNIT_LINES, 0);
	f->port = 3; /* rank */
	f->dst = 5;  /* bank */
	wr(u, PMIMPDEF, 2);
	CHECK(rd(u, PMIMPDEF), 2);
	move(0, 64 * NR_MCUS);
	CHECK(rd(u, PAGE_SIZE), 1);
	wr(u, PMIMPDEF + 4, 1 << 2); /* another rank */
	move(0, 64 * NR_MCUS);
	CHECK(rd(u, PAGE_SIZE), 1);
	wr(u, PMIMPDEF + 4, 1 << 3 | 1 << 2);
	wr(u, PMIMPDEF + 8, 1 << 5);
	move(0, 64 * NR_MCUS);
	CHECK(rd(u, PAGE_SIZE), 2);
	wr(u, PMIMPDEF + 8, 1 << 4);
	move(0, 64 * NR_MCUS);
	CHECK(rd(u, PAGE_SIZE), 2);
	/* of this unit only */
	CHECK(rd(unit_find(KIND_MCU, 0, 1), PAGE_SIZE), 4);
}

/* --- Kunpeng */

#define PERF_CTRL  0x010
#define FLUX_WR	   0x380
#define FLUX_RD	   0x384
#define EVENT_CTRL 0x6c0
#define INT_MASK   0x6c8
#define INT_STATUS 0x6cc
#define INT_CLEAR  0x6d0
#define WR	   0
#define RD	   1

static void start_kunpeng(void)
{
	fake_start(SHAPE_KUNPENG, 32);
	units_init();
	ddrc_init();
	add_flow(KIND_DDRC, RD, UNIT_BEATS, 0)->socket = 1;
	add_flow(KIND_DDRC, WR, UNIT_BEATS, 1)->socket = 1;
}

static uint64_t channel_rd(unsigned int channel, unsigned int offset)
{
	return ddrc_read(1, channel * DDRC_STRIDE + offset);
}

static void channel_wr(unsigned int channel, unsigned int offset, uint64_t value)
{
	ddrc_write(1, channel * DDRC_STRIDE + offset, value);
}

/* As the driver starts a counter: half of the range, interrupt, counter, PMU */
static void channel_count(unsigned int channel, unsigned int i)
{
	channel_wr(channel, FLUX_WR + 4 * i, 1u << 31);
	channel_wr(channel, INT_MASK, channel_rd(channel, INT_MASK) & ~(1u << i));
	channel_wr(channel, EVENT_CTRL, channel_rd(channel, EVENT_CTRL) | 1u << i);
	channel_wr(channel, PERF_CTRL, 2);
}

static void test_channels_share_half_lines(void)
{
	uint64_t sum = 0;

	start_kunpeng();
	move(0, 3200);
	for (unsigned int c = 0; c < NR_DDRCS; c++)
		channel_count(c, RD);
	move(0, 32 * 21);
	move(1, 32 * 100); /* nobody counts these */
	for (unsigned int c = 0; c < NR_DDRCS; c++)
		sum += channel_rd(c, FLUX_RD) - (1u << 31);
	CHECK(sum, 21);
	CHECK(channel_rd(0, FLUX_WR), 0);
	channel_wr(0, PERF_CTRL, 0);
	sum = channel_rd(0, FLUX_RD);
	move(0, 32 * 80);
	CHECK(channel_rd(0, FLUX_RD), sum);
	channel_wr(0, PERF_CTRL, 2); /* what moved meanwhile is lost, as it is on hardware */
	CHECK(channel_rd(0, FLUX_RD), sum);
	CHECK(channel_rd(NR_DDRCS, FLUX_RD), 0);
	CHECK(ddrc_read(0, FLUX_RD), 0);
}

static void test_channel_wraps(void)
{
	const unsigned int line = NR_DDRCS + 2; /* of socket 1 */
	const uint64_t half = (uint64_t)NR_DDRCS * 32 << 31;

	start_kunpeng();
	channel_count(2, RD);
	move(0, half - 32 * NR_DDRCS);
	CHECK(channel_rd(2, FLUX_RD), UINT32_MAX);
	CHECK(channel_rd(2, INT_STATUS), 0);
	CHECK(lines[line], false);
	move(0, 32 * NR_DDRCS);
	CHECK(lines[line], true); /* without anybody looking: the port does */
	CHECK(lines[line + 1], false);
	CHECK(channel_rd(2, FLUX_RD), 0);
	CHECK(channel_rd(2, INT_STATUS), 1 << RD);
	channel_wr(2, INT_CLEAR, 1 << WR);
	CHECK(lines[line], true);
	channel_wr(2, INT_CLEAR, 1 << RD);
	CHECK(lines[line], false);
	/* an overflow that is masked is noted and says nothing */
	channel_wr(2, INT_MASK, 0xff);
	move(0, 2 * half + 32 * 7 * NR_DDRCS);
	CHECK(channel_rd(2, FLUX_RD), 7);
	CHECK(channel_rd(2, INT_STATUS), 1 << RD);
	CHECK(lines[line], false);
}

int main(void)
{
	test_mcus_share_lines();
	test_mcu_filters();
	test_channels_share_half_lines();
	test_channel_wraps();
	return checks_end("memory controllers");
}
