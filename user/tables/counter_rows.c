// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Only rows: a test of another machine replaces them with its own. */
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
 * All lines of 64 bytes that a memory controller moved, for any originator. The terms are needed
 * where sysfs has no such event; where it has one, a test compares the two.
 */
#define DRAM_LINE 64
#define DRAM_ROW(pmu, which, name, code, of, bytes, written)                                \
	{                                                                                   \
		.kind = (pmu), .sets = BOTH, .event = (name), .terms = (code), .sum = (of), \
		.filters = "", .source = SOURCE_ANY, .direction = DIRECTION_##which,        \
		.destination = DESTINATION_CMEM, .scale = (bytes), .doc = (written),        \
	}
#define DRAM(pmu, written, reads, read_terms, writes, write_terms)        \
	DRAM_ROW(pmu, READ, reads, read_terms, NULL, DRAM_LINE, written), \
		DRAM_ROW(pmu, WRITE, writes, write_terms, NULL, DRAM_LINE, written)
/* HiSilicon counts half lines */
#define FLUX(pmu, reads, writes)                                                   \
	DRAM_ROW(pmu, READ, "flux_rd", "event=" reads, NULL, DRAM_LINE / 2, HISI), \
		DRAM_ROW(pmu, WRITE, "flux_wr", "event=" writes, NULL, DRAM_LINE / 2, HISI)
#define CAS(pmu, written, read_terms, write_terms) \
	DRAM(pmu, written, "cas_count_read", read_terms, "cas_count_write", write_terms)
/* Each channel has two halves */
#define CAS_HALF(half, code)                                                                 \
	DRAM_ROW(PMU_GNR_IMC, READ, "cas_count_read_sch" half, code ",umask=0xcf",           \
		 "cas_count_read", DRAM_LINE, SNBEP "gnr_uncore_imc_events"),                \
		DRAM_ROW(PMU_GNR_IMC, WRITE, "cas_count_write_sch" half, code ",umask=0xf0", \
			 "cas_count_write", DRAM_LINE, SNBEP "gnr_uncore_imc_events")
/*
 * Reads and writes together. The DF has four counters for eight channels: events that count at the
 * same time are added up.
 */
#define CHANNEL(n, code, of)                                                                     \
	DRAM_ROW(PMU_ZEN2_DF, READWRITE, "dram_channel_data_controller_" #n, code ",umask=0x38", \
		 "dram_channel_data_" of, DRAM_LINE, DF)
#define DF  "Linux 6.12 tools/perf/pmu-events/arch/x86/amdzen2, amdzen3: data-fabric.json"
/* The kernel gives no bytes */
#define CMN "Linux 6.12 drivers/perf/arm-cmn.c; bytes: the line of the mesh's cache"
/*
 * A count is 2^-32 J, independent of the hardware's own unit: 1953125 / 2^23 nJ. The package
 * excludes memory, but includes cores and graphics. Many machines have no memory counter.
 */
#define ENERGY(name)                                                                             \
	{                                                                                        \
		.kind = PMU_POWER, .sets = BOTH, .event = (name), .filters = "",                 \
		.source = SOURCE_ANY, .direction = DIRECTION_READWRITE, .unit = UNIT_NANOJOULES, \
		.scale = 1953125, .counts = 1u << 23, .optional = true, .doc = RAPL,             \
	}
#define RAPL  "Linux 6.12 arch/x86/events/rapl.c"
#define SNBEP "Linux 6.12 arch/x86/events/intel/uncore_snbep.c "
#define SNB   "Linux 6.12 arch/x86/events/intel/uncore_snb.c "
/* The kernel gives no bytes for these three; other sources do */
#define MCU                                                                              \
	"Linux 6.12 drivers/perf/arm_cspmu/ampere_cspmu.c; bytes: a burst of DDR5, and " \
	"scripts of users"
#define DMC620 "Linux 6.12 drivers/perf/arm_dmc620_pmu.c; mask, match and bytes: scripts of users"
#define HISI                                                         \
	"Linux 6.12 drivers/perf/hisilicon/hisi_uncore_ddrc_pmu.c; " \
	"bytes: metrics of openEuler's kernel, hip09/sys/uncore-ddrc.json"
