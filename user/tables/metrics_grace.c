// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * All rows are composed of what the events count and in which unit. None has been compared
 * with NVIDIA's tuning guide for Grace, so all are marked as derived, and utilisation, which
 * needs figures that only the guide has, is missing.
 */
#include "base/array.h"
#include "tables/metrics.h"

#define COMPOSED "composed by the units of its events, see their rows"

/* clang-format off */
#define ROW(kind_, id_, title_, unit_, formula_, from_, to_)                                 \
	{ .platform = PMU_PLATFORM_GRACE, .kind = kind_, .id = "grace." id_, .title = title_, \
	  .unit = unit_, .formula = formula_, .from = from_, .to = to_,                       \
	  .derived = true, .by_default = true, .source = COMPOSED }

/* Data that is counted in beats has 32 bytes a beat, EVENT_BEAT_BYTES. */
#define SCF(id, title, unit, formula, from, to) ROW(PMU_GRACE_SCF, "scf." id, title, unit, formula, from, to)
#define LOCAL(id, title, unit, formula)	 SCF(id, title, unit, formula, "CPUs of any socket", "local DRAM")
#define GPU(id, title, unit, formula)	 SCF(id, title, unit, formula, "CPUs", "GPU memory")
#define REMOTE(id, title, unit, formula) SCF(id, title, unit, formula, "CPUs", "other sockets")
#define TO_OTHER(id, title, unit, formula) SCF(id "_s<s>_to_s<o>", title, unit, formula, "CPUs of socket <s>", "socket <o>")

/* The filter of ports is in the counts and needs no factor: bytes and requests add up. */
#define IO(kind, name, from)                                                                                                            \
	ROW(kind, name ".local_read_bandwidth", "read bandwidth, local memory", "GB/s", "rd_bytes_loc / duration_ns", from, "local memory"),   \
	ROW(kind, name ".remote_read_bandwidth", "read bandwidth, remote memory", "GB/s", "rd_bytes_rem / duration_ns", from, "remote memory"), \
	ROW(kind, name ".local_write_bandwidth", "write bandwidth, local memory", "GB/s", "wr_bytes_loc / duration_ns", from, "local memory"), \
	ROW(kind, name ".remote_write_bandwidth", "write bandwidth, remote memory", "GB/s", "wr_bytes_rem / duration_ns", from, "remote memory"), \
	ROW(kind, name ".read_bandwidth", "read bandwidth", "GB/s", "(rd_bytes_loc + rd_bytes_rem) / duration_ns", from, "all memory"),         \
	ROW(kind, name ".write_bandwidth", "write bandwidth", "GB/s", "(wr_bytes_loc + wr_bytes_rem) / duration_ns", from, "all memory"),       \
	ROW(kind, name ".read_request_rate", "reads", "requests/cycle", "(rd_req_loc + rd_req_rem) / cycles", from, "all memory"),             \
	ROW(kind, name ".write_request_rate", "writes", "requests/cycle", "(wr_req_loc + wr_req_rem) / cycles", from, "all memory"),           \
	ROW(kind, name ".local_read_latency_ns", "latency of local reads", "ns", "(rd_cum_outs_loc / rd_req_loc) / (cycles / duration_ns)", from, "local memory"),      \
	ROW(kind, name ".remote_read_latency_ns", "latency of remote reads", "ns", "(rd_cum_outs_rem / rd_req_rem) / (cycles / duration_ns)", from, "remote memory"),   \
	ROW(kind, name ".frequency", "clock of the fabric's port", "GHz", "cycles / duration_ns", from, "all memory")

const struct metric_row metric_rows_grace[] = {
	LOCAL("local_read_bandwidth", "DRAM read bandwidth", "GB/s", "cmem_rd_data * 32 / duration_ns"),
	LOCAL("local_write_bandwidth", "DRAM write bandwidth", "GB/s", "cmem_wr_total_bytes / duration_ns"),
	LOCAL("local_read_request_rate", "reads of DRAM", "requests/cycle", "cmem_rd_access / cycles"),
	LOCAL("local_read_latency_cycles", "latency of DRAM reads", "cycles", "cmem_rd_outstanding / cmem_rd_access"),
	LOCAL("local_read_latency_ns", "latency of DRAM reads", "ns", "(cmem_rd_outstanding / cmem_rd_access) / (cycles / duration_ns)"),

	GPU("gpu_read_bandwidth", "read bandwidth of GPU memory", "GB/s", "gmem_rd_data * 32 / duration_ns"),
	GPU("gpu_write_bandwidth", "write bandwidth of GPU memory", "GB/s", "gmem_wr_total_bytes / duration_ns"),
	GPU("gpu_read_request_rate", "reads of GPU memory", "requests/cycle", "gmem_rd_access / cycles"),
	GPU("gpu_read_latency_ns", "latency of reads of GPU memory", "ns", "(gmem_rd_outstanding / gmem_rd_access) / (cycles / duration_ns)"),

	REMOTE("remote_read_bandwidth", "read bandwidth of other sockets", "GB/s", "remote_socket_rd_data * 32 / duration_ns"),
	REMOTE("remote_write_bandwidth", "write bandwidth of other sockets", "GB/s", "remote_socket_wr_total_bytes / duration_ns"),
	REMOTE("remote_read_request_rate", "reads of other sockets", "requests/cycle", "remote_socket_rd_access / cycles"),
	REMOTE("remote_read_latency_ns", "latency of reads of other sockets", "ns", "(remote_socket_rd_outstanding / remote_socket_rd_access) / (cycles / duration_ns)"),

	TO_OTHER("remote_read_bandwidth", "read bandwidth of one other socket", "GB/s", "socket_<o>_rd_data * 32 / duration_ns"),
	TO_OTHER("remote_write_bandwidth", "write bandwidth of one other socket", "GB/s", "(socket_<o>_wb_data * 32 + socket_<o>_wr_data) / duration_ns"),
	TO_OTHER("remote_read_latency_ns", "latency of reads of one other socket", "ns", "(socket_<o>_rd_outstanding / socket_<o>_rd_access) / (cycles / duration_ns)"),

	SCF("frequency", "clock of the fabric", "GHz", "cycles / duration_ns", "all", "all"),

	IO(PMU_GRACE_PCIE, "pcie", "devices"),
	IO(PMU_GRACE_NVLINK_C2C0, "nvlink_c2c0", "the peer of the link"),
	IO(PMU_GRACE_NVLINK_C2C1, "nvlink_c2c1", "the GPU, not translated"),
	IO(PMU_GRACE_CNVLINK, "cnvlink", "GPUs and devices of other sockets"),
};
/* clang-format on */
const size_t nr_metric_rows_grace = ARRAY_SIZE(metric_rows_grace);
