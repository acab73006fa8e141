#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""methods.py FILE [OPTION...]: the bytes of each row by each method of splitting, side by side, and
how far they may be off; OPTIONs go to "t410trace report":

docs/examples/methods.py night.rec --by cgroup
"""
import json
import os
import subprocess
import sys

METHODS = ("cpu-time", "weights", "state-space")
PROGRAM = os.environ.get("T410TRACE", "t410trace")


def bytes_of_cpus(method):
    """The method that was used; of each row without rows in it what CPUs moved, and half of its interval."""
    command = [PROGRAM, "report", *sys.argv[1:], "--summary", "--json", "--method", method]
    done = subprocess.run(command, stdout=subprocess.PIPE, check=False)
    if done.returncode not in (0, 3):  # 3: data is missing, as the report says
        sys.exit(done.returncode)
    report = json.loads(done.stdout)
    names = {c["name"] for c in report["counters"]
             if c["source"] != "device" and "bdf" not in c and c["unit"] == "bytes"}
    rows = {}
    for row in report["workloads"]:
        if row.get("leaf", True):
            shares = [s for s in row["shares"] if s["counter"] in names]
            moved, wide = (sum(s[key] for s in shares) for key in ("value", "high"))
            half = (wide - sum(s["low"] for s in shares)) / 2
            rows[row["key"], row.get("comm") or row["cgroup"]["path"]] = moved, half
    return report["quality"]["method"], rows


used, tables = zip(*map(bytes_of_cpus, METHODS))
titles = [f"{to}, MB" if to == by else f"{to} ({by}), MB" for to, by in zip(METHODS, used)]
print("".join(f"{title:>24}" for title in titles))
for who in sorted(tables[-1], key=lambda who: tables[-1][who][0], reverse=True):
    cells = [table.get(who) for table in tables]
    text = "".join(f"{c[0] / 1e6:15.3f} +-{c[1] / 1e6:6.0f}" if c else f"{'-':>24}" for c in cells)
    print(text, who[0], ascii(who[1]))
