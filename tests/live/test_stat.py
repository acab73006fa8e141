# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""t410trace stat with events that any machine has."""

import contextlib
import json
import os
import pathlib
import re
import signal
import subprocess
import time

from live import CHECK_REPORT, INCOMPLETE, LIMIT_S, MS, Failed, Skip, precise, require, said, same_time

PMUS = pathlib.Path("/sys/bus/event_source/devices")


def stat(bed, *args):
    return bed.command(bed.program, "stat", *args)


def reports(done):
    """All reports, every line checked against the schema and for its quality."""
    checked = subprocess.run([CHECK_REPORT, "-"], input=done.out, capture_output=True, check=False)
    require(checked.returncode == 0, f"check-report: {checked.stdout[:400]!r}; {done.err[:200]}")
    return [json.loads(line) for line in done.out.splitlines()]


def value(report, name):
    for counter in report["counters"]:
        if counter["name"] == name:
            require(counter["valid"], f"{name}: {counter.get('reason')}")
            return counter["value"]
    raise Failed(f"{name} is not in the report")


def test_command(bed):
    """A command's events are counted from its first instruction to its last."""
    done = stat(bed, "--json", "-e", "page-faults,task-clock", "--", bed.burn, "-m", 200)
    require(done.status == 0, f"exit status {done.status}: {done.err[:300]}")
    ((_, _, _, own),) = said(done.out, "process")
    # The command writes to the same place: reports are the lines that are JSON.
    done.out = b"".join(line for line in done.out.splitlines(True) if line.startswith(b"{"))
    (report,) = reports(done)
    require(report.get("summary"), "the only report is not one of the whole run")
    require(value(report, "page-faults") > 0, "a program without page faults")
    clock = value(report, "task-clock")
    precise(clock >= 198 * MS, f"{clock} ns of task-clock for 200 ms of work")
    same_time("task-clock", clock, int(own), 20 * MS)


def test_intervals(bed):
    """Intervals add up to the whole run, to the unit."""
    with bed.process(bed.burn, "-m", 60, "-w") as burner:
        done = stat(
            bed, "--json", "-p", burner.pid, "-e", "page-faults", "-i", 50, "-d", 0.3, "--summary"
        )
    require(done.status == 0, f"exit status {done.status}: {done.err[:300]}")
    *intervals, summary = reports(done)
    require(len(intervals) <= 6, f"{len(intervals)} intervals of 50 ms in 0.3 s")
    # Whoever has to wait for a CPU leaves out what would be too late.
    precise(len(intervals) >= 2, f"{len(intervals)} intervals of 50 ms in 0.3 s")
    require(summary.get("summary"), "the last report is no summary")
    for before, after in zip(intervals, intervals[1:]):
        require(
            before["interval"]["end_ns"] == after["interval"]["start_ns"], "a gap between intervals"
        )
    total = sum(value(report, "page-faults") for report in intervals)
    require(total == value(summary, "page-faults"), f"{total} in intervals")


def test_status(bed):
    """The command's own status, and the shell's for what could not be run."""
    for command, status in (
        (["sh", "-c", "exit 7"], 7),
        (["sh", "-c", "kill -TERM $$"], 143),
        (["/nonexistent/program"], 127),
        (["/etc/passwd"], 126),
    ):
        done = stat(bed, "-q", "-e", "page-faults", "--", *command)
        require(done.status == status, f"{command}: {done.status} instead of {status}")


def runs(pid, name):
    """Whether a child of this process has this name."""
    for child in pathlib.Path(f"/proc/{pid}/task/{pid}/children").read_text().split():
        with contextlib.suppress(OSError):
            if pathlib.Path(f"/proc/{child}/comm").read_text().strip() == name:
                return True
    return False


def test_interrupted(bed):
    """Ctrl-C gives the whole run; SIGTERM ends the command as well."""
    for number, status in ((signal.SIGINT, 0), (signal.SIGTERM, 0)):
        command = [bed.program, "stat", "--json", "-i", "100", "-e", "context-switches"]
        with subprocess.Popen(command, stdout=subprocess.PIPE) as tracer:
            try:
                first = tracer.stdout.readline()
                tracer.send_signal(number)
                rest, _ = tracer.communicate(timeout=LIMIT_S)
            finally:
                tracer.kill()
        last = json.loads((first + rest).splitlines()[-1])
        require(tracer.returncode == status, f"{number.name}: exit status {tracer.returncode}")
        summary = last.get("summary", False)
        require(summary == (number == signal.SIGINT), f"{number.name}: summary is {summary}")
    with bed.process(bed.program, "stat", "-e", "page-faults", "--", "sleep", 10 * LIMIT_S) as tracer:
        # The command's process waits under the program's name until it may run.
        deadline = time.monotonic() + LIMIT_S
        while not runs(tracer.pid, "sleep"):
            require(time.monotonic() < deadline, "the command does not run")
            time.sleep(0.01)
        tracer.send_signal(signal.SIGTERM)
        out, _ = tracer.communicate(timeout=LIMIT_S)
    text = f"exit status {tracer.returncode}, not that of sleep"
    # A command that gets no CPU for a second has not ended in its time, and the run does not wait.
    precise(tracer.returncode not in (0, INCOMPLETE), text)
    require(tracer.returncode == 143, text)
    require(b"page-faults" in out, "no report after SIGTERM")


def test_errors(bed):
    """Problems name the place, and what would fit."""
    done = stat(bed, "-e", "page-falts", "--", "true")
    require(done.status == 1, f"exit status {done.status}")
    require(re.search(r"^ *page-falts\n +\^$", done.err, re.M), f"no caret: {done.err}")
    require("page-faults" in done.err, f"no suggestion: {done.err}")
    done = stat(bed, "-M", "no_such_metric", "-d", 0.1)
    require(done.status == 1 and "no_such_metric" in done.err, done.err)
    for args in (("--read-budget", "0"), ("-i", "1"), ("-q", "-v"), ("-p", os.getpid(), "true")):
        done = stat(bed, *args)
        require(done.status == 2, f"{args}: exit status {done.status}")
    full = os.open("/dev/full", os.O_WRONLY)
    done = bed.command(bed.program, "stat", "-e", "page-faults", "-d", 0.05, stdout=full)
    os.close(full)
    require(done.status == 1, f"a full disk: exit status {done.status}")


def test_no_pmu(bed):
    """Without a PMU, and nothing else to count, it says what was looked for."""
    if any(pmu.name.startswith(("nvidia_", "uncore_", "amd_umc_")) for pmu in PMUS.iterdir()):
        raise Skip("this machine has uncore PMUs")
    done = stat(bed, "-d", 0.05)
    require(done.status == 1, f"exit status {done.status}")
    words = " ".join(done.err.split())
    require("no uncore PMU that is known" in words and "looked for" in words, done.err)


TESTS = [
    test_command,
    test_intervals,
    test_status,
    test_interrupted,
    test_errors,
    test_no_pmu,
]
