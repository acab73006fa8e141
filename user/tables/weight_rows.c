// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "tables/weight_rows.h"

#include <strings.h>

#include "base/array.h"

#define OLYMPUS	     WEIGHT_CORE_OLYMPUS
#define V2	     WEIGHT_CORE_NEOVERSE_V2
#define NEOVERSE     WEIGHT_CORE_NEOVERSE
#define INTEL	     WEIGHT_CORE_INTEL
#define INTEL_P	     WEIGHT_CORE_INTEL_P
#define INTEL_E	     WEIGHT_CORE_INTEL_E
#define ZEN4	     WEIGHT_CORE_ZEN4
#define ZEN5	     WEIGHT_CORE_ZEN5

#define OF_INTEL     CPU_VENDOR_INTEL
#define OF_AMD	     CPU_VENDOR_AMD

/* Event lists of the kernel's perf */
#define PERF_ARM     "perf, pmu-events/arch/arm64"
#define PERF_X86     "perf, pmu-events/arch/x86"
#define T410_DOC     PERF_ARM "/nvidia/t410"
#define V2_DOC	     PERF_ARM "/arm/neoverse-n2-v2"
#define NEOVERSE_DOC PERF_ARM "/arm/neoverse-*"
#define INTEL_DOC    PERF_X86 "/icelakex"
#define INTEL_P_DOC  PERF_X86 "/sapphirerapids"
#define INTEL_E_DOC  PERF_X86 "/sierraforest"
#define ZEN4_DOC     PERF_X86 "/amdzen4"
#define ZEN5_DOC     PERF_X86 "/amdzen6"

const struct weight_core_row weight_cores[NR_WEIGHT_CORES] = {
	{ OLYMPUS, PMU_PLATFORM_T410, false, "Olympus", PERF_ARM "/mapfile.csv: 0x4e0f0100" },
	{ V2, PMU_PLATFORM_GRACE, false, "Neoverse V2", PERF_ARM "/mapfile.csv: 0x410fd4f0" },
	{ NEOVERSE, PMU_PLATFORM_UNKNOWN, true, "Neoverse N1, V1, N2, V3, N3",
	  PERF_ARM "/mapfile.csv: 0x410fd0c0 and so on" },
	{ INTEL, PMU_PLATFORM_UNKNOWN, false, "Intel, Sandy Bridge to Ice Lake",
	  PERF_X86 "/mapfile.csv" },
	{ INTEL_P, PMU_PLATFORM_UNKNOWN, false, "Intel, Sapphire to Granite Rapids",
	  PERF_X86 "/mapfile.csv" },
	{ INTEL_E, PMU_PLATFORM_UNKNOWN, false, "Intel, Sierra Forest and the like",
	  PERF_X86 "/mapfile.csv" },
	{ ZEN4, PMU_PLATFORM_UNKNOWN, false, "AMD Zen 4", PERF_X86 "/mapfile.csv" },
	{ ZEN5, PMU_PLATFORM_UNKNOWN, false, "AMD Zen 5 or 6", PERF_X86 "/mapfile.csv" },
};

/*
 * By implementer (bits 24-31 of MIDR_EL1) and part (bits 4-15), Linux 6.18
 * arch/arm64/include/asm/cputype.h: Olympus; V2; N1, V1, N2 and Azure Cobalt 100, which is an N2;
 * V3, V3AE, N3
 */
static const struct {
	enum weight_core core;
	uint8_t implementer;
	uint16_t part;
} arm_parts[] = {
	{ OLYMPUS, 0x4e, 0x010 },  { V2, 0x41, 0xd4f },	      { NEOVERSE, 0x41, 0xd0c },
	{ NEOVERSE, 0x41, 0xd40 }, { NEOVERSE, 0x41, 0xd49 }, { NEOVERSE, 0x6d, 0xd49 },
	{ NEOVERSE, 0x41, 0xd84 }, { NEOVERSE, 0x41, 0xd83 }, { NEOVERSE, 0x41, 0xd8e },
};

/*
 * By vendor, family and models. Chips with two kinds of cores are missing: their kinds count
 * different things.
 */
