#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""emon.py LOG EVERY_MS FILE FILE: plays a vendor's tool on a Bay Trail, group UNC_SOC_All_Reqs.

Module 0 requests what a program declares in the first FILE (see declare.py), module 1 what is in
the second one, graphics as much as both. LOG has a line of JSON for each sample: the monotonic time
when counters were read, and the requests of both so far. With a file LOG.late there, samples are
printed as many seconds late as it says.
"""
import datetime
import json
import os
import sys
import time

log = open(sys.argv[1], "a", encoding="ascii")
every_s = int(sys.argv[2]) / 1000
files = [os.open(path, os.O_RDONLY) for path in sys.argv[3:]]


def read():
    """Both clocks and what was declared: on a busy machine others may run in between."""
    while True:
        before = time.monotonic_ns()
        wall = time.time()
        requests = [int(os.pread(file, 20, 0)) // 64 for file in files]
        if time.monotonic_ns() - before < 1_000_000:
            return before, wall, requests


def say(*lines):
    """In one piece, so that a sample is never cut."""
    sys.stdout.write("".join("\t".join(line) + "\n" for line in lines))
    sys.stdout.flush()


say(["Version Info: plays emon"])
_, _, last = read()
while True:
    time.sleep(every_s)
    now, wall, requests = read()
    if os.path.exists(f"{sys.argv[1]}.late"):
        with open(f"{sys.argv[1]}.late", encoding="ascii") as late:
            time.sleep(float(late.read()))
    print(json.dumps([now, *requests]), file=log, flush=True)
    date = datetime.datetime.fromtimestamp(wall)
    counts = [a - b for a, b in zip(requests, last)]
    events = zip(["Mod0_Reqs", "Mod1_Reqs", "GFX_Reqs"], [*counts, sum(counts)])
    say(
        [f"{date:%m/%d/%Y %H:%M:%S}.{date.microsecond // 1000:03d}"],
        ["INST_RETIRED.ANY", "1,234,567", "1,000", "2,000"],
        *([f"UNC_SOC_All_Reqs.{event}", "1,234,567", f"{count:,}"] for event, count in events),
        ["----------"],
    )
    last = requests
