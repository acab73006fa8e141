// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "tables/weight_rows.h"

#include <strings.h>

#include "base/array.h"

#define OLYMPUS	 WEIGHT_CORE_OLYMPUS
#define V2	 WEIGHT_CORE_NEOVERSE_V2

/* Event lists that come with the kernel's perf */
#define T410_DOC "perf, pmu-events/arch/arm64/nvidia/t410"
#define V2_DOC	 "perf, pmu-events/arch/arm64/arm/neoverse-n2-v2"

const struct weight_core_row weight_cores[NR_WEIGHT_CORES] = {
	{ OLYMPUS, PMU_PLATFORM_T410, "Olympus", 0x4e, 0x010,
	  "perf, pmu-events/arch/arm64/mapfile.csv: 0x4e0f0100" },
	{ V2, PMU_PLATFORM_GRACE, "Neoverse V2", 0x41, 0xd4f,
	  "perf, pmu-events/arch/arm64/mapfile.csv: 0x410fd4f0" },
};

/*
 * No core event counts writes to memory: a dirty line leaves the last cache later, and
 * for somebody else. What leaves the core stands for them.
 *
 * Olympus gives one signal four names (0x37, 0xa2, 0x400b, 0x8152): "auto" tries one.
 * Instructions, cycles and all loads and stores are missing on purpose: most of them stay
 * in the caches, so they say no more about memory than CPU time does.
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
};
const size_t nr_weight_rows = ARRAY_SIZE(weight_rows);

bool weight_follows_traffic(const char *event)
{
	for (size_t i = 0; i < nr_weight_rows; i++)
		if (!strcasecmp(event, weight_rows[i].name))
			return weight_rows[i].role != WEIGHT_OTHER;
	return false;
}

const struct weight_core_row *weight_core_find(uint64_t midr)
{
	/* Variant and revision may be any; what is no MIDR at all has high bits set. */
	if (midr >> 32)
		return NULL;
	for (size_t i = 0; i < NR_WEIGHT_CORES; i++)
		if (midr >> 24 == weight_cores[i].implementer &&
		    (midr >> 4 & 0xfff) == weight_cores[i].part)
			return &weight_cores[i];
	return NULL;
}
