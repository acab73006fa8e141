#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only
"""judge_real.py [--table DOCUMENT] [--limits] T410TRACE FOLDER [RUN...]: how right is it?

FOLDER has what real-guest.sh left. The truth is that of the cache model: lines read for the
processes of a cgroup, lines written that they had stored to. Prints a line for each run,
program and method, and the table. Errors are measured, not judged: what fails here is what must
be exact, and programs that did not do their work. With --limits estimates by weights must not be
far off either.
"""

import argparse
import json
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

# name, method, with what core events counted
METHODS = (
    ("state-space, weights", "state-space", True),
    ("weights", "weights", True),
    ("state-space", "state-space", False),
    ("cpu-time", "cpu-time", True),
)
DIRECTIONS = ("read", "written")
EVENTS = {"read": "mem_bytes_rd", "written": "mem_bytes_wr"}
MIB = 1 << 20
LINE = 64
# Bytes that weights and counters may differ by, for one of them is read last: 0.15 MiB were seen,
# and 0.0004 of all
ENDS, ENDS_PART = MIB // 2, 0.001
# Of all bytes of a run, this part may be in the wrong rows. Seen: 0.05 and 0.03; 0.5 with
# "cpu-time", which is what weights that mean nothing come to. A host without time for the machine's
# CPUs, by whose clock it went, made 0.24 of the first.
MOST_ERROR = {"state-space, weights": 0.2, "weights": 0.1}
# Seen: all of the default method's
LEAST_BARS = 0.75


class Wrong(Exception):
    """What must be exact is not."""


def truth_of(path):
    """Bytes by cgroup, and all of them."""
    found, everything = {}, {"read": 0, "written": 0, "lost": 0, "touched": 0}
    for line in path.read_text(encoding="utf-8").splitlines():
        row = json.loads(line)
        if "cpu" in row:
            everything["lost"] += row["lost"]
            everything["touched"] += row["loads"] + row["stores"]
            continue
        cgroup = found.setdefault(row["cgroup"], {"read": 0, "written": 0, "pushed_out": 0})
        for key in cgroup:
            cgroup[key] += row[key]
        for key in DIRECTIONS:
            everything[key] += row[key]
    return found, everything


def without_weights(source, target):
    """The same trace on cores that count nothing; lines that they read from memory"""
    refills = 0
    with source.open(encoding="utf-8") as lines, target.open("w", encoding="utf-8") as out:
        for line in lines:
            record = json.loads(line)
            weights = record.pop("weights", {})  # in the header, their names
            refills += weights["l3d_cache_refill"] if record["type"] == "slice" and weights else 0
            record.pop("weights_ns", None)
            out.write(json.dumps(record) + "\n")
    return refills


def report_of(program, trace, method):
    options = ["--json", "--summary", "--by", "cgroup", "--method", method]
    command = [program, "report", *options, trace]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode not in (0, 3):
        raise Wrong(f"{trace}: {done.stderr.strip()}")
    return json.loads(done.stdout.splitlines()[-1])


def counters_of(report, event):
    """Those of the CPUs' traffic, on all sockets"""
    return [c for c in report["counters"] if c["event"] == event and c["source"] == "cpu"]


def counted(report, event):
    return sum(c["value"] for c in counters_of(report, event))


def conserved(report):
    """Attributed and unattributed bytes are all that was counted, in every counter."""
    for counter in report["counters"]:
        if counter["attributed"] + counter["unattributed"] != counter["value"]:
            raise Wrong(f"{counter['name']}: parts do not add up")
        rows = sum(s["value"] for w in report["workloads"] if w["leaf"] for s in w["shares"]
                   if s["counter"] == counter["name"])
        if rows != counter["attributed"]:
            raise Wrong(f"{counter['name']}: rows have {rows}, not {counter['attributed']}")


def row_of(report, cgroup, event):
    """value, low, high of a cgroup, over both sockets"""
    names = {c["name"] for c in counters_of(report, event)}
    sums = [0, 0, 0]
    for row in report["workloads"]:
        if row["kind"] == "cgroup" and row["leaf"] and row["cgroup"]["id"] == cgroup:
            for share in row["shares"]:
                if share["counter"] in names:
                    for i, key in enumerate(("value", "low", "high")):
                        sums[i] += share[key]
    return sums


