/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What is in the configuration space of a function. Enough for Linux to
 * enumerate it, show it with a class and a parent, and switch virtual functions
 * on; no BARs, no interrupts, nothing behind it.
 */
#include <string.h>

#include "machine.h"
#include "pci.h"

/* Header */
#define VENDOR		 0x00
#define DEVICE		 0x02
#define COMMAND		 0x04
#define COMMAND_BITS	 0x0506 /* memory, bus master, SERR, INTx off */
#define STATUS		 0x06
#define STATUS_CAPS	 0x10
#define CLASS		 0x09
#define HEADER_TYPE	 0x0e
#define HEADER_BRIDGE	 1
#define HEADER_MULTI	 0x80
#define CAP_POINTER	 0x34
#define INTERRUPT_LINE	 0x3c
#define SUBSYSTEM	 0x2c /* end points */
#define PRIMARY		 0x18 /* bridges, from here on */
#define SECONDARY	 0x19
#define SUBORDINATE	 0x1a
#define MEMORY_WINDOW	 0x20
#define PREFETCH_WINDOW	 0x24
#define PREFETCH_UPPER	 0x28
#define BRIDGE_CONTROL	 0x3e
#define WINDOW_BITS	 0xfff0fff0
#define WINDOW_CLOSED	 0x0000fff0 /* base above limit */
#define WINDOW_64BIT	 0x00010001

/* PCI Express capability, the only one below 0x100 */
#define EXP		 0x40
#define EXP_ID		 0x10
#define EXP_FLAGS	 (EXP + 0x02)
#define EXP_V2		 2
#define EXP_TYPE(n)	 ((n) << 4)
#define EXP_DEVCAP	 (EXP + 0x04)
#define DEVCAP_256_BYTES 1
#define EXP_DEVCTL	 (EXP + 0x08)
#define EXP_LNKCAP	 (EXP + 0x0c)
#define EXP_LNKCTL	 (EXP + 0x10)
#define EXP_LNKSTA	 (EXP + 0x12)
#define LINK_X16_GEN5	 (16 << 4 | 5)
#define LNKCAP_PORT(n)	 ((uint32_t)(n) << 24)
#define EXP_ROOT_CONTROL (EXP + 0x1c)
#define EXP_DEVCAP2	 (EXP + 0x24)
#define DEVCAP2_ARI	 (1 << 5)
#define EXP_DEVCTL2	 (EXP + 0x28)

/* Extended capabilities: id, version 1, offset of the next one */
#define EXT_FIRST	 0x100
#define EXT(id, next)	 ((uint32_t)(id) | 1 << 16 | (uint32_t)(next) << 20)

/*
 * The vendor-specific one that says where a T410 root port belongs, as in the
 * kernel's document of these PMUs.
 */
#define DVSEC_CAP	 0x23
#define DVSEC_VENDOR	 0x10de
#define DVSEC_LENGTH	 0x14
#define DVSEC_ID	 4
#define DVSEC_BUS	 (EXT_FIRST + 0x0c) /* a byte each */
#define DVSEC_SEGMENT	 (EXT_FIRST + 0x0d)
#define DVSEC_PORT	 (EXT_FIRST + 0x0e)
#define DVSEC_RC	 (EXT_FIRST + 0x0f)
#define DVSEC_SOCKET	 (EXT_FIRST + 0x10)

/*
 * SR-IOV, and ARI in front of it: more than 7 virtual functions need function
 * numbers above 7, which the root port must agree to forward.
 */
#define ARI_CAP		 0x0e
#define SRIOV		 0x140
#define SRIOV_CAP	 0x10
#define SRIOV_CONTROL	 (SRIOV + 0x08)
#define CONTROL_VF_ON	 (1 << 0)
#define CONTROL_BITS	 0x19 /* enable, memory space, ARI hierarchy */
#define SRIOV_INITIAL	 (SRIOV + 0x0c)
#define SRIOV_TOTAL	 (SRIOV + 0x0e)
#define SRIOV_NUM	 (SRIOV + 0x10)
#define SRIOV_OFFSET	 (SRIOV + 0x14)
#define SRIOV_STRIDE	 (SRIOV + 0x16)
#define SRIOV_DEVICE	 (SRIOV + 0x1a)
#define SRIOV_PAGES	 (SRIOV + 0x1c)
#define SRIOV_PAGE_SIZE	 (SRIOV + 0x20)
#define ALL_PAGE_SIZES	 0x553 /* 4 KiB to 4 MiB, as the standard demands */

static void put16(uint8_t *p, unsigned int v)
{
	p[0] = (uint8_t)v;
	p[1] = (uint8_t)(v >> 8);
}

static void put32(uint8_t *p, uint32_t v)
{
	put16(p, v & 0xffff);
	put16(p + 2, v >> 16);
}

static unsigned int get16(const uint8_t *p)
{
	return p[0] | (unsigned int)p[1] << 8;
}

/* What bridges, end points and virtual functions have in common */
static void fill_common(struct pci_function *f, unsigned int class, unsigned int exp_type)
{
	uint8_t *c = f->config, *w = f->writable;

	put16(w + COMMAND, COMMAND_BITS);
	put16(c + STATUS, STATUS_CAPS);
	put16(c + CLASS, class & 0xffff);
	c[CLASS + 2] = (uint8_t)(class >> 16);
	c[CAP_POINTER] = EXP;
	w[INTERRUPT_LINE] = 0xff;

	c[EXP] = EXP_ID;
	put16(c + EXP_FLAGS, EXP_V2 | exp_type);
	put16(c + EXP_DEVCAP, DEVCAP_256_BYTES);
	put16(w + EXP_DEVCTL, 0xffff);
	put32(c + EXP_LNKCAP, LINK_X16_GEN5);
	put16(w + EXP_LNKCTL, 0xffff);
	put16(c + EXP_LNKSTA, LINK_X16_GEN5);
	put16(w + EXP_DEVCTL2, 0xffff);
}

