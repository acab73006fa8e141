#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""TOOL | baytrail.py MODULE0 MODULE1: what emon prints of Bay Trail, as a source for t410trace:

t410trace -a --source 'emon -C "..." | docs/examples/baytrail.py 0-1 2-3'
"""
import datetime
import json
import sys
import time

# Bytes of a count and the way as memory sees it, by the end of an event's name
SIZES = {"Reqs": (64, "readwrite"), "Read32B": (32, "read"), "Read64B": (64, "read")}
SIZES |= {"Write32B": (32, "write"), "Write64B": (64, "write")}


def counter(event):
    """What the header says of an event; None: it counts no bytes"""
    agent, _, size = event.rpartition("_")
    if size not in SIZES or "Snoop" in agent:
        return None
    said = {"name": event, "direction": SIZES[size][1], "socket": 0, "source": "device"}
    for module, cpus in enumerate(sys.argv[1:3]):
        if agent == f"Mod{module}":
            said.update({"socket": module, "source": "cpu", "cpus": cpus})
    return {**said, "source": "any"} if agent.startswith("DDR") else said


def ahead_ns():
    """What the clock of dates is ahead of the monotonic one. This program may stand still between two
    readings: the shortest of some tries counts."""
    tries = []
    for _ in range(10):
        before, now, after = time.monotonic_ns(), time.time_ns(), time.monotonic_ns()
        tries.append((after - before, now - before))
    return min(tries)[1]


def monotonic_ns(date):
    """The time that emon prints in front of a sample: when it read the counters"""
    read = datetime.datetime.strptime(date, "%m/%d/%Y %H:%M:%S.%f").timestamp()
    return int(read * 1e9) - ahead_ns()


sample, sums, date = {}, {}, None
for line in sys.stdin:
    event, *counts = line.strip().split("\t")
    event = event.rpartition(".")[2]  # without its group
    if line[2:3] == line[5:6] == "/":
        date = line.strip()
    elif len(counts) > 1 and counter(event):  # the first count is of clocks
        read = [int(c.replace(",", "")) for c in counts[1:] if c != "N/A"]
        sample.update({event: sum(read)} if read else {})
    if set(event) not in ({"-"}, {"="}) or not sample:
        continue
    if not sums:
        sums = dict.fromkeys(sample, 0)
        header = {"schema": "t410trace.source/1", "name": "baytrail", "every_ms": 1000}
        print(json.dumps({**header, "counters": [counter(e) for e in sums]}), flush=True)
    # Samples are differences, readings are totals. What a sample lacks was not read.
    for name in sample.keys() & sums.keys():
        sums[name] += sample[name] * SIZES[name.rpartition("_")[2]][0]
    values = [sums[name] if name in sample else None for name in sums]
    print(json.dumps({"time_ns": monotonic_ns(date), "values": values}), flush=True)
    sample = {}