static const struct {
	enum weight_core core;
	uint16_t vendor, family, first, last;
} x86_models[] = {
	/* Servers: Sandy Bridge, Ivy Bridge, Haswell, Broadwell (and D), Skylake, Ice Lake */
	{ INTEL, OF_INTEL, 6, 0x2d, 0x2d },
	{ INTEL, OF_INTEL, 6, 0x3e, 0x3f },
	{ INTEL, OF_INTEL, 6, 0x4f, 0x4f },
	{ INTEL, OF_INTEL, 6, 0x55, 0x56 },
	{ INTEL, OF_INTEL, 6, 0x6a, 0x6a },
	{ INTEL, OF_INTEL, 6, 0x6c, 0x6c },
	/* Clients: Sandy Bridge to Broadwell, Skylake to Comet Lake, Ice Lake to Tiger Lake */
	{ INTEL, OF_INTEL, 6, 0x2a, 0x2a },
	{ INTEL, OF_INTEL, 6, 0x3a, 0x3a },
	{ INTEL, OF_INTEL, 6, 0x3c, 0x3d },
	{ INTEL, OF_INTEL, 6, 0x45, 0x47 },
	{ INTEL, OF_INTEL, 6, 0x4e, 0x4e },
	{ INTEL, OF_INTEL, 6, 0x5e, 0x5e },
	{ INTEL, OF_INTEL, 6, 0x7d, 0x7e },
	{ INTEL, OF_INTEL, 6, 0x8c, 0x8e },
	{ INTEL, OF_INTEL, 6, 0x9e, 0x9e },
	{ INTEL, OF_INTEL, 6, 0xa5, 0xa7 },
	/* Sapphire Rapids, Emerald Rapids, Granite Rapids */
	{ INTEL_P, OF_INTEL, 6, 0x8f, 0x8f },
	{ INTEL_P, OF_INTEL, 6, 0xcf, 0xcf },
	{ INTEL_P, OF_INTEL, 6, 0xad, 0xae },
	/* Sierra Forest, Grand Ridge; Clearwater Forest lacks these events */
	{ INTEL_E, OF_INTEL, 6, 0xaf, 0xaf },
	{ INTEL_E, OF_INTEL, 6, 0xb6, 0xb6 },
	/* arch/x86/kernel/cpu/amd.c of Linux 7.2: models of Zen 4, and Zen 5 or 6 */
	{ ZEN4, OF_AMD, 0x19, 0x10, 0x1f },
	{ ZEN4, OF_AMD, 0x19, 0x60, 0xaf },
	{ ZEN5, OF_AMD, 0x1a, 0x00, 0x2f },
	{ ZEN5, OF_AMD, 0x1a, 0x40, 0xaf },
	{ ZEN5, OF_AMD, 0x1a, 0xc0, 0xef },
};

/*
 * No core event counts writes to memory: a dirty line leaves the last cache later, on behalf of
 * another task. Lines that leave the core stand for them.
 *
 * Olympus gives one signal four names (0x37, 0xa2, 0x400b, 0x8152): "auto" tries one. AMD has no
 * event for lines that leave the caches: reads stand for writes there. Instructions, cycles and all
 * loads and stores are missing on purpose: most of them stay in the caches, so they tell no more
 * about memory than CPU time.
 */
