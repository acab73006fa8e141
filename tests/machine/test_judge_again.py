#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only
"""Tests of second runs, without a virtual machine: what deserves one, and what it may put right."""

import contextlib
import io
import pathlib
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


RIGHT = {"close": 103, "mixed": 1, "equal": 1, "word": 1}
FAR = {**RIGHT, "close": 106}
WRONG = {**RIGHT, "equal": 2}
INNER = {**RIGHT, "mixed": 2}
SILENT = {**RIGHT, "word": 0}
NOT_DONE = {}

# Name, first run, second run, whether a second is wanted, what fails in the end
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
    ("estimate-and-exact", {**FAR, "equal": 2}, RIGHT, False, {"same"}),
    ("guest-did-not-finish", NOT_DONE, RIGHT, False, {"near", "same", "said"}),
    ("second-did-not-finish", FAR, NOT_DONE, True, {"near", "same", "said"}),
)


def leave(folder, numbers):
    """As the guest does."""
    (folder / "pretend").mkdir(parents=True)
    (folder / "kernel.log").write_text("t410trace test: pretend\n", encoding="utf-8")
    for name, number in numbers.items():
        (folder / "pretend" / name).write_text(f"{number}\n", encoding="utf-8")
    if numbers:
        (folder / "pretend" / "done").touch()


def verdict(first, second):
    """Whether another run is wanted; names of failed checks; all lines."""
    with tempfile.TemporaryDirectory() as name:
        one, two = pathlib.Path(name) / "one", pathlib.Path(name) / "two"
        leave(one, first)
        if second is not None:
            leave(two, second)
        wanted = list(judge.again(one, ["pretend"])) == ["pretend"]
        with contextlib.redirect_stdout(io.StringIO()) as printed:
            judge.judge(one, ["pretend"], two if second is not None else None)
    lines = printed.getvalue().splitlines()
    failed = {line.split("/")[1].split(":")[0] for line in lines if line.startswith("not ok")}
    return wanted, failed & {"near", "same", "said"}, lines


def main():
    judge.TESTS["pretend"] = [near, same, said]
    bad = 0
    for name, first, second, again, failed in CASES:
        found = verdict(first, second)
        told = second is None or all(
            any(line.startswith(f"# attempt {number}: not ok pretend/near") for line in found[2])
            for number, numbers in ((1, first), (2, second))
            if numbers.get("close") == FAR["close"]
        )
        if found[:2] == (again, failed) and told:
            print(f"ok judge-again-{name}")
        else:
            bad += 1
            print(f"not ok judge-again-{name}: {found}, expected {(again, failed)}")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
