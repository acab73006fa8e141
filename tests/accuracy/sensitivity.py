#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""What does each number of the estimate do? The error at half, one and double of it.

sensitivity.py [--kept] BUILD T410TRACE [FILE]

BUILD is a folder of "make sensitivity": it has sensitivity/t410trace and test_io_accuracy, whose
numbers can be scaled (tests/accuracy/scaled.c). T410TRACE is the normal program. The traces are
those of "make check-accuracy" and the devices of its unit test. First it is seen that the scaled
build with factor 1 says what the normal one says, byte for byte. Results are kept in
BUILD/sensitivity, so that it goes on where it was ended; another program begins anew. With --kept
nothing is measured, and numbers without results are said to have none. The table is printed; FILE
gets it, too, between its two marks.
"""

import argparse
import concurrent.futures
import dataclasses
import hashlib
import json
import os
import pathlib
import subprocess
import sys

import accuracy
import scenario
import score

FACTORS = (0.5, 2.0)
SEEDS = (101, 102, 103, 104, 105)
MARKS = ("<!-- table: made by make sensitivity -->", "<!-- end of table -->")
KINDS = [(mode, weights) for mode in scenario.MODES + scenario.FAMILIES for weights in (0, 1)]
HEAD = (
    "| constant | value | meaning | error changes most in | error | bars hold | width"
    " | broken at half | at double |"
)
# An error or width that changes by a smaller part is as good as the same.
SAME = 0.005
# Meanings of numbers that are about devices begin with it.
DEVICES_ONLY = "I/O:"
# A list of broken promises that is longer is cut.
NAMED = 3


def scaled(name, factor):
    return {**os.environ, "T410_SCALED": f"{name}:{factor}"}


def run(command, environment=None, statuses=(0,)):
    limit = accuracy.REPORT_SECONDS
    done = subprocess.run(
        command, env=environment, capture_output=True, text=True, check=False, timeout=limit
    )
    if done.returncode not in statuses:
        words = " ".join(done.stderr.split())
        said = f"status {done.returncode}: {words[:200]}"
        raise accuracy.Problem(f"{' '.join(map(str, command))}: {said}")
    return done.stdout


class Traces:
    """All traces, made once."""

    def __init__(self, folder):
        self.folder = folder
        folder.mkdir(parents=True, exist_ok=True)

    def path(self, case):
        return self.folder / f"{case.mode}-{case.weights}-{case.seed}"

    def make(self, case):
        trace, truth = self.path(case), self.path(case).with_suffix(".truth")
        if truth.exists():
            return
        halfway = truth.with_suffix(".new")
        scenario.make(case.mode, case.options(), trace, halfway)
        halfway.rename(truth)

    def truth(self, case):
        return json.loads(self.path(case).with_suffix(".truth").read_text("ascii"))


def examine(job):
    """(digest of the report, its score as a list); the score of before if it is the same."""
    program, environment, traces, case, before = job
    traces.make(case)
    text = run([program, "report", traces.path(case), "--json"], environment, (0, 3))
    digest = hashlib.sha256(text.encode()).hexdigest()
    if before and digest == before[0]:
        return before
    got = score.score(text, traces.truth(case))
    return [digest, list(dataclasses.astuple(got))]


def baseline(job):
    """The error of the simpler method that a family is compared with."""
    program, traces, case = job
    method = accuracy.baselines_of(case.weights)[-1]
    text = run([program, "report", traces.path(case), "--json", "--method", method], None, (0, 3))
    return score.score(text, traces.truth(case)).wape


def devices(program, environment=None):
    """By scenario: error and its limit, part of the bars that hold and its limit, width."""
    lines = run([program, "scores"], environment).splitlines()
    return {name: list(map(float, numbers)) for name, *numbers in map(str.split, lines)}


class Bench:
    """Runs all families with one number scaled; keeps what it has seen."""

    def __init__(self, build, normal, pool):
        self.folder = build / "sensitivity"
        self.program = self.folder / "t410trace"
        self.test = self.folder / "test_io_accuracy"
        self.normal, self.normal_test = normal, build / "tests/unit/engine/split/test_io_accuracy"
        self.pool = pool
        self.traces = Traces(self.folder / "traces")
        self.cases = [accuracy.Case(*kind, seed) for kind in KINDS for seed in SEEDS]
        self.kept = self.folder / "results.ndjson"
        digest = hashlib.sha256(self.program.read_bytes() + self.test.read_bytes()).hexdigest()
        self.done = self.load(digest)

    def constants(self):
        text = run([self.program], {**os.environ, "T410_SCALED": "list"})
        return [line.split("\t") for line in text.splitlines()]

    def load(self, digest):
        """What was seen of this program; @digest is the file's first line."""
        lines = self.kept.read_text("ascii").splitlines() if self.kept.exists() else []
        if not lines or lines[0] != digest:
            self.kept.write_text(f"{digest}\n", "ascii")
            return {}
        return dict(map(json.loads, lines[1:]))

    def keep(self, key, value):
        # through JSON: what is read again later has lists where tuples were
        line = json.dumps([key, value])
        with self.kept.open("a", encoding="ascii") as file:
            file.write(f"{line}\n")
        self.done[key] = json.loads(line)[1]

    def measure(self, key, program, test, environment):
        if key not in self.done:
            befores = [None] * len(self.cases)
            if "normal" in self.done:
                befores = self.done["normal"]["reports"]
            jobs = [
                (program, environment, self.traces, case, before)
                for case, before in zip(self.cases, befores)
            ]
            reports = list(self.pool.map(examine, jobs, chunksize=5))
            self.keep(key, {"reports": reports, "devices": devices(test, environment)})
        return self.done[key]

    def measure_scaled(self, constant, factor):
        name, _, meaning = constant
        key, environment = f"{name}:{factor}", scaled(name, factor)
        # The traces have no devices.
        if meaning.startswith(DEVICES_ONLY) and key not in self.done:
            reports = self.done["normal"]["reports"]
            self.keep(key, {"reports": reports, "devices": devices(self.test, environment)})
        return self.measure(key, self.program, self.test, environment)

    def first(self, name):
        """The normal program; with factor 1 the scaled one must say the same."""
        was = self.measure("normal", self.normal, self.normal_test, None)
        one = self.measure("one", self.program, self.test, scaled(name, 1.0))
        for case, a, b in zip(self.cases, was["reports"], one["reports"]):
            if a[0] != b[0]:
                raise accuracy.Problem(f"factor 1 is not as the normal program: {case}")
        if was["devices"] != one["devices"]:
            raise accuracy.Problem("factor 1 is not as the normal program: devices")
        if "baselines" not in self.done:
            jobs = [(self.normal, self.traces, case) for case in self.cases]
            self.keep("baselines", list(self.pool.map(baseline, jobs, chunksize=5)))
        return was

    def cells(self, seen):
        """As "make check-accuracy" judges them."""
        results = []
        for case, (_, numbers), error in zip(self.cases, seen["reports"], self.done["baselines"]):
            method = accuracy.baselines_of(case.weights)[-1]
            results.append(accuracy.Result(case, score.Score(*numbers), {method: error}))
        nr = len(SEEDS)
        return [
            accuracy.Cell(*kind, results[at * nr : (at + 1) * nr]) for at, kind in enumerate(KINDS)
        ]

    def figures(self, seen):
        """By family: error, part of the bars that hold, width; and the promises that are broken."""
        figures, broken = {}, []
        for cell in self.cells(seen):
            name = f"{cell.mode}{', weights' if cell.weights else ''}"
            figures[name] = [cell.median(what) for what in ("wape", "cover_1", "width")]
            broken += [f"{name}: {what}" for what, failure in cell.verdicts() if failure]
        for family, (error, most, held, least, width) in seen["devices"].items():
            name = f"device, {family}"
            figures[name] = [error, held, width]
            broken += [f"{name}: error"] * (error > most) + [f"{name}: bars-hold"] * (held < least)
        return figures, broken


