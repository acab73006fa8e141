# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""
Programs that are sources of counters (--source): what two pinned programs declare is attributed to
them, recorded and replayed to the unit; whatever the source does wrong is told, and no byte invented.
"""

import contextlib
import json
import os
import pathlib
import signal
import subprocess
import time

from daemon import Jobs, new_job, serving, wait_for
from live import BUSY_MS, HERE, LIMIT_S, check_status, precise, require, shares

EXAMPLES = HERE.parent.parent / "docs/examples"
# Bytes for each ms of CPU time
RATES = [100_003, 10_007]
COUNTER = "declared/bytes"


@contextlib.contextmanager
def declaring(bed):
    """Two programs, on a CPU each, that declare; yields their files and processes."""
    files = [bed.scratch / f"moved{i}" for i in range(2)]
    with contextlib.ExitStack() as stack:
        processes = []
        for i, file in enumerate(files):
            file.write_text("0" * 20, encoding="ascii")
            command = [HERE / "declare.py", file, i % os.cpu_count(), RATES[i], i + 1]
            processes.append(stack.enter_context(bed.process(*command)))
        yield files, processes


def source(bed, files, *options, log="log"):
    return " ".join(map(str, [HERE / "declared.py", *options, bed.scratch / log, *files]))


def log_of(bed, log="log"):
    text = (bed.scratch / log).read_text(encoding="ascii")
    return [json.loads(line) for line in text.splitlines() if line.endswith("]")]


def segments(bed, log="log"):
    """The readings of each start of the source. On a busy machine it may have none for a second."""
    parts = (bed.scratch / log).read_text(encoding="ascii").split("start\n")[1:]
    return [[json.loads(line) for line in part.splitlines() if line.endswith("]")] for part in parts]


def possible_sums(parts, reports):
    """
    What can have been counted, by file: the first reading is the first one of the run, and the
    last one may still have been on its way. Gaps are in none.
    """
    start_ns = reports[0]["interval"]["start_ns"]
    end_ns = start_ns + sum(report["interval"]["duration_ns"] for report in reports)
    parts = [[line for line in part if start_ns <= line[0] <= end_ns] for part in parts]
    first, *others = filter(None, parts)
    whole = [[b - a for a, b in zip(part[0][1:], part[-1][1:])] for part in others[:-1]]
    last = others[-1] if others else None
    for begin in first[:5]:
        for end in (last or first)[-5:]:
            sums = [b - a for a, b in zip((last[0] if last else begin)[1:], end[1:])]
            if last:
                sums = [s + b - a for s, a, b in zip(sums, begin[1:], first[-1][1:])]
            yield [s + sum(w[i] for w in whole) for i, s in enumerate(sums)]


def counted(reports, name=COUNTER):
    """Bytes of a counter in all reports, whose rows and unattributed bytes are the counter."""
    return sum(
        shares(report, name)[1]["value"]
        for report in reports
        for counter in report["counters"]
        if counter["name"] == name and counter["valid"]
    )


def share_of(report, pid, name=COUNTER):
    for row in report["workloads"]:
        for share in row.get("shares", []):
            if row.get("pid") == pid and share["counter"] == name:
                return share
    return {"value": 0, "low": 0, "high": 0}


def order(bed, fault, log="log"):
    """Tells the source with this log to do something wrong; the file goes when it has heard it."""
    name = bed.scratch / "order"
    name.write_text(fault, encoding="ascii")
    return name.rename(bed.scratch / f"{log}.now")


def run(bed, *args, seconds=3.0, options=(), command=(), fault=None, words=None):
    """
    A run with the two programs; returns (what t410trace left, their pids). With @words it ends some
    seconds after these were said of a @fault and the source was started again.
    """
    with declaring(bed) as (files, processes):
        counts = ["--source", source(bed, files, *options)]
        with bed.tracing("-a", *counts, *args, command=command) as tracer:
            if fault:
                # The source begins before the run does, and what it read then is not counted
                early = len(log_of(bed))
                tracer.wait_until("counting", lambda: len(log_of(bed)) > early + 20)
                unheard = order(bed, fault)
                tracer.wait_until(fault, lambda: not unheard.exists())
                if words:
                    tracer.wait_until(words, lambda: words.encode() in tracer.err_path.read_bytes())
                said = len(log_of(bed))
                tracer.wait_until("counting again", lambda: len(log_of(bed)) > said + 10)
            time.sleep(seconds)
            done = tracer.end(signal.SIGINT)
        check_status(done, done.status if done.status == 3 else 0)
        return done, [p.pid for p in processes]


def between_readings(total, parts, which):
    """Is this what was declared between two readings, without the gaps?"""
    sums = [[sum(line[1:]) if which is None else line[1 + which] for line in part] for part in parts]
    first, *others = filter(None, sums)
    ends = others[-1] if others else first
    # without whole parts, and of two parts the end of one and the begin of the other
    rest = total - sum(part[-1] - part[0] for part in others[:-1])
    if others:
        rest -= first[-1] - ends[0]
    return not {begin + rest for begin in first}.isdisjoint(ends)


def check_sum(bed, reports, name=COUNTER, which=None, log="log"):
    total, parts = counted(reports, name), segments(bed, log)
    sums = [sum(s) if which is None else s[which] for s in possible_sums(parts, reports)]
    text = f"{total} bytes of {name} in the reports, declared were {sums}"
    require(between_readings(total, parts, which), text)
    # Without a CPU between a reading and a mark there are more readings.
    precise(total in sums, text)
    return total


def test_attributed(bed):
    """Each program has what it declared, within its bar."""
    done, pids = run(bed, "--json", "-i", 500, seconds=8)
    reports = done.intervals()
    total = check_sum(bed, reports)
    summary = done.summary()
    require(counted([summary]) == total, "the summary has other bytes than the intervals")
    truth = list(possible_sums(segments(bed), reports))[0]
    for pid, bytes_, rate in zip(pids, truth, RATES):
        share = share_of(summary, pid)
        text = f"pid {pid} declared {bytes_}, has {share['value']} ({share['low']} to {share['high']})"
        precise(share["low"] <= bytes_ <= share["high"], text)
        precise(rate < RATES[0] or abs(share["value"] - bytes_) < 0.15 * bytes_, text)


def test_sets_of_cpus(bed):
    """A counter of a set of CPUs is what the programs there caused, and of nobody else."""
    if os.cpu_count() < 2:
        return
    done, pids = run(bed, "--json", "-i", 500, seconds=3, options=["--sets"])
    reports = done.intervals()
    ids = [socket["id"] for socket in reports[0]["sockets"]]
    require(ids[:2] == [0, 1], f"sockets {ids}")
    for i, pid in enumerate(pids):
        total = check_sum(bed, reports, f"declared/cpu{i}", i)
        own = sum(share_of(report, pid, f"declared/cpu{i}")["value"] for report in reports)
        other = sum(share_of(report, pid, f"declared/cpu{1 - i}")["value"] for report in reports)
        require(other == 0, f"pid {pid} never ran on CPU {1 - i} and has {other} bytes of it")
        precise(own > total / 2, f"pid {pid} has {own} of {total} bytes of its CPU")


def test_recorded(bed):
    """A recording says what a live run would have."""
    for kind in ("recording", "ndjson"):
        path = bed.scratch / f"run.{kind}"
        run(bed, "--format", kind, "-i", 300, "-o", path, command=["record"])
        for args in ([], ["-i", 100], ["--method", "cpu-time"]):
            done = bed.command(bed.program, "report", path, "-a", "--json", *args)
            check_status(done, done.status if done.status == 3 else 0)
            reports = [json.loads(line) for line in done.out.splitlines()]
            check_sum(bed, [report for report in reports if not report.get("summary")])
        (bed.scratch / "log").unlink()


def test_without_pmu(bed):
    """On a machine without a PMU the counters of programs are enough; nothing at all is refused."""
    with declaring(bed) as (files, _):
        done = bed.command(bed.program, "-a", "--json", "-d", 1, "--source", source(bed, files))
        check_status(done)
    require("only programs" in done.err, f"it says {done.err[:300]!r}")
    check_sum(bed, done.intervals())
    alone = bed.command(bed.program, "-a", "-d", 0.2)
    require(alone.status == 1, f"exit status {alone.status} without any counter")


# What the source does wrong, what is said of it, and what must be counted of it
FAULTS = {
    "json": ("premature end", "invalid_windows"),
    "words": ("line:1:", "invalid_windows"),
    "short": ("one for each counter", "invalid_windows"),
    "absent": ("", "invalid_windows"),
    "backward": ("older than the one before", "invalid_windows"),
    "future": ("not CLOCK_MONOTONIC", "invalid_windows"),
    "twice": ("time of the one before", "invalid_windows"),
    "fallen": ("", "invalid_windows"),
    "long": ("longer than 65536", "invalid_windows"),
    "flood": ("", None),
    "errors": ("source errors: the BMC is ?[31mslow", None),
}


def test_faults(bed):
    """Whatever is wrong with a line is told and counted, and its bytes are in the next window.

    A few sources at a time: all have to print their headers within 10 s on a machine that is busy.
    """
    names = list(FAULTS)
    for i in range(0, len(names), 4):
        check_faults(bed, names[i : i + 4])


def check_faults(bed, names):
    seen, args = {}, ["--json", "-i", 200]
    with declaring(bed) as (files, _):
        for fault in names:
            args += ["--source", source(bed, files, f"--name={fault}", log=fault)]
        with bed.tracing("-a", *args) as tracer:
            for fault in names:
                tracer.wait_reports(2)
                first = tracer.written()
                unheard = order(bed, fault, log=fault)
                tracer.wait_until(fault, lambda file=unheard: not file.exists())
                tracer.wait_reports(3)
                seen[fault] = slice(first, tracer.written())
            done = tracer.end(signal.SIGINT)
    reports = done.intervals()
    quality = [report["quality"] for report in reports]
    for fault in names:
        words, number = FAULTS[fault]
        require(words in done.err, f"{fault}: it says {done.err!r}")
        check_sum(bed, reports, f"{fault}/bytes", log=fault)
        if number:
            require(any(q[number] for q in quality[seen[fault]]), f"{fault}: nobody counted it")
    require(not any(q["uncounted_ns"] for q in quality), "a gap")


def test_leap(bed):
    """One line with far too much is not believed, because the next takes it back."""
    done, _ = run(bed, "--json", "-i", 10000, seconds=1.5, fault="huge")
    check_sum(bed, done.intervals())


def test_restarts(bed):
    """What ends or hangs is started again; what was counted meanwhile is a gap, not 0 and not a leap."""
    for fault, words in (
        ("die", "ended with status 5; it is started again in 1 s"),
        ("half", "has no end"),
        ("hang", "no good reading for 5 s; it is started again"),
    ):
        done, _ = run(bed, "--json", "-i", 300, fault=fault, words=words)
        reports = done.intervals()
        require(words in done.err, f"{fault}: it says {done.err[-300:]!r}")
        check_sum(bed, reports)
        quality = [report["quality"] for report in reports]
        require(any(q["counter_restarts"] for q in quality), f"{fault}: no restart is counted")
        gap = sum(q["uncounted_ns"] for q in quality)
        require(gap > 0.9e9, f"{fault}: a gap of {gap} ns")
        absent = [r for r in reports if not r["counters"][0]["valid"]]
        # One that is closed late may be longer than the gap.
        precise(absent, f"{fault}: no interval without data")
        (bed.scratch / "log").unlink()


def test_refused(bed):
    """A source that is none is an error with its last words, before anything is counted."""
    for command, words in (
        ("echo no BMC here >&2; exit 3", "no BMC here"),
        ("echo '{}'", "schema"),
        ("no-such-program", "not found"),
        (source(bed, [], "--sets"), "is empty"),
    ):
        done = bed.trace("-a", "-d", 0.2, "--source", command)
        require(done.status == 1, f"{command}: exit status {done.status}")
        require(words in done.err and "docs/SOURCES.md" in done.err, f"{command}: {done.err!r}")
    with declaring(bed) as (files, _):
        twice = ["--source", source(bed, files)] * 2
        done = bed.trace("-a", "-d", 0.2, *twice)
        require(done.status == 1 and "two sources are called declared" in done.err, done.err)


def group_lives(words):
    for path in pathlib.Path("/proc").glob("[0-9]*/cmdline"):
        with contextlib.suppress(OSError):
            if words in path.read_bytes():
                return True
    return False


def test_nothing_left(bed):
    """The source is gone after any end of t410trace, also when it wants to stay."""
    for number in (signal.SIGKILL, signal.SIGTERM):
        mark = f"{bed.scratch}/stay"
        with declaring(bed) as (files, _):
            command = f"trap '' TERM; sleep 1000 {mark} & {source(bed, files)} {mark}"
            pathlib.Path(mark).write_text("0" * 20, encoding="ascii")
            with bed.tracing("-a", "--source", command, "-o", "/dev/null") as tracer:
                require(group_lives(mark.encode()), "the source does not run")
                tracer.signal(number)
                tracer.process.wait()
            deadline = time.monotonic() + LIMIT_S
            while group_lives(mark.encode()) and time.monotonic() < deadline:
                time.sleep(0.05)
            require(not group_lives(mark.encode()), f"after signal {number} the source still runs")


def reports_of(tracer):
    """Those that are in its output by now; its last line may be half a line."""
    return list(map(json.loads, tracer.out_path.read_bytes().split(b"\n")[:-1]))


def valid_names(reports):
    return {counter["name"] for report in reports for counter in report["counters"] if counter["valid"]}


def test_examples(bed):
    """Both examples of docs/examples count what the system says itself."""
    program = bed.scratch / "source"
    built = bed.command("cc", "-Wall", "-Werror", "-o", program, EXAMPLES / "source.c")
    require(built.status == 0, built.err)
    lo = pathlib.Path("/sys/class/net/lo/statistics/tx_bytes")
    before = int(lo.read_text(encoding="ascii"))
    commands = [f"{EXAMPLES}/source.py lo", program]
    sources = [arg for command in commands for arg in ("--source", command)]
    with bed.tracing("-a", "--json", "-i", 200, *sources) as tracer:
        # a source that gets no CPU prints nothing: its words are waited for, not intervals
        names = {"lo/rx_bytes", "lo/tx_bytes", "disks/in", "disks/out"}
        tracer.wait_until("counting", lambda: names <= valid_names(reports_of(tracer)))
        ping = "import socket; s=socket.socket(2,2); [s.sendto(bytes(1000),('127.0.0.1',9)) for _ in range(500)]"
        subprocess.run(["python3", "-c", ping], check=True)
        tracer.wait_until("counting what was sent", lambda: counted(reports_of(tracer), "lo/tx_bytes") >= 500_000)
        done = tracer.end(signal.SIGINT)
    sent = counted(done.intervals(), "lo/tx_bytes")
    most = int(lo.read_text(encoding="ascii")) - before
    require(500_000 <= sent <= most, f"{sent} bytes of {most} were sent")


ENERGY = """
import json, os, time
counters = [
    {"name": "package", "unit": "microjoules", "source": "any", "socket": 0},
    {"name": "both", "direction": "readwrite", "socket": 0},
]
header = {"schema": "t410trace.source/1", "name": "bmc", "every_ms": 20, "counters": counters}
print(json.dumps(header), flush=True)
log, n = open("LOG", "a"), 0
while True:
    n += 1
    # More than a double can hold as nanojoules
    values = [9_100_000_000_000_001 + 7 * n, 4096 * n]
    print(*values, file=log, flush=True)
    print(json.dumps({"time_ns": time.monotonic_ns(), "values": values}), flush=True)
    time.sleep(0.02)
