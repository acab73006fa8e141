# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""More than fits: a full ring buffer, and very many processes."""

import json
import os
import signal
import sys
import time

from live import (
    INCOMPLETE,
    MS,
    check_complete,
    check_status,
    fill_ring,
    finish,
    on_cpu,
    precise,
    require,
    rows_of,
    said,
    same_time,
    stop,
    tell,
)


# FULL_NS of bpf/ledger.bpf.c
RING_LEFT_ALONE_NS = 100000

# Processes that pass a CPU on to each other; then it says how often, and who they were.
CROWD = """
import os, resource, sys
cpu, number, turns, apart = map(int, sys.argv[1:])
os.sched_setaffinity(0, {cpu})
together, begin = os.pipe()
pids = []
for i in range(number):
    for _ in range(i * apart % 12):
        other = os.fork()
        if not other:
            os._exit(0)
        os.waitpid(other, 0)
    pids.append(os.fork())
    if not pids[-1]:
        os.close(begin)
        os.read(together, 1)
        for _ in range(turns):
            os.sched_yield()
        os._exit(0)
os.close(begin)
for pid in pids:
    os.waitpid(pid, 0)
used = resource.getrusage(resource.RUSAGE_CHILDREN)
print("crowd", used.ru_nvcsw + used.ru_nivcsw, *pids)
"""


def lost_of(reports):
    """All losses of a run by name."""
    total = {}
    for report in reports:
        for name, value in report["quality"]["lost"].items():
            total[name] = total.get(name, 0) + value
        total["kept_flushes"] = total.get("kept_flushes", 0) + report["quality"]["kept_flushes"]
    return total


def check_incomplete(done, lost):
    """Exit status 3 is for losses, and only for them; returns whether there were any."""
    missing = any(value for name, value in lost.items() if name != "kept_flushes")
    require(done.status == (INCOMPLETE if missing else 0), f"exit status {done.status}: {lost}")
    return missing


def test_full_ring(bed):
    """Nobody empties the ring while processes storm: losses are told, no time is lost."""
    with bed.tracing("-a", "--json", "-i", 200) as tracer:
        bed.command(bed.storm, 500)
        tracer.signal(signal.SIGSTOP)
        bed.command(bed.storm, fill_ring())
        tracer.signal(signal.SIGCONT)
        # The last of two new reports is of a time after the storm alone.
        tracer.wait_reports(2)
        ((_, pid, _, ns),) = said(bed.command(bed.burn, "-m", 200).out, "process")
        done = tracer.end(signal.SIGINT)
    reports = done.intervals()
    lost = lost_of(reports)
    require(lost["tasks"] > 0, f"no task record was lost: {lost}; was the ring ever full?")
    require(lost["kept_flushes"] > 0, f"the ring was full and no slice waited: {lost}")
    require(lost["slices_ns"] > 0, f"no CPU time is without an owner: {lost}")
    socket_lost = sum(s["lost_ns"] for r in reports for s in r["sockets"])
    require(socket_lost == lost["slices_ns"], f"lost_ns adds up to {socket_lost}: {lost}")
    require(done.status == INCOMPLETE, f"exit status {done.status}")
    require("data is missing" in done.err, f"it says {done.err[-300:]!r}")
    for report in reports:
        check_complete(report)
    # Afterwards all is well again.
    same_time("burn, afterwards", on_cpu(reports, pid=int(pid)), int(ns), 3 * MS)
    last = lost_of(reports[-1:])
    precise(not last["tasks"] and not last["slices_ns"], f"still lost at the end: {last}")


def test_full_ring_is_left_alone(bed):
    """Switches try again now and then only while it is full, and no time is lost by that."""
    with bed.tracing("-a", "--json", "-i", 200) as tracer:
        bed.command(bed.storm, 100)
        tracer.wait_reports(1)
        begin = time.monotonic()
        tracer.signal(signal.SIGSTOP)
        bed.command(bed.storm, fill_ring())
        # Neither of the two has a slot, so each switch needs one.
        bench = bed.command("perf", "bench", "sched", "pipe", "-l", 300000)
        took = time.monotonic() - begin
        tracer.signal(signal.SIGCONT)
        tracer.wait_reports(2)
        done = tracer.end(signal.SIGINT)
    require(bench.status == 0, f"perf bench: {bench.err[:200]}")
    reports = done.intervals()
    lost = lost_of(reports)
    require(lost["slices_ns"] > 0, f"no CPU time is without an owner: {lost}")
    require(lost["kept_flushes"] > 0, f"the ring was full and no slice waited: {lost}")
    most = took * 1e9 / RING_LEFT_ALONE_NS * os.cpu_count()
    switches = sum(r["self"]["switches"] for r in reports)
    text = f"{lost['kept_flushes']} tries in {took:.1f} s of {switches} switches"
    require(lost["kept_flushes"] <= most, text)
    # With so few switches it would be few tries in any case.
    precise(switches > 2 * most, text)
    for report in reports:
        check_complete(report)