#define DRW "Linux 6.12 tools/perf/pmu-events/arch/arm64/thead/yitian710/sys/metrics.json"
#define UMC "Linux 6.12 tools/perf/pmu-events/arch/x86/amdzen4, amdzen5: memory-controller.json"

/*
 * Parts: data from the devices of a PCIe stack is a write to memory, or an answer to a CPU; data to
 * them is a read from memory, or a write by a CPU. Nine flits of a UPI link have 64 bytes of data.
 */
#define PART(of, pmu, which, name, code, in, of_bytes, of_counts, written)                        \
	{                                                                                         \
		.kind = (pmu), .sets = COUNTERS_PARTS, .event = (name), .terms = (code),          \
		.sum = (in), .filters = "", .source = SOURCE_ANY, .direction = DIRECTION_##which, \
		.destination = DESTINATION_ANY, .scale = (of_bytes), .counts = (of_counts),       \
		.part = PART_##of, .doc = (written),                                              \
	}
#define PORT(of, pmu, n, bytes, array)                                                      \
	PART(of, pmu, WRITE, "bw_in_port" #n, "event=0xff,umask=0x2" #n, "bw_in", bytes, 1, \
	     SNBEP array)
#define PORTS_0_3(of, pmu, bytes, array)                                \
	PORT(of, pmu, 0, bytes, array), PORT(of, pmu, 1, bytes, array), \
		PORT(of, pmu, 2, bytes, array), PORT(of, pmu, 3, bytes, array)
/* On chips with CHAs, which count what reached memory, this is shown beside */
#define PORTS_0_7(pmu)                                                                      \
	PORTS_0_3(PORTS, pmu, 32, PORT_EVENTS), PORT(PORTS, pmu, 4, 32, PORT_EVENTS),       \
		PORT(PORTS, pmu, 5, 32, PORT_EVENTS), PORT(PORTS, pmu, 6, 32, PORT_EVENTS), \
		PORT(PORTS, pmu, 7, 32, PORT_EVENTS)
#define PORT_EVENTS "snr_uncore_iio_freerunning_events"
#define SKX_OUT(n, code)                                                                          \
	PART(DEVICES, PMU_SKX_IIO, READ, "bw_out_port" #n, "event=0xff,umask=" code, "bw_out", 4, \
	     1, SNBEP "skx_uncore_iio_freerunning_events")
#define FLITS(pmu)                                                                              \
	PART(LINKS, pmu, READ, "rxl_flits.all_data", "event=0x3,umask=0xf", NULL, DRAM_LINE, 9, \
	     UPI),                                                                              \
		PART(LINKS, pmu, WRITE, "txl_flits.all_data", "event=0x2,umask=0xf", NULL,      \
		     DRAM_LINE, 9, UPI)

/*
 * The home agents of a socket's memory: requests of its own CPUs and devices, and of other sockets.
 * They are lines; caches of other sockets may have answered some.
 */
#define HOME(of, pmu, which, name, code) \
	PART(of, pmu, which, name, "event=0x50,umask=" code, NULL, DRAM_LINE, 1, CHA)
#define REQUESTS(pmu)                                                    \
	HOME(LOCAL, pmu, READ, "requests.reads_local", "0x1"),           \
		HOME(REMOTE, pmu, READ, "requests.reads_remote", "0x2"), \
		HOME(LOCAL, pmu, WRITE, "requests.writes_local", "0x4"), \
		HOME(REMOTE, pmu, WRITE, "requests.writes_remote", "0x8")
/* Device reads that missed all caches; writes of whole lines, and of parts of one */
#define IO_MISS(pmu, which, name, code, in)                                                        \
	PART(DEVICES, pmu, which, "tor_inserts." name, "event=0x35,umask=" code, in, DRAM_LINE, 1, \
	     CHA)
#define DEVICE_MISSES(pmu)                                                                \
	IO_MISS(pmu, READ, "io_miss_pcirdcur", "0xc8f3fe04", NULL),                       \
		IO_MISS(pmu, WRITE, "io_miss_itom", "0xcc43fe04", "tor_inserts.io_miss"), \
		IO_MISS(pmu, WRITE, "io_miss_itomcachenear", "0xcd43fe04", "tor_inserts.io_miss")
