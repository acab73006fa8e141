# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Recordings: what a live run would have shown can be shown later, also of a killed one."""

import json
import operator
import os
import re
import resource
import signal
import subprocess
import time

from held import held, wait_used
from live import (
    BUSY_MS,
    INCOMPLETE,
    LIMIT_S,
    MS,
    Skip,
    check_complete,
    check_status,
    clock_ns,
    on_cpu,
    precise,
    require,
    said,
    same_time,
)


def record(bed, *args, **options):
    """Records to its end; the status must be 0."""
    done = bed.command(bed.program, "record", "--no-counters", *args, **options)
    check_status(done)
    return done


def report(bed, path, *args, status=0, **options):
    done = bed.command(bed.program, "report", path, "--json", *args, **options)
    check_status(done, status)
    return done


def test_totals(bed):
    """Every nanosecond of every CPU is in the recording, whatever the intervals."""
    path = bed.scratch / "run.rec"
    done = record(bed, "-o", path, "-i", 200, "-d", 1)
    require(
        re.search(r"^t410trace record: \d+\.\d s in .*: \d+ events, .*; nothing lost$", done.err, re.M),
        f"it says {done.err!r}",
    )
    reports = report(bed, path).reports()  # each checked against CPUs x time
    require(len(reports) <= 5, f"{len(reports)} reports of 1 s in steps of 0.2 s")
    # Whoever has to wait for a CPU leaves out what would be too late.
    precise(len(reports) >= 2, f"{len(reports)} reports of 1 s in steps of 0.2 s")
    for one in reports:
        check_complete(one)
        require(one["source"] == "recording", f"source is {one['source']}")
    whole = report(bed, path, "--summary").summary()
    check_complete(whole)
    # Without windows CPU time is known by recorded interval: finer ones are interpolated.
    fine = [json.loads(line) for line in report(bed, path, "-i", 50).out.splitlines()]
    span = sum(one["interval"]["duration_ns"] for one in reports)
    steps = span / (50 * MS)
    require(steps - 1 <= len(fine) <= steps + 2, f"{len(fine)} reports of {span} ns in steps of 50 ms")
    for name in ("busy_ns", "idle_ns"):
        sums = [
            sum(socket[name] for one in some for socket in one["sockets"])
            for some in (reports, [whole], fine)
        ]
        require(sums[0] == sums[1] == sums[2], f"{name}: {sums} in three ways")


def test_unnamed(bed):
    """Without -o the file has a name with the time, and the user is told the name and the way to end it."""
    before = set(bed.scratch.iterdir())
    done = record(bed, "-d", 1, cwd=bed.scratch)
    (new,) = set(bed.scratch.iterdir()) - before
    require(re.fullmatch(r"t410trace-\d{8}-\d{6}\.rec", new.name), f"it is called {new.name}")
    require(f"into {new.name}, until Ctrl-C, at most for 1.000 s" in done.err, f"it says {done.err!r}")
    check_complete(report(bed, new, "--summary").summary())
    new.unlink()


def test_long_interval(bed):
    """An interval of seconds is booked in parts, and has all of its CPU time."""
    path = bed.scratch / "long.ndjson"
    record(bed, "--format", "ndjson", "-o", path, "-i", 4000, "-d", 4)
    lines = [json.loads(line) for line in path.read_text().splitlines()]
    inner = [line for line in lines if line["type"] == "mark" and line.get("inner")]
    # One after a block and a quarter of windows, then one for each block.
    require(1 <= len(inner) <= 3, f"{len(inner)} inner marks in 4 s")
    # Whoever gets no CPU for 2 s makes one late, and none in between.
    precise(len(inner) >= 2, f"{len(inner)} inner marks in 4 s")
    reports = report(bed, path).reports()
    require(len(reports) == 1, f"{len(reports)} reports")
    check_complete(reports[0])
    # Of shorter ones inner marks end some: what these have is estimated, and their sum is not.
    shorter = [json.loads(line) for line in report(bed, path, "-i", 500).out.splitlines()]
    steps = reports[0]["interval"]["duration_ns"] / (500 * MS)
    require(steps - 1 <= len(shorter) <= steps + 2, f"{len(shorter)} reports of 0.5 s, in {steps} x 0.5 s")
    busy = [sum(socket["busy_ns"] for one in some for socket in one["sockets"]) for some in (reports, shorter)]
    require(busy[0] == busy[1], f"{busy} ns in a long interval, and in short ones")


