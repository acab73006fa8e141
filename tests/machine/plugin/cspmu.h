/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A CoreSight PMU (Arm IHI 0091): counters, their control registers and their
 * overflow. What a unit counts is left to two functions of its owner.
 */
#ifndef T410_CSPMU_H
#define T410_CSPMU_H

#include <stdbool.h>
#include <stdint.h>

#define CSPMU_EVENT_COUNTERS 8	/* invented: no document says how many there are */
#define CSPMU_CYCLE_COUNTER  31 /* its place is fixed by the architecture */
#define CSPMU_COUNTERS	     32
#define CSPMU_PAGES	     2

struct cspmu;

/** cspmu_total() - what counter @i, as it is programmed now, would have counted since ever */
typedef uint64_t cspmu_total(const struct cspmu *u, unsigned int i, uint64_t now);

struct cspmu_counter {
	uint32_t event;
	uint32_t filter, filter2;
	uint64_t value; /* modulo the counter's width */
	uint64_t mark;	/* the total that is contained in value; while it runs */
};

struct cspmu {
	uint32_t pmiidr;
	unsigned int bits;
	unsigned int line; /* for irq_set() */
	cspmu_total *total;

	uint32_t pmcr, enabled, irq_enabled, overflowed;
	struct cspmu_counter counter[CSPMU_COUNTERS];
};

/**
 * cspmu_read() - read a register
 * @offset: inside the unit's two pages; each page decodes all registers
 * @size: 4, or 8 for counters wider than 32 bits
 */
uint64_t cspmu_read(struct cspmu *u, unsigned int offset, unsigned int size, uint64_t now);
void cspmu_write(struct cspmu *u, unsigned int offset, unsigned int size, uint64_t value,
		 uint64_t now);

/**
 * cspmu_hold() - bring running counters up to date before what they count changes
 * @which: counters, as bits
 *
 * To be followed by cspmu_resume() at the same @now.
 */
void cspmu_hold(struct cspmu *u, uint32_t which, uint64_t now);
void cspmu_resume(struct cspmu *u, uint32_t which, uint64_t now);

/** cspmu_poll() - let overflows that are due show, in the flags and on the line */
void cspmu_poll(struct cspmu *u, uint64_t now);

#endif
