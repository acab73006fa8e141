# SPDX-License-Identifier: GPL-2.0-only
"""Kunpeng 920: memory controllers as ACPI devices, with an interrupt each."""
from aml import DSD_PROPERTIES
from layout import (DDRC_STRIDE, DDRCS_PER_SOCKET, DRAM, FIRST_SPI, PAGE, SPI_TO_GSI,
                    socket_base)

DDRC_HID = "HISI0233"           # version 1


def ddrc(socket, channel, irq):
    """The driver looks for CPUs whose number has the die's (scl-id), in the third field of their
    affinity. QEMU numbers none so but die 0; for the others it takes a CPU of the node (_PXM)."""
    base = socket_base(socket) + DRAM + channel * DDRC_STRIDE
    return f"""Device (DC{socket}{channel})
{{
Name (_HID, "{DDRC_HID}")
Name (_UID, {socket * DDRCS_PER_SOCKET + channel})
Name (_STA, 0xF)
Name (_PXM, {socket})
Name (_CRS, ResourceTemplate () {{
Memory32Fixed (ReadWrite, 0x{base:08X}, 0x{PAGE:X})
Interrupt (ResourceConsumer, Level, ActiveHigh, Exclusive) {{ {irq} }}
}})
Name (_DSD, Package () {{ ToUUID ("{DSD_PROPERTIES}"), Package () {{
Package () {{ "hisilicon,scl-id", {socket} }}, Package () {{ "hisilicon,ch-id", {channel} }}
}} }})
}}
"""


def devices(sockets):
    """ASL of the devices below \\_SB, in the plugin's order, by which interrupts are numbered."""
    return "".join(
        ddrc(s, c, FIRST_SPI + SPI_TO_GSI + s * DDRCS_PER_SOCKET + c)
        for s in range(sockets) for c in range(DDRCS_PER_SOCKET))
