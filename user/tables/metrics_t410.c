// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * T410. The guide gives no peak of requests per cycle, so there is no utilisation; links count
 * neither bytes nor sizes of requests, so they have no bandwidth.
 */
#include "base/array.h"
#include "tables/metrics.h"

#define GUIDE	 "T410 PMU guide"
#define COMPOSED "composed of events of the T410 PMU guide and driver"

/* clang-format off */
#define ROW(kind_, id_, title_, unit_, formula_, from_, to_, derived_, source_)            \
	{ .platform = PMU_PLATFORM_T410, .kind = kind_, .id = "t410." id_, .title = title_, \
	  .unit = unit_, .formula = formula_, .from = from_, .to = to_,                     \
	  .derived = derived_, .by_default = true, .source = source_ }
#define UCF(id, ...) ROW(PMU_UCF, "ucf." id, __VA_ARGS__)
#define PCIE(id, ...) ROW(PMU_PCIE, "pcie." id, __VA_ARGS__)
#define TGT(id, ...) ROW(PMU_PCIE_TGT, "pcie_tgt." id, __VA_ARGS__)
#define CMEM(id, ...) ROW(PMU_CMEM_LATENCY, "cmem." id, __VA_ARGS__)
#define C2C(id, ...) ROW(PMU_NVLINK_C2C, "nvlink_c2c." id, __VA_ARGS__)
#define CLINK(id, ...) ROW(PMU_NVCLINK, "nvclink." id, __VA_ARGS__)
#define DLINK(id, ...) ROW(PMU_NVDLINK, "nvdlink." id, __VA_ARGS__)

