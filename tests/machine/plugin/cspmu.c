/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The register model of a CoreSight PMU.
 *
 * Nothing here ticks. What a counter sees has a running total at any moment
 * (shm.h); the counter keeps its own value and the total that is already in it,
 * its mark, and takes over the difference whenever somebody looks. So counts
 * are exact to the unit and a running counter costs nothing.
 *
 * The rule that keeps them exact when registers change: whatever alters which
 * traffic a counter sees (event, filters, enables) is put between a hold, which
 * takes over what was seen under the old setting, and a resume, which takes a
 * new mark under the new setting.
 *
 * Registers that the drivers do not use (MSI, snapshots, groups, trace) read as
 * zero, and PMCFGR says that they are not there.
 */
#include <stddef.h>

#include "cspmu.h"
#include "machine.h"

#define PMEVCNTR       0x000 /* 4 or 8 bytes each, by counter width */
#define PMEVTYPER      0x400 /* 31, of the cycle counter, is PMCCFILTR */
#define PMEVFILT2R     0x800
#define PMEVFILTR      0xa00
#define PMCNTENSET     0xc00
#define PMCNTENCLR     0xc20
#define PMINTENSET     0xc40
#define PMINTENCLR     0xc60
#define PMOVSCLR       0xc80
#define PMOVSSET       0xcc0
#define PMCFGR	       0xe00
#define PMCR	       0xe04
#define PMIIDR	       0xe08

#define PMCR_E	       (1u << 0) /* count */
#define PMCR_P	       (1u << 1) /* event counters to zero; reads as 0 */
#define PMCR_C	       (1u << 2) /* cycle counter to zero; reads as 0 */

#define PMCFGR_CC      (1u << 14) /* has a cycle counter */
#define PMCFGR_SIZE(n) (((n)-1) << 8)
#define PMCFGR_N(n)    ((n)-1)

#define ALL_COUNTERS   UINT32_MAX
#define BIT(n)	       (1u << (n))
#define IMPLEMENTED    ((BIT(CSPMU_EVENT_COUNTERS) - 1) | BIT(CSPMU_CYCLE_COUNTER))

static uint64_t counter_mask(const struct cspmu *u)
{
	return UINT64_MAX >> (64 - u->bits);
}

/* Counters of up to 32 bits stand 4 bytes apart, wider ones 8 */
static bool wide(const struct cspmu *u)
{
	return u->bits > 32;
}

static bool running(const struct cspmu *u, unsigned int i)
{
	return (u->pmcr & PMCR_E) && (u->enabled & BIT(i));
}

/* Take over what a running counter has seen since its mark */
static void catch_up(struct cspmu *u, unsigned int i, uint64_t now)
{
	struct cspmu_counter *c = &u->counter[i];
	uint64_t total, seen;

	if (!running(u, i))
		return;
	total = u->total(u, i, now);
	seen = total - c->mark;
	c->mark = total;
	if (seen > counter_mask(u) - c->value)
		u->overflowed |= BIT(i);
	c->value = (c->value + seen) & counter_mask(u);
}

/* The interrupt is a level: high as long as an enabled overflow flag is set */
static void update_line(const struct cspmu *u)
{
	irq_set(u->line, (u->overflowed & u->irq_enabled) != 0);
}

void cspmu_hold(struct cspmu *u, uint32_t which, uint64_t now)
{
	for (which &= IMPLEMENTED; which; which &= which - 1)
		catch_up(u, (unsigned int)__builtin_ctz(which), now);
}

void cspmu_resume(struct cspmu *u, uint32_t which, uint64_t now)
{
	for (which &= IMPLEMENTED; which; which &= which - 1) {
		unsigned int i = (unsigned int)__builtin_ctz(which);

		if (running(u, i))
			u->counter[i].mark = u->total(u, i, now);
	}
	update_line(u);
}

void cspmu_poll(struct cspmu *u, uint64_t now)
{
	cspmu_hold(u, ALL_COUNTERS, now);
	update_line(u);
}

/* Which counter's register of 4 bytes an offset names */
static bool in_bank(unsigned int offset, unsigned int bank, unsigned int *ret_i)
{
	if (offset < bank || offset >= bank + 4 * CSPMU_COUNTERS)
		return false;
	*ret_i = (offset - bank) / 4;
	return true;
}

