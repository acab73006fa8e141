# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""However a run ends, its reports are whole and nothing stays in the kernel."""

import json
import pathlib
import re
import shutil
import signal
import subprocess
import tempfile
import time

from held import waiting_ns, whole_ns
from live import (
    BUSY_MS,
    HERE,
    INCOMPLETE,
    LIMIT_S,
    MS,
    Failed,
    Output,
    Skip,
    check_status,
    finish,
    near,
    on_cpu,
    precise,
    require,
    said,
    same_time,
    stop,
    tell,
)

PINNED = pathlib.Path("/sys/fs/bpf")


def bpftool(*args):
    """bpftool's answer, None when what was asked for does not exist.

    Its status says nothing: version 7.5 fails after it has shown a link.
    """
    tool = shutil.which("bpftool", path="/usr/sbin:/sbin:/usr/bin:/bin")
    if not tool:
        raise Skip("bpftool is not installed")
    done = subprocess.run([tool, "-j", *args], capture_output=True, check=False)
    answer = json.loads(done.stdout or "null")
    return None if not answer or "error" in answer else answer


def pinned_files():
    return {path for path in PINNED.rglob("*") if not path.is_dir()}


def names_of(ids):
    """Of our programs and maps; links have none."""
    shown = [bpftool(kind, "show", "id", str(n)) for kind in ("prog", "map") for n in ids[kind]]
    return {one["name"] for one in shown if one and one.get("name")}


def ours(paths, names):
    """Those of the files that pin a program or a map of ours: others may pin theirs meanwhile."""
    found = []
    for path in paths:
        shown = [bpftool(kind, "show", "pinned", str(path)) for kind in ("prog", "map")]
        found += [str(path) for one in shown if one and one.get("name") in names]
    return found


def still_loaded(ids):
    return [
        f"{kind} {number}"
        for kind, numbers in ids.items()
        for number in numbers
        if bpftool(kind, "show", "id", str(number)) is not None
    ]


def check_gone(ids):
    """The kernel frees what nobody holds any more after a grace period."""
    deadline = time.monotonic() + LIMIT_S
    while still_loaded(ids):
        if time.monotonic() > deadline:
            raise Failed(f"still loaded: {', '.join(still_loaded(ids))}")
        time.sleep(0.05)


def end_by(bed, number):
    """Ends a busy run by a signal and looks at what is left of it."""
    before = pinned_files()
    with bed.process(bed.burn, "-m", BUSY_MS), bed.tracing(
        "-a", "--json", "-i", 100
    ) as tracer:
        tracer.wait_reports(4)
        ids = tracer.kernel_ids()
        require(len(ids["prog"]) >= 8 and len(ids["map"]) >= 4, f"it holds only {ids}")
        require(still_loaded(ids), "bpftool does not see what is loaded")
        names = names_of(ids)
        require(len(names) >= 8, f"the names of ours are {names}")
        done = tracer.end(number)
    check_gone(ids)
    pinned = ours(pinned_files() - before, names)
    require(not pinned, f"ours in {PINNED}: {pinned}")
    return done


def test_interrupt(bed):
    """Ctrl-C: the rest of the interval, then the summary."""
    done = end_by(bed, signal.SIGINT)
    check_status(done)
    reports = done.reports()
    require([r.get("summary", False) for r in reports][-2:] == [False, True], "no summary at the end")
    whole, parts = reports[-1]["interval"], [r["interval"]["duration_ns"] for r in reports[:-1]]
    require(whole["duration_ns"] == sum(parts), f"a summary of {whole}, reports of {sum(parts)} ns")


def test_interrupt_table(bed):
    with bed.tracing("-a", "-i", 100) as tracer:
        tracer.wait_reports(2, b"Z, ")
        done = stop(tracer)
    # The header of every report tells its length.
    headers = [line for line in done.out.decode().splitlines() if "Z, " in line]
    lengths = [re.search(r"([0-9.]+) s(?: \(cut short\))?, ", line)[1] for line in headers]
    require(len(lengths) >= 3, f"{len(lengths)} tables")
    require(["summary" in line for line in headers] == [False] * (len(lengths) - 1) + [True], headers)
    # Each is rounded.
    slack = sum(10.0 ** -len(text.partition(".")[2]) / 2 for text in lengths)
    *parts, whole = map(float, lengths)
    require(abs(whole - sum(parts)) <= 1.01 * slack, f"tables of {lengths} s")


def test_terminate(bed):
    done = end_by(bed, signal.SIGTERM)
    check_status(done)
    reports = done.reports()
    require(not any(r.get("summary") for r in reports), "a summary that nobody asked for")
    require(len(reports) >= 4, f"{len(reports)} reports")


def test_hangup(bed):
    """As SIGTERM, with the report that was asked for; not where it is ignored."""
    for ignores in ({}, {"program": "nohup", "command": (bed.program,)}):
        with bed.tracing("-a", "--json", "--summary", **ignores) as tracer:
            tracer.signal(signal.SIGHUP)
            if ignores:
                time.sleep(0.3)
                require(tracer.process.poll() is None, "an ignored SIGHUP has ended it")
            done = tracer.end(signal.SIGTERM if ignores else None)
        check_status(done)
        require(done.summary(), "no summary")


def test_hangup_is_passed_on(bed):
    """The command gets it, too, and its status is the run's."""
    with bed.tracing("--json", "--summary", "--", "sleep", 10 * LIMIT_S) as tracer:
        path = pathlib.Path(f"/proc/{tracer.pid}/task/{tracer.pid}/children")
        tracer.wait_until("running its command", path.read_text)
        done = tracer.end(signal.SIGHUP)
    # A command that gets no CPU for a second has not ended in its time, and the run does not wait.
    precise(done.status not in (0, INCOMPLETE), f"exit status {done.status} without the command's end")
    require(done.status == 128 + signal.SIGHUP, f"exit status {done.status}")
    require(done.summary(), "no summary")


