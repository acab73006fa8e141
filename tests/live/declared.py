#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""declared.py LOG FILE...: a source of counters, which counts what programs declare in files.

Each line is also in LOG, with the value of each FILE, behind a line "start". A file LOG.now names
something wrong, of FAULTS or LAST, which it does once; the file is gone afterwards. --sets counts
each FILE apart, and says that it is about the CPU of its number. --name=NAME is what it is called.
"""
import json
import os
import sys
import time

options = [arg for arg in sys.argv[1:] if arg.startswith("--")]
log_path, *paths = [arg for arg in sys.argv[1:] if not arg.startswith("--")]
sets = "--sets" in options
name = next((o.partition("=")[2] for o in options if o.startswith("--name=")), "declared")
files = [os.open(path, os.O_RDONLY) for path in paths]
log = open(log_path, "a", encoding="ascii")


def out(text):
    sys.stdout.write(text)
    sys.stdout.flush()


def read():
    """Values and a time that belong together: on a busy machine others may run in between."""
    while True:
        before = time.clock_gettime_ns(time.CLOCK_MONOTONIC)
        parts = [int(os.pread(file, 20, 0)) for file in files]
        now = time.clock_gettime_ns(time.CLOCK_MONOTONIC)
        if now - before < 1_000_000:
            return now, parts


def line(now, parts):
    return json.dumps({"time_ns": now, "values": parts if sets else [sum(parts)]}) + "\n"


def good(times=1):
    now, parts = read()
    print(json.dumps([now, *parts]), file=log, flush=True)
    out(times * line(now, parts))


def wrong(values, seconds=0):
    out(json.dumps({"time_ns": read()[0] + int(seconds * 1e9), "values": values}) + "\n")


def long_line():
    out("x" * 1_000_000)
    out("\n")


def flood():
    for _ in range(20000):
        good()


def half():
    out('{"time_ns": 1')
    sys.exit(6)


ONE = 1 if not sets else len(paths)
FAULTS = {
    "json": lambda: out('{"time_ns": 12, "val\n'),
    "words": lambda: out("counter 17 is 4\n"),
    "short": lambda: wrong([]),
    "absent": lambda: wrong(ONE * [None]),
    "backward": lambda: wrong(ONE * [0], -0.1),
    "future": lambda: wrong(ONE * [0], 10),
    "fallen": lambda: wrong(ONE * [0]),
    "huge": lambda: wrong(ONE * [2**61]),
    "twice": lambda: good(2),
    "long": long_line,
    "flood": flood,
    "errors": lambda: print("the BMC is \x1b[31mslow", file=sys.stderr, flush=True),
}
# after these it does nothing more
LAST = {"hang": lambda: time.sleep(1000), "die": lambda: sys.exit(5), "half": half}

counters = [{"name": "bytes", "direction": "read", "socket": 0}]
if sets:
    counters = [
        {"name": f"cpu{i}", "direction": "read", "source": "cpu", "socket": i, "cpus": str(i)}
        for i in range(len(paths))
    ]
# what was there before may have ended within a line
print("\nstart", file=log, flush=True)
out(json.dumps({"schema": "t410trace.source/1", "name": name, "every_ms": 20, "counters": counters}) + "\n")
while True:
    good()
    time.sleep(0.02)
    if os.path.exists(f"{log_path}.now"):
        with open(f"{log_path}.now", encoding="ascii") as now_file:
            fault = now_file.read()
        if fault in LAST:
            os.unlink(f"{log_path}.now")
            LAST[fault]()
        elif fault in FAULTS:
            FAULTS[fault]()
            os.unlink(f"{log_path}.now")
