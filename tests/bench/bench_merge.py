#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""bench_merge.py T410TRACE: the cost of merging the closing reports of many nodes (docs/JOBS.md).

Reports of some 20 kB are made of docs/examples/job.json, one a node. The goal is 1,000 of them in 2 s
and 64 MiB.
"""

import copy
import json
import os
import pathlib
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
STEPS = 5
SIZES = (100, 1000)


def reports(folder, nr):
    """One report of each node, in a folder; their mean size."""
    report = json.loads((ROOT / "docs/examples/job.json").read_text(encoding="utf-8"))
    tail = [copy.deepcopy(step) for step in report["steps"] if step["step"] == "batch"]
    for i in range(STEPS):
        report["steps"].append(copy.deepcopy(tail[0]) | {"step": str(i + 1)})
    for i in range(nr):
        report["host"]["name"] = f"n{i:05}"
        report["on_cpu_ns"] += 12345
        (folder / f"n{i:05}.json").write_text(json.dumps(report, separators=(",", ":")) + "\n", encoding="utf-8")
    return sum(file.stat().st_size for file in folder.iterdir()) / nr


def measure(command):
    """Seconds, CPU seconds and MiB of a program."""
    begin = time.monotonic()
    child = os.posix_spawnp(
        command[0], command, os.environ, file_actions=[(os.POSIX_SPAWN_OPEN, 1, "/dev/null", os.O_WRONLY, 0)]
    )
    _, status, usage = os.wait4(child, 0)
    assert status == 0, status
    return time.monotonic() - begin, usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024


def main():
    program = sys.argv[1]
    for nr in SIZES:
        with tempfile.TemporaryDirectory() as name:
            folder = pathlib.Path(name)
            size = reports(folder, nr)
            for way in ("--compact", "--json"):
                seconds, cpu, mib = measure([program, "job", "--merge", name, way])
                print(
                    f"# job --merge {way}: {nr} reports of {size / 1000:.1f} kB: {seconds:.2f} s, "
                    f"{cpu:.2f} s of CPU, {mib:.1f} MiB"
                )


main()
