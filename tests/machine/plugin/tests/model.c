/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The register models without QEMU: run by plugin/tests/run. Time stands still
 * unless a test moves it, and all traffic is made by hand in a private model.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../units.h"
#include "check.h"
#include "fake.h"

#define PMEVCNTR   0x000
#define PMEVTYPER  0x400
#define PMEVFILT2R 0x800
#define PMEVFILTR  0xa00
#define PMCNTENSET 0xc00
#define PMCNTENCLR 0xc20
#define PMINTENSET 0xc40
#define PMINTENCLR 0xc60
#define PMOVSCLR   0xc80
#define PMCFGR	   0xe00
#define PMCR	   0xe04
#define CYCLES	   CSPMU_CYCLE_COUNTER

/* --- the machine under test */

static void start(enum shape shape, unsigned int bits)
{
	fake_start(shape, bits);
	units_init();
	link_init();
}

static void wr(const struct uncore *u, unsigned int offset, uint64_t value)
{
	units_write(u->offset + offset, 4, value);
}

static uint64_t rd_sized(const struct uncore *u, unsigned int offset, unsigned int size)
{
	uint64_t value = 0;

	units_read(u->offset + offset, size, &value);
	return value;
}

static uint64_t rd(const struct uncore *u, unsigned int offset)
{
	return rd_sized(u, offset, 4);
}

/* Counter @i as the driver reads it: in page 1, with the size of its register */
static uint64_t counter(const struct uncore *u, unsigned int i)
{
	unsigned int size = machine.counter_bits > 32 ? 8 : 4;

	return rd_sized(u, PAGE_SIZE + PMEVCNTR + i * size, size);
}

static void set_counter(const struct uncore *u, unsigned int i, uint64_t value)
{
	unsigned int size = machine.counter_bits > 32 ? 8 : 4;

	units_write(u->offset + PAGE_SIZE + PMEVCNTR + i * size, size, value);
}

static void program(const struct uncore *u, unsigned int i, uint32_t event, uint32_t filter,
		    uint32_t filter2)
{
	wr(u, PMEVTYPER + 4 * i, event);
	wr(u, PMEVFILTR + 4 * i, filter);
	wr(u, PMEVFILT2R + 4 * i, filter2);
	wr(u, PMINTENSET, 1u << i);
	wr(u, PMCNTENSET, 1u << i);
}

/* --- tests */

static void test_exact_bytes(void)
{
	const struct uncore *u;

	start(SHAPE_T410, 64);
	u = unit_find(KIND_UCF, 0, 0);
	add_flow(KIND_UCF, 0x123, UNIT_BYTES, 1)->src = 1;
	memory.flow[0].dst = 8;
	program(u, 0, 0x123, 0xf07, 0);
	move(1, 5);
	CHECK(counter(u, 0), 0); /* not counting yet */
	wr(u, PMCR, 1);
	move(1, 7);
	CHECK(counter(u, 0), 7);
	CHECK(counter(u, 0), 7); /* looking changes nothing */
	wr(u, PMCR, 0);
	move(1, 100);
	CHECK(counter(u, 0), 7);
	wr(u, PMCR, 1);
	move(1, 1);
	CHECK(counter(u, 0), 8);
	wr(u, PMCR, 1 | 2); /* event counters to zero */
	CHECK(counter(u, 0), 0);
}

static void test_filter_changes_while_counting(void)
{
	const struct uncore *u;

	start(SHAPE_T410, 64);
	u = unit_find(KIND_UCF, 0, 0);
	add_flow(KIND_UCF, 0x123, UNIT_BYTES, 1)->src = 1; /* cpu */
	memory.flow[0].dst = 8;
	add_flow(KIND_UCF, 0x123, UNIT_BYTES, 2)->src = 0; /* others */
	memory.flow[1].dst = 8;
	move(1, 1000000);
	program(u, 0, 0x123, 0xf02, 0);
	program(u, 1, 0x123, 0xf07, 0);
	wr(u, PMCR, 1);
	move(1, 11);
	move(2, 200);
	CHECK(counter(u, 0), 11);
	wr(u, PMEVFILTR, 0xf01); /* from cpu to others: a total that is far smaller */
	CHECK(counter(u, 0), 11);
	move(1, 5);
	move(2, 300);
	CHECK(counter(u, 0), 311);
	wr(u, PMEVTYPER, 0x124); /* an event nobody causes */
	move(2, 1);
	CHECK(counter(u, 0), 311);
	wr(u, PMEVFILTR, 0);
	CHECK(counter(u, 1), 11 + 200 + 5 + 300 + 1);
}

