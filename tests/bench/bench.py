#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Measure what t410trace costs and print one table. Started by bench.sh.

No figure is judged here: a loaded machine would make a test of it fail. The
status is 0 when everything could be measured.
"""

import argparse
import contextlib
import json
import os
import pathlib
import random
import re
import shutil
import statistics
import subprocess
import sys
import time

from bench_io import IoBench, print_costs

STATS = pathlib.Path("/proc/sys/kernel/bpf_stats_enabled")
OURS, EMPTY, FLOOR, CPUDIST = "t410trace", "empty", "floor", "cpudist"
# Other builds of t410trace, to see what a change gives
BESIDE = ("beside", "beside 2", "beside 3", "beside 4")
# The ledger alone, with as many core events as weights
WEIGHTS = {"no weights": "cpu-time", "1 weight": "page-faults", "2 weights": "page-faults,task-clock"}
# With and without a v1 hierarchy; loads run at its root, and in a cgroup of it
V1 = {"v2 only": "none", "with v1": "freezer"}
# The same with windows of 10 ms closed at ticks, while CPUs are busy
TICKS = {f"ticks, {name}": event for name, event in WEIGHTS.items()}
TICK_PROGRAMS = {EMPTY: ("bench_tick",)} | {name: ("ledger_tick",) for name in TICKS}
# A program is found by name; cpudist has two for sched_switch and loads the one that works.
NAMES = {
    OURS: ("ledger_switch",),
    EMPTY: ("bench_empty",),
    FLOOR: ("bench_floor",),
    CPUDIST: ("sched_switch_btf", "sched_switch_tp"),
} | {name: ("ledger_switch",) for name in (*BESIDE, *WEIGHTS, *V1)}
# Of the load with many processes an empty program, which touches no memory, is no yardstick.
GOALS = {
    "pipe": {EMPTY: "<= 2.2", FLOOR: "", CPUDIST: "<= 0.4"},
    "messaging": {EMPTY: "", FLOOR: "<= 1.35", CPUDIST: "<= 0.25"},
}
RSS_GOAL_MIB = 16.0
TICK_GOAL_PERCENT = 0.05


class Problem(Exception):
    """Something could not be measured."""


def run(command):
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        raise Problem(f"{' '.join(command)}: {done.stderr.strip() or done.returncode}")
    return done.stdout


def find_tool(name, *folders):
    path = shutil.which(name, path=os.pathsep.join([os.environ.get("PATH", ""), *folders]))
    if not path:
        raise Problem(f"{name} is not installed")
    return path


@contextlib.contextmanager
def running(command, ready=None):
    """A program in the background; with @ready, returns once it has said so."""
    with subprocess.Popen(
        command,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE if ready else subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        text=True,
    ) as process:
        try:
            if ready and process.stdout.readline().strip() != ready:
                raise Problem(f"{' '.join(command)} did not start")
            yield process
        finally:
            process.stdin.close()
            process.terminate()
            process.wait()


@contextlib.contextmanager
def statistics_on():
    """The kernel's count of runs and run time; put back as it was."""
    before = STATS.read_text(encoding="ascii")
    STATS.write_text("1\n", encoding="ascii")
    try:
        yield
    finally:
        STATS.write_text(before, encoding="ascii")


