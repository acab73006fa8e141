# SPDX-License-Identifier: GPL-2.0-only
"""PCI segments: host bridges for the SSDT, functions for the plugin."""
from dataclasses import dataclass

from layout import ECAM_BASE, ECAM_SEGMENT

# Grace: a segment for each root port, 16 further for socket 1. Segment 0 is
# QEMU's own, so that root port 0 of socket 0 has a PMU bit but no devices.
GRACE_ROOT_PORTS = 10
GRACE_SEGMENTS_PER_SOCKET = 16
QEMU_SEGMENT = 0
AMPEREONE_ROOT_PORTS = 2

ROOT_PORT = {"vendor": 0x10DE, "device_id": 0x7E10, "class": 0x060400}      # device ids made up
# Ampere's, which is one of DesignWare's: the driver knows its capability by the maker
DESIGNWARE_PORT = {"vendor": 0x1DEF, "device_id": 0xE200, "class": 0x060400, "rasdes": 1}
NIC = {"vendor": 0x15B3, "device_id": 0x1021, "class": 0x020700,
       "vfs": 16, "vf_device_id": 0x101E}
NIC_PORT = {"vendor": 0x15B3, "device_id": 0x101D, "class": 0x020000, "multi": 1}
GPU = {"vendor": 0x10DE, "device_id": 0x2941, "class": 0x030200}
NVME = {"vendor": 0x144D, "device_id": 0xA80A, "class": 0x010802}
SWITCH = {"vendor": 0x10B5, "device_id": 0xC010, "class": 0x060400}
# Behind the switch, whose ports have these: devices as lists of their functions
SWITCHED = [[NVME], [NVME], [NIC], [GPU], [NIC_PORT, NIC_PORT]]

# T410: the root complexes of each socket, in their order, as segment and root
# buses, just as in the listing of the kernel's document: a segment is a root
# complex, a root bus is a port. The sockets differ in it, by a port of root
# complex 1, so that one bus is two different ports; tools must not be able to
# guess. What is behind the ports is ours: end points, and one switch with several.
T410_SOCKETS = [
    [(0x1, {0x00: NIC}),
     (0x2, {0x80: GPU, 0xA0: NVME, 0xC0: NIC, 0xE0: GPU}),
     (0x3, {0x00: NVME}),
     (0x4, {0x00: SWITCH}),
     (0x5, {0x00: GPU, 0x40: NVME, 0xC0: NIC}),
     (0x6, {0x00: GPU})],
    [(0x9, {0x00: NVME}),
     (0xA, {0x80: NIC, 0xA0: GPU, 0xE0: NIC}),
     (0xB, {0x00: GPU}),
     (0xC, {0x00: NVME}),
     (0xD, {0x00: NIC, 0x40: GPU, 0xC0: NVME}),
     (0xE, {0x00: NIC})],
]
GRACE_END_POINTS = [NIC, GPU, NVME]       # in turn
AMPEREONE_BELOW = [NIC, SWITCH]           # by port: a device alone, and several


@dataclass
class Port:
    """A root port, which is all there is on its root bus."""
    bus: int
    last_bus: int
    number: int             # within its root complex; the bit in the PMU's port mask
    rc: int
    has_dvsec: bool
    end_point: dict         # or SWITCH
    bridge: dict = None     # None: ROOT_PORT


@dataclass
class Segment:
    number: int
    socket: int
    ports: list


def t410_ports(rc, buses):
    starts = list(buses)
    ends = starts[1:] + [0x100]
    # Ports are numbered from 0, but from 1 where there is none on bus 0
    first = 0 if starts[0] == 0 else 1
    return [Port(bus, end - 1, first + n, rc, True, buses[bus])
            for n, (bus, end) in enumerate(zip(starts, ends))]


def grace_segment(socket, port):
    end_point = GRACE_END_POINTS[port % len(GRACE_END_POINTS)]
    return Segment(socket * GRACE_SEGMENTS_PER_SOCKET + port, socket,
                   [Port(0, 0xFF, port, 0, False, end_point)])


def ampereone_segment(socket, port):
    """A segment for each of the root ports, two to a socket."""
    end_point = AMPEREONE_BELOW[port]
    return Segment(1 + socket * AMPEREONE_ROOT_PORTS + port, socket,
                   [Port(0, 0xFF, port, 0, False, end_point, DESIGNWARE_PORT)])