static void test_requests_keep_their_rests(void)
{
	const struct uncore *u;

	start(SHAPE_T410, 64);
	u = unit_find(KIND_PCIE, 1, 3);
	for (int i = 0; i < 2; i++) {
		struct flow *f =
			add_flow(KIND_PCIE, i ? 4 : 2, i ? UNIT_OUTSTANDING : UNIT_REQUESTS, 0);

		f->socket = 1;
		f->rc = 3;
		f->port = 1;
	}
	program(u, 0, 2, 0xff, 0x1f);
	program(u, 1, 4, 0xff, 0x1f);
	wr(u, PMCR, 1);
	for (int i = 0; i < 320; i++)
		move(0, 7); /* 2240 bytes are 70 requests, though no store holds one */
	CHECK(counter(u, 0), 70);
	CHECK(counter(u, 1), 7000);
}

static void test_pcie_filters(void)
{
	const struct uncore *u;
	struct flow *f;

	start(SHAPE_T410, 64);
	u = unit_find(KIND_PCIE, 0, 1);
	f = add_flow(KIND_PCIE, 0, UNIT_BYTES, 0);
	f->rc = 1;
	f->port = 2;
	f->bdf = 0xa100;
	f->dst = 4;
	program(u, 0, 0, 1 << 2, 0x1f);
	program(u, 1, 0, 1 << 3, 0x1f);
	program(u, 2, 0, 0xa100 << 8 | 1 << 24, 0x1f);
	program(u, 3, 0, 0xa101 << 8 | 1 << 24, 0x1f);
	program(u, 4, 0, 0xa100 << 8, 0x1f); /* not enabled: neither ports nor id */
	program(u, 5, 0, 0xff, 0x0f);	     /* every destination but the flow's */
	wr(u, PMCR, 1);
	move(0, 64);
	CHECK(counter(u, 0), 64);
	CHECK(counter(u, 1), 0);
	CHECK(counter(u, 2), 64);
	CHECK(counter(u, 3), 0);
	CHECK(counter(u, 4), 0);
	CHECK(counter(u, 5), 0);
	CHECK(counter(unit_find(KIND_PCIE, 1, 1), 0), 0);
}

static void set_window(const struct uncore *u, unsigned int k, uint64_t base, uint64_t mask)
{
	unsigned int at = 2 * PAGE_SIZE + 0xd38 + 20 * k;

	wr(u, at + 4, (uint32_t)base);
	wr(u, at + 8, base >> 32);
	wr(u, at + 12, (uint32_t)mask);
	wr(u, at + 16, mask >> 32);
	wr(u, at, 1);
}

static void test_target_windows(void)
{
	const struct uncore *u;
	struct flow *f;

	start(SHAPE_T410, 64);
	u = unit_find(KIND_TGT, 0, 1);
	f = add_flow(KIND_TGT, 0, UNIT_BYTES, 0); /* BAR space of port 1 */
	f->rc = 1;
	f->port = 1;
	f->address = 0x40001000;
	f = add_flow(KIND_TGT, 0, UNIT_BYTES, 1); /* CXL memory */
	f->rc = 1;
	f->dst = 1;
	f->address = 0x8000010080;
	program(u, 0, 0, 0, 0xff);
	program(u, 1, 0, 0, 1 << 8);
	program(u, 2, 0, 0, 1 << 9);
	program(u, 3, 0, 0, 1 << 8 | 1 << 1);
	program(u, 4, 0, 0, 1 << 8 | 1 << 2);
	set_window(u, 0, 0x40000000, ~0xfffffull);
	set_window(u, 1, 0x8000010000, ~0xfffull);
	wr(u, PMCR, 1);
	move(0, 10);
	move(1, 20);
	CHECK(counter(u, 0), 10);
	CHECK(counter(u, 1), 10);
	CHECK(counter(u, 2), 20);
	CHECK(counter(u, 3), 10);
	CHECK(counter(u, 4), 0);
	wr(u, 2 * PAGE_SIZE + 0xd38, 0); /* the window closes under a running counter */
	move(0, 1000);
	CHECK(counter(u, 1), 10);
	CHECK(rd(u, 2 * PAGE_SIZE + 0xd38 + 4), 0x40000000);
}

