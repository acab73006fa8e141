/* SPDX-License-Identifier: GPL-2.0-only */
/* Words of scenario files: kinds, events, places, directions. */
#ifndef TRAFFIC_NAMES_H
#define TRAFFIC_NAMES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "shm.h"

/* Bits of the units' filter registers that flows name as their src and dst */
enum {
	UCF_SRC_NONCPU = 0,
	UCF_SRC_CPU = 1,
	UCF_SRC_REM = 2,
	UCF_DST_CMEM = 8,
	UCF_DST_GMEM = 9,
	UCF_DST_OTHER = 10,
	UCF_DST_REM = 11,
};
enum {
	PCIE_DST_CMEM,
	PCIE_DST_GMEM,
	PCIE_DST_P2P,
	PCIE_DST_CXL,
	PCIE_DST_REM,
};
/* No filter bits, only names: what traffic causes depends on where it goes */
enum {
	SCF_DST_S0,
	SCF_DST_S1,
	SCF_DST_S2,
	SCF_DST_S3,
	SCF_DST_GMEM,
	SCF_DST_CMEM, /* local DRAM, read by another socket's CPUs */
	NR_SCF_DST
};
enum { MCF_DST_LOC, MCF_DST_REM };

/** kind_by_name() - enum kind, KIND_NONE if there is no such kind */
enum kind kind_by_name(const char *name);
const char *kind_name(uint32_t kind);

/*
 * Look a word up for a kind; numbers are taken too. Return 0 or -EINVAL, with
 * the result untouched.
 */
int event_by_name(enum kind kind, const char *word, uint64_t *ret_id);
int src_by_name(enum kind kind, const char *word, uint64_t *ret_bit);
int dst_by_name(enum kind kind, const char *word, uint64_t *ret_bit);
uint32_t default_dst(enum kind kind, uint32_t socket);

/** parse_number() - decimal or 0x..., with k, M, G for thousands; 0 or -EINVAL */
int parse_number(const char *text, uint64_t *ret_value);

/** parse_bdf() - BB:DD.F, or a number */
int parse_bdf(const char *text, uint64_t *ret_bdf);

/* What traffic in one direction makes a flow's unit count */
struct effect {
	uint32_t event;
	uint32_t unit; /* enum unit */
};

/**
 * effects_of() - events of a flow that has its places and its kind
 * @ret: room for SHM_MAX_EVENTS
 *
 * Return: number of events; 0 if the kind has no such direction.
 */
unsigned int effects_of(const struct flow *f, const char *direction, struct effect *ret);

#endif
