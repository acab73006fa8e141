// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "base/array.h"
#include "tables/metrics.h"

#define DOC	 "Linux 7.2 Documentation/admin-guide/perf/nvidia-tegra410-pmu.rst"
#define COMPOSED "composed of events of " DOC
#define NAMES	 "composed of events whose meaning follows from their names"

/* clang-format off */
#define ROW(kind_, id_, title_, unit_, formula_, from_, to_, derived_, source_)            \
	{ .platform = PMU_PLATFORM_T410, .kind = kind_, .id = "t410." id_, .title = title_, \
	  .unit = unit_, .formula = formula_, .from = from_, .to = to_,                     \
	  .derived = derived_, .by_default = true, .source = source_ }

#define UCF(id, title, unit, formula, derived, source)                                     \
	ROW(PMU_UCF, "ucf." id, title, unit, formula, "all sources", "all destinations", derived, source)
#define PCIE(id, title, unit, formula)                                                     \
	ROW(PMU_PCIE, "pcie." id, title, unit, formula, "devices of the root complex", "all destinations", false, DOC)
#define TGT(id, title, unit, formula, derived, source)                                     \
	ROW(PMU_PCIE_TGT, "pcie_tgt." id, title, unit, formula, "all sources", "BARs of the root complex", derived, source)
#define CMEM(id, title, unit, formula, derived, source)                                    \
	ROW(PMU_CMEM_LATENCY, "cmem_latency." id, title, unit, formula, "the fabric", "local DRAM", derived, source)
#define C2C_IN(id, title, unit, formula)                                                   \
	ROW(PMU_NVLINK_C2C, "nvlink_c2c." id, title, unit, formula, "the peer", "this socket", false, DOC)
#define C2C_OUT(id, title, unit, formula)                                                  \
	ROW(PMU_NVLINK_C2C, "nvlink_c2c." id, title, unit, formula, "this socket", "the peer", false, DOC)
#define CLINK_IN(id, title, unit, formula)                                                 \
	ROW(PMU_NVCLINK, "nvclink." id, title, unit, formula, "the other socket", "this socket", false, DOC)
#define CLINK_OUT(id, title, unit, formula)                                                \
	ROW(PMU_NVCLINK, "nvclink." id, title, unit, formula, "this socket", "the other socket", false, DOC)
#define DLINK(id, title, unit, formula)                                                    \
	ROW(PMU_NVDLINK, "nvdlink." id, title, unit, formula, "this socket", "CXL memory", false, DOC)

