// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Rows, and the GPUs of superchips. */
#include "tables/link_rows.h"

#include "base/array.h"

#define T410_GUIDE  "Linux 7.2 admin-guide/perf/nvidia-tegra410-pmu.rst"
#define GRACE_GUIDE "Linux 7.2 admin-guide/perf/nvidia-tegra241-pmu.rst, NVLink-C2C"

/*
 * T410: the link's PMU counts requests, not bytes. The fabric has the bytes of all agents of the
 * socket but CPUs in front of its cache (slc_*), where root complexes have theirs, too: what these
 * moved to the same memory is not the link's. Behind the cache (mem_*) the two would not compare.
 *
 * Grace: both PMUs have bytes, of requests that are translated by the CPUs' tables, and of others.
 */
/* clang-format off */
#define ROW(kind_, event_, by, way, to, what, term_, guide)                                \
	{ .kind = PMU_##kind_, .event = event_, .filters = by, .direction = DIRECTION_##way, \
	  .destination = DESTINATION_##to, .unit = UNIT_##what, .term = TERM_##term_,       \
	  .source = guide }
#define T410(kind, event, by, way, to, what, term) \
	ROW(kind, event, by, way, to, what, term, T410_GUIDE)
#define GRACE(kind)                                                          \
	ROW(kind, "rd_bytes_loc", "", READ, ANY, BYTES, NONE, GRACE_GUIDE),   \
	ROW(kind, "rd_bytes_rem", "", READ, ANY, BYTES, NONE, GRACE_GUIDE),   \
	ROW(kind, "wr_bytes_loc", "", WRITE, ANY, BYTES, NONE, GRACE_GUIDE),  \
	ROW(kind, "wr_bytes_rem", "", WRITE, ANY, BYTES, NONE, GRACE_GUIDE)

const struct link_row link_rows[] = {
	T410(UCF, "slc_bytes_rd", "src_loc_noncpu,dst_loc_cmem", READ, CMEM, BYTES, WHOLE),
	T410(UCF, "slc_bytes_wr", "src_loc_noncpu,dst_loc_cmem", WRITE, CMEM, BYTES, WHOLE),
	T410(NVLINK_C2C, "in_rd_req", "", READ, ANY, REQUESTS, NONE),
	T410(NVLINK_C2C, "in_wr_req", "", WRITE, ANY, REQUESTS, NONE),
	T410(PCIE, "rd_bytes", "dst_loc_cmem", READ, CMEM, BYTES, LESS),
	T410(PCIE, "wr_bytes", "dst_loc_cmem", WRITE, CMEM, BYTES, LESS),
	GRACE(GRACE_NVLINK_C2C0),
	GRACE(GRACE_NVLINK_C2C1),
};
/* clang-format on */
const size_t nr_link_rows = ARRAY_SIZE(link_rows);

const struct link_chip link_chips[] = {
	{ PMU_NVLINK_C2C, true, PMU_UCF, PMU_PCIE },
	{ PMU_GRACE_NVLINK_C2C0, false, PMU_UNKNOWN, PMU_UNKNOWN },
};
const size_t nr_link_chips = ARRAY_SIZE(link_chips);

bool link_is_fabric(enum pmu_kind kind)
{
	for (size_t i = 0; i < nr_link_chips; i++)
		if (link_chips[i].fabric == kind)
			return kind != PMU_UNKNOWN;
	return false;
}

/* Linux 6.18 drivers/vfio/pci/nvgrace-gpu/main.c; 2343: NVIDIA's gpu-admin-tools, devid_names.py */
bool link_gpu_known(uint16_t device)
{
	static const uint16_t gpus[] = { 0x2342, 0x2343, 0x2345, 0x2348, 0x2941, 0x31c2 };

	for (size_t i = 0; i < ARRAY_SIZE(gpus); i++)
		if (gpus[i] == device)
			return true;
	return false;
}