static uint64_t read_counter(struct cspmu *u, unsigned int offset, unsigned int size, uint64_t now)
{
	unsigned int i = (offset - PMEVCNTR) / (wide(u) ? 8 : 4);
	uint64_t value;

	if (i >= CSPMU_COUNTERS)
		return 0;
	catch_up(u, i, now);
	value = u->counter[i].value;
	if (size == 8)
		return value;
	return wide(u) && (offset & 4) ? value >> 32 : (uint32_t)value;
}

static void write_counter(struct cspmu *u, unsigned int offset, unsigned int size, uint64_t value,
			  uint64_t now)
{
	unsigned int i = (offset - PMEVCNTR) / (wide(u) ? 8 : 4);
	struct cspmu_counter *c;

	if (i >= CSPMU_COUNTERS || !(IMPLEMENTED & BIT(i)))
		return;
	c = &u->counter[i];
	cspmu_hold(u, BIT(i), now);
	if (size == 4 && wide(u)) {
		if (offset & 4)
			value = value << 32 | (uint32_t)c->value;
		else
			value = (c->value & ~(uint64_t)UINT32_MAX) | (uint32_t)value;
	}
	c->value = value & counter_mask(u);
	cspmu_resume(u, BIT(i), now);
}

uint64_t cspmu_read(struct cspmu *u, unsigned int offset, unsigned int size, uint64_t now)
{
	unsigned int i;

	offset &= PAGE_MASK;
	if (offset < PMEVTYPER)
		return read_counter(u, offset, size, now);
	if (in_bank(offset, PMEVTYPER, &i))
		return u->counter[i].event;
	if (in_bank(offset, PMEVFILT2R, &i))
		return u->counter[i].filter2;
	if (in_bank(offset, PMEVFILTR, &i))
		return u->counter[i].filter;
	switch (offset) {
	case PMCNTENSET:
	case PMCNTENCLR:
		return u->enabled;
	case PMINTENSET:
	case PMINTENCLR:
		return u->irq_enabled;
	case PMOVSCLR:
	case PMOVSSET:
		cspmu_poll(u, now);
		return u->overflowed;
	case PMCFGR:
		/* N counts the cycle counter in, and is one less than the number */
		return PMCFGR_CC | PMCFGR_SIZE(u->bits) | PMCFGR_N(CSPMU_EVENT_COUNTERS + 1);
	case PMCR:
		return u->pmcr;
	case PMIIDR:
		return u->pmiidr;
	}
	return 0;
}

static void write_pmcr(struct cspmu *u, uint32_t value)
{
	u->pmcr = value & PMCR_E;
	for (unsigned int i = 0; i < CSPMU_EVENT_COUNTERS; i++)
		if (value & PMCR_P)
			u->counter[i].value = 0;
	if (value & PMCR_C)
		u->counter[CSPMU_CYCLE_COUNTER].value = 0;
}

static void write_control(struct cspmu *u, unsigned int offset, uint32_t value)
{
	switch (offset) {
	case PMCNTENSET:
		u->enabled |= value & IMPLEMENTED;
		break;
	case PMCNTENCLR:
		u->enabled &= ~value;
		break;
	case PMINTENSET:
		u->irq_enabled |= value & IMPLEMENTED;
		break;
	case PMINTENCLR:
		u->irq_enabled &= ~value;
		break;
	case PMOVSCLR:
		u->overflowed &= ~value;
		break;
	case PMOVSSET:
		u->overflowed |= value & IMPLEMENTED;
		break;
	case PMCR:
		write_pmcr(u, value);
		break;
	}
}

void cspmu_write(struct cspmu *u, unsigned int offset, unsigned int size, uint64_t value,
		 uint64_t now)
{
	uint32_t *reg, which;
	unsigned int i;

	offset &= PAGE_MASK;
	if (offset < PMEVTYPER) {
		write_counter(u, offset, size, value, now);
		return;
	}
	if (in_bank(offset, PMEVTYPER, &i)) {
		/* PMCCFILTR is one of these: cycles have no filter to speak of */
		reg = &u->counter[i].event;
		which = BIT(i);
	} else if (in_bank(offset, PMEVFILT2R, &i)) {
		reg = &u->counter[i].filter2;
		which = BIT(i);
	} else if (in_bank(offset, PMEVFILTR, &i)) {
		reg = &u->counter[i].filter;
		which = BIT(i);
	} else {
		reg = NULL;
		which = ALL_COUNTERS;
	}
	cspmu_hold(u, which, now);
	if (reg)
		*reg = (uint32_t)value;
	else
		write_control(u, offset, (uint32_t)value);
	cspmu_resume(u, which, now);
}
