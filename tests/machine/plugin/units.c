/* SPDX-License-Identifier: GPL-2.0-only */
/* Which CoreSight units there are, where, and what they count. */
#include <stddef.h>

#include "units.h"

#define MAX_UNITS	  (MAX_SOCKETS * (1 + 2 * NR_RCS))
/* The most units of a kind on a socket */
#define MAX_INSTANCES	  NR_MCUS

/*
 * The fabrics' bus_cycles event. Its name is all that is known of it on T410; on
 * Grace it is documented as the same as the cycle counter.
 */
#define FABRIC_BUS_CYCLES 0x1d

/*
 * Windows of a PCIe target unit are in a page of their own, behind the unit's
 * two, that the driver gets as resource of an ACPI device.
 */
#define TGT_WINDOWS_BASE  (CSPMU_PAGES * PAGE_SIZE + 0xd38)

/*
 * One line per kind of unit. The product in PMIIDR decides what the driver
 * makes of a unit: name, events and filters. `instances` is how many of them a
 * socket has: of some kinds one per root complex.
 */
static const struct unit_type {
	enum shape shape;
	enum kind kind;
	uint32_t pmiidr;
	uint32_t offset, stride;
	unsigned int instances;
	flow_filter *pass;
} types[] = {
	{ SHAPE_T410, KIND_UCF, 0x2cf2036b, PMU_FABRIC, 0, 1, pass_ucf },
	{ SHAPE_T410, KIND_PCIE, 0x1030136b, PMU_PCIE, PMU_PCIE_STRIDE, NR_RCS, pass_pcie },
	{ SHAPE_T410, KIND_TGT, 0x1070036b, PMU_TGT, PMU_TGT_STRIDE, NR_RCS, pass_tgt },
	{ SHAPE_GRACE, KIND_SCF, 0x2cf0036b, PMU_FABRIC, 0, 1, pass_scf },
	{ SHAPE_GRACE, KIND_GPCIE, 0x1030036b, PMU_PCIE, 0, 1, pass_mcf },
	{ SHAPE_GRACE, KIND_C2C0, 0x1050036b, PMU_PCIE + PMU_PCIE_STRIDE, 0, 1, pass_mcf },
	{ SHAPE_GRACE, KIND_C2C1, 0x1040036b, PMU_PCIE + 2 * PMU_PCIE_STRIDE, 0, 1, pass_mcf },
	{ SHAPE_GRACE, KIND_CNVLINK, 0x1060036b, PMU_PCIE + 3 * PMU_PCIE_STRIDE, 0, 1, pass_mcf },
	/* the implementer is what the driver goes by; the product is made up */
	{ SHAPE_AMPEREONE, KIND_MCU, 0x00000a16, PMU_DRAM, MCU_STRIDE, NR_MCUS, pass_mcu },
};

static struct uncore units[MAX_UNITS];
static unsigned int nr_units;

static uint64_t unit_total(const struct cspmu *pmu, unsigned int i, uint64_t now)
{
	const struct uncore *u = (const struct uncore *)pmu;
	uint32_t event = pmu->counter[i].event;
	bool fabric = u->kind == KIND_UCF || u->kind == KIND_SCF;
	uint64_t total;

	if (i == CSPMU_CYCLE_COUNTER || (fabric && event == FABRIC_BUS_CYCLES))
		return clock_total(u->kind, now);
	total = flows_total(u->pass, u, i, event, now);
	return u->kind == KIND_MCU ? mcu_share(u, total) : total;
}

static void add_unit(const struct unit_type *t, unsigned int socket, unsigned int rc)
{
	units[nr_units] = (struct uncore){
		.pmu = { .pmiidr = t->pmiidr,
			 .bits = machine.counter_bits,
			 .line = nr_units,
			 .total = unit_total },
		.kind = t->kind,
		.socket = socket,
		.rc = rc,
		.offset = socket * PMU_SOCKET_STRIDE + t->offset + rc * t->stride,
		.pass = t->pass,
	};
	nr_units++;
}

/* All units of a socket with number @rc; those that are alone have number 0 */
static void add_units(unsigned int socket, unsigned int rc)
{
	for (size_t t = 0; t < ARRAY_SIZE(types); t++)
		if (types[t].shape == machine.shape && rc < types[t].instances)
			add_unit(&types[t], socket, rc);
}

/* acpi/units.py lists them in this same order, and numbers interrupts by it */
void units_init(void)
{
	nr_units = 0;
	for (unsigned int s = 0; s < machine.sockets; s++)
		for (unsigned int rc = 0; rc < MAX_INSTANCES; rc++)
			add_units(s, rc);
}

struct uncore *unit_find(enum kind kind, unsigned int socket, unsigned int rc)
{
	for (unsigned int i = 0; i < nr_units; i++)
		if (units[i].kind == kind && units[i].socket == socket && units[i].rc == rc)
			return &units[i];
	return NULL;
}

/* The unit at an offset, and the offset inside it */
static struct uncore *unit_at(uint64_t offset, unsigned int *ret_inside)
{
	for (unsigned int i = 0; i < nr_units; i++) {
		uint32_t pages = CSPMU_PAGES + (units[i].kind == KIND_TGT);

		if (offset >= units[i].offset && offset - units[i].offset < pages * PAGE_SIZE) {
			*ret_inside = (unsigned int)(offset - units[i].offset);
			return &units[i];
		}
	}
	return NULL;
}

/* The window register at an offset, or NULL in the gaps of its page */
static uint32_t *window_reg(struct uncore *u, unsigned int inside)
{
	unsigned int i;

	if (inside < TGT_WINDOWS_BASE || inside >= TGT_WINDOWS_BASE + sizeof(u->window))
		return NULL;
	i = (inside - TGT_WINDOWS_BASE) / 4;
	return &u->window[i / WINDOW_REGS][i % WINDOW_REGS];
}

/* A register that CoreSight PMUs do not have, and that all counters of the unit have in common */
static uint32_t *own_reg(struct uncore *u, unsigned int inside)
{
	return u->kind == KIND_MCU ? mcu_reg(u, inside) : window_reg(u, inside);
}

bool units_read(uint64_t offset, unsigned int size, uint64_t *ret_value)
{
	unsigned int inside;
	struct uncore *u = unit_at(offset, &inside);
	const uint32_t *own;

	if (!u)
		return false;
	own = own_reg(u, inside);
	if (own)
		*ret_value = *own;
	else if (inside < CSPMU_PAGES * PAGE_SIZE)
		*ret_value = cspmu_read(&u->pmu, inside, size, now_ns());
	else
		*ret_value = 0;
	return true;
}

bool units_write(uint64_t offset, unsigned int size, uint64_t value)
{
	unsigned int inside;
	struct uncore *u = unit_at(offset, &inside);
	uint64_t now = now_ns();
	uint32_t *own;

	if (!u)
		return false;
	own = own_reg(u, inside);
	if (own) {
		cspmu_hold(&u->pmu, UINT32_MAX, now);
		*own = (uint32_t)value;
		cspmu_resume(&u->pmu, UINT32_MAX, now);
	} else if (inside < CSPMU_PAGES * PAGE_SIZE) {
		cspmu_write(&u->pmu, inside, size, value, now);
	}
	return true;
}

void units_poll(void)
{
	uint64_t now;

	/* 64 bits take decades to overflow: spare the machine the walk */
	if (machine.counter_bits == 64)
		return;
	now = now_ns();
	for (unsigned int i = 0; i < nr_units; i++)
		cspmu_poll(&units[i].pmu, now);
	ddrc_poll();
	cmn_poll();
}
