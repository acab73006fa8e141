/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What the units count of traffic in one direction: the events that a flow with
 * dir= gets. Which of a pair of events (local or remote, this or that socket)
 * depends on the flow's places, so the rows carry conditions.
 */
#include <string.h>

#include "names.h"

#define ARRAY_SIZE(a) (sizeof(a) / sizeof((a)[0]))

struct row {
	enum kind kind;
	const char *direction;
	struct effect effect[4];
};

static const struct row rows[] = {
	/* T410's fabric: what goes to memory has passed the system-level cache */
	{ KIND_UCF,
	  "rd",
	  { { 0x123, UNIT_BYTES },
	    { 0x121, UNIT_REQUESTS },
	    { 0x113, UNIT_BYTES },
	    { 0x111, UNIT_REQUESTS } } },
	{ KIND_UCF,
	  "wr",
	  { { 0x124, UNIT_BYTES },
	    { 0x122, UNIT_REQUESTS },
	    { 0x114, UNIT_BYTES },
	    { 0x112, UNIT_REQUESTS } } },
	{ KIND_PCIE, "rd", { { 0, UNIT_BYTES }, { 2, UNIT_REQUESTS }, { 4, UNIT_OUTSTANDING } } },
	{ KIND_PCIE, "wr", { { 1, UNIT_BYTES }, { 3, UNIT_REQUESTS } } },
	{ KIND_TGT, "rd", { { 0, UNIT_BYTES }, { 2, UNIT_REQUESTS } } },
	{ KIND_TGT, "wr", { { 1, UNIT_BYTES }, { 3, UNIT_REQUESTS } } },
	{ KIND_CMEM, "rd", { { 1, UNIT_REQUESTS }, { 2, UNIT_OUTSTANDING } } },
	{ KIND_NVLINK, "in_rd", { { 2, UNIT_REQUESTS }, { 1, UNIT_OUTSTANDING } } },
	{ KIND_NVLINK, "in_wr", { { 4, UNIT_REQUESTS }, { 3, UNIT_OUTSTANDING } } },
	{ KIND_NVLINK, "out_rd", { { 6, UNIT_REQUESTS }, { 5, UNIT_OUTSTANDING } } },
	{ KIND_NVLINK, "out_wr", { { 8, UNIT_REQUESTS }, { 7, UNIT_OUTSTANDING } } },
	/* AmpereOne and Kunpeng: commands are lines, the flux of Kunpeng is half lines */
	{ KIND_MCU, "rd", { { 0x0f, UNIT_LINES }, { 0x03, UNIT_LINES } } },
	{ KIND_MCU, "wr", { { 0x10, UNIT_LINES }, { 0x05, UNIT_LINES } } },
	{ KIND_DDRC, "rd", { { 1, UNIT_BEATS }, { 3, UNIT_LINES } } },
	{ KIND_DDRC, "wr", { { 0, UNIT_BEATS }, { 2, UNIT_LINES } } },
	/* CMN: requests to memory are lines, whatever they do there; flits are half lines */
	{ KIND_HNF, "rd", { { 0x0d, UNIT_LINES } } },
	{ KIND_HNF, "wr", { { 0x0d, UNIT_LINES } } },
	{ KIND_RND, "rd", { { 4, UNIT_BEATS } } },
	{ KIND_RND, "wr", { { 5, UNIT_BEATS } } },
	{ KIND_SBSX, "rd", { { 1, UNIT_LINES }, { 5, UNIT_BEATS } } },
	{ KIND_SBSX, "wr", { { 2, UNIT_LINES } } },
	/* Root ports of DesignWare, in units of 16 bytes (req=16): what a device reads is sent to it */
	{ KIND_ROOTPORT, "rd", { { 0x20, UNIT_REQUESTS } } },
	{ KIND_ROOTPORT, "wr", { { 0x21, UNIT_REQUESTS } } },
};

static unsigned int fixed_effects(enum kind kind, const char *direction, struct effect *ret)
{
	unsigned int n = 0;

	if (kind == KIND_NVCLINK || kind == KIND_NVDLINK)
		kind = KIND_NVLINK;
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		if (rows[i].kind != kind || strcmp(rows[i].direction, direction))
			continue;
		while (n < ARRAY_SIZE(rows[i].effect) && rows[i].effect[n].unit != UNIT_NONE) {
			ret[n] = rows[i].effect[n];
			n++;
		}
	}
	return n;
}

