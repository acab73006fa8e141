// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Only rows: a test of another machine replaces them with its own. */
#include "tables/device_rows.h"

#include "base/array.h"

#define T410_GUIDE  "Linux 7.2 admin-guide/perf/nvidia-tegra410-pmu.rst, PCIe"
#define GRACE_GUIDE "Linux 7.2 admin-guide/perf/nvidia-tegra241-pmu.rst, PCIe"
#define DWC	    "Linux 6.12 drivers/perf/dwc_pcie_pmu.c"
#define BOTH	    (DEVICE_SUMS | DEVICE_SPLIT)

/*
 * On Grace "local" is memory of CPUs and of GPUs, so that only both events together are useful
 * here. A DesignWare port sends the data of device reads and of CPU writes, and receives the
 * reverse.
 */
/* clang-format off */
#define ROW(kind_, use_, part_, way, to, event_, filter_, source_)                        \
	{ .kind = kind_, .use = use_, .part = DEVICE_##part_, .direction = DIRECTION_##way, \
	  .destination = DESTINATION_##to, .event = event_, .filter = filter_,            \
	  .source = source_ }
#define T410(use, part, way, to, event, filter) \
	ROW(PMU_PCIE, use, part, way, to, event, filter, T410_GUIDE)
#define T410_TO(to, filter)                                     \
	T410(DEVICE_SPLIT, BYTES, READ, to, "rd_bytes", filter), \
	T410(DEVICE_SPLIT, BYTES, WRITE, to, "wr_bytes", filter)
#define GRACE(part, way, event)                                                      \
	ROW(PMU_GRACE_PCIE, BOTH, part, way, ANY, event "_loc", "", GRACE_GUIDE),     \
	ROW(PMU_GRACE_PCIE, BOTH, part, way, ANY, event "_rem", "", GRACE_GUIDE)
#define PORT(way, event) ROW(PMU_DWC_PORT, BOTH, BYTES, way, ANY, event, "", DWC)

const struct device_row device_rows[] = {
	T410(DEVICE_SUMS, BYTES, READ, ANY, "rd_bytes", ""),
	T410(DEVICE_SUMS, BYTES, WRITE, ANY, "wr_bytes", ""),
	T410_TO(CMEM, "dst_loc_cmem"),
	T410_TO(GMEM, "dst_loc_gmem"),
	T410_TO(P2P, "dst_loc_pcie_p2p"),
	T410_TO(CXL, "dst_loc_pcie_cxl"),
	T410_TO(REMOTE, "dst_rem"),
	T410(BOTH, READS, READ, ANY, "rd_req", ""),
	T410(BOTH, WRITES, WRITE, ANY, "wr_req", ""),
	T410(BOTH, LATENCY, READ, ANY, "rd_cum_outs", ""),
	GRACE(BYTES, READ, "rd_bytes"),
	GRACE(BYTES, WRITE, "wr_bytes"),
	GRACE(READS, READ, "rd_req"),
	GRACE(WRITES, WRITE, "wr_req"),
	GRACE(LATENCY, READ, "rd_cum_outs"),
	PORT(READ, "tx_pcie_tlp_data_payload"),
	PORT(WRITE, "rx_pcie_tlp_data_payload"),
};
/* clang-format on */
const size_t nr_device_rows = ARRAY_SIZE(device_rows);