const struct metric_row metric_rows_t410[] = {
	UCF("slc_read_bandwidth", "read bandwidth of the system cache", "GB/s", "slc_bytes_rd / duration_ns", false, DOC),
	UCF("slc_write_bandwidth", "write bandwidth of the system cache", "GB/s", "slc_bytes_wr / duration_ns", false, DOC),
	UCF("mem_read_bandwidth", "memory read bandwidth", "GB/s", "mem_bytes_rd / duration_ns", false, DOC),
	UCF("mem_write_bandwidth", "memory write bandwidth", "GB/s", "mem_bytes_wr / duration_ns", false, DOC),
	UCF("slc_read_request_rate", "reads of the system cache", "requests/cycle", "slc_access_rd / cycles", false, DOC),
	UCF("slc_write_request_rate", "writes to the system cache", "requests/cycle", "slc_access_wr / cycles", false, DOC),
	UCF("mem_read_request_rate", "reads of memory", "requests/cycle", "mem_access_rd / cycles", false, DOC),
	UCF("mem_write_request_rate", "writes to memory", "requests/cycle", "mem_access_wr / cycles", false, DOC),
	UCF("slc_read_hit_ratio", "reads that the system cache answered", "ratio", "slc_hit_rd / slc_access_rd", true, NAMES),
	UCF("frequency", "clock of the fabric", "GHz", "cycles / duration_ns", true, COMPOSED),

	PCIE("read_bandwidth", "bandwidth of reads by devices", "GB/s", "rd_bytes / duration_ns"),
	PCIE("write_bandwidth", "bandwidth of writes by devices", "GB/s", "wr_bytes / duration_ns"),
	PCIE("read_request_rate", "reads by devices", "requests/cycle", "rd_req / cycles"),
	PCIE("write_request_rate", "writes by devices", "requests/cycle", "wr_req / cycles"),
	PCIE("frequency", "clock of the fabric at the root complex", "GHz", "cycles / duration_ns"),
	PCIE("read_latency_cycles", "latency of reads by devices", "cycles", "rd_cum_outs / rd_req"),
	PCIE("read_latency_ns", "latency of reads by devices", "ns", "(rd_cum_outs / rd_req) / (cycles / duration_ns)"),

	TGT("read_bandwidth", "bandwidth of reads of the target", "GB/s", "rd_bytes / duration_ns", false, DOC),
	TGT("write_bandwidth", "bandwidth of writes to the target", "GB/s", "wr_bytes / duration_ns", false, DOC),
	TGT("read_request_rate", "reads of the target", "requests/cycle", "rd_req / cycles", false, DOC),
	TGT("write_request_rate", "writes to the target", "requests/cycle", "wr_req / cycles", false, DOC),
	TGT("frequency", "clock of the fabric at the root complex", "GHz", "cycles / duration_ns", true, COMPOSED),

	CMEM("frequency", "clock of the path to DRAM", "GHz", "cycles / duration_ns", false, DOC),
	CMEM("read_latency_cycles", "latency of DRAM reads", "cycles", "rd_cum_outs / rd_req", false, DOC),
	CMEM("read_latency_ns", "latency of DRAM reads", "ns", "(rd_cum_outs / rd_req) / (cycles / duration_ns)", false, DOC),
	/* A request is 32 bytes here, whatever size its source asked for. */
	CMEM("read_bandwidth", "DRAM read bandwidth", "GB/s", "rd_req * 32 / duration_ns", true, COMPOSED),

	C2C_IN("frequency", "clock of the link", "GHz", "cycles / duration_ns"),
	C2C_IN("in_read_latency_cycles", "latency of reads by the peer", "cycles", "in_rd_cum_outs / in_rd_req"),
	C2C_IN("in_read_latency_ns", "latency of reads by the peer", "ns", "(in_rd_cum_outs / in_rd_req) / (cycles / duration_ns)"),
	C2C_IN("in_write_latency_cycles", "latency of writes by the peer", "cycles", "in_wr_cum_outs / in_wr_req"),
	C2C_IN("in_write_latency_ns", "latency of writes by the peer", "ns", "(in_wr_cum_outs / in_wr_req) / (cycles / duration_ns)"),
	C2C_OUT("out_read_latency_cycles", "latency of reads of the peer", "cycles", "out_rd_cum_outs / out_rd_req"),
	C2C_OUT("out_read_latency_ns", "latency of reads of the peer", "ns", "(out_rd_cum_outs / out_rd_req) / (cycles / duration_ns)"),
	C2C_OUT("out_write_latency_cycles", "latency of writes to the peer", "cycles", "out_wr_cum_outs / out_wr_req"),
	C2C_OUT("out_write_latency_ns", "latency of writes to the peer", "ns", "(out_wr_cum_outs / out_wr_req) / (cycles / duration_ns)"),

	CLINK_IN("frequency", "clock of the link", "GHz", "cycles / duration_ns"),
	CLINK_IN("in_read_latency_cycles", "latency of reads by the other socket", "cycles", "in_rd_cum_outs / in_rd_req"),
	CLINK_IN("in_read_latency_ns", "latency of reads by the other socket", "ns", "(in_rd_cum_outs / in_rd_req) / (cycles / duration_ns)"),
	CLINK_OUT("out_read_latency_cycles", "latency of reads of the other socket", "cycles", "out_rd_cum_outs / out_rd_req"),
	CLINK_OUT("out_read_latency_ns", "latency of reads of the other socket", "ns", "(out_rd_cum_outs / out_rd_req) / (cycles / duration_ns)"),

	DLINK("frequency", "clock of the link", "GHz", "cycles / duration_ns"),
	DLINK("in_read_latency_cycles", "latency of reads of CXL memory", "cycles", "in_rd_cum_outs / in_rd_req"),
	DLINK("in_read_latency_ns", "latency of reads of CXL memory", "ns", "(in_rd_cum_outs / in_rd_req) / (cycles / duration_ns)"),
};
/* clang-format on */
const size_t nr_metric_rows_t410 = ARRAY_SIZE(metric_rows_t410);
