# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""
Counts of Bay Trail that a vendor's tool prints, played by emon.py, while processes are pinned to
modules of a CPU each: what a module requested goes to who ran there, live and afterwards.
"""

import contextlib
import json
import os
import signal
import subprocess
import time

from live import HERE, check_status, precise, require
from test_programs import EXAMPLES, counted, declaring, log_of, share_of

GROUP = "UNC_SOC_All_Reqs"
EVENTS = ["Mod0_Reqs", "Mod1_Reqs", "GFX_Reqs"]


def sums_of(log):
    """Bytes that were requested between two samples: what a run may have counted, by event"""
    for first in log:
        for last in log:
            modules = [64 * (b - a) for a, b in zip(first[1:], last[1:])]
            yield [*modules, sum(modules)]


def wait_samples(bed, tracer, more):
    """Until there are so many more samples: on a busy machine they take their time."""
    log = bed.scratch / "log"
    before = len(log_of(bed)) if log.exists() else 0
    tracer.wait_until("samples", lambda: log.exists() and len(log_of(bed)) >= before + more)


def check_owners(reports, pids, name, log, bars=True):
    """
    All events are of the same samples; a module's bytes are of who was pinned to it, and of others
    who ran there as well: its bar reaches nearly all of them, however busy others are, if there
    are windows enough to learn from.
    """
    names = [f"{name}/{event}" for event in EVENTS]
    totals = [counted(reports, of) for of in names]
    require(totals in list(sums_of(log)), f"{totals} bytes are those of no two samples")
    for module, pid in enumerate(pids):
        own = [share_of(report, pid, names[module]) for report in reports]
        other = sum(share_of(report, pid, names[1 - module])["value"] for report in reports)
        require(other == 0, f"pid {pid} never ran on module {1 - module} and has {other} bytes")
        value, high = (sum(share[key] for share in own) for key in ("value", "high"))
        precise(value > 0, f"pid {pid} has nothing of {totals[module]} bytes")
        text = f"pid {pid} has {value}, at most {high}, of {totals[module]} bytes"
        precise(high > 0.8 * totals[module] or not bars, text)
    graphics = [
        row for r in reports for row in r["workloads"] for s in row.get("shares", [])
        if s["counter"].endswith(EVENTS[2]) and s["value"]
    ]  # fmt: skip
    require(not graphics, f"what graphics moved belongs to {graphics[:1]}")


def run_live(bed, *args, late_s=0, command=()):
    """A run with the tool's samples through the example in docs; returns what it left and pids"""
    if late_s:
        (bed.scratch / "log.late").write_text(str(late_s), encoding="ascii")
    with declaring(bed) as (files, processes):
        tool = " ".join(map(str, [HERE / "emon.py", bed.scratch / "log", 50, *files]))
        source = f"{tool} | {EXAMPLES}/baytrail.py 0 1"
        with bed.tracing("-a", "--source", source, *args, command=command) as tracer:
            wait_samples(bed, tracer, 6 if late_s else 40)
            time.sleep(1)
            done = tracer.end(signal.SIGINT)
        check_status(done, done.status if done.status == 3 else 0)
        return done, [process.pid for process in processes]


def test_live(bed):
    """The tool's samples, live: each module's bytes go to who is pinned to it."""
    if os.cpu_count() < 2:
        return
    done, pids = run_live(bed, "--json", "-i", 500)
    check_owners(done.intervals(), pids, "baytrail", log_of(bed))


def part_in_long(path, pids, ns, quiet_ns):
    """
    The part of the processes' CPU time that is in slices longer than that. At first nobody can know
    that lines come late: what began before the first of them has come does not count.
    """
    events = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    of = {e["id"] for e in events if e["type"] == "workload" and e["pid"] in pids}
    begin = min(e["start_ns"] for e in events if e["type"] == "slice") + quiet_ns
    slices = [e for e in events if e["type"] == "slice" and e["workload"] in of and e["start_ns"] > begin]
    times = [(e["end_ns"] - e["start_ns"], e.get("on_cpu_ns")) for e in slices]
    parts = [(length, length if on_cpu is None else on_cpu) for length, on_cpu in times]
    return sum(part for length, part in parts if length > ns) / sum(part for _, part in parts)


def test_late(bed):
    """
    Samples that come late are those of the time when they were read, and nothing is lost. CPU time
    is cut in between, so that it is known who ran before and after they were read.
    """
    if os.cpu_count() < 2:
        return
    path = bed.scratch / "run.ndjson"
    args = ["-i", 3000, "--format", "ndjson", "-o", path]
    _, pids = run_live(bed, *args, late_s=1, command=["record"])
    done = bed.command(bed.program, "report", path, "--json")
    reports = [json.loads(line) for line in done.out.splitlines()]
    log = log_of(bed)
    check_owners(reports, pids, "baytrail", log, bars=False)
    first = [c for r in reports for c in r["counters"] if c["name"].endswith(EVENTS[0])]
    covered_ns = sum(c["covered_ns"] for c in first)
    # The tool's dates have milliseconds.
    near = min(abs(covered_ns - (b[0] - a[0])) for a in log for b in log)
    require(near < 5_000_000, f"windows cover {covered_ns} ns, {near} ns off any two samples")
    bad = [r["quality"]["invalid_windows"] + r["quality"]["uncounted_ns"] for r in reports]
    require(not any(bad), f"windows were not good: {bad}")
    part = part_in_long(path, pids, 400_000_000, 1_500_000_000)
    precise(part < 0.15, f"{part} of the CPU time is in slices of nearly half of the delay")


@contextlib.contextmanager
def recorded(bed):
    """A recording, with the tool beside it; yields the recording, its output and the pids."""
    path, printed = bed.scratch / "run", bed.scratch / "emon"
    with declaring(bed) as (files, processes), open(printed, "wb") as out:
        tool = [HERE / "emon.py", bed.scratch / "log", 50, *files]
        with bed.tracing("-a", "-i", 20, "-o", path, command=["record"]) as tracer:
            with subprocess.Popen(list(map(str, tool)), stdout=out) as emon:
                wait_samples(bed, tracer, 50)
                emon.kill()
            time.sleep(0.3)
            check_status(tracer.end(signal.SIGINT))
    yield path, printed, [process.pid for process in processes]


def test_afterwards(bed):
    """What the tool printed and a recording of the same time: the same owners, to the byte."""
    if os.cpu_count() < 2:
        return
    with recorded(bed) as (path, printed, pids):
        counts = ["--counts", printed, "--group", GROUP, "--modules", "0:1"]
        for args in (["-i", "500ms"], ["--summary"], ["--summary", "--method", "cpu-time"]):
            done = bed.command(bed.program, "report", path, "--json", *counts, *args)
            check_status(done, done.status if done.status == 3 else 0)
            done.check_schema()
            reports = [json.loads(line) for line in done.out.splitlines()]
            check_owners(reports, pids, GROUP, log_of(bed), bars="cpu-time" not in args)


TESTS = [test_live, test_late, test_afterwards]