class Run:
    """One run, with the report of each method."""

    def __init__(self, program, folder, name):
        self.name = name
        if (folder / f"{name}.status").read_text().strip() != "0":
            raise Wrong(f"{name}: {(folder / f'{name}.err').read_text().strip()}")
        ended = folder / f"{name}.ended"
        if ended.exists():
            raise Wrong(f"{name}: ended too early: {' '.join(ended.read_text().split())}")
        lines = (folder / f"{name}.cgroups").read_text().splitlines()
        self.cgroups = {line.split()[0]: int(line.split()[1]) for line in lines}
        # what programs left dirty in the caches is not written yet, and not theirs in any report
        self.truth, after = truth_of(folder / f"{name}.after")
        _, before = truth_of(folder / f"{name}.before")
        self.all = {key: after[key] - before[key] for key in after}
        trace = folder / f"{name}.ndjson"
        with tempfile.TemporaryDirectory() as temporary:
            bare = Path(temporary) / "bare.ndjson"
            self.refilled = without_weights(trace, bare) * LINE
            self.reports = {
                title: report_of(program, trace if weights else bare, method)
                for title, method, weights in METHODS
            }

    def check(self):
        """What does not depend on any estimate"""
        for program, cgroup in self.cgroups.items():
            if cgroup not in self.truth:
                raise Wrong(f"{self.name}: {program} touched no memory")
        for report in self.reports.values():
            conserved(report)
        report = self.reports["weights"]
        if report["quality"]["weights"] != "l3d_cache_refill,l2d_cache_wb":
            raise Wrong(f"{self.name}: weights are {report['quality']['weights']}")
        read = counted(report, EVENTS["read"])
        if abs(self.refilled - read) > ENDS + ENDS_PART * read:
            raise Wrong(f"{self.name}: cores have read {self.refilled}, memory was read {read}")
        if self.all["lost"]:
            raise Wrong(f"{self.name}: {self.all['lost']} accesses were not followed")
        for direction, event in EVENTS.items():
            programs = sum(self.truth[c][direction] for c in self.cgroups.values())
            found = counted(report, event)
            # the truth is taken after the recording began and before it ends
            if not programs <= self.all[direction] <= found:
                raise Wrong(f"{self.name}: {event} has {found}, all that was moved is "
                            f"{self.all[direction]}, by the programs {programs}")

    def rows(self):
        """program, method, direction, truth, value, low, high"""
        for program, cgroup in self.cgroups.items():
            truth = self.truth[cgroup]
            for title, _, _ in METHODS:
                for direction, event in EVENTS.items():
                    yield program, title, direction, truth[direction], *row_of(
                        self.reports[title], cgroup, event)


class Row:
    """A program of a run, as a method sees it: both directions together."""

    def __init__(self, run, program, title):
        self.run, self.program, self.title = run.name, program, title
        self.alone = len(run.cgroups) == 1
        self.off = self.truth = 0
        self.bars = []
        self.parts = {}

    def add(self, direction, truth, value, low, high):
        self.off += abs(value - truth)
        self.truth += truth
        self.bars.append(low <= truth <= high)
        self.parts[direction] = (truth, value, low, high)

    @property
    def error(self):
        return self.off / self.truth if self.truth else 0

    def line(self):
        """One line of all there is: truth, and by it the value and its bar"""
        texts = [
            f"{direction} {truth / MIB:8.2f} MiB: {value / truth:.3f} "
            f"[{low / truth:.2f}, {high / truth:.2f}]"
            for direction, (truth, value, low, high) in self.parts.items()
            if truth
        ]
        return (f"  {self.program:15} {self.title:20} error {self.error:.3f}, "
                f"bars hold {sum(self.bars)}/{len(self.bars)}; " + "; ".join(texts))


def rows_of(run):
    rows = {}
    for program, title, direction, *numbers in run.rows():
        rows.setdefault((program, title), Row(run, program, title)).add(direction, *numbers)
    return list(rows.values())


def cell(row):
    return f"{row.error:.3f} ({sum(row.bars)})"