const struct weight_row weight_rows[] = {
	{ OLYMPUS, "l3d_cache_refill", 0x2a, WEIGHT_READ, 1, 64,
	  "lines from beyond L3, prefetched ones too, kept in L3 or not", T410_DOC },
	{ OLYMPUS, "ll_cache_miss_rd", 0x37, WEIGHT_READ, 2, 64,
	  "demand reads that left L3; no prefetch", T410_DOC },
	{ OLYMPUS, "l3d_cache_refill_rd", 0xa2, WEIGHT_READ, 0, 64,
	  "the same signal as ll_cache_miss_rd", T410_DOC },
	{ OLYMPUS, "l1d_cache_refill_outer_dram", 0x205, WEIGHT_READ, 0, 64,
	  "L1 data refills from local memory; no instructions, no L2 and L3 prefetch", T410_DOC },
	{ OLYMPUS, "l1d_cache_refill_outer_remote", 0x206, WEIGHT_READ, 0, 64,
	  "L1 data refills from remote memory; no instructions, no L2 and L3 prefetch", T410_DOC },
	{ OLYMPUS, "remote_access", 0x31, WEIGHT_READ, 0, 64, "reads that went to another socket",
	  T410_DOC },
	{ OLYMPUS, "bus_access_wr", 0x61, WEIGHT_WRITE, 1, 32,
	  "write beats on the port of the core; the beat is that of perf's bus_bandwidth",
	  T410_DOC },
	{ OLYMPUS, "l2d_cache_wb", 0x18, WEIGHT_WRITE, 2, 64,
	  "lines written out of L2; what other cores asked for too", T410_DOC },
	{ OLYMPUS, "l2d_cache_wb_victim", 0x56, WEIGHT_WRITE, 3, 64,
	  "lines that L2 gave up to make room", T410_DOC },
	{ OLYMPUS, "store_stream", 0x126, WEIGHT_WRITE, 0, 64,
	  "lines stored past the caches; no write-back", T410_DOC },
	{ OLYMPUS, "l3d_cache_allocate", 0x29, WEIGHT_WRITE, 0, 64,
	  "whole lines written into L3; no streams that go past it", T410_DOC },
	{ OLYMPUS, "l1d_cache_refill_outer_llc", 0x204, WEIGHT_OTHER, 0, 64,
	  "L1 data refills from L3", T410_DOC },
	{ OLYMPUS, "l2d_cache_refill", 0x17, WEIGHT_OTHER, 0, 64,
	  "lines brought into L2, from L3 or memory", T410_DOC },
	{ OLYMPUS, "bus_access_rd", 0x60, WEIGHT_OTHER, 0, 32,
	  "read beats on the port of the core, from L3 or memory", T410_DOC },
	{ OLYMPUS, "bus_access", 0x19, WEIGHT_OTHER, 0, 32,
	  "all beats on the port of the core; what other cores asked for too", T410_DOC },
	{ OLYMPUS, "l2_tq_outstanding", 0x1cb, WEIGHT_OTHER, 0, 0,
	  "requests of L2 that are under way, summed up each cycle", T410_DOC },
	{ V2, "ll_cache_miss_rd", 0x37, WEIGHT_READ, 1, 64,
	  "reads from beyond the system level cache; how much prefetch is up to a setting",
	  V2_DOC },
	{ V2, "l3d_cache_refill", 0x2a, WEIGHT_READ, 2, 64,
	  "lines from beyond L3; nothing on chips whose L3 the core does not know", V2_DOC },
	{ V2, "l3d_cache_lmiss_rd", 0x400b, WEIGHT_READ, 3, 64,
	  "reads that missed L3 and waited; nothing where L3 is not known", V2_DOC },
	{ V2, "remote_access", 0x31, WEIGHT_READ, 0, 64, "answers from another chip", V2_DOC },
	{ V2, "l2d_cache_wb", 0x18, WEIGHT_WRITE, 1, 64,
	  "lines written out of L2; what other cores asked for too", V2_DOC },
	{ V2, "bus_access_wr", 0x61, WEIGHT_WRITE, 2, 32, "write beats on the port of the core",
	  V2_DOC },
	{ V2, "l3d_cache_allocate", 0x29, WEIGHT_WRITE, 0, 64, "lines written without a fetch",
	  V2_DOC },
	{ V2, "ll_cache_rd", 0x36, WEIGHT_OTHER, 0, 64,
	  "reads that left the core, answered by the system level cache or memory", V2_DOC },
	{ V2, "l2d_cache_refill", 0x17, WEIGHT_OTHER, 0, 64, "lines brought into L2", V2_DOC },
	{ V2, "l1d_cache_refill_outer", 0x45, WEIGHT_OTHER, 0, 64,
	  "L1 data refills from beyond the core", V2_DOC },
	{ V2, "bus_access_rd", 0x60, WEIGHT_OTHER, 0, 32, "read beats on the port of the core",
	  V2_DOC },
	{ V2, "bus_access", 0x19, WEIGHT_OTHER, 0, 32,
	  "all beats on the port of the core; what other cores asked for too", V2_DOC },
	{ NEOVERSE, "ll_cache_miss_rd", 0x37, WEIGHT_READ, 1, 64,
	  "reads from beyond the last level cache; a setting of the chip says which cache that is: "
	  "on V3, users of it say, L2 and not the system level cache",
	  NEOVERSE_DOC },
	{ NEOVERSE, "l3d_cache_refill", 0x2a, WEIGHT_READ, 2, 64,
	  "lines from beyond L3; nothing on chips whose L3 the core does not know", NEOVERSE_DOC },
	{ NEOVERSE, "remote_access", 0x31, WEIGHT_READ, 0, 64, "answers from another chip",
	  NEOVERSE_DOC },
	{ NEOVERSE, "l2d_cache_wb", 0x18, WEIGHT_WRITE, 1, 64,
	  "lines written out of L2; what other cores asked for too", NEOVERSE_DOC },
	{ NEOVERSE, "bus_access_wr", 0x61, WEIGHT_WRITE, 2, 32,
	  "write beats on the port of the core", NEOVERSE_DOC },
	{ NEOVERSE, "l2d_cache_refill", 0x17, WEIGHT_OTHER, 0, 64, "lines brought into L2",
	  NEOVERSE_DOC },
	{ INTEL, "longest_lat_cache.miss", 0x412e, WEIGHT_READ, 1, 64,
	  "requests of the core that missed L3; prefetches of L1 and L2 too, of L3 not",
	  INTEL_DOC },
	{ INTEL, "l2_trans.l2_wb", 0x40f0, WEIGHT_WRITE, 1, 64, "lines written out of L2",
	  INTEL_DOC },
	{ INTEL, "offcore_requests.all_data_rd", 0x08b0, WEIGHT_OTHER, 0, 64,
	  "reads of data that left L2, from L3 or memory", INTEL_DOC },
	{ INTEL_P, "longest_lat_cache.miss", 0x412e, WEIGHT_READ, 1, 64,
	  "requests of the core that missed L3; prefetches of L1 and L2 too, of L3 not",
	  INTEL_P_DOC },
	{ INTEL_P, "offcore_requests.l3_miss_demand_data_rd", 0x1021, WEIGHT_READ, 2, 64,
	  "demand reads of data that missed L3; no prefetch", INTEL_P_DOC },
	{ INTEL_P, "l2_lines_out.non_silent", 0x0226, WEIGHT_WRITE, 1, 64,
	  "modified lines that L2 gave up to make room", INTEL_P_DOC },
	{ INTEL_P, "l2_trans.l2_wb", 0x4023, WEIGHT_WRITE, 2, 64, "lines written out of L2",
	  INTEL_P_DOC },
	{ INTEL_E, "longest_lat_cache.miss", 0x412e, WEIGHT_READ, 1, 64,
	  "requests that missed the last level cache; prefetches of L1 too", INTEL_E_DOC },
	{ INTEL_E, "l2_lines_out.non_silent", 0x0226, WEIGHT_WRITE, 1, 64,
	  "lines that L2 gave up to make room", INTEL_E_DOC },
	{ ZEN4, "ls_any_fills_from_sys.dram_io_all", 0x4844, WEIGHT_READ, 1, 64,
	  "lines from DRAM or devices into L1, prefetched ones too; what was prefetched into L2 "
	  "before comes from there",
	  ZEN4_DOC },
	{ ZEN4, "l2_pf_miss_l2_l3.all", 0xff72, WEIGHT_READ, 2, 64,
	  "prefetches of L2 that missed L3; no demand reads", ZEN4_DOC },
	/* For Zen 5 perf has the two halves of it, _near and _far */
	{ ZEN5, "l2_fill_rsp_src.dram_io_all", 0x100004865, WEIGHT_READ, 1, 64,
	  "lines from DRAM or devices into L2, prefetched ones too", ZEN5_DOC },
	{ ZEN5, "ls_any_fills_from_sys.dram_io_all", 0x4844, WEIGHT_READ, 2, 64,
	  "lines from DRAM or devices into L1, prefetched ones too", ZEN5_DOC },
};
const size_t nr_weight_rows = ARRAY_SIZE(weight_rows);