"""


def test_energy(bed):
    """Microjoules are split to the nanojoule beside bytes of both directions, live and from a recording."""
    file, log, path = bed.scratch / "bmc.py", bed.scratch / "energy.log", bed.scratch / "run"
    file.write_text(ENERGY.replace("LOG", str(log)), encoding="ascii")
    with bed.process(bed.burn, "-m", BUSY_MS) as busy:
        args = ["--no-counters", "-a", "-i", "300ms", "-d", "1500ms", "--source", f"python3 {file}"]
        done = bed.command(bed.program, "record", *args, "-o", path)
        check_status(done)
        busy.kill()
    names = ("bmc/package", "bmc/both")
    sums = set()
    for args in (["-i", "300ms"], ["-i", "500ms"], ["--summary", "-q"]):
        done = bed.command(bed.program, "report", path, "-a", "--json", *args)
        # The last interval may be too short for a reading.
        require(done.status in (0, 3), f"{args}: status {done.status}, {done.err}")
        done.check_schema()
        reports = [json.loads(line) for line in done.out.splitlines()]
        sums.add(tuple(counted(reports, name) for name in names))
        joules = sum(row["metrics"].get("energy_joules", 0) for r in reports for row in r["workloads"])
        require(joules > 0, f"{args}: nobody has energy")
    require(len(sums) == 1, f"{sums} by interval")
    energy, both = sums.pop()
    values = [list(map(int, line.split())) for line in log.read_text(encoding="ascii").splitlines()]
    readings = both // 4096
    require(0 < readings < len(values) and both == 4096 * readings, f"{both} bytes of {len(values)} readings")
    require(energy == 7000 * readings, f"{energy} nJ of {readings} readings of 7 microjoules")
    table = bed.command(bed.program, "report", path, "-a").out.decode()
    require("ENERGY" in table and "RD+WR" in table, table[:500])


SECOND = """
import json, os, time
counters = [{"name": "n", "direction": "write", "source": "device"}, {"name": "e", "unit": "microjoules"}]
print(json.dumps({"schema": "t410trace.source/1", "name": "second", "counters": counters}), flush=True)
n = 0
while not os.path.exists("ENOUGH"):
    n += 7
    print(json.dumps({"time_ns": time.monotonic_ns(), "values": [n, 100_000 * n]}), flush=True)
    time.sleep(0.05)