def summary(rows, alone):
    """For each method: median of the errors, error of all bytes, bars that hold"""
    found = []
    for title, _, _ in METHODS:
        of_it = [r for r in rows if r.title == title and r.alone == alone]
        bars = [bar for r in of_it for bar in r.bars]
        found.append((
            statistics.median(r.error for r in of_it),
            sum(r.off for r in of_it) / sum(r.truth for r in of_it),
            sum(bars) / len(bars),
        ))
    return found


def table(rows):
    """As lines of Markdown"""
    titles = [title for title, _, _ in METHODS]
    lines = ["| program | beside | read MiB | written MiB | " + " | ".join(titles) + " |",
             "|---|---|---|---|" + "---|" * len(titles)]
    for row in rows:
        if row.title != titles[0]:
            continue
        same = {r.title: r for r in rows if (r.run, r.program) == (row.run, row.program)}
        beside = "-" if row.alone else ", ".join(n for n in row.run.split("+") if n != row.program)
        moved = " | ".join(f"{row.parts[d][0] / MIB:.1f}" for d in DIRECTIONS)
        cells = " | ".join(cell(same[title]) for title in titles)
        lines.append(f"| {row.program} | {beside} | {moved} | {cells} |")
    for alone in sorted({r.alone for r in rows}, reverse=True):
        company = "alone" if alone else "beside others"
        sums = summary(rows, alone)
        for i, what in enumerate(("median error", "error of all bytes", "bars that hold")):
            numbers = " | ".join(f"{s[i]:.3f}" for s in sums)
            lines.append(f"| *{what}* | *{company}* | | | {numbers} |")
    return lines


def beyond_limits(rows):
    """What is wrong with estimates by weights: bytes of each run, bars of the default method"""
    for title, most in MOST_ERROR.items():
        for name in dict.fromkeys(row.run for row in rows):
            of_it = [row for row in rows if (row.run, row.title) == (name, title)]
            error = sum(row.off for row in of_it) / sum(row.truth for row in of_it)
            if error > most:
                yield f"{name}: {title}: {error:.3f} of its bytes are in the wrong rows"
    bars = [bar for row in rows for bar in row.bars if row.title == METHODS[0][0]]
    if sum(bars) < LEAST_BARS * len(bars):
        yield f"{sum(bars)} of {len(bars)} bars hold"


def put_table(path, lines):
    """Between the marks of a document"""
    text = path.read_text(encoding="utf-8")
    begin, end = "<!-- real: made by make real-programs -->\n", "<!-- end of real -->"
    if begin not in text or end not in text:
        raise Wrong(f"{path}: no marks for the table")
    before, rest = text.split(begin)
    after = rest.split(end)[1]
    path.write_text(before + begin + "\n".join(lines) + "\n" + end + after, encoding="utf-8")


def arguments():
    parser = argparse.ArgumentParser(description="How right is t410trace on real programs?")
    parser.add_argument("--table", type=Path, help="document whose table is replaced")
    parser.add_argument("--limits", action="store_true", help="the estimate must not be far off")
    parser.add_argument("t410trace", help="program that makes the reports")
    parser.add_argument("folder", type=Path, help="what real-guest.sh left")
    parser.add_argument("runs", nargs="*", help="these only")
    return parser.parse_args()


def main():
    options = arguments()
    names = options.runs or (options.folder / "runs").read_text(encoding="utf-8").split()
    rows = []
    try:
        for name in names:
            run = Run(options.t410trace, options.folder, name)
            run.check()
            print(f"{name}: {run.all['touched'] / 1e6:.0f} M loads and stores")
            rows += rows_of(run)
            print("\n".join(row.line() for row in rows if row.run == name))
            print(f"ok {name}")
        lines = table(rows)
        print("\n".join(lines))
        if options.table:
            put_table(options.table, lines)
        wrong = list(beyond_limits(rows)) if options.limits else []
        for reason in wrong:
            print(f"not ok real/estimate: {reason}")
        if options.limits and not wrong:
            print("ok real/estimate")
    except (Wrong, OSError, ValueError) as error:
        print(f"not ok real: {error}")
        return 1
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
