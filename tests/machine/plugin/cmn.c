/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A CMN-700: a mesh of crosspoints with the nodes that are plugged into them, as its driver finds
 * it. A node has events; its crosspoint counts four of them in 16 bits (DTM). What overflows there
 * is carried into one of eight counters of 32 bits of the debug and trace controller (DTC), which
 * all crosspoints may feed, and which interrupts when it overflows.
 *
 * As elsewhere a counter that runs holds a value and the total that is in it. Lines of memory go
 * round the home nodes (HN-F) of a socket. Watchpoints, snapshots and events of crosspoints are
 * kept out: their registers take what is written, read as zero and count nothing.
 */
#include <stddef.h>

#include "machine.h"

#define MESH_X		3
#define MESH_Y		2
#define NR_XPS		(MESH_X * MESH_Y)
#define NR_NODES	ARRAY_SIZE(places)
#define PORTS		2

#define TYPE_CFG	0x02
#define TYPE_DTC	0x03
#define TYPE_HNF	0x05
#define TYPE_XP		0x06
#define TYPE_SBSX	0x07
#define TYPE_RND	0x0d

/* Each node has a region: the configuration, the crosspoints, then all others */
#define REGION		0x10000u
#define REGION_OF_XP(n) (1 + (n))
#define REGION_OF(n)	(1 + NR_XPS + (n))

/* In each region */
#define NODE_INFO	0x0000
#define CHILD_INFO	0x0080
#define CHILDREN	0x0100 /* where we put the list, as CHILD_INFO says */
#define PMU_EVENT_SEL	0x2000
/* Configuration */
#define PERIPH_ID_01	0x0008
#define PERIPH_ID_23	0x0010
#define PART_CMN700	0x43cull
#define REVISION_2	(2u << 4)
/* Crosspoints: connected ports, and the DTM */
#define CONNECT_INFO	0x0008
#define DTM_CONFIG	0x2210
#define DTM_CONFIG_EN	1u
#define DTM_PAIRED(n)	(1u << (4 + (n)))
#define DTM_GLOBAL(n)	(16 + 4 * (n))
#define DTM_INPUT(n)	(32 + 8 * (n))
#define DTM_COUNTERS	0x2220
#define INPUT_NODE	0x10
/* DTC */
#define DTC_CTL		0x0a00
#define DTC_CTL_EN	1u
#define DTC_COUNTER	0x2000
#define DTC_CYCLES	0x2040
#define DTC_PMCR	0x2100
#define DTC_PMCR_EN	(1u << 0)
#define DTC_PMCR_IRQ	(1u << 6)
#define DTC_OVERFLOW	0x2118
#define DTC_CLEAR	0x2120
#define CYCLES_MASK	((1ull << 40) - 1)

#define DTM_NR		4 /* counters of a crosspoint */
#define DTC_NR		8

#define NR_HNFS		6
static const struct place {
	uint16_t type, logid;
	unsigned int xp, port, device;
} places[] = {
	{ TYPE_HNF, 0, 0, 0, 0 }, { TYPE_HNF, 1, 1, 0, 0 }, { TYPE_HNF, 2, 1, 1, 1 },
	{ TYPE_HNF, 3, 3, 0, 0 }, { TYPE_HNF, 4, 4, 0, 0 }, { TYPE_HNF, 5, 4, 1, 1 },
	{ TYPE_RND, 0, 2, 0, 0 }, { TYPE_RND, 1, 5, 0, 0 }, { TYPE_SBSX, 0, 0, 1, 0 },
	{ TYPE_DTC, 0, 5, 1, 0 },
};

static struct mesh {
	unsigned int socket;
	uint64_t event_sel[ARRAY_SIZE(places)]; /* a byte for each of a node's four events */
	struct dtm {
		uint64_t config;
		uint16_t value[DTM_NR];
		uint64_t mark[DTM_NR];
	} dtm[NR_XPS];
	uint32_t dtc_ctl, pmcr, overflowed;
	uint32_t counter[DTC_NR];
	uint64_t cycles, cycles_mark;
} meshes[MAX_SOCKETS];

void cmn_init(void)
{
	for (unsigned int s = 0; s < MAX_SOCKETS; s++)
		meshes[s] = (struct mesh){ .socket = s };
}

/* --- what is counted */

/* A flow names the RN-D of its device as port */
static bool pass_cmn(const void *mesh, unsigned int node, const struct flow *f)
{
	const struct place *p = &places[node];

	if (f->socket != ((const struct mesh *)mesh)->socket)
		return false;
	switch (p->type) {
	case TYPE_HNF:
		return f->kind == KIND_HNF;
	case TYPE_RND:
		return f->kind == KIND_RND && f->port == p->logid;
	case TYPE_SBSX:
		return f->kind == KIND_SBSX;
	}
	return false;
}

