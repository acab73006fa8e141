// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* The rows alone: a test of another machine brings rows of its own instead. */
#include "tables/counter_rows.h"

#include "base/array.h"
#include "tables/events.h"

#define UCF_DOC "T410 PMU guide, UCF; driver nvidia_cspmu.c"
#define SCF_DOC "Grace performance tuning guide, SCF; driver nvidia_cspmu.c"

#define BOTH	(COUNTERS_SUMS | COUNTERS_DESTINATION)

/* An event in both directions */
#define UCF(in, by, from, to)                            \
	UCF_ROW(in, by, from, to, READ, "mem_bytes_rd"), \
		UCF_ROW(in, by, from, to, WRITE, "mem_bytes_wr")
#define UCF_ROW(in, by, from, to, which, name)                                   \
	{                                                                        \
		.kind = PMU_UCF, .sets = (in), .event = (name), .filters = (by), \
		.source = SOURCE_##from, .direction = DIRECTION_##which,         \
		.destination = DESTINATION_##to, .scale = 1, .doc = UCF_DOC,     \
	}
#define SCF(name, which, to, bytes, may_lack)                                              \
	{                                                                                  \
		.kind = PMU_GRACE_SCF, .sets = BOTH, .event = (name), .filters = "",       \
		.source = SOURCE_CPU, .direction = DIRECTION_##which,                      \
		.destination = DESTINATION_##to, .scale = (bytes), .optional = (may_lack), \
		.doc = SCF_DOC,                                                            \
	}

/*
 * What a memory controller moved, in lines of 64 bytes, whoever it was for. Where sysfs has no such
 * event, the terms are needed; where it has one, a test compares the two.
 */
#define DRAM_LINE 64
#define DRAM_ROW(pmu, which, name, code, of, written)                                       \
	{                                                                                   \
		.kind = (pmu), .sets = BOTH, .event = (name), .terms = (code), .sum = (of), \
		.filters = "", .source = SOURCE_ANY, .direction = DIRECTION_##which,        \
		.destination = DESTINATION_CMEM, .scale = DRAM_LINE, .doc = (written),      \
	}
#define DRAM(pmu, written, reads, read_terms, writes, write_terms) \
	DRAM_ROW(pmu, READ, reads, read_terms, NULL, written),     \
		DRAM_ROW(pmu, WRITE, writes, write_terms, NULL, written)
#define CAS(pmu, written, read_terms, write_terms) \
	DRAM(pmu, written, "cas_count_read", read_terms, "cas_count_write", write_terms)
/* Each channel has two halves */
#define CAS_HALF(half, code)                                                                 \
	DRAM_ROW(PMU_GNR_IMC, READ, "cas_count_read_sch" half, code ",umask=0xcf",           \
		 "cas_count_read", SNBEP "gnr_uncore_imc_events"),                           \
		DRAM_ROW(PMU_GNR_IMC, WRITE, "cas_count_write_sch" half, code ",umask=0xf0", \
			 "cas_count_write", SNBEP "gnr_uncore_imc_events")
#define SNBEP "Linux 6.12 arch/x86/events/intel/uncore_snbep.c "
#define SNB   "Linux 6.12 arch/x86/events/intel/uncore_snb.c "
#define UMC   "Linux 6.12 tools/perf/pmu-events/arch/x86/amdzen4, amdzen5: memory-controller.json"

/*
 * T410: bytes that left the system level cache for memory, by who started them. Filters
 * of one event are disjoint, so that the three sources add up to the socket, and the four
 * destinations of a source to the source.
 *
 * Grace: bytes between the CPUs of the socket and memory. Of the own memory the counters
 * by home socket are taken: those that begin with "cmem_" have traffic of other sockets'
 * CPUs, which is in their own counters already. Write-backs and other writes of the own
 * memory are two events; of other memory the total has both.
 *
 * Others: all that the memory controllers of the socket moved.
 */
const struct counter_row counter_rows[] = {
	UCF(COUNTERS_SUMS, "src_loc_cpu=1", CPU, ANY),
	UCF(COUNTERS_DESTINATION, "src_loc_cpu=1,dst_loc_cmem=1", CPU, CMEM),
	UCF(COUNTERS_DESTINATION, "src_loc_cpu=1,dst_loc_gmem=1", CPU, GMEM),
	UCF(COUNTERS_DESTINATION, "src_loc_cpu=1,dst_loc_other=1", CPU, CXL),
	UCF(COUNTERS_DESTINATION, "src_loc_cpu=1,dst_rem=1", CPU, REMOTE),
	UCF(BOTH, "src_loc_noncpu=1", DEVICE, ANY),
	UCF(BOTH, "src_rem=1", REMOTE, ANY),
	SCF("socket_<s>_rd_data", READ, CMEM, EVENT_BEAT_BYTES, false),
	SCF("socket_<s>_wb_data", WRITE, CMEM, EVENT_BEAT_BYTES, false),
	SCF("socket_<s>_wr_data", WRITE, CMEM, 1, false),
	SCF("gmem_rd_data", READ, GMEM, EVENT_BEAT_BYTES, true),
	SCF("gmem_wr_total_bytes", WRITE, GMEM, 1, true),
	SCF("remote_socket_rd_data", READ, REMOTE, EVENT_BEAT_BYTES, true),
	SCF("remote_socket_wr_total_bytes", WRITE, REMOTE, 1, true),
	CAS(PMU_SKX_IMC, SNBEP "hswep_uncore_imc_events", "event=0x4,umask=0x3",
	    "event=0x4,umask=0xc"),
	DRAM(PMU_ICX_IMC_FREE, SNBEP "icx_uncore_imc_freerunning_events", "read",
	     "event=0xff,umask=0x20", "write", "event=0xff,umask=0x21"),
	CAS(PMU_ICX_IMC, SNBEP "snr_uncore_imc_events", "event=0x4,umask=0xf",
	    "event=0x4,umask=0x30"),
	CAS(PMU_SPR_IMC, SNBEP "spr_uncore_imc_events", "event=0x5,umask=0xcf",
	    "event=0x5,umask=0xf0"),
	CAS_HALF("0", "event=0x5"),
	CAS_HALF("1", "event=0x6"),
	DRAM(PMU_CLIENT_IMC, SNB "snb_uncore_imc_events", "data_reads", "event=0x1", "data_writes",
	     "event=0x2"),
	DRAM(PMU_CLIENT_IMC_FREE, SNB "tgl_uncore_imc_events", "data_read", "event=0xff,umask=0x20",
	     "data_write", "event=0xff,umask=0x30"),
	DRAM(PMU_AMD_UMC, UMC, "umc_cas_cmd.rd", "event=0xa,rdwrmask=0x1", "umc_cas_cmd.wr",
	     "event=0xa,rdwrmask=0x2"),
};
const size_t nr_counter_rows = ARRAY_SIZE(counter_rows);
