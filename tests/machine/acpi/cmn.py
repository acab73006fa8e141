# SPDX-License-Identifier: GPL-2.0-only
"""Arm CMN-700: one mesh for each socket, as an ACPI device with the interrupt of its controller."""
from layout import FIRST_SPI, PMU_SOCKET_STRIDE, SPI_TO_GSI, socket_base

CMN_HID = "ARMHC700"


def mesh(socket):
    """The node (_PXM) tells the driver which CPU may read it."""
    return f"""Device (CMN{socket})
{{
Name (_HID, "{CMN_HID}")
Name (_UID, {socket})
Name (_STA, 0xF)
Name (_PXM, {socket})
Name (_CRS, ResourceTemplate () {{
Memory32Fixed (ReadWrite, 0x{socket_base(socket):08X}, 0x{PMU_SOCKET_STRIDE:X})
Interrupt (ResourceConsumer, Level, ActiveHigh, Exclusive) {{ {FIRST_SPI + SPI_TO_GSI + socket} }}
}})
}}
"""


def devices(sockets):
    """ASL of the devices below \\_SB."""
    return "".join(mesh(s) for s in range(sockets))
