#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""test_source_schema.py T410TRACE: the schema of sources takes what docs/SOURCES.md shows and what the
examples print, and refuses what is wrong."""

import datetime
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile

import jsonschema

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
EXAMPLES = ROOT / "docs/examples"
schema = json.loads((ROOT / "share/t410trace.source-1.schema.json").read_text(encoding="utf-8"))
validator = jsonschema.Draft202012Validator(schema)
failed = 0


def check(what, good, why=""):
    global failed
    failed |= not good
    print(f"{'ok' if good else 'not ok'} source schema: {what}{'' if good else f': {why!r}'}")


def wrong(lines):
    return [error.message for line in lines for error in validator.iter_errors(json.loads(line))]


def printed(*command):
    """The first lines of an example."""
    with subprocess.Popen(list(map(str, command)), stdout=subprocess.PIPE, text=True) as process:
        lines = [process.stdout.readline() for _ in range(4)]
        process.terminate()
    return lines


text = (ROOT / "docs/SOURCES.md").read_text(encoding="utf-8")
shown, energy, devices = (found.splitlines() for found in re.findall(r"```json\n(.*?)```", text, re.S))
check("what the document shows", len(shown) == 3 and not wrong(shown), wrong(shown))
check("devices that it shows", len(devices) == 4 and not wrong(devices), wrong(devices))
for name, line, old, new in (
    ("no counters and no devices", 0, '"devices":', '"device":'),
    ("an address of no device", 2, "0009:", "9:"),
    ("no start of a process", 2, '"start_ns":47000000000000,', ""),
    ("process 0", 2, "4242", "0"),
    ("samples without a period", 3, ',"period_ns":139000000', ""),
    ("no begin", 3, '"since_ns":48122456789000,', ""),
):
    assert old in devices[line]
    check(name, wrong([devices[line].replace(old, new, 1)]))
check("energy that it shows", len(energy) == 2 and not wrong(energy), wrong(energy))
together = shown[0].replace('"direction":"read"', '"direction":"readwrite"')
check("both directions together", together != shown[0] and not wrong([together]), wrong([together]))
lines = printed(EXAMPLES / "source.py", "lo")
check("source.py", not wrong(lines), wrong(lines))
with tempfile.TemporaryDirectory() as folder:
    program = f"{folder}/source"
    subprocess.run(["cc", "-Wall", "-Werror", "-o", program, EXAMPLES / "source.c"], check=True)
    lines = printed(program)
check("source.c", not wrong(lines), wrong(lines))
with open("/dev/zero", "rb") as device:
    text = "".join(printed(EXAMPLES / "contexts.py", "0000:03:00.0", device.name)[:2])
lines = text.splitlines()
check("contexts.py", not wrong(lines), wrong(lines))
try:
    os.readlink("/proc/1/fd/0")
    seen = os.getpid() in [context["pid"] for context in json.loads(lines[1])["contexts"]]
except PermissionError:
    seen = json.loads(lines[1])["contexts"] is None  # then it is not known who has it open
check("its contexts", seen, lines[1])
# Samples are differences of two units each; readings are their sums in bytes, null for none.
samples = [("1,000\t24", "7"), ("1\t0", "N/A"), ("0\t3", "5")]
# The machine runs for longer than that: a time before its start would be none.
begin = datetime.datetime.now() - datetime.timedelta(seconds=5)
dates = [(begin + datetime.timedelta(seconds=i)).strftime("%m/%d/%Y %H:%M:%S.%f")[:-3] for i in range(len(samples))]
text = "".join(
    f"{dates[i]}\nINST_RETIRED.ANY\t9\t9\nUNC_SOC_Module0_BW.Mod0_Read64B\t9\t{a}\n"
    f"Mod0_ReadPartial\t9\t4\nGFX_Write32B\t9\t{b}\n----------\n"
    for i, (a, b) in enumerate(samples)
)
# It stands still once, between two clocks: its times are right all the same.
STILL = """
import runpy, sys, time
clock, left = time.monotonic_ns, [0.3]
def still():
    now = clock()
    time.sleep(left.pop() if left else 0)
    return now
time.monotonic_ns = still
sys.argv.pop(0)
runpy.run_path(sys.argv[0])
"""
words = [sys.executable, "-c", STILL, EXAMPLES / "baytrail.py", "0-1", "2-3"]
done = subprocess.run(words, input=text, stdout=subprocess.PIPE, text=True, check=True)
lines = done.stdout.splitlines()
check("baytrail.py", not wrong(lines), wrong(lines))
header, *readings = map(json.loads, lines)
counters = [[c["name"], c["source"], c["direction"], c.get("cpus")] for c in header["counters"]]
known = [["Mod0_Read64B", "cpu", "read", "0-1"], ["GFX_Write32B", "device", "write", None]]
check("its counters", counters == known, counters)
values = [reading["values"] for reading in readings]
check("its values", values == [[65536, 224], [65600, None], [65792, 384]], values)
times = [reading["time_ns"] for reading in readings]
apart = [b - a for a, b in zip(times, times[1:])]
check("its times", all(abs(ns - 10**9) < 10**8 for ns in apart), apart)
for name, old, new in (
    ("an unknown key", '"every_ms"', '"every"'),
    ("no direction", '"direction":"write",', ""),
    ("an unknown unit", '"socket":0}]', '"socket":0,"unit":"furlong"}]'),
    ("CPUs without a name", '"socket":0}]', '"cpus":"0-3"}]'),
    ("energy with a direction", '"socket":0}]', '"socket":0,"unit":"joules"}]'),
    ("no counters", re.search(r'"counters":(.*)}', shown[0])[1], "[]"),
):
    check(name, wrong([shown[0].replace(old, new, 1)]))
for values in ("[-1,0]", "[0.5,0]", "7", "[]"):
    check(f"values {values}", wrong([f'{{"time_ns":1,"values":{values}}}']))
sys.exit(failed)
