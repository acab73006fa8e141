#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""bench_run.py T410TRACE [PART...]: what t410trace costs beside its hooks.

Parts: start (until the first report, and the kernel's verifier in it), idle (the daemon with nothing
to do), crowd (a live run with 1,000 processes), size (on disk), build (from clean). All of them
unless told otherwise. CPU time is the kernel's own, in nanoseconds, so other work on the machine
makes it a little larger only; wall time is said beside it, with how busy the machine was. Root is
needed. No figure is judged here.
"""

import contextlib
import os
import pathlib
import re
import resource
import shutil
import statistics
import subprocess
import sys
import tempfile
import time

from serve_churn import serving

HERE = pathlib.Path(__file__).resolve().parent
LIVE = ("--no-counters", "-a")
STARTS = 15
FIRST_MS = 100  # of an interval
SETTLE_S, CROWD_S = 10, 30
EACH_S, IDLE_S = 10, 60  # its interval unless told otherwise
CROWD = 1000
VARIANT = "-bench"  # of the build from clean, beside the normal one


def line(what, value, goal, more=""):
    print(f"{what:42}{value:>22}{goal:>14}  {more}".rstrip(), flush=True)


def spread(values, digits=0):
    return (f"{statistics.median(values):.{digits}f}"
            f" ({min(values):.{digits}f} to {max(values):.{digits}f})")


def cpu_s(pid):
    """CPU time of all threads, in seconds; to the nanosecond, which /proc/PID/stat is not."""
    tasks = pathlib.Path(f"/proc/{pid}/task").glob("*/schedstat")
    return sum(int(t.read_text(encoding="ascii").split()[0]) for t in tasks) / 1e9


def memory_mib(pid, field):
    status = pathlib.Path(f"/proc/{pid}/status").read_text(encoding="ascii")
    return int(re.search(rf"^{field}:\s+(\d+) kB", status, re.M)[1]) / 1024


@contextlib.contextmanager
def live(program, *options, **how):
    with subprocess.Popen([program, *LIVE, *options], stderr=subprocess.DEVNULL, **how) as run:
        try:
            yield run
        finally:
            run.terminate()
            run.wait()


def start_once(program):
    """Wall and CPU time until the first report, in ms, without the interval itself."""
    began = time.monotonic()
    with live(program, "--json", "-i", f"{FIRST_MS}ms", stdout=subprocess.PIPE) as run:
        if not run.stdout.readline():
            sys.exit("bench_run.py: t410trace made no report")
        wall = time.monotonic() - began
        return wall * 1e3 - FIRST_MS, cpu_s(run.pid) * 1e3


def verifier_ms(program, scratch):
    """CPU time in bpf(): nearly all of it checks and translates programs."""
    log = scratch / "strace"
    subprocess.run(["strace", "-f", "-c", "-e", "trace=bpf", "-o", log, program, *LIVE,
                    "-d", f"{FIRST_MS}ms", "-o", os.devnull], check=True)
    found = re.search(r"^\s*[\d.]+\s+([\d.]+)\s.*\sbpf$", log.read_text(encoding="ascii"), re.M)
    return float(found[1]) * 1e3


def bench_start(program, scratch):
    start_once(program)  # what comes from the disk
    runs = [start_once(program) for _ in range(STARTS)]
    line("start to first report, wall, ms", spread([r[0] for r in runs]), "<= 150",
         f"{STARTS} runs, without the interval of {FIRST_MS} ms")
    line("  CPU time, ms", spread([r[1] for r in runs]), "")
    if shutil.which("strace"):
        share = [verifier_ms(program, scratch) for _ in range(STARTS)]
        line("  of that in bpf(), ms", spread(share), "", "the verifier, by strace -c")
    else:
        line("  of that in bpf(), ms", "not measured", "", "strace is not installed")


def bench_idle(program, scratch):
    with serving(program, scratch, interval=f"{EACH_S}s") as daemon:
        time.sleep(SETTLE_S)
        before, began = cpu_s(daemon.pid), time.monotonic()
        time.sleep(IDLE_S)
        used, took = cpu_s(daemon.pid) - before, time.monotonic() - began
        line("serve, idle: CPU, % of a core", f"{100 * used / took:.3f}", "<= 0.1",
             f"{took:.0f} s, a report every {EACH_S} s, no counters")
        line("  resident, MiB", f"{memory_mib(daemon.pid, 'VmRSS'):.1f}", "<= 12",
             f"{memory_mib(daemon.pid, 'RssAnon'):.1f} of it its own, the rest programs and libraries")


def bench_crowd(program, scratch):
    subprocess.run(["cc", "-O2", "-D_GNU_SOURCE", "-o", scratch / "crowd", HERE / "crowd.c"],
                   check=True)
    with subprocess.Popen([scratch / "crowd", str(CROWD)], stdin=subprocess.PIPE,
                          stdout=subprocess.PIPE, text=True) as crowd:
        crowd.stdout.readline()
        with live(program, "-o", os.devnull) as run:
            time.sleep(SETTLE_S)
            before, began = cpu_s(run.pid), time.monotonic()
            time.sleep(CROWD_S)
            used, took = cpu_s(run.pid) - before, time.monotonic() - began
            line(f"live, {CROWD} processes: CPU, % of a core", f"{100 * used / took:.3f}", "<= 0.5",
                 f"{took:.0f} s, each of them twice a second, a report each second")
            line("  resident, MiB", f"{memory_mib(run.pid, 'VmRSS'):.1f}", "")
        crowd.stdin.close()


def bench_size(program, scratch):
    stripped = scratch / "stripped"
    subprocess.run(["strip", "-o", stripped, program], check=True)
    line("on disk, stripped, MiB", f"{stripped.stat().st_size / 2**20:.2f}", "<= 2")


def bench_build(_, scratch):
    before, began = resource.getrusage(resource.RUSAGE_CHILDREN), time.monotonic()
    # Beside the normal build, and removed again
    made = subprocess.run(["make", "-s", f"-j{os.cpu_count()}", f"VARIANT={VARIANT}"],
                          cwd=HERE.parents[1], stdout=(scratch / "log").open("w"), check=False)
    took, after = time.monotonic() - began, resource.getrusage(resource.RUSAGE_CHILDREN)
    for folder in (HERE.parents[1] / "build").glob(f"*{VARIANT}"):
        shutil.rmtree(folder)
    if made.returncode:
        sys.exit("bench_run.py: it does not build")
    used = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    line("build from clean, wall, s", f"{took:.0f}", "<= 60", f"{os.cpu_count()} cores")
    line("  CPU time, s", f"{used:.0f}", "", f"{used / os.cpu_count():.0f} s if shared evenly")


PARTS = {
    "start": bench_start, "idle": bench_idle, "crowd": bench_crowd, "size": bench_size,
    "build": bench_build,
}


def main():
    program, parts = sys.argv[1:2], sys.argv[2:] or list(PARTS)
    if not program or not os.access(program[0], os.X_OK) or set(parts) - set(PARTS):
        sys.exit(f"usage: bench_run.py T410TRACE [{'|'.join(PARTS)}]...")
    load = os.getloadavg()[0]
    print(f"{os.cpu_count()} cores, load {load:.1f}, Linux {os.uname().release}\n")
    line("what", "median (spread)", "goal")
    with tempfile.TemporaryDirectory() as scratch:
        for part in parts:
            PARTS[part](os.path.realpath(program[0]), pathlib.Path(scratch))


main()
