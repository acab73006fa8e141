# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""
One more source of counters (source_file.c), which needs nothing but its file and a row: what a file
grows by is attributed, recorded and replayed like bytes of memory, to the byte.
"""

import contextlib
import json
import os
import signal
import time

from held import wait_used
from live import BUSY_MS, MS, check_status, precise, require, shares

COUNTER = "file0/bytes"
# Odd sizes, so that no sum comes right by chance
SIZES = [1_000_003, 77_777, 2_500_001, 13, 400_009, 999_983]


def grow(path, burner):
    """Adds the known sizes one by one, while a known process runs; returns their sum."""
    for size in SIZES:
        wait_used(burner, 60 * MS)
        with path.open("ab") as file:
            file.write(bytes(size))
    wait_used(burner, 60 * MS)
    return sum(SIZES)


@contextlib.contextmanager
def source_of(path):
    os.environ["SOURCE_FILE"] = str(path)
    try:
        yield
    finally:
        del os.environ["SOURCE_FILE"]


def run(bed, *args, command=()):
    """A whole run while the file grows; returns (what t410trace left, bytes, the known process)."""
    path = bed.scratch / "growing"
    path.write_bytes(bytes(12345))  # before the run, so of no interval
    # With real-time scheduling it has its CPU whatever else the machine does.
    burn = [bed.burn, "-f", "-c", bed.cpu, "-m", BUSY_MS]
    with source_of(path), bed.process(*burn) as burner, bed.tracing(
        "-a", "-i", 200, *args, program=bed.with_file, command=command
    ) as tracer:
        grown = grow(path, burner)
        # Up to the very end of the run
        with path.open("ab") as file:
            file.write(bytes(4321))
        done = tracer.end(signal.SIGINT)
        check_status(done)
        return done, grown + 4321, burner.pid


def check_bytes(reports, grown, pid):
    """
    Rows and unattributed bytes are the counter, and all intervals together the file's growth.
    Returns how many of them the known process has.
    """
    total = known = 0
    for report in reports:
        for counter in report["counters"]:
            require(counter["name"] == COUNTER, f"a counter {counter['name']}")
            rows, _ = shares(report, COUNTER)
            total += counter["value"]
            known += sum(value for key, value in rows.items() if key.startswith(f"pid:{pid}:"))
    require(total == grown, f"{total} bytes in {len(reports)} reports, the file grew by {grown}")
    return known


def check_known(known, grown):
    """Split by CPU time: it had its CPU in all windows, one of those of the socket."""
    part = known * os.cpu_count() / grown
    precise(part > 0.5, f"{known} of {grown} bytes are on the row of the process that ran")


def test_attributed(bed):
    done, grown, pid = run(bed, "--json", "--method", "cpu-time")
    reports = done.intervals()
    precise(len(reports) >= 2, f"{len(reports)} reports")
    check_known(check_bytes(reports, grown, pid), grown)


def test_recorded(bed):
    """Both formats say in all ways of reading them what a live run would have."""
    for kind in ("recording", "ndjson"):
        path = bed.scratch / f"run.{kind}"
        _, grown, pid = run(bed, "--format", kind, "-o", path, command=["record"])
        for args in ([], ["-i", 50], ["--summary"], ["--method", "cpu-time"]):
            # The program without the source: all that a report needs is in the recording.
            done = bed.command(bed.program, "report", path, "-a", "--json", *args)
            check_status(done)
            reports = [json.loads(line) for line in done.out.splitlines()]
            if "--summary" in args:
                reports = [report for report in reports if report.get("summary")]
            known = check_bytes(reports, grown, pid)
            if "cpu-time" in args:
                check_known(known, grown)


def test_only_in_tests(bed):
    """The program that is installed has no such source."""
    path = bed.scratch / "growing"
    path.write_bytes(b"")
    with source_of(path):
        done = bed.trace("-a", "--json", "-d", 0.2)
    require(not done.reports()[0]["counters"], "t410trace counts the growth of a file")


def test_unreadable(bed):
    """Without the file it says so; when it goes meanwhile, its bytes are absent, and that is said."""
    path = bed.scratch / "growing"
    with source_of(path):
        missing = bed.command(bed.with_file, "--no-counters", "-a", "-d", 0.2)
        require(missing.status == 1, f"exit status {missing.status} without the file")
        require(str(path) in missing.err, f"it says {missing.err!r}")
        path.write_bytes(b"")
        with bed.tracing("-a", "--json", "-i", 100, program=bed.with_file) as tracer:
            path.unlink()
            # the last of them began without the file
            tracer.wait_reports(3)
            done = tracer.end(signal.SIGINT)
    last = done.intervals()[-1]
    require(last["quality"]["invalid_windows"] > 0, "nobody counted the readings that failed")
    for counter in last["counters"]:
        require(not counter["valid"], f"no window, and yet {counter}")


TESTS = [
    test_attributed,
    test_recorded,
    test_only_in_tests,
    test_unreadable,
]
