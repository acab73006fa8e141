/* SPDX-License-Identifier: GPL-2.0-only */
/* The CoreSight units of the machine, for units.c, filters.c and the unit test. */
#ifndef T410_UNITS_H
#define T410_UNITS_H

#include "cspmu.h"
#include "machine.h"

#define TGT_WINDOWS 8

/* One address window of a PCIe target unit: its five registers, in order */
enum { WINDOW_ENABLE, WINDOW_BASE_LO, WINDOW_BASE_HI, WINDOW_MASK_LO, WINDOW_MASK_HI, WINDOW_REGS };

/* Registers of an AmpereOne MCU that narrow all of its counters, in order */
enum { MCU_THRESHOLD, MCU_RANKS, MCU_BANKS, MCU_AUX_REGS };

struct uncore {
	struct cspmu pmu; /* first: cspmu_total gets a pointer to it */
	enum kind kind;
	unsigned int socket, rc;
	uint32_t offset; /* from PMU_BASE */
	flow_filter *pass;
	uint32_t window[TGT_WINDOWS][WINDOW_REGS];
	uint32_t aux[MCU_AUX_REGS];
};

/* Whether a filter has the bit that a flow names */
static inline bool bit_set(uint32_t value, uint32_t bit)
{
	return bit < 32 && (value >> bit & 1);
}

/* filters.c: which flows a unit shows on one of its counters */
flow_filter pass_ucf, pass_pcie, pass_tgt, pass_scf, pass_mcf;

/* mcu.c: what a memory controller of AmpereOne adds to a CoreSight PMU */
flow_filter pass_mcu;

/** mcu_reg() - the register of its own at an offset, or NULL */
uint32_t *mcu_reg(struct uncore *u, unsigned int inside);

/** mcu_share() - what it counts of the total of its socket */
uint64_t mcu_share(const struct uncore *u, uint64_t total);

struct uncore *unit_find(enum kind kind, unsigned int socket, unsigned int rc);

#endif
