#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only
"""Tests of further runs, without a virtual machine: what deserves one, and what it may put right."""

import contextlib
import io
import json
import pathlib
import re
import sys
import tempfile

import judge
from results import estimate, expect, expect_close, expect_equal


# A scenario with a check of each kind; "close" and "equal" are what its program left.
@estimate
def near(s):
    expect_close(s.number("close"), 100, 0.05, "a guess")
    expect_equal(s.number("mixed"), 1, "what is exact in an estimate")


def same(s):
    expect_equal(s.number("equal"), 1, "a sum")


def said(s):
    """Not marked: as good as exact."""
    expect(s.number("word") == 1, "a word is missing")


def whole(s):
    s.expect_complete("run")


RIGHT = {"close": 103, "mixed": 1, "equal": 1, "word": 1, "run.status": 0}
FAR = {**RIGHT, "close": 106}
WRONG = {**RIGHT, "equal": 2}
INNER = {**RIGHT, "mixed": 2}
SILENT = {**RIGHT, "word": 0}
LOSSY = {**RIGHT, "run.status": 3}
# "in-vain" is what the guest writes when something did not come
MISSED = {**RIGHT, "in-vain": "has_lines truth 2"}
NOT_DONE = {}
NAMES = ("near", "same", "said", "whole")
CAME = "all-came-that-was-waited-for"
REASON = r"pretend: its programs had to wait in (an unknown part|\d+%) of their CPU time"

# Name, first run, second run, whether one more than the first is wanted, what fails in the end
CASES = (
    ("right", RIGHT, None, False, set()),
    ("estimate-then-right", FAR, RIGHT, True, set()),
    ("estimate-twice", FAR, FAR, True, {"near"}),
    ("other-estimate-later", RIGHT, FAR, False, set()),
    ("exact", WRONG, None, False, {"same"}),
    ("exact-is-not-forgiven", WRONG, RIGHT, False, {"same"}),
    ("exact-in-the-second", FAR, WRONG, True, {"same"}),
    ("exact-in-an-estimate", INNER, RIGHT, False, {"near"}),
    ("exact-in-an-estimate-later", FAR, INNER, True, {"near"}),
    ("not-marked", SILENT, RIGHT, False, {"said"}),
    ("lost-then-right", LOSSY, RIGHT, True, set()),
    ("lost-twice", LOSSY, LOSSY, True, {"whole"}),
    ("lost-and-exact", {**LOSSY, "equal": 2}, RIGHT, False, {"same"}),
    ("failed-run", {**RIGHT, "run.status": 1}, RIGHT, False, {"whole"}),
    ("estimate-and-exact", {**FAR, "equal": 2}, RIGHT, False, {"same"}),
    ("waited-in-vain", MISSED, RIGHT, False, {CAME}),
    ("waited-in-vain-and-estimate", {**MISSED, **FAR}, RIGHT, False, {CAME}),
    ("waited-in-vain-in-the-second", FAR, MISSED, True, {CAME}),
    ("guest-did-not-finish", NOT_DONE, RIGHT, False, {*NAMES, CAME}),
    ("second-did-not-finish", FAR, NOT_DONE, True, {*NAMES, CAME}),
)

# Name, CPU time that the programs of the second run had to wait in percent, second run, third run,
# whether a third is wanted, what fails in the end
THIRD_CASES = (
    ("starved-then-right", 16, FAR, RIGHT, True, set()),
    ("starved-three-times", 50, FAR, FAR, True, {"near"}),
    ("not-starved", 14, FAR, None, False, {"near"}),
    ("nobody-says", None, FAR, RIGHT, True, set()),
    ("right-in-the-second", 50, RIGHT, None, False, set()),
    ("exact-in-the-second-starved", 50, WRONG, None, False, {"same"}),
    ("exact-in-the-third", 50, FAR, WRONG, True, {"same"}),
)


def leave(folder, numbers, late=None):
    """As the guest does; @late: time in percent that the programs had to wait."""
    (folder / "pretend").mkdir(parents=True)
    if late is not None:
        lines = [json.dumps({"cpu_ns": 1000, "late_ns": 20 * late}), json.dumps({"cpu_ns": 1000, "late_ns": 0})]
        (folder / "pretend" / "truth.two").write_text("\n".join(lines) + "\n", encoding="utf-8")
    (folder / "kernel.log").write_text("t410trace test: pretend\n", encoding="utf-8")
    for name, number in numbers.items():
        (folder / "pretend" / name).write_text(f"{number}\n", encoding="utf-8")
    if numbers:
        (folder / "pretend" / "done").touch()


def verdict(runs, asked, late=None):
    """@runs: what they left; @late: of the last but one, see leave(). Whether another is wanted
    after the first @asked ones; names of failed checks; all lines."""
    runs = [run for run in runs if run is not None]
    with tempfile.TemporaryDirectory() as name:
        folders = [pathlib.Path(name) / str(number) for number in range(len(runs))]
        for number, (folder, run) in enumerate(zip(folders, runs)):
            leave(folder, run, late if number == asked - 1 else None)
        wanted = list(judge.again(folders[:asked], ["pretend"]))
        with contextlib.redirect_stdout(io.StringIO()) as printed:
            judge.judge(folders, ["pretend"])
    lines = printed.getvalue().splitlines()
    failed = {line.split("/")[1].split(":")[0] for line in lines if line.startswith("not ok")}
    return wanted, failed & {*NAMES, CAME}, lines


def told(runs, lines):
    """Are all failures of the estimate printed?"""
    return all(
        any(line.startswith(f"# attempt {number}: not ok pretend/near") for line in lines)
        for number, numbers in enumerate(runs, 1)
        if numbers is not None and numbers.get("close") == FAR["close"]
    )


def cases():
    """Name, runs, how many there are when another is asked for, late time of that one, expected."""
    for name, first, second, wanted, failed in CASES:
        yield name, (first, second), 1, None, wanted, failed
    for name, late, second, third, wanted, failed in THIRD_CASES:
        yield name, (FAR, second, third), 2, late, wanted, failed


def main():
    judge.TESTS["pretend"] = [near, same, said, whole]
    bad = 0
    for name, runs, asked, late, wanted, failed in cases():
        why, found, lines = verdict(runs, asked, late)
        several = len([run for run in runs if run is not None]) > 1
        # the reason is told, too
        right = bool(why) == wanted and all(re.fullmatch(REASON, line) for line in why)
        if right and found == failed and (not several or told(runs, lines)):
            print(f"ok judge-again-{name}")
        else:
            bad += 1
            print(f"not ok judge-again-{name}: {(why, found, lines)}, expected {(wanted, failed)}")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