#define CHA "Linux 6.12 tools/perf/pmu-events/arch/x86: uncore-cache.json, llc_miss_*_memory_*"
#define UPI "Linux 6.12 tools/perf/pmu-events/arch/x86: uncore-interconnect.json, upi_data_*_bw"

/*
 * AMD's data fabric: beats of 64 bytes at each of the 12 memory channels by the requesting socket,
 * at each IO hub device reads and writes of the own socket's memory, and at each link the bytes
 * sent. The next channel, hub or link is 0x40 further. Zen 4 has no event for received bytes. Zen 5
 * counts reads of both sockets together only: no part.
 */
#define BEATS(of, pmu, which, name, n, code, umask, written)                                 \
	PART(of, pmu, which, name #n, "event=" code ",umask=" umask, name "*", DRAM_LINE, 1, \
	     written)
#define CHANNELS(of, pmu, which, name, umask, written)                    \
	BEATS(of, pmu, which, name, 0, "0x1f", umask, written),           \
		BEATS(of, pmu, which, name, 1, "0x5f", umask, written),   \
		BEATS(of, pmu, which, name, 2, "0x9f", umask, written),   \
		BEATS(of, pmu, which, name, 3, "0xdf", umask, written),   \
		BEATS(of, pmu, which, name, 4, "0x11f", umask, written),  \
		BEATS(of, pmu, which, name, 5, "0x15f", umask, written),  \
		BEATS(of, pmu, which, name, 6, "0x19f", umask, written),  \
		BEATS(of, pmu, which, name, 7, "0x1df", umask, written),  \
		BEATS(of, pmu, which, name, 8, "0x21f", umask, written),  \
		BEATS(of, pmu, which, name, 9, "0x25f", umask, written),  \
		BEATS(of, pmu, which, name, 10, "0x29f", umask, written), \
		BEATS(of, pmu, which, name, 11, "0x2df", umask, written)
#define HUBS_0_3(pmu, which, name, umask, written)                            \
	BEATS(DEVICES, pmu, which, name, 0, "0x81f", umask, written),         \
		BEATS(DEVICES, pmu, which, name, 1, "0x85f", umask, written), \
		BEATS(DEVICES, pmu, which, name, 2, "0x89f", umask, written), \
		BEATS(DEVICES, pmu, which, name, 3, "0x8df", umask, written)
#define HUBS_0_7(pmu, which, name, umask, written)                            \
	HUBS_0_3(pmu, which, name, umask, written),                           \
		BEATS(DEVICES, pmu, which, name, 4, "0x91f", umask, written), \
		BEATS(DEVICES, pmu, which, name, 5, "0x95f", umask, written), \
		BEATS(DEVICES, pmu, which, name, 6, "0x99f", umask, written), \
		BEATS(DEVICES, pmu, which, name, 7, "0x9df", umask, written)
#define LINKS_OF_4(name)                                                          \
	BEATS(LINKS, PMU_ZEN4_DF, WRITE, name, 0, "0xb5f", "0xf3e", DF4),         \
		BEATS(LINKS, PMU_ZEN4_DF, WRITE, name, 1, "0xb9f", "0xf3e", DF4), \
		BEATS(LINKS, PMU_ZEN4_DF, WRITE, name, 2, "0xbdf", "0xf3e", DF4), \
		BEATS(LINKS, PMU_ZEN4_DF, WRITE, name, 3, "0xc1f", "0xf3e", DF4), \
		BEATS(LINKS, PMU_ZEN4_DF, WRITE, name, 4, "0xc5f", "0xf3e", DF4), \
		BEATS(LINKS, PMU_ZEN4_DF, WRITE, name, 5, "0xc9f", "0xf3e", DF4), \
		BEATS(LINKS, PMU_ZEN4_DF, WRITE, name, 6, "0xcdf", "0xf3e", DF4), \
		BEATS(LINKS, PMU_ZEN4_DF, WRITE, name, 7, "0xd1f", "0xf3e", DF4)