/* Grace's PCIe, C2C and CNVLink: even events are local, the next one is remote */
static unsigned int mcf_effects(const struct flow *f, const char *direction, struct effect *ret)
{
	static const struct effect rd[] = { { 0x0, UNIT_BYTES },
					    { 0x4, UNIT_BYTES },
					    { 0x6, UNIT_REQUESTS },
					    { 0xa, UNIT_REQUESTS },
					    { 0xc, UNIT_OUTSTANDING } };
	static const struct effect wr[] = { { 0x2, UNIT_BYTES },
					    { 0x4, UNIT_BYTES },
					    { 0x8, UNIT_REQUESTS },
					    { 0xa, UNIT_REQUESTS } };
	bool read = !strcmp(direction, "rd");
	const struct effect *e = read ? rd : wr;
	unsigned int n = read ? ARRAY_SIZE(rd) : ARRAY_SIZE(wr);

	if (!read && strcmp(direction, "wr"))
		return 0;
	for (unsigned int i = 0; i < n; i++) {
		ret[i] = e[i];
		ret[i].event += f->dst == MCF_DST_REM;
	}
	return n;
}

/*
 * Grace's fabric has a group of events per home socket of the memory, one for
 * local memory, one for all remote sockets, one for the GPU's. Traffic to
 * another socket's memory counts in that socket's group and in the remote one.
 * Data of reads and write-backs are counted in beats, write-back accesses in
 * lines, data of other writes in bytes.
 */
static unsigned int scf_group(const struct flow *f, const char *direction, uint32_t home,
			      struct effect *ret)
{
	bool own = home == f->socket;
	unsigned int n = 0;

#define ADD(event, unit) (ret[n++] = (struct effect){ (event), (unit) })
	if (!strcmp(direction, "rd")) {
		ADD(0x101 + home, UNIT_BEATS);
		ADD(0x115 + home, UNIT_OUTSTANDING);
		ADD(0x12d + home, UNIT_REQUESTS);
		ADD(own ? 0x1a5 : 0x1a2, UNIT_BEATS);
		ADD(own ? 0x1a7 : 0x1a3, UNIT_OUTSTANDING);
		ADD(own ? 0x1a6 : 0x1a4, UNIT_REQUESTS);
	} else if (!strcmp(direction, "wb")) {
		ADD(0x109 + home, UNIT_BEATS);
		ADD(0x135 + home, UNIT_LINES);
		ADD(own ? 0x1db : 0x1a1, UNIT_BYTES);
		if (own) {
			ADD(0x1ab, UNIT_BEATS);
			ADD(0x1ac, UNIT_LINES);
		}
	} else if (!strcmp(direction, "wr")) {
		ADD(0x17c + home, UNIT_BYTES);
		ADD(0x139 + home, UNIT_REQUESTS);
		ADD(own ? 0x1db : 0x1a1, UNIT_BYTES);
		if (own) {
			ADD(0x1b1, UNIT_BYTES);
			ADD(0x1ca, UNIT_REQUESTS);
		}
	}
	return n;
}

static unsigned int scf_gmem(const char *direction, struct effect *ret)
{
	unsigned int n = 0;

	if (!strcmp(direction, "rd")) {
		ADD(0x16d, UNIT_BEATS);
		ADD(0x16e, UNIT_REQUESTS);
		ADD(0x16f, UNIT_OUTSTANDING);
	} else if (!strcmp(direction, "wb")) {
		ADD(0x173, UNIT_BEATS);
		ADD(0x174, UNIT_LINES);
		ADD(0x1a0, UNIT_BYTES);
	} else if (!strcmp(direction, "wr")) {
		ADD(0x179, UNIT_BYTES);
		ADD(0x17b, UNIT_REQUESTS);
		ADD(0x1a0, UNIT_BYTES);
	}
	return n;
}

static unsigned int scf_effects(const struct flow *f, const char *direction, struct effect *ret)
{
	unsigned int n = 0;

	if (f->dst == SCF_DST_GMEM)
		return scf_gmem(direction, ret);
	if (f->dst < SCF_DST_GMEM)
		return scf_group(f, direction, f->dst, ret);
	/* Remote CPUs are in the home socket's cmem events, not in its own socket's */
	if (f->dst == SCF_DST_CMEM && !strcmp(direction, "rd")) {
		ADD(0x1a5, UNIT_BEATS);
		ADD(0x1a7, UNIT_OUTSTANDING);
		ADD(0x1a6, UNIT_REQUESTS);
	}
	return n;
}
#undef ADD

unsigned int effects_of(const struct flow *f, const char *direction, struct effect *ret)
{
	switch (f->kind) {
	case KIND_SCF:
		return scf_effects(f, direction, ret);
	case KIND_GPCIE:
	case KIND_C2C0:
	case KIND_C2C1:
	case KIND_CNVLINK:
		return mcf_effects(f, direction, ret);
	default:
		return fixed_effects(f->kind, direction, ret);
	}
}