class Bench:
    def __init__(self, options):
        self.options = options
        self.bpftool = find_tool("bpftool", "/usr/sbin", "/sbin")
        self.perf = find_tool("perf")
        self.commands = {
            OURS: [options.program, "--no-counters", "-a", "-q", "-o", "/dev/null"],
            EMPTY: [f"{options.tools}/load", f"{options.tools}/empty.bpf.o"],
            FLOOR: [f"{options.tools}/load", f"{options.tools}/floor.bpf.o"],
            CPUDIST: [find_tool("cpudist", "/usr/sbin", "/sbin")],
        } | {
            name: [program, "--no-counters", "-a", "-q", "-o", "/dev/null"]
            for name, program in zip(BESIDE, options.beside)
        } | {name: [f"{options.tools}/weigh", event] for name, event in WEIGHTS.items()}
        for name, event in TICKS.items():
            self.commands[name] = [f"{options.tools}/weigh", "-t", event]
        for name, controller in V1.items():
            self.commands[name] = [*self.commands[OURS], "--cgroup-v1", controller]
        self.loads = {
            "pipe": [self.perf, "bench", "-f", "simple", "sched", "pipe"]
            + ["-l", str(options.pipe_loops)],
            "messaging": [self.perf, "bench", "-f", "simple", "sched", "messaging"]
            + ["-l", str(options.messaging_loops)],
        }

    def program_of(self, who, process, names=None):
        """Id of the program at sched_switch that a process holds, once it is there."""
        names = names or NAMES[who]
        deadline = time.monotonic() + 20
        while time.monotonic() < deadline and process.poll() is None:
            for info in pathlib.Path(f"/proc/{process.pid}/fdinfo").iterdir():
                with contextlib.suppress(OSError):
                    match = re.search(r"^prog_id:\s+(\d+)", info.read_text("ascii"), re.M)
                    if match and self.show(match[1])["name"] in names:
                        return match[1]
            time.sleep(0.1)
        raise Problem(f"{who}: no program {' or '.join(names)} was loaded")

    def show(self, prog_id):
        return json.loads(run([self.bpftool, "prog", "show", "id", prog_id, "-j"]))

    def read_stats(self, ids):
        """(runs, nanoseconds) of each of the programs."""
        shown = {who: self.show(number) for who, number in ids.items()}
        return {who: (p.get("run_cnt", 0), p.get("run_time_ns", 0)) for who, p in shown.items()}

    def seconds(self, load):
        return float(run(self.loads[load]).split()[-1])

    def cost_round(self, order, costs):
        """One round: all hooked in the given order, then each load once."""
        with contextlib.ExitStack() as stack:
            ids = {}
            for who in order:
                process = stack.enter_context(running(self.commands[who]))
                ids[who] = self.program_of(who, process)
            time.sleep(0.3)
            for load in self.loads:
                before = self.read_stats(ids)
                self.seconds(load)
                after = self.read_stats(ids)
                for who in order:
                    runs = after[who][0] - before[who][0]
                    if runs < 1000:
                        raise Problem(f"{who} ran {runs} times only under {load}")
                    costs[load][who].append((after[who][1] - before[who][1]) / runs)

    def switch_costs(self, whose, rounds):
        """Nanoseconds a run, by load and program: one figure a round."""
        costs = {load: {who: [] for who in whose} for load in self.loads}
        lot = random.Random(1)
        with statistics_on():
            for _ in range(rounds):
                # Who comes first finds nothing of a task in the caches, and leaves it there for the rest.
                self.cost_round(lot.sample(whose, len(whose)), costs)
        return costs

    def tick_costs(self, rounds):
        """By program: (nanoseconds a run, runs a second and CPU), all CPUs busy; one a round."""
        costs = {who: [] for who in TICK_PROGRAMS}
        burn = [f"{self.options.tools}/burn", "-t", str(os.cpu_count()), "-m", "1000000"]
        with statistics_on(), contextlib.ExitStack() as stack:
            stack.enter_context(running(burn))
            ids = {}
            for who, names in TICK_PROGRAMS.items():
                process = stack.enter_context(running(self.commands[who]))
                ids[who] = self.program_of(who, process, names)
            for _ in range(rounds):
                before, begin = self.read_stats(ids), time.monotonic()
                time.sleep(2)
                took, after = time.monotonic() - begin, self.read_stats(ids)
                for who, values in costs.items():
                    runs = after[who][0] - before[who][0]
                    ns = (after[who][1] - before[who][1]) / max(1, runs)
                    values.append((ns, runs / took / os.cpu_count()))
        return costs

    def v1_costs(self, rounds):
        """switch_costs() of loads at the root of the freezer, and in a cgroup of it."""
        folder = pathlib.Path(f"/sys/fs/cgroup/freezer/t410bench-{os.getpid()}")
        if not (folder.parent / "release_agent").exists():
            return {}
        costs = self.switch_costs((EMPTY, *V1), rounds)
        loads = self.loads
        folder.mkdir()
        try:
            enter = ["sh", "-c", f"echo $$ > {folder}/cgroup.procs && exec \"$@\"", "sh"]
            self.loads = {f"{load}, v1 job": enter + command for load, command in loads.items()}
            return costs | self.switch_costs((EMPTY, *V1), rounds)
        finally:
            self.loads = loads
            time.sleep(0.2)
            folder.rmdir()

    def wall_ratios(self, load):
        """Time with the tracer by time without: one figure a pair, order by lot."""
        ratios = []
        lot = random.Random(1)
        for _ in range(self.options.pairs):
            took = {}
            for traced in lot.sample((False, True), 2):
                with contextlib.ExitStack() as stack:
                    if traced:
                        tracer = stack.enter_context(running(self.commands[OURS]))
                        self.program_of(OURS, tracer)
                    took[traced] = self.seconds(load)
            ratios.append(took[True] / took[False])
        return ratios

    def memory_kib(self):
        """Resident memory with many processes, after some reports: total and anonymous."""
        with contextlib.ExitStack() as stack:
            crowd = [f"{self.options.tools}/crowd", str(self.options.processes)]
            stack.enter_context(running(crowd, ready="ready"))
            tracer = stack.enter_context(running(self.commands[OURS]))
            self.program_of(OURS, tracer)
            time.sleep(self.options.settle)
            status = pathlib.Path(f"/proc/{tracer.pid}/status").read_text(encoding="ascii")
        fields = dict(line.split(":", 1) for line in status.splitlines())
        return {name: int(fields[name].split()[0]) for name in ("VmRSS", "RssAnon", "VmHWM")}


