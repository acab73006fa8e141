// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Metrics of the cores: Neoverse V2 in Grace, Olympus in the T410. Only those whose events
 * have a number that is written down.
 */
#include "base/array.h"
#include "tables/metrics.h"

#define PERF	 "Linux tools/perf/pmu-events/arch/arm64/"
#define V2	 PERF "arm/neoverse-n2-v2/metrics.json"
#define OLYMPUS	 PERF "nvidia/t410/metrics.json"
#define NUMBERS	 PERF "common-and-microarch.json"
/* Numbers that Arm recommends to makers of cores; both cores follow it. */
#define ADVICE	 PERF "recommended.json"
#define COMPOSED "composed of architectural events of " NUMBERS

/* clang-format off */
#define ROW(platform_, id_, title_, unit_, formula_, derived_, default_, source_)           \
	{ .platform = platform_, .kind = PMU_CORE, .id = id_, .title = title_,               \
	  .unit = unit_, .formula = formula_, .from = "CPUs", .to = "", .derived = derived_, \
	  .by_default = default_, .source = source_ }
#define GRACE(id, title, unit, formula) \
	ROW(PMU_PLATFORM_GRACE, "grace.core." id, title, unit, formula, false, false, V2)
#define T410(id, title, unit, formula) \
	ROW(PMU_PLATFORM_T410, "t410.core." id, title, unit, formula, false, false, OLYMPUS)

/* What both files say. */
#define BOTH(platform, prefix, source)                                                                                          \
	ROW(platform, prefix "ipc", "instructions per cycle", "instructions/cycle", "INST_RETIRED / CPU_CYCLES", false, true, source), \
	ROW(platform, prefix "l1d_cache_mpki", "misses of the L1 data cache", "MPKI", "1000 * L1D_CACHE_REFILL / INST_RETIRED", false, true, source), \
	ROW(platform, prefix "l1d_cache_miss_ratio", "misses of the L1 data cache", "ratio", "L1D_CACHE_REFILL / L1D_CACHE", false, false, source), \
	ROW(platform, prefix "l1i_cache_mpki", "misses of the L1 instruction cache", "MPKI", "1000 * L1I_CACHE_REFILL / INST_RETIRED", false, true, source), \
	ROW(platform, prefix "l1i_cache_miss_ratio", "misses of the L1 instruction cache", "ratio", "L1I_CACHE_REFILL / L1I_CACHE", false, false, source), \
	ROW(platform, prefix "l2_cache_miss_ratio", "misses of the L2 cache", "ratio", "L2D_CACHE_REFILL / L2D_CACHE", false, true, source), \
	ROW(platform, prefix "ll_cache_read_mpki", "read misses of the last level cache", "MPKI", "1000 * LL_CACHE_MISS_RD / INST_RETIRED", false, true, source), \
	ROW(platform, prefix "ll_cache_read_miss_ratio", "read misses of the last level cache", "ratio", "LL_CACHE_MISS_RD / LL_CACHE_RD", false, false, source), \
	ROW(platform, prefix "ll_cache_read_hit_ratio", "reads that the last level cache answered", "ratio", "(LL_CACHE_RD - LL_CACHE_MISS_RD) / LL_CACHE_RD", false, false, source), \
	ROW(platform, prefix "dtlb_mpki", "table walks for data", "MPKI", "1000 * DTLB_WALK / INST_RETIRED", false, true, source), \
	ROW(platform, prefix "dtlb_walk_ratio", "table walks for data", "ratio", "DTLB_WALK / L1D_TLB", false, false, source), \
	ROW(platform, prefix "itlb_mpki", "table walks for instructions", "MPKI", "1000 * ITLB_WALK / INST_RETIRED", false, false, source), \
	ROW(platform, prefix "itlb_walk_ratio", "table walks for instructions", "ratio", "ITLB_WALK / L1I_TLB", false, false, source), \
	ROW(platform, prefix "l1d_tlb_miss_ratio", "misses of the L1 data TLB", "ratio", "L1D_TLB_REFILL / L1D_TLB", false, false, source), \
	ROW(platform, prefix "l1i_tlb_miss_ratio", "misses of the L1 instruction TLB", "ratio", "L1I_TLB_REFILL / L1I_TLB", false, false, source), \
	ROW(platform, prefix "l2_tlb_miss_ratio", "misses of the L2 TLB", "ratio", "L2D_TLB_REFILL / L2D_TLB", false, false, source), \
	ROW(platform, prefix "branch_mpki", "mispredicted branches", "MPKI", "1000 * BR_MIS_PRED_RETIRED / INST_RETIRED", false, true, source), \
	ROW(platform, prefix "branch_misprediction_ratio", "mispredicted branches", "ratio", "BR_MIS_PRED_RETIRED / BR_RETIRED", false, false, source), \
	ROW(platform, prefix "load_percentage", "loads among all operations", "percent", "100 * LD_SPEC / INST_SPEC", false, false, source), \
	ROW(platform, prefix "store_percentage", "stores among all operations", "percent", "100 * ST_SPEC / INST_SPEC", false, false, source), \
	ROW(platform, prefix "integer_dp_percentage", "integer operations among all", "percent", "100 * DP_SPEC / INST_SPEC", false, false, source), \
	ROW(platform, prefix "simd_percentage", "Advanced SIMD operations among all", "percent", "100 * ASE_SPEC / INST_SPEC", false, false, source), \
	ROW(platform, prefix "scalar_fp_percentage", "scalar floating point among all operations", "percent", "100 * VFP_SPEC / INST_SPEC", false, false, source), \
	ROW(platform, prefix "crypto_percentage", "cryptography among all operations", "percent", "100 * CRYPTO_SPEC / INST_SPEC", false, false, source)

