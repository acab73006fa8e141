// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Only rows: a test of another machine replaces them with its own. */
#include "base/array.h"
#include "tables/families.h"

#define CSPMU_SOURCE "Linux 7.2 drivers/perf/arm_cspmu/nvidia_cspmu.c"
#define C2C_SOURCE   "Linux 7.2 drivers/perf/nvidia_t410_c2c_pmu.c"
#define CMEM_SOURCE  "Linux 7.2 drivers/perf/nvidia_t410_cmem_latency_pmu.c"

#define SNBEP	     "Linux 6.12 arch/x86/events/intel/uncore_snbep.c"
#define SNB	     "Linux 6.12 arch/x86/events/intel/uncore_snb.c"
#define AMD	     "Linux 6.12 arch/x86/events/amd/uncore.c"
#define AMPERE	     "Linux 6.12 drivers/perf/arm_cspmu/ampere_cspmu.c"
#define DMC620	     "Linux 6.12 drivers/perf/arm_dmc620_pmu.c"
#define HISI	     "Linux 6.12 drivers/perf/hisilicon/hisi_uncore_ddrc_pmu.c"
#define DWC	     "Linux 6.12 drivers/perf/dwc_pcie_pmu.c"
#define CXL	     "Linux 6.12 drivers/perf/cxl_pmu.c"
#define DRW	     "Linux 6.12 drivers/perf/alibaba_uncore_drw_pmu.c"
#define RAPL	     "Linux 6.12 arch/x86/events/rapl.c"
#define CMN	     "Linux 6.12 drivers/perf/arm-cmn.c"

/*
 * Costs: registers read by the driver, times the instances of the unit; a CoreSight counter without
 * 64-bit access takes three reads (high, low, high).
 */
/* clang-format off */
#define FAMILY(chip, kind_, name, title_, pattern_, identifier_, ...)                               \
	[kind_] = { .kind = kind_, .platform = PMU_PLATFORM_##chip, .short_name = name,             \
		    .title = title_, .pattern = pattern_, .identifier = identifier_, __VA_ARGS__ }
#define CORESIGHT .one_cycles = true, .read_cost = 3, .cycles_cost = 3, .source = CSPMU_SOURCE
#define OTHER(read, cycles, driver) \
	.max_events = 32, .read_cost = read, .cycles_cost = cycles, .source = driver
#define INTEL(driver) \
	.by_cpu = true, .socket_by = PMU_SOCKET_BY_CPUS, .read_cost = 2, .cycles_cost = 2, \
	.source = driver