#define LINKS_OF_5(which, name, umask)                                          \
	BEATS(LINKS, PMU_ZEN5_DF, which, name, 0, "0xd5f", umask, DF5),         \
		BEATS(LINKS, PMU_ZEN5_DF, which, name, 1, "0xd9f", umask, DF5), \
		BEATS(LINKS, PMU_ZEN5_DF, which, name, 2, "0xddf", umask, DF5), \
		BEATS(LINKS, PMU_ZEN5_DF, which, name, 3, "0xe1f", umask, DF5), \
		BEATS(LINKS, PMU_ZEN5_DF, which, name, 4, "0xe5f", umask, DF5), \
		BEATS(LINKS, PMU_ZEN5_DF, which, name, 5, "0xe9f", umask, DF5)
#define DF4 "Linux 6.12 tools/perf/pmu-events/arch/x86/amdzen4/data-fabric.json"
#define DF5 "Linux 7.2 tools/perf/pmu-events/arch/x86/amdzen5/data-fabric.json"

/* The port sends the data of device reads of memory and of CPU writes to devices. */
#define DWC_PORT(which, name, code)                                           \
	PART(DEVICES, PMU_DWC_PORT, which, name, "eventid=" code, NULL, 1, 1, \
	     "Linux 6.12 drivers/perf/dwc_pcie_pmu.c, which multiplies units of 16 bytes")
/* Some devices lack some of these events; a partial write takes a line, too. */
#define CXL_LINES(which, name, code, in)                                                          \
	{                                                                                         \
		.kind = PMU_CXL, .sets = COUNTERS_PARTS, .event = (name), .terms = (code),        \
		.sum = (in), .filters = "", .source = SOURCE_ANY, .direction = DIRECTION_##which, \
		.destination = DESTINATION_CXL, .scale = DRAM_LINE, .part = PART_CXL,             \
		.optional = true,                                                                 \
		.doc = "Linux 6.12 drivers/perf/cxl_pmu.c; bytes: the data slots of CXL.mem",     \
	}

