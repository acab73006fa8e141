/* SPDX-License-Identifier: GPL-2.0-only */
/* The mesh (cmn.c) without QEMU: walked and programmed as its driver does. */
#include <stdio.h>

#include "../machine.h"
#include "check.h"
#include "fake.h"

#define TYPE_CFG     0x02
#define TYPE_DTC     0x03
#define TYPE_HNF     0x05
#define TYPE_XP	     0x06
#define TYPE_SBSX    0x07
#define TYPE_RND     0x0d
#define MC_REQS	     0x0d
#define MESH_X	     3

#define MAX_NODES    32
#define NODE_BASE(r) ((unsigned int)((r)&0x3fffffff))
#define DTM	     0x2210
#define DTM_COUNTS   0x2220
#define PMCR	     0x2100
#define OVERFLOWS    0x2118
#define CLEAR	     0x2120
#define CYCLES	     0x2040
#define HALF	     0x80000000u

/* What the driver learns of a node */
static struct node {
	unsigned int base, type, id, logid, xp_base;
} nodes[MAX_NODES];
static unsigned int nr_nodes, dtc;

static uint64_t rd(unsigned int offset)
{
	return cmn_read(0, offset, 8);
}

static void wr(unsigned int offset, unsigned int size, uint64_t value)
{
	cmn_write(0, offset, size, value);
}

static unsigned int nr_of(unsigned int type)
{
	unsigned int n = 0;

	for (unsigned int i = 0; i < nr_nodes; i++)
		n += nodes[i].type == type;
	return n;
}

static void discover(void)
{
	uint64_t info = rd(0x80), of_xp, node;

	nr_nodes = 0;
	CHECK(rd(0) & 0xffff, TYPE_CFG);
	CHECK(rd(8), 0x3c | 0x4ull << 32);
	for (unsigned int x = 0; x < (info & 0xffff); x++) {
		unsigned int xp = NODE_BASE(rd((info >> 16 & 0xffff) + 8 * x));

		CHECK(rd(xp) & 0xffff, TYPE_XP);
		CHECK(rd(xp) >> 32, x);
		/* id: two bits of x and of y above three of ports and devices */
		CHECK(rd(xp) >> 16 & 0xffff, (x % MESH_X * 4 + x / MESH_X) * 8);
		CHECK(rd(xp + 0x18), 0); /* no third port */
		of_xp = rd(xp + 0x80);
		for (unsigned int n = 0; n < (of_xp & 0xffff); n++) {
			unsigned int base = NODE_BASE(rd(xp + (of_xp >> 16 & 0xffff) + 8 * n));

			node = rd(base);
			nodes[nr_nodes++] = (struct node){ base, node & 0xffff, node >> 16 & 0xffff,
							   (unsigned int)(node >> 32), xp };
			CHECK(nodes[nr_nodes - 1].id >> 3, rd(xp) >> 19 & 0x1fff);
			CHECK(rd(xp + 8 + 8 * (nodes[nr_nodes - 1].id >> 2 & 1)) != 0, true);
			if ((node & 0xffff) == TYPE_DTC)
				dtc = base;
		}
	}
}

static void start(void)
{
	fake_start(SHAPE_CMN, 32);
	units_init();
	cmn_init();
	discover();
	wr(dtc + 0xa00, 4, 1);
	wr(dtc + PMCR, 4, 1 << 6 | 1);
}

/* Local counter @i of a node's crosspoint counts the node's event, and carries into @global */
static void count(const struct node *n, unsigned int i, unsigned int event, unsigned int global)
{
	unsigned int port = n->id >> 2 & 1, device = n->id & 3;
	uint64_t config = rd(n->xp_base + DTM);

	config &= ~(0xffull << (32 + 8 * i) | 0x7ull << (16 + 4 * i));
	config |= 1 | 1u << (4 + i) | (uint64_t)global << (16 + 4 * i) |
		  (uint64_t)(0x10 + i + (port << 4) + (device << 2)) << (32 + 8 * i);
	wr(n->xp_base + DTM, 8, config);
	wr(n->base + 0x2000, 4, event << 8 * i);
}

static uint16_t local(const struct node *n, unsigned int i)
{
	return (uint16_t)(rd(n->xp_base + DTM_COUNTS) >> 16 * i);
}

static uint32_t global(unsigned int i)
{
	return (uint32_t)cmn_read(0, dtc + 0x2000 + i / 2 * 16 + i % 2 * 4, 4);
}