/* PCIe stacks and links of a server */
#define PARTS(chip) \
	FAMILY(chip, PMU_##chip##_IIO, "iio_free", "PCIe stacks, free-running counters", \
	       "uncore_iio_free_running_<n>", NULL, INTEL(SNBEP)), \
	FAMILY(chip, PMU_##chip##_UPI, "upi", "UPI links, socket to socket", \
	       "uncore_upi_<n>", NULL, INTEL(SNBEP), .no_events = true), \
	FAMILY(chip, PMU_##chip##_CHA, "cha", "caching and home agents", \
	       "uncore_cha_<n>", NULL, INTEL(SNBEP), .no_events = true)

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
	FAMILY(SKX, PMU_SKX_IMC, "imc", "memory controller channels", "uncore_imc_<n>", NULL,
	       INTEL(SNBEP)),
	FAMILY(ICX, PMU_ICX_IMC_FREE, "imc_free", "memory controllers, free-running counters",
	       "uncore_imc_free_running_<n>", NULL, INTEL(SNBEP), .choice = 1),
	FAMILY(ICX, PMU_ICX_IMC, "imc", "memory controller channels", "uncore_imc_<n>", NULL,
	       INTEL(SNBEP), .choice = 2),
	FAMILY(SPR, PMU_SPR_IMC, "imc", "memory controller channels", "uncore_imc_<n>", NULL,
	       INTEL(SNBEP)),
	FAMILY(GNR, PMU_GNR_IMC, "imc", "memory controller channels", "uncore_imc_<n>", NULL,
	       INTEL(SNBEP)),
	FAMILY(CLIENT, PMU_CLIENT_IMC, "imc", "memory controller", "uncore_imc", NULL,
	       INTEL(SNB)),
	FAMILY(CLIENT, PMU_CLIENT_IMC_FREE, "imc_free",
	       "memory controllers, free-running counters", "uncore_imc_free_running_<n>", NULL,
	       INTEL(SNB)),
	FAMILY(ZEN, PMU_AMD_UMC, "umc", "unified memory controllers, one for each channel",
	       "amd_umc_<n>", NULL, .socket_by = PMU_SOCKET_BY_CPUS, .no_events = true,
	       .read_cost = 1, .cycles_cost = 1, .source = AMD),
	FAMILY(ZEN2, PMU_ZEN2_DF, "df", "data fabric: memory channels of a die", "amd_df", NULL,
	       .by_cpu = true, .socket_by = PMU_SOCKET_BY_CPUS, .no_events = true, .read_cost = 1,
	       .cycles_cost = 1, .source = AMD),
	FAMILY(AMPEREONE, PMU_AMPERE_MCU, "mcu", "memory controllers", "ampere_mcu_pmu_<n>", NULL,
	       .socket_by = PMU_SOCKET_BY_CPUS, .choice = 1, .read_cost = 3, .cycles_cost = 3,
	       .source = AMPERE),
	FAMILY(DMC620, PMU_ARM_DMC620, "dmc620", "memory controllers", "arm_dmc620_<x>", NULL,
	       .socket_by = PMU_SOCKET_BY_DEVICE, .choice = 1, .read_cost = 1, .cycles_cost = 1,
	       .source = DMC620),
	FAMILY(KUNPENG, PMU_HISI_DDRC, "ddrc", "memory controller channels",
	       "hisi_sccl<i>_ddrc<i>", NULL, .socket_by = PMU_SOCKET_BY_CPUS, .max_events = 8,
	       .read_cost = 1, .cycles_cost = 1, .source = HISI),
	FAMILY(KUNPENG, PMU_HISI_DDRC_SUB, "ddrc_sub", "memory controller channels",
	       "hisi_sccl<i>_ddrc<i>_<i>", NULL, .socket_by = PMU_SOCKET_BY_CPUS, .max_events = 8,
	       .read_cost = 2, .cycles_cost = 2, .source = HISI),
	FAMILY(YITIAN, PMU_ALI_DRW, "drw", "memory controllers", "ali_drw_<x>", NULL,
	       .socket_by = PMU_SOCKET_BY_DEVICE, .choice = 1, .max_events = 16,
	       .read_cost = 1, .cycles_cost = 1, .source = DRW),
	/* A register of each crosspoint with an HN-F: 32 is a large mesh */
	FAMILY(CMN, PMU_ARM_CMN, "cmn", "coherent mesh network", "arm_cmn_<n>", NULL,
	       .socket_by = PMU_SOCKET_BY_NODE, .choice = 2, .read_cost = 32, .cycles_cost = 1,
	       .source = CMN),
	PARTS(SKX),
	PARTS(ICX),
	PARTS(SPR),
	PARTS(GNR),
	FAMILY(ZEN, PMU_ZEN4_DF, "df", "data fabric", "amd_df", NULL, .by_cpu = true,
	       .socket_by = PMU_SOCKET_BY_CPUS, .no_events = true, .read_cost = 1,
	       .cycles_cost = 1, .source = AMD),
	FAMILY(ZEN5, PMU_ZEN5_DF, "df", "data fabric", "amd_df", NULL, .by_cpu = true,
	       .socket_by = PMU_SOCKET_BY_CPUS, .no_events = true, .read_cost = 1,
	       .cycles_cost = 1, .source = AMD),
	/* One counter for all but the events of lanes */
	FAMILY(UNKNOWN, PMU_DWC_PORT, "dwc_port", "root port, DesignWare", "dwc_rootport_<x>", NULL,
	       .socket_by = PMU_SOCKET_BY_CPUS, .each = true, .one_port = true, .max_events = 1,
	       .read_cost = 3, .cycles_cost = 3, .source = DWC),
	FAMILY(UNKNOWN, PMU_CXL, "cxl", "CXL memory device", "cxl_pmu_mem<i>.<i>", NULL,
	       .socket_by = PMU_SOCKET_BY_CPUS, .read_cost = 1, .cycles_cost = 1,
	       .source = CXL),
	FAMILY(UNKNOWN, PMU_POWER, "power", "energy of packages and their memory", "power", NULL,
	       .socket_by = PMU_SOCKET_BY_CPUS, .energy_only = true, .read_cost = 1,
	       .cycles_cost = 1, .source = RAPL),
	FAMILY(UNKNOWN, PMU_UNKNOWN, "unknown", "device unknown to this kernel",
	       "nvidia_uncore_pmu_<n>", NULL, CORESIGHT, .socket_by = PMU_SOCKET_UNKNOWN),
};
/* clang-format on */
const size_t nr_pmu_families = ARRAY_SIZE(pmu_families);

/* Common to all memory controllers that count any originator. */
#define ALL_SOURCES                                                                               \
	NO_DEVICES, .total = "all reads and writes of the DRAM of a socket, whoever caused them", \
		    .hidden = HIDDEN
/* And to those that do not separate reads and writes. */
#define ALL_TOGETHER                                                                            \
	NO_DEVICES,                                                                             \
		.total = "all reads and writes of the DRAM of a socket as one number, whoever " \
			 "caused them",                                                         \
		.hidden = HIDDEN
#define NO_DEVICES \
	.mistaken_for = PMU_PLATFORM_UNKNOWN, .pcie = PMU_UNKNOWN, .pcie_target = PMU_UNKNOWN
#define HIDDEN                                                                            \
	"Traffic of devices and of other sockets' CPUs is in it, and is split among the " \
	"tasks of the socket that has the memory."

#define NVIDIA_CSPMU "nvidia_cspmu (CONFIG_NVIDIA_CORESIGHT_PMU_ARCH_SYSTEM_PMU)"
#define INTEL_UNCORE "intel_uncore (CONFIG_PERF_EVENTS_INTEL_UNCORE)"
#define AMD_UNCORE   "amd_uncore (CONFIG_PERF_EVENTS_AMD_UNCORE)"

