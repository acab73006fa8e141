#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only
"""Tests of the verdict on the scenario "tenants", without a virtual machine.

A folder as the guest leaves it must pass when the reports are right, and fail in
the right test when they are not.
"""

import copy
import json
import pathlib
import sys
import tempfile

import judge
from results import Failure, Scenario, Wiring

SECONDS = 12
NS_PER_S = 1_000_000_000
# CPU time of each second and intensity of each tenant; pids by name
CPU_NS = {"light": 450_000_000, "medium": 500_000_000, "heavy": 470_000_000}
BYTES_PER_MS = {"light": 100_000, "medium": 1_000_000, "heavy": 10_000_000}
PIDS = {"light": 201, "medium": 202, "heavy": 203}
WORKING = range(1, 11)  # of the seconds


def truth_lines():
    return [
        {
            "name": name,
            "pid": PIDS[name],
            "slot": 2,
            "bytes": 10 * CPU_NS[name] * BYTES_PER_MS[name] // 1_000_000,
            "cpu_ns": 10 * CPU_NS[name],
            "start_ns": NS_PER_S,
            "end_ns": 11 * NS_PER_S,
        }
        for name in PIDS
    ]


def row(name):
    value = CPU_NS[name] * BYTES_PER_MS[name] // 1_000_000
    share = {"counter": judge.READ1, "value": value, "low": value * 9 // 10, "high": value * 11 // 10}
    return {"pid": PIDS[name], "on_cpu_ns": CPU_NS[name], "shares": [share]}


def report(second):
    rows = [row(name) for name in PIDS] if second in WORKING else []
    total = sum(r["shares"][0]["value"] for r in rows)
    return {
        "sequence": second,
        "interval": {"start_ns": second * NS_PER_S, "end_ns": (second + 1) * NS_PER_S},
        "counters": [{"name": judge.READ1, "valid": True, "value": total}],
        "workloads": rows,
        "unattributed": [],
        "quality": {"lost": {"slices": 0, "windows": 0}},
    }


def failures(reports, lines, status=0):
    """Names of the tests that fail."""
    wiring = Wiring(judge.HERE / "traffic.conf")
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        (folder / "all.json").write_text("\n".join(map(json.dumps, reports)))
        (folder / "truth").write_text("\n".join(map(json.dumps, lines)))
        (folder / "all.status").write_text(f"{status}\n")
        (folder / "done").touch()
        failed = set()
        for function in judge.TESTS["tenants"]:
            try:
                function(Scenario(folder, wiring))
            except Failure:
                failed.add(function.__name__)
        return failed


def move(reports, source, target, part):
    """Give a part of one tenant's bytes to another; bars stay where they are."""
    for one in reports:
        rows = {r["pid"]: r["shares"][0] for r in one["workloads"]}
        if rows:
            count = int(rows[PIDS[source]]["value"] * part)
            rows[PIDS[source]]["value"] -= count
            rows[PIDS[target]]["value"] += count


def spoil_split(reports, lines):
    """More than a twentieth in the wrong row, twice as an error: too few here, too many there."""
    move(reports, "heavy", "medium", 0.04)
    return {"each_has_the_bytes_it_moved"}


def spare_split(reports, lines):
    move(reports, "heavy", "medium", 0.02)
    return set()


def spoil_bars(reports, lines):
    for share in (r["shares"][0] for one in reports for r in one["workloads"] if r["pid"] == PIDS["light"]):
        share["low"] = share["value"] = share["value"] + 1000
    for one in reports:
        rows = {r["pid"]: r["shares"][0] for r in one["workloads"]}
        if rows:
            rows[PIDS["heavy"]]["value"] -= 1000
    return {"their_bars_hold"}


def spoil_counter(reports, lines):
    reports[3]["counters"][0]["value"] -= 1
    return {"no_byte_is_invented_or_lost"}


def spoil_parts(reports, lines):
    reports[3]["workloads"][0]["shares"][0]["value"] -= 1
    return {"no_byte_is_invented_or_lost"}


def spare_unattributed(reports, lines):
    reports[3]["workloads"][0]["shares"][0]["value"] -= 1
    reports[3]["unattributed"].append({"counter": judge.READ1, "value": 1, "reason": "idle"})
    return set()


def spoil_losses(reports, lines):
    reports[5]["quality"]["lost"]["slices"] = 1
    return {"no_byte_is_invented_or_lost"}


def spoil_intensity(reports, lines):
    """Tenants that differ less make an easy test, which must not pass for a hard one."""
    for line in lines:
        if line["name"] == "medium":
            line["cpu_ns"] *= 2
    return {"they_differ_and_take_turns_at_random"}


def spoil_presence(reports, lines):
    lines[0]["end_ns"] = 6 * NS_PER_S
    return {"they_differ_and_take_turns_at_random"}


def spoil_ease(reports, lines):
    """If CPU time alone gives the right answer, the scenario shows nothing."""
    for one in reports:
        for r in one["workloads"]:
            r["on_cpu_ns"] = r["shares"][0]["value"]
    return {"they_differ_and_take_turns_at_random"}


CASES = [
    spoil_split,
    spare_split,
    spoil_bars,
    spoil_counter,
    spoil_parts,
    spare_unattributed,
    spoil_losses,
    spoil_intensity,
    spoil_presence,
    spoil_ease,
]


def main():
    right = [report(second) for second in range(SECONDS)]
    bad = 0
    for case in [None, *CASES]:
        reports, lines = copy.deepcopy(right), truth_lines()
        wanted = case(reports, lines) if case else set()
        found = failures(reports, lines)
        name = f"judge-{case.__name__.replace('_', '-') if case else 'right'}"
        if found == wanted:
            print(f"ok {name}")
        else:
            bad += 1
            print(f"not ok {name}: failed {sorted(found)}, expected {sorted(wanted)}")
    found = failures(right, truth_lines(), status=3)
    if found == {"no_byte_is_invented_or_lost"}:
        print("ok judge-status")
    else:
        bad += 1
        print(f"not ok judge-status: failed {sorted(found)}")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