static void test_discovery(void)
{
	start();
	CHECK(nr_nodes, 10);
	CHECK(nr_of(TYPE_HNF), 6);
	CHECK(nr_of(TYPE_RND), 2);
	CHECK(nr_of(TYPE_SBSX), 1);
	CHECK(nr_of(TYPE_DTC), 1);
	for (unsigned int i = 0; i < nr_nodes; i++)
		for (unsigned int k = 0; k < i; k++)
			CHECK(nodes[i].id == nodes[k].id || nodes[i].base == nodes[k].base, false);
	CHECK(cmn_read(0, dtc, 4), TYPE_DTC | nodes[nr_nodes - 1].id << 16);
}

/* All home nodes feed one global counter: two of them share crosspoints, hence two local ones */
static void test_lines_go_round(void)
{
	uint64_t sum = 0, lines = 6 * 70000 + 5;
	unsigned int used[MAX_NODES] = { 0 };

	start();
	add_flow(KIND_HNF, MC_REQS, UNIT_LINES, 0);
	wr(dtc + 0x2004, 4, HALF);
	for (unsigned int i = 0; i < nr_nodes; i++) {
		unsigned int at = 0;

		for (unsigned int k = 0; k < i; k++)
			at += nodes[k].type == TYPE_HNF && nodes[k].xp_base == nodes[i].xp_base;
		used[i] = at;
		if (nodes[i].type == TYPE_HNF)
			count(&nodes[i], at, MC_REQS, 1);
	}
	move(0, 64 * lines);
	for (unsigned int i = 0; i < nr_nodes; i++)
		if (nodes[i].type == TYPE_HNF)
			sum += local(&nodes[i], used[i]);
	CHECK(global(1) - HALF, 6);
	CHECK(sum + ((uint64_t)(global(1) - HALF) << 16), lines);
	CHECK(global(0), 0);
}

static const struct node *first(unsigned int type)
{
	for (unsigned int i = 0; i < nr_nodes; i++)
		if (nodes[i].type == type)
			return &nodes[i];
	return NULL;
}

static void test_stop_and_other_nodes(void)
{
	const struct node *n;

	start();
	n = first(TYPE_RND);
	add_flow(KIND_RND, 4, UNIT_BEATS, 0)->port = n->logid;
	add_flow(KIND_RND, 4, UNIT_BEATS, 1)->port = n->logid + 1;
	add_flow(KIND_RND, 4, UNIT_BEATS, 2)->socket = 1;
	count(n, 2, 4, 0);
	move(0, 32 * 7);
	move(1, 32 * 100);
	move(2, 32 * 1000);
	CHECK(local(n, 2), 7);
	wr(dtc + PMCR, 4, 0);
	move(0, 32 * 50);
	CHECK(local(n, 2), 7);
	wr(dtc + PMCR, 4, 1 << 6 | 1);
	move(0, 32);
	CHECK(local(n, 2), 8);
	wr(n->base + 0x2000, 4, 0); /* no event */
	move(0, 32 * 9);
	CHECK(local(n, 2), 8);
}

static void test_overflow(void)
{
	const uint64_t wrap = 6ull << 16;
	const struct node *n;

	start();
	n = first(TYPE_HNF);
	add_flow(KIND_HNF, MC_REQS, UNIT_LINES, 0);
	count(n, 0, MC_REQS, 3);
	wr(dtc + 0x2014, 4, UINT32_MAX);
	move(0, 64 * (wrap - 6));
	CHECK(local(n, 0), UINT16_MAX);
	CHECK(global(3), UINT32_MAX);
	CHECK(lines[0], false);
	move(0, 64 * 6);
	CHECK(global(3), 0);
	CHECK(lines[0], true);
	CHECK(lines[1], false);
	CHECK(cmn_read(0, dtc + OVERFLOWS, 4), 1 << 3);
	wr(dtc + CLEAR, 4, 1 << 3);
	CHECK(lines[0], false);
	/* not paired: local only */
	wr(n->xp_base + DTM, 4, 1);
	move(0, 64 * wrap);
	CHECK(global(3), 0);
}

static void test_cycles(void)
{
	start();
	wr(dtc + CYCLES, 8, 1ull << 39);
	fake_ns += 500;
	CHECK(rd(dtc + CYCLES), (1ull << 39) + 1000);
	wr(dtc + CYCLES, 8, (1ull << 40) - 1);
	fake_ns += 1;
	CHECK(rd(dtc + CYCLES), 1);
	CHECK(cmn_read(0, dtc + OVERFLOWS, 4), 1 << 8);
}

int main(void)
{
	test_discovery();
	test_lines_go_round();
	test_stop_and_other_nodes();
	test_overflow();
	test_cycles();
	return checks_end("mesh");
}
