#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only
"""Tests of the verdicts on PMUs of other vendors' shapes, without a virtual machine: results as the
guest leaves them must pass, and fail in the right test when they are spoiled.
"""

import sys

import judge_shapes as shapes
from results import Scenario
from spoilt import failing_in, refuse_spoilt, spoilers_of

LINES = 1000
SIZE = shapes.LINE * LINES
PIDS = {name: number for number, name in enumerate(shapes.ALL_PINNED, 50)}
CPUS = dict(zip(shapes.ALL_PINNED, (0, 0, 1, 2, 3)))
EVENTS = "longest_lat_cache.miss,l2_trans.l2_wb"


def truth():
    return [
        {"name": name, "pid": PIDS[name], "slot": CPUS[name] + way, "bytes": SIZE, "start_ns": 10, "end_ns": 20}
        for name in shapes.ALL_PINNED
        for way in (0, 4)
    ]


def counter(socket, direction, value):
    return {"name": f"imc{socket}/{direction}", "socket": socket, "direction": direction, "valid": True, "value": value}


def right():
    """shapes_icelake: three programs on socket 0, two on the other, all alike"""
    rows = [
        {"pid": pid, "shares": [{"counter": "imc", "value": 2 * SIZE, "low": SIZE, "high": 3 * SIZE}]}
        for pid in PIDS.values()
    ]
    # what the programs moved is in the second report
    quality = {"weights": EVENTS, "windows": 50, "weight_windows": 50}
    idle = {"weights": "cpu-time", "windows": 40, "weight_windows": 0}
    empty = {
        "interval": {"start_ns": 5, "end_ns": 10},
        "counters": [counter(0, "read", 0)],
        "workloads": [],
        "quality": idle,
    }
    full = {
        "interval": {"start_ns": 10, "end_ns": 20},
        "counters": [counter(s, d, (3 - s) * SIZE) for s in (0, 1) for d in ("read", "write")],
        "workloads": rows,
        "quality": quality,
    }
    boxes, part = range(4), 5 * LINES // 4
    perf = [f"{part},,uncore_imc_free_running_{i}/event=0xff,umask={u}/,9,100.00,," for i in boxes for u in ("0x20", "0x21")]
    kinds = [kind for kind, number in shapes.PMUS["shapes_icelake"][0].items() for _ in range(number)]
    checks = [
        {"name": "pmus", "status": "ok", "found": "8 imc_free"},
        {"name": "weights", "status": "ok", "found": shapes.PMUS["shapes_icelake"][1]},
    ]
    return {
        "list.out": {"pmus": [{"name": kind, "kind": kind, "usable": True, "problem": None} for kind in kinds]},
        "check.out": {"checks": checks},
        "all.json": [empty, full],
        "truth": truth(),
        "perf.csv": "\n".join(perf),
        "left": "0\n",
        **{f"{name}.status": "0\n" for name in ("list", "check", "all")},
    }


def failed(files):
    return failing_in(
        files, shapes.TESTS["shapes_icelake"], lambda folder: Scenario(folder, None), "shapes_icelake"
    )


def spoil_a_line_too_much(files):
    files["all.json"][1]["counters"][0]["value"] += shapes.LINE
    return {"every_byte_is_counted"}


def spoil_the_other_socket(files):
    for one in files["all.json"][1]["counters"]:
        one["socket"] = 1 - one["socket"]
    return {"every_byte_is_counted"}


def spoil_perf(files):
    files["perf.csv"] = files["perf.csv"].replace("1250,,", "1251,,", 1)
    return {"perf_counts_the_same"}


def spoil_part_of_the_time(files):
    files["perf.csv"] = files["perf.csv"].replace("100.00", "99.99", 1)
    return {"perf_counts_the_same"}


def spoil_cpu_time(files):
    files["all.json"][1]["quality"]["weights"] = "cpu-time"
    return {"weights_are_the_events_of_these_cores"}


def spoil_other_events(files):
    files["all.json"][0]["quality"]["weights"] = "cpu_cycles"
    return {"weights_are_the_events_of_these_cores"}


def spoil_few_windows(files):
    files["all.json"][1]["quality"]["weight_windows"] = 40
    return {"weights_are_the_events_of_these_cores"}


def spoil_no_report_meanwhile(files):
    files["all.json"][1]["interval"]["end_ns"] = 21
    return {"weights_are_the_events_of_these_cores"}


def spoil_halves(files):
    """Two programs of a CPU that nobody could tell apart, if one had moved more"""
    for row in files["all.json"][1]["workloads"][:2]:
        row["shares"][0]["value"] += SIZE
    return {"who_shares_a_cpu_is_told_apart_by_them"}


def spoil_box(files):
    files["list.out"]["pmus"].pop()
    return {"list_has_each_box_of_each_die"}


def spoil_standing_events(files):
    files["check.out"]["checks"][1].update(status="limited", found="CPU time: they stand still")
    return {"check_sees_what_counts"}


def spoil_module(files):
    files["left"] = "1\n"
    return {"nothing_keeps_the_module_afterwards"}


def main():
    return 1 if refuse_spoilt("shapes", right, failed, spoilers_of(globals())) else 0


if __name__ == "__main__":
    sys.exit(main())