/* The first row of this name: the rest has the same role and bytes, for another core. */
static const struct weight_row *find_row(const char *event)
{
	for (size_t i = 0; i < nr_weight_rows; i++)
		if (!strcasecmp(event, weight_rows[i].name))
			return &weight_rows[i];
	return NULL;
}

bool weight_follows_traffic(const char *event)
{
	const struct weight_row *row = find_row(event);

	return row && row->role != WEIGHT_OTHER;
}

double weight_max_written(const char *event)
{
	const struct weight_row *row = find_row(event);

	return row && row->role == WEIGHT_WRITE && row->rank ? row->bytes : 0;
}

double weight_bytes_read(const char *event)
{
	const struct weight_row *row = find_row(event);

	return row && row->role == WEIGHT_READ && row->rank ? row->bytes : 0;
}

const struct weight_core_row *weight_core_find(uint64_t midr)
{
	for (size_t i = 0; i < ARRAY_SIZE(arm_parts); i++)
		if (cpu_midr_is(midr, arm_parts[i].implementer, arm_parts[i].part))
			return &weight_cores[arm_parts[i].core];
	return NULL;
}

const struct weight_core_row *weight_core_of(const struct cpu_id *id)
{
	for (size_t i = 0; i < ARRAY_SIZE(x86_models); i++)
		if (cpu_id_among(id, x86_models[i].vendor, x86_models[i].family,
				 x86_models[i].first, x86_models[i].last))
			return &weight_cores[x86_models[i].core];
	return NULL;
}