def three(values, digits):
    return " / ".join(f"{value:.{digits}f}" for value in values)


def shortened(broken):
    more = len(broken) - NAMED
    return "; ".join(broken[:NAMED]) + (f"; {more} more" if more > 0 else "")


def line(constant, half, one, double):
    """@half, @one, @double: figures and broken promises of each."""
    name, value, meaning = constant
    start = f"| {name} | {value} | {meaning} |"
    figures = [half[0], one[0], double[0]]
    if figures[0] == figures[1] == figures[2]:
        return f"{start} none | | | | | |"

    def change(family):
        error = figures[1][family][0]
        return max(abs(f[family][0] - error) for f in figures) / error

    def moved(family):
        return max(abs(f[family][2] / figures[1][family][2] - 1) for f in figures)

    most = max(figures[1], key=change)
    if change(most) < SAME:
        # it is about bars
        most = max(figures[1], key=moved)
        if moved(most) < SAME and not half[1] + double[1]:
            return f"{start} hardly any | | | | | |"
    columns = [
        three((f[most][at] for f in figures), digits) for at, digits in ((0, 3), (1, 3), (2, 2))
    ]
    columns += [shortened(half[1]), shortened(double[1])]
    return f"{start} {most} | {' | '.join(columns)} |"


def table(bench, kept):
    constants = bench.constants()
    was = bench.first(constants[0][0])
    one = bench.figures(was)
    if one[1]:
        raise accuracy.Problem(f"promises are broken as it is: {one[1]}")
    yield HEAD
    yield "|---" * (HEAD.count("|") - 1) + "|"
    for constant in constants:
        name, value, meaning = constant
        if kept and not all(f"{name}:{factor}" in bench.done for factor in FACTORS):
            yield f"| {name} | {value} | {meaning} | not measured | | | | | |"
            continue
        half, double = (bench.figures(bench.measure_scaled(constant, factor)) for factor in FACTORS)
        yield line(constant, half, one, double)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("build", type=pathlib.Path, help="folder of the build")
    parser.add_argument("program", type=pathlib.Path, help="t410trace")
    parser.add_argument("document", nargs="?", type=pathlib.Path, help="gets the table")
    parser.add_argument("--kept", action="store_true", help="measure nothing, show what is kept")
    options = parser.parse_args()
    try:
        with concurrent.futures.ProcessPoolExecutor(accuracy.AT_ONCE) as pool:
            bench = Bench(options.build.resolve(), options.program.resolve(), pool)
            lines = []
            for text in table(bench, options.kept):
                print(text, flush=True)
                lines.append(text)
        if options.document:
            accuracy.put_between_marks(options.document, "\n".join(lines), MARKS)
        return 0
    except (OSError, ValueError, accuracy.Problem, subprocess.TimeoutExpired) as problem:
        print(f"sensitivity: {problem}", file=sys.stderr)
        return 1


if __name__ == "__main__":
    sys.exit(main())
