/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What a memory controller (MCU) of AmpereOne adds to a CoreSight PMU: three registers that narrow
 * what all of its counters see, and its share of the socket's memory.
 *
 * Where they are is what the driver says. What their bits mean is not in any document at hand:
 * here a register that is zero lets everything through, and otherwise it has a bit for each rank
 * or bank. The threshold is kept and does nothing, for no event of ours compares anything.
 */
#include <stddef.h>

#include "units.h"

#define PMAUXR 0xd80

static bool chosen(uint32_t mask, uint32_t bit)
{
	return !mask || bit_set(mask, bit);
}

/* A flow names its rank as port and its bank as dst */
bool pass_mcu(const void *unit, unsigned int index, const struct flow *f)
{
	const struct uncore *u = unit;

	(void)index;
	return f->kind == u->kind && f->socket == u->socket && chosen(u->aux[MCU_RANKS], f->port) &&
	       chosen(u->aux[MCU_BANKS], f->dst);
}

uint32_t *mcu_reg(struct uncore *u, unsigned int inside)
{
	unsigned int offset = inside & PAGE_MASK;

	if (offset < PMAUXR || offset >= PMAUXR + sizeof(u->aux) || offset % sizeof(u->aux[0]))
		return NULL;
	return &u->aux[(offset - PMAUXR) / sizeof(u->aux[0])];
}

/* Lines of memory go round the controllers of a socket */
uint64_t mcu_share(const struct uncore *u, uint64_t total)
{
	return even_share(total, u->rc, NR_MCUS);
}
