/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The traffic port (port.h). QEMU runs register accesses one at a time, under
 * its big lock: a store here is over before any counter can be read.
 */
#include <stddef.h>

#include "machine.h"
#include "port.h"

/* The slot an offset lies in, or NULL; its register goes to @ret_reg */
static struct slot *find_slot(uint64_t offset, unsigned int *ret_reg)
{
	uint64_t n;

	if (offset < PORT_SLOTS)
		return NULL;
	n = (offset - PORT_SLOTS) / PORT_SLOT_STRIDE;
	if (n >= SHM_ALL_SLOTS)
		return NULL;
	*ret_reg = (offset - PORT_SLOTS) % PORT_SLOT_STRIDE;
	return &shm->slot[n];
}

uint64_t port_read(uint64_t offset)
{
	unsigned int reg;
	const struct slot *s = find_slot(offset, &reg);

	if (!s) {
		if (offset == PORT_MAGIC)
			return PORT_MAGIC_VALUE;
		return offset == PORT_NR_SLOTS ? SHM_MAX_SLOTS : 0;
	}
	switch (reg) {
	case PORT_SLOT_TOTAL:
		return s->bytes;
	case PORT_SLOT_WRITES:
		return s->writes;
	case PORT_SLOT_BOUND:
		return s->bound;
	}
	return 0;
}

void port_write(uint64_t offset, uint64_t value)
{
	unsigned int reg;
	struct slot *s = find_slot(offset, &reg);

	/* Nobody but a disk adds to its slots */
	if (!s || reg != PORT_SLOT_ADD || s >= &shm->slot[SHM_MAX_SLOTS])
		return;
	/* Atomic for t410ctl, which reads the totals while we run */
	__atomic_fetch_add(&s->bytes, value, __ATOMIC_RELAXED);
	__atomic_fetch_add(&s->writes, 1, __ATOMIC_RELAXED);
	units_poll(); /* the overflow, if this made one, is due now */
}