/* The node that a counter of a crosspoint listens to, and which of its events: -1 if none */
static int input_of(const struct mesh *m, unsigned int xp, unsigned int i, unsigned int *ret_event)
{
	unsigned int input = m->dtm[xp].config >> DTM_INPUT(i) & 0x3f;

	if (input < INPUT_NODE)
		return -1;
	input -= INPUT_NODE;
	for (unsigned int n = 0; n < NR_NODES; n++)
		if (places[n].xp == xp && places[n].port == input >> 4 &&
		    places[n].device == (input >> 2 & 3)) {
			*ret_event = m->event_sel[n] >> 8 * (input & 3) & 0xff;
			return (int)n;
		}
	return -1;
}

static uint64_t total_of(const struct mesh *m, unsigned int xp, unsigned int i, uint64_t now)
{
	unsigned int event;
	int node = input_of(m, xp, i, &event);
	uint64_t total;

	if (node < 0 || !event)
		return 0;
	total = flows_total(pass_cmn, m, (unsigned int)node, event, now);
	return places[node].type == TYPE_HNF ? even_share(total, places[node].logid, NR_HNFS)
					     : total;
}

static bool counts(const struct mesh *m)
{
	return (m->pmcr & DTC_PMCR_EN) && (m->dtc_ctl & DTC_CTL_EN);
}

static bool dtm_counts(const struct mesh *m, unsigned int xp)
{
	return counts(m) && (m->dtm[xp].config & DTM_CONFIG_EN);
}

/* What overflows 16 bits goes on in the global counter that is paired with the local one */
static void carry(struct mesh *m, const struct dtm *d, unsigned int i, uint64_t overflows)
{
	unsigned int global = d->config >> DTM_GLOBAL(i) & (DTC_NR - 1);

	if (!(d->config & DTM_PAIRED(i)))
		return;
	if (overflows > UINT32_MAX - m->counter[global])
		m->overflowed |= 1u << global;
	m->counter[global] += (uint32_t)overflows;
}

/* Take over what the counters have seen so far, before anything about them changes */
static void hold(struct mesh *m, uint64_t now)
{
	uint64_t total, value;

	for (unsigned int x = 0; x < NR_XPS; x++)
		for (unsigned int i = 0; dtm_counts(m, x) && i < DTM_NR; i++) {
			struct dtm *d = &m->dtm[x];

			total = total_of(m, x, i, now);
			value = total - d->mark[i] + d->value[i];
			d->mark[i] = total;
			d->value[i] = (uint16_t)value;
			carry(m, d, i, value >> 16);
		}
	if (!counts(m))
		return;
	total = clock_total(KIND_HNF, now);
	value = total - m->cycles_mark + m->cycles;
	if (value > CYCLES_MASK)
		m->overflowed |= 1u << DTC_NR;
	m->cycles_mark = total;
	m->cycles = value & CYCLES_MASK;
}

static void update_line(const struct mesh *m)
{
	irq_set(m->socket, m->overflowed && (m->pmcr & DTC_PMCR_IRQ));
}

static void resume(struct mesh *m, uint64_t now)
{
	for (unsigned int x = 0; x < NR_XPS; x++)
		for (unsigned int i = 0; dtm_counts(m, x) && i < DTM_NR; i++)
			m->dtm[x].mark[i] = total_of(m, x, i, now);
	m->cycles_mark = clock_total(KIND_HNF, now);
	update_line(m);
}

/* --- registers, as 64 bits of which a driver may read one half */

static uint64_t node_info(unsigned int type, unsigned int id, unsigned int logid)
{
	return type | (uint64_t)id << 16 | (uint64_t)logid << 32;
}

/* What is connected to a port, as crosspoints call it */
static uint64_t connected(unsigned int type)
{
	switch (type) {
	case TYPE_HNF:
		return 0x0e;
	case TYPE_RND:
		return 0x02;
	case TYPE_SBSX:
		return 0x0d;
	}
	return 0x0a; /* HN-D, where the DTC is */
}

/* The mesh is numbered by columns in ids, and by rows in logical ids */
static unsigned int xp_id(unsigned int xp)
{
	return (xp % MESH_X << 2 | xp / MESH_X) << 3;
}

static uint64_t child_info(unsigned int children)
{
	return children | CHILDREN << 16;
}

static uint64_t read_config(unsigned int offset)
{
	switch (offset) {
	case NODE_INFO:
		return node_info(TYPE_CFG, 0, 0);
	case PERIPH_ID_01:
		return (PART_CMN700 & 0xff) | PART_CMN700 >> 8 << 32;
	case PERIPH_ID_23:
		return REVISION_2;
	case CHILD_INFO:
		return child_info(NR_XPS);
	}
	if (offset >= CHILDREN && offset < CHILDREN + 8 * NR_XPS)
		return (uint64_t)REGION * REGION_OF_XP((offset - CHILDREN) / 8);
	return 0;
}

/* The @nth node of a crosspoint, NR_NODES if it has fewer */
static unsigned int child_of(unsigned int xp, unsigned int nth)
{
	unsigned int n;

	for (n = 0; n < NR_NODES; n++)
		if (places[n].xp == xp && !nth--)
			break;
	return n;
}

