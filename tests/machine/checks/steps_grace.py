#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only
"""Steps for the Grace shape, with traffic/scenarios/grace.conf."""
from expect import Step, rate, total
from steps_t410 import load

SCF, SCF1 = "nvidia_scf_pmu_0/", "nvidia_scf_pmu_1/"
PCIE, PCIE1 = "nvidia_pcie_pmu_0/", "nvidia_pcie_pmu_1/"
C2C0, C2C1 = "nvidia_nvlink_c2c0_pmu_0/", "nvidia_nvlink_c2c1_pmu_0/"
CNVLINK, CNVLINK1 = "nvidia_cnvlink_pmu_0/", "nvidia_cnvlink_pmu_1/"

STEPS = [
    # the units of the fabric's data events are beats of 32 bytes, lines of 64, or bytes
    Step("scf-reads", "around", [
        (SCF + "socket_0_rd_data/", total("beats", 0)), (SCF + "socket_0_rd_access/", total("requests", 0)),
        (SCF + "socket_0_rd_outstanding/", total("outstanding", 0)), (SCF + "cmem_rd_data/", total("beats", 0)),
        (SCF + "socket_1_rd_data/", total("beats", 4)), (SCF + "remote_socket_rd_data/", total("beats", 4)),
        (SCF + "gmem_rd_data/", total("beats", 5)), (SCF1 + "cmem_rd_access/", total("requests", 4)),
        (SCF1 + "socket_1_rd_data/", total("beats"))],
        "; ".join(load(f"--slot {n} --rate {1234567 + n}", 0.2) for n in (0, 4, 5))),
    Step("scf-writes", "around", [
        (SCF + "socket_0_wb_data/", total("beats", 1)), (SCF + "socket_0_wb_access/", total("lines", 1)),
        (SCF + "socket_0_wr_data/", total("bytes", 3)), (SCF + "socket_0_wr_access/", total("requests", 3)),
        (SCF + "cmem_wr_total_bytes/", total("bytes", 1, 3)), (SCF + "socket_0_rd_data/", total("beats"))],
        "; ".join(load(f"--slot {n} --rate {777777 + n}", 0.2) for n in (1, 3))),
    Step("pcie", "around", [
        (PCIE + "rd_bytes_loc/", total("bytes", 8, 10)), (PCIE + "rd_bytes_loc,root_port=0x100/", total("bytes", 8)),
        (PCIE + "rd_req_loc,root_port=0x4/", total("requests", 10)), (PCIE + "wr_bytes_rem/", total("bytes", 9)),
        (PCIE + "rd_cum_outs_loc,root_port=0x100/", total("outstanding", 8)), (PCIE + "wr_bytes_loc/", total("bytes")),
        (PCIE + "total_bytes_loc,root_port=0x104/", total("bytes", 8, 10))],
        "; ".join(load(f"--slot {n} --rate {555557 + n}", 0.2) for n in (8, 9, 10))),
    Step("links", "around", [
        (C2C0 + "rd_bytes_loc,port=0x1/", total("bytes", 12)), (C2C0 + "rd_cum_outs_loc/", total("outstanding", 12)),
        (C2C0 + "wr_bytes_loc,port=0x2/", total("bytes", 13)), (C2C0 + "wr_bytes_loc,port=0x1/", total("bytes")),
        (C2C1 + "rd_bytes_rem,port=0x2/", total("bytes", 14)), (C2C1 + "rd_req_rem/", total("requests", 14)),
        (CNVLINK + "rd_bytes_loc,rem_socket=0x2/", total("bytes", 16)), (CNVLINK + "rd_bytes_loc,rem_socket=0x1/", total("bytes")),
        (CNVLINK1 + "wr_bytes_loc,rem_socket=0x8/", total("bytes", 17))],
        "; ".join(load(f"--slot {n} --rate {333333 + n}", 0.15) for n in (12, 13, 14, 16, 17))),
    Step("steady", "count 0.4", [
        (PCIE1 + "rd_bytes_loc,root_port=0x1/", rate(2e9)), (PCIE1 + "rd_bytes_loc,root_port=0x3fe/", rate(0)),
        (PCIE1 + "cycles/", rate(2e9)), (SCF + "cycles/", rate(3.2e9)), (SCF + "bus_cycles/", rate(3.2e9))]),
]
