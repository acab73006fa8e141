// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Reads and writes of other vendors' memory controllers. Bytes per count are those of
 * counter_rows.c, which also has the sources of the formulas.
 */
#include "base/array.h"
#include "tables/metrics.h"

#define ROWS "the same as counter_rows.c"

/* clang-format off */
#define ROW(chip, kind_, id_, title_, formula_)                                              \
	{ .platform = PMU_PLATFORM_##chip, .kind = kind_, .id = id_, .title = title_,           \
	  .unit = "GB/s", .formula = formula_ " / duration_ns", .from = "all sources",          \
	  .to = "CPU memory", .derived = true, .by_default = true, .source = ROWS }
#define BOTH(chip, kind, name, reads, writes)                                                \
	ROW(chip, kind, name ".read_bandwidth", "Read bandwidth", reads),                       \
	ROW(chip, kind, name ".write_bandwidth", "Write bandwidth", writes)

#define CHANNELS(a, b, c, d)                                                                 \
	CHANNEL(a) " + " CHANNEL(b) " + " CHANNEL(c) " + " CHANNEL(d)
#define CHANNEL(n) "dram_channel_data_controller_" n

/* Parts of the traffic, counted at the ports of a PCIe stack and at links */
#define PART(chip, kind_, id_, title_, formula_, from_, to_)                                 \
	{ .platform = PMU_PLATFORM_##chip, .kind = kind_, .id = id_, .title = title_,           \
	  .unit = "GB/s", .formula = formula_ " / duration_ns", .from = from_, .to = to_,       \
	  .derived = true, .by_default = true, .source = ROWS }
#define PORTS(way) "bw_" way "_port0 + bw_" way "_port1 + bw_" way "_port2 + bw_" way "_port3"
#define IN4(chip, kind, id, title, way, bytes, from, to)                                     \
	PART(chip, kind, id, title, "(" PORTS(way) ") * " bytes, from, to)
#define IN8(chip, kind, name)                                                                \
	PART(chip, kind, name ".iio_free.in_bandwidth", "Data from devices",                    \
	     "(" PORTS("in") " + bw_in_port4 + bw_in_port5 + bw_in_port6 + bw_in_port7) * 32",  \
	     "devices and answers to CPUs", "the socket")
#define LINK(chip, kind, name)                                                               \
	PART(chip, kind, name ".upi.receive_bandwidth", "Data received",                        \
	     "rxl_flits.all_data * 64 / 9", "the other socket", "the socket"),                  \
	PART(chip, kind, name ".upi.send_bandwidth", "Data sent",                               \
	     "txl_flits.all_data * 64 / 9", "the socket", "the other socket")
/* Home agents: requesters of the socket's memory */
#define HOME(chip, kind, name)                                                               \
	PART(chip, kind, name ".cha.own_read_bandwidth", "Reads by the own socket",             \
	     "requests.reads_local * 64", "the socket", "CPU memory"),                          \
	PART(chip, kind, name ".cha.own_write_bandwidth", "Writes by the own socket",           \
	     "requests.writes_local * 64", "the socket", "CPU memory"),                         \
	PART(chip, kind, name ".cha.other_read_bandwidth", "Reads by other sockets",            \
	     "requests.reads_remote * 64", "other sockets", "CPU memory"),                      \
	PART(chip, kind, name ".cha.other_write_bandwidth", "Writes by other sockets",          \
	     "requests.writes_remote * 64", "other sockets", "CPU memory")
#define DEVICE_MISSES(chip, kind, name)                                                      \
	PART(chip, kind, name ".cha.device_read_bandwidth", "Reads by devices, no cache had it", \
	     "tor_inserts.io_miss_pcirdcur * 64", "devices", "CPU memory"),                     \
	PART(chip, kind, name ".cha.device_write_bandwidth", "Writes by devices, no cache had it", \
	     "(tor_inserts.io_miss_itom + tor_inserts.io_miss_itomcachenear) * 64", "devices",  \
	     "CPU memory")
