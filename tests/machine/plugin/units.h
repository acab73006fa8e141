/* SPDX-License-Identifier: GPL-2.0-only */
/* The CoreSight units of the machine, for units.c, filters.c and the unit test. */
#ifndef T410_UNITS_H
#define T410_UNITS_H

#include "cspmu.h"
#include "machine.h"

#define TGT_WINDOWS 8

/* One address window of a PCIe target unit: its five registers, in order */
enum { WINDOW_ENABLE, WINDOW_BASE_LO, WINDOW_BASE_HI, WINDOW_MASK_LO, WINDOW_MASK_HI, WINDOW_REGS };

struct uncore {
	struct cspmu pmu; /* first: cspmu_total gets a pointer to it */
	enum kind kind;
	unsigned int socket, rc;
	uint32_t offset; /* from PMU_BASE */
	flow_filter *pass;
	uint32_t window[TGT_WINDOWS][WINDOW_REGS];
};

/* filters.c: which flows a unit shows on one of its counters */
flow_filter pass_ucf, pass_pcie, pass_tgt, pass_scf, pass_mcf;

struct uncore *unit_find(enum kind kind, unsigned int socket, unsigned int rc);

#endif
