// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Metrics of the cores: Neoverse V2 in Grace, Olympus in the T410. Formulas that both documents
 * share have a row for each. Rows that assume eight slots a cycle are for Grace alone: Olympus
 * counts its slots.
 */
#include "base/array.h"
#include "tables/metrics.h"

#define GUIDE	 "Grace tuning guide"
#define PERF	 "Linux tools/perf/pmu-events/arch/arm64/"
#define T410_DOC PERF "nvidia/t410/metrics.json"
#define NUMBERS	 PERF "common-and-microarch.json"
/* Numbers that Arm recommends to core designers; both cores follow them. */
#define ADVICE	 PERF "recommended.json"

/* clang-format off */
#define ROW(platform_, id_, title_, unit_, formula_, default_, source_)                      \
	{ .platform = platform_, .kind = PMU_CORE, .id = id_, .title = title_,               \
	  .unit = unit_, .formula = formula_, .from = "one workload", .to = "",              \
	  .by_default = default_, .source = source_ }
#define GRACE(id, title, unit, formula, by_default) \
	ROW(PMU_PLATFORM_GRACE, "grace.core." id, title, unit, formula, by_default, GUIDE)
/* Eight slots a cycle, or the cost of a mispredicted branch. */
#define WIDTH(id_, title_, unit_, formula_)                                                     \
	{ .platform = PMU_PLATFORM_GRACE, .kind = PMU_CORE, .id = "grace.core." id_, .title = title_, \
	  .unit = unit_, .formula = formula_, .from = "one workload", .to = "", .own_core = true,  \
	  .source = GUIDE }
#define T410(id, title, unit, formula, by_default) \
	ROW(PMU_PLATFORM_T410, "t410.core." id, title, unit, formula, by_default, T410_DOC)
#define BOTH(id, title, unit, formula, by_default) \
	GRACE(id, title, unit, formula, by_default), T410(id, title, unit, formula, by_default)

