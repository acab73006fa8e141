// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "tables/events.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/array.h"

#define CSPMU	 "Linux 7.2 drivers/perf/arm_cspmu/nvidia_cspmu.c"
#define T410_DOC "Linux 7.2 Documentation/admin-guide/perf/nvidia-tegra410-pmu.rst"
#define NAME	 "name"
/* Events of the project's virtual Grace; not verified on hardware. */
#define GRACE	 "unit as in tests/machine/EMULATION.md, the rest follows from the name"

/* A bit beyond those of events selects the cycle counter of CoreSight PMUs. */
#define CYCLES	 0x100000000

/* PCIe, C2C and CNVLink of Grace have the same events; "local" is the PMU's socket. */
#define GRACE_IO_EVENTS(kind)                                                                           \
	{ kind, "cycles", EVENT_CYCLES, CYCLES, "cycles of the fabric's port", GRACE },                 \
		{ kind, "rd_bytes_loc", EVENT_BYTES, 0x0, "bytes read from local memory", GRACE },      \
		{ kind, "rd_bytes_rem", EVENT_BYTES, 0x1, "bytes read from remote memory", GRACE },     \
		{ kind, "wr_bytes_loc", EVENT_BYTES, 0x2, "bytes written to local memory", GRACE },     \
		{ kind, "wr_bytes_rem", EVENT_BYTES, 0x3, "bytes written to remote memory", GRACE },    \
		{ kind, "total_bytes_loc", EVENT_BYTES, 0x4, "bytes from and to local memory", GRACE }, \
		{ kind, "total_bytes_rem", EVENT_BYTES, 0x5, "bytes from and to remote memory",         \
		  GRACE },                                                                              \
		{ kind, "rd_req_loc", EVENT_REQUESTS, 0x6, "reads of local memory", GRACE },            \
		{ kind, "rd_req_rem", EVENT_REQUESTS, 0x7, "reads of remote memory", GRACE },           \
		{ kind, "wr_req_loc", EVENT_REQUESTS, 0x8, "writes to local memory", GRACE },           \
		{ kind, "wr_req_rem", EVENT_REQUESTS, 0x9, "writes to remote memory", GRACE },          \
		{ kind, "total_req_loc", EVENT_REQUESTS, 0xa, "requests for local memory", GRACE },     \
		{ kind, "total_req_rem", EVENT_REQUESTS, 0xb, "requests for remote memory", GRACE },    \
		{ kind, "rd_cum_outs_loc", EVENT_OUTSTANDING, 0xc, "local reads under way", GRACE },    \
	{                                                                                               \
		kind, "rd_cum_outs_rem", EVENT_OUTSTANDING, 0xd, "remote reads under way", GRACE        \
	}