const struct metric_row metric_rows_core[] = {
	BOTH(PMU_PLATFORM_GRACE, "grace.core.", V2),
	ROW(PMU_PLATFORM_GRACE, "grace.core.frontend_stalled_cycles", "cycles without work from the front end", "percent", "100 * STALL_FRONTEND / CPU_CYCLES", true, true, COMPOSED),
	ROW(PMU_PLATFORM_GRACE, "grace.core.backend_stalled_cycles", "cycles in which the back end took no work", "percent", "100 * STALL_BACKEND / CPU_CYCLES", true, true, COMPOSED),
	GRACE("l2_cache_mpki", "misses of the L2 cache", "MPKI", "1000 * L2D_CACHE_REFILL / INST_RETIRED"),
	GRACE("l3_cache_mpki", "misses of the L3 cache", "MPKI", "1000 * L3D_CACHE_REFILL / INST_RETIRED"),
	GRACE("l3_cache_miss_ratio", "misses of the L3 cache", "ratio", "L3D_CACHE_REFILL / L3D_CACHE"),
	GRACE("spec_ipc", "operations tried per cycle", "instructions/cycle", "INST_SPEC / CPU_CYCLES"),
	GRACE("retired_ratio", "operations that were of use", "ratio", "OP_RETIRED / OP_SPEC"),
	GRACE("wasted_ratio", "operations that were in vain", "ratio", "1 - OP_RETIRED / OP_SPEC"),
	GRACE("branch_pki", "branches", "PKI", "1000 * BR_RETIRED / INST_RETIRED"),
	GRACE("branch_immediate_percentage", "immediate branches among all operations", "percent", "100 * BR_IMMED_SPEC / INST_SPEC"),
	GRACE("branch_return_percentage", "returns among all operations", "percent", "100 * BR_RETURN_SPEC / INST_SPEC"),
	GRACE("branch_indirect_percentage", "indirect branches among all operations", "percent", "100 * BR_INDIRECT_SPEC / INST_SPEC"),

	BOTH(PMU_PLATFORM_T410, "t410.core.", OLYMPUS),
	ROW(PMU_PLATFORM_T410, "t410.core.frontend_stalled_cycles", "cycles without work from the front end", "percent", "100 * STALL_FRONTEND / CPU_CYCLES", false, true, OLYMPUS),
	ROW(PMU_PLATFORM_T410, "t410.core.backend_stalled_cycles", "cycles in which the back end took no work", "percent", "100 * STALL_BACKEND / CPU_CYCLES", false, true, OLYMPUS),
	T410("backend_mem_bound", "back end stalls because of memory", "percent", "100 * STALL_BACKEND_MEMBOUND / STALL_BACKEND"),
	T410("frontend_mem_bound", "front end stalls because of memory", "percent", "100 * STALL_FRONTEND_MEMBOUND / STALL_FRONTEND"),
	T410("load_average_latency", "latency of loads", "cycles", "MEM_ACCESS_RD_PERCYC / MEM_ACCESS"),
	T410("dtlb_walk_average_latency", "latency of table walks for data", "cycles", "DTLB_WALK_PERCYC / DTLB_WALK"),
	T410("itlb_walk_average_latency", "latency of table walks for instructions", "cycles", "ITLB_WALK_PERCYC / ITLB_WALK"),
	T410("branch_percentage", "branches among all operations", "percent", "100 * (BR_IMMED_SPEC + BR_INDIRECT_SPEC) / INST_SPEC"),
	T410("bus_bandwidth", "data between L2 and the fabric", "B/s", "BUS_ACCESS * 32 / duration_s"),
};