def test_command_and_selection(bed):
    """Selections are those of the recording, or others."""
    path = bed.scratch / "run.rec"
    done = record(bed, "-o", path, "--", bed.storm, 1, bed.burn, "-m", 300)
    pid, burnt = (int(said(done.out, "process")[0][i]) for i in (1, 3))
    ((_, _, ended),) = said(done.out, "ended")
    reports = report(bed, path).reports()
    names = {(row["comm"], row["pid"] == pid) for one in reports for row in one["workloads"]}
    expected = {("storm", False), ("burn", True)}
    require(names == expected, f"rows are {names}, the command ran burn as {pid}")
    same_time("burn", on_cpu(reports, pid=pid), burnt, 2 * MS, int(ended))
    chosen = report(bed, path, "-p", pid).reports()
    require(
        on_cpu(chosen, pid=pid) == on_cpu(reports, pid=pid), "-p shows another time than the selection"
    )
    everything = report(bed, path, "-a").reports()
    require(
        on_cpu(everything, pid=pid) == on_cpu(reports, pid=pid), "-a shows another time"
    )
    for one in everything:
        check_complete(one)
    groups = report(bed, path, "-a", "--by", "cgroup").reports()
    for one in groups:
        check_complete(one)
    nobody = bed.command(bed.program, "report", path, "-p", 4194304)
    require(nobody.status == 1, f"-p of nobody: exit status {nobody.status}")
    require(
        "4194304" in nobody.err and str(path) in nobody.err and "report -a" in nobody.err,
        f"-p of nobody: {nobody.err!r}",
    )
    threads = bed.command(bed.program, "report", path, "--by", "thread")
    require(threads.status == 1 and "record --by thread" in threads.err, f"threads: {threads.err!r}")


def test_status_of_the_command(bed):
    path = bed.scratch / "run.rec"
    done = bed.command(bed.program, "record", "--no-counters", "-q", "-o", path, "--", "sh", "-c", "exit 7")
    require(done.status == 7, f"exit status {done.status}: {done.err}")
    require(not done.err, f"-q, and yet: {done.err!r}")


def test_killed(bed):
    """What a killed recorder has written is reported, and that it was killed."""
    path = bed.scratch / "run.rec"
    with bed.process(bed.burn, "-m", BUSY_MS) as burner, bed.tracing(
        "-o", path, "-i", 100, command=["record"]
    ) as tracer:
        begin = clock_ns(burner.pid)
        wait_used(burner, 400 * MS)
        burnt = clock_ns(burner.pid) - begin
        # Each interval is written when it ends, the one under way now with the first of these.
        for _ in range(3):
            size = path.stat().st_size
            tracer.wait_until("writing", lambda size=size: path.stat().st_size > size)
        tracer.end(signal.SIGKILL)
    done = report(bed, path, status=3)
    require("ends without its end" in done.err, f"it says {done.err!r}")
    reports = done.reports()
    # A long interval is written in several parts.
    precise(len(reports) >= 3, f"{len(reports)} reports of three intervals and more")
    got = on_cpu(reports, pid=burner.pid)
    precise(got >= 0.9 * burnt, f"{got} ns of burn are in the reports, it had {burnt} before")


def test_max_size(bed):
    """However long it runs, the recording stays in its bounds and can be read."""
    path = bed.scratch / "run.rec"
    with bed.process(bed.storm, 0), bed.tracing(
        "-o", path, "-i", 50, "--window", 1, "--max-size", "1M", command=["record"]
    ) as tracer:
        sizes, deadline = [], time.monotonic() + LIMIT_S
        # Until it has shrunk some times, and was so often in its bounds.
        while len(sizes) < 50 or sum(map(operator.gt, sizes, sizes[1:])) < 3:
            require(time.monotonic() < deadline, f"the bound was not reached: {sizes[-10:]}")
            # Meanwhile no file gets another name.
            with held(tracer.process):
                sizes.append(sum(file.stat().st_size for file in bed.scratch.glob("run.rec*")))
            require(sizes[-1] <= 1 << 20, f"{sizes[-1]} bytes on disk")
            time.sleep(0.1)
        done = tracer.end(signal.SIGINT)
    require(done.status in (0, INCOMPLETE), f"exit status {done.status}: {done.err}")
    total = sum(file.stat().st_size for file in bed.scratch.glob("run.rec*"))
    require(total <= 1 << 20, f"{total} bytes on disk at the end")
    shown = bed.command(bed.program, "report", path, "--json")
    require(shown.status in (0, INCOMPLETE), f"report: exit status {shown.status}: {shown.err}")
    require(shown.reports(), "no reports")


def test_ndjson_through_a_pipe(bed):
    path = bed.scratch / "run.ndjson"
    done = bed.command(
        bed.program, "record", "--no-counters", "--format", "ndjson", "-o", "-", "-i", 200, "-d", 0.7
    )
    check_status(done)
    lines = done.out.splitlines()
    require(json.loads(lines[0])["schema"] == "t410trace.trace/1", f"it begins with {lines[0][:100]}")
    require(json.loads(lines[-1])["type"] == "end", f"it ends with {lines[-1][:100]}")
    done.check_schema()
    path.write_bytes(done.out)
    piped = report(bed, "-", input=done.out).reports()
    read = report(bed, path).reports()
    require(piped == read, "the pipe gives other reports than the file")
    for one in read:
        check_complete(one)


