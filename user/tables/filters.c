// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Meanings of filters, and settings that must not be used. */

#include "base/array.h"
#include "tables/events.h"

#define CSPMU	  "Linux 7.2 drivers/perf/arm_cspmu/nvidia_cspmu.c"
#define C2C	  "Linux 7.2 drivers/perf/nvidia_t410_c2c_pmu.c"
#define T410_DOC  "Linux 7.2 Documentation/admin-guide/perf/nvidia-tegra410-pmu.rst"
#define GRACE_DOC "Linux 7.2 Documentation/admin-guide/perf/nvidia-tegra241-pmu.rst"

/* clang-format off */
const struct filter_row filter_rows[] = {
	{ PMU_UCF, "src_loc_cpu", FILTER_SOURCE, 0, "from CPUs of this socket", T410_DOC },
	{ PMU_UCF, "src_loc_noncpu", FILTER_SOURCE, 0, "from this socket's devices", T410_DOC },
	{ PMU_UCF, "src_rem", FILTER_SOURCE, 0, "from another socket", T410_DOC },
	{ PMU_UCF, "dst_loc_cmem", FILTER_DESTINATION, 0, "to DRAM of this socket", T410_DOC },
	{ PMU_UCF, "dst_loc_gmem", FILTER_DESTINATION, 0, "to memory of this socket's GPUs", T410_DOC },
	{ PMU_UCF, "dst_loc_other", FILTER_DESTINATION, 0, "to CXL memory of this socket", T410_DOC },
	{ PMU_UCF, "dst_rem", FILTER_DESTINATION, 0, "to any memory of another socket", T410_DOC },

	{ PMU_PCIE, "src_rp_mask", FILTER_PORTS, 0xff, "from devices behind these root ports", T410_DOC },
	{ PMU_PCIE, "src_bdf", FILTER_BDF, 0, "from the device with this requester id", T410_DOC },
	{ PMU_PCIE, "src_bdf_en", FILTER_BDF_ENABLE, 0, "the requester id counts, not the ports", T410_DOC },
	{ PMU_PCIE, "dst_loc_cmem", FILTER_DESTINATION, 0, "to DRAM of this socket", T410_DOC },
	{ PMU_PCIE, "dst_loc_gmem", FILTER_DESTINATION, 0, "to memory of this socket's GPUs", T410_DOC },
	{ PMU_PCIE, "dst_loc_pcie_p2p", FILTER_DESTINATION, 0, "to other PCIe devices of this socket", T410_DOC },
	{ PMU_PCIE, "dst_loc_pcie_cxl", FILTER_DESTINATION, 0, "to CXL memory of this socket", T410_DOC },
	{ PMU_PCIE, "dst_rem", FILTER_DESTINATION, 0, "to memory of another socket", T410_DOC },

	{ PMU_PCIE_TGT, "dst_rp_mask", FILTER_PORTS, 0xff, "to BARs behind these root ports", T410_DOC },
	{ PMU_PCIE_TGT, "dst_addr_base", FILTER_RANGE_BASE, 0, "to addresses that equal this one in the compared bits", T410_DOC },
	{ PMU_PCIE_TGT, "dst_addr_mask", FILTER_RANGE_MASK, 0, "bits of the address that are compared", T410_DOC },
	{ PMU_PCIE_TGT, "dst_addr_en", FILTER_RANGE_ENABLE, 0, "the address range counts", T410_DOC },

	{ PMU_NVLINK_C2C, "gpu_mask", FILTER_GPUS, 0x3, "from or to these GPUs", T410_DOC },

	{ PMU_GRACE_PCIE, "root_port", FILTER_PORTS, 0x3ff, "from devices behind these root ports", GRACE_DOC },
	{ PMU_GRACE_NVLINK_C2C0, "port", FILTER_PORTS, 0x3, "over these ports of the link", GRACE_DOC },
	{ PMU_GRACE_NVLINK_C2C1, "port", FILTER_PORTS, 0x3, "over these ports of the link", GRACE_DOC },
	{ PMU_GRACE_CNVLINK, "rem_socket", FILTER_PORTS, 0xf, "from these sockets", GRACE_DOC },
};

#define HIDDEN_EVENT(kind)                                                               \
	{ kind, CONSTRAINT_UNLISTED_EVENT,                                               \
	  "the driver opens events that it hides for this peer, but they tell nothing",  \
	  "use an event that the PMU lists", C2C }

#define EMPTY_PORTS(kind)                                                                \
	{ kind, CONSTRAINT_EMPTY_PORTS,                                                  \
	  "a mask of 0 means all ports to new kernels and none to old ones",             \
	  "name the ports, or leave the filter out to count all of them", CSPMU }

const struct constraint_row constraint_rows[] = {
	{ PMU_PCIE, CONSTRAINT_BDF_NOT_ON,
	  "a requester id that is not switched on switches the ports off: nothing is counted",
	  "add src_bdf_en=1", CSPMU },
	{ PMU_PCIE, CONSTRAINT_BDF_AND_PORTS,
	  "the driver refuses a requester id together with root ports",
	  "give src_bdf or src_rp_mask, not both", CSPMU },
	{ PMU_PCIE, CONSTRAINT_ONE_BDF,
	  "a root complex has one requester id for all its counters",
	  "let the ids, and events without one, take turns", CSPMU },

	{ PMU_PCIE_TGT, CONSTRAINT_EMPTY_RANGE,
	  "the driver takes base 0 with mask 0 for a free slot and confuses its books",
	  "to count everything leave the window out", CSPMU },
	{ PMU_PCIE_TGT, CONSTRAINT_RANGE_ON_CYCLES,
	  "cycles take no slot, but free one when they end, perhaps somebody else's",
	  "count cycles without a window", CSPMU },
	{ PMU_PCIE_TGT, CONSTRAINT_RANGE_NOT_ON,
	  "the driver ignores a window that is not switched on and counts all root ports",
	  "add dst_addr_en=1", CSPMU },
	{ PMU_PCIE_TGT, CONSTRAINT_RANGES,
	  "a root complex has 8 slots; a counter whose window gets none counts nothing",
	  "let the windows take turns", CSPMU },

	HIDDEN_EVENT(PMU_NVLINK_C2C),
	HIDDEN_EVENT(PMU_NVCLINK),
	HIDDEN_EVENT(PMU_NVDLINK),

	EMPTY_PORTS(PMU_GRACE_PCIE),
	EMPTY_PORTS(PMU_GRACE_NVLINK_C2C0),
	EMPTY_PORTS(PMU_GRACE_NVLINK_C2C1),
	EMPTY_PORTS(PMU_GRACE_CNVLINK),
};
/* clang-format on */
const size_t nr_filter_rows = ARRAY_SIZE(filter_rows);
const size_t nr_constraint_rows = ARRAY_SIZE(constraint_rows);

const struct filter_row *filter_row_use(enum pmu_kind kind, enum filter_use use)
{
	for (size_t i = 0; i < nr_filter_rows; i++) {
		if (filter_rows[i].kind == kind && filter_rows[i].use == use)
			return &filter_rows[i];
	}
	return NULL;
}

const struct constraint_row *constraint_find(enum pmu_kind kind, enum constraint rule)
{
	for (size_t i = 0; i < nr_constraint_rows; i++) {
		if (constraint_rows[i].kind == kind && constraint_rows[i].rule == rule)
			return &constraint_rows[i];
	}
	return NULL;
}
