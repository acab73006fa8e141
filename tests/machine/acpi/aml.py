# SPDX-License-Identifier: GPL-2.0-only
"""ACPI tables as bytes, and the two containers they travel in."""
import os
import struct
import subprocess
import sys

HEADER_SIZE = 36
CHECKSUM_OFFSET = 9
# iasl's warning that a host bridge has no interrupt routing: ours has no interrupts
IASL_QUIET = ["-ve", "-vw", "3073"]

# What a _DSD with named values begins with
DSD_PROPERTIES = "daffd814-6eba-4d8c-8a91-bc9bbf4aa301"


def table(signature, revision, body, oem_id=b"NVIDIA", table_id=b"VT410   ", oem_revision=1):
    """A table with its header, checksum included."""
    header = struct.pack("<4sIBB6s8sI4sI", signature, HEADER_SIZE + len(body), revision, 0,
                         oem_id, table_id, oem_revision, b"T410", 1)
    data = bytearray(header + body)
    data[CHECKSUM_OFFSET] = -sum(data) & 0xFF
    return bytes(data)


def compile_asl(directory, name, source):
    """Source goes to NAME.asl; if iasl refuses it, so do we, with its words."""
    path = os.path.join(directory, name + ".asl")
    with open(path, "w", encoding="ascii") as file:
        file.write(source)
    result = subprocess.run(["iasl", *IASL_QUIET, "-p", os.path.join(directory, name), path],
                            capture_output=True, text=True, check=False)
    if result.returncode:
        sys.exit(result.stdout + result.stderr)
    with open(os.path.join(directory, name + ".aml"), "rb") as file:
        return file.read()


def pack_tables(tables):
    """The file that plugin/tables.c injects: offsets of the tables, then the tables."""
    offset_size, align = 8, 16
    offsets, data = [], bytearray()
    for one in tables:
        data += bytes(-len(data) % align)
        offsets.append(offset_size * len(tables) + len(data))
        data += one
    return struct.pack(f"<{len(offsets)}Q", *offsets) + data


def write_cpio(file, members):
    """A "newc" archive. The kernel's early search wants it uncompressed and
    looks at names only, so folders need no entries of their own."""
    def entry(name, data, mode, links):
        name_bytes = name.encode() + b"\0"
        fields = [0, mode, 0, 0, links, 0, len(data), 0, 0, 0, 0, len(name_bytes), 0]
        head = b"070701" + b"".join(b"%08X" % field for field in fields) + name_bytes
        for part in (head, data):
            file.write(part + bytes(-len(part) % 4))

    for name, data in sorted(members.items()):
        entry(name, data, 0o100644, 1)
    entry("TRAILER!!!", b"", 0, 1)
    file.write(bytes(-file.tell() % 512))