def test_no_file_is_lost_in_vain(bed):
    """A recording that cannot be made leaves an older file alone."""
    path = bed.scratch / "run.rec"
    path.write_text("precious", encoding="ascii")
    done = bed.command(bed.program, "record", "--no-counters", "-o", path, "-p", 4194304)
    require(done.status == 1, f"exit status {done.status}")
    bad = bed.command(bed.program, "record", "--no-counters", "-o", path, "-G", "/no/such/cgroup")
    require(bad.status == 1, f"exit status {bad.status}")
    nowhere = bed.command(bed.program, "record", "--no-counters", "-o", "/nonexistent/x", "-d", 0.1)
    require(nowhere.status == 1 and "/nonexistent/x" in nowhere.err, f"{nowhere.err!r}")
    full = bed.command(bed.program, "record", "--no-counters", "-o", "/dev/full", "--format", "ndjson", "-d", 0.3)
    require(full.status == 1 and "No space left" in full.err, f"/dev/full: {full.status} {full.err!r}")


def test_no_room_left(bed):
    """A file that cannot grow ends the run, and the message names it."""
    def limit():
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (1 << 16, 1 << 16))

    for options in (), ("--format", "ndjson"):
        path = bed.scratch / "run.rec"
        done = bed.command(
            bed.program, "record", "--no-counters", "-a", "-o", path, *options, "--",
            bed.storm, 10000, preexec_fn=limit,
        )
        said = f"cannot write to {path}: File too large"
        require(done.status == 1 and said in " ".join(done.err.split()), f"{done.status} {done.err!r}")
    require(path.stat().st_size == 1 << 16, f"{path.stat().st_size} bytes")


def test_arguments(bed):
    def check(args, status, text):
        done = bed.command(bed.program, *args)
        require(done.status == status and text in done.err, f"{args}: {done.status}, {done.err[:200]!r}")

    check(["record", "--no-counters", "-d", 0.1, "-o", "-", "--max-size", "1G"], 1, "regular files")
    check(["record", "-o", "x", "--max-size", "1Q"], 2, "--max-size 1Q")
    check(["record", "-o", "x", "--max-size", "4K"], 2, "--max-size 4K")
    check(["record", "-o", "x", "--max-size", "99999999999G"], 2, "--max-size")
    check(["record", "-o", "x", "--by", "cgroup"], 2, "--by cgroup")
    check(["record", "-o", "x", "--top", "3"], 2, "--top")
    check(["report"], 2, "FILE")
    check(["report", "a", "b"], 2, "one recording")
    check(["report", "a", "--method", "magic"], 2, "--method magic")
    check(["report", "/nonexistent/x"], 1, "/nonexistent/x")
    check(["report", bed.program], 1, bed.program)


def test_cpus_that_come(bed):
    """CPUs that were not online at the start are told of before their first slice, and counted from
    then on; those that are only possible are on no socket. (Lists say so: no CPU is switched off.)"""
    nr = os.sysconf("SC_NPROCESSORS_ONLN")
    if nr < 2:
        raise Skip("one CPU")
    path, script = bed.scratch / "come.ndjson", ""
    for name, text in (("online", "0\n"), ("possible", f"0-{nr + 3}\n")):
        (bed.scratch / name).write_text(text, encoding="ascii")
        script += f"mount --bind {bed.scratch}/{name} /sys/devices/system/cpu/{name} && "
    command = ("record", "--no-counters", "-a", "--format", "ndjson", "-o", path, "-i", 500, "-d", 1)
    with bed.process(bed.burn, "-c", 1, "-m", 3000, stdout=subprocess.DEVNULL):
        check_status(bed.command("unshare", "-m", "sh", "-c", script + 'exec "$@"', "sh", bed.program, *command))
    header, *lines = map(json.loads, path.read_text(encoding="utf-8").splitlines())
    require(header["online"] and [s["cpus"] for s in header["sockets"]] == ["0"], f"the header has {header}")
    known = {0}
    for line in lines:
        if line["type"] == "cpu" and line["online"]:
            known.add(line["cpu"])
        require(line["type"] != "slice" or line["cpu"] in known, f"nothing was told of the CPU of {line}")
    require(len(known) > 1, "no CPU has come")
    for one in report(bed, path).reports():
        cpus = sum(s["cpus"] for s in one["sockets"])
        require(1 < cpus <= nr, f"{cpus} CPUs of {nr}")
        require("unplaced_ns" not in one["quality"], "there is CPU time on no socket")


TESTS = [
    test_long_interval,
    test_totals,
    test_unnamed,
    test_command_and_selection,
    test_status_of_the_command,
    test_killed,
    test_max_size,
    test_ndjson_through_a_pipe,
    test_no_file_is_lost_in_vain,
    test_no_room_left,
    test_arguments,
    test_cpus_that_come,
]
