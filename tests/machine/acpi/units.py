# SPDX-License-Identifier: GPL-2.0-only
"""The PMUs: the APMT for CoreSight units, ACPI devices for the others."""
import struct

import ampereone
import cmn
import kunpeng
from aml import DSD_PROPERTIES, table
from layout import (CMEM, FABRIC, FIRST_SPI, NVCLINK, NVDLINK, NVLINK, PAGE, PCIE, PCIE_STRIDE,
                    RCS_PER_SOCKET, SPI_TO_GSI, TGT, TGT_STRIDE, socket_base)

# Hardware ids that the drivers look for
CMEM_HID, NVLINK_HID, NVCLINK_HID, NVDLINK_HID = "NVDA2021", "NVDA2023", "NVDA2022", "NVDA2020"
# The driver does not care about those of the PCIe units, so these are made up.
# It only follows them from the APMT node to the device that has the properties.
PCIE_HID, TGT_HID = "NVDA2F10", "NVDA2F11"

CMEM_INSTANCES, NVLINK_INSTANCES, NVCLINK_INSTANCES, NVDLINK_INSTANCES = 14, 14, 12, 16

# APMT nodes
FLAG_DUAL_PAGE, FLAG_CONTAINER_AFFINITY, FLAG_ATOMIC_64BIT = 1, 2, 4
NODE_ACPI_DEVICE, NODE_CACHE = 3, 4
IRQ_LEVEL = 0


def device_uid(socket, rc):
    """What an APMT node and its ACPI device have in common, besides the hid."""
    return socket * 16 + rc


def coresight_units(shape, sockets):
    """(type, hid, uid, base, socket) of each unit, in the plugin's order, on
    which the interrupt numbers depend."""
    if shape == "ampereone":
        yield from ampereone.coresight_units(sockets)
        return
    if shape in ("kunpeng", "cmn"):
        return
    for s in range(sockets):
        base = socket_base(s)
        yield NODE_CACHE, "", 0, base + FABRIC, s
        if shape == "grace":
            # PCIe, C2C0, C2C1, CNVLink. The driver names them by product alone.
            for n in range(4):
                yield NODE_CACHE, "", 0, base + PCIE + n * PCIE_STRIDE, s
            continue
        for rc in range(RCS_PER_SOCKET):
            uid = device_uid(s, rc)
            yield NODE_ACPI_DEVICE, PCIE_HID, uid, base + PCIE + rc * PCIE_STRIDE, s
            yield NODE_ACPI_DEVICE, TGT_HID, uid, base + TGT + rc * TGT_STRIDE, s


def apmt(shape, sockets, irq):
    """The table, or none where there are no CoreSight units."""
    nodes = bytearray()
    for n, (kind, hid, uid, base, socket) in enumerate(coresight_units(shape, sockets)):
        node = struct.pack(
            "<BBI8sIQQIIIII",
            FLAG_DUAL_PAGE | FLAG_CONTAINER_AFFINITY | FLAG_ATOMIC_64BIT, kind, n, hid.encode(),
            uid, base, base + PAGE,
            FIRST_SPI + n + SPI_TO_GSI if irq else 0, 0, IRQ_LEVEL,
            socket,             # _UID of the container with the unit's CPUs
            0)                  # implementer: as the unit's own register says
        nodes += struct.pack("<H", 2 + len(node)) + node
    return [table(b"APMT", 0, bytes(nodes))] if nodes else []


def device(name, hid, uid, pages=(), properties=()):
    lines = [f"Device ({name})", "{",
             f'Name (_HID, "{hid}")', f"Name (_UID, {uid})", "Name (_STA, 0xF)"]
    if pages:
        lines += ["Name (_CRS, ResourceTemplate () {"]
        lines += [f"Memory32Fixed (ReadWrite, 0x{page:08X}, 0x{PAGE:X})" for page in pages]
        lines += ["})"]
    if properties:
        packages = ", ".join(f'Package () {{ "{key}", 0x{value:X} }}' for key, value in properties)
        lines += [f'Name (_DSD, Package () {{ ToUUID ("{DSD_PROPERTIES}"), '
                  f"Package () {{ {packages} }} }})"]
    return "\n".join(lines) + "\n}\n"


def instance_pages(base, instances):
    """A page for each instance and the broadcast page after them."""
    return [base + n * PAGE for n in range(instances + 1)]


def all_of(instances):
    return (1 << instances) - 1


# Which instances of NVLink-C2C lead to whom, as firmware says it. With nobody
# there it says nothing and the driver gives up on the device; with the second
# GPU alone the driver counts one peer but looks for it in the first's place.
GPU0, GPU1 = ("gpu0_en_mask", 0x007F), ("gpu1_en_mask", 0x3F80)
NVLINK_PEERS = {
    "gpu": [GPU0, GPU1],
    "gpu0": [GPU0],
    "gpu1": [GPU1],
    "cpu": [("cpu_en_mask", all_of(NVLINK_INSTANCES))],
    "none": [],
}


def pcie_devices(socket):
    """Companions of the PCIe units: their number, and for the target unit the
    page with its address windows."""
    asl = ""
    for rc in range(RCS_PER_SOCKET):
        windows = socket_base(socket) + TGT + rc * TGT_STRIDE + 2 * PAGE
        number = [("instance_id", rc)]
        asl += device(f"PS{socket}{rc}", PCIE_HID, device_uid(socket, rc), (), number)
        asl += device(f"PT{socket}{rc}", TGT_HID, device_uid(socket, rc), [windows], number)
    return asl


def devices(shape, sockets, peer):
    """ASL of the devices below \\_SB. The drivers take _UID for the socket."""
    if shape == "kunpeng":
        return kunpeng.devices(sockets)
    if shape == "cmn":
        return cmn.devices(sockets)
    asl = ""
    for s in range(sockets if shape == "t410" else 0):
        base = socket_base(s)
        asl += pcie_devices(s)
        asl += device(f"CML{s}", CMEM_HID, s, instance_pages(base + CMEM, CMEM_INSTANCES))
        asl += device(f"NVL{s}", NVLINK_HID, s, instance_pages(base + NVLINK, NVLINK_INSTANCES),
                      NVLINK_PEERS[peer])
        if sockets > 1:         # it joins two sockets; alone there is none
            asl += device(f"NVC{s}", NVCLINK_HID, s,
                          instance_pages(base + NVCLINK, NVCLINK_INSTANCES),
                          [("cpu_en_mask", all_of(NVCLINK_INSTANCES))])
        asl += device(f"NVD{s}", NVDLINK_HID, s,
                      instance_pages(base + NVDLINK, NVDLINK_INSTANCES))
    return asl