/* clang-format off */
const struct event_row event_rows[] = {
	{ PMU_UCF, "cycles", EVENT_CYCLES, CYCLES, "cycles of the fabric", T410_DOC },
	{ PMU_UCF, "bus_cycles", EVENT_CYCLES, 0x1d, "cycles of the fabric's bus", NAME },
	{ PMU_UCF, "slc_allocate", EVENT_REQUESTS, 0xf0, "lines given room in the system cache", NAME },
	{ PMU_UCF, "slc_wb", EVENT_REQUESTS, 0xf3, "lines written back by the system cache", NAME },
	{ PMU_UCF, "slc_refill_rd", EVENT_REQUESTS, 0x109, "refills of the system cache for reads", NAME },
	{ PMU_UCF, "slc_refill_wr", EVENT_REQUESTS, 0x10a, "refills of the system cache for writes", NAME },
	{ PMU_UCF, "slc_hit_rd", EVENT_REQUESTS, 0x119, "reads that the system cache answered", NAME },
	{ PMU_UCF, "slc_access_rd", EVENT_REQUESTS, 0x111, "reads of the system cache", T410_DOC },
	{ PMU_UCF, "slc_access_wr", EVENT_REQUESTS, 0x112, "writes to the system cache", T410_DOC },
	{ PMU_UCF, "slc_bytes_rd", EVENT_BYTES, 0x113, "bytes of reads of the system cache", T410_DOC },
	{ PMU_UCF, "slc_bytes_wr", EVENT_BYTES, 0x114, "bytes of writes to the system cache", T410_DOC },
	{ PMU_UCF, "slc_access_dataless", EVENT_REQUESTS, 0x183, "requests without data to the system cache", NAME },
	{ PMU_UCF, "slc_access_atomic", EVENT_REQUESTS, 0x184, "atomic requests to the system cache", NAME },
	{ PMU_UCF, "mem_access_rd", EVENT_REQUESTS, 0x121, "reads of memory here or elsewhere", T410_DOC },
	{ PMU_UCF, "mem_access_wr", EVENT_REQUESTS, 0x122, "writes to memory here or elsewhere", T410_DOC },
	{ PMU_UCF, "mem_bytes_rd", EVENT_BYTES, 0x123, "bytes read from memory here or elsewhere", T410_DOC },
	{ PMU_UCF, "mem_bytes_wr", EVENT_BYTES, 0x124, "bytes written to memory here or elsewhere", T410_DOC },
	{ PMU_UCF, "local_snoop", EVENT_REQUESTS, 0x180, "snoops from inside the socket", NAME },
	{ PMU_UCF, "ext_snp_access", EVENT_REQUESTS, 0x181, "snoops from outside", NAME },
	{ PMU_UCF, "ext_snp_evict", EVENT_REQUESTS, 0x182, "evictions by snoops from outside", NAME },

	{ PMU_PCIE, "cycles", EVENT_CYCLES, CYCLES, "cycles of the fabric at the root complex", T410_DOC },
	{ PMU_PCIE, "rd_bytes", EVENT_BYTES, 0x0, "bytes that devices read", T410_DOC },
	{ PMU_PCIE, "wr_bytes", EVENT_BYTES, 0x1, "bytes that devices write", T410_DOC },
	{ PMU_PCIE, "rd_req", EVENT_REQUESTS, 0x2, "reads by devices", T410_DOC },
	{ PMU_PCIE, "wr_req", EVENT_REQUESTS, 0x3, "writes by devices", T410_DOC },
	{ PMU_PCIE, "rd_cum_outs", EVENT_OUTSTANDING, 0x4, "reads by devices under way", T410_DOC },

	{ PMU_PCIE_TGT, "cycles", EVENT_CYCLES, 0x4, "cycles of the fabric at the root complex", T410_DOC },
	{ PMU_PCIE_TGT, "rd_bytes", EVENT_BYTES, 0x0, "bytes read from BARs or CXL memory", T410_DOC },
	{ PMU_PCIE_TGT, "wr_bytes", EVENT_BYTES, 0x1, "bytes written to BARs or CXL memory", T410_DOC },
	{ PMU_PCIE_TGT, "rd_req", EVENT_REQUESTS, 0x2, "reads of BARs or CXL memory", T410_DOC },
	{ PMU_PCIE_TGT, "wr_req", EVENT_REQUESTS, 0x3, "writes to BARs or CXL memory", T410_DOC },

	{ PMU_CMEM_LATENCY, "cycles", EVENT_CYCLES, 0x0, "cycles of the path to DRAM", T410_DOC },
	{ PMU_CMEM_LATENCY, "rd_req", EVENT_REQUESTS, 0x1, "reads of local DRAM, 32 bytes each", T410_DOC },
	{ PMU_CMEM_LATENCY, "rd_cum_outs", EVENT_OUTSTANDING, 0x2, "reads of local DRAM under way", T410_DOC },

	{ PMU_NVLINK_C2C, "cycles", EVENT_CYCLES, 0x0, "cycles of the link", T410_DOC },
	{ PMU_NVLINK_C2C, "in_rd_cum_outs", EVENT_OUTSTANDING, 0x1, "reads by the peer under way", T410_DOC },
	{ PMU_NVLINK_C2C, "in_rd_req", EVENT_REQUESTS, 0x2, "reads by the peer", T410_DOC },
	{ PMU_NVLINK_C2C, "in_wr_cum_outs", EVENT_OUTSTANDING, 0x3, "writes by the peer under way", T410_DOC },
	{ PMU_NVLINK_C2C, "in_wr_req", EVENT_REQUESTS, 0x4, "writes by the peer", T410_DOC },
	{ PMU_NVLINK_C2C, "out_rd_cum_outs", EVENT_OUTSTANDING, 0x5, "reads of the peer under way", T410_DOC },
	{ PMU_NVLINK_C2C, "out_rd_req", EVENT_REQUESTS, 0x6, "reads of the peer", T410_DOC },
	{ PMU_NVLINK_C2C, "out_wr_cum_outs", EVENT_OUTSTANDING, 0x7, "writes to the peer under way", T410_DOC },
	{ PMU_NVLINK_C2C, "out_wr_req", EVENT_REQUESTS, 0x8, "writes to the peer", T410_DOC },

	{ PMU_NVCLINK, "cycles", EVENT_CYCLES, 0x0, "cycles of the link", T410_DOC },
	{ PMU_NVCLINK, "in_rd_cum_outs", EVENT_OUTSTANDING, 0x1, "reads by the other socket under way", T410_DOC },
	{ PMU_NVCLINK, "in_rd_req", EVENT_REQUESTS, 0x2, "reads by the other socket", T410_DOC },
	{ PMU_NVCLINK, "out_rd_cum_outs", EVENT_OUTSTANDING, 0x5, "reads of the other socket under way", T410_DOC },
	{ PMU_NVCLINK, "out_rd_req", EVENT_REQUESTS, 0x6, "reads of the other socket", T410_DOC },

	{ PMU_NVDLINK, "cycles", EVENT_CYCLES, 0x0, "cycles of the link", T410_DOC },
	{ PMU_NVDLINK, "in_rd_cum_outs", EVENT_OUTSTANDING, 0x1, "reads of CXL memory under way", T410_DOC },
	{ PMU_NVDLINK, "in_rd_req", EVENT_REQUESTS, 0x2, "reads of CXL memory", T410_DOC },

	{ PMU_GRACE_SCF, "cycles", EVENT_CYCLES, CYCLES, "cycles of the fabric", CSPMU },
	{ PMU_GRACE_SCF, "bus_cycles", EVENT_CYCLES, 0x1d, "cycles of the fabric's bus", NAME },
	{ PMU_GRACE_SCF, "scf_cache_allocate", EVENT_REQUESTS, 0xf0, "lines given room in the cache", NAME },
	{ PMU_GRACE_SCF, "scf_cache_refill", EVENT_REQUESTS, 0xf1, "refills of the cache", NAME },
	{ PMU_GRACE_SCF, "scf_cache", EVENT_REQUESTS, 0xf2, "requests to the cache", NAME },
	{ PMU_GRACE_SCF, "scf_cache_wb", EVENT_REQUESTS, 0xf3, "lines written back by the cache", NAME },
	{ PMU_GRACE_SCF, "socket_<s>_rd_data", EVENT_BEATS, 0x101, "data read from the socket's memory", GRACE },
	{ PMU_GRACE_SCF, "socket_<s>_wb_data", EVENT_BEATS, 0x109, "data written back to the socket's memory", GRACE },
	{ PMU_GRACE_SCF, "socket_<s>_rd_outstanding", EVENT_OUTSTANDING, 0x115, "reads of the socket's memory under way", GRACE },
	{ PMU_GRACE_SCF, "socket_<s>_rd_access", EVENT_REQUESTS, 0x12d, "reads of the socket's memory", GRACE },
	{ PMU_GRACE_SCF, "socket_<s>_wb_access", EVENT_REQUESTS, 0x135, "write-backs to the socket's memory, by line", GRACE },
	{ PMU_GRACE_SCF, "socket_<s>_wr_access", EVENT_REQUESTS, 0x139, "other writes to the socket's memory", GRACE },
	{ PMU_GRACE_SCF, "socket_<s>_wr_data", EVENT_BYTES, 0x17c, "bytes of other writes to the socket's memory", GRACE },
	{ PMU_GRACE_SCF, "gmem_rd_data", EVENT_BEATS, 0x16d, "data read from GPU memory", GRACE },
	{ PMU_GRACE_SCF, "gmem_rd_access", EVENT_REQUESTS, 0x16e, "reads of GPU memory", GRACE },
	{ PMU_GRACE_SCF, "gmem_rd_outstanding", EVENT_OUTSTANDING, 0x16f, "reads of GPU memory under way", GRACE },
	{ PMU_GRACE_SCF, "gmem_wb_data", EVENT_BEATS, 0x173, "data written back to GPU memory", GRACE },
	{ PMU_GRACE_SCF, "gmem_wb_access", EVENT_REQUESTS, 0x174, "write-backs to GPU memory, by line", GRACE },
	{ PMU_GRACE_SCF, "gmem_wr_data", EVENT_BYTES, 0x179, "bytes of other writes to GPU memory", GRACE },
	{ PMU_GRACE_SCF, "gmem_wr_access", EVENT_REQUESTS, 0x17b, "other writes to GPU memory", GRACE },
	{ PMU_GRACE_SCF, "gmem_wr_total_bytes", EVENT_BYTES, 0x1a0, "bytes of all writes to GPU memory", GRACE },
	{ PMU_GRACE_SCF, "remote_socket_wr_total_bytes", EVENT_BYTES, 0x1a1, "bytes of all writes to other sockets", GRACE },
	{ PMU_GRACE_SCF, "remote_socket_rd_data", EVENT_BEATS, 0x1a2, "data read from other sockets", GRACE },
	{ PMU_GRACE_SCF, "remote_socket_rd_outstanding", EVENT_OUTSTANDING, 0x1a3, "reads of other sockets under way", GRACE },
	{ PMU_GRACE_SCF, "remote_socket_rd_access", EVENT_REQUESTS, 0x1a4, "reads of other sockets", GRACE },
	{ PMU_GRACE_SCF, "cmem_rd_data", EVENT_BEATS, 0x1a5, "data read from local DRAM, by any socket's CPUs", GRACE },
	{ PMU_GRACE_SCF, "cmem_rd_access", EVENT_REQUESTS, 0x1a6, "reads of local DRAM", GRACE },
	{ PMU_GRACE_SCF, "cmem_rd_outstanding", EVENT_OUTSTANDING, 0x1a7, "reads of local DRAM under way", GRACE },
	{ PMU_GRACE_SCF, "cmem_wb_data", EVENT_BEATS, 0x1ab, "data written back to local DRAM", GRACE },
	{ PMU_GRACE_SCF, "cmem_wb_access", EVENT_REQUESTS, 0x1ac, "write-backs to local DRAM, by line", GRACE },
	{ PMU_GRACE_SCF, "cmem_wr_data", EVENT_BYTES, 0x1b1, "bytes of other writes to local DRAM", GRACE },
	{ PMU_GRACE_SCF, "cmem_wr_access", EVENT_REQUESTS, 0x1ca, "other writes to local DRAM", GRACE },
	{ PMU_GRACE_SCF, "cmem_wr_total_bytes", EVENT_BYTES, 0x1db, "bytes of all writes to local DRAM", GRACE },

	GRACE_IO_EVENTS(PMU_GRACE_PCIE),
	GRACE_IO_EVENTS(PMU_GRACE_NVLINK_C2C0),
	GRACE_IO_EVENTS(PMU_GRACE_NVLINK_C2C1),
	GRACE_IO_EVENTS(PMU_GRACE_CNVLINK),

	{ PMU_UNKNOWN, "cycles", EVENT_CYCLES, CYCLES, "cycles of the device's clock", CSPMU },
};
/* clang-format on */
const size_t nr_event_rows = ARRAY_SIZE(event_rows);

