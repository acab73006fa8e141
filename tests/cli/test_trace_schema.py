#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""test_trace_schema.py T410TRACE: the schema of traces takes what docs/RECORDING.md shows and what
"t410trace report" reads, and refuses what that refuses."""

import json
import pathlib
import re
import subprocess
import sys
import tempfile

TESTS = pathlib.Path(__file__).resolve().parent.parent
program = sys.argv[1]
failed = 0

HEADER = {
    "type": "header",
    "schema": "t410trace.trace/1",
    "io_note": "sent packets cannot be attributed to processes",
    "tick": "auto",
    "tick_note": "CPUs 2-3 are left alone",
    "peaks": [
        {"of": "cmem", "socket": 0, "bytes_per_s": 307200000000, "from": "firmware"},
        {"of": "pcie", "bytes_per_s": 64000000000, "from": "given"},
    ],
    "peak_note": "16 memory devices on 8 channels",
    "sockets": [{"id": 0, "cpus": "0-3"}],
    "counters": [{"id": 0, "name": "c0", "event": "mem_bytes_rd", "socket": 0, "source": "cpu"}],
    "probes": [{"id": 0, "name": "cmem0/rd", "socket": 0}],
}
MAY_LACK = {"type", "schema", "io_note", "tick", "tick_note", "peaks", "peak_note", "probes", "weights", "key"}
SPAN = {"start_ns": 0, "end_ns": 10}
LINES = [
    HEADER,
    {"type": "workload", "id": 7, "pid": 42},
    {"type": "slice", "workload": 7, "cpu": 3, "weights": {"x": 1}, **SPAN},
    {"type": "window", "socket": 0, "values": [[0, "18446744073709551615", 10, 10]], **SPAN},
    {"type": "sample", "probe": 0, "outstanding": 1, "requests": 2, "cycles": 3, **SPAN},
    {"type": "io", "workload": 7, "bdf": "2:81:0.0", "read_bytes": 1, "write_bytes": 0, **SPAN},
    {"type": "lost", "what": "slices", "socket": 0, "count": 1, **SPAN},
    {"type": "something new", "key": -1},
    {"type": "end", "time_ns": 20},
]
GPU = {"bdf": "0009:01:00.0", "link": "c2c", "uuid": "GPU-5"}
MARKED = [
    {**HEADER, "marked": True, "contexts": True, "devices": [GPU]},
    {"type": "cgroup", "id": 881, "path": "/slurm/job_12"},
    {"type": "task", "pid": 42, "tgid": 42, "start_ns": 9},
    {"type": "job", "cgroup_id": 881, "user": "alice"},
    {"type": "follow", "pid": 42},
    {"type": "resync", "begin": True},
    {"type": "exit", "pid": 42, "start_ns": 9},
    {"type": "contexts", "bdf": GPU["bdf"], "processes": [{"pid": 42, "start_ns": 9, "instance": 0, "since_ns": 10}], **SPAN},
    {"type": "activity", "bdf": GPU["bdf"], "samples": 7, "period_ns": 1, "processes": [{"pid": 42, "start_ns": 9, "busy_ns": 8}], **SPAN},
]


def of_schema(traces):
    """What is wrong with each trace; nothing when it is right. One process: starting it takes a second."""
    with tempfile.TemporaryDirectory() as folder:
        files = [pathlib.Path(folder) / f"{number}.ndjson" for number in range(len(traces))]
        for file, lines in zip(files, traces):
            file.write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
        done = subprocess.run([TESTS / "check-report", *files], capture_output=True, text=True, check=False)
    assert done.returncode in (0, 1), done.stderr
    said = done.stdout.splitlines()
    return ["\n".join(line for line in said if line.startswith(f"{file}:")) for file in files]


def of_program(lines):
    """The same, as t410trace report says."""
    text = "".join(json.dumps(line) + "\n" for line in lines)
    done = subprocess.run([program, "report", "-"], input=text, capture_output=True, text=True, check=False)
    return "" if done.returncode in (0, 3) else done.stdout + done.stderr


def check(what, good, why=""):
    global failed
    failed |= not good
    print(f"{'ok' if good else 'not ok'} trace schema: {what}{'' if good else f': {why!r}'}")


def spoiled():
    """Each trace with one number negative, one text a number, or one key gone that must be there."""
    for trace in LINES, MARKED:
        for number, line in enumerate(trace):
            if line["type"] == "something new":
                continue
            for key, value in line.items():
                worse = {int: -1, str: 5, list: {}, bool: 1, dict: 3}[type(value)]
                yield f"{line['type']}: {key} is {worse}", [
                    *trace[:number],
                    {**line, key: worse},
                    *trace[number + 1 :],
                ]
    for number, line in enumerate(LINES):
        for key in set(line) - MAY_LACK:
            less = {name: value for name, value in line.items() if name != key}
            yield f"{line['type']}: no {key}", [*LINES[:number], less, *LINES[number + 1 :]]


document = (TESTS.parent / "docs/RECORDING.md").read_text(encoding="utf-8").split("## 2. NDJSON")[1]
blocks = re.findall(r"(?m)(?:^    .*\n)+", document)
shown = [json.loads(line) for line in re.sub(r"\n {5,}", " ", "".join(blocks)).splitlines() if '{"type"' in line]
bad = list(spoiled())
of_shown, of_lines, of_marked, *of_bad = of_schema([shown, LINES, MARKED, *(lines for _, lines in bad)])
check("what the document shows", len(shown) == 20 and not of_shown, of_shown)
check("of this the program reads", not of_program(shown[:10]), of_program(shown[:10]))
check("another tool's trace", not of_lines and not of_program(LINES), of_lines)
check("our own trace", not of_marked and not of_program(MARKED), of_marked)
for (name, lines), schema in zip(bad, of_bad):
    reads = of_program(lines)
    check(name, schema and reads, f"schema: {schema} program: {reads}")
sys.exit(failed)