static void test_grace(void)
{
	const struct uncore *u;

	start(SHAPE_GRACE, 64);
	CHECK(unit_find(KIND_UCF, 0, 0) == NULL, true);
	u = unit_find(KIND_GPCIE, 1, 0);
	add_flow(KIND_GPCIE, 0, UNIT_BYTES, 0)->socket = 1;
	memory.flow[0].port = 9;
	program(u, 0, 0, 0x200, 0);
	program(u, 1, 0, 0x1ff, 0);
	wr(u, PMCR, 1);
	move(0, 3);
	CHECK(counter(u, 0), 3);
	CHECK(counter(u, 1), 0);
	CHECK(rd(u, 0xe08), 0x1030036b);
	u = unit_find(KIND_SCF, 0, 0);
	add_flow(KIND_SCF, 0x1a5, UNIT_BEATS, 1);
	program(u, 0, 0x1a5, 0, 0);
	wr(u, PMCR, 1);
	move(1, 63);
	CHECK(counter(u, 0), 1);
}

static void test_wrap(unsigned int bits)
{
	uint64_t mask = UINT64_MAX >> (64 - bits);
	const struct uncore *u;
	unsigned int line;

	start(SHAPE_T410, bits);
	u = unit_find(KIND_UCF, 1, 0);
	line = u->pmu.line;
	add_flow(KIND_UCF, 0x123, UNIT_BYTES, 0)->socket = 1;
	memory.flow[0].dst = 8;
	CHECK(rd(u, PMCFGR) >> 8 & 63, bits - 1);
	CHECK(rd(u, PMCFGR) & 0xff, CSPMU_EVENT_COUNTERS);
	program(u, 3, 0x123, 0xf07, 0);
	set_counter(u, 3, mask >> 1);
	wr(u, PMCR, 1);
	move(0, mask - (mask >> 1));
	CHECK(counter(u, 3), mask);
	CHECK(rd(u, PMOVSCLR), 0);
	CHECK(lines[line], false);
	move(0, 5);
	if (bits < 64) /* at 64 nobody polls, the flag comes with the next look */
		CHECK(lines[line], true);
	CHECK(counter(u, 3), 4);
	CHECK(rd(u, PMOVSCLR), 1 << 3);
	CHECK(lines[line], true);
	wr(u, PMOVSCLR, 1 << 2); /* another counter's flag */
	CHECK(lines[line], true);
	wr(u, PMINTENCLR, 1 << 3);
	CHECK(lines[line], false);
	wr(u, PMINTENSET, 1 << 3);
	CHECK(lines[line], true);
	wr(u, PMOVSCLR, 1 << 3);
	CHECK(lines[line], false);
	CHECK(rd(u, PMOVSCLR), 0);
	set_counter(u, 3, UINT64_MAX);
	CHECK(counter(u, 3), mask);
}

static void test_cycles(void)
{
	const struct uncore *u;

	start(SHAPE_T410, 64);
	u = unit_find(KIND_UCF, 0, 0);
	wr(u, PMCNTENSET, 1u << CYCLES);
	program(u, 0, 0x1d, 0xf07, 0);
	wr(u, PMCR, 1);
	fake_ns += 1500;
	CHECK(counter(u, CYCLES), 3000);
	CHECK(counter(u, 0), 3000); /* bus cycles */
	wr(u, PMCNTENCLR, 1u << CYCLES);
	fake_ns += 1000;
	CHECK(counter(u, CYCLES), 3000);
	wr(u, PMCNTENSET, UINT32_MAX); /* only counters that exist */
	CHECK(rd(u, PMCNTENSET), 1u << CYCLES | 0xff);
}

static void test_halves(void)
{
	const struct uncore *u;

	start(SHAPE_T410, 48);
	u = unit_find(KIND_UCF, 0, 0);
	wr(u, PMEVCNTR + 8, 0x89abcdef);
	wr(u, PMEVCNTR + 12, 0x01234567);
	CHECK(counter(u, 1), 0x456789abcdef); /* 48 bits */
	CHECK(rd(u, PMEVCNTR + 12), 0x4567);
}