const struct pmu_platform_row pmu_platforms[] = {
	{
		.platform = PMU_PLATFORM_T410,
		.name = "t410",
		.title = "the T410",
		.since = "7.1",
		.drivers = NVIDIA_CSPMU
		", nvidia_t410_c2c_pmu (CONFIG_NVIDIA_TEGRA410_C2C_PMU), "
		"nvidia_t410_cmem_latency_pmu (CONFIG_NVIDIA_TEGRA410_CMEM_LATENCY_PMU)",
		.mistaken_for = PMU_PLATFORM_GRACE,
		.port_rule = WIRING_LOW,
		.pcie = PMU_PCIE,
		.pcie_target = PMU_PCIE_TGT,
	},
	{
		.platform = PMU_PLATFORM_GRACE,
		.name = "grace",
		.title = "Grace",
		.drivers = NVIDIA_CSPMU " of Linux 6.2 or newer",
		.mistaken_for = PMU_PLATFORM_UNKNOWN,
		.port_rule = WIRING_MEDIUM,
		.pcie = PMU_GRACE_PCIE,
		.pcie_target = PMU_UNKNOWN,
		.general_cores = true,
	},
	{
		.platform = PMU_PLATFORM_SKX,
		.name = "xeon-to-skylake",
		.title = "Xeon servers up to Cascade Lake",
		.drivers = INTEL_UNCORE,
		ALL_SOURCES,
	},
	{
		.platform = PMU_PLATFORM_ICX,
		.name = "xeon-icelake",
		.title = "Ice Lake servers",
		.drivers = INTEL_UNCORE,
		ALL_SOURCES,
	},
	{
		.platform = PMU_PLATFORM_SPR,
		.name = "xeon-sapphire",
		.title = "Sapphire and Emerald Rapids",
		.drivers = INTEL_UNCORE,
		ALL_SOURCES,
	},
	{
		.platform = PMU_PLATFORM_GNR,
		.name = "xeon-granite",
		.title = "Granite Rapids, Sierra Forest and Clearwater Forest",
		.since = "6.8 (Clearwater Forest: 6.13)",
		.drivers = INTEL_UNCORE,
		ALL_SOURCES,
	},
	{
		.platform = PMU_PLATFORM_CLIENT,
		.name = "intel-client",
		.title = "Intel's client processors",
		.drivers = INTEL_UNCORE,
		ALL_SOURCES,
	},
	{
		.platform = PMU_PLATFORM_ZEN,
		.name = "amd-zen",
		.title = "AMD Zen 4 and later",
		.since = "6.7",
		.drivers = AMD_UNCORE,
		ALL_SOURCES,
	},
	{
		.platform = PMU_PLATFORM_ZEN2,
		.name = "amd-zen2",
		.title = "AMD EPYC of Zen 2 and Zen 3",
		.drivers = AMD_UNCORE,
		/* perf, pmu-events/arch/x86/amdzen3: nps1_die_to_dram */
		.one_node = "amd_df",
		ALL_TOGETHER,
	},
	{
		.platform = PMU_PLATFORM_ZEN5,
		.name = "amd-zen5",
		.title = "AMD EPYC of Zen 5",
		.since = "6.7",
		.drivers = AMD_UNCORE,
		ALL_SOURCES,
	},
	{
		.platform = PMU_PLATFORM_AMPEREONE,
		.name = "ampereone",
		.title = "AmpereOne",
		.since = "6.7",
		.drivers = "ampere_cspmu (CONFIG_AMPERE_CORESIGHT_PMU_ARCH_SYSTEM_PMU)",
		ALL_SOURCES,
	},
	{
		.platform = PMU_PLATFORM_DMC620,
		.name = "arm-dmc620",
		.title = "chips with Arm's DMC-620, such as Ampere Altra",
		.drivers = "arm_dmc620_pmu (CONFIG_ARM_DMC620_PMU)",
		.any_cpu = true,
		ALL_SOURCES,
	},
	{
		.platform = PMU_PLATFORM_KUNPENG,
		.name = "kunpeng",
		.title = "HiSilicon Kunpeng",
		.drivers = "hisi_uncore_ddrc_pmu (CONFIG_HISI_PMU)",
		ALL_SOURCES,
	},
	{
		.platform = PMU_PLATFORM_YITIAN,
		.name = "yitian710",
		.title = "Alibaba Yitian 710",
		.drivers = "alibaba_uncore_drw_pmu (CONFIG_ALIBABA_UNCORE_DRW_PMU)",
		.any_cpu = true,
		ALL_SOURCES,
	},
	{
		.platform = PMU_PLATFORM_CMN,
		.name = "arm-cmn",
		.title = "chips with Arm's CMN-600, CMN-650 or CMN-700",
		.drivers = "arm-cmn (CONFIG_ARM_CMN)",
		.any_cpu = true,
		ALL_TOGETHER,
	},
};
const size_t nr_pmu_platforms = ARRAY_SIZE(pmu_platforms);
