// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "tables/metric_peaks.h"

#include "base/array.h"

#define WAYS(read_, write_, what) .read = read_, .write = write_, .of = what
#define MEMORY(name)                                                             \
	{                                                                        \
		WAYS(name ".read_bandwidth", name ".write_bandwidth", PEAK_CMEM) \
	}
#define TOGETHER(...)                                        \
	{                                                    \
		.together = { __VA_ARGS__ }, .of = PEAK_CMEM \
	}
#define SCF(name, what)                                                                         \
	{                                                                                       \
		WAYS("grace.scf." name "_read_bandwidth", "grace.scf." name "_write_bandwidth", \
		     what),                                                                     \
			.cpus_only = true                                                       \
	}
#define UPI(name)                                                                            \
	{                                                                                    \
		WAYS(name ".upi.receive_bandwidth", name ".upi.send_bandwidth", PEAK_REMOTE) \
	}

const struct metric_peak_row metric_peak_rows[] = {
	{ WAYS("t410.ucf.mem_read_bandwidth", "t410.ucf.mem_write_bandwidth", PEAK_CMEM),
	  .upper_bound = true },
	SCF("cmem", PEAK_CMEM),
	SCF("gmem", PEAK_GMEM),
	SCF("remote", PEAK_REMOTE),
	MEMORY("xeon-to-skylake.imc"),
	MEMORY("xeon-icelake.imc_free"),
	MEMORY("xeon-icelake.imc"),
	MEMORY("xeon-sapphire.imc"),
	MEMORY("xeon-granite.imc"),
	MEMORY("intel-client.imc"),
	MEMORY("intel-client.imc_free"),
	MEMORY("amd-zen.umc"),
	MEMORY("ampereone.mcu"),
	MEMORY("arm-dmc620.dmc620"),
	MEMORY("kunpeng.ddrc"),
	MEMORY("kunpeng.ddrc_sub"),
	MEMORY("yitian710.drw"),
	TOGETHER("arm-cmn.cmn.bandwidth"),
	TOGETHER("amd-zen2.df.bandwidth_0_3", "amd-zen2.df.bandwidth_4_7"),
	UPI("xeon-to-skylake"),
	UPI("xeon-icelake"),
	UPI("xeon-sapphire"),
	UPI("xeon-granite"),
	{ WAYS("cxl.read_bandwidth", "cxl.write_bandwidth", PEAK_CXL) },
	{ WAYS("dwc_port.send_bandwidth", "dwc_port.receive_bandwidth", PEAK_PCIE), .each = true },
};
const size_t nr_metric_peak_rows = ARRAY_SIZE(metric_peak_rows);