def spread(values):
    return f"{min(values):.2f}..{max(values):.2f}"


def print_ticks(ticks):
    """What a tick costs, and which part of a busy CPU's time that is beyond an empty program."""
    median = statistics.median
    for who, values in ticks.items():
        ns, rate = median(v[0] for v in values), median(v[1] for v in values)
        spread_ns = spread([v[0] for v in values])
        print(f"{who + ': a timer, ns a run':<44}{ns:>10.1f}  {spread_ns:<18}{rate:.0f} a second and CPU")
        if who == EMPTY:
            continue
        beyond = [(v[0] - e[0]) * v[1] / 1e7 for v, e in zip(values, ticks[EMPTY])]
        text = f"{min(beyond):.4f}..{max(beyond):.4f}"
        print(f"{who + ': beyond empty, % of a CPU':<44}{median(beyond):>10.4f}  {text:<18}<= {TICK_GOAL_PERCENT}")


def print_table(costs, weights, v1, walls, memory, options):
    median = statistics.median
    print(f"{'what':<44}{'median':>10}  {'spread':<18}{'goal':<10}")
    for load, by_program in costs.items():
        for who, values in by_program.items():
            print(f"{load + ': ' + who + ', ns a run':<44}{median(values):>10.1f}  {spread(values)}")
        for who in sorted(by_program.keys() - {OURS}):
            ratios = [a / b for a, b in zip(by_program[OURS], by_program[who])]
            print(
                f"{f'{load}: {OURS} / {who}':<44}{median(ratios):>10.2f}"
                f"  {spread(ratios):<18}{GOALS[load].get(who, '')}"
            )
    for load, by_program in weights.items():
        for who in (EMPTY, *WEIGHTS):
            values = by_program[who]
            print(f"{f'{load}: {who}, ns a run':<44}{median(values):>10.1f}  {spread(values)}")
    for load, by_program in v1.items():
        for who in (EMPTY, *V1):
            values = by_program[who]
            print(f"{f'{load}: {who}, ns a run':<44}{median(values):>10.1f}  {spread(values)}")
    for load, ratios in walls.items():
        print(f"{load + ': time with / without t410trace':<44}{median(ratios):>10.3f}  {spread(ratios)}")
    for name, kib in memory.items():
        goal = f"<= {RSS_GOAL_MIB}" if name == "VmRSS" else ""
        print(f"{f'{name}, {options.processes} processes, MiB':<44}{kib / 1024:>10.1f}  {'':<18}{goal}")


def parse_options():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--tools", required=True, help="folder of the built helpers")
    parser.add_argument("--rounds", type=int, default=6)
    parser.add_argument("--weight-rounds", type=int, default=6)
    parser.add_argument("--v1-rounds", type=int, default=4)
    parser.add_argument("--tick-rounds", type=int, default=6)
    parser.add_argument("--io-rounds", type=int, default=4)
    parser.add_argument("--pairs", type=int, default=8)
    parser.add_argument("--pipe-loops", type=int, default=30000)
    parser.add_argument("--messaging-loops", type=int, default=100)
    parser.add_argument("--processes", type=int, default=1000)
    parser.add_argument("--settle", type=float, default=5.0, help="seconds before memory is read")
    parser.add_argument(
        "--beside",
        action="append",
        default=[],
        help=f"another t410trace, measured in the same rounds; up to {len(BESIDE)}",
    )
    parser.add_argument("program", help="t410trace")
    return parser.parse_args()


def main():
    options = parse_options()
    try:
        bench = Bench(options)
        costs = {}
        if options.rounds:
            beside = BESIDE[: len(options.beside)]
            costs = bench.switch_costs((EMPTY, FLOOR, CPUDIST, OURS, *beside), options.rounds)
        weights = {}
        if options.weight_rounds:
            weights = bench.switch_costs((EMPTY, *WEIGHTS), options.weight_rounds)
        v1 = bench.v1_costs(options.v1_rounds) if options.v1_rounds else {}
        ticks = bench.tick_costs(options.tick_rounds) if options.tick_rounds else {}
        requests = {}
        if options.io_rounds:
            with statistics_on():
                requests = IoBench(bench, Problem, run).costs(options.io_rounds)
        walls = {load: bench.wall_ratios(load) for load in bench.loads} if options.pairs else {}
        memory = bench.memory_kib() if options.processes else {}
    except (Problem, OSError) as problem:
        print(f"bench: cannot measure: {problem}", file=sys.stderr)
        return 1
    print_table(costs, weights, v1, walls, memory, options)
    print_ticks(ticks)
    print_costs(requests, statistics.median, spread)
    return 0


if __name__ == "__main__":
    sys.exit(main())
