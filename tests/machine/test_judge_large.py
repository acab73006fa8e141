#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only
"""Tests of the verdicts on a machine with many CPUs, without a virtual machine: results as the guest
leaves them must pass, and fail in the right test when they are spoiled.
"""

import contextlib
import io
import json
import pathlib
import sys
import tempfile

import judge_large as large
from spoilt import as_text, refuse_spoilt, spoilers_of

CPUS = 64
BYTES = 1000


def report(socket=None):
    """One interval; with @socket, a program of it has moved all of its bytes"""
    rows = []
    if socket is not None:
        rows.append({"pid": socket, "shares": [{"counter": large.READS[socket], "value": BYTES}]})
    return {
        "sequence": 0,
        "interval": {"duration_ns": large.NS_PER_S},
        "counters": [
            {"name": name, "value": BYTES, "attributed": BYTES - 1, "unattributed": 1} for name in large.READS
        ],
        "workloads": rows,
        "quality": {"kept_flushes": 0, "lost": {"slices": 0, "windows": 0}},
    }


def look(name, calls, switches):
    lines = [f"{name} IPI1: {' '.join(map(str, calls))}  Function call interrupts"]
    lines.append(f"{name} IPI0: {' '.join(['0'] * CPUS)}  Rescheduling interrupts")
    lines.append(f"{name} 10: {' '.join([str(switches)] * CPUS)}  GICv3  27 Level  arch_timer")
    lines.append(f"{name} switches: {switches}")
    return lines


def right():
    """What the guest leaves when all is well: {file: reports, lines or text}"""
    files = {"cpus": f"{CPUS}", "counted": []}
    for name in ("nothing", "idle", "serve", "switching", "busy"):
        files["counted"] += look(name, [9] * CPUS, 0)
        # once each, and often where there is something to do
        files["counted"] += look(name, [9 + (50 if cpu < 3 else 1) for cpu in range(CPUS)], 100_000)
    for name in ("idle", "busy"):
        reports = [report() for _ in range(large.INTERVALS[name])] + [report(0), report(1)]
        # a last one that is cut short, and the summary
        files[f"{name}.json"] = [*reports, report(), report()]
        files[f"{name}.truth"] = [{"slot": 2 * pid, "pid": pid, "bytes": BYTES} for pid in (1, 0)]
        files[f"{name}.err"] = ""
    for name in large.RECORDS:
        files[f"{name}-report.json"] = [report() for _ in range(large.INTERVALS["record"])]
    for name in ("idle", "busy", "serve"):
        files[f"{name}.needs"] = ["VmHWM: 20000 kB", "files 100", "maps 10", "map_bytes 4000000"]
    for name in ("idle", "busy", "serve", *large.RECORDS, *(f"{record}-report" for record in large.RECORDS)):
        files[f"{name}.status"] = "0"
    return files


def spoil_lost(files):
    files["busy.json"][2]["quality"]["lost"]["slices"] = 1
    return {"busy-loses-nothing"}


def spoil_kept(files):
    files["record-report.json"][1]["quality"]["kept_flushes"] = 1
    return {"record-loses-nothing"}


def spoil_late(files):
    files["idle.json"][1]["interval"]["duration_ns"] += 3 * large.LATE_NS
    return {"idle-in-time"}


def spoil_sum(files):
    files["idle.json"][0]["counters"][0]["attributed"] += 1
    return {"idle-adds-up"}


def spoil_unseen(files):
    """Nobody was given what the program of the last CPU moved."""
    files["idle.json"][large.INTERVALS["idle"] + 1]["workloads"] = []
    return {"idle-ucf1-owner"}


def spoil_more(files):
    """More than was moved."""
    files["busy.truth"][1]["bytes"] = BYTES - 1
    return {"busy-ucf0-counts", "busy-ucf0-owner"}


def spoil_silent(files):
    del files["idle.truth"][0]
    return {"idle-programs"}


def spoil_woken(files):
    """Every CPU is interrupted in each interval."""
    spoil = [line for line in files["counted"] if line.startswith("serve IPI1")][1]
    at = files["counted"].index(spoil)
    files["counted"][at] = look("serve", [9 + large.INTERVALS["serve"]] * CPUS, 0)[0]
    return {"serve-leaves-asleep"}


def spoil_memory(files):
    files["serve.needs"][0] = "VmHWM: 70000 kB"
    return {"serve-needs"}


def spoil_files(files):
    files["idle.needs"][1] = "files 200"
    return {"idle-needs"}


def spoil_status(files):
    files["record.status"] = "1"
    return {"record-ends"}


def spoil_said(files):
    files["busy.err"] = "t410trace: the ring was full"
    return {"busy-ends"}


def spoil_cpus(files):
    files["cpus"] = "4"
    return {"cpus"}


def spoil_calm(files):
    at = [i for i, line in enumerate(files["counted"]) if line.startswith("busy switches")][1]
    files["counted"][at] = "busy switches: 100"
    return {"busy"}


def failed(files):
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        for file, content in files.items():
            (folder / file).write_text(as_text(content), encoding="utf-8")
        # Its figures are invented, too.
        with contextlib.redirect_stdout(io.StringIO()):
            return {test.removeprefix("large/") for test, right, _ in large.judge(folder, CPUS) if not right}


def main():
    return 1 if refuse_spoilt("large", right, failed, spoilers_of(globals())) else 0


if __name__ == "__main__":
    sys.exit(main())
