// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Grace. A beat of data has 32 bytes (EVENT_BEAT_BYTES). Peaks of requests per cycle are from the
 * tuning guide: 8 for CPU memory, 4 for GPU memory, 2 for another socket, one a port for devices. A
 * mask passes as many root ports as it has bits: "ports". The 10 of the C2C links are ports inside
 * the link, which no filter excludes.
 */
#include "base/array.h"
#include "tables/metrics.h"

#define GUIDE	 "Grace tuning guide"
#define COMPOSED "composed of events of the Grace tuning guide"

/* clang-format off */
#define ROW(kind_, id_, title_, unit_, formula_, from_, to_, derived_, source_)            \
	{ .platform = PMU_PLATFORM_GRACE, .kind = kind_, .id = "grace." id_, .title = title_, \
	  .unit = unit_, .formula = formula_, .from = from_, .to = to_,                     \
	  .derived = derived_, .by_default = true, .source = source_ }
#define SCF(id, ...) ROW(PMU_GRACE_SCF, "scf." id, __VA_ARGS__)
#define PCIE(id, ...) ROW(PMU_GRACE_PCIE, "pcie." id, __VA_ARGS__)
#define C2C0(id, ...) ROW(PMU_GRACE_NVLINK_C2C0, "nvlink_c2c0." id, __VA_ARGS__)
#define C2C1(id, ...) ROW(PMU_GRACE_NVLINK_C2C1, "nvlink_c2c1." id, __VA_ARGS__)
#define CNV(id, ...) ROW(PMU_GRACE_CNVLINK, "cnvlink." id, __VA_ARGS__)