const struct metric_row metric_rows_t410[] = {
	UCF("slc_read_bandwidth", "SLC read bandwidth", "GB/s", "slc_bytes_rd / duration_ns", "all sources", "all destinations", false, GUIDE),
	UCF("slc_read_request_rate", "SLC read request rate", "requests/cycle", "slc_access_rd / cycles", "all sources", "all destinations", false, GUIDE),
	UCF("slc_write_bandwidth", "SLC write bandwidth", "GB/s", "slc_bytes_wr / duration_ns", "all sources", "all destinations", false, GUIDE),
	UCF("slc_write_request_rate", "SLC write request rate", "requests/cycle", "slc_access_wr / cycles", "all sources", "all destinations", false, GUIDE),
	UCF("mem_read_bandwidth", "Memory read bandwidth", "GB/s", "mem_bytes_rd / duration_ns", "all sources", "all destinations", false, GUIDE),
	UCF("mem_read_request_rate", "Memory read request rate", "requests/cycle", "mem_access_rd / cycles", "all sources", "all destinations", false, GUIDE),
	UCF("mem_write_bandwidth", "Memory write bandwidth", "GB/s", "mem_bytes_wr / duration_ns", "all sources", "all destinations", false, GUIDE),
	UCF("mem_write_request_rate", "Memory write request rate", "requests/cycle", "mem_access_wr / cycles", "all sources", "all destinations", false, GUIDE),
	UCF("frequency", "UCF clock", "GHz", "cycles / duration_ns", "", "", true, COMPOSED),
	UCF("slc_read_hit_ratio", "SLC read hit ratio", "ratio", "slc_hit_rd / slc_access_rd", "all sources", "all destinations", true, COMPOSED),

	PCIE("read_bandwidth", "PCIe read bandwidth", "GB/s", "rd_bytes / duration_ns", "devices", "all destinations", false, GUIDE),
	PCIE("read_request_rate", "PCIe read request rate", "requests/cycle", "rd_req / cycles", "devices", "all destinations", false, GUIDE),
	PCIE("write_bandwidth", "PCIe write bandwidth", "GB/s", "wr_bytes / duration_ns", "devices", "all destinations", false, GUIDE),
	PCIE("write_request_rate", "PCIe write request rate", "requests/cycle", "wr_req / cycles", "devices", "all destinations", false, GUIDE),
	PCIE("frequency", "Fabric clock", "GHz", "cycles / duration_ns", "", "", false, GUIDE),
	PCIE("read_latency_cycles", "Average read latency", "cycles", "rd_cum_outs / rd_req", "devices", "all destinations", false, GUIDE),
	PCIE("read_latency", "Average read latency", "ns", "(rd_cum_outs / rd_req) / (cycles / duration_ns)", "devices", "all destinations", false, GUIDE),

	TGT("read_bandwidth", "PCIe read bandwidth", "GB/s", "rd_bytes / duration_ns", "all initiators", "BARs, or an address window", false, GUIDE),
	TGT("read_request_rate", "PCIe read request rate", "requests/cycle", "rd_req / cycles", "all initiators", "BARs, or an address window", false, GUIDE),
	TGT("write_bandwidth", "PCIe write bandwidth", "GB/s", "wr_bytes / duration_ns", "all initiators", "BARs, or an address window", false, GUIDE),
	TGT("write_request_rate", "PCIe write request rate", "requests/cycle", "wr_req / cycles", "all initiators", "BARs, or an address window", false, GUIDE),
	TGT("frequency", "Fabric clock", "GHz", "cycles / duration_ns", "", "", true, COMPOSED),

	CMEM("frequency", "CMEM clock", "GHz", "cycles / duration_ns", "", "", false, GUIDE),
	CMEM("read_latency_cycles", "Average DRAM read latency from the UCF edge", "cycles", "rd_cum_outs / rd_req", "the fabric", "CPU memory", false, GUIDE),
	CMEM("read_latency", "Average DRAM read latency from the UCF edge", "ns", "(rd_cum_outs / rd_req) / (cycles / duration_ns)", "the fabric", "CPU memory", false, GUIDE),
	CMEM("read_bandwidth", "DRAM read bandwidth", "GB/s", "rd_req * 32 / duration_ns", "the fabric", "CPU memory", true, COMPOSED),
	CMEM("reads_in_flight", "Average DRAM reads in flight", "requests", "rd_cum_outs / cycles", "the fabric", "CPU memory", true, COMPOSED),

	C2C("frequency", "NVLink-C2C clock", "GHz", "cycles / duration_ns", "", "", false, GUIDE),
	C2C("in_rd_latency_cycles", "Incoming read latency", "cycles", "in_rd_cum_outs / in_rd_req", "the peer", "this socket", false, GUIDE),
	C2C("in_rd_latency", "Incoming read latency", "ns", "(in_rd_cum_outs / in_rd_req) / (cycles / duration_ns)", "the peer", "this socket", false, GUIDE),
	C2C("in_wr_latency_cycles", "Incoming write latency", "cycles", "in_wr_cum_outs / in_wr_req", "the peer", "this socket", false, GUIDE),
	C2C("in_wr_latency", "Incoming write latency", "ns", "(in_wr_cum_outs / in_wr_req) / (cycles / duration_ns)", "the peer", "this socket", false, GUIDE),
	C2C("out_rd_latency_cycles", "Outgoing read latency", "cycles", "out_rd_cum_outs / out_rd_req", "this socket", "the peer", false, GUIDE),
	C2C("out_rd_latency", "Outgoing read latency", "ns", "(out_rd_cum_outs / out_rd_req) / (cycles / duration_ns)", "this socket", "the peer", false, GUIDE),
	C2C("out_wr_latency_cycles", "Outgoing write latency", "cycles", "out_wr_cum_outs / out_wr_req", "this socket", "the peer", false, GUIDE),
	C2C("out_wr_latency", "Outgoing write latency", "ns", "(out_wr_cum_outs / out_wr_req) / (cycles / duration_ns)", "this socket", "the peer", false, GUIDE),

	CLINK("frequency", "NV-CLink clock", "GHz", "cycles / duration_ns", "", "", false, GUIDE),
	CLINK("in_rd_latency_cycles", "Incoming read latency", "cycles", "in_rd_cum_outs / in_rd_req", "the other socket", "this socket", false, GUIDE),
	CLINK("in_rd_latency", "Incoming read latency", "ns", "(in_rd_cum_outs / in_rd_req) / (cycles / duration_ns)", "the other socket", "this socket", false, GUIDE),
	CLINK("out_rd_latency_cycles", "Outgoing read latency", "cycles", "out_rd_cum_outs / out_rd_req", "this socket", "the other socket", false, GUIDE),
	CLINK("out_rd_latency", "Outgoing read latency", "ns", "(out_rd_cum_outs / out_rd_req) / (cycles / duration_ns)", "this socket", "the other socket", false, GUIDE),

	DLINK("frequency", "NV-DLink clock", "GHz", "cycles / duration_ns", "", "", false, GUIDE),
	DLINK("in_rd_latency_cycles", "Incoming read latency", "cycles", "in_rd_cum_outs / in_rd_req", "this socket", "CXL memory", false, GUIDE),
	DLINK("in_rd_latency", "Incoming read latency", "ns", "(in_rd_cum_outs / in_rd_req) / (cycles / duration_ns)", "this socket", "CXL memory", false, GUIDE),
};
/* clang-format on */
const size_t nr_metric_rows_t410 = ARRAY_SIZE(metric_rows_t410);