static uint64_t read_xp(const struct mesh *m, unsigned int xp, unsigned int offset)
{
	const struct dtm *d = &m->dtm[xp];
	unsigned int children = 0, n;

	while (child_of(xp, children) < NR_NODES)
		children++;
	switch (offset) {
	case NODE_INFO:
		return node_info(TYPE_XP, xp_id(xp), xp);
	case CHILD_INFO:
		return child_info(children);
	case DTM_CONFIG:
		return d->config;
	case DTM_COUNTERS:
		return d->value[0] | (uint64_t)d->value[1] << 16 | (uint64_t)d->value[2] << 32 |
		       (uint64_t)d->value[3] << 48;
	}
	if (offset >= CHILDREN && offset < CHILDREN + 8 * children)
		return (uint64_t)REGION * REGION_OF(child_of(xp, (offset - CHILDREN) / 8));
	for (n = 0; n < NR_NODES; n++)
		if (places[n].xp == xp && offset == CONNECT_INFO + 8 * places[n].port)
			return connected(places[n].type);
	return 0;
}

/* Two counters in 8 bytes of each 16 */
static bool dtc_counter(unsigned int offset, unsigned int *ret_i)
{
	offset -= DTC_COUNTER;
	*ret_i = offset / 16 * 2 + offset % 16 / 4;
	return offset < DTC_NR / 2 * 16 && offset % 16 < 8;
}

static uint64_t read_node(const struct mesh *m, unsigned int n, unsigned int offset)
{
	const struct place *p = &places[n];
	unsigned int i;

	if (offset == NODE_INFO)
		return node_info(p->type, xp_id(p->xp) | p->port << 2 | p->device, p->logid);
	if (p->type != TYPE_DTC)
		return offset == PMU_EVENT_SEL ? m->event_sel[n] : 0;
	if (dtc_counter(offset, &i))
		return m->counter[i] | (uint64_t)m->counter[i | 1] << 32;
	switch (offset) {
	case DTC_CTL:
		return m->dtc_ctl;
	case DTC_CYCLES:
		return m->cycles;
	case DTC_PMCR:
		return m->pmcr;
	case DTC_OVERFLOW:
		return m->overflowed;
	}
	return 0;
}

static uint64_t read_register(const struct mesh *m, unsigned int region, unsigned int offset)
{
	if (region == 0)
		return read_config(offset);
	if (region < REGION_OF(0))
		return read_xp(m, region - REGION_OF_XP(0), offset);
	return region < REGION_OF(NR_NODES) ? read_node(m, region - REGION_OF(0), offset) : 0;
}

uint64_t cmn_read(unsigned int socket, unsigned int offset, unsigned int size)
{
	unsigned int region = offset / REGION, half = 8 * (offset & 4);
	struct mesh *m = &meshes[socket];
	uint64_t value;

	if (socket >= machine.sockets)
		return 0;
	hold(m, now_ns());
	update_line(m);
	value = read_register(m, region, offset % REGION & ~7u);
	return size == 8 ? value : (uint32_t)(value >> half);
}

static void write_dtc(struct mesh *m, unsigned int offset, unsigned int size, uint64_t value)
{
	unsigned int i;

	if (dtc_counter(offset, &i)) {
		m->counter[i] = (uint32_t)value;
		return;
	}
	switch (offset) {
	case DTC_CTL:
		m->dtc_ctl = (uint32_t)value;
		break;
	case DTC_CYCLES:
		if (size == 8)
			m->cycles = value & CYCLES_MASK;
		break;
	case DTC_PMCR:
		m->pmcr = (uint32_t)value;
		break;
	case DTC_CLEAR:
		m->overflowed &= ~(uint32_t)value;
		break;
	}
}

/* One half of a register, or all of it */
static void put(uint64_t *reg, unsigned int offset, unsigned int size, uint64_t value)
{
	unsigned int shift = 8 * (offset & 4);

	if (size == 8)
		*reg = value;
	else
		*reg = (*reg & ~((uint64_t)UINT32_MAX << shift)) | (value & UINT32_MAX) << shift;
}

void cmn_write(unsigned int socket, unsigned int offset, unsigned int size, uint64_t value)
{
	unsigned int region = offset / REGION, n = region - REGION_OF(0);
	struct mesh *m = &meshes[socket];
	uint64_t now = now_ns();

	if (socket >= machine.sockets || region < REGION_OF_XP(0) || region >= REGION_OF(NR_NODES))
		return;
	hold(m, now);
	offset %= REGION;
	if (region < REGION_OF(0)) {
		if ((offset & ~7u) == DTM_CONFIG)
			put(&m->dtm[region - REGION_OF_XP(0)].config, offset, size, value);
	} else if (places[n].type == TYPE_DTC) {
		write_dtc(m, offset, size, value);
	} else if ((offset & ~7u) == PMU_EVENT_SEL) {
		put(&m->event_sel[n], offset, size, value);
	}
	resume(m, now);
}

void cmn_poll(void)
{
	uint64_t now = now_ns();

	for (unsigned int s = 0; machine.shape == SHAPE_CMN && s < machine.sockets; s++) {
		hold(&meshes[s], now);
		update_line(&meshes[s]);
	}
}
