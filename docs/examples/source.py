#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""source.py INTERFACE: what a network interface moves, as a source of counters for t410trace:

t410trace -a --source 'docs/examples/source.py eth0'
"""
import json
import sys
import time

NAME = sys.argv[1] if len(sys.argv) > 1 else "lo"
# What is received is written to memory, what is sent is read from it.
COUNTERS = {"rx_bytes": "write", "tx_bytes": "read"}


def say(line):
    print(json.dumps(line), flush=True)  # a line in a buffer is a line too late


counters = [{"name": name, "direction": to, "socket": 0} for name, to in COUNTERS.items()]
say({"schema": "t410trace.source/1", "name": NAME, "every_ms": 50, "counters": counters})
while True:
    values = []
    for name in COUNTERS:
        with open(f"/sys/class/net/{NAME}/statistics/{name}", encoding="ascii") as file:
            values.append(int(file.read()))
    say({"time_ns": time.clock_gettime_ns(time.CLOCK_MONOTONIC), "values": values})
    time.sleep(0.05)
