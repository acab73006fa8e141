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
 * T410: bytes that left the system level cache for memory, by who started them. Filters
 * of one event are disjoint, so that the three sources add up to the socket, and the four
 * destinations of a source to the source.
 *
 * Grace: bytes between the CPUs of the socket and memory. Of the own memory the counters
 * by home socket are taken: those that begin with "cmem_" have traffic of other sockets'
 * CPUs, which is in their own counters already. Write-backs and other writes of the own
 * memory are two events; of other memory the total has both.
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
};
const size_t nr_counter_rows = ARRAY_SIZE(counter_rows);