static void test_rates(void)
{
	const struct uncore *u;
	struct flow *f;

	start(SHAPE_T410, 32);
	u = unit_find(KIND_UCF, 0, 0);
	f = add_flow(KIND_UCF, 0x123, UNIT_NONE, 0);
	f->dst = 8;
	f->event[0].ramp = (struct ramp){ .rate = 40 * 1000000000ull, .since_ns = fake_ns };
	program(u, 0, 0x123, 0xf07, 0);
	wr(u, PMCR, 1);
	fake_ns += 100000000; /* 4 GB, less than a wrap */
	CHECK(counter(u, 0), 4000000000u);
	CHECK(rd(u, PMOVSCLR), 0);
	fake_ns += 100000000;
	units_poll();
	CHECK(lines[u->pmu.line], true);
	CHECK(counter(u, 0), (uint32_t)8000000000ull);
}

static uint64_t link_sum(unsigned int which, unsigned int instances, unsigned int offset)
{
	uint64_t sum = 0;

	for (unsigned int i = 0; i < instances; i++)
		sum += link_read(0, which, i * PAGE_SIZE + offset) |
		       link_read(0, which, i * PAGE_SIZE + offset + 4) << 32;
	return sum;
}

static void test_links(void)
{
	const unsigned int nvlink_ctrl = 14 * PAGE_SIZE + 0x864;

	start(SHAPE_T410, 64);
	add_flow(KIND_NVLINK, 2, UNIT_REQUESTS, 0)->port = 1;
	move(0, 32 * 1000);
	link_write(0, 0, nvlink_ctrl, 1);
	move(0, 32 * 101);
	CHECK(link_sum(0, 14, 0x87c), 101);
	CHECK(link_sum(0, 7, 0x87c), 0); /* the other GPU's instances */
	link_write(0, 0, nvlink_ctrl, 0);
	move(0, 32 * 7);
	CHECK(link_sum(0, 14, 0x87c), 101);
	link_write(0, 0, nvlink_ctrl, 1); /* starts again from zero */
	CHECK(link_sum(0, 14, 0x87c), 0);
	machine.peer = PEER_CPU;
	link_init();
	memory.flow[0].port = 0;
	link_write(0, 0, nvlink_ctrl, 1);
	move(0, 32 * 14);
	CHECK(link_sum(0, 1, 0x87c), 1);
	CHECK(link_sum(0, 14, 0x87c), 14);
}

static void test_cmem(void)
{
	const unsigned int ctrl = 14 * PAGE_SIZE + 0x808;
	uint64_t sum = 0;

	start(SHAPE_T410, 64);
	add_flow(KIND_CMEM, 1, UNIT_REQUESTS, 0);
	cmem_write(0, ctrl, 2);
	cmem_write(0, ctrl, 1);
	move(0, 32 * 1001);
	for (unsigned int i = 0; i < 14; i++)
		sum += cmem_read(0, i * PAGE_SIZE + 0x820) + cmem_read(0, i * PAGE_SIZE + 0x838) +
		       cmem_read(0, i * PAGE_SIZE + 0x850);
	CHECK(sum, 1001);
	CHECK(cmem_read(1, 0x820), 0);
	fake_ns += 500;
	CHECK(cmem_read(0, 0x818), 1000);
	cmem_write(0, ctrl, 0);
	move(0, 3200);
	cmem_write(0, ctrl, 2);
	CHECK(cmem_read(0, 0x820), 0);
}

static void test_port(void)
{
	start(SHAPE_T410, 64);
	CHECK(port_read(PORT_MAGIC), PORT_MAGIC_VALUE);
	CHECK(port_read(PORT_NR_SLOTS), SHM_MAX_SLOTS);
	move(63, 9);
	move(63, 1);
	move(64, 1); /* no such slot */
	CHECK(port_read(PORT_SLOTS + 63 * PORT_SLOT_STRIDE + PORT_SLOT_TOTAL), 10);
	CHECK(port_read(PORT_SLOTS + 63 * PORT_SLOT_STRIDE + PORT_SLOT_WRITES), 2);
	CHECK(port_read(PORT_SLOTS + 63 * PORT_SLOT_STRIDE + PORT_SLOT_BOUND), 0);
	CHECK(port_read(PORT_SIZE - 8), 0);
}

int main(void)
{
	test_exact_bytes();
	test_filter_changes_while_counting();
	test_requests_keep_their_rests();
	test_pcie_filters();
	test_target_windows();
	test_grace();
	test_wrap(16);
	test_wrap(32);
	test_wrap(33);
	test_wrap(64);
	test_cycles();
	test_halves();
	test_rates();
	test_links();
	test_cmem();
	test_port();
	return checks_end("register models");
}
