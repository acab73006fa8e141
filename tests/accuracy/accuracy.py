#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""How right is t410trace? Invented traces, reported and compared with the truth.

accuracy.py check T410TRACE          judge a short selection: "ok NAME" or "not ok NAME: reason"
accuracy.py table T410TRACE [FILE]   all kinds, thirty seeds each, as a table; FILE gets it, too,
                                     between its two marks
"""

import argparse
import concurrent.futures
import dataclasses
import json
import pathlib
import random
import statistics
import subprocess
import sys
import tempfile

import scenario
import score

NS_PER_S = 1_000_000_000
AT_ONCE = 2
REPORT_SECONDS = 120
MARKS = ("<!-- table: made by make accuracy -->", "<!-- end of table -->")

COVER = 0.93
# Of single intervals: what is nominally 95% of few that depend on each other
COVER_1 = 0.90
# Medians of the table's scenarios: error, and width of the bars, without weights and with.
ERROR = {
    "duty": (0.10, 0.05),
    "threads": (0.10, 0.05),
    "jitter": (0.50, 0.15),
    "alone": (0.01, 0.01),
    "burst": (0.16, 0.05),
    "ranks": (None, 0.03),
    "full": (0.20, 0.08),
}
# All are on their CPUs all the time: CPU time tells nobody from anybody.
ALIKE = ("steady", "ranks", "unticked")
WIDTH = {"duty": (1.0, 0.4), "threads": (1.0, 0.4)}
# The median of five scatters around that of thirty by a fifth and more.
FEW = 10
SLACK = 1.25
# Bytes of tenants that cannot be told apart: nearly all of them are marked.
MARKED = {"steady": 0.9}
# Families about crowds are judged by their largest tenants: nobody looks at the others.
BY_LARGEST = ("crowd",)
# Methods that know less; where no error is promised, ours is not larger than theirs.
BASELINES = ("cpu-time", "weights")


class Problem(Exception):
    """No report, or none that can be scored."""


@dataclasses.dataclass(frozen=True)
class Case:
    """One scenario and what is asked about it."""

    mode: str
    weights: int
    seed: int
    changes: tuple = ()  # (option, value) pairs
    shuffled: bool = False

    def options(self):
        changes = {"weights": self.weights, "seed": self.seed, **dict(self.changes)}
        return scenario.Options.of(self.mode, **changes)


@dataclasses.dataclass
class Result:
    case: Case
    score: object = None  # a score.Score
    baselines: dict = dataclasses.field(default_factory=dict)  # error by method
    problem: str = None


def shuffle(path, seed):
    """Lines up to almost a second late: a reader must bear that."""
    rng = random.Random(seed)
    lines = []
    for line in path.read_text("ascii").splitlines():
        when = json.loads(line).get("end_ns")
        if when is not None:
            when += rng.randrange(NS_PER_S * 9 // 10)
        lines.append((when, line))
    # what has no end - header, workloads, the end of the trace - keeps its place
    moved = iter(sorted((line for line in lines if line[0] is not None), key=lambda line: line[0]))
    path.write_text("\n".join(text if when is None else next(moved)[1] for when, text in lines) + "\n", "ascii")


def report(program, trace, status, *arguments):
    """@status: what the program has to end with; 3 where slices are known to be missing."""
    command = [program, "report", str(trace), "--json", *arguments]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=REPORT_SECONDS)
    if done.returncode != status:
        words = " ".join(done.stderr.split())
        raise Problem(f"{' '.join(command[1:2] + command[3:])}: status {done.returncode}: {words[:200]}")
    return done.stdout


def examine(program, case, baselines):
    """Make the scenario, have it reported, score that."""
    result = Result(case)
    with tempfile.TemporaryDirectory() as folder:
        trace, truth = pathlib.Path(folder, "trace"), pathlib.Path(folder, "truth")
        scenario.make(case.mode, case.options(), trace, truth)
        if case.shuffled:
            shuffle(trace, case.seed)
        answers = json.loads(truth.read_text("ascii"))
        status = 3 if case.mode == "lost" else 0
        try:
            result.score = score.score(report(program, trace, status), answers)
            for method in baselines:
                text = report(program, trace, status, "--method", method)
                result.baselines[method] = score.score(text, answers).wape
        except (Problem, ValueError, subprocess.TimeoutExpired) as problem:
            result.problem = str(problem)
    return result


def examine_all(program, jobs):
    """@jobs: (case, baselines) pairs; results in the same order."""
    with concurrent.futures.ProcessPoolExecutor(AT_ONCE) as pool:
        return list(pool.map(examine, [program] * len(jobs), *zip(*jobs)))


def baselines_of(weights):
    return BASELINES[: 1 + weights]


@dataclasses.dataclass
class Cell:
    """All seeds of one kind of scenario: medians."""

    mode: str
    weights: int
    results: list

    def __post_init__(self):
        self.problem = next((r.problem for r in self.results if r.problem), None)

    def median(self, name):
        return statistics.median(getattr(r.score, name) for r in self.results)

    def mean(self, name):
        return statistics.fmean(getattr(r.score, name) for r in self.results)

    def worst(self, name):
        return min(getattr(r.score, name) for r in self.results)

    def error_name(self):
        return "largest" if self.mode in BY_LARGEST else "wape"

    def excess(self):
        """How much larger the error is than that of the best simpler method: the worst seed."""
        known = [r for r in self.results if r.baselines]
        return max((r.score.wape - min(r.baselines.values()) for r in known), default=None)

    def baseline(self, method):
        values = [r.baselines[method] for r in self.results if method in r.baselines]
        return statistics.median(values) if values else None

    def best_baseline(self):
        return self.baseline(baselines_of(self.weights)[-1])

    def slack(self):
        return SLACK if len(self.results) < FEW else 1

    def most_error(self):
        """(limit, why) of the error; no limit where tenants cannot be told apart."""
        goal = ERROR.get(self.mode, (None, None))[self.weights]
        if goal is not None:
            return goal * self.slack(), "the goal"
        if self.mode in ALIKE and not self.weights:
            return None, ""
        # a byte of rounding here or there is not worse
        return self.best_baseline() + 0.001, f"that of {baselines_of(self.weights)[-1]}"

    def verdicts(self):
        """(what, failure or None) for each promise."""
        if self.problem:
            yield "report", self.problem
            return
        broken = next((p for r in self.results for p in r.score.problems), None)
        yield "conserved", broken
        limit, why = self.most_error()
        if limit is not None:
            yield "error", self.above(self.error_name(), limit, why)
        yield "bars-hold", self.below("cover", COVER)
        yield "bars-hold-in-each-interval", self.below("cover_1", COVER_1)
        if self.mode in WIDTH:
            yield "width", self.above("width", WIDTH[self.mode][self.weights] * self.slack(), "the goal")
        if self.mode in MARKED and not self.weights:
            yield "marked", self.below("tangled", MARKED[self.mode])
        if self.mode == "pairs":
            yield "twins", self.below("twins", COVER)

    def above(self, name, limit, why):
        value = self.median(name)
        return None if value <= limit else f"{name} {value:.4f}, at most {limit:.4f} ({why})"

    def below(self, name, limit):
        value = self.median(name)
        return None if value >= limit else f"{name} {value:.4f}, at least {limit:.4f}"


def cells(program, wanted, seeds, changes=()):
    """@wanted: (mode, weights, baselines) triples."""
    jobs = [
        (Case(mode, weights, seed, changes), baselines)
        for mode, weights, baselines in wanted
        for seed in seeds
    ]
    results = examine_all(program, jobs)
    for at, (mode, weights, _) in enumerate(wanted):
        yield Cell(mode, weights, results[at * len(seeds) : (at + 1) * len(seeds)])


# --- the table


HEAD = (
    "| scenario | weights | error | goal | CPU time | weights alone | worse by | bars hold | worst"
    " | in each second | worst | width | goal | not separable | conserved |"
)


def number(value, digits=3):
    return "" if value is None else f"{value:.{digits}f}"


def table_line(cell):
    start = f"| {cell.mode} | {'yes' if cell.weights else 'no'} |"
    if cell.problem:
        return f"{start} {cell.problem} |" + " |" * 12
    goal = ERROR.get(cell.mode, (None, None))[cell.weights]
    width = WIDTH.get(cell.mode, (None, None))[cell.weights]
    columns = [
        number(cell.median(cell.error_name())),
        number(goal, 2),
        number(cell.baseline("cpu-time")),
        number(cell.baseline("weights")),
        f"{cell.excess():+.3f}",
        number(cell.mean("cover")),
        number(cell.worst("cover"), 2),
        number(cell.mean("cover_1")),
        number(cell.worst("cover_1"), 2),
        number(cell.median("width"), 2),
        number(width, 1),
        number(cell.median("tangled"), 2),
        "yes" if all(r.score.conserved for r in cell.results) else "**no**",
    ]
    return f"{start} {' | '.join(columns)} |"


def put_between_marks(path, text, marks=MARKS):
    first, last = marks
    before, found, rest = path.read_text("utf-8").partition(first)
    _, ended, after = rest.partition(last)
    if not found or not ended:
        raise Problem(f"{path} has no place for the table")
    path.write_text(f"{before}{first}\n{text}\n{last}{after}", "utf-8")


def print_table(program, seeds, document):
    wanted = [
        (mode, weights, baselines_of(weights))
        for mode in scenario.MODES + scenario.FAMILIES
        for weights in (0, 1)
    ]
    done = list(cells(program, wanted, seeds))
    lines = [HEAD, "|---" * (HEAD.count("|") - 1) + "|", *map(table_line, done)]
    print("\n".join(lines))
    if document:
        put_between_marks(document, "\n".join(lines))
    failures = [
        f"{cell.mode}, weights {cell.weights}: {what}: {failure}"
        for cell in done
        for what, failure in cell.verdicts()
        if failure
    ]
    print("\n".join(["", *failures]) if failures else "\nall goals are met")
    return not any(cell.problem for cell in done)


# --- the check


def judge_cells(program):
    """Fewer seeds of everything than in the table, and other ones."""
    wanted = [
        (mode, weights, () if mode in ERROR else baselines_of(weights)[-1:])
        for mode in scenario.MODES + scenario.FAMILIES
        for weights in (0, 1)
    ]
    for cell in cells(program, wanted, (101, 102, 103, 104, 105)):
        for what, failure in cell.verdicts():
            yield f"{cell.mode}-{'weights' if cell.weights else 'bare'}-{what}", failure


def judge_order(program):
    """The same trace with its lines in another order, and with threads on one CPU."""
    plain = Case("duty", 0, 104, (("seconds", 4.0),))
    shuffled = dataclasses.replace(plain, shuffled=True)
    stacked = dataclasses.replace(plain, changes=(*plain.changes, ("stacked", 1)))
    results = examine_all(program, [(case, ()) for case in (plain, plain, shuffled, stacked)])
    problem = next((r.problem for r in results if r.problem), None)
    if problem:
        yield "order", problem
        return
    first, again, late, same_cpu = (r.score for r in results)
    yield "the-same-again", None if first == again else f"{first}, then {again}"
    for name, other in (("late-lines", late), ("threads-on-one-cpu", same_cpu)):
        bad = abs(other.wape - first.wape) > 0.002 or not other.conserved
        yield name, f"{other}, not {first}" if bad else None


def check(program):
    failed = 0
    for judge in (judge_cells, judge_order):
        for name, failure in judge(program):
            failed += bool(failure)
            print(f"not ok {name}: {failure}" if failure else f"ok {name}", flush=True)
    return not failed


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("what", choices=("check", "table"))
    parser.add_argument("program", help="t410trace")
    parser.add_argument("document", nargs="?", type=pathlib.Path, help="gets the table")
    parser.add_argument("--seeds", type=int, default=30, help="of the table")
    options = parser.parse_args()
    program = str(pathlib.Path(options.program).resolve())
    try:
        if options.what == "check":
            return 0 if check(program) else 1
        return 0 if print_table(program, range(1, options.seeds + 1), options.document) else 1
    except (OSError, Problem) as problem:
        print(f"accuracy: {problem}", file=sys.stderr)
        return 1


if __name__ == "__main__":
    sys.exit(main())
