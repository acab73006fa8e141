# SPDX-License-Identifier: GPL-2.0-only
"""QEMU's own tables, changed. The kernel replaces a table by one that has the
same ids and a higher OEM revision."""
import re
import struct
import sys

from aml import HEADER_SIZE, table
from layout import ECAM_BASE, ECAM_SEGMENT

QEMU_OEM_REVISION = 1
OEM_ID, TABLE_ID, REVISION = slice(10, 16), slice(16, 24), 8

# See srat()
FLASH_BASE, FLASH_SIZE = 0x0400_0000, 0x0400_0000
SRAT_MEMORY, SRAT_MEMORY_LENGTH, SRAT_ENABLED = 1, 40, 1

# A processor of QEMU's DSDT, as iasl indents it: Device (C000) and its block
CPU = re.compile(r"^( +)Device \(C[0-9A-F]{3}\)\n\1\{\n.*?^\1\}\n", re.M | re.S)
SCOPE = re.compile(r"^ *Scope \(\\_SB\)\n *\{\n", re.M)
OEM_REVISION = re.compile(r'(DefinitionBlock \(.*), 0x0*1\)')


def replacement(original, body):
    return table(original[:4], original[REVISION], body, original[OEM_ID], original[TABLE_ID],
                 QEMU_OEM_REVISION + 1)


def mcfg(original, segments):
    """Where configuration space is: QEMU's segment, then ours."""
    body = original[HEADER_SIZE:]
    for segment in segments:
        body += struct.pack("<QHBBI", ECAM_BASE + segment.number * ECAM_SEGMENT, segment.number,
                            0, 0xFF, 0)
    return replacement(original, body)


def srat(original):
    """The firmware reports the second flash bank as write-combining memory, which
    arm64 takes for RAM. RAM outside of all nodes makes the kernel give up NUMA as
    a whole, so the bank is put into node 0."""
    bank = struct.pack("<BBIHQQIIQ", SRAT_MEMORY, SRAT_MEMORY_LENGTH, 0, 0, FLASH_BASE,
                       FLASH_SIZE, 0, SRAT_ENABLED, 0)
    return replacement(original, original[HEADER_SIZE:] + bank)


def dsdt(source, sockets):
    """APMT nodes say which CPUs belong to a unit by naming a processor container.
    QEMU has its CPUs directly below \\_SB, so each socket's move into one."""
    cpus = [match.group(0) for match in CPU.finditer(source)]
    if not cpus or len(cpus) % sockets:
        sys.exit(f"{len(cpus)} CPUs in QEMU's DSDT for {sockets} sockets")
    each = len(cpus) // sockets
    containers = "".join(
        f'Device (SCK{s})\n{{\nName (_HID, "ACPI0010")\nName (_UID, {s})\nName (_PXM, {s})\n'
        + "".join(cpus[s * each:(s + 1) * each]) + "}\n" for s in range(sockets))
    source = CPU.sub("", source)
    source, found = SCOPE.subn(lambda match: match.group(0) + containers, source, count=1)
    source, revised = OEM_REVISION.subn(rf"\1, {QEMU_OEM_REVISION + 1})", source, count=1)
    if not found or not revised:
        sys.exit("QEMU's DSDT does not look as expected")
    return source
