# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""What the live tests share: running t410trace on this kernel and reading its reports."""

import contextlib
import json
import os
import pathlib
import re
import select
import signal
import subprocess
import tempfile
import time

from disturbed import TICK_NS, stolen_ns

HERE = pathlib.Path(__file__).resolve().parent
CHECK_REPORT = HERE.parent / "check-report"
MS = 1_000_000
# CPU time may differ from the kernel's own books, and reports from the clock, by this.
SAME_TIME = 0.01
ADDS_UP = 0.001
# Books are closed on each CPU by an interrupt. A host that takes a CPU for less than a clock tick,
# which nobody tells, delays that, and the end of an interval is this much off.
EDGE_NS = 2 * MS
# Far more than anything takes, however busy the machine is.
LIMIT_S = 300
# Longer than any test: it is killed in the end.
BUSY_MS = 1000 * LIMIT_S
# Exit status when data is missing.
INCOMPLETE = 3


class Failed(Exception):
    """The program is wrong."""


class Imprecise(Failed):
    """A figure is off that others have a part in: such a test is tried again if it was measured
    that they were in the way (disturbed.py). An error of ours comes back every time.

    Some kernels hide switches of some tasks (the one these tests were written on does so for its
    process 1), and then a few milliseconds are on the wrong row. The host may stop the machine, and
    its other programs may keep us from a CPU, for seconds and at any moment.
    """


class Missed(Imprecise):
    """The kernel has said that it left programs out, because they would have interrupted themselves.
    That is rare, nobody need be in the way, and it is tried again."""


class Skip(Exception):
    """This machine cannot run the test."""


class Busy(Skip):
    """It cannot while other programs keep its CPUs busy."""


def require(condition, text):
    if not condition:
        raise Failed(text)


def precise(condition, text):
    """As require(), of a figure that is not ours alone."""
    if not condition:
        raise Imprecise(text)


def near(got, expected, share, slack_ns=0):
    return abs(got - expected) <= expected * share + slack_ns


def clock_ns(pid):
    """CPU time of another process by its own clock."""
    return time.clock_gettime_ns(~pid << 3 | 2)


class Unclocked:
    """
    CPU time that the books have and no process's own clock: a task keeps its CPU while the host takes
    it away, and has to put up with process 1 where the kernel hides that (see Imprecise).
    """

    def __init__(self):
        self.stolen, self.first = stolen_ns(), clock_ns(1)

    def stolen_since(self):
        stolen = stolen_ns() - self.stolen
        # The last step is not full.
        return stolen + TICK_NS if stolen else 0

    def since(self):
        return self.stolen_since() + clock_ns(1) - self.first


def same_time(what, got, expected, slack_ns=0, with_end=None):
    """
    The books and the process's own clock, which knows nothing of some time (see Unclocked).

    @expected: what it said last; @with_end: what its clock said when it had ended
    """
    least = expected * (1 - SAME_TIME) - slack_ns
    most = expected if with_end is None else with_end
    unclocked = Bed.unclocked.since()
    if not least <= got <= most * (1 + SAME_TIME) + slack_ns + unclocked:
        raise Imprecise(
            f"{what}: {got} ns in the reports, {expected} to {most} ns by its own clock,"
            f" {unclocked} by none"
        )


def check_status(done, status=0):
    """Who gets no CPU for long misses data and says so: not every time."""
    text = f"exit status {done.status} instead of {status}: {done.err.strip()[:300]}"
    precise(done.status == status or done.status != INCOMPLETE, text)
    require(done.status == status, text)


class Output:
    """What a run of t410trace left behind."""

    def __init__(self, status, out, err):
        self.status = status
        self.out = out
        self.err = err.decode("utf-8", "replace")

    def check_schema(self):
        """Every line satisfies its schema."""
        checked = subprocess.run(
            [CHECK_REPORT, "-"], input=self.out, capture_output=True, check=False
        )
        require(
            checked.returncode == 0,
            f"check-report: {checked.stdout.decode('utf-8', 'replace')[:400]}; {self.err[:200]}",
        )

    def reports(self):
        """All reports, every line checked against the schema and for lost CPU time."""
        self.check_schema()
        reports = [json.loads(line) for line in self.out.splitlines()]
        stolen = Bed.unclocked.stolen_since() if Bed.unclocked else 0
        for report in reports:
            check_sums(report, stolen)
        return reports

    def intervals(self):
        """The reports, without a summary at the end."""
        return [r for r in self.reports() if not r.get("summary")]

    def summary(self):
        last = self.reports()[-1]
        require(last.get("summary"), "the last report is no summary")
        return last


