#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""What programs are slowed down by when t410trace runs, and when others of its kind do.

Started by bench.sh. A pair is all loads without anything and all loads beside one observer, the one
right after the other and in an order by lot; so is the order of loads in a pair, and that of
observers in a round. One "observer" does nothing: its row says how much two runs differ anyway.
Ratios and their intervals are those of paired.py. No figure is judged here; the status is 0 when
everything could be measured.
"""

import argparse
import contextlib
import csv
import os
import pathlib
import random
import socket
import statistics
import subprocess
import sys
import tempfile
import textwrap
import time

import paired
from bench import Problem, find_tool, run, running
from measured import Machine, is_attached
from serve_churn import serving

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[1]
sys.path.insert(0, str(ROOT / "tests/accuracy"))
from accuracy import put_between_marks  # noqa: E402

MARKS = ("<!-- table: made by make bench-disturb -->", "<!-- end of table -->")
SETTLE_S = 0.2
ATTACHED_S = 20  # at most, until it has hooked itself up
TRIAL_S = 0.1
# gcc, on a file that nothing has to be generated for
COMPILED = "user/engine/session/session.c"
CLIENTS = 50  # of redis, its benchmark's default
# perf and bpftrace look for it, and must not leave it mounted for others
TRACEFS = ["unshare", "-m", "sh", "-c",
           'mountpoint -q /sys/kernel/tracing || mount -t tracefs tracefs /sys/kernel/tracing; exec "$@"', "sh"]


def last_number(text):
    return float(text.split()[-1])


class Redis:
    """A server of its own on the loopback interface that keeps nothing."""

    def __init__(self, stack, scratch):
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self.port = str(free.getsockname()[1])
        server = [find_tool("redis-server"), "--bind", "127.0.0.1", "--port", self.port, "--dir", str(scratch)]
        stack.enter_context(running([*server, "--save", "", "--appendonly", "no"]))
        self.client = [find_tool("redis-benchmark"), "-h", "127.0.0.1", "-p", self.port, "-c", str(CLIENTS)]
        deadline = time.monotonic() + ATTACHED_S
        while time.monotonic() < deadline:
            with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", self.port), 1):
                return
            time.sleep(0.05)
        raise Problem("redis-server does not answer")

    def measure(self, requests):
        said = run([*self.client, "-n", str(requests), "-t", "get", "--csv"])
        (row,) = csv.DictReader(said.splitlines())
        return {"redis, a request": 1 / float(row["rps"]), "redis, p99": float(row["p99_latency_ms"]) / 1e3}


class Loads:
    """What is measured: by name a function of a size, and the sizes that take as long as is wanted."""

    def __init__(self, stack, options, scratch):
        perf = [find_tool("perf"), "bench", "-f", "simple", "sched"]
        redis = Redis(stack, scratch)
        all_of_them = {
            "pipe": lambda size: {"pipe": last_number(run([*perf, "pipe", "-l", str(size)]))},
            "messaging": lambda size: {"messaging": last_number(run([*perf, "messaging", "-l", str(size)]))},
            "redis": redis.measure,
            "compile": self.compile,
            "stream": lambda size: {
                "stream": last_number(run([f"{options.tools}/stream", str(os.cpu_count()), str(size)]))
            },
        }
        unknown = set(options.loads or ()) - set(all_of_them)
        if unknown:
            raise Problem(f"there is no load {' or '.join(unknown)}")
        self.measures = {name: all_of_them[name] for name in options.loads or all_of_them}
        smallest = {"pipe": 1000, "messaging": 2, "redis": 1000, "compile": 1, "stream": 1}
        self.sizes = {name: self.size_for(name, smallest[name], options.length) for name in self.measures}

    def compile(self, size):
        """As many at a time as there are CPUs, each as often as @size says."""
        one = f"gcc -std=gnu11 -D_GNU_SOURCE -O2 -Iinclude -Iuser -pipe -c -o /dev/null {COMPILED}"
        script = ["sh", "-ec", f"for i in $(seq {size}); do {one}; done"]
        began = time.monotonic()
        started = [subprocess.Popen(script, cwd=ROOT) for _ in range(os.cpu_count())]
        if any([process.wait() for process in started]):
            raise Problem(f"{COMPILED} does not compile")
        return {"compile": time.monotonic() - began}

    def size_for(self, name, size, length):
        """Grown until a run is long enough to tell from, then as long as wanted."""
        while True:
            began = time.monotonic()
            measured = next(iter(self.measures[name](size).values()))
            took = measured * size if name == "redis" else measured
            if took >= min(TRIAL_S, length):
                return max(1, round(size * length / took))
            # One that takes hardly any time says little about how much is enough.
            size = max(size + 1, min(10 * size, round(size * length / max(took, 1e-6))))
            if time.monotonic() - began > 60:
                raise Problem(f"{name} does not get longer")

    def run(self, order):
        return {what: value for name in order for what, value in self.measures[name](self.sizes[name]).items()}


class Observers:
    """By name what runs beside the loads."""

    def __init__(self, options, scratch):
        self.scratch = scratch
        self.program = options.program
        perf, empty = find_tool("perf"), [f"{options.tools}/load", f"{options.tools}/empty.bpf.o"]
        # What it records is in memory, so no disk has a part in it.
        record = [perf, "record", "-q", "-a", "-e", "sched:sched_switch", "-o", f"{scratch}/perf.data"]
        oneliner = "tracepoint:sched:sched_switch { @[comm] = count(); }"
        alone = ["-a", "--no-counters", "--weights", "cpu-time", "-q", "-o", "/dev/null"]
        self.commands = {
            "nothing": None,
            "`t410trace -a`": ("link", [options.program, *alone]),
            "`t410trace serve`": ("serve", None),
            "an empty program at each switch": ("link", empty),
            "`cpudist`": ("link", [find_tool("cpudist", "/usr/sbin", "/sbin")]),
            "`perf stat -a`": ("event", [*TRACEFS, perf, "stat", "-a"]),
            "`perf record -a -e sched:sched_switch`": ("event", [*TRACEFS, *record]),
            "`bpftrace`, switches by command": ("event", [*TRACEFS, find_tool("bpftrace"), "-e", oneliner]),
        }

    @contextlib.contextmanager
    def observing(self, name):
        """Until it is left again; it must have been there all the time."""
        if not self.commands[name]:
            yield
            return
        by, command = self.commands[name]
        if by == "serve":
            # Books are closed each second as in a live run, not every ten: or no pair would see it.
            settings = {"interval": "1s", "weights": "cpu-time"}
            with tempfile.TemporaryDirectory(dir=self.scratch) as own:
                with serving(self.program, pathlib.Path(own), **settings) as daemon:
                    yield
                    self.still_there(name, daemon)
            return
        with running(command) as process:
            deadline = time.monotonic() + ATTACHED_S
            while not is_attached(process.pid, by):
                if process.poll() is not None or time.monotonic() > deadline:
                    raise Problem(f"{name} did not start: {' '.join(command)}")
                time.sleep(0.02)
            yield
            self.still_there(name, process)

    @staticmethod
    def still_there(name, process):
        if process.poll() is not None:
            raise Problem(f"{name} ended while it was looked at, with status {process.returncode}")


def measure(loads, observers, options):
    """By observer and column: (beside it, alone) of each pair."""
    names = [n for n in observers.commands if not options.beside or any(b in n for b in options.beside)]
    found = {name: {} for name in names}
    lot = random.Random(1)
    for number in range(options.pairs):
        for name in lot.sample(names, len(names)):
            order = lot.sample(list(loads.measures), len(loads.measures))
            pair = {}
            for beside in lot.sample((True, False), 2):
                with observers.observing(name if beside else "nothing"):
                    time.sleep(SETTLE_S)
                    pair[beside] = loads.run(order)
            for column, value in pair[True].items():
                found[name].setdefault(column, []).append((value, pair[False][column]))
        if options.progress:
            print(f"{number + 1} of {options.pairs}", file=sys.stderr)
    return found


def about(machine, loads, options):
    """What it was measured on, and how."""
    sizes = ", ".join(f"{name} {size}" for name, size in loads.sizes.items())
    return (
        f"{machine} {options.pairs} pairs of runs of some {options.length:g} s (sizes: {sizes}). Ratios are time "
        "beside the observer by time alone, so above 1 is slower, with 95 % intervals."
    )


def cell(change):
    if change.low is None:
        return f"{change.ratio:.3f}"
    return f"{change.ratio:.3f} ({change.low:.3f} to {change.high:.3f})"


def duration(seconds):
    for unit, size in (("s", 1), ("ms", 1e-3)):
        if seconds >= 0.1 * size:
            return f"{seconds / size:.3g} {unit}"
    return f"{seconds / 1e-6:.3g} µs"


def alone(values):
    """The median, and where the middle half is."""
    low, _, high = statistics.quantiles(values, n=4) if len(values) > 1 else values * 3
    return f"{duration(statistics.median(values))} ({duration(low)} to {duration(high)})"


def table(found):
    columns = list(next(iter(found.values())))
    columns.sort(key=["pipe", "messaging", "redis, a request", "redis, p99", "compile", "stream"].index)
    rows = [["beside", *columns], ["---"] * (1 + len(columns))]
    for name, by_column in found.items():
        rows.append([name, *(cell(paired.change(by_column[c])) for c in columns)])
    without = {c: [pair[1] for by_column in found.values() for pair in by_column[c]] for c in columns}
    rows.append(["time alone: median, middle half", *(alone(without[c]) for c in columns)])
    return ["|" + "|".join(row) + "|" if row[1] == "---" else f"| {' | '.join(row)} |" for row in rows]


def words(text):
    return text.split(",")


def parse_options():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--tools", required=True, help="folder of the built helpers")
    parser.add_argument("--pairs", type=int, default=30, help="of each observer; below 6 there are no intervals")
    parser.add_argument("--length", type=float, default=0.25, help="seconds that a load takes")
    parser.add_argument("--loads", type=words, help="only these of pipe,messaging,redis,compile,stream")
    parser.add_argument("--beside", type=words, help="only observers with one of these, A,B, in their names")
    parser.add_argument("--progress", action="store_true", help="say how far it is")
    parser.add_argument("--document", type=pathlib.Path, help="a file that gets the table between its marks")
    parser.add_argument("program", help="t410trace")
    return parser.parse_args()


def main():
    options = parse_options()
    memory = "/dev/shm" if os.access("/dev/shm", os.W_OK) else None
    machine = Machine()
    try:
        with tempfile.TemporaryDirectory(dir=memory) as scratch, contextlib.ExitStack() as stack:
            loads = Loads(stack, options, pathlib.Path(scratch))
            found = measure(loads, Observers(options, pathlib.Path(scratch)), options)
    except (Problem, OSError) as problem:
        print(f"disturb: cannot measure: {problem}", file=sys.stderr)
        return 1
    lines = [*textwrap.wrap(about(machine, loads, options), 100), "", *table(found)]
    print("\n".join(lines))
    if options.document:
        put_between_marks(options.document, "\n" + "\n".join(lines) + "\n", MARKS)
    return 0


if __name__ == "__main__":
    sys.exit(main())
