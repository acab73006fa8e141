# SPDX-License-Identifier: GPL-2.0-only
"""Where things are: the numbers of plugin/machine.h, for the guest's tables."""

PAGE = 0x1000
PMU_BASE = 0x0E00_0000
PMU_SOCKET_STRIDE = 0x40_0000
FABRIC = 0x00_0000
PCIE, PCIE_STRIDE = 0x01_0000, 0x2000
TGT, TGT_STRIDE = 0x04_0000, 0x4000
CMEM = 0x10_0000
NVLINK, NVCLINK, NVDLINK = 0x12_0000, 0x14_0000, 0x16_0000

RCS_PER_SOCKET = 6          # T410

DRAM = 0x00_0000            # memory controllers of AmpereOne and Kunpeng
MCU_STRIDE, MCUS_PER_SOCKET = 0x2000, 8
DDRC_STRIDE, DDRCS_PER_SOCKET = 0x1000, 8

ECAM_BASE = 0x200_0000_0000
ECAM_SEGMENT = 1 << 28

# Overflow interrupts: shared peripheral interrupts from FIRST_SPI on. Tables
# number interrupts as the GIC does, where the first 32 belong to the CPUs.
FIRST_SPI = 192
SPI_TO_GSI = 32


def socket_base(socket):
    return PMU_BASE + socket * PMU_SOCKET_STRIDE
