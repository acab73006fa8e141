/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The links of T410: NVLink-C2C, NV-CLink, NV-DLink. Like CMEM a page for each
 * hardware instance and a broadcast page, but the counters are pairs of 32-bit
 * registers and have no clear bit: they start again from zero each time they
 * are switched on, and the driver counts on that.
 */
#include <string.h>

#include "machine.h"

#define LINK_CTRL     0x864
#define CTRL_ENABLE   1u
#define NR_COUNTERS   9
#define CYCLES	      0 /* counter 0; 1-8 are the driver's event numbers */
#define MAX_INSTANCES 16
#define MAX_PEERS     2

/* Low half; the high half follows. The gaps hold overflow flags, always zero. */
static const unsigned int counter_offset[NR_COUNTERS] = { 0x86c, 0x874, 0x87c, 0x884, 0x88c,
							  0x898, 0x8a0, 0x8a8, 0x8b0 };

struct link_type {
	enum kind kind;
	unsigned int instances;
	uint32_t peer_mask[MAX_PEERS]; /* instances wired to each peer, as the _DSD says */
};

static const struct link_type nvclink = { KIND_NVCLINK, 12, { 0x0fff } };
static const struct link_type nvdlink = { KIND_NVDLINK, 16, { 0xffff } };
static const struct link_type nvlink[NR_PEERS] = {
	[PEER_GPU] = { KIND_NVLINK, 14, { 0x007f, 0x3f80 } },
	[PEER_GPU0] = { KIND_NVLINK, 14, { 0x007f, 0 } },
	[PEER_GPU1] = { KIND_NVLINK, 14, { 0, 0x3f80 } },
	[PEER_CPU] = { KIND_NVLINK, 14, { 0x3fff } },
	[PEER_NONE] = { KIND_NVLINK, 14, { 0 } },
};

static struct link {
	const struct link_type *type;
	unsigned int socket;
	bool enabled;
	uint64_t value[MAX_INSTANCES][NR_COUNTERS], mark[MAX_INSTANCES][NR_COUNTERS];
} links[MAX_SOCKETS][NR_LINKS];

void link_init(void)
{
	for (unsigned int s = 0; s < MAX_SOCKETS; s++) {
		links[s][0] = (struct link){ .type = &nvlink[machine.peer], .socket = s };
		links[s][1] = (struct link){ .type = &nvclink, .socket = s };
		links[s][2] = (struct link){ .type = &nvdlink, .socket = s };
	}
}

static bool pass_link(const void *unit, unsigned int peer, const struct flow *f)
{
	const struct link *u = unit;

	return f->kind == u->type->kind && f->socket == u->socket && f->port == peer;
}

/*
 * An instance carries an even share of its peer's traffic, the first ones of a
 * peer take the rest: the driver sums instances, and the sum is exact.
 */
static uint64_t counter_total(const struct link *u, unsigned int instance, unsigned int counter,
			      uint64_t now)
{
	if (counter == CYCLES)
		return clock_total(u->type->kind, now);
	for (unsigned int peer = 0; peer < MAX_PEERS; peer++) {
		uint32_t mask = u->type->peer_mask[peer];
		unsigned int parts = (unsigned int)__builtin_popcount(mask);
		unsigned int nth = (unsigned int)__builtin_popcount(mask & ((1u << instance) - 1));
		uint64_t total;

		if (!(mask >> instance & 1))
			continue;
		total = flows_total(pass_link, u, peer, counter, now);
		return even_share(total, nth, parts);
	}
	return 0;
}

uint64_t link_read(unsigned int socket, unsigned int which, unsigned int offset)
{
	const struct link *u = &links[socket][which];
	unsigned int instance = offset >> PAGE_SHIFT;

	offset &= PAGE_MASK;
	if (offset == LINK_CTRL)
		return u->enabled ? CTRL_ENABLE : 0;
	for (unsigned int c = 0; c < NR_COUNTERS && instance < u->type->instances; c++) {
		uint64_t value;

		if (offset != counter_offset[c] && offset != counter_offset[c] + 4)
			continue;
		value = u->value[instance][c];
		if (u->enabled)
			value += counter_total(u, instance, c, now_ns()) - u->mark[instance][c];
		return offset == counter_offset[c] ? (uint32_t)value : value >> 32;
	}
	return 0;
}

void link_write(unsigned int socket, unsigned int which, unsigned int offset, uint64_t value)
{
	struct link *u = &links[socket][which];
	bool enable = value & CTRL_ENABLE;
	uint64_t now = now_ns();

	if (offset >> PAGE_SHIFT != u->type->instances || (offset & PAGE_MASK) != LINK_CTRL ||
	    enable == u->enabled)
		return;
	if (enable)
		memset(u->value, 0, sizeof(u->value));
	for (unsigned int i = 0; i < u->type->instances; i++)
		for (unsigned int c = 0; c < NR_COUNTERS; c++) {
			uint64_t total = counter_total(u, i, c, now);

			if (!enable)
				u->value[i][c] += total - u->mark[i][c];
			u->mark[i][c] = total;
		}
	u->enabled = enable;
}