def check_sums(report, stolen=0):
    """
    Rows and idle time make up the CPUs' time: none is lost, none is invented, however busy the
    machine is. At the edges of an interval what the host took may be in the next one.
    """
    duration = report["interval"]["duration_ns"]
    rows = sum(row["on_cpu_ns"] for row in report["workloads"] if row.get("leaf", True))
    busy = sum(socket["busy_ns"] for socket in report["sockets"])
    other = sum(socket["idle_ns"] + socket["lost_ns"] for socket in report["sockets"])
    cpus = sum(socket["cpus"] for socket in report["sockets"])
    where = f"report {report['sequence']}"
    require(cpus == os.cpu_count(), f"{where}: {cpus} CPUs, not {os.cpu_count()}")
    require(rows <= busy, f"{where}: rows have {rows} ns, all tasks {busy} ns")
    text = (
        f"{where}: busy, idle and lost time are {busy + other} ns, CPUs x time {cpus * duration} ns"
        f" ({(busy + other) / (cpus * duration):.5f})"
    )
    require(near(busy + other, cpus * duration, ADDS_UP, stolen + EDGE_NS), text)
    precise(near(busy + other, cpus * duration, ADDS_UP, stolen), text)


def check_complete(report):
    """With -a, every task's time is on a row."""
    rows = sum(row["on_cpu_ns"] for row in report["workloads"] if row.get("leaf", True))
    busy = sum(socket["busy_ns"] for socket in report["sockets"])
    require(rows == busy, f"report {report['sequence']}: rows have {rows} ns of {busy} ns")


def shares(report, name):
    """Bytes of a counter by row, and the counter, after a look at the sum: none is lost, none invented."""
    (counter,) = (c for c in report["counters"] if c["name"] == name)
    rows = {
        row["key"]: share["value"]
        for row in report["workloads"]
        for share in row.get("shares", [])
        if share["counter"] == name
    }
    require(
        sum(rows.values()) + counter["unattributed"] == counter["value"],
        f"report {report['sequence']}: rows {rows} and {counter['unattributed']} are not"
        f" {counter['value']} of {name}",
    )
    return rows, counter


def on_cpu(reports, **wanted):
    """CPU time of the rows that have these values, all reports together."""
    return sum(
        row["on_cpu_ns"]
        for report in reports
        for row in report["workloads"]
        if all(row.get(name) == value for name, value in wanted.items())
    )


def rows_of(report, **wanted):
    return [
        row
        for row in report["workloads"]
        if all(row.get(name) == value for name, value in wanted.items())
    ]


def said(text, what):
    """The words of each line that begins with @what, as the helper programs write them."""
    if isinstance(text, bytes):
        text = text.decode("utf-8", "replace")
    return [line.split() for line in text.splitlines() if line.startswith(what + " ")]


def fill_ring():
    """So many short processes do not fit in a ring that nobody empties: two records each."""
    return max(12000, 800 * os.cpu_count())


def no_counters_args(args):
    return ["--no-counters", *map(str, args)]


class Bed:
    """Where a test runs: the programs, and a scratch folder."""

    # Since the test began
    unclocked = None

    def __init__(self, program, tools):
        Bed.unclocked = Unclocked()
        self.program = str(program)
        self.burn = f"{tools}/burn"
        self.esp_traffic = f"{tools}/esp_traffic"
        self.family = f"{tools}/family"
        self.storm = f"{tools}/storm"
        self.touch = f"{tools}/touch"
        self.weigh = f"{tools}/weigh"
        self.reader = f"{tools}/reader"
        self.iowho = f"{tools}/iowho"
        self.iogen = f"{tools}/iogen"
        self.exporter = f"{tools}/exporter"
        self.refuse = f"{tools}/refuse.so"
        # t410trace with one more source
        self.with_file = f"{tools}/t410trace-file"
        self.scratch = pathlib.Path(tempfile.mkdtemp(dir=tools))
        # A test that needs a CPU for itself takes the last one: interrupts go to the first.
        self.cpu = max(os.sched_getaffinity(0))

    def command(self, *args, **options):
        """Runs any program to its end."""
        options = {"stdout": subprocess.PIPE, "timeout": LIMIT_S} | options
        if "input" not in options:
            options["stdin"] = subprocess.DEVNULL
        try:
            done = subprocess.run(
                list(map(str, args)), stderr=subprocess.PIPE, check=False, **options
            )
        except subprocess.TimeoutExpired as error:
            raise Failed(f"{' '.join(map(str, args))}: did not end") from error
        return Output(done.returncode, done.stdout or b"", done.stderr)

    def trace(self, *args, **options):
        """Runs t410trace to its end."""
        return self.command(self.program, *no_counters_args(args), **options)

    def trace_command(self, args, command, status=0):
        """Runs t410trace around a command; returns (its output, what the command said)."""
        reports = self.scratch / "reports"
        done = self.trace("-o", reports, *args, "--", *command)
        check_status(done, status)
        return Output(done.status, reports.read_bytes(), done.err.encode()), done.out

    @contextlib.contextmanager
    def tracing(self, *args, program=None, command=()):
        """t410trace in the background, following by the time the body runs."""
        tracer = Tracer(
            [program or self.program, *command, *no_counters_args(["-v", *args])], self.scratch
        )
        try:
            tracer.wait_ready()
            yield tracer
        finally:
            tracer.kill()

    @contextlib.contextmanager
    def process(self, *command, **options):
        """A helper in the background, with pipes; killed when it does not end by itself."""
        options = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE} | options
        with subprocess.Popen(list(map(str, command)), **options) as process:
            try:
                yield process
            finally:
                if process.poll() is None:
                    process.kill()


