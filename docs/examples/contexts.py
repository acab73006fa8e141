#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""contexts.py ADDRESS NODE: who uses a device that has no tool for that: an FPGA, a DPU, a GPU of
another maker. A process has a context here if it has NODE open; as root:

docs/examples/contexts.py 0000:03:00.0 /dev/fpga0
"""
import json
import os
import pathlib
import sys
import time

ADDRESS, NODE = sys.argv[1:]
TICK = 10**9 // os.sysconf("SC_CLK_TCK")


def say(line):
    print(json.dumps(line), flush=True)


def start_ns(process):
    """Field 22 of stat, in ticks; the name in front of it may have anything."""
    return int((process / "stat").read_text(errors="replace").rpartition(")")[2].split()[19]) * TICK


def contexts():
    found = []
    for process in pathlib.Path("/proc").glob("[0-9]*"):
        try:
            if NODE in {os.readlink(file) for file in (process / "fd").iterdir()}:
                found.append({"pid": int(process.name), "start_ns": start_ns(process)})
        except (FileNotFoundError, ProcessLookupError):
            pass  # it has ended meanwhile
        except PermissionError:
            return None  # not known, which is not the same as nobody
    return found


say({"schema": "t410trace.source/1", "name": "users", "every_ms": 1000, "devices": [{"address": ADDRESS}], "counters": []})
while True:
    say({"time_ns": time.monotonic_ns(), "device": ADDRESS, "contexts": contexts()})
    time.sleep(1)
