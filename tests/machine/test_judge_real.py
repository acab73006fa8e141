#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only
"""Tests of judge_real.py, without a virtual machine: results of two programs, and spoilt ones.

In place of t410trace there is a script that prints a report made here.
"""

import copy
import json
import pathlib
import subprocess
import sys
import tempfile

JUDGE = pathlib.Path(__file__).with_name("judge_real.py")
RUN = "one+two"
MIB = 1 << 20
EVENTS = ("mem_bytes_rd", "mem_bytes_wr")
# cgroup: read, written
TRUTH = {50: (100 * MIB, 40 * MIB), 51: (20 * MIB, 10 * MIB)}
REST = 5 * MIB
HOLD = "| *bars that hold* | *beside others* | | |"
MARKS = "before\n<!-- real: made by make real-programs -->\n{}<!-- end of real -->\nafter\n"


def share(name, value, width):
    return {"counter": name, "value": value, "low": value - width, "high": value + width}


def right_report(tenths=11, narrower=0):
    """Rows are off by 10 % of the truth, and their bars hold just so."""
    counters, rows = [], {cgroup: [] for cgroup in TRUTH}
    for i, event in enumerate(EVENTS):
        name = f"ucf1/{event}/src_loc_cpu=1"
        attributed = 0
        for cgroup, parts in TRUTH.items():
            value = parts[i] * tenths // 10
            rows[cgroup].append(share(name, value, value - parts[i] - narrower))
            attributed += value
        counters.append({"name": name, "event": event, "source": "cpu", "value": attributed + REST,
                         "attributed": attributed, "unattributed": REST})
    workloads = [{"kind": "cgroup", "leaf": True, "cgroup": {"id": cgroup}, "shares": shares}
                 for cgroup, shares in rows.items()]
    return {"counters": counters, "workloads": workloads,
            "quality": {"weights": "l3d_cache_refill,l2d_cache_wb"}}


def truth(times, lost=0):
    lines = [{"cgroup": cgroup, "pid": 9, "read": read * times, "written": written * times,
              "pushed_out": 0} for cgroup, (read, written) in TRUTH.items()]
    lines.append({"cpu": 0, "loads": 5, "stores": 2, "lost": lost})
    return "".join(json.dumps(line) + "\n" for line in lines)


def slices(report):
    """As many lines as the counter of reads has seen, in two slices"""
    lines = report["counters"][0]["value"] // 64
    records = [{"type": "header", "weights": ["l3d_cache_refill"]}, {"type": "slice"}]
    records += [{"type": "slice", "weights": {"l3d_cache_refill": n}}
                for n in (lines // 3, lines - lines // 3)]
    return "".join(json.dumps(record) + "\n" for record in records)


def right():
    return {
        "report": right_report(), "runs": RUN + "\n", f"{RUN}.status": "0\n", f"{RUN}.err": "",
        f"{RUN}.cgroups": "one 50\ntwo 51\n", f"{RUN}.before": truth(0), f"{RUN}.after": truth(1),
        f"{RUN}.ndjson": slices(right_report()),
    }


def judged(results, *options):
    """Status and words of the judge, and the document with the table"""
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        for file, content in results.items():
            text = content if isinstance(content, str) else json.dumps(content)
            (folder / file).write_text(text, encoding="utf-8")
        program = folder / "program"
        program.write_text(f"#!/bin/sh\necho \"$(cat '{folder}/report')\"\n", encoding="utf-8")
        program.chmod(0o755)
        document = folder / "document"
        document.write_text(MARKS.format("STALE\n"), encoding="utf-8")
        done = subprocess.run([JUDGE, *options, "--table", document, program, folder], check=False,
                              capture_output=True, text=True)
        return done.returncode, done.stdout + done.stderr, document.read_text(encoding="utf-8")


def spoilt():
    """Name, what the judge must say, results"""
    cases = []

    def case(name, words, **changes):
        results = right()
        results.update({key.replace("RUN_", f"{RUN}."): value for key, value in changes.items()})
        cases.append((name, words, results))

    report = copy.deepcopy(right_report())
    report["counters"][0]["unattributed"] -= 1
    case("parts", "do not add up", report=report)
    report = copy.deepcopy(right_report())
    report["workloads"][1]["shares"][1]["value"] += 1
    case("rows", "rows have", report=report)
    report = copy.deepcopy(right_report())
    report["quality"]["weights"] = "cpu-time"
    case("weights", "weights are cpu-time", report=report)
    case("refills", "memory was read", RUN_ndjson=slices(right_report(12)))
    case("counter", "all that was moved", RUN_after=truth(2))
    case("lost", "were not followed", RUN_after=truth(1, lost=1))
    case("ended", "ended too early: two", RUN_ended="two\n")
    case("status", "no rights", RUN_status="1\n", RUN_err="no rights")
    case("silent", "touched no memory", RUN_cgroups="one 50\nother 52\n")
    return cases


def of_limits():
    """What is wrong with --limits: the same estimates pass without"""
    off = f"{RUN}: weights: 0.200 of its bytes are in the wrong rows"
    far = f"{RUN}: state-space, weights: 0.300 of its bytes are in the wrong rows"
    cases = ((right_report(), 0, "ok real/estimate"),
             (right_report(12), 1, f"not ok real/estimate: {off}"),
             (right_report(13), 1, f"not ok real/estimate: {far}"),
             (right_report(11, 1), 1, "not ok real/estimate: 0 of 4 bars hold"))
    for report, status, words in cases:
        results = {**right(), "report": report, f"{RUN}.ndjson": slices(report)}
        if judged(results)[0]:
            yield f"judged without being asked: {words}"
        found = judged(results, "--limits")
        if found[0] != status or words not in found[1].splitlines():
            yield f"limits: {found[0]}, {found[1]}"


def main():
    problems = list(of_limits())
    status, words, document = judged(right())
    if status or "error 0.100, bars hold 2/2" not in words:
        problems.append(f"right results: {status}, {words}")
    wanted = ("| one | two | 100.0 | 40.0 | 0.100 (2) |", f"{HOLD} 1.000 |")
    if not all(row in document for row in wanted) or "STALE" in document or "after" not in document:
        problems.append(f"the table: {document}")
    narrow = right()
    narrow["report"]["workloads"][0]["shares"][0]["low"] += 1
    if f"{HOLD} 0.750 |" not in judged(narrow)[2]:
        problems.append("a bar that misses the truth by a byte holds")
    for name, reason, results in spoilt():
        status, words, document = judged(results)
        if status != 1 or reason not in words or "STALE" not in document:
            problems.append(f"{name}: {status}, {words}")
    for problem in problems:
        print(f"not ok judge_real: {problem}")
    if not problems:
        print("ok judge_real")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