class Tracer:
    """A running t410trace."""

    def __init__(self, command, scratch):
        # Files, not pipes: nobody reads while the test does something else.
        number = len(list(scratch.iterdir()))
        self.out_path = scratch / f"out{number}"
        self.err_path = scratch / f"err{number}"
        with open(self.out_path, "wb") as out, open(self.err_path, "wb") as err:
            self.process = subprocess.Popen(
                command, stdin=subprocess.DEVNULL, stdout=out, stderr=err
            )
        self.pid = self.process.pid

    def wait_ready(self):
        """-v describes the run on the standard error once the hooks are in place."""
        ready = re.compile(rb"^t410trace[ a-z]*: \d+ counters", re.M)
        self.wait_until("ready", lambda: ready.search(self.err_path.read_bytes()))

    def wait_until(self, what, condition):
        """Waits for something that t410trace does."""
        deadline = time.monotonic() + LIMIT_S
        while not condition():
            if self.process.poll() is not None or time.monotonic() > deadline:
                raise Failed(f"t410trace: not {what}: {self.err_path.read_text()[:300]}")
            time.sleep(0.01)

    def written(self, mark=b"\n"):
        """Number of lines (with JSON: reports) or other marks in its output so far."""
        return self.out_path.read_bytes().count(mark)

    def wait_reports(self, more, mark=b"\n"):
        """Waits for that many reports beyond what is written now: the last is all of later time."""
        enough = self.written(mark) + more
        self.wait_until(f"{more} more reports", lambda: self.written(mark) >= enough)

    def signal(self, number):
        self.process.send_signal(number)

    def end(self, number=None):
        """Waits for the end, after a signal if one is given."""
        if number:
            self.signal(number)
        try:
            status = self.process.wait(LIMIT_S)
        except subprocess.TimeoutExpired as error:
            raise Failed("t410trace did not end") from error
        return Output(status, self.out_path.read_bytes(), self.err_path.read_bytes())

    def kill(self):
        if self.process.poll() is None:
            self.process.kill()
            self.process.wait()

    def memory_kib(self):
        """Anonymous memory: that of files is the program itself, and hides a small leak."""
        status = pathlib.Path(f"/proc/{self.pid}/status").read_text(encoding="ascii")
        return int(re.search(r"^RssAnon:\s+(\d+) kB", status, re.M)[1])

    def kernel_ids(self):
        return kernel_ids(self.pid)


def kernel_ids(pid):
    """Ids of the BPF programs, maps and links that a process holds."""
    ids = {"prog": set(), "map": set(), "link": set()}
    for info in pathlib.Path(f"/proc/{pid}/fdinfo").iterdir():
        with contextlib.suppress(OSError):
            for kind, number in re.findall(
                r"^(prog|map|link)_id:\s+(\d+)", info.read_text(encoding="ascii"), re.M
            ):
                ids[kind].add(int(number))
    return ids


def read_line(process, seconds=LIMIT_S):
    """A line of a helper's output."""
    ready, _, _ = select.select([process.stdout], [], [], seconds)
    require(ready, "a helper program said nothing")
    return process.stdout.readline()


def tell(process, text=b"go\n"):
    process.stdin.write(text)
    process.stdin.flush()


def finish(process, seconds=LIMIT_S):
    """Ends a helper's input and returns the rest of its output."""
    out, _ = process.communicate(timeout=seconds)
    require(process.returncode == 0, f"a helper program ended with {process.returncode}")
    return out


def stop(tracer):
    """The usual end of a run that has no duration: Ctrl-C."""
    done = tracer.end(signal.SIGINT)
    require(done.status in (0, INCOMPLETE), f"exit status {done.status} after SIGINT: {done.err[:300]}")
    return done
