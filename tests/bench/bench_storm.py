#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Does the ring overrun while CPUs switch as often as they can? As a table; it judges nothing.

All CPUs have perf bench's pipe or messaging to do. Meanwhile t410trace runs live, records, or is
the daemon: without counters, and with a source that gives windows of 10 ms, in which every CPU sends
its slots. Said for each: how often the machine switched, what was lost, whether all CPU time is in
the books, and what t410trace took for itself. Root is needed.
"""

import argparse
import contextlib
import json
import os
import pathlib
import re
import signal
import subprocess
import sys
import tempfile
import textwrap
import time
import urllib.request

from measured import Machine, is_attached
from serve_churn import serving

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "accuracy"))
from accuracy import put_between_marks  # noqa: E402

MARKS = ("<!-- table: made by make bench-storm -->", "<!-- end of table -->")
WINDOW_S = 0.01
SETTLE_S = 2
ATTACHED_S = 300  # at most, until it has a CPU for long enough to start
PERF = ["perf", "bench", "-f", "simple", "sched"]
# More loops than anybody waits for
PIPE = [*PERF, "pipe", "-l", "2000000000"]
# Forty pipes are more processes on a CPU than its ledger has slots.
LOADS = {
    "a pipe a CPU": lambda cpus: [PIPE] * cpus,
    "40 pipes a CPU": lambda cpus: [PIPE] * 40 * cpus,
    "messaging": lambda cpus: [[*PERF, "messaging", "-l", "10000000"]],
}
HEADING = ("load", "t410trace", "switches a second", "lost", "flushes kept", "CPU time in the books",
           "of a CPU", "memory", "files")


def print_readings():
    """A source of counters: t410trace starts it."""
    header = {"schema": "t410trace.source/1", "name": "storm", "every_ms": round(1e3 * WINDOW_S),
              "counters": [{"name": "bytes", "direction": "read", "socket": 0}]}
    print(json.dumps(header), flush=True)
    number = 0
    while True:
        print(json.dumps({"time_ns": time.monotonic_ns(), "values": [number]}), flush=True)
        number += 1000
        time.sleep(WINDOW_S)


SOURCE = f"exec {HERE}/bench_storm.py readings"


@contextlib.contextmanager
def started(*commands):
    """Each with all processes that it starts."""
    processes = [subprocess.Popen(c, stdout=subprocess.DEVNULL, start_new_session=True) for c in commands]
    try:
        yield
        ended = [p.args for p in processes if p.poll() is not None]
        if ended:
            sys.exit(f"bench_storm.py: {ended} ended too early")
    finally:
        for process in processes:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            process.wait()


def switches():
    return int(re.search(r"^ctxt (\d+)", pathlib.Path("/proc/stat").read_text("ascii"), re.M)[1])


def cpu_s(pid):
    tasks = pathlib.Path(f"/proc/{pid}/task").glob("*/schedstat")
    return sum(int(t.read_text("ascii").split()[0]) for t in tasks) / 1e9


def needs(pid):
    peak = int(re.search(r"^VmHWM:\s+(\d+) kB", pathlib.Path(f"/proc/{pid}/status").read_text("ascii"), re.M)[1])
    return f"{peak / 1024:.1f} MiB", str(len(os.listdir(f"/proc/{pid}/fd")))


def watched(process, seconds):
    """Switches a second of the machine, and what the process took meanwhile."""
    deadline = time.monotonic() + ATTACHED_S
    while not is_attached(process.pid, "link"):
        if process.poll() is not None or time.monotonic() > deadline:
            sys.exit(f"bench_storm.py: {process.args} did not start")
        time.sleep(0.1)
    time.sleep(SETTLE_S)
    before, used, began = switches(), cpu_s(process.pid), time.monotonic()
    time.sleep(seconds)
    if process.poll() is not None:
        sys.exit(f"bench_storm.py: {process.args} ended with status {process.returncode}")
    took = time.monotonic() - began
    rate, share = (switches() - before) / took, 100 * (cpu_s(process.pid) - used) / took
    return f"{rate:,.0f}", (f"{share:.2f} %", *needs(process.pid))


def of_reports(lines):
    """(what was lost, flushes that were kept, CPU time in the books by CPU time that passed)."""
    lost, kept, booked, passed = {}, 0, 0, 0
    for line in lines:
        report = json.loads(line)
        for kind, value in report["quality"]["lost"].items():
            if value:
                lost[kind] = lost.get(kind, 0) + value
        kept += report["quality"]["kept_flushes"]
        for s in report["sockets"]:
            booked += s["busy_ns"] + s["idle_ns"] + s["lost_ns"]
            passed += s["cpus"] * report["interval"]["duration_ns"]
    return said(lost, kept, booked / passed)


def number(metrics, name):
    return float(re.search(rf"^t410trace_{name}_total (\S+)", metrics, re.M)[1])


def of_metrics(text):
    losses = {k: int(v) for k, v in re.findall(r'^t410trace_losses_total\{kind="(\w+)"\} (\d+)', text, re.M)}
    lost = {k: v for k, v in losses.items() if v and (k.startswith("lost_") or k in ("late_slices", "bad_records"))}
    lost |= {k: v for k, v in [("slices_ns", round(1e9 * number(text, "lost_cpu_seconds")))] if v}
    booked = sum(map(float, re.findall(r"^t410trace_cpu_seconds_total\{.*\} (\S+)", text, re.M)))
    return said(lost, losses["kept_flushes"], booked / number(text, "covered_seconds") / os.cpu_count())


def said(lost, kept, ratio):
    return ", ".join(f"{v} {k}" for k, v in lost.items()) or "nothing", str(kept), f"{100 * ratio:.4f} %"


@contextlib.contextmanager
def running(command, out=subprocess.DEVNULL):
    with subprocess.Popen(command, stdout=out, stderr=subprocess.DEVNULL) as process:
        try:
            yield process
        finally:
            process.send_signal(signal.SIGINT)
            process.wait()


def live(program, scratch, seconds, source):
    options = ["--source", SOURCE] if source else []
    with open(scratch / "live.json", "wb") as out:
        with running([program, "-a", "--no-counters", "--json", *options], out) as run:
            rate, taken = watched(run, seconds)
    # The last line sums the others up.
    lines = (scratch / "live.json").read_text("utf-8").splitlines()[:-1]
    return rate, *of_reports(lines), *taken


def record(program, scratch, seconds, source):
    options = ["--source", SOURCE] if source else []
    file = scratch / "storm.rec"
    with running([program, "record", "-a", "--no-counters", *options, "-o", file]) as run:
        rate, taken = watched(run, seconds)
    report = subprocess.run([program, "report", file, "-a", "--json"], capture_output=True, text=True, check=False)
    # 3: something is missing, and the reports say what
    if report.returncode not in (0, 3):
        sys.exit(f"bench_storm.py: the recording cannot be read: {report.stderr}")
    file.unlink()
    return rate, *of_reports(report.stdout.splitlines()[:-1]), *taken


def serve(program, scratch, seconds, source):
    settings = {"listen": "127.0.0.1:0"} | ({"source": SOURCE} if source else {})
    with tempfile.TemporaryDirectory(dir=scratch) as own, serving(program, pathlib.Path(own), **settings) as daemon:
        rate, taken = watched(daemon, seconds)
        page = re.search(r"http://[\d.:]+/", (pathlib.Path(own) / "log").read_text("utf-8"))[0]
        with urllib.request.urlopen(f"{page}metrics", timeout=10) as answer:
            return rate, *of_metrics(answer.read().decode()), *taken


def main():
    if sys.argv[1:] == ["readings"]:
        print_readings()
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seconds", type=float, default=20, help="for each line of the table")
    parser.add_argument("--loads", help=f"only these, of {','.join(LOADS)}")
    parser.add_argument("--document", type=pathlib.Path, help="a file that gets the table between its marks")
    parser.add_argument("program", help="t410trace")
    options = parser.parse_args()
    machine, program = Machine(), os.path.realpath(options.program)
    rows = [HEADING, ["---"] * len(HEADING)]
    with tempfile.TemporaryDirectory() as scratch:
        for name, commands in LOADS.items():
            if options.loads and name not in options.loads.split(","):
                continue
            for how in (live, record, serve):
                for source in (False, True):
                    with started(*commands(os.cpu_count())):
                        figures = how(program, pathlib.Path(scratch), options.seconds, source)
                    rows.append([name, how.__name__ + (", windows of 10 ms" if source else ""), *figures])
                    print(*rows[-1], sep=", ", file=sys.stderr, flush=True)
    table = ["| " + " | ".join(row) + " |" for row in rows]
    lines = [*textwrap.wrap(f"{machine} Each line is {options.seconds:g} s.", 100), "", *table]
    print("\n".join(lines))
    if options.document:
        put_between_marks(options.document, "\n" + "\n".join(lines) + "\n", MARKS)


if __name__ == "__main__":
    main()