static void fill_dvsec(uint8_t *c, const struct pci_line *l)
{
	put32(c + EXT_FIRST, EXT(DVSEC_CAP, 0));
	put32(c + EXT_FIRST + 4, DVSEC_VENDOR | DVSEC_LENGTH << 20);
	put16(c + EXT_FIRST + 8, DVSEC_ID);
	c[DVSEC_BUS] = (uint8_t)l->bus;
	c[DVSEC_SEGMENT] = (uint8_t)l->segment;
	c[DVSEC_PORT] = (uint8_t)l->port;
	c[DVSEC_RC] = (uint8_t)l->rc;
	c[DVSEC_SOCKET] = (uint8_t)l->socket;
}

static void fill_bridge(struct pci_function *f, const struct pci_line *l)
{
	static const unsigned int types[NR_TYPES] = {
		[TYPE_ROOT_PORT] = EXP_TYPE(4),
		[TYPE_UPSTREAM] = EXP_TYPE(5),
		[TYPE_DOWNSTREAM] = EXP_TYPE(6),
	};
	uint8_t *c = f->config, *w = f->writable;

	fill_common(f, l->class, types[l->type]);
	c[HEADER_TYPE] = HEADER_BRIDGE;
	c[PRIMARY] = (uint8_t)l->bus;
	c[SECONDARY] = (uint8_t)l->secondary;
	c[SUBORDINATE] = (uint8_t)l->subordinate;
	memset(w + PRIMARY, 0xff, 3);
	put32(c + MEMORY_WINDOW, WINDOW_CLOSED);
	put32(w + MEMORY_WINDOW, WINDOW_BITS);
	put32(c + PREFETCH_WINDOW, WINDOW_CLOSED | WINDOW_64BIT);
	put32(w + PREFETCH_WINDOW, WINDOW_BITS);
	memset(w + PREFETCH_UPPER, 0xff, 8);
	w[BRIDGE_CONTROL] = 0xff;
	put32(c + EXP_LNKCAP, LINK_X16_GEN5 | LNKCAP_PORT(l->port));
	if (l->type == TYPE_ROOT_PORT)
		w[EXP_ROOT_CONTROL] = 0xff;
	if (l->type != TYPE_UPSTREAM)
		put32(c + EXP_DEVCAP2, DEVCAP2_ARI);
	if (l->dvsec)
		fill_dvsec(c, l);
}

static void fill_sriov(struct pci_function *f, const struct pci_line *l)
{
	uint8_t *c = f->config, *w = f->writable;

	put32(c + EXT_FIRST, EXT(ARI_CAP, SRIOV));
	put32(c + SRIOV, EXT(SRIOV_CAP, 0));
	put16(w + SRIOV_CONTROL, CONTROL_BITS);
	put16(c + SRIOV_INITIAL, l->vfs);
	put16(c + SRIOV_TOTAL, l->vfs);
	put16(w + SRIOV_NUM, 0xffff);
	put16(c + SRIOV_OFFSET, 1);
	put16(c + SRIOV_STRIDE, 1);
	put16(c + SRIOV_DEVICE, l->vf_device_id);
	put32(c + SRIOV_PAGES, ALL_PAGE_SIZES);
	put32(c + SRIOV_PAGE_SIZE, 1);
	put32(w + SRIOV_PAGE_SIZE, UINT32_MAX);
}

void pci_fill(struct pci_function *f, const struct pci_line *l)
{
	f->key = l->segment << 16 | l->bus << 8 | l->device << 3 | l->function;
	put16(f->config + VENDOR, l->vendor);
	put16(f->config + DEVICE, l->device_id);
	if (l->type != TYPE_END_POINT) {
		fill_bridge(f, l);
		return;
	}
	fill_common(f, l->class, 0);
	if (l->multi)
		f->config[HEADER_TYPE] = HEADER_MULTI;
	put16(f->config + SUBSYSTEM, l->vendor);
	put16(f->config + SUBSYSTEM + 2, l->device_id);
	if (l->vfs)
		fill_sriov(f, l);
}

void pci_fill_vf(struct pci_function *f, const struct pci_function *pf, unsigned int index)
{
	const uint8_t *c = pf->config;
	unsigned int class = get16(c + CLASS) | (unsigned int)c[CLASS + 2] << 16;

	f->pf = pf;
	f->vf_index = index;
	f->key = pf->key + get16(c + SRIOV_OFFSET) + index * get16(c + SRIOV_STRIDE);
	/* A virtual function has no ids of its own, Linux takes the PF's */
	put16(f->config + VENDOR, 0xffff);
	put16(f->config + DEVICE, 0xffff);
	fill_common(f, class, 0);
	memcpy(f->config + SUBSYSTEM, c + SUBSYSTEM, 4);
}

unsigned int pci_vfs_enabled(const struct pci_function *pf)
{
	if (!(get16(pf->config + SRIOV_CONTROL) & CONTROL_VF_ON))
		return 0;
	return get16(pf->config + SRIOV_NUM);
}