/*
 * T410: bytes that left the system level cache for memory, by originator. Filters of one event are
 * disjoint, so that the three sources add up to the socket, and the four destinations of a source
 * to the source.
 *
 * Grace: bytes between the CPUs of the socket and memory. For the own memory the counters by home
 * socket are used: those that begin with "cmem_" include traffic of other sockets' CPUs, which is
 * in their own counters already. Write-backs and other writes of the own memory are two events; for
 * other memory one event counts both.
 *
 * Other chips: all bytes that the socket's memory controllers moved.
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
	DRAM(PMU_AMPERE_MCU, MCU, "rd_rda_sent", "event=0xf", "wr_wra_sent", "event=0x10"),
	DRAM(PMU_ARM_DMC620, DMC620, "clkdiv2_rdwr.rd", "event=0x12,clkdiv2=1,mask=1,match=0",
	     "clkdiv2_rdwr.wr", "event=0x12,clkdiv2=1,mask=1,match=1"),
	FLUX(PMU_HISI_DDRC, "0x1", "0x0"),
	FLUX(PMU_HISI_DDRC_SUB, "0x84", "0x83"),
	DRAM_ROW(PMU_ALI_DRW, READ, "hif_rd", "event=0x2", NULL, DRAM_LINE, DRW),
	DRAM_ROW(PMU_ALI_DRW, WRITE, "hif_wr", "event=0x1", "hif_writes", DRAM_LINE, DRW),
	DRAM_ROW(PMU_ALI_DRW, WRITE, "hif_rmw", "event=0x3", "hif_writes", DRAM_LINE, DRW),
	DRAM_ROW(PMU_ARM_CMN, READWRITE, "hnf_mc_reqs", "type=0x5,eventid=0xd", NULL, DRAM_LINE,
		 CMN),
	CHANNEL(0, "event=0x7", "0_3"),
	CHANNEL(1, "event=0x47", "0_3"),
	CHANNEL(2, "event=0x87", "0_3"),
	CHANNEL(3, "event=0xc7", "0_3"),
	CHANNEL(4, "event=0x107", "4_7"),
	CHANNEL(5, "event=0x147", "4_7"),
	CHANNEL(6, "event=0x187", "4_7"),
	CHANNEL(7, "event=0x1c7", "4_7"),
	ENERGY("energy-pkg"),
	ENERGY("energy-ram"),
	PORTS_0_3(DEVICES, PMU_SKX_IIO, 4, "skx_uncore_iio_freerunning_events"),
	SKX_OUT(0, "0x24"),
	SKX_OUT(1, "0x25"),
	SKX_OUT(2, "0x26"),
	SKX_OUT(3, "0x27"),
	PORTS_0_7(PMU_ICX_IIO),
	PORTS_0_7(PMU_SPR_IIO),
	PORTS_0_7(PMU_GNR_IIO),
	FLITS(PMU_SKX_UPI),
	FLITS(PMU_ICX_UPI),
	FLITS(PMU_SPR_UPI),
	FLITS(PMU_GNR_UPI),
	REQUESTS(PMU_SKX_CHA),
	REQUESTS(PMU_ICX_CHA),
	REQUESTS(PMU_SPR_CHA),
	REQUESTS(PMU_GNR_CHA),
	DEVICE_MISSES(PMU_ICX_CHA),
	DEVICE_MISSES(PMU_SPR_CHA),
	DEVICE_MISSES(PMU_GNR_CHA),
	CHANNELS(LOCAL, PMU_ZEN4_DF, READ, "local_processor_read_data_beats_cs", "0x7fe", DF4),
	CHANNELS(LOCAL, PMU_ZEN4_DF, WRITE, "local_processor_write_data_beats_cs", "0x7ff", DF4),
	CHANNELS(REMOTE, PMU_ZEN4_DF, READ, "remote_processor_read_data_beats_cs", "0xbfe", DF4),
	CHANNELS(REMOTE, PMU_ZEN4_DF, WRITE, "remote_processor_write_data_beats_cs", "0xbff", DF4),
	HUBS_0_3(PMU_ZEN4_DF, READ, "local_socket_upstream_read_beats_iom", "0x7fe", DF4),
	HUBS_0_3(PMU_ZEN4_DF, WRITE, "local_socket_upstream_write_beats_iom", "0x7ff", DF4),
	LINKS_OF_4("local_socket_outbound_data_beats_link"),
	CHANNELS(LOCAL, PMU_ZEN5_DF, WRITE, "local_socket_write_data_beats_dram_", "0x7ff", DF5),
	CHANNELS(REMOTE, PMU_ZEN5_DF, WRITE, "remote_socket_write_data_beats_dram_", "0xbff", DF5),
	HUBS_0_7(PMU_ZEN5_DF, READ, "local_socket_upstream_read_data_beats_io_", "0x7fe", DF5),
	HUBS_0_7(PMU_ZEN5_DF, WRITE, "local_socket_upstream_write_data_beats_io_", "0x7ff", DF5),
	LINKS_OF_5(READ, "local_socket_inbound_data_beats_link_", "0xf3f"),
	LINKS_OF_5(WRITE, "local_socket_outbound_data_beats_link_", "0xf3e"),
	DWC_PORT(READ, "tx_pcie_tlp_data_payload", "0x20"),
	DWC_PORT(WRITE, "rx_pcie_tlp_data_payload", "0x21"),
	CXL_LINES(READ, "s2m_drs_memdata", "vid=0x1e98,gid=0x25,mask=0x1", NULL),
	CXL_LINES(WRITE, "m2s_rwd_memwr", "vid=0x1e98,gid=0x21,mask=0x2", "m2s_rwd"),
	CXL_LINES(WRITE, "m2s_rwd_memwrptl", "vid=0x1e98,gid=0x21,mask=0x4", "m2s_rwd"),
	DRAM(PMU_AMD_UMC, UMC, "umc_cas_cmd.rd", "event=0xa,rdwrmask=0x1", "umc_cas_cmd.wr",
	     "event=0xa,rdwrmask=0x2"),
};
const size_t nr_counter_rows = ARRAY_SIZE(counter_rows);
