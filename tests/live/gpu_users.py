#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""
gpu_users.py DEVICE PID FOLDER [SOCKET]: stands for t410trace-gpu: PID has a context on DEVICE, looked
at five times a second, at standard output or for one reader at a time at SOCKET. A file
FOLDER/now tells it to do something wrong; it removes it first.
"""

import json
import os
import pathlib
import socket
import sys
import time

DEVICE, PID, FOLDER = sys.argv[1], int(sys.argv[2]), pathlib.Path(sys.argv[3])


def started_ns():
    fields = pathlib.Path(f"/proc/{PID}/stat").read_text(encoding="ascii").rsplit(")", 1)[1].split()
    slept = time.clock_gettime_ns(time.CLOCK_BOOTTIME) - time.monotonic_ns()
    return max(0, int(fields[19]) * 10**9 // os.sysconf("SC_CLK_TCK") - slept)


def put(out, line):
    out.write(json.dumps(line, separators=(",", ":")) + "\n")
    out.flush()


def order():
    file = FOLDER / "now"
    try:
        text = file.read_text(encoding="ascii")
        file.unlink()
        return text
    except FileNotFoundError:
        return ""


def look(out):
    """Until it is told to stop"""
    device = {"address": DEVICE, "link": "c2c", "uuid": "GPU-live"}
    put(out, {"schema": "t410trace.source/1", "name": "gpu", "every_ms": 200, "devices": [device], "counters": []})
    lost = False
    while True:
        fault = order()
        if fault == "die":
            sys.exit(5)
        if fault == "hang":
            time.sleep(1000)
        if fault == "garbage":
            out.write("}{\x00\x1b[31m\n" * 100)
        if fault == "stranger":
            put(out, {"time_ns": time.monotonic_ns(), "device": "00ff:01:00.0", "contexts": []})
        if fault == "lost":
            lost = True
        contexts = None if lost else [{"pid": PID, "start_ns": started_ns()}]
        put(out, {"time_ns": time.monotonic_ns(), "device": DEVICE, "contexts": contexts})
        if fault == "close":
            return
        time.sleep(0.2)


def main():
    if len(sys.argv) == 4:
        look(sys.stdout)
        return
    with socket.socket(socket.AF_UNIX) as listens:
        listens.bind(sys.argv[4])
        listens.listen(1)
        while True:
            reader, _ = listens.accept()
            with reader, reader.makefile("w", encoding="ascii") as out:
                look(out)


main()