static bool match_event(const char *pattern, const char *name)
{
	while (*pattern) {
		if (!strncmp(pattern, "<s>", 3)) {
			if (*name < '0' || *name > '3')
				return false;
			pattern += 3;
			name++;
		} else if (*pattern++ != *name++) {
			return false;
		}
	}
	return !*name;
}

const struct event_row *event_row_find(enum pmu_kind kind, const char *name)
{
	for (size_t i = 0; i < nr_event_rows; i++) {
		if (event_rows[i].kind == kind && match_event(event_rows[i].name, name))
			return &event_rows[i];
	}
	return NULL;
}

NAMES(event_unit_name, enum event_unit, [EVENT_CYCLES] = "cycles", [EVENT_REQUESTS] = "requests",
      [EVENT_BYTES] = "bytes", [EVENT_BEATS] = "beats", [EVENT_OUTSTANDING] = "outstanding")

int event_on_socket(const char *name, int32_t socket, char *ret, size_t size)
{
	static const char place[] = "<s>";
	const char *at = strstr(name, place);
	int before = at ? at - name : (int)strlen(name);
	const char *behind = at ? at + strlen(place) : "";
	char number[16] = "";

	if (at)
		snprintf(number, sizeof(number), "%d", socket);
	if (before + strlen(number) + strlen(behind) >= size)
		return -ENAMETOOLONG;
	snprintf(ret, size, "%.*s%s%s", before, name, number, behind);
	return 0;
}
