// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "tables/families.h"

#include <stdio.h>
#include <string.h>

#include "base/array.h"
#include "base/text.h"

#define CSPMU_SOURCE "Linux 7.2 drivers/perf/arm_cspmu/nvidia_cspmu.c"
#define C2C_SOURCE   "Linux 7.2 drivers/perf/nvidia_t410_c2c_pmu.c"
#define CMEM_SOURCE  "Linux 7.2 drivers/perf/nvidia_t410_cmem_latency_pmu.c"

/*
 * Costs: registers that the driver reads, times the instances of the unit; a CoreSight
 * counter without 64-bit access takes three reads (high, low, high).
 */
const struct pmu_family pmu_families[NR_PMU_KINDS] = {
	[PMU_UCF] = {
		.kind = PMU_UCF,
		.platform = PMU_PLATFORM_T410,
		.short_name = "ucf",
		.title = "Unified Coherence Fabric",
		.pattern = "nvidia_ucf_pmu_<n>",
		.identifier = "2cf2036b",
		.one_cycles = true,
		.read_cost = 3,
		.cycles_cost = 3,
		.source = CSPMU_SOURCE,
	},
	[PMU_PCIE] = {
		.kind = PMU_PCIE,
		.platform = PMU_PLATFORM_T410,
		.short_name = "pcie",
		.title = "PCIe, traffic issued by devices",
		.pattern = "nvidia_pcie_pmu_<n>_rc_<rc>",
		.identifier = "1030136b",
		.one_cycles = true,
		.read_cost = 3,
		.cycles_cost = 3,
		.source = CSPMU_SOURCE,
	},
	[PMU_PCIE_TGT] = {
		.kind = PMU_PCIE_TGT,
		.platform = PMU_PLATFORM_T410,
		.short_name = "pcie_tgt",
		.title = "PCIe target, traffic to BARs and CXL",
		.pattern = "nvidia_pcie_tgt_pmu_<n>_rc_<rc>",
		.identifier = "1070036b",
		.one_cycles = true,
		.windows = 8,
		.read_cost = 3,
		.cycles_cost = 3,
		.source = CSPMU_SOURCE,
	},
	[PMU_CMEM_LATENCY] = {
		.kind = PMU_CMEM_LATENCY,
		.platform = PMU_PLATFORM_T410,
		.short_name = "cmem_latency",
		.title = "CPU memory read latency",
		.pattern = "nvidia_cmem_latency_pmu_<n>",
		.identifier = "NVDA2021",
		.max_events = 32,
		.read_cost = 56,
		.cycles_cost = 2,
		.source = CMEM_SOURCE,
	},
	[PMU_NVLINK_C2C] = {
		.kind = PMU_NVLINK_C2C,
		.platform = PMU_PLATFORM_T410,
		.short_name = "nvlink_c2c",
		.title = "NVLink-C2C",
		.pattern = "nvidia_nvlink_c2c_pmu_<n>",
		.identifier = "NVDA2023",
		.max_events = 32,
		.read_cost = 70,
		.cycles_cost = 5,
		.source = C2C_SOURCE,
	},
	[PMU_NVCLINK] = {
		.kind = PMU_NVCLINK,
		.platform = PMU_PLATFORM_T410,
		.short_name = "nvclink",
		.title = "NV-CLink, socket to socket",
		.pattern = "nvidia_nvclink_pmu_<n>",
		.identifier = "NVDA2022",
		.max_events = 32,
		.read_cost = 60,
		.cycles_cost = 5,
		.source = C2C_SOURCE,
	},
	[PMU_NVDLINK] = {
		.kind = PMU_NVDLINK,
		.platform = PMU_PLATFORM_T410,
		.short_name = "nvdlink",
		.title = "NV-DLink, CXL memory",
		.pattern = "nvidia_nvdlink_pmu_<n>",
		.identifier = "NVDA2020",
		.max_events = 32,
		.read_cost = 80,
		.cycles_cost = 5,
		.source = C2C_SOURCE,
	},
	[PMU_GRACE_SCF] = {
		.kind = PMU_GRACE_SCF,
		.platform = PMU_PLATFORM_GRACE,
		.short_name = "scf",
		.title = "Scalable Coherency Fabric",
		.pattern = "nvidia_scf_pmu_<n>",
		.identifier = "2cf0036b",
		.one_cycles = true,
		.read_cost = 3,
		.cycles_cost = 3,
		.source = CSPMU_SOURCE,
	},
	[PMU_GRACE_PCIE] = {
		.kind = PMU_GRACE_PCIE,
		.platform = PMU_PLATFORM_GRACE,
		.short_name = "pcie_grace",
		.title = "PCIe root ports",
		.pattern = "nvidia_pcie_pmu_<n>",
		.identifier = "1030036b",
		.one_cycles = true,
		.read_cost = 3,
		.cycles_cost = 3,
		.source = CSPMU_SOURCE,
	},
	[PMU_GRACE_NVLINK_C2C0] = {
		.kind = PMU_GRACE_NVLINK_C2C0,
		.platform = PMU_PLATFORM_GRACE,
		.short_name = "nvlink_c2c0",
		.title = "NVLink-C2C0",
		.pattern = "nvidia_nvlink_c2c0_pmu_<n>",
		.identifier = "1050036b",
		.one_cycles = true,
		.read_cost = 3,
		.cycles_cost = 3,
		.source = CSPMU_SOURCE,
	},
	[PMU_GRACE_NVLINK_C2C1] = {
		.kind = PMU_GRACE_NVLINK_C2C1,
		.platform = PMU_PLATFORM_GRACE,
		.short_name = "nvlink_c2c1",
		.title = "NVLink-C2C1",
		.pattern = "nvidia_nvlink_c2c1_pmu_<n>",
		.identifier = "1040036b",
		.one_cycles = true,
		.read_cost = 3,
		.cycles_cost = 3,
		.source = CSPMU_SOURCE,
	},
	[PMU_GRACE_CNVLINK] = {
		.kind = PMU_GRACE_CNVLINK,
		.platform = PMU_PLATFORM_GRACE,
		.short_name = "cnvlink",
		.title = "CNVLink",
		.pattern = "nvidia_cnvlink_pmu_<n>",
		.identifier = "1060036b",
		.one_cycles = true,
		.read_cost = 3,
		.cycles_cost = 3,
		.source = CSPMU_SOURCE,
	},
	[PMU_UNKNOWN] = {
		.kind = PMU_UNKNOWN,
		.platform = PMU_PLATFORM_UNKNOWN,
		.short_name = "unknown",
		.title = "device unknown to this kernel",
		.pattern = "nvidia_uncore_pmu_<n>",
		.one_cycles = true,
		.read_cost = 3,
		.cycles_cost = 3,
		.source = CSPMU_SOURCE,
	},
};