/* AMD's data fabric: hubs and links by their numbers */
#define SUM4(beats, a, b, c, d) beats a " + " beats b " + " beats c " + " beats d
#define SUM6(beats) SUM4(beats, "0", "1", "2", "3") " + " beats "4 + " beats "5"
#define SUM8(beats) SUM4(beats, "0", "1", "2", "3") " + " SUM4(beats, "4", "5", "6", "7")
#define HUBS(chip, kind, id, title, sum)                                                     \
	PART(chip, kind, id, title, "(" sum ") * 64", "devices", "CPU memory")

/* Nanojoules in a nanosecond are watts */
#define POWER(id_, title_, event)                                                            \
	{ .platform = PMU_PLATFORM_UNKNOWN, .kind = PMU_POWER, .id = id_, .title = title_,      \
	  .unit = "W", .formula = "'" event "' * 1953125 / 8388608 / duration_ns", .from = "",  \
	  .to = "", .derived = true, .by_default = true, .source = ROWS }

const struct metric_row metric_rows_controllers[] = {
	BOTH(SKX, PMU_SKX_IMC, "xeon-to-skylake.imc", "cas_count_read * 64", "cas_count_write * 64"),
	BOTH(ICX, PMU_ICX_IMC_FREE, "xeon-icelake.imc_free", "read * 64", "write * 64"),
	BOTH(ICX, PMU_ICX_IMC, "xeon-icelake.imc", "cas_count_read * 64", "cas_count_write * 64"),
	BOTH(SPR, PMU_SPR_IMC, "xeon-sapphire.imc", "cas_count_read * 64", "cas_count_write * 64"),
	BOTH(GNR, PMU_GNR_IMC, "xeon-granite.imc",
	     "(cas_count_read_sch0 + cas_count_read_sch1) * 64",
	     "(cas_count_write_sch0 + cas_count_write_sch1) * 64"),
	BOTH(CLIENT, PMU_CLIENT_IMC, "intel-client.imc", "data_reads * 64", "data_writes * 64"),
	BOTH(CLIENT, PMU_CLIENT_IMC_FREE, "intel-client.imc_free", "data_read * 64", "data_write * 64"),
	BOTH(ZEN, PMU_AMD_UMC, "amd-zen.umc", "umc_cas_cmd.rd * 64", "umc_cas_cmd.wr * 64"),
	BOTH(AMPEREONE, PMU_AMPERE_MCU, "ampereone.mcu", "rd_rda_sent * 64", "wr_wra_sent * 64"),
	BOTH(DMC620, PMU_ARM_DMC620, "arm-dmc620.dmc620", "clkdiv2_rdwr.rd * 64", "clkdiv2_rdwr.wr * 64"),
	BOTH(KUNPENG, PMU_HISI_DDRC, "kunpeng.ddrc", "flux_rd * 32", "flux_wr * 32"),
	BOTH(KUNPENG, PMU_HISI_DDRC_SUB, "kunpeng.ddrc_sub", "flux_rd * 32", "flux_wr * 32"),
	IN4(SKX, PMU_SKX_IIO, "xeon-to-skylake.iio_free.in_bandwidth", "Data from devices", "in", "4", "devices and answers to CPUs", "the socket"),
	IN4(SKX, PMU_SKX_IIO, "xeon-to-skylake.iio_free.out_bandwidth", "Data to devices", "out", "4", "the socket", "devices"),
	IN8(ICX, PMU_ICX_IIO, "xeon-icelake"),
	IN8(SPR, PMU_SPR_IIO, "xeon-sapphire"),
	IN8(GNR, PMU_GNR_IIO, "xeon-granite"),
	LINK(SKX, PMU_SKX_UPI, "xeon-to-skylake"),
	LINK(ICX, PMU_ICX_UPI, "xeon-icelake"),
	LINK(SPR, PMU_SPR_UPI, "xeon-sapphire"),
	LINK(GNR, PMU_GNR_UPI, "xeon-granite"),
	HOME(SKX, PMU_SKX_CHA, "xeon-to-skylake"),
	HOME(ICX, PMU_ICX_CHA, "xeon-icelake"),
	HOME(SPR, PMU_SPR_CHA, "xeon-sapphire"),
	HOME(GNR, PMU_GNR_CHA, "xeon-granite"),
	DEVICE_MISSES(ICX, PMU_ICX_CHA, "xeon-icelake"),
	DEVICE_MISSES(SPR, PMU_SPR_CHA, "xeon-sapphire"),
	DEVICE_MISSES(GNR, PMU_GNR_CHA, "xeon-granite"),
	HUBS(ZEN, PMU_ZEN4_DF, "amd-zen.df.device_read_bandwidth", "Reads by devices",
	     SUM4("local_socket_upstream_read_beats_iom", "0", "1", "2", "3")),
	HUBS(ZEN, PMU_ZEN4_DF, "amd-zen.df.device_write_bandwidth", "Writes by devices",
	     SUM4("local_socket_upstream_write_beats_iom", "0", "1", "2", "3")),
	PART(ZEN, PMU_ZEN4_DF, "amd-zen.df.send_bandwidth", "Data sent",
	     "(" SUM8("local_socket_outbound_data_beats_link") ") * 64", "the socket", "the other socket"),
	HUBS(ZEN5, PMU_ZEN5_DF, "amd-zen5.df.device_read_bandwidth", "Reads by devices",
	     SUM8("local_socket_upstream_read_data_beats_io_")),
	HUBS(ZEN5, PMU_ZEN5_DF, "amd-zen5.df.device_write_bandwidth", "Writes by devices",
	     SUM8("local_socket_upstream_write_data_beats_io_")),
	PART(ZEN5, PMU_ZEN5_DF, "amd-zen5.df.receive_bandwidth", "Data received",
	     "(" SUM6("local_socket_inbound_data_beats_link_") ") * 64", "the other socket", "the socket"),
	PART(ZEN5, PMU_ZEN5_DF, "amd-zen5.df.send_bandwidth", "Data sent",
	     "(" SUM6("local_socket_outbound_data_beats_link_") ") * 64", "the socket", "the other socket"),
	PART(UNKNOWN, PMU_DWC_PORT, "dwc_port.send_bandwidth", "Data to devices", "tx_pcie_tlp_data_payload * 1", "the socket", "devices"),
	PART(UNKNOWN, PMU_DWC_PORT, "dwc_port.receive_bandwidth", "Data from devices", "rx_pcie_tlp_data_payload * 1", "devices", "the socket"),
	PART(UNKNOWN, PMU_CXL, "cxl.read_bandwidth", "Read bandwidth", "s2m_drs_memdata * 64", "all sources", "CXL memory"),
	PART(UNKNOWN, PMU_CXL, "cxl.write_bandwidth", "Write bandwidth", "m2s_rwd_memwr * 64", "all sources", "CXL memory"),
	ROW(CMN, PMU_ARM_CMN, "arm-cmn.cmn.bandwidth", "Reads and writes", "hnf_mc_reqs * 64"),
	ROW(ZEN2, PMU_ZEN2_DF, "amd-zen2.df.bandwidth_0_3", "Reads and writes, channels 0 to 3",
	    "(" CHANNELS("0", "1", "2", "3") ") * 64"),
	ROW(ZEN2, PMU_ZEN2_DF, "amd-zen2.df.bandwidth_4_7", "Reads and writes, channels 4 to 7",
	    "(" CHANNELS("4", "5", "6", "7") ") * 64"),
	BOTH(YITIAN, PMU_ALI_DRW, "yitian710.drw", "hif_rd * 64", "(hif_wr + hif_rmw) * 64"),
	POWER("power.package", "Power of the package", "energy-pkg"),
	POWER("power.memory", "Power of the memory", "energy-ram"),
};
/* clang-format on */
const size_t nr_metric_rows_controllers = ARRAY_SIZE(metric_rows_controllers);
