// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "tables/latency_rows.h"

#include "base/array.h"

#define T410_GUIDE  "Linux 7.2 admin-guide/perf/nvidia-tegra410-pmu.rst"
#define GRACE_GUIDE "Linux 7.2 admin-guide/perf/nvidia-tegra241-pmu.rst"

/*
 * Reads of CPU memory are counted where they leave the fabric, for any originator: the latency of
 * tasks is a mean that includes devices. Requests that come in over a link are from its peer: no
 * task here waits for them.
 */
/* clang-format off */
#define ROW(kind_, peer_, unit_, name, title_, outstanding_, requests_, way, to, tasks, guide) \
	{ .kind = kind_, .peer = peer_, .prefix = unit_, .suffix = name, .title = title_,      \
	  .outstanding = outstanding_, .requests = requests_, .direction = DIRECTION_##way,    \
	  .destination = DESTINATION_##to, .by_tasks = tasks, .source = guide }
#define T410(kind, peer, unit, name, title, way, to, tasks)                       \
	ROW(PMU_##kind, peer, unit, name, title, name "_cum_outs", name "_req", way, to, tasks, \
	    T410_GUIDE)
#define C2C(peer, ...) T410(NVLINK_C2C, peer, "nvlink_c2c", __VA_ARGS__)
#define CLINK(...)     T410(NVCLINK, NULL, "nvclink", __VA_ARGS__)
#define SCF(name, event, title, to)                                                            \
	ROW(PMU_GRACE_SCF, NULL, "scf", name, title, event "_outstanding", event "_access", READ, \
	    to, true, GRACE_GUIDE)

const struct latency_row latency_rows[] = {
	T410(CMEM_LATENCY, NULL, "cmem", "rd", "reads of CPU memory", READ, CMEM, true),
	C2C("gpu", "out_rd", "reads of GPU memory", READ, GMEM, true),
	C2C("gpu", "out_wr", "writes to GPU memory", WRITE, GMEM, true),
	C2C("gpu", "in_rd", "reads by GPUs", READ, ANY, false),
	C2C("gpu", "in_wr", "writes by GPUs", WRITE, ANY, false),
	C2C("cpu", "out_rd", "reads of another socket's memory", READ, REMOTE, true),
	C2C("cpu", "in_rd", "reads by another socket", READ, ANY, false),
	CLINK("out_rd", "reads of another socket's memory", READ, REMOTE, true),
	CLINK("in_rd", "reads by another socket", READ, ANY, false),
	/* "in" is the link's view: the guide says that these are reads of CXL memory */
	T410(NVDLINK, NULL, "nvdlink", "in_rd", "reads of CXL memory", READ, CXL, true),
	SCF("local_rd", "socket_<s>_rd", "reads of CPU memory", CMEM),
	SCF("remote_rd", "remote_socket_rd", "reads of another socket's memory", REMOTE),
	SCF("gmem_rd", "gmem_rd", "reads of GPU memory", GMEM),
};
/* clang-format on */
const size_t nr_latency_rows = ARRAY_SIZE(latency_rows);