def test_kill(bed):
    done = end_by(bed, signal.SIGKILL)
    require(done.status == -signal.SIGKILL, f"exit status {done.status}")


def test_kill_before_ready(bed):
    """At any moment while it starts."""
    for delay in (0.005, 0.02, 0.05, 0.1):
        ids = {}
        with subprocess.Popen(
            [bed.program, "--no-counters", "-a", "-o", "/dev/null"], stderr=subprocess.DEVNULL
        ) as tracer:
            time.sleep(delay)
            for info in pathlib.Path(f"/proc/{tracer.pid}/fdinfo").iterdir():
                try:
                    words = info.read_text(encoding="ascii").split()
                except OSError:
                    continue
                for kind in ("prog", "map", "link"):
                    if f"{kind}_id:" in words:
                        number = int(words[words.index(f"{kind}_id:") + 1])
                        ids.setdefault(kind, set()).add(number)
            tracer.kill()
        check_gone(ids)


def test_command_survives_interrupt_of_tracer(bed):
    """Ctrl-C reaches the command by itself; a signal to t410trace alone ends t410trace."""
    with bed.tracing("--json", "-i", "100", "--", "sleep", 10 * LIMIT_S) as tracer:
        path = pathlib.Path(f"/proc/{tracer.pid}/task/{tracer.pid}/children")
        tracer.wait_until("running its command", path.read_text)
        children = path.read_text()
        try:
            tracer.wait_reports(1)
            done = stop(tracer)
        finally:
            for pid in children.split():
                subprocess.run(["kill", pid], check=False)
    require(done.summary(), "no summary")


def test_duration(bed):
    start = time.monotonic()
    done = bed.trace("-a", "--json", "-i", 300, "-d", 0.7)
    took = time.monotonic() - start
    check_status(done)
    lengths = [r["interval"]["duration_ns"] for r in done.reports()]
    require(len(lengths) <= 3, f"{len(lengths)} reports in 0.7 s of 0.3 s each")
    require(700 * MS <= sum(lengths) <= took * 1e9, f"{sum(lengths)} ns in the reports, in {took} s")
    # Whoever has to wait for a CPU ends late, and leaves out what would be too late.
    precise(len(lengths) == 3 and near(sum(lengths), 700 * MS, 0.2), f"reports of {lengths} ns")


def test_page(bed):
    """A page at the end of a run has the CPU time of its reports."""
    with tempfile.TemporaryDirectory() as folder:
        page = pathlib.Path(folder) / "page.html"
        done = bed.trace("-a", "--json", "-i", 200, "-d", 0.8, "--html", page)
        check_status(done)
        text = page.read_text(encoding="utf-8")
    data = json.loads(re.search(r'<script type="application/json" id="data">(.*?)</script>', text)[1])
    reports = done.reports()
    text = f"{len(reports)} reports, {data['intervals']}"
    require(len(data["intervals"]) == len(reports), text)
    # Whoever has to wait for a CPU leaves out what would be too late.
    precise(len(reports) > 1, text)
    spent = [0] * len(reports)
    for row in [*data["rows"], data["others"]]:
        for first, *values in row.get("cpu", []):
            for i, value in enumerate(values):
                spent[first + i] += value
    want = [sum(w["on_cpu_ns"] for w in r["workloads"]) for r in reports]
    require(spent == want, f"{spent} ns, reports say {want}")


def test_summary_only(bed):
    with bed.process(bed.burn, "-w", "-m", 250) as burner:
        before = waiting_ns(burner.pid)
        with bed.tracing("-p", burner.pid, "--json", "-i", 100, "--summary") as tracer:
            tell(burner)
            ended = whole_ns(burner.pid)
            ((_, _, _, ns),) = said(finish(burner), "process")
            reports = tracer.end().reports()
    require(len(reports) == 1 and reports[0].get("summary"), f"{len(reports)} reports")
    spent = on_cpu(reports, pid=burner.pid)
    same_time("burn", spent, int(ns) - before, 2 * MS, ended - before)


def test_checker_can_fail(_bed):
    """The checks of all these tests, on a report that was tampered with."""
    golden = HERE.parent / "golden" / "report-no-counters.json"
    text = b"".join(golden.read_bytes().split(b"\n")) + b"\n"
    for broken in (b"", b"{}\n", text[:-2] + b"\n", text.replace(b"busy_ns", b"busy_n", 1)):
        try:
            Output(0, broken, b"").reports()
        except Failed:
            continue
        raise Failed(f"this passed: {broken[:80]!r}")


def test_pinned_is_seen(bed):
    """A program of ours that somebody pins is found, and one of others is not ours."""
    with bed.tracing("-a", "--json") as tracer:
        ids = tracer.kernel_ids()
        names = names_of(ids)
        bed.command("mount", "-t", "bpf", "bpf", bed.scratch)
        try:
            path = bed.scratch / "pinned"
            bpftool("prog", "pin", "id", str(min(ids["prog"])), str(path))
            require(ours([path], names) == [str(path)], f"{path} is not seen among {names}")
            require(not ours([path], names - names), "everything is ours")
        finally:
            bed.command("umount", bed.scratch)
        stop(tracer)
    check_gone(ids)


TESTS = [
    test_interrupt,
    test_interrupt_table,
    test_terminate,
    test_hangup,
    test_hangup_is_passed_on,
    test_kill,
    test_kill_before_ready,
    test_command_survives_interrupt_of_tracer,
    test_duration,
    test_page,
    test_summary_only,
    test_checker_can_fail,
    test_pinned_is_seen,
]