def test_names_come_back(bed):
    """Processes whose start was lost are named all the same, if they live."""
    with bed.tracing("-a", "--json", "-i", 200) as tracer:
        tracer.signal(signal.SIGSTOP)
        bed.command(bed.storm, fill_ring())
        with bed.process(bed.burn, "-w", "-m", 100) as burner:
            tracer.signal(signal.SIGCONT)
            tracer.wait_reports(2)
            tell(burner)
            finish(burner)
        done = tracer.end(signal.SIGINT)
    reports = done.intervals()
    require(lost_of(reports)["tasks"] > 0, "the ring was never full")
    rows = [row for r in reports for row in rows_of(r, pid=burner.pid)]
    require(rows and rows[-1]["comm"] == "burn", f"its rows are {rows[-2:]}")


def memory_of_storms(bed, *args):
    """Ten times 2,000 processes: memory after the first and the last, and the run's end."""
    with bed.tracing("--json", "-i", 200, *args) as tracer:
        sizes = []
        for _ in range(10):
            require(int(bed.command(bed.storm, 2000).out) == 2000, "not all processes ran")
            # Whoever waits longer for a CPU keeps records for longer.
            tracer.wait_reports(3)
            sizes.append(tracer.memory_kib())
        return sizes, stop(tracer)


def test_memory_stays(bed):
    """20,000 processes come and go that are nobody's row: nothing of them remains."""
    with bed.process(bed.burn, "-w") as sleeper:
        sizes, _ = memory_of_storms(bed, "-p", sleeper.pid)
    precise(sizes[-1] <= 2 * sizes[0], f"KiB after each 2000 processes: {sizes}")


def test_many_rows(bed):
    """All of them have been rows; the summary keeps what it can and adds up the rest."""
    sizes, done = memory_of_storms(bed, "-a")
    # A summary may hold some 16,000 rows: that many more are no leak.
    precise(sizes[-1] <= 2 * sizes[0] + 5000, f"KiB after each 2000 processes: {sizes}")
    reports = done.reports()
    for report in reports:
        check_complete(report)
    lost = lost_of(reports[:-1])
    seen = {row["key"] for r in reports[:-1] for row in rows_of(r, comm="storm")}
    quality = reports[-1]["quality"]
    pooled, kept = quality["rows_pooled"], len(rows_of(reports[-1], comm="storm"))
    text = f"{len(seen)} rows for 20000 processes, {kept} kept, {pooled} pooled; losses of {lost}"
    # One that ran between two tasks with hidden switches, or without a slot, has no row.
    judge = precise if quality["unseen_switches"] or lost["slices_ns"] else require
    judge(min(len(seen), kept + pooled) + lost["tasks"] >= 20000, text)
    judge(pooled > 0, text)
    check_incomplete(done, lost)


def test_switch_storm(bed):
    """Many tasks and very many switches: the table of a CPU is filled again and again."""
    with bed.tracing("-a", "--json", "-i", 200) as tracer:
        bench = bed.command("perf", "bench", "sched", "messaging", "-l", 300)
        done = stop(tracer)
    require(bench.status == 0, f"perf bench: {bench.err[:200]}")
    reports = done.intervals()
    for report in reports:
        check_complete(report)
    switches = sum(r["self"]["switches"] for r in reports)
    precise(switches > 10000, f"only {switches} switches")
    lost = lost_of(reports)
    # Unless others keep us from a CPU for a tenth of a second, the ring has room.
    precise(not check_incomplete(done, lost), f"losses of {lost}")


def slices_of_crowd(bed, apart):
    """A hundred processes take turns on a CPU: they have a slice each, not one for each turn."""
    path = bed.scratch / "run.ndjson"
    command = [sys.executable, "-c", CROWD, bed.cpu, 100, 500, apart]
    done = bed.command(
        bed.program, "record", "--no-counters", "-a", "--format", "ndjson", "-o", path, "--", *command
    )
    check_status(done)
    ((_, turns, *pids),) = said(done.out, "crowd")
    events = list(map(json.loads, path.read_text(encoding="utf-8").splitlines()))
    crowd = {e["id"] for e in events if e["type"] == "workload" and str(e["pid"]) in pids}
    slices = sum(e["type"] == "slice" and e["workload"] in crowd for e in events)
    require(int(turns) >= 100 * 100, f"they had {turns} turns only")
    require(100 <= slices <= int(turns) / 10, f"{slices} slices of {turns} turns")


def test_many_on_a_cpu(bed):
    slices_of_crowd(bed, 0)


def test_many_apart_on_a_cpu(bed):
    """The same with numbers that lie apart, as where others start in between."""
    slices_of_crowd(bed, 7)


TESTS = [
    test_full_ring,
    test_full_ring_is_left_alone,
    test_names_come_back,
    test_memory_stays,
    test_many_rows,
    test_switch_storm,
    test_many_on_a_cpu,
    test_many_apart_on_a_cpu,
]
