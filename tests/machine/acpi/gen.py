#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only
"""Firmware tables and PCI functions of the virtual machine.

DUMPDIR holds QEMU's own tables, as the plugin writes them with dump=DIR:
DSDT.dat, MCFG.dat and, if the machine has NUMA nodes, SRAT.dat; and DSDT.dsl,
made of the first by "iasl -d".

OUTDIR gets three files for the three ways in which a table comes to the guest:

tables.bin  tables that QEMU does not have (APMT, SSDT), added by the plugin to
            what QEMU gives the firmware
acpi.cpio   tables that QEMU has but we need changed (DSDT, MCFG, SRAT). The
            firmware would install a second one beside the first, so they are
            replaced in the kernel, from an archive in front of its initrd.
pci.txt     no table: the functions that the plugin's configuration space shows
"""
import argparse
import os
import sys

sys.dont_write_bytecode = True  # nothing is left beside the sources

import override
import pci
import units
from aml import compile_asl, pack_tables, write_cpio


def parse_args():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("dumpdir")
    parser.add_argument("outdir")
    parser.add_argument("--shape", choices=("t410", "grace", "ampereone", "kunpeng", "cmn"),
                        default="t410")
    parser.add_argument("--sockets", type=int, choices=(1, 2), default=2)
    parser.add_argument("--peer", choices=units.NVLINK_PEERS, default="gpu",
                        help="other end of NVLink-C2C (T410): two GPUs, one of them, a CPU")
    parser.add_argument("--no-irq", action="store_true",
                        help="CoreSight units without an overflow interrupt")
    args = parser.parse_args()
    if args.peer == "cpu" and args.sockets == 1:
        parser.error("a CPU at the other end needs a second socket")
    return args


def read(directory, name):
    with open(os.path.join(directory, name), "rb") as file:
        return file.read()


def main():
    args = parse_args()
    segments = pci.segments(args.shape, args.sockets)

    devices = units.devices(args.shape, args.sockets, args.peer) + pci.host_bridges(segments)
    ssdt = compile_asl(args.outdir, "ssdt", 'DefinitionBlock ("", "SSDT", 2, "NVIDIA", "VT410   ", '
                       "1) {\nScope (\\_SB) {\n" + devices + "} }\n")
    with open(os.path.join(args.outdir, "tables.bin"), "wb") as file:
        file.write(pack_tables(units.apmt(args.shape, args.sockets, not args.no_irq) + [ssdt]))
    with open(os.path.join(args.outdir, "pci.txt"), "w", encoding="ascii") as file:
        file.write(pci.functions(segments))

    dsdt_source = override.dsdt(read(args.dumpdir, "DSDT.dsl").decode(), args.sockets)
    replaced = {"dsdt": compile_asl(args.outdir, "dsdt", dsdt_source),
                "mcfg": override.mcfg(read(args.dumpdir, "MCFG.dat"), segments)}
    if os.path.exists(os.path.join(args.dumpdir, "SRAT.dat")):
        replaced["srat"] = override.srat(read(args.dumpdir, "SRAT.dat"))
    with open(os.path.join(args.outdir, "acpi.cpio"), "wb") as file:
        # where the kernel looks for them
        write_cpio(file, {f"kernel/firmware/acpi/{name}.aml": data
                          for name, data in replaced.items()})


if __name__ == "__main__":
    sys.exit(main())