def segments(shape, sockets):
    found = []
    if shape in ("kunpeng", "cmn"):
        return found
    for s in range(sockets):
        if shape == "ampereone":
            found += [ampereone_segment(s, port) for port in range(AMPEREONE_ROOT_PORTS)]
        elif shape == "grace":
            found += [grace_segment(s, port) for port in range(GRACE_ROOT_PORTS)]
        else:
            found += [Segment(number, s, t410_ports(rc, buses))
                      for rc, (number, buses) in enumerate(T410_SOCKETS[s])]
    return [segment for segment in found if segment.number != QEMU_SEGMENT]


def name(segment, port):
    """Four characters; a root bus is a multiple of 16, its upper digit does."""
    return f"H{segment.number:02X}{port.bus >> 4:X}"


def host_bridge(segment, port):
    """_OSC leaves everything to the firmware: without interrupts there is nothing
    that Linux could do with hotplug, power or error events."""
    return f"""Device ({name(segment, port)})
{{
Name (_HID, "PNP0A08")
Name (_CID, "PNP0A03")
Name (_SEG, {segment.number})
Name (_BBN, 0x{port.bus:X})
Name (_UID, 0x{segment.number << 8 | port.bus:X})
Name (_CCA, 1)
Name (_PXM, {segment.socket})
Name (_CRS, ResourceTemplate () {{
WordBusNumber (ResourceProducer, MinFixed, MaxFixed, PosDecode, 0,
    0x{port.bus:X}, 0x{port.last_bus:X}, 0, 0x{port.last_bus - port.bus + 1:X})
}})
Method (_OSC, 4)
{{
CreateDWordField (Arg3, 8, CTRL)
CTRL = 0
Return (Arg3)
}}
}}
"""


def reserved(all_segments):
    """Says that configuration space is taken, or the kernel complains of a bug."""
    asl = 'Device (ECAM)\n{\nName (_HID, "PNP0C02")\nName (_UID, "ECAM")\n'
    asl += "Name (_CRS, ResourceTemplate () {\n"
    for segment in all_segments:
        base = ECAM_BASE + segment.number * ECAM_SEGMENT
        asl += ("QWordMemory (ResourceConsumer, PosDecode, MinFixed, MaxFixed, NonCacheable, "
                f"ReadWrite, 0, 0x{base:X}, 0x{base + ECAM_SEGMENT - 1:X}, 0, "
                f"0x{ECAM_SEGMENT:X})\n")
    return asl + "})\n}\n"


def host_bridges(all_segments):
    """ASL: a host bridge for each root bus, and their configuration space."""
    return reserved(all_segments) + "".join(
        host_bridge(segment, port) for segment in all_segments for port in segment.ports)


def line(role, **keys):
    return role + "".join(f" {key}={value:x}" for key, value in keys.items()) + "\n"


def switch(segment, bus, last_bus):
    """A switch on that bus: a bridge up, and a bridge for each device."""
    text = line("upstream", segment=segment, bus=bus, **SWITCH, secondary=bus + 1, subordinate=last_bus)
    for n, device in enumerate(SWITCHED):
        below = bus + 2 + n
        text += line("downstream", segment=segment, bus=bus + 1, device=n, **SWITCH,
                     secondary=below, subordinate=below, port=n)
        for function, end_point in enumerate(device):
            text += line("end_point", segment=segment, bus=below, function=function, **end_point)
    return text


def functions(all_segments):
    """The list that plugin/pci.c reads: behind each root port one end point or a switch."""
    text = "# made by acpi/gen.py, for the plugin; values are hexadecimal\n"
    for segment in all_segments:
        for port in segment.ports:
            text += line("root_port", segment=segment.number, bus=port.bus,
                         **(port.bridge or ROOT_PORT),
                         secondary=port.bus + 1, subordinate=port.last_bus, port=port.number,
                         rc=port.rc, socket=segment.socket, dvsec=port.has_dvsec)
            if port.end_point is SWITCH:
                text += switch(segment.number, port.bus + 1, port.last_bus)
            else:
                text += line("end_point", segment=segment.number, bus=port.bus + 1, **port.end_point)
    return text
