/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Filters: the drivers' two filter registers per counter, applied to a flow.
 * Defaults (no filter means everything) are the drivers' business; a register
 * that is zero here lets nothing through.
 */
#include "units.h"

/* T410 PCIe, first register: a bit per root port, or one requester id */
#define PCIE_BDF_SHIFT	 8
#define PCIE_BDF_MASK	 0xffffu
#define PCIE_BDF_ENABLE	 (1u << 24)

/* T410 PCIe target, second register: a bit per root port, a bit per window */
#define TGT_PORTS	 0xffu
#define TGT_WINDOW_SHIFT 8
#define TGT_WINDOW_BITS	 (((1u << TGT_WINDOWS) - 1) << TGT_WINDOW_SHIFT)
#define TGT_DST_BAR	 0 /* flow's dst: BAR space, as opposed to CXL memory */

/* Sources in bits 0-2, destinations in bits 8-11; flows name the bit itself */
bool pass_ucf(const void *unit, unsigned int index, const struct flow *f)
{
	const struct uncore *u = unit;
	uint32_t filter = u->pmu.counter[index].filter;

	return f->kind == u->kind && f->socket == u->socket && bit_set(filter, f->src) &&
	       bit_set(filter, f->dst);
}

bool pass_pcie(const void *unit, unsigned int index, const struct flow *f)
{
	const struct uncore *u = unit;
	const struct cspmu_counter *c = &u->pmu.counter[index];

	if (f->kind != u->kind || f->socket != u->socket || f->rc != u->rc ||
	    !bit_set(c->filter2, f->dst))
		return false;
	/* The id replaces the ports: the two never filter together */
	if (c->filter & PCIE_BDF_ENABLE)
		return (c->filter >> PCIE_BDF_SHIFT & PCIE_BDF_MASK) == f->bdf;
	return f->port < PCIE_BDF_SHIFT && bit_set(c->filter, f->port);
}

static bool in_window(const struct uncore *u, uint32_t selected, uint64_t address)
{
	for (unsigned int k = 0; k < TGT_WINDOWS; k++) {
		const uint32_t *w = u->window[k];
		uint64_t base = (uint64_t)w[WINDOW_BASE_HI] << 32 | w[WINDOW_BASE_LO];
		uint64_t mask = (uint64_t)w[WINDOW_MASK_HI] << 32 | w[WINDOW_MASK_LO];

		if (bit_set(selected, k) && (w[WINDOW_ENABLE] & 1) && !((address ^ base) & mask))
			return true;
	}
	return false;
}

/*
 * A window sees BAR space and CXL memory, the port bits only BAR space. Given
 * both, both must fit: no document says so, but it is the reading under which
 * either of them can still narrow the other.
 */
bool pass_tgt(const void *unit, unsigned int index, const struct flow *f)
{
	const struct uncore *u = unit;
	uint32_t filter = u->pmu.counter[index].filter2;
	uint32_t ports = filter & TGT_PORTS;

	if (f->kind != u->kind || f->socket != u->socket || f->rc != u->rc)
		return false;
	if (!(filter & TGT_WINDOW_BITS))
		return f->dst == TGT_DST_BAR && bit_set(ports, f->port);
	return in_window(u, filter >> TGT_WINDOW_SHIFT, f->address) &&
	       (!ports || bit_set(ports, f->port));
}

/* Grace's fabric has no filter: what it tells apart, it has separate events for */
bool pass_scf(const void *unit, unsigned int index, const struct flow *f)
{
	const struct uncore *u = unit;

	(void)index;
	return f->kind == u->kind && f->socket == u->socket;
}

/* Grace's PCIe, C2C and CNVLink: a bit per root port, link port or remote socket */
bool pass_mcf(const void *unit, unsigned int index, const struct flow *f)
{
	const struct uncore *u = unit;

	return f->kind == u->kind && f->socket == u->socket &&
	       bit_set(u->pmu.counter[index].filter, f->port);
}