const struct metric_row metric_rows_grace[] = {
	SCF("frequency", "SCF clock", "GHz", "cycles / duration_ns", "", "", false, GUIDE),
	SCF("cmem_write_bandwidth", "Local CPU memory write bandwidth", "GB/s", "cmem_wr_total_bytes / duration_ns", "CPUs of all sockets", "CPU memory", false, GUIDE),
	SCF("cmem_read_bandwidth", "Local CPU memory read bandwidth", "GB/s", "cmem_rd_data * 32 / duration_ns", "CPUs of all sockets", "CPU memory", false, GUIDE),
	SCF("gmem_write_bandwidth", "Local GPU memory write bandwidth", "GB/s", "gmem_wr_total_bytes / duration_ns", "CPUs", "GPU memory", false, GUIDE),
	SCF("gmem_read_bandwidth", "Local GPU memory read bandwidth", "GB/s", "gmem_rd_data * 32 / duration_ns", "CPUs", "GPU memory", false, GUIDE),
	SCF("remote_write_bandwidth", "Remote memory write bandwidth", "GB/s", "remote_socket_wr_total_bytes / duration_ns", "CPUs", "other sockets", false, GUIDE),
	SCF("remote_read_bandwidth", "Remote memory read bandwidth", "GB/s", "remote_socket_rd_data * 32 / duration_ns", "CPUs", "other sockets", false, GUIDE),
	SCF("cmem_write_utilization", "Local CPU memory write utilisation", "percent", "100 * (cmem_wb_access + cmem_wr_access) / (8 * cycles)", "CPUs of all sockets", "CPU memory", false, GUIDE),
	SCF("gmem_write_utilization", "Local GPU memory write utilisation", "percent", "100 * (gmem_wb_access + gmem_wr_access) / (4 * cycles)", "CPUs", "GPU memory", false, GUIDE),
	SCF("cmem_read_utilization", "Local CPU memory read utilisation", "percent", "100 * cmem_rd_access / (8 * cycles)", "CPUs of all sockets", "CPU memory", false, GUIDE),
	SCF("gmem_read_utilization", "Local GPU memory read utilisation", "percent", "100 * gmem_rd_access / (4 * cycles)", "CPUs", "GPU memory", false, GUIDE),
	SCF("remote_write_utilization_s<s>_to_s<o>", "Remote write utilisation", "percent", "100 * (socket_<o>_wb_access + socket_<o>_wr_access) / (2 * cycles)", "CPUs of socket <s>", "socket <o>", false, GUIDE),
	SCF("remote_read_utilization_s<s>_to_s<o>", "Remote read utilisation", "percent", "100 * socket_<o>_rd_access / (2 * cycles)", "CPUs of socket <s>", "socket <o>", false, GUIDE),
	SCF("remote_read_latency_s<s>_to_s<o>", "Remote read latency", "ns", "(socket_<o>_rd_outstanding / socket_<o>_rd_access) / (cycles / duration_ns)", "CPUs of socket <s>", "socket <o>", false, GUIDE),
	SCF("cmem_read_latency", "Local CPU memory read latency", "ns", "(cmem_rd_outstanding / cmem_rd_access) / (cycles / duration_ns)", "CPUs of all sockets", "CPU memory", false, GUIDE),
	SCF("gmem_read_latency", "Local GPU memory read latency", "ns", "(gmem_rd_outstanding / gmem_rd_access) / (cycles / duration_ns)", "CPUs", "GPU memory", false, GUIDE),
	SCF("remote_read_latency_all", "Remote read latency, all", "ns", "(remote_socket_rd_outstanding / remote_socket_rd_access) / (cycles / duration_ns)", "CPUs", "other sockets", true, COMPOSED),

	PCIE("frequency", "Root-port client clock", "GHz", "cycles / duration_ns", "", "", false, GUIDE),
	PCIE("read_bandwidth", "Root-port read bandwidth", "GB/s", "(rd_bytes_loc + rd_bytes_rem) / duration_ns", "devices", "all memory", false, GUIDE),
	PCIE("write_bandwidth", "Root-port write bandwidth", "GB/s", "(wr_bytes_loc + wr_bytes_rem) / duration_ns", "devices", "all memory", false, GUIDE),
	PCIE("bidirectional_bandwidth", "Root-port read plus write bandwidth", "GB/s", "(rd_bytes_loc + rd_bytes_rem + wr_bytes_loc + wr_bytes_rem) / duration_ns", "devices", "all memory", false, GUIDE),
	PCIE("read_utilization", "Root-port read utilisation", "percent", "100 * (rd_req_loc + rd_req_rem) / (ports * cycles)", "devices", "all memory", false, GUIDE),
	PCIE("write_utilization", "Root-port write utilisation", "percent", "100 * (wr_req_loc + wr_req_rem) / (ports * cycles)", "devices", "all memory", false, GUIDE),
	PCIE("local_read_latency", "Root-port read latency to local memory", "ns", "(rd_cum_outs_loc / rd_req_loc) / (cycles / duration_ns)", "devices", "CPU memory", false, GUIDE),
	PCIE("remote_read_latency", "Root-port read latency to remote memory", "ns", "(rd_cum_outs_rem / rd_req_rem) / (cycles / duration_ns)", "devices", "other sockets", false, GUIDE),

	C2C0("frequency", "C2C client clock", "GHz", "cycles / duration_ns", "", "", false, GUIDE),
	C2C0("read_bandwidth", "Read bandwidth", "GB/s", "rd_bytes_loc / duration_ns", "GPU (translated), or devices of the other socket", "CPU memory", false, GUIDE),
	C2C0("write_bandwidth", "Write bandwidth", "GB/s", "wr_bytes_loc / duration_ns", "GPU (translated), or devices of the other socket", "CPU memory", false, GUIDE),
	C2C0("bidirectional_bandwidth", "Read plus write bandwidth", "GB/s", "(rd_bytes_loc + wr_bytes_loc) / duration_ns", "GPU (translated), or devices of the other socket", "CPU memory", false, GUIDE),
	C2C0("read_utilization", "Read utilisation", "percent", "100 * rd_req_loc / (10 * cycles)", "GPU (translated), or devices of the other socket", "CPU memory", false, GUIDE),
	C2C0("write_utilization", "Write utilisation", "percent", "100 * wr_req_loc / (10 * cycles)", "GPU (translated), or devices of the other socket", "CPU memory", false, GUIDE),
	C2C0("read_latency", "Read latency to local memory", "ns", "(rd_cum_outs_loc / rd_req_loc) / (cycles / duration_ns)", "GPU (translated), or devices of the other socket", "CPU memory", false, GUIDE),

	C2C1("frequency", "C2C client clock", "GHz", "cycles / duration_ns", "", "", false, GUIDE),
	C2C1("read_bandwidth", "Read bandwidth", "GB/s", "rd_bytes_loc / duration_ns", "GPU (not translated)", "CPU memory", false, GUIDE),
	C2C1("write_bandwidth", "Write bandwidth", "GB/s", "wr_bytes_loc / duration_ns", "GPU (not translated)", "CPU memory", false, GUIDE),
	C2C1("bidirectional_bandwidth", "Read plus write bandwidth", "GB/s", "(rd_bytes_loc + wr_bytes_loc) / duration_ns", "GPU (not translated)", "CPU memory", false, GUIDE),
	C2C1("read_utilization", "Read utilisation", "percent", "100 * rd_req_loc / (10 * cycles)", "GPU (not translated)", "CPU memory", false, GUIDE),
	C2C1("write_utilization", "Write utilisation", "percent", "100 * wr_req_loc / (10 * cycles)", "GPU (not translated)", "CPU memory", false, GUIDE),
	C2C1("read_latency", "Read latency to local memory", "ns", "(rd_cum_outs_loc / rd_req_loc) / (cycles / duration_ns)", "GPU (not translated)", "CPU memory", false, GUIDE),

	CNV("frequency", "CNVLink client clock", "GHz", "cycles / duration_ns", "", "", true, COMPOSED),
	CNV("read_bandwidth", "Read bandwidth", "GB/s", "(rd_bytes_loc + rd_bytes_rem) / duration_ns", "GPUs and devices of other sockets", "all memory", true, COMPOSED),
	CNV("write_bandwidth", "Write bandwidth", "GB/s", "(wr_bytes_loc + wr_bytes_rem) / duration_ns", "GPUs and devices of other sockets", "all memory", true, COMPOSED),
	CNV("local_read_latency", "Read latency to local memory", "ns", "(rd_cum_outs_loc / rd_req_loc) / (cycles / duration_ns)", "GPUs and devices of other sockets", "CPU memory", true, COMPOSED),
	CNV("remote_read_latency", "Read latency to remote memory", "ns", "(rd_cum_outs_rem / rd_req_rem) / (cycles / duration_ns)", "GPUs and devices of other sockets", "other sockets", true, COMPOSED),
};
/* clang-format on */
const size_t nr_metric_rows_grace = ARRAY_SIZE(metric_rows_grace);