const struct metric_row metric_rows_core[] = {
	BOTH("backend_stalled_cycles", "Cycles in which the back end took nothing", "percent", "STALL_BACKEND / CPU_CYCLES * 100", true),
	BOTH("frontend_stalled_cycles", "Cycles in which the front end gave nothing", "percent", "STALL_FRONTEND / CPU_CYCLES * 100", true),
	BOTH("load_percentage", "Loads among operations", "percent", "LD_SPEC / INST_SPEC * 100", false),
	BOTH("store_percentage", "Stores among operations", "percent", "ST_SPEC / INST_SPEC * 100", false),
	BOTH("branch_percentage", "Branches among operations", "percent", "(BR_IMMED_SPEC + BR_INDIRECT_SPEC) / INST_SPEC * 100", false),
	BOTH("integer_dp_percentage", "Integer operations among all", "percent", "DP_SPEC / INST_SPEC * 100", false),
	BOTH("scalar_fp_percentage", "Scalar floating point among operations", "percent", "VFP_SPEC / INST_SPEC * 100", false),
	BOTH("barrier_percentage", "Barriers among operations", "percent", "(ISB_SPEC + DSB_SPEC + DMB_SPEC) / INST_SPEC * 100", false),
	BOTH("crypto_percentage", "Cryptography among operations", "percent", "CRYPTO_SPEC / INST_SPEC * 100", false),
	BOTH("sve_all_percentage", "SVE among operations", "percent", "SVE_INST_SPEC / INST_SPEC * 100", false),
	BOTH("fp16_percentage", "Half precision among operations", "percent", "FP_HP_SPEC / INST_SPEC * 100", false),
	BOTH("fp32_percentage", "Single precision among operations", "percent", "FP_SP_SPEC / INST_SPEC * 100", false),
	BOTH("fp64_percentage", "Double precision among operations", "percent", "FP_DP_SPEC / INST_SPEC * 100", false),
	BOTH("l1d_cache_miss_ratio", "Misses of the L1 data cache", "ratio", "L1D_CACHE_REFILL / L1D_CACHE", false),
	BOTH("l1d_cache_mpki", "Misses of the L1 data cache", "MPKI", "L1D_CACHE_REFILL / INST_RETIRED * 1000", true),
	BOTH("l1i_cache_miss_ratio", "Misses of the L1 instruction cache", "ratio", "L1I_CACHE_REFILL / L1I_CACHE", false),
	BOTH("l1i_cache_mpki", "Misses of the L1 instruction cache", "MPKI", "L1I_CACHE_REFILL / INST_RETIRED * 1000", true),
	BOTH("l1d_tlb_miss_ratio", "Misses of the L1 data TLB", "ratio", "L1D_TLB_REFILL / L1D_TLB", false),
	BOTH("l1d_tlb_mpki", "Misses of the L1 data TLB", "MPKI", "L1D_TLB_REFILL / INST_RETIRED * 1000", false),
	BOTH("l1i_tlb_miss_ratio", "Misses of the L1 instruction TLB", "ratio", "L1I_TLB_REFILL / L1I_TLB", false),
	BOTH("l1i_tlb_mpki", "Misses of the L1 instruction TLB", "MPKI", "L1I_TLB_REFILL / INST_RETIRED * 1000", false),
	BOTH("dtlb_mpki", "Table walks for data", "MPKI", "DTLB_WALK / INST_RETIRED * 1000", true),
	BOTH("dtlb_walk_ratio", "Table walks for data", "ratio", "DTLB_WALK / L1D_TLB", false),
	BOTH("itlb_mpki", "Table walks for instructions", "MPKI", "ITLB_WALK / INST_RETIRED * 1000", false),
	BOTH("itlb_walk_ratio", "Table walks for instructions", "ratio", "ITLB_WALK / L1I_TLB", false),
	BOTH("l2_tlb_miss_ratio", "Misses of the L2 TLB", "ratio", "L2D_TLB_REFILL / L2D_TLB", false),
	BOTH("l2_tlb_mpki", "Misses of the L2 TLB", "MPKI", "L2D_TLB_REFILL / INST_RETIRED * 1000", false),
	BOTH("branch_misprediction_ratio", "Mispredicted branches", "ratio", "BR_MIS_PRED_RETIRED / BR_RETIRED", false),
	BOTH("branch_mpki", "Mispredicted branches", "MPKI", "BR_MIS_PRED_RETIRED / INST_RETIRED * 1000", true),

	GRACE("ipc", "Instructions per cycle", "instructions/cycle", "INST_RETIRED / CPU_CYCLES", true),
	WIDTH("retiring", "Slots whose operations retired", "percent", "100 * (OP_RETIRED / OP_SPEC) * (1 - STALL_SLOT / (CPU_CYCLES * 8))"),
	WIDTH("bad_speculation", "Slots lost to wrong speculation", "percent", "100 * ((1 - OP_RETIRED / OP_SPEC) * (1 - STALL_SLOT / (CPU_CYCLES * 8)) + BR_MIS_PRED * 4 / CPU_CYCLES)"),
	GRACE("sve_flops", "SVE floating point operations", "FLOP/s", "FP_SCALE_OPS_SPEC / duration_s", false),
	GRACE("non_sve_flops", "Other floating point operations", "FLOP/s", "FP_FIXED_OPS_SPEC / duration_s", false),
	GRACE("flops", "Floating point operations", "FLOP/s", "(FP_SCALE_OPS_SPEC + FP_FIXED_OPS_SPEC) / duration_s", false),
	GRACE("advanced_simd_percentage", "Advanced SIMD among operations", "percent", "ASE_INST_SPEC / INST_SPEC * 100", false),
	GRACE("simd_and_sve_percentage", "Advanced SIMD and SVE among operations", "percent", "(SVE_INST_SPEC + ASE_INST_SPEC) / INST_SPEC * 100", false),
	GRACE("sve_predicate_full_percentage", "SVE with all lanes among operations", "percent", "SVE_PRED_FULL_SPEC / INST_SPEC * 100", false),
	GRACE("sve_predicate_partial_percentage", "SVE with some lanes among operations", "percent", "SVE_PRED_PARTIAL_SPEC / INST_SPEC * 100", false),
	GRACE("sve_predicate_empty_percentage", "SVE with no lanes among operations", "percent", "SVE_PRED_EMPTY_SPEC / INST_SPEC * 100", false),
	GRACE("l2_cache_miss_ratio", "Misses of the L2 cache", "ratio", "L2D_CACHE_REFILL / L2D_CACHE", false),
	GRACE("l2_cache_mpki", "Misses of the L2 cache", "MPKI", "L2D_CACHE_REFILL / INST_RETIRED * 1000", true),
	GRACE("ll_cache_read_hit_ratio", "Reads that the last level cache answered", "ratio", "(LL_CACHE_RD - LL_CACHE_MISS_RD) / LL_CACHE_RD", false),
	GRACE("ll_cache_read_miss_ratio", "Read misses of the last level cache", "ratio", "LL_CACHE_MISS_RD / LL_CACHE_RD", false),
	GRACE("ll_cache_read_mpki", "Read misses of the last level cache", "MPKI", "LL_CACHE_MISS_RD / INST_RETIRED * 1000", true),

	T410("backend_bound", "Slots that the back end did not take", "percent", "100 * (STALL_SLOT_BACKEND / CPU_SLOT)", false),
	T410("backend_cache_l2d_bound", "Back end memory stalls beyond L1", "percent", "100 * (STALL_BACKEND_MEM / (STALL_BACKEND_L1D + STALL_BACKEND_MEM))", false),
	T410("backend_mem_bound", "Back end stalls because of memory", "percent", "100 * (STALL_BACKEND_MEMBOUND / STALL_BACKEND)", false),
	T410("bad_speculation", "Slots lost to wrong speculation", "percent", "100 - ((100 * (STALL_SLOT_FRONTEND_WITHOUT_MISPRED / CPU_SLOT)) + (100 * ((OP_RETIRED / OP_SPEC) * (1 - (STALL_SLOT / CPU_SLOT)))) + (100 * (STALL_SLOT_BACKEND / CPU_SLOT)))", false),
	T410("bus_bandwidth", "Data between L2 and the fabric", "B/s", "BUS_ACCESS * 32 / duration_s", false),
	T410("cpu_cycles_fraction_in_st_mode", "Cycles with one thread on the core", "ratio", "((CPU_SLOT / CPU_CYCLES) - 5) / 5", false),
	T410("frontend_bound", "Slots that the front end left empty", "percent", "100 * (STALL_SLOT_FRONTEND_WITHOUT_MISPRED / CPU_SLOT)", false),
	T410("ipc", "Instructions per cycle", "instructions/cycle", "INST_RETIRED / CPU_CYCLES", true),
	T410("l2_cache_miss_ratio", "Misses of the L2 cache", "ratio", "L2D_CACHE_REFILL / L2D_CACHE", false),
	T410("l2_cache_mpki", "Misses of the L2 cache", "MPKI", "1000 * ((L2D_CACHE_REFILL_RD + L2D_CACHE_REFILL_WR + L2D_CACHE_REFILL_L1PRF) / INST_RETIRED)", true),
	T410("l3d_cache_rwl1prfl2prf_miss_ratio", "Misses of the L3 cache", "ratio", "(L3D_CACHE_REFILL_RWL1PRFL2PRF) / (L3D_CACHE_RWL1PRFL2PRF)", false),
	T410("ll_cache_read_hit_ratio", "Reads that the last level cache answered", "ratio", "(LL_CACHE_RD - LL_CACHE_MISS_RD) / LL_CACHE_RD", false),
	T410("ll_cache_read_miss_ratio", "Read misses of the last level cache", "ratio", "LL_CACHE_MISS_RD / LL_CACHE_RD", false),
	T410("ll_cache_read_mpki", "Read misses of the last level cache", "MPKI", "1000 * (LL_CACHE_MISS_RD / INST_RETIRED)", true),
	T410("load_average_latency", "Latency of loads", "cycles", "MEM_ACCESS_RD_PERCYC / MEM_ACCESS", false),
	T410("retiring", "Slots whose operations retired", "percent", "100 * ((OP_RETIRED / OP_SPEC) * (1 - (STALL_SLOT / CPU_SLOT)))", false),
	T410("sve_predicate_full_percentage", "SVE with all lanes among operations", "percent", "100 * (SVE_PRED_FULL_SPEC / SVE_PRED_SPEC)", false),
	T410("sve_predicate_percentage", "Predicated SVE among operations", "percent", "100 * (SVE_PRED_SPEC / INST_SPEC)", false),
};