"""


def metric(daemon, name, **labels):
    """A number of /metrics."""
    for line in daemon.get("/metrics").splitlines():
        if line.startswith(f"{name}{{") and all(f'{key}="{value}"' in line for key, value in labels.items()):
            value = line.split()[-1]
            return float(value) if "." in value else int(value)
    return 0


def test_served(bed):
    """Two sources of the daemon: on /metrics, in a job's closing report, and their end in its health."""
    second = bed.scratch / "second.py"
    second.write_text(SECOND.replace("ENOUGH", f"{bed.scratch}/enough"), encoding="ascii")
    with Jobs() as jobs, declaring(bed) as (files, processes), serving(bed) as daemon:
        daemon.write(
            "".join(f"{key} = {value}\n" for key, value in daemon.settings.items())
            + f"source = {source(bed, files)}\nsource = python3 {second}\n"
        )
        daemon.start()
        job = new_job()
        name = jobs.begin(job)
        (jobs.top / name / "cgroup.procs").write_text(str(processes[0].pid), encoding="ascii")
        memory = "t410trace_memory_bytes_total"
        wait_for("bytes of the first", lambda: metric(daemon, memory, source="any") > 5_000_000)
        wait_for("bytes of the second", lambda: metric(daemon, memory, source="device") >= 21)
        total = metric(daemon, memory, source="any", direction="read")
        log = [sum(line[1:]) for line in log_of(bed)]
        require(total in {b - a for a in log for b in log}, f"{total} is no difference of two readings")
        lost = metric(daemon, "t410trace_memory_unattributed_bytes_total", source="device", reason="device")
        require(lost and lost % 7 == 0, f"{lost} bytes of the second belong to nobody")
        joules = "t410trace_workload_energy_joules_total"
        of_job = {"workload": f"slurm:{job}", "counter": "second/e"}
        wait_for("joules of the job", lambda: metric(daemon, joules, **of_job))
        processes[0].kill()
        processes[0].wait()
        jobs.end(job)
        report = daemon.report(job)
        found = [c for c in report["counters"] if c["name"] == COUNTER]
        require(found and found[0]["value"] > 0, f"the job has {found}")
        energy = report["metrics"]["energy_nanojoules"]
        (own,) = (c["value"] for c in report["counters"] if c.get("unit") == "nanojoules")
        require(energy["value"] == own > 0, f"the job has {energy}")
        (bed.scratch / "enough").touch()
        daemon.wait_log("source second: ended with status 0; it is started again in")
        wait_for("a problem", lambda: "counters" in daemon.troubles(), 60)
        require("source second" in json.dumps(daemon.any_health()), "its health does not name it")
        daemon.stop()


TESTS = [
    test_attributed,
    test_sets_of_cpus,
    test_recorded,
    test_without_pmu,
    test_faults,
    test_leap,
    test_restarts,
    test_refused,
    test_nothing_left,
    test_examples,
    test_energy,
    test_served,
]
