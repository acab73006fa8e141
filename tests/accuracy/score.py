#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Score reports of t410trace against the truth of scenario.py.

score.py REPORT TRUTH: prints KEY=VALUE words; exits with 1 when bytes were invented
or lost.

wape       sum of the errors of all tenants / sum of the truth
largest    the same of the fifty tenants with the most bytes
cover      share of processes whose truth is between their low and high
cover_1    the same for each process in each interval
width      sum of high - low / sum of the truth
tangled    share of the attributed bytes that is marked as not separable
twins      share of those in lock-step with another that name it, or have bars that hold
conserved  every counter is the sum of its parts, and the counters have what was counted
rows       processes with bytes
"""

import collections
import dataclasses
import json
import sys

SCHEMA = "t410trace.report/1"
NS_PER_S = 1_000_000_000
ENDS_SLACK_NS = NS_PER_S // 1000
PROBLEMS_KEPT = 5
MANY = -1
LARGEST = 50


@dataclasses.dataclass
class Sums:
    """Bytes of a process from a counter, over some time."""

    value: int = 0
    low: int = 0
    high: int = 0

    def add(self, share):
        self.value += share["value"]
        self.low += share["low"]
        self.high += share["high"]

    def holds(self, truth):
        # the truth has fractions of bytes, reports have not
        return self.low - 1 < truth < self.high + 1


@dataclasses.dataclass(frozen=True)
class Score:
    """What the report is worth; see the top of the file."""

    wape: float
    largest: float
    cover: float
    cover_1: float
    width: float
    tangled: float
    twins: float
    rows: int
    problems: tuple

    @property
    def conserved(self):
        return not self.problems

    def __str__(self):
        names = ("wape", "largest", "cover", "cover_1", "width", "tangled", "twins")
        words = [f"{name}={getattr(self, name):.4f}" for name in names]
        return " ".join([*words, f"conserved={'yes' if self.conserved else 'NO'}", f"rows={self.rows}"])


def whole(number):
    """A count: neither a fraction nor true nor below zero."""
    return isinstance(number, int) and not isinstance(number, bool) and number >= 0


def is_process(row):
    """Rows that add up; parents of cgroups repeat their children."""
    return row.get("leaf", True)


def tangled_with(row):
    """Pids that a row names; MANY among them when it could not name all."""
    keys = row.get("tangled_with", [])
    pids = {int(key.split(":")[1]) for key in keys if key.startswith("pid:")}
    return pids | {MANY} if row.get("tangled_count", 0) > len(keys) else pids


def problems_of(report):
    """Everything in one report that cannot be: a list of sentences."""
    found = []
    for counter in report["counters"]:
        name = counter["name"]
        if not counter.get("valid", True):
            continue
        shares = [s for row in report["workloads"] if is_process(row) for s in row["shares"] if s["counter"] == name]
        rest = [entry["value"] for entry in report["unattributed"] if entry["counter"] == name]
        numbers = [counter["value"], *rest, *(s[key] for s in shares for key in ("value", "low", "high"))]
        if not all(map(whole, numbers)):
            found.append(f"{name}: {next(n for n in numbers if not whole(n))!r} is no count")
            continue
        total = sum(s["value"] for s in shares) + sum(rest)
        if total != counter["value"]:
            found.append(f"{name}: {counter['value']}, but its parts are {total}")
        for s in shares:
            if not s["low"] <= s["value"] <= s["high"] <= counter["value"]:
                found.append(f"{name}: low, value, high are {s['low']}, {s['value']}, {s['high']} of {counter['value']}")
                break
    return found


def parse(text):
    """Reports of the intervals; a summary repeats them and is left out."""
    lines = [json.loads(line) for line in text.splitlines() if line.strip()]
    return [line for line in lines if line.get("schema") == SCHEMA and not line.get("summary")]


class Scorer:
    """Compares reports, one after the other, with the truth."""

    def __init__(self, truth):
        self.truth = truth
        self.owed = {
            (int(pid), counter): seconds
            for pid, workload in truth["workloads"].items()
            for counter, seconds in workload["bytes"].items()
        }
        self.found = collections.defaultdict(Sums)
        self.totals = collections.Counter()
        self.problems = []
        self.held = self.intervals = 0
        self.tangled = 0
        self.marked = collections.defaultdict(set)  # pids that a share is tangled with

    def add(self, report):
        self.problems += problems_of(report)
        for counter in report["counters"]:
            if counter.get("valid", True):
                self.totals[counter["name"]] += counter["value"]
        now = collections.defaultdict(Sums)
        for row in filter(is_process, report["workloads"]):
            for share in row["shares"]:
                now[row.get("pid"), share["counter"]].add(share)
                if not share.get("separable", row.get("separable", True)):
                    self.tangled += share["value"]
                    self.marked[row.get("pid"), share["counter"]] |= tangled_with(row)
        for key, sums in now.items():
            self.found[key].add(dataclasses.asdict(sums))
        self.calibrate(report["interval"], now)

    def calibrate(self, interval, now):
        """Bars of one interval, if it is one for which the truth is known."""
        first, last = (round(interval[end] / NS_PER_S) for end in ("start_ns", "end_ns"))
        off = max(abs(interval["start_ns"] - first * NS_PER_S), abs(interval["end_ns"] - last * NS_PER_S))
        if off > ENDS_SLACK_NS or first == last:
            return
        for key, seconds in self.owed.items():
            truth, sums = sum(seconds[first:last]), now[key]
            # who did nothing and got nothing would make any bars look good
            if truth or sums.high:
                self.intervals += 1
                self.held += sums.holds(truth)

    def by_group(self):
        """Truth and value of tenants: the processes of a group together."""
        totals = collections.defaultdict(lambda: [0.0, 0])
        for (pid, counter), seconds in self.owed.items():
            entry = totals[self.truth["workloads"][str(pid)]["group"], counter]
            entry[0] += sum(seconds)
            entry[1] += self.found[pid, counter].value
        return totals.values()

    def error_of_largest(self):
        """Tenants by their bytes of a counter; the error of the first."""
        largest = sorted(self.by_group(), key=lambda entry: -entry[0])[:LARGEST]
        return sum(abs(got - due) for due, got in largest) / sum(due for due, _ in largest)

    def honest_twins(self):
        twin_of = {pid: twin for pair in self.truth["twins"] for pid, twin in (pair, pair[::-1])}
        twins = [key for key in self.owed if key[0] in twin_of]
        honest = [
            bool(self.marked[key] & {twin_of[key[0]], MANY}) or self.found[key].holds(sum(self.owed[key]))
            for key in twins
        ]
        return sum(honest) / len(honest) if honest else 1.0

    def check_totals(self):
        """Nothing may be missing between the reports, either."""
        if not self.truth["exact"]:
            return
        for counter, counted in self.truth["counted"].items():
            if self.totals[counter] != counted:
                self.problems.append(f"{counter}: {self.totals[counter]} reported, {counted} counted")

    def score(self):
        self.check_totals()
        truth = sum(map(sum, self.owed.values()))
        owned = sum(sums.value for sums in self.found.values())
        bars = [(self.found[key], sum(seconds)) for key, seconds in self.owed.items()]
        return Score(
            wape=sum(abs(got - due) for due, got in self.by_group()) / truth,
            largest=self.error_of_largest(),
            cover=sum(sums.holds(due) for sums, due in bars) / len(bars),
            cover_1=self.held / max(1, self.intervals),
            width=sum(sums.high - sums.low for sums, _ in bars) / truth,
            tangled=self.tangled / max(1, owned),
            twins=self.honest_twins(),
            rows=sum(1 for sums in self.found.values() if sums.value),
            problems=tuple(self.problems[:PROBLEMS_KEPT]),
        )


def score(text, truth):
    """Score of a report's text; raises ValueError when that is no report."""
    reports = parse(text)
    if not reports:
        raise ValueError("no report")
    scorer = Scorer(truth)
    try:
        for report in reports:
            scorer.add(report)
    except (KeyError, TypeError) as error:
        raise ValueError(f"not as in {SCHEMA}: {type(error).__name__}: {error}") from error
    return scorer.score()


def main():
    if len(sys.argv) != 3:
        print(__doc__.strip(), file=sys.stderr)
        return 2
    try:
        with open(sys.argv[1], encoding="utf-8") as report, open(sys.argv[2], encoding="utf-8") as truth:
            result = score(report.read(), json.load(truth))
    except (OSError, ValueError) as error:
        print(f"score: {error}", file=sys.stderr)
        return 2
    print(result)
    for problem in result.problems:
        print(f"  {problem}")
    return 0 if result.conserved else 1


if __name__ == "__main__":
    sys.exit(main())