/* Architectural: the same number in any Arm core that counts it. */
#define EVENT(name, code)   { name, code, PMU_PLATFORM_UNKNOWN, NUMBERS }
#define ADVISED(name, code) { name, code, PMU_PLATFORM_UNKNOWN, ADVICE }
#define OLYMPUS(name, code) { name, code, PMU_PLATFORM_T410, PERF "nvidia/t410" }

const struct core_event_row core_event_rows[] = {
	EVENT("L1I_CACHE_REFILL", 0x01),
	EVENT("L1I_TLB_REFILL", 0x02),
	EVENT("L1D_CACHE_REFILL", 0x03),
	EVENT("L1D_CACHE", 0x04),
	EVENT("L1D_TLB_REFILL", 0x05),
	EVENT("INST_RETIRED", 0x08),
	EVENT("BR_MIS_PRED", 0x10),
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
	EVENT("L2D_TLB_REFILL", 0x2d),
	EVENT("L2D_TLB", 0x2f),
	EVENT("DTLB_WALK", 0x34),
	EVENT("ITLB_WALK", 0x35),
	EVENT("LL_CACHE_RD", 0x36),
	EVENT("LL_CACHE_MISS_RD", 0x37),
	EVENT("OP_RETIRED", 0x3a),
	EVENT("OP_SPEC", 0x3b),
	EVENT("STALL_SLOT_BACKEND", 0x3d),
	EVENT("STALL_SLOT", 0x3f),
	ADVISED("L2D_CACHE_REFILL_RD", 0x52),
	ADVISED("L2D_CACHE_REFILL_WR", 0x53),
	ADVISED("LD_SPEC", 0x70),
	ADVISED("ST_SPEC", 0x71),
	ADVISED("DP_SPEC", 0x73),
	ADVISED("VFP_SPEC", 0x75),
	ADVISED("CRYPTO_SPEC", 0x77),
	ADVISED("BR_IMMED_SPEC", 0x78),
	ADVISED("BR_INDIRECT_SPEC", 0x7a),
	ADVISED("ISB_SPEC", 0x7c),
	ADVISED("DSB_SPEC", 0x7d),
	ADVISED("DMB_SPEC", 0x7e),
	OLYMPUS("L2D_CACHE_REFILL_L1PRF", 0x1b9),
	OLYMPUS("CPU_SLOT", 0x1e1),
	OLYMPUS("STALL_SLOT_FRONTEND_WITHOUT_MISPRED", 0x1e2),
	OLYMPUS("L3D_CACHE_RWL1PRFL2PRF", 0x1e8),
	OLYMPUS("L3D_CACHE_REFILL_RWL1PRFL2PRF", 0x1e9),
	EVENT("STALL_BACKEND_MEM", 0x4005),
	EVENT("ASE_INST_SPEC", 0x8005),
	EVENT("SVE_INST_SPEC", 0x8006),
	EVENT("FP_HP_SPEC", 0x8014),
	EVENT("FP_SP_SPEC", 0x8018),
	EVENT("FP_DP_SPEC", 0x801c),
	EVENT("SVE_PRED_SPEC", 0x8074),
	EVENT("SVE_PRED_EMPTY_SPEC", 0x8075),
	EVENT("SVE_PRED_FULL_SPEC", 0x8076),
	EVENT("SVE_PRED_PARTIAL_SPEC", 0x8077),
	EVENT("FP_SCALE_OPS_SPEC", 0x80c0),
	EVENT("FP_FIXED_OPS_SPEC", 0x80c1),
	EVENT("MEM_ACCESS_RD_PERCYC", 0x8121),
	EVENT("STALL_BACKEND_MEMBOUND", 0x8164),
	EVENT("STALL_BACKEND_L1D", 0x8165),
};
/* clang-format on */
const size_t nr_metric_rows_core = ARRAY_SIZE(metric_rows_core);
const size_t nr_core_event_rows = ARRAY_SIZE(core_event_rows);
