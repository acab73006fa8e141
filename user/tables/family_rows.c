// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* The rows alone: a test of another machine brings rows of its own instead. */
#include "base/array.h"
#include "tables/families.h"

#define CSPMU_SOURCE "Linux 7.2 drivers/perf/arm_cspmu/nvidia_cspmu.c"
#define C2C_SOURCE   "Linux 7.2 drivers/perf/nvidia_t410_c2c_pmu.c"
#define CMEM_SOURCE  "Linux 7.2 drivers/perf/nvidia_t410_cmem_latency_pmu.c"

/*
 * Costs: registers that the driver reads, times the instances of the unit; a CoreSight
 * counter without 64-bit access takes three reads (high, low, high).
 */
/* clang-format off */
#define FAMILY(chip, kind_, name, title_, pattern_, identifier_, ...)                               \
	[kind_] = { .kind = kind_, .platform = PMU_PLATFORM_##chip, .short_name = name,             \
		    .title = title_, .pattern = pattern_, .identifier = identifier_, __VA_ARGS__ }
#define CORESIGHT .one_cycles = true, .read_cost = 3, .cycles_cost = 3, .source = CSPMU_SOURCE
#define OTHER(read, cycles, driver) \
	.max_events = 32, .read_cost = read, .cycles_cost = cycles, .source = driver

const struct pmu_family pmu_families[] = {
	FAMILY(T410, PMU_UCF, "ucf", "Unified Coherence Fabric",
	       "nvidia_ucf_pmu_<n>", "2cf2036b", CORESIGHT),
	FAMILY(T410, PMU_PCIE, "pcie", "PCIe, traffic issued by devices",
	       "nvidia_pcie_pmu_<n>_rc_<rc>", "1030136b", CORESIGHT),
	FAMILY(T410, PMU_PCIE_TGT, "pcie_tgt", "PCIe target, traffic to BARs and CXL",
	       "nvidia_pcie_tgt_pmu_<n>_rc_<rc>", "1070036b", CORESIGHT, .ranges = 8),
	FAMILY(T410, PMU_CMEM_LATENCY, "cmem_latency", "CPU memory read latency",
	       "nvidia_cmem_latency_pmu_<n>", "NVDA2021", OTHER(56, 2, CMEM_SOURCE)),
	FAMILY(T410, PMU_NVLINK_C2C, "nvlink_c2c", "NVLink-C2C",
	       "nvidia_nvlink_c2c_pmu_<n>", "NVDA2023", OTHER(70, 5, C2C_SOURCE)),
	FAMILY(T410, PMU_NVCLINK, "nvclink", "NV-CLink, socket to socket",
	       "nvidia_nvclink_pmu_<n>", "NVDA2022", OTHER(60, 5, C2C_SOURCE)),
	FAMILY(T410, PMU_NVDLINK, "nvdlink", "NV-DLink, CXL memory",
	       "nvidia_nvdlink_pmu_<n>", "NVDA2020", OTHER(80, 5, C2C_SOURCE)),
	FAMILY(GRACE, PMU_GRACE_SCF, "scf", "Scalable Coherency Fabric",
	       "nvidia_scf_pmu_<n>", "2cf0036b", CORESIGHT),
	FAMILY(GRACE, PMU_GRACE_PCIE, "pcie_grace", "PCIe root ports",
	       "nvidia_pcie_pmu_<n>", "1030036b", CORESIGHT),
	FAMILY(GRACE, PMU_GRACE_NVLINK_C2C0, "nvlink_c2c0", "NVLink-C2C0",
	       "nvidia_nvlink_c2c0_pmu_<n>", "1050036b", CORESIGHT),
	FAMILY(GRACE, PMU_GRACE_NVLINK_C2C1, "nvlink_c2c1", "NVLink-C2C1",
	       "nvidia_nvlink_c2c1_pmu_<n>", "1040036b", CORESIGHT),
	FAMILY(GRACE, PMU_GRACE_CNVLINK, "cnvlink", "CNVLink",
	       "nvidia_cnvlink_pmu_<n>", "1060036b", CORESIGHT, .ports_are_sockets = true),
	FAMILY(UNKNOWN, PMU_UNKNOWN, "unknown", "device unknown to this kernel",
	       "nvidia_uncore_pmu_<n>", NULL, CORESIGHT, .socket_by = PMU_SOCKET_UNKNOWN),
};
/* clang-format on */
const size_t nr_pmu_families = ARRAY_SIZE(pmu_families);

const struct pmu_platform_row pmu_platforms[] = {
	{
		.platform = PMU_PLATFORM_T410,
		.name = "t410",
		.title = "the T410",
		.since = "7.1",
		.mistaken_for = PMU_PLATFORM_GRACE,
		.port_rule = WIRING_LOW,
		.pcie = PMU_PCIE,
		.pcie_target = PMU_PCIE_TGT,
	},
	{
		.platform = PMU_PLATFORM_GRACE,
		.name = "grace",
		.title = "Grace",
		.mistaken_for = PMU_PLATFORM_UNKNOWN,
		.port_rule = WIRING_MEDIUM,
		.pcie = PMU_GRACE_PCIE,
		.pcie_target = PMU_UNKNOWN,
		.general_cores = true,
	},
};
const size_t nr_pmu_platforms = ARRAY_SIZE(pmu_platforms);