const char *pmu_platform_name(enum pmu_platform platform)
{
	switch (platform) {
	case PMU_PLATFORM_T410:
		return "t410";
	case PMU_PLATFORM_GRACE:
		return "grace";
	default:
		return "unknown";
	}
}

static bool match_pattern(const char *pattern, const char *name, int32_t *ret_n, int32_t *ret_rc)
{
	int32_t n = -1, rc = -1;

	while (*pattern) {
		if (*pattern == '<') {
			if (!take_number(&name, pattern[1] == 'r' ? &rc : &n))
				return false;
			pattern = strchr(pattern, '>') + 1;
		} else if (*pattern++ != *name++) {
			return false;
		}
	}
	if (*name)
		return false;
	*ret_n = n;
	*ret_rc = rc;
	return true;
}

const struct pmu_family *pmu_family_match(const char *name, int32_t *ret_n, int32_t *ret_rc)
{
	for (size_t i = 0; i < ARRAY_SIZE(pmu_families); i++) {
		if (match_pattern(pmu_families[i].pattern, name, ret_n, ret_rc))
			return &pmu_families[i];
	}
	return NULL;
}

void pmu_family_name(const struct pmu_family *f, uint32_t n, uint32_t rc, char *ret_name,
		     size_t size)
{
	size_t at = 0;

	for (const char *p = f->pattern; *p && at + 1 < size; p++) {
		if (*p != '<') {
			ret_name[at++] = *p;
			continue;
		}
		at += (size_t)snprintf(ret_name + at, size - at, "%u", p[1] == 'r' ? rc : n);
		p = strchr(p, '>');
	}
	ret_name[at < size ? at : size - 1] = '\0';
}

const struct pmu_family *pmu_family_identified(const char *identifier)
{
	for (size_t i = 0; i < ARRAY_SIZE(pmu_families); i++) {
		const char *known = pmu_families[i].identifier;

		if (known && !strcmp(known, identifier))
			return &pmu_families[i];
	}
	return NULL;
}
