/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What a root port of DesignWare counts (RAS DES): a vendor-specific capability in its
 * configuration space, with one counter of 64 bits for one event at a time. It starts from zero
 * each time it is switched on. The counter of lane events is there and counts nothing.
 */
#include <stdlib.h>
#include <string.h>

#include "machine.h"
#include "pci.h"

#define VSEC_CAP      0x0b
#define VSEC_VERSION  (1u << 16)
#define VSEC_ID	      0x02
#define VSEC_REVISION (4u << 16)
#define VSEC_LENGTH   (0x100u << 20)

/* Offsets in the capability */
#define LANE_CTL      0x08
#define ANALYSIS_CTL  0x10
#define START	      (1u << 0)
#define EVENT(ctl)    ((ctl) >> 24)
#define DATA_LOW      0x14
#define DATA_HIGH     0x18

struct dwc {
	unsigned int socket, port;
	uint32_t lane_ctl, ctl;
	uint64_t value, mark;
};

struct dwc *dwc_new(unsigned int socket, unsigned int port, uint8_t *config)
{
	const uint32_t header[] = { VSEC_CAP | VSEC_VERSION,
				    VSEC_ID | VSEC_REVISION | VSEC_LENGTH };
	struct dwc *d = calloc(1, sizeof(*d));

	if (!d)
		return NULL;
	d->socket = socket;
	d->port = port;
	memcpy(config + DWC_CAP, header, sizeof(header));
	return d;
}

static bool pass_root_port(const void *unit, unsigned int index, const struct flow *f)
{
	const struct dwc *d = unit;

	(void)index;
	return f->kind == KIND_ROOTPORT && f->socket == d->socket && f->port == d->port;
}

static uint64_t total_of(const struct dwc *d)
{
	return flows_total(pass_root_port, d, 0, EVENT(d->ctl), now_ns());
}

static uint64_t value_of(const struct dwc *d)
{
	return d->ctl & START ? total_of(d) - d->mark : d->value;
}

bool dwc_read(const struct dwc *d, unsigned int offset, uint64_t *ret_value)
{
	switch (offset - DWC_CAP) {
	case LANE_CTL:
		*ret_value = d->lane_ctl;
		return true;
	case ANALYSIS_CTL:
		*ret_value = d->ctl;
		return true;
	case DATA_LOW:
		*ret_value = (uint32_t)value_of(d);
		return true;
	case DATA_HIGH:
		*ret_value = value_of(d) >> 32;
		return true;
	}
	return false;
}

void dwc_write(struct dwc *d, unsigned int offset, uint64_t value)
{
	bool ran = d->ctl & START;

	if (offset - DWC_CAP == LANE_CTL)
		d->lane_ctl = (uint32_t)value;
	if (offset - DWC_CAP != ANALYSIS_CTL)
		return;
	d->value = value_of(d);
	d->ctl = (uint32_t)value;
	if (!ran && (d->ctl & START))
		d->mark = total_of(d);
	else if (ran && (d->ctl & START))
		d->mark = total_of(d) - d->value; /* another event goes on from there */
}
