// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Memory controllers of other vendors: what each of them reads and writes. Bytes per count are
 * those of counter_rows.c, and the source of the formulas is said there.
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
	BOTH(YITIAN, PMU_ALI_DRW, "yitian710.drw", "hif_rd * 64", "(hif_wr + hif_rmw) * 64"),
};
/* clang-format on */
const size_t nr_metric_rows_controllers = ARRAY_SIZE(metric_rows_controllers);
