#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""declare.py FILE CPU BYTES SEED: a program that moves BYTES for each ms of its CPU time, and says so.

It is pinned to CPU, and runs and sleeps in turns that SEED makes. FILE always has the sum so far,
as a number of 20 digits: declared.py reads it.
"""
import os
import random
import sys
import time

path, cpu, rate, seed = sys.argv[1], *map(int, sys.argv[2:5])
os.sched_setaffinity(0, {cpu})
chance = random.Random(seed)
file = os.open(path, os.O_WRONLY)
total = 0
while True:
    end = time.process_time_ns() + chance.randrange(20, 200) * 1_000_000
    before = now = time.process_time_ns()
    while now < end:
        now = time.process_time_ns()
        if now - before >= 1_000_000:
            total += rate * (now - before) // 1_000_000
            before = now
            os.pwrite(file, b"%020d" % total, 0)
    time.sleep(chance.randrange(20, 200) / 1000)