/* Architectural: the same number in any Arm core that counts it. */
#define EVENT(name, code)  { name, code, PMU_PLATFORM_UNKNOWN, NUMBERS }
#define ADVISED(name, code) { name, code, PMU_PLATFORM_UNKNOWN, ADVICE }

const struct core_event_row core_event_rows[] = {
	EVENT("L1I_CACHE_REFILL", 0x01),
	EVENT("L1I_TLB_REFILL", 0x02),
	EVENT("L1D_CACHE_REFILL", 0x03),
	EVENT("L1D_CACHE", 0x04),
	EVENT("L1D_TLB_REFILL", 0x05),
	EVENT("INST_RETIRED", 0x08),
	EVENT("CPU_CYCLES", 0x11),
	EVENT("MEM_ACCESS", 0x13),
	EVENT("L1I_CACHE", 0x14),
	EVENT("L2D_CACHE", 0x16),
	EVENT("L2D_CACHE_REFILL", 0x17),
	EVENT("BUS_ACCESS", 0x19),
	EVENT("INST_SPEC", 0x1b),
	EVENT("BR_RETIRED", 0x21),
	EVENT("BR_MIS_PRED_RETIRED", 0x22),
	EVENT("STALL_FRONTEND", 0x23),
	EVENT("STALL_BACKEND", 0x24),
	EVENT("L1D_TLB", 0x25),
	EVENT("L1I_TLB", 0x26),
	EVENT("L3D_CACHE_REFILL", 0x2a),
	EVENT("L3D_CACHE", 0x2b),
	EVENT("L2D_TLB_REFILL", 0x2d),
	EVENT("L2D_TLB", 0x2f),
	EVENT("DTLB_WALK", 0x34),
	EVENT("ITLB_WALK", 0x35),
	EVENT("LL_CACHE_RD", 0x36),
	EVENT("LL_CACHE_MISS_RD", 0x37),
	EVENT("OP_RETIRED", 0x3a),
	EVENT("OP_SPEC", 0x3b),
	ADVISED("LD_SPEC", 0x70),
	ADVISED("ST_SPEC", 0x71),
	ADVISED("DP_SPEC", 0x73),
	ADVISED("ASE_SPEC", 0x74),
	ADVISED("VFP_SPEC", 0x75),
	ADVISED("CRYPTO_SPEC", 0x77),
	ADVISED("BR_IMMED_SPEC", 0x78),
	ADVISED("BR_RETURN_SPEC", 0x79),
	ADVISED("BR_INDIRECT_SPEC", 0x7a),
	EVENT("MEM_ACCESS_RD_PERCYC", 0x8121),
	EVENT("DTLB_WALK_PERCYC", 0x8128),
	EVENT("ITLB_WALK_PERCYC", 0x8129),
	EVENT("STALL_FRONTEND_MEMBOUND", 0x8158),
	EVENT("STALL_BACKEND_MEMBOUND", 0x8164),
};
/* clang-format on */
const size_t nr_metric_rows_core = ARRAY_SIZE(metric_rows_core);
const size_t nr_core_event_rows = ARRAY_SIZE(core_event_rows);
