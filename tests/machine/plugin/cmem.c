/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * CMEM latency units of T410: a page for each of 14 instances with three memory
 * channels, and a broadcast page after them through which the driver controls
 * all instances at once. All registers are 64 bits wide.
 */
#include "machine.h"

#define NR_INSTANCES	  14
#define NR_CHANNELS	  3

/* Control, in the broadcast page */
#define CMEM_CLOCK_GATE	  0x800 /* accepted; the model always has a clock */
#define CMEM_CTRL	  0x808
#define CTRL_ENABLE	  (1u << 0)
#define CTRL_CLEAR	  (1u << 1)

/* Event numbers of the driver, by which flows name what they cause */
#define EVENT_REQUESTS	  1
#define EVENT_OUTSTANDING 2

/* Counters of an instance; the order of the channels is free, there is no filter */
static const struct counter_reg {
	unsigned int offset;
	uint32_t event; /* 0: cycles */
	unsigned int channel;
} regs[] = {
	{ 0x818, 0, 0 },
	{ 0x820, EVENT_REQUESTS, 0 },
	{ 0x830, EVENT_OUTSTANDING, 0 },
	{ 0x838, EVENT_REQUESTS, 1 },
	{ 0x848, EVENT_OUTSTANDING, 1 },
	{ 0x850, EVENT_REQUESTS, 2 },
	{ 0x860, EVENT_OUTSTANDING, 2 },
};
#define NR_REGS ARRAY_SIZE(regs)

/* As in cspmu.c: a value, and the total that is in it already */
static struct cmem {
	bool enabled;
	uint64_t clock_gate;
	uint64_t value[NR_INSTANCES][NR_REGS], mark[NR_INSTANCES][NR_REGS];
} cmem[MAX_SOCKETS];

static bool pass_cmem(const void *unit, unsigned int index, const struct flow *f)
{
	(void)index;
	return f->kind == KIND_CMEM && f->socket == (uint32_t)((const struct cmem *)unit - cmem);
}

/*
 * The traffic of a socket is spread evenly over its channels, so that the sum, which is all the
 * driver shows, is exact.
 */
static uint64_t reg_total(const struct cmem *u, unsigned int instance, unsigned int reg,
			  uint64_t now)
{
	const struct counter_reg *r = &regs[reg];

	if (!r->event)
		return clock_total(KIND_CMEM, now);
	return even_share(flows_total(pass_cmem, u, 0, r->event, now),
			  instance * NR_CHANNELS + r->channel, NR_INSTANCES * NR_CHANNELS);
}

uint64_t cmem_read(unsigned int socket, unsigned int offset)
{
	const struct cmem *u = &cmem[socket];
	unsigned int instance = offset >> PAGE_SHIFT;

	offset &= PAGE_MASK;
	if (offset == CMEM_CTRL)
		return u->enabled ? CTRL_ENABLE : 0;
	if (offset == CMEM_CLOCK_GATE)
		return u->clock_gate;
	for (unsigned int r = 0; r < NR_REGS && instance < NR_INSTANCES; r++) {
		if (regs[r].offset != offset)
			continue;
		if (!u->enabled)
			return u->value[instance][r];
		return u->value[instance][r] + reg_total(u, instance, r, now_ns()) -
		       u->mark[instance][r];
	}
	return 0; /* among others the status register: nothing ever overflows */
}

void cmem_write(unsigned int socket, unsigned int offset, uint64_t value)
{
	struct cmem *u = &cmem[socket];
	uint64_t now = now_ns();

	/* The drivers control through the broadcast page only */
	if (offset >> PAGE_SHIFT != NR_INSTANCES)
		return;
	offset &= PAGE_MASK;
	if (offset == CMEM_CLOCK_GATE)
		u->clock_gate = value & 1;
	if (offset != CMEM_CTRL)
		return;
	for (unsigned int i = 0; i < NR_INSTANCES; i++)
		for (unsigned int r = 0; r < NR_REGS; r++) {
			uint64_t total = reg_total(u, i, r, now);

			if (u->enabled)
				u->value[i][r] += total - u->mark[i][r];
			if (value & CTRL_CLEAR)
				u->value[i][r] = 0;
			u->mark[i][r] = total;
		}
	u->enabled = value & CTRL_ENABLE;
}
